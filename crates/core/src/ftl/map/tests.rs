//! Tests of the map by example, and against a model of plain vectors.

use super::*;
use crate::ftl::config::ExtentKind;
use proptest::prelude::*;

#[test]
fn the_fill_is_a_bijection_that_keeps_chunks_together() {
    let layout = Layout::new(ExtentKind::Superblock, 6, 2, 8, 8192, 4096, 2, vec![5; 6], 700);
    let fill = Fill::new(&layout, 4, vec![2, 0, 4, 1, 3, 5], None);
    let mut seen = std::collections::BTreeSet::new();
    for lpn in Lpn(0).run(700) {
        let ppa = fill.ppa(lpn);
        assert_eq!(fill.lpn(ppa), lpn);
        assert!(seen.insert(ppa));
    }
    assert_eq!(fill.ppa(Lpn(3)), fill.ppa(Lpn(0)) + 3);
    let by_lane = fill.units_by_lane(701);
    assert_eq!(by_lane.iter().sum::<u32>(), 701);
    for (lane, &n) in by_lane.iter().enumerate() {
        let base = Ppa(lane as u32 * layout.stride * layout.units_per_extent);
        assert!(base.run(n).all(|ppa| fill.lpn(ppa) < Lpn(701)), "lane {lane}");
    }
}

#[test]
fn valid_masks_cross_words() {
    let layout = Layout::new(ExtentKind::Superblock, 1, 1, 64, 8192, 4096, 1, vec![5; 1], 300);
    let fill = Fill::new(&layout, 2, vec![0], None);
    let mut map = Map::new(&layout, fill).unwrap();
    map.set_valid_range(Ppa(60), 70);
    map.set_valid_range(Ppa(40), 0);
    assert_eq!(map.valid_mask(Ppa(58), 8), 0b1111_1100);
    assert_eq!(map.valid_mask(Ppa(126), 8), 0b1111);
    assert_eq!(map.valid_mask(Ppa(64), 64), u64::MAX);
    assert!((0..640).all(|p| map.is_valid(Ppa(p)) == (60..130).contains(&p)));
}

/// Where a fill puts each of the first `filled` units and the parity of whole stripes, and how many
/// units it puts on each lane, computed chunk by chunk, or stripe by stripe.
fn filled_by_hand(
    layout: &Layout,
    chunk: u32,
    order: &[u32],
    stripes: Option<&Stripes>,
    filled: u32,
) -> (Vec<(Lpn, Ppa)>, Vec<u32>) {
    let mut in_lane = vec![0; order.len()];
    let mut places = Vec::new();
    let mut put = |unit: Lpn, lane: u32| {
        let within: &mut u32 = &mut in_lane[lane as usize];
        places.push((unit, Ppa(lane * layout.stride * layout.units_per_extent + *within)));
        *within += 1;
    };
    match stripes {
        None => (0..filled).for_each(|unit| put(Lpn(unit), order[(unit / chunk) as usize % order.len()])),
        Some(s) => (0..filled / (s.width - 1))
            .flat_map(|stripe| s.members(stripe))
            .for_each(|u| put(u, s.fill_lane(u))),
    }
    (places, in_lane)
}

/// Eight lanes of 15 extents of 8 units, with 300 host units, with or without parity.
fn drive(with_parity: bool, chunk: u32, order: &[u32]) -> (Layout, Fill, Option<Stripes>) {
    let l = Layout::new(ExtentKind::Block, 8, 1, 8, 4096, 4096, 1, vec![15; 8], 300);
    let stripes = with_parity.then(|| Stripes::new(&l, 4, 4, &[1, 0]));
    let fill = Fill::new(&l, chunk, order.to_vec(), stripes.clone());
    (l, fill, stripes)
}

fn order() -> impl Strategy<Value = Vec<u32>> {
    Just((0..8).collect::<Vec<u32>>()).prop_shuffle()
}

proptest! {
    #[test]
    fn a_fill_goes_chunk_by_chunk_or_stripe_by_stripe(
        with_parity in any::<bool>(),
        chunk in 1..6u32,
        order in order(),
        units in 0..=300u32,
    ) {
        let (l, fill, stripes) = drive(with_parity, chunk, &order);
        let end = fill.end(units);
        let stripe = if with_parity { 3 } else { 1 };
        prop_assert!(end >= units && end < units + stripe && end % stripe == 0);
        let (places, in_lane) = filled_by_hand(&l, chunk, &order, stripes.as_ref(), end);
        for &(unit, ppa) in &places {
            prop_assert_eq!((fill.ppa(unit), fill.lpn(ppa)), (ppa, unit));
            let first = Lpn(3 * unit.0.saturating_sub(300));
            let covered = (unit >= Lpn(300)).then_some(first..first + 3);
            prop_assert_eq!(fill.covered(unit), covered);
        }
        prop_assert_eq!(fill.units_by_lane(end), in_lane);
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Flash { lpn: Lpn, ppa: Ppa },
    Buffer { lpn: Lpn, slot: u32 },
    Trim { lpn: Lpn },
    Valid { ppa: Ppa },
    Stale { ppa: Ppa },
    Range { start: Ppa, count: u32 },
}

/// Steps on a map of 400 logical and 960 physical units. They use few of the physical units, so
/// that several steps hit the same one.
fn step() -> impl Strategy<Value = Step> {
    let lpn = || (0..400u32).prop_map(Lpn);
    let ppa = || prop_oneof![0..70u32, 890..960u32].prop_map(Ppa);
    prop_oneof![
        (lpn(), ppa()).prop_map(|(lpn, ppa)| Step::Flash { lpn, ppa }),
        (lpn(), 0..9u32).prop_map(|(lpn, slot)| Step::Buffer { lpn, slot }),
        lpn().prop_map(|lpn| Step::Trim { lpn }),
        ppa().prop_map(|ppa| Step::Valid { ppa }),
        ppa().prop_map(|ppa| Step::Stale { ppa }),
        (0..960u32, 0..200u32)
            .prop_map(|(start, count)| Step::Range { start: Ppa(start), count: count.min(960 - start) }),
    ]
}

proptest! {
    #[test]
    fn the_map_is_what_the_model_says_after_any_steps(
        order in order(),
        filled in prop_oneof![Just(0), (0..=100u32).prop_map(|stripes| 3 * stripes)],
        in_file in any::<bool>(),
        steps in prop::collection::vec(step(), 0..60),
        masks in prop::collection::vec((0..960u32, 1..=64u32), 20),
    ) {
        let (l, fill, stripes) = drive(true, 1, &order);
        let mut map = Map::new(&l, fill).unwrap();
        if in_file {
            map.reverse = BigArray::in_file(960).unwrap();
        }
        map.filled(filled);
        let of_host = |lpn: Lpn| lpn.0 < l.host_units;
        let held = |lpn, i| Mapping::Buffer(if of_host(lpn) { InBuffer::Slot(i) } else { InBuffer::Stripe(i) });
        let mut places = vec![Mapping::Unmapped; 400];
        let mut owners = vec![None; 960];
        let mut valid = vec![false; 960];
        for (unit, ppa) in filled_by_hand(&l, 1, &order, stripes.as_ref(), filled).0 {
            (places[unit.index()], owners[ppa.index()]) = (Mapping::Flash(ppa), Some(unit));
        }
        for step in steps {
            match step {
                Step::Flash { lpn, ppa } => {
                    map.set_flash(lpn, ppa);
                    map.set_owner(ppa, lpn);
                    (places[lpn.index()], owners[ppa.index()]) = (Mapping::Flash(ppa), Some(lpn));
                }
                Step::Buffer { lpn, slot } => {
                    let old_ppa = std::mem::replace(&mut places[lpn.index()], held(lpn, slot));
                    if of_host(lpn) {
                        prop_assert_eq!(map.set_buffer(lpn, slot), old_ppa);
                    } else {
                        map.set_stripe(lpn, slot);
                    }
                }
                Step::Trim { lpn } => {
                    let old_ppa = std::mem::replace(&mut places[lpn.index()], Mapping::Unmapped);
                    prop_assert_eq!(map.trim(lpn), old_ppa);
                }
                Step::Valid { ppa } => {
                    map.set_valid(ppa);
                    valid[ppa.index()] = true;
                }
                Step::Stale { ppa } => {
                    map.clear_valid(ppa);
                    valid[ppa.index()] = false;
                }
                Step::Range { start, count } => {
                    // How the owners are going to be accessed changes nothing.
                    map.fetch_owners(start, count);
                    map.reverse.access_in_order(count % 2 == 0);
                    map.set_valid_range(start, count);
                    valid[start.index()..][..count as usize].fill(true);
                }
            }
            for (lpn, &place) in Lpn(0).run(400).zip(&places) {
                prop_assert_eq!(map.lookup(lpn), place);
                for slot in (0..9).filter(|_| of_host(lpn)) {
                    prop_assert_eq!(map.is_buffered_in(lpn, slot), place == held(lpn, slot));
                }
            }
            for (ppa, &valid) in Ppa(0).run(960).zip(&valid) {
                prop_assert_eq!(map.is_valid(ppa), valid);
                if let Some(lpn) = owners[ppa.index()] {
                    prop_assert_eq!(map.owner(ppa), lpn);
                }
            }
        }
        for (start, count) in masks {
            let count = count.min(960 - start);
            let bit = |i: u32| u64::from(valid[(start + i) as usize]) << i;
            prop_assert_eq!(map.valid_mask(Ppa(start), count), (0..count).map(bit).sum::<u64>());
        }
        let buffered = places.iter().any(|place| matches!(place, Mapping::Buffer(_)));
        prop_assert_eq!(map.is_sane(l.host_units, 0), !buffered, "a drive at rest has nothing in its buffer");
    }
}

/// Damaged snapshots: in each, an entry points one past the end of its table.
#[test]
fn a_map_that_points_outside_is_not_sane() {
    let order: Vec<u32> = (0..8).collect();
    let (l, ..) = drive(true, 1, &order);
    let sane = |damage: &dyn Fn(&mut Map)| {
        let mut map = Map::new(&l, drive(true, 1, &order).1).unwrap();
        damage(&mut map);
        map.is_sane(l.host_units, 0)
    };
    assert!(sane(&|map| map.set_flash(Lpn(0), Ppa(959))) && !sane(&|map| map.set_flash(Lpn(0), Ppa(960))));
    assert!(sane(&|map| map.set_owner(Ppa(0), Lpn(399))) && !sane(&|map| map.set_owner(Ppa(0), Lpn(400))));
    assert!(sane(&|map| map.state.filled = 300) && !sane(&|map| map.state.filled = 301));
    assert!(
        sane(&|map| map.state.parity = (Lpn(300), Lpn(400)))
            && !sane(&|map| map.state.parity = (Lpn(300), Lpn(401)))
    );
    assert!(sane(&|map| assert_eq!(map.trim(Lpn(0)), Mapping::Unmapped)));
}

/// Damaged snapshots: the two directions of the map contradict each other.
#[test]
fn directions_that_disagree_are_noticed() {
    let order: Vec<u32> = (0..8).collect();
    let (l, fill, _) = drive(false, 1, &order);
    let filled = || {
        let mut map = Map::new(&l, fill.clone()).unwrap();
        map.filled(300);
        for lpn in Lpn(0).run(300) {
            map.set_valid(map.fill.ppa(lpn));
        }
        map
    };
    let agrees = |damage: &dyn Fn(&mut Map)| {
        let mut map = filled();
        damage(&mut map);
        map.agrees()
    };
    let (at, free) = (filled().fill.ppa(Lpn(7)), Ppa(959));
    assert!(agrees(&|_| {}) && !filled().is_valid(free));
    assert!(!agrees(&|map| map.clear_valid(at)), "a mapped unit is stale");
    assert!(!agrees(&|map| map.set_valid(free)), "a valid unit is not mapped");
    assert!(!agrees(&|map| map.set_owner(at, Lpn(8))), "another owner");
    assert!(!agrees(&|map| map.set_flash(Lpn(7), free)), "another place");
    assert!(!agrees(&|map| _ = map.trim(Lpn(7))), "valid and trimmed");
    assert!(agrees(&|map| {
        map.clear_valid(at);
        map.set_flash(Lpn(7), free);
        map.set_owner(free, Lpn(7));
        map.set_valid(free);
    }));
}
