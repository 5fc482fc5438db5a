//! The time account of a die, by what held it. A queued operation finds the causes of its wait as
//! the difference of two copies.

use serde::{Deserialize, Serialize};
use tailcut_units::{Cause, Ledger, Occupant, Occupants};

/// Slots of a die's account: one for each occupant that holds the die, and the following five.
pub const SLOTS: usize = Occupant::COUNT + 5;
/// Slot: no operation holds the die, and no collection closes it. An operation that waits then
/// waits by the schedule policy's choice.
pub const IDLE: usize = Occupant::COUNT;
/// Slot: no operation holds the die, and a collection that moves data closes it.
pub const CLOSED: usize = Occupant::COUNT + 1;
/// Slot: an operation continues to its suspend point.
pub const STOPPING: usize = Occupant::COUNT + 2;
/// Slot: an operation is being suspended or resumed.
pub const OVERHEAD: usize = Occupant::COUNT + 3;
/// Slot: no operation holds the die, and only collections that erase close it.
pub const CLOSED_TO_ERASE: usize = Occupant::COUNT + 4;

/// Nanoseconds of a die so far, by slot.
pub type Held = [u64; SLOTS];

/// The cause to which a waiting operation charges the time in a slot.
#[inline]
pub(super) fn cause(slot: usize) -> Cause {
    match slot {
        IDLE => Cause::DIE_IDLE,
        CLOSED => Cause::GC_HOLD,
        CLOSED_TO_ERASE => Cause::GC_HOLD_ERASE,
        STOPPING => Cause::SUSPEND_POINT,
        OVERHEAD => Cause::SUSPEND_OVERHEAD,
        _ => Cause::die_wait(Occupant::ALL[slot]),
    }
}

/// Whether the time in a slot belongs to a collection.
#[inline]
pub(super) fn is_of_collection(slot: usize) -> bool {
    match Occupant::ALL.get(slot) {
        Some(&occupant) => Occupants::COLLECTION.has(occupant),
        None => slot == CLOSED || slot == CLOSED_TO_ERASE,
    }
}

/// The account of one die.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Account {
    held: Held,
    /// The slot to which time counts now, and the time up to which `held` is settled.
    slot: u8,
    since: u64,
    /// The slots to which time may have counted since the die's first waiter began to wait, as a
    /// mask.
    changed: u16,
}

const _: () = assert!(SLOTS <= 16);

impl Account {
    pub fn new() -> Account {
        Account { held: [0; SLOTS], slot: IDLE as u8, since: 0, changed: 0 }
    }

    /// Count time from `now` on to `slot`.
    #[inline]
    pub fn count_to(&mut self, slot: usize, now: u64) {
        self.settle(now);
        self.slot = slot as u8;
        self.changed |= 1 << slot;
    }

    /// Bring the account up to `now`, and return it, for an operation that begins to wait; `first`:
    /// no other waits.
    #[inline]
    pub fn begin_wait(&mut self, first: bool, now: u64) -> &Held {
        if first {
            self.changed = 1 << self.slot;
        }
        self.settle(now)
    }

    /// The slots that may have changed since a copy `seen` of the account was taken, by
    /// [`Account::begin_wait`], with the time that has counted to each.
    #[inline]
    pub fn since<'a>(&'a self, seen: &'a Held) -> impl Iterator<Item = (usize, u64)> + 'a {
        let mut left = self.changed;
        std::iter::from_fn(move || {
            let slot = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (slot < SLOTS).then(|| (slot, self.held[slot] - seen[slot]))
        })
    }

    /// Bring the account up to `now`, and return it.
    #[inline]
    pub fn settle(&mut self, now: u64) -> &Held {
        self.held[usize::from(self.slot)] += now - self.since;
        self.since = now;
        &self.held
    }

    /// The account as last settled.
    #[inline]
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// The slot to which time counts now.
    pub fn slot(&self) -> usize {
        usize::from(self.slot)
    }

    /// Whether a collection has held or closed the die since the copy `seen` of the account was
    /// taken.
    pub fn met_collection_since(&self, seen: &Held, now: u64) -> bool {
        let held = |slot: usize| self.held[slot] + if slot == self.slot() { now - self.since } else { 0 };
        (0..SLOTS).any(|slot| is_of_collection(slot) && held(slot) > seen[slot])
    }

    /// Nanoseconds up to `end` in which an operation had the die, or was being stopped,
    /// suspended or resumed there.
    pub fn taken(&self, end: u64) -> u64 {
        let slots = (0..Occupant::COUNT).chain([STOPPING, OVERHEAD]);
        let counted: u64 = slots.clone().map(|slot| self.held[slot]).sum();
        let is_taken = slots.into_iter().any(|slot| slot == self.slot());
        counted + if is_taken { end.saturating_sub(self.since) } else { 0 }
    }
}

/// Charge the times that occupants held a die between two copies of its account, `seen` and `held`.
pub(super) fn charge_occupants(to: &mut Ledger, seen: &Held, held: &Held) {
    for occupant in Occupant::ALL {
        to.charge(Cause::die_wait(occupant), held[occupant as usize] - seen[occupant as usize]);
    }
}
