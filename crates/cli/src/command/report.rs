//! `tailcut report`: the results of runs as a page, as single figures and as tables.

use crate::args::ReportArgs;
use crate::error::CliError;
use crate::terminal::{Terminal, catch_interrupts, interrupted};
use std::path::{Path, PathBuf};
use tailcut_page::{Run, output, page};

/// The page of a folder, if no other file is named.
const PAGE: &str = "report.html";

/// Make a page of the runs in these folders.
pub fn report(args: &ReportArgs) -> Result<(), CliError> {
    let path = file(args)?;
    output::check(&path)?;
    catch_interrupts();
    let runs = args.dir.iter().map(|dir| Run::read(dir, &interrupted)).collect::<Result<Vec<Run>, _>>()?;
    write_page(&path, &runs)?;
    Terminal::new(false).text(&format!("written to {}: open it in a browser\n", path.display()))?;
    Ok(())
}

/// Where the page goes.
fn file(args: &ReportArgs) -> Result<PathBuf, CliError> {
    match (&args.output, &args.dir[..]) {
        (Some(path), _) => Ok(path.clone()),
        (None, [dir]) => Ok(dir.join(PAGE)),
        (None, _) => {
            Err(CliError::Input("a page of several folders needs a name: add -o FILE.html".to_string()))
        }
    }
}

/// Write the page of these runs.
pub fn write_page(path: &Path, runs: &[Run]) -> Result<(), CliError> {
    Ok(output::write(path, page::page(runs)?.as_bytes())?)
}
