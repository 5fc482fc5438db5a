//! RAIL: a redundant array of independent LUNs (TOS 18(1), 2022).
//!
//! A *stride* is a group of write units of one stripe on different LUNs. One or two of them are the parity of the
//! others ([`strides`]). The writer programs parity as soon as a stripe has its data (`parity`). The *gate* limits
//! the LUNs of a stride that program or erase at one time (`gate`, policy `write_gate`). Parity computes sectors on
//! busy LUNs (`reads`) and sectors that cannot be read (`failures`). Users and collection may write to different LUNs
//! (`hot_cold`).

mod equations;
pub(super) mod failures;
pub(super) mod gate;
pub(super) mod hot_cold;
pub(super) mod parity;
pub(super) mod reads;
pub mod strides;
