//! i-ISPE: ISPE that starts at the voltage level with which the block's last erase ended.
//!
//! **What it does.** Remembers how many pulses the last erase of each block took. The next erase begins with a full
//! pulse at the voltage level of that number, and continues like `ispe`.
//!
//! **Why it matters for the tail.** Old blocks need fewer pulses. Each is at a higher voltage, which wears
//! the block more if `erase.stress_exponent` is more than 0.
//!
//! **Parameters and source.** None. Intelligent ISPE, as AERO (ASPLOS'24) compares with it. How many pulses
//! blocks need is data (`erase.rows`): at 2,500 cycles mostly two instead of three.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `erase` of `testkit`.

pub use super::ispe::Config;

/// The scheme `i-ispe`.
pub type Policy = super::ispe::FullPulses<true>;
