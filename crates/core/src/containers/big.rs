//! Large flat arrays that take no memory and no time until they are touched, in memory or in a file.
//!
//! The only module with unsafe code. The map is read at random several times per request. The safe
//! cast checks at each access that the memory is aligned and a whole number of elements long, and
//! this costs a tenth of the run loop.
#![allow(unsafe_code)]

use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// A zero-filled array in anonymous memory or in a temporary file. Untouched parts take no physical
/// memory. On Linux a large array in memory asks for huge pages, since access is random.
pub struct BigArray<T> {
    /// First element, in `memory`; dangling when the array is empty.
    start: NonNull<T>,
    len: usize,
    in_file: bool,
    /// Owns the memory, which is accessed only through `start`.
    memory: Option<MmapMut>,
}

// SAFETY: a `BigArray` is the only owner of its memory, like a `Vec`.
unsafe impl<T: Pod + Send> Send for BigArray<T> {}
// SAFETY: as above; a shared reference gives shared access only.
unsafe impl<T: Pod + Sync> Sync for BigArray<T> {}

impl<T: Pod> BigArray<T> {
    /// `len` zeros; an error if the address space does not hold them.
    pub fn zeroed(len: usize) -> std::io::Result<BigArray<T>> {
        let bytes = Self::bytes_of(len)?;
        if bytes == 0 {
            return Ok(BigArray { start: NonNull::dangling(), len: 0, in_file: false, memory: None });
        }
        let map = MmapOptions::new().len(bytes).map_anon().map_err(|e| {
            let gb = bytes as f64 / 1e9;
            let what = format!("{gb:.2} GB of address space (`ulimit -v` may limit it): {e}");
            std::io::Error::new(e.kind(), what)
        })?;
        // Small arrays would waste a huge page. If the kernel refuses huge pages, only speed is
        // lost.
        #[cfg(target_os = "linux")]
        if bytes >= 4 << 20 {
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Self::over(map, len, false))
    }

    /// `len` zeros in a temporary file without a name, for arrays that may be larger than memory: the
    /// kernel keeps in memory what it has room for. Elements that are used together should lie together.
    ///
    /// # Errors
    /// If the folder for temporary files (`TMPDIR`) cannot hold them. All of the space
    /// is reserved where the system can; elsewhere, and if the disk fails, an access may end the program.
    pub fn in_file(len: usize) -> std::io::Result<BigArray<T>> {
        let bytes = Self::bytes_of(len)?;
        if bytes == 0 {
            return Self::zeroed(0);
        }
        let told = |e: std::io::Error| {
            let gb = bytes as f64 / 1e9;
            let what = format!("a temporary file of {gb:.1} GB (TMPDIR names the folder): {e}");
            std::io::Error::new(e.kind(), what)
        };
        let file = tempfile::tempfile().map_err(told)?;
        reserve(&file, bytes as u64).map_err(told)?;
        // SAFETY: the file is temporary, and its handle ends here. No other program is expected to open
        // it, so that nothing else changes or shortens it.
        let map = unsafe { MmapOptions::new().len(bytes).map_mut(&file) }.map_err(told)?;
        let array = Self::over(map, len, true);
        array.access_in_order(false);
        Ok(array)
    }

    /// Say whether accesses from now on follow the order of the elements, if they lie in a file: then an
    /// access to an absent page of memory reads what follows, too. Otherwise, as at first, it reads one page.
    pub fn access_in_order(&self, in_order: bool) {
        #[cfg(unix)]
        if let Some(memory) = self.file() {
            use memmap2::Advice::{Normal, Random};
            // If it is refused, only speed is lost.
            let _ = memory.advise(if in_order { Normal } else { Random });
        }
        #[cfg(not(unix))]
        let _ = in_order;
    }

    fn bytes_of(len: usize) -> std::io::Result<usize> {
        Ok(len.checked_mul(size_of::<T>()).ok_or(std::io::ErrorKind::OutOfMemory)?)
    }

    /// The array of `len` elements that fills `map`.
    fn over(mut map: MmapMut, len: usize, in_file: bool) -> BigArray<T> {
        // The cast checks alignment and size once for the life of the array.
        let all: NonNull<[T]> = NonNull::from(bytemuck::cast_slice_mut::<u8, T>(&mut map[..]));
        BigArray { start: all.cast(), len, in_file, memory: Some(map) }
    }

    /// See [`prefetch`].
    #[inline]
    pub fn prefetch(&self, index: usize) {
        prefetch(self, index);
    }

    /// Ask for elements that are needed soon, if they lie in a file.
    pub fn fetch(&self, from: usize, count: usize) {
        #[cfg(unix)]
        if let Some(memory) = self.file() {
            let (at, bytes) = (from * size_of::<T>(), count * size_of::<T>());
            // If it is refused, only speed is lost.
            let _ = memory.advise_range(memmap2::Advice::WillNeed, at, bytes);
        }
        #[cfg(not(unix))]
        let _ = (from, count);
    }

    /// The memory, if it is that of a file.
    #[cfg(unix)]
    fn file(&self) -> Option<&MmapMut> {
        self.memory.as_ref().filter(|_| self.in_file)
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

/// Give a new file its size, on Linux with the space for it, if the file system can reserve space.
#[allow(clippy::disallowed_types)] // memory that the kernel may move to a disk
fn reserve(file: &std::fs::File, bytes: u64) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
        other => other?,
    }
    file.set_len(bytes)
}

impl BigArray<u32> {
    /// The elements as cells that several threads can write to.
    pub fn shared(&mut self) -> &[AtomicU32] {
        // SAFETY: an `AtomicU32` has the size, alignment and bit patterns of a `u32`, and `&mut
        // self` makes this the only reference as long as the cells are used.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len) }
    }
}

/// Ask the processor to bring an element of a table into its caches, if it can be asked. Memory
/// answers after about 100 ns, so this should be done that long before the element is needed. The
/// element need not exist.
#[inline]
pub fn prefetch<T>(table: &[T], index: usize) {
    prefetch_at(table.as_ptr().wrapping_add(index).cast());
}

#[inline]
fn prefetch_at(byte: *const i8) {
    // SAFETY: a prefetch reads and writes nothing that the program can see, and it does not fail
    // for any address.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(byte);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = byte;
}

impl<T: Pod> Deref for BigArray<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` is the aligned start of `len` elements of `memory`, which lives as
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a vector: elements and their bytes are two views of the same memory.
        #[test]
        fn an_array_is_a_vector_of_zeros_that_can_be_written_to(
            len in prop_oneof![0..9usize, 1_000..5_000usize],
            steps in prop::collection::vec((any::<usize>(), any::<u32>(), any::<bool>()), 0..60),
            in_file in any::<bool>(),
        ) {
            let array = if in_file { BigArray::<u32>::in_file(len) } else { BigArray::zeroed(len) };
            let mut array = array.unwrap();
            let mut model = vec![0u32; len];
            prop_assert_eq!(&array[..], &model[..]);
            for (at, value, as_bytes) in steps {
                if len == 0 {
                    break;
                }
                let at = at % len;
                array.access_in_order(as_bytes);
                array.fetch(at, (len - at).min(9));
                prop_assert_eq!(array[at], model[at]);
                model[at] = value;
                if as_bytes {
                    array.bytes_mut()[4 * at..4 * at + 4].copy_from_slice(&value.to_ne_bytes());
                } else {
                    array[at] = value;
                }
            }
            prop_assert_eq!(array.len(), len);
            prop_assert_eq!(&array[..], &model[..]);
            let bytes: Vec<u8> = model.iter().flat_map(|v| v.to_ne_bytes()).collect();
            prop_assert_eq!(array.bytes(), &bytes[..]);
        }
    }

    #[test]
    fn what_no_address_space_holds_is_an_error() {
        assert!(BigArray::<u64>::zeroed(usize::MAX / 8 + 2).is_err(), "its size overflows to 8 bytes");
        assert!(BigArray::<u64>::zeroed(usize::MAX / 16).is_err(), "its size is refused");
        let Err(told) = BigArray::<u64>::in_file(usize::MAX / 32) else { panic!("no disk is so large") };
        assert!(told.to_string().contains("(TMPDIR names the folder)"), "{told}");
    }

    #[test]
    fn a_large_array_takes_no_time_and_is_zero() {
        // Large enough for huge pages.
        let mut array = BigArray::<u64>::zeroed(3 << 20).unwrap();
        let last = array.len() - 1;
        assert_eq!((array[0], array[last]), (0, 0));
        array[last] = u64::MAX;
        assert_eq!((array[last - 1], array[last]), (0, u64::MAX));
    }
}
