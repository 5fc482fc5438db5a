//! What several tests share.
#![allow(dead_code)] // Each test file uses a part.

use tailcut_ldpc::{
    Block, CODE_SEED, Code, Errors, Job, Method, PAYLOAD_BLOCKS, Schedule, Sensing, Settings, Tally, measure,
};
use tailcut_units::Stream;

/// The code of the shipped table.
pub fn code() -> Code {
    Code::new(CODE_SEED)
}

/// Min-sum with at most 20 iterations.
pub fn min_sum(schedule: Schedule, factor: &str) -> Settings {
    Settings {
        method: Method::MinSum { schedule, factor: factor.parse().expect("a factor") },
        iterations: 20,
    }
}

/// A random payload.
pub fn payload(id: u64) -> [Block; PAYLOAD_BLOCKS] {
    let mut stream = Stream::new(1, "test payload", id);
    std::array::from_fn(|_| Block(std::array::from_fn(|_| stream.next_u64())))
}

/// Frames at an error rate, with extra senses.
pub fn job(settings: Settings, senses: u32, p: f64, frames: u64) -> Job {
    let sensing = Sensing::new(senses, p).expect("a possible sense");
    Job { seed: 7, settings, errors: Errors::Rate(p), sensing, frames }
}

/// Measure a job on two threads.
pub fn run(job: &Job) -> Tally {
    measure(&code(), job, 2, &|_| true).expect("it is not stopped")
}
