//! What follows when the data of a read cannot be decoded: with which read voltage (V_REF) the page is sensed
//! again, and what tells beforehand that decoding will fail.

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

/// Where V_REF stands for a sense. Distances are in sixteenths of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aim {
    /// At its default.
    Default,
    /// Where it was for the last page of these blocks that was decoded when it was sensed again.
    Tracked,
    /// Moved from its default by this distance.
    Moved(u16),
    /// At the optimum of the page, up to an error that is normal with this standard deviation.
    Optimum(u16),
    /// Where inference number 0 or 1 of the scheme says that it is: each page infers for itself ([`Inference`]).
    Inferred(u8),
}

/// A sense that the controller orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sense {
    /// Where V_REF stands.
    pub aim: Aim,
    /// Whether the data are decoded. If not, only the known cells of the pages cross the channel, and tell
    /// where V_REF belongs.
    pub decoded: bool,
}

/// What makes the senses after the first faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faster {
    /// The time in which the die drops a sense that is not needed, ns, if it begins the next one while the data of
    /// the last are transferred and decoded.
    pub drop: Option<u64>,
    /// The share of a sense's time that is left out, in millionths.
    pub shorter: u32,
    /// Raw bit errors of a KiB that a shorter sense adds, in sixteenths.
    pub errors: u32,
}

/// How good inferences of the optimum are. Distances are in sixteenths of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inference {
    /// The draws below which the first and the second inference are right, of 2^32.
    pub right: [u64; 2],
    /// Distance of V_REF from the optimum after a wrong one.
    pub miss: u16,
    /// Standard deviation of V_REF around the optimum after a right one.
    pub deviation: u16,
}

/// An operation whose data could not be decoded, or were only to tell where V_REF belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedView {
    /// Senses that the controller has ordered, from 1 on.
    pub senses: u32,
}

/// Where a predictor of failures is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// In the flash die: a page that is predicted to fail is sensed again at once.
    Die,
    /// Behind the channel: a page that is predicted to fail is not decoded.
    Controller,
}

/// A predictor of failures: it compares the syndrome weight of one codeword of a page with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Predictor {
    /// Where it is.
    pub place: Place,
    /// What a prediction takes, ns.
    pub ns: u64,
    /// The largest weight over the first 1,024 checks that counts as correctable; `None`: the mean weight at
    /// the correction limit of the code.
    pub threshold: Option<u32>,
    /// Standard deviation of the V_REF of the sense that follows in the die, in sixteenths of a step.
    pub deviation: u16,
    /// Whether the sense that follows in the die begins with the prediction, and is dropped if it is not needed.
    pub overlaps: bool,
}

/// The contract: `next` returns `None` after at most 64 senses. All other answers never change.
pub trait ReadRetry {
    /// Where V_REF stands for the first sense.
    fn first(&self) -> Aim {
        Aim::Default
    }
    /// What predicts failures.
    fn predictor(&self) -> Option<Predictor> {
        None
    }
    /// Neighbouring blocks of a plane that share [`Aim::Tracked`].
    fn tracked_blocks(&self) -> u32 {
        1
    }
    /// The share of a page that its known cells are, in millionths.
    fn known_cells(&self) -> u32 {
        0
    }
    /// How good inferences are, of a member that aims at [`Aim::Inferred`].
    fn inference(&self) -> Inference {
        Inference::default()
    }
    /// What makes the senses after the first faster.
    fn faster(&self) -> Faster {
        Faster::default()
    }
    /// The next sense; `None` gives the data up.
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
