//! The conservation laws of the whole state, checked on demand: for tests.
//!
//! Nothing here runs in a simulation. The audit walks every unit, slot, operation and
//! queue, so it costs what the drive is large. Parts whose fields are private are read
//! from their serialised form, the one that a snapshot holds.

use super::drive::{
    Device, TIMER_READ_DONE, TIMER_READ_READY, TIMER_WRITE_DONE, TIMER_WRITE_READY, TIMERS_FIXED,
};
use super::observer::Observer;
use super::op::{OpKind, Owner, Queue};
use super::server::Phase;
use crate::ftl::NONE;
use crate::ftl::extents::Writer;
use crate::ftl::map::Place;
use crate::policy::gc_schedule::SpaceView;
use crate::policy::gc_scope::Scope;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use tailcut_units::{HostOp, Occupant};

macro_rules! law {
    ($holds:expr, $($text:tt)+) => {
        if !$holds {
            return Err(format!($($text)+));
        }
    };
}

/// The bit of an extent's count that closes it to collection.
const CLOSED_TO_COLLECTION: u32 = 1 << 31;
/// The bit of a lane's load that says no room was found.
const FULL: u32 = 1 << 31;

#[derive(Deserialize)]
struct LinkForm {
    _previous: u32,
    next: u32,
}

#[derive(Deserialize)]
struct ListForm {
    head: u32,
    tail: u32,
    len: u32,
}

#[derive(Deserialize)]
struct FrontierForm {
    extent: u32,
    next_row: u32,
}

#[derive(Deserialize)]
struct LaneForm {
    free: ListForm,
    frontiers: [FrontierForm; 2],
}

#[derive(Deserialize)]
struct ExtentsForm {
    valid: Vec<u32>,
    closed: Vec<u64>,
    cycles: Vec<u32>,
    suspensions: Vec<u32>,
    pending_rows: Vec<u32>,
    readers: Vec<u32>,
    links: Vec<LinkForm>,
    lanes: Vec<LaneForm>,
    serial: u64,
    erases: u64,
}

#[derive(Deserialize)]
struct SlotForm {
    lpn: u32,
    former: u32,
    mask: u64,
    list: u32,
    in_flight: bool,
    waiter: u32,
    epoch: u32,
}

#[derive(Deserialize)]
struct BufferForm {
    slots: Vec<SlotForm>,
    by_age: Vec<LinkForm>,
    by_lane: Vec<LinkForm>,
    age: ListForm,
    lanes: Vec<ListForm>,
    spare: Vec<u32>,
    _granule: u64,
    full: u64,
    epochs: VecDeque<u32>,
    oldest_epoch: u32,
}

#[derive(Deserialize, PartialEq, Debug)]
enum StageForm {
    Idle,
    Copying,
    Draining,
    Erasing,
}

#[derive(Deserialize)]
struct CollectionForm {
    stage: StageForm,
    victim: u32,
    cursor: u32,
    reads: u32,
    programs: u32,
    erases: u32,
    staged: Vec<(u32, u32)>,
    waiting: bool,
    holding: bool,
}

#[derive(Deserialize)]
struct HostForm {
    _submitted: u64,
    _controller_free: u64,
    _down_free: u64,
    _up_free: u64,
    read_ready: Vec<(u64, u32)>,
    write_ready: Vec<(u64, u32)>,
    read_done: Vec<(u64, u32)>,
    write_done: Vec<(u64, u32)>,
    room: Vec<u32>,
    flushes: Vec<u32>,
}

#[derive(Deserialize)]
struct StalledForm {
    lists: Vec<ListForm>,
    links: Vec<LinkForm>,
    groups: u32,
}

/// A part's fields, from its serialised form.
fn form<T: Serialize, F: DeserializeOwned>(part: &T, name: &str) -> Result<F, String> {
    let bytes = postcard::to_stdvec(part).map_err(|e| format!("{name} cannot be serialised: {e}"))?;
    match postcard::take_from_bytes(&bytes) {
        Ok((form, [])) => Ok(form),
        _ => Err(format!("the audit's form of {name} is not that of {name} any more")),
    }
}

/// The elements of a list, whose length and tail must agree.
fn walk(list: &ListForm, links: &[LinkForm], name: &str) -> Result<Vec<u32>, String> {
    let mut out = Vec::new();
    let mut at = list.head;
    while at != NONE {
        law!(out.len() < links.len(), "{name} is a ring");
        out.push(at);
        at = links[at as usize].next;
    }
    law!(out.len() as u32 == list.len, "{name} has {} elements and says {}", out.len(), list.len);
    law!(out.last().copied().unwrap_or(NONE) == list.tail, "{name} ends elsewhere than its tail");
    Ok(out)
}

impl<O: Observer> Device<O> {
    /// Where a logical unit is now.
    pub fn whereabouts(&self, lpn: u32) -> Place {
        self.map.lookup(lpn)
    }

    /// Whether nothing is under way: no command, no operation, no timer.
    pub fn is_quiescent(&self) -> bool {
        self.outstanding() == 0 && self.state.timers.first().1 == u64::MAX
    }

    /// Check every conservation law over the whole state; the error names the one that
    /// is broken and where.
    pub fn audit(&self) -> Result<(), String> {
        let extents: ExtentsForm = form(&self.state.extents, "Extents")?;
        let collections: Vec<CollectionForm> = form(&self.state.collections, "Collection")?;
        let buffer: BufferForm = form(&self.state.buffer, "Buffer")?;
        let places = self.audit_ops()?;
        self.audit_map(&buffer)?;
        self.audit_extents(&extents, &collections)?;
        self.audit_rows(&extents)?;
        self.audit_buffer(&buffer)?;
        self.audit_groups(&places)?;
        self.audit_collections(&collections)?;
        self.audit_servers(&collections)?;
        self.audit_requests(&buffer)?;
        self.audit_counters(&extents)?;
        if self.is_quiescent() { self.audit_rest(&extents, &collections) } else { Ok(()) }
    }

    /// Every valid physical unit is owned by exactly the logical unit that maps to it,
    /// or whose buffer slot keeps it as its former copy.
    fn audit_map(&self, buffer: &BufferForm) -> Result<(), String> {
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
        for lpn in 0..layout.host_units {
            match self.map.lookup(lpn) {
                Place::Unmapped => {}
                Place::Flash(pua) => claim(lpn, pua, "at")?,
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

    /// Counts per extent equal the bitmap; every usable extent is in exactly one state.
    fn audit_extents(&self, e: &ExtentsForm, collections: &[CollectionForm]) -> Result<(), String> {
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
        for id in self.state.ops.in_use() {
            let o = &self.state.ops[id];
            match o.kind {
                OpKind::Program => pending[o.extent as usize] += 1,
                OpKind::Copyback => pending[layout.extent_of(o.row).0 as usize] += 1,
                OpKind::Read if !o.second => readers[o.extent as usize] += 1,
                OpKind::Read | OpKind::Erase => {}
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
    fn audit_rows(&self, e: &ExtentsForm) -> Result<(), String> {
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
        let mut under_way = std::collections::BTreeSet::new();
        for id in self.state.ops.in_use() {
            let o = &self.state.ops[id];
            if matches!(o.kind, OpKind::Program | OpKind::Copyback) {
                let (row, slot) = layout.row_of(o.row);
                law!(slot == 0, "a program begins inside a row, at {}", o.row);
                law!(written[row as usize], "row {row} is programmed without having been taken");
                law!(under_way.insert(row), "row {row} is programmed twice at once");
            }
        }
        for &row in &under_way {
            written[row as usize] = false;
        }
        for (row, _) in written.iter().enumerate().filter(|&(_, &w)| !w) {
            let start = row as u32 * layout.units_per_row;
            let valid = (start..start + layout.units_per_row).find(|&p| self.map.is_valid(p));
            law!(valid.is_none(), "unit {valid:?} is valid in row {row}, which is not programmed");
        }
        for id in self.state.ops.in_use() {
            let o = &self.state.ops[id];
            let source = match o.kind {
                OpKind::Read if !o.second && o.occupant == Occupant::GcRead => layout.row_of(o.row).0,
                OpKind::Read if !o.second => o.row,
                OpKind::Copyback if !o.second => layout.row_of(o.mask as u32).0,
                _ => continue,
            };
            law!(written[source as usize], "row {source} is read and was not programmed");
        }
        Ok(())
    }

    fn audit_buffer(&self, b: &BufferForm) -> Result<(), String> {
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
            if g.writer != Writer::Host {
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
        let mut epochs = vec![0; b.epochs.len()];
        for (i, slot) in b.slots.iter().enumerate().filter(|&(i, _)| held[i]) {
            let expected = u32::from(slot.in_flight);
            law!(in_groups[i] == expected, "slot {i} is in {} write units", in_groups[i]);
            law!(slot.mask & !b.full == 0, "slot {i} holds granules beyond its unit");
            law!(
                slot.mask == b.full || slot.former != NONE || slot.in_flight,
                "slot {i} cannot be made whole"
            );
            let waits = slot.waiter != NONE;
            law!(waits != self.state.acknowledge_held, "slot {i}: waiter {}", slot.waiter);
            let epoch = slot.epoch.wrapping_sub(b.oldest_epoch) as usize;
            law!(epoch < epochs.len(), "slot {i} is of epoch {}, which is forgotten", slot.epoch);
            epochs[epoch] += 1;
        }
        law!(b.epochs.iter().eq(&epochs), "epochs count {:?} and hold {epochs:?}", b.epochs);
        Ok(())
    }

    /// Every operation in use is in exactly one place. Returns, by operation, whether it
    /// is queued at a die, waits for a channel, is in the array, is decoded, or is
    /// suspended.
    fn audit_ops(&self) -> Result<Vec<u8>, String> {
        let s = &self.state;
        let in_use = s.ops.in_use();
        let most = in_use.last().map_or(0, |&i| i as usize + 1);
        let mut used = vec![false; most];
        for &id in &in_use {
            used[id as usize] = true;
        }
        let mut places = vec![0u8; most];
        let mut put = |id: u32, place: u8, name: &str| -> Result<(), String> {
            law!(used.get(id as usize) == Some(&true), "operation {id} {name} and is not in use");
            law!(places[id as usize] == 0, "operation {id} {name} and is elsewhere too");
            places[id as usize] = place;
            Ok(())
        };
        for (unit, u) in s.units.iter().enumerate() {
            for occupant in Occupant::ALL {
                let ids = self.queue(u.queues[occupant as usize], "a die's queue")?;
                let bit = u.waiting >> occupant as u8 & 1 != 0;
                law!(bit != ids.is_empty(), "unit {unit}: bit and queue of {} differ", occupant.name());
                let mut last = 0;
                for (i, &id) in ids.iter().enumerate() {
                    let o = &s.ops[id];
                    put(id, 1, "waits for its die")?;
                    law!(o.unit == unit as u32, "operation {id} of unit {} waits at unit {unit}", o.unit);
                    law!(o.occupant == occupant, "operation {id} waits as {}", occupant.name());
                    law!(i == 0 || o.arrived > last, "operation {id} stands before an earlier one");
                    law!(
                        i > 0 || u.arrived[occupant as usize] == o.arrived,
                        "unit {unit}: arrival of its head"
                    );
                    last = o.arrived;
                }
            }
            match u.phase {
                Phase::Array => put(u.holder, 3, "is in the array")?,
                Phase::Stopping | Phase::Suspending | Phase::Resuming => {
                    law!(u.run.op == u.holder, "unit {unit} runs {} for {}", u.run.op, u.holder);
                    put(u.holder, 3, "is on its way out of or into the array")?;
                }
                Phase::Idle | Phase::Channel | Phase::Out => {}
            }
            for run in &u.stack[..u.suspended as usize] {
                put(run.op, 5, "is suspended")?;
                let o = &s.ops[run.op];
                law!(o.unit == unit as u32, "operation {} of unit {} is suspended on {unit}", run.op, o.unit);
                law!(
                    s.interrupters[o.occupant as usize] != 0 && run.progress < run.total,
                    "operation {} is suspended where it cannot be: {run:?}",
                    run.op
                );
            }
        }
        for (number, c) in s.channels.iter().enumerate() {
            for queue in [c.first, c.rest] {
                for id in self.queue(queue, "a channel's queue")? {
                    put(id, 2, "waits for its channel")?;
                    let u = &s.units[s.ops[id].unit as usize];
                    law!(
                        u.phase == Phase::Channel && u.holder == id,
                        "operation {id} waits for channel {number} without its die"
                    );
                }
            }
        }
        for queue in &s.decoding {
            let mut last = 0;
            for &(at, id) in queue {
                put(id, 4, "is decoded")?;
                law!(at >= last && at >= s.now, "decoding ends at {at}, before {last} or now");
                last = at;
            }
        }
        for &id in &in_use {
            law!(places[id as usize] != 0, "operation {id} is nowhere: {:?}", s.ops[id]);
        }
        Ok(places)
    }

    fn queue(&self, queue: Queue, name: &str) -> Result<Vec<u32>, String> {
        let mut out = Vec::new();
        let mut at = queue.head;
        while at != NONE {
            law!(out.len() <= self.state.ops.used(), "{name} is a ring");
            out.push(at);
            at = self.state.ops[at].next;
        }
        let tail = out.last().copied().unwrap_or(NONE);
        law!(tail == queue.tail, "{name} ends at {tail} and not at {}", queue.tail);
        Ok(out)
    }

    /// A write unit waits for reads, or for room, or is programmed.
    fn audit_groups(&self, places: &[u8]) -> Result<(), String> {
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
        for id in 0..places.len() as u32 {
            let o = &s.ops[id];
            if let (Owner::Group(g), true) = (o.owner, places[id as usize] != 0) {
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
            law!(u32::from(r > 0) + p + w == 1, "write unit {g}: {r} reads, {p} programs, stalled {w}");
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

    fn audit_collections(&self, collections: &[CollectionForm]) -> Result<(), String> {
        let s = &self.state;
        let lanes = collections.len();
        let (mut reads, mut erases, mut programs) = (vec![0; lanes], vec![0; lanes], vec![0; lanes]);
        for id in s.ops.in_use() {
            if let Owner::Collection(lane) = s.ops[id].owner {
                let erase = s.ops[id].kind == OpKind::Erase;
                *(if erase { &mut erases } else { &mut reads }).get_mut(lane as usize).expect("a lane") += 1;
            }
        }
        for g in s.groups.in_use() {
            if s.groups[g].writer == Writer::Collection {
                programs[s.groups[g].lane as usize] += 1;
            }
        }
        for (lane, c) in collections.iter().enumerate() {
            let counts = (reads[lane], programs[lane], erases[lane]);
            law!(
                counts == (c.reads, c.programs, c.erases),
                "collection of lane {lane}: reads, programs, erases {counts:?} and {:?}",
                (c.reads, c.programs, c.erases)
            );
            let busy = c.reads + c.programs + c.erases > 0;
            let view = SpaceView {
                free: s.extents.free(lane as u32),
                extents: self.shape.layout.usable[lane],
                host_active: false,
            };
            match c.stage {
                StageForm::Idle => {
                    law!(!busy && c.staged.is_empty(), "lane {lane} collects without a victim");
                    continue;
                }
                StageForm::Copying => {
                    law!(busy || c.waiting, "collection of lane {lane} neither moves nor waits");
                    law!(
                        c.cursor <= self.shape.layout.units_per_extent,
                        "collection of lane {lane} looks at unit {} of {}",
                        c.cursor,
                        self.shape.layout.units_per_extent
                    );
                    let hosts = match self.shape.layout.kind {
                        crate::ftl::config::ExtentKind::Line => s.host_ops,
                        _ => s.units[self.shape.units_of_lane(lane as u32).start as usize].host_ops,
                    };
                    law!(
                        busy || hosts > 0
                            || self.scope_is_taken(lane as u32)
                            || !s.policies.gc_schedule.clone().proceed(&view),
                        "collection of lane {lane} waits for host operations that are not there"
                    );
                }
                StageForm::Draining => {
                    law!(!busy && s.extents.has_readers(c.victim), "lane {lane} drains what nobody reads");
                }
                StageForm::Erasing => law!(c.erases > 0, "lane {lane} erases nothing"),
            }
            for &(_, pua) in &c.staged {
                let (extent, _) = self.shape.layout.extent_of(pua);
                law!(extent == c.victim, "lane {lane} moves {pua} out of extent {extent}");
            }
        }
        let waiting = collections.iter().filter(|c| c.waiting).count();
        law!(
            s.waiting_collections == waiting as u32,
            "{waiting} collections wait, {}",
            s.waiting_collections
        );
        Ok(())
    }

    fn scope_holds(&self, lane: u32, unit: u32) -> bool {
        let own = self.shape.units_of_lane(lane);
        match self.state.gc_scope {
            Scope::Operation => false,
            Scope::Unit => own.contains(&unit),
            Scope::Controller => true,
            Scope::Channel => {
                let channels = self.shape.channel_of(own.start)..=self.shape.channel_of(own.end - 1);
                channels.contains(&self.shape.channel_of(unit))
            }
        }
    }

    /// Dies, channels, decoders and their timers.
    fn audit_servers(&self, collections: &[CollectionForm]) -> Result<(), String> {
        let s = &self.state;
        let mut host_ops = vec![0; s.units.len()];
        for id in s.ops.in_use() {
            let o = &s.ops[id];
            host_ops[o.unit as usize] +=
                u32::from(!matches!(o.occupant, Occupant::GcRead | Occupant::GcProgram | Occupant::Erase));
            law!(
                o.channel == self.shape.channel_of(o.unit),
                "operation {id} of unit {} is on channel {}",
                o.unit,
                o.channel
            );
        }
        law!(s.host_ops == host_ops.iter().sum::<u32>(), "{} host operations are counted", s.host_ops);
        for (unit, u) in s.units.iter().enumerate() {
            let timer = s.timers.is_set(TIMERS_FIXED + unit);
            law!(
                u.host_ops == host_ops[unit],
                "unit {unit}: {} host operations of {}",
                u.host_ops,
                host_ops[unit]
            );
            let holds = (0..collections.len() as u32)
                .filter(|&l| collections[l as usize].holding)
                .filter(|&l| self.scope_holds(l, unit as u32))
                .count();
            let collection =
                1u8 << Occupant::GcRead as u8 | 1 << Occupant::GcProgram as u8 | 1 << Occupant::Erase as u8;
            let open = if u.holds > 0 { collection } else { u8::MAX };
            law!(
                usize::from(u.holds) == holds,
                "unit {unit} is held {} times by {holds} collections",
                u.holds
            );
            match u.phase {
                Phase::Idle => {
                    law!(!timer && u.holder == NONE, "idle unit {unit} has a timer or a holder");
                    law!(u.suspended == 0, "idle unit {unit} resumes nothing of {} suspended", u.suspended);
                    law!(u.waiting & open == 0, "idle unit {unit} lets open queues {:b} wait", u.waiting);
                }
                Phase::Array | Phase::Stopping | Phase::Suspending | Phase::Resuming => {
                    law!(timer, "unit {unit} is in phase {:?} without a timer", u.phase);
                }
                Phase::Channel => {
                    let c = &s.channels[u.channel as usize];
                    law!(!timer, "unit {unit} waits for its channel with a timer");
                    law!(c.has_waiters(), "unit {unit} waits for a channel without waiters");
                }
                Phase::Out => law!(
                    timer || (u.waiting == 0 && u.suspended == 0),
                    "unit {unit} brings data out, {:b} wait, {} are suspended, and no timer is set",
                    u.waiting,
                    u.suspended
                ),
            }
        }
        for (number, c) in s.channels.iter().enumerate() {
            let timer = s.timers.is_set(TIMERS_FIXED + s.units.len() + number);
            law!(timer == c.has_waiters(), "channel {number}: timer {timer}, waiters {}", c.has_waiters());
            let timer = s.timers.is_set(TIMERS_FIXED + s.units.len() + s.channels.len() + number);
            law!(timer != s.decoding[number].is_empty(), "decoder {number}: timer {timer}");
        }
        Ok(())
    }

    /// Every command is in exactly one place.
    fn audit_requests(&self, b: &BufferForm) -> Result<(), String> {
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
        for &id in h.room.iter().chain(&h.flushes) {
            law!(places.insert(id, usize::MAX).is_none(), "command slot {id} waits and is elsewhere");
        }
        let mut parts = std::collections::BTreeMap::new();
        for id in s.ops.in_use() {
            if let Owner::Request(r) = s.ops[id].owner {
                *parts.entry(r).or_insert(0u32) += 1;
            }
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
            law!(s.buffer.held() > s.buffer.dirty(), "writes wait for room and nothing is on its way");
        }
        Ok(())
    }

    fn audit_counters(&self, e: &ExtentsForm) -> Result<(), String> {
        let c = &self.state.counters;
        let cycles: u64 = e.cycles.iter().map(|&n| u64::from(n)).sum();
        law!(cycles == e.erases, "P/E counts add up to {cycles}, erases to {}", e.erases);
        let suspensions: u64 = e.suspensions.iter().map(|&n| u64::from(n)).sum();
        let counted = c.erase_suspension.suspends;
        law!(suspensions >= counted, "suspensions by extent add up to {suspensions}, {counted} are counted");
        law!(c.erases <= e.erases, "{} erases counted of {}", c.erases, e.erases);
        let units = c.programs_user + c.programs_gc + c.programs_pad;
        let rows = c.rows_programmed * u64::from(self.shape.layout.units_per_row);
        law!(units == rows, "{units} units programmed by class and {rows} by rows");
        Ok(())
    }

    /// What must hold once nothing is under way.
    fn audit_rest(&self, e: &ExtentsForm, collections: &[CollectionForm]) -> Result<(), String> {
        let s = &self.state;
        law!(s.ops.used() == 0, "{} operations at rest", s.ops.used());
        law!(s.groups.used() == 0, "{} write units at rest", s.groups.used());
        law!(s.buffer.held() == s.buffer.dirty(), "slots in flight at rest");
        law!(e.pending_rows.iter().all(|&n| n == 0), "rows pending at rest");
        law!(e.readers.iter().all(|&n| n == 0), "readers at rest");
        let active = collections.iter().position(|c| c.stage != StageForm::Idle);
        law!(active.is_none(), "the collection of lane {active:?} is under way at rest");
        let quiet = |u: &super::server::Unit| u.waiting == 0 && u.holds == 0 && u.suspended == 0;
        law!(s.units.iter().all(quiet), "a unit has waiters, is held, or has something suspended at rest");
        Ok(())
    }
}
