//! The progress bar: on a terminal only, on standard error.

use crate::terminal::{Terminal, interrupted};
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;
use tailcut_reproduce::Follow;
use tailcut_sim::{Plan, Watch};
use tailcut_units::SimTime;

/// Parts of a run's bar: what a run's progress is counted in.
const PARTS: u64 = 1000;

/// Follows an experiment and hands on Ctrl-C.
pub struct Progress {
    bar: Option<ProgressBar>,
    tasks: Mutex<Vec<Task>>,
}

#[derive(Clone, Copy, Default)]
struct Task {
    expected: Option<u64>,
    runtime: Option<u64>,
    done: u64,
    ageing: f64,
    parts: u64,
}

impl Progress {
    /// For so many runs of what is planned.
    pub fn new(plan: &Plan, runs: usize) -> Progress {
        let progress = Progress::of_tasks(runs);
        progress.plan(0, runs, plan);
        progress
    }

    /// For so many tasks, whose plans come later.
    pub fn of_tasks(count: usize) -> Progress {
        let bar = Terminal::is_watched().then(|| {
            let bar = ProgressBar::new(PARTS * count as u64);
            let style = ProgressStyle::with_template(
                "{bar:32} {percent:>3} % {msg} {elapsed_precise}, about {eta} left",
            );
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Progress { bar, tasks: Mutex::new(vec![Task::default(); count]) }
    }

    /// What the tasks from `first` on come to.
    fn plan(&self, first: usize, count: usize, plan: &Plan) {
        let Ok(mut tasks) = self.tasks.lock() else { return };
        for task in tasks.iter_mut().skip(first).take(count) {
            task.expected = plan.expected.filter(|&n| n > 0);
            task.runtime = plan.runtime.map(|r| r.0).filter(|&ns| ns > 0);
        }
    }

    /// Take the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn update(&self, task: usize, change: impl FnOnce(&mut Task)) {
        let Some(bar) = &self.bar else { return };
        let Ok(mut tasks) = self.tasks.lock() else { return };
        change(&mut tasks[task]);
        bar.set_position(tasks.iter().map(|t| t.parts).sum());
        let done: u64 = tasks.iter().map(|t| t.done).sum();
        let text = match tasks[task] {
            Task { done: 0, ageing, .. } => format!("ageing, {:.0} %", ageing * 100.0),
            _ => format!("{} requests", tailcut_report::text::rate(done as f64)),
        };
        bar.set_message(text);
    }
}

impl Watch for Progress {
    fn ageing(&self, task: usize, fraction: f64) {
        self.update(task, |t| t.ageing = fraction);
    }

    fn requests(&self, task: usize, done: u64, now: SimTime) {
        self.update(task, |t| {
            let parts = match (t.expected, t.runtime) {
                (Some(all), _) => done.min(all) as f64 / all as f64,
                (None, Some(end)) => now.0.min(end) as f64 / end as f64,
                (None, None) => 0.0,
            };
            (t.done, t.parts) = (done, (parts * PARTS as f64) as u64);
        });
    }

    fn done(&self, task: usize) {
        self.update(task, |t| t.parts = PARTS);
    }

    fn stopped(&self) -> bool {
        interrupted()
    }
}

impl Follow for Progress {
    fn planned(&self, first: usize, count: usize, plan: &Plan) {
        self.plan(first, count, plan);
    }
}

/// Shows nothing and hands on Ctrl-C.
pub struct Stop;

impl Watch for Stop {
    fn stopped(&self) -> bool {
        interrupted()
    }
}
