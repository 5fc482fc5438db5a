//! The elements of a timeline, and the trait of its receiver.

use crate::measure::SinkError;
use tailcut_core::address::BusyUnit;
use tailcut_core::device::{Change, QueueEvent, StepEvent};
use tailcut_units::SimTime;

/// A track of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// The whole drive: failures.
    Drive,
    /// A busy unit: a die, or a plane where planes work independently.
    Unit(BusyUnit),
    /// A plane of a die, counted there, where reads run by plane: its reads.
    Plane(BusyUnit, u32),
    /// A channel.
    Channel(u32),
}

/// The number of an arrow between two slices. An arrow starts at one slice and ends at a
/// later one.
pub type Flow = u64;

/// What a mark concerns as a whole.
#[derive(Clone, Copy, Debug)]
pub enum Of<'a> {
    /// An operation: one of its steps.
    Step(&'a StepEvent),
    /// An operation that has failed: its end.
    Failed(&'a QueueEvent),
    /// The drive.
    Drive(Change),
}

/// The beginning of a slice, or an instant.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'a> {
    /// The name; there are only a few names.
    pub name: &'a str,
    /// The operation or change that the mark concerns as a whole.
    pub of: Option<Of<'a>>,
    /// Arrows that start here.
    pub starts: &'a [Flow],
    /// Arrows that end here.
    pub ends: &'a [Flow],
}

/// Receives a timeline while it is recorded.
///
/// The calls for one track come in time order, and the slices of a track nest. Calls for
/// different tracks come in any order. Every arrow that starts also ends before
/// [`finish`](Tracks::finish) is called.
pub trait Tracks: Send {
    /// Begin a slice.
    fn begin(&mut self, track: Track, at: SimTime, mark: &Mark<'_>);
    /// End the slice of this track that began last.
    fn end(&mut self, track: Track, at: SimTime);
    /// Add a mark without duration.
    fn instant(&mut self, track: Track, at: SimTime, mark: &Mark<'_>);
    /// End the timeline.
    ///
    /// # Errors
    /// The first error since the beginning.
    fn finish(&mut self) -> Result<(), SinkError>;
}

impl<T: Tracks + ?Sized> Tracks for Box<T> {
    fn begin(&mut self, track: Track, at: SimTime, mark: &Mark<'_>) {
        (**self).begin(track, at, mark);
    }
    fn end(&mut self, track: Track, at: SimTime) {
        (**self).end(track, at);
    }
    fn instant(&mut self, track: Track, at: SimTime, mark: &Mark<'_>) {
        (**self).instant(track, at, mark);
    }
    fn finish(&mut self) -> Result<(), SinkError> {
        (**self).finish()
    }
}
