//! Operations on several planes of a die done as one: those queued at one die, of one kind and
//! for the same page index of their blocks, join into one multi-plane operation.
//!
//! Reads wait for the channel each on its own once they are sensed. Programs send their data
//! one after the other and are over together, as erases are.

use super::config::DeviceConfig;
use super::dispatch::{dequeue, enqueue, push_front, remove};
use super::drive::Device;
use super::host::charge;
use super::medium::Medium;
use super::observer::{Observer, Turn};
use super::op::{Op, OpKind, Queue};
use super::server::Unit;
use super::slab::Slab;
use crate::ftl::NONE;
use crate::ftl::config::ExtentKind;
use serde::{Deserialize, Serialize};
use tailcut_units::{Cause, Occupant};

/// Which operations join, fixed for the drive's life.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Joins {
    /// Bit `o`: operations of occupant `o` join.
    occupants: u8,
    /// Planes of one erase, at most.
    erase_planes: u32,
}

impl Joins {
    pub fn new(c: &DeviceConfig) -> Joins {
        let bits = |join: bool, of: &[Occupant]| {
            if join { of.iter().fold(0, |bits, &o| bits | 1u8 << o as u8) } else { 0 }
        };
        let occupants = bits(c.ftl.join_reads, &[Occupant::UserRead])
            | bits(c.ftl.gc.join_reads, &[Occupant::GcRead])
            | bits(c.ftl.join_programs, &[Occupant::UserProgram, Occupant::GcProgram])
            | bits(c.ftl.extent == ExtentKind::Block && c.ftl.gc.erase_planes > 1, &[Occupant::Erase]);
        Joins { occupants, erase_planes: c.ftl.gc.erase_planes }
    }

    /// Whether operations of this occupant join.
    #[inline]
    pub fn has(&self, occupant: Occupant) -> bool {
        self.occupants >> occupant as u8 & 1 != 0
    }

    /// Whether operations of this occupant line up by plane for joining, and wait for the end of
    /// the event that queues them, so that others of the same event may join. A host read
    /// begins at once, and joins whatever its place in the queue.
    #[inline]
    pub fn gathers(&self, occupant: Occupant) -> bool {
        occupant != Occupant::UserRead && self.has(occupant)
    }
}

/// The operations that joined one, that one first.
pub(super) fn joined(ops: &Slab<Op>, head: u32) -> impl Iterator<Item = u32> {
    let some = |id: u32| Some(id).filter(|&id| id != NONE);
    std::iter::successors(some(head), move |&id| some(ops[id].joined))
}

/// The operations that line up for joining: of each plane the first stands in the die's queue,
/// the others wait behind it. So what may join is found among as many as there are planes, and
/// the pages of a block are programmed in order.
impl Unit {
    fn behind(&mut self, occupant: usize, plane: u32) -> &mut Queue {
        let planes = self.backlog.len() / Occupant::COUNT;
        &mut self.backlog[occupant * planes + plane as usize]
    }

    /// Queue an operation.
    pub(super) fn line_up(&mut self, ops: &mut Slab<Op>, id: u32) {
        let (occupant, planes) = (ops[id].occupant as usize, ops[id].planes);
        if self.fronts[occupant] & planes == 0 {
            return self.stand(ops, id);
        }
        enqueue(self.behind(occupant, planes.trailing_zeros()), ops, id);
    }

    /// Put the first operation of its plane into the queue, by page and then by arrival: the
    /// plane that is behind goes first, so that planes whose blocks are filled, or emptied,
    /// together stay together and their operations join.
    /// The page alone is compared: a plane that has the last pages of its block before it goes
    /// after those that have begun another. A plane that is ahead waits until the others have come up to it: for at most the pages of a
    /// block of each of them, since what lies beyond its page goes behind it.
    fn stand(&mut self, ops: &mut Slab<Op>, id: u32) {
        let occupant = ops[id].occupant as usize;
        let key = |o: &Op| (o.page, o.arrived);
        let own = key(&ops[id]);
        let queue = &mut self.queues[occupant];
        let (mut before, mut next) = (NONE, queue.head);
        while next != NONE && key(&ops[next]) < own {
            (before, next) = (next, ops[next].next);
        }
        match before {
            NONE => push_front(queue, ops, id),
            before => {
                (ops[before].next, ops[id].next) = (id, next);
                queue.tail = if next == NONE { id } else { queue.tail };
            }
        }
        self.arrived[occupant] = ops[queue.head].arrived;
        self.waiting |= 1 << occupant;
        self.fronts[occupant] |= ops[id].planes;
    }

    /// The first operations of these planes have left the queue: the next take their places.
    fn move_up(&mut self, ops: &mut Slab<Op>, occupant: Occupant, planes: u32) {
        let occupant = occupant as usize;
        self.fronts[occupant] &= !planes;
        let mut left = planes;
        while left != 0 {
            let behind = self.behind(occupant, left.trailing_zeros());
            left &= left - 1;
            if behind.head != NONE {
                let next = dequeue(behind, ops);
                self.stand(ops, next);
            }
        }
    }

    /// An operation that left the queue has not begun, and returns before those of its plane.
    pub(super) fn put_back(&mut self, ops: &mut Slab<Op>, id: u32) {
        let (occupant, planes) = (ops[id].occupant as usize, ops[id].planes);
        if self.fronts[occupant] & planes != 0 {
            let mut at = self.queues[occupant].head;
            while ops[at].planes != planes {
                at = ops[at].next;
            }
            remove(&mut self.queues[occupant], ops, at);
            push_front(self.behind(occupant, planes.trailing_zeros()), ops, at);
        }
        self.stand(ops, id);
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Operation `head` was taken from its die's queue: take along what may join it.
    pub(super) fn join(&mut self, head: u32) {
        let s = &mut self.state;
        let op = &s.ops[head];
        let (unit, page, occupant, mut planes) = (op.unit, op.page, op.occupant, op.planes);
        let most = if op.kind == OpKind::Erase { s.joins.erase_planes } else { u32::MAX };
        let mut last = head;
        let mut before = NONE;
        let mut at = s.units[unit as usize].queues[occupant as usize].head;
        let all = self.shape.all_planes();
        while at != NONE && planes != all {
            let (next, o) = (self.state.ops[at].next, &self.state.ops[at]);
            let wide = (planes | o.planes).count_ones() > most;
            if o.page != page || o.planes & planes != 0 || wide {
                (before, at) = (at, next);
                continue;
            }
            planes |= o.planes;
            self.leave_queue(unit, occupant, before, at);
            self.observe_turn(at, Turn::Joins(head));
            let s = &mut self.state;
            s.ops[last].joined = at;
            let o = &mut s.ops[at];
            if o.kind == OpKind::Read {
                o.along = true;
                s.units[unit as usize].joined += 1;
            }
            (last, at) = (at, next);
        }
        let s = &mut self.state;
        if s.joins.gathers(occupant) {
            s.units[unit as usize].move_up(&mut s.ops, occupant, planes);
        }
    }

    /// Planes of all operations joined with `head`, itself included.
    pub(super) fn joined_planes(&self, head: u32) -> u32 {
        let ops = &self.state.ops;
        joined(ops, head).map(|id| ops[id].planes.count_ones()).sum()
    }

    /// Codewords of all operations joined with `head`, itself included.
    pub(super) fn joined_codewords(&self, head: u32) -> u32 {
        let ops = &self.state.ops;
        joined(ops, head).map(|id| ops[id].codewords).sum()
    }

    /// `head` is sensed, and so is what joined it: each waits for the channel on its own.
    pub(super) fn joined_sensed(&mut self, head: u32) {
        let mut at = self.state.ops[head].joined;
        self.share_account(head);
        self.request_channel(head);
        while at != NONE {
            let op = &mut self.state.ops[at];
            op.second = true;
            let (extent, next) = (op.extent, op.joined);
            self.data_sensed(at);
            if self.state.extents.read_ends(extent) {
                self.last_reader_left(extent);
            }
            self.request_channel(at);
            at = next;
        }
    }

    /// What `head` did since it had the channel, those that joined it did too. What each waited
    /// for is its own.
    pub(super) fn share_account(&mut self, head: u32) {
        let s = &mut self.state;
        let (ledger, started) = (s.ops[head].ledger, s.ops[head].started);
        let mut at = s.ops[head].joined;
        while at != NONE {
            let op = &mut s.ops[at];
            op.started = started;
            for cause in [Cause::COMMAND, Cause::TRANSFER, Cause::ARRAY] {
                charge(&mut op.ledger, cause, ledger.get(cause));
            }
            at = op.joined;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other planes that always have another page to do go round their blocks for ever.
    #[test]
    fn a_plane_that_is_ahead_waits_for_one_block_of_each_other() {
        let (planes, pages, occupant) = (4, 16, Occupant::UserProgram);
        let mut ops = Slab::new(8, Op::blank());
        let mut unit = Unit::new(0, planes);
        let mut arrivals = 0;
        let mut queue = |unit: &mut Unit, ops: &mut Slab<Op>, plane: u32, page: u32| {
            let id = ops.take();
            arrivals += 1;
            ops[id].arrived = arrivals;
            (ops[id].occupant, ops[id].planes, ops[id].page) = (occupant, 1 << plane, page);
            unit.line_up(ops, id);
        };
        for ahead in 0..pages {
            queue(&mut unit, &mut ops, 0, ahead);
            for plane in 1..planes {
                queue(&mut unit, &mut ops, plane, ahead * plane % pages);
            }
            let mut begun = 0;
            loop {
                let id = dequeue(&mut unit.queues[occupant as usize], &mut ops);
                let (mask, page) = (ops[id].planes, ops[id].page);
                unit.move_up(&mut ops, occupant, mask);
                ops.give(id);
                if mask == 1 {
                    break;
                }
                begun += 1;
                assert!(begun <= (planes - 1) * pages, "plane 0 waits at page {ahead}");
                queue(&mut unit, &mut ops, mask.trailing_zeros(), (page + 1) % pages);
            }
            // The others, of which each has one left, do not stay for the next round.
            for _ in 1..planes {
                let id = dequeue(&mut unit.queues[occupant as usize], &mut ops);
                let mask = ops[id].planes;
                unit.move_up(&mut ops, occupant, mask);
                ops.give(id);
            }
        }
    }
}
