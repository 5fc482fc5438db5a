//! The configuration of a drive: presets, layers over them, and the resolved result.
//!
//! A drive is a device preset, a complete file, or a file that changes another device (its
//! `base`). Sparse layers change the drive; each may set any key: schemes, files, and
//! `--set key=value`. [`resolve`] applies them and records which layer set each value, and
//! the source that the layer names next to the value. Every error gives the place (file,
//! line and column, or layer and key), the problem, and the allowed values.
//!
//! - `tree`: a parsed layer with the origin of each value;
//! - `layer`: loads a preset or a file as a layer;
//! - `merge`: applies one layer to another, with the rules for policies;
//! - `base`: applies a device to the device that it changes;
//! - `missing`: reports all missing keys together;
//! - `set`: a layer from `--set`;
//! - `faults`: the faults of `--fault`;
//! - `kind`: refuses keys of another translation layer than the drive has;
//! - `read`: reads the merged tree into the structs, with typed errors;
//! - `resolve`: all these steps in order;
//! - `resolved`: their result, with the layer and source of each value;
//! - `device_entry`: the sizes and times of a drive, for lists;
//! - `show`: texts and lists for the user;
//! - `keys`: the reference of all keys;
//! - `preset`: the built-in presets.

mod base;
mod device_entry;
mod error;
mod faults;
mod keys;
mod kind;
mod layer;
mod merge;
mod missing;
mod preset;
mod read;
mod resolve;
mod resolved;
mod scale;
mod set;
mod show;
mod table;
mod tree;
mod write;

pub use device_entry::DeviceEntry;
pub use error::{ConfigError, Conflict, Place, Problem};
pub use keys::{
    KeyBound, KeyDefault, KeyEntry, KeyRange, KeyValue, key_entries, keys_markdown, keys_schema, keys_text,
    select_keys,
};
pub use preset::{
    DEVICES, Preset, PresetKind, SCHEMES, SchemePreset, WORKLOADS, WorkloadPreset, scheme_presets,
    workload_preset, workload_presets,
};
pub use resolve::{NEUTRAL, parse_device, resolve, resolve_with_faults};
pub use resolved::{Entry, Resolved};
pub use show::{
    device_entries, devices_text, policies_markdown, policies_text, schemes_text, show_config, workloads_text,
};
pub use table::text_table;
