//! The calls of policies: how many, for how long, and the first that has failed.

use pyo3::prelude::*;
use serde::Serialize;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tailcut_report::text::{grouped, percent};
use tailcut_workload::Interrupt;

/// The calls of one policy by all drives of a run.
#[derive(Debug, Default)]
pub struct Count {
    calls: AtomicU64,
    ns: AtomicU64,
}

/// What a policy has cost.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    /// The family, as Python names it.
    pub family: &'static str,
    /// The function.
    pub name: String,
    /// How often it was called.
    pub calls: u64,
    /// The time in it, and in making its views, in s.
    pub seconds: f64,
    /// This time as a share of the run's.
    pub share: f64,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Cost { family, name, calls, seconds, share } = self;
        let calls = grouped(*calls);
        writeln!(
            f,
            "policy {family} in Python ({name}): {calls} calls, {seconds:.3} s, {} of the run",
            percent(*share, 1.0)
        )
    }
}

/// What the calls of a run share.
#[derive(Debug, Default)]
pub struct Calls {
    failed: AtomicBool,
    error: Mutex<Option<PyErr>>,
    interrupt: OnceLock<Interrupt>,
    /// The threads that are in a function.
    inside: Mutex<Vec<u64>>,
}

thread_local! {
    /// What Python calls this thread.
    static THREAD: Cell<Option<u64>> = const { Cell::new(None) };
}

fn held<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Count {
    /// The cost of the policy `name` in a run that has taken this long.
    pub fn cost(&self, family: &'static str, name: &str, run: Duration) -> Cost {
        let seconds = self.ns.load(Ordering::Relaxed) as f64 / 1e9;
        let share = (seconds / run.as_secs_f64().max(1e-9)).min(1.0);
        Cost { family, name: name.to_string(), calls: self.calls.load(Ordering::Relaxed), seconds, share }
    }
}

impl Calls {
    /// What stops the run when a function has failed.
    pub fn stop_by(&self, interrupt: &Interrupt) {
        let _ = self.interrupt.set(interrupt.clone());
    }

    /// A function has failed, or its answer is wrong: the run is stopped, and no function is called any more.
    pub fn fail(&self, e: PyErr) {
        held(&self.error).get_or_insert(e);
        self.failed.store(true, Ordering::Release);
        if let Some(interrupt) = self.interrupt.get() {
            interrupt.raise();
        }
    }

    /// The first error.
    pub fn error(&self) -> Option<PyErr> {
        held(&self.error).take()
    }

    /// Ask a function; `None` if it fails, and ever after.
    pub fn ask<T>(&self, count: &Count, ask: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        if self.failed.load(Ordering::Acquire) {
            return None;
        }
        Python::attach(|py| {
            let begun = Instant::now();
            let answer = thread(py).and_then(|id| {
                held(&self.inside).push(id);
                let answer = ask(py);
                held(&self.inside).retain(|&other| other != id);
                answer
            });
            count.calls.fetch_add(1, Ordering::Relaxed);
            count.ns.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
            answer.map_err(|e| self.fail(e)).ok()
        })
    }

    /// Raise `KeyboardInterrupt` in the functions that are under way, which might never return.
    pub fn interrupt_inside(&self, py: Python<'_>) {
        let inside = held(&self.inside).clone();
        if !inside.is_empty() {
            // Nothing can be done about an error: the functions may return by themselves.
            let _ = py.import("tailcut._policies").and_then(|m| m.call_method1("interrupt", (inside,)));
        }
    }
}

fn thread(py: Python<'_>) -> PyResult<u64> {
    if let Some(id) = THREAD.get() {
        return Ok(id);
    }
    let id: u64 = py.import("threading")?.call_method0("get_ident")?.extract()?;
    THREAD.set(Some(id));
    Ok(id)
}
