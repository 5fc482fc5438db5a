//! The waits of a write unit before its program was queued.

use super::account::{Account, fraction};
use super::operation::Operation;
use tailcut_core::address::BusyUnit;
use tailcut_units::Cause;

/// A write unit, or a stripe, that has no row yet.
#[derive(Clone, Default)]
pub struct WriteUnit {
    /// Time at which its data were complete, ns.
    pub ready: u64,
    /// The busy unit of the die that is to free a block for the write unit, and since when the
    /// write unit waits for the block.
    pub stalls: Option<(BusyUnit, u64)>,
    /// What the dies did that were to free a block before that one.
    pub stalled: Account,
    /// The account of the read that completed its data; zero if no data were missing.
    pub filler: Account,
}

/// A write unit to which a row was allocated.
#[derive(Clone)]
pub struct Placed {
    /// Time at which its data were complete, ns.
    pub ready: u64,
    /// What the die that was to free a block did while the write unit waited.
    pub stalled: Account,
    /// The account of the read that completed its data; zero if no data were missing.
    pub filler: Account,
}

impl Placed {
    /// Charge all that a written-through write spends from the buffer to the end of `program`.
    pub fn through(&self, program: &Operation, to: &mut Account) {
        let waited = program.told.at.0 - self.ready;
        to.merge(&self.filler);
        to.stall(&self.stalled, waited, waited);
        to.merge(&program.account);
    }

    /// The account of a write unit from its forming to the end of a `program` that has failed at `now`.
    pub fn failed(&self, program: &Operation, now: u64) -> Account {
        let mut all = self.filler.clone();
        let waited = program.told.at.0 - self.ready;
        all.stall(&self.stalled, waited, waited);
        all.merge(&program.account.retried());
        debug_assert!(program.ended == Some(now));
        all
    }

    /// Split the time from `since` to `now`, in which a write waited for the buffer room of
    /// this write unit.
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
