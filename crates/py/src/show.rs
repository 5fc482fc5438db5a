//! Presets, keys and configurations, as JSON.

use crate::error::failed;
use crate::spec::{Device, layers};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use tailcut_config::{device_entries, key_entries, scheme_presets, workload_presets};
use tailcut_sim::finished::config_values;

fn text(of: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(of).map_err(failed)
}

/// The configuration of a device under schemes, files, keys and faults: its values by key, and its file.
#[pyfunction]
pub fn config(
    device: &str,
    schemes: Vec<String>,
    config: Vec<std::path::PathBuf>,
    set: Vec<String>,
    fault: Vec<String>,
) -> PyResult<String> {
    let device: Device = serde_json::from_str(device).map_err(failed)?;
    let layered = layers(&device, &config, &set, &fault).map_err(failed)?;
    let of = |schemes: &[String]| layered.layers.resolve(&[schemes.join("+")]).map_err(failed);
    let resolved = of(&schemes)?;
    let Some((_, resolved)) = resolved.first() else { return Err(failed("there is no configuration")) };
    let values = config_values(resolved).map_err(failed)?;
    text(&json!({ "device": layered.name, "toml": resolved.toml, "values": values }))
}

/// The built-in devices.
#[pyfunction]
pub fn devices() -> PyResult<String> {
    let entries = device_entries().map_err(failed)?;
    let one = |e: &tailcut_config::DeviceEntry| {
        json!({
            "name": e.name,
            "description": e.description,
            "geometry": e.geometry,
            "raw_bytes": e.raw_bytes,
            "host_bytes": e.host_bytes,
            "read_ns": [e.read.0.0, e.read.1.0],
            "program_ns": [e.program.0.0, e.program.1.0],
            "erase_ns": e.erase.0,
            "channel_bytes_per_second": e.channel_rate,
        })
    };
    text(&entries.iter().map(one).collect::<Vec<Value>>())
}

/// The built-in schemes.
#[pyfunction]
pub fn schemes() -> PyResult<String> {
    let presets = scheme_presets().map_err(failed)?;
    let one = |p: &tailcut_config::SchemePreset| json!({ "name": p.name, "description": p.description, "sets": p.sets });
    text(&presets.iter().map(one).collect::<Vec<Value>>())
}

/// The built-in workloads.
#[pyfunction]
pub fn workloads() -> PyResult<String> {
    let presets = workload_presets().map_err(failed)?;
    let one = |p: &tailcut_config::WorkloadPreset| json!({ "name": p.name, "description": p.description, "job": p.job });
    text(&presets.iter().map(one).collect::<Vec<Value>>())
}

/// All keys of a device file.
#[pyfunction]
pub fn keys() -> PyResult<String> {
    text(&key_entries().map_err(failed)?)
}
