//! External: a function of the program around the drive decides whether a blocked read is rebuilt.
//!
//! **What it does.** Asks a function that the program gives, such as one of Python ([`crate::policy::outside`]).
//!
//! **Why it matters for the tail.** A rule can be tried before it is written in Rust.
//!
//! **Parameters and source.** The function, and its name.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `python/tests/test_policies.py`.

use super::{BlockedView, ReadPath};
use crate::policy::outside;

/// What the program gives.
pub struct Asked {
    /// Whether to read the rest of the stripe instead of waiting for the plane.
    pub rebuild: Box<dyn Fn(&BlockedView) -> bool + Send + Sync>,
}

/// The function by its name.
pub type Config = outside::Config<Asked>;
/// The function of a drive.
pub type Policy = outside::Policy<Asked>;

impl ReadPath for Policy {
    fn rebuilds(&self) -> bool {
        true
    }
    #[cold]
    fn rebuild(&self, view: &BlockedView) -> bool {
        (self.asked().rebuild)(view)
    }
}
