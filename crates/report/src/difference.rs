//! Whether a figure of one scheme differs from that of another, by the 95 % confidence interval of the difference.

use crate::figure::{Figure, OfParts, Quantity};
use crate::summary::Scheme;
use crate::text::{Grid, cut, duration, rate};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use tailcut_stats::difference::{Shifted, change, shifts_of_runs};

/// The percentiles whose differences are printed; a run has more.
pub const SHOWN: [f64; 7] = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999];

/// The relative error of two percentiles together: each has 3 significant digits.
const RESOLUTION: f64 = 0.001;

/// The latency below which percentiles are exact, ns.
const EXACT_BELOW: f64 = 2048.0;

/// The least difference that is one: a smaller one is printed as 0.0 %.
const LEAST: f64 = 0.0005;

/// Whether B is faster than A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The whole interval is on the side of shorter latencies, higher rates, or less write amplification.
    #[serde(rename = "faster")]
    Faster,
    /// The whole interval is on the other side.
    #[serde(rename = "slower")]
    Slower,
    /// The interval holds 0, or there is none, or the difference is less than 0.05 %.
    #[serde(rename = "no difference seen")]
    NoDifferenceSeen,
}

impl Verdict {
    /// Its words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NoDifferenceSeen => "no difference seen",
        }
    }
}

/// What two measurements have in common: how their parts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// Both had the same requests: run by run, with the same seeds.
    Runs,
    /// Both had the same requests: batch by batch.
    Batches,
    /// They are independent.
    None,
}

impl Pairing {
    /// How two schemes that had the same requests are compared.
    pub fn of(a: &Scheme, b: &Scheme) -> Pairing {
        match (a.runs, b.runs) {
            (None, None) => Pairing::Batches,
            (a, b) if a == b => Pairing::Runs,
            _ => Pairing::None,
        }
    }
}

/// A figure of two schemes, and its difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The figure: `read.p99.9`.
    pub figure: String,
    /// Its value under A, in ns, a second, or (of `waf`) without a unit.
    pub a: f64,
    /// Its value under B.
    pub b: f64,
    /// B relative to A, minus 1: 0.05 is 5 % more. Absent if A is 0 and B is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// The 95 % confidence interval of `difference`; absent if the runs are too short for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// What the interval says.
    pub verdict: Verdict,
    /// Whether fewer than ten requests are beyond the percentile in one of the two.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thin: bool,
}

impl Difference {
    /// The difference of a quantity from `a` to `b`; `None` if one of the two has no value.
    pub fn new(quantity: Quantity, a: &Scheme, b: &Scheme, pairing: Pairing) -> Option<Difference> {
        let (of_a, of_b) = (quantity.of(a)?, quantity.of(b)?);
        let is_percentile = matches!(quantity, Quantity::Of(_, Figure::Percentile(_)));
        let rounded = is_percentile && of_a.max(of_b) >= EXACT_BELOW;
        let resolution = if rounded { RESOLUTION } else { 0.0 };
        let found = quantity.parts(a).zip(quantity.parts(b)).and_then(|(parts_a, parts_b)| {
            let (shifts_a, shifts_b) = (shifts(parts_a)?, shifts(parts_b)?);
            let a = Shifted { value: of_a, shifts: &shifts_a };
            let b = Shifted { value: of_b, shifts: &shifts_b };
            change(a, b, pairing != Pairing::None, resolution)
        });
        let ci95 = found.map(|change| [change.low, change.high]);
        let difference = (of_a > 0.0).then(|| of_b / of_a - 1.0).or((of_b == 0.0).then_some(0.0));
        let verdict = match ci95 {
            _ if difference.is_some_and(|share| share.abs() < LEAST) => Verdict::NoDifferenceSeen,
            Some([low, _]) if low > 0.0 => quantity.verdict(true),
            Some([_, high]) if high < 0.0 => quantity.verdict(false),
            _ => Verdict::NoDifferenceSeen,
        };
        Some(Difference {
            figure: quantity.to_string(),
            a: of_a,
            b: of_b,
            difference,
            ci95,
            verdict,
            thin: quantity.is_thin(a) || quantity.is_thin(b),
        })
    }
}

fn shifts(parts: OfParts<'_>) -> Option<Cow<'_, [f64]>> {
    match parts {
        OfParts::Batches(shifts) => Some(Cow::Borrowed(shifts)),
        OfParts::Runs(values) => shifts_of_runs(values).map(Cow::Owned),
    }
}

impl Quantity {
    /// What it means that there is more of it, or less.
    fn verdict(self, more: bool) -> Verdict {
        if more == self.is_rate() { Verdict::Faster } else { Verdict::Slower }
    }

    /// A value of it for people.
    pub(crate) fn shown(self, value: f64) -> String {
        match self {
            Quantity::Waf => format!("{value:.2}"),
            Quantity::Of(_, Figure::Iops) => rate(value),
            Quantity::Of(..) => duration(value),
        }
    }
}

/// A share as a signed percentage: `-56.1 %`.
pub(crate) fn signed(share: f64) -> String {
    let percent = 100.0 * share;
    // No sign before a zero.
    match percent.abs() {
        p if p < 100.0 * LEAST => "0.0 %".to_string(),
        p if p < 1000.0 => format!("{percent:+.1} %"),
        _ => format!("{percent:+.0} %"),
    }
}

/// The cells of a difference: itself, its interval and its verdict.
pub(crate) fn cells(d: &Difference) -> [String; 4] {
    let or_none = |share: Option<f64>| share.map_or("-".to_string(), signed);
    let end = |i: usize| or_none(d.ci95.map(|ci| ci[i]));
    [or_none(d.difference), end(0), end(1), d.verdict.name().to_string()]
}

/// For several runs of each of several schemes: the intervals of each scheme, and the differences from the first scheme.
/// Empty for single runs.
pub fn intervals(schemes: &[Scheme]) -> String {
    let Some(first) = schemes.first().filter(|s| s.runs.is_some()) else { return String::new() };
    let runs = first.runs.unwrap_or_default();
    let levels: &[f64] = &SHOWN[..5];
    let quantities: Vec<Quantity> =
        Quantity::all(levels).into_iter().filter(|q| schemes.iter().any(|s| q.parts(s).is_some())).collect();
    let mut grid = Grid::default().names(2);
    grid.row(["scheme", "figure", "mean of runs", "95 % from", "to"].map(String::from));
    grid.rule();
    for scheme in schemes {
        for &quantity in &quantities {
            let Some((value, OfParts::Runs(runs))) = quantity.of(scheme).zip(quantity.parts(scheme)) else {
                continue;
            };
            let Some(ci) = tailcut_stats::across_runs(runs) else { continue };
            let [low, high] = [ci.low.max(0.0), ci.high].map(|v| quantity.shown(v));
            grid.row([cut(&scheme.name, 20), quantity.to_string(), quantity.shown(value), low, high]);
        }
    }
    let mut out = format!("\nIntervals over {runs} runs\n{}", grid.render());
    if schemes.len() < 2 {
        return out;
    }
    let mut grid = Grid::default().names(2);
    grid.row(["scheme", "figure", "difference", "95 % from", "to", "verdict"].map(String::from));
    grid.rule();
    for scheme in &schemes[1..] {
        let pairing = Pairing::of(first, scheme);
        for &quantity in &quantities {
            let Some(d) = Difference::new(quantity, first, scheme, pairing) else { continue };
            grid.row([cut(&scheme.name, 20), d.figure.clone()].into_iter().chain(cells(&d)));
        }
    }
    out.push_str(&format!("\nDifferences from {}, run by run\n{}", first.name, grid.render()));
    out
}
