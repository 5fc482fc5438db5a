//! Limits for differences: by how much B may be worse than A.

use crate::compare::{Comparison, Side};
use crate::difference::{Difference, signed};
use crate::figure::{Figure, Quantity};
use crate::summary::Scheme;
use crate::text::Grid;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use tailcut_units::quantity::parse_fraction;

/// By how much a figure of B may be worse than that of A, such as `read.p99.9=5%`: a latency or the write amplification
/// higher, a rate lower.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    quantity: Quantity,
    /// A share, at least 0.
    at_most: f64,
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Limit, String> {
        const FORM: &str = "a limit is such as `read.p99.9=5%` or `waf=2%`";
        let (name, share) = text.split_once('=').ok_or(FORM)?;
        let quantity: Quantity = name.trim().parse()?;
        let at_most = parse_fraction(share.trim()).map_err(|e| format!("{e}; {FORM}"))?;
        if at_most < 0.0 {
            return Err(format!("`{share}`: it must be 0% to 100%"));
        }
        if quantity.is_rate() && at_most >= 1.0 {
            return Err(format!("`{share}`: a rate cannot fall by 100% or more"));
        }
        Ok(Limit { quantity, at_most })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}%", self.quantity, (self.at_most * 1e6).round() / 1e4)
    }
}

/// Whether a limit is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kept {
    /// The whole interval is within the limit, or both runs have the same requests with the same results.
    Within,
    /// The whole interval is beyond the limit, or more requests failed than the percentile leaves out.
    Beyond,
    /// The limit is inside the interval, there is no interval, or requests failed.
    Undecided,
}

impl Kept {
    fn name(self) -> &'static str {
        match self {
            Kept::Within => "within",
            Kept::Beyond => "beyond",
            Kept::Undecided => "undecided",
        }
    }
}

/// A limit, and what the comparison says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitResult {
    /// The limit, as it is written on the command line.
    pub limit: String,
    /// B relative to A, minus 1; absent if one of the two has no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// Its 95 % confidence interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// Whether the limit is kept.
    pub kept: Kept,
}

impl Limit {
    /// Judges a comparison of two sides. The interval decides, as for targets: a point estimate beyond the limit would
    /// fail half of all comparisons whose true difference is at the limit.
    pub fn judge(&self, a: &Side, b: &Side, comparison: &Comparison) -> LimitResult {
        let of = Difference::new(self.quantity, a.scheme(), b.scheme(), comparison.inputs.pairing);
        let ci95 = of.as_ref().and_then(|d| d.ci95);
        // How much worse it is.
        let worse = ci95.map(|[low, high]| if self.quantity.is_rate() { [-high, -low] } else { [low, high] });
        // The digest is that of the first run.
        let one = a.scheme().runs.is_none() && b.scheme().runs.is_none();
        let same = one && a.scheme().digest == b.scheme().digest && !a.scheme().digest.is_empty();
        if same && of.as_ref().is_some_and(|d| d.difference == Some(0.0)) {
            return LimitResult { limit: self.to_string(), difference: Some(0.0), ci95, kept: Kept::Within };
        }
        let by_interval = match worse {
            Some([_, most]) if most <= self.at_most => Kept::Within,
            Some([least, _]) if least > self.at_most => Kept::Beyond,
            _ => Kept::Undecided,
        };
        let kept = match (failed(self.quantity, b.scheme()), by_interval) {
            (Failed::TooMany, _) => Kept::Beyond,
            (Failed::Some, Kept::Within) => Kept::Undecided,
            (_, kept) => kept,
        };
        LimitResult { limit: self.to_string(), difference: of.and_then(|d| d.difference), ci95, kept }
    }
}

/// What failed requests do to a latency: they have none.
enum Failed {
    No,
    Some,
    /// More than the percentile leaves out.
    TooMany,
}

fn failed(quantity: Quantity, scheme: &Scheme) -> Failed {
    let Quantity::Of(op, figure) = quantity else { return Failed::No };
    let failed = scheme.failures(op);
    let share = failed as f64 / (failed + scheme.side(op).total_ios).max(1) as f64;
    match figure {
        Figure::Percentile(level) if share > 1.0 - level / 100.0 => Failed::TooMany,
        _ if failed > 0 => Failed::Some,
        _ => Failed::No,
    }
}

/// The table of the limits; empty if there are none.
pub(crate) fn table(results: &[LimitResult]) -> String {
    if results.is_empty() {
        return String::new();
    }
    let mut grid = Grid::default();
    grid.row(["at most worse by", "difference", "95 % from", "to", "limit"].map(String::from));
    grid.rule();
    let share = |share: Option<f64>| share.map_or("-".to_string(), signed);
    for r in results {
        let ends = [0, 1].map(|i| share(r.ci95.map(|ci| ci[i])));
        let [low, high] = ends;
        grid.row([r.limit.clone(), share(r.difference), low, high, r.kept.name().to_string()]);
    }
    format!("\nLimits, by the 95 % confidence intervals\n{}", grid.render())
}

/// What is wrong with the limits, in a line, and whether one is broken; `None` if all are kept.
pub fn broken(results: &[LimitResult]) -> Option<(String, bool)> {
    let of = |kept: Kept| -> Vec<&str> {
        results.iter().filter(|r| r.kept == kept).map(|r| r.limit.as_str()).collect()
    };
    let (beyond, undecided) = (of(Kept::Beyond), of(Kept::Undecided));
    let parts = [
        (&beyond, "B is worse than A by more than"),
        (&undecided, "undecided whether B is worse than A by more than"),
    ];
    let said: Vec<String> = parts
        .iter()
        .filter(|(which, _)| !which.is_empty())
        .map(|(which, what)| format!("{what} {}", which.join(", ")))
        .collect();
    (!said.is_empty()).then(|| (said.join("; "), !beyond.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordered::Ordered;
    use crate::summary::OpSummary;
    use tailcut_units::Status;

    #[test]
    fn a_limit_is_read_and_written_alike() {
        for text in ["read.p99.9=5%", "write.mean=0%", "waf=2.5%", "read.iops=99%", "flush.p50=100%"] {
            assert_eq!(text.parse::<Limit>().unwrap().to_string(), text);
        }
        for (text, said) in [
            ("read.p99.9", "a limit is such as"),
            ("read=5%", "a figure is such as"),
            ("reads.p99=5%", "`read`, `write`, `trim` or `flush`"),
            ("read.median=5%", "`iops`, `mean`"),
            ("read.iops=100%", "cannot fall by 100%"),
            ("read.p99=-5%", "a limit is such as"),
        ] {
            let error = text.parse::<Limit>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn requests_that_failed_are_no_part_of_a_limit_that_is_kept() {
        let with = |failures: u64| {
            let by = Ordered(vec![(Status::MediaError.name().to_string(), failures)]);
            Scheme {
                read: OpSummary { total_ios: 100_000, ..OpSummary::default() },
                failed: Ordered((failures > 0).then_some(("read".to_string(), by)).into_iter().collect()),
                ..Scheme::default()
            }
        };
        let of = |name: &str, failures| failed(name.parse().unwrap(), &with(failures));
        assert!(matches!(of("read.p99.9", 0), Failed::No) && matches!(of("waf", 9), Failed::No));
        assert!(matches!(of("read.p99.9", 1), Failed::Some) && matches!(of("read.mean", 500), Failed::Some));
        assert!(matches!(of("read.p99.9", 200), Failed::TooMany));
    }

    #[test]
    fn what_is_not_kept_is_named() {
        let result =
            |limit: &str, kept| LimitResult { limit: limit.into(), difference: None, ci95: None, kept };
        let (beyond, undecided) = (result("waf=1%", Kept::Beyond), result("read.p99=1%", Kept::Undecided));
        let (line, missed) = broken(&[beyond, undecided.clone(), result("x", Kept::Within)]).unwrap();
        assert!(
            missed && line.starts_with("B is worse than A by more than waf=1%; undecided whether"),
            "{line}"
        );
        assert!(!broken(&[undecided]).unwrap().1 && broken(&[]).is_none());
    }
}
