"""Sweeps: the same as on the command line, resumable, and the same with Ray."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tailcut as tc
from conftest import JOB, stopped_by_ctrl_c

AXES: dict[str, list[Any]] = {"scheme": ["baseline", "rps"], "ftl.over_provisioning": ["15%", "25%"]}


def digests(sweep: tc.Sweep) -> list[str]:
    return list(sweep.table.column("digest").to_pylist())


@pytest.fixture(scope="module")
def local() -> tc.Sweep:
    return tc.sweep("tiny", AXES, workload=JOB)


def test_a_sweep_is_that_of_the_command_line(local: tc.Sweep, command: object, tmp_path: Path) -> None:
    arguments = ["sweep", "tiny", "--workload", JOB, "--out", str(tmp_path / "sweep")]
    for key, values in AXES.items():
        arguments += ["--axis", f"{key}={','.join(values)}"]
    said = command(*arguments)  # type: ignore[operator]
    assert said.returncode == 0, said.stderr
    import pyarrow.parquet as pq

    theirs = pq.read_table(tmp_path / "sweep" / "results.parquet")
    for column in ("key", "digest", "axis.scheme", "read_p99.9_ns"):
        assert local.table.column(column).to_pylist() == theirs.column(column).to_pylist(), column


def test_a_point_is_the_run_of_its_schemes(local: tc.Sweep) -> None:
    rows = local.to_pandas()
    run = tc.run("tiny", ["baseline", "rps"], JOB, {"ftl.over_provisioning": "25%"})
    at = rows[rows["axis.ftl.over_provisioning"] == "25%"]
    assert dict(zip(at["axis.scheme"], at["digest"])) == run.digest


def test_a_sweep_goes_on(tmp_path: Path, local: tc.Sweep) -> None:
    out = tmp_path / "sweep"
    tc.sweep("tiny", AXES, workload=JOB, out=out)
    (next((out / "points").iterdir())).unlink()
    again = tc.sweep("tiny", AXES, workload=JOB, out=out)
    assert again.read_back == 3
    assert digests(again) == digests(local)
    with pytest.raises(tc.Error, match="another sweep"):
        tc.sweep("tiny", AXES, workload=JOB, seed=9, out=out)


def test_what_fails_is_named(tmp_path: Path) -> None:
    # The second scheme is not for this kind of drive in one of the two.
    axes = {"scheme": ["baseline", "rail"], "device": ["tiny", "tiny-pblk"]}
    sweep = tc.sweep(None, axes, workload=JOB)
    assert len(sweep) == 4
    assert [row["axis.device"] for row in sweep.failed] == ["tiny"]
    assert sweep.failed[0]["error"]


def test_arrays_and_tables_sweep_too() -> None:
    requests = {"time": list(range(0, 100_000_000, 100_000)), "op": [i % 2 for i in range(1000)]}
    requests["offset"] = [4096 * (i * 7 % 999) for i in range(1000)]
    requests["size"] = [4096] * 1000
    sweep = tc.sweep({"base": "tiny"}, {"scheme": ["rps"], "workload.rate_scale": [1, 2]}, workload=requests)
    run = tc.run({"base": "tiny"}, "rps", requests, trace={"rate_scale": 2})
    assert digests(sweep)[1] == run.digest["rps"] != digests(sweep)[0]


def test_errors() -> None:
    with pytest.raises(tc.Error, match="did you mean `scheme`"):
        tc.sweep("tiny", {"shceme": ["rps"]})
    with pytest.raises(tc.Error, match="at least one axis"):
        tc.sweep("tiny", {})
    with pytest.raises(tc.Error, match="local or ray"):
        tc.sweep("tiny", AXES, engine="dask")


def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    jobs = ["randread,bs=4k,number_ios=1000", "randread,bs=4k,number_ios=1000000000"]
    code = f"tc.sweep('tiny', {{'workload': {jobs!r}}}, out={str(out)!r}, threads=2, progress=False)"
    stopped_by_ctrl_c(code, lambda: list(out.glob("points/*.json")))
    assert len(list(out.glob("points/*.json"))) == 1
    assert json.loads((out / "sweep.json").read_text())["device"] == "tiny"
