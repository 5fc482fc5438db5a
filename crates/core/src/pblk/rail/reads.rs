//! Reads that go to the other members of a stride.
//!
//! A host read is decided once, when pblk looks it up, sector by sector. A sector whose LUN is marked by the gate is
//! computed from the sectors at the same place of the other members. It is read where it lies if its stride has no
//! parity in this stripe, if only one other member is left of more, or if a program of this stripe or one before has failed.
//!
//! A stride with two parities gives two unknown members. One member besides the sector's own is not read: one that cannot
//! be read, or that reads avoid, or else Q.

use super::failures::Reader;
use super::strides::{MOST_MEMBERS, Strides};
use crate::address::{BusyUnit, Ppa};
use crate::flash::Flash;
use crate::flash::{FlashCommand, OpId};
use crate::medium::Medium;
use crate::observer::Observer;
use crate::pblk::drive::{Pblk, State};
use crate::pblk::rail::gate::Gate;
use crate::pblk::shape::{SectorPlace, Shape};
use serde::{Deserialize, Serialize};

/// The sectors from which another is computed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Others {
    sectors: [Ppa; MOST_MEMBERS as usize],
    count: usize,
    /// The strides of their line.
    pub strides: Strides,
    /// The index of the member without which it is computed. Q is one where it does not exist.
    pub without: u32,
}

impl Others {
    /// They are.
    pub fn sectors(&self) -> &[Ppa] {
        &self.sectors[..self.count]
    }

    /// Whether one of these is among them.
    pub fn has_any_of(&self, unread: &[Ppa]) -> bool {
        self.sectors().iter().any(|other| unread.contains(other))
    }
}

/// The members of a sector's stride, in its stripe.
struct Beside<'a> {
    shape: &'a Shape,
    strides: Strides,
    line: u32,
    sector: Ppa,
    place: SectorPlace,
    /// Those besides the sector's own that can be read, one bit each by index.
    there: u64,
}

impl Beside<'_> {
    /// The members of the stride of a sector; `None` if it gives nothing in this stripe.
    fn of<'a>(shape: &'a Shape, state: &State, sector: Ppa) -> Option<Beside<'a>> {
        let place = shape.place(sector);
        let number = state.lines.line_at(place.index, place.position);
        let strides = shape.strides_of(&state.lines, number)?;
        let line = state.lines.line(number);
        if place.page >= line.sound {
            return None;
        }
        let stripe = place.page * shape.luns;
        // Parity of the open line follows its data, and programs follow their turn.
        let open = state.writer.open();
        let written = if open.line == number { open.next } else { u32::MAX };
        let mut there = 0;
        for (index, member) in strides.members(strides.stride_of(place.position)).enumerate() {
            let unit = stripe + member;
            let is_programmed = || {
                let mut under_way = state.writer.under_way(member);
                (unit < written || !strides.is_parity(member))
                    && !under_way.any(|u| (u.line, u.unit) == (number, unit))
            };
            let holds_data = (line.start..line.end).contains(&unit) && !state.lines.is_bad(number, member);
            if member != place.position && holds_data && is_programmed() {
                there |= 1 << index;
            }
        }
        Some(Beside { shape, strides, line: number, sector, place, there })
    }

    /// The indices of those that can be read.
    fn indices(&self) -> impl Iterator<Item = u32> + use<> {
        let there = self.there;
        (0..u64::BITS).filter(move |index| there >> index & 1 != 0)
    }

    /// The sector of a member.
    fn sector_of(&self, index: u32) -> Ppa {
        let position = self.strides.stride_of(self.place.position) + index * self.strides.count;
        let unit = self.place.page * self.shape.luns + position;
        self.shape.unit_start(self.line, unit) + (self.sector - self.place.unit)
    }

    /// The sectors from which this one is computed without a member.
    fn without(&self, without: u32) -> Others {
        let sectors = [Ppa::NONE; MOST_MEMBERS as usize];
        let mut others = Others { sectors, count: 0, strides: self.strides, without };
        for index in self.indices().filter(|&index| index != without) {
            others.sectors[others.count] = self.sector_of(index);
            others.count += 1;
        }
        others
    }
}

impl Gate {
    /// Whether reads avoid the LUN of a sector.
    #[inline]
    pub(in super::super) fn is_avoided(&self, shape: &Shape, sector: Ppa) -> bool {
        shape.gate.is_some() && self.is_marked(shape.place(sector).position)
    }

    /// Count host reads that are sent to their LUNs, for what waits at the gate for them to end.
    #[inline]
    pub(in super::super) fn reads_sent<O: Observer>(
        &mut self,
        shape: &Shape,
        flash: &Flash<O>,
        ops: &[OpId],
    ) {
        if shape.gate.is_some() {
            for &op in ops {
                let position = shape.position_at(flash.op(op).cmd.unit);
                self.read_sent(position);
            }
        }
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// The sectors from which this one can be computed; `None` if it cannot, or if only one other of several is left.
    pub(in super::super) fn others(&self, sector: Ppa) -> Option<Others> {
        let beside = Beside::of(&self.shape, &self.state, sector)?;
        let [p, q] = beside.strides.parity_indices();
        let without = match [p, q].map(|parity| beside.there >> parity & 1 != 0) {
            [false, false] => return None,
            [true, false] => q,
            [false, true] => p,
            [true, true] => {
                let unreadable =
                    |&index: &u32| self.state.failures.is_unreadable(&self.shape, beside.sector_of(index));
                let avoided = |&index: &u32| self.state.gate.is_avoided(&self.shape, beside.sector_of(index));
                let needless = beside.indices().find(unreadable);
                needless.or_else(|| beside.indices().find(avoided)).unwrap_or(q)
            }
        };
        // A stride with one member of data is a mirror.
        let is_mirror = beside.strides.width - beside.strides.parities == 1;
        (beside.there.count_ones() > 1 || is_mirror).then(|| beside.without(without))
    }

    /// The same, without this member.
    pub(in super::super) fn others_without(&self, sector: Ppa, without: u32) -> Option<Others> {
        Some(Beside::of(&self.shape, &self.state, sector)?.without(without))
    }

    /// A host read has ended on a LUN. What has waited for it goes on.
    #[inline]
    pub(in super::super) fn read_ended(&mut self, unit: BusyUnit) {
        if self.shape.gate.is_some() && self.state.gate.read_ended(self.shape.position_at(unit)) {
            self.run_writer();
            self.admit();
        }
    }

    /// Add the reads to a vector command from which a sector is computed.
    pub(in super::super) fn add_rebuild(
        &mut self,
        ops: &mut Vec<OpId>,
        reader: Reader,
        sector: Ppa,
        others: &Others,
        of: FlashCommand,
    ) {
        for &other in others.sectors() {
            self.add_read(ops, reader.occupant(), reader.work(), other, of);
        }
        self.state.counters.rebuild_reads += others.sectors().len() as u64;
        match reader {
            Reader::Host(id) => {
                self.state.counters.rebuilt_units += 1;
                self.state.interface.requests[id].is_rebuilt = true;
                self.data.rebuilds(&mut self.state.rebuilds, id, sector, others);
            }
            Reader::Collection(_) => self.state.counters.mended_units += 1,
        }
    }
}
