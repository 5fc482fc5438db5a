//! `timeline.pftrace`: slices of time on named tracks, in the format of the Perfetto
//! trace viewer.
//!
//! [`TraceWriter`] writes one as it goes; [`Timeline`] reads one back and checks that it
//! is whole. What the tracks and slices stand for is the business of whoever writes.

mod proto;
mod read;
mod writer;

pub use read::{ReadTrack, Slice, Timeline, TimelineError};
pub use writer::{Event, Note, TraceWriter, TrackId};
