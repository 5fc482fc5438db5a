//! The flash and the map: who owns each unit, which state each extent and row is in.

use super::forms::{BufferForm, CollectionForm, ExtentsForm, StageForm, walk};
use crate::containers::NONE;
use crate::device::drive::Device;
use crate::device::medium::Medium;
use crate::ftl::map::Place;
use crate::nand::OpKind;
use crate::observer::Observer;

/// The bit of an extent's count that closes it to collection.
const CLOSED_TO_COLLECTION: u32 = 1 << 31;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Every valid physical unit is owned by exactly the logical unit that maps to it,
    /// or whose buffer slot keeps it as its former copy.
    pub(super) fn audit_map(&self, buffer: &BufferForm) -> Result<(), String> {
        let layout = &self.shape.layout;
        let mut claimed = vec![false; layout.units() as usize];
        let mut claims = 0u64;
        let mut claim = |lpn: u32, pua: u32, how: &str| -> Result<(), String> {
            law!(pua < layout.units(), "unit {lpn} is {how} {pua}, which does not exist");
            law!(self.map.is_valid(pua), "unit {lpn} is {how} {pua}, which is stale");
            law!(self.map.owner(pua) == lpn, "unit {lpn} is {how} {pua}, which {} owns", self.map.owner(pua));
            law!(!claimed[pua as usize], "unit {lpn} is {how} {pua}, which is claimed twice");
            claimed[pua as usize] = true;
            claims += 1;
            Ok(())
        };
        let mut mapped = vec![false; buffer.slots.len()];
        for lpn in 0..self.map.forward.len() as u32 {
            let stripes = self.shape.stripes.as_ref().filter(|x| x.is_parity(lpn));
            match self.map.lookup(lpn) {
                Place::Unmapped => {}
                Place::Flash(pua) => claim(lpn, pua, "at")?,
                Place::Buffer(entry) if stripes.is_some() => {
                    let e = self.state.stripes.dirty.entry(entry);
                    let stripe = stripes.map(|x| x.stripe_of(lpn));
                    law!(
                        Some(e.stripe) == stripe,
                        "parity {lpn} is in entry {entry}, of stripe {}",
                        e.stripe
                    );
                    if e.former != NONE {
                        claim(lpn, e.former, "parity under way, formerly at")?;
                    }
                }
                Place::Buffer(slot) => {
                    let held = buffer.slots.get(slot as usize);
                    let Some(held) = held else {
                        return Err(format!("unit {lpn} is in slot {slot}, which does not exist"));
                    };
                    law!(held.lpn == lpn, "unit {lpn} is in slot {slot}, which holds {}", held.lpn);
                    mapped[slot as usize] = true;
                    if held.former != NONE {
                        claim(lpn, held.former, "buffered, formerly at")?;
                    }
                }
            }
        }
        for job in self.state.stripes.jobs.in_use() {
            for m in &self.state.stripes.members[self.state.stripes.members_of(job)] {
                if m.former != NONE {
                    claim(m.unit, m.former, "on its way, formerly at")?;
                }
            }
        }
        let bits: u64 = self.map.valid.iter().map(|w| u64::from(w.count_ones())).sum();
        law!(bits == claims, "{bits} units are valid and {claims} are mapped");
        let spare: std::collections::BTreeSet<u32> = buffer.spare.iter().copied().collect();
        for (i, slot) in buffer.slots.iter().enumerate().filter(|&(i, _)| !spare.contains(&(i as u32))) {
            law!(
                mapped[i] || slot.former == NONE,
                "slot {i} keeps {} for unit {}, which is elsewhere",
                slot.former,
                slot.lpn
            );
            law!(mapped[i] || slot.in_flight, "dirty slot {i} holds unit {}, which is elsewhere", slot.lpn);
        }
        for &i in &buffer.spare {
            law!(!mapped[i as usize], "slot {i} is mapped and spare");
        }
        Ok(())
    }

    /// What is on flash of a stripe has parity there, and over a medium with data they
    /// cancel out byte by byte: at any time between two events, former copies standing in
    /// for what is on its way.
    pub fn audit_parity(&self) -> Result<(), String> {
        let Some(stripes) = &self.shape.stripes else { return Ok(()) };
        for stripe in 0..stripes.count {
            let puas: Vec<u32> = stripes.members(stripe).filter_map(|u| self.flash_copy(u)).collect();
            let has_parity = self.flash_copy(stripes.parity(stripe)).is_some();
            law!(puas.is_empty() || has_parity, "stripe {stripe} has data on flash and no parity");
            law!(self.medium.cancels(&puas), "the parity of stripe {stripe} is not that of {puas:?}");
        }
        Ok(())
    }

    /// What is on flash of a stripe lies where the stripe is at home; of one on its way, what
    /// it was may lie elsewhere. Groups count their stripes, and have no more than they take.
    pub(super) fn audit_homes(&self) -> Result<(), String> {
        let Some(stripes) = &self.shape.stripes else { return Ok(()) };
        let (s, layout) = (&self.state, &self.shape.layout);
        let mut held = vec![0; stripes.groups as usize];
        for stripe in 0..stripes.count {
            held[s.homes.group_of(stripes, stripe) as usize] += 1;
            let job = self.job_of(stripe);
            for unit in stripes.members(stripe) {
                let home = self.home(unit);
                let there = match self.member_of(job, unit).map(|i| s.stripes.members[i].pua) {
                    None => self.copy_beside(job, unit),
                    Some(pua) => Some(pua).filter(|&pua| pua != NONE),
                };
                let there = there.filter(|_| job == NONE || self.member_of(job, unit).is_some());
                law!(
                    there.is_none_or(|pua| layout.lane_at(pua) == home || self.is_lost(pua)),
                    "unit {unit} of stripe {stripe} is at {there:?} and not in lane {home}"
                );
            }
        }
        for job in s.stripes.jobs.in_use() {
            let left = s.stripes.jobs[job].left;
            if left != NONE {
                held[left as usize] += 1;
            }
        }
        if s.levels_wear {
            law!(held == s.homes.held(), "groups have {held:?} stripes and count {:?}", s.homes.held());
            let fits = held.iter().zip(s.homes.most()).all(|(held, most)| held <= most);
            law!(fits, "groups have {held:?} stripes of {:?}", s.homes.most());
            let mut groups = vec![0; held.len()];
            for (lane, &n) in (0..).zip(s.programs.lanes()) {
                groups[stripes.group_of_lane(lane) as usize] += n;
            }
            law!(groups == s.programs.groups(), "groups count other programs than their lanes");
        }
        Ok(())
    }

    /// Counts per extent equal the bitmap; every usable extent is in exactly one state.
    pub(super) fn audit_extents(
        &self,
        e: &ExtentsForm,
        collections: &[CollectionForm],
    ) -> Result<(), String> {
        let layout = &self.shape.layout;
        law!(e.valid.len() as u32 == layout.extents(), "{} extents of {}", e.valid.len(), layout.extents());
        let mut free = vec![false; e.valid.len()];
        for (lane, l) in e.lanes.iter().enumerate() {
            for extent in walk(&l.free, &e.links, "a free list")? {
                let (of, index) = layout.lane_of(extent);
                law!(of == lane as u32, "extent {extent} is free in lane {lane} and lies in lane {of}");
                law!(index < layout.usable[lane], "extent {extent} is free and not usable");
                law!(!free[extent as usize], "extent {extent} is free twice");
                free[extent as usize] = true;
            }
        }
        for extent in 0..layout.extents() {
            let x = extent as usize;
            let (lane, index) = layout.lane_of(extent);
            let start = extent * layout.units_per_extent;
            let bits = (start..start + layout.units_per_extent).filter(|&p| self.map.is_valid(p)).count();
            let count = e.valid[x] & !CLOSED_TO_COLLECTION;
            law!(bits as u32 == count, "extent {extent} counts {count} valid units and has {bits}");
            if index >= layout.usable[lane as usize] {
                law!(count == 0 && e.pending_rows[x] == 0, "extent {extent} is not usable and in use");
                continue;
            }
            let frontiers = &e.lanes[lane as usize].frontiers;
            let open = frontiers
                .iter()
                .filter(|f| f.extent == extent && f.next_row < layout.rows_per_extent)
                .count();
            let collected = collections[lane as usize].stage != StageForm::Idle
                && collections[lane as usize].victim == extent;
            let filling = open == 0 && e.pending_rows[x] > 0;
            let closed = e.valid[x] & CLOSED_TO_COLLECTION == 0;
            let states =
                [free[x], open > 0, collected, filling, closed].into_iter().filter(|&state| state).count();
            law!(
                states == 1 && open <= 1,
                "extent {extent}: free {}, open {open}, collected {collected}, filling {filling}, closed {closed}",
                free[x]
            );
            law!(!free[x] || count == 0, "free extent {extent} has {count} valid units");
            law!(!free[x] || e.readers[x] == 0, "free extent {extent} is being read");
            law!(e.closed[x] <= e.serial, "extent {extent} closed in the future");
        }
        let mut pending = vec![0; e.valid.len()];
        let mut readers = vec![0; e.valid.len()];
        let mut rows = std::collections::BTreeSet::new();
        for id in self.flash.ops_in_use() {
            let op = self.flash.op(id);
            match op.cmd.kind {
                // A row may take several programs.
                OpKind::Program if !rows.insert(op.cmd.ppa) => {}
                OpKind::Program => pending[op.cmd.block as usize] += 1,
                OpKind::Copyback => pending[layout.extent_of(op.cmd.to).0 as usize] += 1,
                OpKind::Read if !op.second => readers[op.cmd.block as usize] += 1,
                OpKind::Read | OpKind::Erase => {}
            }
        }
        for job in self.state.stripes.jobs.in_use() {
            let members = &self.state.stripes.members[self.state.stripes.members_of(job)];
            // Programmed rows of a stripe count until its map switches.
            for member in members.iter().filter(|m| m.done) {
                pending[layout.extent_of(member.pua).0 as usize] += 1;
            }
        }
        for x in 0..e.valid.len() {
            law!(
                pending[x] == e.pending_rows[x],
                "extent {x}: {} rows under way, {} pending",
                pending[x],
                e.pending_rows[x]
            );
            law!(
                readers[x] == e.readers[x],
                "extent {x}: {} reads under way, {} readers",
                readers[x],
                e.readers[x]
            );
        }
        Ok(())
    }

    /// Valid units and reads lie in rows that were programmed; rows under way are distinct.
    pub(super) fn audit_rows(&self, e: &ExtentsForm) -> Result<(), String> {
        let layout = &self.shape.layout;
        let rows = (layout.units() / layout.units_per_row) as usize;
        let mut written = vec![true; rows];
        let unwrite = |range: std::ops::Range<u32>, written: &mut Vec<bool>| {
            written[range.start as usize..range.end as usize].fill(false);
        };
        let first_row = |extent: u32| extent * layout.rows_per_extent;
        for (lane, l) in e.lanes.iter().enumerate() {
            for extent in walk(&l.free, &e.links, "a free list")? {
                unwrite(first_row(extent)..first_row(extent) + layout.rows_per_extent, &mut written);
            }
            for f in l.frontiers.iter().filter(|f| f.extent != NONE) {
                let of = layout.lane_of(f.extent).0;
                law!(of == lane as u32, "lane {lane} writes to extent {} of lane {of}", f.extent);
                if f.next_row < layout.rows_per_extent {
                    let first = first_row(f.extent);
                    unwrite(first + f.next_row..first + layout.rows_per_extent, &mut written);
                }
            }
        }
        let mut under_way = std::collections::BTreeMap::new();
        for id in self.flash.ops_in_use() {
            let o = &self.flash.op(id).cmd;
            if matches!(o.kind, OpKind::Program | OpKind::Copyback) {
                let start = if o.kind == OpKind::Program { o.ppa } else { o.to };
                let (row, slot) = layout.row_of(start);
                law!(slot == 0, "a program begins inside a row, at {start}");
                law!(written[row as usize], "row {row} is programmed without having been taken");
                let planes = under_way.entry(row).or_insert(0);
                law!(*planes & o.planes == 0, "row {row} is programmed twice at once");
                *planes |= o.planes;
            }
        }
        for &row in under_way.keys() {
            written[row as usize] = false;
        }
        for (row, _) in written.iter().enumerate().filter(|&(_, &w)| !w) {
            let start = row as u32 * layout.units_per_row;
            let valid = (start..start + layout.units_per_row).find(|&p| self.map.is_valid(p));
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
