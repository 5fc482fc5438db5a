//! Writes that overwrite a drive without the timing model.

use super::precondition::{BATCH, Load};
use crate::address::Lpn;
use crate::device::drive::Device;
use crate::device::medium::Medium;
use crate::figures::{AgeReport, Until};
use crate::observer::Observer;
use std::ops::Range;
use tailcut_units::{Command, HostOp, Stream};

impl<O: Observer, M: Medium> Device<O, M> {
    /// Overwrite uniformly at random, `bytes` at a time, inside `region`, in zero time: [`Device::age_uniform`] is
    /// this until steady. The drive must be at rest ([`Device::settle`]). Erases have their effect on blocks, and do
    /// not fail.
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

    /// As [`Device::overwrite_uniform`], with the writes among these commands, in order. An endless iterator must
    /// contain writes.
    pub fn overwrite_replay(
        &mut self,
        until: Until,
        writes: &mut impl Iterator<Item = Command>,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> AgeReport {
        let mut writes = self.replayed_writes(writes);
        self.age(Load::Any, until, progress, &mut writes)
    }

    /// Uniform writes of `bytes` bytes each inside `region`; `None` if none fits.
    pub(super) fn uniform_writes(
        &self,
        region: &Range<u64>,
        bytes: u32,
    ) -> Option<impl FnMut(&mut [Lpn; BATCH]) -> usize + use<O, M>> {
        let unit = self.shape.layout.unit_bytes;
        let per_write = u64::from(bytes).div_ceil(unit).max(1);
        let first = region.start / unit;
        let end = (region.end / unit).min(u64::from(self.shape.layout.host_units));
        let places = end.saturating_sub(first) / per_write;
        if places == 0 {
            return None;
        }
        // A second pass on the same drive must not write the same addresses again.
        let mut stream = Stream::new(self.shape.context.seed, "age", self.state.extents.serial);
        let (mut at, mut left) = (0, 0);
        Some(move |batch: &mut [Lpn; BATCH]| {
            for lpn in batch.iter_mut() {
                if left == 0 {
                    at = first + stream.below(places) * per_write;
                    left = per_write;
                }
                *lpn = Lpn(at as u32);
                at += 1;
                left -= 1;
            }
            BATCH
        })
    }

    /// The writes among these commands.
    pub(super) fn replayed_writes<'a, I: Iterator<Item = Command>>(
        &self,
        writes: &'a mut I,
    ) -> impl FnMut(&mut [Lpn; BATCH]) -> usize + use<'a, O, M, I> {
        let unit = self.shape.layout.unit_bytes;
        let most = u64::from(self.shape.layout.host_units);
        let mut pending = 0..0;
        move |batch: &mut [Lpn; BATCH]| {
            let mut filled = 0;
            while filled < BATCH {
                if pending.is_empty() {
                    let Some(command) = writes.find(|c| c.op == HostOp::Write) else { break };
                    let end = (command.offset + u64::from(command.bytes)).div_ceil(unit).min(most);
                    pending = command.offset / unit..end;
                    continue;
                }
                batch[filled] = Lpn(pending.start as u32);
                pending.start += 1;
                filled += 1;
            }
            filled
        }
    }
}
