"""Runs: the same results and errors as the command line, figures, tables, and Ctrl-C."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import tailcut as tc
from conftest import JOB, stopped_by_ctrl_c


def test_the_block_of_the_readme_runs() -> None:
    readme = Path(__file__).parents[2] / "README.md"
    text = readme.read_text().split("## Python", 1)[1]
    block = text.split("```python\n", 1)[1].split("```", 1)[0]
    # The same lines, on drives of the size of a test, and without a cluster.
    for device in ("z-ssd", "tlc-3d"):
        small = {"base": device, "geometry": {"blocks": 40, "pages": 64}}
        assert f'"{device}"' in block
        block = block.replace(f'"{device}"', repr(small))
    block = block.replace("iodepth=16", "iodepth=16,number_ios=2000").replace('engine="ray"', 'engine="local"')
    names: dict[str, object] = {}
    exec(block, names)
    assert isinstance(names["r"], tc.Result)
    assert isinstance(names["s"], tc.Sweep)


def test_the_digest_is_that_of_the_command_line(command: object, tmp_path: Path) -> None:
    arguments = ["run", "tiny", "--scheme", "baseline,rps", "--workload", JOB, "--seed", "3"]
    arguments += ["--set", "ftl.over_provisioning=20%", "--json"]
    said = command(*arguments)  # type: ignore[operator]
    assert said.returncode == 0, said.stderr
    of_command = json.loads(said.stdout)
    here = tc.run("tiny", ["baseline", "rps"], JOB, {"ftl.over_provisioning": "20%"}, seed=3)
    assert here.digest == {of["name"]: of["digest"] for of in of_command["schemes"]}
    times = {"wall_seconds", "cpu_seconds", "requests_per_cpu_second", "peak_rss_bytes", "precondition"}
    for ours, theirs in zip(here.summary["schemes"], of_command["schemes"]):
        for key in theirs.keys() - times:
            assert ours[key] == theirs[key], key


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["no-such-drive"], {"device": "no-such-drive"}),
        (["tiny", "--scheme", "rpx"], {"device": "tiny", "schemes": "rpx"}),
        (["tiny", "--set", "ftl.over_provisionin=20%"], {"device": "tiny", "overrides": {"ftl.over_provisionin": "20%"}}),
        (["tiny", "--workload", "randrw,bs=5x"], {"device": "tiny", "workload": "randrw,bs=5x"}),
        (["tiny", "--workload", "nothing"], {"device": "tiny", "workload": "nothing"}),
        (["tiny", "--set", "host.queue_depth=0"], {"device": "tiny", "overrides": {"host.queue_depth": 0}}),
    ],
)
def test_errors_have_the_text_of_the_command_line(
    command: object, arguments: list[str], options: dict[str, object]
) -> None:
    said = command("run", *arguments)  # type: ignore[operator]
    assert said.returncode == 2
    text = " ".join(said.stderr.removeprefix("error: ").split())
    with pytest.raises(tc.Error) as error:
        tc.run(**options)  # type: ignore[arg-type]
    assert " ".join(str(error.value).split()) == text
    assert isinstance(error.value, ValueError)


def test_figures(small: tc.Result) -> None:
    rps = small["rps"]
    assert rps.read.percentile(50) <= rps.read.percentile(99.9) <= rps.read.max
    assert rps.read.percentile(99.9) == rps.summary["read"]["lat_ns"]["percentile"]["99.900000"]
    assert rps.read.min <= rps.read.mean <= rps.read.max
    assert rps.read.count + rps.write.count == 4000
    assert rps.write.iops > 0 and rps.write.bandwidth > 0
    assert rps.waf is not None and rps.waf >= 1
    low, high = rps.read.interval(50) or (0, 0)
    assert low <= rps.read.percentile(50) <= high
    with pytest.raises(tc.Error, match="no trim was measured"):
        rps.trim.percentile(99)
    with pytest.raises(tc.Error, match="0 to 100"):
        rps.read.percentile(101)
    with pytest.raises(KeyError, match="baseline, rps"):
        small["t-es"]
    assert rps.config["policy.schedule.read-priority.over"] if "policy.schedule.read-priority.over" in rps.config else True
    assert rps.config.layer("ftl.over_provisioning").startswith("device tiny")
    assert "baseline" in str(small) and "<pre>" in small._repr_html_()
    assert "read" in small.explain(top=1)


def test_tables(small: tc.Result) -> None:
    ccdf = small.ccdf().to_pandas()
    assert list(ccdf.columns) == ["scheme", "op", "latency_ns", "share"]
    for _, curve in ccdf.groupby(["scheme", "op"]):
        assert curve["share"].iloc[0] == 1.0
        assert curve["share"].is_monotonic_decreasing and curve["latency_ns"].is_monotonic_increasing
    assert small["rps"].read.ccdf().num_rows == len(ccdf[(ccdf.scheme == "rps") & (ccdf.op == "read")])
    blame = small.blame(above=99).to_pandas()
    for (scheme, op), rows in blame.groupby(["scheme", "op"]):
        assert rows["cause_ns"].sum() == pytest.approx(rows["mean_ns"].iloc[0])
        assert rows["share"].sum() == pytest.approx(1.0)
    requests = small.requests.to_pandas()
    assert len(requests) == 8000
    causes = requests.columns[list(requests.columns).index("status") + 1 :]
    assert (requests[causes].sum(axis=1) == requests["latency_ns"]).all()
    reads = requests[(requests.scheme == "rps") & (requests.op == "read")]
    assert reads["latency_ns"].max() == small["rps"].read.max
    slowest = small.slowest.to_pandas()
    assert slowest["latency_ns"].max() == requests["latency_ns"].max()
    assert {"at_ns", "read_p99_ns", "scheme"} <= set(small.series.column_names)


def test_tables_are_frames_of_polars_too(small: tc.Result) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(small["rps"].read.ccdf())
    assert frame.height > 10 and frame["share"][0] == 1.0


def test_requests_that_were_not_kept_are_named() -> None:
    result = tc.run("tiny", workload="randread,bs=4k,number_ios=100")
    with pytest.raises(tc.Error, match="requests=True"):
        result.requests
    assert result["baseline"].waf is None


def test_several_runs_and_targets() -> None:
    result = tc.run("tiny", workload=JOB, runs=3, targets="read.p99=1s", cache=False)
    scheme = result["baseline"]
    assert scheme.summary["runs"] == 3
    assert scheme.read.percentile(99) == scheme.summary["read"]["lat_ns"]["percentile"]["99.000000"]
    assert scheme.summary["targets"][0]["verdict"] == "meets"


def test_a_device_may_be_a_dict_or_a_file(tmp_path: Path) -> None:
    options = {"workload": JOB, "seed": 2}
    table = {"base": "tiny", "description": "mine", "ftl": {"over_provisioning": "25%"}}
    file = tmp_path / "mine.toml"
    file.write_text('base = "tiny"\ndescription = "mine"\nftl.over_provisioning = "25%"\n')
    of = [
        tc.run(table, **options),
        tc.run(file, **options),
        tc.run("tiny", overrides={"ftl": {"over_provisioning": "25%"}}, **options),
    ]
    assert len({tuple(r.digest.values()) for r in of}) == 1
    assert of[0].summary["device"] == "table on tiny"
    with pytest.raises(tc.Error, match="over_provisionin"):
        tc.run({"base": "tiny", "ftl": {"over_provisionin": "25%"}}, **options)


def test_the_folder_of_a_run_is_that_of_the_command_line(tmp_path: Path, command: object) -> None:
    out = tmp_path / "run"
    tc.run("tiny", ["baseline", "rps"], JOB, out=out, requests=True, series="1ms")
    names = {path.name for path in out.iterdir()}
    assert {"summary.json", "config.rps.toml", "latency.hlog", "requests.rps.parquet", "series.baseline.parquet"} <= names
    said = command("explain", str(out), "--top", "1")  # type: ignore[operator]
    assert said.returncode == 0, said.stderr
    with pytest.raises(tc.Error, match="holds"):
        tc.run("tiny", workload=JOB, out=out)
    page = tmp_path / "page.html"
    tc.run("tiny", workload=JOB).report(page)
    assert page.read_text().startswith("<!")


def test_progress_is_reported() -> None:
    seen: list[tuple[float, str]] = []
    tc.run("tiny", workload=JOB, progress=lambda share, text: seen.append((share, text)))
    assert seen and seen[-1][0] == pytest.approx(1.0)
    assert "requests" in seen[-1][1]
    with pytest.raises(ZeroDivisionError):
        tc.run("tiny", workload=JOB, progress=lambda share, text: 1 / 0)


def test_ctrl_c_stops_a_run(tmp_path: Path) -> None:
    job, out = "randread,bs=4k,iodepth=4,number_ios=1000000000", tmp_path / "run"
    stopped_by_ctrl_c(f"tc.run('tiny', workload={job!r}, cache=False, out={str(out)!r}, progress=False)", out.exists)


@pytest.mark.parametrize(
    ("package", "modules", "call"),
    [
        ("ray", ["ray"], lambda: tc.sweep("tiny", {"scheme": ["rps"]}, workload=JOB, engine="ray")),
        ("optuna", ["optuna"], lambda: tc.tune("tiny", "read.p99 <= 1ms", {"scheme": ["rps"]})),
        ("scipy", ["scipy", "scipy.optimize"], lambda: tc.fit({"workload": "randread,bs=4k,iodepth=1", "read.mean": "80us"})),
    ],
)
def test_a_package_that_is_missing_is_named(
    package: str, modules: list[str], call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    # The name of an extra would be looked up on an index, on which this package is not.
    with pytest.raises(tc.Error, match=f" needs .*: pip install {package}$"):
        call()


def test_other_threads_run_beside_it() -> None:
    ticks = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not stop.wait(0.005):
            ticks += 1

    thread = threading.Thread(target=count)
    thread.start()
    began = time.monotonic()
    tc.run("tiny", workload=JOB.replace("4000", "200000"), cache=False)
    took = time.monotonic() - began
    stop.set()
    thread.join()
    assert ticks > took / 0.005 / 20, f"{ticks} ticks in {took} s"


def test_what_is_built_in_is_listed() -> None:
    assert "z-ssd" in {of["name"] for of in tc.devices()}
    assert "t-es" in {of["name"] for of in tc.schemes()}
    assert "mixed-70-30-qd16" in {of["name"] for of in tc.workloads()}
    assert "ftl.over_provisioning" in {of["key"] for of in tc.keys()}
    config = tc.config("z-ssd", "t-es", {"ftl.over_provisioning": "20%"})
    assert config["ftl.over_provisioning"] == "20%"
    assert config.layer("ftl.over_provisioning") == "--set ftl.over_provisioning=20%"
    assert config.source("timing.read") and "[timing]" in config.toml
    assert os.fspath  # The listing needs no files.
