//! The life of a drive under a workload: bytes written until it is read-only, and what it is like meanwhile.
//!
//! Each erase stands for `erase.cycles_per_erase` program/erase cycles of its block, so that a life takes that
//! many times fewer writes. (The few erases of preconditioning count alike.) A block that has more expected
//! errors than `faults.worn` is retired, and a drive without spare blocks is read-only.

use crate::experiment::{Common, Experiment, ExperimentError, Plan, broken};
use crate::host::Host;
use crate::measure::MeasureError;
use crate::watch::Watch;
use serde::Serialize;
use tailcut_core::device::Device;
use tailcut_stats::{Population, Sample};
use tailcut_units::{HostOp, SimTime, Status};
use tailcut_workload::Workload;

/// Events of the drive between two looks at what has been written.
const STEPS: u64 = 1 << 14;

/// A part of a drive's life.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stage {
    /// Bytes that the host has written since the life began, at the end of the stage.
    pub written: u64,
    /// Program/erase cycles of the blocks in use at the end of the stage: mean, least and most.
    pub cycles_mean: f64,
    /// The least.
    pub cycles_min: u32,
    /// The most.
    pub cycles_max: u32,
    /// Blocks grown bad since the life began.
    pub grown_bad: u64,
    /// Extents that the drive can lose before it is read-only.
    pub spare_extents: u64,
    /// Reads of the stage, and their latencies, ns; `None` if there are too few.
    pub reads: u64,
    /// Median.
    pub read_p50_ns: Option<u64>,
    /// 99.9th percentile.
    pub read_p99_9_ns: Option<u64>,
    /// 99.99th percentile.
    pub read_p99_99_ns: Option<u64>,
    /// Mean pulse time of the erases of the stage, ns.
    pub pulse_ns: Option<f64>,
    /// Share of the erases of the stage at the full voltage, of a scheme that chooses between two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_voltage: Option<f64>,
    /// Write amplification of the stage.
    pub waf: Option<f64>,
}

/// The life of a drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriveLife {
    /// Bytes that the host wrote until the drive became read-only, or the workload ended: those of the run.
    pub written: u64,
    /// The same, as the cycles that erases stand for count it.
    pub written_in_life: u64,
    /// Whether the drive became read-only.
    pub ended: bool,
    /// Program/erase cycles of the blocks at the end: the 1st, 50th and 99th percentile.
    pub cycles: [u32; 3],
    /// Its parts, in order.
    pub stages: Vec<Stage>,
}

/// What a stage gathers.
#[derive(Default)]
struct Gathered {
    written: u64,
    reads: Population,
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
    /// Run the workload on each scheme's drive until the drive is read-only. A stage ends when the blocks have
    /// had `each` program/erase cycles more, in the mean. `None` for a scheme that was stopped.
    ///
    /// # Errors
    /// The first failure; the others are stopped.
    pub fn live(
        &self,
        plan: &Plan,
        each: u32,
        watch: &dyn Watch,
    ) -> Result<Vec<Option<DriveLife>>, ExperimentError> {
        let common = self.common(plan)?;
        let order: Vec<usize> = (0..self.schemes.len()).collect();
        let one = |scheme: usize, watch: &dyn Watch| self.life_of(scheme, &common, each, watch);
        self.in_parallel(&order, watch, &one)
    }

    fn life_of(
        &self,
        scheme: usize,
        common: &Common<'_>,
        each: u32,
        watch: &dyn Watch,
    ) -> Result<Option<DriveLife>, ExperimentError> {
        let spec = &self.schemes[scheme];
        let Some((mut device, _)) = self.prepared(scheme, self.seed, common, (scheme, watch))? else {
            return Ok(None);
        };
        let fail = |e| broken(&spec.name, MeasureError::Run(e));
        let workload = self.workload.open(common.plan.capacity, common.plan.filled, self.seed)?;
        let mut host: Host<Workload> = Host::new(workload).map_err(fail)?;
        let mut life =
            DriveLife { written: 0, written_in_life: 0, ended: false, cycles: [0; 3], stages: Vec::new() };
        let per_erase = spec.config.erase.as_ref().map_or(1, |erase| erase.cycles_per_erase);
        let extents: u64 = device.shape().layout.usable.iter().map(|&n| u64::from(n)).sum();
        let erases = (extents * u64::from(each) / u64::from(per_erase)).max(1);
        let mut done = 0;
        let mut over = false;
        while !over && !life.ended && !watch.stopped() {
            let mut gathered = Gathered::default();
            device.reset_counters();
            while !over && !life.ended && device.counters().erases < erases && !watch.stopped() {
                over = host
                    .run_for(&mut device, SimTime::NEVER, STEPS, &mut |sample, _| {
                        done += 1;
                        gathered.take(sample);
                    })
                    .map_err(fail)?;
                life.ended = device.read_only_since().is_some();
                watch.requests(scheme, done, host.now());
            }
            life.written += gathered.written;
            life.stages.push(stage(&device, life.written, &gathered.reads));
        }
        let mut cycles = device.pe_cycles();
        cycles.sort_unstable();
        let at = |percent: usize| cycles.get(cycles.len() * percent / 100).copied().unwrap_or(0);
        life.cycles = [at(1), at(50), at(99)];
        life.written_in_life = life.written.saturating_mul(u64::from(per_erase));
        Ok(Some(life))
    }
}

/// What a drive is like at the end of a stage.
fn stage(device: &Device, written: u64, reads: &Population) -> Stage {
    let cycles = device.pe_cycles();
    let (least, most) = (cycles.iter().min(), cycles.iter().max());
    let blocks = device.block_report();
    let percentile = |percent: f64| (!reads.is_thin(percent)).then(|| reads.percentile(percent));
    let (counters, erases) = (device.counters(), &device.flash_counters().erases);
    let by_host = counters.programs_user;
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
        waf: (by_host > 0).then(|| counters.programs() as f64 / by_host as f64),
    }
}
