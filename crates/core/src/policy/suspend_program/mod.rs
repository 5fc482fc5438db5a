//! What a busy program does when an urgent operation waits for its die.

pub mod collection;
pub mod inter_phase;
pub mod intra_phase;
pub mod never;

use super::PolicyContext;
use tailcut_units::Occupant;

/// How a busy program is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramStop {
    /// After the phase under way (a pulse, or its verify).
    AfterPhase,
    /// At once; the phase under way is lost.
    CancelPhase,
}

/// A program that an urgent operation waits for.
#[derive(Clone, Copy, Debug)]
pub struct ProgramView {
    /// The kind of the program.
    pub occupant: Occupant,
    /// Array time that the program has left, ns.
    pub left: u64,
    /// Time since the program was queued in which it made no progress, ns. Work that a suspension
    /// cancelled counts as no progress.
    pub delayed: u64,
    /// Program/erase cycles of the program's block; of several blocks, those of the one on the first plane.
    pub cycles: u32,
    /// Whether a lane of the die is short of space: collection must free an extent there before the
    /// host may write on.
    pub urgent: bool,
    /// How long the oldest host write that waits for buffer room has waited, ns; 0 if none waits.
    pub oldest_write: u64,
}

/// The contract: `suspends` is fixed for the drive's life. `stop` is asked only for kinds for which it is true, and
/// its answer depends only on the view. (It is also asked to predict when a program would stop.) A suspended program
/// resumes when no operation waits that may interrupt it.
pub trait SuspendProgram {
    /// Whether programs of this kind are ever suspended.
    fn suspends(&self, occupant: Occupant) -> bool;
    /// How the program would be suspended now; `None` if it would go on, until the next operation arrives that may
    /// interrupt it.
    fn stop(&self, view: &ProgramView) -> Option<ProgramStop>;
}

/// A member that suspends all programs, always in one way.
macro_rules! always {
    ($stop:ident) => {
        parameterless!();

        impl $crate::policy::suspend_program::SuspendProgram for Policy {
            #[inline]
            fn suspends(&self, _: tailcut_units::Occupant) -> bool {
                true
            }
            #[inline]
            fn stop(
                &self,
                _: &$crate::policy::suspend_program::ProgramView,
            ) -> Option<$crate::policy::suspend_program::ProgramStop> {
                Some($crate::policy::suspend_program::ProgramStop::$stop)
            }
        }
    };
}
use always;

family! {
    key: "suspend_program",
    decides: "What a busy program does when an urgent operation waits for its die.",
    config: SuspendProgramConfig,
    policy: SuspendProgramPolicy: SuspendProgram,
    context: PolicyContext,
    neutral: Never "never",
    members: {
        never Never "never",
        inter_phase InterPhase "inter-phase",
        intra_phase IntraPhase "intra-phase",
        collection Collection "collection",
    }
    answers: {
        fn suspends(occupant: Occupant) -> bool;
        fn stop(view: &ProgramView) -> Option<ProgramStop>;
    }
}
