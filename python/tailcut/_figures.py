"""Quantities of texts, and the figures of a scheme by which drives are chosen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tailcut._tailcut import Error

_UNITS = {
    "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "h": 3.6e12, "d": 8.64e13,
    "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
    "B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9,
    "KiB/s": 2.0**10, "MiB/s": 2.0**20, "GiB/s": 2.0**30,
    "mW": 1.0, "%": 0.01, "": 1.0,
}  # fmt: skip


def quantity(value: Any) -> tuple[float, str]:
    """A value with its unit: times in ns, sizes in bytes, shares as fractions."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value), ""
    match = re.fullmatch(r"\s*([0-9.]+(?:[eE][-+]?\d+)?)\s*([A-Za-z/%]*)\s*", str(value))
    if match is None or match[2] not in _UNITS:
        raise Error(f"`{value}` is not a number with a unit, such as 20us, 16KiB, 2GB/s or 7%")
    return float(match[1]) * _UNITS[match[2]], match[2]


def raw_bytes(config: Mapping[str, Any]) -> float:
    """The bytes of all pages of a drive."""
    size = quantity(config["geometry.page"])[0]
    for part in ("channels", "chips_per_channel", "dies_per_chip", "planes", "blocks", "pages"):
        size *= int(config[f"geometry.{part}"])
    return size


def figures(summary: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, float | None]:
    """The figures of the first scheme of a run.

    ``waf``; ``capacity`` in bytes; ``spare``: the share of the flash that the host cannot use; ``lifetime``: how often the
    whole capacity can be written for each cycle of the blocks; ``energy``: mJ for each GiB of requests.
    """
    scheme = summary["schemes"][0]
    capacity = float(summary["host_capacity_bytes"])
    raw = raw_bytes(config)
    waf = scheme.get("waf")
    seconds = scheme["runtime_ns"] / 1e9
    moved = sum(scheme[op]["bw_bytes"] for op in ("read", "write")) * seconds / 2**30
    energy = scheme.get("energy_mj")
    return {
        "waf": waf,
        "capacity": capacity,
        "spare": 1.0 - capacity / raw,
        "lifetime": None if not waf else raw / capacity / waf,
        "energy": None if energy is None or moved == 0 else energy / moved,
    }
