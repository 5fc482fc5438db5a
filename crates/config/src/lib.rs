//! The configuration of a drive: presets, layers over them, and the resolved result.
//!
//! A drive is a device preset, a complete file, or a file that changes another device (its
//! `base`). Over it lie sparse layers, each of which may set any key: schemes, files, and
//! `--set key=value`. [`resolve`] puts them together and remembers which layer each value
//! came from, and the source that the layer names beside it. Every error says where it is
//! (file, line and column, or layer and key), what is wrong, and what is allowed.
//!
//! - `tree`: a parsed layer that knows the origin of each value;
//! - `merge`: one layer over another, with the rules for policies;
//! - `base`: a device over the one that it changes;
//! - `missing`: all keys that are missing at once;
//! - `set`: a layer from `--set`;
//! - `read`: from the merged tree to the structs, with typed errors;
//! - `resolve`: all of it in order;
//! - `show`: texts and lists for people;
//! - `keys`: the reference of all keys;
//! - `preset`: what is built in.

mod base;
mod error;
mod keys;
mod merge;
mod missing;
mod preset;
mod read;
mod resolve;
mod set;
mod show;
mod table;
mod tree;
mod write;

pub use error::{ConfigError, Conflict, Place, Problem};
pub use keys::{
    KeyBound, KeyDefault, KeyEntry, KeyRange, KeyValue, key_entries, keys_markdown, keys_text, select_keys,
};
pub use preset::{
    DEVICES, Preset, PresetKind, SCHEMES, SchemePreset, WORKLOADS, WorkloadPreset, scheme_presets,
    workload_preset, workload_presets,
};
pub use resolve::{Entry, NEUTRAL, Resolved, parse_device, resolve};
pub use show::{
    DeviceEntry, device_entries, devices_text, policies_markdown, policies_text, schemes_text, show_config,
    workloads_text,
};
pub use table::text_table;
