//! The drive's past: what it holds, and how worn its free space is, before the first
//! request.

use crate::MODEL_VERSION;
use crate::cache::{Cache, CacheError, Locks, write_whole};
use crate::machine::Stopwatch;
use crate::watch::Watch;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::PoisonError;
use tailcut_core::device::config::{DeviceConfig, Overwrites};
use tailcut_core::device::{AgeReport, ConfigProblem, Device, SnapshotError, aged_key};
use tailcut_workload::{Ageing, WorkloadError, WorkloadSpec};

/// How a drive is brought to its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastKind {
    /// As it left the factory: empty.
    None,
    /// Filled once, in order.
    Sequential,
    /// Filled, then overwritten as the workload writes until write amplification is steady.
    Steady,
}

impl PastKind {
    /// All kinds.
    pub const ALL: [PastKind; 3] = [PastKind::None, PastKind::Sequential, PastKind::Steady];

    /// The name in options and output.
    pub fn name(self) -> &'static str {
        match self {
            PastKind::None => "none",
            PastKind::Sequential => "sequential",
            PastKind::Steady => "steady",
        }
    }
}

impl FromStr for PastKind {
    type Err = String;
    fn from_str(text: &str) -> Result<PastKind, String> {
        PastKind::ALL
            .into_iter()
            .find(|k| k.name() == text)
            .ok_or_else(|| format!("`{text}` is none of none, sequential, steady"))
    }
}

/// Where aged states are kept between runs.
#[derive(Clone, Debug)]
pub enum Snapshots {
    /// Nowhere: every run ages its drive.
    Off,
    /// In the user's cache; what is damaged there is made anew.
    Cached(Cache),
    /// In a file that the user named: made if it is not there, an error if it is damaged.
    File(PathBuf),
}

/// The past a drive is to be given.
pub struct Past<'a> {
    /// Which.
    pub kind: PastKind,
    /// Bytes filled, from the first.
    pub filled: u64,
    /// Host capacity of the comparison.
    pub capacity: u64,
    /// The workload that ages it.
    pub workload: &'a WorkloadSpec,
    /// [`WorkloadSpec::identity`], worked out once.
    pub identity: &'a str,
    /// Where aged states are kept.
    pub snapshots: &'a Snapshots,
    /// Shared by all runs of a process.
    pub locks: &'a Locks,
    /// The number of the run, for the watch.
    pub task: usize,
    /// Who looks on.
    pub watch: &'a dyn Watch,
}

/// What preconditioning did.
#[derive(Clone, Debug)]
pub struct Preconditioned {
    /// Which past it is.
    pub kind: PastKind,
    /// Processor seconds it took.
    pub cpu_seconds: f64,
    /// Taken from a snapshot.
    pub cached: bool,
    /// What the overwrites came to; only for a steady state.
    pub report: Option<AgeReport>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Why a drive has no past.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// There is no such drive.
    #[error(transparent)]
    Config(#[from] ConfigProblem),
    /// The workload cannot be read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The user's snapshot cannot be used.
    #[error("{}: {source}", path.display())]
    Snapshot {
        /// The file.
        path: PathBuf,
        /// Why.
        source: SnapshotError,
    },
}

/// A drive of this configuration and seed, as it left the factory.
struct Factory<'a> {
    config: &'a DeviceConfig,
    seed: u64,
}

impl Factory<'_> {
    fn make(&self) -> Result<Device, ConfigProblem> {
        Device::new(self.config, self.seed, ())
    }
}

impl Past<'_> {
    /// A new drive with this past.
    ///
    /// # Errors
    /// See [`PastError`]. What is wrong with the cache is only a warning.
    pub fn give(&self, config: &DeviceConfig, seed: u64) -> Result<(Device, Preconditioned), PastError> {
        let clock = Stopwatch::new();
        let factory = Factory { config, seed };
        let mut past = Preconditioned {
            kind: self.kind,
            cpu_seconds: 0.0,
            cached: false,
            report: None,
            warnings: vec![],
        };
        let mut device = match self.kind {
            PastKind::None | PastKind::Sequential => factory.make()?,
            PastKind::Steady => self.steady(&factory, &mut past)?,
        };
        if self.kind == PastKind::Sequential {
            self.fill(&mut device);
        }
        device.reset_counters();
        past.cpu_seconds = clock.cpu_seconds();
        Ok((device, past))
    }

    fn fill(&self, device: &mut Device) {
        let unit = device.shape().layout.unit_bytes;
        device.fill(self.filled.div_ceil(unit) * unit);
    }

    /// A drive in its steady state, from a snapshot if there is one.
    fn steady(&self, factory: &Factory, past: &mut Preconditioned) -> Result<Device, PastError> {
        let Past { filled, capacity, identity, .. } = self;
        let identity = if self.is_uniform(factory.config) { "uniform units" } else { *identity };
        let what = format!("steady, model {MODEL_VERSION}, {filled} of {capacity} bytes, {identity}");
        let key = aged_key(factory.config, factory.seed, &what);
        let lock = self.locks.of(key);
        let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut device = factory.make()?;
        let path = match self.snapshots {
            Snapshots::Off => None,
            Snapshots::Cached(cache) => Some(cache.path(key)),
            Snapshots::File(path) => Some(path.clone()),
        };
        if let Some(path) = path.filter(|p| p.exists()) {
            match load(&mut device, key, &path) {
                Ok(report) => {
                    if let Snapshots::Cached(cache) = self.snapshots {
                        cache.touch(key);
                    }
                    past.cached = true;
                    past.took(report);
                    return Ok(device);
                }
                Err(source) if matches!(self.snapshots, Snapshots::File(_)) => {
                    return Err(PastError::Snapshot { path, source });
                }
                Err(e) => {
                    past.warnings.push(format!("{}: {e}; it is made anew", path.display()));
                    device = factory.make()?;
                }
            }
        }
        let report = self.age(&mut device, factory)?;
        if !self.watch.stopped() {
            self.save(&device, key, &report, past)?;
            past.took(report);
        }
        Ok(device)
    }

    fn is_uniform(&self, config: &DeviceConfig) -> bool {
        overwrites(self.workload, config) == Overwrites::Uniform
    }

    fn age(&self, device: &mut Device, factory: &Factory) -> Result<AgeReport, PastError> {
        let mut progress = |fraction: f64| {
            self.watch.ageing(self.task, fraction);
            !self.watch.stopped()
        };
        self.fill(device);
        let mut ageing = if self.is_uniform(factory.config) {
            let bytes = device.shape().layout.unit_bytes as u32;
            Ageing::Uniform { region: 0..self.filled, bytes }
        } else {
            self.workload.ageing(self.capacity, self.filled, factory.seed)?
        };
        let report = match &mut ageing {
            // Nothing ever overwrites: the fill is the steady state.
            Ageing::None => AgeReport { steady: true, waf: 1.0, ..AgeReport::default() },
            Ageing::Uniform { region, bytes } => device.age_uniform(region.clone(), *bytes, &mut progress),
            Ageing::Jobs(writes) => device.age_replay(writes.as_mut(), &mut progress),
            Ageing::Trace(writes) => device.age_replay(writes.as_mut(), &mut progress),
        };
        if let Ageing::Trace(writes) = &mut ageing
            && let Some(error) = writes.failure()
        {
            return Err(WorkloadError::Trace(error).into());
        }
        Ok(report)
    }

    fn save(
        &self,
        device: &Device,
        key: u64,
        report: &AgeReport,
        past: &mut Preconditioned,
    ) -> Result<(), PastError> {
        let fill = |to: &mut dyn Write| device.save_aged(key, report, to);
        match self.snapshots {
            Snapshots::Off => {}
            Snapshots::Cached(cache) => {
                past.warnings.extend(cache.save(key, fill).err().map(|e| e.to_string()));
            }
            Snapshots::File(path) => {
                write_whole(path, fill).map_err(|e| {
                    let CacheError { path, source } = e;
                    PastError::Snapshot { path, source }
                })?;
            }
        }
        Ok(())
    }
}

/// What overwrites a filled drive before this workload: a job is its own way to age a drive,
/// of a trace the configuration decides.
pub fn overwrites(workload: &WorkloadSpec, config: &DeviceConfig) -> Overwrites {
    match workload {
        WorkloadSpec::Jobs { .. } => Overwrites::Workload,
        WorkloadSpec::Trace(_) => config.age.overwrites,
    }
}

impl Preconditioned {
    fn took(&mut self, report: AgeReport) {
        if !report.steady {
            self.warnings.push(
                "the drive did not become steady within the bound: its write amplification still drifts, or \
                 the workload leaves a part of it untouched"
                    .to_string(),
            );
        }
        self.report = Some(report);
    }
}

fn load(device: &mut Device, key: u64, path: &Path) -> Result<AgeReport, SnapshotError> {
    let file = File::open(path)?;
    device.load_aged(key, &mut BufReader::with_capacity(1 << 16, file))
}
