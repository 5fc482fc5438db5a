//! The page of a sweep: response curves, Pareto fronts, and the table of its points.
//!
//! It is made from the folder's `sweep.json` and `results.csv`: the columns `axis.KEY` have the values of the axes, and every
//! column of numbers is a figure that can be drawn.

use crate::data::script;
use crate::error::PageError;
use crate::output::MARK;
use crate::page::{MOST, plotly_script};
use askama::Template;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tailcut_report::regular::read;
use tailcut_report::text::grouped;
use tailcut_units::Span;
use tailcut_units::quantity::{human_bytes, human_time, parse_bytes, parse_fraction, parse_time};

/// The file that makes a folder that of a sweep.
const DESIGN: &str = "sweep.json";
const RESULTS: &str = "results.csv";
/// The largest file of a sweep that is read, bytes.
const MOST_BYTES: u64 = 256 << 20;
/// The most points of a page.
const POINTS_MAX: usize = 20_000;
/// The most points in the table; the figures have all.
const ROWS_MAX: usize = 2_000;
/// Columns of numbers that are no results to look at.
const NO_FIGURES: [&str; 4] = ["point", "model_version", "keeps_up", "runs"];
/// The figures in the table.
const IN_TABLE: [&str; 8] = [
    "read_iops",
    "read_p50_ns",
    "read_p99_ns",
    "read_p99.9_ns",
    "read_p99.99_ns",
    "write_p99.9_ns",
    "waf",
    "host_capacity_bytes",
];

/// A sweep.
#[derive(Debug)]
pub struct Sweep {
    title: String,
    facts: Vec<(&'static str, String)>,
    data: Data,
    /// Points without results: their number in the sweep, and why.
    failed: Vec<(String, String)>,
}

/// What the script draws.
#[derive(Debug, Serialize)]
struct Data {
    axes: Vec<Axis>,
    figures: Vec<Figure>,
    points: Vec<Point>,
}

#[derive(Debug, Serialize)]
struct Axis {
    key: String,
    /// The values that occur: those of a number in its order, others in the order of the sweep.
    values: Vec<String>,
    /// The values as numbers, if all are numbers of one kind.
    numbers: Option<Vec<f64>>,
}

#[derive(Debug, Serialize)]
struct Figure {
    /// The column.
    name: String,
    /// The name for people.
    title: String,
    /// `time` (ns), `bytes` or nothing.
    unit: &'static str,
    /// Which is better: `low`, `high`, or nothing.
    better: &'static str,
}

#[derive(Debug, Serialize)]
struct Point {
    /// Its number in the sweep, from 1.
    number: u64,
    /// For each axis the index of its value.
    at: Vec<usize>,
    /// For each figure its value.
    of: Vec<Option<f64>>,
    /// For each figure the ends of its confidence interval.
    interval: BTreeMap<usize, [f64; 2]>,
    /// Whether the drive has kept up with the load.
    keeps_up: bool,
}

#[derive(serde::Deserialize)]
struct Design {
    #[serde(default)]
    device: String,
    #[serde(default)]
    scheme: String,
    #[serde(default)]
    workload: String,
    #[serde(default)]
    seed: u64,
}

impl Sweep {
    /// Whether a folder is that of a sweep.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(DESIGN).is_file()
    }

    /// Read the results of a sweep.
    ///
    /// # Errors
    /// A file cannot be read, or has something else than results.
    pub fn read(dir: &Path) -> Result<Sweep, PageError> {
        let path = dir.join(DESIGN);
        let wrong = |what: String| PageError::Sweep { path: path.clone(), what };
        let text = read(&path, MOST_BYTES).map_err(|e| wrong(e.to_string()))?;
        let design: Design = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        let path = dir.join(RESULTS);
        let wrong = |what: String| PageError::Sweep { path: path.clone(), what };
        let text = match read(&path, MOST_BYTES) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(wrong("is missing: the sweep has not ended".to_string()));
            }
            Err(e) => return Err(wrong(e.to_string())),
        };
        let (data, failed) = parse(&text).map_err(wrong)?;
        let fixed = |key: &str| data.axes.iter().all(|axis| axis.key != key);
        let mut facts = Vec::new();
        for (key, name, value) in [
            ("device", "Device", design.device),
            ("scheme", "Scheme", design.scheme),
            ("workload", "Workload", design.workload),
            ("seed", "Seed", design.seed.to_string()),
        ] {
            if fixed(key) {
                facts.push((name, value));
            }
        }
        facts.push(("Points", grouped(data.points.len() as u64)));
        Ok(Sweep { title: format!("Sweep {}", dir.display()), facts, data, failed })
    }

    /// The page.
    ///
    /// # Errors
    /// It would be larger than a browser opens at once.
    pub fn page(&self) -> Result<String, PageError> {
        let plotly = plotly_script();
        let page = Page {
            title: &self.title,
            mark: MARK,
            version: env!("CARGO_PKG_VERSION"),
            style: include_str!("../templates/page.css"),
            script: concat!(include_str!("../templates/common.js"), include_str!("../templates/sweep.js")),
            plotly: &plotly,
            data: script(&self.data),
            facts: &self.facts,
            failed: &self.failed,
            late: self.data.points.iter().filter(|p| !p.keeps_up).count(),
            heads: self.heads(),
            rows: self.rows(),
            left_out: self.data.points.len().saturating_sub(ROWS_MAX),
        };
        let page = page.render().map_err(|e| PageError::Draw(e.to_string()))?;
        match page.len() {
            bytes if bytes > MOST => {
                Err(PageError::TooLarge { schemes: self.data.points.len(), bytes, most: MOST })
            }
            _ => Ok(page),
        }
    }

    /// The figures of the table that any point has: index and title.
    fn in_table(&self) -> impl Iterator<Item = (usize, &Figure)> {
        let figures = self.data.figures.iter().enumerate();
        figures.filter(|(_, figure)| IN_TABLE.contains(&figure.name.as_str()))
    }

    fn heads(&self) -> Vec<String> {
        let axes = self.data.axes.iter().map(|axis| axis.key.clone());
        axes.chain(self.in_table().map(|(_, figure)| figure.title.clone())).collect()
    }

    fn rows(&self) -> Vec<Row> {
        let row = |point: &Point| {
            let axes = self.data.axes.iter().zip(&point.at).map(|(axis, &at)| axis.values[at].clone());
            let figures =
                self.in_table().map(|(i, figure)| point.of[i].map_or(String::new(), |x| figure.show(x)));
            Row { number: point.number, cells: axes.chain(figures).collect(), late: !point.keeps_up }
        };
        self.data.points.iter().take(ROWS_MAX).map(row).collect()
    }
}

impl Figure {
    /// The figure of a column of numbers; `None` if that is not one to look at.
    fn new(name: &str) -> Option<Figure> {
        let is_end = name.ends_with("_low_ns") || name.ends_with("_high_ns");
        if NO_FIGURES.contains(&name) || is_end {
            return None;
        }
        let op = ["read", "write", "trim", "flush"]
            .into_iter()
            .find_map(|op| name.strip_prefix(op)?.strip_prefix('_').map(|what| (format!("{op}s"), what)));
        let title = match (&op, name) {
            (Some((op, what)), _) => {
                let what = what.strip_suffix("_ns").unwrap_or(what);
                format!("{op}, {}", if what == "bw_bytes" { "bytes/s" } else { what })
            }
            (None, "waf") => "write amplification".to_string(),
            (None, "host_capacity_bytes") => "usable capacity".to_string(),
            (None, other) => other.replace('_', " "),
        };
        let title = title.replace("flushs", "flushes").replace("iops", "IOPS");
        let unit = match name {
            _ if name.ends_with("_ns") => "time",
            "host_capacity_bytes" => "bytes",
            _ => "",
        };
        let better = match name {
            "host_capacity_bytes" => "high",
            _ if name.ends_with("iops") || name.ends_with("bw_bytes") => "high",
            "waf" | "energy_mj" | "erases" | "errors" | "blocked_reads_fraction" => "low",
            _ if name.ends_with("_ns") && op.is_some() => "low",
            _ => "",
        };
        Some(Figure { name: name.to_string(), title, unit, better })
    }

    fn show(&self, value: f64) -> String {
        match self.unit {
            "time" => human_time(Span(value as u64)),
            "bytes" => human_bytes(value as u64),
            _ => format!("{}", (value * 1000.0).round() / 1000.0),
        }
    }
}

/// The data of the results, and the points that have none.
fn parse(text: &str) -> Result<(Data, Vec<(String, String)>), String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> =
        reader.headers().map_err(|e| e.to_string())?.iter().map(str::to_string).collect();
    let column = |name: &str| names.iter().position(|n| n == name).ok_or(format!("no column `{name}`"));
    let (number, status, error) = (column("point")?, column("status")?, column("error")?);
    let keeps_up = column("keeps_up")?;
    let axes: Vec<usize> = (0..names.len()).filter(|&i| names[i].starts_with("axis.")).collect();
    let rows: Vec<csv::StringRecord> =
        reader.records().collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    if rows.len() > POINTS_MAX {
        return Err(format!("{} points; a page has at most {POINTS_MAX}", rows.len()));
    }
    let (rows, without): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| &row[status] == "finished");
    let why = |row: &csv::StringRecord| match &row[error] {
        "" => row[status].to_string(),
        error => error.to_string(),
    };
    let failed = without.iter().map(|row| (row[number].to_string(), why(row))).collect();
    let value = |row: &csv::StringRecord, i: usize| row[i].parse::<f64>().ok().filter(|x| x.is_finite());
    // A column that is empty at every point says nothing.
    let has_any = |i: &usize| rows.iter().any(|row| value(row, *i).is_some());
    let after = column("key")? + 1;
    let figures: Vec<(usize, Figure)> = (after..names.len())
        .filter(|&i| names[i] != "digest")
        .filter(has_any)
        .filter_map(|i| Some((i, Figure::new(&names[i])?)))
        .collect();
    let end = |name: &str, end: &str| {
        let of = name.strip_suffix("_ns")?;
        names.iter().position(|n| *n == format!("{of}_{end}_ns"))
    };
    let ends: Vec<_> =
        figures.iter().map(|(_, f)| Some((end(&f.name, "low")?, end(&f.name, "high")?))).collect();
    let axes: Vec<(usize, Axis)> = axes.into_iter().map(|i| (i, axis(&names[i], &rows, i))).collect();
    let point = |row: &csv::StringRecord| Point {
        number: row[number].parse().unwrap_or(0),
        at: axes
            .iter()
            .map(|(i, axis)| axis.values.iter().position(|v| *v == row[*i]).unwrap_or(0))
            .collect(),
        of: figures.iter().map(|(i, _)| value(row, *i)).collect(),
        interval: (0..)
            .zip(&ends)
            .filter_map(|(i, ends)| {
                let (low, high) = (*ends)?;
                Some((i, [value(row, low)?, value(row, high)?]))
            })
            .collect(),
        keeps_up: &row[keeps_up] != "0",
    };
    let points = rows.iter().map(point).collect();
    let axes = axes.into_iter().map(|(_, axis)| axis).collect();
    Ok((Data { axes, figures: figures.into_iter().map(|(_, f)| f).collect(), points }, failed))
}

/// The axis of a column.
fn axis(name: &str, rows: &[csv::StringRecord], column: usize) -> Axis {
    let mut known = BTreeSet::new();
    let new = rows.iter().map(|row| &row[column]).filter(|value| known.insert(*value));
    let mut values: Vec<String> = new.map(String::from).collect();
    let numbers = numbers(&values);
    if let Some(numbers) = &numbers {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
        values = order.iter().map(|&i| values[i].clone()).collect();
    }
    let numbers = numbers.map(|mut numbers| {
        numbers.sort_by(f64::total_cmp);
        numbers
    });
    Axis { key: name.trim_start_matches("axis.").to_string(), values, numbers }
}

/// The values as numbers, if all are of one kind: plain numbers, shares, bytes or times.
fn numbers(values: &[String]) -> Option<Vec<f64>> {
    let all =
        |of: &dyn Fn(&str) -> Option<f64>| values.iter().map(|value| of(value)).collect::<Option<Vec<f64>>>();
    let percent = |text: &str| text.ends_with('%').then(|| parse_fraction(text).ok().map(|x| 100.0 * x))?;
    all(&|text| text.parse().ok().filter(|x: &f64| x.is_finite()))
        .or_else(|| all(&percent))
        .or_else(|| all(&|text| parse_bytes(text).ok().map(|bytes| bytes as f64)))
        .or_else(|| all(&|text| parse_time(text).ok().map(|time| time.0 as f64)))
}

struct Row {
    number: u64,
    cells: Vec<String>,
    late: bool,
}

#[derive(Template)]
#[template(path = "sweep.html")]
struct Page<'a> {
    title: &'a str,
    mark: &'static str,
    version: &'static str,
    style: &'static str,
    script: &'static str,
    plotly: &'a str,
    data: String,
    facts: &'a [(&'static str, String)],
    failed: &'a [(String, String)],
    /// Points whose drive has not kept up.
    late: usize,
    heads: Vec<String>,
    rows: Vec<Row>,
    left_out: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str = "point,axis.scheme,axis.ftl.over_provisioning,status,error,key,waf,keeps_up,read_iops,read_p99.9_ns,\
        read_p99.9_low_ns,read_p99.9_high_ns,digest\n\
        1,baseline,20%,finished,,a,2.5,,10,900,800,1000,d\n\
        2,baseline,9%,finished,,b,4.5,0,10,1900,,,d\n\
        3,\"a,b\",20%,failed,\"no room\",c,,,,,,,\n\
        4,rps,9%,not run,,,,,,,,,\n";

    #[test]
    fn a_table_gives_axes_figures_and_points() {
        let (data, failed) = parse(CSV).unwrap();
        assert_eq!(data.axes.len(), 2);
        assert_eq!(data.axes[1].values, ["9%", "20%"]);
        assert_eq!(data.axes[1].numbers, Some(vec![9.0, 20.0]));
        assert_eq!(
            (data.axes[0].values.clone(), &data.axes[0].numbers),
            (vec!["baseline".to_string()], &None)
        );
        let names: Vec<&str> = data.figures.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["waf", "read_iops", "read_p99.9_ns"]);
        assert_eq!(data.figures[2].title, "reads, p99.9");
        assert_eq!((data.figures[1].better, data.figures[2].better), ("high", "low"));
        let first = &data.points[0];
        assert_eq!(
            (first.at.clone(), first.of.clone()),
            (vec![0, 1], vec![Some(2.5), Some(10.0), Some(900.0)])
        );
        assert_eq!(first.interval, [(2, [800.0, 1000.0])].into_iter().collect());
        assert!(first.keeps_up && !data.points[1].keeps_up && data.points[1].interval.is_empty());
        assert_eq!(failed, [("3".into(), "no room".into()), ("4".into(), "not run".to_string())]);
    }

    #[test]
    fn other_files_are_refused() {
        assert!(parse("a,b\n1,2\n").unwrap_err().contains("no column `point`"));
        assert!(parse(&CSV.replace("0,10,1900", "0")).is_err());
        assert!(parse("").is_err());
    }

    #[test]
    fn values_of_one_kind_are_numbers() {
        let of = |values: &[&str]| numbers(&values.iter().map(|v| v.to_string()).collect::<Vec<_>>());
        assert_eq!(of(&["1", "2.5"]), Some(vec![1.0, 2.5]));
        assert_eq!(of(&["4KiB", "1MiB"]), Some(vec![4096.0, 1_048_576.0]));
        assert_eq!(of(&["1ms", "20us"]), Some(vec![1e6, 2e4]));
        assert_eq!(of(&["1ms", "20%"]), None);
        assert_eq!(of(&["rps"]), None);
    }
}
