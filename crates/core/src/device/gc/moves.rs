//! The moves of a collection. A segment is what one read of the collection covers (`ftl.gc.copy_planes`). The valid
//! units of a segment are read into the controller, staged, and programmed when they fill a row. With copyback, each
//! unit is copied inside its plane instead, and does not cross the channel.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::drive::Device;
use crate::device::gc::collect::Stage;
use crate::device::gc::erase::Program;
use crate::device::work::Work;
use crate::device::write::state::Source;
use crate::flash::{CopyTo, FlashCommand, OpId, Target};
use crate::ftl::config::CopyMode;
use crate::ftl::extents::Writer;
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::nand::OpKind;
use crate::observer::Observer;
use tailcut_units::Occupant;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Start to move the next segment of the victim with valid units, if there is one.
    pub(super) fn next_move(&mut self, lane: u32) {
        let end = self.shape.layout.units_per_extent;
        let width = self.shape.copy_units;
        let base = Ppa(self.state.gc.collections[lane as usize].victim * end);
        debug_assert_eq!(
            self.state.gc.collections[lane as usize].stage,
            Stage::Copying,
            "lane {lane} moves data"
        );
        loop {
            let c = &mut self.state.gc.collections[lane as usize];
            if c.cursor >= end {
                return;
            }
            let start = base + c.cursor;
            c.cursor += width;
            let mut mask = self.map.valid_mask(start, width);
            if mask == 0 {
                continue;
            }
            if !self.state.faults.dead_parts.is_empty() {
                mask = self.avoid_dead_planes(lane, start, mask);
                if mask == 0 {
                    return;
                }
            }
            self.state.gc.collections[lane as usize].reads += 1;
            let s = &mut self.state;
            let folds = s.gc.collections[lane as usize].folds();
            *(if folds { &mut s.counters.fold_reads } else { &mut s.counters.gc_reads }) += 1;
            return match self.shape.copy {
                CopyMode::Controller => self.read_segment(lane, start, mask),
                CopyMode::Copyback => self.copy_back(lane, start),
            };
        }
    }

    fn read_segment(&mut self, lane: u32, start: Ppa, mask: u64) {
        self.map.prefetch_owner(start);
        let (_, first_slot) = self.shape.layout.row_of(start);
        let place = self.shape.layout.place(start);
        let unit_bytes = self.shape.layout.unit_bytes;
        let (mut planes, mut codewords) = (0, 0);
        let mut left = mask;
        while left != 0 {
            let slot = first_slot + left.trailing_zeros();
            left &= left - 1;
            let (p, n) = self.shape.read_cost(place.plane, slot, 0, unit_bytes);
            planes |= p;
            codewords += n;
        }
        let folds = self.state.gc.collections[lane as usize].folds();
        let occupant = if folds { Occupant::FoldRead } else { Occupant::GcRead };
        let read = self.shape.read_of(occupant, Work::Collection(lane), start);
        let target = Target::Units(mask);
        let op = self.order_read(FlashCommand { planes, codewords, target, ppa: start, ..read });
        self.submit_op(op);
    }

    /// Handle the end of the read of a segment: stage its valid units, and program full write units.
    #[inline(never)]
    pub(in crate::device) fn segment_arrived(&mut self, op: OpId, lane: u32) {
        let s = &mut self.state;
        let c = &mut s.gc.collections[lane as usize];
        c.reads -= 1;
        let cmd = &self.flash.op(op).cmd;
        let (start, mut left) = (cmd.ppa, cmd.units());
        debug_assert_eq!(
            (c.stage, c.victim),
            (Stage::Copying, cmd.extent),
            "lane {lane} gets data of extent {} that it does not move",
            cmd.extent
        );
        while left != 0 {
            let ppa = start + left.trailing_zeros();
            left &= left - 1;
            // The host may have overwritten a unit during the read; then it need not be moved.
            if self.map.is_valid(ppa) {
                let lpn = self.map.owner(ppa);
                // The map still has the old address: `moved` changes it after the program.
                self.map.prefetch(lpn);
                c.staged.push((lpn, ppa));
            }
        }
        self.free_op(op);
        self.program_staged_rows(lane);
    }

    /// Program all full write units of staged data, and continue the collection.
    pub(in crate::device) fn program_staged_rows(&mut self, lane: u32) {
        if self.state.faults.has_given_up(lane) {
            return self.stop_collecting(lane);
        }
        let upr = self.shape.layout.units_per_row as usize;
        while self.state.gc.collections[lane as usize].staged.len() >= upr {
            self.program_staged(lane);
        }
        self.pump_collection(lane);
    }

    /// Program one write unit of staged data, padded if the data do not fill it.
    pub(super) fn program_staged(&mut self, lane: u32) {
        let upr = self.shape.layout.units_per_row;
        let s = &mut self.state;
        let c = &mut s.gc.collections[lane as usize];
        let count = c.staged.len().min(upr as usize);
        debug_assert!(count > 0, "lane {lane} programs nothing");
        let write_unit = s.write.units.take();
        let g = &mut s.write.units[write_unit];
        g.writer = Writer::Collection;
        g.stripe = NONE;
        g.lane = lane;
        g.count = count as u32;
        g.ledger.clear();
        let at = (write_unit * upr) as usize;
        for (member, (lpn, ppa)) in s.write.members[at..].iter_mut().zip(c.staged.drain(..count)) {
            *member = (lpn, Source::Flash(ppa));
        }
        let Some(ppa) = self.take_collection_row(lane) else {
            self.state.write.units.give(write_unit);
            return self.stop_collecting(lane);
        };
        let c = &mut self.state.gc.collections[lane as usize];
        c.programs += 1;
        let occupant = if c.folds() { Occupant::FoldProgram } else { Occupant::GcProgram };
        self.queue_program(write_unit, ppa, occupant);
    }

    /// Handle the end of a program that belongs to this lane's collection.
    pub(in crate::device) fn write_unit_collected(&mut self, lane: u32) {
        debug_assert_eq!(
            self.state.gc.collections[lane as usize].stage,
            Stage::Copying,
            "a program of the collection of lane {lane} ends"
        );
        self.state.gc.collections[lane as usize].programs -= 1;
        self.pump_collection(lane);
    }

    /// Map a logical unit to its new copy at `new`, unless the copy at `old_ppa` has become invalid. If the latest data
    /// of the unit are in the write buffer, its copy on flash is still valid, and the buffer gets the new address.
    #[inline]
    pub(in crate::device) fn moved(&mut self, lpn: Lpn, old_ppa: Ppa, new: Ppa) {
        if !self.map.is_valid(old_ppa) {
            return;
        }
        if !self.state.parity.member_moved(&self.shape, &self.map, lpn, old_ppa, new) {
            match self.map.lookup(lpn) {
                Mapping::Flash(ppa) => {
                    debug_assert_eq!(ppa, old_ppa);
                    self.map.set_flash(lpn, new);
                }
                Mapping::Buffer(in_buffer) => {
                    let held = self.state.write.buffer.slot_mut(in_buffer.slot());
                    debug_assert_eq!(held.old_ppa, old_ppa);
                    held.old_ppa = new;
                }
                Mapping::Unmapped => unreachable!("a valid unit is mapped"),
            }
        }
        self.state.validate(&mut self.map, &self.shape.layout, lpn, new);
        self.state.invalidate(&mut self.map, &self.shape.layout, old_ppa);
    }

    /// Move a unit inside its plane by copyback.
    pub(in crate::device) fn copy_back(&mut self, lane: u32, source: Ppa) {
        let Some(target) = self.take_collection_row(lane) else {
            self.state.gc.collections[lane as usize].reads -= 1;
            return self.stop_collecting(lane);
        };
        if self.state.gc.lacks_last_loop(&self.shape, target) {
            return self.hold_program(target, Program::Copyback { lane, source, target });
        }
        self.copy_back_to(lane, source, target);
    }

    /// Move a unit inside its plane by copyback to this row, which can be programmed.
    pub(super) fn copy_back_to(&mut self, lane: u32, source: Ppa, target: Ppa) {
        let place = self.shape.layout.place(source);
        let unit = self.shape.unit_of(place.die, place.plane);
        let (extent, _) = self.shape.layout.extent_of(target);
        let id = self.flash.order(FlashCommand {
            kind: OpKind::Copyback,
            occupant: Occupant::GcRead,
            owner: Work::Collection(lane).into(),
            unit,
            page: place.page,
            planes: 1 << place.plane,
            ppa: source,
            block: self.shape.block_of(place.extent),
            target: Target::Copy(CopyTo {
                ppa: target,
                page: self.shape.layout.place(target).page,
                block: self.shape.block_of(extent),
            }),
            ..FlashCommand::BLANK
        });
        self.submit_op(id);
    }

    /// Handle the end of a copyback: map the units to their new copies.
    #[inline(never)]
    pub(in crate::device) fn copied_back(&mut self, op: OpId, lane: u32) {
        if self.shape.fixed.may_fail && self.flash.has_failed(op) {
            return self.copyback_failed(op, lane);
        }
        let cmd = &self.flash.op(op).cmd;
        let (source, target) = (cmd.ppa, cmd.copy_to().ppa);
        debug_assert_eq!(
            self.shape.layout.extent_of(source).0,
            self.state.gc.collections[lane as usize].victim,
            "lane {lane} has copied {source}, which is not in its victim"
        );
        self.free_op(op);
        self.data.copied(source, target);
        self.moved(self.map.owner(source), source, target);
        let (extent, _) = self.shape.layout.extent_of(target);
        self.state.write.count_rows(&self.shape, &mut self.state.counters, lane, 1);
        self.state.gc.count_moved(&self.shape, &mut self.state.counters, lane, 1);
        let s = &mut self.state;
        s.extents.row_programmed(&self.shape.layout, extent);
        s.gc.collections[lane as usize].reads -= 1;
        self.state.scrub_if_filled(&self.shape.layout, extent);
        self.pump_collection(lane);
    }
}
