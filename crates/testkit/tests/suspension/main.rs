//! Tests that every way to suspend an erase or a program stops at the permitted point, costs
//! the configured time, and continues where it stopped.
//!
//! One die erases or programs from a known time on. Reads arrive one nanosecond before, at and
//! after each of its events. The expected times are computed here from the phases, in a
//! different way than in the model.

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

/// Time at which the erase or program in question enters the array, ns.
const T: u64 = 1_000_000_000;
/// Ends of the phases of an erase loop, ns: ramp-up, execution, recovery, verify.
const RAMP: u64 = 50_000;
const EXECUTION: u64 = 950_000;
const RECOVERY: u64 = 980_000;
const LOOP: u64 = 1_000_000;
const LOOPS: u64 = 3;
const ERASE: u64 = LOOPS * LOOP;
/// Times of suspending, of resuming and of the verify of an erase, ns.
const SUSPEND: u64 = 25_000;
const RAISE: u64 = 15_000;
const VERIFY: u64 = 11_000;
/// Time of a read from its grant until the die is free, ns: command, sense, data out.
const READ: u64 = COMMAND + 40_000 + PAGE;
const COMMAND: u64 = 300;
const PAGE: u64 = 10_240;

/// One die whose erases are suspended by a member of the family.
fn erasing(member: &str) -> DeviceConfig {
    let mut c = one_die();
    c.policy.suspend_erase = swarm::member(member);
    c
}

/// One die with T-ES and this timeout in ns.
fn timing_out(after: u64) -> DeviceConfig {
    let mut c = one_die();
    c.policy.suspend_erase =
        SuspendEraseConfig::Timeout(timeout::Config { after: Span(after), clock: timeout::Clock::Erase });
    c
}
