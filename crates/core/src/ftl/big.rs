//! Large flat arrays that cost nothing until they are touched.

use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A zero-filled array in anonymous memory: untouched parts take no physical memory,
/// and on Linux huge pages are asked for, since access is random.
pub struct BigArray<T> {
    map: Option<MmapMut>,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Pod> BigArray<T> {
    /// `len` zeros, or an error when the address space does not hold them.
    pub fn zeroed(len: usize) -> std::io::Result<BigArray<T>> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(std::io::ErrorKind::OutOfMemory)?;
        if bytes == 0 {
            return Ok(BigArray { map: None, len: 0, kind: PhantomData });
        }
        let map = MmapOptions::new().len(bytes).map_anon()?;
        // Small arrays would waste a huge page; a refusal only costs speed.
        #[cfg(target_os = "linux")]
        if bytes >= 4 << 20 {
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(BigArray { map: Some(map), len, kind: PhantomData })
    }

    /// The raw bytes, for snapshots.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }

    /// The raw bytes, for snapshots.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.map.as_deref_mut().unwrap_or(&mut [])
    }
}

impl<T: Pod> Deref for BigArray<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        match &self.map {
            // An anonymous mapping is page-aligned and a whole number of elements long.
            Some(map) => &bytemuck::cast_slice(&map[..])[..self.len],
            None => &[],
        }
    }
}

impl<T: Pod> DerefMut for BigArray<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.map {
            Some(map) => &mut bytemuck::cast_slice_mut(&mut map[..])[..self.len],
            None => &mut [],
        }
    }
}
