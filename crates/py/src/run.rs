//! Runs schemes.

use crate::error::failed;
use crate::follow::{Follower, follow_and_stop};
use crate::policies::given::{Given, Policy};
use crate::results::Run;
use crate::sink::{Collected, Sinks};
use crate::spec::{Columns, Spec, layers, records};
use pyo3::prelude::*;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;
use tailcut_config::Resolved;
use tailcut_report::OutputFolder;
use tailcut_report::targets::Target;
use tailcut_sim::files::{self, file_name};
use tailcut_sim::points::Follow;
use tailcut_sim::{Experiment, Finished, PastKind, SchemeSpec, finished, settings};
use tailcut_units::Span;
use tailcut_units::quantity::parse_time;
use tailcut_workload::trace::write_compact;

/// Run what `spec` says. `columns` are the requests, if they are no file and no job. `progress` is called with the share
/// that is done and a text. `policies` are functions that the drives ask.
#[pyfunction]
#[pyo3(signature = (spec, columns=None, progress=None, policies=None))]
pub fn run(
    py: Python<'_>,
    spec: &str,
    columns: Option<Columns>,
    progress: Option<&Bound<'_, PyAny>>,
    policies: Option<Vec<Policy>>,
) -> PyResult<Run> {
    let spec = Spec::read(spec).map_err(failed)?;
    let given = Given::new(policies.unwrap_or_default())?;
    let stop = |py: Python<'_>| given.calls().interrupt_inside(py);
    let ended =
        follow_and_stop(py, progress, &stop, |follower| execute(&spec, columns.as_ref(), &given, follower));
    // What a policy has raised is why the run has stopped.
    given.calls().error().map_or(ended, Err)
}

/// Write requests to a file in the compact form.
#[pyfunction]
pub fn write_trace(path: PathBuf, columns: Columns) -> PyResult<()> {
    let records = records(&columns).map_err(failed)?;
    let written = File::create(&path).and_then(|file| write_compact(&records, file));
    written.map_err(|e| failed(format!("{}: {e}", path.display())))
}

fn said(e: impl std::fmt::Display) -> String {
    e.to_string()
}

fn execute(
    spec: &Spec,
    columns: Option<&Columns>,
    given: &Given,
    follower: &Follower,
) -> Result<Run, String> {
    let begun = Instant::now();
    let device = layers(&spec.device, &spec.config, &spec.set, &spec.fault)?;
    let mut resolved = device.layers.resolve(&spec.schemes).map_err(said)?;
    resolved.iter_mut().for_each(|(_, one)| given.install(&mut one.config, &follower.interrupt));
    let mut lines = settings::of_schemes(&device.layers, &resolved).map_err(said)?;
    let targets = spec.target.iter().map(|text| text.parse().map_err(said));
    let targets = targets.collect::<Result<Vec<Target>, String>>()?;
    let workload = spec.workload(columns, &follower.interrupt)?;
    let past = spec.precondition.as_ref().map(|past| past.parse::<PastKind>()).transpose();
    let series = spec.series.as_ref().map(|text| length(text)).transpose()?;
    let experiment = Experiment {
        schemes: resolved
            .iter()
            .map(|(name, r)| SchemeSpec { name: name.clone(), config: r.config.clone() })
            .collect(),
        workload: &workload,
        seed: spec.seed,
        runs: spec.runs,
        one_past: spec.one_drive,
        past: past.map_err(|e| format!("precondition: {e}"))?,
        snapshots: spec.snapshots(given.age())?,
        threads: spec.threads.unwrap_or_else(threads),
        fine: series,
        timeline: None,
    };
    let placed = |e| settings::placed(&e, &resolved).unwrap_or_else(|| e.to_string());
    let mut plan = experiment.plan().map_err(placed)?;
    lines.extend(settings::of_plan(&device.layers, &resolved, &experiment, &plan));
    plan.warnings.splice(0..0, lines);
    let folder = spec.out.as_ref().map(|path| OutputFolder::prepare(path, spec.force)).transpose();
    let folder = folder.map_err(said)?;
    let tasks = resolved.len() * spec.runs as usize;
    follower.begins("run", tasks);
    follower.planned(0, tasks, &plan);
    let sinks = Sinks::new(resolved.iter().map(|(name, _)| name.clone()), spec.requests, series.is_some());
    let results = experiment.run(&plan, follower, &|scheme, jobs| sinks.open(scheme, jobs)).map_err(said)?;
    let mut finished = finished(&device.name, &experiment, &plan, results).map_err(said)?;
    finished.configured(&resolved).map_err(said)?;
    finished.judged(&targets);
    let collected = sinks.collected();
    if let Some(folder) = folder {
        write(folder, &resolved, &finished, &collected)?;
    }
    let toml = resolved.into_iter().map(|(_, one)| one.toml).collect();
    Ok(Run { finished, collected, toml, costs: given.costs(begun.elapsed()) })
}

/// Write all files of a run.
fn write(
    mut folder: OutputFolder,
    resolved: &[(String, Resolved)],
    finished: &Finished,
    collected: &[Collected],
) -> Result<(), String> {
    let names: Vec<String> = resolved.iter().map(|(name, _)| name.clone()).collect();
    for (i, of) in collected.iter().enumerate() {
        for (kind, bytes) in [("requests", &of.requests), ("series", &of.series)] {
            if let Some(bytes) = bytes {
                let name = file_name(kind, &names, i, "parquet");
                let mut file = folder.create(&name).map_err(said)?;
                file.write_all(bytes).map_err(|e| format!("cannot write {name}: {e}"))?;
            }
        }
    }
    files::write(folder, resolved, finished).map_err(said)
}

/// A length of time above 0.
fn length(text: &str) -> Result<Span, String> {
    match parse_time(text) {
        Ok(Span(0)) => Err("series: the time must be longer than 0ns".into()),
        Ok(span) => Ok(span),
        Err(e) => Err(format!("series: {e}")),
    }
}

/// The default number of runs at the same time.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
