//! Runs several schemes on one drive with the same requests.

use crate::cache::Locks;
use crate::host::{Host, RunError};
use crate::machine::{address_bytes, address_limit};
use crate::measure::{
    MeasureError, MeasureOptions, RunOutcome, Sink, SinkError, measure, measure_workload, measured_from,
};
use crate::precondition::{Past, PastError, PastKind, Preconditioned, Snapshots, free_extents, is_uniform};
use crate::threads::on_threads;
use crate::timeline::{Covered, Recorder, Tracks, Window};
use crate::watch::Watch;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Capacity, ConfigProblem};
use tailcut_core::drive::Drive;
use tailcut_core::figures::Dimensions;
use tailcut_core::snapshot::SnapshotError;
use tailcut_units::quantity::{format_fraction, human_bytes};
use tailcut_units::{SimTime, Span};
use tailcut_workload::trace::TraceCounts;
use tailcut_workload::{JobInfo, Source, StreamError, Workload, WorkloadError, WorkloadSpec};

/// The address space that a run needs at least beside its drive, in bytes: results, workload and output.
const BESIDE_DRIVE: u64 = 24 << 20;

/// A scheme with its resolved configuration.
#[derive(Clone, Debug)]
pub struct SchemeSpec {
    /// The name in output.
    pub name: String,
    /// The configuration of the drive with the scheme applied.
    pub config: DeviceConfig,
}

/// The schemes to compare, and the conditions of the comparison.
pub struct Experiment<'a> {
    /// At least one scheme.
    pub schemes: Vec<SchemeSpec>,
    /// The requests.
    pub workload: &'a WorkloadSpec,
    /// Seed of the first run; each further run has the next seed.
    pub seed: u64,
    /// How many times each scheme runs, at least once.
    pub runs: u32,
    /// One aged drive of each scheme, that of the first seed, serves all runs: they differ in their requests alone.
    pub one_past: bool,
    /// The drives' past; if `None`, the workload decides.
    pub past: Option<PastKind>,
    /// Where aged states are stored.
    pub snapshots: Snapshots,
    /// Runs at the same time, at least one.
    pub threads: usize,
    /// Length of the fine intervals, if a sink wants them.
    pub fine: Option<Span>,
    /// The window of the timeline, if a sink has tracks for a timeline.
    pub timeline: Option<Window>,
}

/// What an experiment will do, known before anything runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Host capacity in bytes: the smallest of all schemes.
    pub capacity: u64,
    /// The capacity calculation of each scheme.
    pub capacities: Vec<Capacity>,
    /// Bytes that preconditioning fills, from the first; a trace is laid on them.
    pub filled: u64,
    /// The drives' past.
    pub past: PastKind,
    /// The user gave no past; it follows from the workload.
    pub past_by_default: bool,
    /// Names of the jobs.
    pub jobs: Vec<String>,
    /// Bytes of the drive that one lap of a trace touches, if known.
    pub drive_footprint: Option<u64>,
    /// How many requests there will be, if known.
    pub expected: Option<u64>,
    /// When the last job stops, if all jobs stop by time.
    pub runtime: Option<Span>,
    /// Warnings to the user.
    pub warnings: Vec<String>,
}

/// One run of one scheme.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// The measurements.
    pub outcome: RunOutcome,
    /// How the drive was brought to its state.
    pub past: Preconditioned,
    /// The records of a trace that were read, skipped and changed.
    pub trace: Option<TraceCounts>,
    /// The time covered by the timeline.
    pub timeline: Option<Covered>,
}

/// Why an experiment failed.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The drive of a scheme cannot be made.
    #[error("scheme `{scheme}`: {problem}")]
    Config {
        /// The scheme's name.
        scheme: String,
        /// The problem of its configuration.
        problem: ConfigProblem,
    },
    /// A workload that cannot be used.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The user's snapshot cannot be used.
    #[error(transparent)]
    Past(PastError),
    /// A drive that makes no progress.
    #[error("scheme `{scheme}`: the drive makes no progress at {at}: {what}")]
    Stuck {
        /// The scheme.
        scheme: String,
        /// When the drive stopped.
        at: SimTime,
        /// The operations that wait, and what they wait for.
        what: String,
    },
    /// The drive does not take what the log says was done to the served one, or the workload never ends.
    #[error("scheme `{scheme}`: {what}")]
    Impossible {
        /// The scheme.
        scheme: String,
        /// What cannot be done, and why.
        what: String,
    },
    /// The drives do not fit the address space that the process may have.
    #[error(
        "{at_once} at a time, the runs need about {} of address space, and this process may have {} (`ulimit -v`); fewer \
         --threads need less",
        human_bytes(*need),
        human_bytes(*limit)
    )]
    Memory {
        /// The runs at the same time.
        at_once: usize,
        /// What they need, in bytes.
        need: u64,
        /// What the process may have, in bytes.
        limit: u64,
    },
    /// The sink of the requests failed.
    #[error("{0}")]
    Sink(SinkError),
}

impl ExperimentError {
    /// That a scheme's drive could not be given its past.
    pub(crate) fn of_past(scheme: &str, e: PastError) -> ExperimentError {
        match e {
            PastError::Config(problem) => ExperimentError::Config { scheme: scheme.to_string(), problem },
            PastError::Workload(e) => ExperimentError::Workload(e),
            e => ExperimentError::Past(e),
        }
    }

    /// Whether the cause is the user's input and not the run.
    pub fn is_input(&self) -> bool {
        match self {
            ExperimentError::Stuck { .. } | ExperimentError::Sink(_) | ExperimentError::Memory { .. } => {
                false
            }
            ExperimentError::Past(PastError::Snapshot { source: SnapshotError::Io(e), .. }) => {
                // A snapshot that does not fit the disk is named rightly.
                !matches!(
                    e.kind(),
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
                )
            }
            _ => true,
        }
    }
}

/// Makes the sink of a scheme's first run, if there is one; the arguments are the
/// scheme's index and its jobs.
pub type MakeSink<'a> = &'a (dyn Fn(usize, &[String]) -> Result<Option<Box<dyn Sink>>, SinkError> + Sync);

impl Experiment<'_> {
    /// Check all input and compute what all schemes share.
    ///
    /// # Errors
    /// A scheme whose drive cannot be made; a workload that does not fit.
    pub fn plan(&self) -> Result<Plan, ExperimentError> {
        let mut warnings: Vec<String> = Vec::new();
        let mut capacities = Vec::new();
        let mut capacity = u64::MAX;
        // The address space of the largest drive, in bytes.
        let mut largest = 0;
        for scheme in &self.schemes {
            let refuse = |problem| ExperimentError::Config { scheme: scheme.name.clone(), problem };
            // A whole device, because its policies check the configuration too.
            let before = address_bytes();
            let device = Drive::new(&scheme.config, self.seed, ()).map_err(refuse)?;
            let taken = address_bytes().zip(before).map_or(0, |(now, before)| now.saturating_sub(before));
            largest = largest.max(taken);
            for warning in device.warnings() {
                // Schemes on one drive share most warnings.
                if !warnings.contains(warning) {
                    warnings.push(warning.clone());
                }
            }
            capacities.push(device.capacity().clone());
            capacity = capacity.min(device.host_bytes());
            for run in 1..self.runs {
                let bytes =
                    Drive::<()>::host_bytes_of(&scheme.config, self.drive_seed(run)).map_err(refuse)?;
                capacity = capacity.min(bytes);
            }
        }
        self.fits_memory(largest)?;
        let fill = self.schemes.iter().map(|s| s.config.age.fill).fold(1.0, f64::min);
        if self.workload.trace().is_some() && self.schemes.iter().any(|s| s.config.age.fill != fill) {
            warnings.push(format!(
                "the schemes differ in age.fill: all are filled as the smallest says, to {}",
                format_fraction(fill)
            ));
        }
        let trace_region = (capacity as f64 * fill) as u64 / 4096 * 4096;
        let workload = self.workload.open(capacity, trace_region, self.seed)?;
        let filled = workload.region().end.min(capacity);
        let by_default = match self.schemes.iter().any(|s| s.config.age.free.is_some()) {
            _ if !workload.writes() => PastKind::Sequential,
            true => PastKind::Scattered,
            false => PastKind::Steady,
        };
        let past = self.past.unwrap_or(by_default);
        for scheme in self.schemes.iter().filter(|_| past == PastKind::Scattered) {
            free_extents(&scheme.config)
                .map_err(|problem| ExperimentError::Config { scheme: scheme.name.clone(), problem })?;
        }
        let infos = workload.jobs();
        warnings.extend(self.workload.warnings());
        warnings.extend(workload.warnings());
        let measured = self.workload.trace().and_then(|t| Some((t.info.as_ref()?, t.options.loop_count)));
        Ok(Plan {
            capacity,
            capacities,
            filled,
            past,
            past_by_default: self.past.is_none(),
            jobs: infos.iter().map(|j| j.name.clone()).collect(),
            drive_footprint: match self.workload.trace() {
                Some(trace) => trace.drive_footprint(filled)?,
                None => None,
            },
            expected: match measured {
                Some((info, laps)) => Some(info.requests.saturating_mul(u64::from(laps))),
                None => workload.expected_requests(),
            },
            runtime: runtime(&infos),
            warnings,
        })
    }

    /// Check that the drives of the runs at the same time, none larger than `drive` bytes, fit the address space that
    /// this process may have. Without the check the first allocation that fails ends the program.
    fn fits_memory(&self, drive: u64) -> Result<(), ExperimentError> {
        let at_once = self.threads.min(self.schemes.len() * self.runs as usize).max(1);
        let Some((limit, now)) = address_limit().zip(address_bytes()) else { return Ok(()) };
        let need = now.saturating_add(drive.saturating_add(BESIDE_DRIVE).saturating_mul(at_once as u64));
        if need <= limit {
            return Ok(());
        }
        Err(ExperimentError::Memory { at_once, need, limit })
    }

    /// Run every scheme as many times as asked, several runs at a time. Results are by
    /// scheme, then by run. A run that had not begun when the watch asked to stop is
    /// `None`.
    ///
    /// # Errors
    /// The first failure of any run; the others are stopped.
    pub fn run(
        &self,
        plan: &Plan,
        watch: &dyn Watch,
        sinks: MakeSink<'_>,
    ) -> Result<Vec<Vec<Option<RunResult>>>, ExperimentError> {
        self.run_sharing(plan, watch, sinks, None)
    }

    /// As [`Experiment::run`]. With `aged`, other experiments that have the same locks and the same cache make no aged
    /// state that this one makes, and the reverse.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub fn run_sharing(
        &self,
        plan: &Plan,
        watch: &dyn Watch,
        sinks: MakeSink<'_>,
        aged: Option<&Arc<Locks>>,
    ) -> Result<Vec<Vec<Option<RunResult>>>, ExperimentError> {
        let (schemes, runs) = (self.schemes.len(), self.runs as usize);
        let mut common = self.common(plan)?;
        if let Some(aged) = aged {
            common.locks = Arc::clone(aged);
        }
        // The first runs of all schemes come before any second run.
        let order: Vec<usize> =
            (0..schemes * runs).map(|turn| turn % schemes * runs + turn / schemes).collect();
        let one = |task: usize, watch: &dyn Watch| {
            self.one((task / runs, task % runs), &common, (task, watch), sinks)
        };
        let mut results = self.in_parallel(&order, watch, &one)?.into_iter();
        Ok(self.schemes.iter().map(|_| results.by_ref().take(runs).collect()).collect())
    }

    /// What all runs of a plan share.
    ///
    /// # Errors
    /// A trace that cannot be read.
    pub(crate) fn common<'a>(&self, plan: &'a Plan) -> Result<Common<'a>, ExperimentError> {
        // Only a snapshot needs it, and hashing a long trace takes a while.
        let identity = match plan.past {
            PastKind::Steady
                if !self.schemes.iter().all(|s| is_uniform(self.workload, plan.filled, &s.config)) =>
            {
                self.workload.identity(plan.capacity, plan.filled, self.seed)?
            }
            _ => String::new(),
        };
        let mut common = Common { plan, identity, locks: Arc::default() };
        if plan.past.is_kept() {
            let past = self.past(&common, (0, &()));
            let key = |scheme: &SchemeSpec, run: u32| past.key(&scheme.config, self.drive_seed(run));
            let keys = self.schemes.iter().flat_map(|s| (0..self.runs).map(move |run| key(s, run)));
            common.locks = Arc::new(Locks::for_runs(keys));
        }
        Ok(common)
    }

    /// Do tasks `0..order.len()` in an order, several at a time. A task that had not begun when the watch
    /// asked to stop is `None`.
    ///
    /// # Errors
    /// The first failure of any task; the others are stopped.
    pub(crate) fn in_parallel<T: Clone + Send>(
        &self,
        order: &[usize],
        watch: &dyn Watch,
        one: Task<'_, T>,
    ) -> Result<Vec<Option<T>>, ExperimentError> {
        let next = AtomicUsize::new(0);
        let all = Stoppable { watch, failed: AtomicBool::new(false) };
        let slots: Mutex<Vec<Option<T>>> = Mutex::new(vec![None; order.len()]);
        let failure: Mutex<Option<ExperimentError>> = Mutex::new(None);
        let work = || {
            while let Some(&task) = order.get(next.fetch_add(1, Ordering::Relaxed))
                && !all.stopped()
            {
                match one(task, &all) {
                    Ok(result) => lock(&slots)[task] = result,
                    Err(error) => {
                        all.failed.store(true, Ordering::Relaxed);
                        lock(&failure).get_or_insert(error);
                    }
                }
                watch.done(task);
            }
        };
        on_threads(self.threads.min(order.len()), work);
        match lock(&failure).take() {
            Some(error) => Err(error),
            None => Ok(slots.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// The past of the drives, for a task.
    fn past<'a>(&'a self, common: &'a Common<'_>, (task, watch): (usize, &'a dyn Watch)) -> Past<'a> {
        Past {
            kind: common.plan.past,
            filled: common.plan.filled,
            capacity: common.plan.capacity,
            workload: self.workload,
            identity: &common.identity,
            snapshots: &self.snapshots,
            locks: &common.locks,
            task,
            watch,
        }
    }

    /// The seed of the drive of a run.
    fn drive_seed(&self, run: u32) -> u64 {
        self.seed.wrapping_add(if self.one_past { 0 } else { u64::from(run) })
    }

    /// The drive of a scheme with its past, for the run of a seed; `None` if it was stopped.
    ///
    /// # Errors
    /// A past that the drive cannot have.
    pub(crate) fn prepared(
        &self,
        scheme: usize,
        seed: u64,
        common: &Common<'_>,
        (task, watch): (usize, &dyn Watch),
    ) -> Result<Option<(Drive, Preconditioned)>, ExperimentError> {
        let SchemeSpec { name, config } = &self.schemes[scheme];
        let given = self.past(common, (task, watch)).give(config, seed);
        if watch.stopped() {
            return Ok(None);
        }
        Ok(Some(given.map_err(|e| ExperimentError::of_past(name, e))?))
    }

    /// One run; `None` if it was stopped before its first request.
    fn one(
        &self,
        (scheme, run): (usize, usize),
        common: &Common<'_>,
        (task, watch): (usize, &dyn Watch),
        sinks: MakeSink<'_>,
    ) -> Result<Option<RunResult>, ExperimentError> {
        let seed = self.seed.wrapping_add(run as u64);
        let drive_seed = self.drive_seed(run as u32);
        let Some((mut device, past)) = self.prepared(scheme, drive_seed, common, (task, watch))? else {
            return Ok(None);
        };
        let fail = |e| broken(&self.schemes[scheme].name, e);
        let workload = match self.workload.open(common.plan.capacity, common.plan.filled, seed) {
            Err(e) if e.is_interrupt() => return Ok(None),
            workload => workload?,
        };
        let mut host: Host<Workload> = Host::new(workload).map_err(|e| fail(e.into()))?;
        let mut sink = match run {
            0 => sinks(scheme, &common.plan.jobs).map_err(ExperimentError::Sink)?,
            _ => None,
        };
        let fine = self.fine.filter(|_| sink.is_some());
        let options = MeasureOptions { fine, task, interventions: self.workload.interventions() };
        let recorder = self.recorder(&host, &device, sink.as_mut()).map_err(ExperimentError::Sink)?;
        let taken = sink.as_mut().map(|s| -> &mut dyn Sink { s.as_mut() });
        let mut timeline = None;
        // There are two copies of the run loop, so that a run without a timeline has no
        // cost for it.
        let outcome = match recorder {
            None => measure_workload(&mut host, &mut device, options, taken, watch).map_err(fail)?,
            Some(recorder) => {
                let mut device = device.observed_by(recorder);
                let outcome = measure(&mut host, &mut device, options, taken, watch).map_err(fail)?;
                timeline = Some(device.into_observer().finish().map_err(ExperimentError::Sink)?);
                outcome
            }
        };
        if let Some(sink) = sink {
            sink.finish().map_err(ExperimentError::Sink)?;
        }
        Ok(Some(RunResult { outcome, past, trace: host.source().trace_counts(), timeline }))
    }

    /// The recorder of the drive's timeline, if a timeline is wanted.
    fn recorder(
        &self,
        host: &Host<Workload>,
        device: &Drive,
        sink: Option<&mut Box<dyn Sink>>,
    ) -> Result<Option<Recorder<Box<dyn Tracks>>>, SinkError> {
        let (Some(window), Some(sink)) = (self.timeline, sink) else { return Ok(None) };
        let Some(tracks) = sink.tracks(&device.dimensions())? else { return Ok(None) };
        let window = window.after(measured_from(&host.source().jobs()));
        let Dimensions { units, planes_read, .. } = device.dimensions();
        Ok(Some(Recorder::new(units, window, tracks).reading_by_plane(planes_read)))
    }
}

/// When the last job stops, if all jobs stop by time: groups run one after another.
fn runtime(jobs: &[JobInfo]) -> Option<Span> {
    let mut of_groups: BTreeMap<u32, Span> = BTreeMap::new();
    for job in jobs {
        let of_group = of_groups.entry(job.group).or_default();
        *of_group = job.runtime?.max(*of_group);
    }
    of_groups.into_values().reduce(|sum, group| Span(sum.0.saturating_add(group.0)))
}

/// One task; `None` if the watch asked to stop before it had begun.
type Task<'a, T> = &'a (dyn Fn(usize, &dyn Watch) -> Result<Option<T>, ExperimentError> + Sync);

/// What all runs share.
pub(crate) struct Common<'a> {
    pub plan: &'a Plan,
    identity: String,
    locks: Arc<Locks>,
}

/// A watch that also stops when another run has failed.
struct Stoppable<'a> {
    watch: &'a dyn Watch,
    failed: AtomicBool,
}

impl Watch for Stoppable<'_> {
    fn ageing(&self, task: usize, fraction: f64) {
        self.watch.ageing(task, fraction);
    }
    fn requests(&self, task: usize, done: u64, now: SimTime) {
        self.watch.requests(task, done, now);
    }
    fn stopped(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.watch.stopped()
    }
}

pub(crate) fn broken(scheme: &str, error: MeasureError<<Workload as Source>::Error>) -> ExperimentError {
    match error {
        MeasureError::Run(RunError::Workload(e)) => ExperimentError::Workload(match *e {
            StreamError::Trace(e) => WorkloadError::Trace(Box::new(e)),
            StreamError::Log(e) => WorkloadError::Log(e),
        }),
        MeasureError::Run(RunError::Stuck { at, what }) => {
            ExperimentError::Stuck { scheme: scheme.to_string(), at, what }
        }
        MeasureError::Run(e @ (RunError::Intervention { .. } | RunError::TooLate { .. })) => {
            ExperimentError::Impossible { scheme: scheme.to_string(), what: e.to_string() }
        }
        MeasureError::Sink(e) => ExperimentError::Sink(e),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
