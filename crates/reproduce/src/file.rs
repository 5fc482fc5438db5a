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

use serde::Deserialize;
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
    /// What is compared, in the order shown; nothing where nobody published anything.
    #[serde(default)]
    pub check: Vec<Check>,
    /// Tables of measures beside the checks.
    #[serde(default)]
    pub table: Vec<Table>,
    /// Tables over time.
    #[serde(default)]
    pub series: Vec<SeriesTable>,
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
    /// none, sequential, steady or scattered; by the workload and `age.free` if not given.
    pub precondition: Option<String>,
    /// Seed of every random stream.
    #[serde(default = "one")]
    pub seed: u64,
}

fn one() -> u64 {
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
    /// Ten is ten times the rate.
    pub rate_scale: Option<f64>,
    /// Thirty is thirty times the size.
    pub size_scale: Option<f64>,
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
    pub schemes: Vec<String>,
    /// The load: `{multiplier}` and `{size}` are filled in.
    pub workload: String,
    /// The full size.
    pub full: String,
    /// The quick size; without one the search is skipped at quick size.
    pub quick: Option<String>,
    /// The largest multiplier tried.
    pub most: u32,
    /// Slices of the official rule, in virtual time; the tool's own are one hour.
    pub slice: String,
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
    /// The scheme or variant.
    pub scheme: Option<String>,
    /// What is measured.
    pub measure: String,
    /// Divide by this.
    pub relative_to: Option<RelativeTo>,
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
    /// The measures, each with its unit: `read.mean us`; `@ RUN` behind it takes it from
    /// another run. `capacity` is what the host could have of the flash, and
    /// `left.p99.9` what the blame says of the reads above a percentile.
    pub columns: Vec<String>,
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

impl Check {
    /// The runs it is about.
    pub fn about(&self) -> impl Iterator<Item = &str> {
        self.run.iter().chain(&self.runs).map(String::as_str)
    }
}
