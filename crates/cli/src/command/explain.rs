//! `tailcut explain`: prints the causes of the slowest requests.

use crate::args::ExplainArgs;
use crate::error::CliError;
use crate::terminal::{catch_interrupts, interrupted, print};
use tailcut_report::explain::{ExplainOptions, explain as explain_folder};

/// Print the causes of the waits of the slowest requests of a run.
pub fn explain(args: &ExplainArgs) -> Result<(), CliError> {
    let options = ExplainOptions {
        above: args.above,
        top: args.top,
        scheme: args.scheme.clone(),
        job: args.job.clone(),
    };
    catch_interrupts();
    let text = explain_folder(&args.dir, &options, &interrupted)?;
    print(&text)
}
