//! A filter of keys: a question that costs little where the answer is nearly always no.

/// Number of slots, a power of two: their bits take 8 KiB.
const SLOTS: usize = 1 << 16;

/// Tells of most keys outside a set that they are outside. A counting filter with one hash: two keys in
/// a slot look alike.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    /// Whether a slot has a key, by bit. Empty until the first key joins.
    bits: Vec<u64>,
    /// The number of keys in each slot.
    counts: Vec<u32>,
}

impl Filter {
    /// Whether the set may have this key. If not, it has not.
    #[inline]
    pub fn may_have(&self, key: u32) -> bool {
        if self.bits.is_empty() {
            return false;
        }
        let slot = slot_of(key);
        self.bits.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// Note that the set gets a key, once for each time.
    pub fn insert(&mut self, key: u32) {
        self.bits.resize(SLOTS / 64, 0);
        self.counts.resize(SLOTS, 0);
        let slot = slot_of(key);
        self.counts[slot] += 1;
        self.bits[slot / 64] |= 1 << (slot % 64);
    }

    /// Note that the set loses a key that it had.
    pub fn remove(&mut self, key: u32) {
        let slot = slot_of(key);
        self.counts[slot] -= 1;
        if self.counts[slot] == 0 {
            self.bits[slot / 64] &= !(1 << (slot % 64));
        }
    }
}

/// The high bits of the product spread keys of any stride (Knuth's multiplicative hash).
#[inline]
fn slot_of(key: u32) -> usize {
    (key.wrapping_mul(0x9E37_79B1) >> (u32::BITS - SLOTS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use tailcut_units::Stream;

    #[test]
    fn no_key_is_missed_and_few_others_are_found() {
        let (mut filter, mut keys) = (Filter::default(), BTreeSet::new());
        let mut s = Stream::new(1, "filter", 0);
        assert!(!filter.may_have(0));
        for _ in 0..20_000 {
            let key = 64 * s.below(1000) as u32;
            if keys.remove(&key) {
                filter.remove(key);
            } else {
                keys.insert(key);
                filter.insert(key);
            }
            assert_eq!(keys.contains(&key), filter.may_have(key) && keys.contains(&key));
        }
        assert!(keys.iter().all(|&key| filter.may_have(key)));
        let outside = (0..1000).map(|i| 64 * i).filter(|key| !keys.contains(key));
        assert!(outside.filter(|&key| filter.may_have(key)).count() < 30);
        keys.iter().for_each(|&key| filter.remove(key));
        assert!((0..1000).all(|i| !filter.may_have(64 * i)));
    }
}
