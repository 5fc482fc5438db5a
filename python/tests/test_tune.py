"""The search for values that meet a target."""

from __future__ import annotations

import pytest
import tailcut as tc

pytest.importorskip("optuna", reason="Optuna is not installed")

JOB = "randrw,bs=4k,rwmixread=70,rate_iops=2800,1200,rate_process=poisson,number_ios=8000"


@pytest.fixture(scope="module")
def tuned() -> tc.Tuned:
    over = {"scheme": ["baseline", "rps"], "ftl.over_provisioning": "8%..30%"}
    return tc.tune("tiny", "read.p99 <= 4ms", over, workload=JOB, trials=25, minimise="capacity")


def test_the_best_meets_the_target_at_the_least_cost(tuned: tc.Tuned) -> None:
    rows = tuned.table.to_pylist()
    assert len(rows) == 25
    met = [row for row in rows if row["verdict"] == "meets"]
    assert met, rows
    best = tuned.best
    assert best is not None and best["spare"] == min(row["spare"] for row in met)
    # It is what a run with these values gives.
    run = tc.run("tiny", best["scheme"], JOB, tuned.overrides, targets="read.p99=4ms")
    assert run.digest[best["scheme"]] == best["digest"]
    assert run.summary["schemes"][0]["targets"][0]["verdict"] == "meets"


def test_nothing_on_the_front_is_beaten(tuned: tc.Tuned) -> None:
    front = tuned.front.to_pylist()
    assert 0 < len(front) <= 25

    def costs(row: dict[str, float]) -> tuple[float, ...]:
        return (row["tail_ns"], row["waf"], row["spare"], -row["lifetime"])

    for row in front:
        for other in tuned.table.to_pylist():
            better = [a <= b for a, b in zip(costs(other), costs(row))]
            assert not all(better) or costs(other) == costs(row)


def test_a_search_is_reproducible() -> None:
    over = {"ftl.over_provisioning": "10%..30%", "policy.buffer.lru.capacity": ["1MiB", "2MiB"]}
    options = {"workload": JOB.replace("8000", "1000"), "trials": 4, "seed": 3}
    first, second = (tc.tune("tiny", "read.p99<=1s", over, **options) for _ in range(2))
    assert first.table.equals(second.table)


def test_what_cannot_be_is_an_error_or_a_failed_trial() -> None:
    for options, said in [
        ({"target": "read.p99"}, "a target is such as"),
        ({"target": "read.p98.7 <= 1ms"}, "p98.7"),
        ({"minimise": "cost"}, "must be one of"),
        ({"over": {}}, "at least one key"),
        ({"over": {"ftl.over_provisioning": "10%..x"}}, "no range"),
        ({"over": {"ftl.over_provisionin": ["10%"]}}, "no trial can run"),
    ]:
        whole = {"target": "read.p99 <= 1ms", "over": {"ftl.over_provisioning": ["10%"]}, "trials": 2, **options}
        with pytest.raises(tc.Error, match=said):
            tc.tune("tiny", workload=JOB, **whole)
    tuned = tc.tune("tiny", "read.p99 <= 1s", {"scheme": ["baseline", "rail"]}, workload=JOB, trials=6)
    assert {row["scheme"] for row in tuned.table.to_pylist() if row["error"]} <= {"rail"}
