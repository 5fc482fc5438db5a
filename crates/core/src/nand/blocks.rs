//! What each block of a plane remembers.
//!
//! The blocks of a plane are addressed by *index*: that of their extent in its lane. Good blocks
//! have the indices in order, so that factory-bad blocks have none. The blocks of one index on
//! several planes are one extent. A drive whose blocks can grow bad has a table from indices to
//! blocks, since a spare block takes over the index of a bad one.

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

/// The places of the records on these planes of a die, a mask; those of the die begin at `first`.
#[inline]
fn places(first: usize, planes: u32) -> impl Iterator<Item = usize> {
    bits(planes).map(move |plane| first + plane as usize)
}

/// The most cycles of a [`Past`].
pub const MOST_PAST_CYCLES: u32 = 1 << 22;

/// Tables by block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Blocks {
    /// Number of blocks of a plane.
    per_plane: u32,
    /// Number of planes of a die.
    planes: u32,
    past: Past,
    /// The ages of the data of blocks when the run begins.
    ages: Ages,
    /// Program/erase cycles since the drive was made. Empty where blocks can fail: their records have them.
    cycles: Vec<u32>,
    /// Suspensions of erases.
    suspensions: Vec<u32>,
    /// Whether there was one.
    some_suspended: bool,
    /// What erases have made of each block, if a scheme chooses their pulses.
    worn: Option<Vec<PackedWorn>>,
    /// What blocks that can fail remember.
    fallible: Option<Fallible>,
}

/// Tables of blocks that can fail.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fallible {
    /// By block.
    health: Vec<Health>,
    /// By die, index and plane: those of a multi-plane operation lie side by side.
    records: Records,
    /// In the same order: when the first page was programmed since the erase, if that was in this run, ns.
    programmed: Vec<u64>,
    /// Whether there was one.
    some_programmed: bool,
    /// In the same order: the block in its plane; `u32::MAX`: the index has none.
    numbers: Vec<u32>,
    /// Whether each index that has a block has the block of the same number. Then `numbers` need not be read.
    in_place: bool,
    /// Until when what the records say of plain reads holds, ns.
    plain_until: u64,
    /// By plane: good blocks without an index, erased, with their program/erase cycles.
    spares: Vec<Vec<(u32, u32)>>,
}

impl Fallible {
    /// The block in its plane that an index has, whose record lies at this place.
    #[inline]
    fn number_of(&self, index: u32, at: usize) -> u32 {
        debug_assert_ne!(self.numbers[at], u32::MAX, "an index out of use has no block");
        if self.in_place { index } else { self.numbers[at] }
    }
}

// A block that can fail and wears takes at most 32 bytes: its record, time, number, suspensions, health and wear.
const _: () = assert!(
    size_of::<Record>()
        + size_of::<u64>()
        + 2 * size_of::<u32>()
        + size_of::<Health>()
        + size_of::<PackedWorn>()
        <= 32
);

/// What an operation finds at a block that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The block.
    pub block: BlockId,
    /// Its program/erase cycles so far, with those of its past.
    pub cycles: u32,
    /// Its reads since its erase, before this operation.
    pub reads: u32,
    /// Age of its data, ns.
    pub age: u64,
}

/// The place of a block: its plane and index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPlace(u32);

/// The blocks with one index on some planes of a die. Their records lie side by side.
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
    /// Good, and without an extent.
    pub spare: u64,
}

/// The factory-bad blocks of each plane: drawn from the seed, and named.
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
    /// Create tables for `dies` dies of `planes` planes of `per_plane` blocks without a past.
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

    /// Where the records of the blocks with this index begin, of the die whose first plane is `first`.
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

    /// The place of the record of the block with this index of a plane.
    #[inline]
    fn record_at(&self, plane: u32, index: u32) -> usize {
        // A division takes as long as all the rest.
        let in_die =
            if self.planes.is_power_of_two() { plane & (self.planes - 1) } else { plane % self.planes };
        self.side_by_side(plane - in_die, index) + in_die as usize
    }

    /// Give every block this past. The seed decides which block has data of which age.
    pub fn with_past(self, past: Past, seed: u64) -> Blocks {
        Blocks { past, ages: Ages::new(&past, seed), ..self }
    }

    /// What every block has behind it.
    pub fn past(&self) -> Past {
        self.past
    }

    /// Let blocks fail. `bad` has the factory-bad blocks of each plane, and `used` the number of
    /// indices of each plane that extents use.
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

    /// Let blocks fail, each of which has its number as its index. `bad` has the factory-bad blocks of
    /// each plane. No block is a spare.
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

    /// The block with this index of a plane. Planes are counted over the drive: by channel, die and
    /// plane.
    #[inline]
    pub fn id(&self, plane: u32, index: u32) -> BlockId {
        debug_assert!(index < self.per_plane);
        let first = plane * self.per_plane;
        match &self.fallible {
            None => BlockId(first + index),
            Some(f) => BlockId(first + f.number_of(index, self.record_at(plane, index))),
        }
    }

    /// The place of the block with this index of a plane.
    #[inline]
    pub fn place(&self, plane: u32, index: u32) -> BlockPlace {
        match self.fallible {
            None => BlockPlace(plane * self.per_plane + index),
            Some(_) => BlockPlace(self.record_at(plane, index) as u32),
        }
    }

    /// Count an erase of the block at a place.
    #[inline]
    pub fn erased(&mut self, BlockPlace(at): BlockPlace) {
        let Some(f) = &mut self.fallible else {
            self.cycles[at as usize] += 1;
            return;
        };
        let record = &mut f.records[at as usize];
        *record = Record::erased(record.cycles() + 1);
    }

    /// What an operation finds at `now` at the block with this index of a plane, which can fail.
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

    /// Age at `now` of the data of the block with this index of a plane, which can fail, ns.
    pub fn age(&self, plane: u32, index: u32, now: u64) -> u64 {
        self.finds(plane, index, now).age
    }

    /// Note that a page of the block with this index of a plane, which can fail, was programmed at `now`.
    /// Returns what the block was before.
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

    /// Count a read, which ends at `now`, of the block with this index of a plane, which can fail. Returns
    /// what the block was before.
    #[inline]
    pub fn read(&mut self, plane: u32, index: u32, now: u64) -> Found {
        let (found, at) = (self.finds(plane, index, now), self.record_at(plane, index));
        self.fallible_mut().records[at].count_read();
        found
    }

    /// Count a read of each of these blocks, which can fail.
    #[inline]
    pub(crate) fn count_reads(&mut self, blocks: SideBySide) {
        self.each_record(blocks, Record::count_read);
    }

    /// Take back [`Blocks::count_reads`].
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

    /// Program/erase cycles of the block at a place, with those of its past.
    #[inline]
    pub fn cycles_at(&self, BlockPlace(at): BlockPlace) -> u32 {
        match &self.fallible {
            Some(f) => f.records[at as usize].cycles(),
            None => self.past.cycles + self.cycles[at as usize],
        }
    }

    /// Count a suspension of a block's erase. (What is known of its plain reads stays: the end of the erase forgets it,
    /// and there is no read before.)
    #[inline]
    pub fn suspended(&mut self, block: BlockId) {
        self.suspensions[block.index()] += 1;
        self.some_suspended = true;
    }

    /// Ask the processor to bring what these blocks remember into its caches, if they can fail.
    #[inline]
    pub fn prefetch(&self, SideBySide { first, planes, index }: SideBySide) {
        if let Some(f) = &self.fallible {
            let beside = self.side_by_side(first, index);
            let (first, last) = (beside + planes.trailing_zeros() as usize, beside + planes.ilog2() as usize);
            f.records.prefetch(first, last);
            if f.some_programmed {
                // Of most reads only the last block is looked at.
                prefetch(&f.programmed, last);
            }
            if !f.in_place {
                prefetch(&f.numbers, last);
            }
        }
    }

    /// Note that a block has grown bad.
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

    /// Let a spare block of a plane take over an index whose block is bad.
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

    /// Take an index of a plane out of use. Its block becomes a spare if it is good; it is erased.
    pub fn retire(&mut self, plane: u32, index: u32) {
        let (at, first) = (self.record_at(plane, index), plane * self.per_plane);
        let f = self.fallible_mut();
        let (block, cycles) = (std::mem::replace(&mut f.numbers[at], u32::MAX), f.records[at].cycles());
        if f.health[(first + block) as usize] == Health::Good {
            f.spares[plane as usize].push((block, cycles));
        }
    }

    /// Erase suspensions of a block.
    #[inline]
    pub(crate) fn suspensions_of(&self, block: BlockId) -> u32 {
        // Where there is none, the look-up would miss the caches.
        if self.some_suspended { self.suspensions[block.index()] } else { 0 }
    }

    /// Erase suspensions by block.
    pub fn suspensions(&self) -> &[u32] {
        &self.suspensions
    }

    /// The numbers of blocks that can fail, by health; `None` if none can.
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

    /// The indices that have a block, with their planes.
    fn indices(&self) -> impl Iterator<Item = (u32, u32)> {
        let split = |at: usize| (at as u32 / self.per_plane, at as u32 % self.per_plane);
        (0..self.suspensions.len()).map(split).filter(|&(plane, index)| self.has(plane, index))
    }

    /// By index of a plane: whether it has had the same block since the drive was made. `in_place`: each
    /// block had its number as its index.
    pub fn never_replaced(&self, plane: u32, in_place: bool) -> Vec<bool> {
        let Some(f) = &self.fallible else { return vec![true; self.per_plane as usize] };
        let first = plane * self.per_plane;
        let had = |&block: &u32| in_place || f.health[(first + block) as usize] != Health::Bad;
        let mut at_first = (0..self.per_plane).filter(had);
        let now = (0..self.per_plane).map(|index| f.numbers[self.record_at(plane, index)]);
        now.map(|block| at_first.next() == Some(block)).collect()
    }

    /// Whether an index of a plane has a block: whether its extent is not retired.
    pub fn has(&self, plane: u32, index: u32) -> bool {
        self.fallible.as_ref().is_none_or(|f| f.numbers[self.record_at(plane, index)] != u32::MAX)
    }

    /// Audit: check that each index in use has a block of its own, that no spare is bad or in use, and
    /// that spare, bad and used blocks are all blocks. `in_use` says whether an extent uses an index.
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
