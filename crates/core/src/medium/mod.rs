//! The data on flash and in the write buffer, beyond what the map records.
//!
//! A [`Medium`] gets, in order, everything that happens to data: host bytes enter a slot of the write buffer, a slot is
//! programmed, collection moves a unit, an extent is erased, a read is sensed. The device calls it where it changes its
//! own state, and asks it for nothing but the bytes of a read. [`NoData`] does nothing and costs nothing; [`Bytes`]
//! holds bytes and out-of-band records, and detects accesses that cannot happen on flash. The contents of the flash are
//! in a [`Store`] below it: [`Pages`] in memory, or a store of the program that drives the model.
//!
//! Addresses are those of the translation layer: physical unit addresses (PPA), logical units
//! (LPN), slots of the write buffer, and places in the pool of requests.

mod bytes;
mod content;
pub mod gf256;
mod no_data;
mod oob;
mod pages;
mod ranges;
mod silent;
mod store;
#[cfg(test)]
mod tests;
mod transfer;
mod xor;

use crate::address::{Lpn, Ppa};
use crate::ftl::map::Fill;
pub use bytes::{Bytes, InMemory};
pub use content::filled_bytes;
pub use no_data::NoData;
pub use oob::{OOB_BYTES, Oob, UnitKind};
pub use pages::{Filled, Pages, Unit};
use serde::{Deserialize, Serialize};
pub use silent::Silent;
use std::ops::Range;
pub use store::{Part, Store};

/// The size of the drive to which a medium is attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Bytes of the largest command.
    pub transfer: u64,
}

impl Size {
    /// Whether a flash of the other size holds the same units.
    pub fn is_same_flash(&self, other: &Size) -> bool {
        let Size { slots, requests, transfer, .. } = *other;
        *other == Size { slots, requests, transfer, ..*self }
    }

    /// The addresses of an extent.
    pub fn units_of(&self, extent: u32) -> Range<Ppa> {
        let first = Ppa(extent * self.units_per_extent);
        first..first + self.units_per_extent
    }
}

/// The source of those bytes of a write-buffer slot that the host has not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// The unit was never written, or was trimmed: zeros.
    Zeros,
    /// The copy on flash, which is read when the slot leaves the buffer.
    Flash,
    /// The bytes of an older slot of the same unit. Bytes that the older slot lacks itself are
    /// taken from `old_ppa` (`NONE`: it lacks none).
    Slot {
        /// The older slot.
        older: u32,
        /// The copy on flash with the bytes that the older slot lacks.
        old_ppa: Ppa,
    },
}

/// A medium: the ordered effects on data. By default a method does nothing.
#[allow(unused_variables)]
pub trait Medium {
    /// Whether the medium holds payloads. If it does not, everything about them compiles away.
    const HOLDS_DATA: bool;

    /// Attach the medium to a drive of this size. Its contents on flash stay if the sizes agree;
    /// slots and requests are empty, and there are no accumulators.
    fn attach(&mut self, size: &Size) {}

    /// A write of `bytes` bytes is submitted. If `data` is shorter, the rest is zeros.
    fn begin_write(&mut self, request: u32, bytes: u32, data: &[u8]) {}
    /// A slot of the buffer is taken for a logical unit.
    fn hold(&mut self, slot: u32, lpn: Lpn, below: Below) {}
    /// The bytes `range` of a slot are set to the request's data from `at` on.
    fn write_slot(&mut self, slot: u32, range: Range<u32>, request: u32, at: u32) {}
    /// A slot that leaves the buffer needs its missing bytes from this address.
    fn want(&mut self, slot: u32, ppa: Ppa) {}
    /// A read of missing bytes of slots has sensed these addresses.
    fn fill_slot(&mut self, slot: u32, sensed: Range<Ppa>) {}
    /// The missing bytes of a slot that wants them from this address cannot be read.
    fn fill_slot_with_zeros(&mut self, slot: u32, ppa: Ppa) {}
    /// The missing bytes of a slot are lost. They become zeros.
    fn give_up(&mut self, slot: u32) {}
    /// A slot is programmed. `moved` is the kind of a slot that no command has written.
    fn program_slot(&mut self, ppa: Ppa, slot: u32, lpn: Lpn, moved: UnitKind) {}
    /// A unit of a row is programmed without data.
    fn program_pad(&mut self, ppa: Ppa) {}

    /// A unit is sensed to be moved, and is in the controller. `lpn` is its logical unit by the
    /// map, or `NONE` if the unit is stale by now.
    fn stage(&mut self, ppa: Ppa, lpn: Lpn) {}
    /// A unit to be moved is not sensed but computed: the accumulator must equal it.
    fn stage_xor(&mut self, acc: u32, ppa: Ppa, lpn: Lpn) {}
    /// A staged unit is programmed elsewhere.
    fn program_staged(&mut self, ppa: Ppa, from: Ppa, lpn: Lpn, kind: UnitKind) {}
    /// A unit is sensed and programmed elsewhere without leaving the die.
    fn copy_back(&mut self, from: Ppa, to: Ppa) {}
    /// An extent is erased.
    fn erase(&mut self, extent: u32) {}
    /// Units of one extent are erased.
    fn erase_units(&mut self, units: Range<Ppa>) {}
    /// A logical unit is forgotten.
    fn trim(&mut self, lpn: Lpn) {}

    /// The look-up of a host read of `bytes` bytes begins. Bytes for which no other call follows
    /// are zeros.
    fn begin_read(&mut self, request: u32, bytes: u32) {}
    /// Bytes `range` of a logical unit, at `at` in the request's data, come from this slot as it is
    /// now. Bytes that the slot lacks come from `old_ppa` when that is sensed.
    fn read_slot(&mut self, request: u32, at: u32, range: Range<u32>, slot: u32, old_ppa: Ppa) {}
    /// Bytes `range` of a logical unit, at `at` in the request's data, come from this address
    /// when it is sensed.
    fn read_flash(&mut self, request: u32, at: u32, range: Range<u32>, ppa: Ppa, lpn: Lpn) {}
    /// These addresses are sensed for the request.
    fn sense(&mut self, request: u32, sensed: Range<Ppa>) {}
    /// The request looks for what it wanted from one address at another.
    fn redirect(&mut self, request: u32, from: Ppa, to: Ppa) {}
    /// The request gets from a slot what that has of the bytes that it wanted from an address. For the
    /// others it still waits.
    fn redirect_to_slot(&mut self, request: u32, from: Ppa, slot: u32) {}
    /// A read ends. Returns its bytes.
    fn read_data(&mut self, request: u32) -> &[u8] {
        &[]
    }

    /// The order in which a sequential fill of the drive puts units on flash, for a medium that was filled before it was
    /// attached to this drive.
    fn fills_in(&mut self, order: &Fill) {}
    /// The first `units` logical units are on flash, as a sequential fill of a new drive puts
    /// them. Their bytes are those of [`filled_bytes`].
    fn fill(&mut self, order: &Fill, units: u32) {}
    /// A logical unit is overwritten functionally, with the bytes of [`filled_bytes`].
    fn age(&mut self, ppa: Ppa, lpn: Lpn) {}

    /// The parity of a stripe that begins with the logical unit `first` is written
    /// functionally: its members, by the bits of `oob`, have the bytes of [`filled_bytes`].
    fn age_parity(&mut self, ppa: Ppa, oob: Oob, first: Lpn) {}

    /// The first few faults: accesses that should not have happened.
    fn faults(&self) -> &[String] {
        &[]
    }

    /// Create `count` accumulators of one mapping unit, all clear.
    fn set_accumulators(&mut self, count: u32) {}
    /// Clear an accumulator: all zeros, and no members.
    fn xor_clear(&mut self, acc: u32) {}
    /// Clear an accumulator, and note the unit that is now at this address as its expected result.
    fn xor_aim(&mut self, acc: u32, ppa: Ppa) {}
    /// Add the unit that is now at this address to an accumulator: its bytes and its LPN. Call it
    /// when the sense ends.
    fn xor_flash(&mut self, acc: u32, ppa: Ppa) {
        self.xor_flash_times(acc, ppa, 1);
    }
    /// Add the unit that is now at this address, times a factor (see [`gf256`]).
    fn xor_flash_times(&mut self, acc: u32, ppa: Ppa, factor: u8) {}
    /// Add a slot, which must hold its whole unit, to an accumulator.
    fn xor_slot(&mut self, acc: u32, slot: u32) {
        self.xor_slot_times(acc, slot, 1);
    }
    /// Add a slot, which must hold its whole unit, times a factor.
    fn xor_slot_times(&mut self, acc: u32, slot: u32, factor: u8) {}
    /// Add the accumulator `other` to an accumulator.
    fn xor_with(&mut self, acc: u32, other: u32) {}
    /// Program an accumulator. `oob` gives the kind, the number under which the unit is known (as
    /// LPN) and its member bitmap. The medium sets the exclusive or of its members' LPNs, the
    /// sequence number and the checksum.
    fn program_xor(&mut self, acc: u32, ppa: Ppa, oob: Oob) {}
    /// Deliver the bytes `range` of the unit at `ppa`, for which the request waits, from an
    /// accumulator. The accumulator is compared with its expected result, or else with the unit at
    /// `ppa`.
    fn deliver_xor(&mut self, acc: u32, request: u32, range: Range<u32>, ppa: Ppa) {}
    /// Fill the missing bytes of a slot from an accumulator, which must equal the unit at this
    /// address.
    fn complete_xor(&mut self, acc: u32, slot: u32, ppa: Ppa) {}
    /// Whether the units at these addresses, times their factors, cancel out: the members of a stripe and its parity.
    fn cancels(&self, units: &[(Ppa, u8)]) -> bool {
        true
    }
}
