//! What the flash holds, beyond what the map knows of it.
//!
//! A [`Medium`] hears, in order, of everything that happens to data: host bytes enter a slot
//! of the write buffer, a slot is programmed, collection moves a unit, an extent is erased, a
//! read is sensed. The device tells it where it changes its own state, and never asks it
//! anything but the bytes of a read. [`NoData`] hears nothing and costs nothing;
//! [`InMemory`] holds bytes and out-of-band records, and notices what cannot be.
//!
//! Addresses are those of the translation layer: physical unit addresses (PPA), logical units
//! (LPN), slots of the write buffer, and places in the pool of requests.

mod content;
mod in_memory;
mod no_data;
mod oob;
mod pages;
mod ranges;
#[cfg(test)]
mod tests;
mod transfer;
mod xor;

use crate::ftl::map::Fill;
pub use content::filled_bytes;
pub use in_memory::InMemory;
pub use no_data::NoData;
pub use oob::{Kind, Oob};
pub use pages::Unit;
use std::ops::Range;

/// How large the drive is that a medium lies under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Extents, the unusable ones of short lanes included.
    pub extents: u32,
    /// Mapping units of an extent.
    pub units_per_extent: u32,
    /// Mapping units of a row.
    pub units_per_row: u32,
    /// Mapping units of a lane.
    pub units_per_lane: u32,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// Slots of the write buffer.
    pub slots: u32,
    /// Commands under way at once.
    pub requests: u32,
}

/// What a slot of the write buffer holds where the host has not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// The unit was never written, or was trimmed: zeros.
    Zeros,
    /// The copy on flash, which is read when the slot leaves the buffer.
    Flash,
    /// The bytes of an older slot of the same unit. What that one lacks itself is read from
    /// `old` (`NONE`: it lacks nothing), and counted as there.
    Slot {
        /// The older slot.
        older: u32,
        /// The copy on flash that it would have been filled from.
        old_ppa: u32,
    },
}

/// A medium: the ordered effects on data. Whatever a medium does not care for does nothing.
#[allow(unused_variables)]
pub trait Medium {
    /// Whether there are payloads; where not, everything about them compiles away.
    const HOLDS_DATA: bool;

    /// The medium lies under a drive of this size from now on. What it holds on flash stays
    /// if the sizes agree; slots and requests are empty, and there are no accumulators.
    fn attach(&mut self, size: &Size) {}

    /// A write of `bytes` bytes is submitted; what `data` lacks of them is zeros.
    fn begin_write(&mut self, request: u32, bytes: u32, data: &[u8]) {}
    /// A slot of the buffer is taken for a logical unit.
    fn hold(&mut self, slot: u32, lpn: u32, below: Below) {}
    /// The bytes `range` of a slot are those from `at` on of the request's data.
    fn write_slot(&mut self, slot: u32, range: Range<u32>, request: u32, at: u32) {}
    /// A slot that leaves the buffer needs what it lacks from this address.
    fn want(&mut self, slot: u32, ppa: u32) {}
    /// A read for what slots lack is sensed: these addresses.
    fn fill_slot(&mut self, slot: u32, sensed: Range<u32>) {}
    /// A slot is programmed.
    fn program_slot(&mut self, ppa: u32, slot: u32, lpn: u32) {}
    /// A unit of a row is programmed without data.
    fn program_pad(&mut self, ppa: u32) {}

    /// A unit is sensed to be moved: it is in the controller. `lpn` is whose it is by the
    /// map, or `NONE` where it is stale by now.
    fn stage(&mut self, ppa: u32, lpn: u32) {}
    /// A staged unit is programmed elsewhere.
    fn program_staged(&mut self, ppa: u32, from: u32, lpn: u32, kind: Kind) {}
    /// A unit is sensed and programmed elsewhere without leaving the die.
    fn copy_back(&mut self, from: u32, to: u32) {}
    /// An extent is erased.
    fn erase(&mut self, extent: u32) {}
    /// A logical unit is forgotten.
    fn trim(&mut self, lpn: u32) {}

    /// A host read of `bytes` bytes is looked up; where nothing else is said it reads zeros.
    fn begin_read(&mut self, request: u32, bytes: u32) {}
    /// Bytes `range` of a logical unit, at `at` in the request's data, come from this slot as
    /// it is now; what it lacks comes from `old` when that is sensed.
    fn read_slot(&mut self, request: u32, at: u32, range: Range<u32>, slot: u32, old_ppa: u32) {}
    /// Bytes `range` of a logical unit, at `at` in the request's data, come from this address
    /// when it is sensed.
    fn read_flash(&mut self, request: u32, at: u32, range: Range<u32>, ppa: u32, lpn: u32) {}
    /// These addresses are sensed for the request.
    fn sense(&mut self, request: u32, sensed: Range<u32>) {}
    /// A read ends: its bytes.
    fn read_data(&mut self, request: u32) -> &[u8] {
        &[]
    }

    /// The first `units` logical units are on flash, as a sequential fill of a new drive puts
    /// them. Their bytes are those of [`filled_bytes`].
    fn fill(&mut self, order: &Fill, units: u32) {}
    /// A logical unit is overwritten functionally, with the bytes of [`filled_bytes`].
    fn age(&mut self, ppa: u32, lpn: u32) {}

    /// The parity of a stripe that begins with the logical unit `first` is written
    /// functionally: its members, by the bits of `oob`, have the bytes of [`filled_bytes`].
    fn age_parity(&mut self, ppa: u32, oob: Oob, first: u32) {}

    /// What should not have happened: the first few.
    fn faults(&self) -> &[String] {
        &[]
    }

    /// There are `count` accumulators of one mapping unit, all clear.
    fn set_accumulators(&mut self, count: u32) {}
    /// An accumulator is all zeros, and has no members.
    fn xor_clear(&mut self, acc: u32) {}
    /// An accumulator is clear, and is to become what is at this address now.
    fn xor_aim(&mut self, acc: u32, ppa: u32) {}
    /// What is at this address now is added to an accumulator: its bytes, and whose it is.
    /// Call it when the sense ends.
    fn xor_flash(&mut self, acc: u32, ppa: u32) {}
    /// A slot, which must hold its whole unit, is added to an accumulator.
    fn xor_slot(&mut self, acc: u32, slot: u32) {}
    /// An accumulator is added to another.
    fn xor_with(&mut self, acc: u32, other: u32) {}
    /// A staged unit is added to an accumulator.
    fn xor_staged(&mut self, acc: u32, ppa: u32) {}
    /// An accumulator is programmed. `oob` gives the kind, the number under which the unit is
    /// known (as LPN) and its member bitmap; the exclusive or of its members' LPNs, the
    /// sequence number and the checksum are the medium's.
    fn program_xor(&mut self, acc: u32, ppa: u32, oob: Oob) {}
    /// The bytes `range` of the unit at `ppa`, which the request waits for, come from an
    /// accumulator. It is compared with what it was to become, or else with what is there.
    fn deliver_xor(&mut self, acc: u32, request: u32, range: Range<u32>, ppa: u32) {}
    /// What a slot lacks comes from an accumulator, which is what is at this address.
    fn complete_xor(&mut self, acc: u32, slot: u32, ppa: u32) {}
    /// Whether the units at these addresses cancel out: the members of a stripe and parity.
    fn cancels(&self, ppas: &[u32]) -> bool {
        true
    }
}
