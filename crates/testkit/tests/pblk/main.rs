//! pblk against its rules: the times of each step, the laws between events, and what theory and an independent
//! simulation give.

mod collection;
mod failures;
mod gate;
mod hot_cold;
mod laws;
mod raid6;
mod rail;
mod referees;
mod snapshots;
mod stage;
mod timelines;
