//! Tables in addition to the checks: measures of all schemes of a run, figures over virtual
//! time, and the attempts of a search.

use crate::axis::Sweep;
use crate::column::Column;
use crate::file::{Experiment, SeriesOf, SeriesTable, Table};
use crate::fold;
use crate::picture::{self, Chart};
use crate::rating::{Passed, Rating};
use crate::results::{Found, Results, RunOutput};
use crate::unit::Short;
use tailcut_report::summary::{Scheme, SeriesPoint};
use tailcut_report::text::{Grid, duration, percent, rate};

/// A title and rows of cells; the first row is the head.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Title.
    pub title: String,
    /// Rows of cells.
    pub rows: Vec<Vec<String>>,
    /// The smallest and the largest value of the first column of measures, with their rows.
    pub range: Option<String>,
    /// A picture of the table, if a picture shows more than the table.
    pub chart: Option<Chart>,
}

/// Every table of an experiment that ran.
pub fn tables(e: &Experiment, results: &Results) -> Vec<Shown> {
    let mut all = Vec::new();
    for table in &e.table {
        all.extend(Some(measures(e, table, results)).filter(|t| t.rows.len() > 1));
    }
    for table in &e.series {
        let run = results.run(&table.run).filter(|r| r.missing.is_none() && !r.schemes.is_empty());
        all.extend(run.map(|run| over_time(table, run)));
    }
    let searches = results.searches.iter().filter_map(|(name, ratings)| Some((name, ratings.as_ref().ok()?)));
    let searches: Vec<_> = searches.collect();
    if !searches.is_empty() {
        all.push(tried(&searches));
    }
    all.extend(results.found.iter().filter(|f| f.value.is_some()).map(misses));
    all
}

/// One row for each scheme; for a sweep, one row for each combination of axis values and
/// scheme.
fn measures(e: &Experiment, table: &Table, results: &Results) -> Shown {
    let columns: Vec<Column> = table.columns.iter().filter_map(|c| Column::parse(c).ok()).collect();
    let sweep = e.sweeps.iter().find(|s| s.name == table.run);
    let points = match sweep {
        Some(sweep) => sweep.points.clone(),
        None => vec![(Vec::new(), table.run.clone())],
    };
    let ran: Vec<(Vec<String>, String)> =
        points.into_iter().filter(|(_, run)| !results.schemes(run).is_empty()).collect();
    let axes: Vec<&str> = sweep.iter().flat_map(|s| &s.axes).map(|a| a.name.as_str()).collect();
    let wanted = |run: &str| -> Vec<&str> {
        let all = results.schemes(run).into_iter();
        all.filter(|s| table.schemes.is_empty() || table.schemes.iter().any(|t| t == s)).collect()
    };
    let mut head: Vec<String> = axes.iter().map(|a| a.to_string()).collect();
    let mut rows = Vec::new();
    if table.by_scheme {
        let schemes = ran.first().map(|(_, run)| wanted(run)).unwrap_or_default();
        head.extend(schemes.iter().map(|s| s.to_string()));
        for (values, run) in &ran {
            let mut row = values.clone();
            row.extend(schemes.iter().map(|s| cell(e, &columns[0], results, (run, values, sweep), s)));
            rows.push(row);
        }
    } else {
        let counted = columns.iter().filter(|c| c.within.is_some()).count();
        head.push("scheme".to_string());
        head.extend(columns.iter().map(|c| c.head.clone()));
        head.extend((counted > 0).then(|| format!("in range, of {counted}")));
        for (values, run) in &ran {
            for scheme in wanted(run) {
                let mut row = values.clone();
                row.push(scheme.to_string());
                row.extend(columns.iter().map(|c| cell(e, c, results, (run, values, sweep), scheme)));
                let holds = |c: &Column| {
                    let run = other(e, c, (run, values, sweep));
                    c.value(results, &run, scheme).and_then(|v| c.holds(v)) == Some(true)
                };
                let within = columns.iter().filter(|c| holds(c)).count();
                row.extend((counted > 0).then(|| within.to_string()));
                rows.push(row);
            }
        }
    }
    rows.insert(0, head);
    let chart = match sweep {
        Some(sweep) if table.by_scheme => picture::over_axis(&columns[0], sweep, &ran, &wanted, results),
        Some(_) => None,
        None => ran.first().and_then(|(_, run)| picture::percentiles(&columns, &wanted(run), results, run)),
    };
    let places = ran.iter().flat_map(|(values, run)| wanted(run).into_iter().map(move |s| (values, run, s)));
    let firsts: Vec<(f64, String, String)> = places
        .filter_map(|(values, run, scheme)| {
            let (column, at) = (columns.first()?, (run, values, sweep));
            let value = column.value(results, &other(e, column, at), scheme)?;
            let row = values.iter().map(String::as_str).chain([scheme]).collect::<Vec<_>>().join(", ");
            Some((value, cell(e, column, results, at, scheme), row))
        })
        .collect();
    let range = fold::range(&firsts).map(|range| format!("{} {range}", columns[0].head));
    Shown { title: table.title.clone(), rows, range, chart }
}

/// A point of the table's sweep: its run, the values of the axes, and the sweep.
type At<'a> = (&'a String, &'a Vec<String>, Option<&'a Sweep>);

fn cell(e: &Experiment, column: &Column, results: &Results, at: At<'_>, scheme: &str) -> String {
    let run = other(e, column, at);
    column.show(results, &run, scheme).unwrap_or("-".to_string())
}

/// The run of a column: the row's run, or another run, or the point of another sweep at which
/// the shared axes have the same values.
fn other(e: &Experiment, column: &Column, (run, values, sweep): At<'_>) -> String {
    let Some(name) = &column.run else { return run.clone() };
    let Some(swept) = e.sweeps.iter().find(|s| s.name == *name) else { return name.clone() };
    let value = |axis: &str| {
        let at = sweep?.axes.iter().position(|a| a.name == axis)?;
        values.get(at).map(String::as_str)
    };
    swept.run_at(value).unwrap_or_default()
}

/// A table of the largest miss for each value of an axis.
fn misses(found: &Found) -> Shown {
    let title = format!(
        "{}: the largest relative deviation of its {} checks from the published values or limits, by {}. \
         The checks are judged at {}, which has the smallest deviation and is thus fitted to them",
        found.name, found.checks, found.axis, found.said
    );
    let mut rows = vec![vec![found.axis.clone(), "largest deviation".to_string()]];
    for (value, miss) in &found.misses {
        rows.push(vec![value.clone(), miss.map_or("-".to_string(), |m| format!("{} %", Short(100.0 * m)))]);
    }
    Shown { title, rows, range: None, chart: None }
}

/// Rows of equal length over the longest run, one column for each scheme. A request counts in
/// the interval in which it completed, so a starved write shows where it ended.
fn over_time(table: &SeriesTable, run: &RunOutput) -> Shown {
    let end = |s: &Scheme| s.series.last().map_or(0, |p| p.at_ns + p.length_ns);
    let whole = run.schemes.iter().map(end).max().unwrap_or(0).max(1);
    let rows = table.rows.max(1) as u64;
    let step = whole.div_ceil(rows);
    let mut lines: Vec<Vec<(f64, f64)>> = vec![Vec::new(); run.schemes.len()];
    let mut out = vec![vec!["from".to_string()]];
    out[0].extend(run.schemes.iter().map(|s| s.name.clone()));
    for i in 0..rows {
        let (from, to) = (i * step, (i + 1) * step);
        if from >= whole {
            break;
        }
        let mut row = vec![duration(from as f64).trim().to_string()];
        for (k, scheme) in run.schemes.iter().enumerate() {
            let inside: Vec<&SeriesPoint> =
                scheme.series.iter().filter(|p| (from..to).contains(&p.at_ns)).collect();
            let value = figure(table.of, &inside);
            row.push(said(table.of, value));
            let middle = (from + to.min(whole)) as f64 / 2e9;
            lines[k].extend(value.map(|v| (middle, v)));
        }
        out.push(row);
    }
    let chart = picture::over_time(table, &out[0][1..], &lines, whole);
    Shown { title: table.title.clone(), rows: out, range: None, chart }
}

/// The figure over some intervals; `None` if nothing completed in them.
fn figure(of: SeriesOf, points: &[&SeriesPoint]) -> Option<f64> {
    let seconds: f64 = points.iter().map(|p| p.length_ns as f64 / 1e9).sum();
    let longest = |get: fn(&SeriesPoint) -> u64| points.iter().map(|p| get(p)).max().unwrap_or(0) as f64;
    let mean = |get: fn(&SeriesPoint) -> f64, iops: fn(&SeriesPoint) -> f64| {
        let weight = |p: &SeriesPoint| iops(p) * p.length_ns as f64;
        let all: f64 = points.iter().map(|p| weight(p)).sum();
        let sum: f64 = points.iter().map(|p| get(p) * weight(p)).sum();
        if all > 0.0 { sum / all } else { 0.0 }
    };
    let time = |ns: f64| (ns > 0.0).then_some(ns);
    match of {
        SeriesOf::WriteMax => time(longest(|p| p.write_max_ns)),
        SeriesOf::ReadMax => time(longest(|p| p.read_max_ns)),
        SeriesOf::WriteMean => time(mean(|p| p.write_mean_ns, |p| p.write_iops)),
        SeriesOf::ReadMean => time(mean(|p| p.read_mean_ns, |p| p.read_iops)),
        SeriesOf::FreeBlocks => points.iter().rev().find_map(|p| p.free_blocks).map(|n| n as f64),
        SeriesOf::WriteIops => {
            let writes: f64 = points.iter().map(|p| p.write_iops * p.length_ns as f64 / 1e9).sum();
            Some(if seconds > 0.0 { writes / seconds } else { 0.0 })
        }
    }
}

fn said(of: SeriesOf, value: Option<f64>) -> String {
    match (of, value) {
        (SeriesOf::FreeBlocks, None) => "-".to_string(),
        (_, None) => "none".to_string(),
        (SeriesOf::FreeBlocks, Some(v)) => format!("{v:.0}"),
        (SeriesOf::WriteIops, Some(v)) => rate(v),
        (_, Some(v)) => duration(v).trim().to_string(),
    }
}

fn tried(searches: &[(&String, &Vec<Rating>)]) -> Shown {
    let head = [
        "search",
        "scheme",
        "multiplier",
        "stress",
        "performance",
        "by the tool's rule",
        "> 1 ms",
        "> 8 ms",
        "> 64 ms",
        "small reads, mean",
        "large reads, mean",
        "large writes, mean",
        "longest large request",
        "free blocks, first third",
        "free blocks, last third",
        "initial free blocks used up",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    let yes = |passed: bool| if passed { "passed" } else { "failed" }.to_string();
    let both = |p: Option<Passed>| match p {
        None => "not tested".to_string(),
        Some(Passed { stress: true, performance: false }) => "stress only".to_string(),
        Some(p) => yes(p.performance),
    };
    let time = |ns: f64| duration(ns).trim().to_string();
    for (name, ratings) in searches {
        for (rating, t) in ratings.iter().flat_map(|r| r.tried.iter().map(move |t| (r, t))) {
            let mut row = vec![name.to_string(), rating.scheme.clone(), format!("{}x", t.multiplier)];
            row.extend([yes(t.paper.stress), yes(t.paper.performance), both(t.official)]);
            row.extend(t.above.map(|share| percent(share, 1.0)));
            row.extend(t.means_ns.map(time));
            row.push(time(t.lag_ns as f64));
            let free = |i: usize| t.free_blocks.map_or("-".to_string(), |free| format!("{:.0}", free[i]));
            row.extend([free(0), free(1)]);
            row.push(t.used_up_ns.map_or("never".to_string(), |ns| time(ns as f64)));
            rows.push(row);
        }
    }
    Shown { title: "Multipliers tried".to_string(), rows, range: None, chart: None }
}

impl Shown {
    /// The line that stands for a long table.
    fn summary(&self) -> Option<String> {
        let rows = self.rows.len() - 1;
        let range = self.range.as_ref().map_or(String::new(), |range| format!("; {range}"));
        (rows > fold::LONG).then(|| format!("{}: {rows} rows{range}", self.title))
    }

    /// For the terminal. A long table is one line there.
    pub fn plain(&self) -> String {
        if let Some(summary) = self.summary() {
            return format!("{summary} (the table is in the report, --report)\n");
        }
        let mut grid = Grid::default();
        for (i, row) in self.rows.iter().enumerate() {
            grid.row(row.iter().cloned());
            if i == 0 {
                grid.rule();
            }
        }
        format!("{}\n{}", self.title, grid.render())
    }

    /// As a Markdown table; a long one is folded.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|c| c.replace('|', "\\|")).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
            if i == 0 {
                let rule: Vec<&str> = (0..row.len()).map(|c| if c == 0 { "---" } else { "--:" }).collect();
                out.push_str(&format!("| {} |\n", rule.join(" | ")));
            }
        }
        match self.summary() {
            Some(summary) => fold::folded(&summary, &out),
            None => format!("{}:\n\n{out}\n", self.title),
        }
    }
}
