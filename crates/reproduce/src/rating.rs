//! The ratings that a search finds, and the results for each multiplier that it tried.

use serde::Serialize;

/// The ratings of a scheme as multipliers; 0 if the scheme does not pass at the smallest one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rating {
    /// The scheme.
    pub scheme: String,
    /// By the paper's rule, performance.
    pub performance: u32,
    /// By the paper's rule, stress.
    pub stress: u32,
    /// By the paper's rule, stress, with steady free blocks.
    pub sustained: u32,
    /// By the tool's rule, performance.
    pub official_performance: u32,
    /// By the tool's rule, stress.
    pub official_stress: u32,
    /// Every multiplier tried, with its results.
    pub tried: Vec<Tried>,
}

/// The results for one multiplier.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// The multiplier.
    pub multiplier: u32,
    /// Result by the paper's rule.
    pub paper: Passed,
    /// Result by the tool's rule; unknown if the run ended early because the paper's rule had
    /// failed.
    pub official: Option<Passed>,
    /// Shares of small reads above 1, 8 and 64 ms.
    pub above: [f64; 3],
    /// Mean latency of small reads, large reads and large writes in ns.
    pub means_ns: [f64; 3],
    /// The longest latency of a large request, ns.
    pub lag_ns: u64,
    /// Mean number of free blocks in the first and in the last third of the judged time.
    pub free_blocks: Option<[f64; 2]>,
    /// Time at which as much had been written to flash as was free at the start, ns.
    pub used_up_ns: Option<u64>,
}

/// Which tests are passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Passed {
    /// The stress test.
    pub stress: bool,
    /// The performance test.
    pub performance: bool,
}
