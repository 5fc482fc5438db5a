"""The results of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from html import escape
from typing import Any

import pyarrow as pa

from tailcut import _frames as frames
from tailcut._arguments import Path
from tailcut._config import Config
from tailcut._tailcut import Error, Run

OPS = ("read", "write", "trim", "flush")


class Requests:
    """The requests of one kind of one scheme. Latencies are in ns."""

    def __init__(self, scheme: Scheme, op: str) -> None:
        self._scheme = scheme
        self.op = op
        empty: dict[str, Any] = {"total_ios": 0, "iops": 0.0, "bw_bytes": 0.0}
        self.summary: dict[str, Any] = scheme.summary.get(op, empty)

    @property
    def count(self) -> int:
        """Requests completed."""
        return int(self.summary["total_ios"])

    @property
    def iops(self) -> float:
        """Requests a second."""
        return float(self.summary["iops"])

    @property
    def bandwidth(self) -> float:
        """Bytes a second."""
        return float(self.summary["bw_bytes"])

    def _latency(self, what: str) -> Any:
        if self.count == 0:
            raise Error(f"{self._scheme.name}: no {self.op} was measured")
        return self.summary["lat_ns"][what]

    @property
    def mean(self) -> float:
        """The mean latency."""
        return float(self._latency("mean"))

    @property
    def min(self) -> int:
        """The shortest latency."""
        return int(self._latency("min"))

    @property
    def max(self) -> int:
        """The longest latency."""
        return int(self._latency("max"))

    def percentile(self, percent: float) -> int:
        """The latency at a percentile; with several runs the mean over them."""
        return self._scheme._run.percentile(self._scheme._index, self.op, percent)

    def interval(self, percent: float) -> tuple[int, int] | None:
        """The 95 % confidence interval at a percentile of the summary; ``None`` for short runs."""
        of = self._latency("percentile")
        if f"{percent:.6f}" not in of:
            known = ", ".join(f"{float(level):g}" for level in of)
            raise Error(f"percentile {percent}: intervals are known for {known}")
        low_high = self.summary["lat_ns"].get("ci95", {}).get(f"{percent:.6f}")
        return None if low_high is None else (int(low_high[0]), int(low_high[1]))

    def ccdf(self) -> pa.Table:
        """By latency the share of the requests that took at least so long: ``latency_ns``, ``share``."""
        return frames.only(self._scheme.ccdf(), op=self.op)

    def blame(self, above: float = 99.9) -> pa.Table:
        """The mean time by cause of the requests above a percentile."""
        return frames.only(self._scheme.blame(above), op=self.op)

    def __repr__(self) -> str:
        if self.count == 0:
            return f"<{self._scheme.name}: no {self.op}s>"
        tail = self.percentile(99.9)
        return f"<{self._scheme.name}: {self.count} {self.op}s, mean {self.mean:.0f} ns, p99.9 {tail} ns>"


class Scheme:
    """The results of one scheme."""

    def __init__(self, run: Run, index: int, summary: dict[str, Any]) -> None:
        self._run = run
        self._index = index
        #: What the summary has of the scheme.
        self.summary = summary

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.summary["name"])

    @property
    def digest(self) -> str:
        """The digest of all completions of its first run: the same for the same inputs and model version."""
        return str(self.summary["digest"])

    @property
    def waf(self) -> float | None:
        """Write amplification; ``None`` if nothing was written."""
        return self.summary.get("waf")

    @property
    def read(self) -> Requests:
        """Its reads."""
        return Requests(self, "read")

    @property
    def write(self) -> Requests:
        """Its writes."""
        return Requests(self, "write")

    @property
    def trim(self) -> Requests:
        """Its TRIM commands."""
        return Requests(self, "trim")

    @property
    def flush(self) -> Requests:
        """Its FLUSH commands."""
        return Requests(self, "flush")

    @property
    def config(self) -> Config:
        """Its configuration."""
        return Config(self.name, self._run.toml(self._index), self.summary["config"])

    def ccdf(self) -> pa.Table:
        """By kind and latency the share of the requests that took at least so long."""
        return frames.only(frames.read(self._run.ccdf()), scheme=self.name)

    def blame(self, above: float = 99.9) -> pa.Table:
        """The mean time by cause of the requests above a percentile."""
        return frames.only(frames.read(self._run.blame(above)), scheme=self.name)

    @property
    def requests(self) -> pa.Table:
        """All requests of the first run, with their time by cause (``run(…, requests=True)``)."""
        return frames.of_schemes([(self.name, self._run.requests(self._index))])

    @property
    def series(self) -> pa.Table:
        """Figures over time of the first run."""
        return frames.of_schemes([(self.name, self._run.series(self._index))])

    @property
    def slowest(self) -> pa.Table:
        """The slowest requests of the first run, with their time by cause."""
        return frames.only(frames.read(self._run.slowest()), scheme=self.name)

    def explain(self, top: int = 5) -> str:
        """What the slowest requests waited for, in words."""
        return self._run.explain(top, self.name)

    def __repr__(self) -> str:
        return f"<scheme {self.name}: {self.read!r}, {self.write!r}>"


class Result(Mapping[str, Scheme]):
    """The results of a run by scheme: ``result["t-es"]``. ``print(result)`` prints the tables of the command line.

    Tables are ``pyarrow.Table``: ``table.to_pandas()`` and ``polars.from_arrow(table)`` make other frames of them.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        #: The same as ``summary.json`` of the command line.
        self.summary: dict[str, Any] = json.loads(run.summary())
        self._schemes = {
            of["name"]: Scheme(run, i, of) for i, of in enumerate(self.summary["schemes"])
        }

    def __getitem__(self, scheme: str) -> Scheme:
        try:
            return self._schemes[scheme]
        except KeyError:
            raise KeyError(f"{scheme}: the run has {', '.join(self._schemes)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._schemes)

    def __len__(self) -> int:
        return len(self._schemes)

    @property
    def digest(self) -> dict[str, str]:
        """The digest of each scheme."""
        return {name: of.digest for name, of in self._schemes.items()}

    @property
    def policies(self) -> list[dict[str, Any]]:
        """What policies in Python have cost: ``family``, ``name``, ``calls``, ``seconds``, and ``share`` of the run."""
        return list(json.loads(self._run.policies()))

    @property
    def warnings(self) -> list[str]:
        """The warnings of the run."""
        return list(self.summary.get("warnings", []))

    def ccdf(self) -> pa.Table:
        """By scheme, kind and latency the share of the requests that took at least so long."""
        return frames.read(self._run.ccdf())

    def blame(self, above: float = 99.9) -> pa.Table:
        """By scheme and kind the mean time by cause of the requests above a percentile."""
        return frames.read(self._run.blame(above))

    @property
    def requests(self) -> pa.Table:
        """All requests of each scheme's first run, with their time by cause (``run(…, requests=True)``)."""
        return frames.of_schemes((name, self._run.requests(i)) for i, name in enumerate(self))

    @property
    def series(self) -> pa.Table:
        """Figures over time of each scheme's first run."""
        return frames.of_schemes((name, self._run.series(i)) for i, name in enumerate(self))

    @property
    def slowest(self) -> pa.Table:
        """The slowest requests of each scheme's first run, with their time by cause."""
        return frames.read(self._run.slowest())

    def explain(self, top: int = 5) -> str:
        """What the slowest requests waited for, in words."""
        return self._run.explain(top, None)

    def report(self, path: Path, label: str | None = None) -> None:
        """Write the page of figures and tables that ``tailcut report`` makes: one HTML file."""
        self._run.page(os.fspath(path), label or str(self.summary["device"]))

    @cached_property
    def _text(self) -> str:
        return self._run.text()

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<run of {self.summary['device']}: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._text)}</pre>"
