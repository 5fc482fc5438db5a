//! `timeline.pftrace`: slices of time on named tracks, in the format of the Perfetto
//! trace viewer.
//!
//! [`TraceWriter`] writes a timeline event by event; [`Timeline`] reads a file back and checks
//! that it is complete. The meaning of the tracks and slices is defined by the caller.

mod proto;
mod read;
mod writer;

pub use read::{ReadTrack, Slice, Timeline, TimelineError};
pub use writer::{Event, Note, TraceWriter, TrackId};
