//! Containers of elements addressed by index. They allocate nothing after construction.

pub mod big;
pub mod event_queue;
pub mod event_ring;
pub mod few_timers;
pub mod fronts;
pub mod list;
pub mod slab;
pub mod timers;

/// "No such index" in links and tables.
pub const NONE: u32 = u32::MAX;

/// The numbers of the bits that are set in a mask, from the lowest on.
#[inline]
pub fn bits(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros());
        mask &= mask.wrapping_sub(1);
        bit
    })
}
