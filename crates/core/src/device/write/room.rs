//! Writes that wait for room in the buffer, and the causes to which their waits are charged.

use crate::containers::NONE;
use crate::device::drive::{Device, State};
use crate::device::host::commands::Host;
use crate::device::write::state::Writes;
use crate::flash::Flash;
use crate::flash::OpId;
use crate::medium::Medium;
use crate::observer::{Observer, RequestStep};
use tailcut_units::{Cause, Ledger};

impl Host {
    /// Charge a request for its wait for buffer room up to now. The wait is split by the causes of the write unit that
    /// made room.
    pub(in crate::device) fn charge_room<O: Observer>(
        &mut self,
        flash: &mut Flash<O>,
        write: &Writes,
        now: u64,
        id: u32,
        op: OpId,
        write_unit: u32,
    ) {
        self.observe(flash, now, id, RequestStep::Room(op.number()));
        let r = &mut self.requests[id];
        let (since, now) = (r.room_since, now);
        let (g, o) = (&write.units[write_unit], flash.op(op));
        let overlap = |from: u64, to: u64| to.min(now).saturating_sub(from.max(since));
        // Before the write unit was formed, and while it read missing data or was programmed, the
        // wait is for its own work. From `ready` to `entered` no block was free.
        let stalled = overlap(g.ready, o.entered);
        let queued = overlap(o.entered, o.started);
        let ran = overlap(o.started, now);
        let suspended = part_of(o.ledger.get(Cause::SUSPENDED), ran, now - o.started);
        r.host.ledger.charge(Cause::BUFFER_FLUSH, now - since - stalled - queued - suspended);
        r.host.ledger.charge(Cause::SUSPENDED, suspended);
        charge_stall(&mut r.host.ledger, &g.stalled, stalled, o.entered.saturating_sub(g.ready));
        share_out(&mut r.host.ledger, o.ledger.part(Cause::FLASH_WAITS), queued);
        r.room_since = now;
    }
}

impl State {
    /// Charge a request for its wait for room up to now. `by` is the program that made room, and its write unit. `None`:
    /// the wait ends because slots were dropped, or because the drive has become read-only; it was for the flush of
    /// earlier data.
    #[inline]
    pub(in crate::device) fn charge_wait_for_room<O: Observer>(
        &mut self,
        flash: &mut Flash<O>,
        id: u32,
        by: Option<(OpId, u32)>,
    ) {
        match by {
            Some((op, write_unit)) => {
                self.host.charge_room(flash, &self.write, self.now, id, op, write_unit);
            }
            None => {
                let r = &mut self.host.requests[id];
                r.host.ledger.charge(Cause::BUFFER_FLUSH, self.now - r.room_since);
                r.room_since = self.now;
                self.host.observe(flash, self.now, id, RequestStep::Room(NONE));
            }
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Admit waiting writes in order, after room may have appeared. `by` is the program that made
    /// room, and its write unit; `None` if a TRIM dropped slots.
    #[inline]
    pub(in crate::device) fn admit_waiting(&mut self, by: Option<(OpId, u32)>) {
        while let Some(&id) = self.state.host.room.front() {
            self.state.charge_wait_for_room(&mut self.flash, id, by);
            match self.hold_units(id) {
                Ok(()) => {}
                Err(None) if by.is_some() => return self.make_room(),
                Err(None) => return,
                Err(queue) => self.state.write.wait_for(&mut self.flash, &mut self.state.host, id, queue),
            }
            self.state.write.leave_room(&mut self.flash, &mut self.state.host);
        }
    }

    /// Flush the oldest data, regardless of the policy, if nothing is in flight. A write waits for
    /// room.
    pub(in crate::device) fn make_room(&mut self) {
        let b = &self.state.write.buffer;
        if b.dirty() == b.held() {
            self.flush_oldest();
        }
    }
}

/// Charge `part` of a wait of `whole` ns for a free block. Time in which the die that had to free the block was busy is
/// charged to the work of that die, and the rest to free space.
pub(in crate::device) fn charge_stall(to: &mut Ledger, die: &Ledger, part: u64, whole: u64) {
    if part == 0 {
        return;
    }
    let busy = die.sum().min(whole);
    let share = part_of(busy, part, whole);
    share_out(to, die.part(Cause::DIE_WAITS), share);
    to.charge(Cause::FREE_SPACE, part - share);
}

/// The share of `ns` that falls to `part` of `whole`; all of it if `part` is the whole.
fn part_of(ns: u64, part: u64, whole: u64) -> u64 {
    if whole == 0 { 0 } else { (u128::from(ns) * u128::from(part) / u128::from(whole)) as u64 }
}

/// Charge `part` to `to`, split over the causes as `from` is split. The rounding goes to the last
/// cause. The split is exact if `part` is the sum of `from`.
fn share_out(to: &mut Ledger, from: impl Iterator<Item = (Cause, u64)> + Clone, part: u64) {
    if part == 0 {
        return;
    }
    let whole = from.clone().map(|(_, ns)| ns).sum();
    let mut left = part;
    let mut last = None;
    for (cause, ns) in from.filter(|&(_, ns)| ns > 0) {
        let share = part_of(ns, part, whole);
        to.charge(cause, share);
        left -= share;
        last = Some(cause);
    }
    to.charge(last.unwrap_or(Cause::BUFFER_FLUSH), left);
}
