"""The fit of a drive: the parameters of a drive that the model made come back."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import tailcut as tc
from tailcut._figures import quantity

pytest.importorskip("scipy", reason="SciPy is not installed")

#: The drive that is measured, over the base.
TRUE = {
    "timing.read": ["54us", "81us"],
    "timing.program.pulse": "26us",
    "channel.rate": "250MB/s",
    "host.submit_latency": "5us",
    "host.complete_latency": "5us",
}
ROWS = [
    *({"rw": "randread", "bs": "4k", "iodepth": str(depth)} for depth in (1, 4, 16, 64)),
    *({"rw": "randread", "bs": bs, "iodepth": "8"} for bs in ("8k", "32k", "128k")),
    *({"rw": "randwrite", "bs": "4k", "iodepth": str(depth)} for depth in (1, 16)),
    {"rw": "randrw", "bs": "4k", "iodepth": "8", "rwmixread": "70"},
]


def fio_json(summary: dict[str, Any], options: dict[str, str]) -> dict[str, Any]:
    """What fio would print of such a run."""
    scheme = summary["schemes"][0]
    sides = {}
    for op in ("read", "write"):
        of = scheme[op]
        sides[op] = {
            "total_ios": of["total_ios"],
            "iops": of["iops"],
            "lat_ns": {"mean": of["lat_ns"]["mean"]},
            "clat_ns": {"percentile": of["lat_ns"]["percentile"]},
        }
    name = "-".join(options.values())
    job = {"jobname": name, "job options": options, **sides}
    return {"fio version": "fio-3.36", "global options": {"ioengine": "libaio", "direct": "1"}, "jobs": [job]}


@pytest.fixture(scope="module")
def measured() -> list[dict[str, Any]]:
    out = []
    for options in ROWS:
        job = options["rw"] + "".join(f",{key}={value}" for key, value in options.items() if key != "rw")
        # Another seed: a real drive draws other requests than the model.
        run = tc.run("tiny", workload=f"{job},number_ios=6000", overrides=TRUE, seed=11)
        out.append(fio_json(run.summary, options))
    return out


def test_the_parameters_of_a_modelled_drive_come_back(measured: list[dict[str, Any]], tmp_path: Path) -> None:
    files = []
    for i, content in enumerate(measured):
        files.append(tmp_path / f"{i}.json")
        files[-1].write_text("fio: a warning of fio\n" + json.dumps(content))
    fit = tc.fit(files, base="tiny", requests=6000)
    found = {p.name: p for p in fit.parameters}
    for name, tolerance in [("read", 0.04), ("program", 0.15), ("channel", 0.08), ("host", 0.25)]:
        p = found[name]
        assert p.identified, str(fit)
        true = TRUE[p.keys[0]]
        fitted = fit.overrides[p.keys[0]]
        pairs = zip(fitted, true) if isinstance(true, list) else [(fitted, true)]
        for one, other in pairs:
            assert math.isclose(quantity(one)[0], quantity(other)[0], rel_tol=tolerance), str(fit)
    # Nothing of these rows depends on it, or it cannot be told from what else takes as long at each request.
    unknown = [p for p in fit.parameters if not p.identified]
    assert unknown and all(p.fitted == p.base and "assumed" in p.note for p in unknown), str(fit)
    # The rows that the fit has not seen are predicted.
    assert {row["left_out"] for row in fit.rows.to_pylist()} == {True, False}
    assert fit.error(left_out=True) < 0.06, str(fit)
    # The device file is the fitted drive.
    device = tmp_path / "mine.toml"
    fit.write(device)
    job = "randread,bs=4k,iodepth=4,number_ios=500"
    assert tc.run(device, workload=job).digest == tc.run("tiny", workload=job, overrides=fit.overrides).digest
    assert "fitted" in tc.config(device).source("timing.read")  # type: ignore[operator]


def test_figures_of_a_data_sheet_are_rows_too() -> None:
    sheet = [
        {"name": "latency", "workload": "randread,bs=4k,iodepth=1", "read.mean": "95us"},
        {"name": "reads", "workload": "randread,bs=4k,iodepth=32", "read.iops": 45_000},
    ]
    fit = tc.fit(sheet, base="tiny", parameters=["read"], leave_out=0, requests=2000)
    assert [p.name for p in fit.parameters] == ["read"]
    latency = fit.rows.to_pylist()[0]
    assert latency["measured"] == 95_000 and abs(latency["error"]) < 0.2
    with pytest.raises(tc.Error, match="no rows were left out"):
        fit.error()


def test_wrong_results_are_errors(tmp_path: Path) -> None:
    text = tmp_path / "text.json"
    text.write_text("no JSON")
    for results, said in [
        (tmp_path / "missing.json", "No such file"),
        (text, "no JSON of fio"),
        ([], "no results"),
        ({"workload": "randread"}, "has no figures"),
        ({"read.mean": "5us"}, "needs its `workload`"),
        ({"workload": "randread", "read.p98": "5us"}, "is no figure"),
        ({"workload": "randread", "read.mean": "five"}, "not a number with a unit"),
        ({"jobs": [{"jobname": "a"}]}, "no rw"),
        (7, "not int"),
    ]:
        with pytest.raises(tc.Error, match=said):
            tc.fit(results, base="tiny")
    row = {"workload": "randread", "read.mean": "5us"}
    with pytest.raises(tc.Error, match="it must be one of"):
        tc.fit(row, base="tiny", parameters=["speed"])
    with pytest.raises(tc.Error, match="the rows are"):
        tc.fit(row, base="tiny", leave_out=["other"])


def test_the_real_drive_of_the_guide_is_as_near_as_it_says() -> None:
    text = (Path(__file__).parents[2] / "docs" / "python.md").read_text().split("### A real drive\n", 1)[1]
    block = text.split("```python\n", 1)[1].split("f = tc.fit", 1)[0]
    names: dict[str, Any] = {}
    exec(block, names)
    # What the guide says that the fit finds; the fit itself takes too long for a test.
    found = {
        "timing.read": ["89us", "89us", "89us"],
        "controller.command": "17.3us",
        "policy.buffer.lru.write_latency": "31.6us",
    }
    errors = []
    for row in names["rows"]:
        op = row["name"].split()[0]
        scheme = tc.run(names["base"], workload=f"{row['workload']},number_ios=4000", overrides=found)["baseline"]
        side = getattr(scheme, op)
        errors.append(abs(side.mean / quantity(row[f"{op}.mean"])[0] - 1))
        if op == "read":
            errors.append(abs(side.percentile(99) / quantity(row["read.p99"])[0] - 1))
    assert len(errors) == 18 and sum(errors) / len(errors) < 0.08, errors
    assert max(errors) < 0.3, errors
