//! `tailcut ldpc table`: the table from which the simulator draws.

use super::progress::Progress;
use crate::args::TableArgs;
use crate::error::CliError;
use crate::run::threads;
use crate::terminal::{catch_interrupts, print};
use std::io::Write;
use std::path::Path;
use tailcut_ldpc::{Plan, Schedule, Table};

/// Measure a table, and print it or write it to a file.
pub fn run(args: &TableArgs) -> Result<(), CliError> {
    if let Some(out) = &args.out
        && out.exists()
        && !args.force
    {
        let text = format!("{} exists already: name another file, or give --force", out.display());
        return Err(CliError::Input(text));
    }
    let mut plan = Plan { seed: args.seed, schedule: Schedule::from(args.schedule), ..Plan::shipped() };
    if let Some(most) = args.frames {
        plan.rows.iter_mut().for_each(|(_, frames)| *frames = most.min(*frames));
    }
    catch_interrupts();
    let progress = Progress::new(plan.frames());
    let threads = args.threads.map_or_else(threads, usize::from);
    let table = Table::measure(&plan, threads, &|more| progress.count(more));
    progress.finish();
    let table = table.ok_or_else(|| CliError::Failed("interrupted".into()))?;
    match &args.out {
        None => print(&table.to_string()),
        Some(out) => {
            write(out, &table.to_string())
                .map_err(|e| CliError::Failed(format!("cannot write {}: {e}", out.display())))?;
            print(&format!(
                "{}: {} rows; a tenth of the codewords fails at a raw bit error rate of {:.5}\n",
                out.display(),
                table.rows.len(),
                table.limit()
            ))
        }
    }
}

/// Write a file as a whole, so that an interrupt leaves none or the old one.
fn write(out: &Path, text: &str) -> std::io::Result<()> {
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(out)?;
    Ok(())
}
