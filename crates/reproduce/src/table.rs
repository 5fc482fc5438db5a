//! Tables beside the checks: measures of all schemes of a run, figures over virtual time,
//! and what a search tried.

use crate::execute::{Results, RunOutput};
use crate::file::{Experiment, SeriesOf, SeriesTable, Table};
use crate::measure::Measure;
use crate::search::Rating;
use crate::unit::Unit;
use crate::valid::unit_of;
use tailcut_report::summary::{Scheme, SeriesPoint};
use tailcut_report::text::{Grid, duration, percent, rate};
use tailcut_stats::percentile::BLAME_LEVELS;

/// A heading and rows of cells, the first row being the head.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What it shows.
    pub title: String,
    /// Rows of cells.
    pub rows: Vec<Vec<String>>,
}

/// Every table of an experiment that ran.
pub fn tables(e: &Experiment, results: &Results) -> Vec<Shown> {
    let mut all = Vec::new();
    for table in &e.table {
        all.extend(ran(results, &table.run).map(|run| measures(table, run, results)));
    }
    for table in &e.series {
        all.extend(ran(results, &table.run).map(|run| over_time(table, run)));
    }
    for (name, ratings) in &results.searches {
        all.extend(ratings.as_ref().ok().map(|r| tried(name, r)));
    }
    all
}

fn ran<'a>(results: &'a Results, name: &str) -> Option<&'a RunOutput> {
    results.run(name).filter(|r| r.missing.is_none() && !r.schemes.is_empty())
}

/// What a column shows of a scheme.
pub(crate) enum Column {
    /// A measure in a unit.
    Measure(Measure, Unit),
    /// What the host could have of the flash, were the scheme alone.
    Capacity,
    /// Where the time of the reads above a percentile went.
    Left(f64),
}

/// Causes that [`Column::Left`] names.
const CAUSES: usize = 3;

impl Column {
    /// Read a column, and the other run that it is of.
    ///
    /// # Errors
    /// What there is.
    pub fn parse(text: &str) -> Result<(Column, Option<&str>), String> {
        let (text, run) = text.split_once(" @ ").map_or((text, None), |(text, run)| (text, Some(run)));
        if text == "capacity" {
            return Ok((Column::Capacity, run));
        }
        if let Some(level) = text.strip_prefix("left.p") {
            let level = level.parse().ok().filter(|l| BLAME_LEVELS.contains(l));
            let level = level.ok_or_else(|| format!("`{text}`: blame is kept above {BLAME_LEVELS:?}"))?;
            return Ok((Column::Left(level), run));
        }
        let (name, unit) = text.split_once(' ').unwrap_or((text, ""));
        let measure = Measure::parse(name)?;
        let unit = unit_of(unit, measure.kind())?;
        Ok((Column::Measure(measure, unit), run))
    }

    fn show(&self, run: &RunOutput, scheme: &str) -> Option<String> {
        let at = run.schemes.iter().position(|s| s.name == scheme)?;
        match self {
            Column::Measure(measure, unit) => {
                measure.of(&run.schemes[at]).ok().map(|v| unit.show(unit.take(v)))
            }
            Column::Capacity => run.capacities.get(at).map(|&share| percent(share, 1.0)),
            Column::Left(level) => {
                let blame = run.schemes[at].read.blame.iter().find(|b| b.above == *level)?;
                let mut causes: Vec<(&str, f64)> =
                    blame.causes.0.iter().map(|(cause, ns)| (cause.as_str(), *ns)).collect();
                causes.retain(|(_, ns)| *ns >= 0.01 * blame.mean_ns);
                causes.sort_by(|a, b| b.1.total_cmp(&a.1));
                let said = causes
                    .iter()
                    .take(CAUSES)
                    .map(|(cause, ns)| format!("{cause} {:.0} %", 100.0 * ns / blame.mean_ns));
                Some(said.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn measures(table: &Table, run: &RunOutput, results: &Results) -> Shown {
    let columns: Vec<_> = table.columns.iter().filter_map(|c| Column::parse(c).ok()).collect();
    let mut rows = vec![vec!["scheme".to_string()]];
    rows[0].extend(table.columns.iter().map(|c| {
        let (what, run) =
            c.split_once(" @ ").map_or((c.as_str(), String::new()), |(c, r)| (c, format!(", {r}")));
        format!("{}{run}", what.split(' ').next().unwrap_or(what))
    }));
    for scheme in &run.schemes {
        let mut row = vec![scheme.name.clone()];
        for (column, other) in &columns {
            let run = other.map_or(Some(run), |name| ran(results, name));
            row.push(run.and_then(|r| column.show(r, &scheme.name)).unwrap_or("-".to_string()));
        }
        rows.push(row);
    }
    Shown { title: table.title.clone(), rows }
}

/// Rows of equal length over the longest run, a column a scheme. Completions count in
/// the interval in which they happened, so a starved write shows where it ended.
fn over_time(table: &SeriesTable, run: &RunOutput) -> Shown {
    let end = |s: &Scheme| s.series.last().map_or(0, |p| p.at_ns + p.length_ns);
    let whole = run.schemes.iter().map(end).max().unwrap_or(0).max(1);
    let rows = table.rows.max(1) as u64;
    let step = whole.div_ceil(rows);
    let mut out = vec![vec!["from".to_string()]];
    out[0].extend(run.schemes.iter().map(|s| s.name.clone()));
    for i in 0..rows {
        let (from, to) = (i * step, (i + 1) * step);
        if from >= whole {
            break;
        }
        let mut row = vec![duration(from as f64).trim().to_string()];
        for scheme in &run.schemes {
            let inside: Vec<&SeriesPoint> =
                scheme.series.iter().filter(|p| (from..to).contains(&p.at_ns)).collect();
            row.push(figure(table.of, &inside));
        }
        out.push(row);
    }
    Shown { title: table.title.clone(), rows: out }
}

fn figure(of: SeriesOf, points: &[&SeriesPoint]) -> String {
    let seconds: f64 = points.iter().map(|p| p.length_ns as f64 / 1e9).sum();
    let writes: f64 = points.iter().map(|p| p.write_iops * p.length_ns as f64 / 1e9).sum();
    let longest = |get: fn(&SeriesPoint) -> u64| points.iter().map(|p| get(p)).max().unwrap_or(0);
    let time = |ns: f64| if ns > 0.0 { duration(ns).trim().to_string() } else { "none".to_string() };
    match of {
        SeriesOf::WriteMax => time(longest(|p| p.write_max_ns) as f64),
        SeriesOf::ReadMax => time(longest(|p| p.read_max_ns) as f64),
        SeriesOf::WriteMean => {
            let sum: f64 =
                points.iter().map(|p| p.write_mean_ns * p.write_iops * p.length_ns as f64 / 1e9).sum();
            time(if writes > 0.0 { sum / writes } else { 0.0 })
        }
        SeriesOf::ReadMean => {
            let weight = |p: &SeriesPoint| p.read_iops * p.length_ns as f64;
            let reads: f64 = points.iter().map(|p| weight(p)).sum();
            let sum: f64 = points.iter().map(|p| p.read_mean_ns * weight(p)).sum();
            time(if reads > 0.0 { sum / reads } else { 0.0 })
        }
        SeriesOf::FreeBlocks => {
            let last = points.iter().rev().find_map(|p| p.free_blocks);
            last.map_or("-".to_string(), |n| n.to_string())
        }
        SeriesOf::WriteIops => rate(if seconds > 0.0 { writes / seconds } else { 0.0 }),
    }
}

fn tried(name: &str, ratings: &[Rating]) -> Shown {
    let head = [
        "scheme",
        "multiplier",
        "stress",
        "performance",
        "> 1 ms",
        "> 8 ms",
        "> 64 ms",
        "small reads, mean",
        "large reads, mean",
        "large writes, mean",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    let yes = |passed: bool| if passed { "passed" } else { "failed" }.to_string();
    for rating in ratings {
        for t in &rating.tried {
            let mut row = vec![rating.scheme.clone(), format!("{}x", t.multiplier)];
            row.extend([yes(t.stress), yes(t.performance)]);
            row.extend(t.above.map(|share| percent(share, 1.0)));
            row.extend(t.means_ns.map(|ns| duration(ns).trim().to_string()));
            rows.push(row);
        }
    }
    Shown { title: format!("Multipliers tried by the search `{name}`"), rows }
}

impl Shown {
    /// For the terminal.
    pub fn plain(&self) -> String {
        let mut grid = Grid::default();
        for (i, row) in self.rows.iter().enumerate() {
            grid.row(row.iter().cloned());
            if i == 0 {
                grid.rule();
            }
        }
        format!("{}\n{}", self.title, grid.render())
    }

    /// As a Markdown table.
    pub fn markdown(&self) -> String {
        let mut out = format!("{}:\n\n", self.title);
        for (i, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|c| c.replace('|', "\\|")).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
            if i == 0 {
                let rule: Vec<&str> = (0..row.len()).map(|c| if c == 0 { "---" } else { "--:" }).collect();
                out.push_str(&format!("| {} |\n", rule.join(" | ")));
            }
        }
        out
    }
}
