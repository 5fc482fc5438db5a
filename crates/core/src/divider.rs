//! Division by a constant.

/// Division by a number that is known when the drive is built, as one multiplication. With the
/// reciprocal rounded down and the dividend increased by 1, it is exact for all 32-bit numbers:
/// both roundings together are less than `1 / by`.
#[derive(Clone, Copy, Debug)]
pub struct Divider {
    magic: u64,
    by: u32,
}

impl Divider {
    /// `by` must not be 0.
    pub fn new(by: u32) -> Divider {
        assert!(by > 0, "division by zero");
        Divider { magic: u64::MAX / u64::from(by), by }
    }

    /// The number.
    #[inline]
    pub fn by(&self) -> u32 {
        self.by
    }

    /// Quotient and remainder.
    #[inline]
    pub fn div_rem(&self, n: u32) -> (u32, u32) {
        let q = ((u128::from(self.magic) * (u128::from(n) + 1)) >> 64) as u32;
        (q, n - q * self.by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn divides(n: u32, by: u32) {
        assert_eq!(Divider::new(by).div_rem(n), (n / by, n % by), "{n} by {by}");
    }

    proptest! {
        #[test]
        fn it_divides(n in any::<u32>(), by in 1..=u32::MAX, small in 1..1000u32) {
            divides(n, by);
            divides(n, small);
            divides(n - n % small, small);
            divides((n - n % small).saturating_sub(1), small);
        }
    }

    #[test]
    fn it_divides_the_largest_numbers() {
        for by in (1..70_000).chain(u32::MAX - 1000..=u32::MAX) {
            for n in [0, by - 1, by, u32::MAX - 1, u32::MAX, u32::MAX / by * by, (u32::MAX / by * by) - 1] {
                divides(n, by);
            }
        }
    }
}
