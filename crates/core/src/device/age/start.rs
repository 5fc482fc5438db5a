//! The analytic start of an aged state: it places the mapping units where uniform overwrites would leave them, with the
//! numbers of valid units in extents that theory gives ([`super::steady`]). This takes a small part of the time of the
//! overwrites themselves.
//!
//! Units are first distributed to the lanes of their pool, one stretch of addresses at a time. Then each lane shuffles
//! its units in buckets that fit the processor's caches (Rao 1961, Sandelius 1962): a unit goes to a random bucket, and
//! then to a random position in that bucket. All random numbers are keyed by the lane or the stretch, so that the
//! result does not depend on the number of threads.

use super::steady::Steady;
use super::threads::on_threads;
use crate::address::{Lpn, Ppa};
use crate::containers::big::prefetch;
use crate::device::drive::Device;
use crate::ftl::extents::Extents;
use crate::ftl::map::Fill;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::policy::gc_schedule::SpaceView;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use tailcut_units::Stream;

/// Approximate number of units of a bucket: 128 KiB of addresses.
const BUCKET: u32 = 1 << 15;
/// Number of units of a stretch of addresses, which is distributed to lanes at once.
const STRETCH: u32 = 1 << 17;
/// Units between two calls of `progress`.
const SLICE: u32 = 1 << 18;
/// Entries of a bucket that are fetched before they are read: a cache line.
const AHEAD: usize = 16;
/// A lane with fewer extents than this, without the free and the open ones, is overwritten instead.
const EXTENTS_MIN: u32 = 8;
/// Largest share of valid units in closed extents. Above it, collections free too little for the theory to hold.
const VALID_MAX: f64 = 0.98;
/// Shares of valid units that differ by less than this use the same steady state.
const SAME: f64 = 1e-3;
/// A lane with more units would need much memory in addition to the map, and is overwritten instead.
const UNITS_MAX: u32 = 1 << 27;

/// The extents of one lane at the start.
pub(super) struct LaneStart {
    /// By extent of the lane: number of units written.
    written: Vec<u32>,
    valid: Vec<u32>,
    /// Closed extents, from the oldest to the youngest.
    closed: Vec<u32>,
    /// The open extents of the host and of collection, with their rows written.
    open: [(u32, u32); 2],
}

/// The part of the map that one lane changes.
struct Job<'a> {
    lane: u32,
    start: &'a LaneStart,
    reverse: &'a mut [u32],
    valid: &'a mut [u64],
}

/// Tables of one thread, used for one lane after the other.
#[derive(Default)]
struct Tables {
    /// By bucket: its start, and the position of its next unit.
    first: Vec<u32>,
    next: Vec<u32>,
    /// The units of each bucket, in the order of their addresses.
    units: Vec<u32>,
    places: Vec<u32>,
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// The extents of every lane after uniform overwrites of the filled units. `None` if the drive
    /// has a past already, or is of a kind whose steady state is not known.
    pub(super) fn plan_start(&self) -> Option<Vec<LaneStart>> {
        let layout = &self.shape.layout;
        let lane_units = layout.stride * layout.units_per_extent;
        let new = self.state.extents.erases == 0 && self.state.now == 0;
        // Lanes must not share a word of valid bits.
        let plain = self.shape.stripes.is_none() && self.shape.holes.is_none();
        if !new || !plain || !lane_units.is_multiple_of(64) || lane_units > UNITS_MAX {
            return None;
        }
        let mut steady: Option<(f64, Steady)> = None;
        let shares = self.shape.fill.units_by_lane(self.map.state.filled);
        (0..).zip(&shares).map(|(lane, &units)| self.plan_lane(lane, units, &mut steady)).collect()
    }

    /// The extents of a lane with `units` valid units. `last` is the steady state of another lane.
    fn plan_lane(&self, lane: u32, units: u32, last: &mut Option<(f64, Steady)>) -> Option<LaneStart> {
        let layout = &self.shape.layout;
        let (upe, upr, usable) =
            (layout.units_per_extent, layout.units_per_row, layout.usable[lane as usize]);
        let schedule = &self.state.policies.gc_schedule;
        let view = self.state.space(&self.shape, &self.flash, lane);
        let free = (0..=usable).find(|&free| !schedule.start(&SpaceView { free, ..view }))?;
        let count = usable.checked_sub(free.max(self.shape.reserve + 1) + 2).filter(|&n| n >= EXTENTS_MIN)?;
        // The lanes of a pool are written in turn, so that they open extents together.
        let pool = u64::from(self.shape.pool_of(lane));
        let seed = self.shape.context.seed;
        let host = Stream::new(seed, "start pool", pool).below(layout.rows_per_extent.into()) as u32;
        let mut stream = Stream::new(seed, "start extents", lane.into());
        let copies = stream.below(layout.rows_per_extent.into()) as u32;
        let total = units.checked_sub((host + copies) * upr)?;
        let share = f64::from(total) / (f64::from(count) * f64::from(upe));
        if !(1e-3..=VALID_MAX).contains(&share) {
            return None;
        }
        let steady = match last.take() {
            Some((of, steady)) if (of - share).abs() < SAME => (of, steady),
            _ => (share, Steady::new(self.state.policies.gc_victim.rule(), upe, share)),
        };
        let counts = last.insert(steady).1.counts(count, upe, total, &mut stream);
        // The order of the extents does not matter; the free ones come last.
        let mut order: Vec<u32> = (0..usable).collect();
        shuffle(&mut order, &mut stream);
        let mut start = LaneStart {
            written: vec![0; layout.stride as usize],
            valid: vec![0; layout.stride as usize],
            closed: order[..count as usize].to_vec(),
            open: [(order[count as usize], host), (order[count as usize + 1], copies)],
        };
        for (&extent, &valid) in start.closed.iter().zip(&counts) {
            (start.written[extent as usize], start.valid[extent as usize]) = (upe, valid);
        }
        for (extent, rows) in start.open {
            (start.written[extent as usize], start.valid[extent as usize]) = (rows * upr, rows * upr);
        }
        Some(start)
    }

    /// Bring the drive into the planned state. Returns false if `progress` stops it; the drive must then not be used.
    /// The result does not depend on `threads`.
    pub(super) fn start(
        &mut self,
        lanes: &[LaneStart],
        threads: usize,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> bool {
        self.map.reverse.access_in_order(true);
        let dealt = if self.shape.pool_lanes > 1 { 0.2 } else { 0.0 };
        if dealt > 0.0 && !self.deal(threads, &mut |part| progress(dealt * part)) {
            return false;
        }
        let mut within = |part: f64| progress(dealt + (1.0 - dealt) * part);
        let layout = &self.shape.layout;
        let lane_units = (layout.stride * layout.units_per_extent) as usize;
        let forward = self.map.forward.shared();
        let arrays = self.map.reverse.chunks_mut(lane_units).zip(self.map.valid.chunks_mut(lane_units / 64));
        let jobs = (0..).zip(lanes).zip(arrays);
        let jobs = jobs.map(|((lane, start), (reverse, valid))| Job { lane, start, reverse, valid });
        let (fill, dealt, upe) = (&self.shape.fill, self.shape.pool_lanes > 1, layout.units_per_extent);
        let seed = self.shape.context.seed;
        let whole = on_threads(threads, jobs.collect(), &mut within, &|job, tables, go| {
            place_lane(job, tables, (fill, dealt, upe, seed), forward, go)
        });
        if !whole {
            return false;
        }
        self.map.reverse.access_in_order(false);
        self.start_extents(lanes);
        self.data.adopted(&self.shape, &self.map, &self.state);
        true
    }

    /// Distribute the units of each stretch of addresses at random over the lanes of their pools, as many to each lane
    /// as the sequential fill has put there. The result is in the reverse map, at the addresses of the fill.
    fn deal(&mut self, threads: usize, progress: &mut dyn FnMut(f64) -> bool) -> bool {
        let filled = self.map.state.filled;
        let (placement, seed) = (&self.state.policies.placement, self.shape.context.seed);
        let (fill, reverse) = (&self.shape.fill, self.map.reverse.shared());
        let stretches: Vec<Range<u32>> = (0..filled)
            .step_by(STRETCH as usize)
            .map(|at| at..at.saturating_add(STRETCH).min(filled))
            .collect();
        on_threads(threads, stretches, progress, &|stretch, tables: &mut Tables, go| {
            let mut stream = Stream::new(seed, "start stretch", stretch.start.into());
            let (places, units) = (&mut tables.places, &mut tables.units);
            places.clear();
            places.extend(stretch);
            // A stable sort, so that units of one pool keep their order.
            places.sort_by_key(|&unit| placement.pool(Lpn(unit)));
            units.clone_from(places);
            let same = |a: &u32, b: &u32| placement.pool(Lpn(*a)) == placement.pool(Lpn(*b));
            units.chunk_by_mut(same).for_each(|units| shuffle(units, &mut stream));
            for (&place, &unit) in places.iter().zip(units.iter()) {
                reverse[fill.ppa(Lpn(place)).index()].store(unit + 1, Ordering::Relaxed);
            }
            go(1.0)
        })
    }

    /// Bring the extents and the counts of erases into the planned state. Extents close in turn over
    /// the lanes, and every extent was erased once before it was written.
    fn start_extents(&mut self, lanes: &[LaneStart]) {
        let layout = &self.shape.layout;
        self.state.extents = Extents::new(layout);
        let most = lanes.iter().map(|lane| lane.closed.len() as u64).max().unwrap_or(0);
        for (lane, start) in (0..).zip(lanes) {
            let count = start.closed.len() as u64;
            let serial = |i: u64| i * most / count.max(1) * u64::from(layout.lanes) + u64::from(lane);
            let closed = (0..).zip(&start.closed).map(|(i, &extent)| (extent, serial(i)));
            self.state.extents.take_lane(layout, lane, &start.valid, closed, start.open);
        }
        self.state.extents.serial = most * u64::from(layout.lanes);
        self.state.extents.erases = layout.usable.iter().map(|&n| u64::from(n)).sum();
        for lane in 0..self.shape.layout.lanes {
            for index in 0..self.shape.layout.usable[lane as usize] {
                self.shape.count_erases_of(
                    &mut self.flash,
                    &self.state.extents,
                    lane * self.shape.layout.stride + index,
                );
            }
        }
    }
}

/// Shuffle (Fisher and Yates).
pub(super) fn shuffle(items: &mut [u32], stream: &mut Stream) {
    for i in (1..items.len()).rev() {
        items.swap(i, stream.below(i as u64 + 1) as usize);
    }
}

/// Random numbers of buckets, several from each 64 random bits. The number of buckets is a power of two, at most 2^16.
#[derive(Clone)]
struct Draws {
    stream: Stream,
    bits: u64,
    left: u32,
    mask: u64,
}

impl Draws {
    fn new(stream: Stream, buckets: usize) -> Draws {
        Draws { stream, bits: 0, left: 0, mask: buckets as u64 - 1 }
    }

    #[inline]
    fn next(&mut self) -> usize {
        if self.left == 0 {
            (self.bits, self.left) = (self.stream.next_u64(), 4);
        }
        let bucket = (self.bits & self.mask) as usize;
        (self.bits, self.left) = (self.bits >> 16, self.left - 1);
        bucket
    }
}

/// Put the units of a lane into its extents. Returns false when stopped.
fn place_lane(
    job: Job<'_>,
    tables: &mut Tables,
    (fill, dealt, upe, seed): (&Fill, bool, u32, u64),
    forward: &[AtomicU32],
    progress: &mut dyn FnMut(f64) -> bool,
) -> bool {
    let Job { lane, start, reverse, valid } = job;
    let first = Ppa(lane * reverse.len() as u32);
    let units: u32 = start.valid.iter().sum();
    let buckets = units.div_ceil(BUCKET).next_power_of_two().min(1 << 16) as usize;
    let draws = Draws::new(Stream::new(seed, "start buckets", lane.into()), buckets);
    tables.count(units, buckets, draws.clone());
    let mut at = draws.clone();
    for i in 0..units {
        if i.is_multiple_of(SLICE) && !progress(0.4 * f64::from(i) / f64::from(units)) {
            return false;
        }
        let unit = if dealt { reverse[i as usize] - 1 } else { fill.lpn(first + i).0 };
        let to = &mut tables.next[at.next()];
        tables.units[*to as usize] = unit;
        *to += 1;
    }
    valid.fill(0);
    let mut stream = Stream::new(seed, "start places", lane.into());
    let mut places = Places::new(start, upe);
    for bucket in 0..buckets {
        if !progress(0.4 + 0.4 * bucket as f64 / buckets as f64) {
            return false;
        }
        let range = tables.first[bucket] as usize..tables.first[bucket + 1] as usize;
        let own = &mut tables.places[range.clone()];
        places.choose(own, valid, &mut stream);
        shuffle(own, &mut stream);
        for (&place, &unit) in own.iter().zip(&tables.units[range]) {
            reverse[place as usize] = unit + 1;
        }
    }
    let (next, first_of) = (&mut tables.next, &tables.first);
    next.copy_from_slice(&first_of[..buckets]);
    let mut at = draws;
    for i in 0..units {
        if i.is_multiple_of(SLICE) && !progress(0.8 + 0.2 * f64::from(i) / f64::from(units)) {
            return false;
        }
        let from = &mut next[at.next()];
        let index = *from as usize;
        if index.is_multiple_of(AHEAD) {
            prefetch(&tables.units, index + AHEAD);
            prefetch(&tables.places, index + AHEAD);
        }
        let (unit, place) = (tables.units[index], tables.places[index]);
        *from += 1;
        forward[unit as usize].store(first.0 + place + 1, Ordering::Relaxed);
    }
    true
}

impl Tables {
    /// Size the tables for a lane, and compute the starts of its buckets.
    fn count(&mut self, units: u32, buckets: usize, mut draws: Draws) {
        self.units.resize(units as usize, 0);
        self.places.resize(units as usize, 0);
        self.first.clear();
        self.first.resize(buckets + 1, 0);
        for _ in 0..units {
            self.first[draws.next() + 1] += 1;
        }
        for bucket in 0..buckets {
            self.first[bucket + 1] += self.first[bucket];
        }
        self.next.clear();
        self.next.extend(&self.first[..buckets]);
    }
}

/// The positions of a lane's valid units, in order. In each extent, all choices among the written positions are equally
/// likely (selection sampling).
struct Places<'a> {
    start: &'a LaneStart,
    upe: u32,
    extent: usize,
    offset: u32,
    /// Valid units of the extent that are still to be placed.
    left: u32,
}

impl Places<'_> {
    fn new(start: &LaneStart, upe: u32) -> Places<'_> {
        Places { start, upe, extent: 0, offset: 0, left: start.valid.first().copied().unwrap_or(0) }
    }

    /// Write the next positions to `to`, and set their valid bits.
    fn choose(&mut self, to: &mut [u32], valid: &mut [u64], stream: &mut Stream) {
        let mut done = 0;
        while done < to.len() {
            if self.left == 0 {
                self.extent += 1;
                (self.offset, self.left) = (0, self.start.valid[self.extent]);
                continue;
            }
            let place = self.extent as u32 * self.upe + self.offset;
            let chosen =
                stream.below((self.start.written[self.extent] - self.offset).into()) < self.left.into();
            to[done] = place;
            valid[place as usize / 64] |= u64::from(chosen) << (place % 64);
            done += usize::from(chosen);
            self.left -= u32::from(chosen);
            self.offset += 1;
        }
    }
}
