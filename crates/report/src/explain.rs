//! The text of `tailcut explain DIR`: what the slowest requests waited for, in words.

use crate::compare::side::split;
use crate::error::ReportError;
use crate::faults::{failed, read_only};
use crate::slowest::{self, SlowLine};
use crate::summary::{BlameSummary, JobSummary, Scheme, Summary};
use crate::tables::{above, plural};
use crate::text::{Grid, cut, grouped, page, percent, round_parts, wrapped, wrapped_to};
use std::path::Path;
use tailcut_stats::{Blame, percentile};
use tailcut_units::quantity::human_bytes;
use tailcut_units::{Cause, HostOp};

/// What to explain, and how much.
#[derive(Clone, Debug)]
pub struct ExplainOptions {
    /// Requests above this percentile.
    pub above: f64,
    /// The number of slowest requests to show one by one, for each scheme and kind.
    pub top: usize,
    /// Explain only this scheme.
    pub scheme: Option<String>,
    /// Explain only this job, by its name or by its number from 1 on.
    pub job: Option<String>,
}

impl Default for ExplainOptions {
    fn default() -> ExplainOptions {
        ExplainOptions { above: 99.99, top: 5, scheme: None, job: None }
    }
}

/// The width of the widest bar, which stands for 100 %.
const BAR: usize = 20;

/// The columns of an account without its meanings and times: the indent, the blanks between columns and the share.
const FIGURES: usize = 2 + 2 * 2 + 7;

/// Explains the run in folder `dir` from its `summary.json` and `slowest.jsonl`.
///
/// # Errors
/// Files that cannot be read; [`ReportError::Interrupted`] once `stopped` returns true.
pub fn explain(
    dir: &Path,
    options: &ExplainOptions,
    stopped: &dyn Fn() -> bool,
) -> Result<String, ReportError> {
    // As in a comparison: a summary stands for its folder, and a scheme may follow a colon.
    let text = dir.to_string_lossy();
    let (path, named) = if dir.exists() { (dir.to_path_buf(), None) } else { split(&text) };
    let folder = if path.is_file() { path.parent().unwrap_or(&path) } else { &path };
    let summary = Summary::read(&folder.join("summary.json"))?;
    let slow = slowest::read(&folder.join(slowest::FILE), stopped)?;
    let scheme = named.map(String::from).or_else(|| options.scheme.clone());
    explain_run(&summary, &slow, &ExplainOptions { scheme, ..options.clone() })
}

/// Explains a run given its summary and its slowest requests (the slowest first).
pub fn explain_run(
    summary: &Summary,
    slow: &[SlowLine],
    options: &ExplainOptions,
) -> Result<String, ReportError> {
    let wanted = |s: &&Scheme| options.scheme.as_ref().is_none_or(|name| *name == s.name);
    let schemes: Vec<&Scheme> = summary.schemes.iter().filter(wanted).collect();
    if schemes.is_empty() {
        let known = summary.schemes.iter().map(|s| s.name.clone()).collect();
        return Err(ReportError::NoScheme { name: options.scheme.clone().unwrap_or_default(), known });
    }
    let mut out = String::new();
    for scheme in schemes {
        out.push_str(&read_only(std::slice::from_ref(scheme)));
        let job = options.job.as_ref().map(|wanted| job_of(scheme, wanted)).transpose()?;
        let failed = failed(&scheme.failed);
        if !failed.is_empty() {
            let name = &scheme.name;
            let text = format!("{name}: requests without success, not in the averages below: {failed}\n\n");
            out.push_str(&wrapped(&text, 6));
        }
        for op in HostOp::ALL {
            let of = |r: &&SlowLine| {
                let of_job = job.is_none_or(|job| job.name == r.job);
                r.scheme == scheme.name && r.op == op && of_job
            };
            let (failed, slow): (Vec<&SlowLine>, _) =
                slow.iter().filter(of).partition(|r| r.status.is_some());
            out.push_str(&explain_side(scheme, job, op, &slow, options)?);
            if !failed.is_empty() && options.top > 0 {
                let of_first = if scheme.runs.is_some() { " of the first run" } else { "" };
                let name = &scheme.name;
                out.push_str(&format!("{name}, {} without success{of_first}:\n", plural(op)));
                out.push_str(&one_by_one(&failed, options.top));
            }
        }
    }
    if out.is_empty() {
        out.push_str("no request completed\n");
    }
    Ok(out)
}

/// The job of a scheme by its name, or by its number from 1 on.
fn job_of<'a>(scheme: &'a Scheme, wanted: &str) -> Result<&'a JobSummary, ReportError> {
    let of_number = || wanted.parse::<usize>().ok()?.checked_sub(1).and_then(|n| scheme.jobs.get(n));
    scheme.jobs.iter().find(|job| job.name == wanted).or_else(of_number).ok_or_else(|| ReportError::NoJob {
        name: wanted.to_string(),
        known: scheme.jobs.iter().map(|job| job.name.clone()).collect(),
    })
}

/// Explains the reads or writes of a scheme, or of one of its jobs.
fn explain_side(
    scheme: &Scheme,
    job: Option<&JobSummary>,
    op: HostOp,
    slow: &[&SlowLine],
    options: &ExplainOptions,
) -> Result<String, ReportError> {
    let side = job.map_or(scheme.side(op), |job| job.side(op));
    if side.total_ios == 0 {
        return Ok(String::new());
    }
    let of_job = job.map_or(String::new(), |job| format!(", job {}", cut(&job.name, 24)));
    if job.is_some() && slow.is_empty() {
        let (name, what, all) = (&scheme.name, plural(op), grouped(side.total_ios));
        let text = format!(
            "{name}{of_job}, {what}: none of the {all} is among the slowest of all jobs, which were kept\n\n"
        );
        return Ok(wrapped(&text, 2));
    }
    let blame = blame_above(&side.blame, side.total_ios, slow, options.above)?;
    // The levels in the summary cover all runs; the requests kept one by one are of the first
    // run.
    let level = |above: f64| side.blame.iter().find(|b| b.above == above);
    let (total, runs) = match (scheme.runs, level(0.0), level(options.above)) {
        (Some(n), Some(all), Some(_)) => (all.requests, format!(" of {n} runs")),
        (Some(_), ..) => (side.total_ios, " of the first run".to_string()),
        (None, ..) => (side.total_ios, String::new()),
    };
    let thin = if percentile::is_thin(options.above, total) {
        " (fewer than 10 beyond the percentile: uncertain)"
    } else {
        ""
    };
    let head = format!(
        "{}{of_job}, {} {}{runs}: {} of {} took {} ns or longer{thin}\n",
        scheme.name,
        plural(op),
        above(options.above),
        grouped(blame.requests),
        grouped(total),
        grouped(blame.threshold_ns),
    );
    let mut out = wrapped(&head, 2);
    out.push_str("On average their time went to:\n");
    let causes: Vec<(&str, f64)> = blame.causes.iter().map(|(c, ns)| (c.as_str(), *ns)).collect();
    out.push_str(&account(&causes, "sum = mean"));
    out.push('\n');
    if scheme.runs.is_some() && !slow.is_empty() && options.top > 0 {
        out.push_str("Of the first run the slowest:\n");
    }
    out.push_str(&one_by_one(slow, options.top));
    Ok(out)
}

/// The first requests, each with its account.
fn one_by_one(requests: &[&SlowLine], top: usize) -> String {
    (1..).zip(requests.iter().take(top)).map(|(rank, request)| one(rank, request) + "\n").collect()
}

/// Returns the blame in the summary for this level. If the summary does not have the level,
/// computes it from the slowest requests, provided that every request above the level is among
/// them.
fn blame_above(
    kept: &[BlameSummary],
    total: u64,
    slow: &[&SlowLine],
    above: f64,
) -> Result<BlameSummary, ReportError> {
    if let Some(blame) = kept.iter().find(|b| b.above == above) {
        return Ok(blame.clone());
    }
    let needed = percentile::beyond(above, total) as usize + 1;
    if needed > slow.len() {
        return Err(ReportError::NoLevel {
            above,
            levels: kept.iter().map(|b| b.above.to_string()).collect(),
            least: 100.0 * (1.0 - slow.len() as f64 / total as f64),
        });
    }
    let threshold = slow[needed - 1].latency_ns;
    let ledgers: Vec<_> = slow.iter().map(|r| (r.latency_ns, r.ledger())).collect();
    let set = ledgers.iter().filter(|r| r.0 >= threshold).map(|(ns, ledger)| (*ns, ledger));
    Ok(Blame::of(above, threshold, set).expect("at least one request is kept").into())
}

fn one(rank: usize, r: &SlowLine) -> String {
    let of = match r.op {
        HostOp::Flush => String::new(),
        _ => format!("{} at offset {}, ", human_bytes(u64::from(r.bytes)), r.offset),
    };
    let head = format!(
        "#{rank}  {} {} of job {}: {of}arrived at {} ns, took {} ns\n",
        r.op.name(),
        r.index,
        cut(&r.job, 24),
        grouped(r.arrived_ns),
        grouped(r.latency_ns),
    );
    let causes: Vec<(&str, f64)> = r.causes.iter().map(|(c, ns)| (c.as_str(), *ns as f64)).collect();
    let ended = r.status.map_or(String::new(), |status| format!("  ended with {}\n", status.name()));
    wrapped(&head, 4) + &ended + &account(&causes, "sum = latency")
}

/// Formats an account in lines, the largest cause first. Each line has the cause's meaning, its
/// time and its share as a bar; the last line is the sum of the lines.
fn account(causes: &[(&str, f64)], sum_name: &str) -> String {
    let rounded = round_parts(&causes.iter().map(|c| c.1).collect::<Vec<f64>>());
    let sum = rounded.iter().fold(0, |sum: u64, ns| sum.saturating_add(*ns));
    let mut lines: Vec<(&str, u64)> = causes.iter().map(|c| c.0).zip(rounded).collect();
    lines.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    let table = |bars: bool| {
        let mut grid = Grid::default();
        for &(cause, ns) in &lines {
            let bar = (BAR as f64 * ns as f64 / sum.max(1) as f64).round() as usize;
            let bar = bar.min(BAR);
            let bar = bars.then(|| format!("{:<BAR$}", "#".repeat(bar)));
            let mut meaning = describe(cause);
            // Without bars the figures stand behind the last line of a long meaning.
            if !bars {
                let room = page().saturating_sub(grouped(sum).len() + FIGURES);
                let broken = wrapped_to(&meaning, 2, room);
                let mut parts: Vec<String> = broken.split('\n').map(String::from).collect();
                meaning = parts.pop().unwrap_or_default();
                parts.into_iter().for_each(|part| grid.row([part]));
            }
            let figures = [meaning, grouped(ns), percent(ns as f64, sum as f64)];
            grid.row(figures.into_iter().chain(bar));
        }
        grid.rule();
        grid.row([sum_name.to_string(), grouped(sum)]);
        grid
    };
    // A narrow page has no place for bars.
    let with_bars = table(true);
    if with_bars.fits() { with_bars.render() } else { table(false).render() }
}

/// The meaning of a cause, or its name if this version does not know the cause.
fn describe(name: &str) -> String {
    Cause::all().find(|c| c.name() == name).map_or_else(|| name.to_string(), Cause::describe)
}
