//! The state of each block: cycles, reads, age, health and wear.
//!
//! The blocks of a plane are addressed by an *index*: the position of their extent in its lane. The good blocks get the
//! indices in order; factory-bad blocks have none. The blocks with one index on the planes of a lane form one extent.
//! On a drive whose blocks can fail, a table maps indices to blocks, because a spare block takes over the index of a
//! block that has grown bad.

use super::config::GeometryConfig;
use super::faults::config::{FaultConfig, FaultKind};
use crate::address::BlockId;
use crate::containers::big::prefetch;
use crate::containers::bits;
use serde::{Deserialize, Serialize};
use tailcut_units::Stream;

mod aged;
mod past;
mod plain;
mod records;
mod worn;

use past::Ages;
pub use past::{AgeLaw, Past};
pub use records::MOST_CYCLES;
use records::{Record, Records};
use worn::PackedWorn;
pub use worn::Worn;

/// Whether a block can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Health {
    Good,
    /// Bad from the factory.
    Bad,
    /// Grown bad: a program or an erase has failed.
    Grown,
}

/// The positions of the records of some planes of a die (a mask). The records of the die begin at `first`.
#[inline]
fn places(first: usize, planes: u32) -> impl Iterator<Item = usize> {
    bits(planes).map(move |plane| first + plane as usize)
}

/// The largest number of cycles in a [`Past`].
pub const MOST_PAST_CYCLES: u32 = 1 << 22;

/// The state of all blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Blocks {
    /// Number of blocks of a plane.
    per_plane: u32,
    /// Number of planes of a die.
    planes: u32,
    past: Past,
    /// Ages of the data in the blocks at the start of the run.
    ages: Ages,
    /// Program/erase cycles since the drive was made, by block. Empty if blocks can fail; their records then contain
    /// the cycles.
    cycles: Vec<u32>,
    /// Suspended erases, by block.
    suspensions: Vec<u32>,
    /// Whether any entry is set.
    some_suspended: bool,
    /// The result of the erases of each block, if an erase scheme chooses the pulses.
    worn: Option<Vec<PackedWorn>>,
    /// Tables that exist only if blocks can fail.
    fallible: Option<Fallible>,
}

/// Tables that exist only if blocks can fail.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fallible {
    /// By block.
    health: Vec<Health>,
    /// By die, index and plane, so that the records of a multi-plane operation are adjacent.
    records: Records,
    /// In the same order: when the first page since the erase was programmed, ns, if that was in this run.
    programmed: Vec<u64>,
    /// Whether any entry is set.
    some_programmed: bool,
    /// In the same order: the number of the block in its plane; `u32::MAX` if the index has no block.
    numbers: Vec<u32>,
    /// Whether every index in use has the block with the same number. `numbers` is then not read.
    in_place: bool,
    /// Until when the entries for plain reads are valid, ns.
    plain_until: u64,
    /// By plane: the spare blocks (good, erased and without an index), with their program/erase cycles.
    spares: Vec<Vec<(u32, u32)>>,
}

impl Fallible {
    /// The number, in its plane, of the block with this index, whose record is at position `at`.
    #[inline]
    fn number_of(&self, index: u32, at: usize) -> u32 {
        debug_assert_ne!(self.numbers[at], u32::MAX, "an index out of use has no block");
        if self.in_place { index } else { self.numbers[at] }
    }
}

// A block that can fail and wears takes at most 32 bytes: record, time, number, suspensions, health and wear.
const _: () = assert!(
    size_of::<Record>()
        + size_of::<u64>()
        + 2 * size_of::<u32>()
        + size_of::<Health>()
        + size_of::<PackedWorn>()
        <= 32
);

/// The state of a block that can fail, at the start of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The block.
    pub block: BlockId,
    /// Its program/erase cycles, including those before the run.
    pub cycles: u32,
    /// Its reads since its last erase, not counting this operation.
    pub reads: u32,
    /// Age of its data, ns.
    pub age: u64,
}

/// The position of a block's entry in the tables. It stands for a plane and an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPlace(u32);

/// The blocks with one index on some planes of a die. Their records are adjacent.
#[derive(Clone, Copy, Debug)]
pub struct SideBySide {
    /// The first plane of the die, counted over the drive.
    pub first: u32,
    /// Planes of the die, as a mask; at least one.
    pub planes: u32,
    /// The index.
    pub index: u32,
}

/// Numbers of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCounts {
    /// All blocks.
    pub all: u64,
    /// Bad from the factory.
    pub factory_bad: u64,
    /// Grown bad since.
    pub grown_bad: u64,
    /// Good and not part of an extent.
    pub spare: u64,
}

/// The factory-bad blocks of each plane: those drawn from the seed, and those that the configuration names.
pub fn factory_bad(g: &GeometryConfig, places: &[FaultConfig], seed: u64) -> Vec<Vec<u32>> {
    let threshold = libm::round(g.bad_blocks * 4_294_967_296.0) as u64;
    let named = |plane: u32, block: u32| {
        let is = |f: &FaultConfig| {
            f.kind == FaultKind::Bad && f.block == Some(block) && f.planes(g).start == plane
        };
        places.iter().any(is)
    };
    let any_named = places.iter().any(|f| f.kind == FaultKind::Bad);
    let of_plane = |plane: u32| -> Vec<u32> {
        if threshold == 0 && !any_named {
            return Vec::new();
        }
        let mut s = Stream::new(seed, "bad_blocks", u64::from(plane));
        let mut drawn = || threshold > 0 && s.next_u64() >> 32 < threshold;
        (0..g.blocks).filter(|&block| drawn() | (any_named && named(plane, block))).collect()
    };
    (0..g.dies() * g.planes).map(of_plane).collect()
}

impl Blocks {
    /// Create the tables for `dies` dies with `planes` planes of `per_plane` new blocks each.
    pub fn new(dies: u32, planes: u32, per_plane: u32) -> Blocks {
        let count = dies as usize * planes as usize * per_plane as usize;
        let past = Past::default();
        let (cycles, suspensions) = (vec![0; count], vec![0; count]);
        Blocks {
            per_plane,
            planes,
            past,
            ages: Ages::default(),
            cycles,
            suspensions,
            some_suspended: false,
            worn: None,
            fallible: None,
        }
    }

    /// The position of the first record of an index, in the die whose first plane is `first`.
    #[inline]
    fn side_by_side(&self, first: u32, index: u32) -> usize {
        debug_assert!(index < self.per_plane && first.is_multiple_of(self.planes));
        (first * self.per_plane + index * self.planes) as usize
    }

    /// The planes of a die, as a mask.
    #[inline]
    fn all_planes(&self) -> u32 {
        u32::MAX >> (u32::BITS - self.planes)
    }

    /// The position of the record of the block at an index of a plane.
    #[inline]
    fn record_at(&self, plane: u32, index: u32) -> usize {
        // A division would take as long as all the rest.
        let in_die =
            if self.planes.is_power_of_two() { plane & (self.planes - 1) } else { plane % self.planes };
        self.side_by_side(plane - in_die, index) + in_die as usize
    }

    /// Set the past of every block. The seed decides the age of each block's data.
    pub fn with_past(self, past: Past, seed: u64) -> Blocks {
        Blocks { past, ages: Ages::new(&past, seed), ..self }
    }

    /// The past of every block.
    pub fn past(&self) -> Past {
        self.past
    }

    /// Allow blocks to fail. `bad` lists the factory-bad blocks of each plane. `used` gives the number of indices of
    /// each plane that extents use; further good blocks are spares.
    pub fn let_fail(&mut self, bad: &[Vec<u32>], used: impl Fn(u32) -> u32) {
        let count = std::mem::take(&mut self.cycles).len();
        let mut f = Fallible {
            health: vec![Health::Good; count],
            records: Records::new(Record::erased(self.past.cycles), count),
            numbers: vec![u32::MAX; count],
            in_place: true,
            programmed: vec![0; count],
            some_programmed: false,
            plain_until: 0,
            spares: Vec::with_capacity(bad.len()),
        };
        for (plane, bad) in (0..).zip(bad) {
            let first = plane * self.per_plane;
            for &block in bad {
                f.health[(first + block) as usize] = Health::Bad;
            }
            let is_good = |&block: &u32| f.health[(first + block) as usize] == Health::Good;
            let good: Vec<u32> = (0..self.per_plane).filter(is_good).collect();
            let (used, spare) = good.split_at(used(plane) as usize);
            for (index, &block) in (0..).zip(used) {
                f.numbers[self.record_at(plane, index)] = block;
                f.in_place &= block == index;
            }
            // The spare with the lowest number is taken first.
            f.spares.push(spare.iter().rev().map(|&block| (block, self.past.cycles)).collect());
        }
        self.fallible = Some(f);
    }

    /// Allow blocks to fail, on a drive where the index of each block is its number and no block is a spare. `bad`
    /// lists the factory-bad blocks of each plane.
    pub fn let_fail_in_place(&mut self, bad: &[Vec<u32>]) {
        let none = vec![Vec::new(); bad.len()];
        let all = self.per_plane;
        self.let_fail(&none, |_| all);
        for (plane, bad) in (0..).zip(bad) {
            for &block in bad {
                let f = self.fallible.as_mut().expect("it was made just now");
                f.health[(plane * all + block) as usize] = Health::Bad;
            }
        }
    }

    /// The block at an index of a plane. Planes are numbered over the whole drive: by channel, die and plane.
    #[inline]
    pub fn id(&self, plane: u32, index: u32) -> BlockId {
        debug_assert!(index < self.per_plane);
        let first = plane * self.per_plane;
        match &self.fallible {
            None => BlockId(first + index),
            Some(f) => BlockId(first + f.number_of(index, self.record_at(plane, index))),
        }
    }

    /// The position of the block at an index of a plane.
    #[inline]
    pub fn place(&self, plane: u32, index: u32) -> BlockPlace {
        match self.fallible {
            None => BlockPlace(plane * self.per_plane + index),
            Some(_) => BlockPlace(self.record_at(plane, index) as u32),
        }
    }

    /// Count an erase of a block.
    #[inline]
    pub fn erased(&mut self, BlockPlace(at): BlockPlace) {
        let Some(f) = &mut self.fallible else {
            self.cycles[at as usize] += 1;
            return;
        };
        let record = &mut f.records[at as usize];
        *record = Record::erased(record.cycles() + 1);
    }

    /// The state at `now` of the block at an index of a plane. Blocks of this drive can fail.
    #[inline(always)]
    pub fn finds(&self, plane: u32, index: u32, now: u64) -> Found {
        let (f, at) = (self.fallible(), self.record_at(plane, index));
        let block = BlockId(plane * self.per_plane + f.number_of(index, at));
        let record = f.records[at];
        let (age, before) = match record.is_of_before() {
            true => (now.saturating_add(self.ages.of(block)), self.past.reads),
            false => (now - f.programmed[at], 0),
        };
        Found { block, cycles: record.cycles(), reads: before.saturating_add(record.reads), age }
    }

    /// The tables of blocks that can fail.
    #[inline(always)]
    fn fallible(&self) -> &Fallible {
        self.fallible.as_ref().expect("only blocks that can fail are looked up here")
    }

    /// See [`Blocks::fallible`].
    #[inline(always)]
    fn fallible_mut(&mut self) -> &mut Fallible {
        self.fallible.as_mut().expect("only blocks that can fail are looked up here")
    }

    /// Number of blocks.
    pub fn count(&self) -> usize {
        self.suspensions.len()
    }

    /// Age at `now`, ns, of the data in the block at an index of a plane. Blocks of this drive can fail.
    pub fn age(&self, plane: u32, index: u32, now: u64) -> u64 {
        self.finds(plane, index, now).age
    }

    /// Note that a page of the block at an index of a plane was programmed at `now`. Returns the state before. Blocks
    /// of this drive can fail.
    #[inline]
    pub fn programmed(&mut self, plane: u32, index: u32, now: u64) -> Found {
        let (found, at) = (self.finds(plane, index, now), self.record_at(plane, index));
        let f = self.fallible_mut();
        let record = &mut f.records[at];
        if record.is_of_before() {
            record.begin();
            f.programmed[at] = now;
            f.some_programmed = true;
        }
        found
    }

    /// Count a read, which ends at `now`, of the block at an index of a plane. Returns the state before. Blocks of this
    /// drive can fail.
    #[inline]
    pub fn read(&mut self, plane: u32, index: u32, now: u64) -> Found {
        let (found, at) = (self.finds(plane, index, now), self.record_at(plane, index));
        self.fallible_mut().records[at].count_read();
        found
    }

    /// Count a read of each of these blocks. Blocks of this drive can fail.
    #[inline]
    pub(crate) fn count_reads(&mut self, blocks: SideBySide) {
        self.each_record(blocks, Record::count_read);
    }

    /// Undo [`Blocks::count_reads`].
    pub(crate) fn uncount_reads(&mut self, blocks: SideBySide) {
        self.each_record(blocks, |record| record.reads -= 1);
    }

    #[inline(always)]
    fn each_record(&mut self, blocks: SideBySide, mut f: impl FnMut(&mut Record)) {
        let SideBySide { first, planes, index } = blocks;
        let (at, last, all) = (self.side_by_side(first, index), planes.ilog2(), planes == self.all_planes());
        let in_die = self.planes;
        let fallible = self.fallible_mut();
        if planes == 1 << last {
            return f(&mut fallible.records[at + last as usize]);
        }
        if all && let Some(group) = fallible.records.group_mut(at, in_die) {
            return group.iter_mut().for_each(f);
        }
        places(at, planes).for_each(|place| f(&mut fallible.records[place]));
    }

    /// Program/erase cycles of a block, including those before the run.
    #[inline]
    pub fn cycles_at(&self, BlockPlace(at): BlockPlace) -> u32 {
        match &self.fallible {
            Some(f) => f.records[at as usize].cycles(),
            None => self.past.cycles + self.cycles[at as usize],
        }
    }

    /// Count a suspension of a block's erase. (The entry for plain reads may stay: the end of the erase clears it, and
    /// the block is not read before that.)
    #[inline]
    pub fn suspended(&mut self, block: BlockId) {
        self.suspensions[block.index()] += 1;
        self.some_suspended = true;
    }

    /// Prefetch the records of these blocks into the processor's caches, if blocks can fail.
    #[inline]
    pub fn prefetch(&self, SideBySide { first, planes, index }: SideBySide) {
        if let Some(f) = &self.fallible {
            let beside = self.side_by_side(first, index);
            let (first, last) = (beside + planes.trailing_zeros() as usize, beside + planes.ilog2() as usize);
            f.records.prefetch(first, last);
            if f.some_programmed {
                // Most reads need only the entry of their last block.
                prefetch(&f.programmed, last);
            }
            if !f.in_place {
                prefetch(&f.numbers, last);
            }
        }
    }

    /// Mark a block as grown bad.
    pub fn grows_bad(&mut self, block: BlockId) {
        let health = &mut self.fallible_mut().health[block.index()];
        if *health == Health::Good {
            *health = Health::Grown;
        }
    }

    /// Whether a block is bad.
    pub fn is_bad(&self, block: BlockId) -> bool {
        self.fallible.as_ref().is_some_and(|f| f.health[block.index()] != Health::Good)
    }

    /// Whether a plane has a spare block.
    pub fn has_spare(&self, plane: u32) -> bool {
        self.fallible.as_ref().is_some_and(|f| !f.spares[plane as usize].is_empty())
    }

    /// Replace the bad block at an index of a plane by a spare block of that plane.
    ///
    /// # Panics
    /// If the plane has no spare block.
    pub fn replace(&mut self, plane: u32, index: u32) {
        let at = self.record_at(plane, index);
        let f = self.fallible_mut();
        let (spare, cycles) =
            f.spares[plane as usize].pop().expect("the caller has checked that there is a spare");
        f.records[at] = Record::erased(cycles);
        f.in_place &= spare == index;
        f.numbers[at] = spare;
    }

    /// Take an index of a plane out of use. Its block, which is erased, becomes a spare if it is good.
    pub fn retire(&mut self, plane: u32, index: u32) {
        let (at, first) = (self.record_at(plane, index), plane * self.per_plane);
        let f = self.fallible_mut();
        let (block, cycles) = (std::mem::replace(&mut f.numbers[at], u32::MAX), f.records[at].cycles());
        if f.health[(first + block) as usize] == Health::Good {
            f.spares[plane as usize].push((block, cycles));
        }
    }

    /// Suspended erases of a block.
    #[inline]
    pub(crate) fn suspensions_of(&self, block: BlockId) -> u32 {
        // Skip the look-up if there is none; it would miss the processor's caches.
        if self.some_suspended { self.suspensions[block.index()] } else { 0 }
    }

    /// Suspended erases by block.
    pub fn suspensions(&self) -> &[u32] {
        &self.suspensions
    }

    /// Numbers of blocks by health; `None` if blocks cannot fail.
    pub fn counts(&self) -> Option<BlockCounts> {
        let f = self.fallible.as_ref()?;
        let of = |health| f.health.iter().filter(|&&h| h == health).count() as u64;
        Some(BlockCounts {
            all: f.health.len() as u64,
            factory_bad: of(Health::Bad),
            grown_bad: of(Health::Grown),
            spare: f.spares.iter().map(|spares| spares.len() as u64).sum(),
        })
    }

    /// All pairs of plane and index that have a block.
    fn indices(&self) -> impl Iterator<Item = (u32, u32)> {
        let split = |at: usize| (at as u32 / self.per_plane, at as u32 % self.per_plane);
        (0..self.suspensions.len()).map(split).filter(|&(plane, index)| self.has(plane, index))
    }

    /// For each index of a plane: whether it has had the same block since the drive was made. `in_place`: the index of
    /// each block was its number at the start.
    pub fn never_replaced(&self, plane: u32, in_place: bool) -> Vec<bool> {
        let Some(f) = &self.fallible else { return vec![true; self.per_plane as usize] };
        let first = plane * self.per_plane;
        let had = |&block: &u32| in_place || f.health[(first + block) as usize] != Health::Bad;
        let mut at_first = (0..self.per_plane).filter(had);
        let now = (0..self.per_plane).map(|index| f.numbers[self.record_at(plane, index)]);
        now.map(|block| at_first.next() == Some(block)).collect()
    }

    /// Whether an index of a plane has a block, which means that its extent is not retired.
    pub fn has(&self, plane: u32, index: u32) -> bool {
        self.fallible.as_ref().is_none_or(|f| f.numbers[self.record_at(plane, index)] != u32::MAX)
    }

    /// Audit: check that each index in use has a block of its own, that no spare block is bad or in use, and that each
    /// block is spare, bad or in use. `in_use(plane, index)`: an extent uses the index.
    pub fn audit(&self, in_use: impl Fn(u32, u32) -> bool) -> Result<(), String> {
        let Some(f) = &self.fallible else { return Ok(()) };
        for (plane, spares) in (0..).zip(&f.spares) {
            let first = plane * self.per_plane;
            let mut taken = vec![false; self.per_plane as usize];
            for index in (0..self.per_plane).filter(|&index| f.in_place && self.has(plane, index)) {
                let block = f.numbers[self.record_at(plane, index)];
                law!(block == index, "block {block} of plane {plane} is not in its place, {index}");
            }
            let used = (0..self.per_plane)
                .filter(|&index| in_use(plane, index))
                .map(|index| (f.numbers[self.record_at(plane, index)], true));
            for (block, is_used) in used.chain(spares.iter().map(|&(block, _)| (block, false))) {
                law!(block < self.per_plane, "plane {plane} uses an index without a block");
                law!(!taken[block as usize], "block {block} of plane {plane} is used twice");
                taken[block as usize] = true;
                let health = f.health[(first + block) as usize];
                law!(is_used || health == Health::Good, "block {block} of plane {plane} is bad and spare");
            }
            for block in 0..self.per_plane {
                law!(
                    taken[block as usize] || f.health[(first + block) as usize] != Health::Good,
                    "block {block} of plane {plane} is good, and neither used nor spare"
                );
            }
        }
        Ok(())
    }
}
