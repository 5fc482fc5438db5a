//! What a die's time went to, so that what waits behind it knows what it waited for.

use serde::{Deserialize, Serialize};
use tailcut_units::{Cause, Ledger, Occupant, Occupants};

/// A wait at a die is split by what held the die: an occupant, …
pub const SLOTS: usize = Occupant::COUNT + 5;
/// … nothing, by the schedule's choice, …
pub const IDLE: usize = Occupant::COUNT;
/// … nothing, because a collection that moves data keeps it closed, …
pub const CLOSED: usize = Occupant::COUNT + 1;
/// … an operation on its way to the point where it may stop, …
pub const STOPPING: usize = Occupant::COUNT + 2;
/// … the suspending or resuming of one, …
pub const OVERHEAD: usize = Occupant::COUNT + 3;
/// … or nothing, because a collection that erases keeps it closed.
pub const CLOSED_TO_ERASE: usize = Occupant::COUNT + 4;

/// Nanoseconds of a die so far, by slot.
pub type Held = [u64; SLOTS];

/// The cause that time in a slot is to what waits.
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

/// Whether time in a slot is that of a collection.
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
    /// The slot that time counts to now, and since when.
    slot: u8,
    since: u64,
}

impl Account {
    pub fn new() -> Account {
        Account { held: [0; SLOTS], slot: IDLE as u8, since: 0 }
    }

    /// From `now` on, time counts to `slot`.
    #[inline]
    pub fn count_to(&mut self, slot: usize, now: u64) {
        self.settle(now);
        self.slot = slot as u8;
    }

    /// Bring the account up to `now`.
    #[inline]
    pub fn settle(&mut self, now: u64) -> &Held {
        self.held[usize::from(self.slot)] += now - self.since;
        self.since = now;
        &self.held
    }

    /// The account as it was settled last.
    #[inline]
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// The slot that time counts to now.
    pub fn slot(&self) -> usize {
        usize::from(self.slot)
    }

    /// Whether a collection has had the die since its account was `seen`.
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

/// Charge what occupants had a die for between two copies of its account.
pub(super) fn charge_occupants(to: &mut Ledger, seen: &Held, held: &Held) {
    for occupant in Occupant::ALL {
        to.charge(Cause::die_wait(occupant), held[occupant as usize] - seen[occupant as usize]);
    }
}
