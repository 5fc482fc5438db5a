//! A resolved configuration, and the layer and source of each of its values.

use tailcut_core::device::config::DeviceConfig;

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
