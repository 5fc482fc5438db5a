//! The page.

use crate::data::{Data, Detail};
use crate::error::PageError;
use crate::output::MARK;
use crate::rows::{self, ConfigRow, Results, Slowest};
use crate::run::Run;
use askama::Template;
use plotly::Plot;
use tailcut_report::text::grouped;
use tailcut_units::quantity::human_bytes;

/// The most bytes of a page.
pub const MOST: usize = 6_000_000;

/// The page of these runs.
///
/// # Errors
/// There are so many schemes that the page would be too large at the least detail.
pub fn page(runs: &[Run]) -> Result<String, PageError> {
    let script = plotly_script();
    let mut bytes = 0;
    for detail in Detail::ALL {
        let page = Page::new(runs, detail, &script).render().map_err(|e| PageError::Draw(e.to_string()))?;
        bytes = page.len();
        if bytes <= MOST {
            return Ok(page);
        }
    }
    let schemes = runs.iter().map(|run| run.summary.schemes.len()).sum();
    Err(PageError::TooLarge { schemes, bytes, most: MOST })
}

/// The script of the charts. The crate gives it with another one, which sets formulas and is not needed.
fn plotly_script() -> String {
    let both = Plot::offline_js_sources();
    let end = both.find("</script>").unwrap_or(both.len());
    let begin = both[..end].find('>').map_or(0, |at| at + 1);
    both[begin..end].to_string()
}

/// What a run is, in a few lines.
struct Head {
    label: String,
    facts: Vec<(&'static str, String)>,
    warnings: Vec<String>,
    partial: bool,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: String,
    mark: &'static str,
    version: &'static str,
    style: &'static str,
    script: &'static str,
    plotly: &'a str,
    data: String,
    heads: Vec<Head>,
    results: Vec<Results>,
    percentiles: Vec<String>,
    usage: Vec<(String, [String; 4])>,
    slowest: Vec<Slowest>,
    most_slow: usize,
    config: Vec<ConfigRow>,
    /// What the page leaves out to stay small.
    less: String,
}

impl Page<'_> {
    fn new<'a>(runs: &[Run], detail: Detail, plotly: &'a str) -> Page<'a> {
        let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
        Page {
            title: labels.join(", "),
            mark: MARK,
            version: env!("CARGO_PKG_VERSION"),
            style: include_str!("../templates/page.css"),
            script: include_str!("../templates/page.js"),
            plotly,
            data: Data::new(runs, detail).script(),
            heads: runs.iter().map(head).collect(),
            results: rows::results(runs),
            percentiles: rows::PERCENTILES.iter().map(|p| format!("p{p}")).collect(),
            usage: rows::usage(runs),
            slowest: rows::slowest(runs, detail),
            most_slow: detail.slowest,
            config: rows::config(runs),
            less: less(detail),
        }
    }
}

/// What a detail leaves out, in words.
fn less(detail: Detail) -> String {
    if detail == Detail::ALL[0] {
        return String::new();
    }
    let heat = if detail.heat { "" } else { ", and latencies over time are shown by percentiles" };
    format!(
        "To stay below 6 MB the page joins {} intervals into one{heat}. Fewer folders give a page with all of them.",
        detail.join
    )
}

fn head(run: &Run) -> Head {
    let summary = &run.summary;
    let work = &summary.workload;
    let mut facts = vec![
        ("Device", format!("{}, {} for the host", summary.device, human_bytes(summary.host_capacity_bytes))),
        (
            "Workload",
            format!(
                "{}: {} requests, {:.0} % reads",
                work.source,
                grouped(work.requests),
                100.0 * work.read_fraction
            ),
        ),
        ("Seed", format!("{}; model version {}", summary.seed, summary.model_version)),
    ];
    let measured: Vec<String> = summary
        .schemes
        .iter()
        .map(|s| {
            let runs = s.runs.map_or(String::new(), |n| format!(", {n} runs"));
            format!("{} {:.3} s{runs} (digest {})", s.name, s.runtime_ns as f64 / 1e9, s.digest)
        })
        .collect();
    facts.push(("Measured", measured.join("; ")));
    let warnings = summary.warnings.iter().chain(&run.notes).cloned().collect();
    Head { label: run.label.clone(), facts, warnings, partial: summary.partial }
}
