//! The medium of a drive whose past is simulated again.

use super::Medium;

/// A medium that says that it holds data, and does nothing: the drive over it does all that it does over
/// [`Bytes`](super::Bytes), which then takes its place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Medium for Silent {
    const HOLDS_DATA: bool = true;
}
