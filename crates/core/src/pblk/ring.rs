//! The ring: the write buffer, and a read cache of the last sectors written.
//!
//! Three pointers follow one another: `filled`, the next slot to fill; `synced`, before which all sectors are
//! programmed; and `switched`, before which the map no longer points to the ring. `switched` moves only when a slot
//! is reused. The map therefore points to the ring for the last sectors written, at most one less than the slots,
//! whether they are on flash or not. Programs end in any order. `synced` moves in the order of the ring.
//!
//! The writer takes sectors in the order of the ring. If hot and cold sectors go to different lines, it takes the
//! sectors of each kind in order. Each sector has the distance to the next sector of its kind.

use crate::address::{Lpn, Ppa};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Who has written a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// A user.
    User,
    /// Collection.
    Gc,
}

/// The kind of line to which a sector goes. Without cold lines all sectors are hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Heat {
    /// The line of users.
    Hot,
    /// The line of collection, if there is one.
    Cold,
}

impl Heat {
    /// Both kinds.
    pub const ALL: [Heat; 2] = [Heat::Hot, Heat::Cold];
}

/// The kinds of sectors that the writer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds {
    /// Sectors for the line of users.
    pub hot: bool,
    /// Sectors for the line of collection.
    pub cold: bool,
}

impl Kinds {
    /// Both kinds.
    pub const ALL: Kinds = Kinds { hot: true, cold: true };

    #[inline]
    fn has(self, heat: Heat) -> bool {
        match heat {
            Heat::Hot => self.hot,
            Heat::Cold => self.cold,
        }
    }
}

/// Sectors that the writer may take for one write unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Which line takes them.
    pub heat: Heat,
    /// Number of sectors.
    pub sectors: u32,
    /// Number of sectors of padding that fill the write unit.
    pub padding: u32,
}

/// The sectors of one kind that the writer has not taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Waiting {
    /// The first and the last of them, if there are any.
    first: RingPlace,
    last: RingPlace,
    count: u32,
}

/// A sector in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its logical address; `NONE` if the sector was overwritten before it was written.
    pub lba: Lpn,
    /// Its address on flash; `NONE` before it is mapped.
    pub media: Ppa,
    /// Who has written it.
    pub origin: Origin,
    /// The kind of line to which it goes.
    pub heat: Heat,
    programmed: bool,
    /// The distance to the next sector of its kind, if that one was inserted before the writer has taken this one.
    to_next: u32,
}

/// The number of a sector in the order of all insertions. Its slot is this number modulo the size of the ring.
pub type RingPlace = u64;

/// A ring whose number of slots is a power of two.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ring {
    entries: Vec<Entry>,
    /// Slots that must stay free.
    back: u32,
    filled: RingPlace,
    synced: RingPlace,
    switched: RingPlace,
    /// By kind: the sectors that the writer has not taken.
    waiting: [Waiting; 2],
    /// The last sector for which the latest FLUSH waits.
    flush_to: Option<RingPlace>,
    /// Failed programs, each with its first sector and the number of sectors. The writer takes these sectors first.
    failed: VecDeque<(RingPlace, u32)>,
}

impl Ring {
    /// A partial write unit may be programmed when the sectors after it fill one part in this number of the ring.
    pub const OLD_PART: u32 = 4;

    /// Create an empty ring of `size` slots, a power of two, of which `back` stay free.
    pub fn new(size: u32, back: u32) -> Ring {
        debug_assert!(size.is_power_of_two() && back < size);
        let none = Entry {
            lba: Lpn::NONE,
            media: Ppa::NONE,
            origin: Origin::User,
            heat: Heat::Hot,
            programmed: false,
            to_next: 1,
        };
        Ring {
            entries: vec![none; size as usize],
            back,
            filled: 0,
            synced: 0,
            switched: 0,
            waiting: [Waiting::default(); 2],
            flush_to: None,
            failed: VecDeque::new(),
        }
    }

    /// Whether a restored state fits a ring of this size over a device with this number of sectors.
    pub fn fits(&self, size: u32, sectors: u32) -> bool {
        let (size, order) = (u64::from(size), [self.switched, self.synced, self.filled]);
        self.entries.len() as u64 == size
            && order.is_sorted()
            && self.waiting.iter().all(|waiting| waiting.count == 0)
            && self.filled - self.switched < size
            && self.failed.is_empty()
            && self.entries.iter().all(|entry| entry.media == Ppa::NONE || entry.media.0 < sectors)
    }

    fn size(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The slot of a sector.
    #[inline]
    pub fn slot(&self, place: RingPlace) -> u32 {
        (place & (self.size() - 1)) as u32
    }

    /// The most sectors of a write that enter at once, if `waiting` earlier sectors may not be programmed yet. A
    /// larger write enters in parts.
    pub fn most_of_a_write(&self, waiting: u32) -> u32 {
        self.size() as u32 - 1 - self.back - waiting
    }

    /// Whether there is room for `sectors` more sectors.
    #[inline]
    pub fn has_room(&self, sectors: u32) -> bool {
        let free = self.size() - 1 - (self.filled - self.synced);
        free >= u64::from(sectors) + u64::from(self.back)
    }

    /// The next `sectors` sectors reuse the slots of all sectors before the returned place. They must have room.
    #[inline]
    pub fn needed_by(&self, sectors: u32) -> RingPlace {
        debug_assert!(self.has_room(sectors));
        (self.filled + u64::from(sectors) + 1).saturating_sub(self.size())
    }

    /// All sectors before this place are programmed.
    pub fn synced(&self) -> RingPlace {
        self.synced
    }

    /// Whether the slot of a sector is not reused yet.
    #[inline]
    pub fn is_in_use(&self, place: RingPlace) -> bool {
        place >= self.switched
    }

    /// Whether a programmed sector still has its slot.
    pub fn can_switch(&self) -> bool {
        self.switched < self.synced
    }

    /// The place of the next sector.
    pub fn filled(&self) -> RingPlace {
        self.filled
    }

    /// Call `switch` with each sector before `until` and its slot, oldest first, once for each sector. The caller
    /// lets the map point to flash if it still points to the slot.
    #[inline]
    pub fn switch(&mut self, until: RingPlace, mut switch: impl FnMut(u32, &Entry)) {
        debug_assert!(until <= self.synced);
        while self.switched < until {
            let slot = self.slot(self.switched);
            switch(slot, &self.entries[slot as usize]);
            self.switched += 1;
        }
    }

    /// Put a sector into the next slot. Returns its place.
    #[inline]
    pub fn insert(&mut self, lba: Lpn, origin: Origin, heat: Heat) -> RingPlace {
        let place = self.filled;
        let slot = self.slot(place) as usize;
        self.entries[slot] = Entry { lba, media: Ppa::NONE, origin, heat, programmed: false, to_next: 1 };
        let waiting = &mut self.waiting[heat as usize];
        match waiting.count {
            0 => waiting.first = place,
            _ => {
                let last = waiting.last;
                let before = (last & (self.entries.len() as u64 - 1)) as usize;
                self.entries[before].to_next = (place - last) as u32;
            }
        }
        waiting.last = place;
        waiting.count += 1;
        self.filled += 1;
        place
    }

    /// Start a FLUSH of all sectors in the ring. Returns the last sector that it waits for, or `None` if all are on
    /// flash.
    pub fn flush(&mut self) -> Option<RingPlace> {
        let last = self.filled.checked_sub(1).filter(|&last| last >= self.synced)?;
        self.flush_to = Some(last);
        Some(last)
    }

    /// The sectors of these kinds that the writer may take for a write unit of `unit` sectors. The kind whose first
    /// sector is older comes first. A partial unit may be taken if `all` is set, if a FLUSH waits for it, or if a
    /// quarter of the ring was filled after it. The last happens only if there are hot and cold lines.
    #[inline]
    pub fn ready(&self, kinds: Kinds, unit: u32, all: bool) -> Option<Ready> {
        let may = |heat: Heat| {
            if !kinds.has(heat) {
                return None;
            }
            let waiting = &self.waiting[heat as usize];
            let first = waiting.first;
            let sectors = waiting.count.min(unit);
            let part = || {
                let is_old = self.filled - first > self.size() / u64::from(Ring::OLD_PART);
                sectors > 0 && (all || is_old || self.flush_to.is_some_and(|to| to >= first))
            };
            (sectors == unit || part()).then(|| (first, Ready { heat, sectors, padding: unit - sectors }))
        };
        let (hot, cold) = (may(Heat::Hot), may(Heat::Cold));
        match (hot, cold) {
            (Some((first, ready)), Some((other, of_other))) => {
                Some(if first < other { ready } else { of_other })
            }
            (hot, cold) => hot.or(cold).map(|(_, ready)| ready),
        }
    }

    /// Let the writer take the next sectors of a kind. Returns the first.
    #[inline]
    pub fn submit(&mut self, heat: Heat, sectors: u32) -> RingPlace {
        let first = self.waiting[heat as usize].first;
        debug_assert!(sectors <= self.waiting[heat as usize].count);
        let behind = (0..sectors).fold(first, |place, _| self.next(place));
        let waiting = &mut self.waiting[heat as usize];
        waiting.first = behind;
        waiting.count -= sectors;
        first
    }

    /// The next sector of the same kind.
    #[inline]
    pub fn next(&self, place: RingPlace) -> RingPlace {
        place + u64::from(self.entry(place).to_next)
    }

    /// The sectors that the writer has taken together.
    #[inline]
    pub fn places(&self, first: RingPlace, sectors: u32) -> impl Iterator<Item = RingPlace> {
        let next = |&place: &RingPlace| Some(self.next(place));
        std::iter::successors(Some(first), next).take(sectors as usize)
    }

    /// A sector.
    #[inline]
    pub fn entry(&self, place: RingPlace) -> &Entry {
        &self.entries[self.slot(place) as usize]
    }

    /// Set the address on flash of a sector that the writer has taken. Returns the sector.
    #[inline]
    pub fn map(&mut self, place: RingPlace, media: Ppa) -> &Entry {
        let slot = self.slot(place) as usize;
        self.entries[slot].media = media;
        &self.entries[slot]
    }

    /// Clear a sector that was overwritten.
    pub fn empty(&mut self, place: RingPlace) {
        let slot = self.slot(place) as usize;
        self.entries[slot].lba = Lpn::NONE;
    }

    /// Mark sectors as programmed. Returns the new `synced`.
    pub fn programmed(&mut self, first: RingPlace, sectors: u32) -> RingPlace {
        let mut place = first;
        for _ in 0..sectors {
            let slot = self.slot(place) as usize;
            self.entries[slot].programmed = true;
            place = self.next(place);
        }
        while self.synced < self.filled && self.entry(self.synced).programmed {
            self.synced += 1;
        }
        self.synced
    }

    /// The program of sectors that the writer has taken has failed.
    pub fn failed(&mut self, first: RingPlace, sectors: u32) {
        let mut place = first;
        for _ in 0..sectors {
            let slot = self.slot(place) as usize;
            self.entries[slot].media = Ppa::NONE;
            place = self.next(place);
        }
        self.failed.push_back((first, sectors));
    }

    /// The index in `failed` of the oldest failed program with sectors of these kinds.
    fn first_failed(&self, kinds: Kinds) -> Option<usize> {
        self.failed.iter().position(|&(first, _)| kinds.has(self.entry(first).heat))
    }

    /// Whether sectors of these kinds must be programmed again.
    #[inline]
    pub fn is_failed_of(&self, kinds: Kinds) -> bool {
        !self.failed.is_empty() && self.first_failed(kinds).is_some()
    }

    /// Let the writer take the sectors of the oldest failed program of these kinds. Returns the first sector and the
    /// number of sectors. Sectors for which `is_current(slot, address)` is false are cleared.
    pub fn submit_failed(
        &mut self,
        kinds: Kinds,
        is_current: impl Fn(u32, Lpn) -> bool,
    ) -> Option<(RingPlace, u32)> {
        let (first, sectors) = self.failed.remove(self.first_failed(kinds)?)?;
        let mut place = first;
        for _ in 0..sectors {
            let slot = self.slot(place);
            place = self.next(place);
            let lba = &mut self.entries[slot as usize].lba;
            if *lba != Lpn::NONE && !is_current(slot, *lba) {
                *lba = Lpn::NONE;
            }
        }
        Some((first, sectors))
    }

    /// Whether any sector waits for the writer.
    pub fn has_work(&self) -> bool {
        self.waiting() > 0 || !self.failed.is_empty()
    }

    /// The kind of the oldest sector that is not programmed, if there is any.
    pub fn oldest(&self) -> Option<Heat> {
        (self.synced < self.filled).then(|| self.entry(self.synced).heat)
    }

    /// Sectors that the writer has not taken.
    pub fn waiting(&self) -> u32 {
        self.waiting.iter().map(|waiting| waiting.count).sum()
    }

    /// Sectors that are in the ring and not yet programmed.
    pub fn unsynced(&self) -> u64 {
        self.filled - self.synced
    }

    /// Number of sectors of users and of collection whose slots are not reused, for an audit.
    pub fn counted(&self) -> (u32, u32) {
        let all = (self.switched..self.filled).map(|place| self.entry(place).origin);
        let users = all.clone().filter(|&origin| origin == Origin::User).count();
        (users as u32, (all.count() - users) as u32)
    }

    /// Sectors that are mapped to flash and whose slots are not reused, for an audit.
    pub fn mapped(&self) -> impl Iterator<Item = &Entry> {
        let places = self.switched..self.filled;
        places.map(|place| self.entry(place)).filter(|e| e.lba != Lpn::NONE && e.media != Ppa::NONE)
    }

    /// The slots that are not reused, and their sectors.
    pub fn slots_in_use(&self) -> Vec<(u32, Entry)> {
        (self.switched..self.filled).map(|place| (self.slot(place), *self.entry(place))).collect()
    }

    /// Whether a slot still holds this logical address.
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

    /// Write a sector and program it at once. Returns its place, and the addresses whose slots were reused.
    fn write(ring: &mut Ring, lba: u32) -> (RingPlace, Vec<u32>) {
        let mut reused = Vec::new();
        assert!(ring.has_room(1));
        ring.switch(ring.needed_by(1), |_, entry| reused.push(entry.lba.0));
        let place = ring.insert(Lpn(lba), Origin::User, Heat::Hot);
        let first = ring.submit(Heat::Hot, 1);
        ring.map(first, Ppa(lba));
        ring.programmed(first, 1);
        (place, reused)
    }

    fn fill(ring: &mut Ring, lbas: std::ops::Range<u32>) {
        for lba in lbas {
            ring.insert(Lpn(lba), Origin::User, Heat::Hot);
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
        let most = ring.most_of_a_write(7);
        assert_eq!(most, 4088);
        // Even if a partial unit waits, which no program will free.
        fill(&mut ring, 0..7);
        assert!(ring.has_room(most) && !ring.has_room(most + 1));
        fill(&mut ring, 7..7 + most);
        assert!(!ring.has_room(1));
        // Programs end out of order. Slots become free in the order of the ring.
        let (first, second) = (ring.submit(Heat::Hot, 8), ring.submit(Heat::Hot, 8));
        assert_eq!((ring.programmed(second, 8), ring.has_room(1)), (0, false));
        assert_eq!((ring.programmed(first, 8), ring.has_room(16)), (16, true));
    }

    /// The sectors of a failed program are programmed again, without overwritten ones. Until then `synced` does not
    /// move.
    #[test]
    fn sectors_of_a_failed_program_are_written_again() {
        let mut ring = Ring::new(SIZE, BACK);
        fill(&mut ring, 0..16);
        let (first, second) = (ring.submit(Heat::Hot, 8), ring.submit(Heat::Hot, 8));
        ring.failed(first, 8);
        assert_eq!(ring.programmed(second, 8), 0, "in the order of the ring");
        assert_eq!(ring.submit_failed(Kinds::ALL, |_, lba| lba != Lpn(3)), Some((0, 8)));
        assert_eq!((ring.entry(3).lba, ring.entry(4).lba), (Lpn::NONE, Lpn(4)));
        assert!(!ring.is_failed_of(Kinds::ALL));
        assert_eq!(ring.programmed(first, 8), 16);
    }

    #[test]
    fn less_than_a_unit_leaves_with_a_flush_alone() {
        let mut ring = Ring::new(SIZE, BACK);
        assert_eq!(ring.flush(), None, "nothing to wait for");
        let ready = |ring: &Ring| ring.ready(Kinds::ALL, 8, false).map(|r| (r.sectors, r.padding));
        fill(&mut ring, 0..7);
        assert_eq!(ready(&ring), None, "however old they are");
        assert_eq!((ring.flush(), ready(&ring)), (Some(6), Some((7, 1))));
        ring.submit(Heat::Hot, 7);
        assert_eq!(ready(&ring), None);
        fill(&mut ring, 7..30);
        assert_eq!(ready(&ring), Some((8, 0)));
        assert_eq!(ring.programmed(0, 7), 7, "the flush is done");
        assert_eq!(ring.flush(), Some(29));
    }

    /// Each kind is taken in its own order, the older kind first. A partial unit is taken when many sectors come
    /// after it.
    #[test]
    fn hot_and_cold_sectors_leave_in_units_of_their_own() {
        let mut ring = Ring::new(SIZE, BACK);
        let heat = |lba: u32| if lba.is_multiple_of(3) { Heat::Cold } else { Heat::Hot };
        for lba in 0..24 {
            ring.insert(Lpn(lba), Origin::User, heat(lba));
        }
        let mut taken = Vec::new();
        while let Some(ready) = ring.ready(Kinds::ALL, 8, false) {
            let first = ring.submit(ready.heat, ready.sectors);
            taken.push((ready.heat, ring.places(first, ready.sectors).collect::<Vec<_>>()));
        }
        let cold: Vec<u64> = (0..8).map(|i| 3 * i).collect();
        let hot: Vec<u64> = (0..24).filter(|i| i % 3 != 0).collect();
        let expected = [(Heat::Cold, cold), (Heat::Hot, hot[..8].to_vec()), (Heat::Hot, hot[8..].to_vec())];
        assert_eq!(taken, expected);
        for (_, places) in &taken {
            ring.programmed(places[0], 8);
        }
        assert_eq!((ring.synced(), ring.waiting()), (24, 0));
        ring.insert(Lpn(24), Origin::Gc, Heat::Cold);
        let hot = |ring: &mut Ring| {
            (0..SIZE / 4).for_each(|lba| _ = ring.insert(Lpn(lba), Origin::User, Heat::Hot))
        };
        assert_eq!(ring.ready(Kinds::ALL, 8, false), None);
        hot(&mut ring);
        assert_eq!(
            ring.ready(Kinds::ALL, 8, false),
            Some(Ready { heat: Heat::Cold, sectors: 1, padding: 7 })
        );
    }
}
