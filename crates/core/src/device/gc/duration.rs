//! How long a collection takes, and how long it blocks a busy unit for host reads. Read path policies decide by these
//! predictions whether a read waits or is reconstructed from parity.

use super::state::Gc;
use crate::address::BusyUnit;
use crate::device::drive::State;
use crate::device::shape::Shape;
use crate::flash::Flash;
use crate::flash::OpId;
use crate::ftl::config::CopyMode;
use crate::ftl::extents::Extents;
use crate::nand::OpKind;
use crate::observer::Observer;
use tailcut_units::{Occupant, Occupants, Span};

/// How long a collection blocks a busy unit for host reads. Times are predictions in ns; all are zero if no collection
/// blocks the unit.
#[derive(Clone, Copy, Default)]
pub(in crate::device) struct Blocked {
    /// Time until the busy unit is free.
    pub left: u64,
    /// The same time, as predicted when the collection began.
    pub as_begun: u64,
    /// Whether the collection has no further page to read, so that it is programming its last pages or erasing.
    pub last_step: bool,
    /// Time until the end of the operation under way in the busy unit.
    pub step: u64,
}

impl Blocked {
    /// The value for data on a dead plane.
    pub const FOR_EVER: Blocked =
        Blocked { left: u64::MAX, as_begun: u64::MAX, last_step: false, step: u64::MAX };

    /// For a busy unit whose scope is open: the remaining time of a collection's operation in its array, or the time
    /// that a read needs to interrupt it if that is less.
    fn of_operation<O: Observer>(flash: &Flash<O>, unit: BusyUnit, planes: u32) -> Blocked {
        let Some((holder, Span(left))) = flash.in_array(unit, planes) else { return Blocked::default() };
        let cmd = &flash.op(holder).cmd;
        if !Occupants::COLLECTION.has(cmd.occupant) {
            return Blocked::default();
        }
        let left = flash.gives_way_in(unit, Occupant::UserRead).map_or(left, |stop| stop.0.min(left));
        Blocked { left, as_begun: left, last_step: cmd.kind == OpKind::Erase, step: left }
    }
}

impl Shape {
    /// Time in which a collection moves a page if nothing disturbs it, ns.
    fn move_ns(&self) -> u64 {
        let t = &self.timing;
        let data = match self.copy {
            CopyMode::Copyback => 0,
            CopyMode::Controller => t.transfer_codewords_ns(self.codewords_per_unit),
        };
        2 * (t.command_ns + data) + t.read_ns(0) + t.program_ns(0)
    }

    /// Duration of a collection that moves `units` mapping units one by one, if nothing disturbs it, ns.
    pub(in crate::device) fn collection_ns(&self, units: u32) -> u64 {
        u64::from(units) * self.move_ns() + self.timing.command_ns + self.timing.erase_ns
    }
}

impl Gc {
    /// The remaining time of a lane's collection if nothing disturbs it, for the read path policy.
    fn collection_left<O: Observer>(
        &self,
        shape: &Shape,
        flash: &Flash<O>,
        extents: &Extents,
        now: u64,
        lane: u32,
    ) -> Blocked {
        let t = flash.timing();
        let unit = shape.units_of_lane(lane).start;
        let collection = &self.collections[lane as usize];
        let (victim, all_read, erasing) = collection.progress(shape.layout.units_per_extent);
        let as_begun = collection.ends.saturating_sub(now);
        let step = flash.array_left(unit).map_or(0, |left| left.0);
        if erasing {
            let left = if step > 0 { step } else { t.command_ns + t.erase_ns };
            return Blocked { left, as_begun, last_step: true, step };
        }
        // The page being moved still counts as valid, so subtract the part of its move that is done.
        let page = shape.move_ns();
        let pages = extents.valid(victim);
        let (mut done, mut last_step) = (0, all_read);
        let holder = flash.holder(unit).map(|op| flash.op(op));
        if holder.is_some_and(|op| op.cmd.kind == OpKind::Copyback && op.second) {
            done = page.saturating_sub(step);
            last_step = pages <= 1;
        }
        let left = (u64::from(pages) * page).saturating_sub(done) + t.command_ns + t.erase_ns;
        Blocked { left, as_begun, last_step, step }
    }

    /// How long a collection blocks some planes (a mask) of a unit for host reads.
    pub(in crate::device) fn unit_left<O: Observer>(
        &self,
        shape: &Shape,
        flash: &Flash<O>,
        extents: &Extents,
        now: u64,
        unit: BusyUnit,
        planes: u32,
    ) -> Blocked {
        if !flash.is_closed(unit) {
            return Blocked::of_operation(flash, unit, planes);
        }
        let closes = (0..self.collections.len() as u32)
            .filter(|&lane| self.collections[lane as usize].closes && shape.scope_covers(lane, unit));
        closes
            .map(|lane| self.collection_left(shape, flash, extents, now, lane))
            .max_by_key(|b| b.left)
            .unwrap_or_default()
    }
}

impl State {
    /// How long a collection blocks a host read; [`Blocked::FOR_EVER`] if its plane is dead.
    #[inline]
    pub(in crate::device) fn left_for<O: Observer>(
        &self,
        shape: &Shape,
        flash: &Flash<O>,
        op: OpId,
    ) -> Blocked {
        let cmd = &flash.op(op).cmd;
        if self.faults.is_lost(&shape.layout, cmd.ppa) {
            Blocked::FOR_EVER
        } else {
            self.gc.unit_left(shape, flash, &self.extents, self.now, cmd.unit, cmd.planes)
        }
    }
}
