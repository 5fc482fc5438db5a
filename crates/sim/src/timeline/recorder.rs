//! Makes a timeline from the events of an observer.

use super::tracks::{Flow, Mark, Of, Track, Tracks};
use super::unit::{Holder, Pen};
use crate::measure::SinkError;
use std::collections::BTreeMap;
use tailcut_core::address::BusyUnit;
use tailcut_core::device::{
    Change, Observer, OpKind, QueueEvent, QueueStep, RequestEvent, RequestStep, Step, StepEvent,
};
use tailcut_units::SimTime;

/// The time that a timeline covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The start of the covered time.
    pub from: SimTime,
    /// The end of the covered time; earlier than the window's end if the run ended first.
    pub to: SimTime,
    /// The run continued beyond the window's end.
    pub whole: bool,
    /// The number of slices.
    pub slices: u64,
}

/// An observer that makes a timeline of a window of the run.
///
/// On a unit's track every operation is a slice, and its phases are slices inside it. A
/// suspended operation is one slice before the suspension and one after. An arrow leads
/// from the phase that was cut short to the operation that interrupted it (an arrow runs
/// forward in time). Another arrow leads from each part of a suspended operation to the
/// next.
///
/// The drive's track has an instant for each operation that fails, for planes that die, for the
/// change to read-only, and for each change of the limits of pblk's rate limiter. The last phase of a program or erase that fails is marked too.
///
/// It observes from the beginning of the run, to know the operations under way when the
/// window starts. Slices that extend beyond either end of the window are cut there.
pub struct Recorder<T: Tracks> {
    pen: Pen<T>,
    holders: Holders,
    /// The suspended operations, by operation. Pool indices are unique among operations
    /// under way, which include suspended ones.
    suspended: BTreeMap<u32, Suspended>,
    /// The programs in cache registers, by operation, and the transfer of their data.
    cached: BTreeMap<u32, Option<StepEvent>>,
    /// Arrows to each operation that end when the operation gets its unit.
    arriving: BTreeMap<u32, Arriving>,
    /// Arrows to reads that left the queue, because their data were reconstructed instead. A track
    /// is written operation by operation, so that these arrows end at the end of the timeline.
    withdrawn: Vec<Arriving>,
    flows: Flow,
    /// The latest time of any event so far, in ns.
    latest: u64,
    closed: bool,
}

struct Suspended {
    of: StepEvent,
    flow: Option<Flow>,
}

#[derive(Default)]
struct Arriving {
    unit: BusyUnit,
    flows: Vec<Flow>,
}

/// The operations that hold units, or planes of units.
struct Holders {
    /// The operation that holds each unit; then, where reads run by plane, the read that holds each plane.
    all: Vec<Option<Holder>>,
    units: u32,
    /// Planes of a unit whose reads run side by side, or 1.
    planes_read: u32,
}

impl Holders {
    /// The place of the holder of an operation, and its track.
    fn place(&self, e: &StepEvent) -> (usize, Track) {
        if self.planes_read == 1 || e.kind != OpKind::Read {
            return (e.unit.index(), Track::Unit(e.unit));
        }
        let plane = e.planes.trailing_zeros();
        ((self.units + e.unit.0 * self.planes_read + plane) as usize, Track::Plane(e.unit, plane))
    }

    /// The holder of the unit of a step, or of its planes, if it is the step's operation.
    fn of(&mut self, e: &StepEvent) -> Option<&mut Holder> {
        let (place, _) = self.place(e);
        self.all[place].as_mut().filter(|h| h.of.op == e.op)
    }
}

impl<T: Tracks> Recorder<T> {
    /// A recorder of a drive with `units` busy units, for the time from `from` up to `to`.
    pub fn new(units: u32, (from, to): (SimTime, SimTime), tracks: T) -> Recorder<T> {
        Recorder {
            pen: Pen::new(tracks, from.0, to.0),
            holders: Holders { all: (0..units).map(|_| None).collect(), units, planes_read: 1 },
            suspended: BTreeMap::new(),
            cached: BTreeMap::new(),
            arriving: BTreeMap::new(),
            withdrawn: Vec::new(),
            flows: 0,
            latest: 0,
            closed: false,
        }
    }

    /// The same for a drive whose dies read independently on `planes` planes. Each plane has a track for its reads; a
    /// read of several planes is on that of the first.
    pub fn reading_by_plane(mut self, planes: u32) -> Recorder<T> {
        let holders = &mut self.holders;
        holders.planes_read = planes;
        let planes = if planes > 1 { holders.units * planes } else { 0 };
        holders.all.extend((0..planes).map(|_| None));
        self
    }

    /// Write the rest of the timeline, at the end of the run.
    ///
    /// # Errors
    /// The first error of the tracks since the beginning.
    pub fn finish(mut self) -> Result<Covered, SinkError> {
        let whole = self.closed;
        let end = if whole { self.pen.to } else { self.latest.clamp(self.pen.from, self.pen.to) };
        if !whole {
            self.close(end);
        }
        self.pen.tracks.finish()?;
        let Pen { from, slices, .. } = self.pen;
        Ok(Covered { from: SimTime(from), to: SimTime(end), whole, slices })
    }

    /// Write nothing of what happens from `at` on.
    fn close(&mut self, at: u64) {
        self.closed = true;
        for holder in self.holders.all.iter_mut().filter_map(Option::take) {
            holder.leave_unfinished(&mut self.pen, at);
        }
        if at == self.pen.from && self.latest < at {
            return; // The run was over before the window began.
        }
        // Arrows whose other end is after the end of the window end here.
        for suspended in std::mem::take(&mut self.suspended).into_values() {
            let ends = suspended.flow.as_slice();
            let mark = Mark { name: "still suspended", of: Some(Of::Step(&suspended.of)), starts: &[], ends };
            self.pen.tracks.instant(Track::Unit(suspended.of.unit), SimTime(at), &mark);
        }
        for Arriving { unit, flows } in std::mem::take(&mut self.arriving).into_values() {
            let mark = Mark { name: "still waits for the die", of: None, starts: &[], ends: &flows };
            self.pen.tracks.instant(Track::Unit(unit), SimTime(at), &mark);
        }
        for Arriving { unit, flows } in std::mem::take(&mut self.withdrawn) {
            let mark = Mark { name: "was reconstructed instead", of: None, starts: &[], ends: &flows };
            self.pen.tracks.instant(Track::Unit(unit), SimTime(at), &mark);
        }
    }

    /// Give the unit to another operation.
    fn hand_over(&mut self, to: Holder) {
        let at = to.of.at.0;
        let (place, _) = self.holders.place(&to.of);
        if let Some(mut before) = self.holders.all[place].replace(to) {
            before.cut(at);
            before.leave(&mut self.pen);
        }
    }

    fn granted(&mut self, e: &StepEvent) {
        let arrows = self.arriving.remove(&e.op).unwrap_or_default().flows;
        let (_, track) = self.holders.place(e);
        self.hand_over(Holder::new(*e, track, arrows));
        // The rest of the transfer of a cached program, if its die is free before that ends.
        let loading = self.cached.remove(&e.op).flatten().filter(|load| load.until > e.at);
        if let (Some(load), Some(holder)) = (loading, self.holders.of(e)) {
            holder.phase(&StepEvent { at: e.at, ..load });
        }
    }

    /// Record a phase on the channel or in the array.
    fn phase(&mut self, e: &StepEvent) {
        if self.suspended.contains_key(&e.op) {
            // Resuming takes no time, so it has no event of its own.
            self.resume(e);
        }
        if let Some(holder) = self.holders.of(e) {
            holder.phase(e);
            // These phases may be reported before the phase ahead of them has begun.
            if !matches!(e.step, Step::Array | Step::Ahead) {
                holder.write(&mut self.pen, e.at.0);
            }
        }
    }

    /// Cut the current phase short and begin a phase that leads to suspension.
    fn interrupt(&mut self, e: &StepEvent, name: &'static str) {
        let Some(holder) = self.holders.of(e) else { return };
        let at = holder.cut(e.at.0);
        self.blame(e, name, at);
        if let Some(holder) = self.holders.of(e) {
            holder.stopping(name, at, e.until.0);
        }
    }

    /// Start an arrow from the interrupted operation to the interrupting one, which comes
    /// later.
    fn blame(&mut self, e: &StepEvent, name: &'static str, at: u64) {
        if e.by == u32::MAX || !self.pen.covers(e.at.0) {
            return;
        }
        if let Some(holder) = self.holders.of(e) {
            self.flows += 1;
            holder.start(self.flows, name, at);
            let arriving = self.arriving.entry(e.by).or_default();
            arriving.unit = e.unit;
            arriving.flows.push(self.flows);
        }
    }

    fn suspend(&mut self, e: &StepEvent) {
        let Some(holder) = self.holders.of(e) else { return };
        let at = holder.cut(e.at.0);
        self.blame(e, "suspending", at);
        let Some(mut holder) = self.holders.all[e.unit.index()].take() else { return };
        let mut flow = None;
        if self.pen.covers(e.at.0) {
            self.flows += 1;
            holder.start(self.flows, "suspending", at);
            flow = Some(self.flows);
        }
        self.suspended.insert(e.op, Suspended { of: holder.of, flow });
        holder.leave(&mut self.pen);
    }

    fn resume(&mut self, e: &StepEvent) {
        let flow = self.suspended.remove(&e.op).and_then(|s| s.flow);
        let mut holder = Holder::new(*e, Track::Unit(e.unit), Vec::new());
        let until = if e.step == Step::Resuming { e.until.0 } else { e.at.0 };
        holder.resuming(e.at.0, until, flow);
        self.hand_over(holder);
    }
}

impl<T: Tracks> Observer for Recorder<T> {
    fn step(&mut self, e: &StepEvent) {
        // Decoding is outside the tracks of dies and channels.
        if self.closed || e.step == Step::Decode {
            return;
        }
        // These phases are reported before their time.
        if !matches!(e.step, Step::Array | Step::Ahead) && e.at.0 >= self.pen.to {
            return self.close(self.pen.to);
        }
        self.latest = self.latest.max(e.until.0);
        match e.step {
            Step::Granted => self.granted(e),
            // The operation that it joins has the die and is drawn.
            Step::Joined | Step::Decode => {}
            Step::Cached => drop(self.cached.insert(e.op, None)),
            Step::Returned if self.cached.remove(&e.op).is_some() => {}
            Step::Returned => {
                if let Some(holder) = self.holders.of(e) {
                    holder.hold(e.at.0);
                }
            }
            Step::ChannelIn | Step::ChannelOut => {
                self.pen.transfer(e);
                match self.cached.get_mut(&e.op) {
                    Some(load) => *load = Some(*e),
                    None => self.phase(e),
                }
            }
            Step::Array | Step::Ahead => self.phase(e),
            Step::Stopping => self.interrupt(e, "stopping"),
            Step::Suspending => self.interrupt(e, "suspending"),
            Step::Suspended => self.suspend(e),
            Step::Resuming => self.resume(e),
        }
    }

    fn queued(&mut self, e: &QueueEvent) {
        if e.step != QueueStep::Fails || self.closed || !self.pen.covers(e.at.0) {
            return;
        }
        self.latest = self.latest.max(e.at.0);
        if let Some(holder) = self.holders.all[e.unit.index()].as_mut().filter(|h| h.of.op == e.op) {
            holder.fails();
        }
        self.pen.failure(e);
    }

    fn changes(&mut self, at: SimTime, change: Change) {
        if self.closed || !self.pen.covers(at.0) {
            return;
        }
        self.latest = self.latest.max(at.0);
        let name = match change {
            Change::PlanesDie { .. } => "planes die",
            Change::ReadOnly => "becomes read-only",
            Change::Limits { .. } => "limits change",
            Change::HotShare { .. } => "hot share changes",
        };
        let mark = Mark { name, of: Some(Of::Drive(change)), starts: &[], ends: &[] };
        self.pen.tracks.instant(Track::Drive, at, &mark);
    }

    fn request(&mut self, e: &RequestEvent) {
        let RequestStep::Rebuilds { instead, .. } = e.step else { return };
        // A read that interrupted an operation may never get the die.
        self.withdrawn.extend(self.arriving.remove(&instead));
    }
}
