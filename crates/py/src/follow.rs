//! Work beside Python: it runs on a thread of its own, while the calling thread shows its progress and waits for Ctrl-C.

use crate::error::failed;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tailcut_sim::progress::{Show, State};
use tailcut_workload::Interrupt;

/// How long Ctrl-C waits at most until Python sees it, and the time between two reports of progress.
const EVERY: Duration = Duration::from_millis(50);

/// Follows the work, and stops it.
pub struct Follower {
    /// Raised to stop it.
    pub interrupt: Interrupt,
    seen: Mutex<Seen>,
}

struct Seen {
    state: State,
    /// The run that has reported last.
    last: Option<usize>,
}

impl Follower {
    fn new() -> Follower {
        let seen = Seen { state: State::new(0, Instant::now()), last: None };
        Follower { interrupt: Interrupt::default(), seen: Mutex::new(seen) }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The share of the work that is done, and the progress in words; `None` before it begins.
    fn progress(&self) -> Option<(f64, String)> {
        let mut seen = self.seen();
        let task = seen.last?;
        let now = Instant::now();
        let share = seen.state.position(now) as f64 / seen.state.length().max(1) as f64;
        Some((share, seen.state.text(task, now)))
    }
}

impl Show for Follower {
    fn change(&self, seen_by: Option<usize>, change: &dyn Fn(&mut State)) {
        let mut seen = self.seen();
        change(&mut seen.state);
        seen.last = seen_by.or(seen.last);
    }

    fn interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }
}

/// Does `work` without Python's lock. `progress` is called with the share that is done and a text. A signal or an
/// exception of `progress` stops the work, and is the error.
pub fn follow<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Follower) -> Result<T, String> + Send,
) -> PyResult<T> {
    follow_and_stop(py, progress, &|_| (), work)
}

/// As [`follow`]; `stop` is called again and again while the work has not ended although it is to be stopped.
pub fn follow_and_stop<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    stop: &dyn Fn(Python<'_>),
    work: impl FnOnce(&Follower) -> Result<T, String> + Send,
) -> PyResult<T> {
    let follower = Follower::new();
    let (send, mut done) = channel();
    std::thread::scope(|scope| {
        let follower = &follower;
        scope.spawn(move || {
            // The receiver waits until this thread ends.
            let _ = send.send(work(follower));
        });
        let mut stopped = None;
        let ended = loop {
            let of = &mut done;
            match py.detach(move || of.recv_timeout(EVERY)) {
                Err(RecvTimeoutError::Timeout) if stopped.is_none() => {
                    if let Err(e) = py.check_signals().and_then(|()| report(follower, progress)) {
                        follower.interrupt.raise();
                        stopped = Some(e);
                        stop(py);
                    }
                }
                Err(RecvTimeoutError::Timeout) => stop(py),
                Err(RecvTimeoutError::Disconnected) => break Err("the run has panicked".to_string()),
                Ok(result) => break result,
            }
        };
        match stopped {
            Some(e) => Err(e),
            None => {
                report(follower, progress)?;
                ended.map_err(failed)
            }
        }
    })
}

fn report(follower: &Follower, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    if let Some(progress) = progress
        && let Some(seen) = follower.progress()
    {
        progress.call1(seen)?;
    }
    Ok(())
}
