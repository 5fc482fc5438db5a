//! Runs a case and checks it during the run.

use super::draw::{Case, between, chance, one_of};
use super::interventions::done;
use crate::bytes::Bytes;
use crate::oracle::{Ended, Oracle};
use crate::replay::{Reached, Replay};
use std::collections::BTreeMap;
use std::ops::Range;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Completion, Device, InMemory, Medium, NoData, Observer, Shape, UniformStart};
use tailcut_core::nand::faults::config::{FaultConfig, FaultKind};
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_units::random::mix;
use tailcut_units::{Command, HostOp, SimTime, Status, Stream};

/// The result of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Digest over (submission number, completion, status) in order of completion.
    pub digest: u64,
    /// Device events.
    pub events: u64,
    /// Whether a plane failed.
    pub failed: bool,
    /// Extents erased.
    pub erases: u64,
    /// Suspensions of erases and of programs.
    pub suspends: [u64; 2],
    /// Stripes that wear levelling moved.
    pub moves: u64,
    /// Events from the last completion until the drive was idle.
    pub settling: u64,
    /// Faults that were injected, and keys that were changed, while it served commands.
    pub interventions: u64,
    /// What failed, and what the drive did about it.
    pub faults: Faults,
    /// The events, members and causes that occurred.
    pub reached: Reached,
}

/// The kinds of faults that a configuration asks for.
fn asked_for(c: &DeviceConfig) -> impl Iterator<Item = (&'static str, u64)> {
    let named = |test: &dyn Fn(&FaultConfig) -> bool| c.fault.iter().filter(|f| test(f)).count() as u64;
    let of = |kind| named(&|f| f.kind == kind);
    let drawn = |share: Option<f64>| u64::from(share.is_some_and(|share| share > 0.0));
    let timed = |kind| named(&|f| f.kind == kind && f.at.is_some());
    [
        ("programs to fail", of(FaultKind::Program)),
        ("erases to fail", of(FaultKind::Erase)),
        ("pages to fail", of(FaultKind::Page)),
        ("bad blocks", of(FaultKind::Bad)),
        ("planes to die", of(FaultKind::Plane)),
        ("dies to die", of(FaultKind::Die)),
        ("channels to die", of(FaultKind::Channel)),
        ("pages to fail once", named(&|f| f.once)),
        ("pages to fail after reads", named(&|f| f.reads.is_some_and(|reads| reads > 0))),
        ("pages to fail when old", named(&|f| f.older.is_some())),
        ("programs to fail from a time on", timed(FaultKind::Program)),
        ("erases to fail from a time on", timed(FaultKind::Erase)),
        ("planes to die by chance", drawn(c.faults.plane)),
        ("dies to die by chance", drawn(c.faults.die)),
        ("channels to die by chance", drawn(c.faults.channel)),
        (
            "pages to fail by chance after reads",
            drawn(c.faults.page) * u64::from(c.faults.page_reads.is_some()),
        ),
    ]
    .into_iter()
}

/// What failed in a run, and what the drive did about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Numbers by what they count.
    counts: BTreeMap<&'static str, u64>,
}

impl Faults {
    fn of<O: Observer, M: Medium>(device: &Device<O, M>, config: &DeviceConfig) -> Faults {
        let c = device.counters();
        let parity = device.shape().has_parity();
        let report = device.block_report();
        let retired = report.map_or(0, |report| report.retired_extents);
        let lost = device.lost_ranges().iter().map(|r| r.end - r.start).sum();
        let dead = u64::from(device.copies().dead_planes());
        let counts = [
            ("programs failed", c.program_failures),
            ("erases failed", c.erase_failures),
            ("reads failed", c.read_failures),
            ("reads ended without data", c.media_errors),
            ("units mended", c.mended_units),
            ("stripes rewritten", c.stripes_rewritten),
            ("bad blocks replaced", c.blocks_replaced),
            ("extents retired", retired),
            ("blocks in holes", report.map_or(0, |report| report.in_holes)),
            ("live lanes with a dead plane", device.copies().partial_lanes() as u64),
            ("dead planes with parity", if parity { dead } else { 0 }),
            ("dead planes without parity", if parity { 0 } else { dead }),
            ("drives read-only", u64::from(device.read_only_since().is_some())),
            ("bytes lost with parity", if parity { lost } else { 0 }),
            ("bytes lost without parity", if parity { 0 } else { lost }),
        ];
        Faults { counts: counts.into_iter().chain(asked_for(config)).collect() }
    }

    /// Add what happened in another run.
    pub fn merge(&mut self, other: &Faults) {
        for (name, n) in &other.counts {
            *self.counts.entry(name).or_default() += n;
        }
    }

    /// What never happened.
    pub fn missing(&self) -> Vec<&'static str> {
        self.counts.iter().filter(|(_, n)| **n == 0).map(|(name, _)| *name).collect()
    }
}

/// Events without a completion, or after the last completion without an erase, after which a
/// run counts as stuck.
const MOST_SILENT: u64 = 1_000_000;

/// The same where pages have raw bit errors: a drive of which no page can be read, each of which is sensed 31 times
/// and mended, takes over a million before its refreshing lets a write in.
const MOST_SILENT_WITH_ERRORS: u64 = 4_000_000;

/// How often a drive with parity whose reads fail or whose planes die may be rewritten after the last
/// command. It rewrites what it cannot read while that is less than it gains; the cases with the highest
/// rates take a quarter of this.
const MOST_REWRITES: u64 = 20;

/// Whether the configuration of a case lets reads fail or planes die.
fn may_lose_reads(case: &Case) -> bool {
    let rates = [case.config.faults.read, case.config.faults.page];
    let places = |f: &FaultConfig| f.kind == FaultKind::Page || f.kills();
    rates.iter().any(|rate| rate.is_some_and(|rate| rate > 0.0))
        || case.config.faults.kills()
        || case.plan.interventions.lose_reads()
        || case.config.fault.iter().any(places)
}

/// Run a case; the error says what failed. One drive in eight, if its unit and transfer are not
/// too large, holds bytes. The blame of every request is calculated a second time.
pub fn run(case: &Case) -> Result<Outcome, String> {
    let unit = case.config.ftl.mapping_unit;
    let replay = Replay::new(&case.config, case.seed)?;
    let judge: Judge<Replay> = |replay, e| replay.ended(e.index, &e.ledger);
    if case.seed.is_multiple_of(8) && unit <= 32 << 10 && case.config.host.max_transfer <= 256 << 10 {
        return work(case, replay, judge, InMemory::new()).map(outcome);
    }
    work(case, replay, judge, NoData).map(outcome)
}

fn outcome<M: Medium>((outcome, device): (Outcome, Device<Replay, M>)) -> Outcome {
    Outcome { reached: device.into_observer().reached, ..outcome }
}

/// Run a case over a medium; returns the device in its final state.
pub fn run_over<M: Medium>(case: &Case, medium: M) -> Result<(Outcome, Device<(), M>), String> {
    work(case, (), |(), _| Ok(()), medium)
}

/// Run a case with an observer; returns the device in its final state.
pub fn observe<O: Observer>(case: &Case, observer: O) -> Result<(Outcome, Device<O>), String> {
    work(case, observer, |_, _| Ok(()), NoData)
}

/// Run a case with an observer, and look at the device after every event, from the first command on; returns the
/// device in its final state.
pub fn watch<O: Observer>(
    case: &Case,
    observer: O,
    look: Look<'_, O, NoData>,
) -> Result<(Outcome, Device<O>), String> {
    let device = Device::new(&case.config, case.seed, observer).map_err(|e| e.to_string())?;
    let mut run = Run::new(case, device, |_, _| Ok(()));
    run.look = Some(look);
    run.work()?;
    Ok((run.outcome, run.device))
}

/// An observer's check of a command that ended.
type Judge<O> = fn(&mut O, &Ended) -> Result<(), String>;

/// A check of the device after an event.
type Look<'a, O, M> = &'a mut dyn FnMut(&mut Device<O, M>) -> Result<(), String>;

fn work<O: Observer, M: Medium>(
    case: &Case,
    observer: O,
    judge: Judge<O>,
    medium: M,
) -> Result<(Outcome, Device<O, M>), String> {
    let device = Device::with_medium(&case.config, case.seed, observer, medium).map_err(|e| e.to_string())?;
    let mut run = Run::new(case, device, judge);
    run.work()?;
    Ok((run.outcome, run.device))
}

/// Tell the oracle of bytes that a command ended.
pub(super) fn of_bytes(bytes: &mut Bytes, c: &Completion<'_>) -> Result<(), String> {
    match c.status {
        Status::Ok | Status::OutOfRange => bytes.ended(c.index, &c.command, c.data),
        Status::MediaError | Status::ReadOnly if c.data.is_empty() => {
            bytes.failed(c.index);
            Ok(())
        }
        status => Err(format!("command {} ended {status:?} and returned data", c.index)),
    }
}

/// `bytes` rounded down to whole mapping units or, with parity, to whole stripes, in which a
/// fill must end.
pub fn whole_stripes(shape: &Shape, bytes: u64) -> u64 {
    let stripe = shape.stripes.as_ref().map_or(1, |x| u64::from(x.width - 1)) * shape.layout.unit_bytes;
    bytes / stripe * stripe
}

struct Run<'a, O: Observer, M: Medium> {
    device: Device<O, M>,
    judge: Judge<O>,
    look: Option<Look<'a, O, M>>,
    oracle: Option<Oracle>,
    /// Present only if the medium holds data.
    bytes: Option<Bytes>,
    outcome: Outcome,
    /// Events since the last completion.
    silent: u64,
    now: u64,
    case: &'a Case,
}

impl<'a, O: Observer, M: Medium> Run<'a, O, M> {
    fn new(case: &'a Case, device: Device<O, M>, judge: Judge<O>) -> Run<'a, O, M> {
        let outcome = Outcome::default();
        Run { device, judge, look: None, oracle: None, bytes: None, outcome, silent: 0, now: 0, case }
    }

    fn oracle(&mut self) -> &mut Oracle {
        self.oracle.as_mut().expect("made before the first command")
    }

    fn work(&mut self) -> Result<(), String> {
        let (plan, seed) = (&self.case.plan, self.case.seed);
        let shape = self.device.shape();
        let filled = whole_stripes(shape, self.device.host_bytes() / 256 * plan.fill);
        let scattered = if filled > 0 { self.case.config.age.free } else { None };
        if let Some(free) = scattered {
            self.device.scatter(filled, free, &mut |_| true).map_err(|e| e.to_string())?;
            self.audit("after scattering")?;
        } else if filled > 0 {
            self.device.fill(filled);
            self.audit("after the fill")?;
        }
        if filled > 0 && plan.aged && scattered.is_none() {
            let unit = self.case.config.ftl.mapping_unit as u32;
            // A third of the drives begins at an analytic start, if their kind has one.
            let start = match seed % 3 {
                0 => UniformStart::Analytic(1 + (seed / 3 % 2) as usize),
                _ => UniformStart::BySize,
            };
            self.device.age_uniform_from(start, 0..filled, unit, &mut |_| true);
            self.audit("after ageing")?;
        }
        self.oracle = Some(Oracle::new(&self.case.config, self.device.shape(), filled));
        if plan.interventions.pass() {
            self.oracle().lets_failures_pass();
        }
        if M::HOLDS_DATA {
            let unit = self.case.config.ftl.mapping_unit;
            let mut bytes = Bytes::new(self.device.host_bytes(), unit, filled);
            bytes.trims_may_be_kept = self.device.shape().has_parity();
            let buffer = &self.case.config.policy.buffer;
            bytes.writes_may_pass = matches!(buffer, BufferConfig::Lru(c) if c.queue_limit.is_some());
            self.bytes = Some(bytes);
        }
        let mut s = Stream::new(seed, "swarm work", 0);
        let mut next = 0;
        for number in 1..=plan.commands {
            if number == plan.fails {
                let plane = s.below(self.device.shape().bad.len() as u64) as u32;
                self.outcome.failed = self.device.kill_planes(plane..plane + 1).is_ok();
                self.audit("after a plane died")?;
            }
            let command = self.draw_command(&mut s, &mut next);
            let pause = plan.pause > 0 && chance(&mut s, plan.pause);
            let gap = if pause { 50_000_000 } else { s.below(plan.gap + 1) };
            self.pass(self.now + gap)?;
            self.intervene(number)?;
            let wanted = SimTime(self.now);
            while !self.device.has_place() {
                self.step()?;
            }
            let at = SimTime(self.now);
            let index = self.oracle().submitted();
            let oracle = self.oracle.as_mut().expect("made above");
            oracle.submit(index, wanted, command, &self.device);
            let data = self.bytes.as_mut().map(|b| b.submit(index, &command)).unwrap_or_default();
            let got = self.device.submit_write(at, wanted, command, 0, &data).map_err(|e| e.to_string())?;
            if got != index {
                return Err(format!("submission {index} got number {got}"));
            }
        }
        while self.device.outstanding() > 0 {
            self.step()?;
        }
        self.audit("after the last command")?;
        self.settle()?;
        self.audit("when idle")?;
        let lost = self.device.copies().lost_units();
        let rewrites = self.device.shape().has_parity() && self.device.read_only_since().is_none();
        if lost > 0 && rewrites {
            return Err(format!("{lost} units that cannot be read were not rewritten"));
        }
        let oracle = self.oracle.as_ref().expect("made above");
        oracle.finish(&self.device)?;
        let c = self.device.counters();
        self.outcome.erases = c.erases;
        let f = self.device.flash_counters();
        self.outcome.suspends = [f.erase_suspension.suspends, f.program_suspension.suspends];
        self.outcome.moves = c.shifts + c.migrations;
        self.outcome.faults = Faults::of(&self.device, &self.case.config);
        self.outcome.faults.counts.insert("interventions", self.outcome.interventions);
        self.read_all()
    }

    /// Do what is to be done before the command of a number.
    fn intervene(&mut self, number: u32) -> Result<(), String> {
        for what in self.case.plan.interventions.before(number) {
            let said = self.device.intervene(SimTime(self.now), what);
            self.outcome.interventions += u64::from(done(what, said)?);
            self.audit("after an intervention")?;
            // What it makes due now is done before the next command.
            self.pass(self.now)?;
        }
        Ok(())
    }

    /// Read every byte of the drive, if it can fail for good or the medium holds data, and check for faults of the
    /// medium. If no failure passes, the reads that end without data are those of data that are reported as lost.
    fn read_all(&mut self) -> Result<(), String> {
        let exact = self.device.block_report().is_some() && !self.oracle().failures_pass();
        if self.bytes.is_none() && !exact {
            return Ok(());
        }
        let (end, most) = (self.device.host_bytes(), self.case.config.host.max_transfer);
        let unit = self.case.config.ftl.mapping_unit;
        // Units are reported as lost as a whole.
        let most = if exact && most >= unit { most / unit * unit } else { most };
        for offset in (0..end).step_by(most as usize) {
            let command = Command::new(HostOp::Read, offset, most.min(end - offset) as u32);
            let at = SimTime(self.now);
            self.device.advance(at, &mut |_| {});
            let before = if exact { self.told(&command) } else { None };
            let index = self.device.submit(at, at, command, 0).map_err(|e| e.to_string())?;
            if let Some(bytes) = &mut self.bytes {
                bytes.submit(index, &command);
            }
            let mut ended = None;
            while ended.is_none() {
                self.now = self.device.next_deadline().0;
                let bytes = &mut self.bytes;
                self.device.advance(SimTime(self.now), &mut |c| {
                    let held = bytes.as_mut().map_or(Ok(()), |bytes| of_bytes(bytes, c));
                    ended = Some(held.map(|()| c.status));
                });
                self.look()?;
            }
            let status = ended.unwrap_or(Ok(Status::Ok))?;
            if exact {
                let after = self.told(&command);
                self.check_told(&command, status, before, after)?;
                // What the read found may be written elsewhere now, and be lost there.
                self.settle()?;
            }
        }
        match self.device.medium().faults() {
            [] => Ok(()),
            faults => Err(format!("the medium found faults: {faults:?}")),
        }
    }

    /// The largest range of a command's data that is reported as lost.
    fn told(&self, command: &Command) -> Option<Range<u64>> {
        let (first, end) = (command.offset, command.offset + u64::from(command.bytes));
        let within = |r: Range<u64>| r.start.max(first)..r.end.min(end);
        let told = self.device.lost_ranges().into_iter().map(within).filter(|r| !r.is_empty());
        told.max_by_key(|r| r.end - r.start)
    }

    /// Check that a read of an idle drive ended without data if some of its data had been reported as lost, and only if
    /// some are reported now. A unit on several pages is reported as a whole, although a part of it may be readable. In
    /// a read-only drive with parity, the buffer of a flush that will never end may give more data than the report
    /// says.
    fn check_told(
        &self,
        command: &Command,
        status: Status,
        before: Option<Range<u64>>,
        after: Option<Range<u64>>,
    ) -> Result<(), String> {
        let unit = self.case.config.ftl.mapping_unit;
        let fails = status == Status::MediaError;
        let held = self.device.shape().has_parity() && self.device.read_only().is_some();
        let must = !held && before.as_ref().is_some_and(|r| r.end - r.start >= unit);
        if must && !fails || fails && before.is_none() && after.is_none() {
            return Err(format!(
                "the read {command:?} ended {status:?}; told as lost before {before:?}, after {after:?}"
            ));
        }
        Ok(())
    }

    /// Check every law, including parity; the cost grows with the size of the drive.
    fn audit(&self, when: &str) -> Result<(), String> {
        let both = self.device.audit().and_then(|()| self.device.audit_parity());
        both.map_err(|e| format!("{when}: {e}: {}", self.device.describe_waiting()))
    }

    /// Run until the drive is idle after the last completion. Each collection for space frees at least
    /// one row. One for levelling takes no rows, and its erase counts for a block that was erased less than
    /// others, so that these end too. So there are at most as many collections for space as rows of the
    /// drive plus rows that the data in the buffer may still take. Where units cannot be read, stripes are
    /// rewritten in an idle drive too, and what collections move may then fail to be read again: these rows
    /// count too.
    fn settle(&mut self) -> Result<(), String> {
        let layout = &self.device.shape().layout;
        let extents: u64 = layout.usable.iter().map(|&n| u64::from(n)).sum();
        let held = u64::from(self.device.shape().buffer_slots);
        let rewrites = self.device.shape().has_parity() && (may_lose_reads(self.case) || self.outcome.failed);
        let most =
            (extents * u64::from(layout.rows_per_extent) + held) * if rewrites { MOST_REWRITES } else { 1 };
        let ended_for_space = |device: &Device<O, M>| {
            let c = device.counters();
            // A collection for levelling counts when it begins.
            c.collections.saturating_sub(c.collections_for_wear + c.collections_for_refresh)
        };
        let before = ended_for_space(&self.device);
        let (mut ended, mut last) = (0, 0);
        while !self.device.is_quiescent() {
            self.step()?;
            self.outcome.settling += 1;
            let now_ended = ended_for_space(&self.device).saturating_sub(before);
            if now_ended > ended {
                (ended, last) = (now_ended, self.outcome.settling);
            }
            if ended > most || self.outcome.settling - last > self.most_silent() {
                return Err(format!(
                    "not idle: {ended} collections (at most {most}) in {} events since the last completion: {}",
                    self.outcome.settling,
                    self.device.describe_waiting()
                ));
            }
        }
        Ok(())
    }

    /// More events in a row without an end mean that the drive does not end.
    fn most_silent(&self) -> u64 {
        if self.case.config.errors.is_some() { MOST_SILENT_WITH_ERRORS } else { MOST_SILENT }
    }

    fn draw_command(&self, s: &mut Stream, next: &mut u64) -> Command {
        let plan = &self.case.plan;
        let capacity = self.device.host_bytes();
        let mut ticket = s.below(plan.weights.iter().sum());
        let ops = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];
        let mut op = HostOp::Flush;
        for (kind, &weight) in ops.into_iter().zip(&plan.weights) {
            if ticket < weight {
                op = kind;
                break;
            }
            ticket -= weight;
        }
        if op == HostOp::Flush {
            return Command::new(op, 0, 0);
        }
        if plan.astray > 0 && chance(s, plan.astray) {
            let (offset, bytes) =
                one_of(s, &[(capacity, 1), (capacity - 1, 2), (u64::MAX, 1), (0, 0), (u64::MAX - 5, 100)]);
            return Command::new(op, offset, bytes);
        }
        let hot = plan.hot > 0 && !chance(s, 8);
        let span = if hot { (capacity * plan.hot / 256).max(1) } else { capacity };
        let grain = plan.grain.min(capacity);
        let offset = if plan.sequential { *next % capacity } else { s.below(span) } / grain * grain;
        let most = plan.largest.min(capacity - offset).max(1);
        let bytes = (between(s, 1, most).div_ceil(grain) * grain).min(most);
        *next = offset + bytes;
        Command { fua: chance(s, 16), ..Command::new(op, offset, bytes as u32) }
    }

    /// Advance time to `at`, one deadline after the other.
    fn pass(&mut self, at: u64) -> Result<(), String> {
        while self.device.next_deadline().0 <= at {
            self.step()?;
        }
        self.device.advance(SimTime(at), &mut |_| unreachable!("nothing was due"));
        self.now = at;
        Ok(())
    }

    fn look(&mut self) -> Result<(), String> {
        self.look.as_mut().map_or(Ok(()), |look| look(&mut self.device))
    }

    /// Advance to the next deadline and check what ended.
    fn step(&mut self) -> Result<(), String> {
        let due = self.device.next_deadline();
        let under_way = self.oracle().under_way();
        if due == SimTime::NEVER {
            return Err(format!("no progress at {} ns: {}", self.now, self.device.describe_waiting()));
        }
        if due.0 < self.now {
            return Err(format!("a deadline at {due} is before {} ns", self.now));
        }
        self.now = due.0;
        let mut ended = Vec::new();
        let mut held = Ok(());
        let bytes = &mut self.bytes;
        self.device.advance(due, &mut |c| {
            if let Some(bytes) = bytes {
                held = held.clone().and(of_bytes(bytes, c));
            }
            ended.push(Ended {
                index: c.index,
                command: c.command,
                arrived: c.arrived,
                completed: c.completed,
                status: c.status,
                ledger: *c.ledger,
            });
        });
        held?;
        self.outcome.events += 1;
        self.silent = if ended.is_empty() && under_way > 0 { self.silent + 1 } else { 0 };
        let most = self.most_silent();
        if self.silent > most {
            return Err(format!(
                "{most} events without a completion at {} ns, {:?}: {}",
                self.now,
                self.device.counters(),
                self.device.describe_waiting()
            ));
        }
        for e in &ended {
            let oracle = self.oracle.as_mut().expect("made before the first command");
            oracle.ended(e, &self.device)?;
            (self.judge)(self.device.observer_mut(), e)?;
            let status = u64::from(e.status != Status::Ok);
            self.outcome.digest =
                mix(self.outcome.digest ^ mix(e.index) ^ mix(e.completed.0.wrapping_mul(2) + status));
        }
        self.look()?;
        // A drive that serves commands is audited often; a drive that only collects is audited
        // less often.
        let every = if self.silent > 10_000 { 50_000 } else { self.case.plan.audit_every };
        if self.outcome.events.is_multiple_of(every) {
            self.device.audit().map_err(|e| format!("at {} ns: {e}", self.now))?;
        }
        if self.outcome.events.is_multiple_of(every * 16) {
            self.device.audit_parity().map_err(|e| format!("at {} ns: {e}", self.now))?;
        }
        Ok(())
    }
}
