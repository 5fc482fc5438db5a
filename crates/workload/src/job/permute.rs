//! A keyed permutation of `0..count` in constant memory.
//!
//! The domain is widened to a power of two. Rounds of invertible operations shuffle the
//! widened domain: add, multiply by an odd number, xor with the value's own upper half. A
//! result outside `0..count` is shuffled again until it lies inside. This follows a cycle
//! of the shuffle, so the values inside are permuted among themselves. Less than half of
//! the widened domain lies outside, so fewer than two shuffles are needed on average.

use tailcut_units::Stream;

const ROUNDS: usize = 3;

/// A pseudo-random order of `0..count`.
#[derive(Clone, Debug)]
pub(super) struct Permutation {
    count: u64,
    mask: u64,
    shift: u32,
    add: [u64; ROUNDS],
    multiply: [u64; ROUNDS],
}

impl Permutation {
    /// The order of `0..count` (at least 1), selected by the next numbers of `keys`.
    pub fn new(count: u64, keys: &mut Stream) -> Permutation {
        let bits = (64 - count.saturating_sub(1).leading_zeros()).max(1);
        Permutation {
            count,
            mask: u64::MAX >> (64 - bits),
            shift: (bits / 2).max(1),
            add: std::array::from_fn(|_| keys.next_u64()),
            multiply: std::array::from_fn(|_| keys.next_u64() | 1),
        }
    }

    /// Shuffle one value of the widened domain.
    #[inline]
    fn shuffle(&self, index: u64) -> u64 {
        let mut x = index;
        for round in 0..ROUNDS {
            x = x.wrapping_add(self.add[round]).wrapping_mul(self.multiply[round]) & self.mask;
            x ^= x >> self.shift;
        }
        x
    }

    /// The position of `index` (below the count) in the order.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        let mut x = self.shuffle(index);
        while x >= self.count {
            x = self.shuffle(x);
        }
        x
    }
}

const AHEAD: usize = 32;

/// Every block once in random order, then every block again in another order.
///
/// It shuffles the whole widened domain in order and skips results outside, so nothing is
/// shuffled twice. Blocks are computed a few ahead, without a branch that the processor
/// could mispredict.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    order: Permutation,
    /// Next index of the widened domain.
    index: u64,
    /// Blocks of this pass that are not yet computed.
    left: u64,
    ahead: [u64; AHEAD],
    next: usize,
    filled: usize,
    keys: Stream,
}

impl Pass {
    pub fn new(count: u64, mut keys: Stream) -> Pass {
        let order = Permutation::new(count, &mut keys);
        Pass { order, index: 0, left: count, ahead: [0; AHEAD], next: 0, filled: 0, keys }
    }

    /// The next block.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        if self.next == self.filled {
            self.fill();
        }
        let block = self.ahead[self.next];
        self.next += 1;
        block
    }

    #[inline(never)]
    fn fill(&mut self) {
        self.next = 0;
        self.filled = 0;
        // A stretch of up to half the domain may lie outside: repeat until some blocks
        // lie inside.
        while self.filled == 0 {
            if self.left == 0 {
                self.order = Permutation::new(self.order.count, &mut self.keys);
                self.index = 0;
                self.left = self.order.count;
            }
            for _ in 0..AHEAD {
                let block = self.order.shuffle(self.index);
                // Past the domain's end the shuffle repeats its blocks, but `left` is 0
                // by then.
                let inside = block < self.order.count && self.left > 0;
                self.ahead[self.filled.min(AHEAD - 1)] = block;
                self.filled += usize::from(inside);
                self.left -= u64::from(inside);
                self.index = self.index.wrapping_add(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_covers_every_block_once() {
        for count in [1, 2, 3, 7, 8, 9, 100, 1000, 4096, 4097, 65_537] {
            let mut pass = Pass::new(count, Stream::new(3, "test", count));
            for _ in 0..3 {
                let mut seen = vec![false; count as usize];
                for _ in 0..count {
                    let block = pass.draw() as usize;
                    assert!(!std::mem::replace(&mut seen[block], true), "{block} of {count} twice");
                }
            }
        }
    }

    #[test]
    fn the_order_is_spread_evenly_at_every_scale() {
        // The first 64 Ki of 4 Mi + 1 blocks, in 64 bins: mean 1024, sd below 32.
        let count = (4 << 20) + 1;
        for seed in 0..8 {
            let order = Permutation::new(count, &mut Stream::new(seed, "test", 0));
            let mut bins = [0i64; 64];
            let mut steps = 0;
            for index in 0..65_536 {
                bins[(order.at(index) * 64 / count) as usize] += 1;
                steps += u64::from(order.at(index + 1) > order.at(index));
            }
            let chi: f64 = bins.iter().map(|b| (b - 1024).pow(2) as f64 / 1024.0).sum();
            // Chi-square with 63 degrees: mean 63, sd 11.2; six sd on each side.
            assert!((5.0..130.0).contains(&chi), "seed {seed}: {chi}");
            // A neighbour is larger half of the time: sd of the count is 74 (they
            // alternate).
            assert!((steps as i64 - 32_768).abs() < 600, "seed {seed}: {steps}");
        }
    }

    #[test]
    fn small_domains_are_spread_too() {
        // The first tenth of the order, in 16 bins by position and 16 by residue. Over
        // 200 keys the mean of chi-square is 15 × 0.9 (drawn without replacement) and its
        // own sd is 0.35. The bounds are six sd on each side.
        for count in [4_000u64, 10_007, 65_536] {
            let sample = count / 10;
            let mut sums = [0.0f64; 2];
            for seed in 0..200 {
                let order = Permutation::new(count, &mut Stream::new(seed, "test", count));
                let mut bins = [[0u64; 16]; 2];
                for block in (0..sample).map(|index| order.at(index)) {
                    bins[0][(block * 16 / count) as usize] += 1;
                    bins[1][(block % 16) as usize] += 1;
                }
                let mean = sample as f64 / 16.0;
                for (sum, bins) in sums.iter_mut().zip(bins) {
                    *sum += bins.iter().map(|b| (*b as f64 - mean).powi(2) / mean).sum::<f64>();
                }
            }
            for sum in sums {
                assert!((11.4..15.6).contains(&(sum / 200.0)), "{count}: {}", sum / 200.0);
            }
        }
    }

    #[test]
    fn the_largest_domain_is_walked_without_overflow() {
        let order = Permutation::new(u64::MAX, &mut Stream::new(1, "test", 0));
        assert_ne!(order.at(0), order.at(1));
        assert!(order.at(u64::MAX - 1) < u64::MAX);
    }
}
