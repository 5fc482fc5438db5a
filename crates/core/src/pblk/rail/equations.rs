//! The parity equations of a stride: how parity is computed, and how a member is computed from the others.
//!
//! With D data members, P is the sum of their bytes, and Q is the sum of 2^k times the bytes of data member k, in
//! GF(2^8). The records of logical addresses are computed in the same way. Each member has a *share* in each
//! equation: 1 and 2^k for data, 1 and 0 for P, 0 and 1 for Q. In each equation the sum of the members times their
//! shares is zero. A member that holds no data in a stripe counts as zeros.
//!
//! Two equations give two unknown members: the target, and a second member that is not read. With one parity the
//! second one is Q, which does not exist.

use super::strides::Strides;
use crate::medium::gf256::{div, mul, power};

impl Strides {
    /// The index of a LUN position in its stride.
    pub fn index_of(&self, position: u32) -> u32 {
        position / self.count
    }

    /// The indices of P and Q. With one parity no member has the index of Q.
    #[inline]
    pub fn parity_indices(&self) -> [u32; 2] {
        let p = self.width - self.parities;
        [p, p + 1]
    }

    /// The shares of a member in the equations of P and Q, by the index of the member.
    fn shares(&self, index: u32) -> [u8; 2] {
        let [p, q] = self.parity_indices();
        match index {
            _ if index == p => [1, 0],
            _ if index == q => [0, 1],
            _ => [1, power(index)],
        }
    }

    /// The share of a member in the equation of a parity. Both are LUN positions.
    pub fn share_at(&self, parity: u32, member: u32) -> u8 {
        self.share(self.index_of(parity), self.index_of(member))
    }

    /// The share of a member in the equation of a parity. Both are indices.
    fn share(&self, parity: u32, member: u32) -> u8 {
        let [of_p, of_q] = self.shares(member);
        if parity == self.parity_indices()[0] { of_p } else { of_q }
    }

    /// The factor of a member in the sum that gives `target` without reading the member `without`. All three are
    /// indices, and all are different.
    pub fn factor(&self, target: u32, without: u32, member: u32) -> u8 {
        // The combination of both equations in which the share of `without` is zero.
        let [p, q] = self.shares(without);
        let left = |index: u32| {
            let [of_p, of_q] = self.shares(index);
            mul(q, of_p) ^ mul(p, of_q)
        };
        div(left(member), left(target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_units::Stream;

    /// The bytes of the members of a stride, data first, then P and Q.
    fn stride(strides: &Strides, s: &mut Stream) -> Vec<u8> {
        let [p, q] = strides.parity_indices();
        let mut bytes: Vec<u8> = (0..p).map(|_| s.below(256) as u8).collect();
        let sum = |of: u32| (0..p).fold(0, |sum, k| sum ^ mul(strides.share(of, k), bytes[k as usize]));
        let parities = [sum(p), sum(q)];
        assert_eq!(parities[0], bytes.iter().fold(0, |sum, byte| sum ^ byte));
        bytes.extend(parities);
        bytes
    }

    /// Each member can be computed without any one of the others.
    #[test]
    fn any_two_losses_are_rebuilt() {
        let mut s = Stream::new(1, "equations", 0);
        for width in 3..=32 {
            let strides = Strides::new(width, width, 2).expect("strides");
            let bytes = stride(&strides, &mut s);
            for (target, without) in (0..width).flat_map(|a| (0..width).map(move |b| (a, b))) {
                if target != without {
                    let others = (0..width).filter(|&other| other != target && other != without);
                    let product = |other| mul(strides.factor(target, without, other), bytes[other as usize]);
                    let rebuilt = others.fold(0, |sum, other| sum ^ product(other));
                    assert_eq!(rebuilt, bytes[target as usize], "{target} of {width} without {without}");
                }
            }
        }
    }

    /// With one parity each member is the exclusive or of the others.
    #[test]
    fn one_parity_needs_no_factors() {
        for width in 2..=32 {
            let strides = Strides::new(width, width, 1).expect("strides");
            let [p, q] = strides.parity_indices();
            assert_eq!((p, q), (width - 1, width));
            for (target, other) in (0..width).flat_map(|a| (0..width).map(move |b| (a, b))) {
                if target != other {
                    assert_eq!(strides.factor(target, q, other), 1);
                }
            }
        }
    }

    /// The equations of both parities add up to zero over the members.
    #[test]
    fn a_stride_adds_up_to_zero() {
        let strides = Strides::new(12, 6, 2).expect("strides");
        assert_eq!([0, 1, 2, 9, 11].map(|position| strides.index_of(position)), [0, 0, 1, 4, 5]);
        let bytes = stride(&strides, &mut Stream::new(2, "equations", 0));
        for parity in strides.parity_indices() {
            let sum = (0..6).fold(0, |sum, k| sum ^ mul(strides.share(parity, k), bytes[k as usize]));
            assert_eq!(sum, 0);
        }
        assert_eq!([0, 1, 2, 3, 4, 5].map(|k| strides.share(5, k)), [1, 2, 4, 8, 0, 1]);
    }
}
