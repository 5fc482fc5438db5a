"""Fits a device file to what a real drive was measured to do."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pyarrow as pa

from tailcut import _arguments as arguments
from tailcut._arguments import Device, Path
from tailcut._config import Config
from tailcut._config import config as config_of
from tailcut._figures import quantity
from tailcut._fio import PRECISION, Row, rows
from tailcut._progress import Progress, shown
from tailcut._run import run
from tailcut._tailcut import Error

#: The parameters that are fitted, and their keys, which keep their ratio. Of the capacity keys a device has one.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "read": ("timing.read",),
    "program": ("timing.program.pulse", "timing.program.verify"),
    "erase": ("timing.erase.execution",),
    "channel": ("channel.rate",),
    "link": ("host.link_rate",),
    "host": ("host.submit_latency", "host.complete_latency"),
    "controller": ("controller.command",),
    "decode": ("ecc.decode",),
    "write_latency": ("policy.buffer.lru.write_latency",),
    "over_provisioning": ("ftl.over_provisioning", "ftl.over_provisioning_of_user"),
    "buffer": ("policy.buffer.lru.capacity",),
}
#: A parameter is between its value in the base divided by this and multiplied by it.
MOST = 8.0
#: The step of the derivatives: above the steps of the model (whole requests and events), below its curves.
STEP = 0.08
#: Before the rows say anything, the standard deviation of the logarithm of a factor: the base is right within a factor of
#: four. It keeps parameters at the base that the rows do not tell from each other.
PRIOR = 0.7
#: Runs with other seeds, which say how well each figure repeats.
SEEDS = 3
#: No row depends on a parameter that moves every figure by less than this share of its precision in a step.
UNSEEN = 0.02
#: A parameter is identified if the ends of its 95 % interval differ by less than this factor.
WIDEST = 1.5
#: The value from which a time of 0 starts.
START = {"controller": "1us", "decode": "1us", "write_latency": "1us"}


class Parameter(NamedTuple):
    """A parameter after the fit."""

    name: str
    keys: tuple[str, ...]
    #: Its values in the base and in the device.
    base: str
    fitted: str
    #: The ends of its 95 % interval, as factors of the fitted value; ``None`` if the rows do not say it.
    low: float | None
    high: float | None
    identified: bool
    #: Why it is not, and where the value comes from that is assumed.
    note: str


class Fit:
    """A fitted drive."""

    def __init__(self, base: Device, parameters: list[Parameter], figures: list[dict[str, Any]], given: Mapping[str, Any]) -> None:
        #: What was fitted and what was assumed.
        self.parameters = parameters
        self._figures = figures
        #: Keys and values over the base, for ``run(base, overrides=…)``.
        self.overrides: dict[str, Any] = dict(given)
        self._base = base

    @property
    def rows(self) -> pa.Table:
        """Measured and predicted figures: ``row``, ``workload``, ``figure``, ``measured``, ``predicted``, ``error`` (a share of
        the measured), and ``left_out``: whether the fit has not seen the row."""
        return pa.Table.from_pylist(self._figures)

    @property
    def config(self) -> Config:
        """The whole configuration of the fitted drive."""
        return config_of(self._base, overrides=self.overrides)

    def error(self, left_out: bool = True) -> float:
        """The mean of the errors' sizes, of rows that the fit has not seen or of those that it has."""
        of = [abs(float(row["error"])) for row in self._figures if row["left_out"] == left_out]
        if not of:
            raise Error("no rows were left out of the fit" if left_out else "there are no rows")
        return sum(of) / len(of)

    def write(self, path: Path) -> None:
        """Write the device file, with the origin of each fitted value beside it."""
        if isinstance(self._base, str) and not self._base.endswith(".toml"):
            lines = [f'base = "{self._base}"', f'description = "{self._base}, fitted to measurements"', ""]
            for p in self.parameters:
                for key in p.keys:
                    if key in self.overrides:
                        value = self.overrides[key]
                        shown = arguments.text([value])[1:-1]
                        lines.append(f"{key} = {shown}  # fitted: {_percent(p.low)} to {_percent(p.high)} of it (95 %)")
            text = "\n".join(lines) + "\n"
        else:
            text = self.config.toml
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(text)

    def __str__(self) -> str:
        lines = ["parameter          base         fitted       95 % interval      "]
        for p in self.parameters:
            interval = f"{_percent(p.low)} to {_percent(p.high)}" if p.identified else p.note
            lines.append(f"{p.name:<18} {p.base:<12} {p.fitted:<12} {interval}")
        lines.append("")
        lines.append("row                      figure      measured    predicted    error")
        for row in self._figures:
            mark = " (left out)" if row["left_out"] else ""
            lines.append(
                f"{row['row'][:24]:<24} {row['figure']:<11} {row['measured']:<11.4g} {row['predicted']:<12.4g}"
                f"{100 * row['error']:+.1f} %{mark}"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        found = [p.name for p in self.parameters if p.identified]
        return f"<fit: {', '.join(found) or 'nothing'} identified of {len(self.parameters)} parameters>"


def _percent(factor: float | None) -> str:
    return "?" if factor is None else f"{100 * factor:.0f} %"


class _Model:
    """The rows as a function of the logarithms of factors."""

    def __init__(self, base: Device, all_rows: list[Row], requests: int, seed: int, threads: int) -> None:
        self.base, self.rows, self.requests, self.seed = base, all_rows, requests, seed
        self.pool = ThreadPoolExecutor(threads)
        self.config = config_of(base)
        self.known: dict[tuple[int, int, str], dict[str, float]] = {}
        self.precision: dict[tuple[int, str], float] = {}

    def keys(self, name: str) -> tuple[str, ...]:
        """The keys of a parameter that the base has."""
        return tuple(key for key in PARAMETERS[name] if key in self.config)

    def scaled(self, name: str, factor: float) -> dict[str, Any]:
        """The values of a parameter's keys, multiplied by a factor."""

        def one(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [one(of) for of in value]
            number, unit = quantity(value)
            if number == 0.0:
                number, unit = quantity(START.get(name, value))
            return _text(number * factor, unit)

        return {key: one(self.config[key]) for key in self.keys(name) if not self._stays_zero(name, key)}

    def _stays_zero(self, name: str, key: str) -> bool:
        value = self.config[key]
        return name not in START and not isinstance(value, (list, tuple)) and quantity(value)[0] == 0.0

    def overrides(self, names: Sequence[str], x: Sequence[float]) -> dict[str, Any]:
        """The values of parameters."""
        given: dict[str, Any] = {}
        for name, at in zip(names, x):
            given.update(self.scaled(name, math.exp(at)))
        return given

    def repeats(self, used: Sequence[int]) -> None:
        """Learn how well each figure can be known: as it is measured, and as it repeats with other seeds."""
        base: dict[str, Any] = {}
        tasks = [(row, base, self.seed + more) for row in used for more in range(SEEDS)]
        said = list(self.pool.map(lambda task: self.figures(*task), tasks))
        for at, row in enumerate(used):
            of = said[at * SEEDS : (at + 1) * SEEDS]
            for figure in self.rows[row].measured:
                logs = [math.log(max(one[figure], 1e-9)) for one in of]
                noise = max(logs) - min(logs)
                self.precision[row, figure] = math.hypot(PRECISION[figure.partition(".")[2]], noise)

    def figures(self, row: int, given: dict[str, Any], seed: int | None = None) -> dict[str, float]:
        """What the model says of a row."""
        seed = self.seed if seed is None else seed
        key = (row, seed, repr(sorted(given.items(), key=lambda item: item[0])))
        if key not in self.known:
            of = self.rows[row]
            job = f"{of.workload},number_ios={self.requests}"
            result = run(self.base, workload=job, overrides=given, seed=seed, threads=1, progress=False)
            scheme = next(iter(result.values()))
            said: dict[str, float] = {}
            for figure in of.measured:
                op, _, what = figure.partition(".")
                side = scheme.read if op == "read" else scheme.write
                if what == "iops":
                    said[figure] = side.iops
                else:
                    said[figure] = side.mean if what == "mean" else float(side.percentile(float(what[1:])))
            self.known[key] = said
        return self.known[key]

    def residuals(self, used: Sequence[int], points: Sequence[dict[str, Any]]) -> list[list[float]]:
        """For each point the logarithms of predicted over measured, by precision; all runs at once."""
        tasks = [(row, given) for given in points for row in used]
        said = list(self.pool.map(lambda task: self.figures(*task), tasks))
        out = []
        for at in range(len(points)):
            of = said[at * len(used) : (at + 1) * len(used)]
            out.append(
                [
                    math.log(max(of[i][figure], 1e-9) / value) / self.precision[row, figure]
                    for i, row in enumerate(used)
                    for figure, value in self.rows[row].measured.items()
                ]
            )
        return out


def _text(number: float, unit: str) -> Any:
    """A number with the unit of the base."""
    of = number / quantity(f"1{unit}")[0] if unit else number
    if unit == "ns":
        return f"{max(1, round(of))}ns"
    if unit in ("us", "ms", "s"):
        return f"{max(1, round(number))}ns"
    if unit in ("B", "kB", "MB", "GB", "KiB", "MiB", "GiB"):
        # Buffers hold whole mapping units.
        return f"{max(1, round(number / 65536)) * 64}KiB"
    if unit.endswith("/s"):
        return f"{number / 1e6:.4f}MB/s"
    if unit == "%":
        return f"{min(of, 90.0):.4f}%"
    return of


def fit(
    results: Any,
    base: Device = "tlc-3d",
    *,
    parameters: Sequence[str] | None = None,
    leave_out: int | Sequence[str] = 5,
    requests: int = 20_000,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = None,
) -> Fit:
    """Fit a device to measurements of a real drive, by SciPy (``pip install scipy``).

    results: files of fio (``--output-format=json``), their contents, or figures as tables, e.g.
        ``{"workload": "randread,bs=4k,iodepth=1", "read.mean": "80us", "read.p99": "130us"}``; one or a list. Useful are
        random reads at several depths and block sizes, mixed loads, and random writes in the steady state.
    base: the device whose geometry and policies the drive is assumed to have, and whose values are the first guess.
    parameters: the names of those to fit, of ``tailcut.PARAMETERS``; by default all that the rows can say.
    leave_out: every so-manieth row is not fitted but predicted (0: none), or the names of these rows.
    requests: how many each row runs with.

    Each figure counts by how well it can be measured and by how well it repeats with other seeds of the model. A parameter
    on which no row depends, or whose 95 % interval is wider than a factor of 1.5, is not identified: it keeps the
    value of the base. ``Fit.parameters`` says which, ``Fit.rows`` has predicted beside measured figures, and ``Fit.write``
    writes the device file.
    """
    try:
        import numpy as np
        from scipy.optimize import least_squares
    except ImportError:
        raise Error("fit needs SciPy: pip install scipy") from None
    all_rows = rows(results)
    unknown = [name for name in parameters or () if name not in PARAMETERS]
    if unknown:
        raise Error(f"parameter `{unknown[0]}`: it must be one of {', '.join(PARAMETERS)}")
    used, left = _split(all_rows, leave_out)
    model = _Model(base, all_rows, requests, seed, threads or os.cpu_count() or 1)
    names = [name for name in parameters or PARAMETERS if model.keys(name)]
    notes = dict.fromkeys(names, "")
    with shown(progress) as report:
        say: Callable[[float, str], object] = report or (lambda share, text: None)

        def residuals(x: Any) -> Any:
            say(min(0.99, len(model.known) / 2000), f"{len(model.known)} runs")
            rows_of = model.residuals(used, [model.overrides(free, x)])[0]
            return np.concatenate([rows_of, np.asarray(x) / prior])

        def derivatives(x: Any) -> Any:
            # A step away from a bound stays inside.
            steps = [-STEP if at + STEP > bound else STEP for at in x]
            points = [[v + (steps[i] if i == j else 0.0) for j, v in enumerate(x)] for i in range(len(x))]
            at = np.array(model.residuals(used, [model.overrides(free, point) for point in [list(x), *points]]))
            return ((at[1:] - at[0]) / np.array(steps)[:, None]).T

        def jacobian(x: Any) -> Any:
            return np.vstack([derivatives(x), np.eye(len(x)) / prior])

        def solved(x: Any) -> tuple[Any, Any, float]:
            of = least_squares(residuals, x, jac=jacobian, bounds=(-bound, bound), max_nfev=12, xtol=1e-3, ftol=1e-3)
            return (of.x, *_spread(np, of.jac, of.fun))

        prior = PRIOR
        bound = math.log(MOST)
        model.repeats(used)
        free = list(names)
        seen = np.abs(derivatives([0.0] * len(free))).max(axis=0) * STEP
        for name, size in zip(list(free), seen):
            if size < UNSEEN:
                free.remove(name)
                notes[name] = "no row depends on it"
        x: Any = np.zeros(len(free))
        spread: Any = np.zeros(len(free))
        while free:
            x, spread, misfit = solved(x)
            width = np.exp(2 * 1.96 * spread)
            worst = int(np.argmax(width))
            if width[worst] <= WIDEST:
                # What the rows say alone.
                prior = math.inf
                x, spread, misfit = solved(x)
                spread = spread * misfit
                break
            notes[free[worst]] = "the rows do not tell it from others"
            x = np.delete(x, worst)
            del free[worst]
        given = model.overrides(free, x)
        list(model.pool.map(lambda row: model.figures(row, given), [*used, *left]))
        say(1.0, "done")
    model.pool.shutdown()
    found = dict(zip(free, spread))
    return Fit(base, _parameters(model, names, given, found, notes), _figures(model, used, left, given), given)


def _spread(np: Any, jac: Any, residuals: Any) -> tuple[Any, float]:
    """The standard errors of the logarithms by the precisions of the figures, and by how much more the fit is off."""
    covariance = np.linalg.inv(jac.T @ jac)
    free = max(1, len(residuals) - jac.shape[1])
    return np.sqrt(np.diag(covariance)), math.sqrt(max(1.0, float(residuals @ residuals) / free))


def _split(all_rows: list[Row], leave_out: int | Sequence[str]) -> tuple[list[int], list[int]]:
    """The rows that are fitted and those that are not."""
    if isinstance(leave_out, int):
        left = [i for i in range(len(all_rows)) if leave_out > 0 and i % leave_out == leave_out - 1]
    else:
        names = [leave_out] if isinstance(leave_out, str) else list(leave_out)
        known = [row.name for row in all_rows]
        for name in names:
            if name not in known:
                raise Error(f"leave_out `{name}`: the rows are {', '.join(known)}")
        left = [i for i, row in enumerate(all_rows) if row.name in names]
    used = [i for i in range(len(all_rows)) if i not in left]
    if not used:
        raise Error("leave_out: no row is left to fit")
    return used, left


def _parameters(
    model: _Model, names: list[str], given: Mapping[str, Any], found: Mapping[str, float], notes: Mapping[str, str]
) -> list[Parameter]:
    out = []
    for name in names:
        keys = model.keys(name)
        base = arguments.text(model.config[keys[0]])
        if name in found:
            fitted = arguments.text(given.get(keys[0], model.config[keys[0]]))
            half = math.exp(1.96 * found[name])
            out.append(Parameter(name, keys, base, fitted, 1 / half, half, True, ""))
        else:
            source = model.config.source(keys[0]) or model.config.layer(keys[0])
            note = f"not identified ({notes[name]}): assumed, {source}"
            out.append(Parameter(name, keys, base, base, None, None, False, note))
    return out


def _figures(model: _Model, used: list[int], left: list[int], given: dict[str, Any]) -> list[dict[str, Any]]:
    out = []
    for row in sorted([*used, *left]):
        of, said = model.rows[row], model.figures(row, given)
        for figure, value in of.measured.items():
            predicted = said[figure]
            out.append(
                {
                    "row": of.name,
                    "workload": of.workload,
                    "figure": figure,
                    "measured": value,
                    "predicted": predicted,
                    "error": predicted / value - 1.0,
                    "left_out": row in left,
                }
            )
    return out
