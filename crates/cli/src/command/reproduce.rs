//! `tailcut reproduce`: the papers' figures, published next to measured values.

use crate::args::ReproduceArgs;
use crate::error::CliError;
use crate::progress::Progress;
use crate::run::threads;
use crate::terminal::{Terminal, catch_interrupts, interrupt, print};
use serde::Serialize;
use std::path::Path;
use tailcut_reproduce::search::Rating;
use tailcut_reproduce::{
    Experiment, Options, Outcome, Results, Tally, list, markdown, reproduce as run_one, text,
};
use tailcut_sim::{Cache, MODEL_VERSION, Snapshots};

/// List the experiments, or run the chosen ones and show their results.
pub fn reproduce(args: &ReproduceArgs) -> Result<(), CliError> {
    if args.list {
        return print(&text::list(&list::all()?));
    }
    let terminal = Terminal::new(args.json);
    let experiments = chosen(&args.id)?;
    // Read the report before anything runs: an unreadable file, or one of the other kind, must not end hours
    // of work.
    if let Some(path) = &args.report {
        let new = experiments.iter().map(|e| (e.id.as_str(), e.judges()));
        markdown::fits(read(path)?.as_deref(), new)
            .map_err(|e| CliError::Input(format!("{}: {e}", path.display())))?;
    }
    let options = Options {
        quick: args.quick,
        traces: args.traces.clone(),
        snapshots: match args.no_cache {
            true => Snapshots::Off,
            false => Cache::of_user().map_or(Snapshots::Off, Snapshots::Cached),
        },
        threads: args.threads.map_or_else(threads, |n| n as usize),
        interrupt: interrupt(),
    };
    catch_interrupts();
    let mut all: Vec<Results> = Vec::new();
    for e in &experiments {
        terminal.text(&text::heading(e, args.quick))?;
        let progress = Progress::of_tasks(e.tasks());
        let results = run_one(e, &options, &progress);
        progress.finish();
        let results = results?;
        for warning in results.runs.iter().flat_map(|r| &r.warnings) {
            terminal.warn(warning);
        }
        terminal.text(&text::result(e, &results))?;
        // Written after each experiment, so that an interruption loses one at most. The
        // file is read again, since other programs may write their own sections in the
        // meantime.
        if let Some(path) = &args.report {
            let section = markdown::section(e, &results);
            pictures(path, &section)?;
            write(path, &markdown::document(read(path)?.as_deref(), &[section]))?;
        }
        all.push(results);
    }
    let outcomes: Vec<Outcome> = all.iter().flat_map(|r| r.outcomes.clone()).collect();
    let tally = Tally::of(&outcomes);
    let seconds: f64 = all.iter().map(|r| r.seconds).sum();
    if all.len() > 1 {
        terminal.text(&format!("{} experiments: {} in {seconds:.0} s\n", all.len(), tally.words()))?;
    }
    if args.json {
        print(&json(&experiments, &all))?;
    }
    match args.strict && tally.missed() > 0 {
        true => Err(CliError::Failed(format!("{} out of band", tally.missed()))),
        false => Ok(()),
    }
}

/// The experiments named, each once; if none is named, all with published values.
fn chosen(words: &[String]) -> Result<Vec<Experiment>, CliError> {
    if words.is_empty() {
        return Ok(list::all()?.into_iter().filter(Experiment::judges).collect());
    }
    let mut all: Vec<Experiment> = Vec::new();
    for word in words {
        for e in list::find(word)? {
            if !all.iter().any(|other| other.id == e.id) {
                all.push(e);
            }
        }
    }
    Ok(all)
}

fn read(path: &Path) -> Result<Option<String>, CliError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(CliError::Input(format!("cannot read {}: {e}", path.display()))),
    }
}

/// Write a file completely or not at all.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    let partial = Path::new(&name);
    std::fs::write(partial, text)
        .and_then(|()| std::fs::rename(partial, path))
        .map_err(|e| CliError::Input(format!("cannot write {}: {e}", path.display())))
}

/// Write a section's pictures next to the document, and remove its earlier pictures.
fn pictures(document: &Path, section: &markdown::Section) -> Result<(), CliError> {
    let folder = document.with_file_name(markdown::FIGURES);
    if !section.pictures.is_empty() {
        let cannot = |e| CliError::Input(format!("cannot make the folder {}: {e}", folder.display()));
        std::fs::create_dir_all(&folder).map_err(cannot)?;
    }
    section.pictures.iter().try_for_each(|(name, svg)| write(&folder.join(name), svg))?;
    let prefix = format!("{}-", section.id.replace('/', "-"));
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let own = name.starts_with(&prefix) && name.ends_with(".svg");
        if own && section.pictures.iter().all(|(kept, _)| *kept != name) {
            let cannot = |e| CliError::Input(format!("cannot remove {}: {e}", entry.path().display()));
            std::fs::remove_file(entry.path()).map_err(cannot)?;
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Json<'a> {
    tailcut: &'static str,
    model_version: u32,
    experiments: Vec<JsonExperiment<'a>>,
}

#[derive(Serialize)]
struct JsonExperiment<'a> {
    id: &'a str,
    title: &'a str,
    quick: bool,
    seconds: f64,
    checks: &'a [Outcome],
    #[serde(skip_serializing_if = "<[Outcome]>::is_empty")]
    expected: &'a [Outcome],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    searches: Vec<JsonSearch<'a>>,
}

#[derive(Serialize)]
struct JsonSearch<'a> {
    name: &'a str,
    ratings: &'a [Rating],
}

fn json(experiments: &[Experiment], all: &[Results]) -> String {
    let experiments = experiments.iter().zip(all).map(|(e, r)| JsonExperiment {
        id: &e.id,
        title: &e.title,
        quick: r.quick,
        seconds: r.seconds,
        checks: &r.outcomes,
        expected: &r.expected,
        searches: r
            .searches
            .iter()
            .filter_map(|(name, ratings)| Some(JsonSearch { name, ratings: ratings.as_ref().ok()? }))
            .collect(),
    });
    let whole = Json {
        tailcut: env!("CARGO_PKG_VERSION"),
        model_version: MODEL_VERSION,
        experiments: experiments.collect(),
    };
    let mut text = serde_json::to_string_pretty(&whole).expect("only string keys");
    text.push('\n');
    text
}
