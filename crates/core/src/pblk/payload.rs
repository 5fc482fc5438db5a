//! The calls to the medium: one for each point where data move. With a medium without data none of them does anything.
//!
//! A slot of the ring always holds a whole sector. The host has what a write of a part of a sector leaves as it is in its
//! page cache, so that reading it takes no time here. Metadata are padding to the medium.

use super::array::SECTOR;
use super::drive::{Pblk, State};
use super::lines::State as LineState;
use super::ring::Entry;
use super::shape::Shape;
use super::writer::{Content, Unit};
use crate::address::{Lpn, Ppa};
use crate::flash::OpId;
use crate::ftl::map::Place;
use crate::medium::{Below, Kind, Medium, Size};
use crate::observer::Observer;
use tailcut_units::{HostOp, Status};

/// Attach a medium to a drive.
pub(super) fn attached<M: Medium>(mut medium: M, shape: &Shape, state: &State) -> M {
    medium.attach(&Size {
        extents: shape.array.lines,
        units_per_extent: shape.line_sectors,
        units_per_row: shape.array.write_unit,
        units_per_lane: shape.array.lines * shape.line_sectors,
        unit_bytes: SECTOR as u32,
        slots: shape.provision.ring,
        requests: state.interface.requests.capacity(),
    });
    medium
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// The medium.
    pub fn medium(&self) -> &M {
        &self.medium
    }

    /// A command is submitted; `data` are the bytes of a write.
    #[inline]
    pub(super) fn data_submitted(&mut self, id: u32, data: &[u8]) {
        let c = self.state.interface.requests[id].host.command;
        if M::HOLDS_DATA && c.op == HostOp::Write {
            self.medium.begin_write(id, c.bytes, data);
        }
    }

    /// The bytes of a sector that a command covers, and where they are in its data.
    fn covered(&self, id: u32, lpn: Lpn) -> (std::ops::Range<u32>, u32) {
        let c = self.state.interface.requests[id].host.command;
        let first = u64::from(lpn.0) * SECTOR;
        let (from, to) = (c.offset.max(first), (c.offset + u64::from(c.bytes)).min(first + SECTOR));
        ((from - first) as u32..(to - first) as u32, (from - c.offset) as u32)
    }

    /// A sector of a write has entered a slot. `before` is where the sector was.
    #[inline]
    pub(super) fn data_entered(&mut self, id: u32, lpn: Lpn, slot: u32, before: Place) {
        if !M::HOLDS_DATA {
            return;
        }
        let below = match before {
            Place::Unmapped => Below::Zeros,
            Place::Flash(_) => Below::Flash,
            Place::Buffer(older) => Below::Slot { older: older.slot(), old_ppa: Ppa::NONE },
        };
        let (range, at) = self.covered(id, lpn);
        let whole = u64::from(range.end - range.start) == SECTOR;
        self.medium.hold(slot, lpn, below);
        self.medium.write_slot(slot, range, id, at);
        if let Place::Flash(sector) = before
            && !whole
        {
            self.medium.want(slot, sector);
            self.medium.fill_slot(slot, sector..sector + 1);
        }
    }

    /// A sector that collection has read has entered a slot.
    #[inline]
    pub(super) fn data_moved(&mut self, slot: u32, lpn: Lpn, from: Ppa) {
        // In zero time the medium takes part at the end alone.
        if M::HOLDS_DATA && self.state.runs {
            self.medium.hold(slot, lpn, Below::Flash);
            self.medium.want(slot, from);
            self.medium.fill_slot(slot, from..from + 1);
        }
    }

    /// A unit is programmed on the device.
    #[inline]
    pub(super) fn data_programmed(&mut self, unit: &Unit) {
        if !M::HOLDS_DATA {
            return;
        }
        let start = self.shape.unit_start(unit.line, unit.unit);
        let (first, sectors) = match unit.content {
            Content::Data { first, sectors } => (first, sectors),
            Content::Start | Content::End => (0, 0),
        };
        for (place, sector) in (first..first + u64::from(sectors)).zip(start.run(sectors)) {
            let &Entry { lba, .. } = self.state.ring.entry(place);
            match lba {
                Lpn::NONE => self.medium.program_pad(sector),
                _ => self.medium.program_slot(sector, self.state.ring.slot(place), lba, Kind::Gc),
            }
        }
        for at in sectors..self.shape.array.write_unit {
            self.medium.program_pad(start + at);
        }
    }

    /// The chunk of a line on a LUN position is erased on the device.
    pub(super) fn data_erased(&mut self, line: u32, position: u32) {
        if !M::HOLDS_DATA {
            return;
        }
        for unit in (position..self.shape.line_units).step_by(self.shape.luns as usize) {
            let start = self.shape.unit_start(line, unit);
            self.medium.erase_units(start..start + self.shape.array.write_unit);
        }
    }

    /// The look-up of a read begins.
    #[inline]
    pub(super) fn data_asked(&mut self, id: u32) {
        if M::HOLDS_DATA {
            self.medium.begin_read(id, self.state.interface.requests[id].host.command.bytes);
        }
    }

    /// A read gets a sector from where the map says that it is.
    #[inline]
    pub(super) fn data_looked_up(&mut self, id: u32, lpn: Lpn, place: Place) {
        if !M::HOLDS_DATA {
            return;
        }
        let (range, at) = self.covered(id, lpn);
        match place {
            Place::Unmapped => {}
            Place::Flash(sector) => self.medium.read_flash(id, at, range, sector, lpn),
            Place::Buffer(held) => self.medium.read_slot(id, at, range, held.slot(), Ppa::NONE),
        }
    }

    /// The sectors of an operation of a read are there.
    #[inline]
    pub(super) fn data_arrived(&mut self, id: u32, op: OpId) {
        if M::HOLDS_DATA && self.state.interface.requests[id].host.status == Status::Ok {
            let cmd = self.flash.op(op).cmd;
            for at in (0..u64::BITS).filter(|at| cmd.units() >> at & 1 != 0) {
                self.medium.sense(id, cmd.ppa + at..cmd.ppa + (at + 1));
            }
        }
    }

    /// Sectors are forgotten.
    #[inline]
    pub(super) fn data_trimmed(&mut self, lpn: Lpn) {
        if M::HOLDS_DATA {
            self.medium.trim(lpn);
        }
    }

    /// Let the medium hold what a past in zero time has left on the device. No command may have come before.
    pub(super) fn data_adopted(&mut self) {
        if !M::HOLDS_DATA {
            return;
        }
        let (shape, lines) = (&self.shape, &self.state.lines);
        for line in 0..lines.count() {
            self.medium.erase(line);
            let units = match lines.line(line).state {
                LineState::Closed => shape.line_units,
                LineState::Open => self.state.writer.room_of(line).map_or(0, |(next, _)| next),
                LineState::Free | LineState::Victim | LineState::Bad | LineState::Lost => 0,
            };
            for unit in (0..units).filter(|&unit| !lines.is_bad(line, shape.position_of(unit))) {
                for sector in shape.unit_start(line, unit).run(shape.array.write_unit) {
                    match self.map.is_valid(sector) {
                        true => self.medium.age(sector, self.map.owner(sector)),
                        false => self.medium.program_pad(sector),
                    }
                }
            }
        }
    }
}
