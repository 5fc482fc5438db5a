//! What a busy erase does when an urgent operation waits for its die, and when it resumes.

pub mod arbitrary;
pub mod deferred;
pub mod ideal;
pub mod immediate;
pub mod never;
pub mod timeout;

use super::PolicyContext;
use serde::{Deserialize, Serialize};

/// An erase that an urgent operation waits for, or that is suspended.
#[derive(Clone, Copy, Debug)]
pub struct EraseView {
    /// Time since the erase was queued in which it made no progress, ns. Work that a suspension
    /// cancelled counts as no progress.
    pub delayed: u64,
    /// How long the oldest host write that waits for buffer room has waited, ns; 0 if none waits.
    pub oldest_write: u64,
}

/// How a busy erase is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EraseStop {
    /// At once; it resumes with the exact remainder.
    AtOnce,
    /// At once and at no cost; it resumes with the exact remainder.
    AtOnceFree,
    /// At once; the loop under way is lost.
    CancelLoop,
    /// After the loop under way. A resume under way is not cancelled.
    AfterLoop,
}

/// Which operations are served before a suspended erase resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Serve {
    /// All operations that may interrupt the erase; it resumes when none of them waits.
    All,
    /// The operations that may interrupt the erase and are queued when the policy is asked, and no
    /// later arrival.
    Queued,
}

/// The contract: `suspends` is fixed for the drive's life. `stop` and `serve` are asked only where
/// it is true, and their answers depend only on the view. (`stop` is also asked to predict when an
/// erase would stop.) A policy that answers `AfterLoop` serves what the drive serves after a loop
/// (`PolicyContext::served_after_loop`).
pub trait SuspendErase {
    /// Whether an erase is ever suspended.
    fn suspends(&self) -> bool;
    /// How the erase would be suspended now.
    fn stop(&self, view: &EraseView) -> EraseStop;
    /// Which operations are served before the erase resumes; asked when its die is free.
    fn serve(&self, view: &EraseView) -> Serve;
}

/// A member whose answers never change.
macro_rules! constant {
    ($stop:ident, $serve:ident) => {
        parameterless!();

        impl $crate::policy::suspend_erase::SuspendErase for Policy {
            #[inline]
            fn suspends(&self) -> bool {
                true
            }
            #[inline]
            fn stop(
                &self,
                _: &$crate::policy::suspend_erase::EraseView,
            ) -> $crate::policy::suspend_erase::EraseStop {
                $crate::policy::suspend_erase::EraseStop::$stop
            }
            #[inline]
            fn serve(
                &self,
                _: &$crate::policy::suspend_erase::EraseView,
            ) -> $crate::policy::suspend_erase::Serve {
                $crate::policy::suspend_erase::Serve::$serve
            }
        }
    };
}
use constant;

family! {
    key: "suspend_erase",
    decides: "What a busy erase does when an urgent operation waits for its die.",
    config: SuspendEraseConfig,
    policy: SuspendErasePolicy: SuspendErase,
    context: PolicyContext,
    neutral: Never "never",
    members: {
        never Never "never",
        arbitrary Arbitrary "arbitrary",
        immediate Immediate "immediate",
        deferred Deferred "deferred",
        timeout Timeout "timeout",
        ideal Ideal "ideal",
    }
    answers: {
        fn suspends() -> bool;
        fn stop(view: &EraseView) -> EraseStop;
        fn serve(view: &EraseView) -> Serve;
    }
}
