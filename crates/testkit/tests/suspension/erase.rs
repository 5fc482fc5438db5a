//! Tests a read that arrives during an erase, in every phase and at every boundary between
//! phases.

use super::*;
use tailcut_testkit::{Played, Stage};
use tailcut_units::{Cause, Occupant};

/// How an erase reacts to the arrival of a read. All times are in ns; `stops` and `free` count
/// from the start of the erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    /// Time at which the erase stops.
    stops: u64,
    /// Time at which the die is free.
    free: u64,
    /// Position in the course of the erase at which it continues.
    keep: u64,
    /// Time spent on resuming.
    resume: u64,
}

fn way(stops: u64, free: u64, keep: u64, resume: u64) -> Option<Way> {
    Some(Way { stops, free, keep, resume })
}

/// The expected reaction, from the papers, to a read that arrives `x` ns after the erase
/// entered the array. `None`: the read waits for the end.
fn expected(member: &str, x: u64) -> Option<Way> {
    let (begun, inside) = (x / LOOP * LOOP, x % LOOP);
    if x >= ERASE {
        return None;
    }
    match member {
        "never" => None,
        "ideal" => way(x, x, x, 0),
        "deferred" => match inside == 0 && x > 0 {
            true => way(x, x, x, 0),
            false if begun + LOOP == ERASE => None,
            false => way(begun + LOOP, begun + LOOP, begun + LOOP, 0),
        },
        _ if inside == 0 => way(x, x, x, 0),
        "arbitrary" => match inside {
            0..RAMP => way(x, x + SUSPEND, begun, 0),
            RAMP..EXECUTION => way(x, x + SUSPEND, x, RAISE),
            EXECUTION..RECOVERY => way(begun + RECOVERY, begun + RECOVERY, begun + RECOVERY, 0),
            _ => way(x, x, begun + RECOVERY, 0),
        },
        "immediate" => match inside {
            0..EXECUTION => way(x, x + SUSPEND, begun, VERIFY + RAISE),
            EXECUTION..RECOVERY => way(x, begun + RECOVERY, begun, VERIFY + RAISE),
            _ => way(x, x, begun, VERIFY + RAISE),
        },
        other => panic!("{other} has no expectation"),
    }
}

/// The arrival times to test: around every boundary, and inside every phase.
fn instants() -> Vec<u64> {
    let mut all = Vec::new();
    for begun in (0..=LOOPS).map(|n| n * LOOP) {
        for boundary in [0, RAMP, EXECUTION, RECOVERY] {
            let at = begun + boundary;
            all.extend([at.saturating_sub(1), at, at + 1, at + 7_001]);
        }
    }
    all.retain(|&x| x <= ERASE + 1);
    all.sort_unstable();
    all.dedup();
    all
}

/// Run one read that arrives `x` ns after the start of the erase, and check everything that
/// follows.
fn meet(config: &DeviceConfig, x: u64, want: Option<Way>, label: &str) {
    let mut stage = Stage::new(config.clone());
    stage.erase(T, 1).read(T + x);
    let played = stage.play(T - COMMAND);
    let (erase, read) = (played.only(Occupant::Erase), played.only(Occupant::UserRead));
    assert_eq!(erase.granted, T - COMMAND, "{label}");
    let done = played.reads()[0];
    let ledger = |cause| done.ledger.get(cause);
    let c = &played.flash.erase_suspension;
    let Some(w) = want else {
        assert_eq!((erase.array.as_slice(), erase.released()), (&[(T, T + ERASE)][..], T + ERASE), "{label}");
        assert_eq!(read.granted, T + x.max(ERASE), "{label}");
        assert_eq!(ledger(Cause::die_wait(Occupant::Erase)), ERASE.saturating_sub(x), "{label}");
        assert_eq!((c.suspends, c.overhead_ns, c.repeated_ns), (0, 0, 0), "{label}");
        return;
    };
    assert_eq!(read.granted, T + w.free, "{label}: {w:?}");
    let on = T + w.free + READ + w.resume;
    let slices: Vec<_> =
        [(T, T + w.stops), (on, on + ERASE - w.keep)].into_iter().filter(|s| s.0 < s.1).collect();
    assert_eq!(erase.array, slices, "{label}: {w:?}");
    assert_eq!(
        (erase.suspended.as_slice(), erase.released()),
        (&[T + w.free][..], slices[slices.len() - 1].1)
    );
    let list = |from, to| if from < to { vec![(from, to)] } else { Vec::new() };
    assert_eq!(erase.suspending, list(T + w.stops, T + w.free), "{label}: {w:?}");
    assert_eq!(erase.resuming, list(T + w.free + READ, on), "{label}: {w:?}");
    let waits = (ledger(Cause::SUSPEND_POINT), ledger(Cause::SUSPEND_OVERHEAD));
    assert_eq!(waits, (w.stops - x, w.free - w.stops), "{label}: {:?}", done.ledger);
    assert_eq!(done.latency, w.free - x + READ + 1_700, "{label}: waits, reads and decodes");
    assert_eq!(c.suspends, 1, "{label}");
    assert_eq!((c.overhead_ns, c.repeated_ns), (w.free - w.stops + w.resume, w.stops - w.keep), "{label}");
}

#[test]
fn a_read_meets_every_phase() {
    let mut tried = 0;
    for member in SuspendEraseConfig::MEMBERS.iter().filter(|m| **m != "timeout") {
        for x in instants() {
            meet(&erasing(member), x, expected(member, x), &format!("{member}, a read at {x}"));
            tried += 1;
        }
    }
    assert!(tried >= 250, "only {tried}");
}

#[test]
fn a_read_before_the_array_is_served_at_the_beginning() {
    // The command of the erase cannot be withdrawn.
    for (member, stops) in [("arbitrary", 0), ("immediate", 0), ("ideal", 0), ("deferred", LOOP)] {
        for before in [1, COMMAND] {
            let mut stage = Stage::new(erasing(member));
            stage.erase(T, 1).read(T - before);
            let played = stage.play(T - COMMAND);
            let (erase, read) = (played.only(Occupant::Erase), played.only(Occupant::UserRead));
            assert_eq!(read.granted, T + stops, "{member}");
            assert_eq!(played.reads()[0].ledger.get(Cause::SUSPEND_POINT), before + stops, "{member}");
            assert_eq!(erase.array.last(), Some(&(T + stops + READ, T + READ + ERASE)), "{member}");
        }
    }
}

#[test]
fn the_timeout_is_tight() {
    // The erase was ready one command's time before it entered the array, and that time counts
    // as delay.
    for x in instants() {
        let label = |what: &str| format!("timeout, {what}, a read at {x}");
        meet(&timing_out(COMMAND + 1), x, expected("immediate", x), &label("not yet"));
        meet(&timing_out(COMMAND), x, expected("deferred", x), &label("just now"));
    }
}

#[test]
fn the_clock_of_the_oldest_write_runs_while_a_write_waits_for_room() {
    use tailcut_core::policy::{buffer, flush};
    let run = |x: u64, after: u64| {
        let mut c = one_die();
        let clock = timeout::Clock::OldestWrite;
        c.policy.suspend_erase = SuspendEraseConfig::Timeout(timeout::Config { after: Span(after), clock });
        // Room for one page, which is flushed as soon as the die is free.
        c.policy.buffer = buffer::BufferConfig::Lru(buffer::lru::Config {
            capacity: 8_192,
            power_loss: buffer::lru::PowerLoss::Volatile,
            write_latency: Span(0),
            ..Default::default()
        });
        c.policy.flush = flush::FlushConfig::Watermark(flush::watermark::Config {
            high: 0.0,
            low: 0.0,
            ..Default::default()
        });
        let mut stage = Stage::new(c);
        // The first write takes the room and waits for the die; the second waits for room.
        stage.erase(T, 1).write(T + 1_000).write(T + 2_000).read(T + x);
        stage.play(T - COMMAND).only(Occupant::UserRead).granted - T
    };
    let x = 300_000;
    assert_eq!(run(x, x - 2_000 + 1), x + SUSPEND, "the write has not waited long enough");
    assert_eq!(run(x, x - 2_000), LOOP, "it has");
}

/// Run reads that arrive at these times after the start of the erase.
fn reads(config: &DeviceConfig, at: &[u64]) -> Played {
    let mut stage = Stage::new(config.clone());
    stage.erase(T, 1);
    for x in at {
        stage.read(T + x);
    }
    stage.play(T - COMMAND)
}

/// The times at which the reads were granted the die, and at which the erase ended, from the
/// start of the erase.
fn outcome(played: &Played) -> (Vec<u64>, u64) {
    let granted = played.of(Occupant::UserRead).iter().map(|o| o.granted - T).collect();
    (granted, played.only(Occupant::Erase).released() - T)
}

#[test]
fn two_reads_back_to_back_are_one_suspension_unless_deferred() {
    let x = 300_000;
    let free = x + SUSPEND;
    // The second read arrives while the first is served, up to the last nanosecond.
    for second in [x, x + 1, free, free + 1, free + READ - 1] {
        for (member, keep, resume) in [("arbitrary", x, RAISE), ("immediate", 0, VERIFY + RAISE)] {
            let played = reads(&erasing(member), &[x, second]);
            let end = free + 2 * READ + resume + ERASE - keep;
            assert_eq!(outcome(&played), (vec![free, free + READ], end), "{member}, {second}");
            assert_eq!(played.flash.erase_suspension.suspends, 1, "{member}, {second}");
        }
    }
    // Deferred: the second read is served with the first if it was queued when the loop ended;
    // otherwise after the next loop.
    let deferred = |second| outcome(&reads(&erasing("deferred"), &[x, second]));
    let together = (vec![LOOP, LOOP + READ], ERASE + 2 * READ);
    assert_eq!(deferred(LOOP - 1), together);
    for late in [LOOP, LOOP + 1, LOOP + READ - 1, LOOP + READ, LOOP + READ + 1] {
        let second = 2 * LOOP + READ;
        assert_eq!(deferred(late), (vec![LOOP, second], ERASE + 2 * READ), "{late}");
    }
}

#[test]
fn a_read_during_the_resume_cancels_it_and_nothing_is_gained() {
    let x = 300_000;
    // The voltage rises from here on (after the verify, if there is one).
    let begins = x + SUSPEND + READ;
    for (member, check, keep) in [("arbitrary", 0, x), ("immediate", VERIFY, 0)] {
        let whole = check + RAISE;
        for elapsed in [0, 1, check, check + 1, whole - 1] {
            let played = reads(&erasing(member), &[x, begins + elapsed]);
            // A read at the very start of the resume cancels it too. Cancelling costs nothing
            // before the voltage begins to rise; after that it takes the time of a suspension.
            let cut = if elapsed > check { SUSPEND } else { 0 };
            let free = begins + elapsed + cut;
            let end = free + READ + whole + ERASE - keep;
            assert_eq!(outcome(&played), (vec![x + SUSPEND, free], end), "{member}, {elapsed}");
            let c = &played.flash.erase_suspension;
            assert_eq!((c.suspends, c.resumes_cancelled), (2, 1), "{member}, {elapsed}");
            assert_eq!(c.overhead_ns, SUSPEND + elapsed + cut + whole, "{member}, {elapsed}");
            assert_eq!(c.repeated_ns, x - keep, "{member}, {elapsed}: nothing was done in between");
            let second = played.reads()[1];
            assert_eq!(second.ledger.get(Cause::SUSPEND_OVERHEAD), cut, "{member}, {elapsed}");
        }
        // One nanosecond later the pulse has started again.
        let played = reads(&erasing(member), &[x, begins + whole]);
        let c = &played.flash.erase_suspension;
        assert_eq!((c.suspends, c.resumes_cancelled), (2, 0), "{member}");
    }
    // When T-ES has begun to defer, it does not cancel the resume after a cancelled loop.
    let after = COMMAND + x + SUSPEND + READ + 5_000;
    let met = [x, begins + 5_000];
    let played = reads(&timing_out(after), &met);
    let end = begins + VERIFY + RAISE + LOOP;
    assert_eq!(outcome(&played), (vec![x + SUSPEND, end], end + READ + 2 * LOOP));
    assert_eq!(played.flash.erase_suspension.resumes_cancelled, 0);
    let played = reads(&timing_out(after + 1), &met);
    assert_eq!(outcome(&played).0, [x + SUSPEND, begins + 5_000]);
    assert_eq!(played.flash.erase_suspension.resumes_cancelled, 1);
}

#[test]
fn what_the_flash_bears_is_not_exceeded() {
    let limited = |set: &dyn Fn(&mut tailcut_core::nand::config::SuspendLimits)| {
        let mut c = erasing("arbitrary");
        set(&mut c.suspend.erase.limits);
        c
    };
    let x = 300_000;
    let on = x + SUSPEND + READ + RAISE;
    let end = on + ERASE - x;
    // `most`: a read after the last permitted suspension waits for the end.
    let none = limited(&|l| l.most = Some(0));
    assert_eq!(outcome(&reads(&none, &[x])), (vec![ERASE], ERASE));
    let once = limited(&|l| l.most = Some(1));
    assert_eq!(outcome(&reads(&once, &[x, on + 1_000])), (vec![x + SUSPEND, end], end));
    // A resume is not cancelled either, since that would be another suspension.
    assert_eq!(outcome(&reads(&once, &[x, on - 1])), (vec![x + SUSPEND, end], end));
    // `spacing`: the least time in the array between a resume and the next suspension.
    let spaced = limited(&|l| l.spacing = Some(Span(100_000)));
    for second in [on - RAISE + 1, on - 1, on, on + 99_999, on + 100_000] {
        let (granted, _) = outcome(&reads(&spaced, &[x, second]));
        assert_eq!(granted, [x + SUSPEND, on + 100_000 + SUSPEND], "{second}");
    }
    assert_eq!(outcome(&reads(&spaced, &[x, on + 100_001])).0[1], on + 100_001 + SUSPEND);
    // `least_left`: the least remainder for which the erase is suspended.
    let short = limited(&|l| l.least_left = Some(Span(500_000)));
    assert_eq!(outcome(&reads(&short, &[ERASE - 500_000])).0, [ERASE - 500_000 + SUSPEND]);
    assert_eq!(outcome(&reads(&short, &[ERASE - 499_999])), (vec![ERASE], ERASE));
}

#[test]
fn what_is_left_counts_where_the_erase_would_stop() {
    let deferred = |least: u64, x: u64| {
        let mut c = erasing("deferred");
        c.suspend.erase.limits.least_left = Some(Span(least));
        outcome(&reads(&c, &[x]))
    };
    let stops = |at: u64| (vec![at], ERASE + READ);
    let waits = (vec![ERASE], ERASE);
    // After the end of the second loop one loop is left; when the read arrives, nearly two.
    let x = LOOP + 1;
    assert_eq!(deferred(LOOP, x), stops(2 * LOOP));
    assert_eq!(deferred(LOOP + 1, x), waits);
    assert_eq!(deferred(LOOP + 1, LOOP), stops(LOOP), "at a boundary it stops at once");
    assert_eq!(deferred(2 * LOOP, 1), stops(LOOP));
    assert_eq!(deferred(2 * LOOP + 1, 1), waits);
    // ES completes a recovery that is under way.
    let exactly = |least: u64| {
        let mut c = erasing("arbitrary");
        c.suspend.erase.limits.least_left = Some(Span(least));
        outcome(&reads(&c, &[EXECUTION + 1]))
    };
    assert_eq!(exactly(ERASE - RECOVERY), stops(RECOVERY));
    assert_eq!(exactly(ERASE - RECOVERY + 1), waits);
}

#[test]
fn the_pulse_is_as_long_in_all_as_without_suspension() {
    // Reads at random times until long after the erases; ES stops anywhere.
    let mut s = tailcut_units::Stream::new(3, "pulse", 0);
    let mut suspends = 0;
    for round in 0..20 {
        let mut stage = Stage::new(erasing("arbitrary"));
        stage.erase(T, 3);
        let mut at = T;
        while at < T + 20_000_000 {
            at += 1 + s.below(150_000 + 40_000 * round);
            stage.read(at);
        }
        let played = stage.play(T - COMMAND);
        for erase in played.of(Occupant::Erase) {
            let (mut position, mut pulse, mut spent) = (0, 0, 0);
            for &(from, to) in &erase.array {
                let end = position + to - from;
                for begun in (0..LOOPS).map(|n| n * LOOP) {
                    let (a, b) = (position.max(begun + RAMP), end.min(begun + EXECUTION));
                    pulse += b.saturating_sub(a);
                }
                spent += to - from;
                // Where the erase continues: a ramp-up or a verify starts again.
                let (begun, inside) = (end / LOOP * LOOP, end % LOOP);
                position = match inside {
                    0..RAMP => begun,
                    RAMP..EXECUTION => end,
                    _ => begun + RECOVERY,
                };
            }
            assert_eq!(pulse, LOOPS * (EXECUTION - RAMP), "{:?}", erase.array);
            assert!(spent >= ERASE);
            suspends += erase.suspended.len();
        }
        assert_eq!(played.of(Occupant::Erase).len(), 3);
    }
    assert!(suspends > 500, "{suspends} suspensions");
}
