//! The audit of collections: their operations under way, and the reasons for their waits.

use super::collect::Stage;
use super::erase::Program;
use crate::address::BusyUnit;
use crate::device::drive::Device;
use crate::device::gc::state::Gc;
use crate::device::parity::state::Parity;
use crate::device::shape::Shape;
use crate::device::work::Work;
use crate::device::write::state::Writes;
use crate::flash::Flash;
use crate::ftl::extents::Writer;
use crate::medium::Medium;
use crate::nand::ErasePart;
use crate::nand::OpKind;
use crate::observer::Observer;
use crate::policy::gc_scope::Scope;

impl Shape {
    /// Whether the collection of a lane closes this busy unit to host operations. The audit computes it independently
    /// of [`Shape::scope_covers`].
    pub(in crate::device) fn scope_closes(&self, lane: u32, unit: BusyUnit) -> bool {
        let own = self.units_of_lane(lane);
        match self.fixed.gc_scope {
            Scope::Operation => false,
            Scope::Unit { .. } => own.contains(&unit),
            Scope::Controller => true,
            Scope::Channel => {
                let channels = self.channel_of(own.start)..=self.channel_of(BusyUnit(own.end.0 - 1));
                channels.contains(&self.channel_of(unit))
            }
        }
    }
}

impl Gc {
    /// By lane, the reads, programs and erases that a collection has under way. Deferred last loops are not counted.
    fn operations<O: Observer>(&self, flash: &Flash<O>, write: &Writes, parity: &Parity) -> [Vec<u32>; 3] {
        let [mut reads, mut programs, mut erases] = [(); 3].map(|()| vec![0; self.collections.len()]);
        for id in flash.ops_in_use() {
            let cmd = &flash.op(id).cmd;
            if let Work::Collection(lane) = Work::from(cmd.owner) {
                match (cmd.kind, cmd.part) {
                    (OpKind::Erase, ErasePart::Last) => {}
                    (OpKind::Erase, _) => erases[lane as usize] += 1,
                    _ => reads[lane as usize] += 1,
                }
            }
        }
        for id in parity.mends.in_use() {
            reads[parity.mends[id].lane as usize] += 1;
        }
        for (_, program) in self.last_loops.held() {
            if let Program::Copyback { lane, .. } = program {
                reads[lane as usize] += 1;
            }
        }
        for unit in write.units.in_use().into_iter().map(|id| &write.units[id]) {
            programs[unit.lane as usize] += u32::from(unit.writer == Writer::Collection);
        }
        [reads, programs, erases]
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Check that each collection counts its operations correctly, and waits only for operations that exist.
    pub(in crate::device) fn audit_collections(&self) -> Result<(), String> {
        let s = &self.state;
        let collections = &s.gc.collections;
        let [reads, programs, erases] = s.gc.operations(&self.flash, &s.write, &s.parity);
        for (lane, c) in collections.iter().enumerate() {
            let counts = (reads[lane], programs[lane], erases[lane]);
            law!(
                counts == (c.reads, c.programs, c.erases),
                "collection of lane {lane}: reads, programs, erases {counts:?} and {:?}",
                (c.reads, c.programs, c.erases)
            );
            let busy = c.reads + c.programs + c.erases > 0;
            match c.stage {
                Stage::Idle => {
                    law!(!busy && c.staged.is_empty(), "lane {lane} collects without a victim");
                    continue;
                }
                Stage::Copying => {
                    law!(busy || c.waiting, "collection of lane {lane} neither moves nor waits");
                    law!(
                        c.cursor <= self.shape.layout.units_per_extent,
                        "collection of lane {lane} looks at unit {} of {}",
                        c.cursor,
                        self.shape.layout.units_per_extent
                    );
                    let view = self.state.space(&self.shape, &self.flash, lane as u32);
                    law!(
                        busy || self.state.gc.scope_is_taken(&self.shape, lane as u32)
                            || !s.policies.gc_schedule.proceed(&view),
                        "collection of lane {lane} waits for host operations that are not there"
                    );
                }
                Stage::Draining => s.audit_drain(c, busy)?,
                Stage::Erasing => law!(c.erases > 0, "lane {lane} erases nothing"),
            }
            for &(_, ppa) in &c.staged {
                let (extent, _) = self.shape.layout.extent_of(ppa);
                law!(extent == c.victim, "lane {lane} moves {ppa} out of extent {extent}");
            }
        }
        let active = collections.iter().filter(|c| c.is_active()).count();
        law!(s.gc.under_way == active as u32, "{active} collections are under way, {}", s.gc.under_way);
        let waiting = collections.iter().filter(|c| c.waiting).count();
        law!(s.gc.waiting == waiting as u32, "{waiting} collections wait, {}", s.gc.waiting);
        Ok(())
    }

    /// Check deferred last loops: an extent whose last loop has not been issued is free, programs are held only while a
    /// last loop is under way, and the erases under way are counted.
    pub(in crate::device) fn audit_last_loops(&self) -> Result<(), String> {
        let s = &self.state.gc.last_loops;
        let mut under_way = vec![0; self.shape.layout.extents() as usize];
        for id in self.flash.ops_in_use() {
            let cmd = &self.flash.op(id).cmd;
            under_way[if cmd.part == ErasePart::Last { cmd.extent as usize } else { continue }] += 1;
        }
        for (extent, (erases, held)) in s.under_way().enumerate() {
            let found = under_way[extent];
            law!(erases == found, "extent {extent} counts {erases} last loops of {found}");
            law!((held > 0) == (erases > 0), "extent {extent} holds {held} programs for {erases} last loops");
        }
        let deferred: Vec<u32> = s.deferred().collect();
        if !deferred.is_empty() {
            let lanes = 0..self.shape.layout.lanes;
            let free: Vec<u32> = lanes.flat_map(|lane| self.state.extents.free_extents(lane)).collect();
            let used = deferred.iter().find(|extent| !free.contains(extent));
            law!(used.is_none(), "extent {used:?} is used, and the last loop of its erase is not ordered");
        }
        let (held, (_, counted)) = (s.held().count(), self.last_loops());
        law!(held == counted, "{held} programs wait for last loops, and {counted} are counted");
        Ok(())
    }
}
