//! Which bytes of a unit are present.

use std::ops::Range;

/// A set of bytes of a unit, as ranges that do not touch, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    ranges: Vec<Range<u32>>,
}

impl Ranges {
    /// Make the set empty.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Make all bytes of a unit present.
    pub fn set_all(&mut self, bytes: u32) {
        self.ranges.clear();
        self.ranges.push(0..bytes);
    }

    /// Whether all bytes of a unit are present.
    pub fn is_all(&self, bytes: u32) -> bool {
        self.ranges.len() == 1 && self.ranges[0] == (0..bytes)
    }

    /// The ranges, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Range<u32>> {
        self.ranges.iter()
    }

    /// Add a range of bytes.
    pub fn add(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        let first = self.ranges.partition_point(|r| r.end < range.start);
        let last = self.ranges.partition_point(|r| r.start <= range.end);
        let mut joined = range;
        if first < last {
            joined.start = joined.start.min(self.ranges[first].start);
            joined.end = joined.end.max(self.ranges[last - 1].end);
        }
        self.ranges.splice(first..last, [joined]);
    }

    /// The parts of a range that are not present, in order.
    pub fn gaps(&self, within: Range<u32>) -> impl Iterator<Item = Range<u32>> + '_ {
        let ends = std::iter::once(0).chain(self.ranges.iter().map(|r| r.end));
        let starts = self.ranges.iter().map(|r| r.start).chain(std::iter::once(u32::MAX));
        ends.zip(starts)
            .map(move |(from, to)| from.max(within.start)..to.min(within.end))
            .filter(|gap| !gap.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_units::Stream;

    #[test]
    fn a_set_is_what_was_added() {
        let mut s = Stream::new(1, "ranges", 0);
        for _ in 0..300 {
            let mut set = Ranges::default();
            let mut there = [false; 40];
            for _ in 0..s.below(8) {
                let from = s.below(40);
                let to = from + s.below(41 - from);
                set.add(from as u32..to as u32);
                there[from as usize..to as usize].fill(true);
                assert_eq!(set.is_all(40), there.iter().all(|&t| t));
                let within = s.below(20) as u32..20 + s.below(21) as u32;
                let gaps: Vec<u32> = set.gaps(within.clone()).flatten().collect();
                let expected: Vec<u32> = within.filter(|&i| !there[i as usize]).collect();
                assert_eq!(gaps, expected);
            }
        }
    }
}
