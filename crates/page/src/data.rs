//! What the script of a page draws: the data of its figures, as JSON.

use crate::curve::Curve;
use crate::run::Run;
use serde::Serialize;
use std::collections::BTreeMap;
use tailcut_report::summary::{OpSummary, Scheme, SeriesPoint};
use tailcut_stats::bucket;
use tailcut_stats::series::COUNT_BITS;
use tailcut_units::HostOp;

/// How much a page shows of its runs. Large comparisons show less, so that the page stays small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Intervals of the series that are shown as one.
    pub join: usize,
    /// The slowest requests of each scheme and kind.
    pub slowest: usize,
    /// Whether latencies over time are shown as counts, and not by percentiles alone.
    pub heat: bool,
}

impl Detail {
    /// From everything to the least.
    pub const ALL: [Detail; 4] = [
        Detail { join: 1, slowest: 10, heat: true },
        Detail { join: 2, slowest: 5, heat: true },
        Detail { join: 4, slowest: 3, heat: true },
        Detail { join: 8, slowest: 1, heat: false },
    ];
}

/// The data of a page.
#[derive(Debug, Serialize)]
pub struct Data {
    /// The kinds of requests that any scheme has, in their order.
    pub kinds: Vec<&'static str>,
    /// The schemes of all runs.
    pub schemes: Vec<SchemeData>,
}

/// The data of one scheme.
#[derive(Debug, Serialize)]
pub struct SchemeData {
    /// Its name, with that of its run if there are several.
    pub name: String,
    /// Its requests by kind.
    pub of: BTreeMap<&'static str, KindData>,
    /// Its figures over time.
    pub time: TimeData,
}

/// The requests of one kind.
#[derive(Debug, Serialize)]
pub struct KindData {
    /// Their number.
    pub requests: u64,
    /// Latencies of the curve, ns, and the share of the requests that took at least so long.
    pub ns: Vec<u64>,
    /// See `ns`.
    pub share: Vec<f64>,
    /// Share beyond a percentile, and the confidence interval of the percentile, ns.
    pub bands: Vec<(f64, u64, u64)>,
    /// Blame by level.
    pub blame: Vec<BlameData>,
}

/// Blame above one percentile.
#[derive(Debug, Serialize)]
pub struct BlameData {
    /// The percentile.
    pub above: f64,
    /// Requests beyond it.
    pub requests: u64,
    /// Their mean latency, ns.
    pub mean: f64,
    /// Mean ns by cause.
    pub causes: Vec<(String, f64)>,
}

/// Figures by interval. All lists are as long as `at`.
#[derive(Debug, Default, Serialize)]
pub struct TimeData {
    /// Start of the interval, ns.
    pub at: Vec<u64>,
    /// Its length, ns.
    pub length: Vec<u64>,
    /// Collections that ended in the interval.
    pub collections: Vec<Option<u64>>,
    /// Free blocks at its end.
    pub free: Vec<Option<u64>>,
    /// Share of the write buffer in use at its end.
    pub buffer: Vec<Option<f64>>,
    /// Share of its time in which a die was in use.
    pub dies: Vec<Option<f64>>,
    /// Share of its time in which a channel was in use.
    pub channels: Vec<Option<f64>>,
    /// Latencies by kind.
    pub of: BTreeMap<&'static str, LatencyData>,
}

/// Latencies of one kind by interval. An interval without requests has 0.
#[derive(Debug, Default, Serialize)]
pub struct LatencyData {
    /// Median, ns.
    pub p50: Vec<u64>,
    /// 99th percentile, ns.
    pub p99: Vec<u64>,
    /// 99.9th percentile, ns.
    pub p999: Vec<u64>,
    /// Maximum, ns.
    pub max: Vec<u64>,
    /// The lower ends of the buckets that any interval uses, and the upper end of the last, ns; empty if the run has no counts.
    pub bounds: Vec<u64>,
    /// Requests by interval and bucket: the number of buckets without requests at the beginning, then the counts.
    pub counts: Vec<Vec<u64>>,
}

impl Data {
    /// The data of these runs.
    pub fn new(runs: &[Run], detail: Detail) -> Data {
        let schemes = named(runs).map(|(name, run, i)| {
            let scheme = &run.summary.schemes[i];
            let of = HostOp::ALL
                .into_iter()
                .filter(|op| scheme.side(*op).total_ios > 0)
                .map(|op| (op.name(), KindData::new(scheme.side(op), &run.curves[i][op as usize])));
            SchemeData { name, of: of.collect(), time: TimeData::new(scheme, detail) }
        });
        let schemes: Vec<SchemeData> = schemes.collect();
        let kinds = HostOp::ALL.into_iter().map(HostOp::name);
        let kinds = kinds.filter(|kind| schemes.iter().any(|scheme| scheme.of.contains_key(kind))).collect();
        Data { kinds, schemes }
    }
}

/// As JSON that can stand in a script element: no character of it ends the element.
pub(crate) fn script(data: &impl Serialize) -> String {
    let text = serde_json::to_string(data).expect("no map with other keys than texts and numbers");
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// The schemes of all runs: name, run, and number in the run. Names are unique.
pub fn named(runs: &[Run]) -> impl Iterator<Item = (String, &Run, usize)> {
    runs.iter().enumerate().flat_map(move |(number, run)| {
        let twin = runs.iter().filter(|other| other.label == run.label).count() > 1;
        run.summary.schemes.iter().enumerate().map(move |(i, scheme)| {
            let name = match (runs.len(), twin) {
                (1, _) => scheme.name.clone(),
                (_, false) => format!("{}: {}", run.label, scheme.name),
                (_, true) => format!("{} ({}): {}", run.label, number + 1, scheme.name),
            };
            (name, run, i)
        })
    })
}

impl KindData {
    fn new(side: &OpSummary, curve: &Curve) -> KindData {
        let band = |(level, [low, high]): &(String, [u64; 2])| {
            let beyond = 1.0 - level.parse::<f64>().ok()? / 100.0;
            // Beyond the last request there is nothing to be sure of.
            (beyond * side.total_ios as f64 >= 1.0).then_some((
                digits(beyond, 6),
                (*low).max(1),
                (*high).max(1),
            ))
        };
        KindData {
            requests: side.total_ios,
            ns: curve.points.iter().map(|point| point.0).collect(),
            share: curve.points.iter().map(|point| digits(point.1, 4)).collect(),
            bands: side.lat_ns.ci95.iter().filter_map(band).collect(),
            blame: side
                .blame
                .iter()
                .map(|blame| BlameData {
                    above: blame.above,
                    requests: blame.requests,
                    mean: digits(blame.mean_ns, 5),
                    causes: blame.causes.iter().map(|(name, ns)| (name.clone(), digits(*ns, 5))).collect(),
                })
                .collect(),
        }
    }
}

impl TimeData {
    fn new(scheme: &Scheme, detail: Detail) -> TimeData {
        let mut time = TimeData::default();
        let mut before = 0;
        for joined in scheme.series.chunks(detail.join) {
            let (Some(first), Some(last)) = (joined.first(), joined.last()) else { continue };
            let latest = |get: fn(&SeriesPoint) -> Option<f64>| joined.iter().rev().find_map(get);
            let mean = |get: fn(&SeriesPoint) -> Option<f64>| {
                let shares: Vec<f64> = joined.iter().filter_map(get).collect();
                (!shares.is_empty()).then(|| digits(shares.iter().sum::<f64>() / shares.len() as f64, 4))
            };
            time.at.push(first.at_ns);
            time.length.push(last.at_ns.saturating_add(last.length_ns).saturating_sub(first.at_ns));
            let collections = joined.iter().rev().find_map(|point| point.collections);
            time.collections.push(collections.map(|all| all.saturating_sub(before)));
            before = collections.unwrap_or(before);
            time.free.push(joined.iter().rev().find_map(|point| point.free_blocks));
            time.buffer.push(latest(|point| point.buffer_fill).map(|share| digits(share, 4)));
            time.dies.push(mean(|point| point.dies_in_use));
            time.channels.push(mean(|point| point.channels_in_use));
        }
        for op in HostOp::ALL.into_iter().filter(|op| scheme.side(*op).total_ios > 0) {
            time.of.insert(op.name(), LatencyData::new(scheme, op, detail));
        }
        time
    }
}

/// Percentiles of one kind in one interval, ns: 50, 99, 99.9 and the maximum.
fn percentiles(point: &SeriesPoint, op: HostOp) -> [u64; 4] {
    let of = |all: [Option<u64>; 4]| all.map(|ns| ns.unwrap_or(0));
    match op {
        HostOp::Read => [point.read_p50_ns, point.read_p99_ns, point.read_p999_ns, point.read_max_ns],
        HostOp::Write => [point.write_p50_ns, point.write_p99_ns, point.write_p999_ns, point.write_max_ns],
        HostOp::Trim => of([point.trim_p50_ns, point.trim_p99_ns, point.trim_p999_ns, point.trim_max_ns]),
        HostOp::Flush => {
            of([point.flush_p50_ns, point.flush_p99_ns, point.flush_p999_ns, point.flush_max_ns])
        }
    }
}

impl LatencyData {
    /// The latencies of one kind. Where intervals are joined, their largest percentiles stand for all of them.
    pub fn new(scheme: &Scheme, op: HostOp, detail: Detail) -> LatencyData {
        let mut data = LatencyData::default();
        let counts = |point: &SeriesPoint| point.latencies.get(op.name()).cloned();
        let used = || scheme.series.iter().filter_map(counts);
        let from = used().map(|of| of.from as usize).min().unwrap_or(0);
        let most = bucket::count::<COUNT_BITS>();
        let until = used().map(|of| of.from as usize + of.counts.len()).max().unwrap_or(0).min(most);
        if detail.heat && from < until {
            data.bounds = (from..=until).map(bucket::lowest::<COUNT_BITS>).collect();
        }
        for joined in scheme.series.chunks(detail.join) {
            let mut sum = [0; 4];
            for point in joined {
                sum.iter_mut().zip(percentiles(point, op)).for_each(|(sum, ns)| *sum = ns.max(*sum));
            }
            let lists = [&mut data.p50, &mut data.p99, &mut data.p999, &mut data.max];
            lists.into_iter().zip(sum).for_each(|(list, ns)| list.push(ns));
            if data.bounds.is_empty() {
                continue;
            }
            let mut row = vec![0u64; until - from];
            for of in joined.iter().filter_map(counts) {
                let cells = row.iter_mut().skip(of.from as usize - from);
                cells.zip(&of.counts).for_each(|(cell, count)| *cell = cell.saturating_add(*count));
            }
            let empty = row.iter().take_while(|count| **count == 0).count();
            let end = row.iter().rposition(|count| *count > 0).map_or(empty, |last| last + 1);
            data.counts.push([&[empty as u64], &row[empty.min(end)..end]].concat());
        }
        data
    }
}

/// A number rounded to `digits` significant digits, which keeps its text short.
fn digits(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(digits - 1 - value.abs().log10().floor() as i32);
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { value }
}
