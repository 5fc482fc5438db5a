//! The operation that holds one busy unit, or its planes, with its known phases.

use super::tracks::{Flow, Mark, Of, Track, Tracks};
use tailcut_core::device::{OpKind, QueueEvent, Step, StepEvent};
use tailcut_units::{Occupant, SimTime};

/// The part of the run that is written, and the tracks that receive it.
pub(super) struct Pen<T> {
    pub tracks: T,
    pub from: u64,
    pub to: u64,
    pub slices: u64,
    names: Vec<Names>,
}

/// The slice names of an occupant.
struct Names {
    resumed: String,
    failed: String,
    /// On the channel: command, command and data in, data out.
    transfers: [String; 3],
}

const TRANSFERS: [&str; 3] = ["command", "command, data in", "data out"];

impl<T: Tracks> Pen<T> {
    pub fn new(tracks: T, from: u64, to: u64) -> Pen<T> {
        let names = |o: Occupant| Names {
            resumed: format!("{} (resumed)", o.name()),
            failed: format!("{} (failed)", o.name()),
            transfers: TRANSFERS.map(|what| format!("{}: {what}", o.name())),
        };
        Pen { tracks, from, to, slices: 0, names: Occupant::ALL.map(names).into() }
    }

    /// Whether an event at this time is to be written.
    pub fn covers(&self, at: u64) -> bool {
        (self.from..self.to).contains(&at)
    }

    /// Write that an operation has failed.
    pub fn failure(&mut self, e: &QueueEvent) {
        let name = &self.names[e.occupant as usize].failed;
        let mark = Mark { name, of: Some(Of::Failed(e)), starts: &[], ends: &[] };
        self.tracks.instant(Track::Drive, e.at, &mark);
    }

    /// Write a command or data on the channel; these are never cut short.
    pub fn transfer(&mut self, e: &StepEvent) {
        let (begin, end) = (e.at.0.max(self.from), e.until.0.min(self.to));
        if begin < end {
            let name = &self.names[e.occupant as usize].transfers[transfer(e)];
            let track = Track::Channel(e.channel);
            self.slices += 1;
            let mark = Mark { name, of: Some(Of::Step(e)), starts: &[], ends: &[] };
            self.tracks.begin(track, SimTime(begin), &mark);
            self.tracks.end(track, SimTime(end));
        }
    }
}

/// The index in [`TRANSFERS`] of a step.
fn transfer(e: &StepEvent) -> usize {
    match (e.step, e.kind) {
        (Step::ChannelOut, _) => 2,
        (_, OpKind::Program) => 1,
        _ => 0,
    }
}

/// One phase of an operation, inside the slice of the operation.
struct Phase {
    name: &'static str,
    begin: u64,
    end: u64,
    /// The phase cannot be cut short.
    firm: bool,
    starts: Vec<Flow>,
    ends: Vec<Flow>,
}

impl Phase {
    fn new(name: &'static str, begin: u64, end: u64) -> Phase {
        Phase { name, begin, end, firm: false, starts: Vec::new(), ends: Vec::new() }
    }

    fn has_arrows(&self) -> bool {
        !self.starts.is_empty() || !self.ends.is_empty()
    }
}

/// An operation that holds its unit: from its grant, or from its resumption, until it is
/// suspended or ends.
///
/// A phase is reported with the end that it has if it is not cut short. The phases are
/// therefore buffered until they have ended.
pub(super) struct Holder {
    /// The step with which the operation got the unit.
    pub of: StepEvent,
    track: Track,
    /// Arrows that end at the slice of the operation.
    ends: Vec<Flow>,
    held: Vec<Phase>,
    /// The end of the last phase reported, in ns.
    told: u64,
    /// The operation keeps the unit after its last phase, until it gets the channel.
    waits: bool,
    sensed: bool,
    begun: bool,
}

/// The operation holds the unit while it waits for its channel.
const HOLDS: &str = "holds the die";

impl Holder {
    pub fn new(of: StepEvent, track: Track, ends: Vec<Flow>) -> Holder {
        Holder {
            of,
            track,
            ends,
            held: Vec::new(),
            told: of.at.0,
            waits: of.until == of.at,
            sensed: of.step != Step::Granted,
            begun: false,
        }
    }

    /// Add a phase on the channel or in the array.
    pub fn phase(&mut self, e: &StepEvent) {
        let name = match (e.step, e.kind) {
            (Step::ChannelIn | Step::ChannelOut, _) => TRANSFERS[transfer(e)],
            (Step::Ahead, _) => "senses ahead",
            (_, OpKind::Read) => "sense",
            (_, OpKind::Copyback) if !self.sensed => "sense",
            (_, OpKind::Program | OpKind::Copyback) => "program",
            (_, OpKind::Erase) => "erase",
        };
        // After sensing, the data wait for the channel, to be transferred out or to be
        // programmed.
        self.waits = e.step == Step::Array && name == "sense";
        self.sensed |= self.waits;
        let firm = e.step != Step::Array;
        self.add(Phase { firm, ..Phase::new(name, e.at.0, e.until.0) });
    }

    /// Add the time that resuming takes, with the arrow from where the operation was
    /// suspended.
    pub fn resuming(&mut self, begin: u64, end: u64, from: Option<Flow>) {
        let ends = from.into_iter().collect();
        self.add(Phase { ends, ..Phase::new("resuming", begin, end) });
    }

    /// Add a phase in which the operation stops in the array.
    pub fn stopping(&mut self, name: &'static str, begin: u64, end: u64) {
        self.add(Phase::new(name, begin, end));
    }

    /// Note that the operation has failed in its last phase. The data of a read are decoded after its
    /// phases, so only programs and erases are marked here.
    pub fn fails(&mut self) {
        if let Some(last) = self.held.last_mut() {
            last.name = match last.name {
                "program" => "program (failed)",
                "erase" => "erase (failed)",
                name => name,
            };
        }
    }

    /// Add a phase, and the wait before it if there is one.
    fn add(&mut self, phase: Phase) {
        let Phase { name, begin, end, .. } = phase;
        debug_assert!(begin >= self.told && end >= begin, "{name} from {begin} to {end} overlaps");
        if begin > self.told {
            self.hold(begin);
        }
        self.told = end;
        if begin < end || phase.has_arrows() {
            self.held.push(phase);
        }
    }

    pub fn hold(&mut self, until: u64) {
        self.held.push(Phase { firm: true, ..Phase::new(HOLDS, self.told, until) });
        self.told = until;
    }

    /// Cut the phases in the array at `at`. Returns the time at which the operation stops,
    /// which is later than `at` if it was still on the channel.
    pub fn cut(&mut self, at: u64) -> u64 {
        let firm = self.held.iter().filter(|p| p.firm).map(|p| p.end).max();
        let at = firm.map_or(at, |end| end.max(at));
        self.held.retain(|p| p.begin < at || p.has_arrows());
        for phase in &mut self.held {
            phase.begin = phase.begin.min(at);
            phase.end = phase.end.min(at);
        }
        self.told = self.told.min(at);
        at
    }

    /// Start an arrow at the last phase, or at a new point with this name.
    pub fn start(&mut self, flow: Flow, name: &'static str, at: u64) {
        if self.held.is_empty() {
            self.held.push(Phase::new(name, at, at));
        }
        let last = self.held.last_mut().expect("there is one now");
        last.starts.push(flow);
    }

    /// Write the phases that have ended by `at`.
    pub fn write<T: Tracks>(&mut self, pen: &mut Pen<T>, at: u64) {
        let over = self.held.iter().take_while(|p| p.end <= at).count();
        for phase in self.held.drain(..over).collect::<Vec<_>>() {
            self.write_phase(pen, &phase);
        }
    }

    /// Give up the unit, and write all phases.
    pub fn leave<T: Tracks>(mut self, pen: &mut Pen<T>) {
        self.write(pen, u64::MAX);
        if self.begun {
            pen.tracks.end(self.track, SimTime(self.told.min(pen.to)));
        }
    }

    /// End the holder at `at`, because the window or the run ends.
    pub fn leave_unfinished<T: Tracks>(mut self, pen: &mut Pen<T>, at: u64) {
        if self.waits && self.told < at {
            self.hold(at);
        }
        self.leave(pen);
    }

    fn write_phase<T: Tracks>(&mut self, pen: &mut Pen<T>, phase: &Phase) {
        let (begin, end) = (phase.begin.max(pen.from), phase.end.min(pen.to));
        if begin > end || begin == end && !phase.has_arrows() {
            return;
        }
        let track = self.track;
        if !self.begun {
            self.begun = true;
            let occupant = self.of.occupant;
            let name = match self.of.step {
                Step::Granted => occupant.name(),
                _ => &pen.names[occupant as usize].resumed,
            };
            let mark = Mark { name, of: Some(Of::Step(&self.of)), starts: &[], ends: &self.ends };
            pen.slices += 1;
            pen.tracks.begin(track, SimTime(begin), &mark);
        }
        let mark = Mark { name: phase.name, of: None, starts: &phase.starts, ends: &phase.ends };
        pen.slices += 1;
        pen.tracks.begin(track, SimTime(begin), &mark);
        pen.tracks.end(track, SimTime(end));
    }
}
