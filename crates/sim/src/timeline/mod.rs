//! The timeline: what every die and channel did, for a window of the measured time.
//!
//! [`Recorder`] looks on while a drive runs and makes slices of time of what it sees;
//! whoever asked for the timeline receives them as [`Tracks`]. A run without a timeline
//! has `()` for its observer and pays nothing.

mod recorder;
mod tracks;
mod unit;
mod window;

pub use recorder::{Covered, Recorder};
pub use tracks::{Flow, Mark, Track, Tracks};
pub use window::Window;
