//! Operations, and the dies, channels and decoders they are at.

use super::forms::CollectionForm;
use crate::device::drive::{Device, TIMERS_FIXED};
use crate::device::join::joined;
use crate::device::medium::Medium;
use crate::device::observer::Observer;
use crate::device::op::{OpKind, Queue};
use crate::device::server::Phase;
use crate::ftl::NONE;
use tailcut_units::Occupant;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Every operation in use is in exactly one place. Returns, by operation, whether it
    /// is queued at a die, waits for a channel, is in the array, or is decoded.
    pub(super) fn audit_ops(&self) -> Result<Vec<u8>, String> {
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
                let by_page = s.joins.gathers(occupant);
                let (mut last, mut planes) = ((0, 0), 0);
                for (i, &id) in ids.iter().enumerate() {
                    let o = &s.ops[id];
                    put(id, 1, "waits for its die")?;
                    law!(o.unit == unit as u32, "operation {id} of unit {} waits at unit {unit}", o.unit);
                    law!(o.occupant == occupant, "operation {id} waits as {}", occupant.name());
                    let key = (if by_page { o.page } else { 0 }, o.arrived);
                    law!(i == 0 || key > last, "operation {id} stands before an earlier one");
                    law!(!by_page || o.planes & planes == 0, "two operations of a plane stand in front");
                    planes |= o.planes;
                    law!(
                        i > 0 || u.arrived[occupant as usize] == o.arrived,
                        "unit {unit}: arrival of its head"
                    );
                    last = key;
                }
            }
            for &behind in &u.backlog {
                let mut last = None;
                for id in self.queue(behind, "those behind the first of a plane")? {
                    put(id, 1, "waits behind the first of its plane")?;
                    let o = &s.ops[id];
                    law!(o.unit == unit as u32, "operation {id} of unit {} waits at unit {unit}", o.unit);
                    law!(u.fronts[o.occupant as usize] & o.planes != 0, "operation {id} waits behind none");
                    law!(last.is_none_or(|l| l < o.arrived), "operation {id} waits behind a later one");
                    last = Some(o.arrived);
                }
            }
            if matches!(u.phase, Phase::Array | Phase::Stopping | Phase::Suspending | Phase::Resuming) {
                put(u.holder, 3, "is in the array")?;
                let leaves = u.phase != Phase::Array;
                law!(!leaves || u.run.op == u.holder, "unit {unit} runs {} for {}", u.run.op, u.holder);
            }
            for run in &u.stack[..usize::from(u.suspended)] {
                put(run.op, 5, "is suspended")?;
                for id in self.joined_with(run.op) {
                    put(id, 5, "is suspended with another")?;
                }
                let o = &s.ops[run.op];
                law!(o.unit == unit as u32, "operation {} of unit {} is suspended on {unit}", run.op, o.unit);
                law!(
                    s.interrupters[o.occupant as usize] != 0 && run.progress < run.total,
                    "operation {} is suspended where it cannot be: {run:?}",
                    run.op
                );
            }
            let joined = if u.phase == Phase::Out { Vec::new() } else { self.joined_with(u.holder) };
            for id in joined {
                if !s.ops[id].second {
                    put(id, 3, "has its die with another")?;
                }
            }
        }
        for (number, c) in s.channels.iter().enumerate() {
            for queue in [c.first, c.rest] {
                for id in self.queue(queue, "a channel's queue")? {
                    put(id, 2, "waits for its channel")?;
                    let u = &s.units[s.ops[id].unit as usize];
                    law!(
                        u.phase == Phase::Channel
                            && (u.holder == id || self.joined_with(u.holder).contains(&id)),
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

    /// The operations that joined this one, which holds its unit.
    fn joined_with(&self, holder: u32) -> Vec<u32> {
        if holder == NONE { Vec::new() } else { joined(&self.state.ops, holder).skip(1).collect() }
    }

    /// Host reads in a unit's queue.
    fn reads_queued(&self, u: &crate::device::server::Unit) -> u32 {
        let mut at = u.queues[Occupant::UserRead as usize].head;
        let mut count = 0;
        while at != NONE {
            count += 1;
            at = self.state.ops[at].next;
        }
        count
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

    /// Dies, channels, decoders and their timers.
    pub(super) fn audit_servers(&self, collections: &[CollectionForm]) -> Result<(), String> {
        let s = &self.state;
        let mut host_ops = vec![0; s.units.len()];
        let mut rebuilds = vec![0; s.units.len()];
        for id in s.ops.in_use() {
            let o = &s.ops[id];
            host_ops[o.unit as usize] += u32::from(!matches!(
                o.occupant,
                Occupant::GcRead | Occupant::GcProgram | Occupant::Erase | Occupant::Background
            ));
            rebuilds[o.unit as usize] += u32::from(o.rebuilds());
            let read = o.kind == OpKind::Read && o.occupant != Occupant::GcRead;
            law!(
                !(read && self.is_lost(o.row) && o.entered > s.failure.at),
                "operation {id} reads a plane that has failed"
            );
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
            law!(
                u.rebuilds == rebuilds[unit],
                "unit {unit}: {} reads rebuild, and it counts {}",
                rebuilds[unit],
                u.rebuilds
            );
            let holds = (0..collections.len() as u32)
                .filter(|&l| collections[l as usize].holding)
                .filter(|&l| self.scope_holds(l, unit as u32))
                .count();
            let collection =
                1u8 << Occupant::GcRead as u8 | 1 << Occupant::GcProgram as u8 | 1 << Occupant::Erase as u8;
            let bars = (0..collections.len() as u32)
                .filter(|&l| collections[l as usize].barring && self.bar_covers(l, unit as u32))
                .count();
            law!(
                bars == usize::from(u.bars),
                "unit {unit}: {bars} collections bar it, and it counts {}",
                u.bars
            );
            let programs = 1u8 << Occupant::UserProgram as u8 | 1 << Occupant::ParityProgram as u8;
            let mut open = match (u.holds, u.bars) {
                (0, 0) => u8::MAX,
                (0, _) => !programs,
                _ => collection,
            };
            if s.reads_close_channel && s.channels[u.channel as usize].reads > 0 {
                open &= 1 << Occupant::UserRead as u8;
            }
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
            let of_channel = |u: &&crate::device::server::Unit| u.channel as usize == number;
            let reads = s.units.iter().filter(of_channel).map(|u| self.reads_queued(u)).sum::<u32>();
            law!(c.reads == reads, "channel {number}: {} reads wait, {reads} are queued", c.reads);
            let timer = s.timers.is_set(TIMERS_FIXED + s.units.len() + number);
            law!(timer == c.has_waiters(), "channel {number}: timer {timer}, waiters {}", c.has_waiters());
            let timer = s.timers.is_set(TIMERS_FIXED + s.units.len() + s.channels.len() + number);
            law!(timer != s.decoding[number].is_empty(), "decoder {number}: timer {timer}");
        }
        Ok(())
    }
}
