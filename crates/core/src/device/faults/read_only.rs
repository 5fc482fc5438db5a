//! The read-only mode of a drive with too few good blocks: it refuses changes, and reads continue to work.

use crate::containers::NONE;
use crate::device::drive::{Deferred, Device};
use crate::figures::ReadOnly;
use crate::medium::Medium;
use crate::observer::{Change, Observer};
use std::collections::BTreeSet;
use tailcut_units::{Cause, HostOp, ReadOnlyReason, SimTime, Status};

impl<O: Observer, M: Medium> Device<O, M> {
    /// Since when the drive is read-only, and why; `None` if it is not.
    pub fn read_only(&self) -> Option<ReadOnly> {
        self.state.faults.read_only
    }

    /// When the drive became read-only; `None` if it is not.
    pub fn read_only_since(&self) -> Option<SimTime> {
        self.read_only().map(|r| r.since)
    }

    #[inline]
    pub(in crate::device) fn is_read_only(&self) -> bool {
        self.state.faults.read_only.is_some()
    }

    /// Make the drive read-only: refuse writes, TRIMs and FLUSHes from now on.
    pub(in crate::device) fn become_read_only(&mut self, reason: ReadOnlyReason) {
        let s = &mut self.state;
        if s.faults.read_only.is_none() {
            s.faults.read_only = Some(ReadOnly { since: SimTime(s.now), reason });
            s.deferred.push(Deferred::RefuseChanges);
            self.flash.observer_mut().changes(SimTime(s.now), Change::ReadOnly);
        }
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
        self.note_oldest_write();
        for id in refused {
            self.refuse(id);
        }
    }

    /// End a waiting command with an error.
    fn refuse(&mut self, id: u32) {
        let r = &mut self.state.host.requests[id];
        r.host.status = Status::ReadOnly;
        if r.host.command.op == HostOp::Flush {
            let waited = self.state.now - r.room_since;
            r.host.ledger.charge(Cause::BUFFER_FLUSH, waited);
        } else {
            self.charge_flush_ahead(id);
        }
        self.complete_message(id);
    }
}
