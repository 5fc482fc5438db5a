//! Experiments that the tests vary.

use tailcut_sim::{Experiment, SchemeSpec, Snapshots};
use tailcut_workload::{TraceReplay, WorkloadSpec};

pub fn job(text: &str) -> WorkloadSpec {
    WorkloadSpec::parse(text, |_| None, &TraceReplay::default()).unwrap()
}

/// An experiment with one run of each scheme, two at a time, without a cache.
pub fn experiment(workload: &WorkloadSpec, schemes: Vec<SchemeSpec>) -> Experiment<'_> {
    Experiment {
        schemes,
        workload,
        seed: 1,
        runs: 1,
        past: None,
        snapshots: Snapshots::Off,
        threads: 2,
        fine: None,
        one_past: false,
        timeline: None,
    }
}
