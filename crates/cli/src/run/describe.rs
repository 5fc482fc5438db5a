//! Describes a run in a few lines above the tables.

use std::fmt::Write;
use tailcut_core::config::{DeviceConfig, Overwrites};
use tailcut_core::device::Capacity;
use tailcut_core::ftl::config::FtlKind;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_core::policy::buffer::lru::PowerLoss;
use tailcut_report::text::{grouped, percent, wrapped};
use tailcut_sim::Finished;
use tailcut_sim::{Experiment, PastKind, Plan, SchemeSpec, is_uniform};
use tailcut_units::quantity::{human_bytes, human_time};
use tailcut_units::{SimTime, Span};
use tailcut_workload::trace::{DeviceRule, Remap, TraceCounts, TraceInfo};
use tailcut_workload::{TraceSpec, WorkloadSpec};

/// The width of the label that begins a line.
const LABEL: usize = 14;

/// The drive and the workload, before anything runs.
pub fn plan_text(device: &str, experiment: &Experiment, plan: &Plan) -> String {
    let mut out = String::new();
    // Most schemes do not change the capacity. One line then describes it for all.
    let same = plan.capacities.iter().all(|c| c == &plan.capacities[0]);
    for (scheme, capacity) in experiment.schemes.iter().zip(&plan.capacities) {
        let name = if same { device.to_string() } else { format!("{device}, {}", scheme.name) };
        let _ = writeln!(out, "drive         {name}: {}", capacity_text(capacity));
        if same {
            break;
        }
    }
    let on_each = if same { "" } else { " on each, the smallest of all" };
    let _ = writeln!(out, "              the host addresses {}{on_each}", exact_bytes(plan.capacity));
    match experiment.workload {
        WorkloadSpec::Jobs { text, .. } => {
            let requests = match (plan.expected, plan.runtime) {
                (Some(n), _) => format!("{} requests", grouped(n)),
                (None, Some(end)) => format!("{} of requests", human_time(end)),
                (None, None) => "requests until the jobs end".to_string(),
            };
            let jobs = match plan.jobs.len() {
                1 => String::new(),
                n => format!(" by {n} jobs"),
            };
            let _ = writeln!(
                out,
                "workload      {text}: {requests}{jobs}, in the first {}",
                exact_bytes(plan.filled)
            );
        }
        WorkloadSpec::Trace(trace) => trace_text(&mut out, trace, plan),
        WorkloadSpec::Log(log) => {
            let _ = writeln!(
                out,
                "workload      {}: the log of {}, scheme {}: {} commands at their times",
                log.name(),
                log.header.device,
                log.header.scheme,
                grouped(log.commands)
            );
            for (at, text) in &log.interventions {
                let _ = writeln!(out, "              {text} at {}", human_time(*at - SimTime::ZERO));
            }
        }
    }
    let reads_only =
        experiment.workload.trace().and_then(|t| t.info.as_ref()).is_some_and(|i| i.writes + i.trims == 0);
    let why = match (plan.past_by_default, plan.past) {
        (false, _) if experiment.workload.log().is_some() => "of the log",
        (false, _) => "as asked",
        (true, PastKind::Steady | PastKind::Scattered) if reads_only => {
            "by default for a trace, although this one only reads"
        }
        (true, PastKind::Steady) => "by default, since the workload may write",
        (true, PastKind::Scattered) => "by default, since the workload may write and age.free is set",
        (true, _) => "by default, since the workload does not write",
    };
    let filled = human_bytes(plan.filled);
    let what = match plan.past {
        PastKind::None => "none: the drive is empty".to_string(),
        PastKind::Sequential => format!("sequential: {filled} filled once, in order"),
        PastKind::Steady => {
            format!("steady: {filled} filled, then overwritten {}", overwritten(experiment, plan))
        }
        PastKind::Scattered => {
            let level = |s: &SchemeSpec| s.config.age.free.map_or(String::new(), |level| level.to_string());
            let free = alike_or_each(experiment, level);
            format!(
                "scattered: {filled} filled, {free} of the blocks of every plane free, stale pages at random in the others"
            )
        }
        PastKind::Served => "served: the drive as it was when the log began".to_string(),
    };
    let _ = writeln!(out, "precondition  {what} ({why})");
    wrapped(&out, LABEL)
}

/// Describe how a filled drive is overwritten to its steady state.
fn overwritten(experiment: &Experiment, plan: &Plan) -> String {
    let info = experiment.workload.trace().and_then(|t| t.info.as_ref());
    let why = |config: &DeviceConfig| match info {
        Some(info) if config.age.overwrites == Overwrites::WorkloadOrUniform => format!(
            "since the trace writes {}, {} of what is filled",
            human_bytes(info.write_bytes),
            percent(info.write_bytes as f64, plan.filled as f64),
        ),
        _ => "age.overwrites".to_string(),
    };
    let own = match info {
        Some(info) if info.writes == 0 => {
            "at random, 4 KiB at a time, since the trace writes nothing".to_string()
        }
        Some(info) if info.write_bytes < plan.filled => format!(
            "as the workload writes, lap after lap ({} a lap, {} of what is filled; age.overwrites = \"uniform\" overwrites \
             all of it)",
            human_bytes(info.write_bytes),
            percent(info.write_bytes as f64, plan.filled as f64),
        ),
        _ => "as the workload writes".to_string(),
    };
    alike_or_each(experiment, |s| match is_uniform(experiment.workload, plan.filled, &s.config) {
        true => format!("at random, a mapping unit at a time ({})", why(&s.config)),
        false => own.clone(),
    })
}

/// A property of the schemes: once if all schemes share it, else for each scheme.
fn alike_or_each(experiment: &Experiment, of: impl Fn(&SchemeSpec) -> String) -> String {
    let all: Vec<String> = experiment.schemes.iter().map(&of).collect();
    if all.iter().all(|one| *one == all[0]) {
        return all[0].clone();
    }
    let named = experiment.schemes.iter().zip(&all).map(|(s, one)| format!("{}: {one}", s.name));
    named.collect::<Vec<String>>().join("; ")
}

fn capacity_text(c: &Capacity) -> String {
    let Capacity { raw, bad, slc, user, parity, reserved, spare } = *c;
    let (mut with, less) = match parity {
        0 => (String::new(), ""),
        n => (format!(" + {} parity", human_bytes(n)), " - parity"),
    };
    if slc > 0 {
        with = format!(" + {} SLC region{with}", human_bytes(slc));
    }
    let over = (raw - user - parity) as f64;
    format!(
        "{} raw = {} bad{with} + {} spare + {} user, {} of the spare reserved for writing on\n\
         {:14}over-provisioning is {} of raw, (raw - user{less}) / raw, or {} of user, (raw - user{less}) / user",
        human_bytes(raw),
        human_bytes(bad),
        human_bytes(spare),
        human_bytes(user),
        human_bytes(reserved),
        "",
        percent(over, raw as f64),
        percent(over, user as f64),
    )
}

fn exact_bytes(n: u64) -> String {
    format!("{} ({} bytes)", human_bytes(n), grouped(n))
}

fn trace_text(out: &mut String, trace: &TraceSpec, plan: &Plan) {
    let _ = write!(out, "workload      {}: ", trace.file.name());
    match &trace.info {
        Some(info) => {
            let _ = writeln!(out, "{}", info_text(info));
            if !info.note.is_empty() {
                let _ = writeln!(out, "              {}", info.note);
            }
        }
        None => {
            let _ = writeln!(out, "too large to read twice; its counts follow the run");
        }
    }
    let o = &trace.options;
    let mut how = vec![format!("laid on the first {}", human_bytes(plan.filled))];
    let rule = match o.remap {
        Remap::Modulo => "modulo its size",
        Remap::Dense => "densely",
    };
    how.push(match plan.drive_footprint {
        Some(bytes) => format!("{rule}: footprint {} there", human_bytes(bytes)),
        None => rule.to_string(),
    });
    let devices = trace.info.as_ref().map_or(1, |i| i.devices);
    if devices > 1 && o.device.is_none() {
        how.push(match o.device_rule {
            DeviceRule::Slices => format!("{devices} volumes one after another in equal parts"),
            DeviceRule::Overlay => format!("{devices} volumes on the same addresses"),
        });
    }
    how.push(match trace.depth {
        Some(depth) => format!("closed loop, {depth} outstanding"),
        None => "open loop by its timestamps".to_string(),
    });
    for (scale, what) in [(o.rate_scale, "rate"), (o.size_scale, "sizes")] {
        if scale != 1.0 {
            how.push(format!("{what} × {scale}"));
        }
    }
    if trace.warm_up > Span::ZERO {
        how.push(format!("measured from {} on", human_time(trace.warm_up)));
    }
    if o.loop_count > 1 {
        how.push(format!("{} laps", o.loop_count));
    }
    let _ = writeln!(out, "              {}", how.join(", "));
}

fn info_text(info: &TraceInfo) -> String {
    format!(
        "{} ({}, time in {} {}), {} requests, {} reads, mean {}, footprint {}, {} long{}",
        info.format,
        info.compression.unwrap_or("not compressed"),
        info.time_unit.name(),
        info.time_unit_from,
        grouped(info.requests),
        percent(info.read_fraction, 1.0),
        human_bytes(info.mean_bytes as u64),
        human_bytes(info.footprint_bytes),
        human_time(Span(info.span_ns)),
        info.clock_step_ns.map_or(String::new(), |step| format!(", clock step {}", human_time(Span(step)))),
    )
}

/// How the drives were aged and how the requests were handled, after the run.
pub fn past_text(experiment: &Experiment, plan: &Plan, finished: &Finished) -> String {
    let mut out = String::new();
    if plan.past == PastKind::Steady {
        for ((name, _), past) in finished.measured.iter().zip(&finished.pasts) {
            let waf = past.report.as_ref().map_or(0.0, |r| r.waf);
            let from = if past.cached { "from a snapshot" } else { "made" };
            let seconds = past.cpu_seconds;
            let analytic = past.report.as_ref().is_some_and(|r| r.analytic);
            let start = if analytic { ", from an analytic start" } else { "" };
            let _ = writeln!(
                out,
                "aged          {name}: write amplification {waf:.2}{start}, {from} in {seconds:.2} s"
            );
        }
    }
    if let Some(counts) = &finished.trace {
        let _ = writeln!(out, "requests      {}", counts_text(counts));
    }
    for ((name, _), c) in finished.measured.iter().zip(&finished.counters) {
        let parts = [
            (c.unmapped_reads, "units read that were never written (answered without flash)"),
            (c.buffer_hits, "units read from the write buffer"),
            (c.rmw_reads, "read-modify-writes"),
            (c.trimmed, "units trimmed"),
        ];
        let said: Vec<String> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", grouped(*n))).collect();
        if !said.is_empty() {
            let _ = writeln!(out, "counts        {name}: {}", said.join(", "));
        }
    }
    for (scheme, spec) in finished.summary.schemes.iter().zip(&experiment.schemes) {
        // Under pblk the host handles the FLUSH, and pads the last write unit.
        if scheme.flushes > 0 && spec.config.ftl.kind == FtlKind::Page {
            let cost = flush_text(&spec.config.policy.buffer);
            let _ = writeln!(out, "flushes       {}: {}: {cost}", scheme.name, grouped(scheme.flushes));
        }
    }
    if finished.split > 0 {
        let most = experiment.schemes[0].config.host.max_transfer;
        let _ = writeln!(
            out,
            "              {} were larger than {} and sent in parts",
            grouped(finished.split),
            human_bytes(most)
        );
    }
    wrapped(&out, LABEL)
}

/// The effect of a FLUSH on a drive with this write buffer.
fn flush_text(buffer: &BufferConfig) -> &'static str {
    match buffer {
        BufferConfig::Lru(lru) if lru.power_loss == PowerLoss::Volatile => {
            "each waits until what the buffer holds is on flash (policy.buffer.lru.power_loss is volatile)"
        }
        BufferConfig::Lru(_) => {
            "each is answered at once, since a capacitor saves what the buffer holds (policy.buffer.lru.power_loss)"
        }
        BufferConfig::None(_) => {
            "each is answered at once, since the drive has no write buffer (policy.buffer)"
        }
    }
}

/// How the requests of a trace were handled. Counts of 0 are left out.
pub fn counts_text(c: &TraceCounts) -> String {
    let mut parts =
        vec![format!("{} issued from {} lines or records", grouped(c.requests), grouped(c.lines))];
    let happened = [
        (c.reordered, "were out of time order and were sorted"),
        (c.folded, "lay beyond their part of the drive and were folded into it"),
        (c.moved, "were moved down to end inside their part"),
        (c.split, "were larger than their part and cut in pieces"),
        (c.late_devices, "were of volumes first seen too late to get their own part"),
        (c.clamped, "were limited to the bound of a scale"),
        (c.blank + c.comments, "lines are blank, comments or headers"),
        (c.other_events, "events of other kinds were skipped"),
        (c.other_devices, "of other volumes were skipped"),
        (c.before_window, "before the time window were skipped"),
        (c.gaps_cut, "long gaps were cut"),
        (c.jumps_back_cut, "jumps back of the clock were cut"),
        (c.untouched_trims, "trims of pages that are never read or written were left out"),
    ];
    if c.pieces > 0 {
        parts.push(format!("{} pieces of cut requests count as requests in the tables", grouped(c.pieces)));
    }
    parts.extend(happened.iter().filter(|h| h.0 > 0).map(|(n, what)| format!("{} {what}", grouped(*n))));
    if c.gaps_cut > 0 {
        parts.push(format!("gaps are shorter by {} in all", human_time(Span(c.gaps_cut_ns))));
    }
    parts.join("; ")
}
