//! The whole audit: every check in order, the totals, and the state of an idle drive.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::gc::collect::{Collection, Stage};
use crate::ftl::map::{InBuffer, Mapping};
use crate::medium::Medium;
use crate::observer::Observer;
use tailcut_units::SimTime;

impl Copies<'_> {
    /// The copies on flash of a logical unit and of the other members of its stripe, each with whether
    /// its extent is being collected.
    pub fn of_stripe(&self, lpn: Lpn) -> Vec<(Ppa, bool)> {
        let copies: Vec<Ppa> = match &self.shape.stripes {
            Some(x) => x.members(x.stripe_of(lpn)).filter_map(|unit| self.flash_copy(unit)).collect(),
            None => match self.map.lookup(lpn) {
                Mapping::Unmapped => Vec::new(),
                Mapping::Flash(ppa) => vec![ppa],
                Mapping::Buffer(held) => vec![self.copy_below(lpn, held.slot())],
            },
        };
        let is_collected = |ppa: Ppa| {
            let (extent, _) = self.shape.layout.extent_of(ppa);
            let (lane, _) = self.shape.layout.lane_of(extent);
            self.gc.collections[lane as usize].target() == Some(extent)
        };
        copies.into_iter().map(|ppa| (ppa, ppa != Ppa::NONE && is_collected(ppa))).collect()
    }

    /// Whether a flush of the unit's stripe has all data for the new parity and has not committed yet.
    pub fn is_gathered(&self, lpn: Lpn) -> bool {
        let Some(stripes) = &self.shape.stripes else { return false };
        let job = self.job_of(stripes.stripe_of(lpn));
        job != NONE && self.parity.stripes.jobs[job].reads == 0
    }

    /// Whether a logical unit is being rewritten and its only copy is in the controller, because the copy on flash
    /// could not be read when a collection needed its place.
    pub fn is_in_controller_alone(&self, lpn: Lpn) -> bool {
        let slot = match self.map.lookup(lpn) {
            Mapping::Buffer(held) => self.write.buffer.slot(held.slot()),
            _ => return false,
        };
        slot.moving && self.shape.fixed.may_fail
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// The present place of a logical unit's data. A unit that is being moved counts at its old place.
    pub fn whereabouts(&self, lpn: Lpn) -> Mapping {
        match self.map.lookup(lpn) {
            place @ Mapping::Buffer(InBuffer::Slot(slot)) if self.state.write.buffer.slot(slot).moving => {
                match self.copies().copy_below(lpn, slot) {
                    Ppa::NONE => place,
                    old_ppa => Mapping::Flash(old_ppa),
                }
            }
            place => place,
        }
    }

    /// Whether nothing is under way: no command, no operation, no timer.
    pub fn is_quiescent(&self) -> bool {
        self.outstanding() == 0 && self.next_deadline() == SimTime::NEVER
    }

    /// Check every conservation law over the whole state. The error names the law that is broken
    /// and where.
    pub fn audit(&self) -> Result<(), String> {
        self.flash.audit()?;
        self.state.faults.audit_ops(&self.shape.layout, &self.flash)?;
        self.copies().audit_map()?;
        self.audit_extents()?;
        self.audit_blocks()?;
        self.audit_rows()?;
        self.state.write.audit_buffer(&self.shape, &self.state.faults, &self.state.parity)?;
        self.state.write.audit_write_units(&self.flash, &self.state.faults, &self.state.gc)?;
        self.copies().audit_stripe_places()?;
        self.copies().audit_rewriting()?;
        self.audit_collections()?;
        self.audit_last_loops()?;
        self.state.gc.audit_gates(&self.shape, &self.flash)?;
        self.audit_commands()?;
        self.audit_counters()?;
        if self.is_quiescent() { self.audit_rest() } else { Ok(()) }
    }

    /// Check that totals agree with each other.
    fn audit_counters(&self) -> Result<(), String> {
        let (c, e) = (&self.state.counters, &self.state.extents);
        law!(c.erases <= e.erases, "{} erases counted of {}", c.erases, e.erases);
        let units = c.programs();
        let rows = c.rows_programmed * u64::from(self.shape.layout.units_per_row);
        law!(units == rows, "{units} units programmed by class and {rows} by rows");
        let by_lane: u64 = self.programs_by_lane().iter().sum();
        law!(c.rows_programmed <= by_lane, "{} rows counted of {by_lane} by lane", c.rows_programmed);
        Ok(())
    }

    /// Check the counts of the blocks, and that each block is bad, spare or in use.
    fn audit_blocks(&self) -> Result<(), String> {
        let e = &self.state.extents;
        let blocks = self.flash.blocks();
        let layout = &self.shape.layout;
        let suspended: u64 = blocks.suspensions().iter().map(|&n| u64::from(n)).sum();
        let counted = self.flash.counters().erase_suspension.suspends;
        law!(counted <= suspended, "{counted} suspensions counted, blocks remember {suspended}");
        let lane_of_plane = |plane: u32| plane / layout.blocks_per_extent();
        blocks.audit(|plane, index| {
            let lane = lane_of_plane(plane);
            let extent = lane * layout.stride + index;
            let usable = layout.usable[lane as usize];
            if (usable..usable + layout.slc_extents).contains(&index) {
                return true;
            }
            // Retired extents keep their blocks where extents can have holes.
            index < usable && (e.holes().is_some() || !e.retired().contains(&extent))
        })?;
        self.audit_cycles()?;
        self.state.slc.audit_cycles(layout, blocks, |extent| {
            let is_erased = |c: &Collection| c.stage == Stage::Erasing && c.victim == extent.0;
            self.state.gc.collections.iter().any(is_erased)
        })
    }

    /// Check that all blocks of an extent have the same number of erases, and that the sum over all extents equals the
    /// counter. Blocks that are bad, in a hole, on a dead plane, or that have replaced another one are not checked.
    fn audit_cycles(&self) -> Result<(), String> {
        let (e, layout, blocks) = (&self.state.extents, &self.shape.layout, self.flash.blocks());
        let planes = 0..self.shape.bad.len() as u32;
        let own: Vec<Vec<bool>> =
            planes.map(|plane| blocks.never_replaced(plane, e.holes().is_some())).collect();
        let (mut cycles, mut under_way) = (0, 0);
        for extent in 0..layout.extents() {
            let (lane, index) = layout.lane_of(extent);
            if index >= layout.usable[lane as usize] || e.retired().contains(&extent) {
                continue;
            }
            let is_counted = |plane: &u32| {
                let part = layout.part_of_plane(*plane).1;
                let same = own[*plane as usize][index as usize] && !blocks.is_bad(blocks.id(*plane, index));
                same && !self.state.faults.is_gap(&self.shape.layout, &self.state.extents, extent, lane, part)
            };
            let of_block =
                |plane| u64::from(blocks.cycles_at(blocks.place(plane, index)) - blocks.past().cycles);
            let counts = layout.planes_of(lane).filter(is_counted).map(of_block);
            let (least, most) = counts.fold((u64::MAX, 0), |(least, most), n| (n.min(least), n.max(most)));
            if most == 0 && least == u64::MAX {
                continue;
            }
            let collection = &self.state.gc.collections[lane as usize];
            let last_loop = self.state.gc.last_loops.erases(extent) > 0;
            let erasing = collection.stage == Stage::Erasing && collection.victim == extent || last_loop;
            // An erase may have been under way when the lane died.
            law!(
                least == most || erasing && least + 1 == most || self.state.faults.is_dead(lane),
                "blocks of extent {extent} have {least} to {most} P/E cycles"
            );
            // A last loop that has not ended will add a cycle.
            cycles += least + u64::from(self.state.gc.last_loops.is_unfinished(extent));
            under_way += u64::from(erasing);
        }
        let grown_bad = blocks.counts().is_some_and(|counts| counts.grown_bad > 0);
        let all = !grown_bad && self.state.faults.dead_parts.is_empty();
        law!(
            // The blocks that are checked may be erased before the others of their extent.
            cycles == e.erases || !all && cycles <= e.erases + under_way,
            "P/E counts add up to {cycles}, erases to {}",
            e.erases
        );
        Ok(())
    }

    /// Check the state of an idle drive.
    fn audit_rest(&self) -> Result<(), String> {
        let s = &self.state;
        // A read-only drive may hold data that can no longer reach flash.
        let waits = if self.state.faults.is_read_only() {
            s.write.stalled.waiting + s.faults.again.waiting
        } else {
            0
        };
        law!(
            s.write.units.used() == waits as usize,
            "{} write units in an idle drive, {waits} wait",
            s.write.units.used()
        );
        let in_flight = s.write.buffer.held() - s.write.buffer.dirty();
        law!(
            in_flight == 0 || self.state.faults.is_read_only(),
            "{in_flight} slots in flight in an idle drive"
        );
        if !self.state.faults.is_read_only() {
            s.extents.audit_rest()?;
        }
        let active = s.gc.collections.iter().position(|c| c.is_active());
        law!(active.is_none(), "the collection of lane {active:?} is active in an idle drive");
        law!(s.readers.count() == 0 && s.parity.targets.count() == 0, "reads in an idle drive");
        self.flash.audit_rest()
    }
}
