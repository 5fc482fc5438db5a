//! Generated workloads: fio job files, fio jobs in one line, and Aerospike's ACT.
//!
//! [`JobSet`] is the parsed description. [`JobSet::open`] opens it on a host capacity and a
//! seed and gives [`OpenJobs`], with one [`JobStream`] per job clone.
//!
//! # What differs from fio
//!
//! - `number_ios` without `io_size` is exact: the job makes that many requests, in as many
//!   passes over its region as needed. fio would stop after `size` bytes; a warning is
//!   given where this makes a difference.
//! - The random map (every block once before any repeats) needs no memory: it is a keyed
//!   permutation. It applies to uniform random jobs whose directions share one block size,
//!   with offsets aligned to that size and `percentage_random=100`. All other random jobs
//!   draw independently, as under `norandommap`. A second pass has a new order.
//! - `bsrange` is uniform over its multiples (fio favours the largest size a little).
//! - `zipf` and `pareto` ranks are scattered by a keyed permutation, so every block has
//!   exactly one rank; fio hashes with collisions. `zipf:1` is allowed.
//! - `normal` draws again if a value falls outside the region.
//! - A paced mixed job issues the direction that is due first. If only one direction has a
//!   rate, that rate paces the whole job.
//! - `rate_iops` counts requests also when sizes vary (fio counts smallest blocks).
//! - `rate_process=poisson` and `io_submit_mode=offload` make a job open-loop: latency
//!   counts from the intended arrival, and the depth is unbounded unless `iodepth` is
//!   given. A linear rate otherwise keeps its depth (1 by default) and catches up.
//! - `thinktime_blocks` counts requests issued. Before the pause the job waits for its requests
//!   outstanding, as in fio.
//! - Without `ioengine`, `iodepth` applies; fio would take a synchronous engine.
//! - Without `filename`, an `offset` counts from the start of the drive and not in a file of the job's own.
//! - The first requests of a job with `rw=randread:N` are a run of N; in fio the first run is one shorter.
//! - `KiB` and the like are errors without `kb_base`, since fio reads them as powers of
//!   1000 by default.
//! - `stonewall` (`wait_for_previous`) makes a job and those after it begin when the last
//!   request of all jobs before it has ended. As in fio, `startdelay` counts from the start
//!   of the run, and `ramp_time` and `runtime` count from the job's own start.
//! - The runtime counts after `startdelay` and `ramp_time`, as in fio.

mod act;
mod ageing;
mod apply;
mod command_line;
mod error;
mod files;
mod lists;
mod open;
mod options;
mod pace;
mod permute;
mod ranks;
mod set;
mod spec;
mod spread;
mod stream;
mod text;
mod value;

#[cfg(test)]
mod tests;

pub use ageing::OverwriteStream;
pub use error::{JobError, Place, Problem, Warning};
pub use open::{OpenJobs, Overwrites};
pub use set::JobSet;
pub use spec::JobSpec;
pub use stream::JobStream;
