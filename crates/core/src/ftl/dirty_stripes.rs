//! The dirty stripes: stripes with units in the write buffer.
//!
//! Each such stripe has an entry. The map entry of its parity gives the number of the entry, as the
//! map entry of a host unit gives its buffer slot. An entry has a *job* from its flush until the
//! parity covers the new copies. During that time it cannot be flushed again; units written to it
//! wait for the next flush.

use crate::address::Ppa;
use crate::containers::NONE;
use crate::containers::list::{Link, List};
use serde::{Deserialize, Serialize};

/// One stripe with held units.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The stripe.
    pub stripe: u32,
    /// The copy of its parity on flash, or `NONE`.
    pub old_ppa: Ppa,
    /// The job of the flush under way, or `NONE`.
    pub job: u32,
    /// Serial number of the last write to the stripe.
    pub written: u64,
    /// The list that the entry is in while it has no job.
    list: u32,
}

/// All entries, and by group the lists of the partial and of the whole stripes that may be flushed,
/// the least recently written first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DirtyStripes {
    entries: Vec<Entry>,
    links: Vec<Link>,
    spare: Vec<u32>,
    lists: Vec<List>,
    writes: u64,
    whole: u32,
}

impl DirtyStripes {
    /// Create the table for at most `entries` stripes in `groups` groups. `whole` is the number of data units of a
    /// stripe.
    pub fn new(entries: u32, groups: u32, whole: u32) -> DirtyStripes {
        let blank = Entry { stripe: NONE, old_ppa: Ppa::NONE, job: NONE, written: 0, list: NONE };
        DirtyStripes {
            entries: vec![blank; entries as usize],
            links: vec![Link::default(); entries as usize],
            spare: (0..entries).rev().collect(),
            lists: vec![List::default(); 2 * groups as usize],
            writes: 0,
            whole,
        }
    }

    /// An entry.
    #[inline]
    pub fn entry(&self, i: u32) -> &Entry {
        &self.entries[i as usize]
    }

    /// An entry, to change the address of its parity.
    #[inline]
    pub fn entry_mut(&mut self, i: u32) -> &mut Entry {
        &mut self.entries[i as usize]
    }

    /// Entries in use.
    pub fn used(&self) -> u32 {
        (self.entries.len() - self.spare.len()) as u32
    }

    /// Number of entries, used or not.
    pub fn most(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Whether `dirty` units are all data units of a stripe.
    pub fn is_whole(&self, dirty: u32) -> bool {
        dirty == self.whole
    }

    /// Begin an entry and return its number. It is in no list until [`DirtyStripes::written`] is
    /// called.
    #[inline]
    pub fn open(&mut self, stripe: u32, old_ppa: Ppa) -> u32 {
        let i = self.spare.pop().expect("an entry for each slot of the buffer and each job");
        self.entries[i as usize] = Entry { stripe, old_ppa, job: NONE, written: 0, list: NONE };
        i
    }

    /// Note that a unit of this stripe was written; `dirty` of its units may be flushed now.
    #[inline]
    pub fn written(&mut self, i: u32, group: u32, dirty: u32) {
        let e = &mut self.entries[i as usize];
        e.written = self.writes;
        self.writes += 1;
        if e.job == NONE {
            self.unlink(i);
            self.link(i, group, dirty);
        }
    }

    fn link(&mut self, i: u32, group: u32, dirty: u32) {
        debug_assert_eq!(self.entries[i as usize].list, NONE, "entry {i} is put on a second list");
        let list = 2 * group + u32::from(dirty == self.whole);
        self.entries[i as usize].list = list;
        self.lists[list as usize].push_back(&mut self.links, i);
    }

    fn unlink(&mut self, i: u32) {
        let list = std::mem::replace(&mut self.entries[i as usize].list, NONE);
        if list != NONE {
            self.lists[list as usize].remove(&mut self.links, i);
        }
    }

    /// Begin a flush of this stripe.
    pub fn departs(&mut self, i: u32, job: u32) {
        let e = &self.entries[i as usize];
        debug_assert_eq!(e.job, NONE, "stripe {} is flushed by job {job} too", e.stripe);
        self.unlink(i);
        self.entries[i as usize].job = job;
    }

    /// End the flush of this stripe. `dirty` units were written meanwhile; if it is 0, the entry is
    /// freed.
    pub fn arrived(&mut self, i: u32, group: u32, dirty: u32) {
        let e = &self.entries[i as usize];
        debug_assert!(
            e.job != NONE && e.list == NONE,
            "the flush of stripe {} ends, with job {} and on list {}",
            e.stripe,
            e.job,
            e.list
        );
        self.entries[i as usize].job = NONE;
        if dirty > 0 {
            self.link(i, group, dirty);
        } else {
            self.spare.push(i);
        }
    }

    /// The least recently written whole (or partial) stripe of a group among those that may be
    /// flushed.
    #[inline]
    pub fn oldest(&self, group: u32, whole: bool) -> Option<u32> {
        Some(self.lists[(2 * group + u32::from(whole)) as usize].head()).filter(|&i| i != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn the_oldest_of_each_kind_lead_and_those_in_flight_are_out_of_reach() {
        let mut d = DirtyStripes::new(4, 2, 3);
        let (a, b) = (d.open(8, Ppa::NONE), d.open(10, Ppa(77)));
        d.written(a, 0, 1);
        d.written(b, 0, 1);
        assert_eq!(d.oldest(0, false), Some(a));
        d.written(a, 0, 2);
        assert_eq!(d.oldest(0, false), Some(b));
        d.written(a, 0, 3);
        assert_eq!((d.oldest(0, true), d.oldest(1, true)), (Some(a), None));
        d.departs(a, 0);
        assert_eq!(d.oldest(0, true), None);
        d.written(a, 0, 1);
        assert_eq!(d.oldest(0, false), Some(b), "in flight");
        d.arrived(a, 0, 1);
        d.departs(b, 1);
        assert_eq!(d.oldest(0, false), Some(a));
        d.arrived(b, 0, 0);
        assert_eq!(d.used(), 1);
    }

    const GROUPS: u32 = 2;
    const WHOLE: u32 = 3;

    /// An entry in use.
    #[derive(Clone, Copy)]
    struct Held {
        stripe: u32,
        old_ppa: Ppa,
        job: u32,
        written: u64,
    }

    /// The entries, a stack of the unused ones, and by group the queues of partial and of whole
    /// stripes.
    struct Model {
        entries: Vec<Option<Held>>,
        spare: Vec<u32>,
        queues: Vec<[VecDeque<u32>; 2]>,
        writes: u64,
    }

    impl Model {
        fn unlink(&mut self, i: u32) {
            self.queues.iter_mut().flatten().for_each(|queue| queue.retain(|&other| other != i));
        }

        fn link(&mut self, i: u32, group: u32, dirty: u32) {
            self.queues[group as usize][usize::from(dirty == WHOLE)].push_back(i);
        }

        fn written(&mut self, i: u32, group: u32, dirty: u32) {
            let held = self.entries[i as usize].as_mut().unwrap();
            held.written = self.writes;
            self.writes += 1;
            if held.job == NONE {
                self.unlink(i);
                self.link(i, group, dirty);
            }
        }
    }

    proptest! {
        #[test]
        fn entries_are_what_the_model_says_after_any_steps(
            entries in 1..6u32,
            steps in prop::collection::vec((0..5u32, any::<usize>(), 1..=WHOLE, 0..50u32), 0..150),
        ) {
            let mut real = DirtyStripes::new(entries, GROUPS, WHOLE);
            let mut model = Model {
                entries: vec![None; entries as usize],
                spare: (0..entries).rev().collect(),
                queues: vec![Default::default(); GROUPS as usize],
                writes: 0,
            };
            for (step, pick, dirty, number) in steps {
                let fits = |h: &Held| match step {
                    1 => true,
                    2 => h.job == NONE,
                    _ => h.job != NONE,
                };
                let of = |i: &u32| model.entries[*i as usize].as_ref().is_some_and(fits);
                let all: Vec<u32> = (0..entries).filter(of).collect();
                let found = all.get(pick % all.len().max(1)).map(|&i| (i, model.entries[i as usize].unwrap()));
                match (step, found) {
                    (0, _) => {
                        let Some(i) = model.spare.pop() else { continue };
                        prop_assert_eq!(real.open(number, Ppa(number + 1)), i);
                        let held = Held { stripe: number, old_ppa: Ppa(number + 1), job: NONE, written: 0 };
                        model.entries[i as usize] = Some(held);
                        real.written(i, number % GROUPS, dirty);
                        model.written(i, number % GROUPS, dirty);
                    }
                    (1, Some((i, held))) => {
                        real.written(i, held.stripe % GROUPS, dirty);
                        model.written(i, held.stripe % GROUPS, dirty);
                        real.entry_mut(i).old_ppa = Ppa(number);
                        model.entries[i as usize].as_mut().unwrap().old_ppa = Ppa(number);
                    }
                    (2, Some((i, _))) => {
                        real.departs(i, number);
                        model.unlink(i);
                        model.entries[i as usize].as_mut().unwrap().job = number;
                    }
                    (_, Some((i, held))) => {
                        // If no unit was written meanwhile, the entry is freed; otherwise it joins
                        // the end of a queue.
                        let dirty = if step == 3 { dirty } else { 0 };
                        real.arrived(i, held.stripe % GROUPS, dirty);
                        if dirty == 0 {
                            model.entries[i as usize] = None;
                            model.spare.push(i);
                        } else {
                            model.entries[i as usize].as_mut().unwrap().job = NONE;
                            model.link(i, held.stripe % GROUPS, dirty);
                        }
                    }
                    (_, None) => {}
                }
                prop_assert_eq!(real.used(), entries - model.spare.len() as u32);
                for (i, held) in (0..).zip(&model.entries) {
                    let Some(h) = held else { continue };
                    let e = real.entry(i);
                    prop_assert_eq!((e.stripe, e.old_ppa, e.job, e.written), (h.stripe, h.old_ppa, h.job, h.written));
                }
                for (group, queues) in (0..).zip(&model.queues) {
                    for (whole, queue) in [false, true].into_iter().zip(queues) {
                        prop_assert_eq!(real.oldest(group, whole), queue.front().copied());
                    }
                }
            }
            prop_assert!(real.is_whole(WHOLE) && !real.is_whole(WHOLE - 1));
        }
    }
}
