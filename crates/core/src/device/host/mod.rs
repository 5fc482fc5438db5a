//! The host's commands: accepted, read, trimmed, flushed, completed.

mod audit;
pub(super) mod commands;
pub(super) mod flush;
pub(super) mod read;
pub(super) mod trim;
