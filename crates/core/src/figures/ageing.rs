//! The overwrites that age a drive: where they end, and what they have done.

use serde::{Deserialize, Serialize};

/// The result of preconditioning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgeReport {
    /// Mapping units programmed by overwriting, collection and padding included.
    pub programs: u64,
    /// Write amplification over the last three windows; over the last turn if victims are chosen by age and writes
    /// are not uniform.
    pub waf: f64,
    /// Whether every extent was erased and three successive windows agreed within 2 %, or two successive
    /// turns (see `waf`). Otherwise the pass was stopped, or ended at its bound.
    pub steady: bool,
    /// Whether the overwrites began on extents with the valid units that theory gives, instead of
    /// full ones. Then no extent had to be erased.
    pub analytic: bool,
}

/// Where overwrites end, if their writes do not end before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When write amplification is steady.
    Steady,
    /// When so many more extents were erased.
    Erases(u64),
}

/// Windows of a pass of overwrites, equal in programs, of which three that agree say that a drive is steady.
#[derive(Clone, Debug)]
pub struct SteadyWindows {
    /// Programs of a window.
    programs: u64,
    /// Units written by users and programs at the start of the window.
    start: (u64, u64),
    amplifications: Vec<f64>,
}

impl SteadyWindows {
    /// Largest relative difference of the three windows.
    const TOLERANCE: f64 = 0.02;
    /// Windows in which the raw capacity is programmed once.
    const A_TURN: u64 = 10;

    /// Windows of a drive of `raw` units.
    pub fn new(raw: u64) -> SteadyWindows {
        SteadyWindows { programs: (raw / Self::A_TURN).max(1), start: (0, 0), amplifications: Vec::new() }
    }

    /// Whether the window is over after so many programs.
    pub fn is_over(&self, programs: u64) -> bool {
        programs - self.start.1 >= self.programs
    }

    /// End a window, after so many units of users and programs in all. Returns whether the last three agree.
    pub fn end(&mut self, users: u64, programs: u64) -> bool {
        let written = (users - self.start.0).max(1);
        self.amplifications.push((programs - self.start.1) as f64 / written as f64);
        self.start = (users, programs);
        let [.., a, b, c] = self.amplifications[..] else { return false };
        let (least, most) = (a.min(b).min(c), a.max(b).max(c));
        most - least <= Self::TOLERANCE * least
    }

    /// Write amplification over the last three windows; over the whole pass if there are fewer than one.
    pub fn amplification(&self, users: u64, programs: u64) -> f64 {
        let last = &self.amplifications[self.amplifications.len().saturating_sub(3)..];
        if last.is_empty() {
            return programs as f64 / users.max(1) as f64;
        }
        // They are equal in programs.
        last.len() as f64 / last.iter().map(|w| 1.0 / w).sum::<f64>()
    }
}
