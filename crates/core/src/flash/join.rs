//! Joining: operations of one kind that are queued at one die, for the same page index on different planes, run as one
//! multi-plane operation.
//!
//! Joined reads are sensed together and transfer their data one by one. Joined programs transfer their data one after
//! the other and end together. Joined erases end together too.

use super::op::Op;
use super::queues::Queues;
use super::state::{Flash, FlashState};
use crate::containers::NONE;
use crate::containers::slab::Slab;
use crate::nand::OpKind;
use crate::observer::{Observer, QueueStep};
use tailcut_units::{Cause, Occupant, Occupants};

/// The operations that may join. This never changes in a drive.
#[derive(Clone, Copy, Debug)]
pub struct Joins {
    /// The kinds whose operations join.
    pub kinds: Occupants,
    /// Largest number of planes of one erase.
    pub erase_planes: u32,
}

impl Joins {
    /// Whether operations of this kind join.
    #[inline]
    pub(super) fn has(&self, kind: Occupant) -> bool {
        self.kinds.has(kind)
    }

    /// Whether operations of this kind are queued by plane and begin only at the end of the event that submits them, so
    /// that others of the same event may join. A host read begins at once, and queued host reads join from any position
    /// in the queue.
    #[inline]
    pub(super) fn gathers(&self, kind: Occupant) -> bool {
        kind != Occupant::UserRead && self.has(kind)
    }
}

/// `head` and the operations that joined it.
pub(super) fn joined(ops: &Slab<Op>, head: u32) -> impl Iterator<Item = u32> {
    let some = |id: u32| Some(id).filter(|&id| id != NONE);
    std::iter::successors(some(head), move |&id| some(ops[id].joined))
}

impl FlashState {
    /// Number of planes and of codewords of all operations joined with `head`, itself included.
    pub(super) fn joined(&self, head: u32) -> (u32, u32) {
        joined(&self.ops, head).map(|id| &self.ops[id].cmd).fold((0, 0), |(planes, codewords), cmd| {
            (planes + cmd.planes.count_ones(), codewords + cmd.codewords)
        })
    }
}

impl<O: Observer> Flash<O> {
    /// Take the operations that may join `head` out of the queue, which `head` has just left.
    pub(super) fn join(&mut self, head: u32) {
        let joins = self.fixed.joins;
        let s = &mut self.state;
        let cmd = &s.ops[head].cmd;
        let (unit, kind, page, mut planes) = (cmd.unit, cmd.occupant, cmd.page, cmd.planes);
        let part = cmd.part;
        let most = (cmd.kind == OpKind::Erase).then_some(joins.erase_planes);
        let mut last = head;
        let mut at = s.units[unit.index()].queues.first_to_join(cmd);
        while at != NONE && planes != self.fixed.all_planes {
            let o = &self.state.ops[at];
            let next = Queues::next_to_join(o);
            let wide = || most.is_some_and(|most| (planes | o.cmd.planes).count_ones() > most);
            if o.cmd.page != page || o.cmd.part != part || o.cmd.planes & planes != 0 || wide() {
                at = next;
                continue;
            }
            planes |= o.cmd.planes;
            self.leave_queue(unit, kind, at);
            self.observe_queue(at, QueueStep::Joins(head));
            let s = &mut self.state;
            s.ops[last].joined = at;
            let o = &mut s.ops[at];
            if o.cmd.kind == OpKind::Read {
                o.along = true;
                s.units[unit.index()].joined += 1;
            }
            (last, at) = (at, next);
        }
        let s = &mut self.state;
        if joins.gathers(kind) {
            s.units[unit.index()].queues.move_up(&mut s.ops, kind, planes);
        }
    }

    /// Copy the command, transfer and array times of `head` to the operations that joined it. Each
    /// keeps its own waits.
    #[cold]
    pub(super) fn share_account(&mut self, head: u32) {
        let s = &mut self.state;
        let (ledger, started) = (s.ops[head].ledger, s.ops[head].started);
        let mut at = s.ops[head].joined;
        while at != NONE {
            let op = &mut s.ops[at];
            op.started = started;
            for cause in [Cause::COMMAND, Cause::TRANSFER, Cause::ARRAY] {
                op.ledger.charge(cause, ledger.get(cause));
            }
            at = op.joined;
        }
    }
}
