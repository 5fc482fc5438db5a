//! The sizes and times of a drive, as `tailcut show devices` lists them.

use tailcut_core::device::config::DeviceConfig;
use tailcut_units::Span;
use tailcut_units::quantity::human_bytes;

/// One line of `tailcut show devices`.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceEntry {
    /// The preset's name.
    pub name: String,
    /// The description.
    pub description: String,
    /// Raw capacity of the flash for user data, in bytes.
    pub raw_bytes: u64,
    /// Host capacity in bytes, before bad blocks are subtracted.
    pub host_bytes: u64,
    /// Channels × chips × dies × planes × blocks × pages × bytes per page.
    pub geometry: String,
    /// Shortest and longest sense time.
    pub read: (Span, Span),
    /// Shortest and longest program time.
    pub program: (Span, Span),
    /// Erase time.
    pub erase: Span,
    /// Payload bytes a second of one channel.
    pub channel_rate: u64,
}

impl DeviceEntry {
    /// The entry of a drive.
    pub fn new(name: &str, config: &DeviceConfig) -> DeviceEntry {
        let (g, t) = (&config.geometry, &config.timing);
        let counts = [g.channels, g.chips_per_channel, g.dies_per_chip, g.planes, g.blocks, g.pages];
        let raw_bytes = counts.iter().fold(g.page, |n, &c| n.saturating_mul(u64::from(c)));
        let rule = config.ftl.capacity_rule();
        let user_bytes = rule.and_then(|(_, rule)| rule.user_bytes(raw_bytes)).unwrap_or(0);
        let unit = config.ftl.mapping_unit.max(1);
        let host_bytes = user_bytes / unit * unit;
        let step = t.program.pulse.0.saturating_add(t.program.verify.0);
        let program = t.program.pulses.iter().map(|&n| Span(step.saturating_mul(u64::from(n))));
        let counts: Vec<String> = counts.iter().map(u32::to_string).collect();
        DeviceEntry {
            name: name.to_string(),
            description: config.description.clone(),
            raw_bytes,
            host_bytes,
            geometry: format!("{}×{}", counts.join("×"), human_bytes(g.page).replace(' ', "")),
            read: range(t.read.iter().copied()),
            program: range(program),
            erase: t.erase.total(),
            channel_rate: config.channel.rate,
        }
    }
}

fn range(values: impl Iterator<Item = Span> + Clone) -> (Span, Span) {
    (values.clone().min().unwrap_or_default(), values.max().unwrap_or_default())
}
