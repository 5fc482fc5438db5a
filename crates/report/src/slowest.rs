//! `slowest.jsonl`: the slowest requests of a run, one JSON object a line, each with its
//! latency by cause. Those without success stand behind the others of their kind.

use crate::error::ReportError;
use crate::ordered::Ordered;
use crate::regular::open;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use tailcut_stats::Measured;
use tailcut_units::{Cause, HostOp, Ledger, Status};

/// The file's name in an output folder.
pub const FILE: &str = "slowest.jsonl";

/// One request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowLine {
    /// The scheme in whose run the request was.
    pub scheme: String,
    /// Submission index within the run.
    pub index: u64,
    /// Name of the job that sent the request.
    pub job: String,
    /// The host command.
    pub op: HostOp,
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// Virtual time at which the host had the request ready, ns.
    pub arrived_ns: u64,
    /// Virtual time at which the request completed, ns.
    pub completed_ns: u64,
    /// `completed_ns - arrived_ns`.
    pub latency_ns: u64,
    /// How the request ended, if it had no success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Nanoseconds by cause; the sum is `latency_ns`.
    pub causes: Ordered<u64>,
}

impl SlowLine {
    /// The causes as a ledger. Causes that this version does not know are left out.
    pub fn ledger(&self) -> Ledger {
        let mut ledger = Ledger::new();
        for cause in Cause::all() {
            if let Some(&ns) = self.causes.get(&cause.name()) {
                ledger.charge(cause, ns);
            }
        }
        ledger
    }
}

/// Writes the slowest requests of one scheme by kind, in the order of [`HostOp::ALL`], each the slowest first, and those
/// with success before those without.
pub fn write(out: impl Write, scheme: &str, measured: &Measured) -> std::io::Result<()> {
    let mut out = BufWriter::new(out);
    for side in &measured.sides {
        for request in side.slowest.iter().chain(&side.failed) {
            let causes = request.ledger.iter().filter(|&(_, ns)| ns > 0);
            let line = SlowLine {
                scheme: scheme.to_string(),
                index: request.index,
                job: measured.jobs[usize::from(request.job)].name.clone(),
                op: request.op,
                offset: request.offset,
                bytes: request.bytes,
                arrived_ns: request.arrived.0,
                completed_ns: request.completed.0,
                latency_ns: request.latency_ns(),
                status: Some(request.status).filter(|&status| status != Status::Ok),
                causes: causes.map(|(cause, ns)| (cause.name(), ns)).collect(),
            };
            serde_json::to_writer(&mut out, &line)?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()
}

/// Reads the file of a run, in the order in which it was written.
///
/// # Errors
/// A file that is not of this form; [`ReportError::Interrupted`] once `stopped` returns true.
pub fn read(path: &Path, stopped: &dyn Fn() -> bool) -> Result<Vec<SlowLine>, ReportError> {
    let file = open(path).map_err(ReportError::io(path))?;
    let mut lines = Vec::new();
    for (i, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(ReportError::io(path))?;
        if stopped() {
            return Err(ReportError::Interrupted);
        }
        let parsed = serde_json::from_str(&line).map_err(|source| ReportError::Json {
            path: path.to_path_buf(),
            line: i + 1,
            source,
        })?;
        lines.push(parsed);
    }
    Ok(lines)
}
