//! The read-only mode of a drive with too few good blocks: it refuses changes, and reads continue to work.

use crate::containers::NONE;
use crate::device::drive::{Deferred, Device, State};
use crate::device::faults::state::FaultState;
use crate::device::shape::Shape;
use crate::figures::ReadOnly;
use crate::flash::Flash;
use crate::medium::Medium;
use crate::observer::{Change, Observer};
use std::collections::BTreeSet;
use tailcut_units::{Cause, HostOp, ReadOnlyReason, SimTime, Status};

impl FaultState {
    #[inline]
    pub(in crate::device) fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// Make the drive read-only: refuse writes, TRIMs and FLUSHes from now on.
    pub(in crate::device) fn become_read_only<O: Observer>(
        &mut self,
        flash: &mut Flash<O>,
        deferred: &mut Vec<Deferred>,
        now: u64,
        reason: ReadOnlyReason,
    ) {
        if self.read_only.is_none() {
            self.read_only = Some(ReadOnly { since: SimTime(now), reason });
            deferred.push(Deferred::RefuseChanges);
            flash.observer_mut().changes(SimTime(now), Change::ReadOnly);
        }
    }
}

impl State {
    /// End a waiting command with an error.
    fn refuse<O: Observer>(&mut self, shape: &Shape, flash: &mut Flash<O>, id: u32) {
        let r = &mut self.host.requests[id];
        r.host.status = Status::ReadOnly;
        if r.host.command.op == HostOp::Flush {
            let waited = self.now - r.room_since;
            r.host.ledger.charge(Cause::BUFFER_FLUSH, waited);
        } else {
            self.charge_wait_for_room(flash, id, None);
        }
        self.complete_message(shape, flash, id);
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Since when the drive is read-only, and why; `None` if it is not.
    pub fn read_only(&self) -> Option<ReadOnly> {
        self.state.faults.read_only
    }

    /// When the drive became read-only; `None` if it is not.
    pub fn read_only_since(&self) -> Option<SimTime> {
        self.read_only().map(|r| r.since)
    }

    /// End the commands that wait for data to reach flash. Data that the buffer holds stay there if
    /// they cannot leave.
    pub(in crate::device) fn refuse_changes(&mut self) {
        let s = &mut self.state;
        let mut refused: BTreeSet<u32> = s.host.room.drain(..).chain(s.host.flushes.drain(..)).collect();
        refused.extend(s.write.queues.forget_waiting());
        // Writes without a buffer wait for their programs, some of which will never be issued.
        let held: Vec<u32> = s.write.buffer.in_use().map(|(slot, _)| slot).collect();
        for slot in held {
            let waiter = std::mem::replace(&mut s.write.buffer.slot_mut(slot).waiter, NONE);
            refused.extend(Some(waiter).filter(|&id| id != NONE));
        }
        self.state.write.note_oldest_write(&mut self.flash, &self.state.host);
        for id in refused {
            self.state.refuse(&self.shape, &mut self.flash, id);
        }
    }
}
