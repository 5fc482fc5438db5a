//! The levels of a drive, for series over time.

/// Current levels, for series over time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauges {
    /// Free extents of the drive.
    pub free_extents: u64,
    /// Share of the write buffer in use.
    pub buffer_fill: f64,
    /// Share of the write buffer that users may occupy, if a rate limiter sets it.
    pub user_limit: Option<f64>,
    /// Collections under way.
    pub collecting: u32,
}
