//! A second calculation of the blame of every request, from the observer's events alone.
//!
//! The drive's own ledgers telescope: their sum is right by construction, so a wrong split
//! would not show in the sum. [`Replay`] keeps the history of every die and channel and the
//! times of every operation, write unit and reconstruction, and splits each wait by walking
//! through that history. It shares no code with the ledgers of the drive.

mod account;
mod history;
mod observer;
mod operation;
mod reached;
mod request;
mod unit;
mod write;

pub use account::Account;
pub use observer::Replay;
pub use operation::program_ns;
pub use reached::Reached;
