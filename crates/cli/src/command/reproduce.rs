//! `tailcut reproduce`: the papers' figures, published next to measured values.

use crate::args::ReproduceArgs;
use crate::error::CliError;
use crate::progress::Progress;
use crate::run::threads;
use crate::terminal::{Terminal, catch_interrupts, interrupt, print};
use serde::Serialize;
use std::path::Path;
use tailcut_report::regular::{regular, replace};
use tailcut_report::summary::Scheme;
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
        markdown::fits(report_of(path)?.as_deref(), new)
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
    let mut unwritten: Option<CliError> = None;
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
            let wrote = add(path, &markdown::section(e, &results));
            // The results are shown in any case, and the other experiments run.
            if let Err(error) = wrote {
                terminal.warn(&error.to_string());
                unwritten = Some(error);
            }
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
    if let Some(error) = unwritten {
        return Err(error);
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

/// The report at a path; `None` if there is no file.
///
/// # Errors
/// There is something else than a report: it must not be lost.
fn report_of(path: &Path) -> Result<Option<String>, CliError> {
    let cannot = |e: std::io::Error| CliError::Input(format!("cannot write {}: {e}", path.display()));
    if !regular(path).map_err(cannot)? {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::read_dir(folder).map_err(cannot)?;
        return Ok(None);
    }
    let bytes = std::fs::read(path).map_err(cannot)?;
    match String::from_utf8(bytes) {
        Ok(text) if markdown::is_report(&text) => Ok(Some(text)),
        _ => Err(CliError::Input(format!(
            "{} is no report of `tailcut reproduce`, and would be lost: name a new file (--report)",
            path.display()
        ))),
    }
}

/// Write the section of an experiment into the report.
fn add(path: &Path, section: &markdown::Section) -> Result<(), CliError> {
    let old = report_of(path)?;
    pictures(path, section)?;
    write(path, &markdown::document(old.as_deref(), std::slice::from_ref(section)))
}

/// Write a file completely or not at all.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    replace(path, text).map_err(|e| CliError::Failed(format!("cannot write {}: {e}", path.display())))
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
        let number = name.strip_prefix(&prefix).and_then(|n| n.strip_suffix(".svg"));
        let number = number.and_then(|n| n.strip_suffix(".light").or(n.strip_suffix(".dark")));
        let own = number.is_some_and(|n| n.parse::<u32>().is_ok());
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
    runs: Vec<JsonRun<'a>>,
    #[serde(skip_serializing_if = "<[Outcome]>::is_empty")]
    expected: &'a [Outcome],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    searches: Vec<JsonSearch<'a>>,
}

/// What a run has measured: the schemes as in `summary.json`, without their series.
#[derive(Serialize)]
struct JsonRun<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    schemes: Vec<Scheme>,
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
        runs: r
            .runs
            .iter()
            .map(|run| JsonRun {
                name: &run.name,
                missing: run.missing.as_deref(),
                warnings: &run.warnings,
                schemes: run.schemes.iter().map(|s| Scheme { series: Vec::new(), ..s.clone() }).collect(),
            })
            .collect(),
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
