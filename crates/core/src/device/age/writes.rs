//! Writes that overwrite a drive without the timing model.

use super::precondition::Load;
use crate::address::Lpn;
use crate::device::drive::Device;
use crate::device::shape::Shape;
use crate::figures::{AgeReport, Until};
use crate::medium::Medium;
use crate::observer::Observer;
use crate::overwrites::{self, BATCH};
use std::ops::Range;
use tailcut_units::{Command, Stream};

impl Shape {
    /// Units of the host, and the bytes of one.
    fn units_to_write(&self) -> (u32, u64) {
        (self.layout.host_units, self.layout.unit_bytes)
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Overwrite uniformly at random inside `region`, `bytes` at a time, in zero time. ([`Device::age_uniform`] does
    /// the same until the drive is steady.) The drive must be idle ([`Device::settle`]). Erases wear blocks, and do not
    /// fail.
    pub fn overwrite_uniform(
        &mut self,
        until: Until,
        region: &Range<u64>,
        bytes: u32,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> AgeReport {
        if until == Until::Steady {
            return self.age_uniform(region.clone(), bytes, progress);
        }
        match self.uniform_writes(region, bytes) {
            Some(mut writes) => self.age(Load::Uniform, until, progress, &mut writes),
            None => AgeReport::default(),
        }
    }

    /// Like [`Device::overwrite_uniform`], with the writes among these commands, in order. An endless iterator must
    /// contain writes.
    pub fn overwrite_replay(
        &mut self,
        until: Until,
        writes: &mut impl Iterator<Item = Command>,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> AgeReport {
        let mut writes = overwrites::replayed(writes, self.shape.units_to_write());
        self.age(Load::Any, until, progress, &mut writes)
    }

    /// Uniform writes of `bytes` bytes each inside `region`; `None` if none fits.
    pub(super) fn uniform_writes(
        &self,
        region: &Range<u64>,
        bytes: u32,
    ) -> Option<impl FnMut(&mut [Lpn; BATCH]) -> usize + use<O, M>> {
        // A second pass on the same drive must not write the same addresses again.
        let stream = Stream::new(self.shape.context.seed, "age", self.state.extents.serial);
        overwrites::uniform(region, bytes, self.shape.units_to_write(), stream)
    }
}
