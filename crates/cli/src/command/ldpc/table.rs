//! `tailcut ldpc table`: measures the table from which the simulator draws decoding results.

use super::progress::Progress;
use crate::args::TableArgs;
use crate::error::CliError;
use crate::output::may_write;
use crate::run::threads;
use crate::terminal::{catch_interrupts, print};
use std::path::Path;
use tailcut_ldpc::{Plan, Schedule, Table};
use tailcut_report::regular::Replacement;

/// Measure a table, and print it or write it to a file.
pub fn run(args: &TableArgs) -> Result<(), CliError> {
    let mut plan = Plan { seed: args.seed, schedule: Schedule::from(args.schedule), ..Plan::shipped() };
    if let Some(most) = args.frames {
        plan.rows.iter_mut().for_each(|(_, frames)| *frames = most.min(*frames));
    }
    // From here on an interrupt must remove the incomplete file.
    catch_interrupts();
    // Create the file before the measurement, which takes minutes.
    let output = args.out.as_deref().map(|out| output(out, args.force)).transpose()?;
    let progress = Progress::new(plan.frames());
    let threads = args.threads.map_or_else(threads, usize::from);
    let table = Table::measure(&plan, threads, &|more| progress.count(more));
    progress.finish();
    let table = table.ok_or_else(|| CliError::Failed("interrupted".into()))?;
    let Some(output) = output else { return print(&table.to_string()) };
    let to = output.path().display().to_string();
    output.write(table.to_string()).map_err(|e| CliError::Failed(format!("cannot write {to}: {e}")))?;
    print(&format!(
        "{to}: {} rows; a tenth of the codewords fails at a raw bit error rate of {:.5}\n",
        table.rows.len(),
        table.limit()
    ))
}

fn output(to: &Path, force: bool) -> Result<Replacement, CliError> {
    may_write(to, force)?;
    Replacement::new(to).map_err(|e| CliError::Input(format!("cannot write {}: {e}", to.display())))
}
