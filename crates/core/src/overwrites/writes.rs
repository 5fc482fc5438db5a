//! The units that a pass writes, in batches.

use crate::address::Lpn;
use std::ops::Range;
use tailcut_units::{Command, HostOp, Stream};

/// Number of logical units of a batch. The map entry of a unit is prefetched two batches before the unit is written,
/// and the state of its old copy one batch before, so that memory has time to respond.
pub const BATCH: usize = 128;

/// Uniform writes of `bytes` bytes each inside `region`, on a drive of `units` units of `unit` bytes; `None` if none fits.
/// Each call fills a batch, and returns how many units it has.
pub fn uniform(
    region: &Range<u64>,
    bytes: u32,
    (units, unit): (u32, u64),
    mut stream: Stream,
) -> Option<impl FnMut(&mut [Lpn; BATCH]) -> usize + use<>> {
    let per_write = u64::from(bytes).div_ceil(unit).max(1);
    let first = region.start / unit;
    let end = (region.end / unit).min(u64::from(units));
    let places = end.saturating_sub(first) / per_write;
    if places == 0 {
        return None;
    }
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

/// The writes among these commands, on a drive of `units` units of `unit` bytes. Each call fills a batch, and returns how
/// many units it has: fewer at the end.
pub fn replayed<I: Iterator<Item = Command>>(
    writes: &mut I,
    (units, unit): (u32, u64),
) -> impl FnMut(&mut [Lpn; BATCH]) -> usize + use<'_, I> {
    let most = u64::from(units);
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
