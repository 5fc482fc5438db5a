//! The audit of the slots of the write buffer and of the write units.

use crate::containers::NONE;
use crate::device::faults::state::FaultState;
use crate::device::gc::erase::Program;
use crate::device::gc::state::Gc;
use crate::device::parity::state::Parity;
use crate::device::shape::Shape;
use crate::device::work::Work;
use crate::device::write::state::Writes;
use crate::flash::Flash;
use crate::ftl::extents::Writer;
use crate::nand::OpKind;
use crate::observer::Observer;

impl Writes {
    /// Check that a slot in flight is in one write unit.
    pub(in crate::device) fn audit_buffer(
        &self,
        shape: &Shape,
        faults: &FaultState,
        parity: &Parity,
    ) -> Result<(), String> {
        let b = &self.buffer;
        b.audit(shape.fixed.acknowledge_held || faults.is_read_only())?;
        let mut in_units = vec![0; b.slots() as usize];
        let upr = shape.layout.units_per_row;
        for group in self.units.in_use() {
            let g = &self.units[group];
            if g.writer != Writer::Host || g.stripe != NONE {
                continue;
            }
            law!(g.count >= 1 && g.count <= upr, "write unit {group} holds {} units", g.count);
            for i in 0..g.count {
                let (lpn, source) = self.members[(group * upr + i) as usize];
                let slot = source.slot();
                law!(
                    b.slot(slot).lpn == lpn,
                    "write unit {group}: slot {slot} holds {} and not {lpn}",
                    b.slot(slot).lpn
                );
                in_units[slot as usize] += 1;
            }
        }
        let stripes = &parity.stripes;
        for job in stripes.jobs.in_use() {
            for m in stripes.members[stripes.members_of(job)].iter().filter(|m| m.slot != NONE && !m.done) {
                let held = b.slot(m.slot).lpn;
                law!(held == m.unit, "job {job}: slot {} holds {held} and not {}", m.slot, m.unit);
                in_units[m.slot as usize] += 1;
            }
        }
        let dies = if shape.fixed.flushes_by_die { shape.layout.lanes / shape.lanes_of_die() } else { 0 };
        for die in 0..dies {
            law!(
                self.ready.has(die) || !self.fills_group(shape, die),
                "die {die} has a complete group and is not ready"
            );
        }
        for (i, slot) in b.in_use() {
            let (found, expected) = (in_units[i as usize], u32::from(slot.in_flight));
            law!(found == expected, "slot {i} is in {found} write units");
        }
        Ok(())
    }

    /// Check that a write unit waits for reads, or waits for room, or is being programmed.
    pub(in crate::device) fn audit_write_units<O: Observer>(
        &self,
        flash: &Flash<O>,
        faults: &FaultState,
        gc: &Gc,
    ) -> Result<(), String> {
        let groups = self.units.in_use();
        let mut waits = std::collections::BTreeMap::new();
        let mut waiting = 0;
        for stalled in [&self.stalled, &faults.again] {
            for (list, l) in stalled.lists.iter().enumerate() {
                for g in l.walk(&stalled.links, "a list of stalled write units")? {
                    law!(self.units[g].writer == Writer::Host, "a collection's write unit {g} is stalled");
                    law!(waits.insert(g, list).is_none(), "write unit {g} is stalled twice");
                }
            }
            waiting += stalled.waiting as usize;
        }
        law!(waits.len() == waiting, "{} write units are stalled", waits.len());
        let mut reads = std::collections::BTreeMap::new();
        let mut programs = std::collections::BTreeMap::new();
        let mut load = vec![0; self.lane_load.len()];
        for (_, program) in gc.last_loops.held() {
            let Program::Unit { write_unit, .. } = program else { continue };
            law!(waits.insert(write_unit, 0).is_none(), "write unit {write_unit} is held and stalled");
            if self.units[write_unit].writer == Writer::Host {
                load[self.units[write_unit].lane as usize] += 1;
            }
        }
        for id in flash.ops_in_use() {
            let o = &flash.op(id).cmd;
            if let Work::WriteUnit(g) = Work::from(o.owner) {
                let count = if o.kind == OpKind::Read { &mut reads } else { &mut programs };
                *count.entry(g).or_insert(0) += 1;
                if o.kind == OpKind::Program && self.units[g].writer == Writer::Host {
                    load[self.units[g].lane as usize] += 1;
                }
            }
        }
        for &g in &groups {
            let (r, p) = (reads.remove(&g).unwrap_or(0), programs.remove(&g).unwrap_or(0));
            let w = u32::from(waits.remove(&g).is_some());
            law!(self.units[g].reads == r, "write unit {g} waits for {} reads of {r}", self.units[g].reads);
            law!(
                p == 0 || self.units[g].programs == p,
                "write unit {g} waits for {} programs of {p}",
                self.units[g].programs
            );
            law!(
                u32::from(r > 0) + u32::from(p > 0) + w == 1,
                "write unit {g}: {r} reads, {p} programs, stalled {w}"
            );
        }
        law!(
            waits.is_empty() && reads.is_empty() && programs.is_empty(),
            "a write unit at work is not in use"
        );
        for (lane, &n) in self.lane_load.iter().enumerate() {
            law!(n.programs() == load[lane], "lane {lane}: load {} of {}", n.programs(), load[lane]);
        }
        Ok(())
    }
}
