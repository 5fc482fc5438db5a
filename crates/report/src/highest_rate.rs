//! The highest rate at which a scheme meets all targets, found by a search over the rate of arrivals.

use crate::summary::Scheme;
use crate::targets::Verdict;
use crate::text::{cut, rate, wrapped};
use serde::{Deserialize, Serialize};

/// A rate that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TriedRate {
    /// The rate, as a multiple of the workload's own.
    pub factor: f64,
    /// Arrivals a second; absent if the drive made no progress, or in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_iops: Option<f64>,
    /// The worst verdict of all targets; `misses` for a drive that does not keep up.
    pub verdict: Verdict,
    /// Why it is not `meets`: the first target with this verdict, or that the drive does not keep up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// The highest rate that meets the targets, and the lowest above it that was seen not to meet them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HighestRate {
    /// The highest rate that meets them; absent if none that was tried does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meets: Option<TriedRate>,
    /// The lowest rate above it that does not meet them for certain; absent if all that were tried do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<TriedRate>,
}

impl TriedRate {
    /// What a scheme, judged by the targets, did at a rate.
    pub fn of(scheme: &Scheme, factor: f64) -> TriedRate {
        let offered_iops = scheme.load.as_ref().and_then(|load| load.offered_iops);
        if scheme.load.as_ref().is_some_and(|load| !load.keeps_up) {
            let because = Some("the drive does not keep up".to_string());
            return TriedRate { factor, offered_iops, verdict: Verdict::Misses, because };
        }
        let first = |verdict| scheme.targets.iter().find(|t| t.verdict == verdict);
        // A percentile of few requests does not end the search: another rate has as few.
        let undecided = scheme.targets.iter().find(|t| t.verdict == Verdict::Undecided && !t.is_below());
        let worst = first(Verdict::Misses).or(undecided);
        let said = |verdict: Verdict| if verdict == Verdict::Misses { "missed" } else { "undecided" };
        TriedRate {
            factor,
            offered_iops,
            verdict: worst.map_or(Verdict::Meets, |t| t.verdict),
            because: worst.map(|t| format!("{} is {}", t.target, said(t.verdict))),
        }
    }

    /// A drive that makes no progress at a rate.
    pub fn stuck(factor: f64) -> TriedRate {
        let because = Some("the drive makes no progress".to_string());
        TriedRate { factor, offered_iops: None, verdict: Verdict::Misses, because }
    }

    fn text(&self) -> String {
        let iops = self.offered_iops.map_or(String::new(), |iops| format!(" ({} IOPS)", rate(iops)));
        // Two decimals, or two digits of a small factor.
        let decimals = (1.0 - self.factor.log10().floor()).clamp(2.0, 12.0) as usize;
        format!("{:.decimals$} times the workload's rate{iops}", self.factor)
    }
}

/// A line for each scheme; empty if no rates were searched.
pub fn highest_rates(schemes: &[Scheme]) -> String {
    let line = |s: &Scheme| {
        let found = s.highest_rate.as_ref()?;
        let above = found.fails.as_ref().map(|high| {
            let why = high.because.as_deref().unwrap_or("the targets are not met");
            format!("at {} {why}", high.text())
        });
        let text = match (&found.meets, above) {
            (Some(low), Some(above)) => format!("{}; {above}", low.text()),
            (Some(low), None) => format!("{} and more: none that was tried misses a target", low.text()),
            (None, above) => format!("none: {}", above.unwrap_or_default()),
        };
        Some(wrapped(&format!("  {}: {text}\n", cut(&s.name, 24)), 6))
    };
    let lines: String = schemes.iter().filter_map(line).collect();
    if lines.is_empty() { lines } else { format!("\nHighest rate that meets all targets\n{lines}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Load;

    fn tried(factor: f64, verdict: Verdict) -> TriedRate {
        let because = (verdict != Verdict::Meets).then(|| "read.p99=1ms is missed".to_string());
        TriedRate { factor, offered_iops: Some(1e4 * factor), verdict, because }
    }

    #[test]
    fn a_line_names_both_rates() {
        let found = |meets: Option<f64>, fails: Option<f64>| Scheme {
            name: "rps".into(),
            highest_rate: Some(HighestRate {
                meets: meets.map(|f| tried(f, Verdict::Meets)),
                fails: fails.map(|f| tried(f, Verdict::Misses)),
            }),
            ..Scheme::default()
        };
        let of = |meets, fails| highest_rates(&[found(meets, fails)]).replace("\n      ", " ");
        let both = of(Some(1.5), Some(1.55));
        assert!(both.contains("rps: 1.50 times the workload's rate (15.0k IOPS); at 1.55 times"), "{both}");
        assert!(both.ends_with("read.p99=1ms is missed\n"), "{both}");
        assert!(of(None, Some(0.5)).contains("none: at 0.50 times"));
        assert!(of(None, Some(0.000_976_6)).contains("none: at 0.00098 times"));
        assert!(of(Some(1024.0), None).contains("1024.00 times the workload's rate (10.2M IOPS) and more"));
        assert_eq!(highest_rates(&[Scheme::default()]), "");
    }

    #[test]
    fn a_drive_that_does_not_keep_up_meets_nothing() {
        let load = Load { keeps_up: false, offered_iops: Some(5.0), ..Load::default() };
        let scheme = Scheme { load: Some(load), ..Scheme::default() };
        let of = TriedRate::of(&scheme, 2.0);
        assert_eq!((of.verdict, of.offered_iops), (Verdict::Misses, Some(5.0)));
        assert_eq!(TriedRate::of(&Scheme::default(), 1.0).verdict, Verdict::Meets);
    }
}
