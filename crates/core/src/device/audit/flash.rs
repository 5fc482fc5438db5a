//! Audits of the flash: operations on dead planes, and the busy units that collections close.

use crate::address::BusyUnit;
use crate::device::faults::state::FaultState;
use crate::device::gc::state::Gc;
use crate::device::shape::Shape;
use crate::flash::Flash;
use crate::ftl::layout::Layout;
use crate::nand::OpKind;
use crate::observer::Observer;
use tailcut_units::Occupant;

impl FaultState {
    /// Check that no read of a plane was queued after the death of the plane.
    pub(super) fn audit_ops<O: Observer>(&self, layout: &Layout, flash: &Flash<O>) -> Result<(), String> {
        for id in flash.ops_in_use() {
            let op = flash.op(id);
            let read = op.cmd.kind == OpKind::Read && op.cmd.occupant != Occupant::GcRead;
            law!(
                !(read && self.is_dead_at(layout, op.cmd.ppa) && op.entered > self.died_at),
                "operation {} reads a dead plane",
                id.number()
            );
        }
        Ok(())
    }
}

impl Gc {
    /// Check that each busy unit is closed by as many collections as claim to close it.
    pub(super) fn audit_gates<O: Observer>(&self, shape: &Shape, flash: &Flash<O>) -> Result<(), String> {
        let collections = &self.collections;
        for unit in (0..shape.units).map(BusyUnit) {
            let count = |closes: &dyn Fn(u32) -> bool| {
                (0..collections.len() as u32).filter(|&lane| closes(lane)).count() as u32
            };
            let host = count(&|l| collections[l as usize].closes && shape.scope_closes(l, unit));
            let programs =
                count(&|l| collections[l as usize].closes_programs && shape.may_close_to_programs(l, unit));
            let counted = flash.closed_by(unit);
            law!(
                counted == (host, programs),
                "unit {unit}: {host} and {programs} collections close it, and it counts {counted:?}"
            );
            let at_unit = |l: u32| shape.units_of_lane(l).contains(&unit);
            let notified = |i: usize| count(&|l| at_unit(l) && self.notice_of(shape, l)[i]);
            let (notified, counted) = ((notified(0), notified(1)), flash.collecting_at(unit));
            law!(
                counted == notified,
                "unit {unit}: {notified:?} collections are under way, and it counts {counted:?}"
            );
        }
        Ok(())
    }
}
