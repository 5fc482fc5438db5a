//! Determines the oldest version of the model at which an experiment's results are still valid.
//!
//! A new model version does not change every result. The table below lists what each version
//! can change. The newest version that can change an experiment is the oldest at which its
//! section of a document is still valid.

use crate::error::ReproduceError;
use crate::file::Experiment;
use crate::specs::scheme_specs;
use tailcut_core::nand::config::BusyKind;
use tailcut_sim::SchemeSpec;
use toml::Value;

/// What a version of the model can change.
pub struct ModelChange {
    /// The version; `CHANGELOG.md` says what it changed.
    pub version: u32,
    /// The settings that the version affects, as in the resolved configuration: results can
    /// differ for a drive with any of them. If empty, every drive is affected.
    pub choices: &'static [&'static str],
    /// Only drives of at least this many mapping units are affected.
    pub from_units: u64,
}

/// Every version, in order.
pub const CHANGES: [ModelChange; 17] = [
    ModelChange { version: 1, choices: &[], from_units: 0 },
    ModelChange { version: 2, choices: &[], from_units: 0 },
    ModelChange {
        version: 3,
        choices: &["age.overwrites.uniform", "age.overwrites.uniform-traces"],
        from_units: 0,
    },
    ModelChange {
        version: 4,
        choices: &["policy.redundancy.rain", "policy.gc_schedule.preemptive.states.four"],
        from_units: 0,
    },
    ModelChange {
        version: 5,
        choices: &[
            "policy.buffer.lru.queue_limit",
            "suspend.erase.serve.all",
            "policy.read_path.gc-tolerant-authors",
            "policy.gc_schedule.instant",
        ],
        from_units: 0,
    },
    ModelChange { version: 6, choices: &[], from_units: 1 << 27 },
    ModelChange { version: 7, choices: &[], from_units: 0 },
    ModelChange {
        version: 8,
        choices: &[
            "policy.erase_scheme.ispe",
            "policy.erase_scheme.i-ispe",
            "policy.erase_scheme.dpes",
            "policy.erase_scheme.aero-cons",
            "policy.erase_scheme.aero",
        ],
        from_units: 0,
    },
    ModelChange {
        version: 9,
        choices: &[
            "policy.erase_scheme.ispe",
            "policy.erase_scheme.i-ispe",
            "policy.erase_scheme.dpes",
            "policy.erase_scheme.aero-cons",
            "policy.erase_scheme.aero",
            "errors",
        ],
        from_units: 0,
    },
    ModelChange { version: 10, choices: &["errors"], from_units: 0 },
    ModelChange { version: 11, choices: &["errors"], from_units: 0 },
    ModelChange {
        version: 12,
        choices: &[
            "errors",
            "channel.order.commands-first",
            "channel.order.data-first",
            "host.transfer.whole",
            // Collections that wait for their channel: no drive does with the default, 100 %.
            "policy.gc_schedule.threshold.wait_for_channel_above.10%",
            "policy.gc_schedule.rotating.wait_for_channel_above.10%",
            // Ageing under `fifo` too, but by writes that are not uniform alone: no experiment has them.
            // The wear of blocks changes under every erase scheme, but no time unless it is read by the wear, or
            // what a block may leave or its failure depends on it: no other experiment has that.
            "erase.reading.stress",
            "suspend.erase.least_left_of.loop",
            "policy.buffer.lru.queue_limit",
            "policy.schedule.channel-reads",
        ],
        from_units: 0,
    },
    ModelChange { version: 13, choices: &["ftl.kind.pblk"], from_units: 0 },
    ModelChange { version: 14, choices: &["ftl.kind.pblk"], from_units: 0 },
    ModelChange { version: 15, choices: &["pblk.hot_cold.time", "pblk.hot_cold.writes"], from_units: 0 },
    ModelChange { version: 16, choices: &["pblk.hot_cold.time", "pblk.hot_cold.writes"], from_units: 0 },
    // Of traces with forced unit access no experiment has any.
    ModelChange { version: 17, choices: &["geometry.plane_reads.independent"], from_units: 0 },
];

/// The newest version that can change a result of the experiment.
///
/// # Errors
/// A scheme that cannot be resolved.
pub fn needed(e: &Experiment) -> Result<u32, ReproduceError> {
    let mut configs = Vec::new();
    for run in &e.run {
        configs.extend(scheme_specs(e, run, false)?);
    }
    let touched = CHANGES.iter().filter(|c| configs.iter().any(|config| touches(c, config)));
    Ok(touched.map(|c| c.version).max().unwrap_or(1))
}

fn touches(change: &ModelChange, spec: &SchemeSpec) -> bool {
    let config = Value::try_from(&spec.config).expect("a configuration is a table");
    let g = &spec.config.geometry;
    let blocks = u64::from(g.dies()) * u64::from(g.planes) * u64::from(g.blocks);
    blocks * g.block_bytes() / spec.config.ftl.mapping_unit >= change.from_units
        && (change.choices.is_empty() || change.choices.iter().any(|c| has(&config, c) && matters(c, spec)))
}

/// Whether a choice can change a result of the drive that has it: the order of a channel changes none where operations
/// never wait for it together.
fn matters(choice: &str, spec: &SchemeSpec) -> bool {
    let (g, channel) = (&spec.config.geometry, &spec.config.channel);
    let shared = g.chips_per_channel * g.dies_per_chip > 1 || g.busy_unit == BusyKind::Plane;
    let takes_time = channel.rate != u64::MAX || channel.command.0 > 0;
    !choice.starts_with("channel.order.") || shared && takes_time
}

/// Whether a configuration has a choice: at the path there is a table, a value, or a text equal
/// to the last part.
fn has(config: &Value, path: &str) -> bool {
    let step = |value: Value, part: &str| match value {
        Value::Table(table) => table.get(part).cloned(),
        Value::String(text) if text == part => Some(Value::Boolean(true)),
        _ => None,
    };
    path.split('.').try_fold(config.clone(), step).is_some()
}

/// The model version that a section of a document states.
pub fn stated(section: &str) -> Option<u32> {
    let rest = section.split_once("Model version ")?.1;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list;
    use tailcut_sim::MODEL_VERSION;

    #[test]
    fn every_version_is_there_and_says_what_it_can_change() {
        let versions: Vec<u32> = CHANGES.iter().map(|c| c.version).collect();
        assert_eq!(versions, (1..=MODEL_VERSION).collect::<Vec<_>>());
        // Version 4 affects only drives with parity.
        let specs = |e: &Experiment| scheme_specs(e, &e.run[0], false).expect("sound");
        let concerned = |id: &str, version: usize| {
            let e = &list::find(id).expect("known")[0];
            specs(e).iter().any(|s| touches(&CHANGES[version - 1], s))
        };
        assert!(concerned("fast17/fig5", 3) && concerned("fast17/fig5", 4) && concerned("fast17/fig9", 4));
        // The order of a channel matters where dies share one that takes time.
        assert!(concerned("atc19/artifact", 12) && concerned("hpca24/bandwidth", 12));
        assert!(!concerned("atc19/fig4", 12) && concerned("fast17/fig5", 12));
        assert!(!concerned("atc19/fig4", 3) && !concerned("atc19/fig4", 4) && concerned("atc19/fig4", 2));
    }

    #[test]
    fn a_section_states_its_version() {
        assert_eq!(stated("Running time: 3 s. Model version 12.\n\nModel version 3."), Some(12));
        assert_eq!(stated("nothing"), None);
    }
}
