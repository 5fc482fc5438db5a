//! One job as described, before it is opened on a drive.

use super::error::Place;
use super::value::Extent;
use tailcut_units::Stream;

/// Index of reads in by-direction arrays.
pub(super) const READ: usize = 0;
/// Index of writes in by-direction arrays.
pub(super) const WRITE: usize = 1;
/// Index of trims in by-direction arrays.
pub(super) const TRIM: usize = 2;

/// The most jobs in one set, clones included: each job has its own stream and histograms.
pub(super) const MOST_JOBS: u64 = 4096;
/// The largest block, in bytes.
pub(super) const LARGEST_BLOCK: u64 = 1 << 30;

/// Which directions a job mixes, and whether its offsets are sequential or random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    /// By direction.
    pub uses: [bool; 3],
    pub random: bool,
    /// fio's `:N`: requests at each random offset (in order after it), or bytes that a sequential job
    /// skips after each request (backwards if negative). 0 without the suffix.
    pub step: i64,
}

/// Request sizes of one direction, bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    Fixed(u32),
    /// Uniform over `least`, `least + step`, … up to `most`.
    Range {
        least: u32,
        most: u32,
        step: u32,
    },
    /// (bytes, parts per million); a missing rest goes to the last entry, as in fio.
    Split(Vec<(u32, u64)>),
}

impl Block {
    pub fn least(&self) -> u32 {
        match self {
            Block::Fixed(bytes) => *bytes,
            Block::Range { least, .. } => *least,
            Block::Split(entries) => entries.iter().map(|e| e.0).min().unwrap_or(1),
        }
    }

    pub fn most(&self) -> u32 {
        match self {
            Block::Fixed(bytes) => *bytes,
            Block::Range { most, .. } => *most,
            Block::Split(entries) => entries.iter().map(|e| e.0).max().unwrap_or(1),
        }
    }

    pub fn mean(&self) -> f64 {
        match self {
            Block::Fixed(bytes) => f64::from(*bytes),
            Block::Range { least, most, step } => {
                f64::from(*least) + f64::from(*step) * f64::from((most - least) / step) / 2.0
            }
            Block::Split(entries) => {
                let given: u64 = entries.iter().map(|e| e.1).sum();
                let last = entries.last().map_or(0.0, |e| f64::from(e.0));
                let sum: f64 = entries.iter().map(|e| f64::from(e.0) * e.1 as f64 / 1e6).sum();
                sum + last * (1.0 - given as f64 / 1e6)
            }
        }
    }
}

/// One zone of `random_distribution=zoned`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    /// Share of the accesses, in parts per million.
    pub accesses: u64,
    /// Length, in bytes or as a share of the job's region.
    pub length: Extent,
}

/// How the offsets of a random job are distributed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Distribution {
    Uniform,
    /// The exponent, and the place of the most accessed block as a share of the region.
    Zipf(f64, Option<f64>),
    /// Pareto's h: a share `1 - h` of the accesses falls on a share `h` of the blocks; and the place
    /// of the most accessed block as a share of the region.
    Pareto(f64, Option<f64>),
    /// Standard deviation, in percent of the region.
    Normal(f64),
    /// By direction.
    Zoned([Vec<Zone>; 3]),
}

/// A rate of `per_second / scale` events a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    pub per_second: u64,
    pub scale: u64,
}

impl Rate {
    pub fn per_second_f64(self) -> f64 {
        self.per_second as f64 / self.scale as f64
    }
}

/// The rate of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Requests(Rate),
    /// Bytes a second.
    Bytes(u64),
}

/// One job as described: the contents of a `[section]` of a job file, with defaults
/// filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) mode: Mode,
    pub(super) block: [Block; 3],
    pub(super) align: [Option<u64>; 3],
    /// Sizes of a range need not be multiples of its least size.
    pub(super) unaligned: bool,
    /// The share of reads, from `rwmixread` or `rwmixwrite`.
    pub(super) read_percent: Option<u32>,
    pub(super) iodepth: Option<u32>,
    /// The engine returns from a request when it has ended.
    pub(super) synchronous: bool,
    pub(super) numjobs: u32,
    /// The file that the job names; jobs that name the same file share it.
    pub(super) filename: Option<String>,
    pub(super) filename_format: Option<String>,
    pub(super) directory: Option<String>,
    /// The length of the job's file, bytes.
    pub(super) filesize: Option<u64>,
    pub(super) size: Option<Extent>,
    pub(super) io_size: Option<Extent>,
    pub(super) offset: Extent,
    pub(super) offset_increment: Extent,
    pub(super) distribution: Distribution,
    pub(super) norandommap: bool,
    /// Jobs with this have their hot blocks at the same places, if their regions and blocks are the same.
    pub(super) one_hot_set: bool,
    pub(super) percentage_random: [u32; 3],
    pub(super) rate_iops: [Option<Rate>; 3],
    pub(super) rate: [Option<u64>; 3],
    pub(super) poisson: bool,
    pub(super) offload: bool,
    /// Start a paced schedule at a seeded random point within its first period.
    pub(super) random_phase: bool,
    pub(super) think_ns: u64,
    pub(super) think_blocks: u64,
    pub(super) number_ios: Option<u64>,
    pub(super) runtime_ns: Option<u64>,
    pub(super) time_based: bool,
    pub(super) ramp_ns: u64,
    /// The least and the greatest delay before the job begins.
    pub(super) start_delay_ns: (u64, u64),
    /// This job and the jobs after it begin when all jobs before them have ended.
    pub(super) stonewall: bool,
    /// This job begins a group of the report.
    pub(super) new_group: bool,
    /// The job is reported together with those before it in its group.
    pub(super) group_reporting: bool,
    /// The same offset is used for the requests of a run, instead of offsets in order.
    pub(super) identical_runs: bool,
    /// The value of `verify`, unless it is off, and of `do_verify`.
    pub(super) verify: Option<String>,
    pub(super) do_verify: bool,
    pub(super) loops: u64,
    pub(super) randseed: Option<u64>,
    /// `sync`: every write is durable when it ends.
    pub(super) durable_writes: bool,
    /// `writefua`: the same, asked of the drive directly.
    pub(super) forces_unit_access: bool,
    pub(super) fsync: u64,
    pub(super) end_fsync: bool,
}

impl JobSpec {
    /// When a clone begins, ns: at a seeded random point of the range.
    pub(super) fn start_ns(&self, seed: u64, id: u64) -> u64 {
        let (least, most) = self.start_delay_ns;
        match most - least {
            0 => least,
            spread => least + Stream::new(self.randseed.unwrap_or(seed), "job.start", id).below(spread),
        }
    }

    /// A job with fio's defaults: `rw=read`, `bs=4k`, depth 1, the whole capacity once.
    pub(super) fn new(name: &str, place: Place) -> JobSpec {
        JobSpec {
            name: name.to_string(),
            place,
            mode: Mode { uses: [true, false, false], random: false, step: 0 },
            block: [Block::Fixed(4096), Block::Fixed(4096), Block::Fixed(4096)],
            align: [None; 3],
            unaligned: false,
            read_percent: None,
            iodepth: None,
            synchronous: false,
            numjobs: 1,
            filename: None,
            filename_format: None,
            directory: None,
            filesize: None,
            size: None,
            io_size: None,
            offset: Extent::Bytes(0),
            offset_increment: Extent::Bytes(0),
            distribution: Distribution::Uniform,
            norandommap: false,
            one_hot_set: false,
            percentage_random: [100; 3],
            rate_iops: [None; 3],
            rate: [None; 3],
            poisson: false,
            offload: false,
            random_phase: false,
            think_ns: 0,
            think_blocks: 1,
            number_ios: None,
            runtime_ns: None,
            time_based: false,
            ramp_ns: 0,
            start_delay_ns: (0, 0),
            stonewall: false,
            new_group: false,
            group_reporting: false,
            identical_runs: false,
            verify: None,
            do_verify: true,
            loops: 1,
            randseed: None,
            durable_writes: false,
            forces_unit_access: false,
            fsync: 0,
            end_fsync: false,
        }
    }

    /// The job's name, before clones get a suffix.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many clones of the job run.
    pub fn clones(&self) -> u32 {
        self.numjobs
    }

    /// The most requests that the job keeps outstanding (`u32::MAX`: unbounded). A thread for
    /// submission (`io_submit_mode=offload`) lets a synchronous engine keep several.
    pub(super) fn depth(&self) -> u32 {
        match self.iodepth {
            _ if self.synchronous && !self.offload => 1,
            Some(depth) => depth,
            None if self.open_loop() => u32::MAX,
            None => 1,
        }
    }

    /// The rate of a direction, if any: `rate` takes precedence over `rate_iops`, as in
    /// fio.
    pub(super) fn limit(&self, direction: usize) -> Option<Limit> {
        let bytes = self.rate[direction].map(Limit::Bytes);
        bytes.or(self.rate_iops[direction].map(Limit::Requests))
    }

    /// The rate of a direction in requests a second; `None` without a rate.
    pub(super) fn paced_iops(&self, direction: usize) -> Option<f64> {
        self.limit(direction).map(|limit| match limit {
            Limit::Requests(rate) => rate.per_second_f64(),
            Limit::Bytes(bytes) => bytes as f64 / self.block[direction].mean(),
        })
    }

    /// Whether a direction in use has a rate.
    pub(super) fn has_rate(&self) -> bool {
        self.directions().any(|d| self.limit(d).is_some())
    }

    /// Multiply all rates, to a thousandth of a request and to a byte a second.
    pub(super) fn multiply_rates(&mut self, factor: f64) {
        for rate in self.rate_iops.iter_mut().flatten() {
            let thousandths = rate.per_second_f64() * factor * 1000.0;
            *rate = Rate { per_second: (thousandths.round() as u64).max(1), scale: 1000 };
        }
        for bytes in self.rate.iter_mut().flatten() {
            *bytes = ((*bytes as f64 * factor) as u64).clamp(1, 1 << 60);
        }
    }

    /// The directions in use.
    pub(super) fn directions(&self) -> impl Iterator<Item = usize> + '_ {
        (0..3).filter(|d| self.mode.uses[*d])
    }

    /// Whether every direction in use has a rate.
    pub(super) fn fully_paced(&self) -> bool {
        self.directions().all(|d| self.limit(d).is_some())
    }

    /// Whether arrivals do not wait for the drive.
    pub(super) fn open_loop(&self) -> bool {
        (self.poisson || self.offload) && self.fully_paced()
    }

    /// The expected shares of requests by direction.
    pub(super) fn shares(&self) -> [f64; 3] {
        let mut shares = [0.0; 3];
        if self.mode.uses == [true, true, false] {
            shares[READ] = f64::from(self.read_percent.unwrap_or(50)) / 100.0;
            if self.fully_paced() {
                let reads = self.paced_iops(READ).unwrap_or(0.0);
                shares[READ] = reads / (reads + self.paced_iops(WRITE).unwrap_or(1.0));
            }
            shares[WRITE] = 1.0 - shares[READ];
        } else {
            for direction in self.directions() {
                shares[direction] = 1.0;
            }
        }
        shares
    }

    /// The block size that all directions in use share, if there is one.
    pub(super) fn single_block(&self) -> Option<u32> {
        let mut sizes = self.directions().map(|d| match &self.block[d] {
            Block::Fixed(bytes) => Some(*bytes),
            _ => None,
        });
        let first = sizes.next()??;
        sizes.all(|s| s == Some(first)).then_some(first)
    }

    /// The alignment of a direction in bytes: offsets are multiples of it, from the job's
    /// first byte.
    pub(super) fn alignment(&self, direction: usize) -> u64 {
        self.align[direction].unwrap_or(u64::from(self.block[direction].least()))
    }

    /// Whether every block is accessed once before any repeats, as with fio's random map.
    pub(super) fn covers_each_block_once(&self) -> bool {
        self.mode.random
            && !self.norandommap
            && self.mode.step <= 1
            && self.distribution == Distribution::Uniform
            && self.directions().all(|d| self.percentage_random[d] == 100)
            && self
                .single_block()
                .is_some_and(|b| self.directions().all(|d| self.alignment(d) == u64::from(b)))
    }
}
