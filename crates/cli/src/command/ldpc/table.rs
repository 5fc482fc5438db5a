//! `tailcut ldpc table`: the table from which the simulator draws.

use super::progress::Progress;
use crate::args::TableArgs;
use crate::error::CliError;
use crate::run::threads;
use crate::terminal::{catch_interrupts, print};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tailcut_ldpc::{Plan, Schedule, Table};
use tailcut_report::regular::regular;

/// Measure a table, and print it or write it to a file.
pub fn run(args: &TableArgs) -> Result<(), CliError> {
    let mut plan = Plan { seed: args.seed, schedule: Schedule::from(args.schedule), ..Plan::shipped() };
    if let Some(most) = args.frames {
        plan.rows.iter_mut().for_each(|(_, frames)| *frames = most.min(*frames));
    }
    // From here on an interrupt must remove the incomplete file.
    catch_interrupts();
    // The file is opened first: the measurement takes minutes.
    let output = args.out.as_deref().map(|out| Output::new(out, args.force)).transpose()?;
    let progress = Progress::new(plan.frames());
    let threads = args.threads.map_or_else(threads, usize::from);
    let table = Table::measure(&plan, threads, &|more| progress.count(more));
    progress.finish();
    let table = table.ok_or_else(|| CliError::Failed("interrupted".into()))?;
    let Some(output) = output else { return print(&table.to_string()) };
    let to = output.to.display().to_string();
    output.write(&table.to_string()).map_err(|e| CliError::Failed(format!("cannot write {to}: {e}")))?;
    print(&format!(
        "{to}: {} rows; a tenth of the codewords fails at a raw bit error rate of {:.5}\n",
        table.rows.len(),
        table.limit()
    ))
}

/// A new file that replaces the old one at the end. Without that it is removed.
struct Output {
    to: PathBuf,
    partial: PathBuf,
    file: File,
}

impl Output {
    fn new(to: &Path, force: bool) -> Result<Output, CliError> {
        let exists =
            regular(to).map_err(|e| CliError::Input(format!("cannot write {}: {e}", to.display())))?;
        if exists && !force {
            let text = format!("{} exists already: name another file, or give --force", to.display());
            return Err(CliError::Input(text));
        }
        let mut name = to.as_os_str().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = PathBuf::from(name);
        let file = File::create_new(&partial)
            .map_err(|e| CliError::Input(format!("cannot write {}: {e}", partial.display())))?;
        Ok(Output { to: to.to_path_buf(), partial, file })
    }

    fn write(mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        fs::rename(&self.partial, &self.to)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // After the renaming there is nothing to remove.
        let _ = fs::remove_file(&self.partial);
    }
}
