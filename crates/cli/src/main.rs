//! The `tailcut` program.

mod args;
mod bench;
mod command;
mod error;
mod output;
mod progress;
mod run;
mod terminal;

use args::{Cli, Command};
use clap::Parser;
use error::CliError;
use std::process::ExitCode;

fn main() -> ExitCode {
    terminal::full_files_are_errors();
    terminal::fit_page();
    terminal::failed_allocations_are_errors();
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Explain(args) => command::explain::explain(&args),
        Command::Compare(args) => command::compare::compare(&args),
        Command::Sweep(args) => command::sweep::sweep(&args),
        Command::Advise(args) => command::advise::advise(&args),
        Command::Report(args) => command::report::report(&args),
        Command::Show(what) => command::show::show(&what),
        Command::Trace(what) => command::trace::trace(&what),
        Command::Reproduce(args) => command::reproduce::reproduce(&args),
        Command::Lifetime(args) => command::lifetime::run(&args),
        Command::Ldpc(what) => command::ldpc::run(&what),
        Command::Bench(args) => bench::bench(&args),
        Command::Serve(args) => command::serve::serve(&args),
        Command::Check(args) => command::check::check(&args),
        Command::Demo(args) => command::demo::demo(&args),
        Command::Completions { shell } => command::manual::completions(shell),
        Command::Man { dir } => command::manual::man(dir.as_deref()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !matches!(error, CliError::Closed) {
                terminal::error(&error.to_string());
            }
            error.exit_code()
        }
    }
}
