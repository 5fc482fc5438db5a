//! The medium of a drive whose past commands are simulated again.

use super::Medium;

/// A medium that claims to hold data and does nothing. A drive over it behaves as over [`Bytes`](super::Bytes), which
/// replaces it after the simulation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Medium for Silent {
    const HOLDS_DATA: bool = true;
}
