"""Runs schemes on a modelled drive."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tailcut import _arguments as arguments
from tailcut import _tailcut
from tailcut._arguments import Device, Path
from tailcut._columns import columns, is_text
from tailcut._policies import Policy, given
from tailcut._progress import Progress, shown
from tailcut._result import Result

WORKLOAD = "mixed-70-30-qd16"


def run(
    device: Device,
    schemes: str | Sequence[str] = "baseline",
    workload: Any = WORKLOAD,
    overrides: Mapping[str, Any] | None = None,
    *,
    config: Path | Sequence[Path] | None = None,
    faults: str | Sequence[str] | None = None,
    seed: int = 1,
    runs: int = 1,
    one_drive: bool = False,
    threads: int | None = None,
    precondition: str | None = None,
    cache: bool | Path = True,
    snapshot: Path | None = None,
    trace: Mapping[str, Any] | None = None,
    closed_loop: int | None = None,
    warm_up: str | None = None,
    measure_from: str | None = None,
    sections: str | Sequence[str] | None = None,
    targets: str | Sequence[str] | None = None,
    requests: bool = False,
    series: str | None = None,
    out: Path | None = None,
    force: bool = False,
    policies: Mapping[str, Policy] | None = None,
    progress: Progress = None,
) -> Result:
    """Run a workload on a modelled drive, with one scheme or several to compare.

    The arguments are those of ``tailcut run``; all schemes get the same requests.

    device: a preset (``tailcut.devices()``), the path of a device file, or its content as a dict.
    schemes: one or several; ``"A+B"`` applies both to the device.
    workload: a trace file, a fio job file, a preset, a job such as ``"randrw,bs=4k,iodepth=16"``, several trace files, or
        requests: a frame (Arrow, pandas, polars) or a dict with the columns ``time``, ``op``, ``offset`` and ``size``, or
        four arrays. Whole times are ns, others seconds; operations are names or 0 to 3 for read, write, trim and flush.
    overrides: configuration keys and values, e.g. ``{"ftl.over_provisioning": "20%"}``.
    config: TOML files that are applied to the device and the scheme.
    faults: parts that fail, e.g. ``"die=3@2s"``.
    seed, runs: the seed of the first run; further runs have the next seeds. ``one_drive`` lets all begin with one drive.
    threads: runs at the same time; by default one per processor.
    precondition: the drive's past: ``none``, ``sequential``, ``steady`` or ``scattered``.
    cache: aged drives are kept in the user's cache (``True``), nowhere (``False``), or in this folder.
    snapshot: a file that keeps the aged drive.
    trace: how a trace is read, e.g. ``{"format": "msr", "rate_scale": 2.0, "limit": 100_000, "start_ns": 0,
        "remap": "dense", "loop_count": 2}``.
    closed_loop: ignore the times of a trace and keep this many requests outstanding.
    warm_up, measure_from: what of a trace is not measured, as times of the run or of the trace, e.g. ``"60s"``.
    sections: the sections of a job file that run.
    targets: limits of latencies, e.g. ``"read.p99.9=1ms"``; the summary says which schemes meet them.
    requests: keep all requests of the first run of each scheme, for ``Result.requests``.
    series: the length of the intervals of ``Result.series``, e.g. ``"10ms"``; by default some 200.
    out: a folder for the files that ``tailcut run --out`` writes; ``force`` replaces a run in it.
    policies: policies in Python, by what they decide (``victim``, ``schedule``, ``read_path``): functions of a view, or
        ``Victim``, ``Schedule`` and ``ReadPath``. An aged drive of a ``victim`` in Python is not kept.
    progress: ``True`` for a bar (tqdm), ``False`` for none, or a function that is called with the share that is done and a
        text; by default there is a bar where somebody sees it and tqdm is installed.

    Raises ``Error`` with the text that the command line prints, and ``KeyboardInterrupt`` on Ctrl-C.
    """
    named = is_text(workload)
    names, functions = given(policies)
    spec = {
        "device": arguments.device(device),
        "schemes": arguments.texts(schemes),
        "workload": arguments.paths(workload) if named else [],
        "config": arguments.paths(config),
        "set": [*arguments.sets(overrides), *names],
        "fault": arguments.texts(faults),
        "seed": seed,
        "runs": runs,
        "one_drive": one_drive,
        "threads": threads,
        "precondition": precondition,
        "cache": arguments.cache(cache),
        "snapshot": None if snapshot is None else os.fspath(snapshot),
        "trace": None if trace is None else dict(trace),
        "closed_loop": closed_loop,
        "warm_up": warm_up,
        "measure_from": measure_from,
        "sections": arguments.texts(sections),
        "target": arguments.texts(targets),
        "requests": requests,
        "series": series,
        "out": None if out is None else os.fspath(out),
        "force": force,
    }
    rows = None if named else columns(workload)
    with shown(progress) as report:
        return Result(_tailcut.run(json.dumps(spec), rows, report, functions))
