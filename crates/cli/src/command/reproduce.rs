//! `tailcut reproduce`: runs the experiments, and shows published values next to measured ones.

use crate::args::ReproduceArgs;
use crate::error::CliError;
use crate::progress::Progress;
use crate::run::threads;
use crate::terminal::{Terminal, catch_interrupts, interrupt, print};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tailcut_report::regular::{read, regular, replace};
use tailcut_report::summary::Scheme;
use tailcut_reproduce::rating::Rating;
use tailcut_reproduce::{
    Experiment, Options, Outcome, Results, Tally, list, markdown, reproduce as run_one, summary, text,
};
use tailcut_sim::{Cache, MODEL_VERSION, Snapshots};

/// The longest page of a report that is read, bytes.
const PAGE_MAX: u64 = 16 << 20;

/// List the experiments, or run the chosen ones and show their results.
pub fn reproduce(args: &ReproduceArgs) -> Result<(), CliError> {
    if args.list {
        return print(&text::list(&list::all()?));
    }
    let terminal = Terminal::new(args.json);
    let experiments = chosen(&args.id)?;
    // Read the report before anything runs. An unreadable file or a report of the other kind must not be found after
    // hours of work.
    let report = args.report.as_deref().map(|path| Report::new(path, &experiments)).transpose()?;
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
        // Written after each experiment, so that an interruption loses at most one.
        if let Some(report) = &report {
            let wrote = report.add(e, &results);
            // If this fails, the results are still shown, and the other experiments run.
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

/// The named experiments, each once. Without names, all experiments with published values.
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

/// A report: its summary, a folder of the same name with the pages of the experiments, and a folder of figures.
struct Report<'a> {
    summary: &'a Path,
    /// The file name of the summary.
    name: String,
    pages: PathBuf,
    figures: PathBuf,
}

impl<'a> Report<'a> {
    /// Open the report at a path, to add the pages of some experiments.
    ///
    /// # Errors
    /// The file is not a report and must not be replaced, or the experiments do not belong to its pages.
    fn new(summary: &'a Path, experiments: &[Experiment]) -> Result<Report<'a>, CliError> {
        let cannot = |e| cannot_write(summary, &e);
        if regular(summary).map_err(cannot)? {
            let text = std::fs::read(summary).map_err(cannot)?;
            if !String::from_utf8(text).is_ok_and(|text| summary::is_summary(&text)) {
                return Err(lost(summary));
            }
        } else {
            let folder = summary.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            std::fs::read_dir(folder).map_err(cannot)?;
        }
        let (Some(name), Some("md")) =
            (summary.file_name().and_then(|n| n.to_str()), summary.extension().and_then(|e| e.to_str()))
        else {
            return Err(CliError::Input(format!(
                "{} does not end in .md: a report is a Markdown file, with a folder of its name beside it (--report)",
                summary.display()
            )));
        };
        let report = Report {
            summary,
            name: name.to_string(),
            pages: summary.with_extension(""),
            figures: summary.with_file_name(markdown::FIGURES),
        };
        for e in experiments {
            let page = report.page(&e.id);
            let is = regular(&page).map_err(|e| cannot_write(&page, &e))?;
            if is && read(&page, PAGE_MAX).is_ok_and(|text| markdown::id(&text) != Some(&e.id)) {
                return Err(lost(&page));
            }
        }
        let new = experiments.iter().map(|e| (e.id.as_str(), e.judges()));
        summary::fits(&report.read()?, new)
            .map_err(|e| CliError::Input(format!("{}: {e}", summary.display())))?;
        Ok(report)
    }

    fn page(&self, id: &str) -> PathBuf {
        self.pages.join(format!("{}.md", markdown::stem(id)))
    }

    /// The pages by id. Other files in the folder are not read.
    fn read(&self) -> Result<BTreeMap<String, String>, CliError> {
        let mut pages = BTreeMap::new();
        for entry in std::fs::read_dir(&self.pages).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|e| e != "md") {
                continue;
            }
            let cannot = |e| CliError::Input(format!("cannot read {}: {e}", path.display()));
            let text = read(&path, PAGE_MAX).map_err(cannot)?;
            let id = markdown::id(&text).filter(|id| self.page(id) == path).map(String::from);
            pages.extend(id.map(|id| (id, text)));
        }
        Ok(pages)
    }

    /// Write the page of an experiment, and the summary. The other pages are read again, because other programs may
    /// have written them in the meantime.
    fn add(&self, e: &Experiment, results: &Results) -> Result<(), CliError> {
        let page = markdown::page(e, results, &self.name);
        self.draw(&page.pictures)?;
        self.remove_old_pictures(&page)?;
        make(&self.pages)?;
        write(&self.page(&page.id), &page.text)?;
        let folder = self.pages.file_name().unwrap_or_default().to_string_lossy();
        let summary = summary::summary(&self.read()?, &folder);
        self.draw(&summary.pictures)?;
        write(self.summary, &summary.text)
    }

    fn draw(&self, pictures: &[(String, String)]) -> Result<(), CliError> {
        if !pictures.is_empty() {
            make(&self.figures)?;
        }
        pictures.iter().try_for_each(|(name, svg)| write(&self.figures.join(name), svg))
    }

    /// Remove the pictures of the previous page that the new page does not have.
    fn remove_old_pictures(&self, page: &markdown::Page) -> Result<(), CliError> {
        let prefix = format!("{}-", markdown::stem(&page.id));
        for entry in std::fs::read_dir(&self.figures).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let number = name.strip_prefix(&prefix).and_then(|n| n.strip_suffix(".svg"));
            let own = number.is_some_and(|n| n.parse::<u32>().is_ok());
            if own && page.pictures.iter().all(|(kept, _)| *kept != name) {
                let cannot = |e| CliError::Input(format!("cannot remove {}: {e}", entry.path().display()));
                std::fs::remove_file(entry.path()).map_err(cannot)?;
            }
        }
        Ok(())
    }
}

fn cannot_write(path: &Path, e: &std::io::Error) -> CliError {
    CliError::Input(format!("cannot write {}: {e}", path.display()))
}

/// The error for a file that is not a report and would be replaced.
fn lost(path: &Path) -> CliError {
    CliError::Input(format!(
        "{} is no report of `tailcut reproduce`, and would be lost: name a new file (--report)",
        path.display()
    ))
}

fn make(folder: &Path) -> Result<(), CliError> {
    let cannot = |e| CliError::Input(format!("cannot make the folder {}: {e}", folder.display()));
    std::fs::create_dir_all(folder).map_err(cannot)
}

/// Replace a file atomically.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    replace(path, text).map_err(|e| CliError::Failed(format!("cannot write {}: {e}", path.display())))
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

/// The results of a run: the schemes as in `summary.json`, without their series.
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
