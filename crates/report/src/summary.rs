//! `summary.json`: a versioned contract. Names follow fio's where fio has one. Times are in ns
//! unless the name says otherwise. Values for which there is no mechanism are absent, not zero.
//!
//! `docs/summary.schema.json` describes the same contract; a test checks that the two agree.

use crate::endurance::Endurance;
use crate::erases::ErasePulses;
use crate::error::ReportError;
use crate::faults::Faults;
use crate::highest_rate::HighestRate;
use crate::ordered::Ordered;
use crate::regular::open;
use crate::senses::PageSenses;
use crate::targets::TargetResult;
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;
use tailcut_units::HostOp;

/// The version of the contract this code writes and reads.
pub const SCHEMA: u32 = 1;

/// The longest summary that is read, bytes: that of some thousand schemes.
pub const LONGEST: u64 = 1 << 30;

/// One comparison: schemes on one device under one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of the program.
    pub tailcut: String,
    /// Version of this contract.
    pub schema: u32,
    /// Version of the model: digests compare only within one.
    pub model_version: u32,
    /// Seed of every random stream.
    pub seed: u64,
    /// Whether the run was stopped before its end.
    pub partial: bool,
    /// Device preset or file.
    pub device: String,
    /// Capacity the host sees, bytes; the same for all schemes.
    pub host_capacity_bytes: u64,
    /// The requests of the host.
    pub workload: Workload,
    /// Warnings to the user, as they were printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The schemes, in the order in which they were given.
    pub schemes: Vec<Scheme>,
}

/// The requests of the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Where the requests come from: a trace file, a job file or an inline job.
    pub source: String,
    /// Number of requests.
    pub requests: u64,
    /// Share of reads among reads and writes.
    pub read_fraction: f64,
    /// Mean length of reads and writes, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_bytes: Option<f64>,
    /// Bytes touched at least once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footprint_bytes: Option<u64>,
    /// Bytes of the drive that a trace touches: the footprint of one lap after folding or dense
    /// numbering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive_footprint_bytes: Option<u64>,
    /// Virtual time from the start of the run to the start of measurement, ns. Requests that
    /// arrive earlier are simulated but count only in `requests` and in the digests.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warm_up_ns: u64,
    /// Time from the first arrival of a trace to the last, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_ns: Option<u64>,
    /// Requests that were larger than the drive's largest command and were sent in parts; each counts as one
    /// request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parted_requests: u64,
    /// How the records of a trace were handled, by what was done with them; absent for jobs.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub records: Ordered<u64>,
}

/// One scheme's run (or runs).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scheme {
    /// Its name.
    pub name: String,
    /// Digest of all completions of the first run, 16 hexadecimal digits.
    pub digest: String,
    /// The number of runs; absent for one run. With several runs, rates, latencies (of the jobs
    /// too) and write amplification are means over the runs, minimum and maximum are over all
    /// runs, the blame covers the requests of all runs, and everything else is of the first
    /// run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// Length of the measurement in virtual time, ns.
    pub runtime_ns: u64,
    /// Real time of the run without preconditioning, seconds.
    pub wall_seconds: f64,
    /// Processor time of the run without preconditioning, seconds.
    pub cpu_seconds: f64,
    /// Requests measured, divided by `cpu_seconds`.
    pub requests_per_cpu_second: f64,
    /// Largest resident memory of the process, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
    /// How the aged state of the drive was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<Precondition>,
    /// The load of an open loop; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// All reads.
    pub read: OpSummary,
    /// All writes.
    pub write: OpSummary,
    /// All TRIM commands.
    #[serde(default, skip_serializing_if = "OpSummary::is_empty")]
    pub trim: OpSummary,
    /// All FLUSH commands.
    #[serde(default, skip_serializing_if = "OpSummary::is_empty")]
    pub flush: OpSummary,
    /// TRIM commands completed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trims: u64,
    /// FLUSH commands completed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flushes: u64,
    /// Requests that failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Requests that failed, by kind and status. They have no latency.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub failed: Ordered<Ordered<u64>>,
    /// The jobs, in the order of the workload.
    pub jobs: Vec<JobSummary>,
    /// Figures over virtual time, at most 200 intervals; of the first run.
    pub series: Vec<SeriesPoint>,
    /// Write amplification: all programs divided by host programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waf: Option<f64>,
    /// How much each of 20 equal parts of a single run moves `waf`, relative to it. Absent for short runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waf_shifts: Vec<f64>,
    /// `waf` of each of several runs, in the order of their seeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waf_by_run: Vec<f64>,
    /// Mapping units programmed, by class: `user`, `gc`, `parity`, `wear`, `pad`, `metadata` and `failed`.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub programs: Ordered<u64>,
    /// Mapping units of the host that were handled in a special way, by how; those that occurred.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub units: Ordered<u64>,
    /// Garbage collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc: Option<Gc>,
    /// Suspensions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspends: Option<Suspends>,
    /// Operations of the dies, by occupant.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub operations: Ordered<Operations>,
    /// Failures of the flash; absent if the drive cannot fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// The longest time in which writes were outstanding and none was completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_stall: Option<WriteStall>,
    /// Blocks erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erases: Option<u64>,
    /// Erases whose scheme chooses their pulses; absent if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_pulses: Option<ErasePulses>,
    /// Senses of pages with raw bit errors; absent if pages have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_senses: Option<PageSenses>,
    /// Program/erase cycles of the blocks at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pe_cycles: Option<PeCycles>,
    /// The SLC region; absent on a drive without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcUse>,
    /// Shares of the channels' time by use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// Shares of the measured time in which the parts of the drive were in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<Utilisation>,
    /// Energy of the flash in millijoules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_mj: Option<f64>,
    /// All counters of the drive that are not 0, by name.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub counters: Ordered<u64>,
    /// How long the drive lasts under its writes; absent if it has no limit of cycles, or if nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endurance: Option<Endurance>,
    /// The targets of the latencies, in the order in which they were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetResult>,
    /// The highest rate of arrivals that meets them all (`--highest-rate`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest_rate: Option<HighestRate>,
    /// The drive's configuration by dotted key.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub config: Ordered<ConfigValue>,
}

/// One value of the drive's configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigValue {
    /// The value, as a device file has it.
    pub value: serde_json::Value,
    /// The layer that set the value: a device, a scheme, a file, or `--set`.
    pub layer: String,
    /// The source that the layer states for the value: paper and table, data sheet, or an
    /// assumption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Requests of one kind, of all jobs or of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpSummary {
    /// Requests completed.
    pub total_ios: u64,
    /// Requests a second of virtual time.
    pub iops: f64,
    /// Bytes a second of virtual time.
    pub bw_bytes: f64,
    /// Latency.
    pub lat_ns: Latency,
    /// Blame by level; only for all jobs together. With several runs, the blame covers the
    /// requests of all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blame: Vec<BlameSummary>,
    /// How much each of the 20 batches of a single run moves the figures, relative to them: see
    /// [`difference`](tailcut_stats::difference). Absent for short runs and for jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_shifts: Option<Parts>,
    /// The figures of each of several runs, in the order of their seeds. Absent for jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_run: Option<Parts>,
}

/// Figures by part of the measurement: a number for each batch, or for each run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// Of the requests a second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub iops: Vec<f64>,
    /// Of the mean latency.
    pub mean: Vec<f64>,
    /// Of the percentiles that the parts bound.
    pub percentile: Ordered<Vec<f64>>,
}

impl OpSummary {
    fn is_empty(&self) -> bool {
        self.total_ios == 0
    }
}

/// A latency distribution in ns. All values are zero and there are no percentiles when there is
/// no request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Minimum, exact.
    pub min: u64,
    /// Maximum, exact.
    pub max: u64,
    /// Mean, from the exact sum.
    pub mean: f64,
    /// Sample standard deviation, from exact sums.
    pub stddev: f64,
    /// 95 % confidence interval of the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ci95: Option<[f64; 2]>,
    /// Latency by percentile, 3 significant digits.
    pub percentile: Ordered<u64>,
    /// 95 % confidence interval by percentile; absent for short runs.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub ci95: Ordered<[u64; 2]>,
    /// Requests that took longer than one hour, the longest latency that the percentiles
    /// distinguish.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub saturated: u64,
}

/// The blame above one percentile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlameSummary {
    /// The percentile; 0 stands for all requests.
    pub above: f64,
    /// Lower end of the latency bucket that holds the percentile, ns.
    pub threshold_ns: u64,
    /// Number of requests that took at least `threshold_ns`.
    pub requests: u64,
    /// Mean latency of these requests, ns, rounded to 1/1024 ns.
    pub mean_ns: f64,
    /// Mean time by cause, ns; the sum is exactly `mean_ns`.
    pub causes: Ordered<f64>,
}

/// One job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobSummary {
    /// Its name.
    pub name: String,
    /// Virtual time to which the job's rates refer, ns; absent where it equals the scheme's
    /// `runtime_ns`. It differs for a job between two stonewalls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_ns: Option<u64>,
    /// Its reads.
    pub read: OpSummary,
    /// Its writes.
    pub write: OpSummary,
    /// Its TRIM commands.
    #[serde(default, skip_serializing_if = "OpSummary::is_empty")]
    pub trim: OpSummary,
    /// Its FLUSH commands.
    #[serde(default, skip_serializing_if = "OpSummary::is_empty")]
    pub flush: OpSummary,
}

/// The one of an operation, of those in the order of [`HostOp::ALL`].
fn one_of<T>(op: HostOp, sides: [T; HostOp::COUNT]) -> T {
    sides.into_iter().nth(op as usize).expect("one for each operation")
}

impl Scheme {
    /// Its requests of one kind.
    pub fn side(&self, op: HostOp) -> &OpSummary {
        one_of(op, [&self.read, &self.write, &self.trim, &self.flush])
    }

    /// Its requests of one kind.
    pub fn side_mut(&mut self, op: HostOp) -> &mut OpSummary {
        one_of(op, [&mut self.read, &mut self.write, &mut self.trim, &mut self.flush])
    }
}

impl JobSummary {
    /// Its requests of one kind.
    pub fn side(&self, op: HostOp) -> &OpSummary {
        one_of(op, [&self.read, &self.write, &self.trim, &self.flush])
    }

    /// Its requests of one kind.
    pub fn side_mut(&mut self, op: HostOp) -> &mut OpSummary {
        one_of(op, [&mut self.read, &mut self.write, &mut self.trim, &mut self.flush])
    }
}

/// One interval of the series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // `docs/summary.schema.json` describes each field.
pub struct SeriesPoint {
    pub at_ns: u64,
    pub length_ns: u64,
    pub read_iops: f64,
    pub read_mean_ns: f64,
    pub read_p50_ns: u64,
    pub read_p99_ns: u64,
    pub read_p999_ns: u64,
    pub read_max_ns: u64,
    pub write_iops: f64,
    pub write_mean_ns: f64,
    pub write_p50_ns: u64,
    pub write_p99_ns: u64,
    pub write_p999_ns: u64,
    pub write_max_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim_iops: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim_mean_ns: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim_p50_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim_p99_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim_p999_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim_max_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_iops: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_mean_ns: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_p50_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_p99_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_p999_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_max_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_blocks: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_fill: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_limit: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collections: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erases: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waf: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_in_group: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups_collecting: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planes_collecting: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dies_in_use: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels_in_use: Option<f64>,
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub latencies: Ordered<LatencyCounts>,
}

/// How many requests of one kind took how long, in one interval. Bucket `b` begins at `b` ns if `b` is below 8, and else
/// at `(4 + b % 4) << (b / 4 - 1)` ns: four buckets an octave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyCounts {
    /// The first bucket with a request.
    pub from: u32,
    /// Requests by bucket, from `from` on.
    pub counts: Vec<u64>,
}

/// How the aged state of a drive was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Precondition {
    /// `none`, `sequential`, `steady` or `scattered`.
    pub kind: String,
    /// Processor time of preconditioning, seconds.
    pub cpu_seconds: f64,
    /// Whether the state came from a snapshot.
    pub cached: bool,
    /// Write amplification at the end of overwriting; with `steady` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waf: Option<f64>,
    /// Whether write amplification was steady at the end of overwriting; with `steady` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<bool>,
    /// Whether overwriting began on extents with the valid units that theory gives, instead of at
    /// the sequential fill.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub analytic_start: bool,
}

/// Garbage collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gc {
    /// Extents collected.
    pub collections: u64,
    /// Valid mapping units moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_units: Option<u64>,
    /// Mean time from the choice of a victim to the end of its erase, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// The longest time from the choice of a victim to the end of its erase, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_ns: Option<u64>,
    /// Share of all reads that a collection held up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reads_fraction: Option<f64>,
    /// Share of all reads that no collection held up but that queued at a die behind a host
    /// operation that a collection held up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_behind_fraction: Option<f64>,
    /// Share of all reads that no collection held up but that waited in the host while the
    /// device queue was full and held a command that a collection held up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_out_fraction: Option<f64>,
    /// Share of all reads with a unit that was computed from the rest of its stripe; with
    /// parity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuilt_reads_fraction: Option<f64>,
    /// Flash reads made only to compute such units; with parity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild_reads: Option<u64>,
    /// Mapping units of host reads that were read on a marked LUN, because their stride does not give them; with the gate
    /// of strides only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprotected_units: Option<u64>,
    /// Flash reads made to compute parity; with parity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_reads: Option<u64>,
    /// Flash reads of scrubbing; with scrubbing only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub_reads: Option<u64>,
    /// Flash reads made to move stripes; with wear levelling only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear_reads: Option<u64>,
    /// Stripes that wear levelling shifted inside their plane group; with levelling only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripes_shifted: Option<u64>,
    /// Stripes that wear levelling migrated to another plane group; with levelling only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripes_migrated: Option<u64>,
    /// Collections that began to level the erases of blocks; with such levelling only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_wear: Option<u64>,
    /// Collections that began because data were old; with refreshing only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_refresh: Option<u64>,
    /// Collections that began while another plane of their plane group was collecting; counted
    /// only if collections rotate, otherwise 0; with parity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation_broken: Option<u64>,
    /// The most planes of one group that collected at once; with parity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_in_group: Option<u64>,
    /// The plane groups; with parity only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GcGroup>,
}

/// One plane group: the planes of one position on as many channels as a stripe is wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GcGroup {
    /// Number of collecting planes, mean over the measurement.
    pub mean: f64,
    /// The most planes that collected at once.
    pub most: u64,
}

/// Suspensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Suspends {
    /// Suspensions of erases, cancelled resumes included.
    pub erase: u64,
    /// Suspensions of programs, cancelled resumes included.
    pub program: u64,
    /// Mean number of suspensions of an erase operation.
    pub per_erase: f64,
    /// Resumes that an arrival cancelled.
    pub resumes_cancelled: u64,
    /// Array time that was lost and repeated, ns.
    pub repeated_ns: u64,
    /// Die time spent on suspending and resuming, ns.
    pub overhead_ns: u64,
    /// Energy of suspending, resuming and repeated array time, millijoules.
    pub energy_mj: f64,
    /// Mean number of erase suspensions of a block since the drive was made.
    pub per_block_mean: f64,
    /// Largest number of erase suspensions of a block since the drive was made.
    pub per_block_max: u64,
    /// Factor on the raw bit error rate of a block with `per_block_mean` erase suspensions.
    pub rber_factor_mean: f64,
    /// Factor on the raw bit error rate of a block with `per_block_max` erase suspensions.
    pub rber_factor_max: f64,
}

/// Operations of the arrays for one occupant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operations {
    /// Number of operations; an operation on several planes counts once.
    pub count: u64,
    /// Mean number of planes of an operation.
    pub planes: f64,
}

/// Load of an open loop over the whole run, and whether the drive kept up with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Arrivals a second, from the first arrival to the last; absent if all requests arrived at
    /// once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_iops: Option<f64>,
    /// Requests completed a second, from the first arrival to the last completion.
    pub served_iops: f64,
    /// Requests that were outstanding at the last arrival, within a thousandth of all requests.
    pub backlog: u64,
    /// Time from the last arrival to the last completion, ns.
    pub behind_ns: u64,
    /// The longest time without a break in which requests waited outside the drive's queue, or
    /// for a free place in the queue depth of their job, ns.
    pub longest_backlog_ns: u64,
    /// Start of `longest_backlog_ns`, ns of the run.
    pub longest_backlog_since_ns: u64,
    /// Whether `longest_backlog_ns` is at most half of the time from the first arrival to the
    /// last, and at most 10 s. If not, latencies measure the backlog.
    pub keeps_up: bool,
}

/// A time in which writes were outstanding and none completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WriteStall {
    /// Start of the stall, ns.
    pub since_ns: u64,
    /// Length of the stall, ns.
    pub length_ns: u64,
    /// How long the write that ended the stall had waited, ns. If the stall lasted to the end
    /// of the run, this is the oldest write still outstanding.
    pub oldest_write_ns: u64,
    /// Whether the stall lasted to the end of the run.
    pub at_end: bool,
}

/// Program/erase cycles by block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PeCycles {
    /// Mean over all blocks.
    pub mean: f64,
    /// Maximum over all blocks.
    pub max: u64,
}

/// What an SLC region took and gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlcUse {
    /// Mapping units programmed there for the host.
    pub host_units: u64,
    /// Mapping units of padding programmed there.
    #[serde(default)]
    pub padding_units: u64,
    /// Mapping units that folds programmed into other blocks.
    pub folded_units: u64,
    /// Flash reads of folds.
    pub fold_reads: u64,
    /// Blocks of the region erased.
    pub erases: u64,
    /// Erases of its blocks since the drive was made.
    pub pe_cycles: PeCycles,
}

/// Shares of the channels' time; they add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// The channel was idle.
    pub idle: f64,
    /// The channel was in use, not stalled, and transferred no page that then failed to decode.
    pub useful: f64,
    /// The channel transferred pages that then failed to decode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncorrectable: Option<f64>,
    /// The channel stalled because the ECC engine's queue was full.
    pub ecc_wait: f64,
}

/// Shares of the measured time in which parts of the drive were in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Utilisation {
    /// An operation held the die, from its command to its last byte. Waiting for the channel
    /// counts, since no other operation could begin. Where planes work independently, the share
    /// of a die is the mean over its planes.
    pub dies: Use,
    /// The plane sensed, programmed or erased, alone or in an operation on several planes.
    /// Array time that suspensions repeat is left out. Where planes do not work independently,
    /// `busiest` is the mean over the planes of one die.
    pub planes: Use,
    /// An operation held the channel.
    pub channels: Use,
    /// The host link moved data; over its two directions.
    pub host_link: Use,
}

/// Share of the time in which the parts of one kind were in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Use {
    /// Mean over all parts of the kind.
    pub mean: f64,
    /// Share of the part that was in use most.
    pub busiest: f64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Summary {
    /// The text of the file, with a newline at the end.
    pub fn to_json(&self) -> String {
        crate::json::text(self)
    }

    /// Reads `summary.json`.
    ///
    /// # Errors
    /// It cannot be read, is no summary of this version, or is longer than [`LONGEST`].
    pub fn read(path: &Path) -> Result<Summary, ReportError> {
        let file = open(path).map_err(ReportError::io(path))?;
        let bytes = file.metadata().map_err(ReportError::io(path))?.len();
        if bytes > LONGEST {
            return Err(ReportError::TooLong { path: path.to_path_buf(), bytes, most: LONGEST });
        }
        let text = std::io::read_to_string(file.take(LONGEST)).map_err(ReportError::io(path))?;
        let summary: Summary = serde_json::from_str(&text).map_err(|source| ReportError::Json {
            path: path.to_path_buf(),
            line: source.line(),
            source,
        })?;
        if summary.schema != SCHEMA {
            let (found, known) = (summary.schema, SCHEMA);
            return Err(ReportError::Schema { path: path.to_path_buf(), found, known });
        }
        Ok(summary)
    }
}
