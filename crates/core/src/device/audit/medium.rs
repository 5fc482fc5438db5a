//! Audits of the map, stripes, extents and rows: the owner of each unit, and the state of each
//! extent and row.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::device::copies::Copies;
use crate::device::drive::Device;
use crate::device::gc::collect::Collection;
use crate::ftl::extents::AuditView;
use crate::ftl::map::{InBuffer, Mapping};
use crate::medium::Medium;
use crate::nand::OpKind;
use crate::observer::Observer;

impl Copies<'_> {
    /// Check that units of a stripe on flash are on the lanes of the stripe's place. While the
    /// stripe is being flushed, its old copies may be elsewhere. Check that groups count their
    /// stripes, and have no more than their limit.
    pub(super) fn audit_stripe_places(&self) -> Result<(), String> {
        let Some(stripes) = &self.shape.stripes else { return Ok(()) };
        let layout = &self.shape.layout;
        let mut held = vec![0; stripes.groups as usize];
        for stripe in 0..stripes.count {
            held[self.parity.places.group_of(stripes, stripe) as usize] += 1;
            let job = self.job_of(stripe);
            for unit in stripes.members(stripe) {
                let home = self.target_lane(unit);
                let there = match self
                    .parity
                    .stripes
                    .member_of(job, unit)
                    .map(|i| self.parity.stripes.members[i].ppa)
                {
                    None => self.copy_beside(job, unit),
                    Some(ppa) => Some(ppa).filter(|&ppa| ppa != Ppa::NONE),
                };
                let there =
                    there.filter(|_| job == NONE || self.parity.stripes.member_of(job, unit).is_some());
                law!(
                    there.is_none_or(
                        |ppa| layout.lane_at(ppa) == home || self.faults.is_lost(&self.shape.layout, ppa)
                    ),
                    "unit {unit} of stripe {stripe} is at {there:?} and not in lane {home}"
                );
            }
        }
        for job in self.parity.stripes.jobs.in_use() {
            let left = self.parity.stripes.jobs[job].left;
            if left != NONE {
                held[left as usize] += 1;
            }
        }
        if self.shape.fixed.moves_stripes {
            law!(
                held == self.parity.places.held(),
                "groups have {held:?} stripes and count {:?}",
                self.parity.places.held()
            );
            let fits = held.iter().zip(self.parity.places.most()).all(|(held, most)| held <= most);
            law!(fits, "groups have {held:?} stripes of {:?}", self.parity.places.most());
            let mut groups = vec![0; held.len()];
            for (lane, &n) in (0..).zip(self.write.programs.lanes()) {
                groups[stripes.group_of_lane(lane) as usize] += n;
            }
            law!(groups == self.write.programs.groups(), "groups count other programs than their lanes");
        }
        Ok(())
    }

    /// Check that every valid physical unit is owned by exactly one logical unit: the one that maps
    /// to it, or whose buffer slot keeps it as the old copy.
    pub(super) fn audit_map(&self) -> Result<(), String> {
        let layout = &self.shape.layout;
        let mut claimed = vec![false; layout.units() as usize];
        let mut claims = 0u64;
        let mut claim = |lpn: Lpn, ppa: Ppa, how: &str| -> Result<(), String> {
            law!(ppa.0 < layout.units(), "unit {lpn} is {how} {ppa}, which does not exist");
            law!(self.map.is_valid(ppa), "unit {lpn} is {how} {ppa}, which is stale");
            law!(self.map.owner(ppa) == lpn, "unit {lpn} is {how} {ppa}, which {} owns", self.map.owner(ppa));
            law!(!claimed[ppa.index()], "unit {lpn} is {how} {ppa}, which is claimed twice");
            claimed[ppa.index()] = true;
            claims += 1;
            Ok(())
        };
        let buffer = &self.write.buffer;
        let mut mapped = vec![false; buffer.slots() as usize];
        for lpn in Lpn(0).run(self.map.forward.len() as u32) {
            let stripes = self.shape.stripes.as_ref().filter(|x| x.is_parity(lpn));
            match self.map.lookup(lpn) {
                Mapping::Unmapped => {}
                Mapping::Flash(ppa) => claim(lpn, ppa, "at")?,
                Mapping::Buffer(InBuffer::Stripe(entry)) => {
                    let e = self.parity.stripes.dirty.entry(entry);
                    let stripe = stripes.map(|x| x.stripe_of(lpn));
                    law!(
                        Some(e.stripe) == stripe,
                        "parity {lpn} is in entry {entry}, of stripe {}",
                        e.stripe
                    );
                    if e.old_ppa != Ppa::NONE {
                        claim(lpn, e.old_ppa, "parity under way, formerly at")?;
                    }
                }
                Mapping::Buffer(InBuffer::Slot(slot)) => {
                    law!(slot < buffer.slots(), "unit {lpn} is in slot {slot}, which does not exist");
                    let held = buffer.slot(slot);
                    law!(held.lpn == lpn, "unit {lpn} is in slot {slot}, which holds {}", held.lpn);
                    mapped[slot as usize] = true;
                    if held.old_ppa != Ppa::NONE {
                        claim(lpn, held.old_ppa, "buffered, formerly at")?;
                    }
                }
            }
        }
        for job in self.parity.stripes.jobs.in_use() {
            for m in &self.parity.stripes.members[self.parity.stripes.members_of(job)] {
                if m.old_ppa != Ppa::NONE {
                    claim(m.unit, m.old_ppa, "on its way, formerly at")?;
                }
            }
        }
        let bits: u64 = self.map.valid.iter().map(|w| u64::from(w.count_ones())).sum();
        law!(bits == claims, "{bits} units are valid and {claims} are mapped");
        for (i, slot) in buffer.in_use() {
            let mapped = std::mem::take(&mut mapped[i as usize]);
            law!(
                mapped || slot.old_ppa == Ppa::NONE,
                "slot {i} keeps {} for unit {}, which is elsewhere",
                slot.old_ppa,
                slot.lpn
            );
            law!(mapped || slot.in_flight, "dirty slot {i} holds unit {}, which is elsewhere", slot.lpn);
        }
        law!(!mapped.contains(&true), "a slot is mapped and spare");
        Ok(())
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Check that a stripe with data on flash has its parity there and, with a medium with data,
    /// that data and parity cancel out byte by byte. This holds at any time between two events; old
    /// copies count for units in flight.
    pub fn audit_parity(&self) -> Result<(), String> {
        let Some(stripes) = &self.shape.stripes else { return Ok(()) };
        for stripe in (0..stripes.count).filter(|stripe| !self.state.faults.broken.contains(stripe)) {
            let ppas: Vec<Ppa> =
                stripes.members(stripe).filter_map(|u| self.copies().flash_copy(u)).collect();
            let has_parity = self.copies().flash_copy(stripes.parity(stripe)).is_some();
            law!(ppas.is_empty() || has_parity, "stripe {stripe} has data on flash and no parity");
            let units: Vec<(Ppa, u8)> = ppas.iter().map(|&ppa| (ppa, 1)).collect();
            law!(self.data.medium.cancels(&units), "the parity of stripe {stripe} is not that of {ppas:?}");
        }
        Ok(())
    }

    /// Check that extents agree with the map, with operations under way and with the collections.
    pub(in crate::device) fn audit_extents(&self) -> Result<(), String> {
        let layout = &self.shape.layout;
        let n = layout.extents() as usize;
        let each = layout.units_per_extent;
        let valid_units = |extent: u32| {
            let masks = (0..each)
                .step_by(64)
                .map(|at| self.map.valid_mask(Ppa(extent * each + at), (each - at).min(64)).count_ones());
            masks.sum()
        };
        let valid: Vec<u32> = (0..layout.extents()).map(valid_units).collect();
        let (mut pending_rows, mut readers) = (vec![0; n], vec![0; n]);
        let targets = &self.state.parity.targets;
        for (_, extent) in self.state.readers.iter().chain(targets.iter()) {
            readers[extent as usize] += 1;
        }
        let mut kept: std::collections::BTreeMap<u32, u32> = self.state.readers.iter().collect();
        let mut rows = std::collections::BTreeSet::new();
        for id in self.flash.ops_in_use() {
            let op = self.flash.op(id);
            match op.cmd.kind {
                // A row may take several programs.
                OpKind::Program if !rows.insert(op.cmd.ppa) => {}
                OpKind::Program => pending_rows[op.cmd.extent as usize] += 1,
                OpKind::Copyback => pending_rows[layout.extent_of(op.cmd.copy_to().ppa).0 as usize] += 1,
                // If reads can fail, they keep their extents from being erased until their data are decoded or given
                // up.
                OpKind::Read => {
                    let keeps = !op.second || self.shape.fixed.may_fail;
                    law!(
                        kept.remove(&id.number()) == keeps.then_some(op.cmd.extent),
                        "{op:?} keeps no extent"
                    );
                }
                OpKind::Erase => {}
            }
        }
        law!(kept.is_empty(), "extents are kept by reads that are not under way: {kept:?}");
        for row in self.state.gc.held_rows(&self.state.write) {
            pending_rows[layout.extent_of(row).0 as usize] += 1;
        }
        let stripes = &self.state.parity.stripes;
        for job in stripes.jobs.in_use() {
            // Programmed rows of a stripe count until the stripe commits.
            for member in stripes.members[stripes.members_of(job)].iter().filter(|m| m.done) {
                pending_rows[layout.extent_of(member.ppa).0 as usize] += 1;
            }
        }
        if self.shape.fixed.may_fail {
            // A reconstruction keeps the extent of the unit that it computes from being erased.
            let rebuilds = &self.state.parity.rebuilds;
            let of = |rid: u32| (rid, layout.extent_of(rebuilds[rid].ppa).0);
            law!(targets.iter().eq(rebuilds.in_use().into_iter().map(of)), "extents of reconstructions");
        }
        let collected: Vec<Option<u32>> = self.state.gc.collections.iter().map(Collection::target).collect();
        let seen = AuditView {
            valid: &valid,
            pending_rows: &pending_rows,
            readers: &readers,
            collected: &collected,
        };
        self.state.extents.audit(layout, &seen)?;
        self.state.slc.region.audit(layout, &valid, &pending_rows, &collected)
    }

    /// Check that valid units and reads are in rows that were programmed, and that rows under way
    /// are distinct.
    pub(in crate::device) fn audit_rows(&self) -> Result<(), String> {
        let layout = &self.shape.layout;
        let taken = self.state.rows_written(layout);
        let rows = layout.rows_per_extent;
        let is_taken = |row: u32| {
            let (extent, row) = (row / rows, row % rows);
            let hole = self.state.extents.is_hole(layout, extent, layout.part_of(row));
            row < taken[extent as usize] && !hole
        };
        let mut written: Vec<bool> = (0..layout.units() / layout.units_per_row).map(is_taken).collect();
        let mut under_way = std::collections::BTreeMap::new();
        for id in self.flash.ops_in_use() {
            let o = &self.flash.op(id).cmd;
            if matches!(o.kind, OpKind::Program | OpKind::Copyback) {
                let start = if o.kind == OpKind::Program { o.ppa } else { o.copy_to().ppa };
                let (row, slot) = layout.row_of(start);
                law!(slot == 0, "a program begins inside a row, at {start}");
                law!(written[row as usize], "row {row} is programmed without having been taken");
                let planes = under_way.entry(row).or_insert(0);
                law!(*planes & o.planes == 0, "row {row} is programmed twice at once");
                *planes |= o.planes;
            }
        }
        for held in self.state.gc.held_rows(&self.state.write) {
            let (row, _) = layout.row_of(held);
            law!(under_way.insert(row, u32::MAX).is_none(), "row {row} is held, and is programmed");
            law!(written[row as usize], "row {row} is held without having been taken");
        }
        for &row in under_way.keys() {
            written[row as usize] = false;
        }
        for (row, _) in written.iter().enumerate().filter(|&(_, &w)| !w) {
            let start = Ppa(row as u32 * layout.units_per_row);
            let valid = start.run(layout.units_per_row).find(|&p| self.map.is_valid(p));
            law!(valid.is_none(), "unit {valid:?} is valid in row {row}, which is not programmed");
        }
        for id in self.flash.ops_in_use() {
            let op = self.flash.op(id);
            if op.second || !matches!(op.cmd.kind, OpKind::Read | OpKind::Copyback) {
                continue;
            }
            let (source, _) = layout.row_of(op.cmd.ppa);
            law!(written[source as usize], "row {source} is read and was not programmed");
        }
        Ok(())
    }
}
