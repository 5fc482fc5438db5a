//! Requests that ended without success.

use tailcut_units::{HostOp, Status};

/// Counts of the requests that ended without success, by kind and status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures([[u64; Status::ALL.len()]; HostOp::COUNT]);

impl Failures {
    /// Count a request. Its status is not [`Status::Ok`].
    pub fn count(&mut self, op: HostOp, status: Status) {
        debug_assert_ne!(status, Status::Ok, "only failures are counted");
        self.0[op as usize][status as usize] += 1;
    }

    /// Number of requests of this kind that ended with this status.
    pub fn of(&self, op: HostOp, status: Status) -> u64 {
        self.0[op as usize][status as usize]
    }

    /// Number of all these requests.
    pub fn total(&self) -> u64 {
        self.0.iter().flatten().sum()
    }

    /// The kinds of which a request has failed, by name, with the number for each status that
    /// occurred.
    pub fn by_kind(&self) -> impl Iterator<Item = (&'static str, Vec<(Status, u64)>)> + '_ {
        HostOp::ALL.into_iter().filter_map(|op| {
            let counts = Status::ALL.into_iter().map(|status| (status, self.of(op, status)));
            let some: Vec<(Status, u64)> = counts.filter(|&(_, n)| n > 0).collect();
            (!some.is_empty()).then_some((op.name(), some))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_statuses_are_counted_apart() {
        let mut failures = Failures::default();
        assert_eq!(failures.by_kind().count(), 0);
        for (op, status, n) in [
            (HostOp::Flush, Status::ReadOnly, 1),
            (HostOp::Read, Status::MediaError, 3),
            (HostOp::Read, Status::OutOfRange, 2),
        ] {
            (0..n).for_each(|_| failures.count(op, status));
            assert_eq!(failures.of(op, status), n);
        }
        let kinds: Vec<_> = failures.by_kind().collect();
        assert_eq!(kinds[0], ("read", vec![(Status::OutOfRange, 2), (Status::MediaError, 3)]));
        assert_eq!(kinds[1..], [("flush", vec![(Status::ReadOnly, 1)])]);
        assert_eq!(failures.total(), 6);
    }
}
