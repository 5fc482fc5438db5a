//! The calls to the medium, one for each point at which data move. With a medium without data they do nothing.
//!
//! A slot of the ring always holds a whole sector. If a write covers a part of a sector, the host has the rest in its
//! page cache, so that reading the rest takes no time. The medium stores metadata as padding.

use super::array::SECTOR;
use super::drive::{Pblk, State};
use super::lines::State as LineState;
use super::rail::reads::Others;
use super::rail::strides::Strides;
use super::ring::Entry;
use super::shape::Shape;
use super::writer::Content;
use crate::address::{Lpn, Ppa};
use crate::flash::Flash;
use crate::flash::OpId;
use crate::ftl::map::Map;
use crate::ftl::map::Mapping;
use crate::medium::{Below, Medium, Oob, Size, UnitKind};
use crate::observer::Observer;
use crate::pblk::interface::Interface;
use std::collections::BTreeMap;
use tailcut_units::{Command, HostOp, Status};

/// The medium of a drive, with a method for each point at which data move.
pub(crate) struct Payload<M: Medium> {
    pub medium: M,
}

/// Attach a medium to a drive.
pub(super) fn attached<M: Medium>(mut medium: M, shape: &Shape, state: &State) -> Payload<M> {
    let accumulators = if shape.strides.is_some() { accumulators(shape, state) } else { 0 };
    medium.attach(&Size {
        extents: shape.array.lines,
        units_per_extent: shape.line_sectors,
        units_per_row: shape.array.write_unit,
        units_per_lane: shape.array.lines * shape.line_sectors,
        unit_bytes: SECTOR as u32,
        slots: shape.provision.ring,
        requests: state.interface.requests.capacity(),
        transfer: shape.host.max_transfer,
    });
    medium.set_accumulators(accumulators);
    Payload { medium }
}

/// Replace the medium of a drive and attach the new one.
pub(crate) fn over<O: Observer, M: Medium, N: Medium>(drive: Pblk<O, M>, medium: N) -> Pblk<O, N> {
    let Pblk { shape, map, flash, state, data: _ } = drive;
    let data = attached(medium, &shape, &state);
    Pblk { shape, map, flash, state, data }
}

/// Number of accumulators: one for each sector of each outstanding write unit, and one for reads.
fn accumulators(shape: &Shape, state: &State) -> u32 {
    state.writer.most_units() * shape.array.write_unit + 1
}

/// The bytes of a sector that a command covers, and their offset in the data of the command.
fn covered(c: &Command, lpn: Lpn) -> (std::ops::Range<u32>, u32) {
    let first = u64::from(lpn.0) * SECTOR;
    let (from, to) = (c.offset.max(first), (c.offset + u64::from(c.bytes)).min(first + SECTOR));
    ((from - first) as u32..(to - first) as u32, (from - c.offset) as u32)
}

/// Whether a command covers all of a sector.
pub(super) fn covers_all(c: &Command, lpn: Lpn) -> bool {
    let (range, _) = covered(c, lpn);
    u64::from(range.end - range.start) == SECTOR
}

/// The accumulator for sectors of reads that are computed by parity.
fn acc_of_reads(shape: &Shape, state: &State) -> u32 {
    state.writer.most_units() * shape.array.write_unit
}

/// Let a slot hold the sector at this place on flash.
fn hold_from_flash<M: Medium>(medium: &mut M, slot: u32, lpn: Lpn, from: Ppa) {
    medium.hold(slot, lpn, Below::Flash);
    medium.want(slot, from);
    medium.fill_slot(slot, from..from + 1);
}

/// Compute a sector from other members of its stride in an accumulator.
fn compute<M: Medium>(medium: &mut M, shape: &Shape, acc: u32, sector: Ppa, others: &Others) {
    let strides = &others.strides;
    let index = |sector: Ppa| strides.index_of(shape.place(sector).position);
    medium.xor_aim(acc, sector);
    for &other in others.sectors() {
        medium.xor_flash_times(acc, other, strides.factor(index(sector), others.without, index(other)));
    }
}

/// The write units of a line: which of them were written, and which are members of strides.
struct Units<'a> {
    shape: &'a Shape,
    state: &'a State,
    line: u32,
}

impl Units<'_> {
    fn strides(&self) -> Option<Strides> {
        self.shape.strides_of(&self.state.lines, self.line)
    }

    /// Number of units that were written, from the first on, on an idle drive. Those on bad chunks count too.
    fn written(&self) -> u32 {
        match self.state.lines.line(self.line).state {
            LineState::Closed => self.shape.line_units,
            LineState::Open => self.state.writer.room_of(self.line).map_or(0, |(next, _)| next),
            LineState::Free | LineState::Victim | LineState::Bad | LineState::Lost => 0,
        }
    }

    /// Whether a unit is a member of its stride: it is neither on a bad chunk nor metadata.
    fn counts(&self, unit: u32) -> bool {
        let l = self.state.lines.line(self.line);
        (l.start..l.end).contains(&unit) && !self.state.lines.is_bad(self.line, self.shape.position_of(unit))
    }

    fn is_parity(&self, unit: u32) -> bool {
        let of_parity = |strides: Strides| strides.is_parity(self.shape.position_of(unit));
        self.strides().is_some_and(of_parity) && self.counts(unit)
    }

    /// The data units that a parity covers, each with its share.
    fn in_parity(&self, strides: &Strides, parity: u32) -> Vec<(u32, u8)> {
        let position = self.shape.position_of(parity);
        let data = strides.members(strides.stride_of(position)).filter(|&member| !strides.is_parity(member));
        let units = data.map(|member| (parity - position + member, strides.share_at(position, member)));
        units.filter(|&(unit, _)| self.counts(unit)).collect()
    }
}

impl<M: Medium> Payload<M> {
    /// A command is submitted; `data` are the bytes of a write.
    #[inline]
    pub(super) fn submitted(&mut self, interface: &Interface, id: u32, data: &[u8]) {
        let c = interface.requests[id].host.command;
        if M::HOLDS_DATA && c.op == HostOp::Write {
            self.medium.begin_write(id, c.bytes, data);
        }
    }

    /// A sector of a write has entered a slot. `before` is the location of the sector before the write.
    #[inline]
    pub(super) fn entered(&mut self, interface: &Interface, id: u32, lpn: Lpn, slot: u32, before: Mapping) {
        if !M::HOLDS_DATA {
            return;
        }
        let below = match before {
            Mapping::Unmapped => Below::Zeros,
            Mapping::Flash(_) => Below::Flash,
            Mapping::Buffer(older) => Below::Slot { older: older.slot(), old_ppa: Ppa::NONE },
        };
        let command = interface.requests[id].host.command;
        let ((range, at), whole) = (covered(&command, lpn), covers_all(&command, lpn));
        self.medium.hold(slot, lpn, below);
        self.medium.write_slot(slot, range, id, at);
        if let Mapping::Flash(sector) = before
            && !whole
        {
            self.medium.want(slot, sector);
            self.medium.fill_slot(slot, sector..sector + 1);
        }
    }

    /// A sector that collection has read has entered a slot.
    #[inline]
    pub(super) fn moved(&mut self, runs: bool, slot: u32, lpn: Lpn, from: Ppa) {
        // When a drive ages in zero time, the medium gets its data at the end.
        if M::HOLDS_DATA && runs {
            hold_from_flash(&mut self.medium, slot, lpn, from);
        }
    }

    /// A unit of parity is programmed on the device.
    fn of_parity_programmed(&mut self, shape: &Shape, id: u32, start: Ppa) {
        let write_unit = shape.array.write_unit;
        for at in 0..write_unit {
            self.medium.program_xor(id * write_unit + at, start + at, Oob::parity(Lpn::NONE, 0));
        }
    }

    /// A unit is programmed on the device.
    #[inline]
    pub(super) fn programmed(&mut self, shape: &Shape, state: &State, id: u32) {
        if !M::HOLDS_DATA {
            return;
        }
        let unit = state.writer.unit(id);
        let start = shape.unit_start(unit.line, unit.unit);
        let (first, sectors) = match unit.content {
            Content::Data { first, sectors } => (first, sectors),
            Content::Start | Content::End => (0, 0),
            Content::Parity => return self.of_parity_programmed(shape, id, start),
        };
        for (place, sector) in state.ring.places(first, sectors).zip(start.run(sectors)) {
            let &Entry { lba, .. } = state.ring.entry(place);
            match lba {
                Lpn::NONE => self.medium.program_pad(sector),
                _ => self.medium.program_slot(sector, state.ring.slot(place), lba, UnitKind::Gc),
            }
        }
        for at in sectors..shape.array.write_unit {
            self.medium.program_pad(start + at);
        }
    }

    /// A unit is mapped to its place on the device. If it is parity, compute it from its stride.
    #[inline]
    pub(super) fn mapped(&mut self, shape: &Shape, state: &mut State, id: u32) {
        if !M::HOLDS_DATA {
            return;
        }
        let unit = state.writer.unit(id);
        let Some(strides) = shape.strides_of(&state.lines, unit.line) else { return };
        let position = shape.position_of(unit.unit);
        if let Content::Data { first, sectors } = unit.content {
            state.writer.stripe_places[position as usize] = Some((unit.line, unit.unit, first, sectors));
        }
        if unit.content != Content::Parity {
            return;
        }
        let write_unit = shape.array.write_unit;
        let base = id * write_unit;
        let units = Units { shape, state, line: unit.line };
        (base..base + write_unit).for_each(|acc| self.medium.xor_clear(acc));
        for member in strides.members(strides.stride_of(position)).filter(|&m| !strides.is_parity(m)) {
            let of = unit.unit - position + member;
            let (start, share) = (shape.unit_start(unit.line, of), strides.share_at(position, member));
            // The last data unit of a LUN may be on a chunk of this line that has become bad since an earlier use of
            // the line.
            if !units.counts(of) {
                continue;
            }
            match state.writer.stripe_places[member as usize] {
                Some((line, at, first, sectors))
                    if (line, at) == (unit.line, of) && state.ring.is_in_use(first) =>
                {
                    for (acc, place) in (base..).zip(state.ring.places(first, sectors)) {
                        if state.ring.entry(place).lba != Lpn::NONE {
                            self.medium.xor_slot_times(acc, state.ring.slot(place), share);
                        }
                    }
                }
                // Ageing has left the data on flash, or the slot is reused.
                _ if !state.lines.has_given_up(unit.line, member) => {
                    (0..write_unit).for_each(|at| self.medium.xor_flash_times(base + at, start + at, share));
                }
                _ => {}
            }
        }
    }

    /// A sector of a read will be computed from other members of its stride, which are read now.
    #[inline]
    pub(super) fn rebuilds(
        &mut self,
        rebuilds: &mut Vec<(u32, Ppa, Others)>,
        id: u32,
        sector: Ppa,
        others: &Others,
    ) {
        if M::HOLDS_DATA {
            rebuilds.push((id, sector, others.clone()));
        }
    }

    /// A sector that collection could not read is computed from the other members of its stride.
    pub(super) fn mended(&mut self, shape: &Shape, state: &State, sector: Ppa, others: &Others) {
        let acc = acc_of_reads(shape, state);
        compute(&mut self.medium, shape, acc, sector, others);
        self.medium.stage_xor(acc, sector, Lpn::NONE);
    }

    /// All data of a read have arrived. Compute the sectors that parity gives.
    #[inline]
    pub(super) fn rebuilt(&mut self, shape: &Shape, state: &mut State, id: u32) {
        if !M::HOLDS_DATA {
            return;
        }
        let acc = acc_of_reads(shape, state);
        let of = |(of, ..): &mut (u32, Ppa, Others)| *of == id;
        for (_, sector, others) in state.rebuilds.extract_if(.., of).collect::<Vec<_>>() {
            if state.interface.requests[id].host.status == Status::Ok {
                compute(&mut self.medium, shape, acc, sector, &others);
                self.medium.deliver_xor(acc, id, 0..SECTOR as u32, sector);
            }
        }
    }

    /// The chunk of a line on a LUN position is erased on the device.
    pub(super) fn erased(&mut self, shape: &Shape, line: u32, position: u32) {
        if !M::HOLDS_DATA {
            return;
        }
        for unit in (position..shape.line_units).step_by(shape.luns as usize) {
            let start = shape.unit_start(line, unit);
            self.medium.erase_units(start..start + shape.array.write_unit);
        }
    }

    /// The look-up of a read begins.
    #[inline]
    pub(super) fn asked(&mut self, interface: &Interface, id: u32) {
        if M::HOLDS_DATA {
            self.medium.begin_read(id, interface.requests[id].host.command.bytes);
        }
    }

    /// A read gets a sector from the location that the map gives.
    #[inline]
    pub(super) fn looked_up(&mut self, interface: &Interface, id: u32, lpn: Lpn, place: Mapping) {
        if !M::HOLDS_DATA {
            return;
        }
        let (range, at) = covered(&interface.requests[id].host.command, lpn);
        match place {
            Mapping::Unmapped => {}
            Mapping::Flash(sector) => self.medium.read_flash(id, at, range, sector, lpn),
            Mapping::Buffer(held) => self.medium.read_slot(id, at, range, held.slot(), Ppa::NONE),
        }
    }

    /// The sectors of an operation of a read have arrived.
    #[inline]
    pub(super) fn arrived<O: Observer>(
        &mut self,
        flash: &Flash<O>,
        interface: &Interface,
        rebuilds: &mut Vec<(u32, Ppa, Others)>,
        id: u32,
        op: OpId,
        unread: &[Ppa],
    ) {
        if M::HOLDS_DATA && !unread.is_empty() {
            // Sectors that needed one of the unreadable sectors cannot be computed.
            rebuilds.retain(|(of, _, others)| *of != id || !others.has_any_of(unread));
        }
        if M::HOLDS_DATA && interface.requests[id].host.status == Status::Ok {
            let cmd = flash.op(op).cmd;
            for at in (0..u64::BITS).filter(|at| cmd.units() >> at & 1 != 0) {
                let sector = cmd.ppa + at;
                if !unread.contains(&sector) {
                    self.medium.sense(id, sector..sector + 1);
                }
            }
        }
    }

    /// A sector is trimmed.
    #[inline]
    pub(super) fn trimmed(&mut self, lpn: Lpn) {
        if M::HOLDS_DATA {
            self.medium.trim(lpn);
        }
    }

    /// Let the medium hold the parity that ageing has left on the device.
    fn of_parity_adopted(&mut self, shape: &Shape, state: &State) {
        let acc = acc_of_reads(shape, state);
        for line in 0..state.lines.count() {
            let units = Units { shape, state, line };
            let Some(strides) = units.strides() else { continue };
            for unit in (0..units.written()).filter(|&unit| units.is_parity(unit)) {
                let data = units.in_parity(&strides, unit);
                for at in 0..shape.array.write_unit {
                    self.medium.xor_clear(acc);
                    for &(of, share) in &data {
                        self.medium.xor_flash_times(acc, shape.unit_start(line, of) + at, share);
                    }
                    let to = shape.unit_start(line, unit) + at;
                    self.medium.program_xor(acc, to, Oob::parity(Lpn::NONE, 0));
                }
            }
        }
    }

    /// Let the medium hold the data that ageing has left on the device. The first command must not have been
    /// submitted.
    pub(super) fn adopted(&mut self, shape: &Shape, map: &Map, state: &State) {
        if !M::HOLDS_DATA {
            return;
        }
        let lines = &state.lines;
        let in_ring: BTreeMap<Ppa, Lpn> = state.ring.mapped().map(|entry| (entry.media, entry.lba)).collect();
        (0..lines.indexes()).for_each(|index| self.medium.erase(index));
        for line in 0..lines.count() {
            let units = Units { shape, state, line };
            for unit in 0..units.written() {
                if lines.is_bad(line, shape.position_of(unit)) || units.is_parity(unit) {
                    continue;
                }
                for sector in shape.unit_start(line, unit).run(shape.array.write_unit) {
                    match map.is_valid(sector) {
                        true => self.medium.age(sector, map.owner(sector)),
                        false if in_ring.contains_key(&sector) => self.medium.age(sector, in_ring[&sector]),
                        false => self.medium.program_pad(sector),
                    }
                }
            }
        }
        for (slot, entry) in state.ring.slots_in_use() {
            if entry.lba != Lpn::NONE {
                hold_from_flash(&mut self.medium, slot, entry.lba, entry.media);
            }
        }
        self.of_parity_adopted(shape, state);
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// The medium.
    pub fn medium(&self) -> &M {
        &self.data.medium
    }

    /// Check the parity equations of all strides of closed lines, where the medium holds data.
    ///
    /// # Errors
    /// The first parity whose equation does not hold.
    pub fn audit_parity(&self) -> Result<(), String> {
        if !M::HOLDS_DATA {
            return Ok(());
        }
        let lines = &self.state.lines;
        for line in (0..lines.count()).filter(|&line| lines.line(line).state == LineState::Closed) {
            let l = lines.line(line);
            let end = l.end.min(l.sound.saturating_mul(self.shape.luns));
            let units = Units { shape: &self.shape, state: &self.state, line };
            let Some(strides) = units.strides() else { continue };
            for unit in (l.start..end).filter(|&unit| units.is_parity(unit)) {
                let mut of_equation = units.in_parity(&strides, unit);
                of_equation.push((unit, 1));
                for at in 0..self.shape.array.write_unit {
                    let sector = |&(of, share): &(u32, u8)| (self.shape.unit_start(line, of) + at, share);
                    let sectors: Vec<(Ppa, u8)> = of_equation.iter().map(sector).collect();
                    law!(
                        self.data.medium.cancels(&sectors),
                        "unit {unit} of line {line} is not the parity of {sectors:?}"
                    );
                }
            }
        }
        Ok(())
    }
}
