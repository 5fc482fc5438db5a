//! The results of a run.

use crate::error::failed;
use crate::policies::calls::Cost;
use crate::sink::Collected;
use crate::tables;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use tailcut_page::{output, page};
use tailcut_report::{difference, jobs, tables as texts, targets};
use tailcut_sim::Finished;
use tailcut_sim::finished::explain_slowest;
use tailcut_stats::Measured;
use tailcut_units::HostOp;

/// The results of a run.
#[pyclass(frozen, module = "tailcut._tailcut")]
pub struct Run {
    /// The summary and the measurements.
    pub finished: Finished,
    /// What was collected of each scheme.
    pub collected: Vec<Collected>,
    /// The configuration of each scheme.
    pub toml: Vec<String>,
    /// What policies in Python have cost.
    pub costs: Vec<Cost>,
}

/// The kind of request of this name.
pub fn op(name: &str) -> PyResult<HostOp> {
    HostOp::ALL.into_iter().find(|op| op.name() == name).ok_or_else(|| {
        let known = HostOp::ALL.map(|op| op.name()).join(", ");
        failed(format!("`{name}` is no kind of request: {known}"))
    })
}

impl Run {
    fn scheme(&self, scheme: usize) -> PyResult<&(String, Vec<Measured>)> {
        self.finished.measured.get(scheme).ok_or_else(|| failed(format!("there is no scheme {scheme}")))
    }
}

#[pymethods]
impl Run {
    /// The summary, as `summary.json` has it.
    fn summary(&self) -> String {
        self.finished.summary.to_json()
    }

    /// The tables that the command line prints.
    fn text(&self) -> String {
        let schemes = &self.finished.summary.schemes;
        [
            texts::comparison(schemes),
            difference::intervals(schemes),
            targets::targets(schemes),
            jobs::jobs(schemes),
            texts::utilisation(schemes),
            texts::blame(schemes),
            self.costs.iter().map(Cost::to_string).collect(),
        ]
        .concat()
    }

    /// What policies in Python have cost, as JSON.
    fn policies(&self) -> PyResult<String> {
        serde_json::to_string(&self.costs).map_err(failed)
    }

    /// What the slowest requests waited for, in words.
    fn explain(&self, top: usize, scheme: Option<&str>) -> PyResult<String> {
        explain_slowest(&self.finished, top, scheme).map_err(failed)
    }

    /// The latency in ns at a percentile; with several runs the mean over them.
    fn percentile(&self, scheme: usize, kind: &str, percent: f64) -> PyResult<u64> {
        let (name, runs) = self.scheme(scheme)?;
        let kind = op(kind)?;
        if !(0.0..=100.0).contains(&percent) {
            return Err(failed(format!("percentile {percent}: it must be 0 to 100")));
        }
        if runs.iter().all(|run| run.side(kind).population.count() == 0) {
            return Err(failed(format!("{name}: no {} was measured", kind.name())));
        }
        let sum: f64 = runs.iter().map(|run| run.side(kind).population.percentile(percent) as f64).sum();
        Ok((sum / runs.len() as f64).round() as u64)
    }

    /// The configuration of a scheme, as a device file.
    fn toml(&self, scheme: usize) -> PyResult<&str> {
        self.toml.get(scheme).map(String::as_str).ok_or_else(|| failed("there is no such scheme"))
    }

    /// The shares of requests that took at least so long, of all schemes, as Parquet.
    fn ccdf<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        table(py, || tables::ccdf(&self.finished.measured))
    }

    /// The mean time by cause above a percentile, of all schemes, as Parquet.
    fn blame<'py>(&self, py: Python<'py>, above: f64) -> PyResult<Bound<'py, PyBytes>> {
        if !(0.0..100.0).contains(&above) {
            return Err(failed(format!("above {above}: it must be 0 to 100, without 100")));
        }
        table(py, || tables::blame(&self.finished.measured, above))
    }

    /// The slowest requests of all schemes, as Parquet.
    fn slowest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        table(py, || tables::slowest(&self.finished.measured))
    }

    /// Figures over time of a scheme, as Parquet.
    fn series<'py>(&self, py: Python<'py>, scheme: usize) -> PyResult<Bound<'py, PyBytes>> {
        let (name, runs) = self.scheme(scheme)?;
        match self.collected.get(scheme).and_then(|of| of.series.as_ref()) {
            Some(fine) => Ok(PyBytes::new(py, fine)),
            None => table(py, || tables::series(name, &runs[0])),
        }
    }

    /// All requests of a scheme's first run, as Parquet.
    fn requests<'py>(&self, py: Python<'py>, scheme: usize) -> PyResult<Bound<'py, PyBytes>> {
        let (name, _) = self.scheme(scheme)?;
        match self.collected.get(scheme).and_then(|of| of.requests.as_ref()) {
            Some(bytes) => Ok(PyBytes::new(py, bytes)),
            None => Err(failed(format!("{name}: the requests were not kept: run with requests=True"))),
        }
    }

    /// Write the page of the run.
    fn page(&self, py: Python<'_>, path: PathBuf, label: &str) -> PyResult<()> {
        py.detach(|| {
            let run = tailcut_page::Run::new(label, &self.finished.summary, &self.finished.measured);
            let text = page::page(&[run])?;
            output::write(&path, text.as_bytes())
        })
        .map_err(failed)
    }
}

/// A table as bytes.
fn table<'py>(
    py: Python<'py>,
    make: impl FnOnce() -> Result<Vec<u8>, tailcut_report::ReportError> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &py.detach(make).map_err(failed)?))
}
