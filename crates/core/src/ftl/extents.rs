//! Extents: their valid units, free space and write frontiers.

use super::holes::Holes;
use super::layout::Layout;
use crate::address::{Extent, Ppa};
use crate::containers::NONE;
use crate::containers::big::prefetch;
use crate::containers::list::{Link, List};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Set in an extent's count of valid units while the extent cannot be collected (free, open, or
/// being collected).
const CLOSED_TO_COLLECTION: u32 = 1 << 31;

/// The kind of data that a frontier receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Writer {
    /// Host data.
    Host,
    /// Data moved by collection.
    Collection,
}

/// The open extent of one writer in one lane, and its next row.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Frontier {
    extent: u32,
    next_row: u32,
}

/// The free extents and frontiers of one lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lane {
    free: List,
    /// Rows of the free extents.
    free_rows: u32,
    frontiers: [Frontier; 2],
}

/// All extents of the drive, lane by lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Extents {
    /// By extent: the units that a collection would not free (valid ones and those in holes), with the flag
    /// [`CLOSED_TO_COLLECTION`].
    valid: Vec<u32>,
    /// By extent: serial number given when it was closed.
    closed: Vec<u64>,
    /// By extent: rows allocated and not yet programmed.
    pending_rows: Vec<u32>,
    links: Vec<Link>,
    lanes: Vec<Lane>,
    /// Extents that were closed before they were full, with the number of written rows.
    short: BTreeMap<u32, u32>,
    /// Extents that are out of use for good.
    retired: BTreeSet<u32>,
    /// The parts of extents that hold no data, on a drive whose extents can have holes.
    holes: Option<Holes>,
    /// Serial number that the next closed extent gets.
    pub serial: u64,
    /// Extents erased since the drive was made.
    pub erases: u64,
}

impl Extents {
    /// All extents free.
    pub fn new(layout: &Layout) -> Extents {
        Extents::with_holes(layout, None)
    }

    /// All extents free, except those that consist of holes. `holes` is `None` if extents cannot have holes.
    pub fn with_holes(layout: &Layout, holes: Option<&Holes>) -> Extents {
        let n = layout.extents() as usize;
        let none = Frontier { extent: NONE, next_row: 0 };
        let mut e = Extents {
            valid: (0..n).map(|e| CLOSED_TO_COLLECTION | holes.map_or(0, |holes| holes.units()[e])).collect(),
            closed: vec![0; n],
            pending_rows: vec![0; n],
            links: vec![Link::default(); n],
            lanes: vec![
                Lane { free: List::default(), free_rows: 0, frontiers: [none; 2] };
                layout.lanes as usize
            ],
            short: BTreeMap::new(),
            retired: BTreeSet::new(),
            holes: holes.cloned(),
            serial: 0,
            erases: 0,
        };
        for lane in 0..layout.lanes {
            for i in 0..layout.usable[lane as usize] {
                let extent = lane * layout.stride + i;
                if e.rows_of(layout, extent) > 0 {
                    e.add_free(layout, extent);
                } else {
                    e.retired.insert(extent);
                }
            }
        }
        e
    }

    /// The holes; `None` if extents cannot have any.
    pub fn holes(&self) -> Option<&Holes> {
        self.holes.as_ref()
    }

    /// Whether a part of an extent holds no data.
    pub fn is_hole(&self, layout: &Layout, extent: u32, part: u32) -> bool {
        self.holes.as_ref().is_some_and(|holes| holes.has(layout, extent, part))
    }

    /// Make a part of an extent that has just been erased a hole.
    pub fn add_hole(&mut self, layout: &Layout, extent: u32, part: u32) {
        let holes = self.holes.as_mut().expect("only extents that can have holes get some");
        self.valid[extent as usize] += holes.add(layout, extent, part);
    }

    /// Make a part of all free extents of a lane a hole. Extents without another part are taken out of
    /// use.
    pub fn add_hole_to_free(&mut self, layout: &Layout, lane: u32, part: u32) {
        for extent in self.free_extents(lane).collect::<Vec<_>>() {
            self.remove_free(layout, extent);
            self.add_hole(layout, extent, part);
            if self.rows_of(layout, extent) == 0 {
                self.retired.insert(extent);
            } else {
                self.add_free(layout, extent);
            }
        }
    }

    /// The free extents of a lane.
    pub fn free_extents(&self, lane: u32) -> impl Iterator<Item = u32> + '_ {
        let free = &self.lanes[lane as usize].free;
        let next = |&at: &u32| Some(free.after(&self.links, at)).filter(|&at| at != NONE);
        std::iter::successors(Some(free.head()).filter(|&at| at != NONE), next)
    }

    /// Number of rows of an extent outside of holes.
    #[inline]
    pub fn rows_of(&self, layout: &Layout, extent: u32) -> u32 {
        let lost = |holes: &Holes| holes.units()[extent as usize] / layout.units_per_row;
        layout.rows_per_extent - self.holes.as_ref().map_or(0, lost)
    }

    #[inline]
    fn add_free(&mut self, layout: &Layout, extent: u32) {
        let rows = self.rows_of(layout, extent);
        let lane = &mut self.lanes[layout.lane_of(extent).0 as usize];
        lane.free.push_back(&mut self.links, extent);
        lane.free_rows += rows;
    }

    #[inline]
    fn remove_free(&mut self, layout: &Layout, extent: u32) {
        let rows = self.rows_of(layout, extent);
        let lane = &mut self.lanes[layout.lane_of(extent).0 as usize];
        lane.free.remove(&mut self.links, extent);
        lane.free_rows -= rows;
    }

    /// A serial number for the choice of a lane's next victim. It is unique, since a lane erases
    /// its victim before it chooses the next one.
    pub fn choice(&self, layout: &Layout, lane: u32) -> u64 {
        self.erases * u64::from(layout.lanes) + u64::from(lane)
    }

    /// Free extents of a lane. If extents have holes, this is the number of whole extents with as many rows, so that
    /// thresholds mean the same amount of space.
    #[inline]
    pub fn free(&self, layout: &Layout, lane: u32) -> u32 {
        let l = &self.lanes[lane as usize];
        if self.holes.is_none() { l.free.len() } else { l.free_rows / layout.rows_per_extent }
    }

    /// Free extents of the drive, as [`Extents::free`].
    pub fn free_total(&self, layout: &Layout) -> u64 {
        (0..layout.lanes).map(|lane| u64::from(self.free(layout, lane))).sum()
    }

    /// The counts of valid units and the closing serial numbers of a lane's extents, as victim
    /// policies see them.
    #[inline]
    pub fn lane_slices(&self, layout: &Layout, lane: u32) -> (&[u32], &[u64]) {
        let range = (lane * layout.stride) as usize..((lane + 1) * layout.stride) as usize;
        (&self.valid[range.clone()], &self.closed[range])
    }

    /// By extent of a lane: the units in holes. Empty without holes.
    #[inline]
    pub fn hole_slice(&self, layout: &Layout, lane: u32) -> &[u32] {
        let range = (lane * layout.stride) as usize..((lane + 1) * layout.stride) as usize;
        self.holes.as_ref().map_or(&[], |holes| &holes.units()[range])
    }

    /// Valid units of an extent.
    #[inline]
    pub fn valid(&self, extent: u32) -> u32 {
        self.not_freed(extent) - self.units_in_holes(extent)
    }

    /// Units of an extent that its collection would not free: valid ones, and those in holes.
    #[inline]
    pub fn not_freed(&self, extent: u32) -> u32 {
        self.valid[extent as usize] & !CLOSED_TO_COLLECTION
    }

    /// Units of an extent that are in holes.
    #[inline]
    pub fn units_in_holes(&self, extent: u32) -> u32 {
        self.holes.as_ref().map_or(0, |holes| holes.units()[extent as usize])
    }

    /// Prefetch an extent's counter of valid units, which will change soon.
    #[inline]
    pub fn prefetch(&self, extent: u32) {
        prefetch(&self.valid, extent as usize);
    }

    /// Count one more valid unit in an extent.
    #[inline]
    pub fn gain(&mut self, extent: u32) {
        self.valid[extent as usize] += 1;
    }

    /// Count one valid unit less in an extent. If the extent is closed, returns the number that is left.
    #[inline]
    pub fn lose(&mut self, extent: u32) -> Option<u32> {
        debug_assert!(self.valid(extent) > 0);
        self.valid[extent as usize] -= 1;
        Some(self.valid[extent as usize]).filter(|&n| n < CLOSED_TO_COLLECTION)
    }

    /// Rows that a writer can still take in the extent that it has open in a lane.
    fn open_rows(&self, layout: &Layout, lane: u32, writer: Writer) -> u32 {
        let Frontier { extent, next_row } = self.lanes[lane as usize].frontiers[writer as usize];
        if extent == NONE {
            return 0;
        }
        match &self.holes {
            None => layout.rows_per_extent - next_row,
            Some(holes) => {
                let usable = |row: &u32| !holes.has(layout, extent, layout.part_of(*row));
                (next_row..layout.rows_per_extent).filter(usable).count() as u32
            }
        }
    }

    /// Rows that a writer can still take in a lane without a reserve.
    pub fn rows_left(&self, layout: &Layout, lane: u32, writer: Writer) -> u32 {
        self.open_rows(layout, lane, writer) + self.lanes[lane as usize].free_rows
    }

    /// Whether [`Extents::take_row`] would give `rows` rows one after the other.
    pub fn has_rows(&self, layout: &Layout, lane: u32, writer: Writer, reserve: u32, rows: u32) -> bool {
        let mut found = self.open_rows(layout, lane, writer);
        let mut left = self.lanes[lane as usize].free_rows;
        let mut free = self.free_extents(lane);
        while found < rows {
            let Some(each) = free.next().map(|extent| self.rows_of(layout, extent)) else { return false };
            if left < each + reserve * layout.rows_per_extent {
                return false;
            }
            left -= each;
            found += each;
        }
        true
    }

    /// Whether a lane may open a free extent and still keeps the rows of `reserve` extents.
    #[inline]
    fn may_open(&self, layout: &Layout, lane: u32, reserve: u32) -> bool {
        let l = &self.lanes[lane as usize];
        if self.holes.is_none() {
            return l.free.len() > reserve;
        }
        let head = l.free.head();
        head != NONE && l.free_rows >= self.rows_of(layout, head) + reserve * layout.rows_per_extent
    }

    /// Whether [`Extents::take_row`] would give a row.
    #[inline]
    pub fn has_row(&self, layout: &Layout, lane: u32, writer: Writer, reserve: u32) -> bool {
        let f = &self.lanes[lane as usize].frontiers[writer as usize];
        f.extent != NONE && f.next_row < layout.rows_per_extent || self.may_open(layout, lane, reserve)
    }

    /// Take the writer's next row and return its address. Opens a free extent if the open one has
    /// no row left; `None` if only `reserve` free extents are left.
    #[inline]
    pub fn take_row(&mut self, layout: &Layout, lane: u32, writer: Writer, reserve: u32) -> Option<Ppa> {
        let f = self.lanes[lane as usize].frontiers[writer as usize];
        if f.extent == NONE || f.next_row == layout.rows_per_extent {
            if !self.may_open(layout, lane, reserve) {
                return None;
            }
            self.open(layout, lane, writer);
        }
        let f = &mut self.lanes[lane as usize].frontiers[writer as usize];
        let ppa = Ppa(f.extent * layout.units_per_extent + f.next_row * layout.units_per_row);
        f.next_row += 1;
        if let Some(holes) = &self.holes {
            f.next_row = holes.next_row(layout, f.extent, f.next_row);
        }
        self.pending_rows[f.extent as usize] += 1;
        Some(ppa)
    }

    /// Open the next free extent of a lane, which has one.
    fn open(&mut self, layout: &Layout, lane: u32, writer: Writer) {
        let extent = self.lanes[lane as usize].free.head();
        self.remove_free(layout, extent);
        let next_row = self.holes.as_ref().map_or(0, |holes| holes.next_row(layout, extent, 0));
        self.lanes[lane as usize].frontiers[writer as usize] = Frontier { extent, next_row };
    }

    /// Take the next row for data moved by collection and return its address.
    ///
    /// # Panics
    /// If the lane has no row; host data always leave an extent to collect into.
    #[inline]
    pub fn take_collection_row(&mut self, layout: &Layout, lane: u32) -> Ppa {
        let row = self.take_row(layout, lane, Writer::Collection, 0);
        row.expect("host data always leave an extent to collect into")
    }

    /// Count a row of an extent in SLC mode as taken.
    pub fn slc_row_taken(&mut self, extent: Extent) {
        self.pending_rows[extent.index()] += 1;
    }

    /// Count such a row as programmed. Returns whether no taken row is left.
    pub fn slc_row_programmed(&mut self, extent: Extent) -> bool {
        self.pending_rows[extent.index()] -= 1;
        self.pending_rows[extent.index()] == 0
    }

    /// Count a row taken before as programmed. Closes the extent if it was the last one.
    #[inline]
    pub fn row_programmed(&mut self, layout: &Layout, extent: u32) {
        let e = extent as usize;
        self.pending_rows[e] -= 1;
        if self.pending_rows[e] != 0 {
            return;
        }
        let (lane, _) = layout.lane_of(extent);
        let full = layout.rows_per_extent;
        let open = |f: &Frontier| f.extent == extent && f.next_row < full;
        if !self.lanes[lane as usize].frontiers.iter().any(open) {
            self.close(extent);
        }
    }

    fn close(&mut self, extent: u32) {
        self.valid[extent as usize] &= !CLOSED_TO_COLLECTION;
        self.closed[extent as usize] = self.serial;
        self.serial += 1;
    }

    /// Whether an extent is closed: no further row of it is used, and it is not being collected.
    #[inline]
    pub fn is_closed(&self, extent: u32) -> bool {
        self.valid[extent as usize] & CLOSED_TO_COLLECTION == 0
    }

    /// Begin a collection of this extent.
    pub fn begin_collection(&mut self, extent: u32) {
        debug_assert_eq!(self.valid[extent as usize] & CLOSED_TO_COLLECTION, 0);
        self.valid[extent as usize] |= CLOSED_TO_COLLECTION;
    }

    /// End a collection of this extent that has not emptied it.
    pub fn abandon_collection(&mut self, extent: u32) {
        self.valid[extent as usize] &= !CLOSED_TO_COLLECTION;
    }

    /// Write no further row to an extent, if it is open.
    pub fn shut(&mut self, layout: &Layout, extent: u32) {
        let (lane, _) = layout.lane_of(extent);
        let full = layout.rows_per_extent;
        let mut frontiers = self.lanes[lane as usize].frontiers.iter_mut();
        if let Some(f) = frontiers.find(|f| f.extent == extent && f.next_row < full) {
            self.short.insert(extent, f.next_row);
            f.next_row = full;
            if self.pending_rows[extent as usize] == 0 {
                self.close(extent);
            }
        }
    }

    /// Write no further row to the open extents of a lane.
    pub fn shut_lane(&mut self, layout: &Layout, lane: u32) {
        for f in self.lanes[lane as usize].frontiers {
            if f.extent != NONE {
                self.shut(layout, f.extent);
            }
        }
    }

    /// Take an emptied extent out of use for good. It has been erased as far as possible.
    pub fn retire(&mut self, extent: u32) {
        debug_assert_eq!(self.valid(extent), 0);
        self.erases += 1;
        self.short.remove(&extent);
        self.retired.insert(extent);
    }

    /// The extents that are out of use.
    pub fn retired(&self) -> &BTreeSet<u32> {
        &self.retired
    }

    /// Number of extents of a lane that are out of use.
    pub fn retired_in(&self, layout: &Layout, lane: u32) -> u32 {
        self.retired.range(lane * layout.stride..(lane + 1) * layout.stride).count() as u32
    }

    /// Free an extent that was erased.
    pub fn erased(&mut self, layout: &Layout, extent: u32) {
        debug_assert!(self.valid(extent) == 0 && !self.is_closed(extent));
        self.erases += 1;
        self.short.remove(&extent);
        self.add_free(layout, extent);
    }

    /// Put `units` units of a sequential fill into the first `rows` rows of an empty lane, with
    /// padding at the end. Full extents are closed; the last one is the host frontier.
    pub fn fill_lane(&mut self, layout: &Layout, lane: u32, units: u32, rows: u32) {
        let (whole, rest) = (units / layout.units_per_extent, units % layout.units_per_extent);
        debug_assert!(rows >= units.div_ceil(layout.units_per_row));
        let next_row = rows - whole * layout.rows_per_extent;
        for i in 0..whole + u32::from(next_row > 0) {
            let extent = lane * layout.stride + i;
            self.remove_free(layout, extent);
            if i < whole {
                self.valid[extent as usize] = layout.units_per_extent;
                self.closed[extent as usize] = self.serial;
                self.serial += 1;
            } else {
                self.valid[extent as usize] = CLOSED_TO_COLLECTION | rest;
                self.lanes[lane as usize].frontiers[Writer::Host as usize] = Frontier { extent, next_row };
                if next_row == layout.rows_per_extent {
                    self.close(extent);
                }
            }
        }
    }

    /// Make the first extents of an empty lane full and closed, with the given numbers of valid
    /// units.
    pub fn take_full(&mut self, layout: &Layout, lane: u32, valid: &[u32]) {
        for (i, &valid) in (0..).zip(valid) {
            let extent = lane * layout.stride + i;
            self.remove_free(layout, extent);
            self.valid[extent as usize] = valid;
            self.closed[extent as usize] = self.serial;
            self.serial += 1;
        }
    }

    /// Bring an empty lane into a state of long use. `valid` has the valid units of each extent of
    /// the lane. `closed` names the closed extents with their serial numbers, and `open` the open
    /// ones of host and collection, with their rows written.
    pub fn take_lane(
        &mut self,
        layout: &Layout,
        lane: u32,
        valid: &[u32],
        closed: impl Iterator<Item = (u32, u64)>,
        open: [(u32, u32); 2],
    ) {
        let first = lane * layout.stride;
        for (index, serial) in closed {
            let extent = first + index;
            self.remove_free(layout, extent);
            self.valid[extent as usize] = valid[index as usize];
            self.closed[extent as usize] = serial;
        }
        for (writer, (index, next_row)) in open.into_iter().enumerate() {
            let extent = first + index;
            debug_assert!(next_row < layout.rows_per_extent);
            self.remove_free(layout, extent);
            self.valid[extent as usize] = CLOSED_TO_COLLECTION | valid[index as usize];
            self.lanes[lane as usize].frontiers[writer] = Frontier { extent, next_row };
        }
    }

    /// By extent: the row up to which it is written, ignoring its holes. This is the end of a closed extent and the
    /// beginning of a free one.
    pub fn rows_written(&self, layout: &Layout) -> Vec<u32> {
        let mut rows = vec![0; layout.extents() as usize];
        for (l, lane) in (0..).zip(&self.lanes) {
            let first = l * layout.stride;
            rows[first as usize..][..layout.usable[l as usize] as usize].fill(layout.rows_per_extent);
            let mut at = lane.free.head();
            while at != NONE {
                rows[at as usize] = 0;
                at = lane.free.after(&self.links, at);
            }
            for f in lane.frontiers.iter().filter(|f| f.extent != NONE && f.next_row < layout.rows_per_extent)
            {
                rows[f.extent as usize] = f.next_row;
            }
        }
        for (&extent, &written) in &self.short {
            rows[extent as usize] = written;
        }
        for &extent in &self.retired {
            rows[extent as usize] = 0;
        }
        rows
    }
}

mod audit;
mod restored;
pub use audit::AuditView;

#[cfg(test)]
mod tests;
