//! The built-in presets: the files of `presets/`, by name.

use crate::error::{ConfigError, nearest};
use crate::read::read;
use crate::tree::{Data, Source, parse};
use serde::Deserialize;

/// A built-in file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name on the command line.
    pub name: &'static str,
    /// The TOML text.
    pub text: &'static str,
}

macro_rules! presets {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(Preset {
            name: $name,
            text: include_str!(concat!("../../../presets/", $folder, "/", $name, ".toml")),
        }),+]
    };
}

/// The device presets, each a complete drive.
pub const DEVICES: &[Preset] = presets!("devices":
    "z-ssd", "z-ssd-artifact", "ttflash-256g", "cnex-westlake", "cnex-westlake-mlc", "mqsim-default", "mqsim-e", "mqsim-e-xfer0", "wuhe-slc", "wuhe-mlc", "tlc-3d", "tlc-3d-artifact", "tlc-2d", "mlc-3d", "tlc-3d-errors", "rif-2t", "qlc-61t", "dc-tlc-gen4", "dc-tlc-gen5", "dc-qlc-gen4", "client-tlc-gen3", "tiny", "tiny-pblk",
);

/// The scheme presets, each a sparse layer over a device.
pub const SCHEMES: &[Preset] = presets!("schemes":
    "baseline", "fifo", "rps",
    "es", "i-es", "d-es", "t-es", "ideal-es",
    "ips", "ipc", "wse", "per", "pe0",
    "ispe", "i-ispe", "dpes", "dpes-slack", "aero-cons", "aero",
    "retry-ideal", "retry-one", "walk", "pr2", "ar2", "pr2-ar2", "sentinel", "swift-read", "swift-read-plus", "rp-controller", "rif",
    "no-gc", "preemptive-gc", "ttflash-pb", "ttflash-pb-gtr", "ttflash", "ttflash-nogc",
    "pblk", "linux-tinytail", "rail", "rail-hc",
);

/// The workload presets, each a job in one line.
pub const WORKLOADS: &[Preset] = presets!("workloads":
    "randread-qd1", "randread-qd32", "randwrite-qd32", "mixed-70-30-qd16", "act-30",
);

/// The kinds of preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetKind {
    /// A complete drive.
    Device,
    /// A sparse layer.
    Scheme,
    /// A job.
    Workload,
}

impl PresetKind {
    /// The word used in messages and in the origin of values.
    pub fn word(self) -> &'static str {
        match self {
            PresetKind::Device => "device",
            PresetKind::Scheme => "scheme",
            PresetKind::Workload => "workload",
        }
    }

    /// All presets of this kind.
    pub fn all(self) -> &'static [Preset] {
        match self {
            PresetKind::Device => DEVICES,
            PresetKind::Scheme => SCHEMES,
            PresetKind::Workload => WORKLOADS,
        }
    }

    /// The preset of this name.
    pub fn find(self, name: &str) -> Result<&'static Preset, ConfigError> {
        let names = || self.all().iter().map(|p| p.name);
        self.all().iter().find(|p| p.name == name).ok_or_else(|| ConfigError::UnknownPreset {
            kind: self.word(),
            name: name.to_string(),
            nearest: nearest(name, names()),
            known: names().collect(),
        })
    }
}

/// A workload preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadPreset {
    /// The name on the command line.
    pub name: &'static str,
    /// One line of description.
    pub description: String,
    /// The job as an inline job text.
    pub job: String,
}

/// A scheme preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemePreset {
    /// The name on the command line.
    pub name: &'static str,
    /// One line of description.
    pub description: String,
    /// The keys that the scheme sets, with their values, as TOML.
    pub sets: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadFile {
    description: String,
    job: String,
}

/// The workload preset of this name.
pub fn workload_preset(name: &str) -> Result<WorkloadPreset, ConfigError> {
    let preset = PresetKind::Workload.find(name)?;
    let tree = parse(&Source::bare(&format!("workload {name}")), preset.text)?;
    let WorkloadFile { description, job } = read(&tree)?;
    Ok(WorkloadPreset { name: preset.name, description, job })
}

/// All workload presets.
pub fn workload_presets() -> Result<Vec<WorkloadPreset>, ConfigError> {
    WORKLOADS.iter().map(|p| workload_preset(p.name)).collect()
}

/// All scheme presets.
pub fn scheme_presets() -> Result<Vec<SchemePreset>, ConfigError> {
    SCHEMES.iter().map(scheme_preset).collect()
}

fn scheme_preset(preset: &Preset) -> Result<SchemePreset, ConfigError> {
    let mut tree = parse(&Source::bare(&format!("scheme {}", preset.name)), preset.text)?;
    let mut description = String::new();
    if let Data::Table(t) = &mut tree.data
        && let Some(Data::Text(text)) = t.remove("description").map(|d| d.data)
    {
        description = text;
    }
    let leaves = crate::merge::leaves(&tree);
    let sets = leaves.into_iter().map(|(key, (value, _))| format!("{key} = {value}")).collect();
    Ok(SchemePreset { name: preset.name, description, sets })
}
