//! `tailcut check`: checks the invariants of the store of a served drive.

use crate::args::serve::CheckArgs;
use crate::error::CliError;
use crate::terminal::{Terminal, catch_interrupts, interrupted};
use std::fmt::Write;
use std::time::Instant;
use tailcut_config::resolve;
use tailcut_live::StoreHeader;
use tailcut_live::store::{folder, scan};
use tailcut_report::text::grouped;
use tailcut_sim::MODEL_VERSION;
use tailcut_units::Span;
use tailcut_units::quantity::{human_bytes, human_time};

/// The interval between reports of progress.
const EVERY: std::time::Duration = std::time::Duration::from_secs(10);

pub fn check(args: &CheckArgs) -> Result<(), CliError> {
    let terminal = Terminal::new(false);
    let path = args.store.display();
    let header = folder::header(&args.store)?
        .ok_or_else(|| CliError::Input(format!("{path}: there is no store in this folder")))?;
    if header.model_version != MODEL_VERSION {
        return Err(CliError::Input(format!(
            "{path}: the store is of model version {}, and this program has {MODEL_VERSION}",
            header.model_version
        )));
    }
    let failed = |e: std::io::Error| CliError::Failed(format!("the configuration of {path}: {e}"));
    let folder = tempfile::TempDir::new().map_err(failed)?;
    let device = folder.path().join("stored.toml");
    std::fs::write(&device, &header.config).map_err(failed)?;
    let none: [&str; 0] = [];
    let device = device.display().to_string();
    let resolved = resolve(&device, &none, &none, &none)
        .map_err(|e| CliError::from(e).renamed(&device, &format!("the configuration of {path}")))?;
    catch_interrupts();
    let mut said = Instant::now();
    let found = scan::check(&args.store, &header, &resolved.config, &mut |part| {
        if said.elapsed() > EVERY {
            said = Instant::now();
            eprintln!("checked {:.0} %", 100.0 * part);
        }
        !interrupted()
    })?;
    if interrupted() {
        return Err(CliError::Failed("interrupted: not all was checked".into()));
    }
    terminal.text(&findings(&header, &found))?;
    match found.broken.is_empty() {
        true => Ok(()),
        false => Err(CliError::Failed(format!("{path}: the store breaks its laws"))),
    }
}

fn findings(header: &StoreHeader, found: &scan::Findings) -> String {
    let mut text = format!(
        "drive    {}, scheme {}, seed {}\n\
         store    turn {}, {} on disk; {}\n\
         drive at {}, {} commands after its last saved state\n",
        header.device,
        header.scheme,
        header.seed,
        grouped(found.turn),
        human_bytes(found.bytes_used),
        if found.note.stopped { "its server was stopped" } else { "its server was killed" },
        human_time(Span(found.note.now)),
        grouped(found.note.commands)
    );
    for ((_, name), count) in scan::KINDS.iter().zip(found.units).filter(|(_, count)| *count > 0) {
        let _ = writeln!(text, "units    {} {name}", grouped(count));
    }
    let _ = writeln!(text, "bytes    of {} units are in the store", grouped(found.with_bytes));
    let lost = match found.lost {
        0 => String::new(),
        lost => format!(", {} answered with an error: the drive has lost data", grouped(lost)),
    };
    let _ = writeln!(text, "reads    {} of all that the host can read{lost}", grouped(found.reads));
    match found.broken.is_empty() {
        true => text + "the store is whole\n",
        false => found.broken.iter().fold(text, |text, law| text + "BROKEN   " + law + "\n"),
    }
}
