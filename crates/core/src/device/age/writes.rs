//! Writes that overwrite a drive without the timing model.

use super::precondition::{BATCH, End};
use crate::address::Lpn;
use crate::device::drive::Device;
use crate::device::medium::Medium;
use crate::observer::Observer;
use std::ops::Range;
use tailcut_units::{Command, HostOp, SimTime, Stream};

/// A drive that has not come to rest after so many events never does.
const EVENTS_MAX: u64 = 100_000_000;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Let the drive come to rest: program what its buffer holds, and end what is under way. Returns whether
    /// nothing is left; without room, data stay in the buffer. No command may be under way.
    pub fn settle(&mut self) -> bool {
        debug_assert_eq!(self.outstanding(), 0);
        for _ in 0..EVENTS_MAX {
            self.flush_all();
            if !self.state.deferred.is_empty() {
                self.run_deferred();
            }
            if self.next_deadline() == SimTime::NEVER {
                return self.state.write.buffer.held() == 0;
            }
            self.advance_to_completion(SimTime::NEVER, 1, &mut |_| {});
        }
        false
    }

    /// Overwrite uniformly at random, `bytes` at a time, inside `region`, in zero time, until `erases` more extents
    /// were erased. Erases have their effect on blocks, and do not fail. The drive must be at rest
    /// ([`Device::settle`]). `progress` stops the pass by returning false.
    pub fn overwrite_uniform(
        &mut self,
        erases: u64,
        region: &Range<u64>,
        bytes: u32,
        progress: &mut dyn FnMut(f64) -> bool,
    ) {
        if let Some(mut writes) = self.uniform_writes(region, bytes) {
            self.age(false, End::Erases(self.state.extents.erases + erases), progress, &mut writes);
        }
    }

    /// As [`Device::overwrite_uniform`], with the writes among these commands.
    pub fn overwrite_replay(
        &mut self,
        erases: u64,
        writes: &mut impl Iterator<Item = Command>,
        progress: &mut dyn FnMut(f64) -> bool,
    ) {
        let end = End::Erases(self.state.extents.erases + erases);
        let mut writes = self.replayed_writes(writes);
        self.age(false, end, progress, &mut writes);
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
