//! The figures by which schemes are judged and compared, and their names: `read.p99.9`, `write.iops`, `waf`.

use crate::summary::{OpSummary, Parts, Scheme};
use std::fmt;
use std::str::FromStr;
use tailcut_stats::percentile;
use tailcut_units::HostOp;

/// A figure of the requests of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// Requests a second.
    Iops,
    /// Mean latency.
    Mean,
    /// A percentile of the latency that is in every report, in percent.
    Percentile(f64),
}

impl Figure {
    /// The figure called `iops`, `mean` or as `p99.9`; `None` if there is no such figure.
    pub fn named(name: &str) -> Option<Figure> {
        match (name, percentile::named(name)) {
            ("iops", _) => Some(Figure::Iops),
            ("mean", _) => Some(Figure::Mean),
            (_, Some(level)) if percentile::LEVELS.contains(&level) => Some(Figure::Percentile(level)),
            _ => None,
        }
    }

    /// Its value, in ns or a second; `None` without such requests.
    pub fn of(self, side: &OpSummary) -> Option<f64> {
        if side.total_ios == 0 {
            return None;
        }
        match self {
            Figure::Iops => Some(side.iops),
            Figure::Mean => Some(side.lat_ns.mean),
            Figure::Percentile(level) => {
                side.lat_ns.percentile.get(&percentile::key(level)).map(|&ns| ns as f64)
            }
        }
    }

    /// The numbers of the parts for it; `None` if there are none.
    fn part(self, parts: &Parts) -> Option<&[f64]> {
        let all = match self {
            Figure::Iops => &parts.iops,
            Figure::Mean => &parts.mean,
            Figure::Percentile(level) => parts.percentile.get(&percentile::key(level))?,
        };
        (!all.is_empty()).then_some(all)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::Iops => f.write_str("iops"),
            Figure::Mean => f.write_str("mean"),
            Figure::Percentile(level) => write!(f, "p{level}"),
        }
    }
}

/// A figure of a scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Of its requests of one kind.
    Of(HostOp, Figure),
    /// Its write amplification.
    Waf,
}

/// What is known of a quantity in each part of its measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OfParts<'a> {
    /// By run: the values.
    Runs(&'a [f64]),
    /// By batch: the shifts.
    Batches(&'a [f64]),
}

impl Quantity {
    /// The quantities of all schemes: those of requests by kind, with these percentiles, and write amplification.
    pub fn all(levels: &[f64]) -> Vec<Quantity> {
        let figures =
            [Figure::Iops, Figure::Mean].into_iter().chain(levels.iter().map(|&l| Figure::Percentile(l)));
        let figures: Vec<Figure> = figures.collect();
        let of_ops = HostOp::ALL.into_iter().flat_map(|op| figures.iter().map(move |&f| Quantity::Of(op, f)));
        of_ops.chain([Quantity::Waf]).collect()
    }

    /// Its value, in ns, a second or programs for each program of the host; `None` if the scheme has none.
    pub fn of(self, scheme: &Scheme) -> Option<f64> {
        match self {
            Quantity::Of(op, figure) => figure.of(scheme.side(op)),
            Quantity::Waf => scheme.waf,
        }
    }

    /// Whether more of it is better.
    pub fn is_rate(self) -> bool {
        matches!(self, Quantity::Of(_, Figure::Iops))
    }

    /// Whether it is a percentile with fewer than ten requests beyond it.
    pub fn is_thin(self, scheme: &Scheme) -> bool {
        match self {
            Quantity::Of(op, Figure::Percentile(level)) => {
                percentile::is_thin(level, scheme.side(op).total_ios)
            }
            _ => false,
        }
    }

    /// What is known of it in each part of the measurement.
    pub(crate) fn parts(self, scheme: &Scheme) -> Option<OfParts<'_>> {
        let filled = |all: &'_ Vec<f64>| !all.is_empty();
        match self {
            Quantity::Of(op, figure) => {
                let side = scheme.side(op);
                let by_run = side.by_run.as_ref().and_then(|parts| figure.part(parts)).map(OfParts::Runs);
                by_run
                    .or_else(|| side.batch_shifts.as_ref().and_then(|p| figure.part(p)).map(OfParts::Batches))
            }
            Quantity::Waf if filled(&scheme.waf_by_run) => Some(OfParts::Runs(&scheme.waf_by_run)),
            Quantity::Waf => {
                Some(&scheme.waf_shifts).filter(|all| filled(all)).map(|all| OfParts::Batches(all))
            }
        }
    }
}

impl FromStr for Quantity {
    type Err = String;

    fn from_str(name: &str) -> Result<Quantity, String> {
        const FORM: &str = "a figure is such as `read.p99.9`, `write.mean`, `read.iops` or `waf`";
        if name == "waf" {
            return Ok(Quantity::Waf);
        }
        let (op, figure) = name.split_once('.').ok_or_else(|| format!("`{name}`: {FORM}"))?;
        let unknown = || format!("`{op}`: `read`, `write`, `trim` or `flush`; {FORM}");
        let op = HostOp::named(op).ok_or_else(unknown)?;
        let figure = Figure::named(figure)
            .ok_or_else(|| format!("`{figure}`: `iops`, `mean`, or one of {}", percentile::names()))?;
        Ok(Quantity::Of(op, figure))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quantity::Of(op, figure) => write!(f, "{}.{figure}", op.name()),
            Quantity::Waf => f.write_str("waf"),
        }
    }
}
