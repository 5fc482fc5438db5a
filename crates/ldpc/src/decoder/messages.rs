//! The arithmetic of min-sum on slices of messages.
//!
//! Each function is one loop over slices of equal length, without branches, so that the compiler turns it
//! into vector instructions. Arithmetic is wrapping, since checked arithmetic is not vectorised; no sum
//! overflows: a message is at most [`LARGEST`], and the sum of a channel value (128) and four messages is at
//! most 32,128.

/// The largest magnitude of a message from a check to a bit.
pub const LARGEST: i16 = 8000;

/// What a check has seen of its bits: smallest and second smallest magnitude, and the product of signs as
/// the highest bit.
#[derive(Clone, Debug)]
pub struct Seen {
    pub lowest: Vec<i16>,
    pub second: Vec<i16>,
    pub sign: Vec<i16>,
}

impl Seen {
    pub fn new(checks: usize) -> Seen {
        Seen { lowest: vec![0; checks], second: vec![0; checks], sign: vec![0; checks] }
    }

    pub fn clear(&mut self) {
        self.lowest.fill(i16::MAX);
        self.second.fill(i16::MAX);
        self.sign.fill(0);
    }
}

/// Replace the messages of the last iteration by those from bits to checks, and take them into `seen`, from
/// check `first` on.
pub fn gather(totals: &[i16], messages: &mut [i16], seen: &mut Seen, first: usize) {
    let range = first..first + messages.len();
    let lowest = &mut seen.lowest[range.clone()];
    let second = &mut seen.second[range.clone()];
    let sign = &mut seen.sign[range];
    let bits = totals.iter().zip(messages);
    let checks = lowest.iter_mut().zip(second).zip(sign);
    for ((&total, message), ((lowest, second), sign)) in bits.zip(checks) {
        let input = total.wrapping_sub(*message);
        let size = input.wrapping_abs();
        *second = (*second).min(size.max(*lowest));
        *lowest = (*lowest).min(size);
        *sign ^= input;
        *message = input;
    }
}

/// The two magnitudes that a check sends: the smallest times the factor, and the second smallest. `fixed`
/// is the factor in units of 2^-16.
pub fn scale(seen: &Seen, fixed: u32, lowest: &mut [i16], second: &mut [i16]) {
    for (from, to) in [(&seen.lowest, lowest), (&seen.second, second)] {
        for (&size, scaled) in from.iter().zip(to) {
            let size = u32::from(size.min(LARGEST) as u16);
            *scaled = (size.wrapping_mul(fixed).wrapping_add(32_768) >> 16) as i16;
        }
    }
}

/// Turn messages from bits to checks into those from checks to bits: a bit gets the smallest magnitude of
/// the other bits, and the product of their signs.
pub fn answer(messages: &mut [i16], seen: &Seen, lowest: &[i16], second: &[i16], first: usize) {
    let range = first..first + messages.len();
    let least = &seen.lowest[range.clone()];
    let sign = &seen.sign[range.clone()];
    let sizes = lowest[range.clone()].iter().zip(&second[range]);
    for ((message, (&lowest, &second)), (&least, &sign)) in
        messages.iter_mut().zip(sizes).zip(least.iter().zip(sign))
    {
        // With two equal smallest magnitudes both sizes are the same.
        let size = if message.wrapping_abs() == least { second } else { lowest };
        let negative = (sign ^ *message) >> 15;
        *message = (size ^ negative).wrapping_sub(negative);
    }
}

/// Like [`answer`], and also bring the totals of the bits up to date.
pub fn answer_at_once(
    totals: &mut [i16],
    messages: &mut [i16],
    seen: &Seen,
    lowest: &[i16],
    second: &[i16],
    first: usize,
) {
    let range = first..first + messages.len();
    let least = &seen.lowest[range.clone()];
    let sign = &seen.sign[range.clone()];
    let sizes = lowest[range.clone()].iter().zip(&second[range]);
    let bits = totals.iter_mut().zip(messages);
    for (((total, message), (&lowest, &second)), (&least, &sign)) in
        bits.zip(sizes).zip(least.iter().zip(sign))
    {
        let input = *message;
        let size = if input.wrapping_abs() == least { second } else { lowest };
        let negative = (sign ^ input) >> 15;
        *message = (size ^ negative).wrapping_sub(negative);
        *total = input.wrapping_add(*message);
    }
}

/// Add messages to totals.
pub fn add(totals: &mut [i16], messages: &[i16]) {
    for (total, message) in totals.iter_mut().zip(messages) {
        *total = total.wrapping_add(*message);
    }
}

/// Decide 64 bits: a bit is 1 if its total is negative. A total of 0 leaves the decision of the sense, so
/// that neither value is preferred.
pub fn decide(totals: &[i16], channel: &[i16]) -> u64 {
    let mut decided = [0u8; 64];
    for ((decided, &total), &channel) in decided.iter_mut().zip(totals).zip(channel) {
        let tie = if total == 0 { channel } else { total };
        *decided = u8::from(tie < 0);
    }
    let mut word = 0;
    for (i, eight) in decided.chunks_exact(8).enumerate() {
        let bytes = eight.iter().rev().fold(0u64, |all, &byte| all << 8 | u64::from(byte));
        // The product collects bit 0 of each byte in the highest byte.
        word |= (bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_units::Stream;

    #[test]
    fn decisions_are_signs_and_ties_are_the_senses() {
        let mut stream = Stream::new(1, "decide", 0);
        let mut value = || stream.below(5) as i16 - 2;
        let totals: Vec<i16> = (0..64).map(|_| value()).collect();
        let channel: Vec<i16> = (0..64).map(|_| if value() < 0 { -128 } else { 128 }).collect();
        let word = decide(&totals, &channel);
        for i in 0..64 {
            let expected = totals[i] < 0 || totals[i] == 0 && channel[i] < 0;
            assert_eq!(word >> i & 1 == 1, expected, "bit {i}");
        }
    }

    #[test]
    fn a_check_answers_with_the_smallest_of_the_others() {
        // One check of four bits; two have the smallest magnitude in the second case.
        for (inputs, expected) in [([4, -8, 12, 20], [-6, 3, -3, -3]), ([4, -4, 12, -20], [3, -3, 3, -3])] {
            let mut seen = Seen::new(1);
            seen.clear();
            let mut messages = [0i16; 4];
            for (message, input) in messages.iter_mut().zip(inputs) {
                gather(&[input], std::slice::from_mut(message), &mut seen, 0);
            }
            let (mut lowest, mut second) = ([0], [0]);
            scale(&seen, 49_152, &mut lowest, &mut second);
            for message in &mut messages {
                answer(std::slice::from_mut(message), &seen, &lowest, &second, 0);
            }
            assert_eq!(messages, expected);
        }
    }
}
