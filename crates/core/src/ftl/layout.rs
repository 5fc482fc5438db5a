//! The arithmetic of physical addresses: extent, row, die, plane and page of each.
//!
//! A *physical unit address* (PPA) numbers every mapping unit of the flash. Addresses
//! are dense: extent by extent, and inside an extent in the order of programming, row
//! by row. A *row* is what one program operation writes: one page index on
//! `write_planes` planes of one die.

use super::config::ExtentKind;
use crate::address::{Extent, Lane, Lpn, Ppa};
use crate::divider::Divider;
use std::ops::Range;

/// The place of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowPlace {
    /// The extent, counted over all lanes.
    pub extent: u32,
    /// The die, counted over the drive.
    pub die: u32,
    /// First plane of the row.
    pub plane: u32,
    /// Page index in the block.
    pub page: u32,
}

/// The address arithmetic of one drive.
#[derive(Clone, Debug)]
pub struct Layout {
    /// What an extent spans.
    pub kind: ExtentKind,
    /// Number of lanes: places where an extent can be open.
    pub lanes: u32,
    /// Extent numbers reserved for each lane; lane `l` has `l × stride .. (l + 1) × stride`.
    pub stride: u32,
    /// Usable extents of each lane (without bad blocks).
    pub usable: Vec<u32>,
    /// Dies in an extent.
    pub luns: u32,
    /// Planes in each die.
    pub planes: u32,
    /// Planes of a row.
    pub write_planes: u32,
    /// Pages in a block.
    pub pages: u32,
    /// Bytes in a mapping unit.
    pub unit_bytes: u64,
    by_unit: ByBytes,
    by_page: ByBytes,
    /// Mapping units in a row.
    pub units_per_row: u32,
    /// Rows in an extent.
    pub rows_per_extent: u32,
    /// Number of parts of an extent. A part is a set of planes; consecutive rows are on consecutive parts, round-robin.
    pub parts: u32,
    /// Mapping units in an extent.
    pub units_per_extent: u32,
    /// Mapping units of the host capacity.
    pub host_units: u32,
    /// Extents of each lane whose blocks hold one bit a cell. They follow the usable ones.
    pub slc_extents: u32,
    /// Rows in such an extent; they are its first ones.
    pub slc_rows: u32,
    by_extent: Divider,
    by_row: Divider,
    by_luns: Divider,
    by_groups: Divider,
    by_stride: Divider,
    by_planes: Divider,
}

/// Division by a number of bytes, most often a power of two.
#[derive(Clone, Copy, Debug)]
struct ByBytes {
    bytes: u64,
    /// The exponent of `bytes` if it is a power of two, else 0.
    shift: u32,
}

impl ByBytes {
    fn new(bytes: u64) -> ByBytes {
        ByBytes { bytes, shift: if bytes.is_power_of_two() { bytes.trailing_zeros() } else { 0 } }
    }

    #[inline]
    fn quotient(self, n: u64) -> u64 {
        if self.shift > 0 { n >> self.shift } else { n / self.bytes }
    }
}

impl Layout {
    /// The arithmetic of a drive with these dimensions. The caller has checked that they are consistent.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        kind: ExtentKind,
        dies: u32,
        planes: u32,
        pages: u32,
        page_bytes: u64,
        unit_bytes: u64,
        write_planes: u32,
        usable: Vec<u32>,
        host_units: u32,
    ) -> Layout {
        let luns = if kind == ExtentKind::Line { dies } else { 1 };
        let groups = if kind == ExtentKind::Block { 1 } else { planes / write_planes };
        let units_per_row = (u64::from(write_planes) * page_bytes / unit_bytes) as u32;
        let rows_per_extent = pages * groups * luns;
        let units_per_extent = rows_per_extent * units_per_row;
        let stride = usable.iter().copied().max().unwrap_or(1).max(1);
        Layout {
            kind,
            lanes: usable.len() as u32,
            stride,
            usable,
            luns,
            planes,
            write_planes,
            pages,
            unit_bytes,
            by_unit: ByBytes::new(unit_bytes),
            by_page: ByBytes::new(page_bytes),
            units_per_row,
            rows_per_extent,
            parts: groups * luns,
            units_per_extent,
            host_units,
            slc_extents: 0,
            slc_rows: 0,
            by_extent: Divider::new(units_per_extent),
            by_row: Divider::new(units_per_row),
            by_luns: Divider::new(luns),
            by_groups: Divider::new(groups),
            by_stride: Divider::new(stride),
            by_planes: Divider::new(planes),
        }
    }

    /// The largest number of valid units with which the collection of an extent still frees a row. (Collection writes
    /// the valid units in whole rows.)
    #[inline]
    pub fn most_valid(&self) -> u32 {
        self.units_per_extent - self.units_per_row
    }

    /// The same drive with `blocks` more blocks in each plane, which have `pages` pages and hold one bit a cell.
    pub fn with_slc(self, blocks: u32, pages: u32) -> Layout {
        let stride = self.stride + blocks;
        Layout {
            stride,
            by_stride: Divider::new(stride),
            slc_extents: blocks,
            slc_rows: pages * self.parts,
            ..self
        }
    }

    /// The extents of a lane whose blocks hold one bit a cell.
    pub fn slc_extents_of(&self, lane: Lane) -> impl Iterator<Item = Extent> + Clone {
        Extent(lane.0 * self.stride + self.usable[lane.index()]).run(self.slc_extents)
    }

    /// The lane of an extent whose blocks hold one bit a cell; `None` of another extent.
    pub fn slc_lane_of(&self, extent: Extent) -> Option<Lane> {
        let (lane, index) = self.lane_of(extent.0);
        let usable = self.usable[lane as usize];
        (usable..usable + self.slc_extents).contains(&index).then_some(Lane(lane))
    }

    /// Whether the blocks of an extent hold one bit a cell.
    pub fn is_slc(&self, extent: Extent) -> bool {
        self.slc_extents > 0 && self.slc_lane_of(extent).is_some()
    }

    /// The number of the page of a row, by which the flash knows the mode of its block ([`crate::nand::slc`]).
    #[inline]
    pub fn page_number(&self, place: &RowPlace) -> u32 {
        if self.slc_extents == 0 { place.page } else { self.page_number_of(Extent(place.extent), place.page) }
    }

    /// The number of a page of an extent's blocks.
    pub fn page_number_of(&self, extent: Extent, page: u32) -> u32 {
        if self.is_slc(extent) { self.pages + page } else { page }
    }

    /// Physical blocks in an extent.
    pub fn blocks_per_extent(&self) -> u32 {
        self.luns * if self.kind == ExtentKind::Block { 1 } else { self.planes }
    }

    /// Number of extent numbers, including the unusable ones of lanes with fewer extents.
    pub fn extents(&self) -> u32 {
        self.lanes * self.stride
    }

    /// Number of physical unit addresses.
    pub fn units(&self) -> u32 {
        self.extents() * self.units_per_extent
    }

    /// The logical unit that holds a byte of the host's address space.
    #[inline]
    pub fn lpn_of(&self, offset: u64) -> Lpn {
        Lpn(self.by_unit.quotient(offset) as u32)
    }

    /// The page of a row that holds a byte of the row, counted from its first.
    #[inline]
    pub fn page_in_row(&self, byte: u64) -> u64 {
        self.by_page.quotient(byte)
    }

    /// The extent of an address, and the offset of the address in the extent.
    #[inline]
    pub fn extent_of(&self, ppa: Ppa) -> (u32, u32) {
        self.by_extent.div_rem(ppa.0)
    }

    /// The lane of an extent, and the index of the extent in the lane.
    #[inline]
    pub fn lane_of(&self, extent: u32) -> (u32, u32) {
        self.by_stride.div_rem(extent)
    }

    /// The lane of an address.
    #[inline]
    pub fn lane_at(&self, ppa: Ppa) -> u32 {
        self.lane_of(self.extent_of(ppa).0).0
    }

    /// The row (numbered over the whole drive) of an address, and the position of the unit in the
    /// row.
    #[inline]
    pub fn row_of(&self, ppa: Ppa) -> (u32, u32) {
        self.by_row.div_rem(ppa.0)
    }

    /// The first unit of the row of a unit, and the unit's position in the row.
    #[inline]
    pub fn row_start(&self, ppa: Ppa) -> (Ppa, u32) {
        let (_, slot) = self.row_of(ppa);
        (Ppa(ppa.0 - slot), slot)
    }

    /// The place of the row that an address is in.
    #[inline]
    pub fn place(&self, ppa: Ppa) -> RowPlace {
        let (extent, offset) = self.by_extent.div_rem(ppa.0);
        let (row, _) = self.by_row.div_rem(offset);
        let (lane, _) = self.by_stride.div_rem(extent);
        match self.kind {
            ExtentKind::Block => {
                let (die, plane) = self.by_planes.div_rem(lane);
                RowPlace { extent, die, plane, page: row }
            }
            ExtentKind::Superblock => {
                let (page, group) = self.by_groups.div_rem(row);
                RowPlace { extent, die: lane, plane: group * self.write_planes, page }
            }
            ExtentKind::Line => {
                let (step, lun) = self.by_luns.div_rem(row);
                let (page, group) = self.by_groups.div_rem(step);
                RowPlace { extent, die: lun, plane: group * self.write_planes, page }
            }
        }
    }

    /// Mapping units in a part of an extent.
    pub fn units_per_part(&self) -> u32 {
        self.pages * self.units_per_row
    }

    /// The part of an extent that a row of the extent lies in.
    #[inline]
    pub fn part_of(&self, row: u32) -> u32 {
        row % self.parts
    }

    /// The part of its extent that an address lies in.
    pub fn part_at(&self, ppa: Ppa) -> u32 {
        let (_, offset) = self.extent_of(ppa);
        self.part_of(offset / self.units_per_row)
    }

    /// The planes of a part of a lane's extents, counted over the drive.
    pub fn planes_of_part(&self, lane: u32, part: u32) -> Range<u32> {
        let first = match self.kind {
            ExtentKind::Block => lane,
            ExtentKind::Superblock => lane * self.planes + part * self.write_planes,
            ExtentKind::Line => part % self.luns * self.planes + part / self.luns * self.write_planes,
        };
        first..first + self.write_planes
    }

    /// The lane of a plane, and the part of the lane's extents on it.
    pub fn part_of_plane(&self, plane: u32) -> (u32, u32) {
        let (die, group) = (plane / self.planes, plane % self.planes / self.write_planes);
        match self.kind {
            ExtentKind::Block => (plane, 0),
            ExtentKind::Superblock => (die, group),
            ExtentKind::Line => (0, group * self.luns + die),
        }
    }

    /// The planes of a lane's extents, counted over the drive.
    pub fn planes_of(&self, lane: u32) -> Range<u32> {
        let count = self.blocks_per_extent();
        lane * count..(lane + 1) * count
    }

    /// The first die of a lane's extents; they span `luns` dies.
    pub fn first_die(&self, lane: u32) -> u32 {
        match self.kind {
            ExtentKind::Block => lane / self.planes,
            ExtentKind::Superblock => lane,
            ExtentKind::Line => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_of_an_extent_visit_every_page_once_in_page_order() {
        for kind in [ExtentKind::Block, ExtentKind::Superblock, ExtentKind::Line] {
            let write_planes = if kind == ExtentKind::Block { 1 } else { 2 };
            let lanes = match kind {
                ExtentKind::Block => 6 * 4,
                ExtentKind::Superblock => 6,
                ExtentKind::Line => 1,
            };
            let l = Layout::new(kind, 6, 4, 10, 8192, 4096, write_planes, vec![5; lanes], 1);
            let mut seen = std::collections::BTreeSet::new();
            let mut last_page = [0; 6 * 4];
            let base = 3 * l.units_per_extent;
            for row in 0..l.rows_per_extent {
                let p = l.place(Ppa(base + row * l.units_per_row + 1));
                assert_eq!(p.extent, 3);
                assert!(seen.insert((p.die, p.plane, p.page)));
                let block = (p.die * 4 + p.plane) as usize;
                assert!(p.page >= last_page[block], "{kind:?}: pages go up within a block");
                last_page[block] = p.page;
            }
            assert_eq!(seen.len() as u32, l.rows_per_extent);
        }
    }

    fn geometry() -> impl Strategy<Value = (ExtentKind, u32, u32, u32, u32, u32, u32)> {
        let kind = prop::sample::select(vec![ExtentKind::Block, ExtentKind::Superblock, ExtentKind::Line]);
        // Kind, dies, write units per die and page index, planes per write unit, pages, units per
        // page, extents per lane.
        (kind, 1..5u32, 1..4u32, 1..4u32, 1..7u32, 1..4u32, 1..5u32)
    }

    proptest! {
        /// Compares with nested loops over lanes, extents, pages, planes and dies, in the order of
        /// programming.
        #[test]
        fn addresses_are_where_nested_loops_put_them(
            (kind, dies, groups, wide, pages, per_page, stride) in geometry(),
        ) {
            let planes = groups * wide;
            let blocks = kind == ExtentKind::Block;
            let wide = if blocks { 1 } else { wide };
            let lanes = match kind {
                ExtentKind::Block => dies * planes,
                ExtentKind::Superblock => dies,
                ExtentKind::Line => 1,
            };
            // Every lane but the first has one extent less.
            let usable = |lane| if lane == 0 { stride } else { stride - 1 };
            let page = 4096 * u64::from(per_page);
            let l = Layout::new(kind, dies, planes, pages, page, 4096, wide, (0..lanes).map(usable).collect(), 1);
            let row = wide * per_page;
            let (mut ppa, mut rows, mut extent) = (Ppa(0), 0, 0);
            for lane in 0..lanes {
                for index in 0..stride {
                    let first = ppa;
                    for page in 0..pages {
                        for plane in (0..planes).step_by(wide as usize) {
                            for die in 0..dies {
                                let here = match kind {
                                    ExtentKind::Block => lane == die * planes + plane,
                                    ExtentKind::Superblock => lane == die,
                                    ExtentKind::Line => true,
                                };
                                if !here {
                                    continue;
                                }
                                for slot in 0..row {
                                    prop_assert_eq!(l.place(ppa), RowPlace { extent, die, plane, page });
                                    prop_assert_eq!(l.row_of(ppa), (rows, slot));
                                    prop_assert_eq!(l.row_start(ppa), (Ppa(ppa.0 - slot), slot));
                                    prop_assert_eq!(l.extent_of(ppa), (extent, ppa - first));
                                    prop_assert_eq!(l.lane_at(ppa), lane);
                                    prop_assert!(l.planes_of(lane).contains(&(die * planes + plane)));
                                    let part = l.part_at(ppa);
                                    prop_assert_eq!(l.planes_of_part(lane, part).start, die * planes + plane);
                                    for plane in l.planes_of_part(lane, part) {
                                        prop_assert_eq!(l.part_of_plane(plane), (lane, part));
                                    }
                                    ppa = ppa + 1;
                                }
                                rows += 1;
                            }
                        }
                    }
                    prop_assert_eq!(l.units_per_extent, ppa - first);
                    prop_assert_eq!(l.lane_of(extent), (lane, index));
                    extent += 1;
                }
                prop_assert_eq!(l.first_die(lane), l.place(Ppa(lane * stride * l.units_per_extent)).die);
            }
            prop_assert_eq!((l.units(), l.extents(), l.lanes, l.stride), (ppa.0, extent, lanes, stride));
            prop_assert_eq!((l.units_per_row, l.rows_per_extent * row), (row, l.units_per_extent));
            prop_assert_eq!(l.most_valid() + row, l.units_per_extent);
            prop_assert_eq!(l.blocks_per_extent() * pages * per_page, l.units_per_extent);
            prop_assert_eq!(l.parts * l.units_per_part(), l.units_per_extent);
        }
    }
}
