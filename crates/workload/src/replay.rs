//! How the user wants a trace replayed, or which jobs of a job file.

use crate::trace::TraceOptions;
use tailcut_units::Span;

/// How the user wants a trace replayed, or which jobs of a job file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceReplay {
    /// How the trace is read and laid on the drive; `closed_loop` is set from `depth`.
    pub options: TraceOptions,
    /// The number of requests to keep outstanding; the timestamps are then ignored.
    pub depth: Option<u32>,
    /// The part of the run that is replayed and not measured.
    pub warm_up: WarmUp,
    /// The trace options given, as the user wrote them. They are an error with a job.
    pub given: Vec<&'static str>,
    /// The sections of a job file that are run; all if there is none. A name may have `*` and `?`.
    pub sections: Vec<String>,
}

/// The part of a replay before measurement begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarmUp {
    /// Everything is measured.
    #[default]
    None,
    /// This long from the start of the run.
    For(Span),
    /// Up to this time of the trace, counted from its first record, before `start_ns` is subtracted
    /// and before scaling.
    Until(Span),
}
