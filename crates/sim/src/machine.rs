//! What a run costs the machine it runs on. Figures about the simulator, never inputs of
//! the model.

use cpu_time::ThreadTime;
use std::time::Instant;

/// Processor time of this thread and real time since a moment.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    cpu: ThreadTime,
    wall: Instant,
}

impl Stopwatch {
    /// Starts now. Ask it on the thread that started it.
    #[allow(clippy::new_without_default)] // A default that reads a clock would surprise.
    pub fn new() -> Stopwatch {
        Stopwatch { cpu: ThreadTime::now(), wall: Instant::now() }
    }

    /// Seconds this thread computed since.
    pub fn cpu_seconds(&self) -> f64 {
        self.cpu.elapsed().as_secs_f64()
    }

    /// Seconds that passed since.
    pub fn wall_seconds(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }
}

/// The largest memory this process ever had resident, in bytes, where the system says.
pub fn peak_rss_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// The memory this process has resident now, in bytes, where the system says.
pub fn rss_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(field))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
