//! What a busy program does when something urgent waits for its die.

pub mod inter_phase;
pub mod intra_phase;
pub mod never;

use super::PolicyContext;

/// How a busy program gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramStop {
    /// When the phase under way (a pulse, or its verify) is over.
    AfterPhase,
    /// At once; the phase under way is lost.
    CancelPhase,
}

/// The contract: the answer is fixed for the drive's life. A suspended program resumes
/// when nothing waits that may interrupt it.
pub trait SuspendProgram {
    /// How it gives way; `None` if it does not.
    fn stop(&self) -> Option<ProgramStop>;
}

family! {
    key: "suspend_program",
    decides: "What a busy program does when something urgent waits for its die.",
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
