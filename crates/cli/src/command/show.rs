//! `tailcut show`: prints keys, presets and resolved configurations.

use crate::args::ShowCommand;
use crate::command::rain_bound::rain_bound;
use crate::error::CliError;
use crate::terminal::{Terminal, print, print_json};
use serde::Serialize;
use tailcut_config::{
    Resolved, devices_text, key_entries, keys_markdown, keys_schema, keys_text, policies_markdown,
    policies_text, schemes_text, select_keys, show_config, workloads_text,
};
use tailcut_core::drive::Drive;
use tailcut_report::Ordered;
use tailcut_report::summary::ConfigValue;
use tailcut_sim::finished::config_values;

/// Print a resolved configuration with its sources, in the form of a run's summary.
fn print_config_json(resolved: &Resolved) -> Result<(), CliError> {
    #[derive(Serialize)]
    struct Config<'a> {
        device: &'a str,
        config: Ordered<ConfigValue>,
    }
    print_json(&Config { device: &resolved.device, config: config_values(resolved)? })
}

/// Print the keys that match a pattern, in one of four forms.
fn keys(pattern: Option<&str>, markdown: bool, schema: bool, json: bool) -> Result<(), CliError> {
    let entries = pattern.map_or_else(key_entries, select_keys)?;
    if schema {
        return print_json(&keys_schema(&entries));
    }
    if markdown {
        return print(&keys_markdown(&entries));
    }
    if json {
        return print_json(&entries);
    }
    print(&keys_text(&entries))
}

/// Print the list or configuration asked for.
pub fn show(what: &ShowCommand) -> Result<(), CliError> {
    match what {
        ShowCommand::Devices => print(&devices_text()?),
        ShowCommand::Schemes => print(&schemes_text()?),
        ShowCommand::Workloads => print(&workloads_text()?),
        ShowCommand::Policies { markdown: true } => print(&policies_markdown()),
        ShowCommand::Policies { markdown: false } => print(&policies_text()),
        ShowCommand::Keys { pattern, markdown, schema, json } => {
            keys(pattern.as_deref(), *markdown, *schema, *json)
        }
        ShowCommand::RainBound(args) => rain_bound(args),
        ShowCommand::Config { device, scheme, json, layers } => {
            let resolved = layers.resolve(device, scheme)?;
            match json {
                true => print_config_json(&resolved)?,
                false => print(&show_config(&resolved))?,
            }
            // The configuration is shown even if no drive can be built with it, because the user may be looking for
            // the reason.
            match Drive::new(&resolved.config, 1, ()) {
                Ok(device) => {
                    let terminal = Terminal::new(false);
                    device.warnings().iter().for_each(|w| terminal.warn(w));
                    Ok(())
                }
                Err(problem) => Err(CliError::Input(format!("no drive can be built from this: {problem}"))),
            }
        }
    }
}
