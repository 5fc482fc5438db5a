"""Rows to fit a drive to: from the JSON output of fio, or figures of a data sheet."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tailcut._figures import quantity
from tailcut._tailcut import Error

#: The figures of a row, and the relative error with which each can be expected to be measured again.
PRECISION = {"iops": 0.02, "mean": 0.02, "p50": 0.03, "p90": 0.03, "p99": 0.05, "p99.9": 0.10}
_LEVELS = {"50.000000": "p50", "90.000000": "p90", "99.000000": "p99", "99.900000": "p99.9"}
#: The options of a fio job that shape its requests.
_SHAPE = ("rw", "bs", "rwmixread", "iodepth", "numjobs", "size", "offset", "rate_iops", "rate_process", "random_distribution")
#: The engines of fio that keep one request outstanding, whatever the depth.
_SYNCHRONOUS = {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"}


class Row(NamedTuple):
    """What was measured of one workload."""

    name: str
    #: The job, without the number of its requests.
    workload: str
    #: By figure, such as ``read.p99``: rates a second, latencies in ns.
    measured: dict[str, float]


def rows(results: Any) -> list[Row]:
    """The rows of fio's JSON files or of tables."""
    several = isinstance(results, Sequence) and not isinstance(results, (str, bytes))
    of = [row for result in (results if several else [results]) for row in _rows(result)]
    if not of:
        raise Error("fit: there are no results")
    return of


def _rows(result: Any) -> list[Row]:
    if isinstance(result, (str, os.PathLike)):
        name = os.fspath(result)
        try:
            with open(name, encoding="utf-8") as file:
                content = file.read()
            # Warnings of fio come before its output.
            result = json.loads(content[content.index("{") :])
        except OSError as e:
            raise Error(f"{name}: {e.strerror or e}") from e
        except ValueError as e:
            raise Error(f"{name}: it is no JSON of fio (--output-format=json): {e}") from e
    if not isinstance(result, Mapping):
        raise Error(f"fit: a row is a file of fio, its content, or a table of figures, not {type(result).__name__}")
    if "jobs" in result:
        common = result.get("global options", {})
        return [_of_job(job, common) for job in result["jobs"]]
    return [_of_table(result)]


def _of_job(job: Mapping[str, Any], common: Mapping[str, Any]) -> Row:
    name = str(job.get("jobname", "job"))
    options = {**common, **job.get("job options", {})}
    shape = {key: str(options[key]) for key in _SHAPE if key in options}
    if "rw" not in shape and "readwrite" in options:
        shape["rw"] = str(options["readwrite"])
    if "rw" not in shape:
        raise Error(f"job {name}: its options have no rw")
    if options.get("ioengine") in _SYNCHRONOUS:
        shape["iodepth"] = "1"
    # The size of a whole device says nothing about another one.
    if not shape.get("size", "").endswith("%"):
        shape.pop("size", None)
    if not shape.get("offset", "").endswith("%"):
        shape.pop("offset", None)
    # Jobs in a group are reported as one, whose rates are those of all.
    rw = shape.pop("rw")
    workload = ",".join([rw, *(f"{key}={value}" for key, value in shape.items())])
    measured: dict[str, float] = {}
    for op in ("read", "write"):
        side = job.get(op, {})
        if not side.get("total_ios"):
            continue
        measured[f"{op}.iops"] = float(side["iops"])
        measured[f"{op}.mean"] = float(side["lat_ns"]["mean"])
        levels = side.get("lat_ns", {}).get("percentile") or side.get("clat_ns", {}).get("percentile", {})
        measured.update({f"{op}.{_LEVELS[at]}": float(ns) for at, ns in levels.items() if at in _LEVELS})
    if not measured:
        raise Error(f"job {name}: it has no requests")
    return Row(name, workload, {figure: value for figure, value in measured.items() if value > 0})


def _of_table(table: Mapping[str, Any]) -> Row:
    of = dict(table)
    workload = of.pop("workload", None)
    if not isinstance(workload, str):
        raise Error("fit: a table of figures needs its `workload`, such as 'randread,bs=4k,iodepth=32'")
    name = str(of.pop("name", workload))
    measured: dict[str, float] = {}
    for figure, value in of.items():
        op, _, what = figure.partition(".")
        if op not in ("read", "write") or what not in PRECISION:
            known = ", ".join(PRECISION)
            raise Error(f"{name}: `{figure}` is no figure: read. or write., and one of {known}")
        measured[figure] = quantity(value)[0]
        if not measured[figure] > 0:
            raise Error(f"{name}: {figure} must be above 0")
    if not measured:
        raise Error(f"{name}: the table has no figures")
    return Row(name, workload, measured)
