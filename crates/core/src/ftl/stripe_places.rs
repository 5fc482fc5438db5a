//! The places of the stripes that wear levelling has moved.
//!
//! Before its first move, a stripe is where [`Stripes`] places it. Afterwards an entry here gives its group and the
//! offset of its parity. The data follow the parity in order around the group: {0 1 2 P} becomes {1 2 P 0} (Yan et al.,
//! FAST'17, section 7). The paper has a mapping-modified bit for each page, and a table of the few stripes that have
//! moved. Here both are one flat table, in which 0 means that the stripe has not moved, so that no move allocates
//! memory. Only drives with wear levelling have the table.

use super::stripes::Stripes;
use crate::address::Lpn;
use crate::containers::NONE;
use serde::{Deserialize, Serialize};

/// The moved stripes, and how many stripes each group has.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StripePlaces {
    width: u32,
    /// By stripe: 0, or 1 + group × width + offset of the parity.
    at: Vec<u32>,
    /// By group: number of stripes, including those that leave but still have old copies in it.
    held: Vec<u32>,
    /// By group: the largest number of stripes.
    most: Vec<u32>,
}

impl StripePlaces {
    /// The table of a drive without wear levelling, in which stripes never move.
    pub fn fixed() -> StripePlaces {
        StripePlaces::default()
    }

    /// The table of a drive in which no stripe has moved yet. `most` is the largest number of stripes of each group, at
    /// least its initial number.
    pub fn new(stripes: &Stripes, most: Vec<u32>) -> StripePlaces {
        let (rounds, rest) = stripes.rows_of_fill(stripes.count);
        let held: Vec<u32> = (0..stripes.groups).map(|g| rounds + u32::from(g < rest)).collect();
        debug_assert!(held.iter().zip(&most).all(|(held, most)| held <= most));
        StripePlaces { width: stripes.width, at: vec![0; stripes.count as usize], held, most }
    }

    /// The group of a moved stripe and the offset of its parity there; `None` if it has not moved.
    #[inline]
    fn moved(&self, stripe: u32) -> Option<(u32, u32)> {
        let at = self.at.get(stripe as usize).copied().filter(|&at| at != 0)? - 1;
        Some((at / self.width, at % self.width))
    }

    /// The group of a stripe.
    #[inline]
    pub fn group_of(&self, stripes: &Stripes, stripe: u32) -> u32 {
        self.moved(stripe).map_or_else(|| stripes.group_of(stripe), |(group, _)| group)
    }

    /// The offset of a unit in its group.
    #[inline]
    pub fn offset_of(&self, stripes: &Stripes, unit: Lpn) -> u32 {
        let stripe = stripes.stripe_of(unit);
        match self.moved(stripe) {
            None => stripes.offset_of(unit),
            Some((_, parity)) if stripes.is_parity(unit) => parity,
            Some((_, parity)) => rotated(stripes.width, parity, unit - stripes.first_of(stripe)),
        }
    }

    /// The lane of a unit.
    #[inline]
    pub fn lane(&self, stripes: &Stripes, unit: Lpn) -> u32 {
        if self.at.is_empty() {
            return stripes.fill_lane(unit);
        }
        let group = self.group_of(stripes, stripes.stripe_of(unit));
        stripes.lane(group, self.offset_of(stripes, unit))
    }

    /// Whether a group has room for another stripe.
    #[inline]
    pub fn has_room(&self, group: u32) -> bool {
        self.held[group as usize] < self.most[group as usize]
    }

    /// Move a stripe to a group and parity offset. Returns the group that it leaves, or `NONE` if
    /// it stays in its group. The old group still holds the old copies until [`StripePlaces::left`]
    /// is called.
    pub fn set(&mut self, stripes: &Stripes, stripe: u32, group: u32, parity: u32) -> u32 {
        let before = self.group_of(stripes, stripe);
        self.at[stripe as usize] = 1 + group * self.width + parity;
        if before == group {
            return NONE;
        }
        self.held[group as usize] += 1;
        before
    }

    /// Note that a group holds no copies any more of a stripe that was moved to another group.
    pub fn left(&mut self, group: u32) {
        self.held[group as usize] -= 1;
    }

    /// Stripes in each group, including those that are leaving it.
    pub fn held(&self) -> &[u32] {
        &self.held
    }

    /// The most stripes that each group takes.
    pub fn most(&self) -> &[u32] {
        &self.most
    }

    /// All moved stripes: (stripe, group, offset of its parity).
    pub fn all_moved(&self) -> Vec<(u32, u32, u32)> {
        let stripes = 0..self.at.len() as u32;
        stripes.filter_map(|s| self.moved(s).map(|(group, parity)| (s, group, parity))).collect()
    }

    /// Move stripes to the places that they had on a drive of the same configuration; false if this
    /// is not possible.
    pub fn restore(&mut self, stripes: &Stripes, moved: &[(u32, u32, u32)]) -> bool {
        if moved.is_empty() {
            return true;
        }
        let inside = |&(stripe, group, parity): &(u32, u32, u32)| {
            stripe < stripes.count && group < stripes.groups && parity < stripes.width
        };
        if self.at.is_empty() || !moved.iter().all(inside) {
            return false;
        }
        for &(stripe, group, parity) in moved {
            let before = self.set(stripes, stripe, group, parity);
            if before != NONE {
                self.left(before);
            }
        }
        self.held.iter().zip(&self.most).all(|(held, most)| held <= most)
    }
}

/// The offset in the group of the data unit at `position` of its stripe, if the parity is at offset
/// `parity`.
#[inline]
pub fn rotated(width: u32, parity: u32, position: u32) -> u32 {
    let offset = parity + 1 + position;
    if offset < width { offset } else { offset - width }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::config::ExtentKind;
    use crate::ftl::layout::Layout;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Four channels with two planes each: two groups.
    fn stripes() -> Stripes {
        let layout = Layout::new(ExtentKind::Block, 8, 1, 8, 4096, 4096, 1, vec![100; 8], 3 * 21);
        Stripes::new(&layout, 4, 4, &[0, 1])
    }

    #[test]
    fn data_follow_parity_round_the_group() {
        let s = stripes();
        let mut places = StripePlaces::new(&s, vec![11; 2]);
        for unit in s.members(5) {
            assert_eq!(places.lane(&s, unit), s.fill_lane(unit), "unmoved");
        }
        // The paper's example: {1 2 P 0}.
        assert_eq!(places.set(&s, 5, 1, 2), NONE);
        let offsets: Vec<u32> = s.members(5).map(|u| places.offset_of(&s, u)).collect();
        assert_eq!(offsets, [3, 0, 1, 2]);
        for parity in 0..4 {
            places.set(&s, 5, 1, parity);
            let mut lanes: Vec<u32> = s.members(5).map(|u| places.lane(&s, u)).collect();
            assert!(lanes.iter().all(|&l| s.group_of_lane(l) == 1));
            lanes.sort_unstable();
            lanes.dedup();
            assert_eq!(lanes.len(), 4, "one on each lane");
        }
        assert_eq!(places.lane(&s, s.first_of(4)), s.fill_lane(s.first_of(4)), "others stay");
    }

    #[test]
    fn a_group_is_full_until_what_leaves_has_left() {
        let s = stripes();
        let mut places = StripePlaces::new(&s, vec![12, 11]);
        assert_eq!(places.held(), [11, 10]);
        assert!(places.has_room(0) && places.has_room(1));
        assert_eq!(places.set(&s, 0, 1, 3), 0);
        assert_eq!(places.held(), [11, 11]);
        assert!(!places.has_room(1));
        places.left(0);
        assert_eq!((places.held(), places.group_of(&s, 0)), (&[10, 11][..], 1));
        // And back.
        assert_eq!(places.set(&s, 0, 0, 0), 1);
        places.left(1);
        assert_eq!(places.held(), [11, 10]);
        assert_eq!(places.all_moved(), [(0, 0, 0)]);
    }

    #[test]
    fn what_moved_is_put_back_on_a_like_drive_only() {
        let s = stripes();
        let mut places = StripePlaces::new(&s, vec![12, 12]);
        places.set(&s, 4, 1, 2);
        places.left(0);
        let mut other = StripePlaces::new(&s, vec![12, 12]);
        assert!(other.restore(&s, &places.all_moved()));
        assert_eq!(other.held(), places.held());
        assert!(
            !StripePlaces::fixed().restore(&s, &places.all_moved()) && StripePlaces::fixed().restore(&s, &[])
        );
        assert!(!StripePlaces::new(&s, vec![11, 10]).restore(&s, &places.all_moved()), "too many");
        assert!(!StripePlaces::new(&s, vec![12, 12]).restore(&s, &[(99, 0, 0)]));
    }

    proptest! {
        /// Compares with a map of the moved stripes and the number of stripes per group, both
        /// updated at each move and each departure.
        #[test]
        fn places_are_what_the_model_says_after_any_moves(
            more in prop::collection::vec(0..4u32, 2),
            steps in prop::collection::vec((any::<bool>(), 0..21u32, 0..2u32, 0..4u32), 0..80),
        ) {
            let s = stripes();
            let mut held = vec![11, 10];
            let most: Vec<u32> = held.iter().zip(&more).map(|(held, more)| held + more).collect();
            let mut real = StripePlaces::new(&s, most.clone());
            let mut moved: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
            // The groups that still have old copies of moved stripes.
            let mut leaving: Vec<u32> = Vec::new();
            for (moves, stripe, group, parity) in steps {
                let now = moved.get(&stripe).map_or(stripe % 2, |&(group, _)| group);
                if !moves && !leaving.is_empty() {
                    let group = leaving.swap_remove(stripe as usize % leaving.len());
                    real.left(group);
                    held[group as usize] -= 1;
                } else if moves && (now == group || real.has_room(group)) {
                    let before = real.set(&s, stripe, group, parity);
                    prop_assert_eq!(before, if now == group { NONE } else { now });
                    moved.insert(stripe, (group, parity));
                    if now != group {
                        held[group as usize] += 1;
                        leaving.push(now);
                    }
                }
                prop_assert_eq!(real.held(), &held[..]);
                prop_assert_eq!(real.most(), &most[..]);
                for group in 0..2 {
                    prop_assert_eq!(real.has_room(group), held[group as usize] < most[group as usize]);
                }
                for stripe in 0..s.count {
                    let Some(&(group, parity)) = moved.get(&stripe) else {
                        prop_assert_eq!(real.group_of(&s, stripe), s.group_of(stripe));
                        for unit in s.members(stripe) {
                            prop_assert_eq!(real.offset_of(&s, unit), s.offset_of(unit));
                            prop_assert_eq!(real.lane(&s, unit), s.fill_lane(unit));
                        }
                        continue;
                    };
                    prop_assert_eq!(real.group_of(&s, stripe), group);
                    // The parity, then the data in order around the group.
                    let mut order = s.members(stripe).collect::<Vec<Lpn>>();
                    order.rotate_right(1);
                    for (step, unit) in (0..).zip(order) {
                        let offset = (parity + step) % 4;
                        prop_assert_eq!(real.offset_of(&s, unit), offset);
                        prop_assert_eq!(real.lane(&s, unit), s.lane(group, offset));
                    }
                }
                let all: Vec<(u32, u32, u32)> = moved.iter().map(|(&s, &(g, p))| (s, g, p)).collect();
                prop_assert_eq!(real.all_moved(), &all[..]);
                // After `restore` on a drive of the same configuration, no stripe is leaving a
                // group.
                let mut like = StripePlaces::new(&s, most.clone());
                prop_assert!(like.restore(&s, &all));
                let mut at_home = held.clone();
                leaving.iter().for_each(|&group| at_home[group as usize] -= 1);
                prop_assert_eq!(like.held(), &at_home[..]);
                prop_assert_eq!(like.all_moved(), &all[..]);
            }
        }
    }

    #[test]
    fn what_lies_outside_the_drive_is_not_put_back() {
        let s = stripes();
        let most = vec![12, 12];
        let restored = |moved| StripePlaces::new(&s, most.clone()).restore(&s, &[moved]);
        assert!(restored((20, 1, 3)));
        assert!(!restored((21, 1, 3)) && !restored((20, 2, 3)) && !restored((20, 1, 4)));
    }
}
