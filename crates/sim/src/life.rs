//! The lifetime of a drive under a workload: the bytes written until the drive becomes read-only, and its latency, wear
//! and write amplification on the way.
//!
//! Each simulated erase stands for `erase.cycles_per_erase` program/erase cycles of its block, so that a lifetime needs
//! fewer writes by that factor. (The few erases of preconditioning count in the same way.) A block with more expected
//! errors than `faults.worn` is retired, and a drive without spare blocks becomes read-only.
//!
//! Most cycles can be untimed (`--untimed-cycles`). After a cycle that is simulated and measured, the drive is drained
//! to idle and then overwritten without simulating time. Untimed overwrites wear blocks as the run does, but retire
//! none; a worn block is retired at its next timed erase. An idle drive has more free blocks than a busy one, so each
//! measured cycle is preceded by a timed warm-up cycle. Every cycle counts as many bytes as the measured one, except
//! for the last cycles of the lifetime.

use crate::experiment::{Common, Experiment, ExperimentError, Plan, broken};
use crate::host::{Host, RunError};
use crate::measure::MeasureError;
use crate::precondition::{ageing, overwrite};
use crate::watch::Watch;
use serde::Serialize;
use tailcut_core::device::{ConfigProblem, Counters, Device, Until};
use tailcut_core::drive::Drive;
use tailcut_stats::{Population, Sample};
use tailcut_units::{HostOp, SimTime, Status};
use tailcut_workload::{Ageing, Source, Workload};

/// Events of the drive between two checks of the number of erases.
const STEPS: u64 = 1 << 14;

/// One stage of a drive's lifetime.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stage {
    /// Bytes that the host has written from the start of the lifetime to the end of the stage.
    pub written: u64,
    /// Mean program/erase cycles of the blocks in use, at the end of the stage.
    pub cycles_mean: f64,
    /// The smallest number of cycles.
    pub cycles_min: u32,
    /// The largest number of cycles.
    pub cycles_max: u32,
    /// Blocks grown bad since the start of the lifetime.
    pub grown_bad: u64,
    /// Extents that the drive can still lose before it becomes read-only.
    pub spare_extents: u64,
    /// Reads measured in the stage. Their latencies, below in ns, are `None` if there are too few reads.
    pub reads: u64,
    /// Median.
    pub read_p50_ns: Option<u64>,
    /// 99.9th percentile.
    pub read_p99_9_ns: Option<u64>,
    /// 99.99th percentile.
    pub read_p99_99_ns: Option<u64>,
    /// Mean pulse time of the erases of the stage, ns.
    pub pulse_ns: Option<f64>,
    /// Share of the erases of the stage at the full voltage, under a scheme that chooses between two voltages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_voltage: Option<f64>,
    /// Write amplification of the stage.
    pub waf: Option<f64>,
}

/// The lifetime of a drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriveLife {
    /// Bytes that the host wrote in the run, until the drive became read-only or the workload ended.
    pub written: u64,
    /// Bytes written in the lifetime that the run stands for: with `erase.cycles_per_erase` taken into account.
    pub written_in_life: u64,
    /// Whether the drive became read-only; otherwise the workload ended first.
    pub ended: bool,
    /// Program/erase cycles of the blocks at the end: 1st, 50th and 99th percentile.
    pub cycles: [u32; 3],
    /// Its stages in order.
    pub stages: Vec<Stage>,
}

/// The measurements of a stage.
#[derive(Default)]
struct Gathered {
    written: u64,
    reads: Population,
    /// Mapping units programmed: in all, and for the host; and extents erased.
    programs: u64,
    by_host: u64,
    erases: u64,
}

impl Gathered {
    fn take(&mut self, sample: &Sample<'_>) {
        match sample.op {
            HostOp::Write if sample.status == Status::Ok => self.written += u64::from(sample.bytes),
            HostOp::Read => self.reads.record(sample.latency_ns(), sample.bytes),
            _ => {}
        }
    }
}

impl Experiment<'_> {
    /// Run the workload on each scheme's drive until the drive becomes read-only. A stage lasts `each` program/erase
    /// cycles, on average over the blocks. Of every `untimed` + 1 cycles, two are simulated (a warm-up and a measured
    /// one) and the others are untimed; with 0, all are measured. `None` for a scheme that was stopped.
    ///
    /// # Errors
    /// The first failure; the others are stopped.
    pub fn live(
        &self,
        plan: &Plan,
        each: u32,
        untimed: u32,
        watch: &dyn Watch,
    ) -> Result<Vec<Option<DriveLife>>, ExperimentError> {
        let common = self.common(plan)?;
        let order: Vec<usize> = (0..self.schemes.len()).collect();
        let one = |scheme: usize, watch: &dyn Watch| self.life_of(scheme, &common, (each, untimed), watch);
        self.in_parallel(&order, watch, &one)
    }

    fn life_of(
        &self,
        scheme: usize,
        common: &Common<'_>,
        (each, untimed): (u32, u32),
        watch: &dyn Watch,
    ) -> Result<Option<DriveLife>, ExperimentError> {
        let spec = &self.schemes[scheme];
        let Some((device, _)) = self.prepared(scheme, self.seed, common, (scheme, watch))? else {
            return Ok(None);
        };
        let Plan { capacity, filled, .. } = *common.plan;
        let workload = self.workload.open(capacity, filled, self.seed)?;
        let host = Host::new(workload).map_err(|e| broken(&spec.name, MeasureError::Run(e)))?;
        if device.as_page().is_none() {
            let problem = "`pblk` has no life yet: `lifetime` knows drives that map pages alone";
            let problem = ConfigProblem::new("ftl.kind", problem);
            return Err(ExperimentError::Config { scheme: spec.name.clone(), problem });
        }
        let unit = device.dimensions().unit_bytes;
        let writes =
            ageing(self.workload, (capacity, filled), &spec.config, unit, self.seed.wrapping_add(1))?;
        let per_erase = spec.config.erase.as_ref().map_or(1, |erase| erase.cycles_per_erase);
        let extents: u64 = page(&device).shape().layout.usable.iter().map(|&n| u64::from(n)).sum();
        let erases = |cycles: u32| (extents * u64::from(cycles) / u64::from(per_erase)).max(1);
        let mut living =
            Living { name: &spec.name, scheme, watch, host, device, writes, done: 0, over: false };
        let mut life =
            DriveLife { written: 0, written_in_life: 0, ended: false, cycles: [0; 3], stages: Vec::new() };
        loop {
            let mut gathered = Gathered::default();
            living.device.reset_counters();
            if untimed == 0 {
                living.run(erases(each), &mut gathered)?;
            } else {
                for _ in 0..each.div_ceil(1 + untimed) {
                    life.written += living.part(erases(1), untimed, &mut gathered)?;
                    if living.is_over() {
                        break;
                    }
                }
            }
            life.written += gathered.written;
            life.stages.push(stage(&living.device, life.written, &gathered));
            if living.is_over() {
                break;
            }
        }
        life.ended = page(&living.device).read_only_since().is_some();
        let mut cycles = page(&living.device).pe_cycles();
        cycles.sort_unstable();
        let at = |percent: usize| cycles.get(cycles.len() * percent / 100).copied().unwrap_or(0);
        life.cycles = [at(1), at(50), at(99)];
        life.written_in_life = life.written.saturating_mul(u64::from(per_erase));
        Ok(Some(life))
    }
}

/// The state of a drive during its lifetime.
struct Living<'a> {
    name: &'a str,
    scheme: usize,
    watch: &'a dyn Watch,
    host: Host<Workload>,
    device: Drive,
    /// The writes of untimed cycles.
    writes: Ageing,
    /// Number of completed requests.
    done: u64,
    /// Whether the workload has ended.
    over: bool,
}

impl Living<'_> {
    fn is_over(&self) -> bool {
        self.over || page(&self.device).read_only_since().is_some() || self.watch.stopped()
    }

    fn broken(&self, error: RunError<<Workload as Source>::Error>) -> ExperimentError {
        broken(self.name, MeasureError::Run(error))
    }

    /// Run the workload until `erases` more extents have been erased.
    fn run(&mut self, erases: u64, gathered: &mut Gathered) -> Result<(), ExperimentError> {
        let of = |c: &Counters| (c.programs(), c.programs_user, c.erases);
        let before = of(self.device.counters());
        while !self.is_over() && self.device.counters().erases - before.2 < erases {
            let Living { host, device, done, .. } = self;
            let over = host.run_for(device, SimTime::NEVER, STEPS, &mut |sample, _| {
                *done += 1;
                gathered.take(sample);
            });
            self.over = over.map_err(|e| self.broken(e))?;
            self.watch.requests(self.scheme, self.done, self.host.now());
        }
        let after = of(self.device.counters());
        gathered.programs += after.0 - before.0;
        gathered.by_host += after.1 - before.1;
        gathered.erases += after.2 - before.2;
        Ok(())
    }

    /// Simulate one cycle of `erases` erases as a warm-up, measure the next one, and apply the remaining `untimed` − 1
    /// cycles without timing. Returns the bytes written in the cycles that are not measured.
    fn part(&mut self, erases: u64, untimed: u32, gathered: &mut Gathered) -> Result<u64, ExperimentError> {
        let begun = self.device.counters().erases;
        let mut warm = Gathered::default();
        self.run(erases, &mut warm)?;
        let before = (gathered.written, gathered.erases);
        self.run(erases, gathered)?;
        let (written, erased) = (gathered.written - before.0, gathered.erases - before.1);
        if self.is_over() {
            return Ok(warm.written);
        }
        let since = self.host.now();
        let drained = self.host.drain(&mut self.device, &mut |sample, _| gathered.take(sample));
        drained.map_err(|e| self.broken(e))?;
        let rests = self.device.settle();
        if self.is_over() {
            return Ok(warm.written);
        }
        if !rests {
            let what = self.device.describe_waiting();
            return Err(self.broken(RunError::Stuck { at: self.device.now(), what }));
        }
        // Erases outside the measured cycle stand for as many bytes each as those in it.
        let pass = erases * u64::from(untimed - 1);
        let others = self.device.counters().erases - begun - erased + pass;
        let watch = self.watch;
        overwrite(&mut self.device, &mut self.writes, Until::Erases(pass), &mut |_| !watch.stopped())?;
        self.host.go_on(since, self.device.now());
        Ok((written as f64 * others as f64 / erased.max(1) as f64) as u64)
    }
}

/// The page-mapping controller of the drive.
fn page(drive: &Drive) -> &Device {
    drive.as_page().expect("other drives were refused when the life began")
}

/// Summarise a stage at its end.
fn stage(device: &Drive, written: u64, gathered: &Gathered) -> Stage {
    let device = page(device);
    let reads = &gathered.reads;
    let cycles = device.pe_cycles();
    let (least, most) = (cycles.iter().min(), cycles.iter().max());
    let blocks = device.block_report();
    let percentile = |percent: f64| (!reads.is_thin(percent)).then(|| reads.percentile(percent));
    let erases = &device.flash_counters().erases;
    Stage {
        written,
        cycles_mean: cycles.iter().map(|&n| u64::from(n)).sum::<u64>() as f64 / cycles.len().max(1) as f64,
        cycles_min: least.copied().unwrap_or(0),
        cycles_max: most.copied().unwrap_or(0),
        grown_bad: blocks.as_ref().map_or(0, |report| report.blocks.grown_bad),
        spare_extents: blocks.as_ref().map_or(0, |report| report.spare_extents),
        reads: reads.count(),
        read_p50_ns: percentile(50.0),
        read_p99_9_ns: percentile(99.9),
        read_p99_99_ns: percentile(99.99),
        pulse_ns: (erases.blocks > 0).then(|| erases.pulse_ns as f64 / erases.blocks as f64),
        full_voltage: (erases.blocks > 0 && device.shape().slow_programs.is_some())
            .then(|| erases.full_voltage as f64 / erases.blocks as f64),
        waf: (gathered.by_host > 0).then(|| gathered.programs as f64 / gathered.by_host as f64),
    }
}
