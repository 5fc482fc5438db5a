//! Drives a flash by a script and records the outcome of each operation.
//!
//! At equal times timers fire before the script continues. All that the script does at one time is
//! one moment: operations that it queues at an idle die may join. The flash is audited after each
//! event and each moment.

use crate::parts::Parts;
use std::collections::BTreeMap;
use std::ops::Index;
use tailcut_core::address::BusyUnit;
use tailcut_core::flash::{Fact, Flash, FlashCommand, FlashState, OpId, Submitted};
use tailcut_core::observer::{Closing, Observer, QueueEvent, QueueStep, Step, StepEvent};
use tailcut_units::{Ledger, SimTime};

/// An action of the controller.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    Submit(FlashCommand),
    Close {
        unit: BusyUnit,
        erases: bool,
    },
    Open {
        unit: BusyUnit,
        erases: bool,
    },
    CloseToErase(BusyUnit),
    CloseToPrograms(BusyUnit),
    OpenToPrograms(BusyUnit),
    /// A collection of the unit is under way, and moves data: before and now.
    Collection {
        unit: BusyUnit,
        before: [bool; 2],
        now: [bool; 2],
    },
    Urgent {
        unit: BusyUnit,
        urgent: bool,
    },
    OldestWrite(u64),
}

/// An event that the observer recorded.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    Step(StepEvent),
    QueueStep(QueueEvent),
    /// The operation has left the queue and joined this one.
    Joins(usize),
    Closing(BusyUnit, Closing),
    /// A collection has closed (true) or opened (false) a unit to host programs.
    Programs(BusyUnit, bool),
}

/// The observer, which records all events.
#[derive(Default)]
pub struct Log {
    events: Vec<Event>,
    /// Whether recording is off, for actions of a test outside its script.
    looks_away: bool,
}

impl Log {
    pub fn look_away(&mut self) {
        self.looks_away = true;
    }

    fn note(&mut self, event: Event) {
        if !self.looks_away {
            self.events.push(event);
        }
    }
}

impl Observer for Log {
    fn step(&mut self, event: &StepEvent) {
        self.note(Event::Step(*event));
    }
    fn queued(&mut self, event: &QueueEvent) {
        self.note(Event::QueueStep(*event));
    }
    fn closing(&mut self, unit: BusyUnit, _: SimTime, closing: Closing) {
        self.note(Event::Closing(unit, closing));
    }
}

/// The outcome of an operation.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub cmd: FlashCommand,
    /// When it was submitted, and the answer of the flash.
    pub entered: u64,
    pub submitted: Submitted,
    /// When it got its die; several times if it gave the die back.
    pub grants: Vec<u64>,
    pub returned: Vec<u64>,
    /// When it got the cache register of its die.
    pub cached: Vec<u64>,
    /// The operation that it joined.
    pub joined: Option<usize>,
    /// When its command cycles and incoming data were on the channel.
    pub inward: Vec<(u64, u64)>,
    /// When it was in the array; a span ends where the operation was interrupted.
    pub array: Vec<(u64, u64)>,
    /// When its outgoing data were on the channel.
    pub out: Option<(u64, u64)>,
    pub suspending: Vec<(u64, u64)>,
    /// When it was suspended and its die was free for others.
    pub suspended: Vec<u64>,
    /// When it was being resumed; a span ends where the resume was cancelled.
    pub resuming: Vec<(u64, u64)>,
    /// When it ended; for a read, when its data were decoded.
    pub ended: Option<u64>,
    /// Number of times that the observer got its end.
    pub ends: u32,
    /// Whether it has failed on a plane.
    pub fails: bool,
    pub ledger: Ledger,
}

impl Outcome {
    fn new(cmd: FlashCommand, entered: u64) -> Outcome {
        Outcome {
            cmd,
            entered,
            submitted: Submitted::Taken,
            grants: Vec::new(),
            returned: Vec::new(),
            cached: Vec::new(),
            joined: None,
            inward: Vec::new(),
            array: Vec::new(),
            out: None,
            suspending: Vec::new(),
            suspended: Vec::new(),
            resuming: Vec::new(),
            ended: None,
            ends: 0,
            fails: false,
            ledger: Ledger::new(),
        }
    }

    /// When it got its die for the last time.
    pub fn granted(&self) -> u64 {
        *self.grants.last().expect("it got its die")
    }

    /// When it ended.
    pub fn end(&self) -> u64 {
        self.ended.expect("it ended")
    }

    /// Its ledger as names and nanoseconds, without the causes that are 0.
    pub fn account(&self) -> Vec<(String, u64)> {
        let some = self.ledger.iter().filter(|&(_, ns)| ns != 0);
        some.map(|(cause, ns)| (cause.name(), ns)).collect()
    }

    fn note(&mut self, e: &StepEvent) {
        let span = (e.at.0, e.until.0);
        match e.step {
            Step::Granted => self.grants.push(e.at.0),
            Step::Returned => self.returned.push(e.at.0),
            Step::Cached => self.cached.push(e.at.0),
            Step::Joined | Step::Decode | Step::Ahead => {}
            Step::ChannelIn => self.inward.push(span),
            Step::Array => self.array.push(span),
            Step::ChannelOut => self.out = Some(span),
            Step::Stopping => cut(&mut self.array, e.until.0),
            Step::Suspending | Step::Suspended => {
                cut(&mut self.array, e.at.0);
                cut(&mut self.resuming, e.at.0);
                if e.step == Step::Suspending {
                    self.suspending.push(span);
                } else {
                    self.suspended.push(e.at.0);
                }
            }
            Step::Resuming => self.resuming.push(span),
        }
    }
}

/// End the last span at `at` at the latest, and remove it if it is empty then.
fn cut(spans: &mut Vec<(u64, u64)>, at: u64) {
    if let Some(last) = spans.last_mut() {
        last.1 = last.1.min(at);
        if last.0 >= last.1 {
            spans.pop();
        }
    }
}

/// An account in the form of [`Outcome::account`], from the names and times of its causes in their
/// order.
pub fn account(causes: &[(&str, u64)]) -> Vec<(String, u64)> {
    causes.iter().map(|&(name, ns)| (name.to_string(), ns)).collect()
}

/// A flash, and the script that drives it.
pub struct Stage {
    pub flash: Flash<Log>,
    pub now: u64,
    script: Vec<(u64, Act, usize)>,
    cursor: usize,
    ops: Vec<Outcome>,
    /// The outcomes of operations under way, by their number in the flash.
    under_way: BTreeMap<u32, usize>,
    /// All events, each with the number of its operation.
    pub events: Vec<(usize, Event)>,
}

impl Index<usize> for Stage {
    type Output = Outcome;
    fn index(&self, op: usize) -> &Outcome {
        &self.ops[op]
    }
}

/// The operation number of events without an operation.
const NO_OP: usize = usize::MAX;
/// More events than any script here causes.
const PATIENCE: usize = 100_000;

impl Stage {
    pub fn new(parts: &Parts) -> Stage {
        Stage {
            flash: Flash::new(parts.build(), Log::default()),
            now: 0,
            script: Vec::new(),
            cursor: 0,
            ops: Vec::new(),
            under_way: BTreeMap::new(),
            events: Vec::new(),
        }
    }

    /// Submit an operation at a time. Returns its number in this driver.
    pub fn ask(&mut self, at: u64, cmd: FlashCommand) -> usize {
        self.ops.push(Outcome::new(cmd, at));
        self.insert(at, Act::Submit(cmd), self.ops.len() - 1);
        self.ops.len() - 1
    }

    /// Do another action at a time.
    pub fn act(&mut self, at: u64, act: Act) {
        self.insert(at, act, NO_OP);
    }

    fn insert(&mut self, at: u64, act: Act, op: usize) {
        assert!(at >= self.now, "{act:?} at {at} comes too late");
        let place = self.cursor + self.script[self.cursor..].partition_point(|a| a.0 <= at);
        self.script.insert(place, (at, act, op));
    }

    /// The time of the next event or action.
    pub fn next_at(&self) -> u64 {
        let act = self.script.get(self.cursor).map_or(u64::MAX, |a| a.0);
        act.min(self.flash.next_event().0)
    }

    /// Process the next event or moment. Returns whether there was one.
    pub fn step(&mut self) -> bool {
        let at = self.next_at();
        if at == u64::MAX {
            return false;
        }
        assert!(at >= self.now, "time does not go back");
        self.now = at;
        self.flash.pass(SimTime(at));
        let due = self.flash.next_event();
        if due.0 == at {
            let fact = self.flash.fire();
            self.answer(fact);
        } else {
            self.moment(at);
        }
        self.take_events();
        if let Err(e) = self.flash.audit() {
            panic!("at {at}: {e}\n{:#?}", self.events);
        }
        true
    }

    /// Process all events up to and including this time, and advance the time to it.
    pub fn until(&mut self, at: u64) -> &mut Stage {
        while self.next_at() <= at {
            self.step();
        }
        self.now = at;
        self.flash.pass(SimTime(at));
        self
    }

    /// Continue with another flash of the same parts, restored from the saved state of this one.
    pub fn move_to(&mut self, mut flash: Flash<Log>, state: FlashState) {
        flash.restore(state);
        self.flash = flash;
    }

    /// Process all events. Every operation has then ended exactly once.
    pub fn play(&mut self) -> &mut Stage {
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < PATIENCE, "the script does not end: {:#?}", self.ops);
        }
        for (i, op) in self.ops.iter().enumerate() {
            assert_eq!(op.ends, 1, "operation {i} ends once: {op:#?}");
        }
        self
    }

    fn moment(&mut self, at: u64) {
        let mut gathering = Vec::new();
        while let Some(&(due, act, op)) = self.script.get(self.cursor)
            && due == at
        {
            self.cursor += 1;
            match act {
                Act::Submit(cmd) => {
                    let id = self.flash.order(cmd);
                    assert!(self.under_way.insert(id.number(), op).is_none(), "{id:?} is another's number");
                    let submitted = self.flash.submit(id);
                    if submitted == Submitted::Gathers {
                        assert!(!gathering.contains(&cmd.unit), "said twice of unit {}", cmd.unit);
                        gathering.push(cmd.unit);
                    }
                    self.ops[op].submitted = submitted;
                }
                Act::Close { unit, erases } => self.flash.close(unit, erases),
                Act::Open { unit, erases } => self.flash.open(unit, erases),
                Act::CloseToErase(unit) => self.flash.close_to_erase(unit),
                Act::CloseToPrograms(unit) => {
                    self.programs(unit, true);
                    self.flash.close_to_programs(unit);
                }
                Act::OpenToPrograms(unit) => {
                    self.programs(unit, false);
                    self.flash.open_to_programs(unit);
                }
                Act::Collection { unit, before, now } => self.flash.collection_changes(unit, before, now),
                Act::Urgent { unit, urgent } => self.flash.set_urgent(unit, urgent),
                Act::OldestWrite(arrived) => self.flash.set_oldest_write(SimTime(arrived)),
            }
            self.take_events();
        }
        for unit in gathering {
            self.flash.begin_gathered(unit);
        }
    }

    fn programs(&mut self, unit: BusyUnit, closes: bool) {
        self.events.push((NO_OP, Event::Programs(unit, closes)));
    }

    fn answer(&mut self, fact: Fact) {
        match fact {
            Fact::Nothing | Fact::Transferred(_) => {}
            Fact::Sensed(head) => {
                let mut next = Some(head);
                while let Some(id) = next {
                    next = self.flash.bring_out(id);
                }
            }
            Fact::Ended(head) => {
                let mut next = Some(head);
                while let Some(id) = next {
                    next = self.flash.end(id);
                    self.over(id);
                }
            }
            Fact::Decoded(id) => self.over(id),
        }
    }

    /// An operation has ended and its account is complete.
    fn over(&mut self, id: OpId) {
        self.take_events();
        let index = self.under_way.remove(&id.number()).expect("it was under way");
        let ledger = self.flash.op(id).ledger;
        let op = &mut self.ops[index];
        assert_eq!(op.ended, None, "operation {index} is over twice");
        assert_eq!(self.flash.op(id).entered, op.entered, "operation {index}");
        assert_eq!(ledger.sum(), self.now - op.entered, "operation {index}: {ledger:?}");
        (op.ended, op.ledger) = (Some(self.now), ledger);
        self.flash.free(id);
    }

    fn take_events(&mut self) {
        for event in std::mem::take(&mut self.flash.observer_mut().events) {
            let id = match &event {
                Event::Step(e) => Some(e.op),
                Event::QueueStep(e) => Some(e.op),
                Event::Joins(_) | Event::Closing(..) | Event::Programs(..) => None,
            };
            let index = id.map_or(NO_OP, |id| self.under_way[&id]);
            self.events.push((index, event));
            match &event {
                Event::Step(e) => self.ops[index].note(e),
                Event::QueueStep(e) => {
                    let op = &mut self.ops[index];
                    match e.step {
                        QueueStep::Joins(head) => {
                            let head = self.under_way[&head];
                            op.joined = Some(head);
                            self.events.push((index, Event::Joins(head)));
                        }
                        QueueStep::Returns | QueueStep::Retries => op.joined = None,
                        QueueStep::Ends | QueueStep::Fails => {
                            op.ends += 1;
                            op.fails = e.step == QueueStep::Fails;
                        }
                        QueueStep::Arrives | QueueStep::Leaves | QueueStep::SensesOn => {}
                    }
                }
                Event::Joins(_) | Event::Closing(..) | Event::Programs(..) => {}
            }
        }
    }
}
