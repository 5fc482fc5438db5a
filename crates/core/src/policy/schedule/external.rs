//! External: a function of the program around the drive chooses the next operation.
//!
//! **What it does.** Asks a function that the program gives, such as one of Python ([`crate::policy::outside`]). It is
//! asked only if operations of several kinds wait.
//!
//! **Why it matters for the tail.** A rule can be tried before it is written in Rust.
//!
//! **Parameters and source.** The function, its name, and the answers that are fixed for a drive's life.
//!
//! **Left out.** The state of the function in snapshots: a drive with it cannot be saved.
//!
//! **Checked by** `python/tests/test_policies.py`.

use super::{QueueView, Schedule};
use crate::policy::outside;
use tailcut_units::{Occupant, Occupants};

/// What the program gives.
pub struct Asked {
    /// The queue whose head is served now. It keeps the contract of [`Schedule::next`].
    pub next: Box<dyn Fn(&QueueView<'_>) -> Occupant + Send + Sync>,
    /// The kinds of work that go first on the channel too.
    pub first_on_channel: Occupants,
    /// By kind of work: the kinds that may interrupt it.
    pub interrupters: [Occupants; Occupant::COUNT],
    /// As [`Schedule::reads_close_channel`].
    pub reads_close_channel: bool,
    /// As [`Schedule::collections_hold_programs`].
    pub collections_hold_programs: bool,
}

/// The function by its name.
pub type Config = outside::Config<Asked>;
/// The function of a drive.
pub type Policy = outside::Policy<Asked>;

impl Schedule for Policy {
    #[cold]
    fn next(&mut self, view: &QueueView<'_>) -> Occupant {
        (self.asked().next)(view)
    }
    fn first_on_channel(&self, occupant: Occupant) -> bool {
        self.asked().first_on_channel.has(occupant)
    }
    fn interrupters(&self, holder: Occupant) -> Occupants {
        self.asked().interrupters[holder as usize]
    }
    fn reads_close_channel(&self) -> bool {
        self.asked().reads_close_channel
    }
    fn collections_hold_programs(&self) -> bool {
        self.asked().collections_hold_programs
    }
}
