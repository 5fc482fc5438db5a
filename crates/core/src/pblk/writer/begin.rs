//! The life of a line in the writer: it is prepared, erased, opened, started and closed.

use super::{Chunk, Closing, METADATA_BUFFERS, NextLine, OpenLine, Step, Unit, Writer};
use crate::containers::NONE;
use crate::flash::FlashCommand;
use crate::medium::Medium;
use crate::nand::OpKind;
use crate::observer::Observer;
use crate::pblk::drive::Pblk;
use crate::pblk::interface::Work;
use crate::pblk::lines::Lines;
use crate::pblk::lines::State;
use crate::pblk::provision::Provision;
use crate::pblk::rail::gate::Class;
use crate::pblk::ring::Heat;
use crate::pblk::writer::Content;
use tailcut_units::Occupant;

impl Chunk {
    /// Decode a chunk.
    pub fn of(number: u32) -> Chunk {
        Chunk { heat: Heat::ALL[(number & 1) as usize], position: number >> 1 }
    }

    fn number(self) -> u32 {
        self.position << 1 | self.heat as u32
    }
}

impl Writer {
    /// Number of open lines of the other kind, at most one. Such a line has a pair of buffers for its metadata.
    fn open_besides(&self, heat: Heat) -> usize {
        let other = &self.lanes[1 - heat as usize].open;
        usize::from(other.line != NONE && !other.ended)
    }

    /// Queue the metadata at the end of a line whose data are all mapped.
    pub(super) fn queue_metadata(&mut self, lines: &Lines, old: &OpenLine) {
        let units = lines.line(old.line).metadata;
        let closing = Closing { line: old.line, next: old.next, to_submit: units, to_end: units };
        self.closing.push_back(closing);
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Open the first line of a new device. The metadata at its start count as written before the first command.
    pub(in super::super) fn open_first_line(&mut self) {
        self.prepare_next(Heat::Hot);
        self.open_next(Heat::Hot);
        self.skip_start(Heat::Hot);
        self.line_started(Heat::Hot);
        self.write_parity_at_once();
        self.limits_at_once();
    }

    /// The kind of line that takes sectors of a kind now. If there is no free cold line, collection writes to the hot
    /// line.
    #[inline]
    pub(super) fn line_kind(&mut self, heat: Heat) -> Heat {
        if heat == Heat::Hot || self.state.writer.lane(heat).open.left > 0 {
            return heat;
        }
        self.prepare_next(heat);
        if self.state.writer.has_next(heat) { heat } else { Heat::Hot }
    }

    /// The LUN position of the erase to submit with data on a LUN position, if the next line has any erase left. This
    /// is the same LUN, or else a LUN whose chunk is bad in the open line.
    pub(super) fn erase_with(&self, heat: Heat, position: u32) -> Option<u32> {
        let lane = self.state.writer.lane(heat);
        let next = lane.next.as_ref().filter(|next| next.to_submit > 0)?;
        let waits = |&position: &u32| !next.erased[position as usize];
        let elsewhere = |other: &u32| waits(other) && self.state.lines.is_bad(lane.open.line, *other);
        Some(position).filter(waits).or_else(|| (0..self.shape.luns).find(elsewhere))
    }

    /// Submit an erase of the next line after the program on its LUN.
    pub(super) fn submit_erase_after(&mut self, heat: Heat, erase: u32, data: u32) -> bool {
        let chunk = Chunk { heat, position: erase };
        if self.shape.erase_semaphore && !self.state.take_lun(&self.shape, chunk, Class::Erase) {
            return false;
        }
        self.submit_erase(chunk);
        self.state.writer.lane_mut(heat).step = Step::Metadata(data);
        true
    }

    fn submit_erase(&mut self, chunk: Chunk) {
        let Chunk { heat, position } = chunk;
        let next = self.state.writer.lane_mut(heat).next.as_mut().expect("an erase belongs to the next line");
        debug_assert!(!next.erased[position as usize]);
        next.erased[position as usize] = true;
        next.to_submit -= 1;
        let line = next.line;
        let op = self.flash.order(FlashCommand {
            kind: OpKind::Erase,
            occupant: Occupant::Erase,
            owner: Work::Erase(chunk.number()).into(),
            unit: self.shape.unit_at(position),
            planes: self.shape.all_planes(),
            block: self.shape.index_of(line),
            extent: line,
            ..FlashCommand::BLANK
        });
        self.state.interface.pass_write(&self.shape, &mut self.state.timers, self.state.now, op, 0, 0);
    }

    /// Begin the next line: wait for a buffer for its metadata.
    pub(super) fn begin_line(&mut self, heat: Heat) -> bool {
        self.prepare_next(heat);
        if self.state.writer.lane(heat).next.is_none() {
            // The writer continues when a line is freed.
            return false;
        }
        let w = &self.state.writer;
        if w.closing.len() + w.open_besides(heat) + 1 >= METADATA_BUFFERS {
            // Submit the metadata of a closing line here, because no data come with which they would be submitted.
            let Some(at) = self.state.writer.waiting_metadata(&self.state.lines, None) else { return false };
            self.state.writer.take_metadata(&self.state.lines, heat, at);
            return true;
        }
        self.state.writer.lane_mut(heat).step = Step::EraseRest;
        true
    }

    /// Erase the remaining chunks of the next line, one after the other. When all erases have ended, open it.
    pub(super) fn erase_rest(&mut self, heat: Heat) -> bool {
        let next = self.state.writer.lane(heat).next.as_ref().expect("the line that begins");
        if self.state.writer.lane(heat).erasing.is_some() {
            return false;
        }
        if next.to_submit > 0 {
            let left = next.erased.iter().position(|&erased| !erased).expect("one is left");
            let chunk = Chunk { heat, position: left as u32 };
            if !self.shape.erase_semaphore || self.state.take_lun(&self.shape, chunk, Class::Erase) {
                self.state.writer.lane_mut(heat).erasing = Some(chunk.position);
                self.submit_erase(chunk);
            }
            return false;
        }
        if next.to_end > 0 {
            return false;
        }
        let l = self.state.lines.line(next.line);
        if !Provision::can_use(&self.shape.array, l.chunks, l.capacity) {
            self.retire_next(heat);
            return true;
        }
        let old = self.state.writer.lane(heat).open.clone();
        self.open_next(heat);
        // The old line may be lost, because the metadata at its start could not be programmed.
        if old.line != NONE && self.state.lines.line(old.line).state == State::Open && !old.ended {
            self.state.writer.queue_metadata(&self.state.lines, &old);
        }
        let line = self.state.writer.lane(heat).open.line;
        let unit = self.skip_start(heat);
        let id = self.state.writer.units.take();
        self.state.writer.units[id] = Unit::without_sectors(Content::Start, line, unit);
        self.state.writer.lane_mut(heat).step = Step::Submit(id);
        self.state.writer.lane_mut(heat).then = Step::Started;
        true
    }

    /// Make the next line of a kind the open line.
    fn open_next(&mut self, heat: Heat) {
        let next = self.state.writer.lane_mut(heat).next.take().expect("a line is prepared");
        self.state.writer.spare = next.erased;
        let line = next.line;
        let l = self.state.lines.line(line);
        let (left, luns) = (l.capacity / self.shape.array.write_unit, l.luns);
        self.state.writer.lane_mut(heat).open = OpenLine { line, next: 0, left, ended: false };
        match heat {
            Heat::Hot => self.state.gate.gate_follows(&self.shape, &self.state.writer, luns),
            Heat::Cold => {
                let hot = self.state.writer.open().line;
                self.state.lines.begins_beside(line, hot);
            }
        }
    }

    /// The metadata at the start of the open line are on flash. Its chunks are no longer free, and the next line is
    /// prepared.
    pub(super) fn line_started(&mut self, heat: Heat) {
        self.state.lines.begin(self.state.writer.lane(heat).open.line);
        self.prepare_next(heat);
    }

    /// Skip the metadata at the start of the open line. Returns their unit.
    fn skip_start(&mut self, heat: Heat) -> u32 {
        self.state.writer.lane_mut(heat).open.left += 1;
        self.state.writer.next_unit(&self.state.lines, heat)
    }

    /// Take a free line as the next line of a kind, if there is no next line yet.
    pub(in super::super) fn prepare_next(&mut self, heat: Heat) {
        if self.state.writer.lane(heat).next.is_some() {
            return;
        }
        let shape = &self.shape;
        let taken = self.state.lines.take(heat, |lines, line, luns| {
            let size = shape.size_of(heat, luns, |position| lines.is_chunk_bad(lines.index(line), position));
            Provision::can_use(&shape.array, size.chunks, size.capacity).then_some(size)
        });
        let Some(line) = taken else { return };
        let fresh = self.state.lines.line(line).fresh;
        let mut erased = std::mem::take(&mut self.state.writer.spare);
        erased.clear();
        erased.extend((0..self.shape.luns).map(|position| fresh || self.state.lines.is_bad(line, position)));
        let left = erased.iter().filter(|&&erased| !erased).count() as u32;
        self.state.writer.lane_mut(heat).next =
            Some(NextLine { line, erased, to_submit: left, to_end: left });
    }

    /// Take an open line out of use, because the metadata at its start could not be programmed, and begin another.
    pub(in super::super) fn lose_line(&mut self, line: u32) {
        let heat = self.state.lines.heat(line);
        self.state.lines.lose(line);
        let lane = self.state.writer.lane_mut(heat);
        lane.step = Step::Begin;
        // If there is no cold line, collection writes to the hot line.
        lane.open.left = 0;
    }

    /// Take the next line of a kind out of use, because it has too few good chunks, and begin another.
    fn retire_next(&mut self, heat: Heat) {
        let next = self.state.writer.lane_mut(heat).next.take().expect("the line that begins");
        self.state.writer.spare = next.erased;
        self.state.lines.retire(next.line);
        self.state.writer.lane_mut(heat).step = Step::Begin;
        self.space_changed();
    }

    /// The host is notified that an erase has ended.
    pub(in super::super) fn erased(&mut self, number: u32) {
        let chunk = Chunk::of(number);
        let s = &mut self.state;
        let lane = s.writer.lane_mut(chunk.heat);
        let next = lane.next.as_mut().expect("an erase belongs to the next line");
        next.to_end -= 1;
        let line = next.line;
        lane.erasing = lane.erasing.filter(|&position| position != chunk.position);
        s.counters.erases += 1;
        if self.shape.erase_semaphore {
            self.state.gate.give_lun(&self.shape, &mut self.state.writer, chunk.position);
        }
        let s = &mut self.state;
        if let Some(at) = s.writer.erases_failed.iter().position(|&of| of == chunk) {
            s.writer.erases_failed.swap_remove(at);
            s.counters.erases -= 1;
            self.erase_failed(line, chunk.position);
        }
        self.run_writer();
        self.admit();
    }

    /// Close the open line of a kind and begin the next one in zero time. Returns false if no line is free.
    pub(in super::super) fn begin_line_at_once(&mut self, heat: Heat) -> bool {
        self.prepare_next(heat);
        let Some(next) = &mut self.state.writer.lane_mut(heat).next else { return false };
        let line = next.line;
        next.to_submit = 0;
        next.to_end = 0;
        if !self.state.lines.line(line).fresh {
            self.erase_at_once(line);
        }
        let write_unit = self.shape.array.write_unit;
        let old = self.state.writer.lane(heat).open.line;
        if old != NONE && self.state.lines.line(old).state == State::Open {
            let metadata = self.state.lines.line(old).metadata * write_unit;
            self.state.counters.programs_metadata += u64::from(metadata);
            self.state.lines.close(old);
        }
        self.open_next(heat);
        self.skip_start(heat);
        self.line_started(heat);
        self.limits_at_once();
        self.state.counters.programs_metadata += u64::from(write_unit);
        self.write_parity_at_once();
        true
    }

    /// Erase the chunks of a line in zero time.
    fn erase_at_once(&mut self, line: u32) {
        let index = self.shape.index_of(line);
        for position in (0..self.shape.luns).filter(|&p| !self.state.lines.is_bad(line, p)) {
            let first = self.shape.unit_at(position).0 * self.shape.planes;
            (first..first + self.shape.planes).for_each(|plane| self.flash.erase_at_once(plane, index));
            self.state.counters.erases += 1;
        }
    }
}
