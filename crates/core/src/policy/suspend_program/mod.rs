//! What a busy program does when an urgent operation waits for its die.

pub mod inter_phase;
pub mod intra_phase;
pub mod never;

use super::PolicyContext;

/// How a busy program is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramStop {
    /// After the phase under way (a pulse, or its verify).
    AfterPhase,
    /// At once; the phase under way is lost.
    CancelPhase,
}

/// The contract: the answer is fixed for the drive's life. A suspended program resumes when no
/// operation waits that may interrupt it.
pub trait SuspendProgram {
    /// How a program is suspended; `None` if it never is.
    fn stop(&self) -> Option<ProgramStop>;
}

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
    }
    answers: {
        fn stop() -> Option<ProgramStop>;
    }
}
