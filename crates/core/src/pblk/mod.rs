//! The rules of pblk, Linux's translation layer on the host for open-channel SSDs, that need no time: how its lines lie
//! on the device, how much of it users get, its ring, and who may write into it.
//!
//! The names are those of its code (Linux 4.12 to 5.14, `drivers/lightnvm`). Versions of the kernel differ in two rules,
//! the size of the ring and the reserve; the default is 5.1, which RAIL is compared with (TOS 18(1), 2022).

pub mod array;
pub mod limiter;
pub mod provision;
pub mod ring;
