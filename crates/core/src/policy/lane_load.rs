//! The load of a lane in the view of placement policies.

use serde::{Deserialize, Serialize};

/// The number of host programs queued or under way at a lane, and whether the lane was found without room. A lane
/// without room has a larger load than any lane with room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LaneLoad(u32);

impl LaneLoad {
    const NO_ROOM: u32 = 1 << 31;

    /// A lane with room and this number of programs.
    pub fn of(programs: u32) -> LaneLoad {
        LaneLoad(programs)
    }

    /// Number of programs.
    #[inline]
    pub fn programs(self) -> u32 {
        self.0 & !LaneLoad::NO_ROOM
    }

    /// Whether the lane may have room.
    #[inline]
    pub fn has_room(self) -> bool {
        self.0 < LaneLoad::NO_ROOM
    }

    /// Count one program more.
    #[inline]
    pub fn begin(&mut self) {
        self.0 += 1;
    }

    /// Count one program less.
    #[inline]
    pub fn end(&mut self) {
        self.0 -= 1;
    }

    /// Note that no room was found.
    #[inline]
    pub fn lacks_room(&mut self) {
        self.0 |= LaneLoad::NO_ROOM;
    }

    /// Note that there may be room again.
    #[inline]
    pub fn may_have_room(&mut self) {
        self.0 &= !LaneLoad::NO_ROOM;
    }
}
