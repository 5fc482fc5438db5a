//! The capacity arithmetic of a drive: which extents are usable, which are reserved so that the
//! drive can continue to write, and which capacity is left.

use crate::config::DeviceConfig;
use crate::figures::Capacity;
use crate::ftl::config::{BadBlocks, ExtentKind};
use crate::ftl::holes::Holes;
use crate::ftl::layout::Layout;
use crate::ftl::map::Fill;
use crate::ftl::stripes::Stripes;
use crate::nand::config::GeometryConfig;
use crate::problem::{ConfigProblem, refuse};

/// The extents of a lane that hold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneSize {
    /// Number of extents with at least one row.
    pub extents: u32,
    /// Mapping units of their rows.
    pub units: u64,
}

impl LaneSize {
    /// The size of a lane of `extents` extents without holes.
    pub fn whole(layout: &Layout, extents: u32) -> LaneSize {
        LaneSize { extents, units: u64::from(extents) * u64::from(layout.units_per_extent) }
    }

    /// What is left without `count` whole extents.
    pub fn without(self, layout: &Layout, count: u32) -> LaneSize {
        let lost = LaneSize::whole(layout, count);
        LaneSize { extents: self.extents.saturating_sub(count), units: self.units.saturating_sub(lost.units) }
    }

    /// Whether its extents have fewer rows than whole ones.
    fn has_holes(self, layout: &Layout) -> bool {
        self != LaneSize::whole(layout, self.extents)
    }

    /// Its units as whole extents.
    pub fn whole_extents(self, layout: &Layout) -> u32 {
        (self.units / u64::from(layout.units_per_extent)) as u32
    }
}

/// Return the sizes of all lanes of a new drive.
pub(super) fn lane_sizes(layout: &Layout, holes: Option<&Holes>) -> Vec<LaneSize> {
    let size = |lane: u32| {
        let usable = layout.usable[lane as usize];
        let Some(holes) = holes else { return LaneSize::whole(layout, usable) };
        let first = (lane * layout.stride) as usize;
        let units = holes.units()[first..first + usable as usize].iter();
        let left = units.map(|lost| layout.units_per_extent - lost).filter(|&left| left > 0);
        let add = |size: LaneSize, left| LaneSize {
            extents: size.extents + 1,
            units: size.units + u64::from(left),
        };
        left.fold(LaneSize::whole(layout, 0), add)
    };
    (0..layout.lanes).map(size).collect()
}

/// The parts of extents with a factory-bad block; `None` if spare blocks replace bad ones.
pub(super) fn factory_holes(c: &DeviceConfig, layout: &Layout, bad: &[Vec<u32>]) -> Option<Holes> {
    if c.ftl.bad_blocks == BadBlocks::Remap {
        return None;
    }
    let mut holes = Holes::new(layout);
    for (plane, bad) in (0..).zip(bad) {
        let (lane, part) = layout.part_of_plane(plane);
        for &block in bad {
            holes.add(layout, lane * layout.stride + block, part);
        }
    }
    Some(holes)
}

/// Return the usable extents of each lane, for the factory-bad blocks of each plane. A bad block is
/// replaced by a good one of its plane, so a lane loses as many extents as its worst plane has bad
/// blocks. With holes it loses none.
pub(super) fn usable_extents(c: &DeviceConfig, bad: &[Vec<u32>]) -> Vec<u32> {
    let g = &c.geometry;
    let lane_planes = match c.ftl.extent {
        ExtentKind::Block => 1,
        ExtentKind::Superblock => g.planes as usize,
        ExtentKind::Line => bad.len(),
    };
    let worst = |planes: &[Vec<u32>]| match c.ftl.bad_blocks {
        BadBlocks::Remap => planes.iter().map(|bad| bad.len() as u32).max().unwrap_or(0),
        BadBlocks::Hole => 0,
    };
    bad.chunks(lane_planes).map(|planes| g.blocks - worst(planes)).collect()
}

/// Bytes of all pages of all blocks.
pub(super) fn raw_bytes(g: &GeometryConfig) -> u64 {
    u64::from(g.dies()) * u64::from(g.planes) * g.block_bytes() * u64::from(g.blocks)
}

/// Bytes of the blocks of the SLC region, if they held as much as others.
pub(super) fn slc_bytes(c: &DeviceConfig) -> u64 {
    let g = &c.geometry;
    let blocks = c.slc.as_ref().map_or(0, |slc| slc.blocks.min(g.blocks));
    u64::from(g.dies()) * u64::from(g.planes) * g.block_bytes() * u64::from(blocks)
}

/// The usable extents of each lane without those of the SLC region.
pub(super) fn without_slc(c: &DeviceConfig, usable: Vec<u32>) -> Result<Vec<u32>, ConfigProblem> {
    let Some(slc) = &c.slc else { return Ok(usable) };
    let least = usable.iter().copied().min().unwrap_or(0);
    if slc.blocks >= least {
        let problem = format!("{}: a plane has {least} blocks that can be used", slc.blocks);
        return refuse("slc.blocks", problem);
    }
    Ok(usable.into_iter().map(|count| count - slc.blocks).collect())
}

/// Mapping units of a drive if all lanes had as many usable extents as the lane that has the most.
pub(super) fn most_units(c: &DeviceConfig, usable: &[u32]) -> u64 {
    let slc = c.slc.as_ref().map_or(0, |slc| u64::from(slc.blocks));
    let extents = u64::from(usable.iter().copied().max().unwrap_or(0).max(1)) + slc;
    extents * usable.len() as u64 * extent_bytes(c) / c.ftl.mapping_unit
}

fn extent_bytes(c: &DeviceConfig) -> u64 {
    let g = &c.geometry;
    let planes = match c.ftl.extent {
        ExtentKind::Block => 1,
        ExtentKind::Superblock => u64::from(g.planes),
        ExtentKind::Line => u64::from(g.planes) * u64::from(g.dies()),
    };
    planes * g.block_bytes()
}

/// Extents of a lane that hold no valid data of their own: two frontiers are open, and `reserve`
/// extents are kept free for collection to copy into.
pub(super) fn kept_extents(reserve: u32) -> u32 {
    reserve.saturating_add(2)
}

/// A lane of this size with fewer valid units than this can always win space by collection.
pub(super) fn room_of(layout: &Layout, size: LaneSize, reserve: u32) -> u64 {
    let open = size.without(layout, kept_extents(reserve));
    let row = u64::from(layout.units_per_row);
    // When host writes are stopped at the reserve, one frontier is open. One of the other extents
    // must have a whole row of stale units to win, however the stale units are spread.
    let worth = if size.has_holes(layout) {
        // The free extent that is next may be one row too long for the reserve.
        LaneSize { extents: open.extents, units: open.units + row }
    } else {
        size.without(layout, reserve.saturating_add(1))
    };
    let hidden = u64::from(worth.extents) * (row - 1);
    open.units.min(worth.units.saturating_sub(hidden))
}

/// Return the largest number of stripes that migration may bring to each group. A stripe has one
/// unit on each lane of its group, and a stripe that is leaving counts until its old copies are
/// stale. With fewer stripes than the room of its narrowest lane, a group can therefore always win
/// space, as when the drive was built. Migration may use a quarter of what is free then: collection
/// in a group with less spare room moves more units for each block that it wins, and this limits
/// what wear levelling may cost.
pub(super) fn most_stripes(
    layout: &Layout,
    sizes: &[LaneSize],
    fill: &Fill,
    stripes: &Stripes,
    reserve: u32,
) -> Vec<u32> {
    let shares = fill.units_by_lane(fill.end(layout.host_units));
    let of = |group: u32| {
        let lanes = (0..stripes.width).map(|offset| stripes.lane(group, offset));
        let own = shares[stripes.lane(group, 0) as usize];
        let room = lanes.map(|lane| room_of(layout, sizes[lane as usize], reserve)).min().unwrap_or(0);
        own + (room.saturating_sub(u64::from(own)) / 4) as u32
    };
    (0..stripes.groups).map(of).collect()
}

/// Check that each lane has room for its share of the host's data beside the reserved extents. `raw` is that of the
/// drive, and that of the SLC region.
pub(super) fn check_room(
    layout: &Layout,
    sizes: &[LaneSize],
    fill: &Fill,
    (raw, slc): (u64, u64),
    user: u64,
    capacity_key: &str,
    reserve: u32,
) -> Result<Capacity, ConfigProblem> {
    let kept = kept_extents(reserve);
    let room = |lane: u32| room_of(layout, sizes[lane as usize], reserve);
    // The fill gives every lane its share, regardless of what the placement does later.
    let shares = fill.units_by_lane(fill.end(layout.host_units));
    let short = (0..layout.lanes).any(|lane| u64::from(shares[lane as usize]) >= room(lane));
    let extent = u64::from(layout.units_per_extent) * layout.unit_bytes;
    let usable: u64 = sizes.iter().map(|size| size.units * layout.unit_bytes).sum();
    let reserved = (u64::from(layout.lanes) * u64::from(kept)).saturating_mul(extent);
    if short {
        let least = (0..layout.lanes).map(room).min().unwrap_or(0);
        let most = least * u64::from(layout.lanes) * layout.unit_bytes;
        return refuse(
            capacity_key,
            format!(
                "no spare blocks left for collection: of {raw} bytes raw, {} bytes are lost to bad blocks{} and {reserved} bytes are reserved ({kept} extents of {extent} bytes in each of {} lanes), so the host can have less than {most} bytes, not {user}",
                raw - slc - usable,
                if slc > 0 { format!(", {slc} bytes are the SLC region") } else { String::new() },
                layout.lanes
            ),
        );
    }
    let filled = shares.iter().map(|&n| u64::from(n)).sum::<u64>();
    let parity = (filled - u64::from(layout.host_units)) * layout.unit_bytes;
    let bad = raw - slc - usable;
    Ok(Capacity { raw, bad, slc, user, parity, reserved, spare: usable - user - parity })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Puts a lane into the worst state in which host writes are stopped and nothing can be won: some
        /// extents are free, one is open for collection, and the others are short of one stale row.
        #[test]
        fn a_lane_that_can_win_nothing_holds_as_much_as_its_room(
            rows in prop::collection::vec((1..9u32, any::<bool>()), 2..12),
            largest in 0..8u32,
            row in 1..5u32,
            reserve in 1..4u32,
            open in any::<prop::sample::Index>(),
        ) {
            let layout = Layout::new(ExtentKind::Superblock, 1, 8, 1, 4096, 4096 / u64::from(row), 1, vec![12], 1);
            let sizes: Vec<u32> = rows.iter().map(|&(rows, _)| if rows > largest { rows } else { 8 }).collect();
            let units = sizes.iter().map(|&rows| u64::from(rows * row)).sum();
            let lane = LaneSize { extents: sizes.len() as u32, units };
            let open = open.index(sizes.len());
            let free = |i: usize| rows[i].1 && i != open;
            let free_rows: u32 = (0..sizes.len()).filter(|&i| free(i)).map(|i| sizes[i]).sum();
            // The extent that the host would open next.
            let head = (0..sizes.len()).find(|&i| free(i)).map(|i| sizes[i]);
            prop_assume!(head.is_none_or(|head| free_rows < head + reserve * layout.rows_per_extent));
            let closed = (0..sizes.len()).filter(|&i| i != open && !free(i));
            let valid: u32 = closed.map(|i| sizes[i] * row - (row - 1)).sum();
            prop_assert!(room_of(&layout, lane, reserve) <= u64::from(valid));
        }
    }
}
