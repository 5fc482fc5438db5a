"""Runs every point of a design."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tailcut import _arguments as arguments
from tailcut import _frames as frames
from tailcut import _inputs as inputs
from tailcut import _tailcut
from tailcut._arguments import Path
from tailcut._progress import Progress, shown
from tailcut._run import WORKLOAD
from tailcut._tailcut import Error

ENGINES = ("local", "ray")


class Sweep:
    """The results of a sweep: a table with a row for each point."""

    def __init__(self, table: pa.Table, out: str, read_back: int) -> None:
        #: ``point`` (from 1), ``axis.…`` as texts, ``status``, ``error``, ``key``, and the figures: ``waf``,
        #: ``read_p99.9_ns``, ``digest``, … (docs/guide.md has the list).
        self.table = table
        #: The folder: the same sweep goes on there.
        self.out = out
        #: Points that were finished before.
        self.read_back = read_back

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The points that failed: ``point``, the axes and ``error``."""
        rows = self.table.filter(pc.equal(self.table.column("status"), "failed"))
        names = [name for name in rows.column_names if name == "point" or name.startswith("axis.")]
        return list(rows.select([*names, "error"]).to_pylist())

    def to_pandas(self) -> Any:
        """The table as a frame of pandas."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """The table as a frame of polars."""
        import polars

        return polars.from_arrow(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"<sweep of {len(self)} points, {len(self.failed)} failed, in {self.out}>"


def sweep(
    device: Any = None,
    axes: Mapping[str, Sequence[Any]] | None = None,
    *,
    scheme: str = "baseline",
    workload: Any = WORKLOAD,
    overrides: Mapping[str, Any] | None = None,
    config: Path | Sequence[Path] | None = None,
    seed: int = 1,
    runs: int = 1,
    precondition: str | None = None,
    random: int | None = None,
    engine: str = "local",
    out: Path | None = None,
    threads: int | None = None,
    cache: bool | Path = True,
    retries: int = 2,
    address: str | None = None,
    progress: Progress = None,
) -> Sweep:
    """Run all combinations of the values of some axes, or random draws from them, on all cores or on a Ray cluster.

    device, scheme, workload, overrides, config, seed, runs, precondition: as for ``run``, for all points.
    axes: what varies and its values: ``scheme``, ``device``, ``seed``, ``workload``, ``workload.OPTION`` or a configuration
        key, e.g. ``{"scheme": ["rps", "t-es"], "ftl.over_provisioning": ["10%", "20%"]}``.
    random: draw this many points instead; an axis may then be a range such as ``["10%..30%"]`` or ``["log:1000..100000"]``.
    engine: ``"local"``, or ``"ray"``: each point is a task of Ray (``pip install ray``), with the same results.
    out: the folder of the sweep. The same call goes on with a sweep that was stopped. By default a temporary one.
    threads: points at the same time on this machine.
    cache: where aged drives are kept, as for ``run``. With Ray a folder that all machines share saves them the work; with
        ``True`` each machine has its own.
    retries: how often a point is run again whose process was killed or whose machine was lost. A point that has failed for
        another reason is not: it would fail again.
    address: the Ray cluster; by default the one that is connected, else that of the environment, else a local one.

    Points that failed are in ``Sweep.failed``; the others have their figures.
    """
    if engine not in ENGINES:
        raise Error(f"engine `{engine}`: it must be {' or '.join(ENGINES)}")
    axes = axes or {}
    design = {
        "device": "" if device is None else inputs.device(device),
        "scheme": scheme,
        "workload": inputs.workload(workload),
        "seed": seed,
        "runs": runs,
        "precondition": precondition,
        "config": [os.path.abspath(path) for path in arguments.paths(config)],
        "set": arguments.sets(overrides),
        "random": random,
        "axis": [{"key": key, "values": _values(key, values)} for key, values in axes.items()],
    }
    folder = os.fspath(out) if out is not None else mkdtemp(prefix="tailcut-sweep-")
    where = json.dumps(arguments.cache(cache))
    with shown(progress) as report:
        if engine == "ray":
            from tailcut._ray import run_points

            data, read_back, stopped = run_points(
                json.dumps(design), folder, where, retries=retries, address=address, progress=report
            )
        else:
            data, read_back, stopped = _tailcut.sweep(json.dumps(design), folder, where, threads, report)
    if stopped:
        raise KeyboardInterrupt("the sweep was stopped; the same call goes on with it")
    return Sweep(frames.read(data), folder, read_back)


def _values(key: str, values: Sequence[Any]) -> list[str]:
    of = [values] if isinstance(values, str) else list(values)
    if key == "device":
        return [inputs.device(value) for value in of]
    if key == "workload":
        return [inputs.workload(value) for value in of]
    return [arguments.text(value) for value in of]
