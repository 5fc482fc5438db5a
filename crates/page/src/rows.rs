//! The rows of a page's tables.

use crate::data::{Detail, named};
use crate::run::Run;
use tailcut_report::slowest::SlowLine;
use tailcut_report::summary::{ConfigValue, OpSummary, Scheme};
use tailcut_report::tables::plural;
use tailcut_report::text::{duration, grouped, percent, rate};
use tailcut_stats::percentile;
use tailcut_units::quantity::human_bytes;
use tailcut_units::{Cause, HostOp};

/// The percentiles of the results.
pub const PERCENTILES: [f64; 5] = [50.0, 99.0, 99.9, 99.99, 99.999];

/// A value with its confidence interval in words, and whether few requests are behind it.
pub struct Cell {
    pub value: String,
    pub interval: String,
    pub thin: bool,
}

/// The results of one kind of request.
pub struct Results {
    pub title: String,
    pub rows: Vec<ResultRow>,
}

/// The results of one scheme.
pub struct ResultRow {
    pub scheme: String,
    pub requests: String,
    pub iops: String,
    pub cells: Vec<Cell>,
    pub max: String,
    pub waf: String,
}

/// The use of the parts of the drive by scheme: name, dies, planes, channels, link.
pub fn usage(runs: &[Run]) -> Vec<(String, [String; 4])> {
    let of = |(name, run, i): (String, &Run, usize)| {
        let used = run.summary.schemes[i].utilisation?;
        let part = |part: tailcut_report::summary::Use| {
            format!("{} (busiest {})", percent(part.mean, 1.0), percent(part.busiest, 1.0))
        };
        Some((name, [used.dies, used.planes, used.channels, used.host_link].map(part)))
    };
    named(runs).filter_map(of).collect()
}

/// The results of all schemes by kind.
pub fn results(runs: &[Run]) -> Vec<Results> {
    let kinds = HostOp::ALL.into_iter().map(|op| {
        let rows = named(runs).filter(|(_, run, i)| run.summary.schemes[*i].side(op).total_ios > 0);
        let rows = rows.map(|(name, run, i)| result(name, &run.summary.schemes[i], op));
        Results { title: title(op), rows: rows.collect() }
    });
    kinds.filter(|kind| !kind.rows.is_empty()).collect()
}

/// `Reads`.
pub fn title(op: HostOp) -> String {
    let word = plural(op);
    word[..1].to_uppercase() + &word[1..]
}

fn result(name: String, scheme: &Scheme, op: HostOp) -> ResultRow {
    let side = scheme.side(op);
    let lat = &side.lat_ns;
    let between = |low: f64, high: f64| format!("{} to {}", short(low), short(high));
    let mean = Cell {
        value: short(lat.mean),
        interval: lat.mean_ci95.map_or(String::new(), |[low, high]| between(low, high)),
        thin: false,
    };
    let percentiles = PERCENTILES.iter().map(|&p| at(side, p, &between));
    ResultRow {
        scheme: name,
        requests: grouped(side.total_ios),
        iops: rate(side.iops),
        cells: [mean].into_iter().chain(percentiles).collect(),
        max: short(lat.max as f64),
        waf: scheme.waf.map_or("–".to_string(), |waf| format!("{waf:.2}")),
    }
}

fn at(side: &OpSummary, percent: f64, between: &dyn Fn(f64, f64) -> String) -> Cell {
    let key = percentile::key(percent);
    Cell {
        value: side.lat_ns.percentile.get(&key).map_or("–".to_string(), |ns| short(*ns as f64)),
        interval: side
            .lat_ns
            .ci95
            .get(&key)
            .map_or(String::new(), |[low, high]| between(*low as f64, *high as f64)),
        thin: percentile::is_thin(percent, side.total_ios),
    }
}

/// A duration without the blanks that line it up.
fn short(ns: f64) -> String {
    duration(ns).trim_end().to_string()
}

/// The slowest requests of one scheme and kind.
pub struct Slowest {
    pub title: String,
    pub rows: Vec<SlowRow>,
    pub scheme: String,
}

/// A slow request.
pub struct SlowRow {
    pub latency: String,
    pub completed: String,
    pub range: String,
    pub job: String,
    pub status: String,
    /// What occupied its die while it waited for it; then its channel; then its other times. The longest first, each with
    /// a note.
    pub die: Vec<(String, String)>,
    pub channel: Vec<(String, String)>,
    pub other: Vec<(String, String)>,
}

/// The slowest requests of all schemes.
pub fn slowest(runs: &[Run], detail: Detail) -> Vec<Slowest> {
    let mut all = Vec::new();
    for (name, run, i) in named(runs) {
        for op in HostOp::ALL {
            let lines = &run.slowest[i][op as usize];
            let ok = lines.iter().filter(|line| line.status.is_none()).take(detail.slowest);
            let failed = lines.iter().filter(|line| line.status.is_some()).take(detail.slowest);
            let rows: Vec<SlowRow> = ok.chain(failed).map(slow_row).collect();
            if !rows.is_empty() {
                all.push(Slowest { title: format!("{name}, {}", plural(op)), rows, scheme: name.clone() });
            }
        }
    }
    all
}

/// The most causes in a cell.
const CAUSES: usize = 4;

fn slow_row(line: &SlowLine) -> SlowRow {
    let mut causes: Vec<(&str, u64)> = line.causes.iter().map(|(name, ns)| (name.as_str(), *ns)).collect();
    causes.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    let describe = |name: &str| {
        Cause::all().find(|cause| cause.name() == name).map_or(name.to_string(), Cause::describe)
    };
    let (mut die, mut channel, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for (name, ns) in causes {
        let time = short(ns as f64);
        let plain = |text: String, first: &str| text.strip_prefix(first).map_or(text.clone(), String::from);
        if name.starts_with("die_wait.") {
            die.push((format!("{time} {}", plain(describe(name), "die busy with ")), name.to_string()));
        } else if name.starts_with("channel_wait.") {
            channel
                .push((format!("{time} {}", plain(describe(name), "channel busy for ")), name.to_string()));
        } else {
            other.push((format!("{time} {name}"), describe(name)));
        }
    }
    for cell in [&mut die, &mut channel, &mut other] {
        let more = cell.len().saturating_sub(CAUSES);
        cell.truncate(CAUSES);
        cell.extend((more > 0).then(|| (format!("{more} smaller"), "see tailcut explain".to_string())));
    }
    SlowRow {
        latency: short(line.latency_ns as f64),
        completed: format!("{:.6} s", line.completed_ns as f64 / 1e9),
        range: match line.op {
            HostOp::Flush => "–".to_string(),
            _ => format!("{} at {}", human_bytes(u64::from(line.bytes)), grouped(line.offset)),
        },
        job: line.job.clone(),
        status: line
            .status
            .and_then(|status| Some(serde_json::to_value(status).ok()?.as_str()?.replace('_', " ")))
            .unwrap_or_default(),
        die,
        channel,
        other,
    }
}

/// A key of the configuration and its values: one for all schemes, or one for each scheme that has its own.
pub struct ConfigRow {
    pub key: String,
    pub values: Vec<ConfigCell>,
    pub differs: bool,
}

/// A value of the configuration.
pub struct ConfigCell {
    /// The schemes that have it; empty if all have.
    pub schemes: String,
    pub value: String,
    pub layer: String,
    pub source: String,
}

/// The configuration of all schemes by key, in the order of the first that has the key; those that differ come first.
pub fn config(runs: &[Run]) -> Vec<ConfigRow> {
    let mut keys: Vec<&str> = Vec::new();
    let mut known = std::collections::HashSet::new();
    let mut of_scheme: Vec<(String, std::collections::HashMap<&str, &ConfigValue>)> = Vec::new();
    for (name, run, i) in named(runs) {
        let config = &run.summary.schemes[i].config;
        keys.extend(config.iter().map(|(key, _)| key.as_str()).filter(|key| known.insert(*key)));
        of_scheme.push((name, config.iter().map(|(key, value)| (key.as_str(), value)).collect()));
    }
    let mut rows: Vec<ConfigRow> = keys.into_iter().map(|key| config_row(key, &of_scheme)).collect();
    rows.sort_by_key(|row| !row.differs);
    rows
}

fn config_row(key: &str, schemes: &[(String, std::collections::HashMap<&str, &ConfigValue>)]) -> ConfigRow {
    let mut groups: Vec<(Option<&ConfigValue>, Vec<&str>)> = Vec::new();
    for (name, values) in schemes {
        let value = values.get(key).copied();
        match groups.iter_mut().find(|(other, _)| other.map(|o| &o.value) == value.map(|v| &v.value)) {
            Some((_, names)) => names.push(name),
            None => groups.push((value, vec![name])),
        }
    }
    let differs = groups.len() > 1;
    let values = groups.into_iter().map(|(value, names)| ConfigCell {
        schemes: if differs { names.join(", ") } else { String::new() },
        value: value.map_or("not set".to_string(), |v| match &v.value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        }),
        layer: value.map_or(String::new(), |v| v.layer.clone()),
        source: value.and_then(|v| v.source.clone()).unwrap_or_default(),
    });
    ConfigRow { key: key.to_string(), values: values.collect(), differs }
}
