"""Inputs of a sweep that are no files: each becomes one, named by its content, so that the same sweep finds it again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tailcut import _arguments as arguments
from tailcut import _tailcut
from tailcut._columns import columns, is_text
from tailcut._tailcut import Error


def _folder() -> Path:
    cache = os.environ.get("TAILCUT_CACHE")
    if not cache:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        cache = os.path.join(base, "tailcut")
    folder = Path(cache) / "inputs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _kept(data: bytes, suffix: str) -> str:
    path = _folder() / f"{hashlib.sha256(data).hexdigest()[:24]}{suffix}"
    if not path.exists():
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        partial.write_bytes(data)
        partial.replace(path)
    return str(path)


def device(value: Any) -> str:
    """A device as a name or a path."""
    of = arguments.device(value)
    if isinstance(of, str):
        return str(Path(of).resolve()) if of.endswith(".toml") else of
    whole = json.loads(_tailcut.config(json.dumps(of), ["baseline"], [], [], []))
    return _kept(whole["toml"].encode(), ".toml")


def workload(value: Any) -> str:
    """A workload as a text or a path."""
    if is_text(value):
        named = arguments.paths(value)
        if len(named) != 1:
            raise Error("a sweep has one workload; several are an axis: axes={'workload': [...]}")
        return str(Path(named[0]).resolve()) if Path(named[0]).exists() else named[0]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "requests.trace"
        _tailcut.write_trace(path, columns(value))
        return _kept(path.read_bytes(), ".trace")
