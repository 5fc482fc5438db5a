//! Texts and lists for the user.

use crate::device_entry::DeviceEntry;
use crate::error::ConfigError;
use crate::preset::{DEVICES, scheme_presets, workload_presets};
use crate::resolve::resolve;
use crate::resolved::Resolved;
use crate::table::text_table;
use crate::write::{self, wrapped};
use tailcut_core::policy::FAMILIES;
use tailcut_units::Span;
use tailcut_units::quantity::{human_bytes, human_rate, human_time};

fn shown_range((least, most): (Span, Span)) -> String {
    if least == most { human_time(least) } else { format!("{}–{}", human_time(least), human_time(most)) }
}

/// All device presets.
pub fn device_entries() -> Result<Vec<DeviceEntry>, ConfigError> {
    let none: [&str; 0] = [];
    let resolved = DEVICES.iter().map(|p| resolve(p.name, &none, &none, &none));
    resolved.map(|r| r.map(|r| DeviceEntry::new(&r.device, &r.config))).collect()
}

/// The text of `tailcut show devices`.
pub fn devices_text() -> Result<String, ConfigError> {
    let entries = device_entries()?;
    let rows = |row: fn(&DeviceEntry) -> Vec<String>| entries.iter().map(row).collect::<Vec<_>>();
    let sizes = rows(|d| {
        vec![d.name.clone(), human_bytes(d.raw_bytes), human_bytes(d.host_bytes), d.geometry.clone()]
    });
    let times = rows(|d| {
        let times = [shown_range(d.read), shown_range(d.program), human_time(d.erase)];
        [d.name.clone()].into_iter().chain(times).chain([human_rate(d.channel_rate)]).collect()
    });
    let sizes = text_table(&["name", "raw", "host", "ch×chip×die×plane×block×page"], &sizes, &[1, 2]);
    let times = text_table(&["name", "tR", "tPROG", "tBERS", "channel"], &times, &[]);
    let described = entries.iter().map(|d| (d.name.as_str(), d.description.as_str(), &[][..]));
    Ok(format!("{sizes}\n{times}\n{}", list("description", described)))
}

/// The width of all lists, in columns.
const WIDTH: usize = 80;

/// A list of names, each with a text beside it and lines below that.
fn list<'a>(what: &str, entries: impl Iterator<Item = (&'a str, &'a str, &'a [String])> + Clone) -> String {
    let wide = entries.clone().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let mut text = format!("{:wide$}  {what}\n", "name");
    for (mut name, described, below) in entries {
        for line in wrapped(described, WIDTH - wide - 2) {
            text.push_str(&format!("{name:wide$}  {line}\n"));
            name = "";
        }
        for below in below {
            for line in wrapped(below, WIDTH - wide - 4) {
                text.push_str(&format!("{:wide$}    {line}\n", ""));
            }
        }
    }
    text
}

/// The text of `tailcut show schemes`: what each does, and below it what it sets.
pub fn schemes_text() -> Result<String, ConfigError> {
    let schemes = scheme_presets()?;
    let none = ["nothing".to_string()];
    let entries = schemes.iter().map(|scheme| {
        let sets = if scheme.sets.is_empty() { &none[..] } else { &scheme.sets };
        (scheme.name, scheme.description.as_str(), sets)
    });
    Ok(list("description, and what it sets", entries))
}

/// The text of `tailcut show workloads`.
pub fn workloads_text() -> Result<String, ConfigError> {
    let jobs: Vec<_> = workload_presets()?.into_iter().map(|w| (w.name, w.description, [w.job])).collect();
    let entries = jobs.iter().map(|(name, description, job)| (*name, description.as_str(), &job[..]));
    Ok(list("description, and the job", entries))
}

/// The text of `tailcut show policies`: each family, and the first line of each member's
/// manual.
pub fn policies_text() -> String {
    let mut text = String::new();
    for family in FAMILIES {
        for line in wrapped(&format!("policy.{}: {}", family.name, family.decides), WIDTH) {
            text.push_str(&format!("{line}\n"));
        }
        let wide = family.members.iter().map(|m| m.name.len()).max().unwrap_or(0) + 4;
        for member in family.members {
            let mut name = member.name;
            for line in wrapped(&member.title(), WIDTH - wide) {
                text.push_str(&format!("  {name:<0$}{line}\n", wide - 2));
                name = "";
            }
        }
        text.push('\n');
    }
    text
}

/// The manual page of `tailcut show policies --markdown`.
pub fn policies_markdown() -> String {
    let mut text = String::from("# Policies\n");
    for family in FAMILIES {
        text.push_str(&format!("\n## `policy.{}`\n\n{}\n", family.name, family.decides));
        for member in family.members {
            text.push_str(&format!("\n### `{}`\n\n{}\n", member.name, member.manual().trim_end()));
        }
    }
    text
}

/// The text of `tailcut show config`: every key, its value, the layer that set it, and the
/// source that the layer names. The text is itself a device file.
pub fn show_config(resolved: &Resolved) -> String {
    write::document(&resolved.entries, |e| {
        let source = e.source.as_ref().map_or(String::new(), |s| format!(": {s}"));
        Some(format!("{}{source}", e.layer))
    })
}
