//! How long the parts of the drive were in use.

use super::drive::Device;
use super::medium::Medium;
use crate::observer::Observer;

/// Nanoseconds in which parts of the drive were in use, up to a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The moment.
    pub at: u64,
    /// By die, or by plane where planes are the busy unit: an operation had it, from its
    /// command to its last byte, and no other could begin.
    pub units: Vec<u64>,
    /// By the same: in the array, once for each plane that was addressed.
    pub planes: Vec<u64>,
    /// By channel: an operation had it.
    pub channels: Vec<u64>,
    /// To the host and from the host: the link moved data.
    pub link: [u64; 2],
}

impl Usage {
    /// What came to it since an earlier moment.
    pub fn since(&self, earlier: &Usage) -> Usage {
        // What is under way is an estimate where suspensions repeat it, so it may fall.
        let each = |now: &[u64], then: &[u64]| {
            now.iter()
                .enumerate()
                .map(|(i, ns)| ns.saturating_sub(then.get(i).copied().unwrap_or(0)))
                .collect()
        };
        let link = [0, 1].map(|way| self.link[way].saturating_sub(earlier.link[way]));
        Usage {
            at: self.at - earlier.at,
            units: each(&self.units, &earlier.units),
            planes: each(&self.planes, &earlier.planes),
            channels: each(&self.channels, &earlier.channels),
            link,
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// How long everything was in use since the drive was made. What has been granted and is
    /// still to come is not in it.
    pub fn usage(&self) -> Usage {
        Usage {
            at: self.state.now,
            units: self.flash.units_taken(),
            planes: self.flash.planes_taken(),
            channels: self.flash.channels_taken(),
            link: self.link_ns(),
        }
    }
}
