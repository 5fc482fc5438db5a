//! All layers in order, and what comes of them.

use crate::error::{ConfigError, Problem};
use crate::merge::{leaves, normalise, overlay, refuse_conflict};
use crate::preset::PresetKind;
use crate::read::read;
use crate::set::parse_set;
use crate::tree::{Data, Source, Tree, parse};
use crate::write;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tailcut_core::device::config::DeviceConfig;

/// A drive's configuration, and where each value of it came from.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The device preset's name, or the file's path.
    pub device: String,
    /// The configuration.
    pub config: DeviceConfig,
    /// It as a complete device file in canonical form: reading it gives `config` again.
    pub toml: String,
    /// Each key, dotted, and the layer whose value it has: `device z-ssd`,
    /// `scheme rps`, `file x.toml`, `--set key=value`; a policy's key that no layer gives
    /// names the layer that chose the policy: `scheme x, default of lru`.
    pub provenance: BTreeMap<String, String>,
}

/// Lay `schemes`, `files` and `sets` (in this order) over the device, which is a preset
/// or a path ending in `.toml`. A scheme is a preset, such a path, or several joined by
/// `+`, which must not set one key to different values.
pub fn resolve<S: AsRef<str>, F: AsRef<Path>, T: AsRef<str>>(
    device: &str,
    schemes: &[S],
    files: &[F],
    sets: &[T],
) -> Result<Resolved, ConfigError> {
    let mut tree = load(PresetKind::Device, device)?;
    let mut overlays: Vec<(String, Tree)> = Vec::new();
    for name in schemes.iter().flat_map(|s| parts(s.as_ref())) {
        let layer = load(PresetKind::Scheme, name)?;
        for (other, before) in &overlays {
            refuse_conflict((other, before), (name, &layer))?;
        }
        overlays.push((name.to_string(), layer));
    }
    for (_, layer) in &overlays {
        overlay(&mut tree, layer);
    }
    for file in files {
        overlay(&mut tree, &load_file(file.as_ref())?);
    }
    for set in sets {
        let mut layer = parse_set(set.as_ref())?;
        normalise(&mut layer)?;
        overlay(&mut tree, &layer);
    }
    finish(device, &tree)
}

/// The schemes of `A+B`; a file whose own name has a `+` is one.
fn parts(scheme: &str) -> Vec<&str> {
    if Path::new(scheme).is_file() { vec![scheme] } else { scheme.split('+').map(str::trim).collect() }
}

/// Read a text as a complete device file; `name` stands for it in messages.
pub fn parse_device(name: &str, text: &str) -> Result<Resolved, ConfigError> {
    let mut tree = parse(&Source::text(&format!("file {name}"), text), text)?;
    normalise(&mut tree)?;
    finish(name, &tree)
}

fn finish(device: &str, tree: &Tree) -> Result<Resolved, ConfigError> {
    let config: DeviceConfig = read(tree)?;
    check_capacity(&config, tree)?;
    let entries = write::entries(&config);
    let set = leaves(tree);
    let provenance = entries.iter().map(|(key, _)| (key.clone(), origin_of(key, &set))).collect();
    let toml = write::document(&entries, None);
    Ok(Resolved { device: device.to_string(), config, toml, provenance })
}

/// The layer of `key`; for a key that a member's defaults filled in, those.
fn origin_of(key: &str, set: &BTreeMap<String, (String, crate::tree::Origin)>) -> String {
    if let Some((_, origin)) = set.get(key) {
        return origin.source.name.clone();
    }
    // Only a policy's keys have defaults: here is `policy.family.member.key`, and what a
    // layer gave is the member.
    let parts: Vec<&str> = key.split('.').collect();
    let family = parts[..parts.len().min(2)].join(".");
    let layer = set.get(&family).map_or("no layer", |(_, origin)| &origin.source.name);
    format!("{layer}, default of {}", parts.get(2).unwrap_or(&key))
}

/// Exactly one of the two ways to give the capacity.
fn check_capacity(config: &DeviceConfig, tree: &Tree) -> Result<(), ConfigError> {
    let sentence = match (config.ftl.user_capacity, config.ftl.over_provisioning) {
        (Some(_), Some(_)) => "give one of user_capacity and over_provisioning, not both",
        (None, None) => "give user_capacity (e.g. \"240GB\") or over_provisioning (e.g. \"7%\")",
        _ => return Ok(()),
    };
    let ftl = match &tree.data {
        Data::Table(t) => t.get("ftl"),
        _ => None,
    };
    Err(ConfigError::Key {
        place: ftl.unwrap_or(tree).origin.key_place(),
        key: "ftl".to_string(),
        problem: Box::new(Problem::Invalid(sentence.to_string())),
    })
}

/// A preset or file as a normalised layer.
fn load(kind: PresetKind, name: &str) -> Result<Tree, ConfigError> {
    let mut tree = if name.ends_with(".toml") {
        load_file(Path::new(name))?
    } else {
        let preset = kind.find(name)?;
        let mut tree = parse(&Source::bare(&format!("{} {name}", kind.word())), preset.text)?;
        normalise(&mut tree)?;
        tree
    };
    // A scheme describes itself, not the drive it is laid over.
    if let (PresetKind::Scheme, Data::Table(t)) = (kind, &mut tree.data) {
        t.remove("description");
    }
    Ok(tree)
}

fn load_file(path: &Path) -> Result<Tree, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Read { path: PathBuf::from(path), source })?;
    let mut tree = parse(&Source::text(&format!("file {}", path.display()), &text), &text)?;
    normalise(&mut tree)?;
    Ok(tree)
}
