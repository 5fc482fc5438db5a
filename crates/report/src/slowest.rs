//! `slowest.jsonl`: the slowest requests of a run, one JSON object a line, each with its
//! latency by cause. Those without success stand behind the others of their kind.

use crate::error::ReportError;
use crate::ordered::Ordered;
use crate::regular::open;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
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

/// The slowest requests of one scheme by kind, in the order of [`HostOp::ALL`]: at most `most` of each, the slowest first,
/// and after those with success as many without.
pub fn lines<'a>(
    scheme: &'a str,
    measured: &'a Measured,
    most: usize,
) -> impl Iterator<Item = SlowLine> + use<'a> {
    let requests = measured
        .sides
        .iter()
        .flat_map(move |side| side.slowest.iter().take(most).chain(side.failed.iter().take(most)));
    requests.map(|request| {
        let causes = request.ledger.iter().filter(|&(_, ns)| ns > 0);
        SlowLine {
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
        }
    })
}

/// Writes the slowest requests of one scheme, in the order of [`lines`].
pub fn write(out: impl Write, scheme: &str, measured: &Measured) -> std::io::Result<()> {
    let mut out = BufWriter::new(out);
    for line in lines(scheme, measured, usize::MAX) {
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// The longest line that is read; a line of this program takes less than 8 KiB.
const LONGEST_LINE: u64 = 1 << 20;

/// Reads the file of a run, in the order in which it was written.
///
/// # Errors
/// A file that is not of this form; [`ReportError::Interrupted`] once `stopped` returns true.
pub fn read(path: &Path, stopped: &dyn Fn() -> bool) -> Result<Vec<SlowLine>, ReportError> {
    let mut lines = Vec::new();
    for_each(path, stopped, |line| lines.push(line))?;
    Ok(lines)
}

/// Passes each request in the file of a run to `each`, in the order in which they were written.
///
/// # Errors
/// A file that is not of this form; [`ReportError::Interrupted`] once `stopped` returns true.
pub fn for_each(
    path: &Path,
    stopped: &dyn Fn() -> bool,
    mut each: impl FnMut(SlowLine),
) -> Result<(), ReportError> {
    let mut file = BufReader::new(open(path).map_err(ReportError::io(path))?);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read =
            (&mut file).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(ReportError::io(path))?;
        if stopped() {
            return Err(ReportError::Interrupted);
        }
        if read == 0 {
            break;
        }
        if read as u64 == LONGEST_LINE {
            let reason = "a line of more than 1 MiB".to_string();
            return Err(ReportError::Damaged { path: path.to_path_buf(), line: number, reason });
        }
        each(serde_json::from_slice(&line).map_err(|source| ReportError::Json {
            path: path.to_path_buf(),
            line: number,
            source,
        })?);
    }
    Ok(())
}
