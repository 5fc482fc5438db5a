"""Sweeps on a local Ray cluster: the same digests, resumed, and with failures."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tailcut as tc
from conftest import JOB

ray = pytest.importorskip("ray", reason="Ray is not installed")

AXES: dict[str, list[Any]] = {"scheme": ["baseline", "rps"], "ftl.over_provisioning": ["15%", "25%"]}


@pytest.fixture(scope="module", autouse=True)
def cluster(cache: Path) -> Iterator[None]:
    os.environ["RAY_AUTH_MODE"] = "disabled"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    for left in (2, 1, 0):
        try:
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
            break
        except Exception:  # A node that starts too slowly: the machine is busy.
            ray.shutdown()
            if left == 0:
                raise
    yield
    ray.shutdown()


def test_ray_gives_the_digests_of_the_local_engine(tmp_path: Path) -> None:
    local = tc.sweep("tiny", AXES, workload=JOB)
    out = tmp_path / "sweep"
    remote = tc.sweep("tiny", AXES, workload=JOB, engine="ray", out=out)
    for column in ("key", "digest", "status", "axis.scheme", "read_p99.9_ns", "waf"):
        assert remote.table.column(column).to_pylist() == local.table.column(column).to_pylist(), column
    next((out / "points").iterdir()).unlink()
    assert tc.sweep("tiny", AXES, workload=JOB, engine="ray", out=out).read_back == 3


def test_random_points_have_the_same_keys_too() -> None:
    options: dict[str, Any] = {"workload": JOB, "random": 5, "seed": 4}
    axes = {"scheme": ["baseline", "rps"], "ftl.over_provisioning": ["10%..30%"]}
    local = tc.sweep("tiny", axes, **options)
    remote = tc.sweep("tiny", axes, engine="ray", **options)
    assert remote.table.column("key").to_pylist() == local.table.column("key").to_pylist()
    assert remote.table.column("digest").to_pylist() == local.table.column("digest").to_pylist()


def test_a_lost_worker_is_reported_and_its_point_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tailcut import _ray

    marks = str(tmp_path)

    def dies_once(job: str, cache: str) -> tuple[bool, str]:
        import hashlib
        import os
        import signal
        from pathlib import Path

        from tailcut import _tailcut

        mark = Path(marks) / hashlib.sha256(job.encode()).hexdigest()

        def killed_once(share: float, text: str) -> None:
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)

        # The first report comes while the point runs, or at its end.
        return True, _tailcut.run_point(job, cache, killed_once)

    monkeypatch.setattr(_ray, "_point", dies_once)
    axes = {"scheme": ["baseline", "rps"]}
    with pytest.warns(UserWarning, match="it runs again"):
        sweep = tc.sweep("tiny", axes, workload=JOB, engine="ray")
    assert not sweep.failed
    assert sweep.table.column("digest").to_pylist() == tc.sweep("tiny", axes, workload=JOB).table.column(
        "digest"
    ).to_pylist()


def test_tasks_share_aged_drives_that_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tailcut import _ray

    marks = str(tmp_path)

    def tells_its_cache(job: str, cache: str) -> tuple[bool, str]:
        import json
        import os
        from pathlib import Path

        from tailcut import _tailcut

        done = _tailcut.run_point(job, cache)
        (Path(marks) / str(json.loads(job)["point"])).write_text(cache + "\n" + "\n".join(os.listdir(json.loads(cache))))
        return True, done

    monkeypatch.setattr(_ray, "_point", tells_its_cache)
    axes = {"scheme": ["baseline", "rps"], "seed": ["1", "2"]}
    sweep = tc.sweep("tiny", axes, workload=JOB, engine="ray", cache=False)
    assert not sweep.failed and len(list(tmp_path.iterdir())) == 4
    said = [mark.read_text().splitlines() for mark in tmp_path.iterdir()]
    [folder] = {cache for cache, *_ in said}
    aged = {name for _, *names in said for name in names if name.endswith(".snap")}
    # A drive for each seed, which both schemes use.
    assert len(aged) == 2
    assert not Path(json.loads(folder)).exists()


def test_what_is_lost_again_and_again_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    from tailcut import _ray

    def dies(job: str, cache: str) -> tuple[bool, str]:
        import os

        os._exit(1)

    monkeypatch.setattr(_ray, "_point", dies)
    with pytest.warns(UserWarning, match="it runs again"):
        sweep = tc.sweep("tiny", {"scheme": ["baseline"]}, workload=JOB, engine="ray", retries=1)
    assert sweep.failed[0]["error"].startswith("2 tries: ")
