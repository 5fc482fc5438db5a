//! The columns of tables: what a column shows, and its value for a scheme of a run.

use crate::measure::Measure;
use crate::results::{Results, RunOutput};
use crate::unit::{Kind, Unit, unit_of};
use tailcut_report::text::percent;
use tailcut_stats::percentile::BLAME_LEVELS;

/// The content of a column.
pub(crate) enum Of {
    /// A measure in a unit.
    Measure(Measure, Unit),
    /// The share of the raw flash that the host could use if the scheme ran alone.
    Capacity,
    /// The main causes in the blame of the reads above a percentile.
    Left(f64),
}

/// A column of a table.
pub(crate) struct Column {
    /// What is shown.
    pub of: Of,
    /// For a measure: divide by the value of this scheme.
    pub relative_to: Option<String>,
    /// Take the value from this run.
    pub run: Option<String>,
    /// Values in this range, in the column's unit, are marked.
    pub within: Option<[f64; 2]>,
    /// The head of the column.
    pub head: String,
}

/// The number of causes that [`Of::Left`] names.
const CAUSES: usize = 3;

impl Column {
    /// Parses a column.
    ///
    /// # Errors
    /// What is wrong, or what is allowed.
    pub fn parse(whole: &str) -> Result<Column, String> {
        let (text, run) = match whole.split_once(" @ ") {
            Some((text, run)) => (text, Some(run.to_string())),
            None => (whole, None),
        };
        let (text, within) = match text.split_once(" in ") {
            Some((text, range)) => (text, Some(limits(range)?)),
            None => (text, None),
        };
        // The name of a scheme may contain blanks.
        let (name, unit) = match text.contains('/') {
            true => text.rsplit_once(' ').ok_or("after the scheme, give the unit `x` or `%`")?,
            false => text.split_once(' ').unwrap_or((text, "")),
        };
        let head = run.as_ref().map_or(name.to_string(), |run| format!("{name}, {run}"));
        let column = |of, relative_to| Column { of, relative_to, run, within, head };
        if name == "capacity" {
            return Ok(column(Of::Capacity, None));
        }
        if let Some(level) = name.strip_prefix("left.p") {
            let level = level.parse().ok().filter(|l| BLAME_LEVELS.contains(l));
            let level = level.ok_or_else(|| format!("`{name}`: blame is recorded above {BLAME_LEVELS:?}"))?;
            return Ok(column(Of::Left(level), None));
        }
        if let Some((measure, scheme)) = name.split_once('/') {
            let of = Of::Measure(Measure::parse(measure)?, unit_of(unit, Kind::Ratio)?);
            let scheme = scheme.to_string();
            return Ok(column(of, Some(scheme)));
        }
        let measure = Measure::parse(name)?;
        let unit = unit_of(unit, measure.kind())?;
        Ok(column(Of::Measure(measure, unit), None))
    }

    /// The number in the column's unit.
    pub fn value(&self, results: &Results, run: &str, scheme: &str) -> Option<f64> {
        let Of::Measure(measure, unit) = &self.of else { return None };
        let mut value = results.value(run, scheme, measure).ok()?;
        if let Some(to) = &self.relative_to {
            value /= results.value(run, to, measure).ok().filter(|by| *by != 0.0)?;
        }
        Some(unit.take(value))
    }

    /// The text of a cell; `None` if there is no value.
    pub fn show(&self, results: &Results, run: &str, scheme: &str) -> Option<String> {
        match &self.of {
            Of::Measure(_, unit) => {
                let value = self.value(results, run, scheme)?;
                let mark = if self.holds(value) == Some(true) { " (in)" } else { "" };
                Some(format!("{}{mark}", unit.show(value)))
            }
            Of::Capacity => {
                let (run, at) = found(results, run, scheme)?;
                run.capacities.get(at).map(|&share| percent(share, 1.0))
            }
            Of::Left(level) => {
                let (run, at) = found(results, run, scheme)?;
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

    /// Whether a value is in the column's range; `None` if the column has no range.
    pub fn holds(&self, value: f64) -> Option<bool> {
        self.within.map(|[from, to]| (from..=to).contains(&value))
    }

    /// The label of an axis of the column's values.
    pub fn label(&self) -> String {
        let unit = match &self.of {
            Of::Measure(_, unit) => unit.name,
            Of::Capacity | Of::Left(_) => "",
        };
        if unit.is_empty() { self.head.clone() } else { format!("{} ({unit})", self.head) }
    }
}

/// Parses a range: `30..40`, `..40` or `30..`.
fn limits(text: &str) -> Result<[f64; 2], String> {
    let wrong = || format!("`in {text}` is not a range such as `in 30..40`, `in ..40` or `in 30..`");
    let (from, to) = text.trim().split_once("..").ok_or_else(wrong)?;
    let number = |text: &str, open: f64| match text.trim() {
        "" => Ok(open),
        text => text.parse::<f64>().ok().filter(|limit| limit.is_finite()).ok_or_else(wrong),
    };
    let limits = [number(from, f64::NEG_INFINITY)?, number(to, f64::INFINITY)?];
    if limits[0] <= limits[1] { Ok(limits) } else { Err(wrong()) }
}

fn found<'a>(results: &'a Results, run: &str, scheme: &str) -> Option<(&'a RunOutput, usize)> {
    let run = results.run(run)?;
    run.schemes.iter().position(|s| s.name == scheme).map(|at| (run, at))
}
