//! Runs an experiment: its runs in parallel, from cached aged drives.

use crate::alone::of_blocks;
use crate::check::judge;
use crate::error::ReproduceError;
use crate::file::{CapacityOf, Experiment, Replay, Run};
use crate::find::found;
use crate::options::Options;
use crate::results::{Results, RunOutput};
use crate::scale::Scale;
use crate::search;
use crate::specs::{faults, named, scheme_specs};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;
use tailcut_config::workload_preset;
use tailcut_sim::points::{Follow, each, point};
use tailcut_sim::settings::{self, Layers};
use tailcut_sim::{ExperimentError, PastKind, SchemeSpec};
use tailcut_workload::trace::{DeviceRule, TraceOptions};
use tailcut_workload::{TraceReplay, WorkloadSpec};

/// Runs an experiment and judges its checks.
///
/// # Errors
/// A run that cannot be set up or that fails. A missing trace and a drive that makes no
/// progress are not errors: the checks of their runs are not comparable.
pub fn reproduce(e: &Experiment, options: &Options, follow: &dyn Follow) -> Result<Results, ReproduceError> {
    let clock = Instant::now();
    follow.begins(&e.id, e.tasks());
    let mut first = 0;
    let mut jobs = Vec::new();
    for run in e.run.iter().filter(|run| run.search.is_none()) {
        let all = run.names().count();
        // At its own capacity each scheme runs as if it were alone.
        let step = if run.capacity == CapacityOf::Own { 1 } else { all };
        for from in (0..all).step_by(step.max(1)) {
            jobs.push(Job { e, run, of: from..from + step, first: first + from, options, follow });
        }
        first += all;
    }
    let runs = together(run_all(&jobs, options.threads)?);
    let mut searches = Vec::new();
    for (run, search) in e.run.iter().filter_map(|run| Some((run, run.search.as_ref()?))) {
        searches.push((run.name.clone(), search::run(e, (run, search), options, first, follow)?));
        first += run.names().count();
    }
    let (id, quick) = (e.id.clone(), options.quick);
    let seconds = clock.elapsed().as_secs_f64();
    let mut results = Results {
        id,
        quick,
        seconds,
        runs,
        searches,
        found: Vec::new(),
        outcomes: Vec::new(),
        expected: Vec::new(),
    };
    results.found = found(e, &results);
    results.outcomes = judge(e, &e.check, &results);
    results.expected = judge(e, &e.expect, &results);
    Ok(results)
}

/// One output for each run: a run at own capacities has one job for each scheme.
fn together(outputs: Vec<RunOutput>) -> Vec<RunOutput> {
    let mut runs: Vec<RunOutput> = Vec::new();
    for part in outputs {
        match runs.last_mut() {
            Some(run) if run.name == part.name => {
                run.schemes.extend(part.schemes);
                run.alone.extend(part.alone);
                run.capacities.extend(part.capacities);
                run.missing = run.missing.take().or(part.missing);
                run.warnings.extend(part.warnings);
            }
            _ => runs.push(part),
        }
    }
    runs
}

/// Jobs with one scheme, and those of blocks alone, execute in parallel, each on one thread. Jobs with
/// several schemes execute one after another, with their schemes in parallel.
fn run_all(jobs: &[Job<'_>], threads: usize) -> Result<Vec<RunOutput>, ReproduceError> {
    let (single, several): (Vec<usize>, Vec<usize>) =
        (0..jobs.len()).partition(|&i| jobs[i].run.alone.is_some() || jobs[i].of.len() == 1);
    let mut slots: Vec<Option<Result<RunOutput, ReproduceError>>> = jobs.iter().map(|_| None).collect();
    for (i, result) in single.iter().zip(each(&single, threads, &|i| jobs[i].go(1))) {
        slots[*i] = Some(result);
    }
    for i in several {
        slots[i] = Some(jobs[i].go(threads));
    }
    slots.into_iter().map(|slot| slot.expect("every job was done")).collect()
}

/// Schemes of a run that are executed together.
struct Job<'a> {
    e: &'a Experiment,
    run: &'a Run,
    /// Which of the run's schemes.
    of: Range<usize>,
    /// The number of the first task.
    first: usize,
    options: &'a Options,
    follow: &'a dyn Follow,
}

impl Job<'_> {
    fn go(&self, threads: usize) -> Result<RunOutput, ReproduceError> {
        let Job { run, options, .. } = self;
        let none = |why: String| RunOutput {
            name: run.name.clone(),
            schemes: Vec::new(),
            alone: Vec::new(),
            capacities: Vec::new(),
            missing: Some(why),
            warnings: Vec::new(),
        };
        let skip = |why: String| {
            (0..self.of.len()).for_each(|task| self.follow.done(self.first + task));
            Ok(none(why))
        };
        if options.quick && !run.has_quick() {
            return skip("this run has no quick size".to_string());
        }
        if let Some(what) = run.alone {
            let mut output = none(String::new());
            output.missing = None;
            for (task, spec) in self.schemes()?.iter().enumerate() {
                let blocks = of_blocks(what, spec, run.seed).map_err(|problem| ReproduceError::Alone {
                    file: self.e.id.clone(),
                    run: run.name.clone(),
                    problem,
                })?;
                output.alone.push(blocks);
                self.follow.done(self.first + task);
            }
            return Ok(output);
        }
        let workload = match self.workload()? {
            Ok(workload) => workload,
            Err(why) => return skip(why),
        };
        let experiment = tailcut_sim::Experiment {
            schemes: self.schemes()?,
            workload: &workload,
            seed: run.seed,
            runs: 1,
            past: run.precondition.as_ref().and_then(|p| p.parse::<PastKind>().ok()),
            snapshots: options.snapshots.clone(),
            threads,
            fine: None,
            one_past: false,
            timeline: None,
        };
        let failed = |source| ReproduceError::Run {
            file: self.e.id.clone(),
            run: run.name.clone(),
            source: Box::new(source),
        };
        let plan = match experiment.plan() {
            Err(ExperimentError::Workload(e)) if e.is_interrupt() => return Err(ReproduceError::Interrupted),
            plan => plan.map_err(failed)?,
        };
        let done = match point(&experiment, &plan, (self.first, self.follow), None) {
            Ok(Some(done)) => done,
            Ok(None) => return Err(ReproduceError::Interrupted),
            Err(e @ ExperimentError::Stuck { .. }) => return skip(e.to_string()),
            Err(e) => return Err(failed(e)),
        };
        let mut output = none(String::new());
        output.missing = None;
        output.capacities = plan.capacities.iter().map(|c| c.user as f64 / c.raw as f64).collect();
        let warnings = self.said_of_settings().into_iter().chain(plan.warnings).chain(done.warnings);
        output.warnings = warnings.map(|w| format!("{}: {w}", run.name)).collect();
        output.schemes = done.schemes;
        Ok(output)
    }

    /// The workload, or the reason why it is not available.
    fn workload(&self) -> Result<Result<WorkloadSpec, String>, ReproduceError> {
        let Job { run, options, .. } = self;
        let parse = |text: &str, replay: &TraceReplay| {
            let preset = |name: &str| workload_preset(name).ok().map(|p| p.job);
            WorkloadSpec::parse(text, preset, replay).map_err(|source| match source.is_interrupt() {
                true => ReproduceError::Interrupted,
                false => ReproduceError::Workload {
                    file: self.e.id.clone(),
                    run: run.name.clone(),
                    source: Box::new(source),
                },
            })
        };
        if let Some(text) = run.load(options.quick) {
            return parse(&text, &TraceReplay::default()).map(Ok);
        }
        let name = run.trace.as_deref().unwrap_or_default();
        let path = options.traces.as_deref().map(|folder| folder.join(name));
        match path.filter(|p| p.is_file()) {
            Some(path) => parse(&path.to_string_lossy(), &replay(run, options)).map(Ok),
            None => Ok(Err(missing_trace(name, options.traces.as_deref()))),
        }
    }

    fn schemes(&self) -> Result<Vec<SchemeSpec>, ReproduceError> {
        let all = scheme_specs(self.e, self.run, self.options.quick)?;
        Ok(all.into_iter().skip(self.of.start).take(self.of.len()).collect())
    }

    /// The lines about settings that are not what they seem, each once.
    fn said_of_settings(&self) -> Vec<String> {
        let (run, quick) = (self.run, self.options.quick);
        let mut lines: Vec<String> = Vec::new();
        let named = named(run, quick).skip(self.of.start).take(self.of.len());
        for (_, scheme, set) in named {
            let layers = Layers {
                device: run.device.clone(),
                config: Vec::new(),
                set: set.into_iter().cloned().collect(),
                fault: faults(run, quick),
            };
            let resolved = layers.resolve(std::slice::from_ref(scheme)).unwrap_or_default();
            let said = settings::of_schemes(&layers, &resolved).unwrap_or_default();
            lines.extend(said.into_iter().filter(|line| !lines.contains(line)).collect::<Vec<_>>());
        }
        lines
    }
}

fn missing_trace(name: &str, folder: Option<&Path>) -> String {
    match folder {
        Some(_) => format!("trace {name} is not in the folder of traces"),
        None => format!("trace {name} is missing: give a folder of traces (--traces DIR or TAILCUT_TRACES)"),
    }
}

fn replay(run: &Run, how: &Options) -> TraceReplay {
    let default = Replay::default();
    let r = run.replay.as_ref().unwrap_or(&default);
    let laps = if how.quick { r.quick_loop } else { r.laps };
    let options = TraceOptions {
        loop_count: laps.unwrap_or(1),
        rate_scale: factor(&r.rate_scale),
        size_scale: factor(&r.size_scale),
        device_rule: if r.overlay { DeviceRule::Overlay } else { DeviceRule::Slices },
        interrupt: how.interrupt.clone(),
        ..TraceOptions::default()
    };
    TraceReplay { options, depth: r.closed_loop, ..TraceReplay::default() }
}

/// The value of a scale, which was checked when the file was read; 1 if there is no scale.
fn factor(scale: &Option<Scale>) -> f64 {
    scale.as_ref().and_then(|s| s.value().ok()).unwrap_or(1.0)
}
