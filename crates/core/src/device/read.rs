//! Host reads: look-up, one flash operation a row, decoder, host link.

use super::drive::Device;
use super::medium::Medium;
use crate::containers::NONE;
use crate::flash::{FlashCommand, Owner};
use crate::ftl::map::Place;
use crate::nand::OpKind;
use crate::observer::{Observer, RequestStep};
use tailcut_units::{Cause, Ledger, Occupant};

impl<O: Observer, M: Medium> Device<O, M> {
    /// Translate a read and queue its flash operations.
    #[inline]
    pub(super) fn begin_read(&mut self, id: u32) {
        let unit_bytes = self.shape.layout.unit_bytes;
        let command = self.state.requests[id].command;
        let end = command.offset + u64::from(command.bytes);
        let mut from_memory = 0;
        let mut at = command.offset;
        debug_assert!(self.state.scratch.is_empty());
        self.data_asked(id);
        while at < end {
            let lpn = (at / unit_bytes) as u32;
            let base = u64::from(lpn) * unit_bytes;
            let (from, to) = (at - base, (end - base).min(unit_bytes));
            if !self.read_unit(id, lpn, from, to) {
                from_memory += to - from;
            }
            at = base + unit_bytes;
        }
        let mut ops = std::mem::take(&mut self.state.scratch);
        let mut parts = ops.len() as u32;
        self.state.counters.flash_reads += ops.len() as u64;
        self.observe_request(id, RequestStep::Translated(from_memory));
        let blocked = self.state.rebuilds_reads && self.state.collecting > 0;
        if blocked || self.state.failure.lane != NONE {
            parts = self.rebuild_blocked(id, &mut ops);
        }
        self.state.requests[id].remaining = parts;
        if from_memory > 0 {
            let there = self.send_up(id, from_memory, parts == 0);
            if parts == 0 {
                self.complete_read(id, there);
            }
        }
        for &op in &ops {
            self.submit_op(op);
        }
        ops.clear();
        self.state.scratch = ops;
    }

    /// Read bytes `from..to` of one logical unit; false when memory has them.
    #[inline]
    fn read_unit(&mut self, id: u32, lpn: u32, from: u64, to: u64) -> bool {
        self.data_read(id, lpn, from, to);
        let pua = match self.map.lookup(lpn) {
            Place::Flash(pua) => pua,
            Place::Unmapped => {
                self.state.counters.unmapped_reads += 1;
                return false;
            }
            Place::Buffer(slot) => {
                let b = &self.state.buffer;
                let held = b.slot(slot);
                let whole = b.mask(from, to, false) & !held.mask == 0;
                match if whole { NONE } else { self.beneath(lpn, slot) } {
                    NONE => {
                        self.state.counters.buffer_hits += 1;
                        return false;
                    }
                    former => former,
                }
            }
        };
        self.add_flash_read(id, pua, from, to);
        true
    }

    /// Add bytes of a physical unit to the request's operation on that row, or begin one.
    #[inline]
    fn add_flash_read(&mut self, id: u32, pua: u32, from: u64, to: u64) {
        let (row, slot) = self.shape.layout.row_of(pua);
        let place = self.shape.layout.place(pua);
        let unit = self.shape.unit_of(place.die, place.plane);
        let (planes, codewords) = self.read_cost(place.plane, slot, from, to);
        let serial = self.state.requests[id].index;
        let (last, op) = self.state.last_read[unit as usize];
        if last == serial {
            let cmd = self.flash.order_mut(op);
            if cmd.ppa == row * self.shape.layout.units_per_row {
                cmd.planes |= planes;
                cmd.codewords += codewords;
                cmd.bytes += (to - from) as u32;
                return;
            }
        }
        let read = self.read_of(Occupant::UserRead, Owner::Request(id), pua);
        let bytes = (to - from) as u32;
        let op = self.order_read(FlashCommand { planes, codewords, bytes, tag: id, serial, ..read });
        let s = &mut self.state;
        s.last_read[unit as usize] = (serial, op);
        s.scratch.push(op);
    }

    /// The planes and codewords that bytes `from..to` of the unit in `slot` of a row need.
    #[inline]
    pub(super) fn read_cost(&self, first_plane: u32, slot: u32, from: u64, to: u64) -> (u32, u32) {
        let layout = &self.shape.layout;
        let codeword = self.shape.codeword;
        let whole = from == 0 && to == layout.unit_bytes;
        let codewords = if whole {
            self.shape.codewords_per_unit
        } else {
            (to.div_ceil(codeword) - from / codeword) as u32
        };
        if layout.write_planes == 1 {
            return (1 << first_plane, codewords);
        }
        let base = u64::from(slot) * layout.unit_bytes;
        let (first, last) = ((base + from) / layout.page_bytes, (base + to - 1) / layout.page_bytes);
        let mask = ((1u64 << (last - first + 1)) - 1) << (u64::from(first_plane) + first);
        (mask as u32, codewords)
    }

    /// A read of the row of `pua`, without planes or codewords yet.
    #[inline]
    pub(super) fn read_of(&self, occupant: Occupant, owner: Owner, pua: u32) -> FlashCommand {
        let (row, _) = self.shape.layout.row_of(pua);
        let place = self.shape.layout.place(pua);
        FlashCommand {
            kind: OpKind::Read,
            occupant,
            owner,
            unit: self.shape.unit_of(place.die, place.plane),
            page: place.page,
            block: place.extent,
            ppa: row * self.shape.layout.units_per_row,
            ..FlashCommand::BLANK
        }
    }

    /// Reserve a read: its extent is not erased before it is sensed.
    #[inline]
    pub(super) fn order_read(&mut self, read: FlashCommand) -> u32 {
        self.state.extents.read_begins(read.block);
        self.flash.order(read)
    }

    /// A read of one whole unit.
    pub(super) fn unit_read_of(&self, occupant: Occupant, owner: Owner, pua: u32) -> FlashCommand {
        let (_, slot) = self.shape.layout.row_of(pua);
        let place = self.shape.layout.place(pua);
        let (planes, codewords) = self.read_cost(place.plane, slot, 0, self.shape.layout.unit_bytes);
        FlashCommand { planes, codewords, ..self.read_of(occupant, owner, pua) }
    }

    /// Reserve a read of one whole unit.
    pub(super) fn new_unit_read(&mut self, occupant: Occupant, owner: Owner, pua: u32) -> u32 {
        let read = self.unit_read_of(occupant, owner, pua);
        self.order_read(read)
    }

    /// Decoded data of a host read: up the link, and the request may be complete.
    #[inline]
    pub(super) fn read_arrived(&mut self, op: u32, id: u32) {
        let s = &mut self.state;
        let FlashCommand { bytes, rebuild, .. } = self.flash.op(op).cmd;
        let r = &mut s.requests[id];
        r.remaining -= 1;
        let last = r.remaining == 0;
        if last {
            // The join takes the branch that arrives last, from the fork on.
            r.ledger.merge(&self.flash.op(op).ledger);
        }
        if rebuild != NONE {
            self.rebuild_arrived(rebuild, op);
        }
        self.free_op(op);
        let there = self.send_up(id, u64::from(bytes), last);
        if last {
            self.complete_read(id, there);
        }
    }

    /// Charge the time since `since` in which a request waited for buffer room, split by
    /// what the write unit that made room went through (`timeline`).
    pub(super) fn charge_room(&mut self, id: u32, op: u32, group: u32) {
        self.observe_request(id, RequestStep::Room(op));
        let s = &mut self.state;
        let r = &mut s.requests[id];
        let (since, now) = (r.room_since, s.now);
        let (g, o) = (&s.groups[group], self.flash.op(op));
        let overlap = |from: u64, to: u64| to.min(now).saturating_sub(from.max(since));
        // Before the write unit was formed, and while it read what it was short of or
        // programmed, it did its own work; from `ready` to `entered` no block was free.
        let stalled = overlap(g.ready, o.entered);
        let queued = overlap(o.entered, o.started);
        let ran = overlap(o.started, now);
        let suspended = part_of(o.ledger.get(Cause::SUSPENDED), ran, now - o.started);
        r.ledger.charge(Cause::BUFFER_FLUSH, now - since - stalled - queued - suspended);
        r.ledger.charge(Cause::SUSPENDED, suspended);
        charge_stall(&mut r.ledger, &g.stalled, stalled, o.entered.saturating_sub(g.ready));
        share_out(&mut r.ledger, &o.ledger, queued, |c| c.is_die_wait() || c.is_channel_wait());
        r.room_since = now;
    }
}

/// Charge `part` of a wait of `whole` nanoseconds for a free block: to what the die that was
/// to free it did meanwhile, and the rest, in which it did nothing, to free space itself.
pub(super) fn charge_stall(to: &mut Ledger, die: &Ledger, part: u64, whole: u64) {
    let busy = die.sum().min(whole);
    let share = part_of(busy, part, whole);
    share_out(to, die, share, Cause::is_die_wait);
    to.charge(Cause::FREE_SPACE, part - share);
}

/// What of `ns` falls to the part `part` of `whole`; all of it when that is the whole.
fn part_of(ns: u64, part: u64, whole: u64) -> u64 {
    if whole == 0 { 0 } else { (u128::from(ns) * u128::from(part) / u128::from(whole)) as u64 }
}

/// Give `to` a time `part` split as `from` is split over some causes, the rounding going to
/// the last: exact when that is what `from` spent on them.
fn share_out(to: &mut Ledger, from: &Ledger, part: u64, of: impl Fn(Cause) -> bool) {
    if part == 0 {
        return;
    }
    let chosen = || from.iter().filter(|&(c, ns)| ns > 0 && of(c));
    let whole = chosen().map(|(_, ns)| ns).sum();
    let mut left = part;
    let mut last = None;
    for (cause, ns) in chosen() {
        let share = part_of(ns, part, whole);
        to.charge(cause, share);
        left -= share;
        last = Some(cause);
    }
    to.charge(last.unwrap_or(Cause::BUFFER_FLUSH), left);
}
