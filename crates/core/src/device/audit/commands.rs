//! The host's commands, the slots of the write buffer, and the write units made of them.

use super::forms::{BufferForm, HostForm, StalledForm, form, walk};
use crate::containers::NONE;
use crate::device::drive::{Device, TIMER_READ_DONE, TIMER_READ_READY, TIMER_WRITE_DONE, TIMER_WRITE_READY};
use crate::device::medium::Medium;
use crate::flash::Owner;
use crate::ftl::extents::Writer;
use crate::nand::OpKind;
use crate::observer::Observer;
use tailcut_units::HostOp;

/// The bit of a lane's load that says no room was found.
const FULL: u32 = 1 << 31;

impl<O: Observer, M: Medium> Device<O, M> {
    /// A slot of the buffer is spare, dirty (and listed), or in one write unit.
    pub(super) fn audit_buffer(&self, b: &BufferForm) -> Result<(), String> {
        let mut held = vec![true; b.slots.len()];
        for &i in &b.spare {
            law!(held[i as usize], "slot {i} is spare twice");
            held[i as usize] = false;
        }
        let dirty = |i: usize| held[i] && !b.slots[i].in_flight;
        let age = walk(&b.age, &b.by_age, "the buffer's list by age")?;
        let expected = (0..b.slots.len()).filter(|&i| dirty(i)).count();
        law!(age.len() == expected, "{expected} slots are dirty and {} listed", age.len());
        let mut listed = 0;
        for (list, l) in b.lanes.iter().enumerate() {
            for i in walk(l, &b.by_lane, "a lane's list of dirty slots")? {
                law!(dirty(i as usize), "slot {i} is listed as dirty and is not");
                law!(b.slots[i as usize].list == list as u32, "slot {i} hangs in list {list}");
                listed += 1;
            }
        }
        law!(listed == expected, "{expected} slots are dirty and {listed} hang in lane lists");
        let mut in_groups = vec![0; b.slots.len()];
        let upr = self.shape.layout.units_per_row;
        for group in self.state.groups.in_use() {
            let g = &self.state.groups[group];
            if g.writer != Writer::Host || g.stripe != NONE {
                continue;
            }
            law!(g.count >= 1 && g.count <= upr, "write unit {group} holds {} units", g.count);
            for i in 0..g.count {
                let (lpn, slot) = self.state.group_units[(group * upr + i) as usize];
                law!(
                    b.slots[slot as usize].lpn == lpn,
                    "write unit {group}: slot {slot} holds {} and not {lpn}",
                    b.slots[slot as usize].lpn
                );
                in_groups[slot as usize] += 1;
            }
        }
        let stripes = &self.state.stripes;
        for job in stripes.jobs.in_use() {
            for m in stripes.members[stripes.members_of(job)].iter().filter(|m| m.slot != NONE && !m.done) {
                let held = b.slots[m.slot as usize].lpn;
                law!(held == m.unit, "job {job}: slot {} holds {held} and not {}", m.slot, m.unit);
                in_groups[m.slot as usize] += 1;
            }
        }
        let mut epochs = vec![0; b.epochs.len()];
        let mut moving = 0;
        for (i, slot) in b.slots.iter().enumerate().filter(|&(i, _)| held[i]) {
            let expected = u32::from(slot.in_flight);
            law!(in_groups[i] == expected, "slot {i} is in {} write units", in_groups[i]);
            law!(slot.mask & !b.full == 0, "slot {i} holds granules beyond its unit");
            law!(
                slot.mask == b.full || slot.former != NONE || slot.in_flight,
                "slot {i} cannot be made whole"
            );
            law!(!slot.moving || slot.in_flight, "slot {i} moves a unit and is not in flight");
            if slot.moving {
                moving += 1;
                continue;
            }
            let waits = slot.waiter != NONE;
            law!(waits != self.state.acknowledge_held, "slot {i}: waiter {}", slot.waiter);
            let epoch = slot.epoch.wrapping_sub(b.oldest_epoch) as usize;
            law!(epoch < epochs.len(), "slot {i} is of epoch {}, which is forgotten", slot.epoch);
            epochs[epoch] += 1;
        }
        law!(moving == b.moving && moving <= b.aside, "{moving} units move and {} are counted", b.moving);
        law!(b.epochs.iter().eq(&epochs), "epochs count {:?} and hold {epochs:?}", b.epochs);
        Ok(())
    }

    /// A write unit waits for reads, or for room, or is programmed.
    pub(super) fn audit_groups(&self) -> Result<(), String> {
        let s = &self.state;
        let stalled: StalledForm = form(&s.stalled, "Stalled")?;
        let groups = s.groups.in_use();
        let mut waits = std::collections::BTreeMap::new();
        for (list, l) in stalled.lists.iter().enumerate() {
            for g in walk(l, &stalled.links, "a list of stalled write units")? {
                law!(s.groups[g].writer == Writer::Host, "a collection's write unit {g} is stalled");
                law!(waits.insert(g, list).is_none(), "write unit {g} is stalled twice");
            }
        }
        law!(waits.len() == stalled.groups as usize, "{} write units are stalled", waits.len());
        let mut reads = std::collections::BTreeMap::new();
        let mut programs = std::collections::BTreeMap::new();
        let mut load = vec![0; s.lane_load.len()];
        for id in self.flash.ops_in_use() {
            let o = &self.flash.op(id).cmd;
            if let Owner::Group(g) = o.owner {
                let count = if o.kind == OpKind::Read { &mut reads } else { &mut programs };
                *count.entry(g).or_insert(0) += 1;
                if o.kind == OpKind::Program && s.groups[g].writer == Writer::Host {
                    load[s.groups[g].lane as usize] += 1;
                }
            }
        }
        for &g in &groups {
            let (r, p) = (reads.remove(&g).unwrap_or(0), programs.remove(&g).unwrap_or(0));
            let w = u32::from(waits.remove(&g).is_some());
            law!(s.groups[g].reads == r, "write unit {g} waits for {} reads of {r}", s.groups[g].reads);
            law!(
                p == 0 || s.groups[g].programs == p,
                "write unit {g} waits for {} programs of {p}",
                s.groups[g].programs
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
        for (lane, &n) in s.lane_load.iter().enumerate() {
            law!(n & !FULL == load[lane], "lane {lane}: load {} of {}", n & !FULL, load[lane]);
        }
        Ok(())
    }

    /// Every command is in exactly one place.
    pub(super) fn audit_requests(&self, b: &BufferForm) -> Result<(), String> {
        let s = &self.state;
        let h: HostForm = form(&s.host, "HostSide")?;
        let in_use = s.requests.in_use();
        let mut places = std::collections::BTreeMap::new();
        let rings = [
            (&h.read_done, TIMER_READ_DONE),
            (&h.write_done, TIMER_WRITE_DONE),
            (&h.read_ready, TIMER_READ_READY),
            (&h.write_ready, TIMER_WRITE_READY),
        ];
        for (ring, timer) in rings {
            law!(s.timers.is_set(timer) != ring.is_empty(), "timer {timer} and its ring of {}", ring.len());
            let mut last = s.now;
            for &(at, id) in ring {
                law!(at >= last, "ring {timer} runs backwards to {at}");
                last = at;
                law!(places.insert(id, timer).is_none(), "command slot {id} is in two rings");
            }
        }
        let mut on_their_way = vec![0; self.shape.layout.lanes as usize];
        if !self.shape.has_parity() {
            for g in s.groups.in_use().into_iter().filter(|&g| s.groups[g].writer == Writer::Host) {
                on_their_way[s.groups[g].lane as usize] += s.groups[g].count;
            }
        }
        let queued = s.write_queues.audit(&on_their_way)?;
        for &id in h.room.iter().chain(&h.flushes).chain(&queued) {
            law!(places.insert(id, usize::MAX).is_none(), "command slot {id} waits and is elsewhere");
        }
        let mut parts = std::collections::BTreeMap::new();
        for id in self.flash.ops_in_use() {
            if let Owner::Request(r) = self.flash.op(id).cmd.owner {
                *parts.entry(r).or_insert(0u32) += 1;
            }
        }
        for id in s.rebuilds.in_use() {
            *parts.entry(s.rebuilds[id].request).or_insert(0) += 1;
        }
        let spare: std::collections::BTreeSet<u32> = b.spare.iter().copied().collect();
        for (_, slot) in b.slots.iter().enumerate().filter(|(i, _)| !spare.contains(&(*i as u32))) {
            if slot.waiter != NONE {
                *parts.entry(slot.waiter).or_insert(0) += 1;
            }
        }
        for &id in &in_use {
            let r = &s.requests[id];
            let n = parts.remove(&id).unwrap_or(0);
            match places.remove(&id) {
                Some(usize::MAX) if r.command.op == HostOp::Write => {}
                Some(_) => law!(n == 0, "command {} is at its end with {n} parts left", r.index),
                None => law!(
                    n > 0 && n == r.remaining,
                    "command {} waits for {n} parts of {}: {:?}",
                    r.index,
                    r.remaining,
                    r.command
                ),
            }
        }
        law!(places.is_empty() && parts.is_empty(), "a command that is over is still at work");
        if !h.room.is_empty() {
            let leaving = s.buffer.held() > s.buffer.dirty() || s.stripes.jobs.used() > 0;
            law!(leaving, "writes wait for room and nothing is on its way");
        }
        Ok(())
    }
}
