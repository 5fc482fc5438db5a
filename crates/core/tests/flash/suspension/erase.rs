//! An erase and the reads that arrive while it is under way.

use super::*;
use crate::driver::{Act, account};
use tailcut_core::nand::config::{LeastLeftOf, ServedAfterLoop};
use tailcut_units::Stream;

fn erase_instants() -> Vec<u64> {
    instants(&[0, RAMP, EXECUTION, RECOVERY], LOOP, ERASE)
}

#[test]
fn a_read_meets_every_phase() {
    for &member in SuspendEraseConfig::MEMBERS {
        for x in erase_instants() {
            let label = format!("{member}, a read at {x}");
            meet(&erasing(member), erase(0), E, ERASE, x, erase_way(member, x), &label);
        }
    }
}

/// Some cases in plain numbers: one read 30,000 ns into an erase.
#[test]
fn the_same_in_numbers() {
    for (member, granted, end) in [
        // The read waits for the end.
        ("never", 300_100, 300_100),
        // The read has the die at once; 24,100 later the other 270,000 follow.
        ("ideal", 30_100, 30_100 + 24_100 + 270_000),
        // 4,000 for the voltage to fall, 7,000 to raise it.
        ("arbitrary", 34_100, 34_100 + 24_100 + 7_000 + 270_000),
        // In addition a verify of 3,000, and all 300,000 again.
        ("immediate", 34_100, 34_100 + 24_100 + 3_000 + 7_000 + 300_000),
        ("timeout", 34_100, 34_100 + 24_100 + 3_000 + 7_000 + 300_000),
        // The loop ends at 100,100; two follow.
        ("deferred", 100_100, 100_100 + 24_100 + 200_000),
    ] {
        let mut stage = Stage::new(&erasing(member));
        let (e, r) = (stage.ask(0, erase(0)), stage.ask(30_100, read(0)));
        stage.play();
        assert_eq!((stage[r].granted(), stage[e].end()), (granted, end), "{member}");
    }
}

#[test]
fn a_read_during_the_command_is_served_before_the_first_phase() {
    // A command that is under way cannot be cancelled.
    for &member in SuspendEraseConfig::MEMBERS {
        let granted = match member {
            "never" => E + ERASE,
            "deferred" => E + LOOP,
            _ => E,
        };
        for at in [0, 40, E - 1] {
            let mut stage = Stage::new(&erasing(member));
            let (e, r) = (stage.ask(0, erase(0)), stage.ask(at, read(0)));
            stage.play();
            assert_eq!(stage[r].granted(), granted, "{member}, {at}");
            let read = if member == "never" { 0 } else { READ };
            assert_eq!(stage[e].end(), E + read + ERASE, "{member}, {at}");
            let point = if member == "never" { 0 } else { granted - at };
            assert_eq!(stage[r].ledger.get(Cause::SUSPEND_POINT), point, "{member}, {at}");
        }
    }
}

#[test]
fn all_that_comes_while_the_die_is_free_is_served_first() {
    for &member in SuspendEraseConfig::MEMBERS {
        let x = 30_000;
        let Some(w) = erase_way(member, x) else { continue };
        let free = E + w.free;
        let mut seconds = vec![E + x, E + x + 1, free - 1, free, free + 1, free + READ - 1];
        if member == "deferred" {
            // The next loop is under way from its first instant on.
            seconds.extend([free + READ, free + READ + 1]);
        }
        seconds.retain(|&at| at >= E + x);
        for second in seconds {
            let mut stage = Stage::new(&erasing(member));
            let e = stage.ask(0, erase(0));
            let (a, b) = (stage.ask(E + x, read(0)), stage.ask(second, read(0)));
            stage.play();
            assert_eq!(stage[a].granted(), free, "{member}, {second}");
            // `deferred` serves the reads that were queued when the loop ended. A read submitted at
            // that very time comes too late, since timers fire first.
            let waits = member == "deferred" && second >= free;
            let next = if waits { free + READ + LOOP } else { free + READ };
            assert_eq!(stage[b].granted(), next, "{member}, {second}");
            assert_eq!(stage[e].end(), free + 2 * READ + w.resume + ERASE - w.keep, "{member}, {second}");
            let counted = totals(&stage.flash, &erase(0)).suspends;
            assert_eq!(counted, 1 + u64::from(waits), "{member}, {second}");
        }
    }
}

#[test]
fn a_loop_ends_for_all_where_that_is_said() {
    let mut parts = erasing("deferred");
    parts.suspend.erase.serve = ServedAfterLoop::All;
    let mut stage = Stage::new(&parts);
    let e = stage.ask(0, erase(0));
    let free = E + LOOP;
    let reads = [E + 30_000, free + 1, free + READ + 1, free + 3 * READ].map(|at| stage.ask(at, read(0)));
    stage.play();
    // The last read arrives at the instant at which the erase has resumed, and waits for the loop.
    let granted = reads.map(|r| stage[r].granted());
    let last = free + 3 * READ + LOOP;
    assert_eq!(granted, [free, free + READ, free + 2 * READ, last]);
    assert_eq!(stage[e].end(), last + READ + LOOP);
}

#[test]
fn a_read_during_the_resume_cancels_it() {
    let x = 30_000;
    // The verify that begins a resume costs nothing to cancel. Once the voltage rises, it has to
    // fall again.
    for (member, check, keep) in [("arbitrary", 0, x), ("immediate", VERIFY, 0), ("timeout", VERIFY, 0)] {
        let begins = E + x + FALL + READ;
        let whole = check + RAISE;
        for elapsed in [0, 1, check, check + 1, whole - 1] {
            let mut stage = Stage::new(&erasing(member));
            let e = stage.ask(0, erase(0));
            stage.ask(E + x, read(0));
            let second = stage.ask(begins + elapsed, read(0));
            stage.play();
            let cut = if elapsed > check { FALL } else { 0 };
            let free = begins + elapsed + cut;
            assert_eq!(stage[second].granted(), free, "{member}, {elapsed}");
            let charged = stage[second].ledger.get(Cause::SUSPEND_OVERHEAD);
            assert_eq!(charged, cut, "{member}, {elapsed}");
            assert_eq!(stage[e].suspended, [E + x + FALL, free], "{member}, {elapsed}");
            assert_eq!(stage[e].end(), free + READ + whole + ERASE - keep, "{member}, {elapsed}");
            let want = suspends(2, 1, x - keep, FALL + elapsed + cut + whole);
            assert_eq!(totals(&stage.flash, &erase(0)), want, "{member}, {elapsed}");
            assert_eq!(stage.flash.blocks().suspensions()[0], 2, "{member}, {elapsed}");
        }
        // One nanosecond later the pulse has begun again, and it is stopped like the first time.
        let mut stage = Stage::new(&erasing(member));
        stage.ask(0, erase(0));
        stage.ask(E + x, read(0));
        stage.ask(begins + whole, read(0));
        stage.play();
        let c = totals(&stage.flash, &erase(0));
        assert_eq!((c.suspends, c.resumes_cancelled), (2, 0), "{member}");
    }
}

#[test]
fn the_timeout_is_tight() {
    // Before an erase is in the array, its delay is the time of its command.
    for x in erase_instants() {
        let label = |what: &str| format!("timeout, {what}, a read at {x}");
        let not_yet = timing_out(COMMAND + 1, timeout::Clock::Erase);
        meet(&not_yet, erase(0), E, ERASE, x, erase_way("immediate", x), &label("not yet"));
        let over = timing_out(COMMAND, timeout::Clock::Erase);
        meet(&over, erase(0), E, ERASE, x, erase_way("deferred", x), &label("just now"));
    }
    // A cancelled loop counts as delay: 100 + 30,000 + 4,000 + 24,100 + 10,000 for the resume.
    let (x, on) = (30_000, 30_000 + FALL + READ + VERIFY + RAISE);
    let delay = COMMAND + on;
    let second = on + 5_000;
    let run = |after: u64| met(&timing_out(after, timeout::Clock::Erase), erase(0), E, &[x, second]);
    let again = VERIFY + RAISE + ERASE;
    assert_eq!(run(delay + 1), (vec![x + FALL, second + FALL], second + FALL + READ + again));
    assert_eq!(run(delay), (vec![x + FALL, on + LOOP], on + ERASE + READ));
    // From then on it serves what was queued when the loop ended, and no later arrival.
    let over = timing_out(COMMAND, timeout::Clock::Erase);
    let (granted, _) = met(&over, erase(0), E, &[x, LOOP - 1, LOOP + 1]);
    assert_eq!(granted, [LOOP, LOOP + READ, 2 * LOOP + 2 * READ]);
}

#[test]
fn past_its_timeout_it_does_not_cancel_its_resume() {
    let x = 30_000;
    let begins = x + FALL + READ;
    // The second read arrives during the verify that begins the resume.
    let second = begins + 2_000;
    let run = |after: u64| {
        let mut stage = Stage::new(&timing_out(after, timeout::Clock::Erase));
        let e = stage.ask(0, erase(0));
        let reads = [x, second].map(|at| stage.ask(E + at, read(0)));
        stage.play();
        let cancelled = totals(&stage.flash, &erase(0)).resumes_cancelled;
        (reads.map(|r| stage[r].granted() - E), stage[e].end() - E, cancelled)
    };
    let delay = COMMAND + second;
    let on = begins + VERIFY + RAISE;
    assert_eq!(run(delay), ([x + FALL, on + LOOP], on + ERASE + READ, 0));
    assert_eq!(run(delay + 1), ([x + FALL, second], second + READ + VERIFY + RAISE + ERASE, 1));
}

#[test]
fn the_other_clock_is_that_of_the_oldest_write() {
    let run = |arrived: Option<u64>, after: u64| {
        let mut stage = Stage::new(&timing_out(after, timeout::Clock::OldestWrite));
        stage.ask(0, erase(0));
        if let Some(at) = arrived {
            stage.act(at, Act::OldestWrite(at));
        }
        let r = stage.ask(E + 30_000, read(0));
        stage.play();
        stage[r].granted() - E
    };
    // The write has waited for 20,100 when the read arrives.
    assert_eq!(run(Some(10_000), 20_101), 30_000 + FALL);
    assert_eq!(run(Some(10_000), 20_100), LOOP);
    assert_eq!(run(None, 1), 30_000 + FALL, "none waits: none has waited");
}

#[test]
fn it_bears_no_more_than_is_said() {
    let x = 30_000;
    let on = x + FALL + READ + RAISE;
    let end = on + ERASE - x;
    let run = |set: &dyn Fn(&mut SuspendLimits), at: &[u64]| {
        met(&limited(erasing("arbitrary"), set), erase(0), E, at)
    };
    assert_eq!(run(&|l| l.most = Some(0), &[x]), (vec![ERASE], ERASE));
    // The second read waits for the end of the erase, and does not cancel the resume.
    for second in [on - 1, on, on + 1_000] {
        assert_eq!(run(&|l| l.most = Some(1), &[x, second]), (vec![x + FALL, end], end), "{second}");
    }
    assert_eq!(run(&|l| l.most = Some(2), &[x, on + 1_000]).0, [x + FALL, on + 1_000 + FALL]);
    // Between a resume and the next suspension the erase is in the array for at least `spacing`.
    let spacing = |l: &mut SuspendLimits| l.spacing = Some(Span(15_000));
    for second in [on - RAISE, on - 1, on, on + 14_999, on + 15_000] {
        assert_eq!(run(&spacing, &[x, second]).0, [x + FALL, on + 15_000 + FALL], "{second}");
    }
    assert_eq!(run(&spacing, &[x, on + 15_001]).0[1], on + 15_001 + FALL);
    assert_eq!(run(&spacing, &[x]).0, [x + FALL], "the first is not spaced");
    // The erase is suspended only if at least `least_left` is left: in the pulse of the last loop,
    // 40,000 before the end.
    let least = |l: &mut SuspendLimits| l.least_left = Some(Span(40_000));
    assert_eq!(run(&least, &[ERASE - 40_000]).0, [ERASE - 40_000 + FALL]);
    assert_eq!(run(&least, &[ERASE - 39_999]).0, [ERASE]);
}

#[test]
fn what_is_left_counts_where_it_would_stop() {
    let run = |member: &str, least: u64, x: u64| {
        met(&limited(erasing(member), |l| l.least_left = Some(Span(least))), erase(0), E, &[x])
    };
    let stops = |at: u64| (vec![at], ERASE + READ);
    let waits = (vec![ERASE], ERASE);
    // A read in the first loop: when that loop has ended, two are left.
    assert_eq!(run("deferred", 2 * LOOP, 1), stops(LOOP));
    assert_eq!(run("deferred", 2 * LOOP + 1, 1), waits);
    // A read at the beginning of the second loop stops the erase at once; one that comes later has
    // to wait for the end of that loop.
    assert_eq!(run("deferred", LOOP + 1, LOOP), stops(LOOP));
    assert_eq!(run("deferred", LOOP + 1, LOOP + 1), waits);
    assert_eq!(run("deferred", LOOP, LOOP + 1), stops(2 * LOOP));
    // A recovery is finished first.
    assert_eq!(run("arbitrary", ERASE - RECOVERY, EXECUTION + 1), stops(RECOVERY));
    assert_eq!(run("arbitrary", ERASE - RECOVERY + 1, EXECUTION + 1), waits);
}

/// Where the limit counts the loop under way, a read waits at most for the rest of a loop that has less left:
/// it is served before the next one, however short that is.
#[test]
fn the_limit_may_count_the_loop_under_way() {
    let run = |member: &str, least: u64, keeps: bool, x: u64| {
        let mut parts = limited(erasing(member), |l| l.least_left = Some(Span(least)));
        parts.suspend.erase.least_left_of = LeastLeftOf::Loop;
        parts.suspend.erase.keep_last_loop = keeps;
        met(&parts, erase(0), E, &[x])
    };
    let least = 40_000;
    let at_once = |x: u64| vec![x + FALL];
    for (x, on) in [
        (LOOP - least, at_once(LOOP - least)),
        (LOOP - least + 1, vec![LOOP]),
        (2 * LOOP - 1, vec![2 * LOOP]),
        (ERASE - least, at_once(ERASE - least)),
        (ERASE - least + 1, vec![ERASE]),
    ] {
        assert_eq!(run("immediate", least, false, x).0, on, "{x}");
    }
    // A loop that is cut off takes no time of the erase.
    assert_eq!(run("immediate", least, false, 2 * LOOP - 1), (vec![2 * LOOP], ERASE + READ));
    // The last loop is kept, and the end of the loop before it is not.
    assert_eq!(run("immediate", least, true, 2 * LOOP - 1).0, [2 * LOOP]);
    assert_eq!(run("immediate", least, true, 2 * LOOP + 1).0, [ERASE]);
    // A loop that ends by itself is no suspension that the limit could refuse.
    assert_eq!(run("deferred", ERASE, false, LOOP + 1), (vec![2 * LOOP], ERASE + READ));
    assert_eq!(run("deferred", ERASE, false, 2 * LOOP + 1).0, [ERASE]);
}

/// What the pulse gets is what it would get without suspension, wherever it is cut.
#[test]
fn the_pulse_is_as_long_in_all_as_without_suspension() {
    let mut s = Stream::new(3, "pulse", 0);
    let mut suspends = 0;
    for round in 0..40 {
        let mut stage = Stage::new(&erasing("arbitrary"));
        let erases = [0; 3].map(|at| stage.ask(at, erase(0)));
        let mut at = 0;
        while at < 4_000_000 {
            at += 1 + s.below(72_000 + 8_000 * round);
            stage.ask(at, read(0));
        }
        stage.play();
        for e in erases {
            let (mut progress, mut pulse) = (0, 0);
            for &(from, to) in &stage[e].array {
                let end = progress + to - from;
                for begun in (0..ERASE / LOOP).map(|n| n * LOOP) {
                    let (from, to) = (progress.max(begun + RAMP), end.min(begun + EXECUTION));
                    pulse += to.saturating_sub(from);
                }
                // A ramp-up or a verify is repeated.
                let (begun, inside) = (end / LOOP * LOOP, end % LOOP);
                progress = match inside {
                    0..RAMP => begun,
                    RAMP..EXECUTION => end,
                    _ => begun + RECOVERY,
                };
            }
            assert_eq!(pulse, 3 * (EXECUTION - RAMP), "{:?}", stage[e].array);
            suspends += stage[e].suspended.len();
        }
    }
    assert!(suspends > 500, "{suspends} suspensions");
}

#[test]
fn who_waits_behind_is_told_what_for() {
    // A program arrives 10,000 after the erase, and a read 30,000 after it.
    let (came, x) = (10_000, 30_000);
    for (member, check, lost) in [("arbitrary", 0, 0), ("immediate", VERIFY, x), ("timeout", VERIFY, x)] {
        // A second read cancels the resume: during its verify, if there is one, or later.
        for again in [2_000, 5_000] {
            let mut stage = Stage::new(&erasing(member));
            let e = stage.ask(0, erase(0));
            let waits = stage.ask(E + came, program(0));
            stage.ask(E + x, read(0));
            stage.ask(E + x + FALL + READ + again, read(0));
            stage.play();
            let cut = if again > check { FALL } else { 0 };
            let overhead = FALL + again + cut + check + RAISE;
            let end = E + 2 * READ + overhead + lost + ERASE;
            assert_eq!((stage[e].end(), stage[waits].granted()), (end, end), "{member}, {again}");
            let causes = [
                ("command", 100),
                ("array", 80_000),
                ("transfer", 4_000),
                ("die_wait.suspend_overhead", overhead),
                ("die_wait.user_read", 2 * READ),
                ("die_wait.erase", lost + ERASE - came),
            ];
            assert_eq!(stage[waits].account(), account(&causes), "{member}, {again}");
        }
    }
    // The wait for the end of a loop is charged to `suspend_point`.
    let mut stage = Stage::new(&erasing("deferred"));
    stage.ask(0, erase(0));
    let waits = stage.ask(E + came, program(0));
    stage.ask(E + x, read(0));
    stage.play();
    let got = [Cause::SUSPEND_POINT, Cause::die_wait(Occupant::UserRead), Cause::die_wait(Occupant::Erase)];
    let got = got.map(|cause| stage[waits].ledger.get(cause));
    assert_eq!(got, [70_000, READ, 20_000 + 2 * LOOP]);
}

#[test]
fn loops_of_unequal_length_stop_at_their_own_ends() {
    // The pulse of the second loop is shorter by 45,000: the loop lasts from 100,000 to 155,000. The
    // read comes during its pulse.
    let (short, x) = (45_000, 128_000);
    let (second, third, total) = (LOOP, 2 * LOOP - short, ERASE - short);
    for (member, free, keep, resume) in [
        ("never", total, total, 0),
        ("ideal", x, x, 0),
        ("arbitrary", x + FALL, x, RAISE),
        ("immediate", x + FALL, second, VERIFY + RAISE),
        ("deferred", third, third, 0),
    ] {
        let mut parts = erasing(member);
        let pulse = EXECUTION - RAMP;
        parts.timing.erase.execution = [pulse, pulse - short, pulse].map(Span).to_vec();
        let mut stage = Stage::new(&parts);
        let (erases, reads) = (stage.ask(0, erase(0)), stage.ask(E + x, read(0)));
        stage.play();
        assert_eq!(stage[reads].granted(), E + free, "{member}");
        let end = if keep == total { E + total } else { E + free + READ + resume + total - keep };
        assert_eq!(stage[erases].end(), end, "{member}");
    }
}

#[test]
fn erases_that_joined_are_suspended_together() {
    let parts = erasing("arbitrary").joining(&[Occupant::Erase], 2);
    let mut stage = Stage::new(&parts);
    let [a, b] = [0, 1].map(|plane| stage.ask(0, FlashCommand { block: 2, ..on(plane, 0, erase(0)) }));
    let begun = 2 * COMMAND;
    let r = stage.ask(begun + 30_000, read(0));
    stage.play();
    let end = begun + 30_000 + FALL + READ + RAISE + 270_000;
    assert_eq!((stage[r].granted(), stage[a].end(), stage[b].end()), (begun + 30_000 + FALL, end, end));
    let causes = [("command", 200), ("array", 300_000), ("suspended", FALL + READ + RAISE)];
    assert_eq!((stage[a].account(), stage[b].account()), (account(&causes), account(&causes)));
    // Both are of block 2 of their plane.
    let blocks = stage.flash.blocks();
    let suspensions = blocks.suspensions();
    assert_eq!([0, 1].map(|plane| suspensions[blocks.id(plane, 2).index()]), [1, 1]);
    assert_eq!(suspensions.iter().sum::<u32>(), 2);
    let cycles = |plane| (0..BLOCKS).map(move |index| blocks.cycles_at(blocks.place(plane, index)));
    assert_eq!([0, 1].map(|plane| cycles(plane).collect::<Vec<_>>()), [[0, 0, 1, 0]; 2]);
    assert_eq!(stage.flash.counters().erase_suspension.suspends, 1);
}
