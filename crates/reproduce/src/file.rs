//! The format of an experiment file.
//!
//! ```toml
//! id = "atc19/table2"
//! title = "…"            # one line
//! source = "…"           # paper, table or figure
//! shows = "…"            # what the figure is there for
//!
//! [time]                 # stated running times on two cores
//! quick = "5 s"
//! full = "30 s"
//!
//! [defaults]             # of the checks: scheme, source, trust, band
//!
//! [[run]]                # drives and requests
//! name = "randread-qd1"
//! device = "z-ssd"
//! schemes = ["baseline"]
//! workload = "randread,bs=4k,iodepth=1,{size}"
//! full = "number_ios=200000"
//! quick = "number_ios=20000"
//!
//! [[check]]              # what is compared
//! label = "random read, QD1"
//! run = "randread-qd1"
//! measure = "read.mean"
//! published = 16.9
//! unit = "us"
//! band = { relative = 13, because = "…" }
//! ```
//!
//! A run or search with an `axis` is a sweep: it is run at every value of the axis, or at
//! every combination of values where it has several axes ([`crate::sweep`]).

use crate::scale::Scale;
use crate::sweep::{Axis, Find, Sweep};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// One figure or table of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// `<paper>/<figure>`.
    pub id: String,
    /// One line.
    pub title: String,
    /// Paper, table or figure.
    pub source: String,
    /// What it shows.
    pub shows: String,
    /// Why results are as they are, in Markdown.
    pub discussion: Option<String>,
    /// How long it takes.
    pub time: RunningTime,
    /// What a check has unless it says otherwise.
    #[serde(default)]
    pub defaults: Defaults,
    /// Schemes with keys set, of every run that names none.
    #[serde(default)]
    pub variant: Vec<Variant>,
    /// Runs.
    #[serde(default)]
    pub run: Vec<Run>,
    /// Searches for a rating.
    #[serde(default)]
    pub search: Vec<Search>,
    /// Values of an axis that follow from the results.
    #[serde(default)]
    pub find: Vec<Find>,
    /// What is compared, in the order shown; nothing where nobody published anything.
    #[serde(default)]
    pub check: Vec<Check>,
    /// Tables of measures beside the checks.
    #[serde(default)]
    pub table: Vec<Table>,
    /// Tables over time.
    #[serde(default)]
    pub series: Vec<SeriesTable>,
    /// The sweeps among the runs and searches, whose points are in `run` and `search`.
    #[serde(skip)]
    pub sweeps: Vec<Sweep>,
}

/// Stated running times on two cores, with aged drives not yet in the cache.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunningTime {
    /// At the quick size.
    pub quick: String,
    /// At the full size.
    pub full: String,
}

/// What a check has unless it says otherwise.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// The scheme.
    pub scheme: Option<String>,
    /// Where in the paper.
    pub source: Option<String>,
    /// How far it is to be trusted.
    pub trust: Option<Trust>,
    /// The band.
    pub band: Option<Band>,
}

/// Schemes on one drive under the same requests.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// What checks call it.
    pub name: String,
    /// Device preset or file.
    pub device: String,
    /// Scheme expressions, as `--scheme` takes them.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// Schemes with keys set.
    #[serde(default)]
    pub variant: Vec<Variant>,
    /// Keys set in all of them, as `--set` takes them.
    #[serde(default)]
    pub set: Vec<String>,
    /// Keys set besides at the quick size: a smaller drive ages faster.
    #[serde(default)]
    pub quick_set: Vec<String>,
    /// A job, as `--workload` takes it; `{size}` stands for `full` or `quick`.
    pub workload: Option<String>,
    /// The full size.
    pub full: Option<String>,
    /// The quick size; without one the run is skipped at quick size.
    pub quick: Option<String>,
    /// A trace's file name in the folder of traces, in place of `workload`.
    pub trace: Option<String>,
    /// How the trace is replayed.
    pub replay: Option<Replay>,
    /// The requests stand in for others that the paper has, and why: values measured with
    /// them are not comparable with the published ones, directions are.
    pub stand_in: Option<String>,
    /// Measures that are above zero under some scheme, or the run shows nothing of what the
    /// figure is about and its checks are not comparable.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Axes along which it is repeated.
    #[serde(default)]
    pub axis: Vec<Axis>,
    /// none, sequential, steady or scattered; by the workload and `age.free` if not given.
    pub precondition: Option<String>,
    /// Seed of every random stream.
    #[serde(default = "one")]
    pub seed: u64,
}

fn one() -> u64 {
    1
}

fn one_step() -> u32 {
    1
}

/// A scheme with keys set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// What checks call it.
    pub name: String,
    /// The scheme expression.
    pub scheme: String,
    /// Keys set over it, as `--set` takes them.
    pub set: Vec<String>,
}

/// How a trace is replayed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// Laps.
    #[serde(rename = "loop")]
    pub laps: Option<u32>,
    /// Laps at the quick size; without it the run is skipped at quick size.
    pub quick_loop: Option<u32>,
    /// Keep so many requests outstanding and ignore the timestamps.
    pub closed_loop: Option<u32>,
    /// Ten is ten times the rate. A number, or the value of an axis (`"{load}"`).
    pub rate_scale: Option<Scale>,
    /// Thirty is thirty times the size. A number, or the value of an axis.
    pub size_scale: Option<Scale>,
    /// All volumes of the trace on the same addresses.
    #[serde(default)]
    pub overlay: bool,
}

/// A search for the largest multiplier of the ACT load that a drive stands.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// What checks call it.
    pub name: String,
    /// Device preset or file.
    pub device: String,
    /// Scheme expressions.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// Schemes with keys set.
    #[serde(default)]
    pub variant: Vec<Variant>,
    /// Keys set in all of them, as `--set` takes them.
    #[serde(default)]
    pub set: Vec<String>,
    /// The load: `{multiplier}` and `{size}` are filled in.
    pub workload: String,
    /// The full size.
    pub full: String,
    /// The quick size; without one the search is skipped at quick size.
    pub quick: Option<String>,
    /// The largest multiplier tried.
    pub most: u32,
    /// Multiples of this are tried, and the rating is one of them.
    #[serde(default = "one_step")]
    pub step: u32,
    /// Virtual time at the start in which nothing is judged.
    pub after: Option<String>,
    /// Slices of the tool's own rule, in virtual time; the tool's own are one hour.
    pub slice: String,
    /// Axes along which it is repeated.
    #[serde(default)]
    pub axis: Vec<Axis>,
    /// Seed of every random stream.
    #[serde(default = "one")]
    pub seed: u64,
}

/// What is compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What a row says.
    pub label: String,
    /// The run or search.
    pub run: Option<String>,
    /// Several runs: the check is of the mean over them.
    #[serde(default)]
    pub runs: Vec<String>,
    /// Of a sweep: the value of each axis.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
    /// Of a sweep: the value of one axis is the one that this find comes to.
    pub found: Option<String>,
    /// The scheme or variant.
    pub scheme: Option<String>,
    /// What is measured.
    pub measure: String,
    /// Divide by this, or take it away.
    pub relative_to: Option<RelativeTo>,
    /// What the comparison decides; by [`Check::kind`] if not given.
    pub kind: Option<CheckKind>,
    /// The published value in `unit`.
    pub published: Option<f64>,
    /// What the paper says where it gives no value.
    pub says: Option<String>,
    /// The unit of `published` and of the band.
    pub unit: String,
    /// Where in the paper.
    pub source: Option<String>,
    /// How far it is to be trusted.
    pub trust: Option<Trust>,
    /// What counts as reproduced.
    pub band: Option<Band>,
    /// Shown with the result.
    pub note: Option<String>,
    /// Why a comparison would say nothing; the measured value is still shown.
    pub not_comparable: Option<String>,
    /// Judged at the quick size too.
    #[serde(default)]
    pub quick: bool,
}

/// What a comparison decides.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// A value that was published, in figures or in words: it could have come out otherwise.
    Value,
    /// A direction or an order: which of two is longer, or that something grows.
    Order,
    /// True by construction of the model, whatever it is set to: a test of the bookkeeping.
    Structural,
}

impl fmt::Display for CheckKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CheckKind::Value => "value",
            CheckKind::Order => "order",
            CheckKind::Structural => "structural",
        })
    }
}

/// What a measured value is divided by; what is left out is the check's own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelativeTo {
    /// The run.
    pub run: Option<String>,
    /// The scheme.
    pub scheme: Option<String>,
    /// What is measured of it.
    pub measure: Option<String>,
    /// Take it away in place of dividing by it: the result is in the measure's own unit.
    #[serde(default)]
    pub difference: bool,
}

/// What counts as reproduced; one or two of the four, and why these.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Percent of the published value, to both sides.
    pub relative: Option<f64>,
    /// From and to, in the check's unit.
    pub range: Option<[f64; 2]>,
    /// In the check's unit.
    pub at_most: Option<f64>,
    /// In the check's unit.
    pub at_least: Option<f64>,
    /// Where the band comes from: a stated error, the prose's precision.
    pub because: Option<String>,
}

/// How far a published value is to be trusted.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Stated in the paper.
    #[serde(alias = "seed")]
    Stated,
    /// Implied by the paper's text: read off prose, not off a plot.
    #[serde(alias = "text-implied")]
    Implied,
    /// Read or measured in other public material, such as the authors' code.
    Found,
    /// Inferred, for a reason given.
    #[serde(alias = "inf")]
    Inferred,
    /// Remembered, confirmed by no source.
    #[serde(alias = "mem")]
    Remembered,
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Trust::Stated => "stated",
            Trust::Implied => "implied",
            Trust::Found => "found",
            Trust::Inferred => "inferred",
            Trust::Remembered => "remembered",
        })
    }
}

/// A table of measures: one row a scheme of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its heading.
    pub title: String,
    /// The run.
    pub run: String,
    /// The measures, each with its unit: `read.mean us`; `read.mean/rps %` is relative to
    /// another scheme. `@ RUN` behind it takes it from another run, of a sweep at the same
    /// values of the axes; `in 30..40` marks what lies there, and the row says how many of
    /// such columns do. `capacity` is what the host could have of the flash, and `left.p99.9`
    /// what the blame says of the reads above a percentile.
    pub columns: Vec<String>,
    /// Which schemes; all if none is named.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// A row a value of the axes and a column a scheme, of the one measure.
    #[serde(default)]
    pub by_scheme: bool,
}

/// A table over virtual time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeriesTable {
    /// Its heading.
    pub title: String,
    /// The run.
    pub run: String,
    /// What is shown of each scheme.
    pub of: SeriesOf,
    /// Rows, about.
    pub rows: usize,
}

/// A figure of an interval.
#[derive(Clone, Copy, Debug, Deserialize)]
pub enum SeriesOf {
    /// The longest write that completed in it.
    #[serde(rename = "write.max")]
    WriteMax,
    /// The mean of the writes that completed in it.
    #[serde(rename = "write.mean")]
    WriteMean,
    /// The longest read that completed in it.
    #[serde(rename = "read.max")]
    ReadMax,
    /// Writes completed a second.
    #[serde(rename = "write.iops")]
    WriteIops,
    /// The mean of the reads that completed in it.
    #[serde(rename = "read.mean")]
    ReadMean,
    /// Free blocks of the drive at its end.
    #[serde(rename = "free_blocks")]
    FreeBlocks,
}

impl Experiment {
    /// Whether it has published values to be held to; if not, it is a comparison.
    pub fn judges(&self) -> bool {
        !self.check.is_empty()
    }

    /// What it has to run: one a run and scheme, one a searched scheme.
    pub fn tasks(&self) -> usize {
        self.run.iter().map(|r| r.names().count()).sum::<usize>()
            + self.search.iter().map(|s| s.names().count()).sum::<usize>()
    }

    /// The band of a check.
    pub fn band<'a>(&'a self, check: &'a Check) -> Option<&'a Band> {
        check.band.as_ref().or(self.defaults.band.as_ref())
    }

    /// The scheme of a check.
    pub fn scheme<'a>(&'a self, check: &'a Check) -> Option<&'a str> {
        check.scheme.as_deref().or(self.defaults.scheme.as_deref())
    }

    /// The runs and searches that a check is about, with `found` as the value of the axis
    /// that its find is of; empty where a sweep has no such point.
    pub fn about(&self, check: &Check, found: Option<(&str, &str)>) -> Vec<String> {
        check.named().filter_map(|name| self.point(name, check, found)).collect()
    }

    /// The run of this name, or the point of the sweep of this name that the check is about.
    pub fn point(&self, name: &str, check: &Check, found: Option<(&str, &str)>) -> Option<String> {
        let Some(sweep) = self.sweeps.iter().find(|s| s.name == name) else {
            return Some(name.to_string());
        };
        sweep.run_at(|axis| match found {
            Some((of, value)) if of == axis => Some(value),
            _ => check.at.get(axis).map(String::as_str),
        })
    }
}

impl Run {
    /// The names of its schemes and variants, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.schemes.iter().chain(self.variant.iter().map(|v| &v.name)).map(String::as_str)
    }

    /// Whether there is a quick size.
    pub fn has_quick(&self) -> bool {
        match &self.trace {
            Some(_) => self.replay.as_ref().is_some_and(|r| r.quick_loop.is_some()),
            None => self.quick.is_some(),
        }
    }
}

impl Search {
    /// The names of its schemes and variants, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.schemes.iter().chain(self.variant.iter().map(|v| &v.name)).map(String::as_str)
    }
}

impl Check {
    /// The runs, searches and sweeps that it names.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        self.run.iter().chain(&self.runs).map(String::as_str)
    }

    /// What the comparison decides: as declared, or else an order if it has no published
    /// value and its band says no more than which of two is larger, and a value if not.
    /// Nothing is structural unless declared so.
    pub fn kind(&self, band: Option<&Band>) -> CheckKind {
        let order = self.published.is_none()
            && self.relative_to.is_some()
            && band.is_some_and(|b| b.is_limit(if self.unit == "%" { 0.0 } else { 1.0 }));
        self.kind.unwrap_or(if order { CheckKind::Order } else { CheckKind::Value })
    }
}

impl Band {
    /// Whether it is one limit.
    pub fn is_one_sided(&self) -> bool {
        self.relative.is_none() && self.range.is_none() && (self.at_most.is_some() != self.at_least.is_some())
    }

    /// Whether it is one limit, and that one.
    fn is_limit(&self, limit: f64) -> bool {
        self.is_one_sided() && self.at_most.or(self.at_least) == Some(limit)
    }
}
