//! How experiments are run: the size, the traces, the cache of aged drives, and the threads.

use std::path::PathBuf;
use tailcut_sim::Snapshots;
use tailcut_workload::Interrupt;

/// How experiments are run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Run at the quick sizes.
    pub quick: bool,
    /// The folder of traces.
    pub traces: Option<PathBuf>,
    /// Where aged drives are stored.
    pub snapshots: Snapshots,
    /// Number of runs at a time, at least one.
    pub threads: usize,
    /// The interrupt that stops the reading of traces.
    pub interrupt: Interrupt,
}
