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
    /// Number of collections in stage `Draining`: all data are moved, but reads still need the victim.
    pub draining: u32,
    /// Number of waits of collections that have begun so far. `Collection::wait` is the number of one of them.
    pub waits: u64,
    /// By lane: whether it is short of space.
    pub urgent: Vec<bool>,
    /// Number of lanes short of space.
    pub urgent_lanes: u32,
    /// Rates of collections and of host writes so far.
    pub pace: Pace,
    /// By group of lanes (those that share parity stripes): how many are collecting, and the collection time so far.
    pub groups: Groups,
    /// By lane, with static wear levelling: the extent to empty because its blocks have few erases, or `NONE`.
    pub coldest: Vec<u32>,
    /// By lane, with static wear levelling: the counter of host programs when the lane was last levelled.
    pub levelled_at: Vec<u64>,
    /// The deferred last loops of erases ([`super::erase`]).
    pub last_loops: LastLoops,
    /// Whether a lane has found no victim since `wake_for_victim` last woke the lanes.
    pub lacks_victim: bool,
    /// Whether an extent has become a possible victim since then.
    pub victim_appeared: bool,
}

impl Gc {
    pub fn new(shape: &Shape, limits: &Limits) -> Gc {
        let lanes = shape.layout.lanes;
        let levels_erases = shape.fixed.erase_gap.is_some();
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
