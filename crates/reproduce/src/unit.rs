//! Units of published values, and the formatting of numbers in them.

use std::fmt;

/// The kind of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A latency; the base unit is ns.
    Time,
    /// Requests a second.
    Rate,
    /// Bytes a second.
    Bandwidth,
    /// A pure number: a count, a factor.
    Number,
    /// A measured value divided by another.
    Ratio,
    /// Yes, which is 1, or no, which is 0.
    Answer,
}

/// A unit of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// The name as written.
    pub name: &'static str,
    /// The kind of number.
    pub kind: Kind,
    /// The size of one unit in the kind's base unit.
    pub scale: f64,
}

const MIB: f64 = 1_048_576.0;

/// All units. A ratio in `%` is the change: a half is -50 %.
const UNITS: [Unit; 16] = [
    Unit { name: "ns", kind: Kind::Time, scale: 1.0 },
    Unit { name: "us", kind: Kind::Time, scale: 1e3 },
    Unit { name: "ms", kind: Kind::Time, scale: 1e6 },
    Unit { name: "s", kind: Kind::Time, scale: 1e9 },
    Unit { name: "IOPS", kind: Kind::Rate, scale: 1.0 },
    Unit { name: "KIOPS", kind: Kind::Rate, scale: 1e3 },
    Unit { name: "MiB/s", kind: Kind::Bandwidth, scale: MIB },
    Unit { name: "MB/s", kind: Kind::Bandwidth, scale: 1e6 },
    Unit { name: "", kind: Kind::Number, scale: 1.0 },
    Unit { name: "x", kind: Kind::Number, scale: 1.0 },
    Unit { name: "%", kind: Kind::Number, scale: 0.01 },
    Unit { name: "% of the run", kind: Kind::Number, scale: 0.01 },
    Unit { name: "% of reads", kind: Kind::Number, scale: 0.01 },
    Unit { name: "x", kind: Kind::Ratio, scale: 1.0 },
    Unit { name: "%", kind: Kind::Ratio, scale: 0.01 },
    Unit { name: "yes or no", kind: Kind::Answer, scale: 1.0 },
];

impl Unit {
    /// The unit of this name and kind.
    pub fn of(name: &str, kind: Kind) -> Option<Unit> {
        UNITS.into_iter().find(|u| u.name == name && u.kind == kind)
    }

    /// The names of the units of a kind.
    pub fn names(kind: Kind) -> Vec<&'static str> {
        UNITS.iter().filter(|u| u.kind == kind).map(|u| u.name).collect()
    }

    /// Converts a value from the kind's base unit to this unit.
    pub fn take(&self, value: f64) -> f64 {
        if self.is_change() { (value - 1.0) / self.scale } else { value / self.scale }
    }

    fn is_change(&self) -> bool {
        self.kind == Kind::Ratio && self.name == "%"
    }

    /// Formats a value that is in this unit, with the unit.
    pub fn show(&self, value: f64) -> String {
        if self.kind == Kind::Answer {
            return if value == 0.0 { "no" } else { "yes" }.to_string();
        }
        let sign = if self.is_change() && value > 0.0 { "+" } else { "" };
        let space = if matches!(self.name, "" | "x") { "" } else { " " };
        format!("{sign}{}{space}{}", Short(value), self.name)
    }
}

/// The unit of this name, if it is a unit of the kind.
pub(crate) fn unit_of(name: &str, kind: Kind) -> Result<Unit, String> {
    Unit::of(name, kind).ok_or_else(|| {
        let names = Unit::names(kind).iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        format!("unit: `{name}` does not fit the measure; possible units are {names}")
    })
}

/// A number with three or four significant digits.
pub struct Short(pub f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = self.0;
        if v == v.trunc() && v.abs() < 1e6 {
            return write!(f, "{v:.0}");
        }
        let decimals = match v.abs() {
            a if a >= 1000.0 => 0,
            a if a >= 100.0 => 1,
            a if a >= 10.0 => 1,
            a if a >= 1.0 => 2,
            _ => 3,
        };
        let text = format!("{v:.decimals$}");
        if v != 0.0 && v.abs() < 0.0005 {
            return write!(f, "{v:.0e}");
        }
        f.write_str(if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
            "0"
        } else {
            &text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_in_their_unit() {
        let show = |name, kind, value| {
            let unit = Unit::of(name, kind).expect("a unit");
            unit.show(unit.take(value))
        };
        assert_eq!(show("us", Kind::Time, 16_912.0), "16.9 us");
        assert_eq!(show("KIOPS", Kind::Rate, 790_000.0), "790 KIOPS");
        assert_eq!(show("%", Kind::Ratio, 0.535), "-46.5 %");
        assert_eq!(show("%", Kind::Ratio, 1.04), "+4.00 %");
        assert_eq!(show("x", Kind::Number, 22.0), "22x");
        assert_eq!(show("% of the run", Kind::Number, 0.987), "98.7 % of the run");
        assert_eq!([show("x", Kind::Ratio, 0.000_28), show("x", Kind::Ratio, 0.0)], ["3e-4x", "0x"]);
        assert_eq!([1.0, 0.0].map(|v| show("yes or no", Kind::Answer, v)), ["yes", "no"]);
        assert!(Unit::of("us", Kind::Rate).is_none());
    }
}
