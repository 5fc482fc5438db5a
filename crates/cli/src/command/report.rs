//! `tailcut report`: makes pages, figures and tables from the results of runs.

use crate::args::{FigureKind, ReportArgs, TableKind};
use crate::error::CliError;
use crate::terminal::{Terminal, catch_interrupts, interrupted, print};
use std::path::{Path, PathBuf};
use tailcut_page::figure::{Choice, Figure, pdf};
use tailcut_page::sweep::Sweep;
use tailcut_page::table::{Table, csv, latex};
use tailcut_page::{Run, output, page};

/// The file of the page, if the user names no other.
const PAGE: &str = "report.html";

/// Make a page, a figure or a table of the runs in these folders.
pub fn report(args: &ReportArgs) -> Result<(), CliError> {
    let path = file(args)?;
    if let Some(path) = &path {
        output::check(path)?;
    }
    catch_interrupts();
    if let Some(dir) = args.dir.iter().find(|dir| Sweep::is_in(dir)) {
        return of_sweep(args, dir, path);
    }
    let runs = args.dir.iter().map(|dir| Run::read(dir, &interrupted)).collect::<Result<Vec<Run>, _>>()?;
    let made = match (args.figure, args.csv, args.latex) {
        (Some(figure), ..) => drawn(args, figure, path.as_deref(), &runs)?,
        (_, Some(of), _) => csv(&runs, table(of)).into_bytes(),
        (.., Some(of)) => latex(&runs, table(of)).into_bytes(),
        _ => page::page(&runs)?.into_bytes(),
    };
    match path {
        Some(path) => {
            output::write(&path, &made)?;
            Terminal::new(false).text(&format!("written to {}\n", path.display()))
        }
        None => print(&String::from_utf8_lossy(&made)),
    }
}

/// Make the page of a sweep.
fn of_sweep(args: &ReportArgs, dir: &Path, path: Option<PathBuf>) -> Result<(), CliError> {
    let refused = |what: &str| Err(CliError::Input(format!("{} is a sweep: {what}", dir.display())));
    if args.dir.len() > 1 {
        return refused("a page has one sweep, and no other folder");
    }
    if args.figure.is_some() || args.csv.is_some() || args.latex.is_some() {
        return refused("it has a page, and its table is results.csv");
    }
    let page = Sweep::read(dir)?.page()?;
    let path = path.unwrap_or_else(|| dir.join(PAGE));
    output::write(&path, page.as_bytes())?;
    Terminal::new(false).text(&format!("written to {}\n", path.display()))
}

/// The output file; `None` for standard output.
fn file(args: &ReportArgs) -> Result<Option<PathBuf>, CliError> {
    let refused = |text: String| Err(CliError::Input(text));
    match (&args.output, &args.dir[..]) {
        (Some(path), _) if args.figure.is_some() && !(ends(path, "svg") || ends(path, "pdf")) => {
            refused(format!("-o {}: a figure ends in .svg or .pdf", path.display()))
        }
        (Some(path), _) => Ok(Some(path.clone())),
        (None, _) if args.csv.is_some() || args.latex.is_some() => Ok(None),
        (None, [dir]) => Ok(Some(dir.join(PAGE))),
        (None, _) => refused("a page of several folders needs a name: add -o FILE.html".to_string()),
    }
}

fn ends(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension))
}

/// A figure as SVG or PDF, by the extension of the file's name.
fn drawn(
    args: &ReportArgs,
    figure: FigureKind,
    path: Option<&Path>,
    runs: &[Run],
) -> Result<Vec<u8>, CliError> {
    let figure = match figure {
        FigureKind::Ccdf => Figure::Ccdf,
        FigureKind::Blame => Figure::Blame,
        FigureKind::Heat => Figure::Heat,
    };
    let svg = Choice { figure, op: args.kind, scheme: args.scheme.clone() }.svg(runs)?;
    match path.is_some_and(|path| ends(path, "pdf")) {
        true => Ok(pdf(&svg)?),
        false => Ok(svg.into_bytes()),
    }
}

fn table(of: TableKind) -> Table {
    match of {
        TableKind::Results => Table::Results,
        TableKind::Blame => Table::Blame,
    }
}

/// Write a page of these runs.
pub fn write_page(path: &Path, runs: &[Run]) -> Result<(), CliError> {
    Ok(output::write(path, page::page(runs)?.as_bytes())?)
}
