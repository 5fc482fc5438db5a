//! Arithmetic in GF(2^8), the field in which the second parity of a stripe is computed.
//!
//! An element is a byte: a polynomial over GF(2) modulo x^8 + x^4 + x^3 + x^2 + 1 (0x11d), as in Linux's RAID-6. The sum of
//! two elements is their exclusive or. Powers of the generator 2 give all elements but zero.

/// What is subtracted when x^8 occurs.
const POLYNOMIAL: u16 = 0x11d;
/// Different powers of the generator.
const ORDER: usize = 255;

/// The powers of the generator twice over, so that a sum of two logarithms is an index; and the logarithms.
const TABLES: ([u8; 2 * ORDER], [u8; 256]) = {
    let (mut powers, mut logarithms) = ([0; 2 * ORDER], [0; 256]);
    let (mut element, mut exponent) = (1u16, 0);
    while exponent < ORDER {
        powers[exponent] = element as u8;
        powers[exponent + ORDER] = element as u8;
        logarithms[element as usize] = exponent as u8;
        element <<= 1;
        if element > 0xff {
            element ^= POLYNOMIAL;
        }
        exponent += 1;
    }
    (powers, logarithms)
};
static POWERS: [u8; 2 * ORDER] = TABLES.0;
static LOGARITHMS: [u8; 256] = TABLES.1;

/// The generator to this power.
pub fn power(exponent: u32) -> u8 {
    POWERS[exponent as usize % ORDER]
}

fn logarithm(a: u8) -> usize {
    LOGARITHMS[a as usize].into()
}

/// The product of two elements.
pub fn mul(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 { 0 } else { POWERS[logarithm(a) + logarithm(b)] }
}

/// The quotient of two elements, of which the second is not zero.
pub fn div(a: u8, b: u8) -> u8 {
    debug_assert_ne!(b, 0, "a division by zero");
    if a == 0 { 0 } else { POWERS[logarithm(a) + ORDER - logarithm(b)] }
}

/// Add bytes times a factor to a sum, byte by byte.
pub fn add_times(sum: &mut [u8], bytes: &[u8], factor: u8) {
    let each = sum.iter_mut().zip(bytes);
    match factor {
        0 => {}
        1 => each.for_each(|(sum, byte)| *sum ^= byte),
        _ => {
            let products: [u8; 256] = std::array::from_fn(|byte| mul(byte as u8, factor));
            each.for_each(|(sum, &byte)| *sum ^= products[byte as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The product by definition: shifts, sums and reductions.
    fn long_mul(a: u8, b: u8) -> u8 {
        let product = (0..8).filter(|bit| b >> bit & 1 != 0).fold(0, |sum, bit| sum ^ u16::from(a) << bit);
        let reduce =
            |sum: u16, bit: u32| if sum >> bit & 1 != 0 { sum ^ POLYNOMIAL << (bit - 8) } else { sum };
        (8..16).rev().fold(product, reduce) as u8
    }

    #[test]
    fn products_are_those_of_the_polynomial() {
        for (a, b) in (0..=255).flat_map(|a| (0..=255).map(move |b| (a, b))) {
            assert_eq!(mul(a, b), long_mul(a, b), "{a} times {b}");
            if b != 0 {
                assert_eq!(mul(div(a, b), b), a, "{a} by {b}");
            }
        }
    }

    /// All elements but zero are powers of 2; the first after seven shifts is the polynomial without x^8.
    #[test]
    fn two_generates_the_field() {
        let powers: std::collections::BTreeSet<u8> = (0..255).map(power).collect();
        assert_eq!((powers.len(), powers.first()), (255, Some(&1)));
        assert_eq!([0, 1, 7, 8, 255].map(power), [1, 2, 0x80, 0x1d, 1]);
    }

    #[test]
    fn bytes_are_added_with_a_factor() {
        let bytes: Vec<u8> = (0..=255).collect();
        for factor in 0..=255 {
            let mut sum = vec![0x5a; 256];
            add_times(&mut sum, &bytes, factor);
            assert!(sum.iter().zip(&bytes).all(|(&sum, &byte)| sum == 0x5a ^ mul(byte, factor)));
        }
    }
}
