//! `tailcut run`: runs a workload under one or more schemes, and writes tables and files.

mod describe;
mod highest;
mod replay;
mod sink;
mod timeline;

pub use describe::{counts_text, past_text, plan_text};

use self::replay::Replay;
use self::sink::Sinks;
use crate::args::RunArgs;
use crate::command::report::write_page;
use crate::error::CliError;
use crate::progress::Progress;
use crate::terminal::{Terminal, catch_interrupts, print};
use std::path::Path;
use tailcut_config::{Resolved, workload_preset};
use tailcut_report::{
    OutputFolder, difference, endurance, erases, faults, highest_rate, jobs, senses, tables, targets,
};
use tailcut_sim::files::{self, file_name};
use tailcut_sim::finished::explain_slowest;
use tailcut_sim::{
    Cache, Experiment, ExperimentError, Finished, Plan, SchemeSpec, Snapshots, finished, settings,
};
use tailcut_units::Span;
use tailcut_workload::{TraceReplay, WorkloadSpec};

/// Parse a workload. Workload presets are found by name.
pub fn workload(texts: &[String], replay: &TraceReplay) -> Result<WorkloadSpec, CliError> {
    let preset = |name: &str| workload_preset(name).ok().map(|p| p.job);
    Ok(WorkloadSpec::parse_all(texts, preset, replay)?)
}

/// Why the log of a served drive is no workload: its past is part of it.
pub fn of_a_log(name: &str) -> String {
    format!(
        "{name} is the log of a served drive: `tailcut run --replay {name}` replays it, with --set on a changed drive"
    )
}

/// The default number of runs at the same time.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub fn run(args: &RunArgs) -> Result<(), CliError> {
    if args.device.is_empty() && args.replay_log.is_none() {
        let text = "DEVICE is missing: a preset such as `z-ssd` (see `tailcut show devices`), or a device file ending in .toml";
        return Err(CliError::Input(text.into()));
    }
    let replay = Replay::of(args)?;
    let args = replay.as_ref().map_or(args, |replay| &replay.args);
    let terminal = Terminal::new(args.output.json);
    let layers = args.layers.on(&args.device);
    let resolved = layers.resolve(&args.scheme).map_err(|e| match &replay {
        Some(replay) => replay.renamed(e.into()),
        None => e.into(),
    })?;
    let mut lines = settings::of_schemes(&layers, &resolved)?;
    let workload = workload(&args.workload, &args.replay())?;
    if let (None, Some(log)) = (&replay, workload.log()) {
        return Err(CliError::Input(of_a_log(&log.name())));
    }
    let experiment = Experiment {
        schemes: schemes(&resolved),
        workload: &workload,
        seed: args.seed,
        runs: args.runs,
        one_past: args.one_drive,
        past: args.precondition,
        snapshots: snapshots(args)?,
        threads: args.threads.map_or_else(threads, |n| n as usize),
        fine: args.output.series_parquet.map(Span),
        timeline: args.output.timeline,
    };
    if let Some(path) = &args.output.report {
        tailcut_page::output::check(path)?;
    }
    let mut plan = experiment.plan().map_err(|e| placed(e, &resolved))?;
    lines.extend(settings::of_plan(&layers, &resolved, &experiment, &plan));
    if let Some(replay) = &replay {
        lines.extend(replay.past_differs());
        lines.iter_mut().for_each(|line| *line = replay.renamed_text(line));
    }
    plan.warnings.splice(0..0, lines);
    if args.snapshot.is_some() && !plan.past.is_kept() {
        let past = plan.past.name();
        let instead = if replay.is_some() { "" } else { "; add --precondition steady" };
        return Err(CliError::Input(format!(
            "--snapshot stores an aged drive, but the precondition is {past}{instead}"
        )));
    }
    catch_interrupts();
    // The folder is checked before anything runs. Its files are complete only at the end of the run.
    let mut folder = match &args.output.out {
        Some(path) => Some(OutputFolder::prepare(path, args.output.force)?),
        None => None,
    };
    // A closed or full standard output must not lose the results in the folder.
    let mut told = terminal.text(&plan_text(args.device_name(), &experiment, &plan));
    if folder.is_none() {
        told = Ok(told?);
    }
    for warning in &plan.warnings {
        terminal.warn(warning);
    }
    let mut finished = execute(&experiment, &plan, args, folder.as_mut())?;
    finished.configured(&resolved)?;
    finished.judged(&args.target);
    if args.highest_rate && !finished.summary.partial {
        highest::search(args, &experiment, &mut finished)?;
    }
    match replay.as_ref().and_then(|replay| replay.compared(&finished.summary)) {
        Some(Ok(text)) => told = told.and_then(|()| terminal.text(&text)),
        Some(Err(text)) => finished.warnings.push(text),
        None => {}
    }
    // Files are written before tables. JSON is written even if the files cannot be.
    let written = folder.map(|folder| write(folder, &resolved, &finished)).transpose();
    let page = args.output.report.as_deref().map(|path| page(path, &args.device, &finished)).transpose();
    told = told.and_then(|()| report(args, terminal, &experiment, &plan, &finished));
    if let Ok(Some(path)) = &written {
        let text = format!(
            "\nwritten to {path}; `tailcut explain {path}` shows what the slowest requests waited for\n"
        );
        told = told.and_then(|()| terminal.text(&text));
    }
    if let Ok(Some(path)) = &page {
        let text = format!("\npage of the run: {path}; open it in a browser\n");
        told = told.and_then(|()| terminal.text(&text));
    }
    if args.output.json {
        told = told.and(print(&finished.summary.to_json()));
    }
    written?;
    page?;
    if finished.summary.partial {
        return Err(CliError::partial());
    }
    // Even if the reader of the output has closed it, a missed target must be reported.
    match targets::unmet(&finished.summary.schemes) {
        Some((text, missed)) if matches!(told, Ok(()) | Err(CliError::Closed)) => {
            Err(CliError::Target { text, missed })
        }
        _ => told,
    }
}

/// Write all files of a run; returns the folder's name.
fn write(
    folder: OutputFolder,
    resolved: &[(String, Resolved)],
    finished: &Finished,
) -> Result<String, CliError> {
    let path = folder.path().display().to_string();
    // The folder was valid when the run began, so that an error now is not the user's.
    files::write(folder, resolved, finished).map_err(|e| CliError::Failed(e.to_string()))?;
    Ok(path)
}

/// Write the page of a run; returns the file's name.
pub fn page(path: &Path, label: &str, finished: &Finished) -> Result<String, CliError> {
    let run = tailcut_page::Run::new(label, &finished.summary, &finished.measured);
    write_page(path, &[run]).map_err(|e| CliError::Failed(e.to_string()))?;
    Ok(path.display().to_string())
}

/// Run the experiment and summarise its results.
fn execute(
    experiment: &Experiment,
    plan: &Plan,
    args: &RunArgs,
    folder: Option<&mut OutputFolder>,
) -> Result<Finished, CliError> {
    let names: Vec<String> = experiment.schemes.iter().map(|s| s.name.clone()).collect();
    let file = |kind: &str, scheme: usize, extension: &str| file_name(kind, &names, scheme, extension);
    let sinks = Sinks::create(folder, &names, file, &args.output)?;
    let progress = Progress::new(plan, names.len() * args.runs as usize);
    let results = experiment.run(plan, &progress, &|scheme, jobs| sinks.open(scheme, jobs));
    progress.finish();
    Ok(finished(args.device_name(), experiment, plan, results?)?)
}

fn report(
    args: &RunArgs,
    terminal: Terminal,
    experiment: &Experiment,
    plan: &Plan,
    finished: &Finished,
) -> Result<(), CliError> {
    terminal.text(&past_text(experiment, plan, finished))?;
    terminal.text(&timeline::covered_text(experiment, finished))?;
    for warning in &finished.warnings {
        terminal.warn(warning);
    }
    let schemes = &finished.summary.schemes;
    terminal.text(&format!(
        "\n{}{}{}{}{}{}{}{}{}{}\n{}",
        tables::comparison(schemes),
        difference::intervals(schemes),
        targets::targets(schemes),
        highest_rate::highest_rates(schemes),
        jobs::jobs(schemes),
        tables::utilisation(schemes),
        erases::erases(schemes),
        senses::senses(schemes),
        endurance::endurance(schemes),
        faults::faults(schemes),
        tables::blame(schemes)
    ))?;
    if let Some(top) = args.output.list_slowest {
        terminal.text(&format!("\n{}", explain_slowest(finished, top, None)?))?;
    }
    Ok(())
}

/// The error of a plan, with the places of the wrong values if the user has set them.
fn placed(error: ExperimentError, resolved: &[(String, Resolved)]) -> CliError {
    settings::placed(&error, resolved).map_or_else(|| error.into(), CliError::Input)
}

fn schemes(resolved: &[(String, Resolved)]) -> Vec<SchemeSpec> {
    resolved.iter().map(|(name, r)| SchemeSpec { name: name.clone(), config: r.config.clone() }).collect()
}

fn snapshots(args: &RunArgs) -> Result<Snapshots, CliError> {
    Ok(match &args.snapshot {
        Some(_) if args.runs > 1 && !args.one_drive => {
            let text =
                "--snapshot holds one aged drive, but each of several --runs has its own: add --one-drive";
            return Err(CliError::Input(text.into()));
        }
        Some(path) => Snapshots::File(path.clone()),
        None if args.no_cache => Snapshots::Off,
        None => Cache::of_user().map_or(Snapshots::Off, Snapshots::Cached),
    })
}
