//! Whether an erase ends whatever reads arrive. Under `deferred` and `timeout` it must; under
//! `arbitrary` and `immediate` an adversary can delay it without end.

use super::*;
use crate::driver::Event;
use tailcut_core::observer::Step;
use tailcut_units::Stream;

/// How reads arrive while the erase is under way.
#[derive(Clone, Copy, Debug)]
enum Adversary {
    /// This many are always outstanding.
    Saturate(usize),
    /// One at a time: `before` ns before a resume is complete or, if resuming takes no time, `after`
    /// ns after the erase continues.
    Resume { before: u64, after: u64 },
    /// Bursts of up to this many reads, at random gaps of up to this many ns.
    Bursts(usize, u64),
}

const ADVERSARIES: [Adversary; 9] = [
    Adversary::Saturate(1),
    Adversary::Saturate(2),
    Adversary::Saturate(9),
    Adversary::Resume { before: 1, after: 0 },
    Adversary::Resume { before: 1, after: 1 },
    Adversary::Resume { before: RAISE, after: LOOP - 1 },
    Adversary::Bursts(4, 20_000),
    Adversary::Bursts(20, 300_000),
    Adversary::Bursts(3, LOOP + 10_000),
];

impl Adversary {
    /// The largest number of outstanding reads.
    fn most(self) -> u64 {
        match self {
            Adversary::Saturate(n) | Adversary::Bursts(n, _) => n as u64,
            Adversary::Resume { .. } => 1,
        }
    }
}

/// The time from the beginning of the erase in the array to its end, or `None` if it has not ended
/// after `patience` reads.
fn attack(parts: &Parts, adversary: Adversary, patience: usize) -> Option<u64> {
    let mut stage = Stage::new(parts);
    let mut s = Stream::new(8, "adversary", 0);
    let (e, mut reads) = (stage.ask(0, erase(0)), vec![stage.ask(E + 30_000, read(0))]);
    let (mut sent, mut seen) = (1, 0);
    // When the adversary acts next.
    let mut next = match adversary {
        Adversary::Bursts(..) => E + 31_000,
        Adversary::Saturate(_) | Adversary::Resume { .. } => u64::MAX,
    };
    while sent < patience {
        let now = stage.next_at().min(next);
        stage.until(now);
        if stage[e].ended.is_some() {
            return Some(stage[e].end() - E);
        }
        for &(_, event) in stage.events[seen..].iter().filter(|&&(op, _)| op == e) {
            let (Adversary::Resume { before, after }, Event::Step(step)) = (adversary, event) else {
                continue;
            };
            match step.step {
                Step::Resuming => next = (step.until.0 - before).max(step.at.0),
                Step::Array if step.at.0 > E && (next <= step.at.0 || next == u64::MAX) => {
                    next = step.at.0 + after;
                }
                _ => {}
            }
        }
        seen = stage.events.len();
        reads.retain(|&r| stage[r].ended.is_none());
        let mut arrivals = 0;
        match adversary {
            Adversary::Saturate(n) if now > E + 30_000 => arrivals = n.saturating_sub(reads.len()),
            Adversary::Resume { .. } if next <= now => {
                (arrivals, next) = (usize::from(reads.is_empty()), u64::MAX);
            }
            Adversary::Bursts(n, gap) if next <= now => {
                arrivals = (1 + s.below(n as u64) as usize).min(n.saturating_sub(reads.len()));
                next = now + 1 + s.below(gap);
            }
            _ => {}
        }
        reads.extend((0..arrivals).map(|_| stage.ask(now, read(0))));
        sent += arrivals;
    }
    None
}

#[test]
fn deferred_and_timeout_erases_end_in_bounded_time() {
    for adversary in ADVERSARIES {
        let served = adversary.most() * READ;
        // For each loop: the loop and the reads that were queued when it ended.
        let deferred = ERASE / LOOP * (LOOP + served);
        let took = attack(&erasing("deferred"), adversary, 5_000).expect("an end");
        assert!((ERASE..=deferred).contains(&took), "deferred, {adversary:?}: {took} of {deferred}");
        for after in [0, 40_000, 300_000, 6_400_000] {
            // Until the timeout anything may happen. Then the read or the resume under way ends, the
            // queued reads are served, and the erase is as bounded as a deferred one.
            let bound = after + FALL + 2 * served + VERIFY + RAISE + deferred + ERASE;
            let took = attack(&timing_out(after, timeout::Clock::Erase), adversary, 50_000).expect("an end");
            assert!((ERASE..=bound).contains(&took), "timeout {after}, {adversary:?}: {took} of {bound}");
        }
    }
}

#[test]
fn arbitrary_and_immediate_erases_need_not_end() {
    for adversary in [Adversary::Saturate(2), Adversary::Resume { before: 1, after: 0 }] {
        for member in ["arbitrary", "immediate"] {
            assert_eq!(attack(&erasing(member), adversary, 5_000), None, "{member}, {adversary:?}");
        }
    }
    // A loop that never runs for its whole length never ends, although the die does little else.
    let idle = Adversary::Resume { before: 0, after: LOOP - 5_100 };
    assert_eq!(attack(&erasing("immediate"), idle, 2_000), None);
    assert!(attack(&erasing("arbitrary"), idle, 2_000).is_some());
}
