//! The observer that follows the operations and requests of a drive.

use super::account::Account;
use super::history::History;
use super::operation::{Further, Operation, predict_ns, sense_in_die};
use super::reached::Reached;
use super::request::{Front, Rebuild, Request};
use super::unit::Unit;
use super::write::{Placed, WriteUnit};
use std::collections::BTreeMap;
use tailcut_core::address::BusyUnit;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Closing, Observer, OpKind, RequestEvent, RequestStep, Shape, Step, StepEvent};
use tailcut_core::device::{QueueEvent, QueueStep, WriteEvent, WriteStep};
use tailcut_core::flash::setup::Parts;
use tailcut_core::ftl::config::FtlKind;
use tailcut_core::nand::config::PlaneReading;
use tailcut_core::pblk;
use tailcut_core::policy::read_retry::PredictorSite;
use tailcut_units::{Cause, HostOp, Ledger, Occupant, SimTime};

const NONE: u32 = u32::MAX;

/// Calculates the blame of every request. See the documentation of the module.
pub struct Replay {
    parts: Parts,
    /// Time to compute a unit from the rest of its stripe, ns.
    xor_ns: u64,
    decode: u64,
    /// What a prediction of the controller takes, ns.
    predict: u64,
    /// The senses after the first.
    further: Further,
    front: Front,
    units: Vec<Unit>,
    channels: Vec<History>,
    channel_free: Vec<u64>,
    ops: BTreeMap<u32, Operation>,
    /// By write unit: the account of the read that ended last among those that complete the
    /// unit's data.
    fillers: BTreeMap<u32, Account>,
    /// By (whether it is a stripe, number): write units and stripes without a row.
    writes: BTreeMap<(bool, u32), WriteUnit>,
    /// By program operation that has not yet arrived at its die: the write unit that it
    /// programs.
    placed: BTreeMap<u32, Placed>,
    /// By write unit that waits for the last loop of its extent's erase: what it waited for before, the busy
    /// unit that is erased, and since when it waits.
    held: BTreeMap<u32, (Placed, BusyUnit, u64)>,
    requests: BTreeMap<u64, Request>,
    rebuilds: BTreeMap<u32, Rebuild>,
    /// By read that follows a failed reconstruction: what the request did before.
    preceding: BTreeMap<u32, Account>,
    fault: Option<String>,
    /// The events and causes that occurred so far.
    pub reached: Reached,
}

impl Replay {
    /// A replay for a drive of this configuration, to be used from its first command on.
    pub fn new(config: &DeviceConfig, seed: u64) -> Result<Replay, String> {
        let (parts, units, channels, xor_ns) = match config.ftl.kind {
            FtlKind::Page => {
                let shape = Shape::new(config, seed).map_err(|e| e.to_string())?;
                let Shape { timing, slow_programs, eraser, senses, .. } = shape;
                (Parts { timing, slow_programs, eraser, senses }, shape.units, shape.channels, shape.xor_ns)
            }
            FtlKind::Pblk => {
                let shape = pblk::Shape::new(config, seed).map_err(|e| e.to_string())?;
                (shape.parts, shape.luns, shape.array.channels, 0)
            }
        };
        let channels = channels as usize;
        let by_plane = config.geometry.plane_reads == PlaneReading::Independent;
        let mut reached = Reached::default();
        reached.policies(&config.policy);
        Ok(Replay {
            decode: config.ecc.decode.0,
            predict: predict_ns(&parts, PredictorSite::Controller),
            further: Further::of(config),
            front: Front::new(config),
            units: (0..units).map(|_| Unit::new(by_plane)).collect(),
            channels: (0..channels).map(|_| History::default()).collect(),
            channel_free: vec![0; channels],
            parts,
            xor_ns,
            ops: BTreeMap::new(),
            fillers: BTreeMap::new(),
            writes: BTreeMap::new(),
            placed: BTreeMap::new(),
            held: BTreeMap::new(),
            requests: BTreeMap::new(),
            rebuilds: BTreeMap::new(),
            preceding: BTreeMap::new(),
            fault: None,
            reached,
        })
    }

    /// Check the ledger of a request that ended against the calculation, cause by cause.
    pub fn ended(&mut self, index: u64, ledger: &Ledger) -> Result<(), String> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let mut request = self.requests.remove(&index).ok_or("a request ended that never began")?;
        self.front.ended(&mut request);
        let mut account = request.account;
        if let Some(last) = &request.last {
            account.merge(last);
        }
        account.check(ledger).map_err(|e| format!("request {index} ({:?}): {e}", request.command))?;
        self.reached.account(&account);
        Ok(())
    }

    fn blame(&mut self, held: Result<(), String>) {
        if let Err(fault) = held {
            self.fault.get_or_insert(fault);
        }
    }

    fn op(&mut self, id: u32) -> &mut Operation {
        self.ops.get_mut(&id).expect("an operation arrives at its die first")
    }

    /// An operation and those that joined it.
    fn with_joined(&self, id: u32) -> Vec<u32> {
        let joined = &self.ops[&id].joined;
        std::iter::once(id).chain(joined.iter().copied()).collect()
    }

    /// Charge the operation's wait in the die's queue, up to `now`.
    fn charge_die(&mut self, id: u32, now: u64) {
        let op = self.ops.get_mut(&id).expect("an operation arrives at its die first");
        if let Some(since) = op.queued.take() {
            self.units[op.told.unit.index()].charge(since, now, &mut op.account);
        }
    }

    fn channel_step(&mut self, e: &StepEvent) -> Result<(), String> {
        let number = e.channel as usize;
        if e.at.0 < self.channel_free[number] {
            return Err(format!("channel {number} is taken twice: {e:?}"));
        }
        let resumes = self.op(e.op).is_suspended();
        let second =
            e.step == Step::ChannelOut || e.kind == OpKind::Copyback && self.ops[&e.op].started.is_some();
        let alone = resumes || second;
        let ids = if alone { vec![e.op] } else { self.with_joined(e.op) };
        for &id in &ids {
            let channel = &self.channels[number];
            let op = self.ops.get_mut(&id).expect("joined operations have arrived");
            op.charge_channel(channel, e.at.0);
        }
        self.channels[number].change(e.at.0, Some(Cause::channel_wait(e.occupant)));
        self.channels[number].change(e.until.0, None);
        self.channel_free[number] = e.until.0;
        if e.step == Step::ChannelOut || resumes {
            return Ok(());
        }
        let t = &self.parts.timing;
        let planes: u32 = ids.iter().map(|id| self.ops[id].told.planes.count_ones()).sum();
        let codewords: u32 = ids.iter().map(|id| self.ops[id].told.codewords).sum();
        let command = t.command_ns * u64::from(planes);
        let data = if e.kind == OpKind::Program { t.transfer_codewords_ns(codewords) } else { 0 };
        for id in ids {
            let op = self.op(id);
            op.account.add(Cause::COMMAND, command);
            op.account.add(Cause::TRANSFER, data);
            op.started.get_or_insert(e.at.0);
            op.loaded = op.cached.then_some(e.until.0);
        }
        match e.until.0 - e.at.0 == command + data {
            true => Ok(()),
            false => Err(format!("{e:?} should take {command} and {data} ns")),
        }
    }

    /// The program in the cache register of a die holds it now. It has waited for another since its data were in.
    fn promote(&mut self, id: u32, now: u64) {
        for id in self.with_joined(id) {
            let op = self.ops.get_mut(&id).expect("it has arrived");
            op.cached = false;
            if let Some(loaded) = op.loaded.take().filter(|&loaded| loaded < now) {
                self.units[op.told.unit.index()].charge(loaded, now, &mut op.account);
                op.started = op.started.map(|at| at + (now - loaded));
            }
        }
    }

    fn array_step(&mut self, e: &StepEvent) -> Result<(), String> {
        let further = self.with_joined(e.op).iter().all(|id| self.ops[id].senses > 0).then_some(self.further);
        let op = self.ops.get_mut(&e.op).expect("it has arrived");
        let Some(nominal) = op.array(e, further, &self.parts)? else { return Ok(()) };
        let senses = e.occupant != Occupant::GcProgram && matches!(e.kind, OpKind::Read | OpKind::Copyback);
        let second = e.kind == OpKind::Copyback && !senses;
        let ids = if second { vec![e.op] } else { self.with_joined(e.op) };
        let whole = self.parts.timing.read_ns(e.page);
        let in_die = sense_in_die(&self.parts, whole);
        for id in ids {
            let op = self.op(id);
            op.sensed_or_pulsed(e.at.0, nominal);
            if e.kind == OpKind::Read {
                op.sensed_beyond(e.until.0, e.until.0 - e.at.0 - nominal, whole, in_die);
            }
            if senses {
                op.wait_for_channel(e.until.0);
            }
        }
        Ok(())
    }

    fn try_step(&mut self, e: &StepEvent) -> Result<(), String> {
        let resumes = self.op(e.op).is_suspended();
        self.units[e.unit.index()].step(e, resumes)?;
        match e.step {
            Step::Granted if self.ops[&e.op].cached => self.promote(e.op, e.at.0),
            Step::Cached => {
                for id in self.with_joined(e.op) {
                    let op = self.op(id);
                    op.cached = true;
                    op.wait_for_channel(e.at.0);
                }
            }
            Step::Granted if self.ops[&e.op].started.is_none() => {
                self.charge_die(e.op, e.at.0);
                for id in self.with_joined(e.op) {
                    self.op(id).wait_for_channel(e.at.0);
                }
            }
            Step::ChannelIn | Step::ChannelOut => self.channel_step(e)?,
            Step::Array => self.array_step(e)?,
            _ => {}
        }
        let (parts, further) = (&self.parts, self.further);
        self.ops.get_mut(&e.op).expect("it has arrived").step(e, further, parts)
    }

    fn try_turn(&mut self, e: &QueueEvent) -> Result<(), String> {
        let now = e.at.0;
        match e.step {
            QueueStep::Arrives => {
                let placed = self.placed.remove(&e.op);
                let mut op = Operation::new(*e, placed);
                if let (Some(pblk), Some(r)) = (&self.front.pblk, self.requests.get_mut(&e.request)) {
                    op.before = pblk.read_arrives(r, now, e.codewords)?;
                }
                self.ops.insert(e.op, op);
            }
            QueueStep::Leaves => self.charge_die(e.op, now),
            QueueStep::Joins(head) => {
                self.op(head).joined.push(e.op);
                if e.kind == OpKind::Read {
                    self.units[e.unit.index()].joined();
                }
            }
            QueueStep::Returns => {
                let channel = &self.channels[e.channel as usize];
                let op = self.ops.get_mut(&e.op).expect("it has arrived");
                op.charge_channel(channel, now);
                op.queued = Some(now);
                op.cached = false;
                op.joined.clear();
            }
            QueueStep::Retries | QueueStep::SensesOn => {
                let predict = self.predict;
                self.op(e.op).retries(*e, predict)?;
            }
            QueueStep::Ends => self.ends(e, false)?,
            QueueStep::Fails => self.ends(e, true)?,
        }
        Ok(())
    }

    fn ends(&mut self, e: &QueueEvent, fails: bool) -> Result<(), String> {
        let now = e.at.0;
        let (decode, predict, pblk) = (self.decode, self.predict, self.front.pblk.is_some());
        let op = self.op(e.op);
        op.end(now, decode, predict)?;
        let mut account = op.account.clone();
        account.merge(&op.before);
        if pblk && e.kind != OpKind::Read {
            return Ok(());
        }
        if pblk && e.request == u64::MAX {
            // Data that pblk reads for itself cross the link too.
            self.front.send(u64::from(e.bytes), now, &mut account);
            return Ok(());
        }
        if e.write_unit != NONE && e.kind == OpKind::Read {
            self.fillers.insert(e.write_unit, account);
            return Ok(());
        }
        if fails
            && e.write_unit != NONE
            && let Some(placed) = op.placed.clone()
        {
            // The write unit is programmed again: all up to now precedes its next program.
            let attempt = placed.failed(op, now);
            self.fillers.insert(e.write_unit, attempt);
            return Ok(());
        }
        if e.request == u64::MAX {
            return Ok(());
        }
        if let Some(before) = self.preceding.remove(&e.op) {
            account.merge(&before);
        }
        if let Some(rebuild) = self.rebuilds.get_mut(&e.rebuild) {
            rebuild.left -= 1;
            rebuild.failed |= fails;
            account.merge(&rebuild.waited);
            if rebuild.left == 0 {
                rebuild.account = account.clone();
                if !rebuild.failed {
                    rebuild.account.add(Cause::RECONSTRUCTION, self.xor_ns);
                }
            }
        }
        if fails && self.front.pblk.is_none() {
            // The next event says what becomes of a part of a host read that has failed.
            self.op(e.op).account = account;
        } else if e.bytes > 0 {
            self.part_ends(e.request, u64::from(e.bytes), now, account)?;
        }
        Ok(())
    }

    /// What a write unit or stripe that has a row waited for until now.
    fn place(&mut self, key: (bool, u32), now: u64) -> Placed {
        let write = self.writes.entry(key).or_default().clone();
        let mut all = write.stalled;
        if let Some((unit, since)) = write.stalls {
            self.units[unit.index()].charge(since, now, &mut all);
        }
        Placed { ready: write.ready, stalled: all.by_occupants(), filler: write.filler }
    }

    /// Note that a part of a host read ended: its data are in the controller.
    fn part_ends(&mut self, request: u64, bytes: u64, now: u64, account: Account) -> Result<(), String> {
        let r = self.requests.get_mut(&request).ok_or("a part of an unknown request")?;
        if r.looked_at + account.sum() != now {
            return Err(format!("request {request}: a part that took {} ns ends at {now}", account.sum()));
        }
        self.front.part(r, bytes, now, account);
        Ok(())
    }

    /// Note that a part of a host read ended without data.
    fn part_fails(&mut self, request: u64, now: u64, account: Account) -> Result<(), String> {
        let r = self.requests.get_mut(&request).ok_or("a part of an unknown request")?;
        if r.looked_at + account.sum() != now {
            return Err(format!("request {request}: a failed part of {} ns ends at {now}", account.sum()));
        }
        self.front.part(r, 0, now, account);
        Ok(())
    }

    fn try_request(&mut self, e: &RequestEvent) -> Result<(), String> {
        let now = e.at.0;
        if let RequestStep::Submitted { command, wanted } = e.step {
            let request = self.front.submit(command, wanted.0, now);
            self.requests.insert(e.request, request);
            return Ok(());
        }
        let r = self.requests.get_mut(&e.request).ok_or("a step of an unknown request")?;
        match e.step {
            RequestStep::Submitted { .. } => {}
            RequestStep::Translated(0) => {}
            // What the ring has is there with the rest.
            RequestStep::Translated(_) if self.front.pblk.is_some() => {}
            RequestStep::Translated(bytes) => {
                self.front.part(r, bytes, now, Account::default());
            }
            RequestStep::Rebuilds { rebuild, instead, members, bytes } => {
                let mut waited = Account::default();
                // The replaced read has just failed.
                let failed = |op: &Operation| op.ended == Some(now) && op.told.request == e.request;
                if self.ops.get(&instead).is_some_and(failed) {
                    waited = self.op(instead).account.retried();
                }
                // The replaced read is withdrawn from its queue, or was withdrawn before it
                // arrived at a die.
                let queued = |op: &Operation| op.ended.is_none() && op.told.request == e.request;
                if self.ops.get(&instead).is_some_and(queued) {
                    self.charge_die(instead, now);
                    let op = self.op(instead);
                    op.ended = Some(now);
                    waited = op.account.clone();
                    if let Some(before) = self.preceding.remove(&instead) {
                        waited.merge(&before);
                    }
                }
                // It follows a reconstruction that has failed, without a read of the unit.
                if let Some(before) = self.preceding.remove(&instead) {
                    waited = before;
                }
                let mut account = waited.clone();
                account.add(Cause::RECONSTRUCTION, self.xor_ns);
                let new =
                    Rebuild { request: e.request, left: members, bytes, waited, account, failed: false };
                self.rebuilds.insert(rebuild, new);
            }
            RequestStep::Rebuilt(number) => {
                let rebuild = self.rebuilds.remove(&number).ok_or("an unknown reconstruction ended")?;
                if (rebuild.request, rebuild.left) != (e.request, 0) {
                    return Err(format!("reconstruction {number} ends for {}", e.request));
                }
                self.part_ends(e.request, u64::from(rebuild.bytes), now, rebuild.account)?;
            }
            RequestStep::RebuildFails { rebuild, instead } => {
                let rebuild = self.rebuilds.remove(&rebuild).ok_or("an unknown reconstruction fails")?;
                let spent = rebuild.account.retried();
                if instead == NONE {
                    return self.part_fails(e.request, now, spent);
                }
                self.preceding.insert(instead, spent);
            }
            RequestStep::ReadsElsewhere { instead, read, bytes } => {
                let spent = self.op(instead).account.retried();
                if read == NONE {
                    return self.part_ends(e.request, u64::from(bytes), now, spent);
                }
                self.preceding.insert(read, spent);
            }
            RequestStep::Unreadable(op) => {
                let account = self.ops.get(&op).map(|op| op.account.clone()).unwrap_or_default();
                self.part_fails(e.request, now, account)?;
            }
            RequestStep::Room(NONE) => {
                r.account.add(Cause::BUFFER_FLUSH, now - r.room_since);
                r.room_since = now;
            }
            RequestStep::Room(by) => {
                let op = self.ops.get(&by).ok_or("room made by an unknown operation")?;
                let placed = op.placed.as_ref().ok_or("room made by an operation without host data")?;
                placed.room(op, r.room_since, now, &mut r.account);
                r.room_since = now;
            }
            RequestStep::Programmed(by) => {
                let op = self.ops.get(&by).ok_or("programmed by an unknown operation")?;
                let placed = op.placed.as_ref().ok_or("programmed by an operation without host data")?;
                placed.through(op, &mut r.account);
                r.room_since = now;
            }
            RequestStep::ReadsAgain => self.front.read_again(r, now),
            RequestStep::Waits(reason) => self.front.wait_for(reason, now),
            RequestStep::Forced => {
                if self.front.pblk.is_some() {
                    self.front.waited(r.looked_at, now, &mut r.account);
                }
                (r.forced, r.room_since) = (true, now);
            }
            RequestStep::Held if r.forced => r.account.add(Cause::BUFFER_FLUSH, now - r.room_since),
            RequestStep::Held if self.front.pblk.is_some() && r.command.op == HostOp::Write => {
                self.front.waited(r.looked_at, now, &mut r.account);
            }
            RequestStep::Held => {
                if r.command.op == HostOp::Flush {
                    r.account.add(Cause::BUFFER_FLUSH, now - r.looked_at);
                }
            }
        }
        Ok(())
    }
}

impl Observer for Replay {
    fn step(&mut self, event: &StepEvent) {
        self.reached.step(event);
        let held = self.try_step(event);
        self.blame(held);
    }

    fn queued(&mut self, event: &QueueEvent) {
        self.reached.note("turn", event.step);
        let held = self.try_turn(event);
        self.blame(held);
    }

    fn closing(&mut self, unit: BusyUnit, at: SimTime, closing: Closing) {
        self.reached.note("closing", closing);
        self.units[unit.index()].closing(at.0, closing);
    }

    fn request(&mut self, event: &RequestEvent) {
        self.reached.note("request", event.step);
        if let RequestStep::Waits(reason) = event.step {
            self.reached.note("ring wait", reason);
        }
        let held = self.try_request(event);
        self.blame(held);
    }

    fn write_unit(&mut self, event: &WriteEvent) {
        self.reached.note("write unit", event.step);
        let (key, now) = ((event.stripe, event.number), event.at.0);
        match event.step {
            WriteStep::Ready => {
                let filler = if event.stripe { None } else { self.fillers.remove(&event.number) };
                let unit =
                    WriteUnit { ready: now, filler: filler.unwrap_or_default(), ..WriteUnit::default() };
                self.writes.insert(key, unit);
            }
            WriteStep::Stalls(unit) => {
                let write = self.writes.entry(key).or_default();
                if let Some((unit, since)) = write.stalls {
                    self.units[unit.index()].charge(since, now, &mut write.stalled);
                }
                write.stalls = (unit != BusyUnit::NONE).then_some((unit, now));
            }
            WriteStep::Held { write_unit, unit } => {
                let placed = self.place(key, now);
                self.held.insert(write_unit, (placed, unit, now));
            }
            WriteStep::Placed(op) => {
                let held = if event.stripe { None } else { self.held.remove(&event.number) };
                let placed = match held {
                    Some((mut placed, unit, since)) => {
                        if unit != BusyUnit::NONE {
                            let mut all = Account::default();
                            self.units[unit.index()].charge(since, now, &mut all);
                            placed.stalled.merge(&all.by_occupants());
                        }
                        placed
                    }
                    None => self.place(key, now),
                };
                self.placed.insert(op, placed);
            }
        }
    }
}
