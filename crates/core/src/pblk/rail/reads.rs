//! Reads by parity: a sector on a marked LUN is computed from the other members of its stride.
//!
//! pblk decides for each sector of a host read once, at the look-up. A sector on a LUN that the gate has marked is
//! computed from the sectors at the same place on the other members. The sector is read directly if its stride has no
//! parity in this stripe, if only one other member is left and the stride is no mirror, or if a program of its line
//! has failed in this stripe or before it.
//!
//! With two parities one of the other members need not be read. This is an unreadable member, or else a marked one,
//! or else Q.

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

/// The sectors from which another sector is computed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Others {
    sectors: [Ppa; MOST_MEMBERS as usize],
    count: usize,
    /// The strides of the line.
    pub strides: Strides,
    /// The index of the member that is not read. With one parity this is the index of Q, which does not exist.
    pub without: u32,
}

impl Others {
    /// The sectors to read.
    pub fn sectors(&self) -> &[Ppa] {
        &self.sectors[..self.count]
    }

    /// Whether one of these unreadable sectors is needed.
    pub fn has_any_of(&self, unread: &[Ppa]) -> bool {
        self.sectors().iter().any(|other| unread.contains(other))
    }
}

/// The other members of the stride of a sector, in its stripe.
struct Beside<'a> {
    shape: &'a Shape,
    strides: Strides,
    line: u32,
    sector: Ppa,
    place: SectorPlace,
    /// The other members that can be read, one bit each by index.
    there: u64,
}

impl Beside<'_> {
    /// Find the other members of the stride of a sector. `None` if the sector has no stride or no valid parity.
    fn of<'a>(shape: &'a Shape, state: &State, sector: Ppa) -> Option<Beside<'a>> {
        let place = shape.place(sector);
        let number = state.lines.line_at(place.index, place.position);
        let strides = shape.strides_of(&state.lines, number)?;
        let line = state.lines.line(number);
        if place.page >= line.sound {
            return None;
        }
        let stripe = place.page * shape.luns;
        // In the open line parity is programmed after its data, and programs may still wait.
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

    /// The indices of the members that can be read.
    fn indices(&self) -> impl Iterator<Item = u32> + use<> {
        let there = self.there;
        (0..u64::BITS).filter(move |index| there >> index & 1 != 0)
    }

    /// The sector at the same place on a member.
    fn sector_of(&self, index: u32) -> Ppa {
        let position = self.strides.stride_of(self.place.position) + index * self.strides.count;
        let unit = self.place.page * self.shape.luns + position;
        self.shape.unit_start(self.line, unit) + (self.sector - self.place.unit)
    }

    /// The sectors to read if the member `without` is not read.
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

    /// Count host reads that are sent to LUNs. Programs and erases at the gate wait for them to end.
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
    /// The sectors from which this one can be computed. `None` if it cannot, or if only one member is left and the
    /// stride is no mirror.
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
        // A stride with one data member is a mirror.
        let is_mirror = beside.strides.width - beside.strides.parities == 1;
        (beside.there.count_ones() > 1 || is_mirror).then(|| beside.without(without))
    }

    /// The sectors from which this one can be computed if the member `without` is not read.
    pub(in super::super) fn others_without(&self, sector: Ppa, without: u32) -> Option<Others> {
        Some(Beside::of(&self.shape, &self.state, sector)?.without(without))
    }

    /// A host read of a LUN has ended. Programs and erases that have waited for it may start.
    #[inline]
    pub(in super::super) fn read_ended(&mut self, unit: BusyUnit) {
        if self.shape.gate.is_some() && self.state.gate.read_ended(self.shape.position_at(unit)) {
            self.run_writer();
            self.admit();
        }
    }

    /// Add the reads of the members from which a sector is computed to a vector command.
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
