//! What happens to an erase or a program when an urgent operation arrives, for each member of the
//! two families: when the die is free, what is repeated, what it costs, and which operation is
//! charged.

mod bounds;
mod erase;
mod nested;
mod program;

use crate::driver::Stage;
use crate::parts::*;
use tailcut_core::address::BusyUnit;
use tailcut_core::flash::{Flash, FlashCommand, Suspension};
use tailcut_core::nand::OpKind;
use tailcut_core::nand::config::{SuspendLimits, SuspendedData};
use tailcut_core::policy::suspend_erase::{SuspendEraseConfig, timeout};
use tailcut_units::{Cause, Occupant, Occupants, Span};

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

/// The same for a program of `total` ns.
fn program_way(member: &str, occupant: Occupant, x: u64, total: u64) -> Option<Way> {
    let (begun, inside) = (x / STEP * STEP, x % STEP);
    let (from, end) = if inside < PULSE { (begun, begun + PULSE) } else { (begun + PULSE, begun + STEP) };
    match member {
        _ if x >= total => None,
        "never" => None,
        "collection" if !Occupants::COLLECTION.has(occupant) => None,
        "inter-phase" | "intra-phase" | "collection" if x == from => way(x, x, x, RELOAD),
        "inter-phase" | "collection" if end == total => None,
        "inter-phase" | "collection" => way(end, end, end, RELOAD),
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
    // Where the die keeps no copy of a program's data, a transfer takes the place of the reload.
    let again = cmd.kind == OpKind::Program && parts.suspend.program.data == SuspendedData::Controller;
    let resume = if again { P } else { w.resume };
    let (back, on) = (free + READ, free + READ + resume);
    let some = |spans: &[(u64, u64)]| -> Vec<(u64, u64)> {
        spans.iter().copied().filter(|(from, to)| from < to).collect()
    };
    assert_eq!(op.array, some(&[(begun, begun + w.stops), (on, on + total - w.keep)]), "{label}");
    assert_eq!(op.suspending, some(&[(begun + w.stops, free)]), "{label}");
    if again {
        assert_eq!((op.resuming.as_slice(), op.inward[1]), (&[(back, back)][..], (back, on)), "{label}");
    } else {
        assert_eq!((op.resuming.as_slice(), op.inward.len()), (&*some(&[(back, on)]), 1), "{label}");
    }
    assert_eq!(op.end(), on + total - w.keep, "{label}");
    assert_eq!(op.ledger.get(Cause::SUSPENDED), op.end() - begun - total, "{label}");
    let waits = [Cause::SUSPEND_POINT, Cause::SUSPEND_OVERHEAD].map(|c| read.ledger.get(c));
    assert_eq!(waits, [w.stops - x, w.free - w.stops], "{label}");
    let overhead = w.free - w.stops + resume;
    assert_eq!(counted, suspends(1, 0, w.stops - w.keep, overhead), "{label}");
    assert_eq!(blocks, u32::from(cmd.occupant == Occupant::Erase), "{label}: only erases wear");
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

fn limited(mut parts: Parts, set: impl Fn(&mut SuspendLimits)) -> Parts {
    set(&mut parts.suspend.erase.limits);
    set(&mut parts.suspend.program.limits);
    parts
}
