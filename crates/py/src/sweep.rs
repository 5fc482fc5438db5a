//! Sweeps: all points here, or single points for others.

use crate::error::failed;
use crate::follow::follow;
use crate::run::threads as processors;
use crate::spec::Aged;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tailcut_sim::sweep::{Design, Job, Options, Remote, Swept, alone, sweep as run};
use tailcut_workload::Interrupt;

/// The table of a sweep as Parquet, the points that were read back, and whether it was stopped.
type Table<'py> = (Bound<'py, PyBytes>, usize, bool);

fn read(text: &str) -> PyResult<Design> {
    let design: Design = serde_json::from_str(text).map_err(failed)?;
    design.checked().map_err(failed)
}

fn aged(cache: &str) -> PyResult<Aged> {
    serde_json::from_str(cache).map_err(failed)
}

fn table<'py>(py: Python<'py>, swept: &Swept) -> PyResult<Table<'py>> {
    let bytes = swept.rows.parquet(Vec::new()).map_err(failed)?;
    Ok((PyBytes::new(py, &bytes), swept.read_back, swept.stopped))
}

/// Run the points of a design on this machine, with the folder `out`. `cache` says where aged drives are kept.
#[pyfunction]
#[pyo3(signature = (design, out, cache, threads=None, progress=None))]
pub fn sweep<'py>(
    py: Python<'py>,
    design: &str,
    out: PathBuf,
    cache: &str,
    threads: Option<usize>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Table<'py>> {
    let design = read(design)?;
    let cache = aged(cache)?.cache();
    let threads = threads.unwrap_or_else(processors).max(1);
    let swept = follow(py, progress, |follower| {
        let options = Options { out, threads, cache, interrupt: follower.interrupt.clone() };
        run(&design, &options, follower).map_err(|e| e.to_string())
    })?;
    table(py, &swept)
}

/// Run a point that a [`RemoteSweep`] has given out; the result is for its `take`.
#[pyfunction]
#[pyo3(signature = (job, cache, progress=None))]
pub fn run_point(
    py: Python<'_>,
    job: &str,
    cache: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let job: Job = serde_json::from_str(job).map_err(failed)?;
    let cache = aged(cache)?.cache();
    follow(py, progress, |follower| {
        let done = alone(&job, cache, follower, follower.interrupt.clone())?;
        done.ok_or_else(|| "the point was stopped".to_string())
    })
}

/// A sweep whose points are run elsewhere. While it is not finished, no other sweep writes to its folder.
#[pyclass(frozen, module = "tailcut._tailcut")]
pub struct RemoteSweep {
    remote: Mutex<Option<Remote>>,
}

impl RemoteSweep {
    fn remote(&self) -> MutexGuard<'_, Option<Remote>> {
        self.remote.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl RemoteSweep {
    /// Open the folder of a design.
    #[new]
    fn new(py: Python<'_>, design: &str, out: PathBuf) -> PyResult<RemoteSweep> {
        let design = read(design)?;
        let open = py.detach(|| Remote::open(&design, &out, processors(), Interrupt::default()));
        Ok(RemoteSweep { remote: Mutex::new(Some(open.map_err(failed)?)) })
    }

    /// The points to run: their numbers and the jobs, the largest first.
    fn jobs(&self) -> PyResult<Vec<(usize, String)>> {
        let remote = self.remote();
        let jobs = remote.as_ref().map_or(Vec::new(), Remote::jobs);
        let text = |job: Job| Ok((job.point, serde_json::to_string(&job).map_err(failed)?));
        jobs.into_iter().map(text).collect()
    }

    /// Take the result of a point.
    fn take(&self, point: usize, result: &str) -> PyResult<()> {
        match self.remote().as_mut() {
            Some(remote) => remote.take(point, result).map_err(failed),
            None => Err(failed("the sweep is finished")),
        }
    }

    /// A point has failed.
    fn fail(&self, point: usize, why: &str) {
        if let Some(remote) = self.remote().as_mut() {
            remote.fail(point, why);
        }
    }

    /// Write the results.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Table<'py>> {
        let remote = self.remote().take().ok_or_else(|| failed("the sweep is finished"))?;
        table(py, &remote.finish().map_err(failed)?)
    }
}
