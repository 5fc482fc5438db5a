//! The writer: one thread of the host that programs all data and metadata, in the order of the ring.
//!
//! It maps a write unit to the next LUN, waits for the semaphore of that LUN, and submits the program; then at most one
//! erase for the next line, and at most one unit of metadata of a closed line. One busy LUN holds up all that is
//! behind it. At the start of a line it waits for what must be on the device before data: the erases that are left, and
//! the metadata at the start (smeta).

use super::drive::Pblk;
use super::interface::Work;
use super::lines::State;
use super::provision::Provision;
use super::rail::gate::Class;
use super::rail::strides::Strides;
use super::ring::{Heat, Origin, Place, Ready};
use super::shape::Shape;
use crate::address::{Lpn, Ppa};
use crate::containers::slab::Slab;
use crate::flash::FlashCommand;
use crate::medium::Medium;
use crate::nand::OpKind;
use crate::observer::{Observer, RingWait};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use tailcut_units::Occupant;

/// Pairs of buffers for the metadata of lines. Each open line has one, and each that waits for its last metadata.
const METADATA_BUFFERS: usize = 4;

/// What a program holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Content {
    /// Sectors of the ring, from a place on.
    Data { first: Place, sectors: u32 },
    /// Parity of the strides of a stripe.
    Parity,
    /// Metadata at the start of the line.
    Start,
    /// Metadata at its end.
    End,
}

/// A write unit under way: from its mapping until the host hears of its end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Unit {
    pub content: Content,
    pub line: u32,
    /// Write unit of the line.
    pub unit: u32,
    /// Sectors of users and of collection, and padding.
    pub users: u32,
    pub collected: u32,
    padding: u32,
    /// Whether its first sector is one of collection.
    of_collection: bool,
    /// Whether the program has failed.
    failed: bool,
}

impl Unit {
    /// A unit of metadata or parity.
    pub fn without_sectors(content: Content, line: u32, unit: u32) -> Unit {
        Unit { content, line, unit, users: 0, collected: 0, padding: 0, of_collection: false, failed: false }
    }

    /// On whose behalf it takes its LUN.
    fn class(&self) -> Class {
        if self.of_collection { Class::Collection } else { Class::Other }
    }
}

/// What the writer does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    /// Take sectors from the ring.
    Take,
    /// Submit this unit once its LUN is free.
    Submit(u32),
    /// Submit an erase on a LUN position behind the data on another; the two are mostly the same.
    Erase { erase: u32, data: u32 },
    /// Choose a unit of metadata that goes with the data on this LUN position.
    Metadata(u32),
    /// Begin the next line, once a buffer for its metadata is free.
    Begin,
    /// Erase what is left to erase of the next line.
    EraseRest,
    /// Wait for the metadata at the start of the line.
    Started,
}

/// The line whose data are being written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenLine {
    pub line: u32,
    /// The next write unit that may take data or parity.
    pub next: u32,
    /// Units that data may still take, those of metadata left out.
    left: u32,
    /// Whether the metadata at its start are on the device. Until then it counts as free.
    begun: bool,
    /// Whether the metadata at its end are queued already, because the drive was shut down.
    ended: bool,
}

/// The line that is written next.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct NextLine {
    line: u32,
    /// By LUN position: whether its chunk needs no erase any more, or is bad.
    erased: Vec<bool>,
    /// Erases not submitted, and not ended.
    to_submit: u32,
    to_end: u32,
}

/// A line whose data are mapped and whose last metadata are not all on the device.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Closing {
    line: u32,
    /// The next unit of metadata, and those to submit and to end.
    next: u32,
    to_submit: u32,
    to_end: u32,
}

/// The writer's state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Writer {
    step: Step,
    /// The step that follows the submission of a unit.
    then: Step,
    open: OpenLine,
    next: Option<NextLine>,
    /// The LUN position of the erase that the start of a line waits for.
    erasing: Option<u32>,
    /// Oldest first.
    closing: VecDeque<Closing>,
    units: Slab<Unit>,
    /// By LUN position: whether its semaphore is taken.
    taken: Vec<bool>,
    /// By LUN position: line, unit, ring place and sectors of the last unit of data, where the medium holds data.
    pub stripe_places: Vec<Option<(u32, u32, Place, u32)>>,
    /// Why it could not take a LUN, when it waits for one.
    pub waits_for: RingWait,
    /// The table of a line that is not the next any more, kept for the one after it.
    spare: Vec<bool>,
    /// LUN positions whose erase has failed, before the host hears of it.
    erases_failed: Vec<u32>,
    /// Whether the drive is shut down: the open line is padded to its end, and closed.
    pub shutting_down: bool,
}

impl Writer {
    pub fn new(shape: &Shape) -> Writer {
        Writer {
            step: Step::Take,
            then: Step::Take,
            open: OpenLine { line: 0, next: 0, left: 0, begun: false, ended: false },
            next: None,
            erasing: None,
            closing: VecDeque::with_capacity(METADATA_BUFFERS + 1),
            units: Slab::new(2 * shape.luns as usize + 2, Unit::without_sectors(Content::Start, 0, 0)),
            taken: vec![false; shape.luns as usize],
            stripe_places: vec![None; shape.luns as usize],
            waits_for: RingWait::Lun,
            spare: Vec::new(),
            erases_failed: Vec::new(),
            shutting_down: false,
        }
    }

    /// Whether the writer waits for the semaphore of a LUN.
    pub fn waits_for_lun(&self) -> bool {
        matches!(self.step, Step::Submit(_) | Step::Erase { .. })
    }

    /// What the writer does, for an error.
    pub fn describe(&self) -> String {
        format!("the writer is at {:?}, {} lines are closing", self.step, self.closing.len())
    }

    /// Whether the semaphore of a LUN is taken.
    #[inline]
    pub fn is_taken(&self, position: u32) -> bool {
        self.taken[position as usize]
    }

    /// Take it, or give it back.
    #[inline]
    pub fn set_taken(&mut self, position: u32, taken: bool) {
        self.taken[position as usize] = taken;
    }

    /// The line that takes data.
    #[inline]
    pub fn open(&self) -> &OpenLine {
        &self.open
    }

    /// Let the open line go on behind a unit that is no data.
    pub fn passes(&mut self, unit: u32) {
        self.open.next = unit + 1;
    }

    /// Note that an operation has failed, of which the host has not heard.
    #[cold]
    pub fn note_failure(&mut self, work: Work) {
        match work {
            Work::Unit(id) => self.units[id].failed = true,
            Work::Erase(position) => self.erases_failed.push(position),
            work => unreachable!("{work:?} changes nothing on flash"),
        }
    }

    /// The most write units under way.
    pub fn most_units(&self) -> u32 {
        self.units.capacity()
    }

    /// A write unit under way.
    pub fn unit(&self, id: u32) -> Unit {
        self.units[id]
    }

    /// The next unit of a line that takes data, and how many it takes; `None` if it is not the open one.
    pub fn room_of(&self, line: u32) -> Option<(u32, u32)> {
        (self.open.line == line).then_some((self.open.next, self.open.left))
    }

    /// Let the open line take fewer units of data.
    pub fn take_room(&mut self, units: u32) {
        self.open.left -= units;
    }

    /// Whether a restored state can belong to this drive.
    pub fn fits(&self, shape: &Shape) -> bool {
        let lines = [Some(self.open.line), self.next.as_ref().map(|next| next.line)];
        self.taken.len() == shape.luns as usize
            && lines.into_iter().flatten().all(|line| line < shape.array.lines)
            && self.next.as_ref().is_none_or(|next| next.erased.len() == shape.luns as usize)
            && self.open.next <= shape.line_units
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Open the first line of a new device, whose metadata are there when the first command comes.
    pub(super) fn open_first_line(&mut self) {
        self.prepare_next();
        self.open_next();
        self.skip_start();
        self.line_started();
        self.write_parity_at_once();
        self.limits_at_once();
    }

    /// Go on writing as far as possible.
    #[inline]
    pub(super) fn run_writer(&mut self) {
        while self.write_step() {}
    }

    /// Do one step. Returns false if the writer must wait.
    fn write_step(&mut self) -> bool {
        match self.state.writer.step {
            Step::Take => self.take_sectors(),
            Step::Submit(unit) => self.submit_unit(unit),
            Step::Erase { erase, data } => self.submit_erase_after(erase, data),
            Step::Metadata(position) => self.choose_metadata(position),
            Step::Begin => self.begin_line(),
            Step::EraseRest => self.erase_rest(),
            Step::Started => false,
        }
    }

    /// Map the next sectors of the ring.
    fn take_sectors(&mut self) -> bool {
        let write_unit = self.shape.array.write_unit;
        let again = self.state.ring.some_failed();
        if let Some(unit) = self.parity_unit() {
            let unit = self.map_parity(unit);
            self.submit_next(unit);
            return true;
        }
        let ready = self.state.ring.ready(write_unit, false);
        if ready.is_none() && !again {
            if !self.state.writer.shutting_down {
                return false;
            }
            if self.state.writer.open.left == 0 {
                return self.end_open_line();
            }
        }
        if self.state.writer.open.left == 0 {
            self.state.writer.step = Step::Begin;
            return true;
        }
        let unit = match ready {
            _ if again => self.map_again(),
            Some(ready) => self.map_unit(&ready),
            None => self.map_unit(&Ready { heat: Heat::Hot, sectors: 0, padding: write_unit }),
        };
        self.submit_next(unit);
        true
    }

    /// Submit a unit next, and what goes with it.
    fn submit_next(&mut self, unit: Unit) {
        let id = self.state.writer.units.take();
        self.state.writer.units[id] = unit;
        self.data_mapped(id);
        self.state.writer.step = Step::Submit(id);
        let position = self.shape.position_of(unit.unit);
        self.state.writer.then = match self.erase_with(position) {
            Some(erase) => Step::Erase { erase, data: position },
            None => Step::Metadata(position),
        };
    }

    /// Queue the metadata at the end of the open line, which is full, and let the writer submit all that waits. Returns
    /// whether there was any.
    #[cold]
    fn end_open_line(&mut self) -> bool {
        if !self.state.writer.open.ended {
            self.state.writer.open.ended = true;
            let old = self.state.writer.open.clone();
            self.queue_metadata(&old);
        }
        let waiting = self.waiting_metadata();
        waiting.into_iter().for_each(|at| self.take_metadata(at));
        waiting.is_some()
    }

    /// Give the next sectors of the ring, which are a write unit with the padding, their places on the device.
    pub(super) fn map_unit(&mut self, ready: &Ready) -> Unit {
        let first = self.state.ring.submit(ready.heat, ready.sectors);
        self.map_from(first, ready.sectors, ready.padding)
    }

    /// Give the sectors of a program that has failed other places, without those that were overwritten since.
    #[cold]
    fn map_again(&mut self) -> Unit {
        let Pblk { map, state, .. } = self;
        let failed = state.ring.submit_failed(|slot, lba| map.is_buffered_in(lba, slot));
        let (first, sectors) = failed.expect("the program of some sectors has failed");
        self.map_from(first, sectors, self.shape.array.write_unit - sectors)
    }

    /// Give sectors of the ring from a place on, which are a write unit with the padding, the next places of the open
    /// line.
    fn map_from(&mut self, first: Place, sectors: u32, padding: u32) -> Unit {
        let (line, unit) = (self.state.writer.open.line, self.next_unit());
        let start = self.shape.unit_start(line, unit);
        let (mut users, mut collected, mut empty) = (0, 0, 0);
        let mut place = first;
        for media in start.run(sectors) {
            let entry = *self.state.ring.map(place, media);
            place = self.state.ring.next(place);
            match entry.origin {
                _ if entry.lba == Lpn::NONE => empty += 1,
                Origin::User => users += 1,
                Origin::Gc => collected += 1,
            }
            if entry.lba != Lpn::NONE {
                self.map.set_owner(media, entry.lba);
            }
        }
        let lines = &mut self.state.lines;
        let valid = users + collected;
        lines.refer(line, valid);
        lines.line_mut(line).in_ring += valid;
        let padding = padding + empty;
        lines.invalidate(line, padding);
        let content = Content::Data { first, sectors };
        let of_collection = sectors > 0 && self.state.ring.entry(first).origin == Origin::Gc;
        Unit { content, line, unit, users, collected, padding, of_collection, failed: false }
    }

    /// Take the next write unit of the open line that may take data.
    fn next_unit(&mut self) -> u32 {
        let open = &mut self.state.writer.open;
        debug_assert!(open.left > 0);
        let unit = self.state.lines.unit_from(open.line, open.next);
        open.next = unit + 1;
        open.left -= 1;
        unit
    }

    /// The LUN position of the erase that goes with data on a position, if the next line has any left: there, or
    /// else where the chunk of the open line is bad.
    fn erase_with(&self, position: u32) -> Option<u32> {
        let w = &self.state.writer;
        let next = w.next.as_ref().filter(|next| next.to_submit > 0)?;
        if !next.erased[position as usize] {
            return Some(position);
        }
        (0..self.shape.luns)
            .find(|&other| !next.erased[other as usize] && self.state.lines.is_bad(w.open.line, other))
    }

    /// Submit a unit if its LUN is free.
    fn submit_unit(&mut self, id: u32) -> bool {
        let unit = self.state.writer.units[id];
        let position = self.shape.position_of(unit.unit);
        if !self.take_lun(position, unit.class()) {
            return false;
        }
        let occupant = match unit.content {
            Content::Start | Content::End => Occupant::MetaProgram,
            Content::Parity => Occupant::ParityProgram,
            // Sectors of both kinds share units. The kind that has more decides.
            Content::Data { .. } if unit.collected > unit.users => Occupant::GcProgram,
            Content::Data { .. } => Occupant::UserProgram,
        };
        let write_unit = self.shape.array.write_unit;
        let op = self.flash.order(FlashCommand {
            kind: OpKind::Program,
            occupant,
            owner: Work::Unit(id).into(),
            write_unit: id,
            unit: self.shape.unit_at(position),
            page: unit.unit / self.shape.luns,
            planes: self.shape.all_planes(),
            codewords: write_unit * self.shape.codewords,
            block: unit.line,
            extent: unit.line,
            ppa: self.shape.unit_start(unit.line, unit.unit),
            ..FlashCommand::BLANK
        });
        let sectors = u64::from(write_unit);
        self.pass_write(op, sectors * super::array::SECTOR, sectors);
        self.state.writer.step = self.state.writer.then;
        true
    }

    /// Submit an erase of the next line behind the program of its LUN.
    fn submit_erase_after(&mut self, erase: u32, data: u32) -> bool {
        if self.shape.erase_semaphore && !self.take_lun(erase, Class::Erase) {
            return false;
        }
        self.submit_erase(erase);
        self.state.writer.step = Step::Metadata(data);
        true
    }

    fn submit_erase(&mut self, position: u32) {
        let next = self.state.writer.next.as_mut().expect("an erase belongs to the next line");
        debug_assert!(!next.erased[position as usize]);
        next.erased[position as usize] = true;
        next.to_submit -= 1;
        let line = next.line;
        let op = self.flash.order(FlashCommand {
            kind: OpKind::Erase,
            occupant: Occupant::Erase,
            owner: Work::Erase(position).into(),
            unit: self.shape.unit_at(position),
            planes: self.shape.all_planes(),
            block: line,
            extent: line,
            ..FlashCommand::BLANK
        });
        self.pass_write(op, 0, 0);
    }

    /// Let a unit of metadata of the oldest closing line go with data on a LUN position, if its own LUN is half the
    /// array away.
    fn choose_metadata(&mut self, position: u32) -> bool {
        self.state.writer.step = Step::Take;
        if let Some(at) = self.waiting_metadata() {
            let own = self.shape.position_of(self.next_metadata(at));
            let opposite = (own + self.shape.metadata_distance) % self.shape.luns;
            if opposite == position || self.state.lines.is_bad(self.state.writer.open.line, opposite) {
                self.take_metadata(at);
            }
        }
        true
    }

    /// The oldest closing line with metadata to submit.
    fn waiting_metadata(&self) -> Option<usize> {
        self.state.writer.closing.iter().position(|closing| closing.to_submit > 0)
    }

    /// The next unit of metadata of a closing line.
    fn next_metadata(&self, at: usize) -> u32 {
        let Closing { line, next, .. } = self.state.writer.closing[at];
        self.state.lines.unit_from(line, next)
    }

    /// Let the writer submit the next unit of metadata of a closing line.
    fn take_metadata(&mut self, at: usize) {
        let line = self.state.writer.closing[at].line;
        let unit = self.next_metadata(at);
        let w = &mut self.state.writer;
        w.closing[at].next = unit + 1;
        w.closing[at].to_submit -= 1;
        let id = w.units.take();
        w.units[id] = Unit::without_sectors(Content::End, line, unit);
        w.then = w.step;
        w.step = Step::Submit(id);
    }

    /// Begin the next line: wait for a buffer for its metadata, then erase what is left of it.
    fn begin_line(&mut self) -> bool {
        if self.state.writer.next.is_none() {
            self.prepare_next();
            if self.state.writer.next.is_none() {
                // Only a freed line can help.
                return false;
            }
        }
        if self.state.writer.closing.len() + 1 >= METADATA_BUFFERS {
            // Nothing else would send what these lines wait for.
            let Some(at) = self.waiting_metadata() else { return false };
            self.take_metadata(at);
            return true;
        }
        self.state.writer.step = Step::EraseRest;
        true
    }

    /// Erase the chunks of the next line that are left, one after the other, and wait for all.
    fn erase_rest(&mut self) -> bool {
        let next = self.state.writer.next.as_ref().expect("the line that begins");
        if self.state.writer.erasing.is_some() {
            return false;
        }
        if next.to_submit > 0 {
            let left = next.erased.iter().position(|&erased| !erased).expect("one is left");
            if !self.shape.erase_semaphore || self.take_lun(left as u32, Class::Erase) {
                self.state.writer.erasing = Some(left as u32);
                self.submit_erase(left as u32);
            }
            return false;
        }
        if next.to_end > 0 {
            return false;
        }
        let l = self.state.lines.line(next.line);
        if !Provision::can_use(&self.shape.array, l.chunks, l.capacity) {
            self.retire_next();
            return true;
        }
        let old = self.state.writer.open.clone();
        self.open_next();
        // The old line is lost if its metadata at the start could not be written.
        if self.state.lines.line(old.line).state == State::Open && !old.ended {
            self.queue_metadata(&old);
        }
        let line = self.state.writer.open.line;
        let unit = self.skip_start();
        let id = self.state.writer.units.take();
        self.state.writer.units[id] = Unit::without_sectors(Content::Start, line, unit);
        self.state.writer.step = Step::Submit(id);
        self.state.writer.then = Step::Started;
        true
    }

    /// Let the next line be the one that data go to.
    fn open_next(&mut self) {
        let next = self.state.writer.next.take().expect("a line is prepared");
        self.state.writer.spare = next.erased;
        let line = next.line;
        let left = self.state.lines.line(line).capacity / self.shape.array.write_unit;
        self.state.writer.open = OpenLine { line, next: 0, left, begun: false, ended: false };
    }

    /// The metadata at the start of the open line are on the device: count it out of the free ones, and take the next.
    fn line_started(&mut self) {
        let lines = &mut self.state.lines;
        lines.free_chunks -= lines.line(self.state.writer.open.line).chunks;
        self.state.writer.open.begun = true;
        self.prepare_next();
    }

    /// Pass over the metadata at the start of the open line. Returns their unit.
    fn skip_start(&mut self) -> u32 {
        self.state.writer.open.left += 1;
        self.next_unit()
    }

    /// Take the next line from the free ones, if there is none and one is free.
    fn prepare_next(&mut self) {
        if self.state.writer.next.is_some() {
            return;
        }
        let Some(line) = self.state.lines.take() else { return };
        let fresh = self.state.lines.line(line).fresh;
        let mut erased = std::mem::take(&mut self.state.writer.spare);
        erased.clear();
        erased.extend((0..self.shape.luns).map(|position| fresh || self.state.lines.is_bad(line, position)));
        let left = erased.iter().filter(|&&erased| !erased).count() as u32;
        self.state.writer.next = Some(NextLine { line, erased, to_submit: left, to_end: left });
    }

    /// Queue the metadata at the end of a line whose data are all mapped.
    fn queue_metadata(&mut self, old: &OpenLine) {
        let units = self.shape.provision.emeta / self.shape.array.write_unit;
        let closing = Closing { line: old.line, next: old.next, to_submit: units, to_end: units };
        self.state.writer.closing.push_back(closing);
    }

    /// The host hears that a program has ended.
    pub(super) fn programmed(&mut self, id: u32) {
        let unit = self.state.writer.units[id];
        self.state.writer.units.give(id);
        self.give_lun(self.shape.position_of(unit.unit));
        if unit.failed {
            self.program_failed(&unit);
        } else {
            self.count(&unit);
            self.unit_programmed(&unit);
        }
        self.run_writer();
        self.admit();
    }

    #[inline]
    fn unit_programmed(&mut self, unit: &Unit) {
        match unit.content {
            Content::Data { first, sectors } => {
                let synced = self.state.ring.programmed(first, sectors);
                self.end_flushes(synced);
            }
            Content::Start => {
                self.line_started();
                self.space_changed();
                self.state.writer.step = Step::Take;
            }
            Content::End => self.metadata_programmed(unit.line),
            Content::Parity => {}
        }
    }

    /// Lose the open line, whose metadata at the start could not be written, and begin another.
    pub(super) fn lose_line(&mut self, line: u32) {
        self.state.lines.lose(line);
        self.state.writer.open.begun = true;
        self.state.writer.step = Step::Begin;
    }

    /// Take the next line out of use, of which too few chunks are good, and begin another.
    fn retire_next(&mut self) {
        let next = self.state.writer.next.take().expect("the line that begins");
        self.state.writer.spare = next.erased;
        self.state.lines.retire(next.line);
        self.state.writer.step = Step::Begin;
        self.space_changed();
    }

    /// Count what a unit has programmed.
    pub(super) fn count(&mut self, unit: &Unit) {
        let c = &mut self.state.counters;
        c.programs_user += u64::from(unit.users);
        c.programs_gc += u64::from(unit.collected);
        c.programs_pad += u64::from(unit.padding);
        let sectors = u64::from(self.shape.array.write_unit);
        match unit.content {
            Content::Data { .. } => {}
            Content::Parity => c.programs_parity += sectors,
            Content::Start | Content::End => c.programs_metadata += sectors,
        }
    }

    /// A unit of metadata at the end of a line is on the device. With the last the line is closed.
    pub(super) fn metadata_programmed(&mut self, line: u32) {
        let closing = &mut self.state.writer.closing;
        let at = closing.iter().position(|closing| closing.line == line).expect("its line is closing");
        closing[at].to_end -= 1;
        if closing[at].to_end == 0 {
            closing.remove(at);
            self.state.lines.close(line);
            self.collect();
            if self.state.lines.line(line).write_error {
                self.wake_collection();
            }
        }
    }

    /// The host hears that an erase has ended.
    pub(super) fn erased(&mut self, position: u32) {
        let s = &mut self.state;
        let next = s.writer.next.as_mut().expect("an erase belongs to the next line");
        next.to_end -= 1;
        let line = next.line;
        s.counters.erases += 1;
        if s.writer.erasing == Some(position) {
            s.writer.erasing = None;
        }
        if self.shape.erase_semaphore {
            self.give_lun(position);
        }
        let s = &mut self.state;
        if let Some(at) = s.writer.erases_failed.iter().position(|&of| of == position) {
            s.writer.erases_failed.swap_remove(at);
            s.counters.erases -= 1;
            self.erase_failed(line, position);
        }
        self.run_writer();
        self.admit();
    }

    /// Write the next sectors of the ring in zero time, on a drive at rest: whole units, and with `all` the rest with
    /// padding. Returns whether the drive has run out of lines.
    pub(super) fn write_at_once(&mut self, all: bool) -> bool {
        let write_unit = self.shape.array.write_unit;
        loop {
            let Some(ready) = self.state.ring.ready(write_unit, all) else { return true };
            if self.state.writer.open.left == 0 && !self.begin_line_at_once() {
                return false;
            }
            let unit = self.map_unit(&ready);
            self.count(&unit);
            if let Content::Data { first, sectors } = unit.content {
                self.state.ring.programmed(first, sectors);
            }
            self.write_parity_at_once();
        }
    }

    /// Close the open line and begin the next in zero time. Returns false if there is none.
    pub(super) fn begin_line_at_once(&mut self) -> bool {
        self.prepare_next();
        let Some(next) = &mut self.state.writer.next else { return false };
        let line = next.line;
        next.to_submit = 0;
        next.to_end = 0;
        if !self.state.lines.line(line).fresh {
            self.erase_at_once(line);
        }
        let old = self.state.writer.open.line;
        if self.state.lines.line(old).state == State::Open {
            self.state.counters.programs_metadata += u64::from(self.shape.provision.emeta);
            self.state.lines.close(old);
        }
        self.open_next();
        self.skip_start();
        self.line_started();
        self.limits_at_once();
        self.state.counters.programs_metadata += u64::from(self.shape.provision.smeta);
        self.write_parity_at_once();
        true
    }

    /// Erase the chunks of a line in zero time.
    fn erase_at_once(&mut self, line: u32) {
        for position in (0..self.shape.luns).filter(|&p| !self.state.lines.is_bad(line, p)) {
            let first = self.shape.unit_at(position).0 * self.shape.planes;
            (first..first + self.shape.planes).for_each(|plane| self.flash.erase_at_once(plane, line));
            self.state.counters.erases += 1;
        }
    }

    /// Let `data` sectors of the open line, which is empty, hold data in order. Used by the fill.
    pub(super) fn fill_open(&mut self, data: u32) {
        let write_unit = self.shape.array.write_unit;
        let units = data.div_ceil(write_unit);
        let open = &mut self.state.writer.open;
        open.next += units;
        open.left -= units;
        let line = open.line;
        self.state.lines.invalidate(line, units * write_unit - data);
    }

    /// Whether a line is the one that is written next, or the one that begins and counts as free until its metadata
    /// are on the device.
    pub(super) fn is_next(&self, line: u32) -> bool {
        let w = &self.state.writer;
        w.next.as_ref().is_some_and(|next| next.line == line) || !w.open.begun && w.open.line == line
    }

    /// Whether the open line is full.
    pub(super) fn open_is_full(&self) -> bool {
        self.state.writer.open.left == 0
    }

    /// The first sector for data of the open line, and how many it takes from there on without a gap.
    pub(super) fn open_room(&self) -> (Ppa, u32) {
        let open = &self.state.writer.open;
        let to_parity = |strides: &Strides| strides.data() - self.shape.position_of(open.next);
        let units =
            self.shape.strides.as_ref().map_or(open.left, |strides| to_parity(strides).min(open.left));
        (self.shape.unit_start(open.line, open.next), units * self.shape.array.write_unit)
    }
}
