//! The lifetime of a drive under a workload, for each scheme, until the drive becomes read-only.

use super::{config_of, show};
use crate::args::LifetimeArgs;
use crate::error::CliError;
use crate::progress::Progress;
use crate::run::{of_a_log, threads, workload};
use crate::terminal::{Terminal, catch_interrupts, interrupted, print, print_json};
use serde::Serialize;
use tailcut_core::policy::wear::WearConfig;
use tailcut_report::text::{Grid, cut, duration};
use tailcut_sim::life::DriveLife;
use tailcut_sim::{Cache, Experiment, SchemeSpec, Snapshots};
use tailcut_units::quantity::human_bytes;
use tailcut_workload::TraceReplay;

/// The smallest difference in erases between blocks at which wear levelling acts. A smaller difference is random.
const LEAST_GAP: u32 = 5;

/// The lifetime of one scheme's drive.
#[derive(Serialize)]
struct Row {
    scheme: String,
    /// A block with more raw bit errors per KiB is retired.
    requirement: u32,
    /// Bytes written in the lifetime, relative to those of the first scheme.
    against_first: f64,
    #[serde(flatten)]
    life: DriveLife,
}

/// The results of all schemes, and the settings.
#[derive(Serialize)]
struct Lives {
    device: String,
    workload: String,
    cycles_per_erase: u32,
    untimed_cycles: u32,
    capacity_bytes: u64,
    seed: u64,
    /// Whether the command was interrupted, so that results are incomplete or missing.
    partial: bool,
    schemes: Vec<Row>,
}

/// Run the workload on each scheme's drive, and print the lifetimes.
pub fn run(args: &LifetimeArgs, text: &str) -> Result<(), CliError> {
    let terminal = Terminal::new(args.json);
    let mut schemes = Vec::new();
    let mut requirements = Vec::new();
    for name in args.scheme.iter().map(|name| name.trim()) {
        let mut config = config_of(args, name)?;
        let erase = config.erase.as_mut().expect("it chooses pulses");
        erase.cycles_per_erase = args.cycles_per_erase;
        let bits = args.requirement.or(config.faults.worn).unwrap_or(erase.worn_errors);
        config.faults.worn = Some(bits);
        requirements.push(bits);
        if let WearConfig::StaticThreshold(wear) = &config.policy.wear
            && wear.gap < LEAST_GAP * args.cycles_per_erase
        {
            terminal.warn(&format!(
                "{name}: an erase stands for {} cycles, and wear levelling acts from a difference of {} on: it \
                 moves more than it would; take at most {} with --cycles-per-erase",
                args.cycles_per_erase,
                wear.gap,
                (wear.gap / LEAST_GAP).max(1)
            ));
        }
        schemes.push(SchemeSpec { name: name.to_string(), config });
    }
    let workload = workload(&[text.to_string()], &TraceReplay::default())?;
    if workload.log().is_some() {
        return Err(CliError::Input(of_a_log(text)));
    }
    let experiment = Experiment {
        schemes,
        workload: &workload,
        seed: args.seed,
        runs: 1,
        past: None,
        snapshots: Cache::of_user().map_or(Snapshots::Off, Snapshots::Cached),
        threads: args.threads.map_or_else(threads, usize::from),
        fine: None,
        one_past: false,
        timeline: None,
    };
    let plan = experiment.plan()?;
    for warning in &plan.warnings {
        terminal.warn(warning);
    }
    catch_interrupts();
    let progress = Progress::new(&plan, experiment.schemes.len());
    let lives = experiment.live(&plan, args.stage, args.untimed_cycles, &progress);
    progress.finish();
    let partial = interrupted();
    let mut rows: Vec<Row> = Vec::new();
    for ((spec, requirement), life) in experiment.schemes.iter().zip(requirements).zip(lives?) {
        let Some(life) = life else { continue };
        let first = rows.first().map_or(life.written, |row| row.life.written);
        let against_first = life.written as f64 / first.max(1) as f64;
        if !life.ended && !partial {
            terminal.warn(&format!(
                "{}: the workload ended before the drive was read-only; give it more requests or more time",
                spec.name
            ));
        }
        rows.push(Row { scheme: spec.name.clone(), requirement, against_first, life });
    }
    let lives = Lives {
        device: args.device.clone(),
        workload: text.to_string(),
        cycles_per_erase: args.cycles_per_erase,
        untimed_cycles: args.untimed_cycles,
        capacity_bytes: plan.capacity,
        seed: args.seed,
        partial,
        schemes: rows,
    };
    let shown = || match args.json {
        true => print_json(&lives),
        false => print(&(summary(&lives) + &stages(&lives))),
    };
    show(partial, lives.schemes.is_empty(), shown)
}

/// One row for each scheme.
fn summary(lives: &Lives) -> String {
    let mut grid = Grid::with_widths(&[9]);
    let head = ["scheme", "written", "drive writes", "against", "cycles p1", "median", "p99"];
    grid.row(head.map(String::from));
    grid.rule();
    for row in &lives.schemes {
        let life = &row.life;
        let more = if life.ended { "" } else { "+" };
        let drive_writes = life.written_in_life as f64 / lives.capacity_bytes.max(1) as f64;
        let mut cells = vec![
            cut(&row.scheme, 24),
            human_bytes(life.written_in_life) + more,
            format!("{drive_writes:.0}{more}"),
            format!("{:+.1} %{more}", 100.0 * (row.against_first - 1.0)),
        ];
        cells.extend(life.cycles.map(|n| n.to_string()));
        grid.row(cells);
    }
    let stands_for = match lives.cycles_per_erase {
        1 => String::new(),
        n => format!("(an erase of the run stands for {n} cycles)\n"),
    };
    let untimed = match lives.untimed_cycles {
        0 => String::new(),
        n => format!("(measured in one of {} cycles)\n", n + 1),
    };
    format!(
        "Bytes written until a drive of {} is read-only, and the program/erase cycles of its blocks then\n\
         {stands_for}{untimed}{}",
        lives.device,
        grid.render()
    )
}

/// The stages of each scheme.
fn stages(lives: &Lives) -> String {
    let mut text = String::new();
    for row in &lives.schemes {
        let mut grid = Grid::with_widths(&[9]);
        let head = [
            "cycles",
            "least",
            "most",
            "spares",
            "bad blocks",
            "mean erase",
            "read p50",
            "p99.9",
            "p99.99",
            "WAF",
        ];
        let chooses = row.life.stages.iter().any(|stage| stage.full_voltage.is_some());
        let mut head = head.map(String::from).to_vec();
        head.extend(chooses.then(|| "full voltage".to_string()));
        grid.row(head);
        grid.rule();
        let time = |ns: Option<u64>| ns.map_or("-".to_string(), |ns| duration(ns as f64));
        for stage in &row.life.stages {
            let mut cells = vec![
                format!("{:.0}", stage.cycles_mean),
                stage.cycles_min.to_string(),
                stage.cycles_max.to_string(),
                stage.spare_extents.to_string(),
                stage.grown_bad.to_string(),
                stage.pulse_ns.map_or("-".to_string(), duration),
                time(stage.read_p50_ns),
                time(stage.read_p99_9_ns),
                time(stage.read_p99_99_ns),
                stage.waf.map_or("-".to_string(), |waf| format!("{waf:.2}")),
            ];
            let share = |part: f64| format!("{:.1} %", 100.0 * part);
            cells.extend(chooses.then(|| stage.full_voltage.map_or("-".to_string(), share)));
            grid.row(cells);
        }
        text += &format!("\n{}\n{}", row.scheme, grid.render());
    }
    text
}
