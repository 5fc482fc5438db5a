//! Jobs opened on a drive: regions, limits, streams, and a summary of their writes for
//! ageing.

use super::error::{JobError, Problem, Warning};
use super::files;
use super::spec::{Block, Distribution, JobSpec, READ, TRIM, WRITE};
use super::stream::{Extents, JobStream, Purpose};
use super::value::Extent;
use crate::{Issue, JobInfo};
use std::ops::Range;
use tailcut_units::Span;

/// The kind of the jobs' writes, for ageing a drive without replaying them. Trims do not
/// age a drive and are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overwrites {
    /// No job writes.
    None,
    /// All writes are uniform random over the same region, each of the same size and
    /// aligned to that size. A random map counts as uniform: each pass has a new order,
    /// and every block is overwritten equally often.
    Uniform {
        /// The range of the drive that is written, in bytes: a whole number of blocks.
        region: Range<u64>,
        /// The block size, in bytes.
        bytes: u32,
    },
    /// Any other writes: take them from [`JobSet::overwrite_stream`].
    ///
    /// [`JobSet::overwrite_stream`]: super::JobSet::overwrite_stream
    Replay,
}

/// Jobs opened on a host capacity and a seed, with their clones unfolded.
#[derive(Clone, Debug)]
pub struct OpenJobs {
    pub(super) clones: Vec<OpenClone>,
    warnings: Vec<Warning>,
}

#[derive(Clone, Debug)]
pub(super) struct OpenClone {
    info: JobInfo,
    stream: JobStream,
    pub region: Range<u64>,
    writes: Writes,
    expected: Option<u64>,
    iops: Option<f64>,
    pub shares: [f64; 3],
}

/// The writes of one clone.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Writes {
    None,
    Uniform { region: Range<u64>, bytes: u32 },
    Other,
}

impl OpenJobs {
    pub(super) fn new(specs: &[JobSpec], capacity: u64, seed: u64) -> Result<OpenJobs, JobError> {
        let mut open = OpenJobs { clones: Vec::new(), warnings: Vec::new() };
        let places = files::lay_out(specs, capacity)?;
        let several = places.iter().map(Vec::len).sum::<usize>() > 1;
        let (mut group, mut row) = (0, 0);
        for (spec, places) in specs.iter().zip(places) {
            group += u32::from(spec.stonewall);
            if several && files::is_placed_by_offset(spec) {
                let text = "without `filename`, `offset` counts from the start of the drive; in fio it counts in a \
                            file of the job's own";
                open.warnings.push(Warning { place: spec.place.clone(), text: text.to_string() });
            }
            for (number, place) in (0..).zip(places) {
                let region = region(spec, capacity, &place, number)?;
                if number == 0 {
                    open.warn(spec, &place, &region);
                }
                let id = open.clones.len() as u64;
                let begins = number == 0 && (spec.stonewall || spec.new_group);
                row += u32::from(id > 0 && (begins || !spec.group_reporting));
                open.clones.push(open_clone(spec, &place, region, number, (seed, id), (group, row))?);
            }
        }
        Ok(open)
    }

    /// The jobs, in the order of their indices.
    pub fn jobs(&self) -> Vec<JobInfo> {
        self.clones.iter().map(|c| c.info.clone()).collect()
    }

    /// Return the next issue of a job; `None` once the job has ended.
    ///
    /// # Panics
    /// If there is no such job.
    #[inline]
    pub fn next(&mut self, job: usize) -> Option<Issue> {
        self.clones[job].stream.next()
    }

    /// Problems found while opening that do not stop the run.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// How many reads, writes and trims all jobs will make. Exact where a count or a
    /// fixed block size decides it; the mean where sizes or arrivals are drawn; `None`
    /// where it depends on the drive's speed.
    pub fn expected_requests(&self) -> Option<u64> {
        self.clones.iter().try_fold(0u64, |sum, c| Some(sum.saturating_add(c.expected?)))
    }

    /// The range of bytes of the drive that the jobs can touch: from the first byte of
    /// any job to the last.
    pub fn region(&self) -> Range<u64> {
        let start = self.clones.iter().map(|c| c.region.start).min().unwrap_or(0);
        let end = self.clones.iter().map(|c| c.region.end).max().unwrap_or(0);
        start..end
    }

    /// The expected share of reads among reads and writes; 0 if there are neither. Jobs
    /// are weighted by their requests if known, else by their rates, else by their
    /// depths.
    pub fn read_fraction(&self) -> f64 {
        let mut sums = [0.0; 3];
        for (clone, weight) in self.clones.iter().zip(self.weights()) {
            for (sum, share) in sums.iter_mut().zip(clone.shares) {
                *sum += weight * share;
            }
        }
        let both = sums[READ] + sums[WRITE];
        if both > 0.0 { sums[READ] / both } else { 0.0 }
    }

    /// The weight of each clone among the requests of all clones.
    pub(super) fn weights(&self) -> Vec<f64> {
        let all = |of: fn(&OpenClone) -> Option<f64>| self.clones.iter().map(of).collect();
        let counts: Option<Vec<f64>> = all(|c| c.expected.map(|n| n as f64));
        let rates: Option<Vec<f64>> = all(|c| c.iops);
        let depths = || self.clones.iter().map(|c| f64::from(c.info.depth)).collect();
        counts.or(rates).unwrap_or_else(depths)
    }

    /// Whether any job writes or trims.
    pub fn changes_data(&self) -> bool {
        self.clones.iter().any(|c| c.shares[WRITE] + c.shares[TRIM] > 0.0)
    }

    /// The kind of the jobs' writes, for ageing.
    pub fn overwrites(&self) -> Overwrites {
        let mut kinds = self.clones.iter().map(|c| &c.writes).filter(|w| **w != Writes::None);
        match kinds.next() {
            None => Overwrites::None,
            Some(first @ Writes::Uniform { region, bytes }) if kinds.all(|w| w == first) => {
                Overwrites::Uniform { region: region.clone(), bytes: *bytes }
            }
            Some(_) => Overwrites::Replay,
        }
    }

    fn warn(&mut self, spec: &JobSpec, place: &Range<u64>, region: &Range<u64>) {
        let mut say = |text: String| {
            self.warnings.push(Warning { place: spec.place.clone(), text });
        };
        let size = region.end - region.start;
        if let Some(Extent::Bytes(bytes)) = spec.size
            && bytes > place.end - region.start
        {
            let of = if spec.filesize.is_some() { "file" } else { "drive" };
            say(format!("`size` is cut to {size} bytes, up to the end of the {of}, as in fio"));
        }
        let pass = expected_by_bytes(spec, size.saturating_mul(spec.loops));
        if let (Some(asked), None, false) = (spec.number_ios, spec.io_size, spec.time_based)
            && asked > pass
        {
            say(format!(
                "`number_ios={asked}` takes more than one pass: fio would stop after `size`, \
                 {pass} requests; give io_size to stop there"
            ));
        }
    }
}

fn does_not_fit(spec: &JobSpec, option: &'static str, why: String, capacity: u64) -> JobError {
    JobError::new(spec.place.clone(), Problem::DoesNotFit { option, why, capacity })
}

/// The range of bytes that clone `number` may touch, of those in `place`: a multiple of the smallest
/// block, as in fio.
fn region(spec: &JobSpec, capacity: u64, place: &Range<u64>, number: u32) -> Result<Range<u64>, JobError> {
    let room = place.end - place.start;
    let fail = |option, why| Err(does_not_fit(spec, option, why, capacity));
    let least = spec.directions().map(|d| u64::from(spec.block[d].least())).min().unwrap_or(1);
    let most = spec.directions().map(|d| u64::from(spec.block[d].most())).max().unwrap_or(1);
    // A percentage is rounded up to a block, so that requests stay aligned.
    let aligned = |extent: Extent| match extent {
        Extent::Bytes(bytes) => bytes,
        share => share.bytes_of(room).div_ceil(least).saturating_mul(least),
    };
    let step = aligned(spec.offset_increment).checked_mul(u64::from(number));
    let start = step.and_then(|step| step.checked_add(aligned(spec.offset)));
    let Some(start) = start.filter(|start| *start < room) else {
        let option = if number == 0 { "offset" } else { "offset_increment" };
        let end = if room == capacity { "drive" } else { "file" };
        return fail(option, format!("clone {number} of the job would start beyond the {end}"));
    };
    let there = room - start;
    let size = spec.size.map_or(there, |size| size.bytes_of(room).min(there));
    let size = size - size % least;
    if size < most {
        return fail("size", format!("{size} bytes from the offset on are less than one block of {most}"));
    }
    let start = place.start + start;
    Ok(start..start + size)
}

fn mean_block(spec: &JobSpec) -> f64 {
    let shares = spec.shares();
    spec.directions().map(|d| shares[d] * spec.block[d].mean()).sum()
}

fn expected_by_bytes(spec: &JobSpec, bytes: u64) -> u64 {
    match spec.single_block() {
        Some(block) => bytes / u64::from(block),
        None => (bytes as f64 / mean_block(spec)) as u64,
    }
}

/// How many requests or bytes the job transfers. fio ends a job after `size` bytes
/// (`io_size` if given).
fn extents(spec: &JobSpec, capacity: u64, size: u64) -> Result<Extents, JobError> {
    let requests = spec.number_ios.unwrap_or(u64::MAX);
    let counted = spec.number_ios.is_some() && spec.io_size.is_none();
    if spec.time_based || counted {
        return Ok(Extents { requests, bytes: u64::MAX });
    }
    let once = spec.io_size.map_or(size, |io_size| io_size.bytes_of(capacity));
    let bytes = once.saturating_mul(spec.loops);
    let least = spec.directions().map(|d| u64::from(spec.block[d].least())).min().unwrap_or(1);
    if bytes < least {
        let why = format!("{bytes} bytes are less than one block of {least}");
        return Err(does_not_fit(spec, "io_size", why, capacity));
    }
    Ok(match spec.single_block() {
        Some(block) => Extents { requests: requests.min(bytes / u64::from(block)), bytes: u64::MAX },
        None => Extents { requests, bytes },
    })
}

fn expected(spec: &JobSpec, extents: Extents, iops: Option<f64>) -> Option<u64> {
    let mut count = extents.requests;
    if extents.bytes != u64::MAX {
        count = count.min(expected_by_bytes(spec, extents.bytes));
    }
    let timed = match spec.runtime_ns {
        Some(runtime) => Some(iops? * ((runtime + spec.ramp_ns) as f64 / 1e9)),
        None => None,
    };
    match timed {
        Some(timed) => Some(count.min(timed as u64)),
        None => (count != u64::MAX).then_some(count),
    }
}

fn writes(spec: &JobSpec, region: &Range<u64>) -> Writes {
    if !spec.mode.uses[WRITE] {
        return Writes::None;
    }
    let uniform = spec.mode.random
        && spec.mode.step <= 1
        && spec.distribution == Distribution::Uniform
        && spec.percentage_random[WRITE] == 100;
    match &spec.block[WRITE] {
        Block::Fixed(bytes) if uniform && spec.alignment(WRITE) == u64::from(*bytes) => {
            // A tail shorter than a block is never written.
            let size = region.end - region.start;
            let end = region.start + (size - size % u64::from(*bytes));
            Writes::Uniform { region: region.start..end, bytes: *bytes }
        }
        _ => Writes::Other,
    }
}

fn open_clone(
    spec: &JobSpec,
    place: &Range<u64>,
    region: Range<u64>,
    number: u32,
    (seed, id): (u64, u64),
    (group, row): (u32, u32),
) -> Result<OpenClone, JobError> {
    let extents = extents(spec, place.end - place.start, region.end - region.start)?;
    let open_loop = spec.open_loop();
    let iops = spec.fully_paced().then(|| spec.directions().filter_map(|d| spec.paced_iops(d)).sum());
    let start = spec.start_ns(seed, id);
    let before = start + spec.ramp_ns;
    let name = match spec.numjobs {
        1 => spec.name.clone(),
        _ => format!("{}.{number}", spec.name),
    };
    Ok(OpenClone {
        info: JobInfo {
            name,
            depth: spec.depth(),
            open_loop,
            runtime: spec.runtime_ns.map(|runtime| Span(before + runtime)),
            // A job that starts late is measured from its start.
            ramp: Span(before),
            group,
            row,
            asked: std::array::from_fn(|d| spec.mode.uses[d].then(|| spec.paced_iops(d)).flatten()),
            start: Span(start),
        },
        stream: JobStream::new(spec, region.clone(), extents, seed, id, Purpose::Run),
        writes: writes(spec, &region),
        expected: expected(spec, extents, iops),
        iops,
        shares: spec.shares(),
        region,
    })
}
