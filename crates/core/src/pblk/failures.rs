//! Operations that fail: sectors are programmed elsewhere, chunks become bad, lines are lost, and data that cannot be
//! recovered are reported.
//!
//! If a program fails, the writer programs its sectors again before all others. The rest of the chunk takes no more
//! data in this line, and the line is collected before others. The chunk stays in use. A chunk becomes bad only if
//! its erase fails. Without strides data that cannot be read are not recovered.

use super::drive::{Pblk, TIMER_RARE};
use super::lines::{Lines, LunRange, State as LineState};
use super::ring::Heat;
use super::shape::Shape;
use super::writer::{Content, Unit};
use crate::address::{Lpn, Ppa};
use crate::containers::timers::UNSET;
use crate::figures::{BlockReport, FaultReport, ReadOnly};
use crate::flash::{Flash, OpId};
use crate::intervention::{Intervention, InterventionError, REBUILD_RATE};
use crate::medium::Medium;
use crate::nand::blocks::BlockCounts;
use crate::observer::{Change, Observer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use tailcut_units::{Cause, ReadOnlyReason, SimTime, Status};

/// What pblk and the host know about failures.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Failures {
    /// Sectors that could not be read.
    pub unreadable: BTreeSet<Ppa>,
    /// Sectors of the host that collection has dropped, because they could not be read.
    pub lost: BTreeSet<Lpn>,
    /// Number of configured deaths that have happened, and the dead planes.
    deaths: u32,
    dead: BTreeSet<u32>,
    /// Whether writes are refused.
    pub read_only: Option<ReadOnly>,
}

impl Failures {
    /// Whether no sector and no plane is known to be unreadable.
    pub fn knows_no_unreadable(&self) -> bool {
        self.unreadable.is_empty() && self.dead.is_empty()
    }

    fn kill<O: Observer>(&mut self, flash: &mut Flash<O>, planes: Range<u32>, now: SimTime) {
        let (first, count) = (planes.start, planes.end - planes.start);
        for plane in planes {
            flash.kill_plane(plane);
            self.dead.insert(plane);
        }
        flash.observer_mut().changes(now, Change::PlanesDie { first, count });
    }

    /// Record the sectors that a read could not return, and return them.
    #[cold]
    pub(super) fn note_unread<O: Observer>(&mut self, shape: &Shape, flash: &Flash<O>, op: OpId) -> Vec<Ppa> {
        let unread = shape.unread_of(flash, op);
        self.unreadable.extend(&unread);
        unread
    }

    #[cold]
    fn forget_unread<O: Observer>(&mut self, shape: &Shape, flash: &Flash<O>, op: OpId) {
        let (cmd, unread) = (flash.op(op).cmd, shape.unread_of(flash, op));
        for at in (0..64).filter(|at| cmd.units() >> at & 1 != 0) {
            let sector = cmd.ppa + at;
            if !unread.contains(&sector) {
                self.unreadable.remove(&sector);
            }
        }
    }

    /// Remove sectors that a read has returned from those that are known to be unreadable.
    #[inline]
    pub(super) fn note_read<O: Observer>(&mut self, shape: &Shape, flash: &Flash<O>, op: OpId) {
        if !self.unreadable.is_empty() {
            self.forget_unread(shape, flash, op);
        }
    }

    /// Remove the sectors of a line that is now free from those that are known to be unreadable.
    pub(super) fn forget_line(&mut self, shape: &Shape, lines: &Lines, line: u32) {
        let unreadable = &mut self.unreadable;
        if !unreadable.is_empty() {
            let (shape, lines) = (shape, lines);
            unreadable.retain(|&sector| shape.line_of(lines, sector) != line);
        }
    }

    /// When the next planes die, ns.
    pub(super) fn next_death(&self, shape: &Shape) -> u64 {
        shape.deaths.get(self.deaths as usize).map_or(UNSET, |death| death.at)
    }

    /// Let all planes die that are due.
    pub(super) fn let_planes_die<O: Observer>(&mut self, shape: &Shape, flash: &mut Flash<O>, now: u64) {
        while self.next_death(shape) <= now {
            let planes = shape.deaths[self.deaths as usize].planes.clone();
            self.deaths += 1;
            self.kill(flash, planes, SimTime(now));
        }
    }

    #[inline]
    pub(super) fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// Whether a sector is known to be unreadable.
    pub(super) fn is_unreadable(&self, shape: &Shape, sector: Ppa) -> bool {
        let f = self;
        f.unreadable.contains(&sector) || !f.dead.is_empty() && f.dead.contains(&shape.plane_of(sector))
    }
}

impl Shape {
    /// The sectors that a read could not return.
    fn unread_of<O: Observer>(&self, flash: &Flash<O>, op: OpId) -> Vec<Ppa> {
        let o = flash.op(op);
        let sectors = (0..64).filter(|at| o.cmd.units() >> at & 1 != 0).map(|at| o.cmd.ppa + at);
        sectors.filter(|&sector| o.unread >> self.place(sector).plane & 1 != 0).collect()
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Handle the failure of a program, which the host learns now.
    #[cold]
    pub(super) fn program_failed(&mut self, unit: &Unit) {
        let (line, stripe) = (unit.line, unit.unit / self.shape.luns);
        let s = &mut self.state;
        s.counters.program_failures += 1;
        s.counters.programs_failed += u64::from(self.shape.array.write_unit);
        match unit.content {
            Content::Data { first, sectors } => {
                let valid = unit.users + unit.collected;
                let l = s.lines.line_mut(line);
                l.write_error = true;
                l.sound = l.sound.min(stripe);
                l.in_ring -= valid;
                s.ring.failed(first, sectors);
                if s.lines.invalidate(line, valid) {
                    self.wake_collection();
                }
                self.release(line, valid);
                self.give_up_chunk(line, self.shape.position_of(unit.unit));
            }
            Content::Parity => {
                let l = s.lines.line_mut(line);
                l.write_error = true;
                l.sound = l.sound.min(stripe);
                self.give_up_chunk(line, self.shape.position_of(unit.unit));
            }
            Content::Start => self.lose_line(line),
            Content::End => {
                s.lines.line_mut(line).write_error = true;
                self.metadata_programmed(line);
            }
        }
    }

    /// Let the rest of a chunk take no more data before its next erase, if its line is open. The metadata at the end
    /// of the line move to an earlier place.
    fn give_up_chunk(&mut self, line: u32, position: u32) {
        let Some((next, left)) = self.state.writer.room_of(line) else { return };
        if self.state.lines.has_given_up(line, position) {
            return;
        }
        let (shape, write_unit) = (&self.shape, self.shape.array.write_unit);
        let (metadata, strides) =
            (self.state.lines.line(line).metadata, shape.strides_of(&self.state.lines, line));
        let is_data = |position| strides.is_none_or(|strides| !strides.is_parity(position));
        let lines = &mut self.state.lines;
        // If they have no room there, the metadata stay where they are.
        let now = lines.give_up_if_room((line, position), (next, shape.line_units), metadata, is_data);
        if let Some(now) = now {
            self.state.writer.take_room(line, left - now);
            self.state.lines.invalidate(line, (left - now) * write_unit);
        }
    }

    /// The erase of a chunk of the next line has failed. The chunk is bad.
    #[cold]
    pub(super) fn erase_failed(&mut self, line: u32, position: u32) {
        self.state.counters.erase_failures += 1;
        let lines = &mut self.state.lines;
        lines.grows_bad(line, position);
        let (heat, luns) = (lines.heat(line), lines.line(line).luns);
        let size = self.shape.size_of(heat, luns, |position| lines.is_bad(line, position));
        self.state.lines.resize(line, &size);
    }

    /// Apply an intervention from outside now: see [`Intervention`].
    ///
    /// # Errors
    /// The drive does not support it, or the place does not exist.
    pub fn intervene(&mut self, at: SimTime, what: &Intervention) -> Result<(), InterventionError> {
        let planes = match what {
            Intervention::Fault(fault) => self.flash.inject(fault, at)?,
            Intervention::RebuildRate(_) => {
                return Err(InterventionError::without(REBUILD_RATE, "parity that rewrites"));
            }
            Intervention::EraseTimeout(after) => {
                self.flash.change_erase_timeout(*after)?;
                None
            }
        };
        self.pass(at.0);
        planes.into_iter().for_each(|planes| self.state.failures.kill(&mut self.flash, planes, at));
        Ok(())
    }

    /// Whether nothing is outstanding, except that planes may die.
    pub(super) fn is_quiet(&self) -> bool {
        let s = &self.state;
        self.flash.next_event() == SimTime::NEVER
            && (0..TIMER_RARE).all(|timer| !s.timers.is_set(timer))
            && !s.collector.has_timer()
    }

    /// If the host waits for an event that will never happen, refuse writes from now on. Linux stops the pipeline
    /// when it finds no free line. Returns whether commands have ended.
    #[cold]
    pub(super) fn stop_if_stuck(&mut self) -> bool {
        let i = &self.state.interface;
        let waits = !i.room.is_empty() || !i.flushes.is_empty();
        // A drive without faults never gets stuck.
        if !waits || self.shape.faults.is_none() || !self.is_quiet() {
            return false;
        }
        let s = &mut self.state;
        if s.failures.read_only.is_none() {
            let reason = ReadOnlyReason::NoFreeRow;
            s.failures.read_only = Some(ReadOnly { since: SimTime(s.now), reason });
            self.flash.observer_mut().changes(SimTime(s.now), Change::ReadOnly);
        }
        while let Some(id) = self.state.interface.room.pop_front() {
            let s = &mut self.state;
            let waits = s.interface.waits.settle(s.now);
            let r = &mut s.interface.requests[id];
            waits.charge(&r.waits, &mut r.host.ledger);
            r.host.status = Status::ReadOnly;
            self.state.complete(&self.shape, &mut self.flash, id);
        }
        while let Some((_, id)) = self.state.interface.flushes.pop_front() {
            let r = &mut self.state.interface.requests[id];
            r.host.status = Status::ReadOnly;
            r.host.ledger.charge(Cause::BUFFER_FLUSH, self.state.now - r.since);
            self.state.complete(&self.shape, &mut self.flash, id);
        }
        true
    }

    /// When and why the drive became read-only; `None` if it is not.
    pub fn read_only(&self) -> Option<ReadOnly> {
        self.state.failures.read_only
    }

    /// The state of the drive after faults; `None` if it cannot fail.
    pub fn fault_report(&self) -> Option<FaultReport> {
        self.shape.faults.as_ref()?;
        let f = &self.state.failures;
        let nothing_gives = |&&sector: &&Ppa| self.map.is_valid(sector) && !self.can_compute(sector);
        Some(FaultReport {
            blocks: block_report(&self.shape, &self.state.lines),
            lost: self.lost_ranges(),
            lost_units: (f.unreadable.iter().filter(nothing_gives).count() + f.lost.len()) as u64,
            dead_planes: f.dead.len() as u32,
            read_only: f.read_only,
        })
    }
}

fn block_report(shape: &Shape, lines: &Lines) -> BlockReport {
    let factory_bad: u64 = shape.bad_blocks.iter().map(|blocks| blocks.len() as u64).sum();
    let bad_chunks =
        |lines: &Lines| (0..lines.indexes()).map(|index| u64::from(lines.bad_of(index))).sum::<u64>();
    let at_first = shape.bad.iter().filter(|&&bad| bad).count() as u64;
    let planes = u64::from(shape.planes);
    let grown_bad = (bad_chunks(lines) - at_first) * planes;
    let usable = |line: &u32| !matches!(lines.line(*line).state, LineState::Bad | LineState::Lost);
    let all = LunRange { from: 0, count: shape.luns };
    let size = |index| shape.size_of(Heat::Hot, all, |position| lines.is_chunk_bad(index, position));
    let room: u64 = (0..lines.indexes()).filter(usable).map(|index| u64::from(size(index).capacity)).sum();
    let spare = room.saturating_sub(u64::from(shape.sectors)) / shape.array.line_sectors();
    BlockReport {
        blocks: BlockCounts {
            all: u64::from(shape.luns) * planes * u64::from(shape.array.lines),
            factory_bad,
            grown_bad,
            spare: 0,
        },
        in_holes: at_first * planes - factory_bad,
        retired_extents: (0..lines.indexes()).filter(|line| !usable(line)).count() as u64,
        spare_extents: spare.saturating_sub(u64::from(shape.reserve / shape.luns) + 2),
    }
}
