//! Reads a timeline back and checks that it is complete.

use super::proto::*;
use prost::Message;
use std::collections::BTreeMap;

/// A timeline that has been read.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The tracks, in the order in which they are shown.
    pub tracks: Vec<ReadTrack>,
    /// For each arrow, the position of its start and of its end: index of the track, and index
    /// among the track's slices.
    pub arrows: Vec<[(usize, usize); 2]>,
}

/// One track of a [`Timeline`].
#[derive(Clone, Debug, Default)]
pub struct ReadTrack {
    /// Its name.
    pub name: String,
    /// Name of the parent track.
    pub parent: Option<String>,
    /// Slices and instants in the order in which they begin, the outer before the inner.
    pub slices: Vec<Slice>,
}

/// One slice, or an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// Its name.
    pub name: String,
    /// Start of the slice, ns.
    pub begin: u64,
    /// End of the slice, ns; `begin` for an instant.
    pub end: u64,
    /// The number of slices that enclose this one.
    pub depth: usize,
    /// Whether it is an instant.
    pub instant: bool,
    /// The notes: name and value. Numbers are in decimal.
    pub notes: Vec<(String, String)>,
}

/// Why a file is not a complete timeline.
#[derive(Debug, thiserror::Error)]
#[error("not a timeline: {0}")]
pub struct TimelineError(String);

type Checked<T> = Result<T, TimelineError>;

fn wrong<T>(what: impl Into<String>) -> Checked<T> {
    Err(TimelineError(what.into()))
}

impl Timeline {
    /// Reads a whole file.
    ///
    /// # Errors
    /// Bytes that are no trace, events on no track, times that run backwards on a track,
    /// slices that do not nest or end, and arrows without two ends.
    pub fn read(bytes: &[u8]) -> Checked<Timeline> {
        let trace = Trace::decode(bytes).or_else(|e| wrong(e.to_string()))?;
        let mut reader = Reader::default();
        for packet in &trace.packet {
            reader.packet(packet)?;
        }
        reader.whole()
    }

    /// The slices (without instants) of all tracks with this name.
    pub fn slices<'a>(&'a self, track: &'a str) -> impl Iterator<Item = &'a Slice> {
        let tracks = self.tracks.iter().filter(move |t| t.name == track);
        tracks.flat_map(|t| &t.slices).filter(|s| !s.instant)
    }

    /// The slices at the two ends of an arrow.
    pub fn ends(&self, arrow: [(usize, usize); 2]) -> [&Slice; 2] {
        arrow.map(|(track, slice)| &self.tracks[track].slices[slice])
    }
}

#[derive(Default)]
struct Reader {
    timeline: Timeline,
    index: BTreeMap<u64, usize>,
    /// For each track: the indices of its open slices, and the time of its last event.
    open: Vec<(Vec<usize>, u64)>,
    started: BTreeMap<u64, (usize, usize)>,
    ended: BTreeMap<u64, (usize, usize)>,
    names: BTreeMap<u64, String>,
    note_names: BTreeMap<u64, String>,
    texts: BTreeMap<u64, String>,
}

impl Reader {
    fn packet(&mut self, packet: &TracePacket) -> Checked<()> {
        if packet.trusted_packet_sequence_id.unwrap_or(0) == 0 {
            return wrong("a packet without a sequence");
        }
        if let Some(new) = &packet.interned_data {
            learn(&mut self.names, &new.event_names)?;
            learn(&mut self.note_names, &new.debug_annotation_names)?;
            learn(&mut self.texts, &new.debug_annotation_string_values)?;
        }
        if let Some(track) = &packet.track_descriptor {
            self.track(track)?;
        }
        match (&packet.track_event, packet.timestamp) {
            (Some(event), Some(at)) => self.event(event, at),
            (Some(_), None) => wrong("an event without a time"),
            (None, _) => Ok(()),
        }
    }

    fn track(&mut self, track: &TrackDescriptor) -> Checked<()> {
        let parent = match track.parent_uuid {
            Some(id) => match self.index.get(&id) {
                Some(&i) => Some(self.timeline.tracks[i].name.clone()),
                None => return wrong(format!("the parent {id} of a track is not defined before it")),
            },
            None => None,
        };
        let name = track.name.clone().unwrap_or_default();
        let (id, place) = (track.uuid.unwrap_or(0), self.timeline.tracks.len());
        if id == 0 || self.index.insert(id, place).is_some() {
            return wrong(format!("track `{name}` has no number of its own"));
        }
        self.timeline.tracks.push(ReadTrack { name, parent, slices: Vec::new() });
        self.open.push((Vec::new(), 0));
        Ok(())
    }

    fn event(&mut self, event: &TrackEvent, at: u64) -> Checked<()> {
        let Some(&place) = event.track_uuid.and_then(|id| self.index.get(&id)) else {
            return wrong(format!("an event at {at} ns on no track"));
        };
        let track = &mut self.timeline.tracks[place];
        let (open, last) = &mut self.open[place];
        if at < *last {
            return wrong(format!("`{}` goes back from {last} ns to {at} ns", track.name));
        }
        *last = at;
        let kind = event.r#type.unwrap_or(0);
        if kind == SLICE_END {
            let Some(slice) = open.pop() else {
                return wrong(format!("nothing to end at {at} ns on `{}`", track.name));
            };
            track.slices[slice].end = at;
            return Ok(());
        }
        if kind != SLICE_BEGIN && kind != INSTANT {
            return wrong(format!("an event of type {kind}"));
        }
        let mut notes = Vec::new();
        for note in &event.debug_annotations {
            let value = match &note.value {
                Some(Value::Number(n)) => n.to_string(),
                Some(Value::TextIid(id)) => known(&self.texts, Some(*id))?,
                None => return wrong("a note without a value"),
            };
            notes.push((known(&self.note_names, note.name_iid)?, value));
        }
        let slice = track.slices.len();
        track.slices.push(Slice {
            name: known(&self.names, event.name_iid)?,
            begin: at,
            end: at,
            depth: open.len(),
            instant: kind == INSTANT,
            notes,
        });
        if kind == SLICE_BEGIN {
            open.push(slice);
        }
        self.arrows(event, (place, slice))
    }

    /// Records the arrow ends of an event. Arrows are assembled after the last packet, since
    /// their ends may be in the file in any order.
    fn arrows(&mut self, event: &TrackEvent, here: (usize, usize)) -> Checked<()> {
        let sides = [(&mut self.started, &event.flow_ids), (&mut self.ended, &event.terminating_flow_ids)];
        for (side, ids) in sides {
            for &id in ids {
                if side.insert(id, here).is_some() {
                    return wrong(format!("arrow {id} starts or ends twice"));
                }
            }
        }
        Ok(())
    }

    fn whole(mut self) -> Checked<Timeline> {
        for (track, (open, _)) in self.timeline.tracks.iter().zip(&self.open) {
            if let Some(&slice) = open.last() {
                let slice = &track.slices[slice];
                return wrong(format!("`{}` of `{}` never ends", slice.name, track.name));
            }
        }
        for (id, start) in self.started {
            let Some(end) = self.ended.remove(&id) else {
                return wrong(format!("arrow {id} starts and never ends"));
            };
            let [from, to] = self.timeline.ends([start, end]).map(|s| s.begin);
            if from > to {
                return wrong(format!("arrow {id} runs back in time"));
            }
            self.timeline.arrows.push([start, end]);
        }
        match self.ended.first_key_value() {
            Some((id, _)) => wrong(format!("arrow {id} ends and never starts")),
            None => Ok(self.timeline),
        }
    }
}

fn learn(known: &mut BTreeMap<u64, String>, new: &[InternedText]) -> Checked<()> {
    for text in new {
        let (id, text) = (text.iid.unwrap_or(0), text.text.clone().unwrap_or_default());
        if id == 0 || known.insert(id, text).is_some() {
            return wrong(format!("text {id} is defined twice"));
        }
    }
    Ok(())
}

fn known(texts: &BTreeMap<u64, String>, id: Option<u64>) -> Checked<String> {
    match id.and_then(|id| texts.get(&id)) {
        Some(text) => Ok(text.clone()),
        None => wrong(format!("text {id:?} is not defined")),
    }
}
