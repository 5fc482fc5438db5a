//! A filter of keys: a cheap membership query whose answer is nearly always no.

/// Number of slots, a power of two. Their bits take 8 KiB.
const SLOTS: usize = 1 << 16;

/// A counting Bloom filter with one hash: it recognises most keys that are not in a set. Two keys in one slot cannot be
/// distinguished.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    /// One bit for each slot: whether it has a key. Empty until the first key is inserted.
    bits: Vec<u64>,
    /// The number of keys in each slot.
    counts: Vec<u32>,
}

impl Filter {
    /// Whether the set may contain this key. False is certain.
    #[inline]
    pub fn may_have(&self, key: u32) -> bool {
        if self.bits.is_empty() {
            return false;
        }
        let slot = slot_of(key);
        self.bits.get(slot / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// Insert a key. A key may be inserted several times.
    pub fn insert(&mut self, key: u32) {
        self.bits.resize(SLOTS / 64, 0);
        self.counts.resize(SLOTS, 0);
        let slot = slot_of(key);
        self.counts[slot] += 1;
        self.bits[slot / 64] |= 1 << (slot % 64);
    }

    /// Remove a key that was inserted.
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
