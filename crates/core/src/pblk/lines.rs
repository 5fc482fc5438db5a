//! The states of lines, and the lists on which closed lines wait for collection.
//!
//! A line is free, then open, then closed, then a victim, and then free again. Lines are used in the order in which
//! they were freed. There is no other wear levelling. All data sectors of a line count as valid before they are
//! written. A line is freed when it has no references: no sector of it is in the ring, no read of it is outstanding,
//! and collection has moved its valid sectors.
//!
//! With hot and cold lines a chunk index has two lines. The hot line has the first LUN positions, and the cold line
//! has the last ones. The boundary is chosen when a line is taken, so that later lines can have more LUNs or fewer.

mod split;

use super::ring::Heat;
use crate::containers::NONE;
use crate::containers::list::{Link, List};
use serde::{Deserialize, Serialize};
pub use split::Split;
use std::collections::VecDeque;

/// The state of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It holds no data. Its chunks are erased before they are written, except on a new device.
    Free,
    /// It is being erased or written.
    Open,
    /// All of it is on flash.
    Closed,
    /// Collection moves its sectors, or has moved them.
    Victim,
    /// It has too few good chunks.
    Bad,
    /// The metadata at its start could not be programmed. As in Linux, the rate limiter still counts its chunks as
    /// free.
    Lost,
}

/// The lists of closed lines, in the order in which victims are chosen. No victim comes from the last list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Group {
    /// A program of the line has failed.
    WriteError,
    /// No sector is valid.
    Full,
    /// Less than a quarter of the sectors is valid.
    High,
    /// Less than half of the sectors is valid.
    Mid,
    /// Half of the sectors or more are valid, but not all that the line can hold.
    Low,
    /// All sectors that the line can hold are valid.
    Empty,
}

impl Group {
    const COUNT: usize = 6;
    /// The lists from which victims are chosen for space, in order.
    pub const FOR_SPACE: [Group; 4] = [Group::WriteError, Group::High, Group::Mid, Group::Low];
}

/// A line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Its state.
    pub state: State,
    /// The order in which lines were taken for writing. A cold line has the number of the hot line that was open when
    /// the cold line was opened.
    pub sequence: u64,
    /// For a cold line: its order among cold lines.
    minor: u64,
    /// Its LUN positions. A free line has none if there are hot and cold lines.
    pub luns: LunRange,
    /// Write units of the metadata at its end.
    pub metadata: u32,
    /// Sectors on its LUNs, bad chunks and metadata included.
    pub sectors: u32,
    /// Whether the metadata at its start are on flash. Until then its chunks count as free.
    pub begun: bool,
    /// Sectors that count as valid.
    pub valid: u32,
    /// Sectors of data that it can hold, without metadata and bad chunks.
    pub capacity: u32,
    /// Number of good chunks.
    pub chunks: u32,
    /// The first write unit after the metadata at its start.
    pub start: u32,
    /// The first write unit of the metadata at its end. An earlier unit on a bad chunk is possible.
    pub end: u32,
    /// `end` of the line while no chunk is given up.
    whole_end: u32,
    /// References that keep it from being freed: one until its collection ends, sectors in the ring, reads, and
    /// sectors that move.
    pub references: u32,
    /// Sectors that are mapped to it and whose ring slots are not reused yet.
    pub in_ring: u32,
    /// Whether a program of the line has failed.
    pub write_error: bool,
    /// Number of stripes before the first failed program. Only these have valid parity.
    pub sound: u32,
    /// Whether collection could not read one of its sectors. It is not chosen again while it has valid sectors.
    pub unreadable: bool,
    /// Whether it was never written. Its chunks then need no erase.
    pub fresh: bool,
    /// LUN positions whose chunks take no more data before their next erase, because a program there has failed.
    given_up: Vec<u32>,
    /// The list that it is on, if it is closed.
    group: Option<Group>,
    /// Whether it counts as a line with a write error: from the time when it is closed until it is free.
    counts_error: bool,
}

impl Line {
    /// Set the size of the line.
    fn take_size(&mut self, size: &LineSize) {
        (self.luns, self.sectors, self.metadata) = (size.luns, size.sectors, size.metadata);
        (self.chunks, self.capacity) = (size.chunks, size.capacity);
        (self.start, self.end, self.whole_end) = (size.start, size.end, size.end);
    }
}

/// A range of consecutive LUN positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LunRange {
    /// The first position.
    pub from: u32,
    /// Number of positions.
    pub count: u32,
}

impl LunRange {
    /// The position after the last.
    #[inline]
    pub fn end(&self) -> u32 {
        self.from + self.count
    }

    /// Whether the range contains a position.
    #[inline]
    pub fn has(&self, position: u32) -> bool {
        position.wrapping_sub(self.from) < self.count
    }
}

/// The capacity of a line by its LUNs and good chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineSize {
    /// Its LUN positions.
    pub luns: LunRange,
    /// Sectors on its LUNs.
    pub sectors: u32,
    /// Write units of the metadata at its end.
    pub metadata: u32,
    /// Number of good chunks.
    pub chunks: u32,
    /// Sectors of data that it can hold.
    pub capacity: u32,
    /// The first write unit after the metadata at its start.
    pub start: u32,
    /// The first write unit of the metadata at its end. An earlier unit on a bad chunk is possible.
    pub end: u32,
}

/// All lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lines {
    /// The hot lines by chunk index, then the cold lines, if there are any.
    all: Vec<Line>,
    indexes: u32,
    split: Option<Split>,
    /// Free lines of each kind, in the order of use.
    free: [VecDeque<u32>; 2],
    groups: [[List; Group::COUNT]; 2],
    links: Vec<Link>,
    /// Number of lines taken so far.
    taken: u64,
    /// Free chunks as the rate limiter counts them. Those of the line that is being erased count as free.
    pub free_chunks: u32,
    /// Number of lines with a write error, victims included.
    write_errors: u32,
    luns: u32,
    /// By chunk index and LUN position: whether the chunk is bad. Empty if no chunk is bad.
    bad: Vec<bool>,
}

impl Lines {
    /// Create the lines with the size of each; `None` for a line that cannot be used. `bad` gives the bad chunks by
    /// chunk index and LUN position, and is empty if there are none. With a split there are cold lines too.
    pub fn new(
        luns: u32,
        bad: Vec<bool>,
        sizes: impl Iterator<Item = Option<LineSize>>,
        split: Option<Split>,
    ) -> Lines {
        let blank = |state| Line {
            start: 0,
            end: 0,
            whole_end: 0,
            state,
            sequence: 0,
            minor: 0,
            luns: LunRange::default(),
            metadata: 0,
            sectors: 0,
            begun: false,
            valid: 0,
            capacity: 0,
            chunks: 0,
            references: 0,
            in_ring: 0,
            write_error: false,
            sound: u32::MAX,
            unreadable: false,
            fresh: true,
            given_up: Vec::new(),
            group: None,
            counts_error: false,
        };
        let state = |size: Option<LineSize>| if size.is_some() { State::Free } else { State::Bad };
        let line = |size: Option<LineSize>| {
            let mut line = blank(state(size));
            line.take_size(&size.unwrap_or_default());
            line
        };
        let mut all: Vec<Line> = sizes.map(line).collect();
        let indexes = all.len() as u32;
        if split.is_some() {
            let cold: Vec<Line> = all.iter().map(|hot| blank(hot.state)).collect();
            all.extend(cold);
        }
        let free_of = |lines: std::ops::Range<u32>| -> VecDeque<u32> {
            lines.filter(|&line| all[line as usize].state == State::Free).collect()
        };
        let free = [free_of(0..indexes), free_of(indexes..all.len() as u32)];
        let mut lines = Lines {
            free_chunks: all.iter().map(|line| line.chunks).sum(),
            groups: Default::default(),
            links: vec![Link::default(); all.len()],
            taken: 0,
            write_errors: 0,
            indexes,
            split,
            luns,
            bad,
            free,
            all,
        };
        if split.is_some() {
            (0..lines.count()).for_each(|line| lines.let_go(line));
            lines.recount();
        }
        lines
    }

    /// Whether a restored state fits a drive with this number of chunk indexes and LUNs.
    pub fn fits(&self, indexes: u32, luns: u32, split: bool) -> bool {
        let chunks = (indexes as usize) * (luns as usize);
        let kinds = 1 + u32::from(split);
        self.all.len() as u32 == indexes * kinds
            && self.indexes == indexes
            && self.split.is_some() == split
            && self.split.is_none_or(|s| s.hot <= s.used && s.used <= luns && s.width > 0)
            && self.links.len() == self.all.len()
            && self.luns == luns
            && (self.bad.is_empty() || self.bad.len() == chunks)
            && self.all.iter().all(|line| line.luns.from <= luns && line.luns.count <= luns - line.luns.from)
            && self.all.iter().flat_map(|line| &line.given_up).all(|&position| position < luns)
    }

    /// Whether a line has no good chunk on a LUN position: the chunk is bad, or it belongs to the other line.
    #[inline]
    pub fn is_bad(&self, line: u32, position: u32) -> bool {
        match self.split {
            None => self.is_chunk_bad(line, position),
            Some(_) => {
                let own = self.all[line as usize].luns.has(position);
                !own || self.is_chunk_bad(self.index(line), position)
            }
        }
    }

    /// Whether a chunk is bad.
    #[inline]
    pub fn is_chunk_bad(&self, index: u32, position: u32) -> bool {
        !self.bad.is_empty() && self.bad[(index * self.luns + position) as usize]
    }

    /// Whether any chunk is bad.
    pub fn some_bad(&self) -> bool {
        !self.bad.is_empty()
    }

    /// The number of bad chunks of an index.
    pub fn bad_of(&self, index: u32) -> u32 {
        (0..self.luns).filter(|&position| self.is_chunk_bad(index, position)).count() as u32
    }

    /// Number of chunk indexes.
    pub fn indexes(&self) -> u32 {
        self.indexes
    }

    /// The first write unit of a line, from this one on, whose chunk takes data. There must be one.
    #[inline]
    pub fn unit_from(&self, line: u32, mut unit: u32) -> u32 {
        let given_up = &self.all[line as usize].given_up;
        if self.bad.is_empty() && given_up.is_empty() && self.split.is_none() {
            return unit;
        }
        let skips = |position| self.is_bad(line, position) || given_up.contains(&position);
        while skips(unit % self.luns) {
            unit += 1;
        }
        unit
    }

    /// Whether the chunk of a line on a LUN position is given up until its next erase.
    pub fn has_given_up(&self, line: u32, position: u32) -> bool {
        self.all[line as usize].given_up.contains(&position)
    }

    /// Mark a chunk of a line that is being erased as bad.
    pub fn grows_bad(&mut self, line: u32, position: u32) {
        if self.bad.is_empty() {
            self.bad = vec![false; (self.indexes * self.luns) as usize];
        }
        let index = self.index(line);
        self.bad[(index * self.luns + position) as usize] = true;
    }

    /// Set the size of a line that is being erased after some of its chunks have become bad.
    pub fn resize(&mut self, line: u32, size: &LineSize) {
        let l = &mut self.all[line as usize];
        debug_assert_eq!(l.state, State::Open);
        self.free_chunks -= l.chunks - size.chunks;
        l.take_size(size);
        l.valid = size.capacity;
    }

    /// Give up the rest of a chunk of the open line, if the metadata of the line still have room. `next`: the first
    /// write unit of the line that is not mapped. `metadata`: write units of the metadata at its end. `is_data` tells
    /// which LUN positions take data. Returns the units of data that the line still takes.
    pub fn give_up_if_room(
        &mut self,
        (line, position): (u32, u32),
        (next, units): (u32, u32),
        metadata: u32,
        is_data: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        self.all[line as usize].given_up.push(position);
        let takes = |lines: &Lines, unit: &u32| {
            let position = unit % lines.luns;
            !lines.is_bad(line, position) && !lines.has_given_up(line, position)
        };
        let last = |n: u32| (next..units).rev().filter(|unit| takes(self, unit)).nth(n as usize);
        let Some(end) = last(metadata - 1) else {
            self.all[line as usize].given_up.pop();
            return None;
        };
        self.all[line as usize].end = end;
        let data = (next..end).filter(|unit| takes(self, unit) && is_data(unit % self.luns));
        Some(data.count() as u32)
    }

    /// Take a line that is being erased out of use, because it has too few good chunks.
    pub fn retire(&mut self, line: u32) {
        let l = &mut self.all[line as usize];
        debug_assert_eq!(l.state, State::Open);
        (l.state, l.valid, l.references) = (State::Bad, 0, 0);
        self.free_chunks -= l.chunks;
        self.let_go(line);
        self.recount();
    }

    /// The metadata at the start of a line are on flash. Its chunks are no longer free.
    pub fn begin(&mut self, line: u32) {
        let l = &mut self.all[line as usize];
        debug_assert!(
            l.state == State::Open && !l.begun,
            "line {line} begins in state {:?}, begun before: {}",
            l.state,
            l.begun
        );
        l.begun = true;
        self.free_chunks -= l.chunks;
    }

    /// Take a line out of use, because the metadata at its start could not be programmed.
    pub fn lose(&mut self, line: u32) {
        let l = &mut self.all[line as usize];
        debug_assert_eq!(l.state, State::Open);
        (l.state, l.valid, l.references) = (State::Lost, 0, 0);
    }

    /// A line.
    #[inline]
    pub fn line(&self, line: u32) -> &Line {
        &self.all[line as usize]
    }

    /// A line, mutable. The fields on which lists depend must not change.
    #[inline]
    pub fn line_mut(&mut self, line: u32) -> &mut Line {
        &mut self.all[line as usize]
    }

    /// Number of lines, unusable ones included.
    pub fn count(&self) -> u32 {
        self.all.len() as u32
    }

    /// Number of free lines.
    pub fn free(&self) -> u32 {
        self.free.iter().map(VecDeque::len).sum::<usize>() as u32
    }

    /// Number of lines taken so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    fn open(&mut self, line: u32) {
        self.taken += 1;
        let line = &mut self.all[line as usize];
        debug_assert!(
            line.state == State::Free && line.references == 0 && line.group.is_none(),
            "a line is opened in state {:?}, with {} references, on list {:?}",
            line.state,
            line.references,
            line.group
        );
        line.state = State::Open;
        (line.sequence, line.minor) = (self.taken, self.taken);
        line.begun = false;
        line.valid = line.capacity;
        line.references = 1;
        line.write_error = false;
        line.sound = u32::MAX;
        line.unreadable = false;
        line.given_up.clear();
        line.end = line.whole_end;
    }

    /// Mark all lines as written before.
    pub fn wear_in(&mut self) {
        self.all.iter_mut().for_each(|line| line.fresh = false);
    }

    /// Close a line. All of it is on flash.
    pub fn close(&mut self, line: u32) {
        let index = self.index(line);
        debug_assert_eq!(self.line(line).state, State::Open, "line {line} is closed");
        self.all[line as usize].state = State::Closed;
        self.all[index as usize].fresh = false;
        if self.split.is_some() {
            self.all[(self.indexes + index) as usize].fresh = false;
        }
        self.file(line);
    }

    /// Put a closed line on its list. Returns whether the line has become one without valid sectors.
    fn file(&mut self, line: u32) -> bool {
        let l = &self.all[line as usize];
        debug_assert_eq!(l.state, State::Closed, "line {line} is put on a list");
        let group = if l.write_error {
            Group::WriteError
        } else if l.valid == 0 {
            Group::Full
        } else if l.valid == l.capacity {
            // Linux checks this last. With two parities, or with many bad chunks, the capacity of a line may be less
            // than half of its sectors. Such a full line would be collected again and again without gaining space.
            Group::Empty
        } else if l.valid < l.sectors / 4 {
            Group::High
        } else if l.valid < l.sectors / 2 {
            Group::Mid
        } else {
            Group::Low
        };
        if l.group == Some(group) {
            return false;
        }
        if group == Group::WriteError && !l.counts_error {
            self.all[line as usize].counts_error = true;
            self.write_errors += 1;
        }
        self.unlist(line);
        let heat = self.heat(line);
        self.groups[heat as usize][group as usize].push_back(&mut self.links, line);
        self.all[line as usize].group = Some(group);
        group == Group::Full
    }

    fn unlist(&mut self, line: u32) {
        if let Some(group) = self.all[line as usize].group.take() {
            let heat = self.heat(line);
            self.groups[heat as usize][group as usize].remove(&mut self.links, line);
        }
    }

    /// Count sectors of a line as invalid. Returns whether the line is closed and has no valid sector left.
    #[inline]
    pub fn invalidate(&mut self, line: u32, sectors: u32) -> bool {
        let l = &mut self.all[line as usize];
        debug_assert!(l.valid >= sectors, "line {line} has {} valid sectors, not {sectors}", l.valid);
        l.valid -= sectors;
        l.state == State::Closed && self.file(line)
    }

    /// Add references to a line.
    #[inline]
    pub fn refer(&mut self, line: u32, count: u32) {
        self.all[line as usize].references += count;
    }

    /// Drop references of a line. Returns whether none is left. The caller then frees the line.
    #[inline]
    pub fn release(&mut self, line: u32, count: u32) -> bool {
        let l = &mut self.all[line as usize];
        debug_assert!(
            l.references >= count && l.in_ring <= l.references,
            "{count} references to line {line} end, of {} with {} in the ring",
            l.references,
            l.in_ring
        );
        l.references -= count;
        l.references == 0
    }

    /// Number of lines with a write error, each from the time when it is closed until it is free.
    pub fn write_errors(&self) -> u32 {
        self.write_errors
    }

    /// Number of lines on a list.
    pub fn listed(&self, group: Group) -> u32 {
        self.groups.iter().map(|lists| lists[group as usize].len()).sum()
    }

    /// The first line on a list.
    pub fn first(&self, heat: Heat, group: Group) -> Option<u32> {
        Some(self.groups[heat as usize][group as usize].head()).filter(|&line| line != NONE)
    }

    /// The first line without valid sectors.
    pub fn first_full(&self) -> Option<u32> {
        Heat::ALL.into_iter().find_map(|heat| self.first(heat, Group::Full))
    }

    /// The line on a list with the smallest share of valid sectors, among those without sectors in the ring. The
    /// first of several.
    pub fn fewest_valid(&self, heat: Heat, group: Group) -> Option<u32> {
        let list = &self.groups[heat as usize][group as usize];
        let next = |&at: &u32| Some(list.after(&self.links, at)).filter(|&line| line != NONE);
        let lines = std::iter::successors(self.first(heat, group), next);
        let may = |line: &Line| line.in_ring == 0 && (!line.unreadable || line.valid == 0);
        let fewer = |&a: &u32, &b: &u32| {
            let [a, b] = [a, b].map(|line| self.line(line));
            (u64::from(a.valid) * u64::from(b.sectors)).cmp(&(u64::from(b.valid) * u64::from(a.sectors)))
        };
        lines.filter(|&line| may(self.line(line))).min_by(fewer)
    }

    /// Make a closed line a victim.
    pub fn choose(&mut self, line: u32) {
        debug_assert_eq!(self.line(line).state, State::Closed);
        self.unlist(line);
        self.all[line as usize].state = State::Victim;
    }

    /// Close a victim again with the sectors that are still valid.
    pub fn give_back(&mut self, line: u32) {
        let l = &mut self.all[line as usize];
        debug_assert!(l.state == State::Victim && l.references > 0);
        l.state = State::Closed;
        self.file(line);
    }

    /// Free a victim without references. If some of its sectors could not be read, the line is closed again, and
    /// false is returned.
    pub fn free_up(&mut self, line: u32) -> bool {
        let l = &mut self.all[line as usize];
        debug_assert!(l.state == State::Victim && l.references == 0 && l.in_ring == 0);
        if l.unreadable && l.valid > 0 {
            l.references = 1;
            l.state = State::Closed;
            self.file(line);
            return false;
        }
        l.state = State::Free;
        l.valid = 0;
        self.write_errors -= u32::from(std::mem::take(&mut l.counts_error));
        self.free_chunks += l.chunks;
        let heat = self.heat(line);
        self.free[heat as usize].push_back(line);
        self.let_go(line);
        self.recount();
        true
    }

    /// Check the lists and counts against the states of all lines.
    ///
    /// # Errors
    /// The first invariant that is violated.
    pub fn audit(&self) -> Result<(), String> {
        let mut free: Vec<u32> = self.free.iter().flatten().copied().collect();
        free.sort_unstable();
        let is = |state| (0..).zip(&self.all).filter(move |(_, l)| l.state == state).map(|(i, _)| i);
        law!(is(State::Free).eq(free.iter().copied()), "the free lines are not those on the list");
        let mut listed = Vec::new();
        for (heat, lists) in Heat::ALL.into_iter().zip(&self.groups) {
            for (number, list) in lists.iter().enumerate() {
                for line in list.walk(&self.links, "a list of lines")? {
                    let there = self.line(line).group.is_some_and(|g| g as usize == number);
                    law!(there && self.heat(line) == heat, "line {line} is misfiled");
                    listed.push(line);
                }
            }
        }
        listed.sort_unstable();
        law!(is(State::Closed).eq(listed.iter().copied()), "the closed lines are not those on lists");
        let errors = self.all.iter().filter(|l| l.counts_error).count() as u32;
        law!(errors == self.write_errors, "{errors} lines have a write error, not {}", self.write_errors);
        for (i, l) in self.all.iter().enumerate() {
            law!(l.valid <= l.capacity, "line {i} has {} valid sectors of {}", l.valid, l.capacity);
            law!(
                l.in_ring <= l.references,
                "line {i}: {} sectors in the ring, {} references",
                l.in_ring,
                l.references
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> Lines {
        let luns = LunRange { from: 0, count: 4 };
        let size = LineSize { luns, sectors: 100, metadata: 1, chunks: 4, capacity: 90, start: 1, end: 10 };
        Lines::new(4, Vec::new(), std::iter::repeat_n(Some(size), count), None)
    }

    fn take(l: &mut Lines) -> Option<u32> {
        l.take(Heat::Hot, |_, _, _| None)
    }

    /// Take a line and close it.
    fn close(l: &mut Lines) -> u32 {
        let line = take(l).expect("a free line");
        l.close(line);
        line
    }

    #[test]
    fn lines_are_used_in_the_order_in_which_they_were_freed() {
        let mut l = lines(4);
        let used = [close(&mut l), close(&mut l), close(&mut l)];
        assert_eq!(used, [0, 1, 2]);
        for line in [1, 0] {
            l.invalidate(line, 90);
            l.choose(line);
            assert!(l.release(line, 1));
            l.free_up(line);
        }
        assert_eq!([(); 4].map(|()| take(&mut l)), [Some(3), Some(1), Some(0), None]);
        assert_eq!(l.line(0).sequence, 6);
        l.audit().expect("sound");
    }

    #[test]
    fn closed_lines_are_filed_by_their_valid_sectors() {
        let mut l = lines(2);
        let line = close(&mut l);
        let group = |l: &Lines| l.line(line).group;
        assert_eq!(group(&l), Some(Group::Empty));
        for (less, then) in
            [(1, Group::Low), (39, Group::Low), (1, Group::Mid), (25, Group::High), (23, Group::High)]
        {
            assert!(!l.invalidate(line, less));
            assert_eq!(group(&l), Some(then), "{} are valid", l.line(line).valid);
        }
        assert!(l.invalidate(line, 1), "nothing is valid");
        assert_eq!((group(&l), l.first_full()), (Some(Group::Full), Some(line)));
        l.audit().expect("sound");
    }

    /// Collecting a line whose sectors are all valid gains nothing, even if parity takes more than half of the line.
    #[test]
    fn a_full_line_that_holds_little_is_not_collected_for_space() {
        let luns = LunRange { from: 0, count: 4 };
        let size = LineSize { luns, sectors: 100, metadata: 1, chunks: 4, capacity: 40, start: 1, end: 10 };
        let mut l = Lines::new(4, Vec::new(), std::iter::repeat_n(Some(size), 1), None);
        let line = close(&mut l);
        assert_eq!(l.line(line).group, Some(Group::Empty));
        l.invalidate(line, 1);
        assert_eq!(l.line(line).group, Some(Group::Mid));
    }

    /// If a chunk is given up, the metadata at the end move. In the next use of the line they are back at their
    /// place.
    #[test]
    fn the_end_of_a_line_is_that_of_its_chunks() {
        let mut l = lines(1);
        let line = take(&mut l).expect("a free line");
        assert_eq!(l.give_up_if_room((line, 3), (2, 12), 2, |_| true), Some(5));
        assert_eq!(l.line(line).end, 9);
        l.close(line);
        l.invalidate(line, 90);
        l.choose(line);
        assert!(l.release(line, 1));
        l.free_up(line);
        assert_eq!((take(&mut l), l.line(line).end), (Some(line), 10));
        assert!(!l.has_given_up(line, 3));
    }

    #[test]
    fn lines_with_sectors_in_the_ring_are_no_victims() {
        let mut l = lines(3);
        let (a, b) = (close(&mut l), close(&mut l));
        l.invalidate(a, 30);
        l.invalidate(b, 20);
        l.line_mut(a).in_ring = 1;
        assert_eq!(l.fewest_valid(Heat::Hot, Group::Low), Some(b));
        l.line_mut(a).in_ring = 0;
        assert_eq!(l.fewest_valid(Heat::Hot, Group::Low), Some(a));
    }
}
