//! The results of one run, from its folder or from memory.

use crate::curve::Curve;
use hdrhistogram::Histogram;
use std::collections::HashMap;
use std::path::Path;
use tailcut_report::folder::SUMMARY;
use tailcut_report::slowest::{self, SlowLine};
use tailcut_report::{ReportError, Summary, hlog};
use tailcut_stats::Measured;
use tailcut_units::HostOp;

/// The slowest requests that are kept of each scheme and kind.
pub const SLOWEST: usize = 20;
/// The most runs of a scheme.
const RUNS_MAX: u32 = 1000;

/// The results of one run.
#[derive(Clone, Debug)]
pub struct Run {
    /// How the run is named where several are shown.
    pub label: String,
    /// The summary.
    pub summary: Summary,
    /// The latencies of each scheme of the summary by kind, in the order of [`HostOp::ALL`].
    pub curves: Vec<[Curve; HostOp::COUNT]>,
    /// The slowest requests of each scheme of the summary by kind, the slowest first; those without success follow the
    /// others.
    pub slowest: Vec<[Vec<SlowLine>; HostOp::COUNT]>,
    /// Warnings about the folder: what a page cannot show.
    pub notes: Vec<String>,
}

impl Run {
    /// Read the folder of a run. Of the slowest requests only some are kept in memory, and of the latencies one histogram
    /// of each scheme and kind.
    ///
    /// # Errors
    /// A folder without a summary, a summary of another version, a file that is cut or not of its form;
    /// [`ReportError::Interrupted`] once `stopped` returns true.
    pub fn read(dir: &Path, stopped: &dyn Fn() -> bool) -> Result<Run, ReportError> {
        let summary = Summary::read(&dir.join(SUMMARY))?;
        let mut notes = Vec::new();
        let curves = match std::fs::symlink_metadata(dir.join(hlog::FILE)) {
            Ok(_) => curves(&summary, &dir.join(hlog::FILE), stopped)?,
            Err(_) => {
                notes
                    .push(format!("{} is missing: distributions are drawn from the percentiles", hlog::FILE));
                summary.schemes.iter().map(|s| HostOp::ALL.map(|op| of_percentiles(s.side(op)))).collect()
            }
        };
        let slowest = match std::fs::symlink_metadata(dir.join(slowest::FILE)) {
            Ok(_) => slow(&summary, &dir.join(slowest::FILE), stopped)?,
            Err(_) => {
                notes.push(format!("{} is missing: there are no slowest requests", slowest::FILE));
                summary.schemes.iter().map(|_| Default::default()).collect()
            }
        };
        let name = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
        let label =
            name.file_name().map_or_else(|| dir.display().to_string(), |n| n.to_string_lossy().into());
        Ok(Run { label, summary, curves, slowest, notes })
    }

    /// The results of a run that has just ended: its summary and the measurements of each scheme by run.
    pub fn new(label: &str, summary: &Summary, measured: &[(String, Vec<Measured>)]) -> Run {
        let curves = measured.iter().map(|(_, runs)| {
            HostOp::ALL.map(|op| {
                let mut all = runs[0].side(op).population.clone();
                runs[1..].iter().for_each(|run| all.merge(&run.side(op).population));
                Curve::of(&all)
            })
        });
        let slowest = measured.iter().map(|(name, runs)| {
            let mut kinds: [Vec<SlowLine>; HostOp::COUNT] = Default::default();
            slowest::lines(name, &runs[0], SLOWEST).for_each(|line| kinds[line.op as usize].push(line));
            kinds
        });
        Run {
            label: label.to_string(),
            summary: summary.clone(),
            curves: curves.collect(),
            slowest: slowest.collect(),
            notes: Vec::new(),
        }
    }
}

/// The curves of every scheme from the log.
fn curves(
    summary: &Summary,
    path: &Path,
    stopped: &dyn Fn() -> bool,
) -> Result<Vec<[Curve; HostOp::COUNT]>, ReportError> {
    // A tag does not tell apart what differs only in commas and blanks: then the order does.
    let mut places: HashMap<String, Vec<(usize, HostOp)>> = HashMap::new();
    for (i, scheme) in summary.schemes.iter().enumerate() {
        for run in 1..=scheme.runs.unwrap_or(1).min(RUNS_MAX) {
            let name = if run == 1 { scheme.name.clone() } else { format!("{}#{run}", scheme.name) };
            for job in &scheme.jobs {
                for op in HostOp::ALL {
                    let tag = hlog::tag(&format!("{name}/{}/{}", job.name, op.name()));
                    places.entry(tag).or_default().push((i, op));
                }
            }
        }
    }
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<[Option<Histogram<u64>>; HostOp::COUNT]> =
        summary.schemes.iter().map(|_| Default::default()).collect();
    hlog::read(path, stopped, |tag, histogram| {
        let Some(of_tag) = places.get(tag) else { return };
        let next = taken.entry(tag.to_string()).or_default();
        let (scheme, op) = of_tag[(*next).min(of_tag.len() - 1)];
        *next += 1;
        let sum = all[scheme][op as usize].get_or_insert_with(|| {
            let mut empty = Histogram::new_from(histogram);
            empty.auto(true);
            empty
        });
        // It grows as needed, so adding cannot fail.
        let _ = sum.add(histogram);
    })?;
    let curve =
        |histogram: &Option<Histogram<u64>>| histogram.as_ref().map_or_else(Curve::default, Curve::new);
    Ok(all.iter().map(|kinds| kinds.each_ref().map(curve)).collect())
}

/// A coarse curve from the percentiles of a summary.
fn of_percentiles(side: &tailcut_report::summary::OpSummary) -> Curve {
    let mut points: Vec<(u64, f64)> = Vec::new();
    if side.total_ios > 0 {
        points.push((side.lat_ns.min.max(1), 1.0));
        for (level, ns) in side.lat_ns.percentile.iter() {
            let level = level.parse::<f64>().ok().filter(|level| (0.0..=100.0).contains(level));
            let share = 1.0 - level.unwrap_or(100.0) / 100.0;
            // A percentile beyond the last request is the maximum.
            if share * side.total_ios as f64 >= 1.0 && points.last().is_some_and(|last| last.0 < *ns) {
                points.push((*ns, share));
            }
        }
    }
    Curve { points }
}

/// The slowest requests of every scheme and kind from the file.
fn slow(
    summary: &Summary,
    path: &Path,
    stopped: &dyn Fn() -> bool,
) -> Result<Vec<[Vec<SlowLine>; HostOp::COUNT]>, ReportError> {
    let places: HashMap<&str, usize> =
        summary.schemes.iter().enumerate().map(|(i, scheme)| (scheme.name.as_str(), i)).collect();
    let mut all: Vec<[Vec<SlowLine>; HostOp::COUNT]> =
        summary.schemes.iter().map(|_| Default::default()).collect();
    slowest::for_each(path, stopped, |line| {
        let Some(&scheme) = places.get(line.scheme.as_str()) else { return };
        let kind = &mut all[scheme][line.op as usize];
        if kind.iter().filter(|kept| kept.status.is_some() == line.status.is_some()).count() < SLOWEST {
            kind.push(line);
        }
    })?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_report::summary::OpSummary;

    #[test]
    fn a_percentile_that_is_none_is_no_point() {
        let mut side = OpSummary { total_ios: 100, ..Default::default() };
        side.lat_ns.min = 10;
        for (key, ns) in [("50.000000", 20), ("-inf", 30), ("1e308", 40), ("NaN", 50), ("90.000000", 60)] {
            side.lat_ns.percentile.0.push((key.to_string(), ns));
        }
        let points = of_percentiles(&side).points;
        assert_eq!(points.iter().map(|point| point.0).collect::<Vec<u64>>(), [10, 20, 60]);
    }
}
