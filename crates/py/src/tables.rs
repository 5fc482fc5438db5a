//! The tables of a run, as Parquet.

use tailcut_page::curve::Curve;
use tailcut_report::ReportError;
use tailcut_report::parquet::SeriesWriter;
use tailcut_report::rows::{Cell, RowKind, Rows};
use tailcut_report::slowest;
use tailcut_stats::Measured;
use tailcut_units::{Cause, HostOp};

/// The measurements of each scheme, by run.
type Schemes = [(String, Vec<Measured>)];

fn columns(all: &[(&str, RowKind)]) -> Vec<(String, RowKind)> {
    all.iter().map(|&(name, kind)| (name.to_string(), kind)).collect()
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_string())
}

/// The shares of requests that took at least so long, over all runs.
pub fn ccdf(schemes: &Schemes) -> Result<Vec<u8>, ReportError> {
    use RowKind::{Float, Number, Text};
    let columns = columns(&[("scheme", Text), ("op", Text), ("latency_ns", Number), ("share", Float)]);
    let mut rows = Vec::new();
    for (name, runs) in schemes {
        for op in HostOp::ALL {
            let mut all = runs[0].side(op).population.clone();
            runs[1..].iter().for_each(|run| all.merge(&run.side(op).population));
            let points = Curve::of(&all).points.into_iter();
            rows.extend(
                points.map(|(ns, share)| {
                    vec![text(name), text(op.name()), Cell::Number(ns), Cell::Float(share)]
                }),
            );
        }
    }
    Rows { columns, rows }.parquet(Vec::new())
}

/// The mean time by cause of the requests above a percentile, over all runs.
pub fn blame(schemes: &Schemes, above: f64) -> Result<Vec<u8>, ReportError> {
    use RowKind::{Float, Number, Text};
    let columns = columns(&[
        ("scheme", Text),
        ("op", Text),
        ("above", Float),
        ("threshold_ns", Number),
        ("requests", Number),
        ("mean_ns", Float),
        ("cause", Text),
        ("cause_ns", Float),
        ("share", Float),
    ]);
    let mut rows = Vec::new();
    for (name, runs) in schemes {
        for op in HostOp::ALL {
            let mut table = runs[0].side(op).blame.clone();
            runs[1..].iter().for_each(|run| table.merge(&run.side(op).blame));
            let Some(blame) = table.above(above) else { continue };
            rows.extend(blame.causes.iter().map(|(cause, ns)| {
                vec![
                    text(name),
                    text(op.name()),
                    Cell::Float(above),
                    Cell::Number(blame.threshold_ns),
                    Cell::Number(blame.requests),
                    Cell::Float(blame.mean_ns),
                    Cell::Text(cause.name()),
                    Cell::Float(*ns),
                    Cell::Float(if blame.mean_ns > 0.0 { ns / blame.mean_ns } else { 0.0 }),
                ]
            }));
        }
    }
    Rows { columns, rows }.parquet(Vec::new())
}

/// The slowest requests of each scheme's first run, with the causes that occur.
pub fn slowest(schemes: &Schemes) -> Result<Vec<u8>, ReportError> {
    use RowKind::{Number, Text};
    let lines: Vec<_> =
        schemes.iter().flat_map(|(name, runs)| slowest::lines(name, &runs[0], usize::MAX)).collect();
    let occurs = |cause: &String| lines.iter().any(|line| line.causes.get(cause).is_some());
    let causes: Vec<String> = Cause::all().map(|cause| cause.name()).filter(occurs).collect();
    let mut columns = columns(&[
        ("scheme", Text),
        ("index", Number),
        ("job", Text),
        ("op", Text),
        ("offset", Number),
        ("bytes", Number),
        ("arrived_ns", Number),
        ("completed_ns", Number),
        ("latency_ns", Number),
        ("status", Text),
    ]);
    columns.extend(causes.iter().map(|cause| (cause.clone(), Number)));
    let row = |line: &slowest::SlowLine| {
        let mut cells = vec![
            text(&line.scheme),
            Cell::Number(line.index),
            text(&line.job),
            text(line.op.name()),
            Cell::Number(line.offset),
            Cell::Number(u64::from(line.bytes)),
            Cell::Number(line.arrived_ns),
            Cell::Number(line.completed_ns),
            Cell::Number(line.latency_ns),
            text(line.status.map_or("ok", |status| status.name())),
        ];
        cells.extend(causes.iter().map(|cause| Cell::Number(line.causes.get(cause).copied().unwrap_or(0))));
        cells
    };
    Rows { columns, rows: lines.iter().map(row).collect() }.parquet(Vec::new())
}

/// The intervals of the summary.
pub fn series(scheme: &str, measured: &Measured) -> Result<Vec<u8>, ReportError> {
    let mut writer = SeriesWriter::new(Vec::new(), scheme)?;
    for interval in &measured.series {
        writer.push(interval)?;
    }
    writer.finish()
}
