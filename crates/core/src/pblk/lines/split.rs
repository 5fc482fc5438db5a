//! Hot and cold lines: the LUNs of each kind, the free chunks of each kind, and the order of lines.

use super::{LineSize, Lines, LunRange, State};
use crate::pblk::ring::Heat;
use serde::{Deserialize, Serialize};

/// The boundary between hot and cold lines.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Split {
    /// Number of LUN positions of hot lines that are taken from now on, in whole strides.
    pub hot: u32,
    /// Number of LUN positions in use.
    pub used: u32,
    /// Members of a stride.
    pub width: u32,
}

impl Lines {
    /// Which kind a line is.
    #[inline]
    pub fn heat(&self, line: u32) -> Heat {
        if line < self.indexes { Heat::Hot } else { Heat::Cold }
    }

    /// The chunk index of a line.
    #[inline]
    pub fn index(&self, line: u32) -> u32 {
        if line < self.indexes { line } else { line - self.indexes }
    }

    /// The boundary between hot and cold lines now, if there are cold lines.
    #[inline]
    pub fn split(&self) -> Option<Split> {
        self.split
    }

    /// The line that has the chunk of an index on a LUN position.
    #[inline]
    pub fn line_at(&self, index: u32, position: u32) -> u32 {
        let is_cold = self.split.is_some() && self.all[(self.indexes + index) as usize].luns.has(position);
        if is_cold { self.indexes + index } else { index }
    }

    /// Take the line of a kind that has been free the longest, to erase and write it. If there are cold lines, lines
    /// that fit the present boundary come first. `size` gives the capacity of a line on given LUNs. A line that
    /// `size` refuses stays free.
    pub fn take(
        &mut self,
        heat: Heat,
        size: impl Fn(&Lines, u32, LunRange) -> Option<LineSize>,
    ) -> Option<u32> {
        let Some(split) = self.split else {
            let line = self.free[0].pop_front()?;
            self.open(line);
            return Some(line);
        };
        let meets = |range: LunRange| match heat {
            Heat::Hot => range.count == split.hot,
            Heat::Cold => range.from == split.hot,
        };
        for any in [false, true] {
            for _ in 0..self.free[heat as usize].len() {
                let line = self.free[heat as usize].pop_front()?;
                let range = self.range_of(&split, line);
                if range.count > 0
                    && (any || meets(range))
                    && let Some(size) = size(self, line, range)
                {
                    self.all[line as usize].take_size(&size);
                    self.open(line);
                    self.recount();
                    return Some(line);
                }
                self.free[heat as usize].push_back(line);
            }
        }
        None
    }

    /// Remove the LUNs of a line that is free or out of use, if there are cold lines.
    pub(super) fn let_go(&mut self, line: u32) {
        if let Some(split) = self.split {
            let none = LunRange { from: split.used, count: 0 };
            let hot = self.heat(line) == Heat::Hot;
            self.all[line as usize].luns = if hot { LunRange::default() } else { none };
        }
    }

    /// The LUN positions that a free line would get if it were taken now: all that the other line of its chunk index
    /// leaves. If both lines are free, the present boundary applies.
    fn range_of(&self, split: &Split, line: u32) -> LunRange {
        let index = self.index(line);
        match self.heat(line) {
            Heat::Hot => {
                let cold = self.all[(self.indexes + index) as usize].luns;
                LunRange { from: 0, count: if cold.count > 0 { cold.from } else { split.hot } }
            }
            Heat::Cold => {
                let hot = self.all[index as usize].luns;
                let from = if hot.count > 0 { hot.end() } else { split.hot };
                LunRange { from, count: split.used - from }
            }
        }
    }

    /// Free chunks of each kind, including those of lines whose metadata at the start are not on flash yet.
    pub fn free_of_kinds(&self) -> [u32; 2] {
        let Some(split) = &self.split else { return [self.free_chunks, 0] };
        let mut free = [0; 2];
        for (line, l) in (0..).zip(&self.all) {
            free[self.heat(line) as usize] += match l.state {
                State::Free => {
                    let range = self.range_of(split, line);
                    let index = self.index(line);
                    match self.bad.is_empty() {
                        true => range.count,
                        false => {
                            let good = |&position: &u32| !self.is_chunk_bad(index, position);
                            (range.from..range.end()).filter(good).count() as u32
                        }
                    }
                }
                State::Lost => l.chunks,
                State::Open if !l.begun => l.chunks,
                State::Open | State::Closed | State::Victim | State::Bad => 0,
            };
        }
        free
    }

    /// Count the free chunks again, if there are cold lines.
    pub(super) fn recount(&mut self) {
        if self.split.is_some() {
            self.free_chunks = self.free_of_kinds().iter().sum();
        }
    }

    /// Move the boundary of lines that are taken from now on.
    pub fn set_split(&mut self, hot: u32) {
        if let Some(split) = &mut self.split {
            split.hot = hot;
            self.recount();
        }
    }

    /// A cold line is opened while a hot line is open.
    pub fn begins_beside(&mut self, cold: u32, hot: u32) {
        let sequence = self.all[hot as usize].sequence;
        self.all[cold as usize].sequence = sequence;
    }

    /// The order in which the data of a later line replace those of an earlier one. A cold line comes before the hot
    /// line that was open when the cold line was opened, and after all lines that were closed by then. A sector may
    /// only move to a later line.
    pub fn order(&self, line: u32) -> (u64, bool, u64) {
        let l = &self.all[line as usize];
        (l.sequence, self.heat(line) == Heat::Hot, l.minor)
    }
}
