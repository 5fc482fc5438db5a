//! A medium with data: the bytes in the controller's memory are here, those on flash in a [`Store`].
//!
//! It checks every access. What cannot happen on a real flash (a program over another, a read of an
//! erased page, data of another logical unit than the map says) is a *fault*. A fault is recorded
//! and never causes a panic; the drive continues, with zeros if there is nothing better.

use super::oob::{Oob, UnitKind};
use super::pages::{Pages, Unit};
use super::store::{Part, Store};
use super::transfer::{Piece, Slot, Transfer};
use super::xor::Accumulator;
use super::{Below, Medium, Range, Size};
use crate::address::{Lpn, Ppa};
use crate::ftl::map::Fill;
use std::collections::BTreeMap;

/// Number of faults whose text is kept.
const MOST_FAULTS: usize = 16;

/// A medium that is in memory as a whole.
pub type InMemory = Bytes<Pages>;

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct Bytes<S> {
    size: Size,
    store: S,
    slots: Vec<Slot>,
    requests: Vec<Transfer>,
    /// Units in the controller that are being moved, by their source address.
    staged: BTreeMap<Ppa, Unit>,
    accumulators: Vec<Accumulator>,
    /// Sequence number of the data that entered last.
    sequence: u64,
    faults: Vec<String>,
    /// Changes in the controller since the last report to the store.
    changed: Changed,
}

/// The parts of the controller's memory that have changed, for a store that keeps them.
#[derive(Clone, Debug, Default)]
struct Changed {
    slots: Marks,
    accumulators: Marks,
    requests: Marks,
}

/// A set of numbers.
#[derive(Clone, Debug, Default)]
struct Marks {
    is_in: Vec<bool>,
    members: Vec<u32>,
}

impl Marks {
    fn add(&mut self, index: u32) {
        let at = index as usize;
        if self.is_in.len() <= at {
            self.is_in.resize(at + 1, false);
        }
        if !std::mem::replace(&mut self.is_in[at], true) {
            self.members.push(index);
        }
    }

    fn take(&mut self) -> Vec<u32> {
        self.members.iter().for_each(|&index| self.is_in[index as usize] = false);
        std::mem::take(&mut self.members)
    }
}

impl InMemory {
    /// Create a medium. It takes the size of the drive to which it is attached.
    pub fn new() -> InMemory {
        InMemory::default()
    }

    /// Flip a bit of a unit on flash that a command wrote.
    pub fn damage(&mut self, ppa: Ppa, byte: usize) {
        self.store.damage(ppa, byte);
    }
}

impl<S: Store> Bytes<S> {
    /// Create a medium over a store.
    pub fn over(store: S) -> Bytes<S> {
        Bytes {
            size: Size::default(),
            store,
            slots: Vec::new(),
            requests: Vec::new(),
            staged: BTreeMap::new(),
            accumulators: Vec::new(),
            sequence: 0,
            faults: Vec::new(),
            changed: Changed::default(),
        }
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The store, to commit it.
    pub fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    /// Give the store all changes in the controller since the last call.
    pub fn keep(&mut self) {
        let mut record = Vec::new();
        for index in self.changed.slots.take() {
            self.slots[index as usize].record(&mut record);
            self.store.keep(Part::Slot, index, &record);
        }
        for index in self.changed.accumulators.take() {
            self.accumulators[index as usize].record(&mut record);
            self.store.keep(Part::Accumulator, index, &record);
        }
        for index in self.changed.requests.take() {
            // The data of a write that are all in slots are no longer needed here.
            let request = &self.requests[index as usize];
            if request.left > 0 {
                self.store.keep(Part::Request, index, &request.bytes);
            }
        }
        self.store.keep(Part::Sequence, 0, &self.sequence.to_le_bytes());
    }

    /// The unit at an address; `None` if it is erased.
    pub fn unit(&self, ppa: Ppa) -> Option<Unit> {
        self.store.unit(ppa)
    }

    /// Forget the faults so far.
    pub fn forget_faults(&mut self) {
        self.faults.clear();
    }

    /// A part of the controller's memory is about to change.
    #[inline]
    fn mark(&mut self, part: Part, index: u32) {
        if S::KEEPS {
            let marks = match part {
                Part::Slot => &mut self.changed.slots,
                Part::Accumulator => &mut self.changed.accumulators,
                Part::Request => &mut self.changed.requests,
                Part::Sequence => return,
            };
            marks.add(index);
        }
    }

    /// Restore the controller's memory from the store.
    fn take_kept(&mut self) {
        if let Some(Ok(bytes)) = self.store.kept(Part::Sequence, 0).map(|r| r.try_into()) {
            self.sequence = u64::from_le_bytes(bytes);
        }
        for (index, slot) in (0..).zip(&mut self.slots) {
            if let Some(record) = self.store.kept(Part::Slot, index) {
                *slot = Slot::from_record(&record, self.size.unit_bytes).unwrap_or_else(Slot::blank);
            }
        }
        for (index, request) in (0..).zip(&mut self.requests) {
            if let Some(bytes) = self.store.kept(Part::Request, index) {
                request.begin(bytes.len() as u32, &bytes);
            }
        }
    }

    /// The bytes and the exclusive or of LPNs in an accumulator.
    pub fn accumulator(&self, acc: u32) -> (&[u8], u32) {
        let a = &self.accumulators[acc as usize];
        (&a.bytes, a.lpns)
    }

    fn fault(&mut self, text: impl FnOnce() -> String) {
        if self.faults.len() < MOST_FAULTS {
            self.faults.push(text());
        }
    }

    /// Return the sequence number for data that enter now.
    fn next(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Return the unit at an address that should hold `lpn` (`NONE`: any unit), and record a fault
    /// if it does not.
    fn look(&mut self, ppa: Ppa, lpn: Lpn, why: &str) -> Option<Unit> {
        let Some(unit) = self.store.unit(ppa) else {
            self.fault(|| format!("{why}: unit {ppa} is erased"));
            return None;
        };
        self.check(&unit, ppa, lpn, why);
        Some(unit)
    }

    fn check(&mut self, unit: &Unit, ppa: Ppa, lpn: Lpn, why: &str) {
        let oob = unit.oob;
        if lpn != Lpn::NONE && (oob.lpn != lpn || oob.kind == UnitKind::Pad) {
            self.fault(|| format!("{why}: unit {ppa} should be logical unit {lpn} and is {oob:?}"));
        }
        if !unit.is_sound() {
            self.fault(|| format!("{why}: the bytes of unit {ppa} are not those of {oob:?}"));
        }
    }

    fn program(&mut self, ppa: Ppa, unit: Unit) {
        let oob = unit.oob;
        if let Some(before) = self.store.program(ppa, unit) {
            self.fault(|| format!("unit {ppa} is programmed with {oob:?} over {before:?}"));
        }
    }

    /// Fill the missing bytes of a slot from the unit at an address.
    fn complete_slot(&mut self, slot: u32, ppa: Ppa, why: &str) {
        let lpn = self.slots[slot as usize].lpn;
        let unit = self.look(ppa, lpn, why);
        let all = self.size.unit_bytes;
        self.mark(Part::Slot, slot);
        let s = &mut self.slots[slot as usize];
        s.wants = Ppa::NONE;
        if let Some(unit) = unit {
            for gap in s.held.gaps(0..all) {
                unit.read(gap.start as usize, &mut s.bytes[gap.start as usize..gap.end as usize]);
            }
            if !s.written {
                s.sequence = unit.oob.sequence;
            }
            s.held.set_all(all);
        }
    }

    /// Record a fault if an accumulator differs from this unit.
    fn compare(&mut self, acc: u32, unit: &Unit, ppa: Ppa) {
        let a = &self.accumulators[acc as usize];
        let (same, lpns, oob) = (a.is(unit), a.lpns, unit.oob);
        if !same {
            self.fault(|| format!("unit {ppa} ({oob:?}) is rebuilt as {lpns}, or with other bytes"));
        }
    }

    /// Remove the pieces that a request waits for and that `of` selects, and return them.
    fn take_waits(&mut self, request: u32, of: impl Fn(&Piece) -> bool) -> Vec<Piece> {
        self.requests[request as usize].waits.extract_if(.., |p| of(p)).collect()
    }
}

impl<S: Store> Medium for Bytes<S> {
    const HOLDS_DATA: bool = true;

    fn attach(&mut self, size: &Size) {
        if !self.store.attach(size) {
            self.sequence = 0;
        }
        self.size = *size;
        self.slots = vec![Slot::blank(); size.slots as usize];
        self.requests = vec![Transfer::default(); size.requests as usize];
        self.staged.clear();
        self.accumulators.clear();
        self.changed = Changed::default();
        if S::KEEPS {
            self.take_kept();
        }
    }

    fn begin_write(&mut self, request: u32, bytes: u32, data: &[u8]) {
        let r = &mut self.requests[request as usize];
        r.begin(bytes, data);
        r.left = bytes;
        self.mark(Part::Request, request);
    }

    fn hold(&mut self, slot: u32, lpn: Lpn, below: Below) {
        let all = self.size.unit_bytes;
        self.mark(Part::Slot, slot);
        self.slots[slot as usize].take(lpn, all);
        match below {
            Below::Flash => {}
            Below::Zeros => {
                let s = &mut self.slots[slot as usize];
                s.bytes.fill(0);
                s.held.set_all(all);
            }
            Below::Slot { older, old_ppa } => {
                if !self.slots[older as usize].is_whole() {
                    self.complete_slot(older, old_ppa, "a slot over an older one");
                }
                let [s, o] = self
                    .slots
                    .get_disjoint_mut([slot as usize, older as usize])
                    .expect("a slot lies over another one");
                s.bytes.copy_from_slice(&o.bytes);
                s.held.set_all(all);
                let (is, should) = (o.lpn, lpn);
                if is != should {
                    self.fault(|| format!("a slot of logical unit {should} lies over one of {is}"));
                }
            }
        }
    }

    fn write_slot(&mut self, slot: u32, range: Range<u32>, request: u32, at: u32) {
        let sequence = self.next();
        self.mark(Part::Slot, slot);
        let s = &mut self.slots[slot as usize];
        let data = self.requests[request as usize].part(at, range.end - range.start);
        s.bytes[range.start as usize..range.end as usize].copy_from_slice(data);
        let r = &mut self.requests[request as usize];
        r.left = r.left.saturating_sub(range.end - range.start);
        s.held.add(range);
        s.sequence = sequence;
        s.written = true;
    }

    fn want(&mut self, slot: u32, ppa: Ppa) {
        self.mark(Part::Slot, slot);
        self.slots[slot as usize].wants = ppa;
    }

    fn fill_slot(&mut self, slot: u32, sensed: Range<Ppa>) {
        let wants = self.slots[slot as usize].wants;
        if wants != Ppa::NONE && sensed.contains(&wants) {
            self.complete_slot(slot, wants, "a slot filled up");
        }
    }

    fn fill_slot_with_zeros(&mut self, slot: u32, ppa: Ppa) {
        if self.slots[slot as usize].wants == ppa {
            self.mark(Part::Slot, slot);
            self.slots[slot as usize].wants = Ppa::NONE;
            self.give_up(slot);
        }
    }

    fn give_up(&mut self, slot: u32) {
        let all = self.size.unit_bytes;
        self.mark(Part::Slot, slot);
        let s = &mut self.slots[slot as usize];
        for gap in s.held.gaps(0..all).collect::<Vec<_>>() {
            s.bytes[gap.start as usize..gap.end as usize].fill(0);
        }
        s.held.set_all(all);
    }

    fn program_slot(&mut self, ppa: Ppa, slot: u32, lpn: Lpn, moved: UnitKind) {
        let s = &self.slots[slot as usize];
        let (whole, is) = (s.is_whole(), s.lpn);
        // A unit that moves keeps its number.
        let kind = if s.written { UnitKind::User } else { moved };
        let unit = Unit::new(Oob::data(kind, lpn, s.sequence, 0), s.bytes.as_slice().into());
        if !whole || is != lpn {
            self.fault(|| format!("slot {slot} of {is} is programmed for {lpn}, whole: {whole}"));
        }
        self.program(ppa, unit);
    }

    fn program_pad(&mut self, ppa: Ppa) {
        let sequence = self.next();
        self.program(ppa, Unit::implied(Oob::pad(sequence)));
    }

    fn stage(&mut self, ppa: Ppa, lpn: Lpn) {
        if let Some(unit) = self.look(ppa, lpn, "a unit to be moved") {
            self.staged.insert(ppa, unit);
        }
    }

    fn stage_xor(&mut self, acc: u32, ppa: Ppa, lpn: Lpn) {
        if let Some(unit) = self.look(ppa, lpn, "a unit to be moved") {
            self.compare(acc, &unit, ppa);
            self.staged.insert(ppa, unit);
        }
    }

    fn program_staged(&mut self, ppa: Ppa, from: Ppa, lpn: Lpn, kind: UnitKind) {
        // Units that were staged before the process ended are still on flash, because an extent is erased only after
        // its units have moved.
        let staged = self.staged.remove(&from).or_else(|| self.store.unit(from).filter(|_| S::KEEPS));
        let Some(mut unit) = staged else {
            return self.fault(|| format!("unit {from} moves to {ppa} and was never sensed"));
        };
        self.check(&unit, from, lpn, "a moved unit");
        if unit.oob.kind != UnitKind::Parity {
            unit.oob.kind = kind;
        }
        self.program(ppa, unit);
    }

    fn copy_back(&mut self, from: Ppa, to: Ppa) {
        if let Some(mut unit) = self.look(from, Lpn::NONE, "a unit copied back") {
            if unit.oob.kind == UnitKind::User {
                unit.oob.kind = UnitKind::Gc;
            }
            self.program(to, unit);
        }
    }

    fn erase(&mut self, extent: u32) {
        let units = self.size.units_of(extent);
        while let Some((&ppa, _)) = self.staged.range(units.clone()).next() {
            self.staged.remove(&ppa);
        }
        self.store.erase(units);
    }

    fn erase_units(&mut self, units: Range<Ppa>) {
        units.start.run(units.end - units.start).for_each(|ppa| self.store.erase_unit(ppa));
    }

    fn begin_read(&mut self, request: u32, bytes: u32) {
        self.requests[request as usize].begin(bytes, &[]);
    }

    fn read_slot(&mut self, request: u32, at: u32, range: Range<u32>, slot: u32, old_ppa: Ppa) {
        let s = &self.slots[slot as usize];
        let t = &mut self.requests[request as usize];
        let held = &s.bytes[range.start as usize..range.end as usize];
        t.part_mut(at, range.end - range.start).copy_from_slice(held);
        for gap in s.held.gaps(range.clone()) {
            // If no address is known, the piece is never delivered, which is a fault when the read
            // ends.
            t.part_mut(at + gap.start - range.start, gap.end - gap.start).fill(0);
            let at = at + gap.start - range.start;
            t.waits.push(Piece { ppa: old_ppa, lpn: s.lpn, range: gap, at });
        }
    }

    fn read_flash(&mut self, request: u32, at: u32, range: Range<u32>, ppa: Ppa, lpn: Lpn) {
        self.requests[request as usize].waits.push(Piece { ppa, lpn, range, at });
    }

    fn sense(&mut self, request: u32, sensed: Range<Ppa>) {
        for Piece { ppa, lpn, range, at } in self.take_waits(request, |p| sensed.contains(&p.ppa)) {
            if let Some(unit) = self.look(ppa, lpn, "a host read") {
                let out = self.requests[request as usize].part_mut(at, range.end - range.start);
                unit.read(range.start as usize, out);
            }
        }
    }

    fn redirect(&mut self, request: u32, from: Ppa, to: Ppa) {
        let waits = &mut self.requests[request as usize].waits;
        waits.iter_mut().filter(|piece| piece.ppa == from).for_each(|piece| piece.ppa = to);
    }

    fn redirect_to_slot(&mut self, request: u32, from: Ppa, slot: u32) {
        for Piece { lpn, range, at, .. } in self.take_waits(request, |p| p.ppa == from) {
            self.read_slot(request, at, range, slot, from);
            let is = self.slots[slot as usize].lpn;
            if is != lpn {
                self.fault(|| format!("a read of {lpn} gets bytes of slot {slot} of {is}"));
            }
        }
    }

    fn read_data(&mut self, request: u32) -> &[u8] {
        if let Some(piece) = self.requests[request as usize].waits.first() {
            let text = format!("a read ended without {piece:?}");
            self.fault(|| text);
        }
        &self.requests[request as usize].bytes
    }

    fn fills_in(&mut self, order: &Fill) {
        self.store.fills_in(order);
    }

    fn fill(&mut self, order: &Fill, units: u32) {
        self.store.fill(order, units);
        self.sequence = self.sequence.max(u64::from(units));
    }

    fn age(&mut self, ppa: Ppa, lpn: Lpn) {
        let sequence = self.next();
        self.program(ppa, Unit::implied(Oob::data(UnitKind::User, lpn, sequence, 0)));
    }

    fn age_parity(&mut self, ppa: Ppa, oob: Oob, first: Lpn) {
        let sequence = self.next();
        self.program(ppa, Unit::implied_parity(Oob { sequence, ..oob }, first));
    }

    fn faults(&self) -> &[String] {
        &self.faults
    }

    fn set_accumulators(&mut self, count: u32) {
        self.accumulators = vec![Accumulator::new(self.size.unit_bytes); count as usize];
        if !S::KEEPS {
            return;
        }
        for (index, acc) in (0..).zip(&mut self.accumulators) {
            if let Some(kept) = self.store.kept(Part::Accumulator, index)
                && let Some(kept) = Accumulator::from_record(&kept, self.size.unit_bytes)
            {
                *acc = kept;
            }
        }
    }

    fn xor_clear(&mut self, acc: u32) {
        self.mark(Part::Accumulator, acc);
        self.accumulators[acc as usize].clear();
    }

    fn xor_aim(&mut self, acc: u32, ppa: Ppa) {
        self.mark(Part::Accumulator, acc);
        let unit = self.look(ppa, Lpn::NONE, "a unit to be rebuilt");
        let a = &mut self.accumulators[acc as usize];
        a.clear();
        a.aim = unit;
    }

    fn xor_flash_times(&mut self, acc: u32, ppa: Ppa, factor: u8) {
        self.mark(Part::Accumulator, acc);
        if let Some(unit) = self.look(ppa, Lpn::NONE, "a member of a stripe") {
            self.accumulators[acc as usize].add_unit(&unit, factor);
        }
    }

    fn xor_slot_times(&mut self, acc: u32, slot: u32, factor: u8) {
        self.mark(Part::Accumulator, acc);
        let s = &self.slots[slot as usize];
        self.accumulators[acc as usize].add(&s.bytes, s.lpn.0, factor);
        if !s.is_whole() {
            self.fault(|| format!("slot {slot} joins a stripe and is not whole"));
        }
    }

    fn xor_with(&mut self, acc: u32, other: u32) {
        self.mark(Part::Accumulator, acc);
        let (bytes, lpns) =
            (self.accumulators[other as usize].bytes.clone(), self.accumulators[other as usize].lpns);
        self.accumulators[acc as usize].add(&bytes, lpns, 1);
    }

    fn program_xor(&mut self, acc: u32, ppa: Ppa, oob: Oob) {
        let sequence = self.next();
        let a = &self.accumulators[acc as usize];
        let unit = Unit::new(Oob { lpns: a.lpns, sequence, ..oob }, a.bytes.as_slice().into());
        self.program(ppa, unit);
    }

    fn deliver_xor(&mut self, acc: u32, request: u32, range: Range<u32>, ppa: Ppa) {
        self.mark(Part::Accumulator, acc);
        let aim = self.accumulators[acc as usize].aim.take();
        if let Some(unit) = aim.or_else(|| self.look(ppa, Lpn::NONE, "a rebuilt unit")) {
            self.compare(acc, &unit, ppa);
        }
        let inside = |p: &Piece| p.ppa == ppa && p.range.start < range.end && range.start < p.range.end;
        for piece in self.take_waits(request, inside) {
            let (from, to) = (piece.range.start.max(range.start), piece.range.end.min(range.end));
            let t = &mut self.requests[request as usize];
            let bytes = &self.accumulators[acc as usize].bytes[from as usize..to as usize];
            t.part_mut(piece.at + from - piece.range.start, to - from).copy_from_slice(bytes);
            // The parts of the piece outside the range are still waited for.
            for left in [piece.range.start..from, to..piece.range.end] {
                if !left.is_empty() {
                    let at = piece.at + left.start - piece.range.start;
                    t.waits.push(Piece { range: left, at, ..piece });
                }
            }
        }
    }

    fn complete_xor(&mut self, acc: u32, slot: u32, ppa: Ppa) {
        if let Some(unit) = self.look(ppa, self.slots[slot as usize].lpn, "an old copy") {
            self.compare(acc, &unit, ppa);
            self.mark(Part::Slot, slot);
            let s = &mut self.slots[slot as usize];
            if !s.written {
                s.sequence = unit.oob.sequence;
            }
        }
        self.mark(Part::Slot, slot);
        let s = &mut self.slots[slot as usize];
        let bytes = &self.accumulators[acc as usize].bytes;
        for gap in s.held.gaps(0..self.size.unit_bytes) {
            let gap = gap.start as usize..gap.end as usize;
            s.bytes[gap.clone()].copy_from_slice(&bytes[gap]);
        }
        s.held.set_all(self.size.unit_bytes);
    }

    fn cancels(&self, units: &[(Ppa, u8)]) -> bool {
        let mut sum = Accumulator::new(self.size.unit_bytes);
        for &(ppa, factor) in units {
            match self.store.unit(ppa) {
                Some(unit) => sum.add_unit(&unit, factor),
                None => return false,
            }
        }
        sum.is_clear()
    }
}
