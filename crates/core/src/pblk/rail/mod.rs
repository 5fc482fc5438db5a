//! RAIL: a redundant array of independent LUNs (TOS 18(1), 2022).
//!
//! Write units of one stripe on several LUNs are a *stride*, and one or two of them are the parity of the others
//! ([`strides`]). The writer programs parity as soon as a stripe has its data (`parity`). The *gate* lets few LUNs of a
//! stride program or erase at once (`gate`, by the policy `write_gate`). Reads of the others are computed from the rest
//! of their strides (`reads`), and so is what cannot be read (`failures`). Users and collection may write to LUNs of
//! their own (`hot_cold`).

mod equations;
pub(super) mod failures;
pub(super) mod gate;
pub(super) mod hot_cold;
pub(super) mod parity;
pub(super) mod reads;
pub mod strides;
