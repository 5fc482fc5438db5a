//! External: a function of the program around the drive chooses the victim.
//!
//! **What it does.** Asks a function that the program gives, such as one of Python ([`crate::policy::outside`]). It is
//! asked only if an extent can be collected.
//!
//! **Why it matters for the tail.** A rule can be tried before it is written in Rust.
//!
//! **Parameters and source.** The function, its name, and what its choice depends on.
//!
//! **Left out.** The state of the function in snapshots: a drive with it cannot be saved.
//!
//! **Checked by** `python/tests/test_policies.py`.

use super::{GcVictim, VictimRule, VictimView};
use crate::policy::outside;

/// The function: the index of the extent to collect.
type Pick = dyn Fn(&VictimView<'_>) -> Option<u32> + Send + Sync;

/// What the program gives.
pub struct Asked {
    /// It is asked only if an extent can be collected, and keeps the contract of
    /// [`GcVictim::pick`].
    pub pick: Box<Pick>,
    /// What the choice depends on.
    pub rule: VictimRule,
}

/// The function by its name.
pub type Config = outside::Config<Asked>;
/// The function of a drive.
pub type Policy = outside::Policy<Asked>;

impl GcVictim for Policy {
    #[cold]
    fn pick(&self, view: &VictimView<'_>) -> Option<u32> {
        view.wins_most().and_then(|_| (self.asked().pick)(view))
    }
    fn rule(&self) -> VictimRule {
        self.asked().rule
    }
}
