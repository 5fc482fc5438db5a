//! What a write unit waited for before its program was queued.

use super::account::{Account, fraction};
use super::operation::Operation;
use tailcut_units::Cause;

/// A write unit, or a stripe, on its way to a row.
#[derive(Clone, Default)]
pub struct WriteUnit {
    /// When its data were complete.
    pub ready: u64,
    /// The busy unit of the die that is to free a block for it, and since when it waits.
    pub stalls: Option<(u32, u64)>,
    /// The read that completed its data, if it was short of any.
    pub filler: Account,
}

/// A write unit that has a row.
#[derive(Clone)]
pub struct Placed {
    /// When its data were complete.
    pub ready: u64,
    /// What the die that was to free a block for it did while it waited.
    pub stalled: Account,
    /// The read that completed its data, if it was short of any.
    pub filler: Account,
}

impl Placed {
    /// All that a write which is written through spends from the buffer to the end of `program`.
    pub fn through(&self, program: &Operation, to: &mut Account) {
        let waited = program.told.at.0 - self.ready;
        to.merge(&self.filler);
        to.stall(&self.stalled, waited, waited);
        to.merge(&program.account);
    }

    /// Split the time from `since` to `now` in which a write waited for this unit's room.
    pub fn room(&self, program: &Operation, since: u64, now: u64, to: &mut Account) {
        let overlap = |from: u64, end: u64| end.min(now).saturating_sub(from.max(since));
        let (queued_at, started) = (program.told.at.0, program.started.unwrap_or(now));
        let stalled = overlap(self.ready, queued_at);
        let queued = overlap(queued_at, started);
        let ran = overlap(started, now);
        let suspended = fraction(program.account.get(Cause::SUSPENDED), ran, now - started);
        to.add(Cause::BUFFER_FLUSH, now - since - stalled - queued - suspended);
        to.add(Cause::SUSPENDED, suspended);
        to.stall(&self.stalled, stalled, queued_at.saturating_sub(self.ready));
        if queued > 0 {
            to.share(&program.account, queued, |c| c.is_die_wait() || c.is_channel_wait());
        }
    }
}
