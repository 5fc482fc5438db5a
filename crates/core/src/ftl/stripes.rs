//! The placement of the members of each stripe.
//!
//! A stripe is `width − 1` consecutive logical units and their parity, one unit on each lane of a
//! *group*: the lanes of one position on `width` channels (Yan et al., FAST'17, Figure 4). Parity
//! is a logical unit like any other, numbered after the host's units, so that the map, collection
//! and the valid bits treat it like any other.

use super::layout::Layout;
use crate::address::Lpn;
use crate::divider::Divider;

/// The layout of the stripes.
#[derive(Clone, Debug)]
pub struct Stripes {
    /// Units of a stripe, including its parity.
    pub width: u32,
    /// Groups of lanes.
    pub groups: u32,
    /// Stripes of the drive.
    pub count: u32,
    host_units: u32,
    lane_step: u32,
    first_lane: Vec<u32>,
    group_of_lane: Vec<u32>,
    offset_of_lane: Vec<u32>,
    by_data: Divider,
    by_groups: Divider,
    by_width: Divider,
}

impl Stripes {
    /// `positions`: the lanes of one channel, in the order in which consecutive stripes use them.
    /// `width` divides `channels`, and `width − 1` divides the number of host units.
    pub fn new(layout: &Layout, channels: u32, width: u32, positions: &[u32]) -> Stripes {
        let per_channel = layout.lanes / channels;
        let sets = channels / width;
        let groups = per_channel * sets;
        let mut first_lane = Vec::with_capacity(groups as usize);
        let mut group_of_lane = vec![0; layout.lanes as usize];
        let mut offset_of_lane = vec![0; layout.lanes as usize];
        for &position in positions {
            for set in 0..sets {
                let group = first_lane.len() as u32;
                let first = set * width * per_channel + position;
                first_lane.push(first);
                for offset in 0..width {
                    let lane = (first + offset * per_channel) as usize;
                    group_of_lane[lane] = group;
                    offset_of_lane[lane] = offset;
                }
            }
        }
        Stripes {
            width,
            groups,
            count: layout.host_units / (width - 1),
            host_units: layout.host_units,
            lane_step: per_channel,
            first_lane,
            group_of_lane,
            offset_of_lane,
            by_data: Divider::new(width - 1),
            by_groups: Divider::new(groups),
            by_width: Divider::new(width),
        }
    }

    /// The stripe of a unit.
    #[inline]
    pub fn stripe_of(&self, unit: Lpn) -> u32 {
        if unit.0 < self.host_units { self.by_data.div_rem(unit.0).0 } else { unit.0 - self.host_units }
    }

    /// The parity of a stripe.
    #[inline]
    pub fn parity(&self, stripe: u32) -> Lpn {
        Lpn(self.host_units + stripe)
    }

    /// Whether a unit is parity.
    #[inline]
    pub fn is_parity(&self, unit: Lpn) -> bool {
        unit.0 >= self.host_units
    }

    /// The group of a stripe.
    #[inline]
    pub fn group_of(&self, stripe: u32) -> u32 {
        self.by_groups.div_rem(stripe).1
    }

    /// The group of a lane.
    #[inline]
    pub fn group_of_lane(&self, lane: u32) -> u32 {
        self.group_of_lane[lane as usize]
    }

    /// The offset of a lane in its group.
    #[inline]
    pub fn offset_of_lane(&self, lane: u32) -> u32 {
        self.offset_of_lane[lane as usize]
    }

    /// The lanes of all other groups than this one, in order.
    pub fn lanes_beside(&self, group: u32) -> Vec<u32> {
        (0..).zip(&self.group_of_lane).filter(|&(_, &of)| of != group).map(|(lane, _)| lane).collect()
    }

    /// The lane at an offset in a group.
    #[inline]
    pub fn lane(&self, group: u32, offset: u32) -> u32 {
        self.first_lane[group as usize] + offset * self.lane_step
    }

    /// The offset of a stripe's parity in its group. It moves by one from row to row, and differs
    /// from group to group, as in the authors' simulator.
    #[inline]
    fn parity_offset(&self, stripe: u32) -> u32 {
        let (row, group) = self.by_groups.div_rem(stripe);
        let (_, turn) = self.by_width.div_rem(group + row);
        self.width - 1 - turn
    }

    /// The offset of a unit in its group.
    #[inline]
    pub fn offset_of(&self, unit: Lpn) -> u32 {
        if unit.0 >= self.host_units {
            return self.parity_offset(unit.0 - self.host_units);
        }
        let (stripe, position) = self.by_data.div_rem(unit.0);
        position + u32::from(position >= self.parity_offset(stripe))
    }

    /// The lane on which a sequential fill puts a unit.
    #[inline]
    pub fn fill_lane(&self, unit: Lpn) -> u32 {
        self.lane(self.group_of(self.stripe_of(unit)), self.offset_of(unit))
    }

    /// The first unit of a stripe.
    #[inline]
    pub fn first_of(&self, stripe: u32) -> Lpn {
        Lpn(stripe * (self.width - 1))
    }

    /// The units of a stripe, parity last.
    #[inline]
    pub fn members(&self, stripe: u32) -> impl Iterator<Item = Lpn> + use<> {
        let first = Lpn(stripe * (self.width - 1));
        first.run(self.width - 1).chain(std::iter::once(Lpn(self.host_units + stripe)))
    }

    /// The number of rows that a fill of the first `stripes` stripes takes in every group, and how
    /// many groups, from the first on, take one more.
    pub fn rows_of_fill(&self, stripes: u32) -> (u32, u32) {
        self.by_groups.div_rem(stripes)
    }

    /// The row of its lane at which a sequential fill puts a unit. A fill puts one unit of each
    /// stripe on each lane of the stripe's group.
    #[inline]
    pub fn fill_row(&self, unit: Lpn) -> u32 {
        self.by_groups.div_rem(self.stripe_of(unit)).0
    }

    /// The unit that a fill puts at a row of a lane; inverse of [`Stripes::fill_lane`] and
    /// [`Stripes::fill_row`].
    #[inline]
    pub fn filled_at(&self, lane: u32, row: u32) -> Lpn {
        let stripe = row * self.groups + self.group_of_lane(lane);
        let (offset, parity) = (self.offset_of_lane[lane as usize], self.parity_offset(stripe));
        if offset == parity {
            return Lpn(self.host_units + stripe);
        }
        Lpn(stripe * (self.width - 1) + offset - u32::from(offset > parity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::config::ExtentKind;
    use proptest::prelude::*;

    fn drive(channels: u32, per_channel: u32, width: u32, host_units: u32) -> Stripes {
        let lanes = channels * per_channel;
        let usable = vec![500; lanes as usize];
        let layout = Layout::new(ExtentKind::Block, lanes, 1, 8, 4096, 4096, 1, usable, host_units);
        let positions: Vec<u32> = (0..per_channel).collect();
        Stripes::new(&layout, channels, width, &positions)
    }

    #[test]
    fn agrees_with_the_authors_simulator() {
        // flash.c of the authors' release: 8 channels of 8 chips, 7 data pages and a parity.
        let s = drive(8, 8, 8, 7 * 8 * 64);
        for lpn in 0..7 * 8 * 64 {
            let (stripe, p) = (lpn / 7, lpn % 7);
            let c = stripe % 8;
            let parity = (7 + 8 - c % 8 + 8 - (stripe / 8) % 8) % 8;
            let channel = if p < parity { p } else { p + 1 };
            assert_eq!(s.fill_lane(Lpn(lpn)), channel * 8 + c, "unit {lpn}");
            assert_eq!(s.fill_lane(s.parity(stripe)), parity * 8 + c);
        }
    }

    #[test]
    fn every_stripe_has_one_unit_on_each_lane_of_its_group() {
        for (channels, per_channel, width) in [(4, 2, 4), (8, 3, 4), (32, 2, 8), (16, 4, 16), (6, 1, 3)] {
            let s = drive(channels, per_channel, width, (width - 1) * 400);
            assert_eq!(s.groups * width, channels * per_channel);
            let mut parities = vec![0; (channels * per_channel) as usize];
            for stripe in 0..s.count {
                let mut lanes: Vec<u32> = s.members(stripe).map(|u| s.fill_lane(u)).collect();
                for unit in s.members(stripe) {
                    assert_eq!(s.stripe_of(unit), stripe);
                    assert_eq!(s.filled_at(s.fill_lane(unit), s.fill_row(unit)), unit);
                    assert_eq!(s.group_of_lane(s.fill_lane(unit)), s.group_of(stripe));
                }
                parities[s.fill_lane(s.parity(stripe)) as usize] += 1;
                let per_lane = channels * per_channel / channels;
                let mut on: Vec<u32> = lanes.iter().map(|lane| lane / per_lane).collect();
                on.sort_unstable();
                on.dedup();
                assert_eq!(on.len() as u32, width, "a channel each");
                lanes.sort_unstable();
                lanes.dedup();
                assert_eq!(lanes.len() as u32, width);
            }
            let (least, most) = (parities.iter().min().unwrap(), parities.iter().max().unwrap());
            assert!(most - least <= 2, "parity is spread: {parities:?}");
        }
    }

    proptest! {
        /// Compares with a list of groups, each with its lanes, on which the stripes are placed one
        /// after another.
        #[test]
        fn stripes_are_where_a_plain_list_puts_them(
            (width, sets) in (3..7u32, 1..3u32),
            positions in (1..4u32).prop_flat_map(|n| Just((0..n).collect::<Vec<u32>>()).prop_shuffle()),
            count in 1..80u32,
        ) {
            let (channels, per_channel) = (width * sets, positions.len() as u32);
            let lanes = channels * per_channel;
            let (data, host_units) = (width - 1, (width - 1) * count);
            let usable = vec![50; lanes as usize];
            let layout = Layout::new(ExtentKind::Block, lanes, 1, 8, 4096, 4096, 1, usable, host_units);
            let s = Stripes::new(&layout, channels, width, &positions);
            let mut groups: Vec<Vec<u32>> = Vec::new();
            for &position in &positions {
                for set in 0..sets {
                    let on = |channel: u32| (set * width + channel) * per_channel + position;
                    groups.push((0..width).map(on).collect());
                }
            }
            prop_assert_eq!((s.groups, s.count), (groups.len() as u32, count));
            for (group, lanes) in (0..).zip(&groups) {
                for (offset, &lane) in (0..).zip(lanes) {
                    prop_assert_eq!((s.lane(group, offset), s.group_of_lane(lane)), (lane, group));
                }
            }
            // Rows of each lane that the fill has taken so far.
            let mut rows = vec![0; lanes as usize];
            let mut parity_at: Vec<u32> = (0..groups.len() as u32).map(|g| width - 1 - g % width).collect();
            for stripe in 0..count {
                let group = stripe as usize % groups.len();
                let parity = parity_at[group];
                // In the next row the parity is one offset lower.
                parity_at[group] = (parity + width - 1) % width;
                let mut next = Lpn(stripe * data);
                prop_assert_eq!((s.first_of(stripe), s.group_of(stripe)), (next, group as u32));
                prop_assert_eq!(s.parity(stripe), Lpn(host_units + stripe));
                let members: Vec<Lpn> = next.run(data).chain([Lpn(host_units + stripe)]).collect();
                prop_assert_eq!(s.members(stripe).collect::<Vec<Lpn>>(), members);
                let before = rows.iter().map(|&r| r as u64).sum::<u64>() / u64::from(width);
                prop_assert_eq!(before, u64::from(stripe));
                let full = groups.iter().filter(|lanes| rows[lanes[0] as usize] > stripe / s.groups).count();
                prop_assert_eq!(s.rows_of_fill(stripe), (stripe / s.groups, full as u32));
                for (offset, &lane) in (0..).zip(&groups[group]) {
                    let unit = if offset == parity { Lpn(host_units + stripe) } else { next };
                    next = next + u32::from(offset != parity);
                    prop_assert_eq!(s.is_parity(unit), offset == parity);
                    prop_assert_eq!((s.stripe_of(unit), s.offset_of(unit), s.fill_lane(unit)), (stripe, offset, lane));
                    let row = rows[lane as usize];
                    prop_assert_eq!((s.fill_row(unit), s.filled_at(lane, row)), (row, unit));
                    rows[lane as usize] += 1;
                }
            }
        }
    }
}
