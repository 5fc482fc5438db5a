//! The slowest requests, kept exactly.

use crate::recorder::Sample;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use tailcut_units::{HostOp, Ledger, SimTime, Status};

/// One slow request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowRequest {
    /// Submission index within the run.
    pub index: u64,
    /// The job that sent the request.
    pub job: u16,
    /// The kind of request.
    pub op: HostOp,
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// When the host had the request ready.
    pub arrived: SimTime,
    /// When the request completed.
    pub completed: SimTime,
    /// How the request ended.
    pub status: Status,
    /// The latency by cause.
    pub ledger: Ledger,
}

impl SlowRequest {
    /// A finished request.
    pub fn of(s: &Sample<'_>) -> SlowRequest {
        SlowRequest {
            index: s.index,
            job: s.job,
            op: s.op,
            offset: s.offset,
            bytes: s.bytes,
            arrived: s.arrived,
            completed: s.completed,
            status: s.status,
            ledger: *s.ledger,
        }
    }

    /// Latency in ns.
    pub fn latency_ns(&self) -> u64 {
        (self.completed - self.arrived).0
    }
}

/// The sort key of requests: the slowest first, then the earliest submitted.
type Key = (Reverse<u64>, u64);

/// The `capacity` slowest requests of one direction.
///
/// Up to `2 * capacity` requests are held; when this is full, only the slower half is kept. This
/// takes constant time per request even if each request is slower than all before (an overloaded
/// drive). A heap would then need its whole depth for each request.
#[derive(Clone, Debug)]
pub struct Worst {
    capacity: usize,
    /// The fastest request that is sure to be kept. A request is offered a place only if it sorts
    /// before this one.
    threshold: Key,
    keys: Vec<(Key, u32)>,
    slots: Vec<SlowRequest>,
    free: Vec<u32>,
}

impl Worst {
    /// Keeps the `capacity` slowest requests. All memory is allocated here, about 560 bytes for
    /// each.
    pub fn new(capacity: usize) -> Worst {
        let held = capacity * 2;
        Worst {
            capacity,
            threshold: if capacity == 0 { (Reverse(u64::MAX), 0) } else { (Reverse(0), u64::MAX) },
            keys: Vec::with_capacity(held),
            slots: Vec::with_capacity(held),
            free: Vec::with_capacity(held),
        }
    }

    /// Offer request `index` that took `ns`; `make` is called only if it may be among the
    /// slowest.
    #[inline]
    pub fn offer(&mut self, ns: u64, index: u64, make: impl FnOnce() -> SlowRequest) {
        let key = (Reverse(ns), index);
        if key < self.threshold {
            self.keep(key, make);
        }
    }

    #[inline(never)]
    fn keep(&mut self, key: Key, make: impl FnOnce() -> SlowRequest) {
        if self.keys.len() == self.capacity * 2 {
            self.prune();
        }
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = make();
                slot
            }
            None => {
                self.slots.push(make());
                self.slots.len() as u32 - 1
            }
        };
        self.keys.push((key, slot));
    }

    /// Keep only the slower half.
    fn prune(&mut self) {
        if self.keys.len() <= self.capacity {
            return;
        }
        let (_, last, _) = self.keys.select_nth_unstable(self.capacity - 1);
        self.threshold = last.0;
        self.free.extend(self.keys.drain(self.capacity..).map(|(_, slot)| slot));
    }

    /// The slowest requests, the slowest first; requests of equal latency in order of submission.
    pub fn sorted(&self) -> Vec<SlowRequest> {
        let mut keys = self.keys.clone();
        keys.sort_unstable();
        keys.truncate(self.capacity);
        keys.iter().map(|&(_, slot)| self.slots[slot as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tailcut_units::Cause;

    fn request(index: u64, ns: u64) -> SlowRequest {
        let mut ledger = Ledger::new();
        ledger.charge(Cause::ARRAY, ns);
        SlowRequest {
            index,
            job: 0,
            op: HostOp::Read,
            offset: index * 4096,
            bytes: 4096,
            arrived: SimTime(index),
            completed: SimTime(index + ns),
            status: Status::Ok,
            ledger,
        }
    }

    proptest! {
        #[test]
        fn the_worst_are_the_first_of_a_sort(
            latencies in prop::collection::vec(0u64..50, 0..300),
            capacity in 0usize..40,
        ) {
            let mut worst = Worst::new(capacity);
            let mut all = Vec::new();
            for (index, &ns) in latencies.iter().enumerate() {
                let r = request(index as u64, ns);
                worst.offer(ns, r.index, || r);
                all.push(r);
            }
            all.sort_by_key(|r| (Reverse(r.latency_ns()), r.index));
            all.truncate(capacity);
            prop_assert_eq!(worst.sorted(), all);
        }
    }

    #[test]
    fn nothing_is_allocated_after_construction() {
        let mut worst = Worst::new(64);
        let before = (worst.keys.capacity(), worst.slots.capacity(), worst.free.capacity());
        for i in 0..10_000 {
            worst.offer(i, i, || request(i, i));
        }
        let after = (worst.keys.capacity(), worst.slots.capacity(), worst.free.capacity());
        assert_eq!(before, after);
        assert_eq!(worst.sorted()[0].index, 9_999);
    }
}
