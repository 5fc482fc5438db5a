//! Independent plane reads (`geometry.plane_reads = "independent"`): reads run side by side on different planes of a
//! die.
//!
//! A read holds the planes that it addresses from its grant until its data are transferred. The die is released when
//! its last read has left. A queued read begins beside others if the schedule would serve it now. This means that all
//! operations that the schedule would serve before it are reads that wait for planes in use, and that none of these
//! needs one of its planes. So no read overtakes a program, an erase or a copyback that the schedule puts first, and a
//! multi-plane read is not delayed by later reads of some of its planes.
//!
//! The time of the die is charged to the read that got its planes first, among those that still hold them.

use super::account;
use super::op::{Op, OpId};
use super::state::Flash;
use super::unit::Phase;
use crate::address::BusyUnit;
use crate::containers::{NONE, bits};
use crate::nand::OpKind;
use crate::observer::{Observer, QueueStep, Step};
use crate::policy::schedule::{QueueView, SchedulePolicy};
use serde::{Deserialize, Serialize};
use tailcut_units::{Occupant, Occupants};

/// The stage of a read that holds its planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// It waits for the channel, with its command or its data.
    Channel,
    /// Its command is being sent, or it is in the array.
    Array,
    /// Its data are being transferred out.
    Out,
}

/// A read that holds its planes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PlaneRead {
    /// The read, or `NONE`.
    pub op: u32,
    /// The planes that it holds, as a mask. (The command may address other planes when the data have been decoded.)
    pub planes: u32,
    pub stage: Stage,
    /// Whether a collection has delayed it.
    pub met_collection: bool,
    /// End of stage `Array`, ns.
    pub until: u64,
    /// Its number in the order in which reads got their planes.
    granted: u64,
}

impl PlaneRead {
    const NONE: PlaneRead =
        PlaneRead { op: NONE, planes: 0, stage: Stage::Channel, met_collection: false, until: 0, granted: 0 };
}

/// The reads that hold planes, indexed by the first plane of each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PlaneReads {
    /// By plane of the drive. Empty if planes do not read independently.
    reads: Vec<PlaneRead>,
    /// Planes of a die.
    planes: u32,
    /// Number of reads that got planes so far.
    granted: u64,
}

impl PlaneReads {
    /// Create the state without reads, for `all` planes of the drive (0 if planes do not read independently) and
    /// `planes` planes of a die.
    pub fn new(all: u32, planes: u32) -> PlaneReads {
        PlaneReads { reads: vec![PlaneRead::NONE; all as usize], planes, granted: 0 }
    }

    /// The read of a die whose first plane is the first one of this mask.
    #[inline]
    pub fn of(&mut self, unit: BusyUnit, planes: u32) -> &mut PlaneRead {
        &mut self.reads[(unit.0 * self.planes + planes.trailing_zeros()) as usize]
    }

    /// The reads of a die in order of their first plane. `in_use` is the mask of planes in use.
    pub fn each(&self, unit: BusyUnit, in_use: u32) -> impl Iterator<Item = &PlaneRead> {
        let first = unit.0 * self.planes;
        bits(in_use).map(move |plane| &self.reads[(first + plane) as usize]).filter(|read| read.op != NONE)
    }
}

impl<O: Observer> Flash<O> {
    /// Give a read its planes on an idle die, and begin other reads that may run beside it.
    #[cold]
    #[inline(never)]
    pub(super) fn grant_first_planes(&mut self, OpId(id): OpId) {
        let unit = self.state.ops[id].cmd.unit;
        self.grant_planes(OpId(id));
        self.begin_beside(unit);
    }

    /// Give a read its planes, and request the channel.
    pub(super) fn grant_planes(&mut self, OpId(id): OpId) {
        let s = &mut self.state;
        let now = s.now;
        let cmd = &s.ops[id].cmd;
        let (unit, planes) = (cmd.unit, cmd.planes);
        let u = &mut s.units[unit.index()];
        if u.phase != Phase::Reading {
            u.account.count_to(account::of(cmd.occupant), now);
            u.holder = id;
            u.enters(Phase::Reading);
            u.interrupters = Occupants::NONE;
        }
        debug_assert_eq!(u.reading & planes, 0, "a plane has one read");
        u.reading |= planes;
        let met_collection = std::mem::take(&mut u.met_collection);
        s.plane_reads.granted += 1;
        let granted = s.plane_reads.granted;
        *s.plane_reads.of(unit, planes) =
            PlaneRead { op: id, planes, met_collection, granted, ..PlaneRead::NONE };
        self.observe(id, Step::Granted, now);
        self.request_channel(id);
    }

    /// Handle the end of a read's sense. Its planes keep the data until these are transferred.
    #[inline]
    pub(super) fn plane_sensed(&mut self, OpId(id): OpId) {
        let s = &mut self.state;
        let cmd = &s.ops[id].cmd;
        s.plane_reads.of(cmd.unit, cmd.planes).stage = Stage::Channel;
    }

    /// Release the planes of a die whose data have been transferred, and the die itself if no read holds planes of it.
    pub(super) fn release_planes(&mut self, unit: BusyUnit) {
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        u.awaited = false;
        let read = std::mem::replace(s.plane_reads.of(unit, 1 << u.leaving), PlaneRead::NONE);
        debug_assert_eq!(read.stage, Stage::Out);
        u.reading &= !read.planes;
        if read.met_collection {
            u.met_until = s.now;
        }
        u.met_collection = false;
        if u.reading == 0 {
            return self.release_unit(unit);
        }
        self.has_left(unit, read.op);
        self.begin_beside(unit);
    }

    /// Charge the time of a die to its next read, if the read that has left was the first.
    fn has_left(&mut self, unit: BusyUnit, op: u32) {
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        if u.holder != op {
            return;
        }
        let first = s.plane_reads.each(unit, u.reading).min_by_key(|read| read.granted);
        u.holder = first.expect("a read has planes in use").op;
        u.account.count_to(account::of(s.ops[u.holder].cmd.occupant), s.now);
    }

    /// Handle the arrival of an operation at a die on which reads hold planes. A read may begin beside them. It may
    /// also take the planes of a read that comes after it on the channel and still waits there with its command.
    /// Another operation that is queued by page may come before one of its kind that has held reads back.
    pub(super) fn arrives_beside(&mut self, unit: BusyUnit, OpId(id): OpId) {
        let s = &self.state;
        let (u, cmd) = (&s.units[unit.index()], &s.ops[id].cmd);
        if cmd.kind != OpKind::Read || u.reading & cmd.planes == 0 {
            self.begin_beside(unit);
        } else if self.fixed.grants.first.has(cmd.occupant) && u.gates.open().has(cmd.occupant) {
            let planes = cmd.planes;
            self.overtake_reads(unit, planes);
        }
    }

    /// Let reads with channel priority take these planes from reads without it that still wait for the channel with
    /// their first command. The latter return to their positions in their queues.
    pub(super) fn overtake_reads(&mut self, unit: BusyUnit, planes: u32) {
        let first = self.fixed.grants.first;
        let mut returned = false;
        for plane in bits(self.state.units[unit.index()].reading) {
            let s = &mut self.state;
            let PlaneRead { op: id, planes: own, stage, .. } = *s.plane_reads.of(unit, 1 << plane);
            if id == NONE || own & planes == 0 || stage != Stage::Channel {
                continue;
            }
            let op = &s.ops[id];
            if op.second || first.has(op.cmd.occupant) {
                continue;
            }
            let (number, queue) = (op.channel, self.fixed.grants.queue(op));
            let channel = &mut s.channels[number as usize];
            let spent = channel.spent(s.now);
            channel.remove(queue, &mut s.ops, id);
            s.charge_channel_wait(id, &spent);
            *s.plane_reads.of(unit, own) = PlaneRead::NONE;
            let u = &mut s.units[unit.index()];
            u.reading &= !own;
            s.ops[id].seen = *u.account.settle(s.now);
            u.queues.return_in_order(&mut s.ops, id);
            if u.reading != 0 {
                self.has_left(unit, id);
            }
            self.observe_queue(id, QueueStep::Returns);
            self.observe(id, Step::Returned, self.state.now);
            returned = true;
        }
        let u = &mut self.state.units[unit.index()];
        if returned && u.reading == 0 {
            u.account.count_to(account::IDLE, self.state.now);
            u.enters(Phase::Idle);
            u.holder = NONE;
            self.dispatch(unit);
        } else if returned {
            self.begin_beside(unit);
        }
    }

    /// Begin the queued reads that may run beside the present reads of a die.
    pub(super) fn begin_beside(&mut self, unit: BusyUnit) {
        loop {
            let u = &self.state.units[unit.index()];
            if u.phase != Phase::Reading {
                return;
            }
            let free = self.fixed.all_planes & !u.reading;
            let reads = u.queues.waiting() & Occupants::READS;
            let needed = match reads.single() {
                Some(Occupant::UserRead) => u.queues.may_need(free),
                _ => !reads.is_empty(),
            };
            if free == 0 || !needed {
                return;
            }
            let suspended = u.suspended().last().copied();
            let over = suspended.map(|run| self.state.ops[run.op].cmd.occupant);
            let before = match suspended {
                Some(run) if over == Some(Occupant::Erase) => self.serve_before(unit, &run),
                _ => u64::MAX,
            };
            let mut schedule = self.state.schedule.clone();
            let Some((kind, id)) = self.next_beside(unit, before, &mut schedule) else { return };
            self.state.schedule = schedule;
            let met = over.is_some_and(|holder| self.belongs_to_collection(unit, holder));
            self.leave_queue(unit, kind, id);
            self.note_suspended(OpId(id), met);
            self.grant_planes(OpId(id));
            self.read_left(unit, kind);
        }
    }

    /// The queued read that may begin beside the present reads of a die, with its kind. With an operation suspended,
    /// only arrivals before number `before` are served.
    fn next_beside(
        &self,
        unit: BusyUnit,
        before: u64,
        schedule: &mut SchedulePolicy,
    ) -> Option<(Occupant, u32)> {
        let s = &self.state;
        let u = &s.units[unit.index()];
        let mut waiting = u.queues.waiting() & self.open_queues(unit);
        if let Some(run) = u.suspended().last() {
            waiting = waiting & self.fixed.interrupters[s.ops[run.op].cmd.occupant as usize];
        }
        let mut arrived = *u.queues.arrived();
        waiting = waiting.iter().filter(|&kind| arrived[kind as usize] < before).collect();
        // In each queue: the operation that is next.
        let mut at = Occupant::ALL.map(|kind| u.queues.head(kind));
        let mut free = self.fixed.all_planes & !u.reading;
        while free != 0 && !waiting.is_empty() {
            let kind = match waiting.single() {
                Some(kind) => kind,
                None => schedule.next(&QueueView { waiting, urgent: u.gates.urgent > 0, arrived: &arrived }),
            };
            let place = &mut at[kind as usize];
            let id = *place;
            let Op { cmd, next, .. } = &s.ops[id];
            if cmd.kind != OpKind::Read {
                return None;
            }
            if cmd.planes & !free == 0 {
                return Some((kind, id));
            }
            // It must wait, so its planes are reserved for it.
            free &= !cmd.planes;
            *place = *next;
            match *next {
                NONE => waiting.remove(kind),
                next if s.ops[next].arrived >= before => waiting.remove(kind),
                next => arrived[kind as usize] = s.ops[next].arrived,
            }
        }
        None
    }

    /// Check the reads that hold planes of a die, and that no other read could begin beside them.
    pub(super) fn audit_reading(&self, unit: BusyUnit) -> Result<(), String> {
        let s = &self.state;
        let u = &s.units[unit.index()];
        let mut planes = 0;
        let (mut out, mut sensed) = (0, 0);
        for read in s.plane_reads.each(unit, u.reading) {
            let op = &s.ops[read.op];
            law!(op.cmd.unit == unit && op.cmd.kind == OpKind::Read, "unit {unit} has {op:?} as a read");
            law!(
                read.stage == Stage::Out || op.cmd.planes == read.planes,
                "{read:?} has the planes of {op:?}"
            );
            law!(read.planes & planes == 0, "two reads of unit {unit} have one plane: {read:?}");
            planes |= read.planes;
            out += u32::from(read.stage == Stage::Out);
            sensed += u32::from(read.stage == Stage::Array);
        }
        law!(planes == u.reading, "reads of unit {unit} have {planes:#b}, not {:#b}", u.reading);
        law!(out <= 1 && u.awaited == (out == 1), "unit {unit}: data of {out} reads go out");
        let mut events: Vec<u32> = self.unit_events().filter(|e| e.slot == unit.0).map(|e| e.item).collect();
        events.sort_unstable();
        let mut ops: Vec<u32> =
            s.plane_reads.each(unit, u.reading).filter(|r| r.stage == Stage::Array).map(|r| r.op).collect();
        ops.sort_unstable();
        law!(
            events == ops && sensed == ops.len() as u32,
            "unit {unit} senses {ops:?}, and has events of {events:?}"
        );
        let first = s.plane_reads.each(unit, u.reading).min_by_key(|read| read.granted).map(|read| read.op);
        law!(first == Some(u.holder), "unit {unit} counts its time to {}, and not to {first:?}", u.holder);
        let before = u.suspended().last().map_or(u64::MAX, |run| run.serve_before);
        let next = self.next_beside(unit, before, &mut s.schedule.clone());
        law!(next.is_none(), "unit {unit}: read {next:?} waits, and could begin beside others: {u:?}");
        Ok(())
    }
}
