//! The medium of a simulation: nothing.

use super::Medium;

/// Timing only.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoData;

impl Medium for NoData {
    const HOLDS_DATA: bool = false;
}
