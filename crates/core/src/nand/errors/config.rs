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

/// What a time of the decoder is the time of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecodeUnit {
    /// A codeword.
    Codeword,
    /// All codewords of a page together: each takes an equal share.
    Page,
}

impl DecodeUnit {
    /// Number of codewords that share a decoding time, in a page of `of_page` codewords.
    pub(super) fn codewords(self, of_page: u64) -> u64 {
        match self {
            DecodeUnit::Codeword => 1,
            DecodeUnit::Page => of_page.max(1),
        }
    }
}

/// Where a read whose data could not be decoded waits in the queue of its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryPlace {
    /// Before those that arrived after its first sense was issued.
    Front,
    /// After them.
    Back,
}

/// Raw bit errors of the pages.
///
/// - Read by: the senses of a page (`nand::errors::draw`), in `array::senses`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorsConfig {
    /// The model by which the error rate follows from cycles, age and reads.
    ///
    /// - Read by: the tables of error rates (`nand::errors::model`)
    pub model: ErrorModel,
    /// Time of one iteration of the decoder. A codeword takes `ecc.decode`, and as many iterations as its errors need.
    ///
    /// - Range: 0ns to 1000s
    /// - Read by: the decoder (`nand::ecc`), from `array::senses`
    #[serde(with = "quantity::time")]
    pub iteration: Span,
    /// The unit to which `errors.iteration` and `errors.decode_times` apply: a codeword, or all codewords of a page
    /// together, of which each takes an equal share.
    ///
    /// - Read by: the time of a codeword in the decoder (`nand::errors::times`)
    pub decode_unit: DecodeUnit,
    /// Times of the decoder by error rate, in place of iterations: the first without errors, the last at the correction
    /// limit of the code, the others at equal distances between them. Between two of them the time is interpolated
    /// linearly, in 254 steps. A codeword that cannot be decoded takes the last time.
    ///
    /// - Range: each 0ns to 1000s; at most 64 values, which do not fall
    /// - Read by: the time of a codeword in the decoder (`nand::errors::times`)
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "quantity::times")]
    pub decode_times: Vec<Span>,
    /// The position in the queue of its die of a read whose data could not be decoded: before the reads that arrived
    /// after it, or after them.
    ///
    /// - Read by: the queues of the dies (`flash::dispatch`), from `array::senses`
    pub retry_place: RetryPlace,
    /// Number of boundaries between threshold-voltage states that a sense of each page type must distinguish. The error
    /// rates of the page types have this proportion.
    ///
    /// - Range: each 1 to 16; one value, or as many as `timing.read` has
    pub boundaries: Vec<u32>,
    /// Additional error rate of a page if V_REF is one step away from its optimum. It grows with the square of the
    /// distance.
    ///
    /// - Range: more than 0%, at most 10%
    #[serde(with = "quantity::fraction")]
    pub step: f64,
    /// Standard deviation of the logarithm of the error rate over blocks.
    ///
    /// - Range: 0 to 1
    pub block_spread: f64,
    /// Standard deviation of the logarithm of the error rate over the layers of a block. Every block has the same layers.
    ///
    /// - Range: 0 to 1
    pub layer_spread: f64,
    /// Number of layers of a block. The pages fill the layers in order.
    ///
    /// - Range: 1 to 1024
    pub layers: u32,
    /// Standard deviation of the logarithm of the error rate over the pages of a layer.
    ///
    /// - Range: 0 to 1
    pub page_spread: f64,
    /// Standard deviation of the logarithm of the error rate over the codewords of a page. Each sense draws it again.
    ///
    /// - Range: 0 to 1
    pub codeword_spread: f64,
    /// Standard deviation, over blocks, of the logarithm of the distance between the optimum and the default of V_REF.
    /// The median distance is that of the model. The additional errors at the default grow with the square of the
    /// distance.
    ///
    /// - Range: 0 to 1
    pub shift_block_spread: f64,
    /// The same standard deviation over the layers of a block. Every block has the same layers.
    ///
    /// - Range: 0 to 1
    pub shift_layer_spread: f64,
    /// The same standard deviation over the boundaries of the page types. `timing.read` has a value for each type.
    ///
    /// - Range: 0 to 1
    pub shift_boundary_spread: f64,
}

impl ErrorsConfig {
    /// Pages without variation, with the errors of the fitted model, and a decoder that takes 1 us for an iteration.
    pub fn alike() -> ErrorsConfig {
        ErrorsConfig {
            model: ErrorModel::Fitted,
            iteration: Span(1_000),
            decode_unit: DecodeUnit::Codeword,
            decode_times: Vec::new(),
            retry_place: RetryPlace::Back,
            boundaries: vec![2],
            step: 0.0005,
            block_spread: 0.0,
            layer_spread: 0.0,
            layers: 1,
            page_spread: 0.0,
            codeword_spread: 0.0,
            shift_block_spread: 0.0,
            shift_layer_spread: 0.0,
            shift_boundary_spread: 0.0,
        }
    }

    /// Time of a codeword without errors in the decoder, in addition to `ecc.decode`, ns: one iteration, or the first
    /// of `decode_times`. A page has `of_page` codewords.
    pub(crate) fn least_decoding(&self, of_page: u64) -> u64 {
        let least = self.decode_times.first().unwrap_or(&self.iteration);
        least.0 / self.decode_unit.codewords(of_page)
    }

    /// Check the values of a drive with this many page types.
    pub(crate) fn check(&self, page_types: usize, codeword: u64) -> Result<(), ConfigProblem> {
        if codeword != CODEWORD {
            let problem =
                format!("{codeword} bytes; with the table `errors` {CODEWORD}: the payload of its code");
            return refuse("ecc.codeword", problem);
        }
        check_time("errors.iteration", self.iteration)?;
        for &time in &self.decode_times {
            check_time("errors.decode_times", time)?;
        }
        if self.decode_times.len() > 64 {
            return refuse("errors.decode_times", format!("{} values; at most 64", self.decode_times.len()));
        }
        if !self.decode_times.is_sorted() {
            return refuse(
                "errors.decode_times",
                "times that fall; the decoder does not get faster as the error rate grows",
            );
        }
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
            ("errors.shift_block_spread", self.shift_block_spread),
            ("errors.shift_layer_spread", self.shift_layer_spread),
            ("errors.shift_boundary_spread", self.shift_boundary_spread),
        ];
        for (key, spread) in spreads {
            if !(0.0..=1.0).contains(&spread) {
                return refuse(key, "0 to 1");
            }
        }
        if !(1..=1024).contains(&self.layers) {
            return refuse("errors.layers", format!("{} is out of range: 1 to 1024", self.layers));
        }
        Ok(())
    }
}
