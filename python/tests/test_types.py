"""The types: the stub of the extension, the package itself, and the generated keys."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import generate_keys
import generate_reference
import pytest
import tailcut as tc

pytest.importorskip("mypy", reason="mypy is not installed")
ROOT = Path(__file__).parents[2]
PACKAGE = str(Path(tc.__file__).parent)


def mypy(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=Path(PACKAGE).parent, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def same(file: Path, text: str) -> None:
    """A generated file is as it would be generated; ``UPDATE=1`` writes it."""
    if os.environ.get("UPDATE"):
        file.write_text(text)
    assert file.read_text() == text, f"UPDATE=1 cargo test --workspace --test python rewrites {file.name}"


def test_the_generated_keys_are_those_of_the_extension() -> None:
    same(generate_keys.FILE, generate_keys.text())


def test_the_reference_is_that_of_the_package() -> None:
    same(generate_reference.FILE, generate_reference.page())


def test_the_package_is_typed(tmp_path: Path) -> None:
    use = tmp_path / "use.py"
    use.write_text(
        "import tailcut as tc\n"
        "o: tc.Overrides = {'ftl.over_provisioning': '20%', 'ftl.join_reads': True}\n"
        "r = tc.run('tiny', 't-es', overrides=o)\n"
        "ns: int = r['t-es'].read.percentile(99.9)\n"
    )
    mypy("mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path), PACKAGE, str(use))


def test_the_stub_is_that_of_the_extension(tmp_path: Path) -> None:
    mypy("mypy.stubtest", "tailcut._tailcut", "--mypy-config-file", str(ROOT / "pyproject.toml"))
