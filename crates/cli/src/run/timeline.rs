//! Writes the timeline's tracks to a file for the Perfetto viewer, and describes the time that the timeline covers.

use std::fmt::Write as _;
use std::io::Write;
use tailcut_core::address::BusyUnit;
use tailcut_core::device::{Change, OpKind, QueueEvent, StepEvent};
use tailcut_core::figures::Dimensions;
use tailcut_report::text::grouped;
use tailcut_report::timeline::{Event, Note, TraceWriter, TrackId};
use tailcut_sim::Experiment;
use tailcut_sim::Finished;
use tailcut_sim::measure::SinkError;
use tailcut_sim::timeline::{Mark, Of, Track, Tracks};
use tailcut_units::SimTime;
use tailcut_units::quantity::format_time;

/// One track per channel and one per busy unit, all below a track of the drive.
pub struct Timeline<W: Write> {
    /// `None` once the timeline has ended.
    writer: Option<TraceWriter<W>>,
    /// The file's name, for errors.
    name: String,
    drive: TrackId,
    units: Vec<TrackId>,
    /// If reads run by plane: the planes of all units, and the number of planes in a unit.
    planes: Vec<TrackId>,
    planes_read: u32,
    channels: Vec<TrackId>,
    /// The kind of a busy unit: die or plane.
    unit: &'static str,
}

impl<W: Write> Timeline<W> {
    /// A timeline of a drive under a scheme.
    pub fn new(out: W, name: String, scheme: &str, shape: &Dimensions) -> Timeline<W> {
        let mut writer = TraceWriter::new(out);
        let all = writer.track(&format!("drive ({scheme})"), None);
        let drive = Some(all);
        let (mut units, mut planes_of_units, mut channels) = (Vec::new(), Vec::new(), Vec::new());
        let whole_dies = shape.units == shape.dies;
        for unit in (0..shape.units).map(BusyUnit) {
            let channel = shape.channel_of(unit);
            // Every channel is listed above its dies.
            if channel as usize == channels.len() {
                channels.push(writer.track(&format!("channel {channel}"), drive));
            }
            let planes = shape.units / shape.dies;
            let name = match whole_dies {
                true => format!("die {unit} (channel {channel})"),
                false => format!("plane {} of die {} (channel {channel})", unit.0 % planes, unit.0 / planes),
            };
            units.push(writer.track(&name, drive));
            for plane in (0..shape.planes_read).filter(|_| shape.planes_read > 1) {
                let name = format!("reads of plane {plane} of die {unit}");
                planes_of_units.push(writer.track(&name, drive));
            }
        }
        let (planes, planes_read) = (planes_of_units, shape.planes_read);
        let unit = if whole_dies { "die" } else { "plane" };
        Timeline { writer: Some(writer), name, drive: all, units, planes, planes_read, channels, unit }
    }

    fn id(&self, track: Track) -> TrackId {
        match track {
            Track::Drive => self.drive,
            Track::Unit(unit) => self.units[unit.index()],
            Track::Plane(unit, plane) => self.planes[(unit.0 * self.planes_read + plane) as usize],
            Track::Channel(channel) => self.channels[channel as usize],
        }
    }

    fn put(&mut self, how: fn(&mut TraceWriter<W>, &Event<'_>), track: Track, at: SimTime, mark: &Mark<'_>) {
        let mut notes = [Note::Number("", 0); 4];
        let count = match mark.of {
            None => 0,
            Some(Of::Step(e)) => fill(&mut notes, of_step(e, self.unit)),
            Some(Of::Failed(e)) => fill(&mut notes, of_failure(e, self.unit)),
            Some(Of::Drive(change)) => fill(&mut notes, of_change(change)),
        };
        let event = Event {
            track: self.id(track),
            at,
            name: mark.name,
            notes: &notes[..count],
            starts: mark.starts,
            ends: mark.ends,
        };
        if let Some(writer) = &mut self.writer {
            how(writer, &event);
        }
    }
}

/// The notes of an event. Some of them may be missing.
type Notes = [Option<Note<'static>>; 4];

/// Fill in the notes that are present. Returns their number.
fn fill(notes: &mut [Note<'static>; 4], all: Notes) -> usize {
    let said = all.into_iter().flatten();
    notes.iter_mut().zip(said).map(|(place, note)| *place = note).count()
}

fn of_request(request: u64) -> Option<Note<'static>> {
    (request != u64::MAX).then_some(Note::Number("request", request))
}

fn of_step(of: &StepEvent, unit: &'static str) -> Notes {
    [
        Some(Note::Text("occupant", of.occupant.name())),
        of_request(of.request),
        Some(Note::Number(unit, u64::from(of.unit.0))),
        (of.kind != OpKind::Erase).then(|| Note::Number("page", u64::from(of.page))),
    ]
}

fn of_failure(of: &QueueEvent, unit: &'static str) -> Notes {
    [
        Some(Note::Text("occupant", of.occupant.name())),
        of_request(of.request),
        Some(Note::Number(unit, u64::from(of.unit.0))),
        None,
    ]
}

fn of_change(change: Change) -> Notes {
    match change {
        Change::PlanesDie { first, count } => {
            let [first, count] =
                [("first plane", first), ("planes", count)].map(|(name, n)| Note::Number(name, u64::from(n)));
            [Some(first), Some(count), None, None]
        }
        Change::ReadOnly => [None; 4],
        Change::Limits { users, collection, free } => [
            Some(Note::Number("slots for users", u64::from(users))),
            Some(Note::Number("slots for collection", u64::from(collection))),
            Some(Note::Number("free chunks", u64::from(free))),
            None,
        ],
        Change::HotShare { hot, cold } => {
            let [hot, cold] =
                [("hot LUNs", hot), ("cold LUNs", cold)].map(|(name, n)| Note::Number(name, u64::from(n)));
            [Some(hot), Some(cold), None, None]
        }
    }
}

impl<W: Write + Send> Tracks for Timeline<W> {
    fn begin(&mut self, track: Track, at: SimTime, mark: &Mark<'_>) {
        self.put(TraceWriter::begin, track, at, mark);
    }

    fn end(&mut self, track: Track, at: SimTime) {
        let track = self.id(track);
        if let Some(writer) = &mut self.writer {
            writer.end(track, at);
        }
    }

    fn instant(&mut self, track: Track, at: SimTime, mark: &Mark<'_>) {
        self.put(TraceWriter::instant, track, at, mark);
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        match self.writer.take() {
            Some(writer) => {
                Ok(writer.finish().map(drop).map_err(|e| format!("cannot write {}: {e}", self.name))?)
            }
            None => Ok(()),
        }
    }
}

/// The part of the run that each timeline covers, one line each.
pub fn covered_text(experiment: &Experiment, finished: &Finished) -> String {
    let mut out = String::new();
    let Some(window) = experiment.timeline else { return out };
    for (name, covered) in &finished.timelines {
        let (from, to) = (covered.from, covered.to);
        let span = format!("{} from {}", format_time(to - from), format_time(from - SimTime::ZERO));
        let more = match (covered.whole, covered.slices) {
            (true, _) => format!("--timeline={window} of a longer run"),
            (false, 0) => format!("the run ended before --timeline={window} began"),
            (false, _) => "up to the end of the run".to_string(),
        };
        let _ = writeln!(out, "timeline      {name}: {} slices, {span}: {more}", grouped(covered.slices));
    }
    out
}
