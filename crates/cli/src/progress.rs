//! Shows the progress of a command on standard error: a bar on a terminal, else a line
//! from time to time.

use crate::terminal::{Terminal, interrupted};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::sync::Mutex;
use std::time::Instant;
use tailcut_reproduce::Follow;
use tailcut_sim::progress::{PARTS, State};
use tailcut_sim::{Plan, Watch};
use tailcut_units::SimTime;

/// Follows an experiment and passes on Ctrl-C.
pub struct Progress {
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

impl Progress {
    /// Progress of `runs` runs of the plan.
    pub fn new(plan: &Plan, runs: usize) -> Progress {
        let progress = Progress::of_tasks(runs);
        progress.plan(0, runs, plan);
        progress
    }

    /// Progress of `count` tasks, whose plans are set later.
    pub fn of_tasks(count: usize) -> Progress {
        let bar = Terminal::is_watched().then(|| {
            let bar = ProgressBar::new(PARTS * count as u64);
            let style = ProgressStyle::with_template("{bar:32} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Progress { bar, state: Mutex::new(State::new(count, Instant::now())) }
    }

    /// Set the plan of `count` tasks from `first` on.
    pub fn plan(&self, first: usize, count: usize, plan: &Plan) {
        if let Ok(mut state) = self.state.lock() {
            state.planned(first, count, plan);
        }
    }

    /// Remove the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn update(&self, task: usize, change: impl FnOnce(&mut State)) {
        let Ok(mut state) = self.state.lock() else { return };
        change(&mut state);
        let now = Instant::now();
        match &self.bar {
            Some(bar) => {
                bar.set_position(state.position(now));
                bar.set_message(state.text(task, now));
            }
            None if state.is_due(now) => {
                state.position(now);
                // An error is ignored: the run continues if standard error is closed.
                let _ = writeln!(std::io::stderr(), "progress: {}", state.text(task, now));
            }
            None => {}
        }
    }
}

impl Watch for Progress {
    fn ageing(&self, task: usize, fraction: f64) {
        self.update(task, |state| state.ageing(task, fraction));
    }

    fn requests(&self, task: usize, done: u64, now: SimTime) {
        self.update(task, |state| state.requests(task, done, now));
    }

    fn done(&self, task: usize) {
        self.update(task, |state| state.done(task));
    }

    fn stopped(&self) -> bool {
        interrupted()
    }
}

impl Follow for Progress {
    fn begins(&self, _: &str, tasks: usize) {
        let Ok(mut state) = self.state.lock() else { return };
        state.begins(tasks);
        if let Some(bar) = &self.bar {
            bar.set_length(PARTS * tasks as u64);
        }
    }

    fn weighs(&self, task: usize, requests: f64) {
        if let Ok(mut state) = self.state.lock() {
            state.weighs(task, requests);
        }
    }

    fn planned(&self, first: usize, count: usize, plan: &Plan) {
        self.plan(first, count, plan);
    }
}

/// Shows nothing and passes on Ctrl-C.
pub struct Stop;

impl Watch for Stop {
    fn stopped(&self) -> bool {
        interrupted()
    }
}
