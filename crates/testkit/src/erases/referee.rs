//! The course of every erase of a drive, against its plan.

use super::plan::{Plan, Planner, Record};
use std::collections::BTreeMap;
use tailcut_core::address::BlockId;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{
    Device, ErasePart, Medium, Observer, OpKind, QueueEvent, QueueStep, Step, StepEvent,
};
use tailcut_core::nand::blocks::Worn;
use tailcut_core::policy::suspend_erase::SuspendEraseConfig;

/// An event of a flash operation.
pub enum Event {
    Step(StepEvent),
    Queue(QueueEvent),
}

/// The events of erases since the referee has looked.
#[derive(Default)]
pub struct Log(Vec<Event>);

impl Observer for Log {
    fn step(&mut self, event: &StepEvent) {
        if event.kind == OpKind::Erase {
            self.0.push(Event::Step(*event));
        }
    }
    fn queued(&mut self, event: &QueueEvent) {
        if event.kind == OpKind::Erase {
            self.0.push(Event::Queue(*event));
        }
    }
}

/// What the referee has seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Erases of blocks.
    pub blocks: u64,
    /// Those at the full voltage under a scheme with a lower one.
    pub full_voltage: u64,
    /// Those that left a block not wholly erased.
    pub incomplete: u64,
    /// Pulses of erases of blocks.
    pub pulses: u64,
    /// Time of these pulses, ns.
    pub pulse_ns: u64,
    /// Time of erases in the array without what was repeated, ns.
    pub planned_ns: u64,
    /// Array time that was cancelled and repeated, ns.
    pub repeated_ns: u64,
    /// Resumes after a suspension.
    pub resumes: u64,
    /// Erases that joined others.
    pub joined: u64,
    /// Erases whose last loop was deferred.
    pub deferred: u64,
}

impl Seen {
    /// Add what was seen of another drive.
    pub fn add(&mut self, s: &Seen) {
        self.blocks += s.blocks;
        self.full_voltage += s.full_voltage;
        self.incomplete += s.incomplete;
        self.pulses += s.pulses;
        self.pulse_ns += s.pulse_ns;
        self.planned_ns += s.planned_ns;
        self.repeated_ns += s.repeated_ns;
        self.resumes += s.resumes;
        self.joined += s.joined;
        self.deferred += s.deferred;
    }
}

/// An erase in the array.
struct Course {
    /// Lengths of its loops, ns.
    loops: Vec<u64>,
    /// Done when it last entered the array, and when that was, ns.
    done: u64,
    since: u64,
    /// When it will end, if nothing interrupts it.
    until: u64,
    /// What it had done when it was interrupted.
    stopped: Option<u64>,
}

struct Erase {
    told: QueueEvent,
    /// The operations that it runs with.
    joined: Vec<u32>,
    /// Its blocks, their plans and whether these are at the full voltage, once it is in the array.
    plans: Vec<(BlockId, Plan, bool)>,
    /// Its course, if it has joined none.
    course: Option<Course>,
}

/// Follows the erases of a drive from its first command on.
pub struct Referee {
    planner: Planner,
    /// Ramp-up, recovery and verify of a loop, ns.
    others: u64,
    rule: Rule,
    /// By block that was erased in the run.
    blocks: BTreeMap<BlockId, Record>,
    /// By block whose erase has begun: whether it is at the full voltage.
    ordered: BTreeMap<BlockId, bool>,
    /// By operation.
    erases: BTreeMap<u32, Erase>,
    /// What it has seen.
    pub seen: Seen,
}

impl Referee {
    /// A referee; `None` for a drive whose erases take the configured loops.
    pub fn new(c: &DeviceConfig, seed: u64) -> Option<Referee> {
        let e = &c.timing.erase;
        Some(Referee {
            planner: Planner::new(c, seed)?,
            others: e.ramp_up.0 + e.recovery.0 + e.verify.0,
            rule: Rule::of(c),
            blocks: BTreeMap::new(),
            ordered: BTreeMap::new(),
            erases: BTreeMap::new(),
            seen: Seen::default(),
        })
    }

    /// Check the events of the drive since the last call. Call it after every event of the drive.
    ///
    /// # Errors
    /// Says which erase differs from its plan, and how.
    pub fn look<M: Medium>(&mut self, device: &mut Device<Log, M>) -> Result<(), String> {
        for event in std::mem::take(&mut device.observer_mut().0) {
            match event {
                Event::Queue(e) => self.queued(&e, device),
                Event::Step(e) => self.step(&e, device).map_err(|why| format!("{e:?}: {why}")),
            }?;
        }
        Ok(())
    }

    fn queued<M: Medium>(&mut self, e: &QueueEvent, device: &Device<Log, M>) -> Result<(), String> {
        match e.step {
            QueueStep::Arrives => {
                self.erases.insert(e.op, Erase::new(*e));
                Ok(())
            }
            QueueStep::Ends | QueueStep::Fails => self.ends(e, device),
            _ => Ok(()),
        }
    }

    /// The plan of the erase of the block at an index of a plane.
    fn plan<M: Medium>(
        &mut self,
        plane: u32,
        index: u32,
        device: &Device<Log, M>,
    ) -> Result<(BlockId, Plan, bool), String> {
        let block = device.blocks().id(plane, index);
        let nature = self.planner.chip().nature(block);
        let eraser = device.shape().eraser.as_ref().expect("a scheme chooses pulses");
        let cycles = eraser.cycles(device.blocks(), plane, index);
        let first = || {
            let lived = eraser.lived(&nature, cycles);
            let (wear, pulses, left) = (lived.wear, lived.pulses, lived.left);
            Record { cycles, wear, pulses, shallow: lived.shallow, left }
        };
        let record = self.blocks.entry(block).or_insert_with(first);
        if record.cycles != cycles {
            return Err(format!("block {block:?} has {cycles} cycles, and not {}", record.cycles));
        }
        let full_voltage = device.blocks().is_at_full_voltage(block);
        Ok((block, self.planner.plan(&nature, record, full_voltage), full_voltage))
    }

    /// The lengths of these pulses with what belongs to each, ns.
    fn loops(&self, pulses: &[(u32, u32)]) -> Vec<u64> {
        pulses.iter().map(|&(_, steps)| u64::from(steps) * self.planner.step_ns() + self.others).collect()
    }

    /// The loops of an erase with those that joined it: of the plane that takes longest, and of the last of
    /// equals.
    fn loops_of<M: Medium>(&mut self, op: u32, device: &Device<Log, M>) -> Result<Vec<u64>, String> {
        let joined = self.erases[&op].joined.clone();
        let mut slowest: Vec<u64> = Vec::new();
        for id in std::iter::once(op).chain(joined) {
            let told = self.erase(id)?.told;
            let layout = &device.shape().layout;
            let die = told.unit.0 / (device.shape().units / device.shape().dies);
            let (_, index) = layout.lane_of(told.extent);
            let mut of_op: Vec<u64> = Vec::new();
            for plane in (0..layout.planes).filter(|plane| told.planes >> plane & 1 == 1) {
                let plan = self.plan(die * layout.planes + plane, index, device)?;
                let (block, _, full_voltage) = plan;
                let ordered = match told.part {
                    ErasePart::Last => self.ordered.remove(&block),
                    ErasePart::Whole | ErasePart::AllButLast => {
                        self.ordered.insert(block, full_voltage);
                        None
                    }
                };
                if ordered.is_some_and(|ordered| ordered != full_voltage) {
                    return Err(format!("the voltage of block {block:?} changes before its last loop"));
                }
                let loops = self.loops(&plan.1.pulses);
                of_op = if total(&loops) >= total(&of_op) { loops } else { of_op };
                self.erase(id)?.plans.push(plan);
            }
            let last = of_op.pop().ok_or("an erase of no block")?;
            match told.part {
                ErasePart::Whole => of_op.push(last),
                ErasePart::AllButLast => self.seen.deferred += 1,
                ErasePart::Last => of_op = vec![last],
            }
            slowest = if total(&of_op) > total(&slowest) { of_op } else { slowest };
        }
        Ok(slowest)
    }

    fn step<M: Medium>(&mut self, e: &StepEvent, device: &Device<Log, M>) -> Result<(), String> {
        if e.step == Step::Joined {
            self.seen.joined += 1;
            self.erase(e.by)?.joined.push(e.op);
            return Ok(());
        }
        let begins = e.step == Step::Array && self.erase(e.op)?.course.is_none();
        if begins {
            let loops = self.loops_of(e.op, device)?;
            if e.until.0 - e.at.0 != total(&loops) {
                return Err(format!("it should take {loops:?} ns"));
            }
            self.seen.planned_ns += total(&loops);
            let course = Course { loops, done: 0, since: e.at.0, until: e.until.0, stopped: None };
            self.erase(e.op)?.course = Some(course);
            return Ok(());
        }
        let rule = self.rule;
        let Some(course) = &mut self.erase(e.op)?.course else { return Ok(()) };
        match e.step {
            Step::Array => {
                let stopped = course.stopped.take().ok_or("it enters the array twice")?;
                let left = e.until.0 - e.at.0;
                let done = total(&course.loops).checked_sub(left).ok_or("more than its plan is left")?;
                if !rule.may_go_on(&course.loops, stopped, done) {
                    return Err(format!("it goes on at {done} of {:?}, stopped at {stopped}", course.loops));
                }
                (course.done, course.since, course.until) = (done, e.at.0, e.until.0);
                self.seen.resumes += 1;
                self.seen.repeated_ns += stopped - done;
            }
            // The first step of an interruption; the end of `Stopping` is the suspend point.
            Step::Stopping | Step::Suspending | Step::Suspended if course.stopped.is_none() => {
                let point = if e.step == Step::Stopping { e.until.0 } else { e.at.0 };
                course.stopped = Some(course.done + point - course.since);
            }
            _ => {}
        }
        Ok(())
    }

    fn erase(&mut self, op: u32) -> Result<&mut Erase, String> {
        self.erases.get_mut(&op).ok_or("an erase that never arrived".to_string())
    }

    /// An erase has ended: it ends with the operation that it runs with, and its blocks are as planned.
    fn ends<M: Medium>(&mut self, e: &QueueEvent, device: &Device<Log, M>) -> Result<(), String> {
        let Erase { told, course, plans, .. } =
            self.erases.remove(&e.op).ok_or("an erase ends that never arrived")?;
        if course.is_some_and(|course| course.stopped.is_some() || course.until != e.at.0) {
            return Err(format!("{e:?}: it should not end now"));
        }
        if plans.is_empty() {
            return Err(format!("{e:?}: it was never in the array"));
        }
        if told.part == ErasePart::AllButLast {
            return Ok(());
        }
        for (block, plan, full_voltage) in plans {
            let Record { wear, pulses, shallow, left, .. } = plan.after;
            let (pulses, left) = (pulses as u8, left.min(255) as u8);
            let found = device.blocks().worn(block);
            if found != Some(Worn { wear, left, pulses, shallow, full_voltage }) {
                return Err(format!("{block:?} is {found:?}, and should be {plan:?}"));
            }
            self.seen.blocks += 1;
            self.seen.full_voltage += u64::from(full_voltage);
            self.seen.incomplete += u64::from(left > 0);
            self.seen.pulses += u64::from(pulses);
            let steps: u32 = plan.pulses.iter().map(|&(_, steps)| steps).sum();
            self.seen.pulse_ns += u64::from(steps) * self.planner.step_ns();
            self.blocks.insert(block, plan.after);
        }
        Ok(())
    }

    /// Check the totals of the drive, which counts since it was made.
    ///
    /// # Errors
    /// Says which total differs.
    pub fn conclude<M: Medium>(&self, device: &Device<Log, M>) -> Result<(), String> {
        let (c, s) = (device.flash_counters(), &self.seen);
        let pulses: u64 = c.erases.by_pulses.iter().zip(0..).map(|(n, pulses)| n * pulses).sum();
        let equal = [
            ("erases of blocks", c.erases.blocks, s.blocks),
            ("erases at the full voltage", c.erases.full_voltage, s.full_voltage),
            ("incomplete erases", c.erases.incomplete, s.incomplete),
            ("pulses", pulses, s.pulses),
            ("pulse time", c.erases.pulse_ns, s.pulse_ns),
            ("planned array time", c.array_ns[2], s.planned_ns),
            ("repeated array time", c.erase_suspension.repeated_ns, s.repeated_ns),
        ];
        match equal.iter().find(|(_, drive, own)| drive != own) {
            None => Ok(()),
            Some((what, drive, own)) => Err(format!("{what}: {drive} by the drive, {own} by its events")),
        }
    }
}

impl Erase {
    fn new(told: QueueEvent) -> Erase {
        Erase { told, joined: Vec::new(), plans: Vec::new(), course: None }
    }
}

/// What a suspended erase repeats.
#[derive(Clone, Copy)]
enum Rule {
    /// A ramp-up or a verify that was cancelled. Their lengths, ns.
    Phase { ramp_up: u64, verify: u64 },
    /// The loop that was cancelled; nothing if it stops between loops.
    Loop,
    /// Nothing: it stops between loops.
    BetweenLoops,
    /// Nothing.
    Nothing,
}

impl Rule {
    fn of(c: &DeviceConfig) -> Rule {
        let e = &c.timing.erase;
        match &c.policy.suspend_erase {
            SuspendEraseConfig::Arbitrary(_) => Rule::Phase { ramp_up: e.ramp_up.0, verify: e.verify.0 },
            SuspendEraseConfig::Immediate(_) | SuspendEraseConfig::Timeout(_) => Rule::Loop,
            SuspendEraseConfig::Deferred(_) | SuspendEraseConfig::Never(_) => Rule::BetweenLoops,
            SuspendEraseConfig::Ideal(_) => Rule::Nothing,
        }
    }

    /// Whether an erase of these loops that was stopped after `stopped` ns of its plan may go on at `done`.
    fn may_go_on(self, loops: &[u64], stopped: u64, done: u64) -> bool {
        let (mut begins, mut length) = (0, 0);
        for &of_loop in loops {
            length = of_loop;
            if stopped < begins + of_loop {
                break;
            }
            begins += of_loop;
        }
        let within = stopped - begins;
        match self {
            Rule::Phase { ramp_up, .. } if within < ramp_up => done == begins,
            Rule::Phase { verify, .. } => done == stopped.min(begins + length - verify),
            Rule::Loop => done == begins,
            Rule::BetweenLoops => done == stopped && within == 0,
            Rule::Nothing => done == stopped,
        }
    }
}

fn total(loops: &[u64]) -> u64 {
    loops.iter().sum()
}
