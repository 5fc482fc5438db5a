//! The drive and the workload of a point.

use crate::settings::Layers;
use crate::sweep::design::{Design, REPLAY, WORKLOAD};
use std::collections::HashMap;
use std::hash::Hasher;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tailcut_config::{ConfigError, Resolved, resolve, workload_preset};
use tailcut_report::regular::open;
use tailcut_workload::trace::TraceOptions;
use tailcut_workload::{Interrupt, TraceReplay, WorkloadSpec};
use xxhash_rust::xxh3::Xxh3Default;

/// What a point consists of, before its files are read.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The device.
    pub device: String,
    /// The scheme.
    pub scheme: String,
    /// The seed of its first run.
    pub seed: u64,
    /// Keys that are set, the design's first.
    sets: Vec<String>,
    /// The workload, and the options that axes set.
    workload: (String, Vec<(String, String)>),
}

impl Setup {
    /// Of a point: a value for each axis.
    pub fn of(design: &Design, values: &[String]) -> Setup {
        let mut setup = Setup {
            device: design.device.clone(),
            scheme: design.scheme.clone(),
            seed: design.seed,
            sets: design.set.clone(),
            workload: (design.workload.clone(), Vec::new()),
        };
        for (axis, value) in design.axis.iter().zip(values) {
            match axis.key.as_str() {
                "device" => setup.device = value.clone(),
                "scheme" => setup.scheme = value.clone(),
                // The values of an axis of seeds were checked.
                "seed" => setup.seed = value.parse().unwrap_or(design.seed),
                "workload" => setup.workload.0 = value.clone(),
                key => match key.strip_prefix(WORKLOAD) {
                    Some(option) => setup.workload.1.push((option.to_string(), value.clone())),
                    None => setup.sets.push(format!("{key}={value}")),
                },
            }
        }
        setup
    }

    /// What is set on its device.
    pub fn layers(&self, design: &Design) -> Layers {
        let (device, config, set) = (self.device.clone(), design.config.clone(), self.sets.clone());
        Layers { device, config, set, fault: Vec::new() }
    }

    /// Its configuration.
    ///
    /// # Errors
    /// An unknown device, scheme or key, or values that do not fit.
    pub fn resolved(&self, design: &Design) -> Result<Resolved, ConfigError> {
        resolve(&self.device, &[&self.scheme], &design.config, &self.sets)
    }
}

/// A workload that points share.
#[derive(Debug)]
pub struct Shared {
    /// The workload.
    pub spec: WorkloadSpec,
    /// A text that is the same for the same requests.
    pub identity: String,
}

/// A workload that is read once, or why it cannot be.
type Slot = Arc<OnceLock<Result<Arc<Shared>, String>>>;

/// The workloads of a sweep, each read once.
#[derive(Debug, Default)]
pub struct Workloads {
    interrupt: Interrupt,
    known: Mutex<HashMap<String, Slot>>,
}

impl Workloads {
    /// None yet. The interrupt ends the reading of traces.
    pub fn new(interrupt: Interrupt) -> Workloads {
        Workloads { interrupt, known: Mutex::default() }
    }

    /// The workload of a point.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn of(&self, setup: &Setup) -> Result<Arc<Shared>, String> {
        let (text, options) = &setup.workload;
        let name = format!("{text}\n{options:?}");
        let slot = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(name).or_default())
        };
        slot.get_or_init(|| self.read(text, options).map(Arc::new)).clone()
    }

    fn read(&self, text: &str, options: &[(String, String)]) -> Result<Shared, String> {
        if text == "-" {
            return Err("a sweep reads its workload more than once: name a file instead of `-`".into());
        }
        let mut replay = TraceReplay {
            options: TraceOptions { interrupt: self.interrupt.clone(), ..TraceOptions::default() },
            ..TraceReplay::default()
        };
        let preset = |name: &str| workload_preset(name).ok().map(|p| p.job);
        let path = Path::new(text);
        if path.exists() {
            for (option, value) in options {
                replayed(&mut replay, option, value)?;
            }
            let spec = WorkloadSpec::parse(text, preset, &replay).map_err(|e| e.to_string())?;
            if spec.log().is_some() {
                return Err(format!(
                    "{text} is the log of a served drive, which `tailcut run --replay` replays"
                ));
            }
            return Ok(Shared { spec, identity: format!("{} {options:?}", content(path)?) });
        }
        let mut job = preset(text).unwrap_or_else(|| text.to_string());
        if let (Some((option, _)), true) = (options.first(), job.contains(';')) {
            return Err(format!(
                "workload.{option}: the workload has several jobs, and an axis sets an option of one"
            ));
        }
        for (option, value) in options {
            // Of an option that is given twice the last counts.
            job.push_str(&format!(",{option}={value}"));
        }
        // A name that is neither a preset nor a job has its own error.
        let given = if options.is_empty() { text } else { &job };
        let spec = WorkloadSpec::parse(given, preset, &replay).map_err(|e| e.to_string())?;
        Ok(Shared { spec, identity: job })
    }
}

/// Sets an option of a replay.
fn replayed(replay: &mut TraceReplay, option: &str, value: &str) -> Result<(), String> {
    let number = || {
        let number = value.parse::<f64>().ok().filter(|n| *n > 0.0 && n.is_finite());
        number.ok_or_else(|| format!("workload.{option}: `{value}` is not a number above 0"))
    };
    let whole = || {
        let whole = value.parse::<u32>().ok().filter(|n| *n > 0);
        whole.ok_or_else(|| format!("workload.{option}: `{value}` is not a whole number above 0"))
    };
    match option {
        "rate_scale" => replay.options.rate_scale = number()?,
        "size_scale" => replay.options.size_scale = number()?,
        "limit" => replay.options.limit = Some(u64::from(whole()?)),
        "loop" => replay.options.loop_count = whole()?,
        "closed_loop" => replay.depth = Some(whole()?),
        _ => {
            let known = REPLAY.map(|name| format!("workload.{name}")).join(", ");
            return Err(format!("workload.{option}: the workload is a file, whose axes are {known}"));
        }
    }
    let flag = ["--rate-scale", "--size-scale", "--limit", "--loop", "--closed-loop"];
    let at = REPLAY.iter().position(|name| *name == option).unwrap_or_default();
    replay.given.push(flag[at]);
    Ok(())
}

/// The hash of a file's content.
fn content(path: &Path) -> Result<String, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    let mut file = open(path).map_err(failed)?;
    let (mut hash, mut part) = (Xxh3Default::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut part).map_err(failed)? {
            0 => return Ok(format!("file {:016x}", hash.finish())),
            n => hash.update(&part[..n]),
        }
    }
}
