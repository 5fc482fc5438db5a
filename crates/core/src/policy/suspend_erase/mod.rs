//! What a busy erase does when something urgent waits for its die, and when it resumes.

pub mod arbitrary;
pub mod deferred;
pub mod ideal;
pub mod immediate;
pub mod never;
pub mod timeout;

use super::PolicyContext;
use serde::{Deserialize, Serialize};

/// An erase that something urgent waits for, or that is suspended.
#[derive(Clone, Copy, Debug)]
pub struct EraseView {
    /// Since it was ready: nanoseconds in which it came no nearer to its end. Work that a
    /// suspension threw away counts.
    pub delayed: u64,
    /// How long the oldest of the host writes that wait for buffer room has waited, ns;
    /// 0 when none waits.
    pub oldest_write: u64,
}

/// How a busy erase gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EraseStop {
    /// At once; later the exact remainder.
    AtOnce,
    /// At once and at no cost.
    AtOnceFree,
    /// At once; the loop under way is lost.
    CancelLoop,
    /// When the loop under way is over. A resume under way is not interrupted.
    AfterLoop,
}

/// Who is served before a suspended erase resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Serve {
    /// Whatever may interrupt it, until nothing of it waits.
    All,
    /// What may interrupt it and waits now.
    Queued,
}

/// The contract: `stop` and `serve` are asked only where `suspends` is true, which is
/// fixed for the drive's life, and answer by the view alone (`stop` is also asked for what
/// would be); a policy that answers `AfterLoop` serves what the drive serves after a loop
/// (`PolicyContext::served_after_loop`).
pub trait SuspendErase {
    /// Whether an erase is ever suspended.
    fn suspends(&self) -> bool;
    /// How it gives way now.
    fn stop(&self, view: &EraseView) -> EraseStop;
    /// Who is served before it resumes; asked whenever its die is free.
    fn serve(&self, view: &EraseView) -> Serve;
}

/// A member that always answers the same.
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
    decides: "What a busy erase does when something urgent waits for its die.",
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
