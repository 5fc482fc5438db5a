//! Targets for latencies: whether a scheme meets them, by the confidence intervals of the summary.

use crate::figure::Figure;
use crate::summary::{OpSummary, Scheme};
use crate::text::{Grid, cut, duration};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use tailcut_stats::percentile;
use tailcut_units::quantity::{human_time, parse_time};
use tailcut_units::{HostOp, Span};

/// A limit for a latency, such as `read.p99.9=1ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    op: HostOp,
    figure: Figure,
    at_most: Span,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        const FORM: &str = "a target is such as `read.p99.9=1ms` or `write.mean=50us`";
        let (name, limit) = text.split_once('=').ok_or(FORM)?;
        let (op, figure) = name.trim().split_once('.').ok_or(FORM)?;
        let unknown = || format!("`{op}`: `read`, `write`, `trim` or `flush`; {FORM}");
        let op = HostOp::named(op).ok_or_else(unknown)?;
        let latency = Figure::named(figure).filter(|&f| f != Figure::Iops);
        let figure =
            latency.ok_or_else(|| format!("`{figure}`: `mean`, or one of {}", percentile::names()))?;
        match parse_time(limit.trim()).map_err(|e| e.to_string())? {
            Span::ZERO => Err("a target must be longer than 0ns".to_string()),
            at_most => Ok(Target { op, figure, at_most }),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = human_time(self.at_most).replace(' ', "");
        write!(f, "{}.{}={limit}", self.op.name(), self.figure)
    }
}

/// Whether a target is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval is at most the target.
    Meets,
    /// The whole interval is above the target, or too many requests failed for the others to meet it.
    Misses,
    /// The target is inside the interval, there is no interval, too few requests were longer than the percentile to
    /// bound it, or requests failed.
    Undecided,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Meets => "meets",
            Verdict::Misses => "misses",
            Verdict::Undecided => "undecided",
        }
    }
}

/// A target, and what a scheme made of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetResult {
    /// The target, as it is written on the command line.
    pub target: String,
    /// The longest latency that meets it, ns.
    pub at_most_ns: u64,
    /// The latency measured, ns; absent if no such request completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_ns: Option<f64>,
    /// Its 95 % confidence interval, ns; absent for short runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95_ns: Option<[f64; 2]>,
    /// What is left of the target, as a share of it; negative if the latency is longer. Absent as `measured_ns` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Whether it is met.
    pub verdict: Verdict,
}

impl TargetResult {
    /// Whether the whole interval is at most the target.
    pub(crate) fn is_below(&self) -> bool {
        self.ci95_ns.is_some_and(|[_, high]| high <= self.at_most_ns as f64)
    }
}

impl Target {
    /// Judges a scheme.
    pub fn judge(&self, scheme: &Scheme) -> TargetResult {
        let side = scheme.side(self.op);
        let (measured, interval) = self.measured(side);
        let limit = self.at_most.0 as f64;
        // A percentile beyond nearly all requests is their maximum, and says little of longer runs.
        let requests = side.total_ios.saturating_mul(scheme.runs.unwrap_or(1).into());
        let thin = matches!(self.figure, Figure::Percentile(level) if percentile::is_thin(level, requests));
        let by_interval = match interval {
            Some([_, high]) if high <= limit && !thin => Verdict::Meets,
            Some([low, _]) if low > limit => Verdict::Misses,
            _ => Verdict::Undecided,
        };
        // A request without success has no latency. It is no request that meets a target.
        let failed = scheme.failures(self.op);
        let share = failed as f64 / (failed + side.total_ios).max(1) as f64;
        let verdict = match (self.figure, by_interval) {
            (Figure::Percentile(level), _) if share > 1.0 - level / 100.0 => Verdict::Misses,
            (_, Verdict::Meets) if failed > 0 => Verdict::Undecided,
            (_, verdict) => verdict,
        };
        TargetResult {
            target: self.to_string(),
            at_most_ns: self.at_most.0,
            measured_ns: measured,
            ci95_ns: interval,
            margin: measured.map(|ns| (limit - ns) / limit),
            verdict,
        }
    }

    fn measured(&self, side: &OpSummary) -> (Option<f64>, Option<[f64; 2]>) {
        let interval = match self.figure {
            Figure::Percentile(level) => {
                side.lat_ns.ci95.get(&percentile::key(level)).map(|ci| ci.map(|ns| ns as f64))
            }
            _ => side.lat_ns.mean_ci95,
        };
        (self.figure.of(side), interval)
    }
}

impl Scheme {
    /// The requests of one kind that ended without success.
    pub fn failures(&self, op: HostOp) -> u64 {
        self.failed.get(op.name()).map_or(0, |by| by.iter().map(|(_, n)| n).sum())
    }
}

/// The table of the targets; empty if there are none.
pub fn targets(schemes: &[Scheme]) -> String {
    if schemes.iter().all(|s| s.targets.is_empty()) {
        return String::new();
    }
    let mut grid = Grid::default().names(2);
    grid.row(["scheme", "target", "measured", "95 % from", "to", "margin", "verdict"].map(String::from));
    grid.rule();
    let time = |ns: Option<f64>| ns.map_or("-".to_string(), duration);
    for scheme in schemes {
        for t in &scheme.targets {
            grid.row([
                cut(&scheme.name, 20),
                t.target.clone(),
                time(t.measured_ns),
                time(t.ci95_ns.map(|ci| ci[0])),
                time(t.ci95_ns.map(|ci| ci[1])),
                t.margin.map_or("-".to_string(), |m| format!("{:+.1} %", 100.0 * m)),
                t.verdict.name().to_string(),
            ]);
        }
    }
    format!("\nTargets, by the 95 % confidence intervals\n{}", grid.render())
}

/// What is wrong with the targets, in a line, and whether one is missed; `None` if all schemes meet all of them.
pub fn unmet(schemes: &[Scheme]) -> Option<(String, bool)> {
    let of = |verdict: Verdict| -> Vec<String> {
        let each = schemes.iter().flat_map(|s| s.targets.iter().map(move |t| (s, t)));
        each.filter(|(_, t)| t.verdict == verdict)
            .map(|(s, t)| format!("{} ({})", t.target, s.name))
            .collect()
    };
    let (missed, undecided) = (of(Verdict::Misses), of(Verdict::Undecided));
    let parts = [(&missed, "missed"), (&undecided, "undecided")];
    let said: Vec<String> = parts
        .iter()
        .filter(|(which, _)| !which.is_empty())
        .map(|(which, what)| format!("targets {what}: {}", which.join(", ")))
        .collect();
    (!said.is_empty()).then(|| (said.join("; "), !missed.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordered::Ordered;
    use crate::summary::Latency;
    use tailcut_units::Status;

    /// A scheme whose reads have this p99.9 and interval.
    fn scheme(p999: u64, ci: Option<[u64; 2]>, failed: u64) -> Scheme {
        let key = percentile::key(99.9);
        let lat_ns = Latency {
            mean: 10.0,
            mean_ci95: Some([9.0, 12.0]),
            percentile: Ordered(vec![(key.clone(), p999)]),
            ci95: Ordered(ci.map(|ci| (key, ci)).into_iter().collect()),
            ..Latency::default()
        };
        let by = Ordered(vec![(Status::MediaError.name().to_string(), failed)]);
        Scheme {
            name: "rps".into(),
            read: OpSummary { total_ios: 100_000, lat_ns, ..OpSummary::default() },
            failed: Ordered((failed > 0).then_some(("read".to_string(), by)).into_iter().collect()),
            ..Scheme::default()
        }
    }

    #[test]
    fn the_interval_decides() {
        let target: Target = "read.p99.9=1ms".parse().unwrap();
        let verdict = |p999, ci, failed| target.judge(&scheme(p999, ci, failed)).verdict;
        assert_eq!(verdict(900_000, Some([800_000, 1_000_000]), 0), Verdict::Meets);
        assert_eq!(verdict(900_000, Some([800_000, 1_000_001]), 0), Verdict::Undecided);
        assert_eq!(verdict(1_100_000, Some([1_000_001, 1_200_000]), 0), Verdict::Misses);
        assert_eq!(verdict(100, None, 0), Verdict::Undecided);
        // One read of 100,000 failed: the percentile of the others is not that of all.
        assert_eq!(verdict(900_000, Some([800_000, 1_000_000]), 1), Verdict::Undecided);
        assert_eq!(verdict(900_000, Some([800_000, 1_000_000]), 200), Verdict::Misses);
        let mut short = scheme(900_000, Some([900_000, 900_000]), 0);
        short.read.total_ios = 1_000;
        assert_eq!(target.judge(&short).verdict, Verdict::Undecided, "one read of 1,000 is longer");
        let judged = target.judge(&scheme(750_000, Some([700_000, 800_000]), 0));
        assert_eq!((judged.margin, judged.at_most_ns), (Some(0.25), 1_000_000));
        let mean: Target = "read.mean=12ns".parse().unwrap();
        assert_eq!(mean.judge(&scheme(1, None, 0)).verdict, Verdict::Meets);
        let writes: Target = "write.mean=1s".parse().unwrap();
        assert_eq!(writes.judge(&scheme(1, None, 0)).verdict, Verdict::Undecided);
    }

    #[test]
    fn a_target_is_read_and_written_alike() {
        for text in
            ["read.p99.9=1ms", "write.mean=50us", "read.p99.9999=2s", "write.p50=1.5ms", "flush.p99=1ms"]
        {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        for (text, said) in [
            ("read.p99.9", "a target is such as"),
            ("reads.p99=1ms", "`read`, `write`, `trim` or `flush`"),
            ("read.p99.8=1ms", "p99.5, p99.9"),
            ("read.median=1ms", "`mean`"),
            ("read.mean=0ns", "longer than 0ns"),
            ("read.mean=1", "unit"),
        ] {
            let error = text.parse::<Target>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn the_table_and_the_line_name_what_is_not_met() {
        let mut one = scheme(900_000, Some([800_000, 950_000]), 0);
        one.targets = ["read.p99.9=1ms", "read.p99.9=100us", "write.mean=1ms"]
            .map(|t| t.parse::<Target>().unwrap().judge(&one))
            .to_vec();
        let table = targets(std::slice::from_ref(&one));
        for text in [" +10.0 %      meets", "-800.0 %     misses", "  undecided"] {
            assert!(table.contains(text), "{text} in {table}");
        }
        assert!(table.lines().all(|l| l.chars().count() <= 80), "{table}");
        let (line, missed) = unmet(std::slice::from_ref(&one)).unwrap();
        assert_eq!(
            (line.as_str(), missed),
            ("targets missed: read.p99.9=100us (rps); targets undecided: write.mean=1ms (rps)", true)
        );
        one.targets.truncate(1);
        assert_eq!(unmet(&[one]), None);
        assert_eq!(targets(&[Scheme::default()]), "");
    }
}
