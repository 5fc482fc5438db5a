//! The digest of a run, by which runs are compared.

use tailcut_units::{Status, random::mix};

/// An order-dependent 64-bit digest over (submission index, completion ns, status).
///
/// With all arithmetic modulo 2^64 and `rotl` a left rotation:
///
/// ```text
/// h     = 0x6A09E667F3BCC908                            at the start
/// word  = rotl(index * 0x9E3779B97F4A7C15, 32) + completed_ns + status * 0xD1B54A32D192ED03
/// h     = rotl(h ^ word, 29) * 0xBF58476D1CE4E5B9       for each completion, in order
/// value = mix(h ^ count)                                mix: the SplitMix64 finaliser
/// ```
///
/// `status` is 0 for ok and 1 for out of range; later statuses take later numbers. Every step is a
/// bijection of `h`, so one changed completion always changes the value. It is not a cryptographic
/// hash, since nobody gains by forging a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    state: u64,
    count: u64,
}

impl Default for Digest {
    fn default() -> Digest {
        Digest::new()
    }
}

impl Digest {
    /// The digest of no completions.
    pub const fn new() -> Digest {
        Digest { state: 0x6A09_E667_F3BC_C908, count: 0 }
    }

    /// Add one completion. The order of completions matters.
    #[inline]
    pub fn push(&mut self, index: u64, completed_ns: u64, status: Status) {
        let status = status as u64;
        // The word does not depend on the state. So the dependency chain from one completion to the
        // next has only one multiplication.
        let word = index
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(32)
            .wrapping_add(completed_ns)
            .wrapping_add(status.wrapping_mul(0xD1B5_4A32_D192_ED03));
        self.state = (self.state ^ word).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        self.count += 1;
    }

    /// The 64-bit value so far.
    pub fn value(&self) -> u64 {
        mix(self.state ^ self.count)
    }

    /// The number of completions added.
    pub fn count(&self) -> u64 {
        self.count
    }
}

impl std::fmt::Display for Digest {
    /// 16 hexadecimal digits.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(items: &[(u64, u64, Status)]) -> String {
        let mut d = Digest::new();
        for &(index, ns, status) in items {
            d.push(index, ns, status);
        }
        d.to_string()
    }

    #[test]
    fn every_field_and_the_order_matter() {
        let base = of(&[(0, 100, Status::Ok), (1, 200, Status::Ok)]);
        for other in [
            of(&[(1, 200, Status::Ok), (0, 100, Status::Ok)]),
            of(&[(0, 100, Status::Ok), (1, 201, Status::Ok)]),
            of(&[(0, 100, Status::Ok), (2, 200, Status::Ok)]),
            of(&[(0, 100, Status::Ok), (1, 200, Status::OutOfRange)]),
            of(&[(0, 100, Status::Ok)]),
        ] {
            assert_ne!(base, other);
        }
        assert_eq!(base.len(), 16);
    }

    // The algorithm is a contract: stored digests must stay comparable across versions.
    #[test]
    fn the_algorithm_is_pinned() {
        assert_eq!(of(&[]), PINNED_EMPTY);
        assert_eq!(of(&[(0, 100, Status::Ok), (1, 200, Status::OutOfRange)]), PINNED_TWO);
    }

    const PINNED_EMPTY: &str = "492b8d6066c09227";
    const PINNED_TWO: &str = "45223ec3b06772b8";
}
