//! The write buffer: slots that hold host data until they are on flash.
//!
//! A slot holds one mapping unit. It is *dirty* until it leaves for flash, then *in flight* until
//! its program ends. Dirty slots are in a list ordered by their last write, and in a list of their
//! pool of lanes or, with parity, of their stripe.
//!
//! In addition to the slots for host data there may be slots for units that only move from one address on flash to
//! another. They are in flight from the start and do not count as held.

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::containers::list::{Link, List};
use serde::{Deserialize, Serialize};

/// A list of dirty slots: that of a pool of lanes or, with parity, that of a stripe. All lists of a drive are of one
/// kind, so a list does not store its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DirtyList(u32);

impl DirtyList {
    /// The list of a pool of lanes.
    #[inline]
    pub fn of_pool(pool: u32) -> DirtyList {
        DirtyList(pool)
    }

    /// The list of a stripe, an entry of the dirty stripes.
    #[inline]
    pub fn of_stripe(entry: u32) -> DirtyList {
        DirtyList(entry)
    }

    /// The pool of this list, which must belong to a pool.
    #[inline]
    pub fn pool(self) -> u32 {
        self.0
    }

    /// The entry of the stripe of this list, which must belong to a stripe.
    #[inline]
    pub fn stripe(self) -> u32 {
        self.0
    }

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// One held mapping unit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Slot {
    /// The logical unit.
    pub lpn: Lpn,
    /// The copy on flash that this slot will replace, or `NONE`. With parity, the job of the stripe
    /// keeps this address while the slot is in flight.
    pub old_ppa: Ppa,
    /// Which granules of the unit are held (see [`Buffer::mask`]).
    pub mask: u64,
    /// The list that the slot is in while it is dirty.
    pub list: DirtyList,
    /// Whether the slot is on its way to flash.
    pub in_flight: bool,
    /// The host request that waits for this slot's program, or `NONE`.
    pub waiter: u32,
    /// The FLUSH epoch of the last write to the slot.
    pub epoch: u32,
    /// Whether the slot is for a moving unit and not for host data.
    pub moving: bool,
}

/// The slots and their lists.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buffer {
    slots: Vec<Slot>,
    by_age: Vec<Link>,
    by_lane: Vec<Link>,
    age: List,
    lanes: Vec<List>,
    spare: Vec<u32>,
    granule: u64,
    full: u64,
    /// Slots held in each epoch that is still remembered, oldest first.
    epochs: std::collections::VecDeque<u32>,
    /// The number of the oldest epoch in `epochs`.
    oldest_epoch: u32,
    /// Slots for moving units (`aside`), and those in use (`moving`).
    aside: u32,
    moving: u32,
}

impl Buffer {
    /// A buffer of `slots` slots for units of `unit_bytes` bytes, with `lists` lists of pools or
    /// stripes, for at most `flushes` outstanding FLUSH commands.
    pub fn new(slots: u32, unit_bytes: u64, lists: u32, flushes: u32) -> Buffer {
        // A granule is a sector of 512 bytes; a unit of more than 64 sectors has larger granules.
        let granule = (unit_bytes / 64).max(512).min(unit_bytes);
        let granules = unit_bytes.div_ceil(granule);
        let empty = Slot {
            lpn: Lpn(0),
            old_ppa: Ppa::NONE,
            mask: 0,
            list: DirtyList(0),
            in_flight: false,
            waiter: NONE,
            epoch: 0,
            moving: false,
        };
        let n = slots as usize;
        let mut epochs = std::collections::VecDeque::with_capacity(flushes as usize + 2);
        epochs.push_back(0);
        Buffer {
            slots: vec![empty; n],
            by_age: vec![Link::default(); n],
            by_lane: vec![Link::default(); n],
            age: List::default(),
            lanes: vec![List::default(); lists as usize],
            spare: (0..slots).rev().collect(),
            granule,
            full: if granules == 64 { u64::MAX } else { (1 << granules) - 1 },
            epochs,
            oldest_epoch: 0,
            aside: 0,
            moving: 0,
        }
    }

    /// Add slots for `aside` moving units.
    pub fn with_aside(mut self, aside: u32) -> Buffer {
        if aside == 0 {
            return self;
        }
        let n = self.slots.len() + aside as usize;
        self.slots.resize(n, self.slots[0]);
        self.by_age.resize(n, Link::default());
        self.by_lane.resize(n, Link::default());
        self.spare = (0..n as u32).rev().collect();
        self.aside = aside;
        self
    }

    /// The granules that the bytes `from..to` of a unit cover completely (if `write`) or touch.
    #[inline]
    pub fn mask(&self, from: u64, to: u64, write: bool) -> u64 {
        let (first, end) = if write {
            (from.div_ceil(self.granule), to / self.granule)
        } else {
            (from / self.granule, to.div_ceil(self.granule))
        };
        if end <= first {
            return 0;
        }
        let ones = |n: u64| if n == 64 { u64::MAX } else { (1 << n) - 1 };
        ones(end) & !ones(first)
    }

    /// Bytes of a granule.
    pub fn granule(&self) -> u64 {
        self.granule
    }

    /// The mask of a whole unit.
    #[inline]
    pub fn full(&self) -> u64 {
        self.full
    }

    /// A slot.
    #[inline]
    pub fn slot(&self, i: u32) -> &Slot {
        &self.slots[i as usize]
    }

    /// A slot, to change the address of its old copy, or its waiter.
    #[inline]
    pub fn slot_mut(&mut self, i: u32) -> &mut Slot {
        &mut self.slots[i as usize]
    }

    /// Slots for host data.
    pub fn capacity(&self) -> u32 {
        self.slots() - self.aside
    }

    /// All slots, including those for moving units.
    pub fn slots(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Slots that hold host data.
    #[inline]
    pub fn held(&self) -> u32 {
        self.slots() - self.spare.len() as u32 - self.moving
    }

    /// Free slots for moving units.
    #[inline]
    pub fn room_aside(&self) -> u32 {
        self.aside - self.moving
    }

    /// Slots that are dirty.
    #[inline]
    pub fn dirty(&self) -> u32 {
        self.age.len()
    }

    /// Dirty slots in one list.
    #[inline]
    pub fn dirty_in(&self, list: DirtyList) -> u32 {
        self.lanes[list.index()].len()
    }

    /// Hold a unit in a new dirty slot; `None` when the buffer is full.
    #[inline]
    pub fn insert(&mut self, lpn: Lpn, old_ppa: Ppa, mask: u64, list: DirtyList, waiter: u32) -> Option<u32> {
        if self.held() == self.capacity() {
            return None;
        }
        let i = self.spare.pop()?;
        let epoch = self.oldest_epoch + self.epochs.len() as u32 - 1;
        self.slots[i as usize] =
            Slot { lpn, old_ppa, mask, list, in_flight: false, waiter, epoch, moving: false };
        *self.epochs.back_mut().expect("there is always a current epoch") += 1;
        self.age.push_back(&mut self.by_age, i);
        self.lanes[list.index()].push_back(&mut self.by_lane, i);
        Some(i)
    }

    /// Take an empty slot for a moving unit; [`Buffer::room_aside`] must not be 0. No FLUSH waits
    /// for the slot, since the unit is on flash.
    pub fn take_moving(&mut self, lpn: Lpn, list: DirtyList) -> u32 {
        debug_assert!(self.moving < self.aside);
        let i = self.spare.pop().expect("there is room aside");
        self.slots[i as usize] = Slot {
            lpn,
            old_ppa: Ppa::NONE,
            mask: 0,
            list,
            in_flight: true,
            waiter: NONE,
            epoch: self.oldest_epoch,
            moving: true,
        };
        self.moving += 1;
        i
    }

    /// Overwrite a dirty slot in place. It becomes the most recently written one.
    #[inline]
    pub fn overwrite(&mut self, i: u32, mask: u64) {
        self.leave_epoch(i);
        let epoch = self.oldest_epoch + self.epochs.len() as u32 - 1;
        *self.epochs.back_mut().expect("there is always a current epoch") += 1;
        let slot = &mut self.slots[i as usize];
        slot.mask |= mask;
        slot.epoch = epoch;
        let list = slot.list.index();
        self.age.remove(&mut self.by_age, i);
        self.age.push_back(&mut self.by_age, i);
        self.lanes[list].remove(&mut self.by_lane, i);
        self.lanes[list].push_back(&mut self.by_lane, i);
    }

    /// The list of the least recently written dirty slot.
    #[inline]
    pub fn oldest_list(&self) -> Option<DirtyList> {
        match self.age.head() {
            NONE => None,
            i => Some(self.slots[i as usize].list),
        }
    }

    /// Take the oldest dirty slot of a list; it is in flight from now on. `None` if the list is
    /// empty.
    #[inline]
    pub fn depart(&mut self, list: DirtyList) -> Option<u32> {
        let i = self.lanes[list.index()].head();
        if i == NONE {
            return None;
        }
        self.unlink(i);
        self.slots[i as usize].in_flight = true;
        Some(i)
    }

    fn unlink(&mut self, i: u32) {
        let list = self.slots[i as usize].list.index();
        self.age.remove(&mut self.by_age, i);
        self.lanes[list].remove(&mut self.by_lane, i);
    }

    /// Free a slot whose unit was programmed (in flight) or trimmed (dirty).
    #[inline]
    pub fn release(&mut self, i: u32) {
        if self.slots[i as usize].moving {
            self.moving -= 1;
            return self.spare.push(i);
        }
        if !self.slots[i as usize].in_flight {
            self.unlink(i);
        }
        self.leave_epoch(i);
        self.spare.push(i);
    }

    fn leave_epoch(&mut self, i: u32) {
        let epoch = self.slots[i as usize].epoch;
        self.epochs[(epoch - self.oldest_epoch) as usize] -= 1;
    }

    /// Begin a new epoch. Returns the number of the previous one; a FLUSH waits until that epoch is
    /// durable.
    pub fn fence(&mut self) -> u32 {
        self.epochs.push_back(0);
        self.oldest_epoch + self.epochs.len() as u32 - 2
    }

    /// Whether all data written in this epoch and before it are on flash.
    pub fn is_durable(&self, epoch: u32) -> bool {
        let last = epoch.saturating_sub(self.oldest_epoch) as usize;
        epoch < self.oldest_epoch || self.epochs.iter().take(last + 1).all(|&n| n == 0)
    }

    /// Remove the empty epochs before `epoch`, for which no FLUSH waits any more.
    pub fn forget_before(&mut self, epoch: u32) {
        while self.oldest_epoch < epoch && self.epochs.len() > 1 && self.epochs[0] == 0 {
            self.epochs.pop_front();
            self.oldest_epoch += 1;
        }
    }
}

mod audit;

#[cfg(test)]
mod tests;
