//! Many experiments, each a point of a sweep or a run of a reproduction: they execute in parallel, and a caller
//! follows all of them as the tasks of one.

use crate::cache::Locks;
use crate::experiment::{Experiment, ExperimentError, Plan, RunResult};
use crate::finished::{said_of_runs, said_of_trace};
use crate::summarise::summarise;
use crate::threads::on_threads;
use crate::watch::Watch;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tailcut_report::doubts::doubts;
use tailcut_report::summary::Scheme;
use tailcut_report::tables::overloads;
use tailcut_stats::Measured;
use tailcut_units::SimTime;

/// Receives the progress of many experiments. Tasks are numbered over all of them: one for each run of each scheme.
pub trait Follow: Watch {
    /// This number of tasks begins.
    fn begins(&self, _id: &str, _tasks: usize) {}

    /// The size of a task, known before its plan: its requests.
    fn weighs(&self, _task: usize, _requests: f64) {}

    /// The plan of `count` tasks from `first` on.
    fn planned(&self, _first: usize, _count: usize, _plan: &Plan) {}
}

impl Follow for () {}

/// Forwards the tasks of one experiment as those from `first` on.
pub struct Shifted<'a> {
    /// Who follows all tasks.
    pub to: &'a dyn Follow,
    /// The number of the experiment's first task.
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

/// The results of an experiment.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its schemes, each over all its runs.
    pub schemes: Vec<Scheme>,
    /// Warnings to the user, those of the plan left out.
    pub warnings: Vec<String>,
}

/// Runs an experiment and summarises its schemes; its tasks begin at `first`. `aged` as in
/// [`Experiment::run_sharing`]. `None` if it was stopped before its end.
///
/// # Errors
/// The first failure of any run.
pub fn point(
    experiment: &Experiment,
    plan: &Plan,
    (first, follow): (usize, &dyn Follow),
    aged: Option<&Arc<Locks>>,
) -> Result<Option<Point>, ExperimentError> {
    follow.planned(first, experiment.schemes.len() * experiment.runs as usize, plan);
    let watch = Shifted { to: follow, first };
    let results = experiment.run_sharing(plan, &watch, &|_, _| Ok(None), aged)?;
    let mut point = Point { schemes: Vec::new(), warnings: Vec::new() };
    for (spec, runs) in experiment.schemes.iter().zip(results) {
        let whole = runs.iter().all(|r| r.as_ref().is_some_and(|r| !r.outcome.partial));
        if !whole {
            return Ok(None);
        }
        let runs: Vec<RunResult> = runs.into_iter().flatten().collect();
        if let (true, Some(first)) = (point.schemes.is_empty(), runs.first()) {
            point.warnings.extend(said_of_trace(experiment, plan, first));
        }
        point.warnings.extend(said_of_runs(spec, &runs));
        let each: Vec<Scheme> = runs.iter().map(|run| summarise(&spec.name, run)).collect();
        let measured: Vec<Measured> = runs.into_iter().map(|run| run.outcome.measured).collect();
        point.schemes.push(Scheme::over_runs(&each, &measured.iter().collect::<Vec<_>>()));
    }
    point.warnings.extend(overloads(&point.schemes));
    point.warnings.extend(doubts(&point.schemes).into_iter().map(|doubt| doubt.text));
    Ok(Some(point))
}

/// Does `work` for each of these numbers on several threads, in their order, and returns the results in that order.
pub fn each<T: Send>(order: &[usize], threads: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let slots: Mutex<Vec<Option<T>>> = Mutex::new(order.iter().map(|_| None).collect());
    let next = AtomicUsize::new(0);
    on_threads(threads.min(order.len()), || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&number) = order.get(at) else { return };
            let done = work(number);
            slots.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(done);
        }
    });
    let slots = slots.into_inner().unwrap_or_else(PoisonError::into_inner);
    slots.into_iter().map(|slot| slot.expect("every number was worked on")).collect()
}
