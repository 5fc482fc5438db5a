//! Writes texts for the user and results for programs, each to its stream, and handles Ctrl-C.

use crate::error::CliError;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;
use tailcut_report::text::{set_page, wrapped_to};
use tailcut_workload::Interrupt;

/// Raised by Ctrl-C. It is static because a signal handler has no other state.
static STOP: LazyLock<Interrupt> = LazyLock::new(Interrupt::default);

/// Receives texts for the user. They go to standard output, or to standard error if standard output is for JSON.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    json: bool,
}

impl Terminal {
    pub fn new(json: bool) -> Terminal {
        Terminal { json }
    }

    /// Write a text for the user. The text contains its line breaks.
    pub fn text(&self, text: &str) -> Result<(), CliError> {
        if self.json {
            // Errors are ignored, because the JSON must be written even if standard error is closed.
            let _ = io::stderr().write_all(text.as_bytes());
            return Ok(());
        }
        print(text)
    }

    /// Write a warning, always to standard error.
    pub fn warn(&self, text: &str) {
        marked("warning", AnsiColor::Yellow, text);
    }

    /// Whether standard error is a terminal.
    pub fn is_watched() -> bool {
        io::stderr().is_terminal()
    }
}

/// Write an error to standard error.
pub fn error(text: &str) {
    marked("error", AnsiColor::Red, text);
}

/// Write a line to standard error that begins with a word in colour. There is no colour in a pipe or a file, nor with
/// `NO_COLOR`. Errors are ignored, because there is no other stream to report them.
fn marked(word: &str, colour: AnsiColor, text: &str) {
    let style = Style::new().fg_color(Some(colour.into())).bold();
    let width = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
    let text = fitted(word, text, width);
    let _ = writeln!(anstream::stderr(), "{style}{word}:{style:#} {text}");
}

/// Break a text after a word and a colon into lines of at most `width` columns. Without a width the lines are not
/// broken.
fn fitted(word: &str, text: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|&width| width > 0) else { return text.to_string() };
    let begins = format!("{word}: ");
    let all = format!("{begins}{text}");
    let lines: String = all.split_inclusive('\n').map(|line| wrapped_to(line, 2, width)).collect();
    // The text is not broken directly after the word.
    lines.strip_prefix(&begins).map_or(text, |rest| rest).to_string()
}

/// Set the width of tables to that of the terminal. Without a terminal, `COLUMNS` gives the width, if it is set.
pub fn fit_page() {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
    let stated = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    if let Some(columns) = terminal.or_else(stated).filter(|&columns| columns > 0) {
        set_page(columns);
    }
}

/// Write to standard output, flush it and report errors.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Write a result to standard output as JSON.
pub fn print_json<T: Serialize + ?Sized>(result: &T) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(result).map_err(|e| CliError::Failed(e.to_string()))?;
    print(&(text + "\n"))
}

/// From now on Ctrl-C, or a request to terminate, asks the run to stop. A second one ends the program at once. Before
/// this call both end the program, because there is nothing to save yet.
pub fn catch_interrupts() {
    // If no handler can be set, Ctrl-C ends the program, which is acceptable.
    let _ = ctrlc::set_handler(|| {
        if STOP.raise() {
            std::process::exit(1);
        }
    });
}

/// From now on a file that reaches its size limit (`ulimit -f`) causes a write error, and does not end the program
/// silently.
pub fn full_files_are_errors() {
    #[cfg(unix)]
    {
        // The flag is not used, because the write fails too. Without a handler the signal ends the program.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Default::default());
    }
}

/// From now on an allocation that the system refuses (`ulimit -v`) ends the program with code 1, after the line
/// "memory allocation of N bytes failed", and not by a signal.
pub fn failed_allocations_are_errors() {
    #[cfg(unix)]
    {
        let always = std::sync::Arc::new(true.into());
        // Without a handler the signal ends the program.
        let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, 1, always);
    }
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    STOP.is_raised()
}

/// The interrupt that Ctrl-C raises, for readers of traces.
pub fn interrupt() -> Interrupt {
    STOP.clone()
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn warnings_fit_the_terminal() {
        let text = "the drive does not keep up with the arrivals: they come at 120k a second";
        let wide = fitted("warning", text, Some(40));
        assert_eq!(wide, "the drive does not keep up with\n  the arrivals: they come at 120k a\n  second");
        assert!(format!("warning: {wide}").lines().all(|line| line.chars().count() <= 40));
        assert_eq!(fitted("warning", text, None), text);
        assert_eq!(fitted("warning", text, Some(0)), text);
        // A word that is longer than a line stays whole, and line breaks of the text are kept.
        let path = "/a/path/that/is/longer/than/any/line/of/it";
        assert_eq!(fitted("error", path, Some(20)), path);
        assert_eq!(fitted("error", "one\ntwo words more", Some(10)), "one\ntwo words\n  more");
    }
}
