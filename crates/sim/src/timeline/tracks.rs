//! What a timeline is made of, and who receives it.

use crate::measure::SinkError;
use tailcut_core::device::StepEvent;
use tailcut_units::SimTime;

/// A track of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// A busy unit: a die, or a plane where planes work alone.
    Unit(u32),
    /// A channel.
    Channel(u32),
}

/// Number of an arrow between two slices. It starts at one and ends at another, later one.
pub type Flow = u64;

/// The beginning of a slice, or an instant.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'a> {
    /// One of a few names.
    pub name: &'a str,
    /// For what concerns an operation as a whole: one of its steps.
    pub of: Option<&'a StepEvent>,
    /// Arrows that start here.
    pub starts: &'a [Flow],
    /// Arrows that end here.
    pub ends: &'a [Flow],
}

/// Receives a timeline as it comes.
///
/// The calls for one track come in the order of their times, and its slices nest; those
/// of different tracks come in any order. Every arrow that starts ends before
/// [`finish`](Tracks::finish).
pub trait Tracks: Send {
    /// A slice begins.
    fn begin(&mut self, track: Track, at: SimTime, mark: &Mark<'_>);
    /// The slice of this track that began last ends.
    fn end(&mut self, track: Track, at: SimTime);
    /// Something without duration.
    fn instant(&mut self, track: Track, at: SimTime, mark: &Mark<'_>);
    /// There is no more.
    ///
    /// # Errors
    /// Whatever went wrong since the beginning.
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
