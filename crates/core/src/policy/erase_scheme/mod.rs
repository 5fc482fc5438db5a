//! The pulses of an erase, chosen by the result of the verify after each pulse.

pub mod aero;
pub mod aero_cons;
pub mod dpes;
pub mod fixed;
pub mod i_ispe;
pub mod ispe;

use super::PolicyContext;
use serde::{Deserialize, Serialize};

/// The constants of the array that a scheme may know.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EraseContext {
    /// Length of a step, ns. Pulses are whole steps.
    pub step_ns: u64,
    /// Steps of the longest pulse at one voltage level.
    pub steps_per_level: u32,
    /// Voltage levels, from 1 on.
    pub levels: u32,
    /// Largest number of fail bits with which one further step erases a block.
    pub gamma: u32,
    /// Fail bits that each further missing step adds.
    pub delta: u32,
    /// Largest number of fail bits that shows how many further steps erase a block.
    pub high: u32,
    /// Raw bit errors per KiB that an erase adds if it ends with `delta` fail bits.
    pub residual_errors: u32,
}

/// The state of a block that the controller knows before an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockView {
    /// Number of pulses of its last erase; 0 if it has never been erased.
    pub pulses: u32,
    /// Whether a short first pulse (shallow erasure) is useful.
    pub shallow: bool,
    /// Expected raw bit errors per KiB, in 1/16, at the stated retention.
    pub errors: u32,
}

/// The result of the verify after a pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyView {
    /// The voltage level of the pulse, from 1 on.
    pub level: u32,
    /// Number of remaining steps at this level.
    pub left: u32,
    /// Fail bits: bit lines with a cell that is not erased.
    pub fail_bits: u32,
}

/// The load of host writes on the drive when an erase is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteLoad {
    /// Mapping units in the write buffer that are on their way to flash; 0 without a buffer.
    pub in_flight: u32,
    /// Number of mapping units for which the buffer has room in addition to its dirty ones; 0 without a buffer.
    pub room: u32,
    /// Whether a host write waits: for the buffer or, without a buffer, for its program.
    pub waits: bool,
}

/// A pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulse {
    /// The voltage level, from 1 on.
    pub level: u32,
    /// Its length.
    pub steps: u32,
}

/// The contract: `first` and `next` return pulses of at least one step that fit into their level. `next` is asked while
/// the block is not erased; `None` ends the erase. `at_full_voltage` is asked when an erase is issued, and is false for
/// a scheme that does not choose. All other answers never change.
pub trait EraseScheme {
    /// The scheme whose rows in `erase.rows` give the pulse time that blocks need. `None`: every erase uses the
    /// configured loops, and no other method is called.
    fn rows(&self) -> Option<&'static str>;
    /// The first pulse.
    fn first(&self, block: &BlockView) -> Pulse;
    /// The pulse after this verify.
    fn next(&self, block: &BlockView, verify: &VerifyView) -> Option<Pulse>;
    /// For a scheme that leaves blocks incompletely erased: the raw bit errors per KiB that a block may then have. The
    /// rows of the scheme depend on this number, too.
    fn requirement(&self) -> Option<u32> {
        None
    }
    /// Number of steps by which the erase of a block with these expected errors, in 1/16, may stay incomplete if it
    /// would end at this level. The rows of the scheme do not contain these steps.
    fn may_leave(&self, _level: u32, _errors: u32) -> u32 {
        0
    }
    /// Whether pulses are predicted, so that a prediction can be wrong.
    fn predicts(&self) -> bool {
        false
    }
    /// The voltage of all levels, relative to that of full pulses.
    fn voltage(&self) -> f64 {
        1.0
    }
    /// The program time of a block that was erased at this voltage, relative to that without the scheme.
    fn program_time(&self) -> f64 {
        1.0
    }
    /// Whether the scheme chooses the voltage of full pulses for some erases (`at_full_voltage`).
    fn chooses_voltage(&self) -> bool {
        false
    }
    /// Whether an erase that is issued under this load uses the voltage of full pulses.
    fn at_full_voltage(&self, _load: &WriteLoad) -> bool {
        false
    }
}

family! {
    key: "erase_scheme",
    decides: "Which pulses an erase consists of.",
    config: EraseSchemeConfig,
    policy: EraseSchemePolicy: EraseScheme,
    context: PolicyContext,
    neutral: Fixed "fixed",
    members: {
        fixed Fixed "fixed",
        ispe Ispe "ispe",
        i_ispe IIspe "i-ispe",
        dpes Dpes "dpes",
        aero_cons AeroCons "aero-cons",
        aero Aero "aero",
    }
    answers: {
        fn rows() -> Option<&'static str>;
        fn first(block: &BlockView) -> Pulse;
        fn next(block: &BlockView, verify: &VerifyView) -> Option<Pulse>;
        fn requirement() -> Option<u32>;
        fn may_leave(level: u32, errors: u32) -> u32;
        fn predicts() -> bool;
        fn voltage() -> f64;
        fn program_time() -> f64;
        fn chooses_voltage() -> bool;
        fn at_full_voltage(load: &WriteLoad) -> bool;
    }
}
