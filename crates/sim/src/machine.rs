//! What a run costs on the machine that executes it. These figures are about the
//! simulator and never inputs of the model.

use cpu_time::ThreadTime;
use std::time::Instant;

/// Processor time of this thread and real time, since the stopwatch was started.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    cpu: ThreadTime,
    wall: Instant,
}

impl Stopwatch {
    /// Start a stopwatch. It must be read on the thread that started it.
    #[allow(clippy::new_without_default)] // A default that reads a clock would surprise.
    pub fn new() -> Stopwatch {
        Stopwatch { cpu: ThreadTime::now(), wall: Instant::now() }
    }

    /// Processor seconds of this thread since the start.
    pub fn cpu_seconds(&self) -> f64 {
        self.cpu.elapsed().as_secs_f64()
    }

    /// Real seconds since the start.
    pub fn wall_seconds(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }
}

/// The largest memory that this process ever had resident, in bytes, if the system
/// reports it.
pub fn peak_rss_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// The memory that this process has resident now, in bytes, if the system reports it.
pub fn rss_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(field))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
