//! The invariants of the flash, which tests check on demand. The cost grows with the size of the flash.

use super::op::OpId;
use super::plane_reads::{PlaneRead, Stage};
use super::queue::Queue;
use super::state::Flash;
use super::unit::{Phase, Unit};
use crate::address::BusyUnit;
use crate::containers::NONE;
use crate::observer::Observer;
use tailcut_units::{Occupant, Occupants};

/// The operations in use that have not been found yet. Each must be in exactly one place.
struct Places {
    /// By operation: whether it is in use and not yet found.
    missing: Vec<bool>,
}

impl Places {
    fn new(in_use: &[u32]) -> Places {
        let most = in_use.last().map_or(0, |&i| i as usize + 1);
        let mut missing = vec![false; most];
        for &id in in_use {
            missing[id as usize] = true;
        }
        Places { missing }
    }

    fn put(&mut self, id: u32, place: &str) -> Result<(), String> {
        let missing = self.missing.get_mut(id as usize).is_some_and(std::mem::take);
        law!(missing, "operation {id} {place}, and is elsewhere too or not in use");
        Ok(())
    }
}

impl<O: Observer> Flash<O> {
    /// Check every law of the flash. The error names the law that is broken and where.
    pub fn audit(&self) -> Result<(), String> {
        self.audit_besides(&[])
    }

    /// Check every law, with these operations reserved and not yet submitted.
    pub fn audit_besides(&self, reserved: &[OpId]) -> Result<(), String> {
        self.audit_places(reserved)?;
        self.audit_load(reserved)?;
        self.audit_units()?;
        self.audit_channels()?;
        self.state.commands.audit()
    }

    /// Check that every operation in use is in exactly one place.
    fn audit_places(&self, reserved: &[OpId]) -> Result<(), String> {
        let s = &self.state;
        let in_use = s.ops.in_use();
        let mut places = Places::new(&in_use);
        for op in reserved {
            places.put(op.number(), "is reserved")?;
        }
        for (number, unit) in (0..).map(BusyUnit).zip(&s.units) {
            self.audit_queues(number, unit, &mut places)?;
            self.audit_held(number, unit, &mut places)?;
        }
        for (number, c) in s.channels.iter().enumerate() {
            for (index, queue, known) in c.queues() {
                law!(known != queue.is_empty(), "channel {number}: set and queue {index} differ");
                for id in self.walk(queue, "a channel's queue")? {
                    places.put(id, "waits for its channel")?;
                    let own = self.fixed.grants.queue(&s.ops[id]);
                    law!(
                        own == index,
                        "operation {id} waits in queue {index} of channel {number}, not {own}"
                    );
                    let u = &s.units[s.ops[id].cmd.unit.index()];
                    let unit = s.ops[id].cmd.unit;
                    let reads = self.fixed.plane_reads && u.phase == Phase::Reading;
                    let waits = |read: &PlaneRead| read.op == id && read.stage == Stage::Channel;
                    let cached = self.cached(unit).filter(|cached| cached.waits()).map_or(NONE, |c| c.op);
                    law!(
                        u.phase == Phase::Channel
                            && (u.holder == id || self.joined_with(u.holder).contains(&id))
                            || reads && s.plane_reads.each(unit, u.reading).any(waits)
                            || cached == id,
                        "operation {id} waits for channel {number} without its die"
                    );
                }
            }
        }
        for c in s.channels.iter().filter(|c| c.decoded != NONE) {
            places.put(c.decoded, "is decoded at the end of its transfer")?;
        }
        let mut last = s.now;
        for event in self.decoding() {
            places.put(event.item, "is decoded")?;
            law!(event.at >= last, "decoding ends at {}, before {last}", event.at);
            last = event.at;
        }
        for &id in &in_use {
            law!(!places.missing[id as usize], "operation {id} is nowhere: {:?}", s.ops[id]);
        }
        Ok(())
    }

    /// Check the queues of a busy unit.
    fn audit_queues(&self, number: BusyUnit, u: &Unit, places: &mut Places) -> Result<(), String> {
        let s = &self.state;
        for kind in Occupant::ALL {
            let ids = self.walk(u.queues.queue(kind), "a die's queue")?;
            let waits = u.queues.waiting().has(kind);
            law!(waits != ids.is_empty(), "unit {number}: set and queue of {} differ", kind.name());
            let by_page = self.fixed.joins.gathers(kind);
            let (mut last, mut planes) = ((0, 0), 0);
            for (i, &id) in ids.iter().enumerate() {
                let o = &s.ops[id];
                places.put(id, "waits for its die")?;
                law!(o.cmd.unit == number, "operation {id} of unit {} waits at {number}", o.cmd.unit);
                law!(o.cmd.occupant == kind, "operation {id} waits as {}", kind.name());
                let key = (if by_page { o.cmd.page } else { 0 }, o.arrived);
                law!(i == 0 || key > last, "operation {id} waits behind a later one");
                law!(!by_page || o.cmd.planes & planes == 0, "two operations of a plane are queued");
                planes |= o.cmd.planes;
                let arrived = u.queues.arrived()[kind as usize];
                law!(i > 0 || arrived == o.arrived, "unit {number} has the wrong arrival for its head");
                last = key;
            }
        }
        law!(u.queues.knows_reads(&s.ops), "unit {number}: queued host reads are miscounted or not linked");
        for (queue, has_front) in u.queues.backlogs() {
            let mut last = None;
            for id in self.walk(queue, "the backlog of a plane")? {
                places.put(id, "waits in the backlog of its plane")?;
                let o = &s.ops[id];
                law!(o.cmd.unit == number, "operation {id} of unit {} waits at {number}", o.cmd.unit);
                law!(has_front, "operation {id} is in a backlog, and none of its plane is in the queue");
                law!(last.is_none_or(|l| l < o.arrived), "operation {id} waits behind a later one");
                last = Some(o.arrived);
            }
        }
        Ok(())
    }

    /// Check the operations that hold a busy unit, or are suspended on it.
    fn audit_held(&self, number: BusyUnit, u: &Unit, places: &mut Places) -> Result<(), String> {
        let s = &self.state;
        if matches!(u.phase, Phase::Array | Phase::Stopping | Phase::Suspending | Phase::Resuming) {
            places.put(u.holder, "is in the array")?;
            let leaves = u.phase != Phase::Array;
            law!(!leaves || u.run.op == u.holder, "unit {number} runs {} for {}", u.run.op, u.holder);
        }
        if u.phase == Phase::Reading {
            for read in s.plane_reads.each(number, u.reading).filter(|read| read.stage == Stage::Array) {
                places.put(read.op, "is sensed on its planes")?;
            }
        }
        if let Some(cached) = self.cached(number) {
            if !cached.waits() {
                places.put(cached.op, "is in a cache register")?;
            }
            for id in self.joined_with(cached.op) {
                places.put(id, "is in a cache register with another")?;
            }
        }
        for run in u.suspended() {
            places.put(run.op, "is suspended")?;
            for id in self.joined_with(run.op) {
                places.put(id, "is suspended with another")?;
            }
            let cmd = &s.ops[run.op].cmd;
            law!(cmd.unit == number, "operation {} of unit {} is suspended on {number}", run.op, cmd.unit);
            law!(
                self.interrupts(cmd.occupant) && run.course.left() > 0,
                "operation {} is suspended where it cannot be: {run:?}",
                run.op
            );
        }
        if !matches!(u.phase, Phase::Out | Phase::Ahead | Phase::Reading) {
            for id in self.joined_with(u.holder).into_iter().filter(|&id| !s.ops[id].second) {
                places.put(id, "shares its die with the operation that it joined")?;
            }
        }
        Ok(())
    }

    /// The operations that joined `holder`, which holds its busy unit.
    fn joined_with(&self, holder: u32) -> Vec<u32> {
        if holder == NONE {
            Vec::new()
        } else {
            // Damaged links may be a ring.
            super::join::joined(&self.state.ops, holder).take(self.state.ops.used() + 1).skip(1).collect()
        }
    }

    fn walk(&self, queue: Queue, name: &str) -> Result<Vec<u32>, String> {
        let most = self.state.ops.used() + 1;
        let out: Vec<u32> = queue.iter(&self.state.ops).take(most).collect();
        law!(out.len() < most, "{name} is a ring");
        let tail = out.last().copied().unwrap_or(NONE);
        law!(tail == queue.tail, "{name} ends at {tail} and not at {}", queue.tail);
        Ok(out)
    }

    /// Check that each busy unit counts its host operations.
    fn audit_load(&self, reserved: &[OpId]) -> Result<(), String> {
        let s = &self.state;
        let mut load = vec![(0, 0, 0); s.units.len()];
        for id in s.ops.in_use().into_iter().filter(|&id| !reserved.contains(&OpId(id))) {
            let op = &s.ops[id];
            let kind = op.cmd.occupant;
            let (ops, reads, rebuilds) = &mut load[op.cmd.unit.index()];
            *ops += u32::from(Occupants::HOST.has(kind));
            *reads += u32::from(Occupants::HOST_READS.has(kind));
            *rebuilds += u32::from(op.cmd.rebuilds());
            let channel = s.units[op.cmd.unit.index()].channel;
            law!(
                op.channel == channel,
                "operation {id} of unit {} is on channel {}",
                op.cmd.unit,
                op.channel
            );
        }
        let sum: u32 = load.iter().map(|l| l.0).sum();
        law!(s.host_ops == sum, "{} host operations are counted, and {sum} are in use", s.host_ops);
        for (number, (u, expected)) in (0..).map(BusyUnit).zip(s.units.iter().zip(load)) {
            let counted = (u.load.ops, u.load.reads, u.load.rebuilds);
            law!(counted == expected, "unit {number} counts {counted:?} host operations, not {expected:?}");
        }
        Ok(())
    }

    /// Check the events of the busy units.
    fn audit_units(&self) -> Result<(), String> {
        let s = &self.state;
        let mut events: Vec<u32> = (0..s.units.len()).map(|unit| u32::from(s.events.is_set(unit))).collect();
        for event in self.unit_events() {
            let u = &s.units[event.slot as usize];
            if u.phase == Phase::Reading {
                continue;
            }
            law!(
                u.phase == Phase::Array && u.until == event.at,
                "unit {} is in phase {:?} until {}, and its event is {event:?}",
                event.slot,
                u.phase,
                u.until
            );
            events[event.slot as usize] += 1;
        }
        for (number, events) in (0..).map(BusyUnit).zip(events) {
            law!(events <= 1, "unit {number} has {events} events");
            self.audit_unit(number, events == 1)?;
        }
        Ok(())
    }

    /// Check the phase of a busy unit, whether it has an event, and that no open queue waits at an
    /// idle unit.
    fn audit_unit(&self, number: BusyUnit, timer: bool) -> Result<(), String> {
        let s = &self.state;
        let u = &s.units[number.index()];
        let waiting = u.queues.waiting();
        let channel = &s.channels[u.channel as usize];
        law!(
            !u.awaited
                || matches!(u.phase, Phase::Out | Phase::Reading)
                || self.fixed.cache_program && u.phase == Phase::Array,
            "unit {number} in phase {:?} is awaited",
            u.phase
        );
        law!(
            u.phase == Phase::Reading || u.reading == 0,
            "unit {number} in phase {:?} has reads on planes",
            u.phase
        );
        self.audit_cache(number)?;
        match u.phase {
            Phase::Reading => {
                law!(!timer, "unit {number} has a timer while it reads");
                law!(
                    !u.awaited || channel.awaited && channel.out == number.0,
                    "data of unit {number} go out, and its channel does not release their planes: {channel:?}"
                );
                self.audit_reading(number)?;
            }
            Phase::Idle => {
                law!(!timer && u.holder == NONE, "idle unit {number} has a timer or a holder");
                law!(u.suspended == 0, "idle unit {number} has {} suspended operations", u.suspended);
                let open = waiting & self.open_queues(number);
                law!(open.is_empty(), "idle unit {number} has operations in its open queues {open:?}");
            }
            Phase::Array | Phase::Stopping | Phase::Suspending | Phase::Resuming => {
                law!(timer, "unit {number} is in phase {:?} without a timer", u.phase);
                law!(
                    !u.awaited || channel.awaited && channel.out == number.0,
                    "data of unit {number} come in, and its channel does not tell when: {channel:?}"
                );
            }
            Phase::Channel => {
                law!(!timer, "unit {number} waits for its channel with a timer");
                law!(channel.has_waiters(), "unit {number} waits for a channel without waiters");
            }
            Phase::Ahead => {
                let needed = u.holder != NONE;
                law!(
                    timer != needed,
                    "unit {number} senses ahead for {}, and its timer is set: {timer}",
                    u.holder
                );
                let attempts = s.sensing.attempts(u.holder);
                law!(
                    !needed || attempts.ahead && attempts.again != 0,
                    "unit {number} senses ahead: {attempts:?}"
                );
            }
            Phase::Out => {
                law!(!timer, "unit {number} brings data out with a timer");
                law!(
                    u.awaited || (waiting.is_empty() && u.suspended == 0),
                    "unit {number} brings data out, {waiting:?} wait, {} are suspended: nothing releases it",
                    u.suspended
                );
                law!(
                    !u.awaited || channel.awaited && channel.out == number.0 && channel.busy_until == u.until,
                    "unit {number} is awaited until {}, and its channel does not release it: {channel:?}",
                    u.until
                );
            }
        }
        Ok(())
    }

    /// Check the channels and their events.
    fn audit_channels(&self) -> Result<(), String> {
        let s = &self.state;
        let events: Vec<_> = self.channel_events().collect();
        for (number, c) in (0..).zip(&s.channels) {
            let of_channel = s.units.iter().filter(|u| u.channel == number);
            let reads = of_channel.map(|u| u.queues.queue(Occupant::UserRead).iter(&s.ops).count());
            let reads: usize = reads.sum();
            law!(c.reads as usize == reads, "channel {number} counts {} waiting reads of {reads}", c.reads);
            let mut own = events.iter().filter(|event| event.item == number);
            let at = own.next().map(|event| event.at);
            law!(at == c.awaited.then_some(c.busy_until), "channel {number} has an event at {at:?}: {c:?}");
            law!(own.next().is_none(), "channel {number} has two events");
            let awaited = c.has_waiters() || c.decoded != NONE;
            law!(c.awaited || !awaited, "nothing ends the transfer of channel {number}: {c:?}");
        }
        Ok(())
    }

    /// The numbers of collections that close a unit to host operations, and to host programs alone.
    /// They must be what the controller has set.
    pub fn closed_by(&self, unit: BusyUnit) -> (u32, u32) {
        let gates = &self.state.units[unit.index()].gates;
        (u32::from(gates.closed), u32::from(gates.programs_closed))
    }

    /// The numbers of collections under way at a unit, and of those that move data. They must match what the controller
    /// has reported.
    pub fn collecting_at(&self, unit: BusyUnit) -> (u32, u32) {
        let gates = &self.state.units[unit.index()].gates;
        (u32::from(gates.collecting), u32::from(gates.moving))
    }

    /// Check that no operation is in use, nothing waits, nothing is suspended and no unit is
    /// closed.
    pub fn audit_rest(&self) -> Result<(), String> {
        let s = &self.state;
        law!(s.ops.used() == 0, "{} operations in use in an idle flash", s.ops.used());
        for (number, u) in (0..).map(BusyUnit).zip(&s.units) {
            let quiet = u.queues.waiting().is_empty() && u.gates.closed == 0 && u.suspended == 0;
            law!(quiet, "unit {number} of an idle flash has waiters, is closed, or has something suspended");
        }
        Ok(())
    }
}
