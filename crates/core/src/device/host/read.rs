//! Host reads: look-up, one flash operation for each row, decoder, host link.

use crate::address::{Extent, Lpn, Ppa};
use crate::containers::NONE;
use crate::device::drive::Device;
use crate::device::shape::Shape;
use crate::device::work::Work;
use crate::flash::{FlashCommand, OpId, Target};
use crate::ftl::layout::RowPlace;
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::nand::OpKind;
use crate::observer::{Observer, RequestStep};
use tailcut_units::{Occupant, Status};

impl Shape {
    /// The index of an extent's blocks, for operations whose end or time depends on their blocks.
    #[inline]
    pub(in crate::device) fn block_of(&self, extent: u32) -> u32 {
        if self.fixed.names_blocks { self.layout.lane_of(extent).1 } else { NONE }
    }

    /// The planes and codewords that a read of bytes `from..to` of the unit in `slot` of a row
    /// needs.
    #[inline]
    pub(in crate::device) fn read_cost(&self, first_plane: u32, slot: u32, from: u64, to: u64) -> (u32, u32) {
        let layout = &self.layout;
        let codeword = self.codeword;
        let whole = from == 0 && to == layout.unit_bytes;
        let codewords =
            if whole { self.codewords_per_unit } else { (to.div_ceil(codeword) - from / codeword) as u32 };
        if layout.write_planes == 1 {
            return (1 << first_plane, codewords);
        }
        let base = u64::from(slot) * layout.unit_bytes;
        let (first, last) = (layout.page_in_row(base + from), layout.page_in_row(base + to - 1));
        let mask = ((1u64 << (last - first + 1)) - 1) << (u64::from(first_plane) + first);
        (mask as u32, codewords)
    }

    /// A read of the row that begins at `row` and lies at `place`, without planes or codewords yet.
    #[inline]
    fn read_at(&self, occupant: Occupant, work: Work, row: Ppa, place: &RowPlace) -> FlashCommand {
        FlashCommand {
            kind: OpKind::Read,
            occupant,
            owner: work.into(),
            unit: self.unit_of(place.die, place.plane),
            page: self.layout.page_number(place),
            block: self.block_of(place.extent),
            extent: place.extent,
            ppa: row,
            ..FlashCommand::BLANK
        }
    }

    /// A read of the row of `ppa`, without planes or codewords yet.
    #[inline]
    pub(in crate::device) fn read_of(&self, occupant: Occupant, work: Work, ppa: Ppa) -> FlashCommand {
        let (row, _) = self.layout.row_start(ppa);
        self.read_at(occupant, work, row, &self.layout.place(ppa))
    }

    /// A read of one whole unit.
    pub(in crate::device) fn unit_read_of(&self, occupant: Occupant, work: Work, ppa: Ppa) -> FlashCommand {
        let (row, slot) = self.layout.row_start(ppa);
        let place = self.layout.place(ppa);
        let (planes, codewords) = self.read_cost(place.plane, slot, 0, self.layout.unit_bytes);
        let target = Target::Units(1 << slot);
        FlashCommand { planes, codewords, target, ..self.read_at(occupant, work, row, &place) }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Translate a read and queue its flash operations.
    #[inline]
    pub(in crate::device) fn begin_read(&mut self, id: u32) {
        let unit_bytes = self.shape.layout.unit_bytes;
        let command = self.state.host.requests[id].host.command;
        let end = command.offset + u64::from(command.bytes);
        let mut from_memory = 0;
        let mut at = command.offset;
        debug_assert!(self.state.host.scratch.is_empty());
        self.data.asked(&self.state.host, id);
        while at < end {
            let lpn = self.shape.layout.lpn_of(at);
            let base = u64::from(lpn.0) * unit_bytes;
            let (from, to) = (at - base, (end - base).min(unit_bytes));
            from_memory += self.read_unit(id, lpn, from, to);
            at = base + unit_bytes;
        }
        let mut ops = std::mem::take(&mut self.state.host.scratch);
        let mut parts = ops.len() as u32;
        self.state.counters.flash_reads += ops.len() as u64;
        self.state.host.observe(&mut self.flash, self.state.now, id, RequestStep::Translated(from_memory));
        let blocked = self.shape.fixed.rebuilds_reads && self.state.gc.under_way > 0;
        if blocked || self.state.faults.some_lost && self.shape.has_parity() {
            parts = self.rebuild_blocked(id, &mut ops);
        }
        let r = &mut self.state.host.requests[id];
        r.remaining = parts;
        if parts == 0 {
            r.host.ledger.clear_rest();
        }
        if from_memory > 0 {
            let there = self.state.host.send_up(&self.shape, self.state.now, id, from_memory, parts == 0);
            if parts == 0 {
                self.state.host.complete_read(&self.shape, &mut self.state.timers, id, there);
            }
        } else if parts == 0 {
            self.state.host.return_nothing(
                &self.shape,
                &mut self.flash,
                &mut self.state.timers,
                self.state.now,
                id,
            );
        }
        for &op in &ops {
            self.submit_op(op);
        }
        ops.clear();
        self.state.host.scratch = ops;
    }

    /// Find bytes `from..to` of one logical unit for a read. Returns how many of them are in memory.
    #[inline]
    fn read_unit(&mut self, id: u32, lpn: Lpn, from: u64, to: u64) -> u64 {
        if self.shape.fixed.may_fail && self.copies().is_out_of_reach(lpn, from, to) {
            self.state.host.requests[id].host.status = Status::MediaError;
            return 0;
        }
        self.data.read(&self.state.host, &self.state.copies(&self.shape, &self.map), id, lpn, from, to);
        let ppa = match self.map.lookup(lpn) {
            Mapping::Flash(ppa) => ppa,
            Mapping::Unmapped => {
                self.state.counters.unmapped_reads += 1;
                return to - from;
            }
            Mapping::Buffer(in_buffer) => {
                let slot = in_buffer.slot();
                let b = &self.state.write.buffer;
                let held = b.slot(slot);
                let whole = b.mask(from, to, false) & !held.mask == 0;
                match if whole { Ppa::NONE } else { self.copies().copy_below(lpn, slot) } {
                    Ppa::NONE => {
                        self.state.counters.buffer_hits += 1;
                        return to - from;
                    }
                    old_ppa => old_ppa,
                }
            }
        };
        if self.state.faults.is_lost(&self.shape.layout, ppa) && self.copies().is_moving(ppa) {
            self.data.moving(&self.state.host, &self.map, id, ppa, ppa);
            return to - from;
        }
        self.add_flash_read(id, ppa, from, to);
        0
    }

    /// Add bytes of a physical unit to the request's operation on that row, or reserve one.
    #[inline]
    fn add_flash_read(&mut self, id: u32, ppa: Ppa, from: u64, to: u64) {
        let (row, slot) = self.shape.layout.row_start(ppa);
        let place = self.shape.layout.place(ppa);
        let unit = self.shape.unit_of(place.die, place.plane);
        let (planes, codewords) = self.shape.read_cost(place.plane, slot, from, to);
        let serial = self.state.host.requests[id].host.index;
        let (last, op) = self.state.host.last_read[unit.index()];
        if last == serial
            && let Some(op) = op
        {
            let cmd = self.flash.order_mut(op);
            if cmd.ppa == row {
                cmd.planes |= planes;
                cmd.codewords += codewords;
                cmd.bytes += (to - from) as u32;
                return;
            }
        }
        let read = self.shape.read_at(Occupant::UserRead, Work::Request(id), row, &place);
        let bytes = (to - from) as u32;
        let op = self.order_read(FlashCommand { planes, codewords, bytes, tag: id, serial, ..read });
        let s = &mut self.state;
        s.host.last_read[unit.index()] = (serial, Some(op));
        s.host.scratch.push(op);
    }

    /// Reserve a read. It keeps its extent from being erased until it is sensed or, if reads can fail, until its data
    /// are decoded or given up.
    #[inline]
    pub(in crate::device) fn order_read(&mut self, read: FlashCommand) -> OpId {
        let extent = read.extent;
        let op = self.flash.order(read);
        self.state.readers.begins(op.number(), Extent(extent));
        self.state.gc.reader_comes(&self.shape.layout, Extent(extent));
        op
    }

    /// Reserve a read of one whole unit.
    pub(in crate::device) fn new_unit_read(&mut self, occupant: Occupant, work: Work, ppa: Ppa) -> OpId {
        let read = self.shape.unit_read_of(occupant, work, ppa);
        self.order_read(read)
    }

    /// Send the decoded data of a host read to the host, and complete the request if they are its
    /// last.
    #[inline]
    pub(in crate::device) fn read_arrived(&mut self, op: OpId, id: u32) {
        let s = &mut self.state;
        let FlashCommand { bytes, rebuild, .. } = self.flash.op(op).cmd;
        let r = &mut s.host.requests[id];
        r.remaining -= 1;
        let last = r.remaining == 0;
        if last {
            // A request split into operations takes the ledger of the operation that arrives last.
            r.host.ledger.complete(&self.flash.op(op).ledger);
        }
        let there = self.state.host.send_up(&self.shape, self.state.now, id, u64::from(bytes), last);
        if rebuild != NONE {
            self.rebuild_arrived(rebuild, op);
        }
        self.free_op(op);
        if last {
            self.state.host.complete_read(&self.shape, &mut self.state.timers, id, there);
        }
    }
}
