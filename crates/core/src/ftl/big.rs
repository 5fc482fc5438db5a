//! Large flat arrays that cost nothing until they are touched.
//!
//! The one module with unsafe code: the map is read at random several times a request,
//! and proving anew at each access that a mapping is aligned and a whole number of
//! elements long (as the safe cast does) costs a tenth of the run loop.
#![allow(unsafe_code)]

use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A zero-filled array in anonymous memory: untouched parts take no physical memory,
/// and on Linux huge pages are asked for, since access is random.
pub struct BigArray<T> {
    /// First element, in `_memory`; dangling when the array is empty.
    start: NonNull<T>,
    len: usize,
    /// Keeps the memory; never touched but through `start`.
    _memory: Option<MmapMut>,
}

// SAFETY: a `BigArray` owns its memory alone, like a `Vec`.
unsafe impl<T: Pod + Send> Send for BigArray<T> {}
// SAFETY: as above; a shared reference gives shared access only.
unsafe impl<T: Pod + Sync> Sync for BigArray<T> {}

impl<T: Pod> BigArray<T> {
    /// `len` zeros, or an error when the address space does not hold them.
    pub fn zeroed(len: usize) -> std::io::Result<BigArray<T>> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(std::io::ErrorKind::OutOfMemory)?;
        if bytes == 0 {
            return Ok(BigArray { start: NonNull::dangling(), len: 0, _memory: None });
        }
        let mut map = MmapOptions::new().len(bytes).map_anon()?;
        // Small arrays would waste a huge page; a refusal only costs speed.
        #[cfg(target_os = "linux")]
        if bytes >= 4 << 20 {
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        // The cast proves alignment and size once, for good.
        let all: NonNull<[T]> = NonNull::from(bytemuck::cast_slice_mut::<u8, T>(&mut map[..]));
        Ok(BigArray { start: all.cast(), len, _memory: Some(map) })
    }

    /// The raw bytes, for snapshots.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }

    /// The raw bytes, for snapshots.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(self)
    }
}

impl<T: Pod> Deref for BigArray<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` is the aligned start of `len` elements of `_memory`, which lives as
        // long as `self` and is never moved or resized; the memory is zeroed, and `T: Pod`
        // makes every bit pattern a value. Nothing else refers to the memory.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Pod> DerefMut for BigArray<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; `&mut self` makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}
