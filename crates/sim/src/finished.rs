//! The results of an experiment that has run: the summary, and the measurements behind it.

use crate::timeline::Covered;
use crate::{Experiment, MODEL_VERSION, MissedRate, Plan, Preconditioned, RunResult, SchemeSpec, summarise};
use std::ops::Range;
use tailcut_config::Resolved;
use tailcut_core::device::Counters;
use tailcut_report::doubts::doubts;
use tailcut_report::endurance::Endurance;
use tailcut_report::explain::{ExplainOptions, explain_run};
use tailcut_report::slowest::{self, SlowLine};
use tailcut_report::summary::{ConfigValue, SCHEMA, Scheme, Workload};
use tailcut_report::tables::overloads;
use tailcut_report::targets::Target;
use tailcut_report::text::rate;
use tailcut_report::{Ordered, ReportError, Summary};
use tailcut_stats::Measured;
use tailcut_units::quantity::{human_bytes, human_time};
use tailcut_units::{HostOp, Span};
use tailcut_workload::trace::TraceCounts;

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum Unfinished {
    /// It was stopped too early.
    #[error("interrupted before the first request")]
    Interrupted,
    /// A value of the configuration has no form in JSON.
    #[error(transparent)]
    Value(#[from] serde_json::Error),
}

/// All results of an experiment.
pub struct Finished {
    /// The summary, in its documented form.
    pub summary: Summary,
    /// The measurements of each scheme, by run; at least one run each.
    pub measured: Vec<(String, Vec<Measured>)>,
    /// How the drives were brought to their state, from each scheme's first run.
    pub pasts: Vec<Preconditioned>,
    /// The counters of the drives, from each scheme's first run.
    pub counters: Vec<Counters>,
    /// The host's byte ranges whose data are lost, by scheme, from each scheme's first run.
    pub lost: Vec<(String, Vec<Range<u64>>)>,
    /// The time that the timelines cover, by scheme.
    pub timelines: Vec<(String, Covered)>,
    /// The records of a trace that were read, skipped and changed, from the first run.
    pub trace: Option<TraceCounts>,
    /// Requests that the host split because they exceed the drive's largest command.
    pub split: u64,
    /// Warnings to the user.
    pub warnings: Vec<String>,
}

impl Finished {
    /// Put each scheme's configuration, with layers and sources, into the summary.
    ///
    /// # Errors
    /// A value that JSON does not have.
    pub fn configured(&mut self, resolved: &[(String, Resolved)]) -> Result<(), Unfinished> {
        for scheme in &mut self.summary.schemes {
            let Some((_, resolved)) = resolved.iter().find(|(name, _)| *name == scheme.name) else {
                continue;
            };
            scheme.config = config_values(resolved)?;
        }
        Ok(())
    }

    /// Judge every scheme by the targets.
    pub fn judged(&mut self, targets: &[Target]) {
        for scheme in &mut self.summary.schemes {
            scheme.targets = targets.iter().map(|target| target.judge(scheme)).collect();
        }
    }
}

/// The values of a resolved configuration for JSON.
///
/// # Errors
/// A value that JSON does not have.
pub fn config_values(resolved: &Resolved) -> Result<Ordered<ConfigValue>, Unfinished> {
    let entry = |e: &tailcut_config::Entry| {
        let value = serde_json::to_value(&e.value)?;
        Ok((e.key.clone(), ConfigValue { value, layer: e.layer.clone(), source: e.source.clone() }))
    };
    resolved.entries.iter().map(entry).collect()
}

/// Summarise the runs. Schemes that did not run because of Ctrl-C are left out.
///
/// # Errors
/// None has run.
pub fn finished(
    device: &str,
    experiment: &Experiment,
    plan: &Plan,
    results: Vec<Vec<Option<RunResult>>>,
) -> Result<Finished, Unfinished> {
    let partial = results.iter().flatten().any(|r| r.as_ref().is_none_or(|r| r.outcome.partial));
    let mut all = Finished {
        summary: Summary {
            tailcut: env!("CARGO_PKG_VERSION").to_string(),
            schema: SCHEMA,
            model_version: MODEL_VERSION,
            seed: experiment.seed,
            partial,
            device: device.to_string(),
            host_capacity_bytes: plan.capacity,
            workload: Workload::default(),
            warnings: Vec::new(),
            schemes: Vec::new(),
        },
        measured: Vec::new(),
        pasts: Vec::new(),
        counters: Vec::new(),
        lost: Vec::new(),
        timelines: Vec::new(),
        trace: None,
        split: 0,
        warnings: Vec::new(),
    };
    for ((spec, capacity), runs) in experiment.schemes.iter().zip(&plan.capacities).zip(results) {
        let runs: Vec<RunResult> = runs.into_iter().flatten().collect();
        let Some(first) = runs.first() else { continue };
        if all.measured.is_empty() {
            all.summary.workload = workload(experiment, plan, first);
            all.trace = first.trace.clone();
            all.warnings.extend(said_of_trace(experiment, plan, first));
            let ramps = experiment.workload.log().is_none() && first.outcome.measured_from.0 > 0;
            if ramps && first.outcome.measured.runtime.0 == 0 {
                all.warnings.push("the run ended before its warm-up: nothing was measured".to_string());
            }
            all.split = first.outcome.split;
        }
        all.pasts.push(first.past.clone());
        all.counters.push(first.outcome.counters.clone());
        let lost = first.outcome.faults.as_ref().map_or(Vec::new(), |faults| faults.lost.clone());
        all.lost.push((spec.name.clone(), lost));
        all.timelines.extend(first.timeline.map(|t| (spec.name.clone(), t)));
        all.warnings.extend(said_of_runs(spec, &runs));
        let each: Vec<Scheme> = runs.iter().map(|r| summarise(&spec.name, r)).collect();
        let measured: Vec<Measured> = runs.into_iter().map(|r| r.outcome.measured).collect();
        let mut scheme = Scheme::over_runs(&each, &measured.iter().collect::<Vec<_>>());
        let written = measured[0].side(HostOp::Write).population.bytes();
        let bytes = (capacity.raw - capacity.bad - capacity.slc, plan.capacity);
        let worn = spec.config.erase.as_ref().map(|erase| erase.worn_cycles);
        let rated = worn.or(spec.config.ftl.rated_cycles);
        scheme.endurance = rated.and_then(|rated| Endurance::new(written, rated, &scheme, bytes));
        all.summary.schemes.push(scheme);
        all.measured.push((spec.name.clone(), measured));
    }
    if all.measured.is_empty() {
        return Err(Unfinished::Interrupted);
    }
    all.warnings.extend(doubts(&all.summary.schemes).into_iter().map(|doubt| doubt.text));
    // The tables show a drive that does not keep up.
    let behind = overloads(&all.summary.schemes);
    all.summary.warnings = plan.warnings.iter().chain(&all.warnings).cloned().chain(behind).collect();
    Ok(all)
}

/// The warnings about a trace: those of one that was not measured before the run, which would have given them, and that
/// the drive is too small for it.
pub(crate) fn said_of_trace(experiment: &Experiment, plan: &Plan, first: &RunResult) -> Vec<String> {
    let info = experiment.workload.trace().and_then(|t| t.info.as_ref());
    let Some(counts) = &first.trace else { return Vec::new() };
    let mut all = if info.is_none() { counts.warnings.clone() } else { Vec::new() };
    if let (Some(info), Some(here)) = (info, plan.drive_footprint)
        && (here as f64) < SHRUNK * info.footprint_bytes as f64
        && counts.folded > 0
    {
        all.push(format!(
            "the trace touches {} and the drive gives it {}: requests beyond that are folded onto the addresses of \
             others, so that less data is hit more often; take a larger drive",
            human_bytes(info.footprint_bytes),
            human_bytes(here)
        ));
    }
    all
}

/// The warnings about the runs of a scheme, with its name.
pub(crate) fn said_of_runs(spec: &SchemeSpec, runs: &[RunResult]) -> Vec<String> {
    let scheme = &spec.name;
    let mut all: Vec<String> = Vec::new();
    if let Some(first) = runs.first() {
        let end = first.outcome.measured_from + first.outcome.measured.runtime;
        let late = spec.config.fault.iter().filter(|fault| fault.at.is_some_and(|at| at.0 > end.0));
        all.extend(late.map(|fault| {
            format!("{scheme}: fault {fault} did not happen: the run ended at {}", human_time(Span(end.0)))
        }));
    }
    for warning in runs.iter().flat_map(|r| &r.past.warnings) {
        let text = format!("{scheme}: {warning}");
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all.extend(starvation(scheme, runs));
    all.extend(runs.first().iter().flat_map(|first| missed_rates(scheme, &first.outcome.missed_rates)));
    all
}

/// The share of a trace's footprint below which the drive is too small for it. Rounding to mapping units alone changes it
/// by less.
const SHRUNK: f64 = 0.95;

/// The length of a stall from which writes count as starving: hosts give up after
/// seconds.
const STARVING: Span = Span(1_000_000_000);

/// The warning about a scheme whose writes starved, if they did.
fn starvation(scheme: &str, runs: &[RunResult]) -> Option<String> {
    let worst = runs.iter().filter_map(|r| r.outcome.write_stall).max_by_key(|s| s.length)?;
    (worst.length >= STARVING).then(|| {
        format!(
            "{scheme}: writes starved: from {} none was completed for {}{}; the oldest waited {}",
            human_time(Span(worst.since.0)),
            human_time(worst.length),
            if worst.lasts { ", up to the end of the run" } else { "" },
            human_time(worst.oldest),
        )
    })
}

/// The most jobs with a warning each.
const MOST_WARNED: usize = 3;

/// The warnings about jobs that missed the rates they asked for.
fn missed_rates(scheme: &str, missed: &[MissedRate]) -> Vec<String> {
    let side = |of: Option<(f64, f64)>, what: &str| {
        of.map(|(asked, issued)| format!("{} {what} a second asked, {} issued", rate(asked), rate(issued)))
    };
    let line = |m: &MissedRate| {
        let sides: Vec<String> =
            [side(m.reads, "reads"), side(m.writes, "writes")].into_iter().flatten().collect();
        format!(
            "{scheme}: job `{}` missed its rate: {}; latencies count from the issue, so the wait before it is not in \
             them (rate_process=poisson or io_submit_mode=offload counts it)",
            m.job,
            sides.join(", ")
        )
    };
    let more = (missed.len() > MOST_WARNED)
        .then(|| format!("{scheme}: {} more jobs missed their rates", missed.len() - MOST_WARNED));
    missed.iter().take(MOST_WARNED).map(line).chain(more).collect()
}

/// How the records of a trace were handled; counts of 0 are left out.
fn records(c: &TraceCounts) -> Ordered<u64> {
    let all = [
        ("lines", c.lines),
        ("blank", c.blank),
        ("comments", c.comments),
        ("other_events", c.other_events),
        ("other_devices", c.other_devices),
        ("before_window", c.before_window),
        ("reordered", c.reordered),
        ("backward_max_ns", c.backward_max_ns),
        ("gaps_cut", c.gaps_cut),
        ("gaps_cut_ns", c.gaps_cut_ns),
        ("jumps_back_cut", c.jumps_back_cut),
        ("clamped", c.clamped),
        ("folded", c.folded),
        ("moved", c.moved),
        ("cut", c.split),
        ("cut_pieces", c.pieces),
        ("late_devices", c.late_devices),
        ("untouched_trims", c.untouched_trims),
    ];
    all.into_iter().filter(|(_, n)| *n > 0).map(|(name, n)| (name.to_string(), n)).collect()
}

/// The requests of the host, as seen by the first run.
fn workload(experiment: &Experiment, plan: &Plan, first: &RunResult) -> Workload {
    let measured = &first.outcome.measured;
    let (reads, writes) = (&measured.side(HostOp::Read).population, &measured.side(HostOp::Write).population);
    let (count, bytes) = (reads.count() + writes.count(), reads.bytes() + writes.bytes());
    let share = |part: f64| if count > 0 { part / count as f64 } else { 0.0 };
    let mut workload = Workload {
        source: experiment.workload.name(),
        requests: first.trace.as_ref().map_or(first.outcome.issued, |t| t.requests),
        read_fraction: share(reads.count() as f64),
        mean_bytes: (count > 0).then(|| share(bytes as f64)),
        footprint_bytes: None,
        drive_footprint_bytes: plan.drive_footprint,
        warm_up_ns: first.outcome.measured_from.0,
        span_ns: None,
        parted_requests: first.outcome.split,
        records: first.trace.as_ref().map_or_else(Ordered::default, records),
    };
    // A whole trace has its own measures, which do not depend on how its requests are
    // split.
    if let Some(info) = experiment.workload.trace().and_then(|t| t.info.as_ref())
        && !first.outcome.partial
    {
        workload.read_fraction = info.read_fraction;
        workload.mean_bytes = Some(info.mean_bytes);
        workload.footprint_bytes = Some(info.footprint_bytes);
        workload.span_ns = Some(info.span_ns);
    }
    workload
}

/// Explain the slowest requests of every scheme in words.
///
/// # Errors
/// A scheme that did not run.
pub fn explain_slowest(finished: &Finished, top: usize, scheme: Option<&str>) -> Result<String, ReportError> {
    let of = |(name, measured): &(String, Vec<Measured>)| -> Vec<SlowLine> {
        slowest::lines(name, &measured[0], usize::MAX).collect()
    };
    let lines: Vec<SlowLine> = finished.measured.iter().flat_map(of).collect();
    let options = ExplainOptions { top, scheme: scheme.map(String::from), ..ExplainOptions::default() };
    explain_run(&finished.summary, &lines, &options)
}
