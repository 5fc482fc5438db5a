//! What happens to an erase or a program when an urgent operation arrives, for each member of the
//! two families: when the die is free, what is repeated, what it costs, and which operation is
//! charged.

use crate::driver::{Act, Stage, account};
use crate::parts::*;
use tailcut_core::address::BusyUnit;
use tailcut_core::flash::{Flash, FlashCommand, Suspension};
use tailcut_core::nand::config::{ServedAfterLoop, SuspendLimits, SuspendedData};
use tailcut_core::policy::schedule::{ScheduleConfig, read_write_erase};
use tailcut_core::policy::suspend_erase::{SuspendEraseConfig, timeout};
use tailcut_core::policy::suspend_program::SuspendProgramConfig;
use tailcut_units::{Cause, Occupant, Span};

/// When an erase submitted at 0 begins in the array, and when a program does.
const E: u64 = COMMAND;
const P: u64 = COMMAND + PAGE;

fn erasing(member: &str) -> Parts {
    Parts::under("read-priority", member, "never")
}

fn programming(member: &str) -> Parts {
    Parts::under("read-priority", "never", member)
}

fn timing_out(after: u64, clock: timeout::Clock) -> Parts {
    let config = timeout::Config { after: Span(after), clock };
    Parts { suspend_erase: SuspendEraseConfig::Timeout(config), ..erasing("never") }
}

/// What happens to an operation when a read arrives. Times are from its beginning in the array, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    /// When the operation stops.
    stops: u64,
    /// When the die is free.
    free: u64,
    /// The progress from which it continues.
    keep: u64,
    /// What resuming costs.
    resume: u64,
}

fn way(stops: u64, free: u64, keep: u64, resume: u64) -> Option<Way> {
    Some(Way { stops, free, keep, resume })
}

/// The outcome for a read that arrives `x` ns after the erase began in the array; `None` if the
/// read waits for the end of the erase.
fn erase_way(member: &str, x: u64) -> Option<Way> {
    let (begun, inside) = (x / LOOP * LOOP, x % LOOP);
    if x >= ERASE {
        return None;
    }
    match member {
        "never" => None,
        "ideal" => way(x, x, x, 0),
        // The loop under way is finished. The end of the last loop is the end of the erase.
        "deferred" if inside == 0 && x > 0 => way(x, x, x, 0),
        "deferred" if begun + LOOP == ERASE => None,
        "deferred" => way(begun + LOOP, begun + LOOP, begun + LOOP, 0),
        // At the beginning of a loop there is no voltage to lower.
        "arbitrary" | "immediate" | "timeout" if inside == 0 => way(x, x, x, 0),
        "arbitrary" => match inside {
            0..RAMP => way(x, x + FALL, begun, 0),
            RAMP..EXECUTION => way(x, x + FALL, x, RAISE),
            EXECUTION..RECOVERY => way(begun + RECOVERY, begun + RECOVERY, begun + RECOVERY, 0),
            _ => way(x, x, begun + RECOVERY, 0),
        },
        // Long before its timeout, `timeout` behaves as `immediate`.
        "immediate" | "timeout" => match inside {
            0..EXECUTION => way(x, x + FALL, begun, VERIFY + RAISE),
            EXECUTION..RECOVERY => way(x, begun + RECOVERY, begun, VERIFY + RAISE),
            _ => way(x, x, begun, VERIFY + RAISE),
        },
        other => panic!("{other} has no test: what does a busy erase do?"),
    }
}

/// The same for a program of a page of the first type.
fn program_way(member: &str, x: u64) -> Option<Way> {
    let (begun, inside) = (x / STEP * STEP, x % STEP);
    let (from, end) = if inside < PULSE { (begun, begun + PULSE) } else { (begun + PULSE, begun + STEP) };
    match member {
        _ if x >= PROGRAM => None,
        "never" => None,
        "inter-phase" | "intra-phase" if x == from => way(x, x, x, RELOAD),
        "inter-phase" if end == PROGRAM => None,
        "inter-phase" => way(end, end, end, RELOAD),
        "intra-phase" => way(x, x + CUT, from, RELOAD),
        other => panic!("{other} has no test: what does a busy program do?"),
    }
}

/// Instants around every boundary of phases, and inside each phase.
fn instants(boundaries: &[u64], step: u64, end: u64) -> Vec<u64> {
    let steps = (0..=end / step).map(|n| n * step);
    let all = steps.flat_map(|begun| boundaries.iter().map(move |b| begun + b));
    let mut all: Vec<u64> = all.flat_map(|at| [at.saturating_sub(1), at, at + 1, at + 2_501]).collect();
    all.retain(|&x| x <= end + 1);
    all.sort_unstable();
    all.dedup();
    all
}

fn erase_instants() -> Vec<u64> {
    instants(&[0, RAMP, EXECUTION, RECOVERY], LOOP, ERASE)
}

/// The suspension counters for the kind of a command.
fn totals<O>(flash: &Flash<O>, cmd: &FlashCommand) -> Suspension {
    let c = flash.counters();
    if cmd.occupant == Occupant::Erase { c.erase_suspension.clone() } else { c.program_suspension.clone() }
}

fn suspends(n: u64, cancelled: u64, repeated: u64, overhead: u64) -> Suspension {
    Suspension { suspends: n, resumes_cancelled: cancelled, repeated_ns: repeated, overhead_ns: overhead }
}

/// Submit `cmd` at 0, which is in the array from `begun` on for `total` ns, and a read `x` ns after
/// `begun`. Check all consequences against `want`.
fn meet(parts: &Parts, cmd: FlashCommand, begun: u64, total: u64, x: u64, want: Option<Way>, label: &str) {
    let mut stage = Stage::new(parts);
    let op = stage.ask(0, cmd);
    stage.until(begun + x);
    // The flash predicts how long the read will wait.
    let asked = stage.flash.gives_way_in(BusyUnit(0), Occupant::UserRead);
    assert_eq!(asked, want.map(|w| Span(w.free - x)), "{label}");
    assert_eq!(stage.flash.gives_way_in(BusyUnit(0), Occupant::GcRead), None, "{label}");
    let read = stage.ask(begun + x, read(0));
    stage.play();
    let (counted, blocks) = (totals(&stage.flash, &cmd), stage.flash.blocks().suspensions()[0]);
    let (op, read) = (&stage[op], &stage[read]);
    let Some(w) = want else {
        assert_eq!(
            (op.array.as_slice(), op.end()),
            (&[(begun, begun + total)][..], begun + total),
            "{label}"
        );
        assert_eq!(read.granted(), begun + x.max(total), "{label}");
        let waited = read.ledger.get(Cause::die_wait(cmd.occupant));
        assert_eq!((waited, op.ledger.get(Cause::SUSPENDED)), (total.saturating_sub(x), 0), "{label}");
        assert_eq!((counted, blocks), (suspends(0, 0, 0, 0), 0), "{label}");
        return;
    };
    let free = begun + w.free;
    assert_eq!((read.granted(), read.end()), (free, free + READ + DECODE), "{label}");
    assert_eq!(op.suspended, [free], "{label}");
    let on = free + READ + w.resume;
    let some = |spans: &[(u64, u64)]| -> Vec<(u64, u64)> {
        spans.iter().copied().filter(|(from, to)| from < to).collect()
    };
    assert_eq!(op.array, some(&[(begun, begun + w.stops), (on, on + total - w.keep)]), "{label}");
    assert_eq!(op.suspending, some(&[(begun + w.stops, free)]), "{label}");
    assert_eq!(op.resuming, some(&[(free + READ, on)]), "{label}");
    assert_eq!(op.end(), on + total - w.keep, "{label}");
    assert_eq!(op.ledger.get(Cause::SUSPENDED), op.end() - begun - total, "{label}");
    let waits = [Cause::SUSPEND_POINT, Cause::SUSPEND_OVERHEAD].map(|c| read.ledger.get(c));
    assert_eq!(waits, [w.stops - x, w.free - w.stops], "{label}");
    let overhead = w.free - w.stops + w.resume;
    assert_eq!(counted, suspends(1, 0, w.stops - w.keep, overhead), "{label}");
    assert_eq!(blocks, u32::from(cmd.occupant == Occupant::Erase), "{label}: only erases wear");
}

#[test]
fn a_read_meets_every_phase_of_an_erase() {
    for &member in SuspendEraseConfig::MEMBERS {
        for x in erase_instants() {
            let label = format!("{member}, a read at {x}");
            meet(&erasing(member), erase(0), E, ERASE, x, erase_way(member, x), &label);
        }
    }
}

#[test]
fn a_read_meets_every_phase_of_a_program() {
    for &member in SuspendProgramConfig::MEMBERS {
        for x in instants(&[0, PULSE], STEP, PROGRAM) {
            for occupant in [Occupant::UserProgram, Occupant::ParityProgram, Occupant::GcProgram] {
                let label = format!("{member}, {occupant:?}, a read at {x}");
                let cmd = by(occupant, program(0));
                meet(&programming(member), cmd, P, PROGRAM, x, program_way(member, x), &label);
            }
        }
    }
}

/// Some cases in plain numbers: one read 30,000 ns into an erase, and one 10,000 ns into a program.
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
    for (member, granted, end) in [
        ("never", 84_100, 84_100),
        // The pulse ends at 4,100 + 30,000; a reload of 1,500, a verify, a pulse and a verify follow.
        ("inter-phase", 34_100, 34_100 + 24_100 + 1_500 + 50_000),
        // The pulse is cancelled in 2,000 and repeated.
        ("intra-phase", 16_100, 16_100 + 24_100 + 1_500 + 80_000),
    ] {
        let mut stage = Stage::new(&programming(member));
        let (p, r) = (stage.ask(0, program(0)), stage.ask(14_100, read(0)));
        stage.play();
        assert_eq!((stage[r].granted(), stage[p].end()), (granted, end), "{member}");
    }
}

#[test]
fn a_read_during_the_command_is_served_before_the_first_phase() {
    // A command that is under way cannot be cancelled.
    for &member in SuspendEraseConfig::MEMBERS {
        let (granted, resume) = match member {
            "never" => (E + ERASE, 0),
            "deferred" => (E + LOOP, 0),
            _ => (E, 0),
        };
        let mut stage = Stage::new(&erasing(member));
        let (e, r) = (stage.ask(0, erase(0)), stage.ask(40, read(0)));
        stage.play();
        assert_eq!(stage[r].granted(), granted, "{member}");
        let read = if member == "never" { 0 } else { READ };
        assert_eq!(stage[e].end(), E + read + resume + ERASE, "{member}");
        let point = if member == "never" { 0 } else { granted - 40 };
        assert_eq!(stage[r].ledger.get(Cause::SUSPEND_POINT), point, "{member}");
    }
    for &member in SuspendProgramConfig::MEMBERS {
        let mut stage = Stage::new(&programming(member));
        let (p, r) = (stage.ask(0, program(0)), stage.ask(2_000, read(0)));
        stage.play();
        let want =
            if member == "never" { (P + PROGRAM, P + PROGRAM) } else { (P, P + READ + RELOAD + PROGRAM) };
        assert_eq!((stage[r].granted(), stage[p].end()), want, "{member}");
    }
}

#[test]
fn the_program_of_a_copyback_gives_way_and_its_read_does_not() {
    // The copyback programs a page of the second type from 20,200 on, in steps of 40,000.
    let begun = COMMAND + SENSE + COMMAND;
    let run = |at: u64| {
        let mut stage = Stage::new(&programming("inter-phase"));
        let (c, r) = (stage.ask(0, copyback(0)), stage.ask(at, read(0)));
        stage.play();
        (stage[r].granted(), stage[c].end(), stage[c].ledger.get(Cause::SUSPENDED))
    };
    let end = begun + PROGRAM_2 + READ + RELOAD;
    assert_eq!(run(10_000), (begun, end, READ + RELOAD), "not before its second command is out");
    assert_eq!(run(begun + STEP + 1), (begun + STEP + PULSE, end, READ + RELOAD));
    assert_eq!(run(begun + PROGRAM_2 - 1), (begun + PROGRAM_2, begun + PROGRAM_2, 0), "its last verify");
}

#[test]
fn data_that_only_the_controller_has_come_in_again() {
    for &member in SuspendProgramConfig::MEMBERS {
        for x in [0, 10_000, PULSE + 1] {
            let mut parts = programming(member);
            parts.suspend.program.data = SuspendedData::Controller;
            let mut stage = Stage::new(&parts);
            let (p, r) = (stage.ask(0, program(0)), stage.ask(P + x, read(0)));
            let Some(w) = program_way(member, x) else {
                stage.play();
                assert_eq!(stage[p].inward, [(0, P)], "{member}");
                continue;
            };
            stage.play();
            let back = P + w.free + READ;
            assert_eq!(stage[r].granted(), P + w.free, "{member}, {x}");
            assert_eq!(stage[p].resuming, [(back, back)], "{member}, {x}: only its data are transferred");
            assert_eq!(stage[p].inward[1], (back, back + P), "{member}, {x}");
            assert_eq!(stage[p].end(), back + P + PROGRAM - w.keep, "{member}, {x}");
            let counted = totals(&stage.flash, &program(0));
            assert_eq!(counted, suspends(1, 0, w.stops - w.keep, w.free - w.stops + P), "{member}, {x}");
        }
    }
}

#[test]
fn data_on_their_way_again_wait_for_the_channel_and_are_not_interrupted() {
    let mut parts = programming("intra-phase");
    parts.suspend.program.data = SuspendedData::Controller;
    let mut stage = Stage::new(&parts);
    // The program is cancelled at 14,100 and the die is free at 16,100. The read has the channel
    // from 36,200 to 40,200.
    let (p, r) = (stage.ask(0, program(0)), stage.ask(14_100, read(0)));
    // A program of the other die requests the channel meanwhile, and has it until 44,300.
    stage.ask(40_000, program(1));
    // One read arrives while the data wait, and one while they are transferred. Neither interrupts
    // the transfer. Both are served when the data are in, before the first pulse.
    let (early, late) = (stage.ask(41_000, read(0)), stage.ask(45_000, read(0)));
    stage.play();
    assert_eq!(stage[r].out, Some((36_200, 40_200)));
    assert_eq!(stage[p].inward, [(0, 4_100), (44_300, 48_400), (96_600, 100_700)]);
    assert_eq!((stage[early].granted(), stage[late].granted()), (48_400, 72_500));
    assert_eq!(stage[p].end(), 100_700 + PROGRAM);
    // 10,000 of the cancelled pulse were lost. The second suspension came at the beginning of the
    // pulse.
    assert_eq!(totals(&stage.flash, &program(0)), suspends(2, 0, 10_000, CUT + 2 * P));
    // The wait of the data for the channel is charged to the channel; all the rest is charged to
    // suspension.
    let own = COMMAND + PAGE + PROGRAM;
    assert_eq!(stage[p].ledger.get(Cause::channel_wait(Occupant::UserProgram)), 4_100);
    assert_eq!(stage[p].ledger.get(Cause::SUSPENDED), 100_700 + PROGRAM - own - 4_100);
}

#[test]
fn all_that_comes_while_the_die_is_free_is_served_first() {
    for &member in SuspendEraseConfig::MEMBERS {
        let x = 30_000;
        let Some(w) = erase_way(member, x) else { continue };
        let free = E + w.free;
        for second in [E + x, E + x + 1, free, free + 1, free + READ - 1] {
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
        assert_eq!(totals(&stage.flash, &erase(0)).resumes_cancelled, 0, "{member}");
    }
    // The reload of a program is cancelled at no cost.
    for (member, free, keep) in [("inter-phase", PULSE, PULSE), ("intra-phase", 10_000 + CUT, 0)] {
        let begins = P + free + READ;
        for elapsed in [0, 1, RELOAD - 1] {
            let mut stage = Stage::new(&programming(member));
            let p = stage.ask(0, program(0));
            stage.ask(P + 10_000, read(0));
            let second = stage.ask(begins + elapsed, read(0));
            stage.play();
            assert_eq!(stage[second].granted(), begins + elapsed, "{member}, {elapsed}");
            let end = begins + elapsed + READ + RELOAD + PROGRAM - keep;
            assert_eq!(stage[p].end(), end, "{member}, {elapsed}");
            assert_eq!(totals(&stage.flash, &program(0)).resumes_cancelled, 1, "{member}, {elapsed}");
        }
    }
}

/// Submit reads at these times after the beginning of an operation in the array. Returns when the
/// reads got the die and when the operation ended, from the same beginning.
fn met(parts: &Parts, cmd: FlashCommand, begun: u64, at: &[u64]) -> (Vec<u64>, u64) {
    let mut stage = Stage::new(parts);
    let op = stage.ask(0, cmd);
    let reads: Vec<usize> = at.iter().map(|x| stage.ask(begun + x, read(0))).collect();
    stage.play();
    (reads.iter().map(|&r| stage[r].granted() - begun).collect(), stage[op].end() - begun)
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

fn limited(mut parts: Parts, set: impl Fn(&mut SuspendLimits)) -> Parts {
    set(&mut parts.suspend.erase.limits);
    set(&mut parts.suspend.program.limits);
    parts
}

#[test]
fn an_erase_bears_no_more_than_is_said() {
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
fn a_program_bears_no_more_than_is_said() {
    let x = 10_000;
    let on = x + CUT + READ + RELOAD;
    let end = on + PROGRAM;
    let run = |set: &dyn Fn(&mut SuspendLimits), at: &[u64]| {
        met(&limited(programming("intra-phase"), set), program(0), P, at)
    };
    assert_eq!(run(&|l| l.most = Some(0), &[x]), (vec![PROGRAM], PROGRAM));
    for second in [on - 1, on + 10] {
        assert_eq!(run(&|l| l.most = Some(1), &[x, second]), (vec![x + CUT, end], end), "{second}");
    }
    let spacing = |l: &mut SuspendLimits| l.spacing = Some(Span(20_000));
    assert_eq!(run(&spacing, &[x, on + 10]).0, [x + CUT, on + 20_000 + CUT]);
    let least = |l: &mut SuspendLimits| l.least_left = Some(Span(25_000));
    assert_eq!(run(&least, &[PROGRAM - 25_000]).0, [PROGRAM - 25_000 + CUT]);
    assert_eq!(run(&least, &[PROGRAM - 24_999]).0, [PROGRAM]);
}

#[test]
fn what_is_left_counts_where_it_would_stop() {
    // A read in the first loop: when that loop has ended, two are left.
    let deferred = |least: u64| {
        met(&limited(erasing("deferred"), |l| l.least_left = Some(Span(least))), erase(0), E, &[1]).0
    };
    assert_eq!((deferred(2 * LOOP), deferred(2 * LOOP + 1)), (vec![LOOP], vec![ERASE]));
    // A read in the first pulse: a verify and a step are left.
    let left = PROGRAM - PULSE;
    let inter = |least: u64| {
        met(&limited(programming("inter-phase"), |l| l.least_left = Some(Span(least))), program(0), P, &[1]).0
    };
    assert_eq!((inter(left), inter(left + 1)), (vec![PULSE], vec![PROGRAM]));
}

fn nesting(erases: &str, programs: &str, write_suspends_erase: bool) -> Parts {
    let config = read_write_erase::Config { write_suspends_erase };
    Parts {
        schedule: ScheduleConfig::ReadWriteErase(config),
        ..Parts::under("read-write-erase", erases, programs)
    }
}

#[test]
fn a_read_over_a_program_over_an_erase() {
    let mut stage = Stage::new(&nesting("arbitrary", "inter-phase", true));
    let e = stage.ask(0, erase(0));
    // 30,000 into the erase; the voltage falls for 4,000, and the data of the program are in at
    // 38,200.
    let p = stage.ask(30_100, program(0));
    // 10,000 into the first pulse of the program, which ends at 68,200; the read is out at 92,300.
    let r = stage.ask(48_200, read(0));
    // A second read arrives meanwhile, and goes before the program too.
    let second = stage.ask(70_000, read(0));
    stage.play();
    assert_eq!((stage[p].granted(), stage[p].inward[0]), (34_100, (34_100, 38_200)));
    assert_eq!((stage[r].granted(), stage[second].granted()), (68_200, 92_300));
    // The reload ends at 117,900. Then follow a verify, a pulse and a verify. Then the voltage
    // rises for 7,000, and 270,000 of the erase are left.
    assert_eq!(stage[p].array, [(38_200, 68_200), (117_900, 167_900)]);
    assert_eq!((stage[p].resuming[0], stage[e].resuming[0]), ((116_400, 117_900), (167_900, 174_900)));
    assert_eq!(stage[e].array, [(100, 30_100), (174_900, 444_900)]);
    let causes = [
        ("command", 100),
        ("array", 80_000),
        ("transfer", 4_000),
        ("suspended", 2 * READ + RELOAD),
        ("die_wait.suspend_overhead", FALL),
    ];
    assert_eq!(stage[p].account(), account(&causes));
    let causes = [("command", 100), ("array", 300_000), ("suspended", 444_900 - 300_100)];
    assert_eq!(stage[e].account(), account(&causes));
    // The second read waited only for the first.
    assert_eq!(stage[second].ledger.get(Cause::die_wait(Occupant::UserRead)), 92_300 - 70_000);
}

#[test]
fn a_program_over_an_erase_that_gives_way_to_nothing() {
    let mut stage = Stage::new(&nesting("arbitrary", "never", true));
    let e = stage.ask(0, erase(0));
    let (p, r) = (stage.ask(30_100, program(0)), stage.ask(48_200, read(0)));
    stage.play();
    // The read waits for the program, at 118,200, and the erase for the read.
    assert_eq!((stage[p].end(), stage[r].granted()), (118_200, 118_200));
    assert_eq!(stage[e].array[1], (118_200 + READ + RAISE, 118_200 + READ + RAISE + 270_000));
    assert_eq!(stage.flash.counters().erase_suspension.suspends, 1);
}

#[test]
fn a_write_does_not_interrupt_where_it_may_not() {
    for parts in [nesting("arbitrary", "inter-phase", false), erasing("arbitrary")] {
        let mut stage = Stage::new(&parts);
        let e = stage.ask(0, erase(0));
        let p = stage.ask(30_100, program(0));
        // The program waits, while a read that came later interrupts the erase.
        let r = stage.ask(40_100, read(0));
        stage.play();
        assert_eq!((stage[r].granted(), stage[p].granted()), (44_100, stage[e].end()));
    }
    // Among the operations that may interrupt, the schedule chooses the first.
    let mut stage = Stage::new(&nesting("arbitrary", "never", true));
    stage.ask(0, erase(0));
    let (p, r) = (stage.ask(30_100, program(0)), stage.ask(34_099, read(0)));
    stage.play();
    assert_eq!((stage[r].granted(), stage[p].granted()), (34_100, 34_100 + READ));
}

#[test]
fn deferred_serves_writes_that_were_queued_too() {
    let mut stage = Stage::new(&nesting("deferred", "inter-phase", true));
    let e = stage.ask(0, erase(0));
    let first = stage.ask(30_000, program(0));
    // The second program arrives while the first is programmed, after the loop ended.
    let late = stage.ask(E + LOOP + 10_000, program(0));
    stage.play();
    let own = P + PROGRAM;
    assert_eq!((stage[first].granted(), stage[late].granted()), (E + LOOP, E + 2 * LOOP + own));
    assert_eq!(stage[e].end(), E + ERASE + 2 * own);
}

#[test]
fn who_waits_behind_is_told_what_for() {
    let mut stage = Stage::new(&erasing("immediate"));
    let e = stage.ask(0, erase(0));
    let waits = stage.ask(10_100, program(0));
    // 30,000 are lost. The second read arrives 5,000 into a resume that begins at 58,200.
    stage.ask(30_100, read(0));
    stage.ask(63_200, read(0));
    stage.play();
    let end = 63_200 + FALL + READ + VERIFY + RAISE + ERASE;
    assert_eq!(stage[e].end(), end);
    let causes = [
        ("command", 100),
        ("array", 80_000),
        ("transfer", 4_000),
        ("die_wait.suspend_overhead", FALL + 5_000 + FALL + VERIFY + RAISE),
        ("die_wait.user_read", 2 * READ),
        // 20,000 of the first loop, and then all three loops.
        ("die_wait.erase", 20_000 + ERASE),
    ];
    assert_eq!(stage[waits].account(), account(&causes));
    // The wait for the end of a loop is charged to `suspend_point`.
    let mut stage = Stage::new(&erasing("deferred"));
    stage.ask(0, erase(0));
    let waits = stage.ask(10_100, program(0));
    stage.ask(30_100, read(0));
    stage.play();
    assert_eq!(stage[waits].ledger.get(Cause::SUSPEND_POINT), 70_000);
    assert_eq!(stage[waits].ledger.get(Cause::die_wait(Occupant::Erase)), 20_000 + 2 * LOOP);
}

#[test]
fn what_is_joined_is_suspended_together() {
    let parts = erasing("arbitrary").joining(&[Occupant::Erase], 2);
    let mut stage = Stage::new(&parts);
    let [a, b] = [0, 1].map(|plane| stage.ask(0, FlashCommand { block: plane, ..on(plane, 0, erase(0)) }));
    let begun = 2 * COMMAND;
    let r = stage.ask(begun + 30_000, read(0));
    stage.play();
    let end = begun + 30_000 + FALL + READ + RAISE + 270_000;
    assert_eq!((stage[r].granted(), stage[a].end(), stage[b].end()), (begun + 30_000 + FALL, end, end));
    let causes = [("command", 200), ("array", 300_000), ("suspended", FALL + READ + RAISE)];
    assert_eq!((stage[a].account(), stage[b].account()), (account(&causes), account(&causes)));
    assert_eq!(stage.flash.blocks().suspensions()[..3], [1, 1, 0]);
    assert_eq!(stage.flash.counters().erase_suspension.suspends, 1);
    // Programs: the data of both are transferred again.
    let mut parts = programming("inter-phase").joining(&[Occupant::UserProgram], 2);
    parts.suspend.program.data = SuspendedData::Controller;
    let mut stage = Stage::new(&parts);
    let [a, b] = [0, 1].map(|plane| stage.ask(0, on(plane, 0, program(0))));
    let begun = 2 * COMMAND + 2 * PAGE;
    stage.ask(begun + 10_000, read(0));
    stage.play();
    let back = begun + PULSE + READ;
    assert_eq!(stage[a].inward, [(0, begun), (back, back + begun)]);
    let end = back + begun + PROGRAM - PULSE;
    assert_eq!((stage[a].end(), stage[b].end()), (end, end));
    assert_eq!(stage[b].ledger.get(Cause::SUSPENDED), READ + begun);
}
