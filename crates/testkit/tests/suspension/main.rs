//! Tests what suspension does to a whole drive: the causes and counters of the host's commands, the
//! clock of the write buffer, and schemes compared under the same requests.
//!
//! When an operation stops, what that costs and where it continues is tested at the flash alone
//! (`flash` of `core`). Here one die erases or programs from a known time on.

mod compare;
mod host;

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::policy::suspend_erase::{SuspendEraseConfig, timeout};
use tailcut_testkit::{one_die, swarm};
use tailcut_units::Span;

/// Time at which the erase or program in question enters the array, ns.
const T: u64 = 1_000_000_000;
const LOOP: u64 = 1_000_000;
const ERASE: u64 = 3 * LOOP;
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
