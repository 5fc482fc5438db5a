//! What a die or a channel did over time.

use super::account::Account;
use tailcut_units::Cause;

/// Intervals of time, each with the cause to which a wait during the interval is charged.
#[derive(Default)]
pub struct History {
    /// Start and cause of each interval; an interval ends where the next one begins.
    changes: Vec<(u64, Option<Cause>)>,
}

impl History {
    /// Set the cause from `at` on; waits are not charged for `None`.
    pub fn change(&mut self, at: u64, to: Option<Cause>) {
        if let Some(&(last, _)) = self.changes.last() {
            assert!(at >= last, "a change at {at} after one at {last}");
            if last == at {
                self.changes.pop();
            }
        }
        if self.changes.last().is_none_or(|&(_, was)| was != to) {
            self.changes.push((at, to));
        }
    }

    /// Charge the time from `from` to `to` to `account`. Time before the first interval is
    /// charged to `before`.
    pub fn charge(&self, from: u64, to: u64, before: Option<Cause>, account: &mut Account) {
        let mut end = to;
        for &(at, cause) in self.changes.iter().rev() {
            if at >= end {
                continue;
            }
            let begin = at.max(from);
            if let Some(cause) = cause {
                account.add(cause, end - begin);
            }
            end = begin;
            if end == from {
                return;
            }
        }
        if let Some(cause) = before
            && end > from
        {
            account.add(cause, end - from);
        }
    }
}
