//! The time in use of the parts of a drive.

/// Times, ns, in which the parts of the drive were in use, up to a given time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The time up to which use is counted, ns.
    pub at: u64,
    /// By busy unit (die or plane): time in which an operation held it, from its command to its
    /// last byte, so that no other could begin.
    pub units: Vec<u64>,
    /// By busy unit: array time, counted once for each plane addressed.
    pub planes: Vec<u64>,
    /// By channel: time in which an operation held it.
    pub channels: Vec<u64>,
    /// By direction (to the host, from the host): time in which the link transferred data.
    pub link: [u64; 2],
}

impl Usage {
    /// The difference to an earlier value.
    pub fn since(&self, earlier: &Usage) -> Usage {
        // For operations under way the time is an estimate if suspensions repeat it, so it may
        // decrease.
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
