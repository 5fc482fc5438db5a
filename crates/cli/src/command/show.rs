//! `tailcut show`.

use crate::args::ShowCommand;
use crate::command::rain_bound::rain_bound;
use crate::error::CliError;
use crate::terminal::{Terminal, print};
use tailcut_config::{
    devices_text, policies_markdown, policies_text, resolve, schemes_text, show_config, workloads_text,
};
use tailcut_core::device::Device;

/// Print what was asked for.
pub fn show(what: &ShowCommand) -> Result<(), CliError> {
    match what {
        ShowCommand::Devices => print(&devices_text()?),
        ShowCommand::Schemes => print(&schemes_text()?),
        ShowCommand::Workloads => print(&workloads_text()?),
        ShowCommand::Policies { markdown: true } => print(&policies_markdown()),
        ShowCommand::Policies { markdown: false } => print(&policies_text()),
        ShowCommand::RainBound(args) => rain_bound(args),
        ShowCommand::Config { device, scheme, layers } => {
            let resolved = resolve(device, scheme, &layers.config, &layers.set)?;
            print(&show_config(&resolved))?;
            // It is shown even if it makes no drive: that may be why it is looked at.
            match Device::new(&resolved.config, 1, ()) {
                Ok(device) => {
                    let terminal = Terminal::new(false);
                    device.shape().warnings.iter().for_each(|w| terminal.warn(w));
                    Ok(())
                }
                Err(problem) => Err(CliError::Input(format!("no drive can be built of this: {problem}"))),
            }
        }
    }
}
