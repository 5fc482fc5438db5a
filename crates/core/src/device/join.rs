//! Reads of several planes sensed together: host reads queued at one die that address the
//! same page of their blocks join into one multi-plane read.

use super::drive::Device;
use super::medium::Medium;
use super::observer::Observer;
use crate::ftl::NONE;
use tailcut_units::Occupant;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Host read `head` was taken from its die's queue: take along what may join it.
    pub(super) fn join_reads(&mut self, head: u32) {
        let s = &mut self.state;
        let op = &s.ops[head];
        let (unit, page, mut planes) = (op.unit, op.page, op.planes);
        let mut last = head;
        let mut before = NONE;
        let mut at = s.units[unit as usize].queues[Occupant::UserRead as usize].head;
        while at != NONE {
            let (next, o) = (self.state.ops[at].next, &self.state.ops[at]);
            if o.page != page || o.planes & planes != 0 {
                (before, at) = (at, next);
                continue;
            }
            planes |= o.planes;
            self.leave_queue(unit, Occupant::UserRead, before, at);
            self.state.ops[last].joined = at;
            self.state.ops[at].joined = NONE;
            self.state.ops[at].along = true;
            self.state.units[unit as usize].joined += 1;
            (last, at) = (at, next);
        }
    }

    /// Planes of all reads sensed with `head`, itself included.
    pub(super) fn joined_planes(&self, head: u32) -> u32 {
        let ops = &self.state.ops;
        let mut count = ops[head].planes.count_ones();
        let mut at = ops[head].joined;
        while at != NONE {
            count += ops[at].planes.count_ones();
            at = ops[at].joined;
        }
        count
    }

    /// `head` is sensed, and so is what joined it: each waits for the channel on its own.
    pub(super) fn joined_sensed(&mut self, head: u32) {
        let ledger = self.state.ops[head].ledger;
        let mut at = self.state.ops[head].joined;
        self.request_channel(head);
        while at != NONE {
            let op = &mut self.state.ops[at];
            op.second = true;
            for (cause, ns) in ledger.iter().filter(|(cause, _)| !cause.is_die_wait()) {
                op.ledger.add(cause, ns);
            }
            let (extent, next) = (op.extent, op.joined);
            self.data_sensed(at);
            if self.state.extents.read_ends(extent) {
                self.last_reader_left(extent);
            }
            self.request_channel(at);
            at = next;
        }
    }
}
