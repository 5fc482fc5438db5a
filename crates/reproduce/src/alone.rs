//! Runs without requests: the erases of blocks of an age, or their lives, and what the policies of each scheme
//! answer.

use crate::answers::{Answers, answers};
use crate::measure::{Figure, number, time};
use crate::unit::Kind;
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

impl OfBlocks {
    /// Their erases.
    ///
    /// # Errors
    /// The run has none.
    pub fn erases(&self) -> Result<&Erases, String> {
        self.erases.as_ref().ok_or_else(|| "only a run with alone = \"erases\" has erases".to_string())
    }

    fn lives(&self) -> Result<&Lifetime, String> {
        self.lives.as_ref().ok_or_else(|| "only a run with alone = \"lives\" has lives".to_string())
    }

    fn answers(&self) -> Result<&Answers, String> {
        self.answers
            .as_ref()
            .ok_or_else(|| "only a run with alone = \"answers\" asks the policies".to_string())
    }
}

/// Figures of blocks alone (`blocks.share_N` is another one), and questions to the policies.
pub(crate) static ALONE: [Figure<OfBlocks>; 12] = [
    // Whether reads go round programs of users, round collection, and round what levels wear.
    question("avoids.programs", |b| b.answers().map(|a| yes(a.programs))),
    question("avoids.collection", |b| b.answers().map(|a| yes(a.collection))),
    question("avoids.wear", |b| b.answers().map(|a| yes(a.wear))),
    // Whether a read knows what it would wait for: it goes round by the state of the drive, neither after a timeout
    // nor always.
    question("avoids.exactly", |b| b.answers().map(|a| yes(a.programs || a.collection))),
    // Share of the LUNs that may program for users at once, and that may collect at once.
    number("at_once.users", |b| Ok(b.answers()?.users_at_once)),
    number("at_once.collection", |b| Ok(b.answers()?.collects_at_once)),
    // Mean pulse time and number of pulses of an erase.
    time("blocks.pulse_time", |b| Ok(b.erases()?.pulse_ns)),
    number("blocks.pulses", |b| Ok(b.erases()?.pulses)),
    // Share of the erases that left fail bits.
    number("blocks.incomplete", |b| Ok(b.erases()?.incomplete)),
    // The largest difference of the distribution of pulse times from the row of requirements.
    number("blocks.distance", |b| {
        b.erases()?.distance.ok_or_else(|| "there is no row of this age".to_string())
    }),
    // Mean cycles of a block's life, and cycles after which a hundredth of the blocks has ended.
    number("blocks.life", |b| Ok(b.lives()?.mean)),
    number("blocks.first_percent", |b| Ok(f64::from(b.lives()?.first_percent))),
];

/// A figure whose values are 1 for yes and 0 for no.
const fn question(name: &'static str, of: fn(&OfBlocks) -> Result<f64, String>) -> Figure<OfBlocks> {
    Figure { name, kind: Kind::Answer, of }
}

fn yes(yes: bool) -> f64 {
    f64::from(u8::from(yes))
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
