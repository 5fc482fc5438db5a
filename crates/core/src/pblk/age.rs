//! Ages a drive in zero time. Ageing uses the same ring, rate limiter, lists and writer as a run; only the device and
//! the link take no time.
//!
//! As in a run, the rate limiter admits each sector to the ring. When ageing ends, all sectors are on the device. The
//! ring keeps its mix of sectors of users and of collection, and a run continues with this mix.

use super::array::{MOST_VECTOR, SECTOR};
use super::drive::Pblk;
use super::lines::Lines;
use super::ring::Heat;
use super::shape::Shape;
use crate::address::Lpn;
use crate::figures::{AgeReport, Until};
use crate::ftl::map::{Map, Mapping};
use crate::medium::Medium;
use crate::observer::Observer;
use crate::overwrites::{self, BATCH, Windows};
use std::ops::Range;
use tailcut_units::{Command, Stream};

/// Ageing stops without a steady state after it has programmed this multiple of the raw capacity.
const BOUND: u64 = 12;
/// Progress is reported after this many programs.
const TELL: u64 = 1 << 18;

/// The number of sectors by which the prefetch of a victim's map entries is ahead.
const AHEAD: u32 = 16;

/// A victim whose valid sectors ageing moves.
struct Source {
    line: u32,
    /// The next sector to look at.
    at: u32,
}

/// Returns the next valid sector of a victim.
#[inline]
fn next_valid((map, shape, lines): (&Map, &Shape, &Lines), victim: &Source) -> Option<u32> {
    let (base, mut at) = (shape.unit_start(victim.line, 0), victim.at);
    while at < shape.line_sectors {
        let count = (shape.line_sectors - at).min(64);
        let bits = map.valid_mask(base + at, count);
        if bits == 0 {
            at += count;
            continue;
        }
        at += bits.trailing_zeros();
        if shape.hot_cold.is_none() || shape.line_of(lines, base + at) == victim.line {
            return Some(at);
        }
        // This write unit belongs to the other line of the chunk index.
        at = (at / shape.array.write_unit + 1) * shape.array.write_unit;
    }
    None
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Write the first `bytes` of the host's address space once, in order, at time 0. The drive must be new.
    pub fn fill(&mut self, bytes: u64) {
        assert_eq!(self.map.state.filled, 0, "a drive is filled once, when new");
        let sectors = ((bytes / SECTOR) as u32).min(self.shape.sectors);
        if self.state.lines.some_bad() {
            let mut source = None;
            (0..sectors).for_each(|lpn| _ = self.write_user_at_once(Lpn(lpn), &mut source));
            self.come_to_rest(source);
            return self.data.adopted(&self.shape, &self.map, &self.state);
        }
        let mut left = sectors;
        while left > 0 {
            if self.state.writer.open_is_full() {
                assert!(self.begin_line_at_once(Heat::Hot), "the capacity leaves free lines");
            }
            let (first, room) = self.state.writer.open_room(&self.shape);
            let count = room.min(left);
            self.map.set_valid_range(first, count);
            self.fill_open(count);
            self.write_parity_at_once();
            left -= count;
        }
        self.map.filled(sectors);
        self.data.adopted(&self.shape, &self.map, &self.state);
    }

    /// Overwrite at random, uniformly, in units of `bytes` inside `region`, in zero time. No operation may be
    /// outstanding. `progress` is called with an approximate fraction. Ageing stops when it returns false.
    pub fn overwrite_uniform(
        &mut self,
        until: Until,
        region: &Range<u64>,
        bytes: u32,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> AgeReport {
        // A second call on the same drive must not write the same addresses again.
        let stream = Stream::new(self.shape.seed, "age", self.state.lines.taken());
        match overwrites::uniform(region, bytes, (self.shape.sectors, SECTOR), stream) {
            Some(mut writes) => self.overwrite(false, until, progress, &mut writes),
            None => AgeReport::default(),
        }
    }

    /// As [`Pblk::overwrite_uniform`], with the writes among these commands, in order. An endless iterator must
    /// contain writes.
    pub fn overwrite_replay(
        &mut self,
        until: Until,
        writes: &mut impl Iterator<Item = Command>,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> AgeReport {
        let mut writes = overwrites::replayed(writes, (self.shape.sectors, SECTOR));
        self.overwrite(true, until, progress, &mut writes)
    }

    /// The loop of both overwrites. `skewed`: some sectors may be written more often than others. `next` fills a
    /// batch with sectors and returns their number.
    fn overwrite(
        &mut self,
        skewed: bool,
        until: Until,
        progress: &mut dyn FnMut(f64) -> bool,
        next: &mut dyn FnMut(&mut [Lpn; BATCH]) -> usize,
    ) -> AgeReport {
        let raw = u64::from(self.shape.array.lines) * u64::from(self.shape.line_sectors);
        let mut windows = Windows::new(raw, skewed || self.shape.hot_cold.is_some());
        let programs = |drive: &Self| drive.state.counters.programs();
        let (programmed, taken) = (programs(self), self.state.lines.taken());
        let (mut users, mut tell, mut steady) = (0, 0, false);
        let mut source = None;
        // The current batch and the two batches after it, beginning at `at`.
        let mut batches = [[Lpn(0); BATCH]; 3];
        let mut filled = [next(&mut batches[0]), next(&mut batches[1]), 0];
        let mut at = 0;
        'pass: while filled[at] > 0 {
            let (soon, later) = ((at + 1) % 3, (at + 2) % 3);
            filled[later] = if filled[soon] > 0 { next(&mut batches[later]) } else { 0 };
            for (i, &lpn) in batches[at][..filled[at]].iter().enumerate() {
                self.map.prefetch(batches[later][i]);
                if let Mapping::Flash(sector) = self.map.lookup(batches[soon][i]) {
                    self.map.prefetch_valid(sector);
                }
                if !self.write_user_at_once(lpn, &mut source) {
                    break 'pass;
                }
                users += 1;
            }
            at = soon;
            let done = programs(self) - programmed;
            if windows.is_over(done) {
                // Every line has been written again since the fill. Hot and cold lines need several rounds until the
                // split between them is steady.
                let turns = if self.shape.hot_cold.is_some() { 4 } else { 1 };
                let all = self.state.lines.taken() - taken >= turns * u64::from(self.shape.array.lines);
                steady = windows.end(users, done) && all;
            }
            match until {
                Until::Steady if steady || done >= BOUND * raw => break,
                Until::Erases(more) if self.state.lines.taken() - taken >= more => break,
                _ => {}
            }
            if done >= tell {
                tell = done + TELL;
                if !progress(done as f64 / windows.typical(raw)) {
                    break;
                }
            }
        }
        self.come_to_rest(source);
        self.data.adopted(&self.shape, &self.map, &self.state);
        let done = programs(self) - programmed;
        AgeReport { programs: done, waf: windows.amplification(users, done), steady, analytic: false }
    }

    /// Write a sector of a user in zero time. Before it, let collection fill its share of the ring. Returns false if
    /// the drive has no room.
    #[inline]
    fn write_user_at_once(&mut self, lpn: Lpn, source: &mut Option<Source>) -> bool {
        // Collection obeys its limit, as in a run whose users write all the time. It enters by whole requests of one
        // line, as in a run.
        while self.state.limiter.wants_gc() && (0..MOST_VECTOR).all(|_| self.move_at_once(source)) {}
        if !self.state.limiter.admits_user() {
            return false;
        }
        self.reuse_slots(1);
        self.insert_user(lpn);
        self.state.limiter.user_enters(1, 0);
        self.write_and_free()
    }

    /// Move a valid sector of a victim. Returns false if no line can be collected or if the drive has no room.
    #[inline]
    fn move_at_once(&mut self, source: &mut Option<Source>) -> bool {
        loop {
            if let Some(victim) = source {
                if self.move_of(victim) {
                    return self.write_and_free();
                }
                let line = victim.line;
                *source = None;
                self.release(line, 1);
                self.free_at_once();
                if !self.state.limiter.wants_gc() {
                    return true;
                }
            }
            let Some((_, line)) = self.choose_victim(None) else { return false };
            self.state.lines.choose(line);
            *source = Some(Source { line, at: 0 });
        }
    }

    /// Put the next valid sector of a victim into the ring. Returns whether there was one.
    #[inline]
    fn move_of(&mut self, victim: &mut Source) -> bool {
        let base = self.shape.unit_start(victim.line, 0);
        let Some(at) = next_valid((&self.map, &self.shape, &self.state.lines), victim) else { return false };
        victim.at = at + 1;
        // The entry is not needed if the sector there is not valid.
        if at + AHEAD < self.shape.line_sectors {
            self.map.prefetch(self.map.owner(base + (at + AHEAD)));
        }
        let sector = base + at;
        self.state.lines.refer(victim.line, 1);
        self.reuse_slots(1);
        self.insert_moved(self.map.owner(sector), sector);
        true
    }

    /// Recompute the limits of the rate limiter.
    pub(super) fn limits_at_once(&mut self) {
        if self.state.lines.split().is_some() {
            self.prepare_next(Heat::Hot);
        }
        let s = &mut self.state;
        // Without a next hot line users may not write.
        let no_line = s.lines.split().is_some() && !s.writer.has_next(Heat::Hot);
        let free = if no_line { 0 } else { s.lines.free_chunks };
        s.limiter.update(free, s.lines.write_errors() > 0);
    }

    /// Free the lines that have no references. Lines without valid sectors become victims at once.
    #[inline]
    fn free_at_once(&mut self) {
        while let Some(line) = self.state.lines.first_full() {
            self.state.lines.choose(line);
            self.release(line, 1);
        }
        if !self.state.released.is_empty() {
            while let Some(line) = self.state.released.pop() {
                self.state.lines.free_up(line);
            }
            self.limits_at_once();
        }
    }

    /// Write all full write units of the ring, then free lines. Returns false if no line is left to write to.
    #[inline]
    fn write_and_free(&mut self) -> bool {
        let written = self.write_at_once(false);
        if written {
            self.free_at_once();
        }
        written
    }

    /// End the ageing: write what is in the ring, and close the victim again, which a run can choose later. If its
    /// remaining valid sectors were moved now, they would fill the ring with sectors of collection.
    fn come_to_rest(&mut self, source: Option<Source>) {
        if let Some(victim) = source {
            self.state.lines.give_back(victim.line);
        }
        self.write_at_once(true);
        self.free_at_once();
        self.limits_at_once();
    }

    /// Mark all lines except those taken as written before, so that they need an erase. For tests of a drive that has
    /// not used every line yet.
    pub fn wear_in(&mut self) {
        self.state.lines.wear_in();
    }
}
