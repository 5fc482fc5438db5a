//! Where the data of each unit are: on flash, in the write buffer, or in a collection. And whether they can be read there
//! or computed from the rest of their stripe.

use super::drive::{Device, State};
use super::faults::state::FaultState;
use super::gc::state::Gc;
use super::parity::state::Parity;
use super::shape::Shape;
use super::write::state::Writes;
use crate::address::Ppa;
use crate::ftl::extents::Extents;
use crate::ftl::map::Map;
use crate::medium::Medium;
use crate::observer::Observer;

/// A view of all parts that hold copies of units, or that know which copies cannot be read. It changes nothing, and sees
/// neither the flash nor the host's commands.
#[derive(Clone, Copy)]
pub struct Copies<'a> {
    pub(super) shape: &'a Shape,
    pub(super) map: &'a Map,
    pub(super) extents: &'a Extents,
    pub(super) write: &'a Writes,
    pub(super) gc: &'a Gc,
    pub(super) parity: &'a Parity,
    pub(super) faults: &'a FaultState,
}

impl Copies<'_> {
    /// Prefetch the valid bit of a copy that will become stale, and the counter of its extent. There need not be a copy.
    #[inline]
    pub fn prefetch_copy(&self, ppa: Ppa) {
        if ppa != Ppa::NONE {
            self.map.prefetch_valid(ppa);
            self.extents.prefetch(self.shape.layout.extent_of(ppa).0);
        }
    }
}

impl State {
    /// The copies of all units.
    #[inline]
    pub fn copies<'a>(&'a self, shape: &'a Shape, map: &'a Map) -> Copies<'a> {
        let State { extents, write, gc, parity, faults, .. } = self;
        Copies { shape, map, extents, write, gc, parity, faults }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// The copies of all units.
    #[inline]
    pub fn copies(&self) -> Copies<'_> {
        self.state.copies(&self.shape, &self.map)
    }
}
