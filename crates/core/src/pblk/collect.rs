//! Garbage collection by the host: choice of victims, reads of their metadata, eight readers, and one writer into the
//! ring.
//!
//! At most four victims are not yet split into requests. They are prepared one at a time: the metadata of a line are
//! read, one write unit after the other, and its valid sectors are split into requests of up to 64 sectors. Each of
//! the eight readers has one request at the device. One writer puts the sectors that were read into the ring, request
//! by request, as room and the rate limiter allow. A sector that is overwritten before its read is dropped. A sector
//! that is overwritten after its read still takes a slot and is programmed as padding.

use super::array::{MOST_VECTOR, SECTOR};
use super::drive::{Pblk, TIMER_RARE};
use super::interface::Work;
use super::limiter::State as Limit;
use super::lines::Group;
use super::ring::{Heat, Origin};
use super::shape::Shape;
use crate::address::{Lpn, Ppa};
use crate::containers::slab::Slab;
use crate::containers::timers::UNSET;
use crate::flash::{FlashCommand, OpId, Target};
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use tailcut_units::Occupant;

/// The most victims that are not yet split into requests.
const MOST_VICTIMS: usize = 4;
/// Readers. Each has one request at the device.
const READERS: u32 = 8;
/// The most requests that wait for a reader, and the most that wait for the ring.
const MOST_WAITING: usize = 128;
/// Assumed time in which the host checks one map entry when it searches the map for the addresses of a line, ns.
const SEARCH_NS: u64 = 1;
/// The period of the collector, ns. Other events start it earlier.
const PERIOD_NS: u64 = 1_000_000_000;

/// A request: sectors of one victim that move together.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Request {
    line: u32,
    count: u32,
    /// Flash operations that have not ended.
    remaining: u32,
}

/// A victim, and its valid sectors that are not yet in a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Victim {
    line: u32,
    /// One bit for each sector: it was valid when the line was prepared, and is not yet in a request.
    valid: Vec<u64>,
    /// The first word of `valid` that may be nonzero.
    at: usize,
    prepared: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Collector {
    victims: VecDeque<Victim>,
    /// Bitmaps that no victim uses.
    spare: Vec<Vec<u64>>,
    /// Metadata of the line in preparation: write units to read, and the next one.
    metadata_left: u32,
    metadata_next: u32,
    /// Whether one of these reads has failed.
    metadata_unread: bool,
    /// When the search of the map for the addresses of the line in preparation ends, ns.
    searched_at: u64,
    requests: Slab<Request>,
    /// By request and index: the logical and the physical address of each sector.
    sectors: Vec<(Lpn, Ppa)>,
    cut: VecDeque<u32>,
    reading: u32,
    /// Requests that were read and wait for the ring.
    read: VecDeque<u32>,
    /// Requests whose readers wait for room in `read`.
    held: VecDeque<u32>,
    /// When the collector runs next, and when collection is no longer limited, ns.
    look_at: u64,
    unlimited_at: u64,
    /// By line: when it was chosen as a victim, ns.
    chosen_at: Vec<u64>,
}

impl Collector {
    pub fn new(shape: &Shape) -> Collector {
        let words = (shape.line_sectors as usize).div_ceil(64);
        let requests = 2 * MOST_WAITING + 2 * READERS as usize + 1;
        let blank = Request { line: 0, count: 0, remaining: 0 };
        Collector {
            victims: VecDeque::with_capacity(MOST_VICTIMS + 1),
            spare: vec![vec![0; words]; MOST_VICTIMS],
            metadata_left: 0,
            metadata_next: 0,
            metadata_unread: false,
            searched_at: UNSET,
            requests: Slab::new(requests, blank),
            sectors: vec![(Lpn::NONE, Ppa::NONE); requests * MOST_VECTOR as usize],
            cut: VecDeque::with_capacity(MOST_WAITING + 1),
            reading: 0,
            read: VecDeque::with_capacity(MOST_WAITING + 1),
            held: VecDeque::with_capacity(READERS as usize + 1),
            look_at: UNSET,
            unlimited_at: UNSET,
            chosen_at: vec![0; shape.lines() as usize],
        }
    }

    /// The most flash operations of collection at one time.
    pub const MOST_OPS: u32 = READERS * MOST_VECTOR + 1;

    /// Victims that are not yet split into requests.
    pub fn victims(&self) -> u32 {
        self.victims.len() as u32
    }

    /// Describe the state of collection for an error message.
    pub fn describe(&self) -> String {
        format!(
            "{} requests of collection wait for a reader, {} are being read, {} are read, and {} readers are held up",
            self.cut.len(),
            self.reading,
            self.read.len(),
            self.held.len()
        )
    }

    /// Whether collection waits for a time.
    pub fn has_timer(&self) -> bool {
        [self.look_at, self.unlimited_at, self.searched_at].iter().any(|&at| at != UNSET)
    }

    /// Whether there is no victim and no request.
    pub fn is_idle(&self) -> bool {
        self.victims.is_empty() && self.requests.used() == 0
    }

    fn sectors_of(&self, request: u32) -> std::ops::Range<usize> {
        let first = (request * MOST_VECTOR) as usize;
        first..first + self.requests[request].count as usize
    }

    /// Whether a request moves this sector.
    pub(super) fn is_of_request(&self, request: u32, sector: Ppa) -> bool {
        let c = self;
        c.sectors[c.sectors_of(request)].iter().any(|&(_, of)| of == sector)
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Start the collector at the next full period.
    pub(super) fn wake_collection(&mut self) {
        if self.state.collector.look_at == UNSET {
            self.state.collector.look_at = (self.state.now / PERIOD_NS + 1) * PERIOD_NS;
            self.set_rare_timer();
        }
    }

    pub(super) fn set_rare_timer(&mut self) {
        let c = &self.state.collector;
        let at =
            c.look_at.min(c.unlimited_at).min(c.searched_at).min(self.state.failures.next_death(&self.shape));
        self.state.timers.set(TIMER_RARE, at);
    }

    #[cold]
    pub(super) fn rare_timer(&mut self) {
        let now = self.state.now;
        let c = &mut self.state.collector;
        let look = c.look_at <= now;
        if look {
            c.look_at = UNSET;
        }
        if c.unlimited_at <= now {
            c.unlimited_at = UNSET;
        }
        let searched = c.searched_at <= now;
        if searched {
            c.searched_at = UNSET;
        }
        self.state.failures.let_planes_die(&self.shape, &mut self.flash, self.state.now);
        self.set_rare_timer();
        if searched {
            self.prepared();
        }
        if look {
            self.space_changed();
        }
        self.admit();
    }

    /// Free the lines without valid sectors, and choose victims while the rate limiter asks for them.
    pub(super) fn collect(&mut self) {
        if self.state.writer.shutting_down {
            return;
        }
        while let Some(line) = self.state.lines.first_full() {
            self.state.lines.choose(line);
            self.state.collector.chosen_at[line as usize] = self.state.now;
            self.end_victim(line);
        }
        // All victims of one call come from the same list.
        let mut list = None;
        while self.state.collector.victims.len() < MOST_VICTIMS
            && let Some((chosen, line)) = self.choose_victim(list)
        {
            list = Some(chosen);
            self.state.lines.choose(line);
            let c = &mut self.state.collector;
            c.chosen_at[line as usize] = self.state.now;
            let valid = c.spare.pop().expect("as many bitmaps as victims");
            let alone = c.victims.is_empty();
            c.victims.push_back(Victim { line, valid, at: 0, prepared: false });
            if alone {
                self.prepare_victim();
            }
        }
    }

    /// Choose the next victim. With a `list`, only from this list. Returns the list too.
    pub(super) fn choose_victim(&self, list: Option<Group>) -> Option<(Group, u32)> {
        let limit = self.state.limiter.state();
        let groups = match limit {
            Limit::Off => return None,
            Limit::WriteErrors => &Group::FOR_SPACE[..1],
            Limit::Low => &Group::FOR_SPACE[..],
        };
        let (lines, writer) = (&self.state.lines, &self.state.writer);
        if limit == Limit::Low
            && let Some(victim) = lines.scarce_victim(Heat::ALL.map(|heat| writer.has_next(heat)))
        {
            return Some(victim).filter(|&(group, _)| list.is_none_or(|list| list == group));
        }
        let mut groups = groups.iter().copied().filter(|&group| list.is_none_or(|list| list == group));
        groups.find_map(|group| Some((group, lines.best_of(group)?)))
    }

    /// Read the metadata of the first victim that is not prepared.
    fn prepare_victim(&mut self) {
        let c = &mut self.state.collector;
        let Some(victim) = c.victims.iter().find(|victim| !victim.prepared) else { return };
        if self.state.lines.line(victim.line).write_error {
            // Its list of addresses is in memory.
            return self.prepared();
        }
        let line = victim.line;
        let units = self.state.lines.line(line).metadata;
        (c.metadata_left, c.metadata_unread) = (units, false);
        // The metadata are the last write units of the line on good chunks.
        let lines = &self.state.lines;
        let good = |&unit: &u32| !lines.is_bad(line, self.shape.position_of(unit));
        let last = (0..self.shape.line_units).rev().filter(good).nth(units as usize - 1);
        self.state.collector.metadata_next = last.expect("a line has room for its metadata");
        self.state.send_read(&self.shape, Work::Metadata);
    }

    /// The device receives the read of a unit of metadata.
    pub(super) fn read_metadata(&mut self) {
        let c = &self.state.collector;
        let victim = c.victims.iter().find(|victim| !victim.prepared).expect("one is in preparation");
        let line = victim.line;
        let unit = self.state.lines.unit_from(line, c.metadata_next);
        self.state.collector.metadata_next = unit + 1;
        let position = self.shape.position_of(unit);
        let write_unit = self.shape.array.write_unit;
        let op = self.flash.order(FlashCommand {
            kind: crate::nand::OpKind::Read,
            occupant: Occupant::MetaRead,
            owner: Work::Metadata.into(),
            unit: self.shape.unit_at(position),
            page: unit / self.shape.luns,
            planes: self.shape.all_planes(),
            codewords: write_unit * self.shape.codewords,
            block: self.shape.index_of(line),
            extent: line,
            ppa: self.shape.unit_start(line, unit),
            target: Target::Units(u64::MAX >> (64 - write_unit)),
            bytes: write_unit * SECTOR as u32,
            ..FlashCommand::BLANK
        });
        self.state.counters.metadata_reads += 1;
        self.state.interface.pass_reads(&self.flash, &mut self.state.timers, self.state.now, &[op]);
    }

    /// A unit of metadata is decoded. Send it to the host.
    pub(super) fn metadata_arrived(&mut self, op: OpId) {
        let bytes = u64::from(self.flash.op(op).cmd.bytes);
        if self.flash.has_failed(op) {
            self.state.counters.read_failures += 1;
            self.state.collector.metadata_unread = true;
        }
        self.flash.free(op);
        let (_, end) = self.state.interface.send_up(&self.shape, self.state.now, bytes);
        self.state.interface.data_up_at(&self.shape, &mut self.state.timers, end, Work::Metadata);
    }

    /// The host has received a unit of metadata.
    pub(super) fn metadata_read(&mut self) {
        self.state.collector.metadata_left -= 1;
        if self.state.collector.metadata_left > 0 {
            self.state.send_read(&self.shape, Work::Metadata);
        } else if self.state.collector.metadata_unread && self.shape.strides.is_some() {
            // Linux gives such a line up. With strides the host searches the map for the addresses of the line.
            self.state.collector.searched_at = self.state.now + u64::from(self.shape.sectors) * SEARCH_NS;
            self.set_rare_timer();
        } else if self.state.collector.metadata_unread {
            self.abandon_victim();
        } else {
            self.prepared();
        }
    }

    /// Close the line in preparation again. Without its list of addresses none of its sectors can be moved.
    #[cold]
    fn abandon_victim(&mut self) {
        let c = &mut self.state.collector;
        let at = c.victims.iter().position(|victim| !victim.prepared).expect("one is in preparation");
        let Victim { line, valid, .. } = c.victims.remove(at).expect("its place");
        c.spare.push(valid);
        self.state.lines.line_mut(line).unreadable = true;
        self.end_victim(line);
        self.prepare_victim();
        self.collect();
    }

    /// The list of addresses of the line in preparation is known: note its valid sectors.
    fn prepared(&mut self) {
        let (shape, map) = (&self.shape, &self.map);
        let victim = self.state.collector.victims.iter_mut().find(|victim| !victim.prepared);
        let victim = victim.expect("one is in preparation");
        let first = shape.unit_start(victim.line, 0);
        for (word, bits) in (0..).step_by(64).zip(&mut victim.valid) {
            *bits = map.valid_mask(first + word, (shape.line_sectors - word).min(64));
        }
        if shape.hot_cold.is_some() {
            // The bits of the other line of the chunk index are cleared.
            let lines = &self.state.lines;
            for (word, bits) in (0..).step_by(64).zip(&mut victim.valid) {
                let own = |at: &u32| shape.line_of(lines, first + (word + at)) == victim.line;
                *bits &=
                    (0..64.min(shape.line_sectors - word)).filter(own).fold(0, |mask, at| mask | 1 << at);
            }
        }
        victim.at = 0;
        victim.prepared = true;
        self.cut_requests();
    }

    /// Split the valid sectors of prepared victims into requests until enough requests wait, and start readers.
    fn cut_requests(&mut self) {
        while self.state.collector.cut.len() < MOST_WAITING
            && self.state.collector.victims.front().is_some_and(|victim| victim.prepared)
        {
            let line = self.state.collector.victims[0].line;
            let request = self.state.collector.requests.take();
            let base = self.shape.unit_start(line, 0);
            let c = &mut self.state.collector;
            let (mut count, first) = (0, (request * MOST_VECTOR) as usize);
            let victim = &mut c.victims[0];
            while count < MOST_VECTOR && victim.at < victim.valid.len() {
                let bits = &mut victim.valid[victim.at];
                if *bits == 0 {
                    victim.at += 1;
                    continue;
                }
                let sector = base + (victim.at as u32 * 64 + bits.trailing_zeros());
                *bits &= *bits - 1;
                c.sectors[first + count as usize] = (self.map.owner(sector), sector);
                count += 1;
            }
            c.requests[request] = Request { line, count, remaining: 0 };
            if count > 0 {
                self.state.lines.refer(line, count);
                self.state.collector.cut.push_back(request);
            } else {
                self.state.collector.requests.give(request);
            }
            if count < MOST_VECTOR {
                // The victim is split completely. Another line may be chosen.
                let victim = self.state.collector.victims.pop_front().expect("the first");
                self.state.collector.spare.push(victim.valid);
                self.end_victim(line);
                self.prepare_victim();
                self.collect();
            }
        }
        self.start_readers();
    }

    /// Drop the reference of a victim that is split completely. The line is free when it has no other references.
    fn end_victim(&mut self, line: u32) {
        self.release(line, 1);
    }

    /// Give requests to idle readers.
    fn start_readers(&mut self) {
        while self.state.collector.reading < READERS
            && let Some(request) = self.state.collector.cut.pop_front()
        {
            self.drop_overwritten(request);
            if self.state.collector.requests[request].count == 0 {
                self.state.collector.requests.give(request);
                continue;
            }
            self.state.collector.reading += 1;
            self.state.send_read(&self.shape, Work::Moved(request));
        }
        // Refill the queue of requests.
        let c = &self.state.collector;
        if c.cut.len() < MOST_WAITING / 2 && c.victims.front().is_some_and(|victim| victim.prepared) {
            self.cut_requests();
        }
    }

    /// Drop the sectors of a request that were overwritten after the request was built.
    fn drop_overwritten(&mut self, request: u32) {
        let c = &mut self.state.collector;
        let range = c.sectors_of(request);
        let (first, mut kept) = (range.start, 0);
        for at in range.clone() {
            let (lpn, sector) = c.sectors[at];
            if self.map.lookup(lpn) == Mapping::Flash(sector) {
                c.sectors[first + kept] = (lpn, sector);
                kept += 1;
            }
        }
        let dropped = range.len() - kept;
        c.requests[request].count = kept as u32;
        let line = c.requests[request].line;
        if dropped > 0 {
            self.release(line, dropped as u32);
        }
    }

    /// The device receives the read of a request.
    pub(super) fn read_moved(&mut self, request: u32) {
        let mut ops = std::mem::take(&mut self.state.interface.scratch);
        for at in self.state.collector.sectors_of(request) {
            let (lpn, sector) = self.state.collector.sectors[at];
            debug_assert_eq!(self.map.owner(sector), lpn, "the record beside the sector names it");
            self.add_read(&mut ops, Occupant::GcRead, Work::Moved(request), sector, FlashCommand::BLANK);
        }
        self.state.collector.requests[request].remaining = ops.len() as u32;
        self.state.counters.gc_reads += ops.len() as u64;
        self.state.interface.pass_reads(&self.flash, &mut self.state.timers, self.state.now, &ops);
        ops.clear();
        self.state.interface.scratch = ops;
    }

    /// Data of a request are decoded. Send them to the host.
    pub(super) fn moved_arrived(&mut self, op: OpId, request: u32) {
        if self.flash.has_failed(op) {
            let mut unread = self.state.failures.note_unread(&self.shape, &self.flash, op);
            if self.shape.remembers_reads() {
                unread = self.mend_or_leave(request, unread);
            }
            self.leave_unread(request, &unread);
        }
        self.state.failures.note_read(&self.shape, &self.flash, op);
        let bytes = self.end_read(op);
        let (_, end) = self.state.interface.send_up(&self.shape, self.state.now, bytes);
        let r = &mut self.state.collector.requests[request];
        r.remaining -= 1;
        if r.remaining == 0 {
            self.state.interface.data_up_at(&self.shape, &mut self.state.timers, end, Work::Moved(request));
        }
    }

    /// Set the number of outstanding operations of a request. A request without any continues at once.
    #[cold]
    pub(super) fn moves_sent(&mut self, request: u32, ops: u32) {
        self.state.collector.requests[request].remaining = ops;
        if ops == 0 {
            self.moved_read(request);
        }
    }

    /// Queue a sector that was computed by parity because it could not be read. It enters the ring as a sector of
    /// collection.
    #[cold]
    pub(super) fn write_again(&mut self, lpn: Lpn, sector: Ppa) {
        let c = &mut self.state.collector;
        // Collection has priority. The sector can be computed again later.
        if c.requests.used() >= MOST_WAITING {
            return;
        }
        let line = self.shape.line_of(&self.state.lines, sector);
        let request = c.requests.take();
        c.requests[request] = Request { line, count: 1, remaining: 0 };
        c.sectors[(request * MOST_VECTOR) as usize] = (lpn, sector);
        c.read.push_back(request);
        self.state.lines.refer(line, 1);
    }

    /// Drop the sectors that could neither be read nor computed from a request. With strides they are lost. Without
    /// strides they stay where they are, and their line is not freed while they are valid.
    #[cold]
    fn leave_unread(&mut self, request: u32, unread: &[Ppa]) {
        let line = self.state.collector.requests[request].line;
        let range = self.state.collector.sectors_of(request);
        let (first, mut kept) = (range.start, 0);
        for at in range.clone() {
            let (lpn, sector) = self.state.collector.sectors[at];
            if !unread.contains(&sector) {
                self.state.collector.sectors[first + kept] = (lpn, sector);
                kept += 1;
            } else if self.shape.strides.is_none() {
                self.state.lines.line_mut(line).unreadable = true;
            } else if self.map.lookup(lpn) == Mapping::Flash(sector) {
                self.lose_sector(lpn, sector);
            }
        }
        let dropped = range.len() - kept;
        self.state.collector.requests[request].count = kept as u32;
        if dropped > 0 {
            self.release(line, dropped as u32);
        }
    }

    /// The host has received all sectors of a request.
    pub(super) fn moved_read(&mut self, request: u32) {
        if self.shape.remembers_reads() {
            self.mended(request);
        }
        let c = &mut self.state.collector;
        if c.read.len() < MOST_WAITING {
            c.read.push_back(request);
            c.reading -= 1;
            self.start_readers();
        } else {
            c.held.push_back(request);
        }
        self.admit();
    }

    /// Write requests that were read into the ring as room and the rate limiter allow. Returns whether any was
    /// written.
    pub(super) fn write_moved(&mut self) -> bool {
        let mut any = false;
        while let Some(&request) = self.state.collector.read.front() {
            let s = &mut self.state;
            let count = s.collector.requests[request].count;
            if !s.limiter.admits_gc(s.now) {
                s.collector.unlimited_at = s.limiter.limited_until();
                self.set_rare_timer();
                break;
            }
            if !s.ring.has_room(count) {
                break;
            }
            s.collector.read.pop_front();
            if let Some(held) = s.collector.held.pop_front() {
                s.collector.read.push_back(held);
                s.collector.reading -= 1;
            }
            self.reuse_slots(count);
            for at in self.state.collector.sectors_of(request) {
                let (lpn, sector) = self.state.collector.sectors[at];
                self.insert_moved(lpn, sector);
            }
            self.state.collector.requests.give(request);
            self.start_readers();
            any = true;
        }
        any
    }

    /// Put a sector of collection into the ring, whose next slot is free. A sector that was overwritten takes a slot
    /// without data.
    #[inline]
    pub(super) fn insert_moved(&mut self, lpn: Lpn, sector: Ppa) {
        let line = self.shape.line_of(&self.state.lines, sector);
        let s = &mut self.state;
        let heat = s.lines.heat_of_move(line, s.writer.open_cold());
        s.limiter.gc_enters();
        if self.map.lookup(lpn) == Mapping::Flash(sector) {
            let place = s.ring.insert(lpn, Origin::Gc, heat);
            let slot = s.ring.slot(place);
            self.map.set_buffer(lpn, slot);
            self.data.moved(self.state.runs, slot, lpn, sector);
            self.invalidate(sector);
        } else {
            s.ring.insert(Lpn::NONE, Origin::Gc, heat);
        }
        // The line is freed after its last sector has entered the ring.
        self.release(line, 1);
    }

    /// Count the collection of a line that is now free.
    pub(super) fn collected(&mut self, line: u32) {
        let took = self.state.now - self.state.collector.chosen_at[line as usize];
        let c = &mut self.state.counters;
        c.collections += 1;
        c.collecting_ns += took;
        c.longest_collection_ns = c.longest_collection_ns.max(took);
    }
}
