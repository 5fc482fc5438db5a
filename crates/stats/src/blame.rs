//! Blame: the latency above a percentile by cause.

use crate::bucket;
use crate::percentile;
use tailcut_units::{Cause, Ledger};

/// Resolution of the threshold: `2^BITS` buckets per octave.
const BITS: u32 = 6;
const BUCKETS: usize = bucket::count::<BITS>();

/// Cause means are multiples of `1 / GRID` ns, or of a larger power of two where the mean would need more bits than
/// an f64 has. So every mean and every partial sum of means is exact in an f64, and the sum does not depend on the
/// order.
const GRID: u128 = 1024;
/// Bits of an f64's integers.
const EXACT: u32 = 53;

/// One latency bucket. The count, the total and the causes of most requests share the first cache
/// lines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(64))]
struct Row {
    requests: u64,
    total: u64,
    causes: [u64; Cause::COUNT],
}

/// Sums by cause in each latency bucket (64 per octave) of one kind of request.
///
/// Each bucket has sums in u64 ns, enough for a total latency of 584 years.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlameTable {
    /// None before the first request.
    rows: Vec<Row>,
}

/// The causes of the latency of all requests at or above a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    /// The requested percentile, in percent.
    pub above: f64,
    /// The actual lower bound of latency in ns: that of the bucket that holds the percentile.
    pub threshold_ns: u64,
    /// Number of requests that took at least `threshold_ns`.
    pub requests: u64,
    /// Their mean latency in ns, rounded to 1/1024 ns, or to 53 bits where that is coarser.
    pub mean_ns: f64,
    /// Mean ns by cause, in ledger order, without causes that are zero in all requests. Their sum
    /// is exactly `mean_ns`.
    pub causes: Vec<(Cause, f64)>,
}

impl Default for BlameTable {
    fn default() -> BlameTable {
        BlameTable::new()
    }
}

impl BlameTable {
    /// An empty table. Allocates about 600 KiB for the first request, and nothing afterwards.
    pub fn new() -> BlameTable {
        BlameTable { rows: Vec::new() }
    }

    #[cold]
    #[inline(never)]
    fn allocate(&mut self) {
        let row = Row { requests: 0, total: 0, causes: [0; Cause::COUNT] };
        self.rows.resize(BUCKETS, row);
    }

    /// Add one request that took `ns`. The sum of its ledger must be `ns`.
    #[inline]
    pub fn record(&mut self, ns: u64, ledger: &Ledger) {
        debug_assert_eq!(ledger.sum(), ns, "a ledger must add up to its request's latency");
        let bucket = bucket::index::<BITS>(ns.min(bucket::LONGEST));
        if bucket >= self.rows.len() {
            self.allocate();
        }
        let row = &mut self.rows[bucket];
        row.requests += 1;
        row.total += ns;
        ledger.add_to(&mut row.causes);
    }

    /// Add another table. The result is the same as if all requests had been recorded in one.
    pub fn merge(&mut self, other: &BlameTable) {
        if self.rows.is_empty() {
            self.rows.clone_from(&other.rows);
            return;
        }
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            row.requests += more.requests;
            row.total += more.total;
            for (ns, more) in row.causes.iter_mut().zip(&more.causes) {
                *ns += more;
            }
        }
    }

    /// Number of requests.
    pub fn requests(&self) -> u64 {
        self.rows.iter().map(|r| r.requests).sum()
    }

    /// The blame above percentile `percent` (0 for all requests). It covers all requests in the
    /// bucket that holds the percentile and in higher buckets. `None` if there are no requests.
    ///
    /// # Panics
    ///
    /// If a recorded ledger did not add up to its latency.
    pub fn above(&self, percent: f64) -> Option<Blame> {
        let n = self.requests();
        if n == 0 {
            return None;
        }
        let first = self.bucket_of(percentile::rank(percent, n));
        let mut requests = 0;
        let mut total = 0u128;
        let mut causes = [0u128; Cause::COUNT];
        for row in &self.rows[first..] {
            requests += row.requests;
            total += u128::from(row.total);
            for (sum, ns) in causes.iter_mut().zip(row.causes) {
                *sum += u128::from(ns);
            }
        }
        Some(Blame::from_sums(percent, bucket::lowest::<BITS>(first), requests, total, &causes))
    }

    fn bucket_of(&self, rank: u64) -> usize {
        let mut seen = 0;
        self.rows
            .iter()
            .position(|row| {
                seen += row.requests;
                seen >= rank
            })
            .expect("a rank is at most the number of requests")
    }
}

impl Blame {
    /// The blame of a given set of requests, each with its latency in ns and its ledger.
    pub fn of<'a>(
        above: f64,
        threshold_ns: u64,
        set: impl Iterator<Item = (u64, &'a Ledger)>,
    ) -> Option<Blame> {
        let (mut requests, mut total) = (0, 0u128);
        let mut causes = [0u128; Cause::COUNT];
        for (ns, ledger) in set {
            requests += 1;
            total += u128::from(ns);
            for (cause, ns) in ledger.iter() {
                causes[usize::from(cause.0)] += u128::from(ns);
            }
        }
        (requests > 0).then(|| Blame::from_sums(above, threshold_ns, requests, total, &causes))
    }

    /// Divides integer sums by the number of requests, in steps of `1 / GRID` ns or coarser ones. The steps left
    /// over by rounding go to the causes with the largest remainders, so that the parts add up to
    /// the whole.
    fn from_sums(
        above: f64,
        threshold_ns: u64,
        requests: u64,
        total: u128,
        sums: &[u128; Cause::COUNT],
    ) -> Blame {
        assert_eq!(sums.iter().sum::<u128>(), total, "a ledger did not add up to its latency");
        // The bits that the mean has beyond those of an f64, with one for rounding up.
        let bits = u128::BITS - (total * GRID / u128::from(requests)).leading_zeros();
        let coarser = (bits + 1).saturating_sub(EXACT);
        let n = u128::from(requests) << coarser;
        let whole = (total * GRID + n / 2) / n;
        let mut parts = sums.map(|sum| sum * GRID / n);
        let mut order: Vec<usize> = (0..Cause::COUNT).filter(|&i| sums[i] > 0).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(sums[i] * GRID % n), i));
        let left = whole - parts.iter().sum::<u128>();
        debug_assert!(left <= order.len() as u128);
        for &i in order.iter().take(left as usize) {
            parts[i] += 1;
        }
        order.sort_unstable();
        let ns = |part: u128| (part << coarser) as f64 / GRID as f64;
        Blame {
            above,
            threshold_ns,
            requests,
            mean_ns: ns(whole),
            causes: order.into_iter().map(|i| (Cause(i as u8), ns(parts[i]))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ledger(parts: &[(u8, u64)]) -> Ledger {
        let mut ledger = Ledger::new();
        for &(cause, ns) in parts {
            ledger.charge(Cause(cause % Cause::COUNT as u8), ns);
        }
        ledger
    }

    fn table(ledgers: &[Ledger]) -> BlameTable {
        let mut table = BlameTable::new();
        for l in ledgers {
            table.record(l.sum(), l);
        }
        table
    }

    fn ledgers(max: usize) -> impl Strategy<Value = Vec<Ledger>> {
        let one = prop::collection::vec((any::<u8>(), 0u64..3_000_000), 0..9);
        prop::collection::vec(one.prop_map(|parts| ledger(&parts)), 1..max)
    }

    /// Hours and years, beyond what an f64 can hold in 1/1024 ns.
    #[test]
    fn long_times_sum_to_exactly_the_mean() {
        for shift in [0, 20, 32, 43, 52, 57] {
            let all: Vec<Ledger> = (1..8u64)
                .map(|i| ledger(&[(1, ((i * 7) << shift) / 9), (5, (1 << shift) / i + i), (8, i)]))
                .collect();
            let blame = table(&all).above(0.0).unwrap();
            let forward: f64 = blame.causes.iter().map(|c| c.1).sum();
            let backward: f64 = blame.causes.iter().rev().map(|c| c.1).sum();
            assert_eq!((forward, backward), (blame.mean_ns, blame.mean_ns), "2^{shift} ns");
            let mean = all.iter().map(|l| u128::from(l.sum())).sum::<u128>() as f64 / 7.0;
            assert!((mean - blame.mean_ns).abs() <= 0.001 + 1e-12 * mean, "{mean} {}", blame.mean_ns);
        }
    }

    proptest! {
        #[test]
        fn causes_sum_to_exactly_the_mean(all in ledgers(200), percent in 0.0f64..100.0) {
            let blame = table(&all).above(percent).unwrap();
            let forward: f64 = blame.causes.iter().map(|c| c.1).sum();
            let backward: f64 = blame.causes.iter().rev().map(|c| c.1).sum();
            prop_assert_eq!(forward, blame.mean_ns);
            prop_assert_eq!(backward, blame.mean_ns);
            let over: Vec<u64> =
                all.iter().map(Ledger::sum).filter(|&ns| ns >= blame.threshold_ns).collect();
            prop_assert_eq!(over.len() as u64, blame.requests);
            let mean = over.iter().sum::<u64>() as f64 / over.len() as f64;
            prop_assert!((mean - blame.mean_ns).abs() <= 0.001, "{} {}", mean, blame.mean_ns);
        }

        #[test]
        fn merging_is_recording_together(a in ledgers(50), b in ledgers(50)) {
            let mut merged = table(&a);
            merged.merge(&table(&b));
            prop_assert_eq!(merged, table(&[a, b].concat()));
        }
    }

    #[test]
    fn the_tail_is_blamed_on_what_is_in_it() {
        let mut all = vec![ledger(&[(Cause::ARRAY.0, 3_000)]); 990];
        all.extend(vec![ledger(&[(Cause::ARRAY.0, 3_000), (Cause::GC_HOLD.0, 97_000)]); 10]);
        let table = table(&all);
        let tail = table.above(99.5).unwrap();
        assert_eq!((tail.requests, tail.mean_ns), (10, 100_000.0));
        assert_eq!(tail.causes, [(Cause::ARRAY, 3_000.0), (Cause::GC_HOLD, 97_000.0)]);
        assert!(tail.threshold_ns <= 100_000 && tail.threshold_ns > 98_000);
        assert_eq!(table.above(0.0).unwrap().requests, 1_000);
        assert_eq!(BlameTable::new().above(99.0), None);
    }
}
