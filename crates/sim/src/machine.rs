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

/// The address space that this process has now, in bytes, if the system reports it.
pub fn address_bytes() -> Option<u64> {
    status_bytes("VmSize:")
}

/// The address space that this process may have (`ulimit -v`), in bytes, if it is limited.
pub fn address_limit() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|l| l.strip_prefix("Max address space"))?;
    // The soft limit comes first; `unlimited` is no number.
    line.split_whitespace().next()?.parse().ok()
}

/// The page faults of this process so far, if the system reports them.
pub fn page_faults() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The fields after the name of the program, which ends with the last bracket: `man 5 proc` counts
    // `state` as the third, `minflt` as the tenth and `majflt` as the twelfth.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(field(10)? + field(12)?)
}

fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(field))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
