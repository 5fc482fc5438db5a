//! The design of a sweep: what all points have in common, and what varies.
//!
//! ```toml
//! device = "tiny"
//! workload = "randrw,bs=4k,rwmixread=70,iodepth=16,number_ios=100000"
//! set = ["host.submit_latency=20us"]
//!
//! [[axis]]
//! key = "scheme"
//! values = ["baseline", "rps"]
//!
//! [[axis]]
//! key = "ftl.over_provisioning"
//! values = ["10%", "20%"]
//!
//! [[axis]]
//! key = "workload.rate_iops"
//! values = [1000, 2000]
//! ```

use crate::precondition::PastKind;
use crate::sweep::error::SweepError;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The most points of a sweep.
pub const MOST: u64 = 100_000;

/// The most runs of a point.
const MOST_RUNS: u32 = 1000;

/// The scheme without an axis of schemes: it changes nothing.
const BASELINE: &str = "baseline";

/// The largest file of a design, bytes.
const FILE_MAX: u64 = 16 << 20;

/// Axes that are no configuration keys.
pub const SPECIAL: [&str; 4] = ["scheme", "device", "seed", "workload"];

/// The axes of workloads that are traces: options of their replay.
pub const REPLAY: [&str; 5] = ["rate_scale", "size_scale", "limit", "loop", "closed_loop"];

/// The prefix of axes that set an option of the workload.
pub const WORKLOAD: &str = "workload.";

/// What varies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// `scheme`, `device`, `seed`, `workload`, `workload.OPTION`, or a configuration key.
    pub key: String,
    /// The values, as texts; with random draws also a range such as `1000..5000`.
    pub values: Vec<String>,
}

/// A sweep, as the user describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// The device of all points without an axis of devices.
    pub device: String,
    /// The scheme of all points without an axis of schemes.
    pub scheme: String,
    /// The workload of all points without an axis of workloads.
    pub workload: String,
    /// The seed of all points without an axis of seeds, and of random draws.
    pub seed: u64,
    /// Runs of each point, with consecutive seeds.
    pub runs: u32,
    /// The past of the drives; by default the workload decides.
    pub precondition: Option<String>,
    /// TOML files applied to every device.
    pub config: Vec<PathBuf>,
    /// Keys set at every point, as `--set` takes them.
    pub set: Vec<String>,
    /// The number of random points; `None` for all combinations.
    pub random: Option<u32>,
    /// What varies. The last axis varies fastest.
    pub axis: Vec<Axis>,
}

impl Default for Design {
    fn default() -> Design {
        Design {
            device: String::new(),
            scheme: BASELINE.into(),
            workload: "mixed-70-30-qd16".into(),
            seed: 1,
            runs: 1,
            precondition: None,
            config: Vec::new(),
            set: Vec::new(),
            random: None,
            axis: Vec::new(),
        }
    }
}

/// A file of a design.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    device: Option<String>,
    scheme: Option<String>,
    workload: Option<String>,
    seed: Option<u64>,
    runs: Option<u32>,
    precondition: Option<String>,
    #[serde(default)]
    config: Vec<PathBuf>,
    #[serde(default)]
    set: Vec<String>,
    random: Option<u32>,
    #[serde(default)]
    axis: Vec<FileAxis>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileAxis {
    key: String,
    values: Vec<toml::Value>,
}

impl Axis {
    /// Parses `key=a,b,c`. A value with a comma needs a file.
    ///
    /// # Errors
    /// There is no `=`.
    pub fn parse(text: &str) -> Result<Axis, String> {
        let form = || {
            format!("`{text}`: an axis is such as `ftl.over_provisioning=10%,20%` or `scheme=baseline,rps`")
        };
        let (key, values) = text.split_once('=').ok_or_else(form)?;
        let values: Vec<String> = values.split(',').map(|v| v.trim().to_string()).collect();
        Ok(Axis { key: key.trim().to_string(), values })
    }
}

impl Design {
    /// Reads a file and checks it.
    ///
    /// # Errors
    /// It cannot be read, is no design, or one that cannot be run.
    pub fn read(path: &Path) -> Result<Design, SweepError> {
        let wrong = |why: String| SweepError::Design(format!("{}: {why}", path.display()));
        let text = tailcut_report::regular::read(path, FILE_MAX).map_err(|e| wrong(e.to_string()))?;
        let file: File = toml::from_str(&text).map_err(|e| wrong(e.to_string().trim_end().to_string()))?;
        file.design().and_then(|design| design.checked()).map_err(wrong)
    }

    /// Checks what needs no device and no workload.
    ///
    /// # Errors
    /// The axis or the key, what is wrong, and what is allowed.
    pub fn checked(self) -> Result<Design, String> {
        if self.axis.is_empty() {
            return Err("a sweep needs at least one axis (`--axis key=a,b`, or [[axis]] in a file)".into());
        }
        if self.device.is_empty() && !self.axis.iter().any(|a| a.key == "device") {
            return Err("no device: give `device`, or an axis `device`".into());
        }
        if !(1..=MOST_RUNS).contains(&self.runs) {
            return Err(format!("runs: it must be 1 to {MOST_RUNS}"));
        }
        if self.random.is_some_and(|n| n == 0 || u64::from(n) > MOST) {
            return Err(format!("random: it must be 1 to {MOST}"));
        }
        if let Some(past) = &self.precondition {
            past.parse::<PastKind>().map_err(|e| format!("precondition: {e}"))?;
        }
        for (i, axis) in self.axis.iter().enumerate() {
            let wrong = |why: String| Err(format!("axis `{}`: {why}", axis.key));
            if axis.key.is_empty() {
                return Err("an axis has no key".into());
            }
            if axis.values.is_empty() || axis.values.iter().any(String::is_empty) {
                return wrong("it needs at least one value, and no value may be empty".into());
            }
            if self.axis[..i].iter().any(|other| other.key == axis.key) {
                return wrong("it is given twice".into());
            }
            let twice = axis.values.iter().enumerate().find(|(i, v)| axis.values[..*i].contains(v));
            if let Some((_, value)) = twice {
                return wrong(format!("value `{value}` is given twice"));
            }
            if axis.key == "seed"
                && self.random.is_none()
                && axis.values.iter().any(|v| v.parse::<u64>().is_err())
            {
                return wrong("a seed is a whole number".into());
            }
            if !axis.key.contains('.') && !SPECIAL.contains(&axis.key.as_str()) {
                let near = SPECIAL
                    .iter()
                    .map(|known| (strsim::jaro_winkler(known, &axis.key), known))
                    .max_by(|a, b| a.0.total_cmp(&b.0))
                    .filter(|(likeness, _)| *likeness > 0.75);
                let near = near.map_or(String::new(), |(_, known)| format!(" (did you mean `{known}`?)"));
                return wrong(format!(
                    "there is no such axis{near}; it is {}, workload.OPTION, or a configuration key (`tailcut show keys`)",
                    SPECIAL.join(", ")
                ));
            }
        }
        Ok(self)
    }

    /// The number of points.
    pub fn points(&self) -> u64 {
        match self.random {
            Some(n) => u64::from(n),
            None => self.axis.iter().fold(1, |all: u64, axis| all.saturating_mul(axis.values.len() as u64)),
        }
    }
}

impl File {
    fn design(self) -> Result<Design, String> {
        let default = Design::default();
        let text = |value: &toml::Value| match value {
            toml::Value::String(text) => Ok(text.clone()),
            toml::Value::Integer(n) => Ok(n.to_string()),
            toml::Value::Float(x) => Ok(x.to_string()),
            toml::Value::Boolean(b) => Ok(b.to_string()),
            other => Err(format!("`{other}`: a value is a text, a number, or true or false")),
        };
        let axis = |axis: FileAxis| -> Result<Axis, String> {
            let values: Result<Vec<String>, String> = axis.values.iter().map(text).collect();
            Ok(Axis { values: values.map_err(|why| format!("axis `{}`: {why}", axis.key))?, key: axis.key })
        };
        Ok(Design {
            device: self.device.unwrap_or(default.device),
            scheme: self.scheme.unwrap_or(default.scheme),
            workload: self.workload.unwrap_or(default.workload),
            seed: self.seed.unwrap_or(default.seed),
            runs: self.runs.unwrap_or(default.runs),
            precondition: self.precondition,
            config: self.config,
            set: self.set,
            random: self.random,
            axis: self.axis.into_iter().map(axis).collect::<Result<_, _>>()?,
        })
    }
}
