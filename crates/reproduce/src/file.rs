//! The format of an experiment file.
//!
//! ```toml
//! id = "atc19/table2"
//! title = "…"            # one line
//! source = "…"           # paper, table or figure
//! shows = "…"            # what the figure shows
//! misses = "…"           # why values are out of band, in one or two sentences
//!
//! [time]                 # stated running times on two cores
//! quick = "5 s"
//! full = "30 s"
//!
//! [defaults]             # of the checks: scheme, source, trust, band, kind, fitted
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
//! Tables that have keys in common are written as one, with a row for what each has of its own:
//!
//! ```toml
//! [[check]]
//! run = "randread-qd1"
//! unit = "us"
//! band = { relative = 13, because = "…" }
//! each = [
//!     { label = "mean", measure = "read.mean", published = 16.9 },
//!     { label = "99th percentile", measure = "read.p99", published = 21 },
//! ]
//! ```
//!
//! A run with an `axis` is a sweep: it is run at every value of the axis, or at every
//! combination of values where it has several axes ([`crate::sweep`]).
//!
//! A run with `search` repeats its load at several multipliers, and gives the largest at which
//! the drive passes ([`crate::search`]):
//!
//! ```toml
//! [[run]]
//! name = "act"
//! device = "z-ssd"
//! schemes = ["baseline"]
//! workload = "act,multiplier={multiplier},{size}"
//! full = "duration=150s"
//! search = { most = 40, step = 2, after = "30s", slice = "5s" }
//! ```

use crate::alone::Alone;
use crate::axis::{Axis, Find, Sweep};
use crate::scale::Scale;
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
    /// Why values are out of band, in one or two sentences; needed if any is.
    pub misses: Option<String>,
    /// Explanation of the results, in Markdown.
    pub discussion: Option<String>,
    /// Stated running times.
    pub time: RunningTime,
    /// Values for checks that do not state their own.
    #[serde(default)]
    pub defaults: Defaults,
    /// Variants for every run that names no schemes and no variants.
    #[serde(default)]
    pub variant: Vec<Variant>,
    /// Runs. Those with `search` are searches; they are done after the others.
    #[serde(default)]
    pub run: Vec<Run>,
    /// Values of an axis that are determined from the results.
    #[serde(default)]
    pub find: Vec<Find>,
    /// The comparisons, in the order shown; empty if nothing was published.
    #[serde(default)]
    pub check: Vec<Check>,
    /// What was expected before the first run, without published values. Each is a check without `published`,
    /// `says`, `source` and `trust`, is judged at the full size, and is counted apart from the checks.
    #[serde(default)]
    pub expect: Vec<Check>,
    /// Tables of measures in addition to the checks.
    #[serde(default)]
    pub table: Vec<Table>,
    /// Tables over time.
    #[serde(default)]
    pub series: Vec<SeriesTable>,
    /// The sweeps among the runs; their points are in `run`.
    #[serde(skip)]
    pub sweeps: Vec<Sweep>,
}

/// Stated running times on two cores, without aged drives in the cache.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunningTime {
    /// At the quick size.
    pub quick: String,
    /// At the full size.
    pub full: String,
}

/// Values for checks that do not state their own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// The scheme.
    pub scheme: Option<String>,
    /// Place in the paper.
    pub source: Option<String>,
    /// How far the published value is to be trusted.
    pub trust: Option<Trust>,
    /// The band.
    pub band: Option<Band>,
    /// The kind.
    pub kind: Option<CheckKind>,
    /// What the values were fitted to.
    pub fitted: Option<String>,
}

/// Schemes on one drive under the same requests, or under one load at several multipliers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The name that checks use.
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
    /// Further keys set at the quick size, for example for a smaller drive that ages faster.
    #[serde(default)]
    pub quick_set: Vec<String>,
    /// Faults of the drive, as `--fault` takes them.
    #[serde(default)]
    pub fault: Vec<String>,
    /// The faults at the quick size; those of `fault` if empty.
    #[serde(default)]
    pub quick_fault: Vec<String>,
    /// A job, as `--workload` takes it; `{size}` stands for `full` or `quick`, and in a search `{multiplier}` for each
    /// multiplier that is tried.
    pub workload: Option<String>,
    /// The value of `{size}` at the full size.
    pub full: Option<String>,
    /// The value of `{size}` at the quick size; if it is missing, the run is skipped at that
    /// size.
    pub quick: Option<String>,
    /// What is done without requests, instead of `workload`: `erases` or `lives` of blocks alone, or `answers` of
    /// the policies.
    pub alone: Option<Alone>,
    /// File name of a trace in the folder of traces, instead of `workload`.
    pub trace: Option<String>,
    /// How the trace is replayed.
    pub replay: Option<Replay>,
    /// What is searched, if the load is repeated at several multipliers.
    pub search: Option<RatingSearch>,
    /// Why the requests stand in for others that the paper used. Values measured with a
    /// stand-in are not comparable with the published ones; directions are.
    pub stand_in: Option<String>,
    /// Measures that must be above zero under at least one scheme. Otherwise the run does not
    /// show what the figure is about, and its checks are not comparable.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Axes along which the run is repeated.
    #[serde(default)]
    pub axis: Vec<Axis>,
    /// Whether the run is a point of a sweep that the quick size leaves out.
    #[serde(skip)]
    pub full_only: bool,
    /// none, sequential, steady or scattered; if missing, it follows from the workload and
    /// `age.free`.
    pub precondition: Option<String>,
    /// What the shares and addresses of the requests refer to.
    #[serde(default)]
    pub capacity: CapacityOf,
    /// Seed of every random stream.
    #[serde(default = "one")]
    pub seed: u64,
}

/// The capacity that the requests of a run address.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityOf {
    /// The smallest of all schemes: each gets the same requests and holds the same data. Parity then
    /// costs no room of the host, but spare space.
    #[default]
    Common,
    /// Each scheme's own: each is as full as the others, and one with parity holds less data.
    Own,
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
    /// The name that checks use.
    pub name: String,
    /// The scheme expression.
    pub scheme: String,
    /// Keys set in addition to the scheme's, as `--set` takes them.
    pub set: Vec<String>,
}

/// How a trace is replayed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// Number of laps.
    #[serde(rename = "loop")]
    pub laps: Option<u32>,
    /// Number of laps at the quick size; if it is missing, the run is skipped at that size.
    pub quick_loop: Option<u32>,
    /// Keep this many requests outstanding and ignore the timestamps.
    pub closed_loop: Option<u32>,
    /// Factor on the request rate. A number, or the value of an axis (`"{load}"`).
    pub rate_scale: Option<Scale>,
    /// Factor on the request sizes. A number, or the value of an axis.
    pub size_scale: Option<Scale>,
    /// Put all volumes of the trace at the same addresses.
    #[serde(default)]
    pub overlay: bool,
}

/// A search for the largest multiplier of the ACT load at which a drive passes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatingSearch {
    /// The largest multiplier tried.
    pub most: u32,
    /// Only multiples of this number are tried, and the rating is one of them.
    #[serde(default = "one_step")]
    pub step: u32,
    /// Virtual time at the start that is not judged.
    pub after: Option<String>,
    /// Length of the slices of the tool's own rule, in virtual time; the tool uses one hour.
    pub slice: String,
}

/// A comparison.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The label of the row.
    pub label: String,
    /// The run.
    pub run: Option<String>,
    /// Several runs: the check compares the mean over them.
    #[serde(default)]
    pub runs: Vec<String>,
    /// For a sweep: the value of each axis.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
    /// For a sweep: one axis has the value that this find determines.
    pub found: Option<String>,
    /// The scheme or variant.
    pub scheme: Option<String>,
    /// Name of the measure.
    pub measure: String,
    /// Divide the value by this one, or subtract this one.
    pub relative_to: Option<RelativeTo>,
    /// The kind of the comparison; by [`Experiment::kind`] if missing.
    pub kind: Option<CheckKind>,
    /// For a calibrated check: what was fitted to its value, or the inputs that its value is made of.
    pub fitted: Option<String>,
    /// The published value in `unit`.
    pub published: Option<f64>,
    /// The words of the paper, if it gives no value.
    pub says: Option<String>,
    /// The unit of `published` and of the band.
    pub unit: String,
    /// Place in the paper.
    pub source: Option<String>,
    /// How far the published value is to be trusted.
    pub trust: Option<Trust>,
    /// The range of values that count as reproduced.
    pub band: Option<Band>,
    /// A note shown with the result.
    pub note: Option<String>,
    /// Why a comparison would mean nothing; the measured value is shown nevertheless.
    pub not_comparable: Option<String>,
    /// The check is judged at the quick size too.
    #[serde(default)]
    pub quick: bool,
}

/// The kind of a comparison.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// A value that was published, in figures or in words, and that the model could miss.
    Value,
    /// A value to which the model was fitted, an input of the preset, or a sum of inputs: it tests
    /// the calibration and predicts nothing.
    Calibrated,
    /// A direction or an order: which of two values is larger, or that something grows.
    Order,
    /// True by construction of the model for any settings: a test of the bookkeeping.
    Structural,
}

impl fmt::Display for CheckKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CheckKind::Value => "value",
            CheckKind::Calibrated => "calibrated",
            CheckKind::Order => "order",
            CheckKind::Structural => "structural",
        })
    }
}

/// The value to divide by; missing parts are taken from the check.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelativeTo {
    /// The run.
    pub run: Option<String>,
    /// The scheme.
    pub scheme: Option<String>,
    /// The measure.
    pub measure: Option<String>,
    /// Subtract instead of dividing: the result is in the measure's own unit.
    #[serde(default)]
    pub difference: bool,
}

/// The range of values that count as reproduced, and the reason. One or two of the four limits
/// are given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Percent of the published value, in both directions.
    pub relative: Option<f64>,
    /// Lower and upper limit, in the check's unit.
    pub range: Option<[f64; 2]>,
    /// Upper limit, in the check's unit.
    pub at_most: Option<f64>,
    /// Lower limit, in the check's unit.
    pub at_least: Option<f64>,
    /// The reason for the band: a stated error, or the precision of the prose.
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

/// A table of measures, with one row for each scheme of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its heading.
    pub title: String,
    /// The run.
    pub run: String,
    /// The measures, each with its unit: `read.mean us`; `read.mean/rps %` is relative to
    /// another scheme. `@ RUN` at the end takes the value from another run, for a sweep at the
    /// same values of the axes. `in 30..40` marks values in this range, and the row shows in
    /// how many of these columns the value is in range. `capacity` is the share of the raw
    /// flash that the host could use, and `left.p99.9` gives the main causes in the blame of
    /// the reads above a percentile.
    pub columns: Vec<String>,
    /// The schemes shown; all if empty.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// One row for each combination of axis values and one column for each scheme, of a single
    /// measure.
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
    /// The figure shown for each scheme.
    pub of: SeriesOf,
    /// Approximate number of rows.
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
    /// Free blocks of the drive at the end of the interval.
    #[serde(rename = "free_blocks")]
    FreeBlocks,
}

impl Experiment {
    /// Whether the experiment has checks against published values; otherwise it is a
    /// comparison.
    pub fn judges(&self) -> bool {
        !self.check.is_empty()
    }

    /// The number of tasks: one for each run and scheme. A search of one scheme is one task.
    pub fn tasks(&self) -> usize {
        self.run.iter().map(|r| r.names().count()).sum()
    }

    /// The band of a check.
    pub fn band<'a>(&'a self, check: &'a Check) -> Option<&'a Band> {
        check.band.as_ref().or(self.defaults.band.as_ref())
    }

    /// The kind of a check: as declared; otherwise an order if there is no published value and the band
    /// only says which of two values is larger; otherwise a value. A check is calibrated or structural
    /// only if declared so.
    pub fn kind(&self, check: &Check) -> CheckKind {
        let order = check.published.is_none()
            && check.relative_to.is_some()
            && self.band(check).is_some_and(|b| b.is_limit(if check.unit == "%" { 0.0 } else { 1.0 }));
        let declared = check.kind.or(self.defaults.kind);
        declared.unwrap_or(if order { CheckKind::Order } else { CheckKind::Value })
    }

    /// What a calibrated check was fitted to; `None` for the other kinds.
    pub fn fitted<'a>(&'a self, check: &'a Check) -> Option<&'a str> {
        let fitted = check.fitted.as_deref().or(self.defaults.fitted.as_deref());
        fitted.filter(|_| self.kind(check) == CheckKind::Calibrated)
    }

    /// The scheme of a check.
    pub fn scheme<'a>(&'a self, check: &'a Check) -> Option<&'a str> {
        check.scheme.as_deref().or(self.defaults.scheme.as_deref())
    }

    /// The axis of this name, from the first sweep that has it.
    pub(crate) fn axis(&self, name: &str) -> Option<&Axis> {
        self.sweeps.iter().flat_map(|s| &s.axes).find(|a| a.name == name)
    }

    /// The runs that a check is about, with `found` as the axis and value of its
    /// find. Runs for which a sweep has no such point are left out.
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
        if self.full_only {
            return false;
        }
        match &self.trace {
            Some(_) => self.replay.as_ref().is_some_and(|r| r.quick_loop.is_some()),
            None => self.quick.is_some() || self.alone.is_some(),
        }
    }

    /// The workload of a size, with its `{size}`; `None` if the run has a trace or blocks alone.
    pub(crate) fn load(&self, quick: bool) -> Option<String> {
        let size = if quick { &self.quick } else { &self.full };
        self.workload.as_ref().map(|load| load.replace("{size}", size.as_deref().unwrap_or_default()))
    }

    /// Every text in which the placeholder of an axis may stand.
    pub(crate) fn texts(&mut self) -> Vec<&mut String> {
        let mut texts: Vec<&mut String> = Vec::new();
        texts.extend([&mut self.workload, &mut self.full, &mut self.quick].into_iter().flatten());
        if let Some(replay) = &mut self.replay {
            let scales = [&mut replay.rate_scale, &mut replay.size_scale];
            texts.extend(scales.into_iter().flatten().map(|Scale(text)| text));
        }
        texts.extend(self.set.iter_mut().chain(&mut self.quick_set));
        texts.extend(self.fault.iter_mut().chain(&mut self.quick_fault));
        texts.extend(self.variant.iter_mut().flat_map(|v| v.set.iter_mut()));
        texts
    }
}

impl Check {
    /// The runs and sweeps that the check names.
    pub fn named(&self) -> impl Iterator<Item = &str> {
        self.run.iter().chain(&self.runs).map(String::as_str)
    }
}

impl Band {
    /// Whether the band is a single limit.
    pub fn is_one_sided(&self) -> bool {
        self.relative.is_none() && self.range.is_none() && (self.at_most.is_some() != self.at_least.is_some())
    }

    /// Whether the band is this single limit.
    fn is_limit(&self, limit: f64) -> bool {
        self.is_one_sided() && self.at_most.or(self.at_least) == Some(limit)
    }
}
