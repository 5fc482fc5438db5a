//! The results of a sweep: a row for each point.

use crate::MODEL_VERSION;
use crate::sweep::design::Design;
use crate::sweep::folder::Finished;
use tailcut_report::figure::Figure;
use tailcut_report::rows::{Cell, RowKind, Rows};
use tailcut_report::summary::{OpSummary, Scheme};
use tailcut_stats::percentile::{self, LEVELS};
use tailcut_units::HostOp;

/// The percentiles in the table.
fn levels() -> impl Iterator<Item = f64> {
    LEVELS.into_iter().filter(|level| *level >= 50.0)
}

/// The percentiles whose intervals are in the table.
const INTERVALS: [f64; 4] = [50.0, 99.0, 99.9, 99.99];

/// What became of a point.
#[derive(Clone, Debug)]
pub enum Row {
    /// Its results.
    Finished(Box<Finished>),
    /// Why there are none.
    Failed(String),
    /// The sweep was stopped before it.
    NotRun,
}

impl Row {
    /// `finished`, `failed` or `not run`.
    pub fn status(&self) -> &'static str {
        match self {
            Row::Finished(_) => "finished",
            Row::Failed(_) => "failed",
            Row::NotRun => "not run",
        }
    }
}

type Of = (String, RowKind, Box<dyn Fn(&Finished) -> Cell>);

/// The table of all points, in their order. Columns: `point` (from 1), the axes as texts, `status`, `error`, `key`, and the
/// figures, which are empty where the point has none.
pub fn table(design: &Design, points: &[(Vec<String>, String, Row)]) -> Rows {
    let figures = figures();
    let text = |name: &str| (name.to_string(), RowKind::Text);
    let mut columns = vec![("point".to_string(), RowKind::Number)];
    columns.extend(design.axis.iter().map(|axis| text(&format!("axis.{}", axis.key))));
    columns.extend([text("status"), text("error"), text("key")]);
    columns.extend(figures.iter().map(|(name, kind, _)| (name.clone(), *kind)));
    let row = |(i, (values, key, row)): (usize, &(Vec<String>, String, Row))| {
        let mut cells = vec![Cell::Number(i as u64 + 1)];
        cells.extend(values.iter().cloned().map(Cell::Text));
        let error = match row {
            Row::Failed(why) => Cell::Text(why.clone()),
            _ => Cell::Empty,
        };
        let key = if key.is_empty() { Cell::Empty } else { Cell::Text(key.clone()) };
        cells.extend([Cell::Text(row.status().to_string()), error, key]);
        cells.extend(figures.iter().map(|(_, _, of)| match row {
            Row::Finished(finished) => of(finished),
            _ => Cell::Empty,
        }));
        cells
    };
    Rows { columns, rows: points.iter().enumerate().map(row).collect() }
}

/// The figures of a finished point.
fn figures() -> Vec<Of> {
    let mut all: Vec<Of> = Vec::new();
    let mut float = |name: &str, of: fn(&Scheme) -> Option<f64>| {
        all.push((name.to_string(), RowKind::Float, Box::new(move |p| Cell::float(of(&p.scheme)))));
    };
    float("waf", |s| s.waf);
    float("dies_in_use", |s| s.utilisation.map(|u| u.dies.mean));
    float("channels_in_use", |s| s.utilisation.map(|u| u.channels.mean));
    float("blocked_reads_fraction", |s| s.gc.as_ref()?.blocked_reads_fraction);
    float("energy_mj", |s| s.energy_mj);
    float("cpu_seconds", |s| Some(s.cpu_seconds));
    float("offered_iops", |s| s.load?.offered_iops);
    let mut number = |name: &str, of: fn(&Finished) -> Option<u64>| {
        all.push((name.to_string(), RowKind::Number, Box::new(move |p| Cell::number(of(p)))));
    };
    number("keeps_up", |p| p.scheme.load.map(|load| u64::from(load.keeps_up)));
    number("host_capacity_bytes", |p| Some(p.host_capacity_bytes));
    number("runs", |p| Some(u64::from(p.scheme.runs.unwrap_or(1))));
    number("runtime_ns", |p| Some(p.scheme.runtime_ns));
    number("erases", |p| p.scheme.erases);
    number("errors", |p| Some(p.scheme.errors));
    number("model_version", |_| Some(u64::from(MODEL_VERSION)));
    all.push(("digest".into(), RowKind::Text, Box::new(|p| Cell::Text(p.scheme.digest.clone()))));
    HostOp::ALL.into_iter().for_each(|op| all.extend(of_op(op)));
    all
}

/// The figures of one kind of request; empty where there was none.
fn of_op(op: HostOp) -> Vec<Of> {
    let name = |what: &str| format!("{}_{what}", op.name());
    let with = move |p: &Finished, of: &dyn Fn(&OpSummary) -> Cell| match p.scheme.side(op) {
        side if side.total_ios == 0 => Cell::Empty,
        side => of(side),
    };
    let mut all: Vec<Of> = Vec::new();
    let mut add = |what: &str, kind: RowKind, of: Box<dyn Fn(&OpSummary) -> Cell>| {
        all.push((name(what), kind, Box::new(move |p| with(p, &of))));
    };
    add("requests", RowKind::Number, Box::new(|side| Cell::Number(side.total_ios)));
    add("iops", RowKind::Float, Box::new(|side| Cell::Float(side.iops)));
    add("bw_bytes", RowKind::Float, Box::new(|side| Cell::Float(side.bw_bytes)));
    add("mean_ns", RowKind::Float, Box::new(|side| Cell::Float(side.lat_ns.mean)));
    for (end, i) in [("low", 0), ("high", 1)] {
        add(
            &format!("mean_{end}_ns"),
            RowKind::Float,
            Box::new(move |s| Cell::float(s.lat_ns.mean_ci95.map(|ci| ci[i]))),
        );
    }
    add("max_ns", RowKind::Number, Box::new(|side| Cell::Number(side.lat_ns.max)));
    for level in levels() {
        let of = move |side: &OpSummary| Cell::number(Figure::Percentile(level).of(side).map(|ns| ns as u64));
        add(&format!("p{level}_ns"), RowKind::Number, Box::new(of));
    }
    for level in INTERVALS {
        for (end, i) in [("low", 0), ("high", 1)] {
            let of = move |side: &OpSummary| {
                Cell::number(side.lat_ns.ci95.get(&percentile::key(level)).map(|ci| ci[i]))
            };
            add(&format!("p{level}_{end}_ns"), RowKind::Number, Box::new(of));
        }
    }
    all
}
