//! Keyed random streams.
//!
//! A stream is named by (seed, purpose, id). Streams with different names are independent. So a
//! policy that draws more or fewer numbers does not change the draws of others, and two schemes
//! with one seed get the same random numbers.

use serde::{Deserialize, Serialize};

/// A portable pseudo-random stream (SplitMix64): the same numbers on every machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    state: u64,
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The SplitMix64 finaliser: a bijection on u64 with full avalanche.
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Stream {
    /// The stream for one purpose (a short constant string) and one id.
    pub fn new(seed: u64, purpose: &str, id: u64) -> Stream {
        let mut h = mix(seed ^ GOLDEN);
        for b in purpose.bytes() {
            h = mix(h.wrapping_add(u64::from(b)).wrapping_mul(GOLDEN));
        }
        Stream { state: mix(h ^ mix(id.wrapping_add(GOLDEN))) }
    }

    /// 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A uniform number in `0..bound` by multiply-shift; the bias is below `bound / 2^64`. `bound`
    /// must not be zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0);
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A uniform number in `[0, 1)` with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_every_part_of_their_name() {
        let first = |seed, purpose, id| Stream::new(seed, purpose, id).next_u64();
        let base = first(1, "wear", 0);
        assert_ne!(base, first(2, "wear", 0));
        assert_ne!(base, first(1, "bad", 0));
        assert_ne!(base, first(1, "wear", 1));
        assert_eq!(base, first(1, "wear", 0));
    }

    #[test]
    fn below_is_uniform() {
        let mut s = Stream::new(7, "test", 0);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[s.below(10) as usize] += 1;
        }
        // Each count is binomial(100000, 0.1): sd 95, so 5 sd is 475.
        assert!(counts.iter().all(|&c| (9_500..10_500).contains(&c)), "{counts:?}");
    }
}
