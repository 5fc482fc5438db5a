//! The page.

use crate::data::{Data, Detail, script};
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
/// There are too many schemes: the page would be too large even at the lowest detail.
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
pub(crate) fn plotly_script() -> String {
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
            script: concat!(include_str!("../templates/common.js"), include_str!("../templates/page.js")),
            plotly,
            data: script(&Data::new(runs, detail)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;
    use tailcut_report::Summary;
    use tailcut_report::summary::{LatencyCounts, Scheme, SeriesPoint, Workload};

    /// A run of `schemes` schemes, each with a full series.
    fn run(schemes: usize, name: &str) -> Run {
        let point = |i: u64| SeriesPoint {
            at_ns: i * 1_000_000,
            length_ns: 1_000_000,
            read_p50_ns: 10_000 + i,
            read_p999_ns: 100_000 + i,
            read_max_ns: 1_000_000 + i * 977,
            collections: Some(i / 3),
            free_blocks: Some(1_000 - i),
            buffer_fill: Some(0.5),
            latencies: [("read".to_string(), LatencyCounts { from: 50, counts: vec![9_999; 30] })]
                .into_iter()
                .collect(),
            ..SeriesPoint::default()
        };
        let mut scheme = Scheme { series: (0..200).map(point).collect(), ..Scheme::default() };
        scheme.read.total_ios = 1_000_000;
        let names = (0..schemes).map(|i| format!("{name}{i}"));
        let summary = Summary {
            tailcut: "0.1.0".to_string(),
            schema: 1,
            model_version: 1,
            seed: 1,
            partial: true,
            device: name.to_string(),
            host_capacity_bytes: 1 << 30,
            workload: Workload { source: name.to_string(), ..Workload::default() },
            warnings: vec![name.to_string()],
            schemes: names.map(|name| Scheme { name, ..scheme.clone() }).collect(),
        };
        let points = (0..600).map(|i| (10_000 + i * 1_000, 0.97f64.powi(i as i32))).collect();
        let curves = [Curve { points }, Curve::default(), Curve::default(), Curve::default()];
        Run {
            label: name.to_string(),
            curves: vec![curves; schemes],
            slowest: vec![Default::default(); schemes],
            notes: Vec::new(),
            summary,
        }
    }

    #[test]
    fn many_schemes_give_less_detail_and_too_many_no_page() {
        let joined = |schemes: usize| {
            let page = page(&[run(schemes, "s")]).unwrap();
            assert!(page.len() <= MOST);
            page.split_once("joins ").map(|(_, rest)| rest.split(' ').next().unwrap().to_string())
        };
        assert_eq!(joined(2), None);
        let some: Vec<Option<String>> = [30, 40, 70].map(joined).into();
        assert!(some.iter().all(Option::is_some), "{some:?}");
        let error = page(&[run(2_000, "s")]).unwrap_err();
        assert!(error.to_string().contains("2000 schemes") && error.is_input(), "{error}");
    }

    #[test]
    fn no_name_becomes_a_part_of_the_page() {
        let name = "</script><script>alert('x')</script><b onclick=\"y\">&lt;\u{2028}";
        let page = page(&[run(2, name)]).unwrap();
        let (head, rest) = page.split_once("<script type=\"application/json\"").unwrap();
        assert!(!head.contains("<script") && !head.contains("<b ") && head.contains("alert("));
        let data = rest.split_once('>').unwrap().1.split_once("</script>").unwrap().0;
        assert!(!data.contains('<') && !data.contains('>') && !data.contains('&'));
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["schemes"][1]["name"], format!("{name}1"));
    }

    #[test]
    fn the_script_of_the_charts_is_alone() {
        let script = plotly_script();
        assert!(script.contains("plotly.js v") && !script.contains("</script"));
        assert!((3_000_000..5_000_000).contains(&script.len()), "{} bytes", script.len());
    }
}
