//! Tests of the write buffer by example, and against a plain model.

use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

const FIRST: DirtyList = DirtyList(0);
const SECOND: DirtyList = DirtyList(1);

#[test]
fn masks_cover_whole_granules_on_writes_and_touched_ones_on_reads() {
    let b = Buffer::new(4, 4096, 1, 1);
    assert_eq!(b.full(), 0xFF);
    assert_eq!(b.mask(0, 4096, true), 0xFF);
    assert_eq!(b.mask(100, 1024, true), 0b10);
    assert_eq!(b.mask(100, 1024, false), 0b11);
    assert_eq!(b.mask(100, 200, true), 0);
    assert_eq!(Buffer::new(1, 65536, 1, 1).mask(0, 65536, true), u64::MAX);
}

#[test]
fn oldest_leave_first_and_overwrites_make_young() {
    let mut b = Buffer::new(3, 4096, 2, 1);
    let a = b.insert(Lpn(10), Ppa::NONE, 1, FIRST, NONE).unwrap();
    let c = b.insert(Lpn(11), Ppa::NONE, 1, SECOND, NONE).unwrap();
    let d = b.insert(Lpn(12), Ppa::NONE, 1, FIRST, NONE).unwrap();
    assert!(b.insert(Lpn(13), Ppa::NONE, 1, FIRST, NONE).is_none());
    b.overwrite(a, 2);
    assert_eq!(b.oldest_list(), Some(SECOND));
    assert_eq!(b.depart(FIRST), Some(d));
    assert_eq!(b.depart(SECOND), Some(c));
    assert_eq!(b.oldest_list(), Some(FIRST));
    assert_eq!(b.slot(a).mask, 3);
    b.release(d);
    b.release(a);
    assert_eq!((b.held(), b.dirty()), (1, 0));
}

#[test]
fn what_moves_takes_no_room_of_the_host() {
    let mut b = Buffer::new(1, 4096, 1, 1).with_aside(2);
    let moving = b.take_moving(Lpn(7), FIRST);
    assert_eq!((b.capacity(), b.slots(), b.held(), b.dirty(), b.room_aside()), (1, 3, 0, 0, 1));
    let fence = b.fence();
    assert!(b.is_durable(fence), "a FLUSH does not wait for it");
    let own = b.insert(Lpn(8), Ppa::NONE, 1, FIRST, NONE).expect("the host has its slot");
    assert!(b.insert(Lpn(9), Ppa::NONE, 1, FIRST, NONE).is_none(), "and no other");
    assert_eq!((b.depart(FIRST), b.depart(FIRST)), (Some(own), None));
    b.release(moving);
    b.release(own);
    assert_eq!((b.held(), b.room_aside()), (0, 2));
}

#[test]
fn a_fence_waits_for_what_was_written_before_it_only() {
    let mut b = Buffer::new(3, 4096, 1, 2);
    let a = b.insert(Lpn(1), Ppa::NONE, 1, FIRST, NONE).unwrap();
    let fence = b.fence();
    let c = b.insert(Lpn(2), Ppa::NONE, 1, FIRST, NONE).unwrap();
    assert!(!b.is_durable(fence));
    b.release(a);
    assert!(b.is_durable(fence));
    b.forget_before(fence + 1);
    assert!(b.is_durable(fence));
    let second = b.fence();
    assert!(!b.is_durable(second));
    b.release(c);
    assert!(b.is_durable(second));
}

/// What a used slot holds. Epochs are numbered from the first one, including forgotten ones.
#[derive(Clone, Copy, Debug)]
struct Held {
    lpn: Lpn,
    old_ppa: Ppa,
    mask: u64,
    list: DirtyList,
    waiter: u32,
    in_flight: bool,
    moving: bool,
    epoch: u32,
}

/// The slots, queues of the dirty ones ordered by their last write, and a stack of the unused ones.
#[derive(Clone, Debug)]
struct Model {
    slots: Vec<Option<Held>>,
    age: VecDeque<u32>,
    lists: Vec<VecDeque<u32>>,
    spare: Vec<u32>,
    host: u32,
    epoch: u32,
}

impl Model {
    fn new(host: u32, aside: u32, lists: u32) -> Model {
        let n = host + aside;
        Model {
            slots: vec![None; n as usize],
            age: VecDeque::new(),
            lists: vec![VecDeque::new(); lists as usize],
            spare: (0..n).rev().collect(),
            host,
            epoch: 0,
        }
    }

    fn count(&self, fits: impl Fn(&Held) -> bool) -> u32 {
        self.slots.iter().flatten().filter(|held| fits(held)).count() as u32
    }

    fn unlink(&mut self, i: u32) {
        self.age.retain(|&other| other != i);
        self.lists.iter_mut().for_each(|list| list.retain(|&other| other != i));
    }

    fn link(&mut self, i: u32, list: DirtyList) {
        self.age.push_back(i);
        self.lists[list.index()].push_back(i);
    }

    /// A slot for which `fits` is true, chosen by the random number `pick`.
    fn find(&self, pick: usize, fits: impl Fn(&Held) -> bool) -> Option<u32> {
        let fits = |i: &u32| self.slots[*i as usize].as_ref().is_some_and(&fits);
        let all: Vec<u32> = (0..self.slots.len() as u32).filter(fits).collect();
        all.get(pick % all.len().max(1)).copied()
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Insert { lpn: Lpn, mask: u64, list: DirtyList },
    Overwrite { mask: u64 },
    Depart { list: DirtyList },
    Move { lpn: Lpn, list: DirtyList },
    Release,
    Annotate { old_ppa: Ppa, waiter: u32 },
    Fence,
    Forget { before: u32 },
    Restore,
}

fn list() -> impl Strategy<Value = DirtyList> {
    (0..3u32).prop_map(DirtyList)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..100u32, 1..16u64, list()).prop_map(|(lpn, mask, list)| Step::Insert { lpn: Lpn(lpn), mask, list }),
        4 => (1..16u64).prop_map(|mask| Step::Overwrite { mask }),
        4 => list().prop_map(|list| Step::Depart { list }),
        2 => (0..100u32, list()).prop_map(|(lpn, list)| Step::Move { lpn: Lpn(lpn), list }),
        6 => Just(Step::Release),
        1 => (0..9u32, 0..9u32).prop_map(|(old_ppa, waiter)| Step::Annotate { old_ppa: Ppa(old_ppa), waiter }),
        2 => Just(Step::Fence),
        1 => (0..12u32).prop_map(|before| Step::Forget { before }),
        1 => Just(Step::Restore),
    ]
}

fn compare(real: &Buffer, model: &Model) {
    let moving = model.count(|h| h.moving);
    let aside = model.slots.len() as u32 - model.host;
    assert_eq!((real.capacity(), real.slots()), (model.host, model.host + aside));
    assert_eq!(real.held(), model.count(|h| !h.moving));
    assert_eq!(real.room_aside(), aside - moving);
    assert_eq!(real.dirty(), model.count(|h| !h.in_flight));
    for (list, queue) in (0..).zip(&model.lists) {
        assert_eq!(real.dirty_in(DirtyList(list)), queue.len() as u32);
    }
    let list_of = |&i: &u32| model.slots[i as usize].expect("a dirty slot is held").list;
    assert_eq!(real.oldest_list(), model.age.front().map(list_of));
    for (i, held) in (0..).zip(&model.slots) {
        let Some(h) = held else { continue };
        let s = real.slot(i);
        assert_eq!((s.lpn, s.old_ppa, s.mask, s.list), (h.lpn, h.old_ppa, h.mask, h.list), "slot {i}");
        assert_eq!((s.waiter, s.in_flight, s.moving), (h.waiter, h.in_flight, h.moving), "slot {i}");
    }
    for epoch in 0..model.epoch + 2 {
        let waits = model.count(|h| !h.moving && h.epoch <= epoch) > 0;
        assert_eq!(real.is_durable(epoch), !waits, "epoch {epoch}");
    }
}

fn act(step: Step, pick: usize, real: &mut Buffer, model: &mut Model) {
    match step {
        Step::Insert { lpn, mask, list } => {
            let full = model.count(|h| !h.moving) == model.host;
            let slot = (!full).then(|| model.spare.pop().expect("the rest is aside"));
            assert_eq!(real.insert(lpn, Ppa(lpn.0 + 1), mask, list, lpn.0 + 2), slot);
            let Some(i) = slot else { return };
            let (old_ppa, waiter, epoch) = (Ppa(lpn.0 + 1), lpn.0 + 2, model.epoch);
            model.slots[i as usize] =
                Some(Held { lpn, old_ppa, mask, list, waiter, in_flight: false, moving: false, epoch });
            model.link(i, list);
        }
        Step::Overwrite { mask } => {
            let Some(i) = model.find(pick, |h| !h.in_flight) else { return };
            real.overwrite(i, mask);
            model.unlink(i);
            let epoch = model.epoch;
            let held = model.slots[i as usize].as_mut().expect("it was found");
            (held.mask, held.epoch) = (held.mask | mask, epoch);
            let list = held.list;
            model.link(i, list);
        }
        Step::Depart { list } => {
            let oldest = model.lists[list.index()].front().copied();
            assert_eq!(real.depart(list), oldest);
            let Some(i) = oldest else { return };
            model.unlink(i);
            model.slots[i as usize].as_mut().expect("a dirty slot is held").in_flight = true;
        }
        Step::Move { lpn, list } => {
            if real.room_aside() == 0 {
                return;
            }
            let i = model.spare.pop().expect("there is room aside");
            assert_eq!(real.take_moving(lpn, list), i);
            let (old_ppa, waiter, epoch) = (Ppa::NONE, NONE, 0);
            model.slots[i as usize] =
                Some(Held { lpn, old_ppa, mask: 0, list, waiter, in_flight: true, moving: true, epoch });
        }
        Step::Release => {
            let Some(i) = model.find(pick, |_| true) else { return };
            real.release(i);
            model.unlink(i);
            model.slots[i as usize] = None;
            model.spare.push(i);
        }
        Step::Annotate { old_ppa, waiter } => {
            let Some(i) = model.find(pick, |_| true) else { return };
            (real.slot_mut(i).old_ppa, real.slot_mut(i).waiter) = (old_ppa, waiter);
            let held = model.slots[i as usize].as_mut().expect("it was found");
            (held.old_ppa, held.waiter) = (old_ppa, waiter);
        }
        Step::Fence => {
            assert_eq!(real.fence(), model.epoch, "what was written up to now");
            model.epoch += 1;
        }
        Step::Forget { before } => real.forget_before(before.min(model.epoch)),
        Step::Restore => {
            let bytes = postcard::to_stdvec(&*real).unwrap();
            *real = postcard::from_bytes(&bytes).unwrap();
        }
    }
}

proptest! {
    #[test]
    fn the_buffer_is_what_the_model_says_after_any_steps(
        (host, aside, lists) in (1..5u32, 0..3u32, Just(3u32)),
        steps in prop::collection::vec((step(), any::<usize>()), 0..150),
    ) {
        let mut real = Buffer::new(host, 4096, lists, 1).with_aside(aside);
        let mut model = Model::new(host, aside, lists);
        compare(&real, &model);
        for (step, pick) in steps {
            act(step, pick, &mut real, &mut model);
            compare(&real, &model);
        }
    }

    /// A granule counts as held if all its bytes were written, and as read if one of its bytes is
    /// requested.
    #[test]
    fn masks_are_what_the_bytes_of_each_granule_say(
        unit in prop::sample::select(vec![512u64, 1024, 1536, 4096, 8192, 32_768, 65_536, 131_072]),
        ends in any::<(u64, u64)>(),
        aligned in any::<bool>(),
    ) {
        let buffer = Buffer::new(1, unit, 1, 1);
        // At most 64 granules of at least one sector.
        let granule = (unit / 64).max(512);
        let granules = unit / granule;
        let step = if aligned { granule } else { 1 };
        let (a, b) = (ends.0 % (unit / step + 1) * step, ends.1 % (unit / step + 1) * step);
        let (from, to) = (a.min(b), a.max(b));
        let bits = |fits: &dyn Fn(u64, u64) -> bool| {
            let set = (0..granules).filter(|g| fits(g * granule, (g + 1) * granule));
            set.fold(0u64, |mask, g| mask | 1 << g)
        };
        prop_assert_eq!(buffer.full(), bits(&|_, _| true));
        prop_assert_eq!(buffer.mask(from, to, true), bits(&|first, end| from <= first && end <= to));
        if from < to {
            prop_assert_eq!(buffer.mask(from, to, false), bits(&|first, end| from < end && first < to));
        }
    }
}

/// The host writes without pause and flushes often. Old epochs are forgotten, so that the number
/// kept is bounded by the outstanding FLUSH commands.
#[test]
fn forgotten_epochs_take_no_room() {
    let mut b = Buffer::new(2, 4096, 1, 1);
    for _ in 0..1_000 {
        let i = b.insert(Lpn(1), Ppa::NONE, 1, FIRST, NONE).unwrap();
        let fence = b.fence();
        b.release(i);
        assert!(b.is_durable(fence));
        b.forget_before(fence + 1);
        assert_eq!(b.epochs.len(), 1);
    }
}
