//! Applies all layers in order and gives the resolved configuration.

use crate::base::load_device;
use crate::error::{ConfigError, Problem};
use crate::faults;
use crate::kind::refuse_other_kind;
use crate::merge::{leaves, normalise, overlay, refuse_conflict};
use crate::missing::read_whole;
use crate::preset::PresetKind;
use crate::scale;
use crate::set::parse_set;
use crate::tree::{Data, Origin, Source, Tree, parse};
use crate::write;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::ftl::config::FtlConfig;
use tailcut_core::nand::faults::config::FaultConfig;

/// A drive's configuration, and the layer and source of each value.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The device preset's name, or the file's path.
    pub device: String,
    /// The configuration.
    pub config: DeviceConfig,
    /// The configuration as a complete device file in canonical form, with the sources of the
    /// values as comments. Reading this text gives `config` and the sources again.
    pub toml: String,
    /// All values, in the order of the structs.
    pub entries: Vec<Entry>,
}

/// One value of a resolved configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The dotted key.
    pub key: String,
    /// The value, as in a device file.
    pub value: toml::Value,
    /// The layer that set the value: `device z-ssd`, `scheme rps`, `file x.toml`, `--set
    /// key=value`. If no layer sets a policy's key: the layer that chose the policy, as `scheme x,
    /// default of lru`.
    pub layer: String,
    /// The source that the layer names: paper and table, data sheet, or assumption and its reason.
    pub source: Option<String>,
    /// Where the user has set the value: `x.toml:3:15`, or `--set key=value`; `None` for presets and defaults.
    pub place: Option<String>,
}

impl Resolved {
    /// Return the entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.key == key)
    }
}

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

/// Load a preset as a normalised layer.
pub(crate) fn load_preset(kind: PresetKind, name: &str) -> Result<Tree, ConfigError> {
    let preset = kind.find(name)?;
    let mut tree = parse(&Source::bare(&format!("{} {name}", kind.word())), preset.text)?;
    normalise(&mut tree)?;
    Ok(tree)
}

/// Load a file as a normalised layer.
pub(crate) fn load_file(path: &Path) -> Result<Tree, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Read { path: PathBuf::from(path), source })?;
    let mut tree = parse(&Source::text(&format!("file {}", path.display()), &text), &text)?;
    normalise(&mut tree)?;
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
