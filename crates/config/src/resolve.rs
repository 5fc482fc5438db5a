//! Applies all layers in order and gives the resolved configuration.

use crate::base::load_device;
use crate::error::{ConfigError, Problem};
use crate::faults;
use crate::kind::refuse_other_kind;
use crate::layer::{load_file, load_preset};
use crate::merge::{leaves, normalise, overlay, refuse_conflict};
use crate::missing::read_whole;
use crate::preset::PresetKind;
use crate::resolved::{Entry, Resolved};
use crate::scale;
use crate::set::parse_set;
use crate::tree::{Data, Origin, Source, Tree, parse};
use crate::write;
use std::collections::BTreeMap;
use std::path::Path;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::ftl::config::FtlConfig;
use tailcut_core::nand::faults::config::FaultConfig;

/// Resolve a configuration: apply `schemes`, `files` and `sets`, in this order, to the device. The
/// device is a preset or a path ending in `.toml`, and may itself change another device (`base`). A
/// scheme is a preset, such a path, or several of these joined by `+`, which must not set one key
/// to different values.
pub fn resolve<S: AsRef<str>, F: AsRef<Path>, T: AsRef<str>>(
    device: &str,
    schemes: &[S],
    files: &[F],
    sets: &[T],
) -> Result<Resolved, ConfigError> {
    resolve_with_faults(device, schemes, files, sets, &[])
}

/// As [`resolve`], and add `faults` to the list `fault` of the result.
pub fn resolve_with_faults<S: AsRef<str>, F: AsRef<Path>, T: AsRef<str>>(
    device: &str,
    schemes: &[S],
    files: &[F],
    sets: &[T],
    faults: &[FaultConfig],
) -> Result<Resolved, ConfigError> {
    let mut tree = load_device(device)?;
    let mut overlays: Vec<(String, Tree)> = Vec::new();
    for name in schemes.iter().flat_map(|s| parts(s.as_ref())) {
        let layer = load_scheme(name)?;
        for (other, before) in &overlays {
            refuse_conflict((other, before), (name, &layer))?;
        }
        overlays.push((name.to_string(), layer));
    }
    let mut layers: Vec<Tree> = overlays.into_iter().map(|(_, layer)| layer).collect();
    for file in files {
        let layer = load_file(file.as_ref())?;
        refuse_base(&layer)?;
        layers.push(layer);
    }
    for set in sets {
        let mut layer = parse_set(set.as_ref())?;
        normalise(&mut layer)?;
        layers.push(layer);
    }
    layers.iter().for_each(|layer| overlay(&mut tree, layer));
    faults::add(&mut tree, faults);
    let scaled = scale::take(&mut tree);
    let mut resolved = finish(device, &tree)?;
    if let Some(wanted) = scaled {
        overlay(&mut tree, &scale::layer(&wanted, &resolved)?);
        resolved = finish(device, &tree)?;
    }
    layers.iter().try_for_each(|layer| refuse_other_kind(resolved.config.ftl.kind, layer))?;
    Ok(resolved)
}

/// The schemes of `A+B`; if a file has this whole name, that file is the only scheme.
fn parts(scheme: &str) -> Vec<&str> {
    if Path::new(scheme).is_file() { vec![scheme] } else { scheme.split('+').map(str::trim).collect() }
}

/// Read a text as a complete device file; `name` is its name in messages.
pub fn parse_device(name: &str, text: &str) -> Result<Resolved, ConfigError> {
    let mut tree = parse(&Source::text(&format!("file {name}"), text), text)?;
    normalise(&mut tree)?;
    finish(name, &tree)
}

fn finish(device: &str, tree: &Tree) -> Result<Resolved, ConfigError> {
    let config = read_whole(tree)?;
    check_capacity(&config, tree)?;
    let set = leaves(tree);
    let entries = write::values(&config).into_iter().map(|(key, value)| {
        let (layer, source) = origin_of(&key, &set);
        let own = |(_, origin): &(String, Origin)| {
            let name = &origin.source.name;
            (name.starts_with("--set ") || name.starts_with("file "))
                .then(|| origin.value_place().to_string())
        };
        let place = set.get(&key).and_then(own);
        Entry { key, value, layer, source, place }
    });
    let entries: Vec<Entry> = entries.collect();
    let toml = write::document(&entries, |e| e.source.clone());
    Ok(Resolved { device: device.to_string(), config, toml, entries })
}

/// The layer shown for a family's member that no layer names.
pub const NEUTRAL: &str = "not named: the member that changes nothing";

/// The layer of `key` and the source that the layer names; for a key filled in by a member's
/// defaults, the layer that chose the member.
fn origin_of(key: &str, set: &BTreeMap<String, (String, Origin)>) -> (String, Option<String>) {
    if let Some((_, origin)) = set.get(key) {
        return (origin.source.name.clone(), origin.citation.as_ref().map(|c| c.to_string()));
    }
    // Only keys of policies have defaults. Such a key is `policy.family.member.key`, and the layer
    // set `policy.family`.
    let parts: Vec<&str> = key.split('.').collect();
    let family = parts[..parts.len().min(2)].join(".");
    let Some((_, origin)) = set.get(&family) else { return (NEUTRAL.to_string(), None) };
    (format!("{}, default of {}", origin.source.name, parts.get(2).unwrap_or(&key)), None)
}

/// Check that the capacity is given in exactly one way.
fn check_capacity(config: &DeviceConfig, tree: &Tree) -> Result<(), ConfigError> {
    if config.ftl.capacity_rule().is_some() {
        return Ok(());
    }
    let [bytes, of_raw, of_user] = FtlConfig::CAPACITY_KEYS;
    let sentence = format!(
        "give exactly one of {bytes} (e.g. \"240GB\"), {of_raw} ((raw - user) / raw, e.g. \"7%\") and \
         {of_user} ((raw - user) / user, e.g. \"28%\")"
    );
    Err(ConfigError::Key {
        place: tree.at("ftl").unwrap_or(tree).origin.key_place(),
        key: "ftl".to_string(),
        problem: Box::new(Problem::Invalid(sentence)),
    })
}

/// Load a scheme as a normalised layer. Its description is removed, since it describes the scheme
/// and not the drive.
fn load_scheme(name: &str) -> Result<Tree, ConfigError> {
    let mut tree = if name.ends_with(".toml") {
        load_file(Path::new(name))?
    } else {
        load_preset(PresetKind::Scheme, name)?
    };
    refuse_base(&tree)?;
    if let Data::Table(t) = &mut tree.data {
        t.remove("description");
    }
    Ok(tree)
}

fn refuse_base(layer: &Tree) -> Result<(), ConfigError> {
    let Some(base) = layer.at("base") else { return Ok(()) };
    let sentence = "only a device file can have a base; this layer changes the device that is given";
    Err(ConfigError::Key {
        place: base.origin.key_place(),
        key: "base".to_string(),
        problem: Box::new(Problem::Invalid(sentence.to_string())),
    })
}
