//! Policies in Python: functions that a drive asks in the place of a member of the core.
//!
//! [`views`] are what such a function sees. [`calls`] counts the calls, measures them, and keeps the first error, which
//! stops the run. [`given`] puts the functions into configurations, and checks their answers.

pub mod calls;
pub mod given;
pub mod views;
