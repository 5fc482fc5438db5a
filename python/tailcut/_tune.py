"""Searches the values of keys with which a drive meets a target at the least cost."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tailcut import _arguments as arguments
from tailcut._arguments import Device, Path
from tailcut._figures import figures
from tailcut._progress import Progress, shown
from tailcut._run import WORKLOAD, run
from tailcut._tailcut import Error

#: What can be minimised: the column of the table, and whether less of it is better.
COSTS = {
    "capacity": ("spare", 1.0),
    "spare": ("spare", 1.0),
    "waf": ("waf", 1.0),
    "lifetime": ("lifetime", -1.0),
    "energy": ("energy", 1.0),
    "tail": ("tail_ns", 1.0),
}
#: The figures of the front: the tail, write amplification, the capacity that is given up, and lifetime.
FRONT = ("tail", "waf", "spare", "lifetime")


class Tuned:
    """The trials of a search."""

    def __init__(self, target: str, cost: str, keys: list[str], rows: list[dict[str, Any]], study: Any) -> None:
        #: The target, as the command line writes it.
        self.target = target
        #: The study of Optuna.
        self.study = study
        self._cost = cost
        self._keys = keys
        self._rows = rows

    @property
    def table(self) -> pa.Table:
        """A row for each trial: the values of the keys, the figures, ``verdict`` and ``error``."""
        names = list(dict.fromkeys(name for row in self._rows for name in row))
        return pa.table({name: pa.array([row.get(name) for row in self._rows]) for name in names})

    @property
    def best(self) -> dict[str, Any] | None:
        """The trial that meets the target, by its confidence interval, at the least cost; ``None`` if none does."""
        met = [row for row in self._rows if row["verdict"] == "meets" and _cost(row, self._cost) is not None]
        return min(met, key=lambda row: (_cost(row, self._cost), row["trial"]), default=None)

    @property
    def overrides(self) -> dict[str, Any]:
        """The values of the best trial, for ``run``."""
        best = self.best
        if best is None:
            raise Error(f"no trial meets {self.target}")
        return {key: best[key] for key in self._keys if key not in ("scheme", "device")}

    @property
    def front(self) -> pa.Table:
        """The trials that no other beats in all of tail, write amplification, spare capacity and lifetime."""
        rows = [row for row in self._rows if row["tail_ns"] is not None]
        costs = [[_cost(row, name) for name in FRONT] for row in rows]
        kept = [
            row
            for row, mine in zip(rows, costs)
            if not any(_dominates(other, mine) for other in costs if other is not mine)
        ]
        return Tuned(self.target, self._cost, self._keys, kept, None).table

    def __repr__(self) -> str:
        best = self.best
        said = "none meets it" if best is None else f"the best is trial {best['trial']}"
        return f"<search for {self.target}: {len(self._rows)} trials, {said}>"


def _cost(row: Mapping[str, Any], name: str) -> float | None:
    column, sign = COSTS[name]
    value = row.get(column)
    return None if value is None else sign * float(value)


def _dominates(a: Sequence[float | None], b: Sequence[float | None]) -> bool:
    """Whether a is nowhere worse and somewhere better; figures that one of them lacks do not count."""
    pairs = [(x, y) for x, y in zip(a, b) if x is not None and y is not None]
    return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)


def _target(text: str) -> str:
    """``read.p99.9 <= 1ms`` as the command line writes it."""
    match = re.fullmatch(r"\s*([\w.]+)\s*(?:<=|=|<)\s*(\S+)\s*", text)
    if match is None:
        raise Error(f"target `{text}`: a target is such as `read.p99.9 <= 1ms`")
    return f"{match[1]}={match[2]}"


def _suggest(trial: Any, key: str, values: Any) -> Any:
    """The value of a key in a trial: of a list, or of a range such as ``10%..30%`` or ``log:1us..1ms``."""
    if not isinstance(values, str):
        return trial.suggest_categorical(key, list(values))
    log = values.startswith("log:")
    match = re.fullmatch(r"(-?[\d.]+)(\D*?)\.\.(-?[\d.]+)(\D*)", values.removeprefix("log:"))
    if match is None or match[2] not in ("", match[4]):
        raise Error(f"over `{key}`: `{values}` is no range such as 10%..30% or log:1..1000, and no list of values")
    low, high, unit = float(match[1]), float(match[3]), match[4]
    if not low < high or (log and low <= 0):
        raise Error(f"over `{key}`: `{values}`: the second end must be larger, and with log: both above 0")
    if not unit and "." not in match[1] + match[3]:
        return trial.suggest_int(key, int(low), int(high), log=log)
    return f"{trial.suggest_float(key, low, high, log=log):.4g}{unit}"


def tune(
    device: Device,
    target: str,
    over: Mapping[str, str | Sequence[Any]],
    *,
    minimise: str = "capacity",
    trials: int = 50,
    scheme: str = "baseline",
    workload: Any = WORKLOAD,
    overrides: Mapping[str, Any] | None = None,
    config: Path | Sequence[Path] | None = None,
    seed: int = 1,
    threads: int | None = None,
    cache: bool | Path = True,
    progress: Progress = None,
) -> Tuned:
    """Search the values of keys with which a drive meets a target at the least cost, by Optuna (``pip install optuna``).

    device, scheme, workload, overrides, config, threads, cache: as for ``run``.
    target: a limit of a latency, e.g. ``"read.p99.9 <= 1ms"``; a trial meets it if its whole confidence interval does.
    over: the keys (and ``scheme`` or ``device``), each with a list of values or a range such as ``"10%..30%"`` or
        ``"log:1..1000"``.
    minimise: ``capacity`` (the share of the flash that the host cannot use), ``waf``, ``lifetime`` (it is maximised),
        ``energy`` or ``tail``.
    trials: how many are run; those of the same ``seed`` are the same.

    All trials get the same requests. ``Tuned.front`` is the front of tail, write amplification, spare capacity and lifetime.
    A trial that cannot be built is in ``Tuned.table`` with its error.
    """
    try:
        import optuna
    except ImportError:
        raise Error("tune needs Optuna: pip install optuna") from None
    if minimise not in COSTS:
        raise Error(f"minimise `{minimise}`: it must be one of {', '.join(COSTS)}")
    if not over:
        raise Error("over: at least one key with its values")
    limit = _target(target)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="minimize", sampler=optuna.samplers.TPESampler(seed=seed))
    rows: list[dict[str, Any]] = []
    known: dict[str, dict[str, Any]] = {}
    with shown(progress) as report:
        for number in range(trials):
            trial = study.ask()
            values = {key: _suggest(trial, key, of) for key, of in over.items()}
            text = repr(values)
            if text not in known:
                known[text] = _trial(
                    device, limit, values, scheme, overrides,
                    {"workload": workload, "config": config, "seed": seed, "threads": threads, "cache": cache},
                )  # fmt: skip
            row = {"trial": number, **values, **known[text]}
            rows.append(row)
            cost = _cost(row, minimise)
            # A trial is better if it meets the target; of those that do not, the nearest.
            trial.set_constraint("target", 1.0 if row["over"] is None else row["over"])
            if row["error"] is not None or cost is None:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, cost)
            if report is not None:
                report((number + 1) / trials, f"{number + 1} of {trials} trials")
    if all(row["error"] is not None for row in rows):
        raise Error(f"no trial can run; the first: {rows[0]['error']}")
    return Tuned(limit, minimise, list(over), rows, study)


def _trial(
    device: Device,
    target: str,
    values: Mapping[str, Any],
    scheme: str,
    overrides: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Runs a trial: its figures, or why there are none."""
    sets = {key: of for key, of in values.items() if key not in ("scheme", "device")}
    device, scheme = values.get("device", device), values.get("scheme", scheme)
    empty = dict.fromkeys(("tail_ns", "verdict", "over", "waf", "capacity", "spare", "lifetime", "energy"))
    try:
        given = {**_flat(overrides), **sets}
        result = run(device, scheme, overrides=given, targets=target, progress=False, **options)
    except Error as e:
        return {**empty, "error": str(e)}
    of = result.summary["schemes"][0]
    judged = of["targets"][0]
    high = judged.get("ci95_ns", [None, judged.get("measured_ns")])[1]
    return {
        "tail_ns": judged.get("measured_ns"),
        "verdict": judged["verdict"],
        "over": None if high is None else high / judged["at_most_ns"] - 1.0,
        **figures(result.summary, result[of["name"]].config),
        "digest": of["digest"],
        "error": None,
    }


def _flat(overrides: Mapping[str, Any] | None) -> dict[str, str]:
    pairs = (of.partition("=") for of in arguments.sets(overrides))
    return {key: value for key, _, value in pairs}


__all__ = ["Tuned", "tune"]
