//! Writes a timeline packet by packet.

use super::proto::*;
use prost::Message;
use std::collections::BTreeMap;
use std::io::{self, Write};
use tailcut_units::SimTime;

/// A track of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrackId(u64);

/// A named value attached to a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note<'a> {
    /// A number.
    Number(&'a str, u64),
    /// A text. The number of different texts must be small: each is kept in memory.
    Text(&'a str, &'a str),
}

/// The beginning of a slice, or an instant.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The track.
    pub track: TrackId,
    /// Time of the event.
    pub at: SimTime,
    /// Name. The number of different names must be small: each is kept in memory.
    pub name: &'a str,
    /// Values that the viewer shows beside the event.
    pub notes: &'a [Note<'a>],
    /// Numbers of the arrows that start here.
    pub starts: &'a [u64],
    /// Numbers of the arrows that end here.
    pub ends: &'a [u64],
}

/// The number of the only sequence of packets in the file; any number but 0 is valid.
const SEQUENCE: u32 = 1;

/// Writes a timeline in Perfetto's trace format.
///
/// The events of a track must come in the order of their times, and its slices must nest.
/// Events of different tracks may come in any order, since the viewer sorts. An arrow runs
/// forward in time, from the slice or instant that starts it to the one that ends it.
pub struct TraceWriter<W: Write> {
    out: W,
    failed: Option<io::Error>,
    names: Interned,
    note_names: Interned,
    texts: Interned,
    buffer: Vec<u8>,
    tracks: u64,
    slices: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Starts an empty timeline.
    pub fn new(out: W) -> TraceWriter<W> {
        let mut writer = TraceWriter {
            out,
            failed: None,
            names: Interned::default(),
            note_names: Interned::default(),
            texts: Interned::default(),
            buffer: Vec::with_capacity(256),
            tracks: 0,
            slices: 0,
        };
        writer.put(TracePacket {
            sequence_flags: Some(STATE_CLEARED),
            first_packet_on_sequence: Some(true),
            ..TracePacket::default()
        });
        writer
    }

    /// Adds a track. The viewer shows tracks below their parent in the order in which they were
    /// added.
    pub fn track(&mut self, name: &str, parent: Option<TrackId>) -> TrackId {
        self.tracks += 1;
        let id = self.tracks;
        self.put(TracePacket {
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(id),
                name: Some(name.to_string()),
                parent_uuid: parent.map(|p| p.0),
                child_ordering: Some(ORDER_EXPLICIT),
                sibling_order_rank: i32::try_from(id).ok(),
            }),
            ..TracePacket::default()
        });
        TrackId(id)
    }

    /// Begins a slice.
    pub fn begin(&mut self, event: &Event<'_>) {
        self.slices += 1;
        self.event(SLICE_BEGIN, event);
    }

    /// Ends the innermost open slice of this track.
    pub fn end(&mut self, track: TrackId, at: SimTime) {
        let event =
            TrackEvent { r#type: Some(SLICE_END), track_uuid: Some(track.0), ..TrackEvent::default() };
        self.put(TracePacket { timestamp: Some(at.0), track_event: Some(event), ..TracePacket::default() });
    }

    /// Adds an event without duration.
    pub fn instant(&mut self, event: &Event<'_>) {
        self.event(INSTANT, event);
    }

    /// The number of slices begun so far.
    pub fn slices(&self) -> u64 {
        self.slices
    }

    /// Flushes and returns the output.
    ///
    /// # Errors
    /// The first error of the output since the beginning.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn event(&mut self, kind: i32, event: &Event<'_>) {
        let mut new = InternedData::default();
        let name_iid = self.names.id(event.name, &mut new.event_names);
        let mut notes = Vec::with_capacity(event.notes.len());
        for note in event.notes {
            let (name, value) = match *note {
                Note::Number(name, n) => (name, Value::Number(n)),
                Note::Text(name, text) => {
                    (name, Value::TextIid(self.texts.id(text, &mut new.debug_annotation_string_values)))
                }
            };
            let name_iid = self.note_names.id(name, &mut new.debug_annotation_names);
            notes.push(DebugAnnotation { name_iid: Some(name_iid), value: Some(value) });
        }
        let track_event = TrackEvent {
            debug_annotations: notes,
            r#type: Some(kind),
            name_iid: Some(name_iid),
            track_uuid: Some(event.track.0),
            flow_ids: event.starts.to_vec(),
            terminating_flow_ids: event.ends.to_vec(),
        };
        self.put(TracePacket {
            timestamp: Some(event.at.0),
            track_event: Some(track_event),
            interned_data: (new != InternedData::default()).then_some(new),
            sequence_flags: Some(STATE_NEEDED),
            ..TracePacket::default()
        });
    }

    /// Appends a packet to the file. After a failure nothing more is written.
    fn put(&mut self, mut packet: TracePacket) {
        if self.failed.is_some() {
            return;
        }
        packet.trusted_packet_sequence_id = Some(SEQUENCE);
        self.buffer.clear();
        self.buffer.push(PACKET_KEY);
        let encoded = packet.encode_length_delimited(&mut self.buffer);
        encoded.expect("a vector grows as needed");
        self.failed = self.out.write_all(&self.buffer).err();
    }
}

/// Texts that are written to the file once and then referred to by number.
#[derive(Default)]
struct Interned(BTreeMap<String, u64>);

impl Interned {
    /// Returns the number of a text. A new text gets the next number and is added to `new`.
    fn id(&mut self, text: &str, new: &mut Vec<InternedText>) -> u64 {
        if let Some(&id) = self.0.get(text) {
            return id;
        }
        let id = self.0.len() as u64 + 1;
        self.0.insert(text.to_string(), id);
        new.push(InternedText { iid: Some(id), text: Some(text.to_string()) });
        id
    }
}
