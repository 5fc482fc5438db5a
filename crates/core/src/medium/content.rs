//! The bytes of units that no command wrote: a function of the logical unit and the offset.

use crate::address::Lpn;
use tailcut_units::random::mix;

/// Fill `out` with the bytes from `from` on of a logical unit that a fill or functional ageing
/// wrote.
pub fn filled_bytes(lpn: Lpn, from: usize, out: &mut [u8]) {
    let mut at = from;
    let mut left = out;
    while !left.is_empty() {
        let word = word(lpn, at / 8);
        let skip = at % 8;
        let n = left.len().min(8 - skip);
        let (head, rest) = left.split_at_mut(n);
        head.copy_from_slice(&word[skip..skip + n]);
        at += n;
        left = rest;
    }
}

fn word(lpn: Lpn, index: usize) -> [u8; 8] {
    mix((u64::from(lpn.0) << 32 | index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_a_part_of_the_whole() {
        let mut whole = [0; 64];
        filled_bytes(Lpn(7), 0, &mut whole);
        for from in 0..64 {
            for to in from..=64 {
                let mut part = vec![0; to - from];
                filled_bytes(Lpn(7), from, &mut part);
                assert_eq!(part, whole[from..to]);
            }
        }
        let mut other = [0; 64];
        filled_bytes(Lpn(8), 0, &mut other);
        assert_ne!(whole, other);
    }
}
