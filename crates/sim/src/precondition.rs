//! The drive's past: the data it holds, and how its free space is fragmented, before the
//! first request.

use crate::MODEL_VERSION;
use crate::cache::{Cache, Locks, write_whole};
use crate::machine::Stopwatch;
use crate::watch::Watch;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::PoisonError;
use tailcut_core::device::config::{DeviceConfig, Overwrites};
use tailcut_core::device::{AgeReport, ConfigProblem, SnapshotError, Until, aged_key};
use tailcut_core::drive::Drive;
use tailcut_report::regular::open;
use tailcut_units::quantity::Level;
use tailcut_workload::{Ageing, WorkloadError, WorkloadSpec};

/// How a drive is brought to its aged state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastKind {
    /// As delivered by the factory: empty.
    None,
    /// Filled once, in order.
    Sequential,
    /// Filled, then overwritten in the pattern of the workload until write amplification is
    /// steady.
    Steady,
    /// Filled, with `age.free` of every lane free and stale units at random in the other
    /// extents.
    Scattered,
    /// That of the served drive when the log began that is replayed.
    Served,
}

impl PastKind {
    /// All kinds that can be asked for.
    pub const ALL: [PastKind; 4] =
        [PastKind::None, PastKind::Sequential, PastKind::Steady, PastKind::Scattered];

    /// The name in options and output.
    pub fn name(self) -> &'static str {
        match self {
            PastKind::None => "none",
            PastKind::Sequential => "sequential",
            PastKind::Steady => "steady",
            PastKind::Scattered => "scattered",
            PastKind::Served => "served",
        }
    }

    /// Whether the state takes long to make and is therefore stored for the next run.
    pub fn is_kept(self) -> bool {
        matches!(self, PastKind::Steady | PastKind::Scattered)
    }
}

impl FromStr for PastKind {
    type Err = String;
    fn from_str(text: &str) -> Result<PastKind, String> {
        PastKind::ALL
            .into_iter()
            .find(|k| k.name() == text)
            .ok_or_else(|| format!("`{text}` is not one of none, sequential, steady, scattered"))
    }
}

/// Where aged states are stored between runs.
#[derive(Clone, Debug)]
pub enum Snapshots {
    /// Nowhere: every run ages its drive.
    Off,
    /// In the user's cache; a damaged file there is made again.
    Cached(Cache),
    /// In a file that the user named: made if missing; an error if damaged.
    File(PathBuf),
}

/// The past that a drive is given.
pub struct Past<'a> {
    /// Which past.
    pub kind: PastKind,
    /// Bytes filled, from the first.
    pub filled: u64,
    /// Host capacity of the comparison.
    pub capacity: u64,
    /// The workload whose writes age the drive.
    pub workload: &'a WorkloadSpec,
    /// [`WorkloadSpec::identity`], computed once.
    pub identity: &'a str,
    /// Where aged states are stored.
    pub snapshots: &'a Snapshots,
    /// Shared by all runs of a process.
    pub locks: &'a Locks,
    /// The number of the run, for the watch.
    pub task: usize,
    /// Follows the run and can stop it.
    pub watch: &'a dyn Watch,
}

/// The result of preconditioning.
#[derive(Clone, Debug)]
pub struct Preconditioned {
    /// Which past it is.
    pub kind: PastKind,
    /// Processor seconds that preconditioning took.
    pub cpu_seconds: f64,
    /// The state was taken from a snapshot.
    pub cached: bool,
    /// The report on the overwrites; only for a steady state.
    pub report: Option<AgeReport>,
    /// Warnings to the user.
    pub warnings: Vec<String>,
}

/// Why a drive could not be given its past.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// The configuration is invalid.
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
        /// The error.
        source: SnapshotError,
    },
}

/// Makes new drives of one configuration and seed, as delivered by the factory.
struct Factory<'a> {
    config: &'a DeviceConfig,
    seed: u64,
}

impl Factory<'_> {
    fn make(&self) -> Result<Drive, ConfigProblem> {
        Drive::new(self.config, self.seed, ())
    }
}

impl Past<'_> {
    /// Make a new drive with this past.
    ///
    /// # Errors
    /// See [`PastError`]. Problems with the cache are only warnings.
    pub fn give(&self, config: &DeviceConfig, seed: u64) -> Result<(Drive, Preconditioned), PastError> {
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
            PastKind::Steady | PastKind::Scattered => self.aged(&factory, &mut past)?,
            PastKind::Served => self.served(config, seed)?,
        };
        if self.kind == PastKind::Sequential {
            self.fill(&mut device);
        }
        device.reset_counters();
        past.cpu_seconds = clock.cpu_seconds();
        Ok((device, past))
    }

    /// The drive as it was when its log began.
    fn served(&self, config: &DeviceConfig, seed: u64) -> Result<Drive, PastError> {
        let Some(log) = self.workload.log() else { return Ok(Drive::new(config, seed, ())?) };
        let restored = log.snapshot().map_err(SnapshotError::from).and_then(|stream| {
            let mut stream = Watched { stream, watch: self.watch };
            Drive::restore(config, seed, (), &mut stream)
        });
        match restored {
            // The run is stopped, so this drive will not be used.
            Err(_) if self.watch.stopped() => Ok(Drive::new(config, seed, ())?),
            restored => restored
                .and_then(|drive| match drive.now().0 == log.header.begun {
                    true => Ok(drive),
                    false => {
                        Err(SnapshotError::Damaged("its time is not that at which the log began".to_string()))
                    }
                })
                .map_err(|source| PastError::Snapshot { path: log.path().to_path_buf(), source }),
        }
    }

    /// The key of such an aged drive: drives with the same key have the same state.
    pub fn key(&self, config: &DeviceConfig, seed: u64) -> u64 {
        let Past { kind, filled, capacity, identity, .. } = self;
        let how = match kind {
            PastKind::Steady if !is_uniform(self.workload, *filled, config) => *identity,
            PastKind::Steady => "uniform units",
            _ => "units at random",
        };
        let name = kind.name();
        let what = format!("{name}, model {MODEL_VERSION}, {filled} of {capacity} bytes, {how}");
        aged_key(config, seed, &what)
    }

    /// The bytes to fill, rounded up to whole mapping units.
    fn whole(&self, device: &Drive) -> u64 {
        let unit = device.dimensions().unit_bytes;
        self.filled.div_ceil(unit) * unit
    }

    fn fill(&self, device: &mut Drive) {
        device.fill(self.whole(device));
    }

    /// Make a drive in the steady or scattered state, or load it from a snapshot if there is
    /// one.
    fn aged(&self, factory: &Factory, past: &mut Preconditioned) -> Result<Drive, PastError> {
        let key = self.key(factory.config, factory.seed);
        let lock = self.locks.of(key);
        let mut shared = lock.lock().unwrap_or_else(PoisonError::into_inner);
        shared.left = shared.left.saturating_sub(1);
        let mut device = factory.make()?;
        if let Some(held) = &shared.held {
            let copied = device.load_aged(key, &mut Watched { stream: held.as_slice(), watch: self.watch });
            if shared.left == 0 {
                shared.held = None;
            }
            match copied {
                _ if self.watch.stopped() => return Ok(device),
                Ok(report) => {
                    past.cached = true;
                    self.tell(report, past);
                    return Ok(device);
                }
                Err(e) => unreachable!("the state was written by this process: {e}"),
            }
        }
        let path = match self.snapshots {
            Snapshots::Off => None,
            Snapshots::Cached(cache) => Some(cache.path(key)),
            Snapshots::File(path) => Some(path.clone()),
        };
        let is_there = |path: &PathBuf| std::fs::symlink_metadata(path).is_ok();
        let _making = match self.snapshots {
            Snapshots::Cached(cache) if !path.as_ref().is_some_and(is_there) => {
                cache.make(key, &|| self.watch.stopped())
            }
            _ => None,
        };
        if let Some(path) = path.filter(is_there) {
            match load(&mut device, key, &path, self.watch) {
                // The run is stopped, so this drive will not be used.
                Err(_) if self.watch.stopped() => return Ok(device),
                Ok(report) => {
                    if let Snapshots::Cached(cache) = self.snapshots {
                        cache.touch(key);
                    }
                    past.cached = true;
                    self.tell(report, past);
                    return Ok(device);
                }
                Err(source) if matches!(self.snapshots, Snapshots::File(_)) => {
                    return Err(PastError::Snapshot { path, source });
                }
                Err(e) => {
                    past.warnings.push(format!("{}: {e}; the state is made again", path.display()));
                    device = factory.make()?;
                }
            }
        }
        let report = match self.age(&mut device, factory) {
            Err(PastError::Workload(e)) if e.is_interrupt() => return Ok(device),
            report => report?,
        };
        if !self.watch.stopped() {
            let stored = self.save(&device, key, &report, past)?;
            if !stored && shared.left > 0 {
                let mut held = Vec::new();
                // Memory takes what is written, so that it fails only when the run is stopped.
                let copied =
                    device.save_aged(key, &report, &mut Watched { stream: &mut held, watch: self.watch });
                shared.held = copied.is_ok().then_some(held);
            }
            self.tell(report, past);
        }
        Ok(device)
    }

    /// Record the report on overwriting, if the past includes it.
    fn tell(&self, report: AgeReport, past: &mut Preconditioned) {
        if self.kind == PastKind::Steady {
            past.took(report);
        }
    }

    fn age(&self, device: &mut Drive, factory: &Factory) -> Result<AgeReport, PastError> {
        let mut progress = |fraction: f64| {
            self.watch.ageing(self.task, fraction);
            !self.watch.stopped()
        };
        if self.kind == PastKind::Scattered {
            let free = free_extents(factory.config)?;
            let whole = self.whole(device);
            device.as_page_mut().ok_or_else(no_scatter)?.scatter(whole, free, &mut progress)?;
            return Ok(AgeReport::default());
        }
        self.fill(device);
        let unit = device.dimensions().unit_bytes;
        let mut ageing =
            ageing(self.workload, (self.capacity, self.filled), factory.config, unit, factory.seed)?;
        Ok(overwrite(device, &mut ageing, Until::Steady, &mut progress)?)
    }

    /// Store the state; returns whether a file has it.
    fn save(
        &self,
        device: &Drive,
        key: u64,
        report: &AgeReport,
        past: &mut Preconditioned,
    ) -> Result<bool, PastError> {
        let watch = self.watch;
        let fill = |to: &mut dyn Write| device.save_aged(key, report, &mut Watched { stream: to, watch });
        let saved = match self.snapshots {
            Snapshots::Off => return Ok(false),
            Snapshots::Cached(cache) => cache.save(key, fill),
            Snapshots::File(path) => write_whole(path, fill),
        };
        match (saved, self.snapshots) {
            (Ok(()), _) => return Ok(true),
            // The file was not written, and nobody needs it any more.
            (Err(_), _) if watch.stopped() => {}
            (Err(e), Snapshots::File(_)) => {
                return Err(PastError::Snapshot { path: e.path, source: e.source });
            }
            (Err(e), _) => past.warnings.push(e.to_string()),
        }
        Ok(false)
    }
}

/// The error of a drive that has no such past.
fn no_scatter() -> ConfigProblem {
    ConfigProblem::new("ftl.kind", "`pblk` has no past `scattered`: take none, sequential or steady")
}

/// The overwrites of a drive of `capacity` bytes with mapping units of `unit` bytes, of which `filled` hold data.
///
/// # Errors
/// The workload cannot be read.
pub fn ageing(
    workload: &WorkloadSpec,
    (capacity, filled): (u64, u64),
    config: &DeviceConfig,
    unit: u64,
    seed: u64,
) -> Result<Ageing, WorkloadError> {
    match is_uniform(workload, filled, config) {
        true => Ok(Ageing::Uniform { region: 0..filled, bytes: unit as u32 }),
        false => workload.ageing(capacity, filled, seed),
    }
}

/// Overwrite a drive at rest as `ageing` says, in zero time.
///
/// # Errors
/// A trace that cannot be read.
pub fn overwrite(
    device: &mut Drive,
    ageing: &mut Ageing,
    until: Until,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<AgeReport, WorkloadError> {
    let report = match ageing {
        Ageing::Uniform { region, bytes } => device.overwrite_uniform(until, region, *bytes, progress),
        Ageing::Jobs(writes) => device.overwrite_replay(until, writes.as_mut(), progress),
        Ageing::Trace(writes) => device.overwrite_replay(until, writes.as_mut(), progress),
    };
    if let Ageing::Trace(writes) = ageing
        && let Some(error) = writes.failure()
    {
        return Err(WorkloadError::Trace(error));
    }
    Ok(report)
}

/// Whether a drive of which `filled` bytes are filled is overwritten uniformly before this workload, instead of by the
/// workload's own writes.
pub fn is_uniform(workload: &WorkloadSpec, filled: u64, config: &DeviceConfig) -> bool {
    match config.age.overwrites {
        Overwrites::Workload => false,
        Overwrites::Uniform => true,
        Overwrites::UniformTraces => matches!(workload, WorkloadSpec::Trace(_)),
        Overwrites::WorkloadOrUniform => writes_little(workload, filled),
    }
}

/// Whether this is a trace that writes less than `filled` bytes. Lap after lap, it would overwrite only a small part of
/// the drive. Of a trace that was not measured (`TraceSpec::info`) it is not known.
fn writes_little(workload: &WorkloadSpec, filled: u64) -> bool {
    workload.trace().and_then(|trace| trace.info.as_ref()).is_some_and(|info| info.write_bytes < filled)
}

impl Preconditioned {
    fn took(&mut self, report: AgeReport) {
        // Where collection moves nothing, no drift of its cost is left.
        if !report.steady && (report.waf - 1.0).abs() >= 0.005 {
            self.warnings.push(
                "the drive did not become steady within the bound: its write amplification still drifts, or \
                 the workload leaves a part of it untouched"
                    .to_string(),
            );
        }
        self.report = Some(report);
    }
}

/// The free extents of every lane of a scattered drive.
pub(crate) fn free_extents(config: &DeviceConfig) -> Result<Level, ConfigProblem> {
    let problem = "the past `scattered` needs this key: the free extents of every lane at the start, as a count or a share";
    config.age.free.ok_or_else(|| ConfigProblem::new("age.free", problem))
}

fn load(device: &mut Drive, key: u64, path: &Path, watch: &dyn Watch) -> Result<AgeReport, SnapshotError> {
    let stream = BufReader::with_capacity(1 << 16, open(path)?);
    device.load_aged(key, &mut Watched { stream, watch })
}

/// A stream that fails once the run is to stop, since an aged drive may have gigabytes.
struct Watched<'a, S> {
    stream: S,
    watch: &'a dyn Watch,
}

impl<S> Watched<'_, S> {
    fn check(&self) -> std::io::Result<()> {
        if self.watch.stopped() { Err(std::io::Error::other("interrupted")) } else { Ok(()) }
    }
}

impl<S: Read> Read for Watched<'_, S> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        self.check()?;
        self.stream.read(to)
    }
}

impl<S: Write> Write for Watched<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.check()?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}
