//! Counts verdicts by the kind of comparison.

use crate::file::CheckKind;
use crate::results::{Outcome, Verdict};
use std::ops::AddAssign;

/// How many checks of one kind were judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// In band.
    pub held: usize,
    /// Out of band.
    pub missed: usize,
}

impl Judged {
    /// Both together.
    pub fn all(self) -> usize {
        self.held + self.missed
    }
}

/// How many outcomes there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Checks against a published value.
    pub values: Judged,
    /// Checks of values to which the model was fitted, and of its inputs.
    pub calibrated: Judged,
    /// Checks of a direction or an order.
    pub orders: Judged,
    /// Checks of what is true by construction.
    pub structural: Judged,
    /// Not comparable checks, of any kind.
    pub not_comparable: usize,
    /// Checks not judged at the quick size, of any kind.
    pub full_only: usize,
}

impl Tally {
    /// Counts outcomes.
    pub fn of(outcomes: &[Outcome]) -> Tally {
        let mut tally = Tally::default();
        for o in outcomes {
            let judged = match o.kind {
                CheckKind::Value => &mut tally.values,
                CheckKind::Calibrated => &mut tally.calibrated,
                CheckKind::Order => &mut tally.orders,
                CheckKind::Structural => &mut tally.structural,
            };
            match o.verdict {
                Verdict::InBand => judged.held += 1,
                Verdict::OutOfBand => judged.missed += 1,
                Verdict::NotComparable(_) => tally.not_comparable += 1,
                Verdict::FullSizeOnly => tally.full_only += 1,
            }
        }
        tally
    }

    /// Number of checks out of band, of any kind.
    pub fn missed(&self) -> usize {
        self.values.missed + self.calibrated.missed + self.orders.missed + self.structural.missed
    }

    /// The counts in words.
    pub fn words(&self) -> String {
        let judged = [
            (self.values, "value", "values"),
            (self.calibrated, "calibrated value", "calibrated values"),
            (self.orders, "order", "orders"),
        ];
        let mut parts: Vec<String> = Vec::new();
        for (j, one, many) in judged.into_iter().filter(|(j, ..)| j.all() > 0) {
            let what = if j.all() == 1 { one } else { many };
            parts.push(format!("{} {what} ({} in band, {} out)", j.all(), j.held, j.missed));
        }
        if self.structural.all() > 0 {
            parts.push(format!("{} structural", self.structural.all()));
        }
        if self.structural.missed > 0 {
            parts.push(format!("{} of them out of band", self.structural.missed));
        }
        let rest = [(self.not_comparable, "not comparable"), (self.full_only, "judged at full size only")];
        parts.extend(rest.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
        if parts.is_empty() { "no checks".to_string() } else { parts.join(", ") }
    }

    /// The counts in a form that can be parsed again, for the first line of a section:
    /// `values 12/2, calibrated 2/0, orders 3/0, …`.
    pub fn mark(&self) -> String {
        let Tally { values, calibrated, orders, structural, not_comparable, full_only } = self;
        let pair = |j: &Judged| format!("{}/{}", j.held, j.missed);
        format!(
            "values {}, calibrated {}, orders {}, structural {}, not comparable {not_comparable}, full size \
             only {full_only}",
            pair(values),
            pair(calibrated),
            pair(orders),
            pair(structural)
        )
    }

    /// Parses the text that [`Tally::mark`] wrote.
    pub fn of_mark(text: &str) -> Option<Tally> {
        let mut parts = text.trim().split(", ");
        let mut part = |name: &str| parts.next()?.strip_prefix(name).map(str::trim).map(String::from);
        let pair = |text: String| {
            let (held, missed) = text.split_once('/')?;
            Some(Judged { held: held.parse().ok()?, missed: missed.parse().ok()? })
        };
        Some(Tally {
            values: pair(part("values")?)?,
            calibrated: pair(part("calibrated")?)?,
            orders: pair(part("orders")?)?,
            structural: pair(part("structural")?)?,
            not_comparable: part("not comparable")?.parse().ok()?,
            full_only: part("full size only")?.parse().ok()?,
        })
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        let pairs = [
            (&mut self.values, other.values),
            (&mut self.calibrated, other.calibrated),
            (&mut self.orders, other.orders),
            (&mut self.structural, other.structural),
        ];
        for (sum, more) in pairs {
            sum.held += more.held;
            sum.missed += more.missed;
        }
        self.not_comparable += other.not_comparable;
        self.full_only += other.full_only;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_said_and_read_again() {
        let mut tally = Tally {
            values: Judged { held: 12, missed: 2 },
            calibrated: Judged { held: 2, missed: 1 },
            orders: Judged { held: 1, missed: 0 },
            structural: Judged { held: 3, missed: 0 },
            not_comparable: 4,
            full_only: 0,
        };
        assert_eq!(
            tally.words(),
            "14 values (12 in band, 2 out), 3 calibrated values (2 in band, 1 out), 1 order (1 in band, 0 out), \
             3 structural, 4 not comparable"
        );
        assert_eq!(Tally::of_mark(&tally.mark()), Some(tally));
        assert_eq!(Tally::of_mark("19 in band, 1 out of band"), None);
        tally += tally;
        assert_eq!((tally.values.held, tally.missed(), tally.not_comparable), (24, 6, 8));
    }
}
