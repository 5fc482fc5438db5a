//! How whoever started experiments follows them.

use tailcut_sim::{Plan, Watch};
use tailcut_units::SimTime;

/// Looks on while the runs of an experiment go. Tasks are numbered over the whole
/// experiment: one a run and scheme, one a searched scheme.
pub trait Follow: Watch {
    /// An experiment of so many tasks begins.
    fn begins(&self, _id: &str, _tasks: usize) {}

    /// What the tasks from `first` on come to.
    fn planned(&self, _first: usize, _count: usize, _plan: &Plan) {}
}

impl Follow for () {}

/// One run's tasks as a part of the experiment's.
pub(crate) struct Shifted<'a> {
    pub to: &'a dyn Follow,
    pub first: usize,
}

impl Watch for Shifted<'_> {
    fn ageing(&self, task: usize, fraction: f64) {
        self.to.ageing(self.first + task, fraction);
    }
    fn requests(&self, task: usize, done: u64, now: SimTime) {
        self.to.requests(self.first + task, done, now);
    }
    fn done(&self, task: usize) {
        self.to.done(self.first + task);
    }
    fn stopped(&self) -> bool {
        self.to.stopped()
    }
}
