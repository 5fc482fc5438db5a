//! The overwrites that age a drive: their end and their result.

use serde::{Deserialize, Serialize};

/// The result of preconditioning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgeReport {
    /// Mapping units programmed by overwriting, collection and padding included.
    pub programs: u64,
    /// Write amplification over the last three windows; over the last turn if victims are chosen by age and writes
    /// are not uniform.
    pub waf: f64,
    /// Whether every extent was erased and three successive windows agreed within 2 %, or two successive
    /// turns (see `waf`). Otherwise the pass was stopped, or ended at its bound.
    pub steady: bool,
    /// Whether the overwrites began on extents with the valid units that theory gives, instead of
    /// full ones. Then no extent had to be erased.
    pub analytic: bool,
}

/// The end of overwrites, unless their writes end before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When write amplification is steady.
    Steady,
    /// After this many more erases of extents.
    Erases(u64),
}
