//! `tailcut ldpc predict`: measures whether syndrome weights predict that a page cannot be decoded.

use super::progress::Progress;
use crate::args::PredictArgs;
use crate::error::CliError;
use crate::run::threads;
use crate::terminal::{catch_interrupts, print, print_json};
use serde::Serialize;
use std::fs;
use std::path::Path;
use tailcut_ldpc::{Code, Predict, Predictions, Schedule, Table, Thresholds, Wrong, predict};
use tailcut_report::text::{Grid, grouped};

/// The published accuracies of RiF (HPCA 2024), for predictions from the whole page and from one chunk.
const PUBLISHED: [f64; 2] = [0.991, 0.987];

/// Accuracies against the raw bit error rate.
#[derive(Serialize)]
struct Accuracies {
    schedule: &'static str,
    factor: String,
    iterations: u8,
    seed: u64,
    pages: u32,
    page_threshold: u32,
    chunk_threshold: u32,
    points: Vec<Point>,
    page: Area,
    chunk: Area,
}

#[derive(Serialize)]
struct Point {
    rber: f64,
    failed: u64,
    page: Kind,
    chunk: Kind,
}

/// Predictions of one kind.
#[derive(Serialize)]
struct Kind {
    needless: u64,
    missed: u64,
    accuracy: f64,
    accuracy_low: f64,
    accuracy_high: f64,
}

/// The share of wrong predictions, integrated over the raw bit error rate by the trapezoidal rule.
#[derive(Serialize)]
struct Area {
    /// In units of a rate of 0.001: the share of wrong predictions if one read in each 0.001 of the rate is all
    /// of the reads.
    wrong: f64,
    /// Share of the reads in each 0.001 of the rate that gives the published accuracy.
    published: f64,
    density: Option<f64>,
}

/// Measure the accuracies and print them.
pub fn run(args: &PredictArgs) -> Result<(), CliError> {
    if args.rber.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(CliError::Input("--rber: the rates must increase".into()));
    }
    let mut table = args.table.as_deref().map_or_else(|| Ok(Table::shipped()), read)?;
    table.schedule = args.schedule.map_or(table.schedule, Schedule::from);
    let code = Code::new(table.code_seed);
    let limits = Thresholds::at_limit(&code, &table);
    let thresholds = Thresholds {
        page: args.page_threshold.unwrap_or(limits.page),
        chunk: args.chunk_threshold.unwrap_or(limits.chunk),
    };
    catch_interrupts();
    let pages = u64::from(args.pages);
    let progress = Progress::new(pages * args.rber.len() as u64);
    let threads = args.threads.map_or_else(threads, usize::from);
    let found = args.rber.iter().map(|&rber| {
        let what = Predict { seed: args.seed, settings: table.settings(), rber, thresholds, pages };
        Some(point(rber, &predict(&code, &what, threads, &|more| progress.count(more))?))
    });
    let points = found.collect::<Option<Vec<Point>>>();
    progress.finish();
    let points = points.ok_or_else(|| CliError::Failed("interrupted".into()))?;
    let all = Accuracies {
        schedule: table.schedule.name(),
        factor: table.factor.to_string(),
        iterations: table.iterations,
        seed: args.seed,
        pages: args.pages,
        page_threshold: thresholds.page,
        chunk_threshold: thresholds.chunk,
        page: area(&points, PUBLISHED[0], |p| p.page.accuracy),
        chunk: area(&points, PUBLISHED[1], |p| p.chunk.accuracy),
        points,
    };
    if args.json { print_json(&all) } else { print(&rows(&all)) }
}

/// Read a table from a file.
fn read(from: &Path) -> Result<Table, CliError> {
    let text = fs::read_to_string(from).map_err(|e| e.to_string());
    let table = text.and_then(|text| text.parse::<Table>().map_err(|e| e.to_string()));
    table.map_err(|e| CliError::Input(format!("--table {}: {e}", from.display())))
}

fn point(rber: f64, found: &Predictions) -> Point {
    let kind = |wrong: &Wrong| {
        let accuracy = wrong.accuracy(found.pages);
        Kind {
            needless: wrong.needless,
            missed: wrong.missed,
            accuracy: accuracy.share,
            accuracy_low: accuracy.low,
            accuracy_high: accuracy.high,
        }
    };
    Point { rber, failed: found.failed, page: kind(&found.page), chunk: kind(&found.chunk) }
}

fn area(points: &[Point], published: f64, accuracy: fn(&Point) -> f64) -> Area {
    let between = |pair: &[Point]| {
        let [a, b] = [&pair[0], &pair[1]].map(|p| 1.0 - accuracy(p));
        (a + b) / 2.0 * (pair[1].rber - pair[0].rber) / 0.001
    };
    let wrong: f64 = points.windows(2).map(between).sum();
    Area { wrong, published, density: (wrong > 0.0).then(|| (1.0 - published) / wrong) }
}

fn rows(all: &Accuracies) -> String {
    let mut grid = Grid::with_widths(&[8]);
    let head = ["rber", "fail", "page", "95 %", "needless", "missed", "chunk", "95 %", "needless", "missed"];
    grid.row(head.map(String::from));
    grid.rule();
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    for point in &all.points {
        let mut row = vec![point.rber.to_string(), percent(point.failed as f64 / f64::from(all.pages))];
        for kind in [&point.page, &point.chunk] {
            row.push(percent(kind.accuracy));
            row.push(format!("{:.1} to {:.1}", 100.0 * kind.accuracy_low, 100.0 * kind.accuracy_high));
            row.extend([kind.needless, kind.missed].map(grouped));
        }
        grid.row(row);
    }
    let density = |area: &Area| match area.density {
        None => "no prediction was wrong".to_string(),
        Some(density) => format!(
            "{} follow if {} of the reads lie in each 0.001 of the rate",
            percent(area.published),
            percent(density)
        ),
    };
    format!(
        "{} pages of four codewords in each row; min-sum, {}, factor {}, at most {} iterations\n\
         correctable up to a weight of {} of 16,384 (page) and {} of 1,024 \
         (chunk)\n{}published accuracy of the page: {}\npublished accuracy of the chunk: {}\n",
        grouped(u64::from(all.pages)),
        all.schedule,
        all.factor,
        all.iterations,
        all.page_threshold,
        all.chunk_threshold,
        grid.render(),
        density(&all.page),
        density(&all.chunk),
    )
}
