//! Writes the timeline's tracks to a file for the Perfetto viewer, and describes the time
//! covered.

use super::summary::Finished;
use std::fmt::Write as _;
use std::io::Write;
use tailcut_core::address::BusyUnit;
use tailcut_core::device::{OpKind, Shape, StepEvent};
use tailcut_report::text::grouped;
use tailcut_report::timeline::{Event, Note, TraceWriter, TrackId};
use tailcut_sim::Experiment;
use tailcut_sim::measure::SinkError;
use tailcut_sim::timeline::{Mark, Track, Tracks};
use tailcut_units::SimTime;
use tailcut_units::quantity::format_time;

/// One track per channel and one per busy unit, all below a track of the drive.
pub struct Timeline<W: Write> {
    /// `None` once the timeline has ended.
    writer: Option<TraceWriter<W>>,
    /// The file's name, for errors.
    name: String,
    units: Vec<TrackId>,
    channels: Vec<TrackId>,
    /// The kind of a busy unit: die or plane.
    unit: &'static str,
}

impl<W: Write> Timeline<W> {
    /// A timeline of a drive under a scheme.
    pub fn new(out: W, name: String, scheme: &str, shape: &Shape) -> Timeline<W> {
        let mut writer = TraceWriter::new(out);
        let drive = Some(writer.track(&format!("drive ({scheme})"), None));
        let (mut units, mut channels) = (Vec::new(), Vec::new());
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
        }
        let unit = if whole_dies { "die" } else { "plane" };
        Timeline { writer: Some(writer), name, units, channels, unit }
    }

    fn id(&self, track: Track) -> TrackId {
        match track {
            Track::Unit(unit) => self.units[unit.index()],
            Track::Channel(channel) => self.channels[channel as usize],
        }
    }

    fn put(&mut self, how: fn(&mut TraceWriter<W>, &Event<'_>), track: Track, at: SimTime, mark: &Mark<'_>) {
        let mut notes = [Note::Number("", 0); 4];
        let count = mark.of.map_or(0, |of| fill(&mut notes, of, self.unit));
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

/// Fill in the notes about an operation; returns how many there are.
fn fill(notes: &mut [Note<'static>; 4], of: &StepEvent, unit: &'static str) -> usize {
    let all = [
        Some(Note::Text("occupant", of.occupant.name())),
        (of.request != u64::MAX).then_some(Note::Number("request", of.request)),
        Some(Note::Number(unit, u64::from(of.unit.0))),
        (of.kind != OpKind::Erase).then(|| Note::Number("page", u64::from(of.page))),
    ];
    let said = all.into_iter().flatten();
    notes.iter_mut().zip(said).map(|(place, note)| *place = note).count()
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
