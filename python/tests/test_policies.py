"""Policies in Python: the digests of the same policies in Rust, their costs, and what stops them."""

from __future__ import annotations

import traceback
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
import tailcut as tc
from conftest import JOB, stopped_by_ctrl_c

#: A drive that collects all through the job.
WRITES = "randrw,bs=4k,rwmixread=40,iodepth=16,number_ios=8000"
#: A drive with parity, whose reads meet collections.
STRIPED = {
    "base": "ttflash-256g",
    "geometry": {"blocks": 64, "pages": 64},
    "policy": {"buffer": {"lru": {"capacity": "8MiB"}}},
}
STRIPED_WRITES = "randrw,bs=32k,rwmixread=50,iodepth=32,number_ios=2000"
#: A drive that suspends programs and erases.
SUSPENDS = {"policy.suspend_erase": "arbitrary", "policy.suspend_program": "inter-phase"}


def greedy(view: tc.VictimView) -> tc.Candidate:
    return min(view.candidates, key=lambda c: (c.valid, c.index))


def wins_most(view: tc.VictimView) -> int:
    return view.wins_most()


class Oldest(tc.Victim):
    rule = "age"

    def pick(self, view: tc.VictimView) -> tc.Candidate:
        return min(view.candidates, key=lambda c: c.closed)


def cost_benefit(view: tc.VictimView) -> int:
    best, picked = None, -1
    for i, (valid, closed) in enumerate(zip(view.valid, view.closed)):
        if valid > view.most_valid:
            continue
        gain, cost = (view.units_per_extent - valid) * (view.now - closed), view.moves(i)
        if best is None or gain * best[1] > best[0] * cost:
            best, picked = (gain, cost), i
    return picked


def first_come(view: tc.QueueView) -> str:
    return min(view.waiting, key=lambda kind: view.arrived[kind])


class ReadsFirst(tc.Schedule):
    def next(self, view: tc.QueueView) -> str:
        if "user_read" in view.waiting:
            return "user_read"
        collection = [k for k in view.waiting if k in ("gc_read", "gc_program", "erase", "fold_read", "fold_program")]
        return view.earliest(collection if view.urgent and collection else None)

    def first_on_channel(self, occupant: str) -> bool:
        return occupant == "user_read"

    def interrupters(self, holder: str) -> Collection[str]:
        return () if tc.OCCUPANTS[holder] == "read" else ("user_read",)


class ChannelReads(ReadsFirst):
    """Every third program is the host's while a collection has some too: it counts."""

    reads_close_channel = True
    collections_hold_programs = True

    def __init__(self) -> None:
        self.since = 0

    def next(self, view: tc.QueueView) -> str:
        for first in ("user_read", "rmw_read", "gc_read", "fold_read"):
            if first in view.waiting:
                return first
        host = [kind for kind in view.waiting if kind in ("user_program", "parity_program")]
        moved = "gc_program" if "gc_program" in view.waiting else "fold_program"
        if moved not in view.waiting:
            return view.earliest()
        if not host:
            return moved
        self.since = (self.since + 1) % 3
        return moved if self.since else view.earliest(host)


def gc_tolerant(view: tc.BlockedView) -> bool:
    return view.left > view.others_left + view.busy_channels * view.read


VICTIMS: list[tuple[Any, str]] = [
    (greedy, "greedy"),
    (wins_most, "greedy"),
    (Oldest, "fifo"),
    (Oldest(), "fifo"),
    (cost_benefit, "cost-benefit"),
]


@pytest.mark.parametrize(("policy", "member"), VICTIMS)
def test_a_victim_in_python_has_the_digest_of_that_in_rust(policy: Any, member: str) -> None:
    rust = tc.run("tiny", workload=WRITES, overrides={"policy.gc_victim": member})
    python = tc.run("tiny", workload=WRITES, policies={"victim": policy}, cache=False)
    assert python.digest == rust.digest
    assert python["baseline"].waf == rust["baseline"].waf and rust["baseline"].waf > 1.1  # type: ignore[operator]
    assert rust.policies == []
    [cost] = python.policies
    assert cost["family"] == "victim" and cost["calls"] > 100
    assert 0 < cost["seconds"] and 0 < cost["share"] <= 1
    assert f"policy victim in Python ({cost['name']}): " in str(python)


SCHEDULES: list[tuple[Any, Any]] = [
    (first_come, "fifo"),
    (ReadsFirst, "read-priority"),
    (ReadsFirst(), "read-priority"),
    (ChannelReads, "{ channel-reads = { share = 3 } }"),
]


@pytest.mark.parametrize(
    ("policy", "member", "suspends"),
    [(*of, {}) for of in SCHEDULES] + [(*of, SUSPENDS) for of in SCHEDULES[1:]],
)
def test_a_schedule_in_python_has_the_digest_of_that_in_rust(
    policy: Any, member: str, suspends: dict[str, str]
) -> None:
    rust = tc.run("tiny", workload=WRITES, overrides={"policy.schedule": member, **suspends}, runs=2)
    python = tc.run("tiny", workload=WRITES, overrides=suspends, policies={"schedule": policy}, runs=2)
    assert python.digest == rust.digest
    # Of the second run too: each drive has an object of a class of its own.
    assert python["baseline"].read.percentile(99.9) == rust["baseline"].read.percentile(99.9)
    assert python.policies[0]["calls"] > 100


def test_the_schedules_differ() -> None:
    runs = [tc.run("tiny", workload=WRITES, policies={"schedule": of}).digest["baseline"] for of, _ in SCHEDULES]
    assert len(set(runs)) == 3


def test_a_read_path_in_python_has_the_digest_of_that_in_rust() -> None:
    rust = tc.run(STRIPED, "ttflash", STRIPED_WRITES)
    python = tc.run(STRIPED, "ttflash", STRIPED_WRITES, policies={"read_path": gc_tolerant})
    assert python.digest == rust.digest and python.policies[0]["calls"] > 20
    waits = tc.run(STRIPED, "ttflash", STRIPED_WRITES, policies={"read_path": lambda view: False})
    assert waits.digest != rust.digest


def test_a_policy_that_rust_has_not() -> None:
    ages = []

    def by_square_root_of_age(view: tc.VictimView) -> tc.Candidate:
        ages.append(view.now)
        u = {c.index: c.valid / view.units_per_extent for c in view.candidates}
        return max(view.candidates, key=lambda c: (1 - u[c.index]) / (2 * u[c.index] + 1e-9) * (view.now - c.closed) ** 0.5)

    result = tc.run("tiny", ["baseline", "rps"], WRITES, policies={"victim": by_square_root_of_age})
    assert len(set(result.digest.values())) == 2
    greedy_of = tc.run("tiny", ["baseline", "rps"], WRITES)
    assert result.digest != greedy_of.digest
    assert len(ages) == result.policies[0]["calls"]
    assert result["rps"].config["policy.gc_victim.external.name"] == "by_square_root_of_age"


def test_several_at_once() -> None:
    rust = tc.run("tiny", workload=WRITES, overrides={"policy.gc_victim": "fifo", "policy.schedule": "fifo"})
    python = tc.run("tiny", workload=WRITES, policies={"victim": Oldest, "schedule": first_come})
    assert python.digest == rust.digest
    assert [cost["family"] for cost in python.policies] == ["victim", "schedule"]


def test_drives_that_python_has_aged_are_not_kept(cache: Path, tmp_path: Path) -> None:
    before = set(cache.iterdir())
    folder = tmp_path / "cache"
    tc.run("tiny", workload=WRITES, policies={"victim": greedy}, cache=folder, seed=77)
    assert set(cache.iterdir()) == before and not folder.exists()
    with pytest.raises(tc.Error, match="is not kept"):
        tc.run("tiny", workload=WRITES, policies={"victim": greedy}, snapshot=tmp_path / "aged")
    # A schedule shapes no aged drive.
    tc.run("tiny", workload=WRITES, policies={"schedule": first_come}, cache=folder, seed=77)
    assert len(list(folder.iterdir())) == 1


def test_what_a_policy_raises_is_raised_with_its_traceback() -> None:
    calls = 0

    def fails(view: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 50:
            raise KeyError("the fifty-first")
        return view.waiting[0]

    with pytest.raises(KeyError, match="the fifty-first") as error:
        tc.run("tiny", workload=WRITES, policies={"schedule": fails}, threads=1)
    assert "fails" in [frame.name for frame in traceback.extract_tb(error.value.__traceback__)]
    assert calls == 51, "nothing is called any more"

    class Broken(tc.Schedule):
        def __init__(self) -> None:
            raise RuntimeError("no object")

    with pytest.raises(RuntimeError, match="no object"):
        tc.run("tiny", workload=WRITES, policies={"schedule": Broken})


class Cycle(ReadsFirst):
    def next(self, view: tc.QueueView) -> str:
        return view.waiting[-1]


class Background(tc.Schedule):
    def interrupters(self, holder: str) -> Collection[str]:
        return ("background",)


class Strange(tc.Victim):
    rule = "strange"


@pytest.mark.parametrize(
    ("policies", "said"),
    [
        ({"victim": lambda view: None}, "<lambda>` has answered None: it must be one of view.candidates"),
        ({"victim": lambda view: True}, "has answered True: it must be one of view.candidates"),
        ({"victim": lambda view: 1 << 40}, "it must be one of view.candidates"),
        ({"victim": lambda view: view.valid.index(max(view.valid))}, "it must be one of view.candidates"),
        ({"victim": lambda view: view.moves(10**6)}, "extent 1000000 cannot be collected"),
        ({"victim": Strange}, "its rule is strange; it must be 'fewest', 'age'"),
        ({"schedule": lambda view: "user_reed"}, "it must be one of view.waiting: "),
        ({"schedule": lambda view: "background"}, "it must be one of view.waiting: "),
        ({"schedule": lambda view: 3}, "has answered 3: it must be one of view.waiting"),
        ({"schedule": lambda view: view.earliest(["disk"])}, "`disk` is no kind of work: user_read, "),
        ({"schedule": lambda view: view.earliest(["background"])}, "none of background waits"),
        ({"schedule": Cycle}, "user_read may interrupt it, and must go before it"),
        ({"schedule": Background}, "are background; only user_read, user_program, "),
        ({"schedules": first_come}, "policies `schedules`: it must be one of victim, schedule, read_path"),
        ({"schedule": 3}, "policies `schedule`: a function of the view, or a tailcut.Schedule, not int"),
        ({"schedule": Oldest}, "a tailcut.Schedule, not the class Oldest"),
        ({"read_path": gc_tolerant}, "policy.read_path"),
    ],
)
def test_wrong_policies_are_errors(policies: dict[str, Any], said: str) -> None:
    with pytest.raises(tc.Error) as error:
        tc.run("tiny", workload=WRITES, policies=policies)
    assert said in str(error.value)


def test_a_wrong_answer_of_a_read_path_is_an_error() -> None:
    with pytest.raises(tc.Error, match="has answered 1: it must be True to read"):
        tc.run(STRIPED, "ttflash", STRIPED_WRITES, policies={"read_path": lambda view: 1})


def test_a_policy_for_another_translation_layer_is_an_error() -> None:
    with pytest.raises(tc.Error, match='belongs to ftl.kind = "page"'):
        tc.run("tiny-pblk", "pblk", JOB, policies={"victim": greedy})


def test_a_file_has_no_function(command: object) -> None:
    with pytest.raises(tc.Error, match="policies="):
        tc.run("tiny", workload=JOB, overrides={"policy.gc_victim": "external"})
    said = command("run", "tiny", "--workload", JOB, "--set", "policy.schedule=external")  # type: ignore[operator]
    assert said.returncode == 2 and "a function of the program that runs the drive" in said.stderr


@pytest.mark.parametrize("body", ["return view.wins_most()", "while True: pass"])
def test_ctrl_c_stops_it(body: str, tmp_path: Path) -> None:
    mark = tmp_path / "called"
    code = (
        "def victim(view):\n"
        f"    open({str(mark)!r}, 'w').close()\n"
        f"    {body}\n"
        "tc.run('tiny', workload='randwrite,number_ios=100000000', policies={'victim': victim})\n"
    )
    # The function that never returns would not be stopped at all.
    stopped_by_ctrl_c(code, mark.exists)
