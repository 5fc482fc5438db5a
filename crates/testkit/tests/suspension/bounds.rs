//! Tests that an erase ends whatever reads arrive. With D-ES and T-ES it must end; with ES and
//! I-ES an adversary can delay it without end.

use super::*;
use tailcut_core::device::Step;
use tailcut_testkit::Stage;
use tailcut_units::{HostOp, Occupant, Stream};

/// How reads arrive while the erase is under way.
#[derive(Clone, Copy, Debug)]
enum Adversary {
    /// This many are always outstanding.
    Saturate(u64),
    /// One at a time: `before` ns before a resume is complete or, if resuming takes no time,
    /// `after` ns after the erase continues.
    Resume { before: u64, after: u64 },
    /// Bursts of up to this many reads, at random gaps of up to this many ns.
    Bursts(u64, u64),
}

const ADVERSARIES: [Adversary; 9] = [
    Adversary::Saturate(1),
    Adversary::Saturate(2),
    Adversary::Saturate(9),
    Adversary::Resume { before: 1, after: 0 },
    Adversary::Resume { before: 1, after: 1 },
    Adversary::Resume { before: RAISE, after: 999_999 },
    Adversary::Bursts(4, 40_000),
    Adversary::Bursts(20, 700_000),
    Adversary::Bursts(3, 1_100_000),
];

impl Adversary {
    /// The largest number of outstanding reads.
    fn most(self) -> u64 {
        match self {
            Adversary::Saturate(n) | Adversary::Bursts(n, _) => n,
            Adversary::Resume { .. } => 1,
        }
    }
}

/// The time from the start of the erase to its end, or `None` if it had not ended after
/// `patience` reads.
fn attack(config: &DeviceConfig, adversary: Adversary, patience: u64) -> Option<u64> {
    let mut stage = Stage::new(config.clone());
    stage.erase(T, 1).read(T + 300_000);
    let (mut host, events) = stage.open();
    let mut address = 0;
    for (at, op, offset) in events {
        host.submit(at, op, offset, 8_192);
        address = offset;
    }
    let mut s = Stream::new(8, "adversary", 0);
    let (mut seen, mut next) = (0, u64::MAX);
    let prepared = host.done.len() as u64;
    let mut sent = 1;
    let mut burst = T + 310_000;
    while sent < patience {
        let due = host.device.next_deadline().0.min(next);
        host.advance(due);
        let reading = |done: u64| prepared + sent - done;
        let steps = host.device.observer();
        for e in &steps[seen..] {
            if e.occupant != Occupant::Erase || e.at.0 < T + 1 {
                continue;
            }
            if let Adversary::Resume { before, after } = adversary {
                match e.step {
                    Step::Resuming => next = e.until.0 - before.min(e.until.0 - e.at.0),
                    Step::Array if next <= e.at.0 || next == u64::MAX => next = e.at.0 + after,
                    _ => {}
                }
            }
        }
        seen = steps.len();
        let idle = host.device.gauges().collecting == 0;
        if idle {
            return Some(host.device.observer().iter().rev().find_map(erase_end).expect("it erased") - T);
        }
        let outstanding = reading(host.done.len() as u64);
        let mut arrivals = 0;
        match adversary {
            Adversary::Saturate(n) if due > T + 300_000 => arrivals = n.saturating_sub(outstanding),
            Adversary::Resume { .. } if next <= due => {
                (arrivals, next) = (u64::from(outstanding == 0), u64::MAX);
            }
            Adversary::Bursts(n, gap) if due >= burst => {
                arrivals = (1 + s.below(n)).min(n.saturating_sub(outstanding));
                burst = due + 1 + s.below(gap);
            }
            _ => {}
        }
        if let Adversary::Bursts(..) = adversary {
            next = burst;
        }
        for _ in 0..arrivals {
            host.submit(due, HostOp::Read, address, 8_192);
            sent += 1;
        }
    }
    None
}

fn erase_end(e: &tailcut_core::device::StepEvent) -> Option<u64> {
    (e.occupant == Occupant::Erase && e.step == Step::Array).then_some(e.until.0)
}

#[test]
fn deferred_and_timeout_erases_end_in_bounded_time() {
    for adversary in ADVERSARIES {
        let served = adversary.most() * READ;
        // For each loop: the loop and the reads that were queued when it ended.
        let deferred = LOOPS * (LOOP + served);
        let took = attack(&erasing("deferred"), adversary, 5_000).expect("an end");
        assert!((ERASE..=deferred).contains(&took), "deferred, {adversary:?}: {took} of {deferred}");
        for after in [0, 400_000, 3_000_000, 64_000_000] {
            // Until the timeout anything may happen. Then the read or the resume under way
            // ends, the queued reads are served, and the erase is as bounded as a deferred one.
            let bound = after + SUSPEND + 2 * served + VERIFY + RAISE + deferred + ERASE;
            let took = attack(&timing_out(after), adversary, 50_000).expect("an end");
            assert!((ERASE..=bound).contains(&took), "timeout {after}, {adversary:?}: {took} of {bound}");
        }
    }
}

#[test]
fn arbitrary_and_immediate_erases_need_not_end() {
    for adversary in [Adversary::Saturate(2), Adversary::Resume { before: 1, after: 0 }] {
        for member in ["arbitrary", "immediate"] {
            let end = attack(&erasing(member), adversary, 5_000);
            assert_eq!(end, None, "{member}, {adversary:?}");
        }
    }
    // A loop that never runs for its whole length never ends, although the die does little
    // else.
    let idle = Adversary::Resume { before: 0, after: 949_000 };
    assert_eq!(attack(&erasing("immediate"), idle, 2_000), None);
    assert!(attack(&erasing("arbitrary"), idle, 2_000).is_some());
}
