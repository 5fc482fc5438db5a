//! The results of an experiment: of its runs, searches and finds, and the checks with their verdicts.

use crate::alone::OfBlocks;
use crate::file::{CheckKind, Run};
use crate::measure::Measure;
use crate::rating::Rating;
use serde::Serialize;
use tailcut_report::summary::Scheme;

/// The results of an experiment.
#[derive(Clone, Debug)]
pub struct Results {
    /// Its id.
    pub id: String,
    /// Whether the experiment ran at the quick sizes.
    pub quick: bool,
    /// Real time, seconds.
    pub seconds: f64,
    /// The runs in order.
    pub runs: Vec<RunOutput>,
    /// The searches in order: their names, and the ratings by scheme.
    pub searches: Vec<(String, Result<Vec<Rating>, String>)>,
    /// The finds in order.
    pub found: Vec<Found>,
    /// The checks, judged.
    pub outcomes: Vec<Outcome>,
    /// What was expected, judged.
    pub expected: Vec<Outcome>,
}

impl Results {
    /// A sentence that names the first measure in `needs` that is zero under every scheme.
    /// `None` if all are above zero or the run did not run.
    pub fn lacks(&self, run: &Run) -> Option<String> {
        let ran = self.run(&run.name).filter(|r| r.missing.is_none())?;
        let above_zero = |name: &&String| {
            let measure = Measure::parse(name);
            measure.is_ok_and(|m| ran.schemes.iter().any(|s| m.of(s).is_ok_and(|v| v > 0.0)))
        };
        let missing = run.needs.iter().find(|name| !above_zero(name))?;
        Some(format!(
            "the run does not show what the figure is about: `{missing}` is zero under every scheme"
        ))
    }

    /// The value of a measure, in the unit of the measure's kind.
    ///
    /// # Errors
    /// Why there is no value.
    pub fn value(&self, run: &str, scheme: &str, measure: &Measure) -> Result<f64, String> {
        if let Some((_, ratings)) = self.searches.iter().find(|(name, _)| name == run) {
            let ratings = ratings.as_ref().map_err(String::clone)?;
            let rating = ratings.iter().find(|r| r.scheme == scheme);
            return measure.of_rating(rating.ok_or_else(|| format!("the search has no scheme `{scheme}`"))?);
        }
        let run = self.run(run).ok_or_else(|| format!("there is no run `{run}`"))?;
        if let Some(why) = &run.missing {
            return Err(why.clone());
        }
        if let Some(blocks) = run.alone.iter().find(|blocks| blocks.scheme == scheme) {
            return measure.of_alone(blocks);
        }
        let found = run.schemes.iter().find(|s| s.name == scheme);
        measure.of(found.ok_or_else(|| format!("scheme `{scheme}` did not run"))?)
    }

    /// The schemes that ran under a run or a search, in order.
    pub fn schemes(&self, run: &str) -> Vec<&str> {
        if let Some((_, ratings)) = self.searches.iter().find(|(name, _)| name == run) {
            return ratings.iter().flatten().map(|r| r.scheme.as_str()).collect();
        }
        let ran = self.run(run).filter(|r| r.missing.is_none());
        let alone = ran.iter().flat_map(|r| &r.alone).map(|blocks| blocks.scheme.as_str());
        ran.iter().flat_map(|r| &r.schemes).map(|s| s.name.as_str()).chain(alone).collect()
    }

    /// The run of this name.
    pub fn run(&self, name: &str) -> Option<&RunOutput> {
        self.runs.iter().find(|r| r.name == name)
    }
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct RunOutput {
    /// Its name.
    pub name: String,
    /// Its schemes in order; empty if it did not run.
    pub schemes: Vec<Scheme>,
    /// The results by scheme, in order, of a run of blocks alone.
    pub alone: Vec<OfBlocks>,
    /// For each scheme, the share of the raw flash that the host could use if the scheme ran
    /// alone.
    pub capacities: Vec<f64>,
    /// Why it did not run.
    pub missing: Option<String>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// The result of a find.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its name.
    pub name: String,
    /// The name of the axis.
    pub axis: String,
    /// The value with the smallest largest miss.
    pub value: Option<String>,
    /// The value with the name and unit of the axis.
    pub said: String,
    /// Number of checks that the find is based on.
    pub checks: usize,
    /// The largest miss for each value of the axis, relative to the published value; `None` if
    /// a check has no value there.
    pub misses: Vec<(String, Option<f64>)>,
}

/// A check with its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The label of the check, with the values of the axes.
    pub label: String,
    /// The kind of the comparison.
    pub kind: CheckKind,
    /// The run, or the runs over which the value is averaged.
    pub run: String,
    /// The scheme.
    pub scheme: String,
    /// Name of the measure.
    pub measure: String,
    /// The published value with its unit, or the words of the paper.
    pub published: String,
    /// Place in the paper.
    pub source: String,
    /// How far the published value is to be trusted.
    pub trust: String,
    /// The band in words.
    pub band: String,
    /// The reason for the band.
    pub because: String,
    /// The measured value with its unit, or a dash.
    pub measured: String,
    /// The measured value in the check's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// What a calibrated check was fitted to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted: Option<String>,
    /// How much of the band the value uses: 0 in its middle, 1 at an edge. `None` if that cannot be said.
    #[serde(skip)]
    pub used: Option<f64>,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// A note shown with the check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The verdict on a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict", content = "why")]
pub enum Verdict {
    /// The measured value is in the band.
    InBand,
    /// The measured value is outside the band.
    OutOfBand,
    /// There is nothing to judge; the text says why.
    NotComparable(String),
    /// The check is judged at the full size only.
    FullSizeOnly,
}

impl Verdict {
    /// The verdict in a few words.
    pub fn words(&self) -> &'static str {
        match self {
            Verdict::InBand => "in band",
            Verdict::OutOfBand => "out of band",
            Verdict::NotComparable(_) => "not comparable",
            Verdict::FullSizeOnly => "full size only",
        }
    }
}
