//! What a die or a channel did, and when.

use super::account::Account;
use tailcut_units::Cause;

/// Stretches of time, each with the cause that whoever waits in it is charged to.
#[derive(Default)]
pub struct History {
    /// Beginnings; each stretch ends where the next begins.
    changes: Vec<(u64, Option<Cause>)>,
}

impl History {
    /// From `at` on it is this; nobody waits for `None`.
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

    /// Charge the time from `from` to `to`; what lies before the first change counts to
    /// `before`.
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
