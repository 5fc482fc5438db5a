//! A block of 1,024 bits, which is also an element of the ring of circulants.
//!
//! A circulant matrix over GF(2) is a polynomial modulo x^1024 − 1: the product of two circulants is the
//! product of their polynomials. Bit i of a block is the coefficient of x^i.

use crate::CIRCULANT;

/// Words of 64 bits in a block.
pub const WORDS: usize = CIRCULANT / 64;

/// 1,024 bits; bit i is bit i mod 64 of word i / 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block(pub [u64; WORDS]);

impl Block {
    /// No bit set: the circulant of zeros.
    pub const ZERO: Block = Block([0; WORDS]);

    /// The polynomial x^exponent, with `exponent` below 1,024: a circulant permutation.
    pub fn power(exponent: usize) -> Block {
        let mut block = Block::ZERO;
        block.flip(exponent);
        block
    }

    /// Bit `index`, which is below 1,024.
    #[inline]
    pub fn bit(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 != 0
    }

    /// Invert bit `index`, which is below 1,024.
    #[inline]
    pub fn flip(&mut self, index: usize) {
        self.0[index / 64] ^= 1 << (index % 64);
    }

    /// Add another block: exclusive or.
    #[inline]
    pub fn add(&mut self, other: &Block) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word ^= more;
        }
    }

    /// The block whose bit i is bit (i + shift) mod 1,024 of this one. `shift` is below 1,024.
    #[inline]
    pub fn rotated(&self, shift: usize) -> Block {
        let (skip, low) = (shift / 64, shift % 64);
        Block(std::array::from_fn(|i| {
            let word = self.0[(i + skip) % WORDS];
            if low == 0 { word } else { word >> low | self.0[(i + skip + 1) % WORDS] << (64 - low) }
        }))
    }

    /// Number of bits that are set.
    #[inline]
    pub fn weight(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether no bit is set.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// Positions of the bits that are set, in order.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        (0..CIRCULANT).filter(|&i| self.bit(i))
    }

    /// The product of two circulants, or of a circulant and a vector.
    pub fn times(&self, other: &Block) -> Block {
        let mut product = Block::ZERO;
        for exponent in self.ones() {
            product.add(&other.rotated((CIRCULANT - exponent) % CIRCULANT));
        }
        product
    }

    /// The polynomial at x^(2^doublings): the power with exponent 2^doublings, since squares are linear
    /// over GF(2).
    fn spread(&self, doublings: u32) -> Block {
        let mut power = Block::ZERO;
        for exponent in self.ones() {
            power.flip((exponent << doublings) % CIRCULANT);
        }
        power
    }

    /// The inverse of a circulant, or `None` if it has an even number of ones and thus no inverse.
    ///
    /// x^1024 − 1 is (x − 1)^1024 over GF(2). So f^1024 is the number f(1), and a polynomial with an odd
    /// number of terms has the inverse f^1023.
    pub fn inverse(&self) -> Option<Block> {
        if self.weight().is_multiple_of(2) {
            return None;
        }
        let powers = (0..CIRCULANT.ilog2()).map(|doublings| self.spread(doublings));
        Some(powers.fold(Block::power(0), |product, power| product.times(&power)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_units::Stream;

    fn random(id: u64) -> Block {
        let mut stream = Stream::new(1, "block", id);
        Block(std::array::from_fn(|_| stream.next_u64()))
    }

    #[test]
    fn rotation_moves_every_bit() {
        let block = random(0);
        for shift in [0, 1, 63, 64, 65, 1000, 1023] {
            let rotated = block.rotated(shift);
            assert!((0..CIRCULANT).all(|i| rotated.bit(i) == block.bit((i + shift) % CIRCULANT)), "{shift}");
        }
    }

    #[test]
    fn a_circulant_times_its_inverse_is_one() {
        let mut inverted = 0;
        for id in 0..8 {
            let block = random(id);
            let inverse = block.inverse();
            assert_eq!(inverse.is_some(), block.weight() % 2 == 1);
            if let Some(inverse) = inverse {
                assert_eq!(block.times(&inverse), Block::power(0));
                inverted += 1;
            }
        }
        assert!((1..8).contains(&inverted), "both kinds were drawn");
    }
}
