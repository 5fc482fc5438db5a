//! Tests of the trace readers as a whole.

mod convert;
mod doubts;
mod errors;
mod formats;
mod guesses;
mod mutations;
mod order;
mod real;
mod replay;
mod samples;
mod speed;
