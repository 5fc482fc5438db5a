//! Reads that go to the other members of a stride.
//!
//! A host read is decided once, when pblk looks it up, sector by sector. A sector whose LUN is marked by the gate is
//! computed from the sectors at the same place of the other members. It is read where it lies if its stride has no
//! parity in this stripe, if only one other member is left of more, or if a program of this stripe or one before has failed.

use super::failures::Reader;
use super::strides::MOST_MEMBERS;
use crate::address::{BusyUnit, Ppa};
use crate::flash::{FlashCommand, OpId};
use crate::medium::Medium;
use crate::observer::Observer;
use crate::pblk::drive::Pblk;

/// The sectors from which another is computed.
pub(in super::super) struct Others {
    sectors: [Ppa; MOST_MEMBERS as usize],
    count: usize,
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

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Whether reads avoid the LUN of a sector.
    #[inline]
    pub(in super::super) fn is_avoided(&self, sector: Ppa) -> bool {
        self.shape.gate.is_some() && self.state.gate.is_marked(self.shape.place(sector).position)
    }

    /// The sectors from which this one can be computed; `None` if it cannot, or if only one other of several is left.
    pub(in super::super) fn others(&self, sector: Ppa) -> Option<Others> {
        let place = self.shape.place(sector);
        let number = self.state.lines.line_at(place.index, place.position);
        let strides = self.shape.strides_of(&self.state.lines, number)?;
        let line = self.state.lines.line(number);
        let stripe = place.page * self.shape.luns;
        if place.page >= line.sound || !self.has_parity(number, stripe + place.position) {
            return None;
        }
        // Parity of the open line follows its data.
        let open = self.state.writer.open();
        let written = if open.line == number { open.next } else { u32::MAX };
        let stride = strides.stride_of(place.position);
        let mut others = Others { sectors: [Ppa::NONE; MOST_MEMBERS as usize], count: 0 };
        for member in strides.members(stride).filter(|&member| member != place.position) {
            let unit = stripe + member;
            if strides.is_parity(member) && unit >= written {
                return None;
            }
            if self.state.lines.is_bad(number, member) || unit < line.start || unit >= line.end {
                continue;
            }
            let start = self.shape.unit_start(number, unit);
            others.sectors[others.count] = start + (sector - place.unit);
            others.count += 1;
        }
        if strides.parities == 2 {
            // Of two parities one is not needed: another LUN that is avoided or dead, or else the last.
            let needless = |&other: &Ppa| self.is_avoided(other) || self.is_unreadable(other);
            let at = others.sectors().iter().position(needless).unwrap_or(others.count - 1);
            others.sectors.copy_within(at + 1..others.count, at);
            others.count -= 1;
        }
        // A stride with one member of data is a mirror.
        (others.count > 1 || strides.width - strides.parities == 1).then_some(others)
    }

    /// Count host reads that are sent to their LUNs, for what waits at the gate for them to end.
    #[inline]
    pub(in super::super) fn reads_sent(&mut self, ops: &[OpId]) {
        if self.shape.gate.is_some() {
            for &op in ops {
                let position = self.shape.position_at(self.flash.op(op).cmd.unit);
                self.state.gate.read_sent(position);
            }
        }
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
                self.data_rebuilds(id, sector, others.sectors());
            }
            Reader::Collection(_) => self.state.counters.mended_units += 1,
        }
    }
}
