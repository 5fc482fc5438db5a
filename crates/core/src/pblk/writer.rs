//! The writer: one thread of the host that programs all data and metadata, in the order of the ring.
//!
//! It maps a write unit to the next LUN, waits for the semaphore of that LUN, and submits the program; then at most one
//! erase for the next line, and at most one unit of metadata of a closed line. One busy LUN holds up all that is
//! behind it. At the start of a line it waits for what must be on the device before data: the erases that are left, and
//! the metadata at the start (smeta).
//!
//! Where hot and cold lines differ, each kind has a lane: what waits in one lane does not hold up the other. Sectors for
//! which there is no cold line go through the lane of the hot one.

mod begin;

use super::drive::Pblk;
use super::interface::Work;
use super::rail::gate::Class;
use super::rail::strides::Strides;
use super::ring::{Heat, Kinds, Origin, Ready, RingPlace};
use super::shape::Shape;
use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::containers::slab::Slab;
use crate::flash::FlashCommand;
use crate::medium::Medium;
use crate::nand::OpKind;
use crate::observer::{Observer, RingWait};
use crate::pblk::lines::Lines;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use tailcut_units::Occupant;

/// Pairs of buffers for the metadata of lines. Each open line has one, and each that waits for its last metadata.
const METADATA_BUFFERS: usize = 4;

/// What a program holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Content {
    /// Sectors of the ring, from a place on.
    Data { first: RingPlace, sectors: u32 },
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

/// A chunk of a line that is written next: the kind of the line, and the LUN position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chunk {
    pub heat: Heat,
    pub position: u32,
}

/// The line whose data are being written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenLine {
    pub line: u32,
    /// The next write unit that may take data or parity.
    pub next: u32,
    /// Units that data may still take, those of metadata left out.
    left: u32,
    /// Whether the metadata at its end are queued already, because the drive was shut down.
    ended: bool,
}

impl OpenLine {
    /// No line: a drive that never had a cold line has none open.
    const NONE: OpenLine = OpenLine { line: NONE, next: 0, left: 0, ended: true };
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

/// What the writer does for the lines of a kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lane {
    step: Step,
    /// The step that follows the submission of a unit.
    then: Step,
    open: OpenLine,
    next: Option<NextLine>,
    /// The LUN position of the erase that the start of a line waits for.
    erasing: Option<u32>,
    /// Why it could not take a LUN, when it waits for one.
    waits_for: RingWait,
}

impl Lane {
    /// A lane without a line.
    fn new() -> Lane {
        let (open, waits_for) = (OpenLine::NONE, RingWait::Lun);
        Lane { step: Step::Take, then: Step::Take, open, next: None, erasing: None, waits_for }
    }

    /// Whether it waits for the semaphore of a LUN.
    fn waits_for_lun(&self) -> bool {
        matches!(self.step, Step::Submit(_) | Step::Erase { .. })
    }
}

/// The writer's state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Writer {
    /// By kind of line.
    lanes: [Lane; 2],
    /// Oldest first.
    closing: VecDeque<Closing>,
    units: Slab<Unit>,
    /// By LUN position: whether its semaphore is taken.
    taken: Vec<bool>,
    /// By LUN position: the write unit whose program is under way; [`NONE`] without one.
    programs: Vec<u32>,
    /// By LUN position: line, unit, ring place and sectors of the last unit of data, where the medium holds data.
    pub stripe_places: Vec<Option<(u32, u32, RingPlace, u32)>>,
    /// The table of a line that is not the next any more, kept for the one after it.
    spare: Vec<bool>,
    /// Chunks whose erase has failed, before the host hears of it.
    erases_failed: Vec<Chunk>,
    /// Whether the drive is shut down: the open line is padded to its end, and closed.
    pub shutting_down: bool,
}

impl Writer {
    pub fn new(shape: &Shape) -> Writer {
        Writer {
            lanes: [Lane::new(), Lane::new()],
            closing: VecDeque::with_capacity(METADATA_BUFFERS + 1),
            units: Slab::new(2 * shape.luns as usize + 2, Unit::without_sectors(Content::Start, 0, 0)),
            taken: vec![false; shape.luns as usize],
            programs: vec![NONE; shape.luns as usize],
            stripe_places: vec![None; shape.luns as usize],
            spare: Vec::new(),
            erases_failed: Vec::new(),
            shutting_down: false,
        }
    }

    #[inline]
    fn lane(&self, heat: Heat) -> &Lane {
        &self.lanes[heat as usize]
    }

    #[inline]
    fn lane_mut(&mut self, heat: Heat) -> &mut Lane {
        &mut self.lanes[heat as usize]
    }

    /// Why the writer cannot take a LUN, if it waits for one: in the lane of this kind, or else in the other.
    pub fn waits_for_lun(&self, heat: Heat) -> Option<RingWait> {
        let other = &self.lanes[1 - heat as usize];
        [self.lane(heat), other].into_iter().find(|lane| lane.waits_for_lun()).map(|lane| lane.waits_for)
    }

    /// Note why a lane cannot take a LUN.
    #[inline]
    pub fn waits(&mut self, heat: Heat, reason: RingWait) {
        self.lane_mut(heat).waits_for = reason;
    }

    /// What the writer does, for an error.
    pub fn describe(&self) -> String {
        let steps = self.lanes.each_ref().map(|lane| lane.step);
        format!("the writer is at {steps:?}, {} lines are closing", self.closing.len())
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

    /// The units under way that may be for a LUN: the one that it programs, and those that wait for LUNs.
    pub fn under_way(&self, position: u32) -> impl Iterator<Item = &Unit> {
        let waiting = self.lanes.iter().filter_map(|lane| match lane.step {
            Step::Submit(id) => Some(id),
            _ => None,
        });
        let programs = Some(self.programs[position as usize]).filter(|&id| id != NONE);
        waiting.chain(programs).map(|id| &self.units[id])
    }

    /// The line that takes data of users. It alone has strides.
    #[inline]
    pub fn open(&self) -> &OpenLine {
        &self.lane(Heat::Hot).open
    }

    /// Let this line go on behind a unit that is no data.
    pub fn passes(&mut self, unit: u32) {
        self.lane_mut(Heat::Hot).open.next = unit + 1;
    }

    /// Whether the next line of a kind is prepared.
    #[inline]
    pub fn has_next(&self, heat: Heat) -> bool {
        self.lane(heat).next.is_some()
    }

    /// The cold line that takes data, if there is one.
    #[inline]
    pub fn open_cold(&self) -> Option<u32> {
        Some(self.lane(Heat::Cold).open.line).filter(|&line| line != NONE)
    }

    /// Note that an operation has failed, of which the host has not heard.
    #[cold]
    pub fn note_failure(&mut self, work: Work) {
        match work {
            Work::Unit(id) => self.units[id].failed = true,
            Work::Erase(chunk) => self.erases_failed.push(Chunk::of(chunk)),
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
        let mut open = self.lanes.iter().map(|lane| &lane.open);
        open.find(|open| open.line == line).map(|open| (open.next, open.left))
    }

    /// Let an open line take fewer units of data.
    pub fn take_room(&mut self, line: u32, units: u32) {
        let mut open = self.lanes.iter_mut().map(|lane| &mut lane.open);
        open.find(|open| open.line == line).expect("the line is open").left -= units;
    }

    /// Whether the line that takes data of users is full.
    pub fn open_is_full(&self) -> bool {
        self.open().left == 0
    }

    /// Its first sector for data, and how many it takes from there on without a gap.
    pub fn open_room(&self, shape: &Shape) -> (Ppa, u32) {
        let open = self.open();
        let to_parity = |strides: &Strides| strides.data() - shape.position_of(open.next);
        let units = shape.strides.as_ref().map_or(open.left, |strides| to_parity(strides).min(open.left));
        (shape.unit_start(open.line, open.next), units * shape.array.write_unit)
    }

    /// Whether a restored state can belong to this drive.
    pub fn fits(&self, shape: &Shape) -> bool {
        let lines = shape.lines();
        let mut open = self.lanes.iter().map(|lane| &lane.open).filter(|open| open.line != NONE);
        let mut next = self.lanes.iter().filter_map(|lane| lane.next.as_ref());
        self.taken.len() == shape.luns as usize
            && self.programs.len() == shape.luns as usize
            && open.all(|open| open.line < lines && open.next <= shape.line_units)
            && next.all(|next| next.line < lines && next.erased.len() == shape.luns as usize)
    }

    /// Take the next write unit of the open line of a kind that may take data.
    fn next_unit(&mut self, lines: &Lines, heat: Heat) -> u32 {
        let open = &mut self.lane_mut(heat).open;
        debug_assert!(open.left > 0);
        let unit = lines.unit_from(open.line, open.next);
        open.next = unit + 1;
        open.left -= 1;
        unit
    }

    /// The oldest closing line with metadata to submit, of this kind if one is given.
    fn waiting_metadata(&self, lines: &Lines, heat: Option<Heat>) -> Option<usize> {
        let is_of = |line: u32| heat.is_none_or(|heat| lines.heat(line) == heat);
        let mut closing = self.closing.iter();
        closing.position(|closing| closing.to_submit > 0 && is_of(closing.line))
    }

    /// The next unit of metadata of a closing line.
    fn next_metadata(&self, lines: &Lines, at: usize) -> u32 {
        let Closing { line, next, .. } = self.closing[at];
        lines.unit_from(line, next)
    }

    /// Let a lane submit the next unit of metadata of a closing line.
    fn take_metadata(&mut self, lines: &Lines, heat: Heat, at: usize) {
        let line = self.closing[at].line;
        let unit = self.next_metadata(lines, at);
        let w = self;
        w.closing[at].next = unit + 1;
        w.closing[at].to_submit -= 1;
        let id = w.units.take();
        w.units[id] = Unit::without_sectors(Content::End, line, unit);
        let lane = w.lane_mut(heat);
        lane.then = lane.step;
        lane.step = Step::Submit(id);
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Go on writing as far as possible.
    #[inline]
    pub(super) fn run_writer(&mut self) {
        while self.write_step(Heat::Hot) || self.shape.hot_cold.is_some() && self.write_step(Heat::Cold) {}
    }

    /// Do one step in a lane. Returns false if it must wait.
    fn write_step(&mut self, heat: Heat) -> bool {
        match self.state.writer.lane(heat).step {
            Step::Take => self.take_sectors(heat),
            Step::Submit(unit) => self.submit_unit(heat, unit),
            Step::Erase { erase, data } => self.submit_erase_after(heat, erase, data),
            Step::Metadata(position) => self.choose_metadata(heat, position),
            Step::Begin => self.begin_line(heat),
            Step::EraseRest => self.erase_rest(heat),
            Step::Started => false,
        }
    }

    /// Map the next sectors of the ring that go to the open line of a kind.
    fn take_sectors(&mut self, heat: Heat) -> bool {
        let write_unit = self.shape.array.write_unit;
        if heat == Heat::Hot
            && let Some(unit) = self.state.writer.parity_unit(&self.shape, &self.state.lines)
        {
            let unit = self.map_parity(unit);
            self.submit_next(heat, unit);
            return true;
        }
        let has_cold = self.shape.hot_cold.is_some() && self.line_kind(Heat::Cold) == Heat::Cold;
        let kinds = Kinds { hot: heat == Heat::Hot, cold: (heat == Heat::Cold) == has_cold };
        let again = self.state.ring.is_failed_of(kinds);
        let ready = self.state.ring.ready(kinds, write_unit, false);
        if !again && ready.is_none() {
            return self.state.writer.shutting_down && self.pad_open_line(heat);
        }
        if self.state.writer.lane(heat).open.left == 0 {
            self.state.writer.lane_mut(heat).step = Step::Begin;
            return true;
        }
        let unit = match ready {
            Some(ready) if !again => self.map_unit(heat, &ready),
            _ => self.map_again(heat, kinds),
        };
        self.submit_next(heat, unit);
        true
    }

    /// Submit a unit of a line of a kind next, and what goes with it.
    fn submit_next(&mut self, heat: Heat, unit: Unit) {
        let id = self.state.writer.units.take();
        self.state.writer.units[id] = unit;
        self.data.mapped(&self.shape, &mut self.state, id);
        self.state.writer.lane_mut(heat).step = Step::Submit(id);
        let position = self.shape.position_of(unit.unit);
        self.state.writer.lane_mut(heat).then = match self.erase_with(heat, position) {
            Some(erase) => Step::Erase { erase, data: position },
            None => Step::Metadata(position),
        };
    }

    /// Pad the open line of a kind to its end, and submit its metadata, once the ring is empty. Returns whether anything was
    /// left to do.
    #[cold]
    fn pad_open_line(&mut self, heat: Heat) -> bool {
        if self.state.ring.has_work() {
            return false;
        }
        if self.state.writer.lane(heat).open.left > 0 {
            let padding = self.shape.array.write_unit;
            let unit = self.map_unit(heat, &Ready { heat, sectors: 0, padding });
            self.submit_next(heat, unit);
            return true;
        }
        self.end_open_line(heat)
    }

    /// Queue the metadata at the end of the open line of a kind, which is full, and let the writer submit all that waits. Returns
    /// whether there was any.
    #[cold]
    fn end_open_line(&mut self, heat: Heat) -> bool {
        if !self.state.writer.lane(heat).open.ended {
            self.state.writer.lane_mut(heat).open.ended = true;
            let old = self.state.writer.lane(heat).open.clone();
            self.state.writer.queue_metadata(&self.state.lines, &old);
        }
        let waiting = self.state.writer.waiting_metadata(&self.state.lines, None);
        waiting.into_iter().for_each(|at| self.state.writer.take_metadata(&self.state.lines, heat, at));
        waiting.is_some()
    }

    /// Give the next sectors of the ring, which are a write unit with the padding, their places on the device.
    pub(super) fn map_unit(&mut self, heat: Heat, ready: &Ready) -> Unit {
        let first = self.state.ring.submit(ready.heat, ready.sectors);
        self.map_from(heat, first, ready.sectors, ready.padding)
    }

    /// Give the sectors of a program that has failed other places, without those that were overwritten since.
    #[cold]
    fn map_again(&mut self, heat: Heat, kinds: Kinds) -> Unit {
        let Pblk { map, state, .. } = self;
        let failed = state.ring.submit_failed(kinds, |slot, lba| map.is_buffered_in(lba, slot));
        let (first, sectors) = failed.expect("the program of some sectors has failed");
        self.map_from(heat, first, sectors, self.shape.array.write_unit - sectors)
    }

    /// Give sectors of the ring from a place on, which are a write unit with the padding, the next places of the open
    /// line of a kind.
    fn map_from(&mut self, heat: Heat, first: RingPlace, sectors: u32, padding: u32) -> Unit {
        let (line, unit) =
            (self.state.writer.lane(heat).open.line, self.state.writer.next_unit(&self.state.lines, heat));
        let start = self.shape.unit_start(line, unit);
        let (mut users, mut collected, mut empty) = (0, 0, 0);
        let mut place = first;
        for media in start.run(sectors) {
            let mut entry = *self.state.ring.map(place, media);
            if entry.heat == Heat::Cold
                && entry.lba != Lpn::NONE
                && !self.map.is_buffered_in(entry.lba, self.state.ring.slot(place))
            {
                // What has overwritten it may be in an earlier line by now.
                self.state.ring.empty(place);
                entry.lba = Lpn::NONE;
            }
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
        self.note_written(users, collected);
        Unit { content, line, unit, users, collected, padding, of_collection, failed: false }
    }

    /// Submit a unit in a lane if its LUN is free.
    fn submit_unit(&mut self, heat: Heat, id: u32) -> bool {
        let unit = self.state.writer.units[id];
        let position = self.shape.position_of(unit.unit);
        if !self.state.take_lun(&self.shape, Chunk { heat, position }, unit.class()) {
            return false;
        }
        let occupant = match unit.content {
            Content::Start | Content::End => Occupant::MetaProgram,
            Content::Parity => Occupant::ParityProgram,
            // Sectors of both kinds share units, if there are no cold lines. The kind that has more decides.
            Content::Data { .. } if heat == Heat::Cold || unit.collected > unit.users => Occupant::GcProgram,
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
            block: self.shape.index_of(unit.line),
            extent: unit.line,
            ppa: self.shape.unit_start(unit.line, unit.unit),
            ..FlashCommand::BLANK
        });
        let sectors = u64::from(write_unit);
        self.state.interface.pass_write(
            &self.shape,
            &mut self.state.timers,
            self.state.now,
            op,
            sectors * super::array::SECTOR,
            sectors,
        );
        self.state.writer.programs[position as usize] = id;
        let lane = self.state.writer.lane_mut(heat);
        lane.step = lane.then;
        true
    }

    /// Let a unit of metadata of the oldest closing line of a kind go with its data on a LUN position, if its own LUN is half
    /// the array away.
    fn choose_metadata(&mut self, heat: Heat, position: u32) -> bool {
        self.state.writer.lane_mut(heat).step = Step::Take;
        if let Some(at) = self.state.writer.waiting_metadata(&self.state.lines, Some(heat)) {
            let own = self.shape.position_of(self.state.writer.next_metadata(&self.state.lines, at));
            let open = self.state.writer.lane(heat).open.line;
            let opposite = self.shape.opposite(heat, self.state.lines.line(open).luns, own);
            if opposite == position || self.state.lines.is_bad(open, opposite) {
                self.state.writer.take_metadata(&self.state.lines, heat, at);
            }
        }
        true
    }

    /// The host hears that a program has ended.
    pub(super) fn programmed(&mut self, id: u32) {
        let unit = self.state.writer.units[id];
        self.state.writer.units.give(id);
        let position = self.shape.position_of(unit.unit);
        self.state.writer.programs[position as usize] = NONE;
        self.state.gate.give_lun(&self.shape, &mut self.state.writer, position);
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
                let heat = self.state.lines.heat(unit.line);
                self.line_started(heat);
                self.space_changed();
                self.state.writer.lane_mut(heat).step = Step::Take;
            }
            Content::End => self.metadata_programmed(unit.line),
            Content::Parity => {}
        }
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

    /// Write the next sectors of the ring in zero time, on a drive at rest: whole units, and with `all` the rest with
    /// padding. Returns whether the drive has run out of lines.
    pub(super) fn write_at_once(&mut self, all: bool) -> bool {
        let write_unit = self.shape.array.write_unit;
        loop {
            let Some(ready) = self.state.ring.ready(Kinds::ALL, write_unit, all) else { return true };
            let heat = self.line_kind(ready.heat);
            if self.state.writer.lane(heat).open.left == 0 && !self.begin_line_at_once(heat) {
                return false;
            }
            let unit = self.map_unit(heat, &ready);
            self.count(&unit);
            if let Content::Data { first, sectors } = unit.content {
                self.state.ring.programmed(first, sectors);
            }
            self.write_parity_at_once();
        }
    }

    /// Let `data` sectors of the open line, which is empty, hold data in order. Used by the fill.
    pub(super) fn fill_open(&mut self, data: u32) {
        let write_unit = self.shape.array.write_unit;
        let units = data.div_ceil(write_unit);
        let open = &mut self.state.writer.lane_mut(Heat::Hot).open;
        open.next += units;
        open.left -= units;
        let line = open.line;
        self.state.lines.invalidate(line, units * write_unit - data);
    }
}
