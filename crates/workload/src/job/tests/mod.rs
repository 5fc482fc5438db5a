//! Tests of the job module, one file per question, and their shared helpers.

mod distributions;
mod errors;
mod files;
mod fio_examples;
mod golden;
mod opening;
mod pacing;
mod robustness;
mod semantics;

use super::{JobSet, OpenJobs};
use crate::Issue;
use tailcut_units::HostOp;

const GIB: u64 = 1 << 30;

/// An inline job on a capacity, with seed 1.
fn open(text: &str, capacity: u64) -> OpenJobs {
    let set = JobSet::from_inline(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    set.open(capacity, 1).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The first issues of job 0.
fn take(text: &str, capacity: u64, most: usize) -> Vec<Issue> {
    let mut open = open(text, capacity);
    std::iter::from_fn(|| open.next(0)).take(most).collect()
}

fn share(issues: &[Issue], is: impl Fn(&Issue) -> bool) -> f64 {
    issues.iter().filter(|i| is(i)).count() as f64 / issues.len() as f64
}

fn is_read(issue: &Issue) -> bool {
    issue.command.op == HostOp::Read
}

/// Pearson's statistic of counts against expected counts.
fn chi_square(counts: &[u64], expected: &[f64]) -> f64 {
    counts.iter().zip(expected).map(|(c, e)| (*c as f64 - e).powi(2) / e).sum()
}
