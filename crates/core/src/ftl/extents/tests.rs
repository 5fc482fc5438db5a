//! Compares extents with a plain model: per lane a queue of free extents and two frontiers, and per
//! extent a record.

use super::*;
use crate::ftl::config::ExtentKind;
use proptest::prelude::*;
use std::collections::VecDeque;

const USABLE: [u32; 2] = [5, 3];

/// Two lanes with extents of six rows of two units. The second lane has two bad extents.
fn layout() -> Layout {
    Layout::new(ExtentKind::Superblock, 2, 2, 3, 8192, 4096, 1, USABLE.to_vec(), 40)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Free,
    /// Taken by a writer, with rows left to take or to program.
    Open,
    Closed,
    Collected,
    Bad,
}

#[derive(Clone, Debug)]
struct Extent {
    stage: Stage,
    /// The rows that lie in no hole.
    rows: Vec<u32>,
    valid: u32,
    closed: u64,
    taken: u32,
    programmed: u32,
}

#[derive(Clone, Debug)]
struct Model {
    extents: Vec<Extent>,
    free: Vec<VecDeque<u32>>,
    /// By lane and writer: the open extent, if it has rows left.
    open: Vec<[Option<u32>; 2]>,
    serial: u64,
    erases: u64,
}

impl Model {
    /// `holes` names extents and their parts: odd or even rows.
    fn new(l: &Layout, holes: &[(u32, u32)]) -> Model {
        let blank = Extent {
            stage: Stage::Bad,
            rows: (0..l.rows_per_extent).collect(),
            valid: 0,
            closed: 0,
            taken: 0,
            programmed: 0,
        };
        let mut extents = vec![blank; l.extents() as usize];
        let first = |lane: u32| lane * l.stride;
        let free: Vec<VecDeque<u32>> =
            (0..l.lanes).map(|lane| (first(lane)..first(lane) + USABLE[lane as usize]).collect()).collect();
        for &e in free.iter().flatten() {
            extents[e as usize].stage = Stage::Free;
        }
        let open = vec![[None; 2]; l.lanes as usize];
        let mut model = Model { extents, free, open, serial: 0, erases: 0 };
        for &(e, part) in holes {
            model.leave_hole(e, part);
        }
        model.retire_empty();
        model
    }

    fn leave_hole(&mut self, e: u32, part: u32) {
        self.extents[e as usize].rows.retain(|row| row % 2 != part);
    }

    /// Take free extents without rows out of use.
    fn retire_empty(&mut self) {
        let extents = &mut self.extents;
        for free in &mut self.free {
            free.retain(|&e| {
                let extent = &mut extents[e as usize];
                if extent.rows.is_empty() {
                    extent.stage = Stage::Bad;
                }
                !extent.rows.is_empty()
            });
        }
    }

    fn free_rows(&self, lane: u32) -> u32 {
        self.free[lane as usize].iter().map(|&e| self.extents[e as usize].rows.len() as u32).sum()
    }

    /// Whether a lane may open an extent such that the rows of `reserve` extents stay free.
    fn may_open(&self, l: &Layout, lane: u32, reserve: u32) -> bool {
        let Some(&e) = self.free[lane as usize].front() else { return false };
        self.free_rows(lane) - self.extents[e as usize].rows.len() as u32 >= reserve * l.rows_per_extent
    }

    fn close(&mut self, e: u32) {
        let extent = &mut self.extents[e as usize];
        (extent.stage, extent.closed) = (Stage::Closed, self.serial);
        self.serial += 1;
    }

    /// The open extent of a writer, if it has rows left.
    fn with_rows(&self, lane: u32, writer: Writer) -> Option<u32> {
        let e = self.open[lane as usize][writer as usize]?;
        assert!(self.extents[e as usize].taken < self.extents[e as usize].rows.len() as u32);
        Some(e)
    }

    fn take_row(&mut self, l: &Layout, lane: u32, writer: Writer, reserve: u32) -> Option<Ppa> {
        let e = match self.with_rows(lane, writer) {
            Some(e) => e,
            None if !self.may_open(l, lane, reserve) => return None,
            None => {
                let e = self.free[lane as usize].pop_front().expect("more than the reserve");
                self.extents[e as usize].stage = Stage::Open;
                self.open[lane as usize][writer as usize] = Some(e);
                e
            }
        };
        let extent = &mut self.extents[e as usize];
        let row = extent.rows[extent.taken as usize];
        extent.taken += 1;
        if extent.taken == extent.rows.len() as u32 {
            self.open[lane as usize][writer as usize] = None;
        }
        Some(Ppa((e * l.rows_per_extent + row) * l.units_per_row))
    }

    fn row_programmed(&mut self, e: u32) {
        let extent = &mut self.extents[e as usize];
        extent.programmed += 1;
        if extent.programmed == extent.rows.len() as u32 {
            self.close(e);
        }
    }

    /// Fill the first `rows` rows of an empty lane with `units` units.
    fn fill(&mut self, l: &Layout, lane: u32, mut units: u32, mut rows: u32) {
        while rows > 0 {
            let e = self.free[lane as usize].pop_front().expect("it fits");
            let extent = &mut self.extents[e as usize];
            extent.valid = units.min(l.units_per_extent);
            extent.taken = rows.min(l.rows_per_extent);
            extent.programmed = extent.taken;
            extent.stage = Stage::Open;
            let left = extent.taken < l.rows_per_extent;
            self.open[lane as usize][Writer::Host as usize] = left.then_some(e);
            (units, rows) = (units - extent.valid, rows - extent.taken);
            if self.extents[e as usize].taken == l.rows_per_extent {
                self.close(e);
            }
        }
    }

    fn erased(&mut self, l: &Layout, e: u32) {
        let extent = &mut self.extents[e as usize];
        (extent.stage, extent.taken, extent.programmed) = (Stage::Free, 0, 0);
        self.erases += 1;
        self.free[(e / l.stride) as usize].push_back(e);
    }
}

/// A random step. Its extent is picked among those for which the step is possible.
#[derive(Clone, Copy, Debug)]
enum Step {
    Take(u32, Writer, u32),
    Program,
    Gain,
    Lose,
    Collect,
    Abandon,
    /// The parts that are holes from now on.
    Erase(Option<u32>),
    HoleInFree(u32, u32),
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    let writer = prop_oneof![Just(Writer::Host), Just(Writer::Collection)];
    prop_oneof![
        10 => (0..2u32, writer, 0..3u32).prop_map(|(lane, writer, reserve)| Step::Take(lane, writer, reserve)),
        9 => Just(Step::Program),
        4 => Just(Step::Gain),
        5 => Just(Step::Lose),
        3 => Just(Step::Collect),
        1 => Just(Step::Abandon),
        4 => prop_oneof![4 => Just(None), 1 => (0..2u32).prop_map(Some)].prop_map(Step::Erase),
        1 => (0..2u32, 0..2u32).prop_map(|(lane, part)| Step::HoleInFree(lane, part)),
        1 => Just(Step::Restore),
    ]
}

/// The initial state of the drive.
#[derive(Clone, Debug)]
enum Start {
    Empty,
    /// Units of each lane, and the number of additional rows without data.
    Filled([u32; 2], u32),
    Full([Vec<u32>; 2]),
}

fn start() -> impl Strategy<Value = Start> {
    let counts = |most: usize| prop::collection::vec(0..=12u32, 0..=most);
    prop_oneof![
        Just(Start::Empty),
        ((0..50u32, 0..25u32), 0..8u32).prop_map(|((a, b), more)| Start::Filled([a, b], more)),
        (counts(4), counts(2)).prop_map(|(a, b)| Start::Full([a, b])),
    ]
}

fn begin(l: &Layout, start: &Start, real: &mut Extents, model: &mut Model) {
    for lane in 0..2 {
        match start {
            Start::Empty => {}
            Start::Filled(units, more) => {
                let units = units[lane as usize];
                let rows = (units.div_ceil(l.units_per_row) + more).min(30 - 12 * lane);
                // All rows that a fill leaves without data are in the last extent of the fill.
                let rows = rows.min((units / l.units_per_extent + 1) * l.rows_per_extent);
                real.fill_lane(l, lane, units, rows);
                model.fill(l, lane, units, rows);
            }
            Start::Full(counts) => {
                real.take_full(l, lane, &counts[lane as usize]);
                for &valid in &counts[lane as usize] {
                    let e = model.free[lane as usize].pop_front().expect("it fits");
                    let extent = &mut model.extents[e as usize];
                    (extent.valid, extent.taken, extent.programmed) = (valid, 6, 6);
                    model.close(e);
                }
            }
        }
    }
}

fn compare(l: &Layout, real: &Extents, model: &Model) {
    assert!(real.fits(l));
    assert_eq!((real.serial, real.erases), (model.serial, model.erases));
    assert_eq!(real.free_total(l), (0..2).map(|lane| u64::from(model.free_rows(lane) / 6)).sum());
    for lane in 0..l.lanes {
        assert_eq!(real.free(l, lane), model.free_rows(lane) / 6);
        assert!(real.free_extents(lane).eq(model.free[lane as usize].iter().copied()));
        assert_eq!(real.choice(l, lane), model.erases * 2 + u64::from(lane));
        for writer in [Writer::Host, Writer::Collection] {
            for reserve in 0..4 {
                let mut taking = model.clone();
                for rows in 1..9 {
                    let has = taking.take_row(l, lane, writer, reserve).is_some();
                    assert_eq!(
                        real.has_rows(l, lane, writer, reserve, rows),
                        has,
                        "{lane} {writer:?} {rows}"
                    );
                    assert!(rows > 1 || real.has_row(l, lane, writer, reserve) == has, "{lane} {writer:?}");
                    if !has {
                        break;
                    }
                }
            }
        }
        let (valid, closed) = real.lane_slices(l, lane);
        assert_eq!((valid.len(), closed.len()), (5, 5));
        for (i, e) in (lane * l.stride..(lane + 1) * l.stride).enumerate() {
            let extent = &model.extents[e as usize];
            if extent.stage == Stage::Closed {
                let holes = (6 - extent.rows.len() as u32) * 2;
                assert_eq!((valid[i], closed[i]), (extent.valid + holes, extent.closed), "extent {e}");
                assert_eq!(real.hole_slice(l, lane).get(i).copied().unwrap_or(0), holes, "extent {e}");
            } else {
                assert!(valid[i] > l.units_per_extent, "extent {e} is no victim");
            }
        }
    }
    let written = |e: &Extent| match e.taken {
        0 => 0,
        taken => e.rows.get(taken as usize).copied().unwrap_or(6),
    };
    let rows: Vec<u32> = model.extents.iter().map(written).collect();
    assert_eq!(real.rows_written(l), rows);
    for (e, extent) in (0..).zip(&model.extents) {
        assert_eq!(real.valid(e), extent.valid);
        assert_eq!(real.is_closed(e), extent.stage == Stage::Closed);
    }
}

/// Do a step on `real` and `model`, if there is an extent for which it is possible.
fn act(l: &Layout, step: Step, pick: usize, real: &mut Extents, model: &mut Model) {
    use Stage::{Closed, Collected, Open};
    let find = |model: &Model, fits: &dyn Fn(&Extent) -> bool| {
        let all: Vec<u32> = (0..l.extents()).filter(|&e| fits(&model.extents[e as usize])).collect();
        all.get(pick % all.len().max(1)).copied()
    };
    let target = match step {
        Step::Take(lane, writer, reserve) => {
            let row = real.take_row(l, lane, writer, reserve);
            return assert_eq!(row, model.take_row(l, lane, writer, reserve));
        }
        Step::Restore => {
            let bytes = postcard::to_stdvec(&*real).unwrap();
            *real = postcard::from_bytes(&bytes).unwrap();
            return;
        }
        Step::HoleInFree(lane, part) => {
            if real.holes().is_some() {
                real.add_hole_to_free(l, lane, part);
                for e in model.free[lane as usize].clone() {
                    model.leave_hole(e, part);
                }
                model.retire_empty();
            }
            return;
        }
        Step::Program => find(model, &|e| e.programmed < e.taken),
        Step::Gain => find(model, &|e| e.stage == Open && e.valid < e.taken * l.units_per_row),
        Step::Lose => find(model, &|e| e.valid > 0),
        Step::Collect => find(model, &|e| e.stage == Closed),
        Step::Abandon => find(model, &|e| e.stage == Collected),
        Step::Erase(_) => find(model, &|e| e.stage == Collected && e.valid == 0),
    };
    let Some(e) = target else { return };
    let extent = &mut model.extents[e as usize];
    match step {
        Step::Take(..) | Step::Restore | Step::HoleInFree(..) => {}
        Step::Program => {
            real.row_programmed(l, e);
            model.row_programmed(e);
        }
        Step::Gain => {
            real.gain(e);
            extent.valid += 1;
        }
        Step::Lose => {
            extent.valid -= 1;
            let holes = (6 - extent.rows.len() as u32) * 2;
            assert_eq!(real.lose(e), Some(extent.valid + holes).filter(|_| extent.stage == Closed));
        }
        Step::Collect => {
            real.begin_collection(e);
            extent.stage = Collected;
        }
        Step::Abandon => {
            real.abandon_collection(e);
            extent.stage = Closed;
        }
        Step::Erase(part) => {
            if let Some(part) = part.filter(|_| real.holes().is_some()) {
                real.add_hole(l, e, part);
                model.leave_hole(e, part);
            }
            if real.rows_of(l, e) == 0 {
                real.retire(e);
            } else {
                real.erased(l, e);
            }
            model.erased(l, e);
            model.retire_empty();
        }
    }
}

proptest! {
    #[test]
    fn extents_are_what_the_model_says_after_any_steps(
        start in start(),
        holes in prop::option::weighted(0.5, prop::collection::vec((0..10u32, 0..2u32), 0..8)),
        steps in prop::collection::vec((step(), any::<usize>()), 0..300),
    ) {
        let l = layout();
        let mut table = Holes::new(&l);
        for &(e, part) in holes.iter().flatten() {
            table.add(&l, e, part);
        }
        let mut real = Extents::with_holes(&l, holes.is_some().then_some(&table));
        let mut model = Model::new(&l, holes.as_deref().unwrap_or(&[]));
        if holes.is_none() {
            // Lanes are filled in another way where extents have holes.
            begin(&l, &start, &mut real, &mut model);
        }
        compare(&l, &real, &model);
        for (step, pick) in steps {
            act(&l, step, pick, &mut real, &mut model);
            compare(&l, &real, &model);
        }
    }
}

/// A snapshot of another drive is refused: any table that is too long, and any index that points
/// outside.
#[test]
fn tables_of_another_layout_do_not_fit() {
    let l = layout();
    let other = |usable: Vec<u32>| {
        let lanes = usable.len() as u32;
        Extents::new(&Layout::new(ExtentKind::Superblock, lanes, 2, 3, 8192, 4096, 1, usable, 40))
    };
    assert!(Extents::new(&l).fits(&l) && other(vec![5, 5]).fits(&l));
    assert!(!other(vec![5, 4, 3]).fits(&l), "more lanes");
    assert!(!other(vec![6, 3]).fits(&l), "more extents a lane");
    assert!(!other(vec![4, 4]).fits(&l), "fewer extents a lane");
    assert!(!other(vec![10]).fits(&l), "as many extents in one lane");
    let damaged = |damage: &dyn Fn(&mut Extents)| {
        let mut e = Extents::new(&l);
        damage(&mut e);
        !e.fits(&l)
    };
    assert!(damaged(&|e| e.take_full(&l, 0, &[13])), "more valid units than an extent has");
    assert!(!damaged(&|e| e.take_full(&l, 0, &[12])));
    assert!(damaged(&|e| e.valid.truncate(9)) && damaged(&|e| e.closed.truncate(9)));
    assert!(damaged(&|e| e.pending_rows.truncate(9)));
    assert!(damaged(&|e| e.links.push(Link::default())) && damaged(&|e| e.lanes.truncate(1)));
    // A list or a link that points outside.
    let far = |e: &mut Extents| (List::default(), vec![Link::default(); 11], e.links.len() as u32);
    assert!(damaged(&|e| {
        let (mut list, mut links, outside) = far(e);
        list.push_back(&mut links, outside);
        e.lanes[1].free = list;
    }));
    assert!(damaged(&|e| {
        let (mut list, mut links, outside) = far(e);
        list.push_back(&mut links, 0);
        list.push_back(&mut links, outside);
        e.links[0] = links[0];
    }));
    for frontier in [Frontier { extent: 10, next_row: 0 }, Frontier { extent: 0, next_row: 7 }] {
        assert!(damaged(&|e| e.lanes[0].frontiers[1] = frontier));
    }
    assert!(!damaged(&|e| e.lanes[0].frontiers[1] = Frontier { extent: 9, next_row: 6 }));
}

/// Damaged snapshots whose indices all lie inside: free lists, frontiers and holes that cannot be.
#[test]
fn tables_that_contradict_themselves_are_refused() {
    let l = layout();
    let mut table = Holes::new(&l);
    for (extent, part) in [(1, 0), (2, 0), (2, 1)] {
        table.add(&l, extent, part);
    }
    let refusal = |damage: &dyn Fn(&mut Extents), grown: bool| {
        let mut e = Extents::with_holes(&l, Some(&table));
        damage(&mut e);
        assert!(e.fits(&l));
        e.check(&l, Some(&table), grown).err().unwrap_or_default()
    };
    assert_eq!(refusal(&|_| {}, false), "");
    let more = |e: &mut Extents| e.add_hole_to_free(&l, 1, 0);
    assert_eq!(refusal(&more, true), "");
    assert!(refusal(&more, false).contains("holes are not those"));
    let fewer = |e: &mut Extents| e.holes = Some(Holes::new(&l));
    assert!(refusal(&fewer, true).contains("holes are not those"));
    assert!(refusal(&|e| e.holes = None, true).contains("have no holes"));
    assert!(Extents::with_holes(&l, Some(&table)).check(&l, None, true).is_err());
    assert!(refusal(&|e| e.lanes[0].free_rows -= 1, false).contains("has 21 free rows and counts 20"));
    let empty = |e: &mut Extents| e.lanes[0].free.push_back(&mut e.links, 2);
    assert!(refusal(&empty, false).contains("extent 2 is free and has no row"));
    let ring = |e: &mut Extents| e.links[4] = e.links[0];
    assert!(refusal(&ring, false).contains("a free list"));
    let foreign = |e: &mut Extents| e.lanes[0].free.push_back(&mut e.links, 5);
    assert!(refusal(&foreign, false).contains("extent 5 is free in lane 0"));
    let write = |extent, next_row| {
        refusal(
            &|e: &mut Extents| {
                if extent < 5 {
                    e.remove_free(&l, extent);
                }
                e.lanes[0].frontiers[0] = Frontier { extent, next_row };
            },
            false,
        )
    };
    assert_eq!((write(1, 1), write(1, 6)), (String::new(), String::new()));
    assert_eq!(write(1, 2), "lane 0 writes into a hole");
    assert!(write(6, 0).contains("which it does not have"));
    let twice = |e: &mut Extents| e.lanes[0].frontiers[0] = Frontier { extent: 0, next_row: 0 };
    assert!(refusal(&twice, false).contains("an extent that is free"));
}

#[test]
fn holes_of_another_layout_do_not_fit() {
    let l = layout();
    let other = Layout::new(ExtentKind::Superblock, 2, 2, 3, 8192, 4096, 1, vec![6, 3], 40);
    let one_part = Layout::new(ExtentKind::Superblock, 2, 2, 3, 8192, 4096, 2, USABLE.to_vec(), 40);
    let mut holes = Holes::new(&l);
    assert!(holes.fits(&l) && !holes.fits(&other) && !holes.fits(&one_part));
    holes.add(&l, 3, 1);
    assert!(holes.fits(&l));
    // A hole of a layout with pages of another number loses other units.
    let shorter = Layout::new(ExtentKind::Superblock, 2, 2, 2, 8192, 4096, 1, USABLE.to_vec(), 40);
    assert!(!holes.fits(&shorter));
}
