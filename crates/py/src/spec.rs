//! What a run is asked for, as JSON.

use pyo3::pybacked::PyBackedBytes;
use serde::Deserialize;
use std::path::PathBuf;
use tailcut_config::workload_preset;
use tailcut_sim::cache::LIMIT;
use tailcut_sim::{Cache, Layers, Snapshots};
use tailcut_units::quantity::parse_time;
use tailcut_units::{HostOp, Span};
use tailcut_workload::trace::{Record, TraceFile, TraceOptions};
use tailcut_workload::{Interrupt, TraceReplay, WarmUp, WorkloadSpec};
use tempfile::TempDir;

/// Columns of requests: times in ns, operations in the order of [`HostOp::ALL`], offsets and sizes in bytes. Times,
/// offsets and sizes are numbers of 64 bits, the lowest byte first.
pub type Columns = (PyBackedBytes, PyBackedBytes, PyBackedBytes, PyBackedBytes);

/// The name of requests that are no file.
const ARRAYS: &str = "arrays";

/// A device.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Device {
    /// A preset, or a file.
    Name(String),
    /// The content of a device file.
    Table(serde_json::Map<String, serde_json::Value>),
}

/// Where aged drives are kept.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Aged {
    /// In the user's cache, or nowhere.
    Cache(bool),
    /// In this folder.
    Folder(PathBuf),
}

/// A run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // `python/tailcut/_run.py` describes each field.
pub struct Spec {
    pub device: Device,
    pub schemes: Vec<String>,
    pub workload: Vec<String>,
    pub config: Vec<PathBuf>,
    pub set: Vec<String>,
    pub fault: Vec<String>,
    pub seed: u64,
    pub runs: u32,
    pub one_drive: bool,
    pub threads: Option<usize>,
    pub precondition: Option<String>,
    pub cache: Aged,
    pub snapshot: Option<PathBuf>,
    pub trace: Option<TraceOptions>,
    pub closed_loop: Option<u32>,
    pub warm_up: Option<String>,
    pub measure_from: Option<String>,
    pub sections: Vec<String>,
    pub target: Vec<String>,
    pub requests: bool,
    pub series: Option<String>,
    pub out: Option<PathBuf>,
    pub force: bool,
}

/// The layers of a run, and the folder of its device if that is no file.
pub struct Layered {
    /// The layers.
    pub layers: Layers,
    /// The device in the summary.
    pub name: String,
    _folder: Option<TempDir>,
}

/// The layers on a device.
pub fn layers(
    device: &Device,
    config: &[PathBuf],
    set: &[String],
    fault: &[String],
) -> Result<Layered, String> {
    let (device, name, folder) = match device {
        Device::Name(name) => (name.clone(), name.clone(), None),
        Device::Table(table) => {
            let text = toml::to_string(table).map_err(|e| format!("the table of the device: {e}"))?;
            let failed = |e: std::io::Error| format!("the file of the device: {e}");
            let folder = TempDir::new().map_err(failed)?;
            let path = folder.path().join("device.toml");
            std::fs::write(&path, text).map_err(failed)?;
            let base = table.get("base").and_then(|base| base.as_str());
            let name = base.map_or("table".to_string(), |base| format!("table on {base}"));
            (path.display().to_string(), name, Some(folder))
        }
    };
    let fault = fault.iter().map(|text| text.parse().map_err(|e| format!("fault `{text}`: {e}")));
    let fault = fault.collect::<Result<_, String>>()?;
    let layers = Layers { device, config: config.to_vec(), set: set.to_vec(), fault };
    Ok(Layered { layers, name, _folder: folder })
}

impl Aged {
    /// The cache of aged drives, if there is one.
    pub fn cache(&self) -> Option<Cache> {
        match self {
            Aged::Cache(false) => None,
            Aged::Cache(true) => Cache::of_user(),
            Aged::Folder(folder) => Some(Cache::new(folder.clone(), LIMIT)),
        }
    }
}

impl Spec {
    /// Read a spec.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str) -> Result<Spec, String> {
        let spec: Spec = serde_json::from_str(text).map_err(|e| e.to_string())?;
        for (what, given, most) in [
            ("runs", Some(u64::from(spec.runs)), 1000),
            ("threads", spec.threads.map(|n| n as u64), 1024),
            ("closed_loop", spec.closed_loop.map(u64::from), u64::from(u32::MAX)),
        ] {
            if given.is_some_and(|n| !(1..=most).contains(&n)) {
                return Err(format!("{what}: it must be 1 to {most}"));
            }
        }
        Ok(spec)
    }

    /// Its workload.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn workload(&self, columns: Option<&Columns>, interrupt: &Interrupt) -> Result<WorkloadSpec, String> {
        let replay = self.replay(interrupt)?;
        let preset = |name: &str| workload_preset(name).ok().map(|p| p.job);
        let spec = match columns {
            None => WorkloadSpec::parse_all(&self.workload, preset, &replay),
            Some(columns) => {
                let records = records(columns)?;
                let file = TraceFile::of_records(ARRAYS, &records);
                let file = file.map_err(|e| format!("the temporary file of the requests: {e}"))?;
                WorkloadSpec::of_trace(file, &replay)
            }
        };
        spec.map_err(|e| e.to_string())
    }

    fn replay(&self, interrupt: &Interrupt) -> Result<TraceReplay, String> {
        let time = |what: &str, text: &str| -> Result<Span, String> {
            parse_time(text).map_err(|e| format!("{what}: {e}"))
        };
        let warm_up = match (&self.warm_up, &self.measure_from) {
            (Some(_), Some(_)) => return Err("give warm_up or measure_from, not both".into()),
            (Some(length), None) => WarmUp::For(time("warm_up", length)?),
            (None, Some(at)) => WarmUp::Until(time("measure_from", at)?),
            (None, None) => WarmUp::None,
        };
        let given = [
            ("trace", self.trace.is_some()),
            ("closed_loop", self.closed_loop.is_some()),
            ("warm_up", self.warm_up.is_some()),
            ("measure_from", self.measure_from.is_some()),
        ];
        Ok(TraceReplay {
            options: TraceOptions { interrupt: interrupt.clone(), ..self.trace.clone().unwrap_or_default() },
            depth: self.closed_loop,
            warm_up,
            given: given.into_iter().filter_map(|(name, given)| given.then_some(name)).collect(),
            sections: self.sections.clone(),
        })
    }

    /// Where aged drives are kept: nowhere if a function has aged them (`aged_by_function`), since no key says what it does.
    ///
    /// # Errors
    /// One file for several drives, or for a drive that is not kept.
    pub fn snapshots(&self, aged_by_function: bool) -> Result<Snapshots, String> {
        Ok(match &self.snapshot {
            None if aged_by_function => Snapshots::Off,
            Some(_) if aged_by_function => {
                return Err(
                    "snapshot: a drive that a function of Python has aged is not kept, since nothing \
                     says what the function did; leave `snapshot` or policies=\"victim\" out"
                        .into(),
                );
            }
            Some(_) if self.runs > 1 && !self.one_drive => {
                return Err(
                    "snapshot holds one aged drive, but each of several runs has its own: add one_drive=True"
                        .into(),
                );
            }
            Some(path) => Snapshots::File(path.clone()),
            None => self.cache.cache().map_or(Snapshots::Off, Snapshots::Cached),
        })
    }
}

/// The requests of columns, by time.
///
/// # Errors
/// Which request is wrong, and what is allowed.
pub fn records(columns: &Columns) -> Result<Vec<Record>, String> {
    let (times, ops, offsets, sizes) = columns;
    let count = ops.len();
    if [times, offsets, sizes].iter().any(|column| column.len() != count * 8) {
        return Err("the columns of the requests differ in their lengths".into());
    }
    let number = |column: &PyBackedBytes, i: usize| {
        let bytes = column[i * 8..i * 8 + 8].try_into().expect("eight bytes");
        u64::from_le_bytes(bytes)
    };
    let first = (0..count).map(|i| number(times, i)).min().unwrap_or(0);
    let one = |i: usize| {
        let op =
            HostOp::ALL.get(usize::from(ops[i])).ok_or_else(|| format!("request {i}: no such operation"))?;
        Record::new(number(times, i) - first, *op, number(offsets, i), number(sizes, i))
            .map_err(|why| format!("request {i}: {why}"))
    };
    let mut records = (0..count).map(one).collect::<Result<Vec<Record>, String>>()?;
    // Requests of the same time stay in their order.
    records.sort_by_key(|record| record.time);
    Ok(records)
}
