//! Clock jumps: finds and shortens long gaps between records.

use super::error::Place;
use super::record::TraceCounts;
use tailcut_units::Span;
use tailcut_units::quantity::human_time;

/// Shortens long gaps and removes jumps back, in the order of the file.
pub(super) struct Gaps {
    most: u64,
    back_most: u64,
    /// (the last time in the file, that time after all cuts).
    last: Option<(u64, u64)>,
}

impl Gaps {
    /// Gaps above `most` ns are shortened to `most`. A jump back of more than `most` and
    /// more than the sort window is set to a gap of 0. A smaller jump back is not a clock
    /// jump but a record out of order, and stays.
    pub fn new(most: u64, sort_window: u64) -> Gaps {
        Gaps { most, back_most: most.max(sort_window), last: None }
    }

    /// Return the time of a record at `time` after all cuts so far.
    pub fn adjust(&mut self, time: u64, counts: &mut TraceCounts) -> u64 {
        let Some((before, became)) = self.last else {
            self.last = Some((time, time));
            return time;
        };
        let now = if time >= before {
            let gap = time - before;
            if gap > self.most {
                counts.gaps_cut += 1;
                counts.gaps_cut_ns = counts.gaps_cut_ns.saturating_add(gap - self.most);
            }
            became.saturating_add(gap.min(self.most))
        } else if before - time > self.back_most {
            counts.jumps_back_cut += 1;
            became
        } else {
            became.saturating_sub(before - time)
        };
        self.last = Some((time, now));
        now
    }
}

/// Finds the longest time between two records in time order, and the places of these
/// records.
#[derive(Default)]
pub(super) struct Largest {
    records: u64,
    last: u64,
    last_place: u64,
    gap: u64,
    places: (u64, u64),
}

/// A gap is suspicious if it exceeds this share of the span, in 1/100, and this length,
/// in ns.
const SUSPICIOUS_PERCENT: u64 = 99;
const SUSPICIOUS_NS: u64 = 1_000_000_000;

impl Largest {
    /// Take a record at `time` since the first record; records must come in time order.
    #[inline]
    pub fn note(&mut self, time: u64, place: u64) {
        if self.records > 0 && time - self.last > self.gap {
            (self.gap, self.places) = (time - self.last, (self.last_place, place));
        }
        self.records += 1;
        (self.last, self.last_place) = (time, place);
    }

    /// The warning that one gap is nearly all of the span. With only two records there is
    /// no warning, since a clock jump then cannot be distinguished from a normal gap.
    pub fn warning(&self, place: impl Fn(u64) -> Place) -> Option<String> {
        let part = u128::from(self.gap) * 100;
        let most = u128::from(self.last) * u128::from(SUSPICIOUS_PERCENT);
        let suspicious = self.records > 2 && self.gap > SUSPICIOUS_NS && part > most;
        suspicious.then(|| {
            let (before, after) = (place(self.places.0), place(self.places.1));
            format!(
                "{after}: {} after the request before it, which is at {before}; this one gap is more than \
                 {SUSPICIOUS_PERCENT} % of the trace's {}; if a clock jumped there, --skip-gaps {} cuts it",
                human_time(Span(self.gap)),
                human_time(Span(self.last)),
                if self.gap > 20 * SUSPICIOUS_NS { "10s" } else { "100ms" },
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_shortened_and_jumps_back_taken_out_while_disorder_stays() {
        let mut counts = TraceCounts::default();
        let mut gaps = Gaps::new(100, 50);
        let times = [7, 107, 10_000, 9_980, 10_005, 1 << 62, 10_010, 10_011, 0, 3];
        let found = times.map(|t| gaps.adjust(t, &mut counts));
        assert_eq!(found, [7, 107, 207, 187, 212, 312, 312, 313, 313, 316]);
        assert_eq!((counts.gaps_cut, counts.jumps_back_cut), (2, 2));
        assert_eq!(counts.gaps_cut_ns, (10_000 - 107 - 100) + ((1 << 62) - 10_005 - 100));
    }

    #[test]
    fn one_gap_that_is_nearly_everything_is_named_with_its_places() {
        let of = |times: &[u64]| {
            let mut largest = Largest::default();
            times.iter().zip(1..).for_each(|(&t, line)| largest.note(t, line));
            largest.warning(Place::Line)
        };
        let text = of(&[0, 5, 10, 4_000_000_000, 4_000_000_001]).unwrap();
        assert!(text.contains("line 4: 4 s after") && text.contains("line 3"), "{text}");
        assert!(text.contains("--skip-gaps"), "{text}");
        assert_eq!(of(&[0, 1000]), None);
        assert_eq!(of(&[0, 0, 0]), None);
        assert!(of(&[0, 1, 2_000_000_000]).unwrap().contains("--skip-gaps 100ms"));
        assert_eq!(of(&[0, 10, 900_000_000]), None);
        assert_eq!(of(&[0, 10, 20_000_000_000, 21_000_000_000]), None);
    }
}
