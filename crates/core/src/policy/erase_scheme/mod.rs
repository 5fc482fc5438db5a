//! The pulses of an erase, chosen from what the verify after each pulse tells.

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
    /// Most fail bits with which one step more erases a block.
    pub gamma: u32,
    /// Fail bits that each step before it adds.
    pub delta: u32,
    /// Most fail bits that tell how many steps more erase a block.
    pub high: u32,
    /// Raw bit errors of a KiB that `delta` fail bits add which an erase leaves.
    pub residual_errors: u32,
}

/// What the controller knows of a block before it erases the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockView {
    /// Pulses of its last erase; 0 if it has had none.
    pub pulses: u32,
    /// Whether a short first pulse can help.
    pub shallow: bool,
    /// Raw bit errors of a KiB, in 1/16, that it is expected to have at the stated retention.
    pub errors: u32,
}

/// The result of the verify after a pulse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyView {
    /// The voltage level of the pulse, from 1 on.
    pub level: u32,
    /// Steps that are left at this level.
    pub left: u32,
    /// Fail bits: bit lines with a cell that is not erased.
    pub fail_bits: u32,
}

/// How the host's writes load the drive when an erase is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteLoad {
    /// Mapping units in the write buffer that are on their way to flash; 0 without a buffer.
    pub in_flight: u32,
    /// Mapping units for which the buffer has room beside its dirty ones; 0 without a buffer.
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

/// The contract: `first` and `next` return pulses of at least one step that fit into their level. `next` is
/// asked while the block is not erased; `None` leaves it as it is. `at_full_voltage` is asked when an erase is
/// ordered, and is false for a scheme that does not choose. All other answers never change.
pub trait EraseScheme {
    /// The scheme whose rows in `erase.rows` tell what blocks need. `None`: every erase takes the configured
    /// loops, and nothing below is asked.
    fn rows(&self) -> Option<&'static str>;
    /// The first pulse.
    fn first(&self, block: &BlockView) -> Pulse;
    /// The pulse after this verify.
    fn next(&self, block: &BlockView, verify: &VerifyView) -> Option<Pulse>;
    /// Raw bit errors of a KiB that a block may have with what its erase leaves, for a scheme whose erases leave
    /// something. Its rows then follow from this number, too.
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
    /// The voltage of all levels, against that of full pulses.
    fn voltage(&self) -> f64 {
        1.0
    }
    /// The time of a program of a block that was erased at this voltage, against that of a drive without the
    /// scheme.
    fn program_time(&self) -> f64 {
        1.0
    }
    /// Whether some erases are at the voltage of full pulses instead, as `at_full_voltage` says.
    fn chooses_voltage(&self) -> bool {
        false
    }
    /// Whether an erase that is ordered under this load is at the voltage of full pulses.
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
