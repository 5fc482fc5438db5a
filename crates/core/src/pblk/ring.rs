//! The ring: the write buffer, and a read cache of the last sectors written.
//!
//! Four pointers follow one another. `filled`: the next slot to fill. `submitted`: given to the writer. `synced`:
//! programmed. `switched`: the map points to the media and no longer to the slot. The last one moves only when a slot is
//! needed again, and only as far as that needs. So the map points to the ring for the last sectors written, as many as
//! the ring has slots but one, whether they are on flash or not. Programs end in any order; `synced` moves in the order of
//! the ring.

use crate::address::{Lpn, Ppa};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// On whose behalf a sector was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// A user.
    User,
    /// Collection.
    Gc,
}

/// A sector in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its logical address; none if collection has brought what is no longer valid.
    pub lba: Lpn,
    /// Where it goes on flash; none before it is mapped.
    pub media: Ppa,
    /// On whose behalf.
    pub origin: Origin,
    /// Whether it is programmed.
    programmed: bool,
}

/// The place of a sector in the order of all that were ever written. The slot is its remainder by the size of the ring.
pub type Place = u64;

/// A ring of a power of two of slots.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ring {
    entries: Vec<Entry>,
    /// Slots that must be free behind what is written.
    back: u32,
    filled: Place,
    submitted: Place,
    synced: Place,
    switched: Place,
    /// The last sector that the latest flush waits for.
    flush_to: Option<Place>,
    /// Sectors whose program has failed, as the first place and their number: the writer takes them first.
    failed: VecDeque<(Place, u32)>,
}

impl Ring {
    /// An empty ring of `size` slots, a power of two, of which `back` stay free.
    pub fn new(size: u32, back: u32) -> Ring {
        debug_assert!(size.is_power_of_two() && back < size);
        let none = Entry { lba: Lpn::NONE, media: Ppa::NONE, origin: Origin::User, programmed: false };
        Ring {
            entries: vec![none; size as usize],
            back,
            filled: 0,
            submitted: 0,
            synced: 0,
            switched: 0,
            flush_to: None,
            failed: VecDeque::new(),
        }
    }

    /// Whether a restored state can belong to a ring of this size, over a device of so many sectors.
    pub fn fits(&self, size: u32, sectors: u32) -> bool {
        let (size, order) = (u64::from(size), [self.switched, self.synced, self.submitted, self.filled]);
        self.entries.len() as u64 == size
            && order.is_sorted()
            && self.filled - self.switched < size
            && self.failed.is_empty()
            && self.entries.iter().all(|entry| entry.media == Ppa::NONE || entry.media.0 < sectors)
    }

    fn size(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The slot of a place.
    #[inline]
    pub fn slot(&self, place: Place) -> u32 {
        (place & (self.size() - 1)) as u32
    }

    /// The most sectors of one write. A larger one is split.
    pub fn most_of_a_write(&self) -> u32 {
        self.size() as u32 - 1 - self.back
    }

    /// Whether `sectors` have room.
    #[inline]
    pub fn has_room(&self, sectors: u32) -> bool {
        let free = self.size() - 1 - (self.filled - self.synced);
        free >= u64::from(sectors) + u64::from(self.back)
    }

    /// Up to which place the slots of sectors are used again by the next `sectors`, which have room.
    #[inline]
    pub fn needed_by(&self, sectors: u32) -> Place {
        debug_assert!(self.has_room(sectors));
        (self.filled + u64::from(sectors) + 1).saturating_sub(self.size())
    }

    /// All sectors before this place are programmed.
    pub fn synced(&self) -> Place {
        self.synced
    }

    /// Whether a programmed sector is still the map's.
    pub fn can_switch(&self) -> bool {
        self.switched < self.synced
    }

    /// The place of the next sector.
    pub fn filled(&self) -> Place {
        self.filled
    }

    /// Give each sector before `until`, with its slot, to `switch`, oldest first, unless that was done. The caller lets
    /// the map point to its media, if the map still points to its slot.
    #[inline]
    pub fn switch(&mut self, until: Place, mut switch: impl FnMut(u32, &Entry)) {
        debug_assert!(until <= self.synced);
        while self.switched < until {
            let slot = self.slot(self.switched);
            switch(slot, &self.entries[slot as usize]);
            self.switched += 1;
        }
    }

    /// Put a sector into the next slot. Returns its place.
    #[inline]
    pub fn insert(&mut self, lba: Lpn, origin: Origin) -> Place {
        let place = self.filled;
        let slot = self.slot(place) as usize;
        self.entries[slot] = Entry { lba, media: Ppa::NONE, origin, programmed: false };
        self.filled += 1;
        place
    }

    /// A flush waits for all that was written. Returns the place of the last such sector, or `None` if all are on flash.
    pub fn flush(&mut self) -> Option<Place> {
        let last = self.filled.checked_sub(1).filter(|&last| last >= self.synced)?;
        self.flush_to = Some(last);
        Some(last)
    }

    /// Number of sectors that the writer may take for a request of whole units of `unit` sectors, at most `most`, and
    /// how many sectors of padding follow them. Without a flush less than a unit is never taken.
    pub fn ready(&self, unit: u32, most: u32) -> (u32, u32) {
        let waiting = self.waiting();
        if waiting >= most {
            (most, 0)
        } else if waiting >= unit {
            (waiting / unit * unit, 0)
        } else if waiting > 0 && self.flush_to.is_some_and(|to| to >= self.submitted) {
            (waiting, unit - waiting)
        } else {
            (0, 0)
        }
    }

    /// Give the next sectors to the writer. Returns the place of the first.
    pub fn submit(&mut self, sectors: u32) -> Place {
        let first = self.submitted;
        self.submitted += u64::from(sectors);
        debug_assert!(self.submitted <= self.filled);
        first
    }

    /// A sector.
    #[inline]
    pub fn entry(&self, place: Place) -> &Entry {
        &self.entries[self.slot(place) as usize]
    }

    /// Map a sector, which the writer has, to its place on flash.
    pub fn map(&mut self, place: Place, media: Ppa) {
        let slot = self.slot(place) as usize;
        self.entries[slot].media = media;
    }

    /// Sectors are programmed. Returns how far all are: up to this place, which a flush may wait for.
    pub fn programmed(&mut self, first: Place, sectors: u32) -> Place {
        for place in first..first + u64::from(sectors) {
            let slot = self.slot(place) as usize;
            self.entries[slot].programmed = true;
        }
        while self.synced < self.submitted && self.entry(self.synced).programmed {
            self.synced += 1;
        }
        self.synced
    }

    /// The program of sectors that the writer has taken has failed.
    pub fn failed(&mut self, first: Place, sectors: u32) {
        for place in first..first + u64::from(sectors) {
            let slot = self.slot(place) as usize;
            self.entries[slot].media = Ppa::NONE;
        }
        self.failed.push_back((first, sectors));
    }

    /// Whether the program of some sectors has failed and they wait for another.
    #[inline]
    pub fn some_failed(&self) -> bool {
        !self.failed.is_empty()
    }

    /// Give the sectors of the oldest program that has failed to the writer: the place of the first, and their number.
    /// Those that `is_current` does not confirm, given slot and address, hold nothing from now on.
    pub fn submit_failed(&mut self, is_current: impl Fn(u32, Lpn) -> bool) -> Option<(Place, u32)> {
        let (first, sectors) = self.failed.pop_front()?;
        for place in first..first + u64::from(sectors) {
            let slot = self.slot(place);
            let lba = &mut self.entries[slot as usize].lba;
            if *lba != Lpn::NONE && !is_current(slot, *lba) {
                *lba = Lpn::NONE;
            }
        }
        Some((first, sectors))
    }

    /// Sectors that the writer has not taken.
    pub fn waiting(&self) -> u32 {
        (self.filled - self.submitted) as u32
    }

    /// Sectors that are in the ring and not yet programmed.
    pub fn unsynced(&self) -> u64 {
        self.filled - self.synced
    }

    /// Sectors of users and of collection whose slots are not used again, for an audit.
    pub fn counted(&self) -> (u32, u32) {
        let all = (self.switched..self.filled).map(|place| self.entry(place).origin);
        let users = all.clone().filter(|&origin| origin == Origin::User).count();
        (users as u32, (all.count() - users) as u32)
    }

    /// Sectors that are mapped to media and whose slots are not used again, for an audit.
    pub fn mapped(&self) -> impl Iterator<Item = &Entry> {
        let places = self.switched..self.submitted;
        places.map(|place| self.entry(place)).filter(|e| e.lba != Lpn::NONE && e.media != Ppa::NONE)
    }

    /// Slots that are not used again, and what is in them.
    pub fn slots_in_use(&self) -> Vec<(u32, Entry)> {
        (self.switched..self.filled).map(|place| (self.slot(place), *self.entry(place))).collect()
    }

    /// The sector that the map says is in this slot, if the slot still holds this address.
    #[inline]
    pub fn holds(&self, slot: u32, lba: Lpn) -> bool {
        self.entries[slot as usize].lba == lba
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u32 = 8192;
    const BACK: u32 = 4096;

    /// Write a sector and program it at once. Returns its place, and the addresses whose slots were used again.
    fn write(ring: &mut Ring, lba: u32) -> (Place, Vec<u32>) {
        let mut reused = Vec::new();
        assert!(ring.has_room(1));
        ring.switch(ring.needed_by(1), |_, entry| reused.push(entry.lba.0));
        let place = ring.insert(Lpn(lba), Origin::User);
        let first = ring.submit(1);
        ring.map(first, Ppa(lba));
        ring.programmed(first, 1);
        (place, reused)
    }

    /// Write these sectors.
    fn fill(ring: &mut Ring, lbas: std::ops::Range<u32>) {
        for lba in lbas {
            ring.insert(Lpn(lba), Origin::User);
        }
    }

    /// A sector stays in the ring until 8,191 later ones have entered.
    #[test]
    fn the_map_switches_when_a_slot_is_used_again() {
        let mut ring = Ring::new(SIZE, BACK);
        let mut all = Vec::new();
        for lba in 0..SIZE + 10 {
            let (place, reused) = write(&mut ring, lba);
            assert_eq!(place, u64::from(lba));
            reused.iter().for_each(|&of| all.push((lba, of)));
        }
        assert_eq!(all[0], (SIZE - 1, 0), "sector 0 makes room for the 8,191st after it");
        assert!(all.windows(2).all(|w| (w[1].0 - w[0].0, w[1].1 - w[0].1) == (1, 1)), "one for one");
        assert!(ring.holds(ring.slot(u64::from(SIZE)), Lpn(SIZE)) && !ring.holds(0, Lpn(0)));
    }

    #[test]
    fn half_of_the_ring_stays_free_behind_what_is_written() {
        let mut ring = Ring::new(SIZE, BACK);
        let most = ring.most_of_a_write();
        assert_eq!(most, 4095);
        assert!(ring.has_room(most) && !ring.has_room(most + 1));
        fill(&mut ring, 0..most);
        assert!(!ring.has_room(1));
        // Programs end out of order: room comes in the order of the ring.
        let (first, second) = (ring.submit(8), ring.submit(8));
        assert_eq!((ring.programmed(second, 8), ring.has_room(1)), (0, false));
        assert_eq!((ring.programmed(first, 8), ring.has_room(16)), (16, true));
    }

    /// The sectors of a failed program go to the writer again, without those that were overwritten, and hold the ring up.
    #[test]
    fn sectors_of_a_failed_program_are_written_again() {
        let mut ring = Ring::new(SIZE, BACK);
        fill(&mut ring, 0..16);
        let (first, second) = (ring.submit(8), ring.submit(8));
        ring.failed(first, 8);
        assert_eq!(ring.programmed(second, 8), 0, "in the order of the ring");
        assert_eq!(ring.submit_failed(|_, lba| lba != Lpn(3)), Some((0, 8)));
        assert_eq!((ring.entry(3).lba, ring.entry(4).lba), (Lpn::NONE, Lpn(4)));
        assert!(!ring.some_failed());
        assert_eq!(ring.programmed(first, 8), 16);
    }

    #[test]
    fn less_than_a_unit_leaves_with_a_flush_alone() {
        let mut ring = Ring::new(SIZE, BACK);
        assert_eq!(ring.flush(), None, "nothing to wait for");
        fill(&mut ring, 0..7);
        assert_eq!(ring.ready(8, 8), (0, 0), "however old they are");
        assert_eq!((ring.flush(), ring.ready(8, 8)), (Some(6), (7, 1)));
        ring.submit(7);
        assert_eq!(ring.ready(8, 8), (0, 0));
        fill(&mut ring, 7..30);
        assert_eq!([ring.ready(8, 8), ring.ready(8, 16), ring.ready(8, 64)], [(8, 0), (16, 0), (16, 0)]);
        assert_eq!(ring.programmed(0, 7), 7, "the flush is done");
        assert_eq!(ring.flush(), Some(29));
    }
}
