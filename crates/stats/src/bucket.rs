//! Log-linear buckets: every octave is divided into `2^BITS` equal buckets, and values below
//! `2^(BITS+1)` are exact.
//!
//! The index needs one leading-zero count and no branch, so computing several resolutions of a
//! value costs little more than computing one. HdrHistogram at 3 digits is `BITS = 10`.

/// The longest latency that the histograms resolve: one hour, in ns.
pub const LONGEST: u64 = 3_600_000_000_000;

/// Bits of the value [`LONGEST`].
const TOP_BITS: u32 = u64::BITS - LONGEST.leading_zeros();

/// The number of buckets for values up to [`LONGEST`], with `2^BITS` per octave.
pub const fn count<const BITS: u32>() -> usize {
    index::<BITS>((1 << TOP_BITS) - 1) + 1
}

/// The bucket of `value`.
#[inline(always)]
pub const fn index<const BITS: u32>(value: u64) -> usize {
    let shift = (u64::BITS - 1 - BITS) - (value | 1 << BITS).leading_zeros();
    ((shift as usize) << BITS) + (value >> shift) as usize
}

/// The smallest value in bucket `index`.
pub const fn lowest<const BITS: u32>(index: usize) -> u64 {
    if index < 2 << BITS {
        return index as u64;
    }
    let shift = (index >> BITS) - 1;
    ((index & ((1 << BITS) - 1)) as u64 | 1 << BITS) << shift
}

/// The number of values in bucket `index`.
pub const fn width<const BITS: u32>(index: usize) -> u64 {
    lowest::<BITS>(index + 1) - lowest::<BITS>(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holds<const BITS: u32>(value: u64) {
        let i = index::<BITS>(value);
        assert!(i < count::<BITS>());
        assert!(lowest::<BITS>(i) <= value && value < lowest::<BITS>(i + 1), "{value} in {i}");
        assert!(width::<BITS>(i) <= 1.max(value >> BITS), "{value}: too wide");
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_values_and_is_narrow(value in 0..=LONGEST, shift in 0u32..42) {
            holds::<6>(value >> shift);
            holds::<8>(value >> shift);
            holds::<10>(value >> shift);
        }
    }

    #[test]
    fn edges() {
        for value in [0, 1, 63, 64, 127, 128, 129, 1023, 1024, 2047, 2048, LONGEST - 1, LONGEST] {
            holds::<6>(value);
            holds::<10>(value);
        }
        assert_eq!((index::<6>(127), index::<6>(128), index::<6>(130)), (127, 128, 129));
    }
}
