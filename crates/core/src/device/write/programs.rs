//! The rows programmed by lane, whatever they hold.

use super::state::Writes;
use crate::device::shape::Shape;
use crate::figures::Counters;
use crate::ftl::stripes::Stripes;
use serde::{Deserialize, Serialize};

/// Rows programmed since the drive was made; those of its ageing are not counted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Programs {
    lanes: Vec<u64>,
    groups: Vec<u64>,
}

impl Programs {
    pub fn new(stripes: Option<&Stripes>, lanes: u32) -> Programs {
        Programs { lanes: vec![0; lanes as usize], groups: vec![0; stripes.map_or(0, |s| s.groups) as usize] }
    }

    /// Rows programmed by lane.
    pub fn lanes(&self) -> &[u64] {
        &self.lanes
    }

    /// Rows programmed by group of lanes.
    pub fn groups(&self) -> &[u64] {
        &self.groups
    }

    /// Count rows programmed in a lane, and in its group if lanes have groups.
    #[inline]
    pub fn count(&mut self, stripes: Option<&Stripes>, lane: u32, rows: u64) {
        self.lanes[lane as usize] += rows;
        if let Some(stripes) = stripes {
            self.groups[stripes.group_of_lane(lane) as usize] += rows;
        }
    }
}

impl Writes {
    /// Count rows programmed in a lane.
    #[inline]
    pub(in crate::device) fn count_rows(
        &mut self,
        shape: &Shape,
        counters: &mut Counters,
        lane: u32,
        rows: u64,
    ) {
        counters.rows_programmed += rows;
        self.programs.count(shape.stripes.as_ref(), lane, rows);
    }
}
