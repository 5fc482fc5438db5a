//! What the device tells its medium: one helper for each point where data move. Over a medium
//! without data they are all nothing.

use super::drive::{Device, State};
use super::host::Request;
use super::medium::{Beneath, Kind, Medium, Size};
use super::observer::Observer;
use super::op::{OpKind, Owner};
use super::shape::Shape;
use crate::ftl::NONE;
use crate::ftl::extents::Writer;
use crate::ftl::map::Place;
use std::ops::Range;
use tailcut_units::{HostOp, Occupant, Status};

/// A medium put under a drive.
pub(super) fn attached<M: Medium>(mut medium: M, shape: &Shape, state: &State) -> M {
    let l = &shape.layout;
    medium.attach(&Size {
        extents: l.extents(),
        units_per_extent: l.units_per_extent,
        units_per_row: l.units_per_row,
        units_per_lane: l.stride * l.units_per_extent,
        unit_bytes: l.unit_bytes as u32,
        slots: state.buffer.capacity(),
        requests: shape.host.queue_depth,
    });
    medium
}

/// The bytes that a command that ends gives to the host.
#[inline]
pub(super) fn delivered<'a, M: Medium>(medium: &'a mut M, id: u32, r: &Request) -> &'a [u8] {
    if M::HOLDS_DATA && r.command.op == HostOp::Read && r.status == Status::Ok {
        return medium.read_data(id);
    }
    &[]
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// The medium.
    pub fn medium(&self) -> &M {
        &self.medium
    }

    /// The medium, to do to it what the device does not do.
    pub fn medium_mut(&mut self) -> &mut M {
        &mut self.medium
    }

    /// The medium; the drive is no more.
    pub fn into_medium(self) -> M {
        self.medium
    }

    /// A write comes with these data.
    #[inline]
    pub(super) fn data_submitted(&mut self, id: u32, data: &[u8]) {
        let c = self.state.requests[id].command;
        if M::HOLDS_DATA && c.op == HostOp::Write && self.in_range(c.offset, c.bytes) {
            self.medium.begin_write(id, c.bytes, data);
        }
    }

    /// A slot was taken for a unit that was at `place`, and whose copy on flash is `former`.
    #[inline]
    pub(super) fn data_beneath(&mut self, slot: u32, place: Place, former: u32) {
        if M::HOLDS_DATA {
            let beneath = match place {
                Place::Unmapped => Beneath::Zeros,
                Place::Flash(_) => Beneath::Flash,
                Place::Buffer(older) => Beneath::Slot { older, former },
            };
            self.medium.hold(slot, self.state.buffer.slot(slot).lpn, beneath);
        }
    }

    /// Bytes `from..to` of a slot's unit are the request's.
    #[inline]
    pub(super) fn data_held(&mut self, id: u32, slot: u32, from: u64, to: u64) {
        if M::HOLDS_DATA {
            let lpn = self.state.buffer.slot(slot).lpn;
            self.medium.write_slot(slot, from as u32..to as u32, id, self.data_at(id, lpn, from));
        }
    }

    /// Where byte `from` of a logical unit is in the request's data.
    fn data_at(&self, id: u32, lpn: u32, from: u64) -> u32 {
        let unit = u64::from(lpn) * self.shape.layout.unit_bytes;
        (unit + from - self.state.requests[id].command.offset) as u32
    }

    /// A slot on its way lacks something that is being read at `former`.
    #[inline]
    pub(super) fn data_wanted(&mut self, slot: u32, former: u32) {
        if M::HOLDS_DATA {
            self.medium.want(slot, former);
        }
    }

    /// The row of a group is programmed.
    #[inline]
    pub(super) fn data_programmed(&mut self, group: u32) {
        if !M::HOLDS_DATA {
            return;
        }
        let upr = self.shape.layout.units_per_row;
        let s = &self.state;
        let g = &s.groups[group];
        for i in 0..g.count {
            let (lpn, source) = s.group_units[(group * upr + i) as usize];
            match g.writer {
                Writer::Host => self.medium.program_slot(g.pua + i, source, lpn),
                Writer::Collection => self.medium.program_staged(g.pua + i, source, lpn, Kind::Gc),
            }
        }
        for i in g.count..upr {
            self.medium.program_pad(g.pua + i);
        }
    }

    /// A read operation is sensed: its data are in the die's register.
    #[inline]
    pub(super) fn data_sensed(&mut self, op: u32) {
        if !M::HOLDS_DATA {
            return;
        }
        let s = &self.state;
        let o = &s.ops[op];
        debug_assert_eq!(o.kind, OpKind::Read);
        let upr = self.shape.layout.units_per_row;
        let row = || o.row * upr..(o.row + 1) * upr;
        match o.owner {
            Owner::Request(id) => self.medium.sense(id, row()),
            Owner::Group(group) => {
                for i in 0..s.groups[group].count {
                    let (_, slot) = s.group_units[(group * upr + i) as usize];
                    self.medium.fill_slot(slot, row());
                }
            }
            Owner::Stripe(_) | Owner::Rebuild(_) => {}
            Owner::Collection(_) => {
                debug_assert_eq!(o.occupant, Occupant::GcRead);
                let mut left = o.mask;
                while left != 0 {
                    let pua = o.row + left.trailing_zeros();
                    left &= left - 1;
                    let lpn = if self.map.is_valid(pua) { self.map.owner(pua) } else { NONE };
                    self.medium.stage(pua, lpn);
                }
            }
        }
    }

    /// A unit is programmed again elsewhere in its plane, or functionally anywhere.
    #[inline]
    pub(super) fn data_copied(&mut self, from: u32, to: u32) {
        if M::HOLDS_DATA {
            self.medium.copy_back(from, to);
        }
    }

    /// An extent is erased on all its dies.
    #[inline]
    pub(super) fn data_erased(&mut self, extent: u32) {
        if M::HOLDS_DATA {
            self.medium.erase(extent);
        }
    }

    /// A logical unit is trimmed.
    #[inline]
    pub(super) fn data_trimmed(&mut self, lpn: u32) {
        if M::HOLDS_DATA {
            self.medium.trim(lpn);
        }
    }

    /// A read is looked up.
    #[inline]
    pub(super) fn data_asked(&mut self, id: u32) {
        if M::HOLDS_DATA {
            self.medium.begin_read(id, self.state.requests[id].command.bytes);
        }
    }

    /// Bytes `from..to` of a logical unit are looked up for a read.
    #[inline]
    pub(super) fn data_read(&mut self, id: u32, lpn: u32, from: u64, to: u64) {
        if !M::HOLDS_DATA {
            return;
        }
        let (at, range) = (self.data_at(id, lpn, from), from as u32..to as u32);
        match self.map.lookup(lpn) {
            Place::Unmapped => {}
            Place::Flash(pua) => self.medium.read_flash(id, at, range, pua, lpn),
            Place::Buffer(slot) => {
                let former = self.state.buffer.slot(slot).former;
                self.medium.read_slot(id, at, range, slot, former);
            }
        }
    }

    /// The drive was filled up to here.
    pub(super) fn data_filled(&mut self, units: u32) {
        if M::HOLDS_DATA {
            self.medium.fill(&self.map.fill, units);
        }
    }

    /// A logical unit is overwritten functionally.
    #[inline]
    pub(super) fn data_aged(&mut self, pua: u32, lpn: u32) {
        if M::HOLDS_DATA {
            self.medium.age(pua, lpn);
        }
    }

    /// Units are programmed without data.
    #[inline]
    pub(super) fn data_padded(&mut self, puas: Range<u32>) {
        if M::HOLDS_DATA {
            puas.for_each(|pua| self.medium.program_pad(pua));
        }
    }

    /// The map and the extents are those of an aged drive: so is the flash. What was stale
    /// there is padding here.
    pub(super) fn data_adopted(&mut self) {
        if !M::HOLDS_DATA {
            return;
        }
        let filled = self.map.state.filled;
        self.medium.fill(&self.map.fill, filled);
        let rows = self.state.extents.rows_written(&self.shape.layout);
        let (upr, upe) = (self.shape.layout.units_per_row, self.shape.layout.units_per_extent);
        for (extent, rows) in (0..).zip(rows) {
            let units = extent * upe..extent * upe + rows * upr;
            let as_filled = |pua| {
                let lpn = self.map.fill.lpn(pua);
                self.map.is_valid(pua) && lpn < filled && self.map.owner(pua) == lpn
            };
            if rows * upr == upe && units.clone().all(as_filled) {
                continue;
            }
            self.medium.erase(extent);
            for pua in units {
                match self.map.is_valid(pua) {
                    true => self.medium.age(pua, self.map.owner(pua)),
                    false => self.medium.program_pad(pua),
                }
            }
        }
    }
}
