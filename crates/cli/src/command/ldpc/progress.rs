//! Shows the number of decoded codewords, and stops the measurement on Ctrl-C.

use crate::terminal::{Terminal, interrupted};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::sync::Mutex;
use std::time::Instant;
use tailcut_report::text::grouped;
use tailcut_sim::progress::{EVERY, seconds};

/// The progress of a measurement.
pub struct Progress {
    bar: Option<ProgressBar>,
    all: u64,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    done: u64,
    told: Instant,
}

impl Progress {
    /// Start the progress of `all` codewords.
    pub fn new(all: u64) -> Progress {
        let bar = Terminal::is_watched().then(|| {
            let bar = ProgressBar::new(all);
            let style = ProgressStyle::with_template("{bar:32} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let started = Instant::now();
        Progress { bar, all, started, state: Mutex::new(State { done: 0, told: started }) }
    }

    /// Count codewords. Returns false if the measurement must stop.
    pub fn count(&self, more: u64) -> bool {
        if let Ok(mut state) = self.state.lock() {
            state.done += more;
            let now = Instant::now();
            if let Some(bar) = &self.bar {
                bar.set_position(state.done);
                bar.set_message(self.text(state.done, now));
            } else if now.duration_since(state.told) >= EVERY {
                state.told = now;
                // Errors are ignored, so that the measurement continues if standard error is closed.
                let _ = writeln!(std::io::stderr(), "progress: {}", self.text(state.done, now));
            }
        }
        !interrupted()
    }

    /// Remove the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn text(&self, done: u64, now: Instant) -> String {
        let passed = now.duration_since(self.started).as_secs_f64();
        format!("{} % of {} codewords, {}", done * 100 / self.all.max(1), grouped(self.all), seconds(passed))
    }
}
