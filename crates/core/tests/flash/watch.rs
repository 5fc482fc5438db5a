//! Watches the events of a flash and keeps its own accounts of dies, channels and decoders.

use crate::driver::{Event, Stage};
use crate::parts::Parts;
use std::collections::{BTreeMap, VecDeque};
use tailcut_core::flash::Joins;
use tailcut_core::nand::OpKind;
use tailcut_core::observer::{Closing, QueueEvent, QueueStep, Step, StepEvent};
use tailcut_units::{Cause, Occupant, Occupants};

/// The state of a die, derived from its events.
#[derive(Default)]
struct Die {
    /// Since when the die is held, and until when if that is known.
    since: Option<u64>,
    until: Option<u64>,
    /// How long the die was held before that, ns.
    taken: u64,
    /// Reads of the holder whose data are not yet out, without one.
    along: usize,
    /// The suspended operations, the last suspended one last.
    suspended: Vec<usize>,
    /// The queued operations by kind, in order of arrival.
    queues: BTreeMap<usize, VecDeque<usize>>,
    closed: u32,
    programs_closed: u32,
    /// Where reads run by plane: the reads that have planes, with these, and which of them is out when.
    reading: Vec<(usize, u32)>,
    leaving: Option<(usize, u64)>,
    /// The program in the cache register, and when its data are in.
    cached: Option<(usize, Option<u64>)>,
}

impl Die {
    /// End the hold, if its end is reached.
    fn settle(&mut self, at: u64) {
        if let Some((op, until)) = self.leaving.filter(|&(_, until)| until <= at) {
            self.leaving = None;
            self.stops_reading(op, until);
        }
        if let (Some(since), Some(until)) = (self.since, self.until)
            && until <= at
        {
            self.taken += until - since;
            (self.since, self.until) = (None, None);
        }
    }

    fn take(&mut self, at: u64, what: &str) {
        self.settle(at);
        assert_eq!(self.since, None, "{what} at {at}: a die has one holder");
        self.since = Some(at);
    }

    /// A read gets its planes, if those of others that have some are different.
    fn reads(&mut self, op: usize, planes: u32, at: u64) {
        self.settle(at);
        if self.reading.is_empty() {
            self.take(at, "a read");
        }
        assert!(self.reading.iter().all(|read| read.1 & planes == 0), "at {at}: a plane has one read");
        self.reading.push((op, planes));
    }

    fn stops_reading(&mut self, op: usize, at: u64) {
        self.reading.retain(|read| read.0 != op);
        if self.reading.is_empty() {
            self.leave(at);
        }
    }

    fn leave(&mut self, at: u64) {
        self.taken += at - self.since.take().expect("something had it");
        self.until = None;
    }

    fn taken(&self, now: u64) -> u64 {
        let last = self.leaving.filter(|_| self.reading.len() == 1).map(|(_, until)| until);
        let until = self.until.or(last).unwrap_or(now).min(now);
        self.taken + self.since.map_or(0, |since| until - since)
    }
}

/// A channel, and the reads on their way to and through its decoder.
#[derive(Default)]
struct Channel {
    busy_until: u64,
    taken: u64,
    decoding: VecDeque<usize>,
}

/// The waits of an operation, derived from its events.
#[derive(Clone, Default)]
struct Waits {
    /// In the queue of its die: since when, and the total.
    queued: Option<u64>,
    die: u64,
    /// For the channel: since when, and the total.
    asked: Option<u64>,
    channel: u64,
    ever_suspended: bool,
}

/// The accounts.
pub struct Watch {
    joins: Joins,
    /// Whether reads run by plane.
    plane_reads: bool,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    waits: BTreeMap<usize, Waits>,
    /// By operation: its planes.
    planes: BTreeMap<usize, u32>,
    /// By operation: the operations that joined it.
    joined: BTreeMap<usize, Vec<usize>>,
    /// Number of events processed.
    seen: usize,
}

impl Watch {
    pub fn new(parts: &Parts) -> Watch {
        Watch {
            joins: parts.joins,
            plane_reads: parts.plane_reads,
            planes: BTreeMap::new(),
            dies: (0..parts.units).map(|_| Die::default()).collect(),
            channels: (0..parts.channels).map(|_| Channel::default()).collect(),
            waits: BTreeMap::new(),
            joined: BTreeMap::new(),
            seen: 0,
        }
    }

    /// Process the new events, and compare the accounts with those of the flash.
    pub fn look(&mut self, stage: &Stage) {
        for &(op, event) in &stage.events[self.seen..] {
            match event {
                Event::Step(e) => self.step(op, &e),
                Event::QueueStep(e) => self.queued(op, &e),
                Event::Joins(head) => self.joined.entry(head).or_default().push(op),
                Event::Closing(unit, closing) => match closing {
                    Closing::Closes(_) => self.dies[unit.index()].closed += 1,
                    Closing::Opens(_) => self.dies[unit.index()].closed -= 1,
                    Closing::Erases => {}
                },
                Event::Programs(unit, true) => self.dies[unit.index()].programs_closed += 1,
                Event::Programs(unit, false) => self.dies[unit.index()].programs_closed -= 1,
            }
        }
        self.seen = stage.events.len();
        let now = stage.now;
        let taken: Vec<u64> = self.dies.iter().map(|d| d.taken(now)).collect();
        assert_eq!(stage.flash.units_taken(), taken, "at {now}: the time of dies");
        let spent = |c: &Channel| c.taken - c.busy_until.saturating_sub(now);
        let taken: Vec<u64> = self.channels.iter().map(spent).collect();
        assert_eq!(stage.flash.channels_taken(), taken, "at {now}: the time of channels");
        assert_eq!(stage.flash.channel_time().granted, taken.iter().sum(), "at {now}");
    }

    /// At the end, check that each operation was charged the time that it waited.
    pub fn conclude(&self, stage: &Stage) {
        for (&op, waits) in &self.waits {
            let done = &stage[op];
            let sum = |of: fn(Cause) -> bool| -> u64 {
                done.ledger.iter().filter(|&(cause, _)| of(cause)).map(|(_, ns)| ns).sum()
            };
            assert_eq!(sum(|c| c.is_die_wait()), waits.die, "operation {op} waited for its die: {done:#?}");
            // An operation that joined another is charged with it, and the data of a suspended one
            // may wait again.
            if done.joined.is_none() && !waits.ever_suspended {
                assert_eq!(sum(|c| c.is_channel_wait()), waits.channel, "operation {op}: {done:#?}");
            }
            let suspended = done.ledger.get(Cause::SUSPENDED);
            assert!(suspended == 0 || waits.ever_suspended || done.joined.is_some(), "operation {op}");
        }
        for channel in &self.channels {
            assert!(channel.decoding.is_empty(), "all is decoded");
        }
    }

    fn step(&mut self, op: usize, e: &StepEvent) {
        let (at, until) = (e.at.0, e.until.0);
        let die = &mut self.dies[e.unit.index()];
        let by_plane = self.plane_reads && e.kind == OpKind::Read;
        match e.step {
            Step::Granted if die.cached.is_some_and(|cached| cached.0 == op) => self.promoted(op, e),
            Step::Granted => self.granted(op, e),
            Step::Cached => self.cached(op, e),
            Step::Returned => {
                if die.cached.is_some_and(|cached| cached.0 == op) {
                    assert_eq!(die.cached.take(), Some((op, None)), "what is loaded stays");
                } else if by_plane {
                    die.settle(at);
                    die.stops_reading(op, at);
                } else {
                    die.leave(at);
                }
                die.along = 0;
                if let Some(queue) = die.queues.get_mut(&(e.occupant as usize)) {
                    queue.push_front(op);
                }
                let waits = self.waits.entry(op).or_default();
                waits.channel += at - waits.asked.take().expect("it asked for the channel");
            }
            Step::Joined | Step::Decode => {}
            Step::Ahead => die.until = Some(until),
            Step::ChannelIn | Step::ChannelOut => {
                let channel = &mut self.channels[e.channel as usize];
                assert!(at >= channel.busy_until, "at {at}: a channel moves one thing at a time");
                channel.taken += until - at;
                channel.busy_until = until;
                let waits = self.waits.entry(op).or_default();
                waits.channel += at - waits.asked.take().unwrap_or(at);
                if let Some((_, loaded)) = die.cached.as_mut().filter(|cached| cached.0 == op) {
                    *loaded = Some(until);
                }
                if e.step == Step::ChannelOut {
                    channel.decoding.push_back(op);
                    if by_plane {
                        die.settle(at);
                        assert_eq!(die.leaving.replace((op, until)), None, "at {at}");
                        return;
                    }
                    match die.along.checked_sub(1) {
                        Some(left) => die.along = left,
                        None => die.until = Some(until),
                    }
                }
            }
            Step::Array => {
                if e.kind == OpKind::Read && die.until.is_some() {
                    die.take(at, "a read is sensed on");
                }
                if die.suspended.last() == Some(&op) {
                    die.suspended.pop();
                    die.take(at, "an operation continues");
                }
                // The first half of a copyback has the occupant of a collection read.
                let goes_on = e.kind == OpKind::Read || e.occupant == Occupant::GcRead;
                die.until = (!goes_on).then_some(until);
                if goes_on {
                    for &op in std::iter::once(&op).chain(self.joined.get(&op).into_iter().flatten()) {
                        self.waits.entry(op).or_default().asked = Some(until);
                    }
                }
            }
            Step::Stopping | Step::Suspending => die.until = None,
            Step::Suspended => {
                die.leave(at);
                die.suspended.push(op);
                self.waits.entry(op).or_default().ever_suspended = true;
            }
            Step::Resuming => {
                assert_eq!(die.suspended.pop(), Some(op), "the operation suspended last resumes first");
                die.take(at, "an operation is resumed");
            }
        }
    }

    fn granted(&mut self, op: usize, e: &StepEvent) {
        let at = e.at.0;
        let die = &mut self.dies[e.unit.index()];
        if self.joined.values().any(|j| j.contains(&op)) {
            assert!(e.kind == OpKind::Read && die.since.is_some(), "its data follow another's");
            return;
        }
        if self.plane_reads && e.kind == OpKind::Read {
            die.reads(op, e.planes, at);
        } else {
            die.take(at, "an operation");
        }
        die.along = if e.kind == OpKind::Read { self.joined.get(&op).map_or(0, Vec::len) } else { 0 };
        self.leaves_queue(op, e);
    }

    /// A program gets the cache register of its die.
    fn cached(&mut self, op: usize, e: &StepEvent) {
        let die = &mut self.dies[e.unit.index()];
        let held = die.since.is_some() && die.until.is_some_and(|until| until > e.at.0);
        assert!(held && die.suspended.is_empty(), "a program is in the array of its die");
        assert_eq!(die.cached.replace((op, None)), None, "there is one cache register");
        self.leaves_queue(op, e);
    }

    /// The program in the cache register of a die is the next that holds it.
    fn promoted(&mut self, op: usize, e: &StepEvent) {
        let die = &mut self.dies[e.unit.index()];
        die.take(e.at.0, "a cached program");
        let loaded = die.cached.take().and_then(|cached| cached.1);
        let waited = loaded.map_or(0, |loaded| e.at.0.saturating_sub(loaded));
        for &op in std::iter::once(&op).chain(self.joined.get(&op).into_iter().flatten()) {
            self.waits.entry(op).or_default().die += waited;
        }
    }

    /// An operation leaves the queue of its die, and asks for the channel.
    fn leaves_queue(&mut self, op: usize, e: &StepEvent) {
        let at = e.at.0;
        let die = &mut self.dies[e.unit.index()];
        assert!(die.closed == 0 || Occupants::COLLECTION.has(e.occupant), "at {at}: its die is closed");
        let barred = die.programs_closed > 0 && Occupants::HOST_PROGRAMS.has(e.occupant);
        assert!(!barred, "at {at}: its die is closed to it");
        if self.plane_reads && e.kind == OpKind::Read {
            let queue = die.queues.get_mut(&(e.occupant as usize)).expect("it has arrived");
            let own = |other: &usize| self.planes[other] & e.planes != 0;
            let first = queue.iter().position(own).expect("it is queued");
            assert_eq!(
                queue.remove(first),
                Some(op),
                "at {at}: reads of a plane are granted in order of arrival"
            );
        } else if !self.joins.kinds.has(e.occupant) {
            let first = die.queues.get_mut(&(e.occupant as usize)).and_then(VecDeque::pop_front);
            assert_eq!(first, Some(op), "at {at}: operations of one kind are granted in order of arrival");
        }
        self.waits.entry(op).or_default().asked = Some(at);
    }

    fn queued(&mut self, op: usize, e: &QueueEvent) {
        let at = e.at.0;
        let waits = self.waits.entry(op).or_default();
        self.planes.insert(op, e.planes);
        match e.step {
            QueueStep::Arrives => {
                // If the operation gets its die at once, no `Leaves` follows.
                waits.queued = Some(at);
                if !self.joins.kinds.has(e.occupant) {
                    let queues = &mut self.dies[e.unit.index()].queues;
                    queues.entry(e.occupant as usize).or_default().push_back(op);
                }
            }
            QueueStep::Leaves => waits.die += at - waits.queued.take().expect("it was queued"),
            QueueStep::Returns => {
                waits.queued = Some(at);
                self.joined.remove(&op);
            }
            QueueStep::Joins(_) => {}
            QueueStep::Retries => {
                let first = self.channels[e.channel as usize].decoding.pop_front();
                assert_eq!(first, Some(op), "decoded as it came");
                waits.queued = Some(at);
                self.joined.remove(&op);
                if !self.joins.kinds.has(e.occupant) {
                    let queues = &mut self.dies[e.unit.index()].queues;
                    queues.entry(e.occupant as usize).or_default().push_back(op);
                }
            }
            QueueStep::SensesOn => {
                let first = self.channels[e.channel as usize].decoding.pop_front();
                assert_eq!(first, Some(op), "decoded as it came");
            }
            QueueStep::Ends | QueueStep::Fails => {
                if e.kind == OpKind::Read {
                    let first = self.channels[e.channel as usize].decoding.pop_front();
                    assert_eq!(first, Some(op), "decoded as it came");
                }
            }
        }
    }
}
