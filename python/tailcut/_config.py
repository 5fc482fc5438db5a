"""Presets, keys and configurations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tailcut import _arguments as arguments
from tailcut import _tailcut
from tailcut._arguments import Device, Path


class Config(Mapping[str, Any]):
    """The configuration of a drive: its values by dotted key, as a device file has them."""

    def __init__(self, name: str, toml: str, values: Mapping[str, Mapping[str, Any]]) -> None:
        #: The device or scheme.
        self.name = name
        #: The configuration as a complete device file.
        self.toml = toml
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]["value"]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def layer(self, key: str) -> str:
        """What has set the value: a device, a scheme, a file, or an override."""
        return str(self._values[key]["layer"])

    def source(self, key: str) -> str | None:
        """Where the value comes from: paper and table, data sheet, or an assumption; ``None`` if nothing says it."""
        return self._values[key].get("source")

    def __repr__(self) -> str:
        return f"<configuration of {self.name}: {len(self)} values>"


def config(
    device: Device,
    schemes: str | Sequence[str] = "baseline",
    overrides: Mapping[str, Any] | None = None,
    *,
    config: Path | Sequence[Path] | None = None,
    faults: str | Sequence[str] | None = None,
) -> Config:
    """The configuration of a device under schemes and overrides, as ``tailcut show config`` prints it."""
    text = _tailcut.config(
        json.dumps(arguments.device(device)),
        arguments.texts(schemes),
        [*arguments.paths(config)],
        arguments.sets(overrides),
        arguments.texts(faults),
    )
    of = json.loads(text)
    return Config(of["device"], of["toml"], of["values"])


def devices() -> list[dict[str, Any]]:
    """The built-in devices: name, description, geometry, capacity and times."""
    return list(json.loads(_tailcut.devices()))


def schemes() -> list[dict[str, Any]]:
    """The built-in schemes: name, description, and the keys that each sets."""
    return list(json.loads(_tailcut.schemes()))


def workloads() -> list[dict[str, Any]]:
    """The built-in workloads: name, description, and the job."""
    return list(json.loads(_tailcut.workloads()))


def keys() -> list[dict[str, Any]]:
    """All keys of a device: what each does, its type, range and default, and what reads it."""
    return list(json.loads(_tailcut.keys()))
