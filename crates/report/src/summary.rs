//! `summary.json`: a versioned contract. Names follow fio's where fio has one; times are
//! ns unless the name says otherwise; what does not exist is absent, not zero.
//!
//! `docs/summary.schema.json` describes the same; a test holds the two together.

use crate::error::ReportError;
use crate::ordered::Ordered;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the contract this code writes and reads.
pub const SCHEMA: u32 = 1;

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
    /// Capacity the host sees, the same for all schemes.
    pub host_capacity_bytes: u64,
    /// What the host asked.
    pub workload: Workload,
    /// The schemes, in the order asked for.
    pub schemes: Vec<Scheme>,
}

/// What the host asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Where it came from: a trace file, a job file or an inline job.
    pub source: String,
    /// Requests in all.
    pub requests: u64,
    /// Reads by reads and writes.
    pub read_fraction: f64,
    /// Mean length of reads and writes, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_bytes: Option<f64>,
    /// Bytes touched at least once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footprint_bytes: Option<u64>,
    /// Bytes of the drive that a trace touches: its footprint after folding or dense
    /// numbering, of one lap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive_footprint_bytes: Option<u64>,
    /// Virtual time from the start of the run to the start of measurement: requests that
    /// arrive before are simulated, and in no figure but `requests` and the digests.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warm_up_ns: u64,
    /// Time from the first arrival to the last, of a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_ns: Option<u64>,
}

/// One scheme's run (or runs).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scheme {
    /// Its name.
    pub name: String,
    /// Digest of all completions, 16 hexadecimal digits; of the first run.
    pub digest: String,
    /// Absent for one run. Of several: rates, latencies (of the jobs too) and write
    /// amplification are means over that many runs, least and most are over all, the blame
    /// is that of all their requests together, and everything else is the first run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// Virtual time measured.
    pub runtime_ns: u64,
    /// Real time taken, seconds.
    pub wall_seconds: f64,
    /// Processor time taken, seconds.
    pub cpu_seconds: f64,
    /// Requests simulated a second of processor time.
    pub requests_per_cpu_second: f64,
    /// Largest resident memory of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
    /// How the drive was brought to its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition: Option<Precondition>,
    /// What arrived without waiting for the drive, beside what it served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// All reads.
    pub read: DirectionSummary,
    /// All writes.
    pub write: DirectionSummary,
    /// TRIM commands completed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trims: u64,
    /// FLUSH commands completed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flushes: u64,
    /// Requests that failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// The jobs, in their order.
    pub jobs: Vec<JobSummary>,
    /// Figures over virtual time, at most 200 intervals; of the first run.
    pub series: Vec<SeriesPoint>,
    /// Write amplification: all programs by host programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waf: Option<f64>,
    /// Mapping units programmed by class.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub programs: Ordered<u64>,
    /// Garbage collection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc: Option<Gc>,
    /// Suspensions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspends: Option<Suspends>,
    /// What the dies did, by occupant.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub operations: Ordered<Operations>,
    /// The longest time in which writes were outstanding and none was completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_stall: Option<WriteStall>,
    /// Blocks erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erases: Option<u64>,
    /// Program/erase cycles of the blocks at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pe_cycles: Option<PeCycles>,
    /// What the channels' time went to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// How much of the time the parts of the drive were in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<Utilisation>,
    /// Energy of the flash in millijoules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_mj: Option<f64>,
    /// The drive's configuration by dotted key.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub config: Ordered<ConfigValue>,
}

/// One value of the drive's configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigValue {
    /// The value, as a device file has it.
    pub value: serde_json::Value,
    /// The layer that gave it: a device, a scheme, a file, or `--set`.
    pub layer: String,
    /// Where the layer has it from: paper and table, data sheet, or an assumption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Reads or writes, of all jobs or of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionSummary {
    /// Requests completed.
    pub total_ios: u64,
    /// Requests a second of virtual time.
    pub iops: f64,
    /// Bytes a second of virtual time.
    pub bw_bytes: f64,
    /// Latency.
    pub lat_ns: Latency,
    /// What the latency was made of; only for all jobs together. Of several runs: of all
    /// their requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blame: Vec<BlameSummary>,
}

/// A latency distribution, ns. All zero and without percentiles when there is no request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Shortest, exact.
    pub min: u64,
    /// Longest, exact.
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
    /// Requests beyond the hour that percentiles tell apart.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub saturated: u64,
}

/// The blame above one percentile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlameSummary {
    /// The percentile; 0 is every request.
    pub above: f64,
    /// The true lower bound of latency.
    pub threshold_ns: u64,
    /// How many requests took at least that long.
    pub requests: u64,
    /// Their mean latency, rounded to 1/1024 ns.
    pub mean_ns: f64,
    /// Mean ns by cause; they add up to exactly `mean_ns`.
    pub causes: Ordered<f64>,
}

/// One job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobSummary {
    /// Its name.
    pub name: String,
    /// Virtual time that its rates refer to, where that is not the scheme's: between two
    /// stonewalls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_ns: Option<u64>,
    /// Its reads.
    pub read: DirectionSummary,
    /// Its writes.
    pub write: DirectionSummary,
}

/// One interval of the series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // The schema describes each; the names say it.
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
    pub free_blocks: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_fill: Option<f64>,
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
}

/// How a drive was brought to its state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Precondition {
    /// `none`, `sequential`, `steady` or `scattered`.
    pub kind: String,
    /// Processor time it took, seconds.
    pub cpu_seconds: f64,
    /// Whether it came from the snapshot cache.
    pub cached: bool,
    /// Write amplification at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waf: Option<f64>,
}

/// Garbage collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gc {
    /// Blocks (or extents) collected.
    pub collections: u64,
    /// Valid mapping units moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_units: Option<u64>,
    /// From the choice of a victim to the end of its erase, mean, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_ns: Option<f64>,
    /// The longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_ns: Option<u64>,
    /// Reads that a collection held up, by all reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reads_fraction: Option<f64>,
    /// Reads that no collection held up but that queued at a die behind a host operation
    /// which one had, by all reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_behind_fraction: Option<f64>,
    /// Reads that no collection held up but that waited in the host while the device queue was
    /// full and held a command which one had, by all reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_out_fraction: Option<f64>,
    /// Reads of which some unit was computed from the rest of its stripe, by all reads; with
    /// parity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuilt_reads_fraction: Option<f64>,
    /// Flash reads made for that alone; with parity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuild_reads: Option<u64>,
    /// Flash reads that computing parity needed; with parity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_reads: Option<u64>,
    /// Flash reads of scrubbing; with scrubbing only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub_reads: Option<u64>,
    /// Flash reads that moving stripes needed; with wear levelling only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear_reads: Option<u64>,
    /// Stripes that wear levelling shifted inside their plane group; with levelling only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripes_shifted: Option<u64>,
    /// Stripes that it migrated to another group; with levelling only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripes_migrated: Option<u64>,
    /// Collections that began beside another of their plane group; with parity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation_broken: Option<u64>,
    /// Most planes of one group that collected at once; with parity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_in_group: Option<u64>,
    /// The plane groups; with parity only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GcGroup>,
}

/// One plane group: the planes of one position on as many channels as a stripe is wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GcGroup {
    /// Planes that collected, mean over the measurement.
    pub mean: f64,
    /// Most that collected at once.
    pub most: u64,
}

/// Suspensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Suspends {
    /// Of erases, cancelled resumes included.
    pub erase: u64,
    /// Of programs, cancelled resumes included.
    pub program: u64,
    /// Suspensions of an erase operation, mean.
    pub per_erase: f64,
    /// Resumes that an arrival cancelled.
    pub resumes_cancelled: u64,
    /// Array time lost and done again.
    pub repeated_ns: u64,
    /// Die time of suspending and resuming.
    pub overhead_ns: u64,
    /// Energy of the two.
    pub energy_mj: f64,
    /// Suspensions of a block since the drive was made, mean.
    pub per_block_mean: f64,
    /// Suspensions of a block since the drive was made, most.
    pub per_block_max: u64,
    /// Factor on the raw bit error rate of a block at that mean.
    pub rber_factor_mean: f64,
    /// Factor on the raw bit error rate of a block at that most.
    pub rber_factor_max: f64,
}

/// Operations of the arrays of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operations {
    /// How many; one that covers several planes is one.
    pub count: u64,
    /// Planes that one covered, mean.
    pub planes: f64,
}

/// Arrivals that do not wait for the drive, over the whole run, and how it kept up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Requests that arrived a second, from the first to the last; absent if all arrived at
    /// once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_iops: Option<f64>,
    /// Requests completed a second, from the first arrival to the last completion.
    pub served_iops: f64,
    /// Requests that had arrived and not ended when the last arrived.
    pub backlog: u64,
    /// From the last arrival to the last completion.
    pub behind_ns: u64,
    /// The longest time without a break in which more requests were waiting than the
    /// drive's queue holds.
    pub longest_backlog_ns: u64,
    /// When that began.
    pub longest_backlog_since_ns: u64,
    /// Whether it was at most half of the time from the first arrival to the last, and at
    /// most 10 s. If not, latencies measure the backlog.
    pub keeps_up: bool,
}

/// A time in which writes were outstanding and none was completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WriteStall {
    /// When it began.
    pub since_ns: u64,
    /// How long it lasted.
    pub length_ns: u64,
    /// How long the oldest write had waited then.
    pub oldest_write_ns: u64,
    /// It lasted to the end of the run.
    pub at_end: bool,
}

/// Program/erase cycles by block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PeCycles {
    /// Mean.
    pub mean: f64,
    /// Most.
    pub max: u64,
}

/// Shares of the channels' time, which add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// Nothing to do.
    pub idle: f64,
    /// Moving what is used.
    pub useful: f64,
    /// Moving pages that then fail to decode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncorrectable: Option<f64>,
    /// Stalled for the error-correction engine.
    pub ecc_wait: f64,
}

/// Shares of the measured time in which parts of the drive were in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Utilisation {
    /// An operation had the die, from its command to its last byte: waiting for the channel
    /// counts, since no other operation could begin. Where planes work independently, the
    /// mean over the planes of a die.
    pub dies: Use,
    /// The plane was in the array: it sensed, programmed or erased, or did so in an
    /// operation on several planes; what suspensions repeat is left out. Where they do not
    /// work independently, the busiest is the mean over the planes of one die.
    pub planes: Use,
    /// An operation had the channel.
    pub channels: Use,
    /// The link to the host moved data; of its two directions.
    pub host_link: Use,
}

/// How much of the time things of a kind were in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Use {
    /// Mean over all.
    pub mean: f64,
    /// The one that was in use most.
    pub busiest: f64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Summary {
    /// The file's text, with a newline at the end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a summary has only string keys");
        text.push('\n');
        text
    }

    /// Reads `summary.json`.
    pub fn read(path: &Path) -> Result<Summary, ReportError> {
        let text = std::fs::read_to_string(path).map_err(ReportError::io(path))?;
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
