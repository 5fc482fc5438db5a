//! The writer: one thread of the host that programs all data and metadata, in the order of the ring.
//!
//! For each write unit it maps the unit to the next LUN, waits for the semaphore of this LUN, and submits the
//! program. With the unit it submits at most one erase for the next line, and at most one unit of metadata of a
//! closed line. One busy LUN therefore delays all later units. Before the first data of a line the writer waits for
//! the remaining erases of the line and for the metadata at its start (smeta).
//!
//! With hot and cold lines each kind has a lane, and one lane does not delay the other. If there is no cold line,
//! cold sectors go through the lane of the hot line.

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

/// Pairs of buffers for the metadata of lines. Each open line has one, and each line whose last metadata are not on
/// flash.
const METADATA_BUFFERS: usize = 4;

/// The content of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Content {
    /// Sectors of the ring, beginning at `first`.
    Data { first: RingPlace, sectors: u32 },
    /// Parity of the strides of a stripe.
    Parity,
    /// Metadata at the start of a line.
    Start,
    /// Metadata at the end of a line.
    End,
}

/// An outstanding write unit. It ends when the host is notified of the end of its program.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Unit {
    pub content: Content,
    pub line: u32,
    /// The write unit in its line.
    pub unit: u32,
    /// Number of sectors of users, of collection, and of padding.
    pub users: u32,
    pub collected: u32,
    padding: u32,
    /// Whether its first sector is one of collection.
    of_collection: bool,
    failed: bool,
}

impl Unit {
    /// Create a unit of metadata or parity.
    pub fn without_sectors(content: Content, line: u32, unit: u32) -> Unit {
        Unit { content, line, unit, users: 0, collected: 0, padding: 0, of_collection: false, failed: false }
    }

    /// Its class at the gate.
    fn class(&self) -> Class {
        if self.of_collection { Class::Collection } else { Class::Other }
    }
}

/// The next step of the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    /// Take sectors from the ring.
    Take,
    /// Submit this unit once its LUN is free.
    Submit(u32),
    /// Submit an erase on LUN position `erase`, after data on `data`. Mostly both are the same LUN.
    Erase { erase: u32, data: u32 },
    /// Choose a unit of metadata to submit with the data on this LUN position.
    Metadata(u32),
    /// Begin the next line when a buffer for its metadata is free.
    Begin,
    /// Erase the remaining chunks of the next line.
    EraseRest,
    /// Wait for the metadata at the start of the line.
    Started,
}

/// A chunk of the next line of a kind, by its LUN position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chunk {
    pub heat: Heat,
    pub position: u32,
}

/// The line that takes data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenLine {
    pub line: u32,
    /// The next write unit that may take data or parity.
    pub next: u32,
    /// Number of units that can still take data.
    left: u32,
    /// Whether the metadata at its end were queued early, by a shutdown.
    ended: bool,
}

impl OpenLine {
    /// No line. The cold lane begins without an open line.
    const NONE: OpenLine = OpenLine { line: NONE, next: 0, left: 0, ended: true };
}

/// The line that is written next.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct NextLine {
    line: u32,
    /// By LUN position: whether the chunk is bad or needs no erase any more.
    erased: Vec<bool>,
    /// Number of erases that are not submitted, and that have not ended.
    to_submit: u32,
    to_end: u32,
}

/// A line whose data are mapped and whose metadata at the end are not all on flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Closing {
    line: u32,
    /// The next unit of metadata, and the numbers of units that are not submitted and that have not ended.
    next: u32,
    to_submit: u32,
    to_end: u32,
}

/// The state of the writer for the lines of one kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lane {
    step: Step,
    /// The step after a unit was submitted.
    then: Step,
    open: OpenLine,
    next: Option<NextLine>,
    /// The LUN position of the erase for which the start of the line waits.
    erasing: Option<u32>,
    /// The last reason for which it waited for a LUN.
    waits_for: RingWait,
}

impl Lane {
    /// Create a lane without a line.
    fn new() -> Lane {
        let (open, waits_for) = (OpenLine::NONE, RingWait::Lun);
        Lane { step: Step::Take, then: Step::Take, open, next: None, erasing: None, waits_for }
    }

    /// Whether the lane waits for the semaphore of a LUN.
    fn waits_for_lun(&self) -> bool {
        matches!(self.step, Step::Submit(_) | Step::Erase { .. })
    }
}

/// The writer's state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Writer {
    /// By kind of line.
    lanes: [Lane; 2],
    /// The closing lines, oldest first.
    closing: VecDeque<Closing>,
    units: Slab<Unit>,
    /// By LUN position: whether its semaphore is taken.
    taken: Vec<bool>,
    /// By LUN position: the write unit that is being programmed, or [`NONE`].
    programs: Vec<u32>,
    /// By LUN position: line, unit, ring place and sectors of the last data unit, where the medium holds data.
    pub stripe_places: Vec<Option<(u32, u32, RingPlace, u32)>>,
    /// The table of the last next line, kept for reuse.
    spare: Vec<bool>,
    /// Chunks whose erase has failed, until the host is notified.
    erases_failed: Vec<Chunk>,
    /// Whether the drive is being shut down. The open line is then padded to its end and closed.
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

    /// Why the writer waits for a LUN, in the lane of this kind or else in the other; `None` if it does not.
    pub fn waits_for_lun(&self, heat: Heat) -> Option<RingWait> {
        let other = &self.lanes[1 - heat as usize];
        [self.lane(heat), other].into_iter().find(|lane| lane.waits_for_lun()).map(|lane| lane.waits_for)
    }

    /// Record why a lane waits for a LUN.
    #[inline]
    pub fn waits(&mut self, heat: Heat, reason: RingWait) {
        self.lane_mut(heat).waits_for = reason;
    }

    /// Describe the step of each lane for an error message.
    pub fn describe(&self) -> String {
        let steps = self.lanes.each_ref().map(|lane| lane.step);
        format!("the writer is at {steps:?}, {} lines are closing", self.closing.len())
    }

    /// Whether the semaphore of a LUN is taken.
    #[inline]
    pub fn is_taken(&self, position: u32) -> bool {
        self.taken[position as usize]
    }

    /// Take or return the semaphore of a LUN.
    #[inline]
    pub fn set_taken(&mut self, position: u32, taken: bool) {
        self.taken[position as usize] = taken;
    }

    /// The outstanding units that may be for a LUN: the one that it programs, and those that wait for a LUN.
    pub fn under_way(&self, position: u32) -> impl Iterator<Item = &Unit> {
        let waiting = self.lanes.iter().filter_map(|lane| match lane.step {
            Step::Submit(id) => Some(id),
            _ => None,
        });
        let programs = Some(self.programs[position as usize]).filter(|&id| id != NONE);
        waiting.chain(programs).map(|id| &self.units[id])
    }

    /// The hot open line. Only hot lines have strides.
    #[inline]
    pub fn open(&self) -> &OpenLine {
        &self.lane(Heat::Hot).open
    }

    /// Move the open hot line past a unit that is not data.
    pub fn passes(&mut self, unit: u32) {
        self.lane_mut(Heat::Hot).open.next = unit + 1;
    }

    /// Whether the next line of a kind is prepared.
    #[inline]
    pub fn has_next(&self, heat: Heat) -> bool {
        self.lane(heat).next.is_some()
    }

    /// The open cold line, if there is one.
    #[inline]
    pub fn open_cold(&self) -> Option<u32> {
        Some(self.lane(Heat::Cold).open.line).filter(|&line| line != NONE)
    }

    /// Record the failure of an operation until the host is notified of it.
    #[cold]
    pub fn note_failure(&mut self, work: Work) {
        match work {
            Work::Unit(id) => self.units[id].failed = true,
            Work::Erase(chunk) => self.erases_failed.push(Chunk::of(chunk)),
            work => unreachable!("{work:?} changes nothing on flash"),
        }
    }

    /// The most outstanding write units.
    pub fn most_units(&self) -> u32 {
        self.units.capacity()
    }

    /// An outstanding write unit.
    pub fn unit(&self, id: u32) -> Unit {
        self.units[id]
    }

    /// The next unit of an open line, and the number of units that it still takes; `None` if the line is not open.
    pub fn room_of(&self, line: u32) -> Option<(u32, u32)> {
        let mut open = self.lanes.iter().map(|lane| &lane.open);
        open.find(|open| open.line == line).map(|open| (open.next, open.left))
    }

    /// Reduce the number of data units that an open line still takes.
    pub fn take_room(&mut self, line: u32, units: u32) {
        let mut open = self.lanes.iter_mut().map(|lane| &mut lane.open);
        open.find(|open| open.line == line).expect("the line is open").left -= units;
    }

    /// Whether the open hot line is full.
    pub fn open_is_full(&self) -> bool {
        self.open().left == 0
    }

    /// The first sector of the open hot line that can take data, and the number of sectors that follow without a gap.
    pub fn open_room(&self, shape: &Shape) -> (Ppa, u32) {
        let open = self.open();
        let to_parity = |strides: &Strides| strides.data() - shape.position_of(open.next);
        let units = shape.strides.as_ref().map_or(open.left, |strides| to_parity(strides).min(open.left));
        (shape.unit_start(open.line, open.next), units * shape.array.write_unit)
    }

    /// Whether a restored state fits this drive.
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

    /// The oldest closing line with metadata to submit; with a `heat`, the oldest of this kind.
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
    /// Run the writer until all lanes wait.
    #[inline]
    pub(super) fn run_writer(&mut self) {
        while self.write_step(Heat::Hot) || self.shape.hot_cold.is_some() && self.write_step(Heat::Cold) {}
    }

    /// Do the next step of a lane. Returns false if the lane must wait.
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

    /// Map the next write unit of parity or of sectors from the ring.
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

    /// Submit a unit in a lane, then an erase or metadata with it.
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

    /// During a shutdown, pad the open line of a kind and submit its metadata when the ring is empty. Returns whether
    /// there was anything to do.
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

    /// Queue the metadata at the end of the open line, which is full, and submit metadata that wait. Returns whether
    /// there were any.
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

    /// Map the next sectors of the ring to the open line of a kind.
    pub(super) fn map_unit(&mut self, heat: Heat, ready: &Ready) -> Unit {
        let first = self.state.ring.submit(ready.heat, ready.sectors);
        self.map_from(heat, first, ready.sectors, ready.padding)
    }

    /// Map the sectors of a failed program to the open line again. Overwritten sectors become padding.
    #[cold]
    fn map_again(&mut self, heat: Heat, kinds: Kinds) -> Unit {
        let Pblk { map, state, .. } = self;
        let failed = state.ring.submit_failed(kinds, |slot, lba| map.is_buffered_in(lba, slot));
        let (first, sectors) = failed.expect("the program of some sectors has failed");
        self.map_from(heat, first, sectors, self.shape.array.write_unit - sectors)
    }

    /// Map sectors of the ring from `first` on to the next write unit of the open line. With `padding` they are a
    /// whole unit.
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
                // The newer copy may already be in an earlier line. Then this copy must not be mapped to a later
                // line.
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
            // Without cold lines a unit can have sectors of users and of collection. The larger number decides.
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

    /// Choose a unit of metadata of the oldest closing line to submit with the data on `position`, if its LUN is half
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

    /// The host is notified that a program has ended.
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

    /// Count the sectors that a unit has programmed.
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

    /// A unit of metadata at the end of a line is on flash. After the last one the line is closed.
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

    /// Write the next sectors of the ring in zero time, on an idle drive. Without `all`, only whole units are
    /// written. Returns false if there is no free line.
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

    /// Mark the first `data` sectors of the empty open line as written in order. Used by the fill.
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
