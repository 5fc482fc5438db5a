//! Keys of the raw bit errors.

use crate::problem::{ConfigProblem, check_time, refuse};
use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// Bytes of user data in a codeword of the code whose decoder the table describes.
pub const CODEWORD: u64 = 4096;

/// How the error rate of a page follows from its program/erase cycles, the age of its data and its reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorModel {
    /// The power law that was fitted to a 72-layer TLC chip (Kim et al., FAST 2019).
    PowerLaw,
    /// The fit to the days after which RiF's drive needs retries: 17, 14 and 10 days at 0, 200 and 500
    /// cycles.
    Fitted,
    /// Eight threshold-voltage states that shift down and widen.
    ThresholdVoltage,
}

/// Raw bit errors of the pages.
///
/// - Read by: the senses of a page (`nand::errors::draw`), in `flash::senses`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorsConfig {
    /// How the error rate follows from cycles, age and reads.
    ///
    /// - Read by: the tables of error rates (`nand::errors::model`)
    pub model: ErrorModel,
    /// Time of one iteration of the decoder. A codeword takes so many iterations as its errors need, besides
    /// `ecc.decode`.
    ///
    /// - Range: 0ns to 1000s
    /// - Read by: the decoder (`nand::ecc`), from `flash::senses`
    #[serde(with = "quantity::time")]
    pub iteration: Span,
    /// Boundaries between threshold-voltage states that a sense of each page type tells apart. A page has
    /// errors in this proportion.
    ///
    /// - Range: each 1 to 16; one value, or as many as `timing.read` has
    pub boundaries: Vec<u32>,
    /// Error rate that a page has more if V_REF is one step away from its optimum. It grows with the square
    /// of the distance.
    ///
    /// - Range: more than 0%, at most 10%
    #[serde(with = "quantity::fraction")]
    pub step: f64,
    /// Standard deviation of the logarithm of the error rate over blocks.
    ///
    /// - Range: 0 to 1
    pub block_spread: f64,
    /// The same over the layers of a block: every block has the same layers.
    ///
    /// - Range: 0 to 1
    pub layer_spread: f64,
    /// Layers of a block. Its pages lie in the layers in order.
    ///
    /// - Range: 1 to 1024
    pub layers: u32,
    /// The same over the pages of a layer.
    ///
    /// - Range: 0 to 1
    pub page_spread: f64,
    /// The same over the codewords of a page. Each sense draws it anew.
    ///
    /// - Range: 0 to 1
    pub codeword_spread: f64,
}

impl ErrorsConfig {
    /// Check the values of a drive with this many page types.
    pub(crate) fn check(&self, page_types: usize, codeword: u64) -> Result<(), ConfigProblem> {
        if codeword != CODEWORD {
            let problem =
                format!("{codeword} bytes; with the table `errors` {CODEWORD}: the payload of its code");
            return refuse("ecc.codeword", problem);
        }
        check_time("errors.iteration", self.iteration)?;
        let n = self.boundaries.len();
        if n != 1 && n != page_types {
            let problem = format!("{n} values; give one, or as many as timing.read has ({page_types})");
            return refuse("errors.boundaries", problem);
        }
        if self.boundaries.iter().any(|n| !(1..=16).contains(n)) {
            return refuse("errors.boundaries", "each value is in 1..=16");
        }
        if !(self.step > 0.0 && self.step <= 0.1) {
            return refuse("errors.step", "more than 0% and at most 10%");
        }
        let spreads = [
            ("errors.block_spread", self.block_spread),
            ("errors.layer_spread", self.layer_spread),
            ("errors.page_spread", self.page_spread),
            ("errors.codeword_spread", self.codeword_spread),
        ];
        for (key, spread) in spreads {
            if !(0.0..=1.0).contains(&spread) {
                return refuse(key, "0 to 1");
            }
        }
        if !(1..=1024).contains(&self.layers) {
            return refuse("errors.layers", format!("{} is not in 1..=1024", self.layers));
        }
        Ok(())
    }
}
