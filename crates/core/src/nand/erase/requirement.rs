//! The total pulse time that a block needs, by scheme and program/erase cycles.
//!
//! A block keeps its quantile (class) for life: a block that needs little pulse time when fresh needs little when worn.
//! Rows exist for some numbers of cycles. Between two rows, each block switches from the total of one row to that of
//! the other at its own number of cycles. The mean is therefore linear between rows, while each single total occurs in
//! a row. Beyond the last row, all blocks gain the same number of steps, and the mean continues with the slope between
//! the last two rows.
//!
//! Some schemes leave a block incompletely erased as far as its errors allow. Their rows hold for one number of allowed
//! errors. If fewer errors are allowed, a block needs more pulse time, at most as much as for a complete erase
//! ([`Requirement::allowing`]).

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use tailcut_units::Span;
use tailcut_units::quantity::{format_time, parse_time};

/// Number of quantiles.
pub const CLASSES: u32 = 200;
/// Hundredths of a percent in the whole.
const WHOLE: u32 = 10_000;

/// The distribution of the total pulse time that blocks need under a scheme, at one number of cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The scheme's name.
    pub scheme: String,
    /// Program/erase cycles.
    pub pe_cycles: u32,
    /// Total pulse times in rising order, each with the share of the blocks that need it, in 0.01 %.
    pub totals: Vec<(Span, u32)>,
}

/// The error for a text that is not a row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no row: {problem}. Write SCHEME CYCLES: TIME SHARE, TIME SHARE, … with shares in percent that make 100, for example aero 500: 2ms 42, 2.5ms 58"
)]
pub struct RowTextError {
    text: String,
    problem: String,
}

impl Row {
    /// The number of allowed errors in the name of a row such as `aero-50`; `None` if the name has none.
    pub fn errors(&self, scheme: &str) -> Option<u32> {
        let text = self.scheme.strip_prefix(scheme)?.strip_prefix('-')?;
        text.parse().ok().filter(|errors: &u32| errors.to_string() == text)
    }
}

impl FromStr for Row {
    type Err = RowTextError;

    fn from_str(text: &str) -> Result<Row, RowTextError> {
        let fail = |problem: &str| RowTextError { text: text.to_string(), problem: problem.to_string() };
        let (head, list) = text.split_once(':').ok_or_else(|| fail("it has no colon"))?;
        let (scheme, cycles) = head.trim().split_once(' ').ok_or_else(|| fail("it has no cycles"))?;
        let pe_cycles: u32 = cycles.trim().parse().map_err(|_| fail("its cycles are no whole number"))?;
        let mut totals: Vec<(Span, u32)> = Vec::new();
        for entry in list.split(',') {
            let (time, share) =
                entry.trim().split_once(' ').ok_or_else(|| fail("an entry is not a time and a share"))?;
            let time = parse_time(time).map_err(|e| fail(&e.to_string()))?;
            let share = hundredths(share.trim()).ok_or_else(|| fail("a share is not a number up to 100"))?;
            if totals.last().is_some_and(|&(before, _)| before >= time) {
                return Err(fail("its times do not rise"));
            }
            totals.push((time, share));
        }
        if totals.iter().map(|&(_, share)| u64::from(share)).sum::<u64>() != u64::from(WHOLE) {
            return Err(fail("its shares do not make 100"));
        }
        Ok(Row { scheme: scheme.to_string(), pe_cycles, totals })
    }
}

/// A share in percent with at most two decimals, in hundredths.
fn hundredths(text: &str) -> Option<u32> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str, most: usize| {
        ((1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit()))
            .then(|| text.parse::<u32>().ok())
            .flatten()
    };
    let scale = if part.len() == 1 { 10 } else { 1 };
    let share = digits(whole, 3)? * 100 + digits(part, 2)? * scale;
    (share <= WHOLE).then_some(share)
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}:", self.scheme, self.pe_cycles)?;
        for (i, &(time, share)) in self.totals.iter().enumerate() {
            let separator = if i == 0 { "" } else { "," };
            write!(f, "{separator} {} {}", format_time(time), share / 100)?;
            match share % 100 {
                0 => {}
                n if n % 10 == 0 => write!(f, ".{}", n / 10)?,
                n => write!(f, ".{n:02}")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Row {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Row, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The pulse time that blocks need under one scheme, in steps.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Program/erase cycles of the rows, in rising order.
    cycles: Vec<u32>,
    /// Steps by row and class; they rise with both.
    steps: Vec<[u8; CLASSES as usize]>,
    /// Sum over all classes of the steps gained from the second last row to the last.
    gain: u32,
    /// Largest number of steps.
    most: u32,
}

impl Requirement {
    /// The requirements under a scheme; `None` if no row belongs to it. A step has `step` ns; an erase has at most
    /// `most` steps (255 or fewer).
    pub fn new(rows: &[Row], scheme: &str, step: u64, most: u32) -> Option<Requirement> {
        let mut own: Vec<&Row> = rows.iter().filter(|row| row.scheme == scheme).collect();
        own.sort_by_key(|row| row.pe_cycles);
        let by_class = |row: &&Row| {
            let mut steps = [0; CLASSES as usize];
            for (class, steps) in (0..).zip(&mut steps) {
                // The middle of the class.
                let at = (2 * class + 1) * WHOLE / (2 * CLASSES);
                let mut below = 0;
                let total = row.totals.iter().find(|(_, share)| {
                    below += share;
                    at < below
                });
                *steps = total.map_or(0, |(total, _)| total.0 / step) as u8;
            }
            steps
        };
        let steps: Vec<_> = own.iter().map(by_class).collect();
        let cycles = own.iter().map(|row| row.pe_cycles).collect();
        (!steps.is_empty()).then(|| Requirement::of(cycles, steps, most))
    }

    /// Requirements by row and class. A class never needs less than in the row before.
    fn of(cycles: Vec<u32>, mut steps: Vec<[u8; CLASSES as usize]>, most: u32) -> Requirement {
        let mut gain = 0;
        for row in 1..steps.len() {
            let before = steps[row - 1];
            steps[row].iter_mut().zip(before).for_each(|(now, before)| *now = before.max(*now));
            gain = sum(&steps[row]) - sum(&before);
        }
        Requirement { cycles, steps, gain, most }
    }

    /// The requirements under a scheme that may leave blocks incompletely erased, for a given number of allowed errors.
    /// `self` holds for `allowed.all` errors or more. `whole`, for a complete erase, holds for `allowed.none` errors or
    /// fewer. `rows` may contain rows for numbers between these, named after them (`aero-50`). Between two such
    /// numbers, the steps of a class are interpolated linearly.
    pub fn allowing(
        self,
        whole: &Requirement,
        allowed: Allowed,
        rows: &[Row],
        scheme: &str,
        step: u64,
    ) -> Requirement {
        let Allowed { errors, none, all } = allowed;
        if errors >= all {
            return self;
        }
        if errors <= none {
            return whole.clone();
        }
        let listed =
            || rows.iter().filter_map(|row| row.errors(scheme)).filter(|n| (none + 1..all).contains(n));
        let below = listed().filter(|&bits| bits <= errors).max().unwrap_or(none);
        let above = listed().filter(|&bits| bits > errors).min().unwrap_or(all);
        let of_listed = |bits| Requirement::new(rows, &format!("{scheme}-{bits}"), step, self.most);
        let (low, high) = (of_listed(below), of_listed(above));
        let part = f64::from(errors - below) / f64::from(above - below);
        let at = |row: usize| {
            let cycles = self.cycles[row];
            let most = self.at(cycles);
            let at_whole = whole.at(cycles);
            let of = |listed: &Option<Requirement>, otherwise: [f64; CLASSES as usize]| match listed {
                Some(listed) => listed.between_rows(&self, whole, cycles),
                None => otherwise,
            };
            let (low, high) = (of(&low, at_whole), of(&high, most));
            in_whole_steps(&std::array::from_fn(|class| low[class] + part * (high[class] - low[class])))
        };
        let steps = (0..self.cycles.len()).map(at).collect();
        Requirement::of(self.cycles.clone(), steps, self.most)
    }

    /// The steps of all classes after `cycles` cycles. If there is no row for `cycles`, the result lies between `whole`
    /// and `all`, at the point that is interpolated from the means of the rows before and after.
    fn between_rows(&self, all: &Requirement, whole: &Requirement, cycles: u32) -> [f64; CLASSES as usize] {
        if let Ok(row) = self.cycles.binary_search(&cycles) {
            return self.steps[row].map(f64::from);
        }
        let share = |row: usize| {
            let total = |of: [f64; CLASSES as usize]| of.iter().sum::<f64>();
            let at = self.cycles[row];
            let (own, least, most) = (self.steps[row].map(f64::from), all.at(at), whole.at(at));
            let way = total(most) - total(least);
            if way > 0.0 { ((total(most) - total(own)) / way).clamp(0.0, 1.0) } else { 1.0 }
        };
        let after = self.cycles.partition_point(|&row| row < cycles).min(self.cycles.len() - 1);
        let before = after.saturating_sub(usize::from(self.cycles[after] > cycles));
        let (from, to) = (self.cycles[before], self.cycles[after]);
        let part = if to > from { f64::from(cycles - from) / f64::from(to - from) } else { 0.0 };
        let share = share(before) + part * (share(after) - share(before));
        let (all, whole) = (all.at(cycles), whole.at(cycles));
        std::array::from_fn(|class| whole[class] + share * (all[class] - whole[class]))
    }

    /// The mean number of steps that each class needs after `cycles` cycles.
    fn at(&self, cycles: u32) -> [f64; CLASSES as usize] {
        std::array::from_fn(|class| {
            let (least, most, share) = self.between(class as u32, cycles);
            f64::from(least) + f64::from(most - least) * share as f64 / 65_536.0
        })
    }

    /// The steps of a class in the row before `cycles` and in the row after it, and the position of `cycles` between
    /// the two, in 1/65,536.
    fn between(&self, class: u32, cycles: u32) -> (u32, u32, u64) {
        let of = |row: usize| u32::from(self.steps[row][class as usize]);
        let last = self.cycles.len() - 1;
        let after = self.cycles.partition_point(|&row| row <= cycles);
        if after == 0 || last == 0 {
            return (of(0), of(0), 0);
        }
        let (from, to) = (self.cycles[after.min(last) - 1], self.cycles[after.min(last)]);
        let way = u64::from(to - from);
        if after <= last {
            return (of(after - 1), of(after), (u64::from(cycles - from) << 16) / way);
        }
        let more = u64::from(self.gain) * u64::from(cycles - to);
        let whole = way * u64::from(CLASSES);
        let least = (u64::from(of(last)) + more / whole).min(u64::from(self.most)) as u32;
        (least, (least + 1).min(self.most), ((more % whole) << 16) / whole)
    }

    /// The steps that a block of a class needs after `cycles` cycles. `turn` (16 bits) is the point between two rows at
    /// which this block switches from the first row to the second.
    pub fn steps(&self, class: u32, turn: u32, cycles: u32) -> u32 {
        let (least, most, share) = self.between(class, cycles);
        if share > u64::from(turn & 0xFFFF) { most } else { least }
    }

    /// The steps of a class in the last row that is not above `cycles`; 0 before the first row.
    pub fn by_row(&self, class: u32, cycles: u32) -> u32 {
        let rows = self.cycles.partition_point(|&row| row <= cycles);
        rows.checked_sub(1).map_or(0, |row| u32::from(self.steps[row][class as usize]))
    }

    /// Blocks of this class with a smaller `turn` than this have switched to the second row after `cycles` cycles.
    pub fn turn_at(&self, class: u32, cycles: u32) -> u32 {
        self.between(class, cycles).2 as u32
    }
}

/// The number of allowed errors and its bounds, in bits per KiB.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    /// Errors that a block may have.
    pub errors: u32,
    /// With this number or fewer, the erase must be complete.
    pub none: u32,
    /// With this number or more, the rows hold.
    pub all: u32,
}

fn sum(row: &[u8; CLASSES as usize]) -> u32 {
    row.iter().map(|&n| u32::from(n)).sum()
}

/// Round to whole steps that rise and have the same sum.
fn in_whole_steps(classes: &[f64; CLASSES as usize]) -> [u8; CLASSES as usize] {
    let mut over = 0.0;
    let mut steps = classes.map(|steps| {
        let whole = libm::round(steps + over).max(0.0);
        over += steps - whole;
        whole as u8
    });
    steps.sort_unstable();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Row {
        text.parse().unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn rows_are_read_and_written() {
        for text in
            ["aero 500: 2ms 42, 2.5ms 30, 3ms 27, 3.5ms 1", "ispe 1000: 3.5ms 76.5, 7ms 18.25, 10.5ms 5.25"]
        {
            assert_eq!(row(text).to_string(), text);
        }
        for (text, problem) in [
            ("aero 500", "no colon"),
            ("aero: 2ms 100", "no cycles"),
            ("aero x: 2ms 100", "no whole number"),
            ("aero 5: 2ms", "not a time and a share"),
            ("aero 5: 2ms 50, 1ms 50", "do not rise"),
            ("aero 5: 2ms 50, 3ms 49.99", "do not make 100"),
            ("aero 5: 2ms 1e2", "not a number"),
            ("aero 5: 2ms 101", "not a number"),
            ("aero 5: 2ms -1", "not a number"),
            ("aero 5: 2ms 4294967296", "not a number"),
        ] {
            let error = text.parse::<Row>().expect_err(text).to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn classes_follow_the_shares_and_rows_are_interpolated() {
        let rows = [row("a 1000: 2ms 25, 3ms 75"), row("a 2000: 2ms 10, 4ms 90"), row("b 0: 1ms 100")];
        let r = Requirement::new(&rows, "a", 1_000_000, 35).expect("there are rows");
        assert!(Requirement::new(&rows, "c", 1_000_000, 35).is_none());
        let of = |cycles| (0..CLASSES).map(|class| r.steps(class, 0x8000, cycles)).collect::<Vec<_>>();
        let count = |cycles, steps| of(cycles).into_iter().filter(|&s| s == steps).count();
        assert_eq!((count(0, 2), count(1000, 2), count(1000, 3)), (50, 50, 150));
        assert_eq!((count(2000, 2), count(2000, 4)), (20, 180));
        // The mean gains 1.05 steps in 1000 cycles, up to the bound.
        let mean = |cycles| of(cycles).iter().sum::<u32>();
        assert_eq!((mean(2000), mean(3000), mean(4000)), (760, 760 + 200, 760 + 400), "half of the turns");
        assert_eq!((count(3000, 3), count(3000, 5), count(100_000, 35)), (20, 180, 200));
        let more = |turn: u32| (0..CLASSES).map(|class| r.steps(class, turn, 3000)).sum::<u32>() - 760;
        assert_eq!((more(0), more(3275), more(3276)), (400, 400, 200), "0.05 of the blocks have two more");
        // No block overtakes another, and none ever needs less.
        for turn in [0, 0x4000, 0x8000, 0xFFFF] {
            for cycles in [0, 1200, 2000, 2300, 5500, 7000, u32::MAX] {
                assert!((0..CLASSES).map(|class| r.steps(class, turn, cycles)).is_sorted());
            }
            assert!((0..9000).map(|cycles| r.steps(7, turn, cycles)).is_sorted());
        }
        // Each block changes once, and half of them before the middle.
        for class in [30, 199] {
            let turns = (0..256).map(|turn| r.steps(class, turn * 256, 1500));
            let after = turns.filter(|&steps| steps == r.steps(class, 0, 2000)).count();
            assert!((127..=129).contains(&after), "{after}");
            let life: Vec<u32> = (1000..=2000).map(|cycles| r.steps(class, 0x4000, cycles)).collect();
            assert!(life.is_sorted() && life[0] < life[1000]);
            assert_eq!(r.turn_at(class, 1500), 0x8000);
        }
    }

    #[test]
    fn fewer_errors_need_more_steps() {
        let rows = [
            row("whole 0: 4ms 50, 6ms 50"),
            row("whole 2000: 8ms 100"),
            row("a 0: 2ms 50, 4ms 50"),
            row("a 1000: 4ms 100"),
            row("a 2000: 4ms 100"),
            row("a-50 0: 3ms 50, 5ms 50"),
            row("a-50 2000: 7ms 100"),
        ];
        let new = |name: &str| Requirement::new(&rows, name, 1_000_000, 35).expect("there are rows");
        let whole = new("whole");
        let of = |errors| {
            let allowed = Allowed { errors, none: 20, all: 60 };
            new("a").allowing(&whole, allowed, &rows, "a", 1_000_000)
        };
        let mean = |errors, cycles: u32| of(errors).at(cycles).iter().sum::<f64>() / f64::from(CLASSES);
        for cycles in [0, 1000, 2000] {
            assert_eq!((of(99).at(cycles), of(60).at(cycles)), (new("a").at(cycles), new("a").at(cycles)));
            assert_eq!((of(0).at(cycles), of(20).at(cycles)), (whole.at(cycles), whole.at(cycles)));
        }
        // By its rows; between them half of the way, and a quarter, is three eighths.
        assert_eq!((mean(50, 0), mean(50, 2000)), (4.0, 7.0));
        assert!((mean(50, 1000) - (6.5 - 0.375 * 2.5)).abs() < 0.005, "in whole steps");
        // Half of the way from 20 to 50, and from 50 to 60.
        assert_eq!((mean(35, 0), mean(35, 2000), mean(55, 2000)), (4.5, 7.5, 5.5));
        let all: Vec<f64> = (0..70).map(|errors| mean(errors, 1000)).collect();
        assert!(all.windows(2).all(|pair| pair[0] >= pair[1]), "{all:?}");
    }
}
