//! The failures that the controller knows.

use super::lacking::Lacking;
use super::lost_units::LostUnits;
use super::unreadable::Unreadable;
use crate::containers::timers::UNSET;
use crate::device::shape::Shape;
use crate::device::write::write_unit::Stalled;
use crate::figures::ReadOnly;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The state of a lane after the death of planes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::device) enum LaneLife {
    /// All of its planes live.
    #[default]
    Live,
    /// Some parts of its extents lie on dead planes and hold no new data.
    Partial,
    /// The lane is not written any more.
    Dead,
}

/// The known failures. All sets are empty on a drive without faults.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct FaultState {
    /// Extents with a block that has grown bad, until they are erased or retired.
    pub failing: BTreeSet<u32>,
    /// The granules of host units whose data are lost.
    pub lost: LostUnits,
    /// The granules that slots in flight lack.
    pub lacking: Lacking,
    /// Units on flash whose last read failed.
    pub unreadable: Unreadable,
    /// Broken stripes: they have lost a unit, so their parity does not match their data.
    pub broken: BTreeSet<u32>,
    /// Members of stripes whose program failed and whose lane has no free row: one list for each lane.
    pub again: Stalled,
    /// Full lanes: a collection found no free row for the data to move, or collections free no rows for host data.
    pub full: BTreeSet<u32>,
    /// By lane: its state. Empty if no plane has died.
    pub life: Vec<LaneLife>,
    /// If extents can have holes: the parts of lanes on dead planes.
    pub dead_parts: BTreeSet<(u32, u32)>,
    /// When planes last died, ns.
    pub died_at: u64,
    /// Number of the configured deaths that have happened.
    pub deaths: u32,
    /// The lane at which the next search for a replacement of a dead lane begins.
    pub turn: u32,
    /// Whether copies on flash may be lost: on dead planes, or because a read has failed on them.
    pub some_lost: bool,
    /// Smallest time between two rewritten stripes, ns.
    pub rewrite_ns: u64,
    /// When the next planes die or rewriting may continue, ns.
    pub due_at: u64,
    /// Since when the drive is read-only, and why.
    pub read_only: Option<ReadOnly>,
}

impl FaultState {
    pub fn new(shape: &Shape, write_units: u32) -> FaultState {
        let striped = shape.faults.is_some() && shape.stripes.is_some();
        FaultState {
            failing: BTreeSet::new(),
            lost: LostUnits::default(),
            lacking: Lacking::new(),
            unreadable: Unreadable::default(),
            broken: BTreeSet::new(),
            again: if striped { Stalled::new(shape.layout.lanes, write_units) } else { Stalled::new(0, 0) },
            full: BTreeSet::new(),
            life: Vec::new(),
            dead_parts: BTreeSet::new(),
            died_at: 0,
            deaths: 0,
            turn: 0,
            some_lost: false,
            rewrite_ns: shape.rewrite_ns,
            due_at: UNSET,
            read_only: None,
        }
    }
}
