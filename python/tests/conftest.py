"""What the tests share: the command line, if it is built, and a small run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import tailcut as tc

#: A short job: some thousand requests on the smallest drive.
JOB = "randrw,bs=4k,rwmixread=70,iodepth=8,number_ios=4000"


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Aged drives of the tests are kept in a folder of their own."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["TAILCUT_CACHE"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def small() -> tc.Result:
    """Two schemes on the smallest drive."""
    return tc.run("tiny", ["baseline", "rps"], JOB, requests=True)


@pytest.fixture(scope="session")
def command() -> object:
    """Runs the command line."""
    program = os.environ.get("TAILCUT_COMMAND")
    if not program:
        pytest.skip("TAILCUT_COMMAND does not name the command line")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)

    return run


def stopped_by_ctrl_c(code: str, begun: Callable[[], object]) -> None:
    """Run `code` in a process of its own. Ctrl-C, once it has `begun`, must be raised as `KeyboardInterrupt` at once."""
    program = f"import tailcut as tc\ntry:\n{textwrap.indent(code, '    ')}\nexcept KeyboardInterrupt:\n    print('stopped')\n"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 60
        while not begun():
            assert process.poll() is None and time.monotonic() < until, "it has not begun"
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert said == "stopped\n" and process.returncode == 0
    assert time.monotonic() - began < 10
