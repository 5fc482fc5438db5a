//! `tailcut completions` and `tailcut man`: completion scripts and manual pages, generated
//! from the definition of the command line.

use crate::args::Cli;
use crate::error::CliError;
use crate::terminal::print;
use clap::CommandFactory;
use std::io;
use std::path::Path;
use tailcut_report::regular::regular;

const NAME: &str = "tailcut";

/// Print the completion script of a shell.
pub fn completions(shell: clap_complete::Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Print the manual page of the program, or write those of all commands to files such as `tailcut-run.1`.
pub fn man(dir: Option<&Path>) -> Result<(), CliError> {
    match dir {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            print(&String::from_utf8_lossy(&page))
        }
        Some(dir) => {
            let written = std::fs::create_dir_all(dir).and_then(|()| {
                may_write_to(dir)?;
                clap_mangen::generate_to(Cli::command(), dir)
            });
            written.map_err(|e| CliError::Input(format!("cannot write to {}: {e}", dir.display())))
        }
    }
}

/// Check that existing manual pages in a folder are regular files.
fn may_write_to(dir: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(NAME) && name.ends_with(".1") {
            regular(&path).map_err(|e| io::Error::new(e.kind(), format!("{name}: {e}")))?;
        }
    }
    Ok(())
}
