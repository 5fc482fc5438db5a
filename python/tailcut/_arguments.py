"""The arguments of Python as the texts that the command line takes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, Union

from tailcut._tailcut import Error

Path: TypeAlias = Union[str, "os.PathLike[str]"]
Value: TypeAlias = Union[str, int, float, bool, Sequence[Any], Mapping[str, Any]]
Device: TypeAlias = Union[Path, Mapping[str, Any]]


def text(value: Value) -> str:
    """A value as ``--set`` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_quoted(key)} = {_inner(of)}" for key, of in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_inner(of) for of in value) + "]"
    return str(value)


def _inner(value: Value) -> str:
    return _quoted(value) if isinstance(value, str) else text(value)


def _quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def sets(overrides: Mapping[str, Any] | None) -> list[str]:
    """``key=value`` of each override; tables of overrides give dotted keys."""

    def flat(prefix: str, of: Mapping[str, Any]) -> Iterable[str]:
        for key, value in of.items():
            if isinstance(value, Mapping):
                yield from flat(f"{prefix}{key}.", value)
            else:
                yield f"{prefix}{key}={text(value)}"

    return list(flat("", overrides or {}))


def texts(values: str | Sequence[str] | None) -> list[str]:
    """One text or several."""
    if values is None:
        return []
    return [values] if isinstance(values, str) else [str(value) for value in values]


def paths(values: Path | Sequence[Path] | None) -> list[str]:
    """One path or several."""
    if values is None:
        return []
    if isinstance(values, (str, os.PathLike)):
        return [os.fspath(values)]
    return [os.fspath(value) for value in values]


def device(value: Device) -> str | dict[str, Any]:
    """A device as the extension takes it: a name, a path, or a table."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    raise Error(f"device: a preset, the path of a .toml file, or a dict, not {type(value).__name__}")


def cache(value: bool | Path) -> bool | str:
    """Where aged drives are kept: the user's cache, nowhere, or a folder."""
    return value if isinstance(value, bool) else os.fspath(value)
