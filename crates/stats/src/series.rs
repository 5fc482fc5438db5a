//! Series: figures by interval of virtual time.
//!
//! One pass gives two resolutions. The *coarse* series has at most [`COARSE`] intervals over the
//! whole run; their length doubles as the run grows. It goes into the summary. The *fine* series
//! has intervals of a length that the user gives, and is drained as it grows.

use crate::bucket;
use crate::percentile;
use serde::{Deserialize, Serialize};
use tailcut_units::{HostOp, SimTime, Span};

const BITS: u32 = 6;

/// Bits of the buckets in which a coarse interval counts its latencies: four buckets an octave.
pub const COUNT_BITS: u32 = 2;
const BUCKETS: usize = bucket::count::<BITS>();

/// The most intervals of the coarse series.
pub const COARSE: usize = 200;

/// The state of the device at one time. Counters count from the start of measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gauges {
    /// Free blocks of the drive.
    pub free_blocks: u64,
    /// Filled part of the write buffer, 0 to 1.
    pub buffer_fill: f64,
    /// Share of the write buffer that users may have, where a rate limiter sets it.
    pub user_limit: Option<f64>,
    /// Host commands in the device.
    pub queue_depth: u64,
    /// Collections finished.
    pub collections: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Mapping units programmed for the host.
    pub programs_user: u64,
    /// All mapping units programmed.
    pub programs_total: u64,
    /// Time to which the two fields below count, ns.
    pub used_until_ns: u64,
    /// Time in use, mean over the dies, ns.
    pub dies_used_ns: f64,
    /// Time in use, mean over the channels, ns.
    pub channels_used_ns: f64,
}

/// One kind of request in one interval. Percentiles are accurate to 1.6 %.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IntervalSide {
    /// Requests completed.
    pub requests: u64,
    /// Requests per second.
    pub iops: f64,
    /// Mean latency in ns; 0 if there was no request. The same holds for the fields below.
    pub mean_ns: f64,
    /// Median in ns.
    pub p50_ns: u64,
    /// 99th percentile in ns.
    pub p99_ns: u64,
    /// 99.9th percentile in ns.
    pub p999_ns: u64,
    /// Longest latency in ns, exact.
    pub max_ns: u64,
}

/// The latencies of one kind of request in one interval, counted in buckets of [`COUNT_BITS`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencyCounts {
    /// The first bucket with a request; 0 if there was none.
    pub from: usize,
    /// Requests by bucket, from `from` to the last bucket with a request.
    pub counts: Vec<u64>,
}

impl LatencyCounts {
    /// Folds finer buckets, of [`BITS`].
    fn of(fine: &[u32]) -> LatencyCounts {
        let mut counts = LatencyCounts::default();
        for (i, &count) in fine.iter().enumerate().filter(|(_, count)| **count > 0) {
            let bucket = bucket::index::<COUNT_BITS>(bucket::lowest::<BITS>(i));
            if counts.counts.is_empty() {
                counts.from = bucket;
            }
            counts.counts.resize(bucket - counts.from + 1, 0);
            counts.counts[bucket - counts.from] += u64::from(count);
        }
        counts
    }
}

/// Collection by plane group in one interval, for a drive with parity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupsCollecting {
    /// The most planes of one group that collected at the same time in the interval.
    pub most_in_group: u64,
    /// Groups with a collecting plane at the end of the interval.
    pub groups_collecting: u64,
    /// By group: collecting planes, averaged over the interval.
    pub planes: Vec<f64>,
}

/// One interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Start of the interval in ns from the start of measurement.
    pub at_ns: u64,
    /// Length of the interval in ns; the last interval of a run may be shorter than the others.
    pub length_ns: u64,
    /// Requests completed in the interval by kind, in the order of [`HostOp::ALL`].
    pub sides: [IntervalSide; HostOp::COUNT],
    /// Their latencies, in the same order; empty in a fine interval.
    pub latencies: [LatencyCounts; HostOp::COUNT],
    /// The last state of the device reported in the interval.
    pub gauges: Option<Gauges>,
    /// The collections by plane group, if they were reported.
    pub groups: Option<GroupsCollecting>,
}

impl Interval {
    /// Requests of one kind.
    pub fn side(&self, op: HostOp) -> &IntervalSide {
        &self.sides[op as usize]
    }
}

/// The reports on plane groups in one interval.
#[derive(Clone, Debug, Default)]
struct Groups {
    most: u64,
    /// Groups that collect, from the last report; `None` if there was none.
    collecting: Option<u64>,
    /// By group: time of its planes' collections, ns.
    plane_ns: Vec<u64>,
}

impl Groups {
    fn add(&mut self, most: u64, collecting: u64, plane_ns: impl Iterator<Item = u64>) {
        self.most = self.most.max(most);
        self.collecting = Some(collecting);
        for (group, ns) in plane_ns.enumerate() {
            match self.plane_ns.get_mut(group) {
                Some(sum) => *sum += ns,
                None => self.plane_ns.push(ns),
            }
        }
    }

    fn merge(&mut self, later: &Groups) {
        if let Some(collecting) = later.collecting {
            self.add(later.most, collecting, later.plane_ns.iter().copied());
        }
    }

    fn clear(&mut self) {
        (self.most, self.collecting) = (0, None);
        self.plane_ns.fill(0);
    }

    fn interval(&self, length_ns: u64) -> Option<GroupsCollecting> {
        let mean = |&ns: &u64| ns as f64 / length_ns.max(1) as f64;
        self.collecting.map(|collecting| GroupsCollecting {
            most_in_group: self.most,
            groups_collecting: collecting,
            planes: self.plane_ns.iter().map(mean).collect(),
        })
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    requests: u64,
    total: u64,
    max: u64,
}

impl Sums {
    fn merge(&mut self, other: Sums) {
        self.requests += other.requests;
        self.total += other.total;
        self.max = self.max.max(other.max);
    }
}

/// Sums and histograms by kind of request in one interval.
#[derive(Clone, Debug, Default)]
struct Slot {
    sums: [Sums; HostOp::COUNT],
    gauges: Option<Gauges>,
    groups: Groups,
    /// None before the first request of the kind.
    counts: [Vec<u32>; HostOp::COUNT],
}

impl Slot {
    fn is_empty(&self) -> bool {
        self.sums.iter().all(|s| s.requests == 0) && self.gauges.is_none() && self.groups.collecting.is_none()
    }

    fn clear(&mut self) {
        self.sums = Default::default();
        self.gauges = None;
        self.groups.clear();
        self.counts.iter_mut().for_each(|counts| counts.fill(0));
    }

    /// Add a later interval.
    fn merge(&mut self, later: &Slot) {
        if later.is_empty() {
            return;
        }
        for (sums, more) in self.sums.iter_mut().zip(later.sums) {
            sums.merge(more);
        }
        self.gauges = later.gauges.or(self.gauges);
        self.groups.merge(&later.groups);
        for (counts, more) in self.counts.iter_mut().zip(&later.counts) {
            counts.resize(counts.len().max(more.len()), 0);
            counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        }
    }

    fn interval(&self, at_ns: u64, length_ns: u64) -> Interval {
        Interval {
            at_ns,
            length_ns,
            sides: HostOp::ALL.map(|op| self.side(op, length_ns)),
            latencies: Default::default(),
            gauges: self.gauges,
            groups: self.groups.interval(length_ns),
        }
    }

    fn side(&self, op: HostOp, length_ns: u64) -> IntervalSide {
        let sums = self.sums[op as usize];
        if sums.requests == 0 {
            return IntervalSide::default();
        }
        IntervalSide {
            requests: sums.requests,
            iops: sums.requests as f64 * 1e9 / length_ns.max(1) as f64,
            mean_ns: sums.total as f64 / sums.requests as f64,
            p50_ns: self.percentile(op, 50.0),
            p99_ns: self.percentile(op, 99.0),
            p999_ns: self.percentile(op, 99.9),
            max_ns: sums.max,
        }
    }

    fn percentile(&self, op: HostOp, percent: f64) -> u64 {
        let sums = self.sums[op as usize];
        let rank = percentile::rank(percent, sums.requests);
        let mut seen = 0;
        let bucket = self.counts[op as usize]
            .iter()
            .position(|&count| {
                seen += u64::from(count);
                seen >= rank
            })
            .expect("a rank is at most the number of requests");
        (bucket::lowest::<BITS>(bucket + 1) - 1).min(sums.max)
    }
}

/// Give a kind of request its histogram.
#[cold]
#[inline(never)]
fn allocate(counts: &mut Vec<u32>) {
    counts.resize(BUCKETS, 0);
}

/// Collects the series of one run.
#[derive(Clone, Debug)]
pub struct Series {
    origin: u64,
    /// Length of the coarse intervals, ns.
    coarse_ns: u64,
    /// Length of the fine intervals, ns, if there is a fine series.
    fine_ns: Option<u64>,
    /// Start and end of the interval being filled, ns of virtual time.
    from: u64,
    until: u64,
    current: Slot,
    coarse: Vec<Slot>,
    fine: Vec<Interval>,
}

impl Series {
    /// A series that starts at `origin`. The first length of coarse intervals is `coarse`, or
    /// `fine` if there are fine intervals, so that each coarse interval holds whole fine ones.
    pub fn new(origin: SimTime, coarse: Span, fine: Option<Span>) -> Series {
        let fine_ns = fine.map(|f| f.0.max(1));
        let coarse_ns = fine_ns.unwrap_or(coarse.0.max(1));
        Series {
            origin: origin.0,
            coarse_ns,
            fine_ns,
            from: origin.0,
            until: origin.0.saturating_add(coarse_ns),
            current: Slot::default(),
            coarse: Vec::with_capacity(COARSE),
            fine: Vec::new(),
        }
    }

    /// Add a request that completed at `at` after `ns`. Times do not go back by more than an
    /// interval. A time before the interval being filled counts in that interval.
    #[inline]
    pub fn record(&mut self, at: SimTime, op: HostOp, ns: u64) {
        if at.0 >= self.until {
            self.roll(at.0);
        }
        let bucket = bucket::index::<BITS>(ns.min(bucket::LONGEST));
        let counts = &mut self.current.counts[op as usize];
        if bucket >= counts.len() {
            allocate(counts);
        }
        counts[bucket] += 1;
        let sums = &mut self.current.sums[op as usize];
        sums.requests += 1;
        sums.total += ns;
        sums.max = sums.max.max(ns);
    }

    /// Report the state of the device. The series shows the last state reported in each interval.
    pub fn gauge(&mut self, at: SimTime, gauges: &Gauges) {
        if at.0 >= self.until {
            self.roll(at.0);
        }
        self.current.gauges = Some(*gauges);
    }

    /// Report the collections of plane groups since the last report, which must lie in the interval
    /// being filled: the most planes of one group that collected at once (`most`), the groups that
    /// collect now (`collecting`), and by group the time of the collections of its planes, ns
    /// (`plane_ns`).
    pub fn groups(&mut self, most: u64, collecting: u64, plane_ns: impl Iterator<Item = u64>) {
        self.current.groups.add(most, collecting, plane_ns);
    }

    /// The end of the interval being filled. The next gauge should be reported before it.
    pub fn interval_end(&self) -> SimTime {
        SimTime(self.until)
    }

    /// Pass the fine intervals finished since the last call to `each`, in order. Intervals without
    /// completions and reports are left out.
    pub fn drain_fine(&mut self, mut each: impl FnMut(&Interval)) {
        self.fine.drain(..).for_each(|i| each(&i));
    }

    /// End the series at `end`. Returns the coarse series from the start to the end of the run.
    pub fn finish(&mut self, end: SimTime) -> Vec<Interval> {
        self.flush(end.0);
        let end = end.0.saturating_sub(self.origin);
        let starts = (0..).map(|i| i * self.coarse_ns);
        let series = self.coarse.iter().zip(starts).map(|(slot, at)| {
            let length = self.coarse_ns.min(end.saturating_sub(at));
            let latencies = slot.counts.each_ref().map(|counts| LatencyCounts::of(counts));
            Interval { latencies, ..slot.interval(at, if length == 0 { self.coarse_ns } else { length }) }
        });
        series.collect()
    }

    #[inline(never)]
    fn roll(&mut self, at: u64) {
        self.flush(self.until);
        while (at - self.origin) / self.coarse_ns >= COARSE as u64 {
            self.double();
        }
        let step = self.fine_ns.unwrap_or(self.coarse_ns);
        self.from = self.origin + (at - self.origin) / step * step;
        self.until = self.from.saturating_add(step);
    }

    /// Add the interval being filled, which ends at `end`, to both series.
    fn flush(&mut self, end: u64) {
        if self.current.is_empty() {
            return;
        }
        let at = self.from - self.origin;
        if self.fine_ns.is_some() {
            let length = end.clamp(self.from + 1, self.until) - self.from;
            self.fine.push(self.current.interval(at, length));
        }
        let slot = (at / self.coarse_ns) as usize;
        while self.coarse.len() <= slot {
            self.coarse.push(Slot::default());
        }
        self.coarse[slot].merge(&self.current);
        self.current.clear();
    }

    /// Double the length of the coarse intervals and merge them in pairs.
    fn double(&mut self) {
        for pair in 0..self.coarse.len().div_ceil(2) {
            let (left, right) = self.coarse.split_at_mut(2 * pair + 1);
            if let Some(later) = right.first() {
                left[2 * pair].merge(later);
            }
            self.coarse.swap(pair, 2 * pair);
        }
        self.coarse.truncate(self.coarse.len().div_ceil(2));
        self.coarse_ns = self.coarse_ns.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const US: u64 = 1_000;

    fn fine(series: &mut Series) -> Vec<Interval> {
        let mut rows = Vec::new();
        series.drain_fine(|i| rows.push(i.clone()));
        rows
    }

    #[test]
    fn an_interval_holds_what_completed_in_it() {
        let mut s = Series::new(SimTime(1_000), Span(100 * US), Some(Span(10 * US)));
        s.record(SimTime(1_000), HostOp::Read, 100);
        s.record(SimTime(1_000 + 10 * US - 1), HostOp::Write, 300);
        s.gauge(SimTime(1_000 + 5 * US), &Gauges { free_blocks: 7, ..Gauges::default() });
        s.record(SimTime(1_000 + 10 * US), HostOp::Read, 200);
        s.record(SimTime(1_000 + 55 * US), HostOp::Read, 400);
        let coarse = s.finish(SimTime(1_000 + 57 * US));
        let rows = fine(&mut s);
        let starts: Vec<u64> = rows.iter().map(|r| r.at_ns).collect();
        assert_eq!(starts, [0, 10 * US, 50 * US]);
        assert_eq!((rows[0].side(HostOp::Read).max_ns, rows[0].side(HostOp::Write).mean_ns), (100, 300.0));
        assert_eq!(rows[0].gauges.unwrap().free_blocks, 7);
        assert_eq!((rows[1].gauges, rows[2].length_ns), (None, 7 * US));
        assert_eq!(rows[0].side(HostOp::Read).iops, 100_000.0);
        // Here the coarse intervals are as long as the fine ones. The coarse series has no holes.
        assert_eq!(coarse.len(), 6);
        assert_eq!(*coarse[3].side(HostOp::Read), IntervalSide::default());
    }

    #[test]
    fn groups_add_up_over_intervals_and_are_absent_where_none_were_reported() {
        let mut s = Series::new(SimTime(0), Span(100 * US), Some(Span(10 * US)));
        for i in 0..2 * COARSE as u64 {
            s.gauge(SimTime(i * 10 * US), &Gauges::default());
            if i % 4 != 3 {
                s.groups(i % 4, i, [i, 5 * US].into_iter());
            }
        }
        let coarse = s.finish(SimTime(2 * COARSE as u64 * 10 * US));
        let rows = fine(&mut s);
        assert!(rows.iter().all(|r| r.groups.is_none() == (r.at_ns / (10 * US) % 4 == 3)));
        let second = rows[2].groups.clone().unwrap();
        assert_eq!((second.most_in_group, second.groups_collecting), (2, 2));
        assert_eq!(second.planes, [2.0 / 1e4, 0.5]);
        let sum = |rows: &[Interval]| {
            let ns = |r: &Interval| r.groups.as_ref().map_or(0.0, |g| g.planes[1] * r.length_ns as f64);
            rows.iter().map(ns).sum::<f64>()
        };
        assert_eq!((sum(&coarse), sum(&rows)), (1_500.0 * US as f64, 1_500.0 * US as f64));
        assert_eq!(coarse.iter().filter_map(|r| Some(r.groups.as_ref()?.most_in_group)).max(), Some(2));
        assert_eq!(coarse.len(), COARSE);
    }

    proptest! {
        #[test]
        fn the_coarse_series_is_short_and_loses_nothing(
            steps in prop::collection::vec((0u64..200 * US, 1u64..1_000_000), 1..600),
            with_fine in any::<bool>(),
        ) {
            let fine_span = with_fine.then_some(Span(50 * US));
            let mut s = Series::new(SimTime(5), Span(10 * US), fine_span);
            let (mut at, mut max) = (5, 0);
            for &(gap, ns) in &steps {
                at += gap;
                max = max.max(ns);
                s.record(SimTime(at), HostOp::Write, ns);
            }
            let coarse = s.finish(SimTime(at));
            prop_assert!(coarse.len() <= COARSE);
            let mut counted = vec![0u64; bucket::count::<COUNT_BITS>()];
            for latencies in coarse.iter().map(|row| &row.latencies[HostOp::Write as usize]) {
                prop_assert!(latencies.counts.first() != Some(&0) && latencies.counts.last() != Some(&0));
                for (i, count) in latencies.counts.iter().enumerate() {
                    counted[latencies.from + i] += count;
                }
            }
            for &(_, ns) in &steps {
                counted[bucket::index::<COUNT_BITS>(ns)] -= 1;
            }
            prop_assert!(counted.iter().all(|&count| count == 0));
            for rows in [coarse, fine(&mut s)].iter().filter(|r| with_fine || !r.is_empty()) {
                prop_assert_eq!(rows.iter().map(|r| r.side(HostOp::Write).requests).sum::<u64>(), steps.len() as u64);
                prop_assert_eq!(rows.iter().map(|r| r.side(HostOp::Write).max_ns).max().unwrap(), max);
                prop_assert!(rows.windows(2).all(|w| w[0].at_ns + w[0].length_ns <= w[1].at_ns));
            }
        }
    }

    #[test]
    fn a_long_gap_costs_no_memory() {
        let mut s = Series::new(SimTime(0), Span(100 * US), None);
        s.record(SimTime(10), HostOp::Read, 5);
        s.record(SimTime(3_600_000_000_000), HostOp::Read, 5);
        let coarse = s.finish(SimTime(3_600_000_000_001));
        assert!(coarse.len() <= COARSE && coarse.len() > COARSE / 2);
        assert_eq!(coarse.iter().map(|r| r.side(HostOp::Read).requests).sum::<u64>(), 2);
    }
}
