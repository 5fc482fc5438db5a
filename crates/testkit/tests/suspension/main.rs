//! Does every way to suspend an erase or a program stop where it may, at the cost it has,
//! and go on where it left off?
//!
//! One die erases, or programs, from a known instant on; reads arrive one nanosecond
//! before, at and after everything that can happen to it. What must follow is worked out
//! here from the phases, by another way than the model's.

mod bounds;
mod compare;
mod erase;
mod ledger;
mod nested;
mod program;

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::policy::suspend_erase::{SuspendEraseConfig, timeout};
use tailcut_testkit::{one_die, swarm};
use tailcut_units::Span;

/// When the erase or program in question goes into the array.
const T: u64 = 1_000_000_000;
/// The phases of a loop of an erase end here: ramp-up, execution, recovery, verify.
const RAMP: u64 = 50_000;
const EXECUTION: u64 = 950_000;
const RECOVERY: u64 = 980_000;
const LOOP: u64 = 1_000_000;
const LOOPS: u64 = 3;
const ERASE: u64 = LOOPS * LOOP;
/// Suspending, resuming and verifying an erase.
const SUSPEND: u64 = 25_000;
const RAISE: u64 = 15_000;
const VERIFY: u64 = 11_000;
/// A read from its grant until the die is free: command, sense, data out.
const READ: u64 = COMMAND + 40_000 + PAGE;
const COMMAND: u64 = 300;
const PAGE: u64 = 10_240;

/// One die whose erases are suspended by a member of the family.
fn erasing(member: &str) -> DeviceConfig {
    let mut c = one_die();
    c.policy.suspend_erase = swarm::member(member);
    c
}

/// One die with T-ES.
fn timing_out(after: u64) -> DeviceConfig {
    let mut c = one_die();
    c.policy.suspend_erase =
        SuspendEraseConfig::Timeout(timeout::Config { after: Span(after), clock: timeout::Clock::Erase });
    c
}
