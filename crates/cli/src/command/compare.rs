//! `tailcut compare`: compares two runs.

use crate::args::CompareArgs;
use crate::error::CliError;
use crate::terminal::{Terminal, print_json};
use tailcut_report::compare::{Side, compare as compare_sides, limit};

/// Print the differences between two runs, and judge the limits.
pub fn compare(args: &CompareArgs) -> Result<(), CliError> {
    let scheme = args.scheme.as_deref();
    let (a, b) = (Side::read(&args.a, scheme)?, Side::read(&args.b, scheme)?);
    let comparison = compare_sides(&a, &b, &args.fail_above);
    let mut told = Terminal::new(args.json).text(&comparison.text());
    if args.json {
        told = told.and(print_json(&comparison));
    }
    // Even if the reader of the output has closed it, a broken limit must be reported.
    match limit::broken(&comparison.limits) {
        Some((text, missed)) if matches!(told, Ok(()) | Err(CliError::Closed)) => {
            Err(CliError::Target { text, missed })
        }
        _ => told,
    }
}
