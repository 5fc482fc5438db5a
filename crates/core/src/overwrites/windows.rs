//! The detection of steady write amplification.

/// Largest relative difference between three successive windows of a steady drive, or between two turns.
const TOLERANCE: f64 = 0.02;
/// Largest relative difference of the turns that begin between these two.
const TOLERANCE_BETWEEN: f64 = 0.05;
/// Number of windows in a *turn*, in which the raw capacity is programmed once.
const A_TURN: usize = 10;

/// Windows of a pass of overwrites, equal in programs.
#[derive(Clone, Debug)]
pub struct Windows {
    /// Programs of a window.
    length: u64,
    /// Whether only whole turns are compared. The data that one turn has written are collected in the next one, so
    /// write amplification oscillates with the share of hot data written one turn ago. Windows within a turn can agree
    /// by chance.
    by_turns: bool,
    /// Units written by users, and programs, at the start of the window.
    start: (u64, u64),
    amplifications: Vec<f64>,
}

impl Windows {
    /// Windows of a drive of `raw` units.
    pub fn new(raw: u64, by_turns: bool) -> Windows {
        Windows { length: (raw / A_TURN as u64).max(1), by_turns, start: (0, 0), amplifications: Vec::new() }
    }

    /// Limit a window to this number of programs.
    pub fn shorten(&mut self, most: u64) {
        self.length = self.length.min(most);
    }

    /// Typical number of programs of a pass on a full drive of `raw` units.
    pub fn typical(&self, raw: u64) -> f64 {
        (if self.by_turns { 4.0 } else { 2.5 }) * raw as f64
    }

    /// Programs of a pass that begins near the steady state: three windows.
    pub fn least(&self) -> f64 {
        3.0 * self.length as f64
    }

    /// Whether the window ends after this number of programs.
    #[inline]
    pub fn is_over(&self, programs: u64) -> bool {
        programs - self.start.1 >= self.length
    }

    /// End a window. `users` and `programs` are the units programmed for users and in all so far. Returns whether the
    /// last windows agree: three of them, or those of two turns.
    pub fn end(&mut self, users: u64, programs: u64) -> bool {
        let written = (users - self.start.0).max(1);
        self.amplifications.push((programs - self.start.1) as f64 / written as f64);
        self.start = (users, programs);
        let [.., a, b, c] = self.amplifications[..] else { return false };
        if self.by_turns { self.turns_agree() } else { agree([a, b, c], TOLERANCE) }
    }

    /// Whether the last two turns agree and, less strictly, the turns that begin at each window between them. (Two
    /// turns alone can agree by chance.)
    fn turns_agree(&self) -> bool {
        let Some(first) = self.amplifications.len().checked_sub(2 * A_TURN) else { return false };
        let turns = || self.amplifications[first..].windows(A_TURN).map(mean);
        agree(turns().step_by(A_TURN), TOLERANCE) && agree(turns(), TOLERANCE_BETWEEN)
    }

    /// Write amplification over the last three windows, or over the last turn; over the whole pass if no window is over.
    pub fn amplification(&self, users: u64, programs: u64) -> f64 {
        let count = if self.by_turns { A_TURN } else { 3 };
        let last = &self.amplifications[self.amplifications.len().saturating_sub(count)..];
        if last.is_empty() {
            return programs as f64 / users.max(1) as f64;
        }
        mean(last)
    }
}

/// Whether the values differ by at most this share of the smallest.
fn agree(values: impl IntoIterator<Item = f64>, tolerance: f64) -> bool {
    let ends = |(least, most): (f64, f64), v: f64| (least.min(v), most.max(v));
    let (least, most) = values.into_iter().fold((f64::MAX, 0.0), ends);
    most - least <= tolerance * least
}

/// The mean of windows. It is the harmonic mean, because the windows have equal numbers of programs.
fn mean(windows: &[f64]) -> f64 {
    windows.len() as f64 / windows.iter().map(|w| 1.0 / w).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// End windows with these amplifications. Returns after which one the drive is steady, and the result.
    fn steady_after(by_turns: bool, amplifications: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
        let mut w = Windows::new(1_000, by_turns);
        let (mut users, mut programs) = (0.0, 0);
        for (i, amplification) in amplifications.enumerate() {
            programs += 100;
            users += 100.0 / amplification;
            assert!(w.is_over(programs));
            if w.end(users as u64, programs) {
                return Some((i + 1, w.amplification(users as u64, programs)));
            }
        }
        None
    }

    #[test]
    fn three_windows_or_two_turns_agree() {
        let rising = || [1.0, 2.0, 2.5].into_iter().chain(std::iter::repeat_n(2.5, 40));
        let (windows, amplification) = steady_after(false, rising()).expect("it is steady");
        assert!(windows == 5 && (amplification - 2.5).abs() < 1e-9, "{windows} windows: {amplification}");
        let (windows, amplification) = steady_after(true, rising()).expect("it is steady");
        assert!(windows > 20 && (amplification - 2.5).abs() < 0.05, "{windows} windows: {amplification}");
        // Three windows of a wave agree at its top, and its turns do not while it falls.
        let falling = |i: u32| 2.5 + 2.5 * 0.97f64.powi(i as i32);
        assert_eq!(steady_after(true, (0..25).map(falling)), None);
    }
}
