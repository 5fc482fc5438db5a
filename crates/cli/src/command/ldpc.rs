//! `tailcut ldpc`: measures the error-correcting code of a page.

mod curve;
mod predict;
mod progress;
mod table;

use crate::args::LdpcCommand;
use crate::error::CliError;

pub fn run(what: &LdpcCommand) -> Result<(), CliError> {
    match what {
        LdpcCommand::Curve(args) => curve::run(args),
        LdpcCommand::Predict(args) => predict::run(args),
        LdpcCommand::Table(args) => table::run(args),
    }
}
