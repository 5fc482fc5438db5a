//! The state of collection.

use super::collect::Collection;
use super::erase::LastLoops;
use super::group_time::Groups;
use super::pace::Pace;
use crate::containers::NONE;
use crate::device::limits::Limits;
use crate::device::shape::Shape;
use serde::{Deserialize, Serialize};

/// The collections of all lanes.
#[derive(Serialize, Deserialize)]
pub(in crate::device) struct Gc {
    /// The collections by lane.
    pub collections: Vec<Collection>,
    /// Number of collections under way.
    pub under_way: u32,
    /// Number of collections that wait.
    pub waiting: u32,
    /// Number of collections that drain.
    pub draining: u32,
    /// Number of waits that have begun.
    pub waits: u64,
    /// By lane: whether it is short of space.
    pub urgent: Vec<bool>,
    /// Number of lanes short of space.
    pub urgent_lanes: u32,
    /// The collections and the writes so far.
    pub pace: Pace,
    /// By group: how many of its lanes collect, and for how long.
    pub groups: Groups,
    /// By lane, if erases are levelled: the extent to empty for it, or `NONE`.
    pub coldest: Vec<u32>,
    /// By lane, if erases are levelled: the units that the host had programmed when the lane was last
    /// levelled.
    pub levelled_at: Vec<u64>,
    /// The last loops of erases that are deferred.
    pub last_loops: LastLoops,
    /// Whether a lane found no victim since lanes were last woken for that.
    pub lacks_victim: bool,
    /// Whether an extent has become worth collecting since then.
    pub victim_appeared: bool,
}

impl Gc {
    pub fn new(shape: &Shape, limits: &Limits, levels_erases: bool) -> Gc {
        let lanes = shape.layout.lanes;
        let staged = shape.layout.units_per_row * limits.moves;
        Gc {
            collections: (0..lanes).map(|_| Collection::new(staged)).collect(),
            under_way: 0,
            waiting: 0,
            draining: 0,
            waits: 0,
            urgent: vec![false; lanes as usize],
            urgent_lanes: 0,
            pace: Pace::new(shape.stripes.as_ref().map_or(1, |s| s.groups)),
            groups: Groups::new(shape.stripes.as_ref().map_or(0, |s| s.groups)),
            coldest: vec![NONE; if levels_erases { lanes as usize } else { 0 }],
            levelled_at: vec![0; if levels_erases { lanes as usize } else { 0 }],
            last_loops: LastLoops::new(shape, limits),
            lacks_victim: false,
            victim_appeared: false,
        }
    }
}
