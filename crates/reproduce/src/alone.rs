//! Runs without requests: the erases of blocks of an age, or their lives, and what the policies of each scheme
//! answer.

use crate::answers::{Answers, answers};
use serde::Deserialize;
use tailcut_core::device::Shape;
use tailcut_sim::SchemeSpec;
use tailcut_sim::erases::{Erases, erases};
use tailcut_sim::lifetime::{Lifetime, lifetime};

/// What is done without requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alone {
    /// Blocks are erased once, after `age.pe_cycles`.
    Erases,
    /// Blocks are aged until they have more errors than `erase.worn_errors`.
    Lives,
    /// Nothing: the policies are asked.
    Answers,
}

/// The results of blocks alone under one scheme.
#[derive(Clone, Debug)]
pub struct OfBlocks {
    /// The scheme.
    pub scheme: String,
    /// Their erases.
    pub erases: Option<Erases>,
    /// Their lives.
    pub lives: Option<Lifetime>,
    /// What the policies answer.
    pub answers: Option<Answers>,
}

/// A figure of blocks alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfAlone {
    /// Mean pulse time of an erase.
    PulseTime,
    /// Mean number of pulses of an erase.
    Pulses,
    /// Share of the erases that took this number of pulses.
    ShareOf(usize),
    /// Share of the erases that left fail bits.
    Incomplete,
    /// The largest difference of the distribution of pulse times from the row of requirements.
    Distance,
    /// Mean cycles of a block's life.
    Life,
    /// Cycles after which a hundredth of the blocks has ended.
    FirstPercent,
}

/// Figures of blocks alone, by name. (`blocks.share_N` is another one.)
pub const ALONE: [(&str, OfAlone); 6] = [
    ("blocks.pulse_time", OfAlone::PulseTime),
    ("blocks.pulses", OfAlone::Pulses),
    ("blocks.incomplete", OfAlone::Incomplete),
    ("blocks.distance", OfAlone::Distance),
    ("blocks.life", OfAlone::Life),
    ("blocks.first_percent", OfAlone::FirstPercent),
];

impl OfAlone {
    /// The figure of this name.
    pub fn parse(text: &str) -> Option<OfAlone> {
        let share = || {
            let n = text.strip_prefix("blocks.share_")?.parse().ok()?;
            (1..=tailcut_core::nand::loops::MOST_LOOPS).contains(&n).then_some(OfAlone::ShareOf(n))
        };
        ALONE.into_iter().find(|(name, _)| *name == text).map(|(_, of)| of).or_else(share)
    }

    /// Its value.
    ///
    /// # Errors
    /// The run has other figures.
    pub fn of(self, blocks: &OfBlocks) -> Result<f64, String> {
        let erases = || blocks.erases.as_ref().ok_or("only a run with alone = \"erases\" has erases");
        let lives = || blocks.lives.as_ref().ok_or("only a run with alone = \"lives\" has lives");
        Ok(match self {
            OfAlone::PulseTime => erases()?.pulse_ns,
            OfAlone::Pulses => erases()?.pulses,
            OfAlone::ShareOf(n) => erases()?.by_pulses[n],
            OfAlone::Incomplete => erases()?.incomplete,
            OfAlone::Distance => erases()?.distance.ok_or("there is no row of this age")?,
            OfAlone::Life => lives()?.mean,
            OfAlone::FirstPercent => f64::from(lives()?.first_percent),
        })
    }
}

/// Erases blocks, ages them, or asks the policies, under a scheme.
///
/// # Errors
/// The scheme takes the configured loops, so that blocks do not differ.
pub(crate) fn of_blocks(what: Alone, spec: &SchemeSpec, seed: u64) -> Result<OfBlocks, String> {
    if what == Alone::Answers {
        let answers = answers(&spec.config, seed)?;
        let scheme = spec.name.clone();
        return Ok(OfBlocks { scheme, erases: None, lives: None, answers: Some(answers) });
    }
    let shape = Shape::new(&spec.config, seed).map_err(|e| e.to_string())?;
    let (Some(eraser), Some(config)) = (&shape.eraser, &spec.config.erase) else {
        return Err(format!("`{}` takes the configured loops for every erase", spec.name));
    };
    let (mut ended, mut lives) = (None, None);
    match what {
        Alone::Erases => {
            ended = Some(erases(eraser, &config.rows, spec.config.age.pe_cycles.unwrap_or(0)));
        }
        Alone::Lives => lives = Some(lifetime(eraser, config.worn_errors)),
        Alone::Answers => {}
    }
    Ok(OfBlocks { scheme: spec.name.clone(), erases: ended, lives, answers: None })
}
