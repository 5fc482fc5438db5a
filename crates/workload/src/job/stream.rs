//! The issues of one job, one after another.

use super::pace::Schedule;
use super::permute::Pass;
use super::spec::{Block, JobSpec, READ, WRITE};
use super::spread::{Spread, share_of_u64};
use super::value::LONGEST_NS;
use crate::Issue;
use std::ops::Range;
use tailcut_units::{Command, HostOp, SimTime, Span, Stream};

const OPS: [HostOp; 3] = [HostOp::Read, HostOp::Write, HostOp::Trim];

/// Later than any time that a job may set: start, ramp and runtime together stay below
/// this.
const NO_END: u64 = LONGEST_NS * 4;

/// The issues of one job clone, in the order in which they are to be issued.
///
/// A job without a limit other than its runtime never returns `None` unless it is paced;
/// a paced job ends at its last due time before the end of the runtime.
#[derive(Clone, Debug)]
pub struct JobStream {
    choice: Choice,
    draws: Stream,
    sizes: [Sizes; 3],
    spreads: [Spread; 3],
    pass: Option<Pass>,
    percentage_random: [u32; 3],
    region: Range<u64>,
    align: [u64; 3],
    least: [u32; 3],
    /// The next byte of a sequential walk, relative to the region's start.
    position: [u64; 3],
    /// The last offset of each direction, relative to the region's start.
    last: [u64; 3],
    /// Bytes between the requests of a sequential walk.
    skip: i64,
    /// Requests at each random offset, and those left at the present one.
    run: u64,
    run_left: u64,
    identical: bool,
    requests_left: u64,
    bytes_left: u64,
    schedules: [Option<Schedule>; 3],
    earliest: u64,
    end: u64,
    think: u64,
    think_every: u64,
    until_think: u64,
    /// Writes have forced unit access.
    forces_unit_access: bool,
    fsync_every: u64,
    until_fsync: u64,
    flush_next: bool,
    flush_at_end: bool,
}

/// How the next direction is chosen.
#[derive(Clone, Copy, Debug)]
enum Choice {
    Only(usize),
    /// A read if a 64-bit draw is below this bound.
    Mix(u64),
    /// The one of reads and writes that is due first.
    ByDue,
}

/// How a request's size is drawn.
#[derive(Clone, Debug)]
enum Sizes {
    Fixed(u32),
    Range {
        least: u32,
        step: u32,
        count: u64,
    },
    /// (upper bound of the draws that choose the size, bytes).
    Split(Vec<(u64, u32)>),
}

/// The limits of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extents {
    pub requests: u64,
    pub bytes: u64,
}

/// What a stream is used for. Ageing and the run share their hot blocks but not their
/// draws. If the run repeated the last random pass of ageing, blocks would be invalidated
/// in the order in which they were filled, and collection would cost almost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Run,
    Ageing,
}

impl JobStream {
    /// The stream of `spec` over `region` (bytes of the drive), for the clone with the
    /// number `id` in the whole set.
    pub(super) fn new(
        spec: &JobSpec,
        region: Range<u64>,
        extents: Extents,
        seed: u64,
        id: u64,
        purpose: Purpose,
    ) -> JobStream {
        let seed = spec.randseed.unwrap_or(seed);
        let (order, request) = match purpose {
            Purpose::Run => ("job.pass", "job.request"),
            Purpose::Ageing => ("job.ageing.pass", "job.ageing.request"),
        };
        let keys = Stream::new(seed, "job.hot", if spec.one_hot_set { 0 } else { id });
        let size = region.end - region.start;
        let pass = spec.covers_each_block_once().then(|| {
            let block = spec.single_block().map_or(1, u64::from);
            Pass::new(size / block, Stream::new(seed, order, id))
        });
        let start = spec.start_ns(seed, id);
        let schedules = std::array::from_fn(|d| {
            let purpose = ["job.arrival.read", "job.arrival.write", "job.arrival.trim"][d];
            let used = spec.mode.uses[d].then(|| Stream::new(seed, purpose, id));
            used.and_then(|draws| Schedule::new(spec, d, start, draws))
        });
        let stop = spec.runtime_ns.map(|r| start + spec.ramp_ns + r);
        JobStream {
            choice: choice(spec),
            draws: Stream::new(seed, request, id),
            sizes: std::array::from_fn(|d| sizes(&spec.block[d])),
            spreads: std::array::from_fn(|d| {
                // A direction that is not used may have a block larger than the region.
                if spec.mode.uses[d] { Spread::new(spec, d, size, &keys) } else { Spread::Sequential }
            }),
            pass,
            percentage_random: spec.percentage_random,
            region,
            align: std::array::from_fn(|d| spec.alignment(d)),
            least: std::array::from_fn(|d| spec.block[d].least()),
            position: [0; 3],
            last: [0; 3],
            skip: if spec.mode.random { 0 } else { spec.mode.step },
            run: if spec.mode.random { spec.mode.step.unsigned_abs().max(1) } else { 1 },
            run_left: 0,
            identical: spec.identical_runs,
            requests_left: extents.requests,
            bytes_left: extents.bytes,
            schedules,
            earliest: start,
            end: stop.unwrap_or(NO_END),
            think: spec.think_ns,
            think_every: spec.think_blocks,
            until_think: spec.think_blocks,
            forces_unit_access: spec.durable_writes || spec.forces_unit_access,
            fsync_every: spec.fsync,
            until_fsync: spec.fsync,
            flush_next: false,
            flush_at_end: spec.end_fsync && spec.mode.uses[WRITE],
        }
    }

    #[inline]
    fn direction(&mut self) -> usize {
        match self.choice {
            Choice::Only(direction) => direction,
            Choice::Mix(reads) => usize::from(self.draws.next_u64() >= reads),
            Choice::ByDue => {
                let due = |d: usize| self.schedules[d].as_ref().map_or(0, |s| s.due);
                usize::from(due(WRITE) < due(READ))
            }
        }
    }

    #[inline]
    fn size(&mut self, direction: usize) -> u32 {
        let drawn = match &self.sizes[direction] {
            Sizes::Fixed(bytes) if self.bytes_left == u64::MAX => return *bytes,
            Sizes::Fixed(bytes) => *bytes,
            Sizes::Range { least, step, count } => {
                // Less than the largest block, so it fits 32 bits.
                *least + *step * self.draws.below(*count) as u32
            }
            Sizes::Split(entries) => {
                let draw = self.draws.next_u64();
                let entry = entries.iter().find(|e| draw < e.0).or(entries.last());
                entry.map_or(1, |e| e.1)
            }
        };
        self.clip(direction, drawn, self.bytes_left)
    }

    /// Cut a size to `room` bytes, in multiples of the least block.
    fn clip(&self, direction: usize, bytes: u32, room: u64) -> u32 {
        let least = self.least[direction];
        if u64::from(bytes) <= room {
            return bytes;
        }
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        room - room % least
    }

    /// Choose the offset from the region's start, and the size; a sequential walk cuts
    /// the size at the region's end.
    #[inline]
    fn spot(&mut self, direction: usize, bytes: u32) -> (u64, u32) {
        let size = self.region.end - self.region.start;
        if self.run_left > 0 {
            self.run_left -= 1;
            if self.identical {
                return (self.last[direction].min(size - u64::from(bytes)), bytes);
            }
            return self.walk(direction, bytes, size);
        }
        self.run_left = self.run - 1;
        let walks = matches!(self.spreads[direction], Spread::Sequential)
            || (self.percentage_random[direction] < 100
                && self.draws.below(100) >= u64::from(self.percentage_random[direction]));
        if walks {
            return self.walk(direction, bytes, size);
        }
        let align = self.align[direction];
        let slots = || (size - u64::from(bytes)) / align + 1;
        let slot = self.spreads[direction].draw(self.pass.as_mut(), &mut self.draws, slots);
        (slot * align, bytes)
    }

    fn walk(&mut self, direction: usize, bytes: u32, size: u64) -> (u64, u32) {
        let fixed = matches!(self.sizes[direction], Sizes::Fixed(_));
        let start = if self.skip < 0 { size.saturating_sub(self.skip.unsigned_abs()) } else { 0 };
        let at = match self.position[direction] {
            0 => start,
            position => position.checked_add_signed(self.skip).unwrap_or(size),
        };
        let cut = self.clip(direction, bytes, size - at.min(size));
        // As in fio, start over when no whole block is left.
        if cut == 0 || (fixed && cut < bytes) {
            return (start.min(size - u64::from(bytes)), bytes);
        }
        (at, cut)
    }

    fn flush(&self) -> Issue {
        Issue { earliest: SimTime(self.earliest), think: Span::ZERO, command: Command::FLUSH }
    }

    fn finish(&mut self) -> Option<Issue> {
        self.requests_left = 0;
        std::mem::take(&mut self.flush_at_end).then(|| self.flush())
    }

    #[inline]
    fn pause(&mut self) -> Span {
        if self.think == 0 {
            return Span::ZERO;
        }
        if self.until_think == 0 {
            self.until_think = self.think_every - 1;
            return Span(self.think);
        }
        self.until_think -= 1;
        Span::ZERO
    }
}

impl Iterator for JobStream {
    type Item = Issue;

    #[inline]
    fn next(&mut self) -> Option<Issue> {
        if self.flush_next {
            self.flush_next = false;
            return Some(self.flush());
        }
        if self.requests_left == 0 {
            return self.finish();
        }
        let direction = self.direction();
        let bytes = self.size(direction);
        if bytes == 0 {
            return self.finish();
        }
        if let Some(schedule) = &mut self.schedules[direction] {
            if schedule.due >= self.end {
                return self.finish();
            }
            self.earliest = self.earliest.max(schedule.due);
        }
        let (offset, bytes) = self.spot(direction, bytes);
        if let Some(schedule) = &mut self.schedules[direction] {
            schedule.advance(bytes);
        }
        self.last[direction] = offset;
        self.position[direction] = offset + u64::from(bytes);
        self.requests_left -= 1;
        if self.bytes_left != u64::MAX {
            self.bytes_left -= u64::from(bytes);
        }
        if direction == WRITE && self.fsync_every > 0 {
            self.until_fsync -= 1;
            if self.until_fsync == 0 {
                self.until_fsync = self.fsync_every;
                self.flush_next = true;
            }
        }
        Some(Issue {
            earliest: SimTime(self.earliest),
            think: self.pause(),
            command: Command {
                op: OPS[direction],
                offset: self.region.start + offset,
                bytes,
                fua: self.forces_unit_access && direction == WRITE,
            },
        })
    }
}

fn choice(spec: &JobSpec) -> Choice {
    if spec.mode.uses != [true, true, false] {
        return Choice::Only(spec.directions().next().unwrap_or(READ));
    }
    if spec.fully_paced() {
        return Choice::ByDue;
    }
    Choice::Mix(share_of_u64(u64::from(spec.read_percent.unwrap_or(50)) * 10_000))
}

fn sizes(block: &Block) -> Sizes {
    match block {
        Block::Fixed(bytes) => Sizes::Fixed(*bytes),
        Block::Range { least, most, step } => {
            Sizes::Range { least: *least, step: *step, count: u64::from((most - least) / step) + 1 }
        }
        Block::Split(entries) => {
            let mut sum = 0;
            let cumulated = entries.iter().map(|(bytes, ppm)| {
                sum += ppm;
                (share_of_u64(sum), *bytes)
            });
            Sizes::Split(cumulated.collect())
        }
    }
}
