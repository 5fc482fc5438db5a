//! The account of a die: its time so far, by the occupant that held it. The wait of a queued operation, split by cause,
//! is the difference of two copies of the account.

use serde::{Deserialize, Serialize};
use tailcut_units::{Cause, Ledger, Occupant, Occupants};

/// Slots of a die's account: five for time without a working holder, and one for each occupant that
/// holds the die. They are in the order of the causes that waiting operations charge.
/// Their number is even, so that differences take whole vectors; a slot beyond the occupants is always 0.
pub const SLOTS: usize = (OCCUPANTS + Occupant::COUNT).next_multiple_of(2);
/// Slot: no operation holds the die, and a collection that moves data closes it.
pub const CLOSED: usize = 0;
/// Slot: no operation holds the die, and only collections that erase close it.
pub const CLOSED_TO_ERASE: usize = 1;
/// Slot: no operation holds the die, and no collection closes it. An operation that waits then does so by a decision of
/// the schedule policy.
pub const IDLE: usize = 2;
/// Slot: an operation continues to its suspend point.
pub const STOPPING: usize = 3;
/// Slot: an operation is being suspended or resumed.
pub const OVERHEAD: usize = 4;
/// The slot of the first occupant.
const OCCUPANTS: usize = 5;

/// The cause to which a waiting operation charges the time in the first slot.
const FIRST: Cause = Cause::GC_HOLD;

const _: () = {
    // The last slot is always 0; it must still correspond to a cause that exists.
    assert!(FIRST.0 as usize + SLOTS <= Cause::COUNT);
    assert!(FIRST.0 as usize + CLOSED_TO_ERASE == Cause::GC_HOLD_ERASE.0 as usize);
    assert!(FIRST.0 as usize + IDLE == Cause::DIE_IDLE.0 as usize);
    assert!(FIRST.0 as usize + STOPPING == Cause::SUSPEND_POINT.0 as usize);
    assert!(FIRST.0 as usize + OVERHEAD == Cause::SUSPEND_OVERHEAD.0 as usize);
    let mut i = 0;
    while i < Occupant::COUNT {
        assert!(FIRST.0 as usize + of(Occupant::ALL[i]) == Cause::die_wait(Occupant::ALL[i]).0 as usize);
        i += 1;
    }
};

/// The slots whose time belongs to a collection.
const OF_COLLECTION: [usize; 2 + Occupants::COLLECTION.count()] = {
    let kinds = Occupants::COLLECTION.to_array::<{ Occupants::COLLECTION.count() }>();
    let (mut slots, mut i) = ([CLOSED; 2 + Occupants::COLLECTION.count()], 0);
    slots[1] = CLOSED_TO_ERASE;
    while i < kinds.len() {
        slots[2 + i] = of(kinds[i]);
        i += 1;
    }
    slots
};

/// Time of a die so far, ns, by slot.
pub type DieTimes = [u64; SLOTS];

/// Copy an account. An assignment would call a function, since the account is longer than 128 bytes.
#[inline]
pub(super) fn copy(from: &DieTimes, to: &mut DieTimes) {
    let (Some((first, rest)), Some((first_to, rest_to))) =
        (from.split_first_chunk::<16>(), to.split_first_chunk_mut::<16>())
    else {
        unreachable!("an account has more than 16 slots")
    };
    *first_to = *first;
    for (to, from) in rest_to.iter_mut().zip(rest) {
        *to = *from;
    }
}

/// The slot for time in which an operation of this kind holds the die.
#[inline]
pub const fn of(occupant: Occupant) -> usize {
    OCCUPANTS + occupant as usize
}

/// The account of one die.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Account {
    held: DieTimes,
    /// The slot to which time is being added, and the time up to which `held` is complete.
    slot: u8,
    since: u64,
}

impl Account {
    pub fn new() -> Account {
        Account { held: [0; SLOTS], slot: IDLE as u8, since: 0 }
    }

    /// Add the time from `now` on to `slot`.
    #[inline]
    pub fn count_to(&mut self, slot: usize, now: u64) {
        self.settle(now);
        self.slot = slot as u8;
    }

    /// Complete the account up to `now`, and return it.
    #[inline]
    pub fn settle(&mut self, now: u64) -> &DieTimes {
        self.held[usize::from(self.slot)] += now - self.since;
        self.since = now;
        &self.held
    }

    /// The account as of the last settlement.
    #[inline]
    pub fn held(&self) -> &DieTimes {
        &self.held
    }

    /// The slot to which time is being added.
    pub fn slot(&self) -> usize {
        usize::from(self.slot)
    }

    /// Whether a collection has held or closed the die between the copy `seen` of the account and
    /// the last settlement.
    #[inline]
    pub fn met_collection(&self, seen: &DieTimes) -> bool {
        OF_COLLECTION.into_iter().fold(0, |met, slot| met | (self.held[slot] ^ seen[slot])) != 0
    }

    /// Whether a collection has held or closed the die between the copy `seen` of the account and `now`.
    pub fn met_collection_by(&self, seen: &DieTimes, now: u64) -> bool {
        self.met_collection(seen) || OF_COLLECTION.contains(&self.slot()) && now > self.since
    }

    /// Charge the time between the copy `seen` of the account and the last settlement, for which an
    /// operation waited.
    #[inline]
    pub fn charge_wait(&self, seen: &DieTimes, to: &mut Ledger) {
        to.charge_each(FIRST, &self.held, seen);
    }

    /// Time up to `end`, ns, in which an operation held the die or was being stopped, suspended or resumed there.
    pub fn taken(&self, end: u64) -> u64 {
        let slots = STOPPING..SLOTS;
        let counted: u64 = slots.clone().map(|slot| self.held[slot]).sum();
        let is_taken = slots.into_iter().any(|slot| slot == self.slot());
        counted + if is_taken { end.saturating_sub(self.since) } else { 0 }
    }
}

/// Charge the times that occupants held a die between two copies of its account, `seen` and `held`.
pub(super) fn charge_occupants(to: &mut Ledger, seen: &DieTimes, held: &DieTimes) {
    let of_occupants =
        |held: &DieTimes| -> [u64; Occupant::COUNT] { std::array::from_fn(|i| held[OCCUPANTS + i]) };
    to.charge_each(Cause::die_wait(Occupant::ALL[0]), &of_occupants(held), &of_occupants(seen));
}
