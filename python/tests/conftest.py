"""What the tests share: the command line, if it is built, and a small run."""

from __future__ import annotations

import os
import subprocess
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
