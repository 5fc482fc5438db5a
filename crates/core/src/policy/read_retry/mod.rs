//! The reaction to reads whose data cannot be decoded: the read voltage (V_REF) with which the page is sensed again,
//! and the prediction that decoding will fail.

pub mod none;
pub mod retry_ideal;
pub mod retry_one;
pub mod rif;
pub mod rp_controller;
pub mod sentinel;
pub mod swift_read;
pub mod swift_read_plus;
pub mod walk;

use super::PolicyContext;
use super::retries::{at_optimum, parts};
use serde::{Deserialize, Serialize};

/// The V_REF of a sense. Distances are in sixteenths of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aim {
    /// The default.
    Default,
    /// The tracked V_REF of the block's group: that of its last retry whose data could be decoded.
    Tracked,
    /// At this distance from the default.
    Moved(u16),
    /// The optimum of the page, with a normal error of this standard deviation.
    Optimum(u16),
    /// The result of inference number 0 or 1 of the scheme ([`Inference`]), made separately for each page.
    Inferred(u8),
}

/// A sense by a command of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sense {
    /// Its V_REF.
    pub aim: Aim,
    /// Whether the data are decoded. If not, only the cells with known contents cross the channel, from which V_REF is
    /// inferred.
    pub decoded: bool,
}

/// What makes the senses after the first faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faster {
    /// With speculative senses: the time in which the die drops a sense that is not needed, ns. `None` without them.
    pub drop: Option<u64>,
    /// The share by which a sense is shorter, in millionths.
    pub shorter: u32,
    /// Raw bit errors per KiB that a shorter sense adds, in sixteenths.
    pub errors: u32,
}

/// The accuracy of inferences of the optimum. Distances are in sixteenths of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inference {
    /// Probabilities that the first and the second inference are right, in units of 2^-32.
    pub right: [u64; 2],
    /// Distance of V_REF from the optimum after a wrong inference.
    pub miss: u16,
    /// Standard deviation of V_REF around the optimum after a right inference.
    pub deviation: u16,
}

/// An operation whose data could not be decoded, or that only read known cells for an inference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedView {
    /// Number of senses by commands so far, from 1.
    pub senses: u32,
}

/// The place of a predictor of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PredictorSite {
    /// In the flash die: a page that is predicted to fail is sensed again at once.
    Die,
    /// Behind the channel: a page that is predicted to fail is not decoded.
    Controller,
}

/// A predictor of failures: it compares the syndrome weight of one codeword of a page with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predictor {
    /// Its place.
    pub place: PredictorSite,
    /// Time of a prediction, ns.
    pub ns: u64,
    /// The largest weight over the first 1,024 checks that counts as correctable; `None`: the mean weight at
    /// the correction limit of the code.
    pub threshold: Option<u32>,
    /// Standard deviation of V_REF around the optimum in the second sense of the die, in sixteenths of a step.
    pub deviation: u16,
    /// Whether the second sense of the die begins at the same time as the prediction, and is dropped if it is not
    /// needed.
    pub overlaps: bool,
}

/// The contract: `next` returns `None` after at most 64 senses. All other answers never change.
pub trait ReadRetry {
    /// The V_REF of the first sense.
    fn first(&self) -> Aim {
        Aim::Default
    }
    /// The predictor of failures, if there is one.
    fn predictor(&self) -> Option<Predictor> {
        None
    }
    /// Number of neighbouring blocks of a plane that share [`Aim::Tracked`].
    fn tracked_blocks(&self) -> u32 {
        1
    }
    /// The share of a page's cells with known contents, in millionths.
    fn known_cells(&self) -> u32 {
        0
    }
    /// The accuracy of inferences, for a member that uses [`Aim::Inferred`].
    fn inference(&self) -> Inference {
        Inference::default()
    }
    /// What makes the senses after the first faster.
    fn faster(&self) -> Faster {
        Faster::default()
    }
    /// The next sense; with `None` the data are given up.
    fn next(&self, view: &FailedView) -> Option<Sense>;
}

family! {
    key: "read_retry",
    decides: "What a read does whose data cannot be decoded.",
    config: ReadRetryConfig,
    policy: ReadRetryPolicy: ReadRetry,
    context: PolicyContext,
    neutral: None "none",
    members: {
        none None "none",
        retry_ideal RetryIdeal "retry-ideal",
        retry_one RetryOne "retry-one",
        walk Walk "walk",
        sentinel Sentinel "sentinel",
        swift_read SwiftRead "swift-read",
        swift_read_plus SwiftReadPlus "swift-read-plus",
        rp_controller RpController "rp-controller",
        rif Rif "rif",
    }
    answers: {
        fn first() -> Aim;
        fn predictor() -> Option<Predictor>;
        fn tracked_blocks() -> u32;
        fn known_cells() -> u32;
        fn inference() -> Inference;
        fn faster() -> Faster;
        fn next(view: &FailedView) -> Option<Sense>;
    }
}
