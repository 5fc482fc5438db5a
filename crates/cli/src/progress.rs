//! Shows the progress of a command on standard error: a bar on a terminal, else a line from time to time.

use crate::terminal::{Terminal, interrupted};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::sync::Mutex;
use std::time::Instant;
use tailcut_sim::points::Follow;
use tailcut_sim::progress::{Show, State};
use tailcut_sim::{Plan, Watch};

/// Shows the progress of runs, and stops them on Ctrl-C.
pub struct Progress {
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

impl Progress {
    /// Start the progress of `runs` runs of the plan.
    pub fn new(plan: &Plan, runs: usize) -> Progress {
        let progress = Progress::of_tasks(runs);
        progress.planned(0, runs, plan);
        progress
    }

    /// Start the progress of `count` tasks, whose plans are set later.
    pub fn of_tasks(count: usize) -> Progress {
        let bar = Terminal::is_watched().then(|| {
            let bar = ProgressBar::no_length();
            let style = ProgressStyle::with_template("{bar:32} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Progress { bar, state: Mutex::new(State::new(count, Instant::now())) }
    }

    /// Remove the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Show for Progress {
    fn change(&self, seen_by: Option<usize>, change: &dyn Fn(&mut State)) {
        let Ok(mut state) = self.state.lock() else { return };
        change(&mut state);
        let now = Instant::now();
        match (&self.bar, seen_by) {
            (Some(bar), Some(task)) => {
                bar.set_length(state.length());
                bar.set_position(state.position(now));
                bar.set_message(state.text(task, now));
            }
            (None, Some(task)) if state.is_due(now) => {
                state.position(now);
                // Errors are ignored, so that the run continues if standard error is closed.
                let _ = writeln!(std::io::stderr(), "progress: {}", state.text(task, now));
            }
            _ => {}
        }
    }

    fn interrupted(&self) -> bool {
        interrupted()
    }
}

/// Shows nothing, and stops runs on Ctrl-C.
pub struct Stop;

impl Watch for Stop {
    fn stopped(&self) -> bool {
        interrupted()
    }
}
