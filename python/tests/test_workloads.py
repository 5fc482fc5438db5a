"""Requests from arrays and frames, and traces."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import tailcut as tc

N = 3000


def requests() -> dict[str, list[Any]]:
    draw = random.Random(5)
    return {
        "time": [i * 50_000 for i in range(N)],
        "op": [draw.choice(["read", "write"]) for _ in range(N)],
        "offset": [draw.randrange(4000) * 4096 for _ in range(N)],
        "size": [4096 * draw.randint(1, 4) for _ in range(N)],
    }


def digest(workload: Any, **options: Any) -> str:
    result = tc.run("tiny", workload=workload, **options)
    assert result.summary["workload"]["requests"] == N
    return result.digest["baseline"]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trace") / "trace.csv"
    of = requests()
    rows = zip(of["time"], of["op"], of["offset"], of["size"])
    path.write_text("".join(f"{t},{op[0]},{offset},{size}\n" for t, op, offset, size in rows))
    return path


def test_all_forms_of_requests_are_the_same_trace(trace: Path) -> None:
    of = requests()
    table = pa.table(of)
    seconds = {**of, "time": [t / 1e9 for t in of["time"]]}
    forms: list[Any] = [
        of,
        table,
        table.to_pandas(),
        seconds,
        {**of, "op": [["read", "write"].index(op) for op in of["op"]]},
        {**of, "time": pa.array([timedelta(microseconds=t // 1000) for t in of["time"]])},
        [of[name] for name in ("time", "op", "offset", "size")],
    ]
    polars = pytest.importorskip("polars")
    forms.append(polars.from_arrow(table))
    numpy = pytest.importorskip("numpy")
    forms.append(tuple(numpy.array(of[name]) for name in of))
    from_file = digest(trace, trace={"columns": None} if False else None) if False else None
    digests = {digest(form) for form in forms}
    assert len(digests) == 1 and from_file is None


def test_arrays_are_the_trace_of_a_file(tmp_path: Path, trace: Path, command: object) -> None:
    compact = tmp_path / "trace.compact"
    said = command("trace", "convert", str(trace), str(compact), "--columns", "time=1:ns,op=2,offset=3,size=4")  # type: ignore[operator]
    assert said.returncode == 0, said.stderr
    assert digest(requests()) == digest(compact)


def test_requests_are_put_in_order_of_time() -> None:
    of = requests()
    order = list(range(N))
    random.Random(1).shuffle(order)
    assert digest({name: [values[i] for i in order] for name, values in of.items()}) == digest(of)


def test_options_of_traces() -> None:
    of = requests()
    plain = digest(of)
    assert digest(of, trace={"rate_scale": 2.0}) != plain
    assert digest(of, closed_loop=4) != plain
    half = tc.run("tiny", workload=of, trace={"limit": 100})
    assert half.summary["workload"]["requests"] == 100
    warm = tc.run("tiny", workload=of, warm_up="10ms")
    assert warm.summary["workload"]["warm_up_ns"] == 10_000_000
    with pytest.raises(tc.Error, match="rate_scal"):
        tc.run("tiny", workload=of, trace={"rate_scal": 2.0})
    with pytest.raises(tc.Error, match="closed_loop (is|are)? ?for traces"):
        tc.run("tiny", workload="randread,number_ios=10", closed_loop=4)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"size": None}, "no column size"),
        ({"op": ["fly"] * N}, "`fly` is none of read, write"),
        ({"op": [9] * N}, "request 0: no such operation"),
        ({"offset": [-1] * N}, "column offset"),
        ({"time": [None] * N}, "values are missing"),
        ({"size": [0] * N}, "request 0"),
        ({"size": [1 << 40] * N}, "request 0"),
        ({"size": [1]}, "requests"),
    ],
)
def test_wrong_requests_are_errors(change: dict[str, Any], said: str) -> None:
    of = {**requests(), **change}
    with pytest.raises(tc.Error, match=said):
        tc.run("tiny", workload={name: values for name, values in of.items() if values is not None})


@pytest.mark.parametrize("workload", [5, [], [1, 2], {"a": [1]}, b"x", object()])
def test_what_is_no_workload_is_an_error(workload: Any) -> None:
    with pytest.raises(tc.Error):
        tc.run("tiny", workload=workload)
