//! The contents of the flash: which data are programmed at which address.

use super::Size;
use super::oob::Oob;
use super::pages::Unit;
use crate::address::Ppa;
use crate::ftl::map::Fill;
use std::ops::Range;

/// A part of the controller's memory that a store may keep beside the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The counter of sequence numbers.
    Sequence,
    /// A slot of the write buffer.
    Slot,
    /// An accumulator.
    Accumulator,
    /// The data of a write under way.
    Request,
}

/// A flash: units that are erased or programmed, each with its bytes and its record.
///
/// A store may also keep the controller's memory, so that a drive can continue after the end of its process. Then
/// [`Store::KEEPS`] is true, and [`Bytes::keep`](super::Bytes::keep) gives it the changes.
pub trait Store {
    /// Whether the store keeps the controller's memory. If it does not, everything about that compiles away.
    const KEEPS: bool = false;

    /// Attach the store to a drive. Its contents stay if the sizes agree. Returns whether they stay.
    fn attach(&mut self, size: &Size) -> bool;
    /// The unit at an address; `None` if it is erased.
    fn unit(&self, ppa: Ppa) -> Option<Unit>;
    /// Program a unit. Returns the record that was there before: there should be none.
    fn program(&mut self, ppa: Ppa, unit: Unit) -> Option<Oob>;
    /// Erase an extent, which has these units.
    fn erase(&mut self, units: Range<Ppa>);
    /// Erase one unit.
    fn erase_unit(&mut self, ppa: Ppa);
    /// The order of a fill of this drive, for a store that was filled before it was attached.
    #[allow(unused_variables)]
    fn fills_in(&mut self, order: &Fill) {}
    /// Make the contents those of a sequential fill of a new flash.
    fn fill(&mut self, order: &Fill, units: u32);

    /// Keep the record of a part of the controller's memory.
    #[allow(unused_variables)]
    fn keep(&mut self, part: Part, index: u32, record: &[u8]) {}
    /// The record that was kept last; `None` if there is none.
    #[allow(unused_variables)]
    fn kept(&self, part: Part, index: u32) -> Option<Vec<u8>> {
        None
    }
}
