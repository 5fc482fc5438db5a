//! The medium of a simulation without data.

use super::Medium;

/// A medium that holds no data: only times are simulated.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoData;

impl Medium for NoData {
    const HOLDS_DATA: bool = false;
}
