//! Strides: which LUNs form a stride, and which of them hold parity.
//!
//! A drive of L LUNs has L / S strides of S members. The members of a stride are L / S LUN positions apart. Parity is
//! on the highest positions, so that the data of a stripe come before its parity. If S does not divide L, the last
//! positions belong to no stride and are not used.

use crate::problem::{ConfigProblem, refuse};
use serde::{Deserialize, Serialize};

/// The most members of a stride.
pub const MOST_MEMBERS: u32 = 32;

/// The strides of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strides {
    /// Members of a stride, parity included.
    pub width: u32,
    /// Members that are parity: one, or two (P and Q).
    pub parities: u32,
    /// Number of strides. The members of a stride are this number of LUN positions apart.
    pub count: u32,
}

impl Strides {
    /// Strides of `width` members on this number of LUNs.
    ///
    /// # Errors
    /// The key at fault, and what is allowed.
    pub fn new(luns: u32, width: u32, parities: u32) -> Result<Strides, ConfigProblem> {
        if !(2..=MOST_MEMBERS).contains(&width) || width > luns {
            let most = MOST_MEMBERS.min(luns);
            return refuse("pblk.stride", format!("{width}: 2 to {most} LUNs of {luns}"));
        }
        if !(1..=2).contains(&parities) || parities >= width {
            let problem = format!("{parities}: 1 or 2, and fewer than the {width} members of a stride");
            return refuse("pblk.parities", problem);
        }
        Ok(Strides { width, parities, count: luns / width })
    }

    /// Number of LUN positions that belong to strides. Higher positions are not used.
    pub fn used(&self) -> u32 {
        self.width * self.count
    }

    /// Number of LUN positions with data. These are the lowest ones.
    pub fn data(&self) -> u32 {
        (self.width - self.parities) * self.count
    }

    /// Whether a LUN position holds parity.
    #[inline]
    pub fn is_parity(&self, position: u32) -> bool {
        position >= self.data()
    }

    /// The stride of a LUN position.
    #[inline]
    pub fn stride_of(&self, position: u32) -> u32 {
        position % self.count
    }

    /// The LUN positions of a stride, parity last.
    #[inline]
    pub fn members(&self, stride: u32) -> impl Iterator<Item = u32> + Clone + use<> {
        let (count, end) = (self.count, self.used());
        (stride..end).step_by(count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_far_apart_and_parity_is_last() {
        let s = Strides::new(128, 4, 1).expect("strides");
        assert_eq!((s.count, s.data(), s.used()), (32, 96, 128));
        assert_eq!(s.members(0).collect::<Vec<_>>(), [0, 32, 64, 96]);
        assert_eq!(s.members(31).collect::<Vec<_>>(), [31, 63, 95, 127]);
        assert!((0..128).all(|p| s.members(s.stride_of(p)).any(|member| member == p)));
        assert!((0..128).all(|p| s.is_parity(p) == (p >= 96)));
    }

    /// On 16 channels the members of a stride of 4 or 8 are on one channel, those of 16 on two, and those of 32 on
    /// four.
    #[test]
    fn channels_of_a_stride() {
        let channels = |width| {
            let s = Strides::new(128, width, 1).expect("strides");
            let mut all: Vec<u32> = s.members(3).map(|position| position % 16).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        assert_eq!([4, 8, 16, 32].map(channels), [1, 1, 2, 4]);
    }

    /// 128 LUNs in strides of three data and two parity members: three LUNs are not used.
    #[test]
    fn positions_may_be_left_over() {
        let s = Strides::new(128, 5, 2).expect("strides");
        assert_eq!((s.count, s.data(), s.used()), (25, 75, 125));
        let refused =
            |width, parities| Strides::new(8, width, parities).expect_err("refused").key.to_string();
        assert_eq!([refused(1, 1), refused(9, 1)], ["pblk.stride", "pblk.stride"]);
        assert_eq!([refused(2, 2), refused(4, 3), refused(4, 0)], ["pblk.parities"; 3]);
    }
}
