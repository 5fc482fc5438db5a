//! Texts for people and for programs, each on its stream; and Ctrl-C.

use crate::error::CliError;
use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;
use tailcut_workload::Interrupt;

/// Raised by Ctrl-C; a handler has no other place to leave its word.
static STOP: LazyLock<Interrupt> = LazyLock::new(Interrupt::default);

/// Where texts for people go: to standard output, or, where that belongs to JSON, to
/// standard error.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    json: bool,
}

impl Terminal {
    pub fn new(json: bool) -> Terminal {
        Terminal { json }
    }

    /// A text for people, with its line breaks.
    pub fn text(&self, text: &str) -> Result<(), CliError> {
        if self.json {
            // If nobody reads these, the JSON is still wanted.
            let _ = io::stderr().write_all(text.as_bytes());
            return Ok(());
        }
        print(text)
    }

    /// A warning, always on standard error.
    pub fn warn(&self, text: &str) {
        let _ = writeln!(io::stderr(), "warning: {text}");
    }

    /// Whether somebody watches standard error.
    pub fn is_watched() -> bool {
        io::stderr().is_terminal()
    }
}

/// Write to standard output and make sure that it arrived.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// From now on Ctrl-C, or a request to terminate, asks the run to stop; a second one ends
/// the program at once. Before, both end it: there is nothing to save yet.
pub fn catch_interrupts() {
    // Without a handler Ctrl-C ends the program, which is acceptable too.
    let _ = ctrlc::set_handler(|| {
        if STOP.raise() {
            std::process::exit(1);
        }
    });
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    STOP.is_raised()
}

/// What Ctrl-C raises, for those who read traces.
pub fn interrupt() -> Interrupt {
    STOP.clone()
}
