//! Operations on several planes of a die done as one: those queued at one die, of one kind and
//! for the same page index of their blocks, join into one multi-plane operation.
//!
//! Reads wait for the channel each on its own once they are sensed. Programs send their data
//! one after the other and are over together, as erases are.

use super::config::DeviceConfig;
use super::drive::Device;
use super::host::charge;
use super::medium::Medium;
use super::observer::Observer;
use super::op::{Op, OpKind};
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

    /// Whether an operation waits for the end of the event that queues it, so that others of
    /// the same event may join it. A host read begins at once.
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

impl<O: Observer, M: Medium> Device<O, M> {
    /// Operation `head` was taken from its die's queue: take along what may join it. Reads of
    /// any order may. Of programs only the first that waits for each plane may: the pages of
    /// a block are programmed in order.
    pub(super) fn join(&mut self, head: u32) {
        let s = &mut self.state;
        let op = &s.ops[head];
        let (unit, page, occupant, mut planes) = (op.unit, op.page, op.occupant, op.planes);
        let in_order = op.kind == OpKind::Program;
        let most = if op.kind == OpKind::Erase { s.joins.erase_planes } else { u32::MAX };
        let mut last = head;
        let mut before = NONE;
        let mut passed = 0;
        let mut at = s.units[unit as usize].queues[occupant as usize].head;
        let all = self.shape.all_planes();
        while at != NONE && planes | passed != all {
            let (next, o) = (self.state.ops[at].next, &self.state.ops[at]);
            let wide = (planes | o.planes).count_ones() > most;
            if o.page != page || o.planes & (planes | passed) != 0 || wide {
                passed |= if in_order { o.planes } else { 0 };
                (before, at) = (at, next);
                continue;
            }
            planes |= o.planes;
            self.leave_queue(unit, occupant, before, at);
            let s = &mut self.state;
            s.ops[last].joined = at;
            let o = &mut s.ops[at];
            if o.kind == OpKind::Read {
                o.along = true;
                s.units[unit as usize].joined += 1;
            }
            (last, at) = (at, next);
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
