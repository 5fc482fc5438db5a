//! The interface through which a caller follows the progress of experiments.

use tailcut_sim::{Plan, Watch};
use tailcut_units::SimTime;

/// Receives the progress of the runs of an experiment. Tasks are numbered over the whole
/// experiment: one for each run and scheme, and one for each searched scheme.
pub trait Follow: Watch {
    /// An experiment with this number of tasks begins.
    fn begins(&self, _id: &str, _tasks: usize) {}

    /// The plan of `count` tasks from `first` on.
    fn planned(&self, _first: usize, _count: usize, _plan: &Plan) {}
}

impl Follow for () {}

/// Forwards the tasks of one run as tasks of the experiment.
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
