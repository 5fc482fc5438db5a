//! The mean and the deviation of the syndrome weight, in closed form.
//!
//! Write the parity of a check as a sign: +1 if it holds, −1 if it fails. The mean of the product of the
//! signs of some checks is the mean sign of the bits that are in an odd number of them. A channel with
//! independent errors gives (1 − 2p)^d for d such bits. Since two checks share at most one bit, the number
//! of bits in exactly one of two checks follows from their weights alone.

use crate::code::Code;
use crate::{BLOCK_ROWS, CIRCULANT, CODEWORD_BITS};
use libm::{pow, sqrt};

/// Mean and standard deviation of a syndrome weight, in checks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Mean number of checks that fail.
    pub mean: f64,
    /// Standard deviation of that number.
    pub deviation: f64,
}

/// The weight over the first `block_rows` block rows (1 to 4) if each bit is wrong with probability `p`,
/// independently.
pub fn at_rate(code: &Code, block_rows: usize, p: f64) -> Moments {
    moments(code, block_rows, |bits| pow(1.0 - 2.0 * p, bits as f64))
}

/// The weight over the first `block_rows` block rows (1 to 4) if exactly `errors` of the 36,864 bits are
/// wrong, at random positions. `errors` is at most 36,864.
pub fn at_count(code: &Code, block_rows: usize, errors: usize) -> Moments {
    moments(code, block_rows, |bits| sign_at_count(bits, errors))
}

/// The mean sign of `bits` given bits of a codeword with `errors` errors: the sum over k of (−1)^k times the
/// hypergeometric probability that k of them are wrong.
fn sign_at_count(bits: usize, errors: usize) -> f64 {
    let (all, n, d) = (CODEWORD_BITS as f64, errors as f64, bits as f64);
    // The probability that none is wrong, then from k to k + 1.
    let mut probability = (0..bits).fold(1.0, |p, i| p * (all - n - i as f64).max(0.0) / (all - i as f64));
    let mut sum = 0.0;
    for k in 0..=bits.min(errors) {
        sum += if k % 2 == 0 { probability } else { -probability };
        let k = k as f64;
        probability *= (d - k) * (n - k) / ((k + 1.0) * (all - n - d + k + 1.0));
    }
    sum
}

/// The moments, given the mean sign of a number of bits.
fn moments(code: &Code, block_rows: usize, sign: impl Fn(usize) -> f64) -> Moments {
    assert!((1..=BLOCK_ROWS).contains(&block_rows), "{block_rows} block rows");
    let checks = CIRCULANT as f64;
    let (mut mean, mut variance) = (0.0, 0.0);
    for a in 0..block_rows {
        let weight = code.row_weight(a);
        let own = sign(weight);
        mean += checks * (1.0 - own) / 2.0;
        variance += checks * (1.0 - own * own) / 4.0;
        for b in 0..block_rows {
            let (other, both) = (sign(code.row_weight(b)), weight + code.row_weight(b));
            // Pairs in order. Checks of one block row share no bit.
            let sharing = if a == b { 0.0 } else { checks * code.shared_columns(a, b) as f64 };
            let pairs = if a == b { checks * (checks - 1.0) } else { checks * checks };
            variance += sharing * (sign(both - 2) - own * other) / 4.0;
            variance += (pairs - sharing) * (sign(both) - own * other) / 4.0;
        }
    }
    Moments { mean, deviation: sqrt(variance.max(0.0)) }
}
