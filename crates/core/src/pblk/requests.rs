//! Requests of the host: reads from the ring and from flash, writes into the ring, TRIM and FLUSH.

use super::drive::Pblk;
use super::interface::Work;
use super::rail::failures::Reader;
use super::ring::{Entry, Heat, Origin, RingPlace};
use crate::address::{Lpn, Ppa};
use crate::flash::{FlashCommand, OpId, Target};
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::nand::OpKind;
use crate::observer::{Observer, RequestStep, RingWait};
use tailcut_units::{Cause, Occupant, Status};

/// The number of slots by which the prefetch of map entries is ahead of their reuse.
const SWITCHED_AHEAD: RingPlace = 16;

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Look up a read, and read its sectors on flash with one vector command.
    pub(super) fn read(&mut self, id: u32) {
        let sectors = self.state.interface.sectors_of(id);
        let serial = self.state.interface.requests[id].host.index;
        let mut in_memory = 0;
        self.data.asked(&self.state.interface, id);
        if let Some(rules) = &self.shape.gate {
            self.state.gate.count_read(self.state.now, rules.off_below);
        }
        let mut ops = std::mem::take(&mut self.state.interface.scratch);
        for lpn in sectors.map(Lpn) {
            let place = self.map.lookup(lpn);
            self.data.looked_up(&self.state.interface, id, lpn, place);
            let is_lost = self.has_lost_data(lpn);
            if is_lost {
                self.state.interface.requests[id].host.status = Status::MediaError;
            }
            match place {
                Mapping::Flash(sector) => {
                    debug_assert_eq!(self.map.owner(sector), lpn, "the record beside the sector names it");
                    let read = FlashCommand { tag: id, serial, ..FlashCommand::BLANK };
                    let avoided = self.state.gate.is_avoided(&self.shape, sector);
                    let others = if avoided { self.others(sector) } else { None };
                    self.state.counters.unprotected_units += u64::from(avoided && others.is_none());
                    let reader = Reader::Host(id);
                    self.state.wanted.remember(&self.shape, reader, sector, others.as_ref());
                    match others {
                        Some(others) => self.add_rebuild(&mut ops, reader, sector, &others, read),
                        None => self.add_read(&mut ops, reader.occupant(), reader.work(), sector, read),
                    }
                }
                Mapping::Buffer(held) => {
                    debug_assert!(
                        self.state.ring.holds(held.slot(), lpn),
                        "the map points to another's slot"
                    );
                    self.state.counters.buffer_hits += 1;
                    in_memory += super::array::SECTOR;
                }
                Mapping::Unmapped => {
                    self.state.counters.unmapped_reads += u64::from(!is_lost);
                    in_memory += super::array::SECTOR;
                }
            }
        }
        self.state.interface.observe(&mut self.flash, self.state.now, id, RequestStep::Translated(in_memory));
        self.state.interface.requests[id].remaining = ops.len() as u32;
        self.state.counters.flash_reads += ops.len() as u64;
        if ops.is_empty() {
            self.state.complete(&self.shape, &mut self.flash, id);
        } else {
            self.state.gate.reads_sent(&self.shape, &self.flash, &ops);
            self.state.interface.pass_reads(&self.flash, &mut self.state.timers, self.state.now, &ops);
        }
        ops.clear();
        self.state.interface.scratch = ops;
    }

    /// Add a sector to a vector read. Sectors with the same page index on one LUN are one operation. The line is not
    /// freed before the operation ends.
    pub(super) fn add_read(
        &mut self,
        ops: &mut Vec<OpId>,
        occupant: Occupant,
        work: Work,
        sector: Ppa,
        of: FlashCommand,
    ) {
        let place = self.shape.place(sector);
        let (mask, codewords) = (1u64 << (sector - place.unit), self.shape.codewords);
        let same = |&&op: &&OpId| self.flash.op(op).cmd.ppa == place.unit;
        let joined = ops.iter().rev().find(same).copied();
        if joined.is_some_and(|op| self.flash.op(op).cmd.units() & mask != 0) {
            // The sector is read already as a member for another sector.
            return;
        }
        let line = self.state.lines.line_at(place.index, place.position);
        self.state.lines.refer(line, 1);
        if let Some(op) = joined {
            let cmd = self.flash.order_mut(op);
            cmd.planes |= 1 << place.plane;
            *cmd.units_mut() |= mask;
            cmd.codewords += codewords;
            cmd.bytes += super::array::SECTOR as u32;
            return;
        }
        ops.push(self.flash.order(FlashCommand {
            kind: OpKind::Read,
            occupant,
            owner: work.into(),
            unit: self.shape.unit_at(place.position),
            page: place.page,
            planes: 1 << place.plane,
            codewords,
            block: place.index,
            extent: line,
            ppa: place.unit,
            target: Target::Units(mask),
            bytes: super::array::SECTOR as u32,
            ..of
        }));
    }

    /// A read has ended. Drop its references to the line. Returns the bytes that go to the host.
    pub(super) fn end_read(&mut self, op: OpId) -> u64 {
        let cmd = &self.flash.op(op).cmd;
        let (line, sectors, bytes) = (cmd.extent, cmd.units().count_ones(), cmd.bytes);
        self.state.counters.read_failures += u64::from(self.flash.has_failed(op));
        self.flash.free(op);
        self.release(line, sectors);
        u64::from(bytes)
    }

    /// Drop references of a line. A line without references is freed at the end of the event.
    #[inline]
    pub(super) fn release(&mut self, line: u32, count: u32) {
        if self.state.lines.release(line, count) {
            self.state.released.push(line);
        }
    }

    /// Data of a host read are decoded. Send them to the host.
    pub(super) fn read_arrived(&mut self, op: OpId, id: u32) {
        let mut unread = Vec::new();
        if self.flash.has_failed(op) {
            unread = self.state.failures.note_unread(&self.shape, &self.flash, op);
            if !self.shape.remembers_reads() || self.try_otherwise(Reader::Host(id), &unread) {
                self.state.interface.requests[id].host.status = Status::MediaError;
            }
        }
        self.state.failures.note_read(&self.shape, &self.flash, op);
        self.data.arrived(&self.flash, &self.state.interface, &mut self.state.rebuilds, id, op, &unread);
        let ledger = self.flash.op(op).ledger;
        let unit = self.flash.op(op).cmd.unit;
        let bytes = self.end_read(op);
        let r = &mut self.state.interface.requests[id];
        r.remaining -= 1;
        let last = r.remaining == 0;
        let again = last && self.reads_again(Reader::Host(id));
        if last && !again {
            self.data.rebuilt(&self.shape, &mut self.state, id);
        }
        let now = self.state.now;
        let (begin, end) = self.state.interface.send_up(&self.shape, self.state.now, bytes);
        if last {
            // A request with several operations takes the ledger of the operation that arrives last. If a repeated
            // read follows, this ledger counts as that of a failed attempt.
            let latency = self.shape.host.complete_latency.0;
            let to = &mut self.state.interface.requests[id].host.ledger;
            to.merge(&if again { ledger.retried() } else { ledger });
            to.charge(Cause::HOST_LINK_WAIT, begin - now);
            to.charge(Cause::HOST_LINK, end - begin);
            to.charge(Cause::HOST_LATENCY, latency);
            self.state.interface.data_up_at(&self.shape, &mut self.state.timers, end, Work::Request(id));
        }
        self.read_ended(unit);
    }

    /// Start a write. Its sectors enter the ring in order, after earlier writes that wait.
    pub(super) fn write(&mut self, id: u32) {
        if self.state.failures.is_read_only() {
            self.state.interface.requests[id].host.status = Status::ReadOnly;
            return self.state.complete(&self.shape, &mut self.flash, id);
        }
        let sectors = self.state.interface.sectors_of(id);
        let s = &mut self.state;
        let waits = s.interface.waits.settle(s.now);
        let r = &mut s.interface.requests[id];
        (r.next, r.end, r.waits) = (sectors.start, sectors.end, waits);
        s.interface.room.push_back(id);
        if s.interface.room.len() == 1 {
            self.admit();
        }
    }

    /// Let writes and sectors of collection into the ring as room and the rate limiter allow, and run the writer.
    pub(super) fn admit(&mut self) {
        loop {
            let users = self.admit_users();
            let moved = self.write_moved();
            if !users && !moved && !self.switch_all() {
                break;
            }
            self.run_writer();
        }
        self.note_wait();
    }

    /// Let the map point to flash for all programmed sectors if users wait and collection has nothing to move. This
    /// happens if all lines with invalid sectors have sectors in the ring, and only on small drives. Linux has no
    /// such rule and would wait forever. Returns whether the map was changed.
    fn switch_all(&mut self) -> bool {
        let s = &self.state;
        let stuck = !s.interface.room.is_empty()
            && !s.limiter.admits_user()
            && s.collector.is_idle()
            && s.ring.unsynced() <= u64::from(self.shape.parts_waiting())
            && s.ring.can_switch();
        if !stuck {
            return false;
        }
        if self.choose_victim(None).is_some() {
            // The line has become a victim after the last run of the collector.
            self.wake_collection();
            return false;
        }
        self.switch_slots(self.state.ring.synced());
        self.collect();
        true
    }

    /// Let waiting writes into the ring. Returns whether any sector has entered.
    fn admit_users(&mut self) -> bool {
        let (mut any, most) = (false, self.state.ring.most_of_a_write(self.shape.parts_waiting()));
        while let Some(&id) = self.state.interface.room.front() {
            let r = &self.state.interface.requests[id];
            let (from, count) = (r.next, (r.end - r.next).min(most));
            if !self.state.limiter.admits_user() || !self.state.ring.has_room(count) {
                break;
            }
            self.reuse_slots(count);
            for lpn in from..from + count {
                let (slot, before) = self.insert_user(Lpn(lpn));
                self.data.entered(&self.state.interface, id, Lpn(lpn), slot, before);
                self.lost_no_more(Lpn(lpn), id);
            }
            let s = &mut self.state;
            s.limiter.user_enters(count, s.now);
            s.counters.host_units_written += u64::from(count);
            any = true;
            let r = &mut s.interface.requests[id];
            r.next += count;
            if r.next < r.end {
                continue;
            }
            let forced = r.host.command.fua;
            s.interface.room.pop_front();
            let waits = s.interface.waits.settle(s.now);
            let r = &mut s.interface.requests[id];
            waits.charge(&r.waits, &mut r.host.ledger);
            if forced {
                // The writer runs after all writes that have room.
                self.state.interface.observe(&mut self.flash, self.state.now, id, RequestStep::Forced);
                self.hold_until_synced(id);
            } else {
                self.state.complete(&self.shape, &mut self.flash, id);
            }
        }
        any
    }

    /// Put a sector of a user into the ring, whose next slot is free. Its old copy on flash becomes invalid at once.
    /// Returns the slot, and the location of the sector before.
    #[inline]
    pub(super) fn insert_user(&mut self, lpn: Lpn) -> (u32, Mapping) {
        let place = self.state.ring.insert(lpn, Origin::User, Heat::Hot);
        let slot = self.state.ring.slot(place);
        let before = self.map.set_buffer(lpn, slot);
        if let Mapping::Flash(old) = before {
            self.invalidate(old);
        }
        (slot, before)
    }

    /// Mark a sector on flash as invalid.
    #[inline]
    pub(super) fn invalidate(&mut self, sector: Ppa) {
        self.map.clear_valid(sector);
        let line = self.shape.line_of(&self.state.lines, sector);
        if self.state.lines.invalidate(line, 1) {
            self.wake_collection();
        }
    }

    /// Free the slots that the next `count` sectors need.
    #[inline]
    pub(super) fn reuse_slots(&mut self, count: u32) {
        self.switch_slots(self.state.ring.needed_by(count));
    }

    /// For each sector of the ring before `until`, let the map point to flash. If the map does not point to the slot
    /// any more, the copy on flash is invalid.
    pub(super) fn switch_slots(&mut self, until: RingPlace) {
        // The map entries of the slots that are reused next were last used one round of the ring ago.
        self.map.prefetch(self.state.ring.entry(until + SWITCHED_AHEAD).lba);
        let (map, shape) = (&mut self.map, &self.shape);
        let s = &mut self.state;
        let (lines, released) = (&mut s.lines, &mut s.released);
        let (mut users, mut collected, mut emptied) = (0, 0, false);
        s.ring.switch(until, |slot: u32, entry: &Entry| {
            match entry.origin {
                Origin::User => users += 1,
                Origin::Gc => collected += 1,
            }
            if entry.lba == Lpn::NONE {
                return;
            }
            let line = shape.line_of(lines, entry.media);
            let l = lines.line_mut(line);
            l.in_ring -= 1;
            if map.is_buffered_in(entry.lba, slot) {
                map.set_flash(entry.lba, entry.media);
                map.set_valid(entry.media);
            } else {
                emptied |= lines.invalidate(line, 1);
            }
            if lines.release(line, 1) {
                released.push(line);
            }
        });
        s.limiter.leaves(users, collected);
        if emptied {
            self.wake_collection();
        }
    }

    /// Record the reason for which the first waiting write waits now.
    fn note_wait(&mut self) {
        let s = &mut self.state;
        if s.interface.room.is_empty() {
            return;
        }
        let reason = if !s.limiter.admits_user() {
            RingWait::Admission
        } else {
            let oldest = s.ring.oldest().unwrap_or(Heat::Hot);
            s.writer.waits_for_lun(oldest).unwrap_or(RingWait::Room)
        };
        if s.interface.waits.turn_to(reason, s.now) {
            let first = s.interface.room[0];
            self.state.interface.observe(&mut self.flash, self.state.now, first, RequestStep::Waits(reason));
        }
    }

    /// Trim sectors. A sector on flash becomes invalid at once, and a sector in the ring when its slot is reused.
    pub(super) fn trim(&mut self, id: u32) {
        // Only sectors that the command covers completely are trimmed.
        let command = self.state.interface.requests[id].host.command;
        let sector = super::array::SECTOR;
        let (from, to) =
            (command.offset.div_ceil(sector), (command.offset + u64::from(command.bytes)) / sector);
        for lpn in (from as u32)..(to as u32).max(from as u32) {
            if let Mapping::Flash(old) = self.map.trim(Lpn(lpn)) {
                self.invalidate(old);
            }
            self.data.trimmed(Lpn(lpn));
            self.lost_no_more(Lpn(lpn), id);
            self.state.counters.trimmed += 1;
        }
        self.state.complete(&self.shape, &mut self.flash, id);
        self.admit();
    }

    /// A FLUSH ends when all sectors that are in the ring now are on flash.
    pub(super) fn flush(&mut self, id: u32) {
        if self.hold_until_synced(id) {
            self.run_writer();
            self.admit();
        }
    }

    /// Complete a FLUSH, or a write with forced unit access, when all sectors that are in the ring now are on flash.
    /// Returns whether the writer must program sectors for it.
    fn hold_until_synced(&mut self, id: u32) -> bool {
        let s = &mut self.state;
        // Writes that wait for the ring have not been acknowledged, so that a FLUSH does not cover them.
        match s.ring.flush() {
            None => self.state.complete(&self.shape, &mut self.flash, id),
            Some(_) if s.failures.read_only.is_some() => {
                s.interface.requests[id].host.status = Status::ReadOnly;
                self.state.complete(&self.shape, &mut self.flash, id);
            }
            Some(last) => {
                s.interface.requests[id].since = s.now;
                s.interface.flushes.push_back((last, id));
                return true;
            }
        }
        false
    }

    /// End the FLUSHes that wait for no sector after `synced`.
    pub(super) fn end_flushes(&mut self, synced: RingPlace) {
        while let Some(&(last, id)) = self.state.interface.flushes.front()
            && last < synced
        {
            let s = &mut self.state;
            s.interface.flushes.pop_front();
            let r = &mut s.interface.requests[id];
            r.host.ledger.charge(Cause::BUFFER_FLUSH, s.now - r.since);
            self.state.complete(&self.shape, &mut self.flash, id);
        }
    }
}
