//! Settings that are not what they seem: a scheme's row under another policy, a member chosen by one of its keys, and
//! values that nothing reads.

use crate::{Experiment, ExperimentError, PastKind, Plan};
use std::path::{Path, PathBuf};
use tailcut_config::{ConfigError, DeviceEntry, Entry, Resolved, resolve, resolve_with_faults};
use tailcut_core::device::ConfigProblem;
use tailcut_core::nand::faults::config::FaultConfig;
use tailcut_core::policy::FAMILIES;
use tailcut_core::policy::redundancy::RedundancyConfig;
use tailcut_report::text::percent;
use tailcut_units::quantity::human_bytes;

/// A capacity may differ by this share from that of a scaled drive.
const SCALED: f64 = 0.01;

/// The scheme that changes nothing on any device.
const BASELINE: &str = "baseline";

/// The device, and the layers that the user puts on it and on every scheme.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// A preset, or a file.
    pub device: String,
    /// Files, in their order.
    pub config: Vec<PathBuf>,
    /// `key=value`.
    pub set: Vec<String>,
    /// What fails.
    pub fault: Vec<FaultConfig>,
}

/// Why schemes cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A configuration that cannot be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Schemes that say nothing beside each other.
    #[error("{0}")]
    Schemes(String),
}

impl Layers {
    /// The configuration of each scheme.
    ///
    /// # Errors
    /// A configuration that cannot be; a scheme that is named twice.
    pub fn resolve(&self, schemes: &[String]) -> Result<Vec<(String, Resolved)>, SettingsError> {
        let mut resolved: Vec<(String, Resolved)> = Vec::new();
        for name in schemes.iter().map(|s| s.trim()) {
            if resolved.iter().any(|(other, _)| other == name) {
                return Err(SettingsError::Schemes(format!(
                    "--scheme names `{name}` twice; each scheme runs once (see --runs)"
                )));
            }
            let one = resolve_with_faults(&self.device, &[name], &self.config, &self.set, &self.fault)?;
            resolved.push((name.to_string(), one));
        }
        Ok(resolved)
    }

    /// Whether the user has set a value by an option.
    fn have(&self, e: &Entry) -> bool {
        let of_file = |file: &Path| e.layer == format!("file {}", file.display());
        e.layer.starts_with("--set ") || self.config.iter().any(|file| of_file(file))
    }
}

/// The problems of a configuration, each with the place of the value if the user has set it.
pub fn placed(error: &ExperimentError, resolved: &[(String, Resolved)]) -> Option<String> {
    let ExperimentError::Config { scheme, problem } = error else { return None };
    let (_, of_scheme) = resolved.iter().find(|(name, _)| name == scheme)?;
    let line = |of: &ConfigProblem| {
        let place = of_scheme.entry(&of.key).and_then(|e| e.place.as_deref());
        let place = place.map_or(String::new(), |place| format!("{place}: "));
        format!("{place}scheme `{scheme}`: {}: {}", of.key, of.problem)
    };
    Some(problem.all().map(line).collect::<Vec<_>>().join("\n"))
}

/// The lines about the configuration of the schemes.
///
/// # Errors
/// Several schemes are compared, and a layer of the user takes a policy away that one of them sets: its row would have
/// the name of a scheme that it does not show.
pub fn of_schemes(layers: &Layers, resolved: &[(String, Resolved)]) -> Result<Vec<String>, SettingsError> {
    let mut lines: Vec<String> = Vec::new();
    let mut say = |line: String| {
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    for (name, with) in resolved {
        let none: [&str; 0] = [];
        // A drive that is whole only with these layers has no other to compare with.
        if let Ok(scheme) = resolve(&layers.device, &[name], &none, &none) {
            let device = resolve(&layers.device, &[BASELINE], &none, &none);
            if name != BASELINE && device.is_ok_and(|d| d.config == scheme.config) {
                say(format!(
                    "scheme `{name}` changes nothing on {}: all its values are the device's own",
                    layers.device
                ));
            }
            for (key, was, is) in replaced(&scheme, with) {
                let by = layer_of(with, &key);
                let what = format!("scheme `{name}` sets {key} to {was}, and {by} replaces it with {is}");
                if resolved.len() > 1 {
                    return Err(SettingsError::Schemes(format!(
                        "{what}: the row would not show `{name}`; leave one of the two out"
                    )));
                }
                say(what);
            }
        }
        if let Ok(files) = resolve(&layers.device, &[name], &layers.config, &none) {
            layers.set.iter().filter_map(|set| switched(set, &files, with)).for_each(&mut say);
        }
        with.entries.iter().filter(|e| layers.have(e)).filter_map(|e| unread(e, with)).for_each(&mut say);
    }
    Ok(lines)
}

/// The lines about what all schemes share.
pub fn of_plan(
    layers: &Layers,
    resolved: &[(String, Resolved)],
    experiment: &Experiment,
    plan: &Plan,
) -> Vec<String> {
    let mut lines = of_past(layers, resolved, experiment, plan);
    lines.extend(of_capacities(experiment, plan));
    lines
}

/// The lines about how the drives are filled and aged.
pub fn of_past(
    layers: &Layers,
    resolved: &[(String, Resolved)],
    experiment: &Experiment,
    plan: &Plan,
) -> Vec<String> {
    let mut lines = Vec::new();
    let free = resolved.iter().filter_map(|(_, r)| r.entry("age.free")).find(|e| layers.have(e));
    if let Some(free) = free.filter(|_| plan.past != PastKind::Scattered) {
        let past = plan.past.name();
        lines.push(format!(
            "{}: only the past `scattered` reads age.free, and the past is {past}",
            free.layer
        ));
    }
    if matches!(plan.past, PastKind::Steady | PastKind::Scattered) {
        lines.extend(of_scale(layers, resolved));
    }
    let is_trace = experiment.workload.trace().is_some();
    let fill = |r: &Resolved| r.config.age.fill;
    if let Some(set) = resolved.iter().filter_map(|(_, r)| r.entry("age.fill")).find(|e| layers.have(e)) {
        if !is_trace {
            lines.push(format!(
                "{}: a generated job fills the region that it addresses (size, offset), and nothing reads age.fill",
                set.layer
            ));
        }
    } else if let Some((_, part)) = resolved.iter().find(|(_, r)| is_trace && fill(r) < 1.0) {
        lines.push(format!(
            "{} fills {} of the drive before a trace (age.fill): another drive compares with it at the same share, \
             so give both the same `--set age.fill=`",
            layers.device,
            percent(fill(part), 1.0)
        ));
    }
    lines
}

/// The line about a drive with fewer blocks than its device whose spare space is not that of a scaled drive
/// (docs/guide.md, "A scaled drive").
fn of_scale(layers: &Layers, resolved: &[(String, Resolved)]) -> Option<String> {
    let (name, with) = resolved.first()?;
    // A device, a scheme and `scaled_blocks` know what they set.
    with.entry("geometry.blocks").filter(|blocks| layers.have(blocks))?;
    let none: [&str; 0] = [];
    let (part, whole) = (with.config.geometry.blocks, resolve(&layers.device, &[name], &none, &none).ok()?);
    let all = whole.config.geometry.blocks;
    let chosen = with.entries.iter().any(|e| e.key.starts_with("ftl.over_provisioning") && layers.have(e));
    if part >= all || chosen {
        return None;
    }
    // A drive that is not to be scaled is refused.
    let scaled = resolve(&layers.device, &[name], &none, &[format!("scaled_blocks={part}")]).ok()?;
    let bytes = |r: &Resolved| DeviceEntry::new(name, &r.config).host_bytes as f64;
    if (bytes(with) / bytes(&scaled) - 1.0).abs() < SCALED {
        return None;
    }
    Some(format!(
        "{part} of the {all} blocks of {}: with this capacity its steady state is not that of the whole drive; \
         `--set scaled_blocks={part}` in place of the blocks and the capacity keeps it",
        layers.device
    ))
}

/// The line about schemes whose capacities differ.
fn of_capacities(experiment: &Experiment, plan: &Plan) -> Option<String> {
    let users = plan.capacities.iter().map(|c| c.user);
    let (least, most) = users.clone().min().zip(users.max()).filter(|(least, most)| least != most)?;
    let of = experiment.schemes.iter().zip(&plan.capacities);
    let spare: Vec<String> = of
        .map(|(s, c)| format!("{} {}", s.name, percent((c.raw - least.min(c.raw)) as f64, c.raw as f64)))
        .collect();
    Some(format!(
        "the schemes give the host {} to {}, and all are used up to {}: what a scheme gives beyond it is more spare \
         space for collection (of the raw flash the host leaves {})",
        human_bytes(least),
        human_bytes(most),
        human_bytes(plan.capacity),
        spare.join(", "),
    ))
}

/// The line about devices whose spare space differs, which decides how much they collect.
pub fn of_devices(devices: &[String], config: &[PathBuf], set: &[String]) -> Option<String> {
    let none: [&str; 0] = [];
    let entries = devices.iter().filter_map(|device| {
        let resolved = resolve(device, &none, config, set).ok()?;
        Some(DeviceEntry::new(device, &resolved.config))
    });
    let spare = |entry: DeviceEntry| {
        let (raw, user) = (entry.raw_bytes as f64, entry.host_bytes as f64);
        (entry.name, percent(raw - user, raw))
    };
    let all: Vec<(String, String)> = entries.map(spare).collect();
    all.windows(2).any(|w| w[0].1 != w[1].1).then(|| {
        let shares: Vec<String> = all.iter().map(|(device, share)| format!("{device} {share}")).collect();
        format!(
            "the spare space of the devices differs, and a drive with less collects more: {} of the raw flash; \
             `--set ftl.over_provisioning=` gives all the same",
            shares.join(", ")
        )
    })
}

/// The member of a policy family.
fn member(of: &Resolved, family: &str) -> Option<String> {
    let key = format!("policy.{family}");
    if let Some(plain) = of.entry(&key) {
        return plain.value.as_str().map(String::from);
    }
    let inside = format!("{key}.");
    let name = of.entries.iter().find_map(|e| e.key.strip_prefix(&inside))?;
    name.split('.').next().map(String::from)
}

/// The layer that has set a policy family.
fn layer_of<'a>(of: &'a Resolved, key: &str) -> &'a str {
    let inside = format!("{key}.");
    let entry = of.entries.iter().find(|e| e.key == key || e.key.starts_with(&inside));
    entry.map_or("another layer", |e| e.layer.split(", default of").next().unwrap_or(&e.layer))
}

/// The families that a scheme sets and that have another member in the end: the key, and both members.
fn replaced(scheme: &Resolved, with: &Resolved) -> Vec<(String, String, String)> {
    let one = |family: &str| {
        let key = format!("policy.{family}");
        let (was, is) = (member(scheme, family)?, member(with, family)?);
        (layer_of(scheme, &key).starts_with("scheme ") && was != is).then_some((key, was, is))
    };
    FAMILIES.iter().filter_map(|family| one(family.name)).collect()
}

/// The line about a `--set` of a key inside a member that was not the family's before.
fn switched(set: &str, before: &Resolved, with: &Resolved) -> Option<String> {
    let key = set.split('=').next().unwrap_or_default().trim();
    let mut parts = key.split('.');
    let (Some("policy"), Some(family), Some(named), Some(_)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let (was, is) = (member(before, family)?, member(with, family)?);
    (was != is && is == named).then(|| {
        format!("--set {set} also makes {is} the member of policy.{family}; without it, it is {was}")
    })
}

/// The line about a value that this drive never reads.
fn unread(e: &Entry, with: &Resolved) -> Option<String> {
    let c = &with.config;
    let never = |family: &str| member(with, family).is_some_and(|m| m == "never");
    let read_by = match e.key.as_str() {
        "age.pe_cycles"
            if c.errors.is_none() && c.erase.is_none() && c.fault.iter().all(|f| f.cycle.is_none()) =>
        {
            "the tables `errors` and `erase`, and faults with `cycle`"
        }
        "age.retention" | "age.retention_from" | "age.law"
            if c.errors.is_none() && c.fault.iter().all(|f| f.older.is_none()) =>
        {
            "the table `errors`, and faults with `older`"
        }
        "age.reads"
            if c.errors.is_none()
                && c.faults.page_reads.is_none()
                && c.fault.iter().all(|f| f.reads.is_none()) =>
        {
            "the table `errors`, `faults.page_reads`, and faults with `reads`"
        }
        "faults.within"
            if [c.faults.plane, c.faults.die, c.faults.channel].iter().all(|share| share.is_none()) =>
        {
            "`faults.plane`, `faults.die` and `faults.channel`"
        }
        "faults.rebuild_rate" if matches!(c.policy.redundancy, RedundancyConfig::None(_)) => {
            "the drives with parity (policy.redundancy)"
        }
        key if key.starts_with("suspend.erase.") && never("suspend_erase") => {
            "the members of policy.suspend_erase other than `never`"
        }
        key if key.starts_with("suspend.program.") && never("suspend_program") => {
            "the members of policy.suspend_program other than `never`"
        }
        _ => return None,
    };
    Some(format!("{}: nothing reads {} here; it is for {read_by}", e.layer, e.key))
}
