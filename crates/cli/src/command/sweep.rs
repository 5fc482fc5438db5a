//! `tailcut sweep`: one run for each point of a design.

use crate::args::SweepArgs;
use crate::error::CliError;
use crate::progress::Progress;
use crate::run::threads;
use crate::terminal::{Terminal, catch_interrupts, interrupt, print};
use std::collections::HashMap;
use std::path::Path;
use tailcut_report::text::{Grid, cut, duration, rate, wrapped};
use tailcut_sim::sweep::design::Design;
use tailcut_sim::sweep::table::Row;
use tailcut_sim::sweep::{Options, Swept, sweep as run};
use tailcut_sim::{Cache, settings};
use tailcut_stats::percentile;
use tailcut_units::HostOp;

/// The most points whose figures are printed. The results contain all points.
const SHOWN: usize = 30;

/// The most failures that are printed.
const FAILURES: usize = 5;

/// Run a sweep and print its results.
pub fn sweep(args: &SweepArgs) -> Result<(), CliError> {
    let design = design(args)?;
    let cache = if args.no_cache { None } else { Cache::of_user() };
    let threads = args.threads.map_or_else(threads, |n| n as usize);
    let options = Options { out: args.out.clone(), threads, cache, interrupt: interrupt() };
    catch_interrupts();
    let progress = Progress::of_tasks(0);
    let swept = run(&design, &options, &progress);
    progress.finish();
    let swept = swept?;
    print(&text(&design, &swept))?;
    let terminal = Terminal::new(false);
    let devices = design.axis.iter().find(|axis| axis.key == "device").filter(|_| swept.writes());
    if let Some(line) =
        devices.and_then(|axis| settings::of_devices(&axis.values, &design.config, &design.set))
    {
        terminal.warn(&line);
    }
    for warning in warnings(&swept) {
        terminal.warn(&warning);
    }
    let failed = swept.points.iter().filter(|p| matches!(p.2, Row::Failed(_))).count();
    if swept.stopped {
        return Err(CliError::Failed(
            "interrupted: the results are partial; the same command goes on".into(),
        ));
    }
    match failed {
        0 => Ok(()),
        n => Err(CliError::Failed(format!("{n} of {} points failed", swept.points.len()))),
    }
}

fn design(args: &SweepArgs) -> Result<Design, CliError> {
    if args.axis.is_empty() {
        if !args.target.ends_with(".toml") {
            return Err(CliError::Input(format!(
                "`{}`: give the file of a design ending in .toml, or a device with at least one --axis",
                args.target
            )));
        }
        return Ok(Design::read(Path::new(&args.target))?);
    }
    let default = Design::default();
    let design = Design {
        device: args.target.clone(),
        workload: args.workload.clone().unwrap_or(default.workload),
        seed: args.seed.unwrap_or(default.seed),
        runs: args.runs.unwrap_or(default.runs),
        precondition: args.precondition.map(|past| past.name().to_string()),
        config: args.config.clone(),
        set: args.set.clone(),
        random: args.random,
        axis: args.axis.clone(),
        scheme: default.scheme,
    };
    design.checked().map_err(CliError::Input)
}

/// The warnings of the points, each once.
fn warnings(swept: &Swept) -> Vec<String> {
    let mut texts: Vec<(&str, usize, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (i, (_, _, row)) in swept.points.iter().enumerate() {
        let Row::Finished(point) = row else { continue };
        for text in &point.warnings {
            let place = *places.entry(text).or_insert_with(|| {
                texts.push((text, i + 1, 0));
                texts.len() - 1
            });
            texts[place].2 += 1;
        }
    }
    let said = |(text, first, points): (&str, usize, usize)| match points - 1 {
        0 => format!("point {first}: {text}"),
        more => format!("point {first} and {more} more: {text}"),
    };
    let mut all: Vec<String> = texts.into_iter().map(said).collect();
    let more = all.len().saturating_sub(FAILURES);
    all.truncate(FAILURES);
    if more > 0 {
        all.push(format!("{more} more warnings; those of a point are in its file in `points`"));
    }
    all
}

fn text(design: &Design, swept: &Swept) -> String {
    let count = |status: &str| swept.points.iter().filter(|p| p.2.status() == status).count();
    let (finished, failed, not_run) = (count("finished"), count("failed"), count("not run"));
    let mut out = String::new();
    let mut grid = Grid::default().names(1 + design.axis.len());
    let ops: Vec<HostOp> = [HostOp::Read, HostOp::Write].into_iter().filter(|&op| any(swept, op)).collect();
    let doubts = swept.doubts(|i| format!("point {}", i + 1));
    let mut head = vec!["#".to_string()];
    head.extend(design.axis.iter().map(|axis| cut(short(design, &axis.key), 24)));
    head.extend(ops.first().map(|op| format!("{} IOPS", op.name())));
    head.extend(ops.iter().map(|op| format!("{} p99.9", op.name())));
    head.push("WAF".into());
    grid.row(head);
    grid.rule();
    for (i, (values, _, row)) in swept.points.iter().enumerate().take(SHOWN) {
        let mark = if doubts[i].is_empty() { "" } else { " !" };
        let mut cells = vec![format!("{}{mark}", i + 1)];
        cells.extend(values.iter().map(|value| cut(value, 24)));
        match row {
            Row::Finished(point) => {
                let of = |op: HostOp| point.scheme.side(op);
                cells.extend(ops.first().map(|&op| rate(of(op).iops)));
                cells.extend(ops.iter().map(|&op| {
                    let at = of(op).lat_ns.percentile.get(&percentile::key(99.9));
                    at.map_or("-".to_string(), |&ns| duration(ns as f64))
                }));
                cells.push(point.scheme.waf.map_or("-".into(), |waf| format!("{waf:.2}")));
            }
            other => cells.push(other.status().to_string()),
        }
        grid.row(cells);
    }
    out.push_str(&grid.render());
    if swept.points.len() > SHOWN {
        out.push_str(&format!("  … and {} more points\n", swept.points.len() - SHOWN));
    }
    let failures = swept.points.iter().enumerate().filter_map(|(i, p)| match &p.2 {
        Row::Failed(why) => Some((i, why)),
        _ => None,
    });
    for (i, why) in failures.take(FAILURES) {
        out.push_str(&wrapped(&format!("! point {} failed: {why}\n", i + 1), 2));
    }
    let notes = doubts.iter().enumerate().flat_map(|(i, of)| of.iter().map(move |why| (i + 1, why)));
    for (point, why) in notes.clone().take(FAILURES) {
        out.push_str(&wrapped(&format!("! point {point}: {why}\n"), 2));
    }
    if let more @ 1.. = notes.count().saturating_sub(FAILURES) {
        out.push_str(&format!("! and {more} more such notes\n"));
    }
    let stopped = if not_run > 0 { format!(", {not_run} not run") } else { String::new() };
    out.push_str(&format!(
        "\n{} points: {finished} finished ({} read back), {failed} failed{stopped}\n",
        swept.points.len(),
        swept.read_back
    ));
    let files: Vec<String> = swept.files.iter().map(|file| file.display().to_string()).collect();
    out.push_str(&format!("written to {}\n", files.join(", ")));
    out
}

/// The last part of an axis's key, if it is unique among the axes.
fn short<'a>(design: &Design, key: &'a str) -> &'a str {
    let last = |key: &'a str| key.rsplit('.').next().unwrap_or(key);
    let same = design.axis.iter().filter(|axis| axis.key.rsplit('.').next() == Some(last(key))).count();
    if same > 1 { key } else { last(key) }
}

fn any(swept: &Swept, op: HostOp) -> bool {
    let with = |row: &Row| matches!(row, Row::Finished(point) if point.scheme.side(op).total_ios > 0);
    swept.points.iter().any(|(_, _, row)| with(row))
}
