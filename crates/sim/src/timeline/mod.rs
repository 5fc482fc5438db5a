//! The timeline: what every die and channel did, for a window of the measured time.
//!
//! [`Recorder`] observes a running drive and turns its events into slices of time. The
//! receiver of the timeline implements [`Tracks`]. A run without a timeline has `()` as
//! its observer, which costs nothing.

mod recorder;
mod tracks;
mod unit;
mod window;

pub use recorder::{Covered, Recorder};
pub use tracks::{Flow, Mark, Of, Track, Tracks};
pub use window::Window;
