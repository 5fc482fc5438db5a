//! Pictures of tables and checks: latency percentiles by scheme, a measure over the axis of a
//! sweep or over time, and measured values relative to published ones.
//!
//! A [`Chart`] (`chart`) describes what is drawn; `draw` turns it into an SVG that adapts to light and dark pages.
//! The same numbers give the same bytes.

mod chart;
mod draw;

pub use chart::Chart;

use crate::axis::Sweep;
use crate::column::{Column, Of};
use crate::file::{Band, Check, CheckKind, Experiment, SeriesOf, SeriesTable};
use crate::measure::{Measure, Of as Figure};
use crate::results::{Results, Verdict};
use crate::unit::Kind;
use chart::{Axis, Series, plain, span};
use tailcut_report::text::duration;
use tailcut_stats::percentile::LEVELS;

/// The largest number of lines that can be distinguished.
const LINES: usize = 10;

impl Chart {
    /// The chart as an SVG file.
    pub fn svg(&self, title: &str) -> String {
        draw::svg(self, title)
    }
}

fn time(ns: f64) -> String {
    duration(ns).trim().replace(".00 ", " ").replace(".0 ", " ")
}

/// The position of a percentile on an axis of nines: the 90th is at 1, the 99th at 2.
fn nines(level: f64) -> f64 {
    -(1.0 - level / 100.0).log10()
}

/// Latency by percentile, if the table shows three or more percentiles of one side. One line
/// for each scheme, or one row for each scheme if there are too many for lines.
pub(crate) fn percentiles(
    columns: &[Column],
    schemes: &[&str],
    results: &Results,
    run: &str,
) -> Option<Chart> {
    let sides = columns.iter().filter_map(|c| match (&c.of, &c.relative_to, &c.run) {
        (Of::Measure(Measure::Side { job, op, what: Figure::Percentile(level) }, _), None, None) => {
            Some((job, *op, *level))
        }
        _ => None,
    });
    let sides: Vec<_> = sides.collect();
    let (job, op, _) = sides.first()?;
    let levels = sides.iter().filter(|(j, o, _)| j == job && o == op).map(|(.., level)| *level);
    let levels: Vec<f64> = levels.collect();
    if levels.len() < 3 {
        return None;
    }
    let latency = |scheme: &str, level: f64| {
        let measure = Measure::Side { job: (*job).clone(), op: *op, what: Figure::Percentile(level) };
        results.value(run, scheme, &measure).ok().filter(|ns| *ns > 0.0)
    };
    let job = job.as_ref().map_or(String::new(), |job| format!("{job}, "));
    let label = format!("{job}{} latency", op.name());
    if schemes.len() > LINES {
        let series = levels.iter().map(|level| {
            let points = schemes.iter().enumerate();
            let points = points.filter_map(|(i, s)| Some((latency(s, *level)?.log10(), -(i as f64))));
            Series { name: format!("p{level}"), points: points.collect(), line: false }
        });
        let series: Vec<Series> = series.filter(|s| !s.points.is_empty()).collect();
        let all = series.iter().flat_map(|s| &s.points).map(|(x, _)| 10f64.powf(*x));
        let x = Axis::log(label, all, time);
        let names = schemes.iter().map(|s| s.to_string());
        return Some(rows(x, names, Vec::new(), series, Vec::new()));
    }
    let shown = || LINES_FROM.iter().copied();
    let series: Vec<Series> = schemes
        .iter()
        .map(|scheme| {
            let points = shown().filter_map(|l| Some((nines(l), latency(scheme, l)?.log10())));
            Series { name: scheme.to_string(), points: points.collect(), line: true }
        })
        .filter(|s| !s.points.is_empty())
        .collect();
    let all = || series.iter().flat_map(|s| &s.points);
    let last = all().map(|(x, _)| *x).fold(1.0, f64::max);
    let ticks = TICKS.iter().map(|l| (nines(*l), format!("p{l}"))).filter(|(x, _)| *x <= last + 0.01);
    let x = Axis { label: "percentile".to_string(), from: 0.25, to: last + 0.1, ticks: ticks.collect() };
    let y = Axis::log(label, all().map(|(_, y)| 10f64.powf(*y)), time);
    Some(Chart { x, y, rows: false, bands: Vec::new(), series, notes: Vec::new() })
}

/// The percentiles that lines pass through: those kept from the median on.
const LINES_FROM: &[f64] = {
    let (_, upper) = LEVELS.split_at(6);
    upper
};

/// The percentiles labelled on an axis.
const TICKS: [f64; 7] = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999];

/// A measure over the first axis of a sweep: one line for each scheme and value of the other
/// axes.
pub(crate) fn over_axis<'a>(
    column: &Column,
    sweep: &Sweep,
    ran: &[(Vec<String>, String)],
    wanted: &dyn Fn(&str) -> Vec<&'a str>,
    results: &Results,
) -> Option<Chart> {
    let axis = sweep.axes.first()?;
    let named: Vec<&str> = axis.all().filter(|v| ran.iter().any(|(values, _)| values[0] == *v)).collect();
    let numbers: Option<Vec<f64>> = named.iter().map(|v| v.parse::<f64>().ok()).collect();
    let place = |value: &str| {
        let i = named.iter().position(|v| *v == value).unwrap_or_default();
        numbers.as_ref().map_or(i as f64, |n| n[i])
    };
    let log =
        matches!(&column.of, Of::Measure(m, _) if m.kind() == Kind::Time && column.relative_to.is_none());
    let mut series: Vec<Series> = Vec::new();
    for (values, run) in ran {
        for scheme in wanted(run) {
            let others = sweep.axes[1..].iter().zip(&values[1..]).map(|(a, v)| format!(", {}", a.said(v)));
            let name = format!("{scheme}{}", others.collect::<String>());
            let Some(y) = column.value(results, run, scheme).filter(|v| !log || *v > 0.0) else { continue };
            let point = (place(&values[0]), if log { y.log10() } else { y });
            match series.iter_mut().find(|s| s.name == name) {
                Some(line) => line.points.push(point),
                None => series.push(Series { name, points: vec![point], line: true }),
            }
        }
    }
    if series.is_empty() || series.len() > LINES || named.len() < 2 {
        return None;
    }
    let ys = || series.iter().flat_map(|s| &s.points).map(|(_, y)| *y);
    let label =
        if axis.unit.is_empty() { axis.name.clone() } else { format!("{} ({})", axis.name, axis.unit) };
    let (from, to) = span(named.iter().map(|v| place(v)));
    let room = 0.04 * (to - from);
    let ticks = named.iter().map(|v| (place(v), v.to_string())).collect();
    let x = Axis { label, from: from - room, to: to + room, ticks };
    let y = match log {
        true => Axis::log(column.label(), ys().map(|y| 10f64.powf(y)), plain),
        false => Axis::linear(column.label(), ys(), true),
    };
    Some(Chart { x, y, rows: false, bands: Vec::new(), series, notes: Vec::new() })
}

/// A figure over virtual time: one line for each scheme, through the middles of the intervals.
pub(crate) fn over_time(
    table: &SeriesTable,
    names: &[String],
    lines: &[Vec<(f64, f64)>],
    whole_ns: u64,
) -> Option<Chart> {
    let (what, log) = match table.of {
        SeriesOf::WriteMax => ("longest write latency", true),
        SeriesOf::WriteMean => ("mean write latency", true),
        SeriesOf::ReadMax => ("longest read latency", true),
        SeriesOf::ReadMean => ("mean read latency", true),
        SeriesOf::WriteIops => ("writes per second", false),
        SeriesOf::FreeBlocks => ("free blocks", false),
    };
    let at = |y: f64| if log { y.log10() } else { y };
    let series: Vec<Series> = names
        .iter()
        .zip(lines)
        .filter(|(_, points)| !points.is_empty())
        .map(|(name, points)| {
            let points = points.iter().map(|(x, y)| (*x, at(*y))).collect();
            Series { name: name.clone(), points, line: true }
        })
        .collect();
    if series.is_empty() || series.len() > LINES {
        return None;
    }
    let ys = || lines.iter().flatten().map(|(_, y)| *y);
    let y = match log {
        true => Axis::log(what.to_string(), ys(), time),
        false => Axis::linear(what.to_string(), ys(), true),
    };
    let ends = [0.0, whole_ns as f64 / 1e9].into_iter();
    let x = Axis::linear("time (s)".to_string(), ends, true);
    Some(Chart { x, y, rows: false, bands: Vec::new(), series, notes: Vec::new() })
}

/// Measured values relative to published ones, with the bands: one row for each check that was
/// judged and is not structural. If there is no published value, the limit is used instead.
pub fn checks(e: &Experiment, results: &Results) -> Option<Chart> {
    let judged = e.check.iter().zip(&results.outcomes).filter_map(|(c, o)| {
        let held = match o.verdict {
            Verdict::InBand => true,
            Verdict::OutOfBand => false,
            Verdict::NotComparable(_) | Verdict::FullSizeOnly => return None,
        };
        let (ratio, band) = by_published(c, e.band(c)?, o.value?)?;
        (o.kind != CheckKind::Structural).then_some((o, held, ratio, band))
    });
    let judged: Vec<_> = judged.collect();
    if judged.len() < 2 {
        return None;
    }
    let (x, at) = by_ratio(judged.iter().flat_map(|(_, _, ratio, [a, b])| [*ratio, *a, *b]));
    let row = |i: usize| -(i as f64);
    let bands = judged.iter().enumerate().map(|(i, (_, _, _, [a, b]))| ([at(*a), at(*b)], row(i)));
    let bands = bands.collect();
    let points = |wanted: bool| -> Vec<(f64, f64)> {
        let all = judged.iter().enumerate().filter(|(_, (_, held, ..))| *held == wanted);
        all.map(|(i, (_, _, ratio, _))| (at(*ratio), row(i))).collect()
    };
    let series = verdicts(points);
    let notes = judged.iter().enumerate().map(|(i, (o, ..))| (row(i), o.measured.clone())).collect();
    let names = judged.iter().map(|(o, ..)| format!("{} [{}]", o.label, o.scheme));
    Some(rows(x, names, bands, series, notes))
}

/// An axis of ratios, from at least a half to twice up to at most a tenth to ten times, and the position of a ratio on
/// it.
fn by_ratio(ratios: impl Iterator<Item = f64>) -> (Axis, impl Fn(f64) -> f64) {
    let reach = ratios.filter(|r| *r > 0.0 && r.is_finite()).map(|r| r.log10().abs()).fold(0.0, f64::max);
    let reach = (reach * 1.1).clamp(0.32, 1.05);
    let ticks = [0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0].into_iter();
    let ticks = ticks.filter(|t: &f64| t.log10().abs() <= reach && (reach < 0.5 || ![0.8, 1.25].contains(t)));
    let label = "measured / published (or limit); values beyond the scale are at its edge".to_string();
    let ticks = ticks.map(|t| (t.log10(), format!("{t}x"))).collect();
    let at = move |ratio: f64| if ratio > 0.0 { ratio.log10().clamp(-reach, reach) } else { -reach };
    (Axis { label, from: -reach, to: reach, ticks }, at)
}

/// The two series of a chart of verdicts.
fn verdicts(points: impl Fn(bool) -> Vec<(f64, f64)>) -> Vec<Series> {
    let series = [("in band", true), ("out of band", false)];
    series.map(|(name, held)| Series { name: name.to_string(), points: points(held), line: false }).to_vec()
}

/// A check in the chart of a paper.
pub(crate) struct Placed {
    /// The measured value relative to the published one or to the limit, if there is such a ratio.
    pub ratio: Option<f64>,
    /// Whether it is in band.
    pub held: bool,
}

/// The measured values of a paper relative to the published ones or to the limits: one row for each experiment.
pub(crate) fn of_paper(experiments: &[(&str, Vec<Placed>)]) -> Option<Chart> {
    let all = || experiments.iter().flat_map(|(_, checks)| checks);
    let (x, at) = by_ratio(all().filter_map(|check| check.ratio));
    let row = |i: usize| -(i as f64);
    let points = |wanted: bool| {
        let rows = experiments.iter().enumerate();
        let points = rows.flat_map(|(i, (_, checks))| checks.iter().map(move |check| (i, check)));
        let points = points.filter(|(_, check)| check.held == wanted);
        points.filter_map(|(i, check)| Some((at(check.ratio?), row(i)))).collect()
    };
    let counts = experiments.iter().enumerate().map(|(i, (_, checks))| {
        let held = checks.iter().filter(|check| check.held).count();
        (row(i), format!("{held} of {} in band", checks.len()))
    });
    let names = experiments.iter().map(|(id, _)| id.to_string());
    let some = all().any(|check| check.ratio.is_some());
    some.then(|| rows(x, names, Vec::new(), verdicts(points), counts.collect()))
}

/// A value relative to the published one or to the limit, and the band relative to the same.
fn by_published(c: &Check, band: &Band, value: f64) -> Option<(f64, [f64; 2])> {
    let of = match (c.published, band.range, band.at_most.or(band.at_least)) {
        (Some(published), ..) => published,
        (None, Some([from, to]), _) if from > 0.0 => (from * to).sqrt(),
        (None, Some([_, to]), _) => to,
        (None, None, limit) => limit?,
    };
    if of == 0.0 {
        return None;
    }
    let (from, to) = match (band.relative, band.range) {
        (Some(percent), _) => (of * (1.0 - percent / 100.0), of * (1.0 + percent / 100.0)),
        (None, Some([from, to])) => (from, to),
        // The band is open on one side.
        (None, None) => {
            let toward = if of > 0.0 { [0.0, f64::INFINITY] } else { [f64::NEG_INFINITY, 0.0] };
            (band.at_least.unwrap_or(toward[0]), band.at_most.unwrap_or(toward[1]))
        }
    };
    let (a, b) = (from / of, to / of);
    Some((value / of, [a.min(b), a.max(b)]))
}

/// A chart of labelled rows, from top to bottom.
fn rows(
    x: Axis,
    names: impl Iterator<Item = String>,
    bands: Vec<([f64; 2], f64)>,
    series: Vec<Series>,
    notes: Vec<(f64, String)>,
) -> Chart {
    let ticks: Vec<(f64, String)> = names.enumerate().map(|(i, name)| (-(i as f64), name)).collect();
    let last = ticks.len() as f64 - 1.0;
    let y = Axis { label: String::new(), from: -last - 0.6, to: 0.6, ticks };
    Chart { x, y, rows: true, bands, series, notes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_by_what_was_published() {
        let check = |text: &str| -> Check {
            let head = "label = \"l\"\nrun = \"r\"\nmeasure = \"read.mean\"\nunit = \"us\"\n";
            toml::from_str(&format!("{head}{text}")).expect("a check")
        };
        let of = |text: &str, value: f64| {
            let c = check(text);
            by_published(&c, c.band.as_ref().expect("a band"), value)
        };
        assert_eq!(of("published = -40\nband = { relative = 25 }", -50.0), Some((1.25, [0.75, 1.25])));
        assert_eq!(of("says = \"s\"\nband = { range = [1, 4] }", 4.0), Some((2.0, [0.5, 2.0])));
        assert_eq!(of("says = \"s\"\nband = { at_most = 200 }", 100.0), Some((0.5, [0.0, 1.0])));
        assert_eq!(of("says = \"s\"\nband = { at_least = 2 }", 3.0), Some((1.5, [1.0, f64::INFINITY])));
        assert_eq!(of("says = \"s\"\nband = { at_most = 0 }", 3.0), None);
    }

    #[test]
    fn axes_have_round_ticks_inside() {
        let says = |a: &Axis| a.ticks.iter().map(|(_, s)| s.clone()).collect::<Vec<_>>().join(" ");
        let linear = Axis::linear(String::new(), [0.0, 90.0].into_iter(), true);
        assert_eq!(says(&linear), "0 20 40 60 80");
        let log = Axis::log(String::new(), [30e3, 5e6].into_iter(), time);
        assert_eq!(says(&log), "100 us 1 ms");
        for a in [linear, log] {
            assert!(a.ticks.iter().all(|(at, _)| (a.from..=a.to).contains(at)));
        }
        assert_eq!([50.0, 90.0, 99.9].map(|l| (nines(l) * 1000.0).round()), [301.0, 1000.0, 3000.0]);
    }
}
