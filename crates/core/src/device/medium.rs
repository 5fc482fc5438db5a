//! What the flash holds, beyond what the map knows of it.

/// A medium; [`NoData`] holds nothing and costs nothing.
pub trait Medium {
    /// Whether there are payloads; where not, everything about them compiles away.
    const HOLDS_DATA: bool;
}

/// Timing only.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoData;

impl Medium for NoData {
    const HOLDS_DATA: bool = false;
}
