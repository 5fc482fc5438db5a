//! `requests.parquet`: one row for each request.

use super::columns::{ByteArray, Columns, Kind};
use crate::error::ReportError;
use std::io::Write;
use tailcut_stats::Sample;
use tailcut_units::{Cause, HostOp, Status};

/// Writes every request of one scheme's run as it completes.
///
/// Columns: `index`, `job`, `op`, `offset`, `bytes`, `arrived_ns`, `completed_ns`,
/// `latency_ns`, `status`, and one for each cause in ns, named as in the summary. The causes of
/// a row add up to its latency. The file's key-value notes name the scheme.
pub struct RequestsWriter<W: Write + Send> {
    columns: Columns<W>,
    jobs: Vec<ByteArray>,
    ops: [ByteArray; 4],
    statuses: [ByteArray; 4],
}

impl<W: Write + Send> RequestsWriter<W> {
    /// Creates a file for one scheme's run of these jobs. Holds up to 20 MiB in memory.
    pub fn new(out: W, scheme: &str, jobs: &[String]) -> Result<RequestsWriter<W>, ReportError> {
        use Kind::{Number, Rising, Text};
        let own = [
            ("index", Rising),
            ("job", Text),
            ("op", Text),
            ("offset", Number),
            ("bytes", Number),
            ("arrived_ns", Rising),
            ("completed_ns", Rising),
            ("latency_ns", Rising),
            ("status", Text),
        ];
        let columns: Vec<_> = own
            .into_iter()
            .map(|(name, kind)| (name.to_string(), kind, false))
            .chain(Cause::all().map(|cause| (cause.name(), Number, false)))
            .collect();
        Ok(RequestsWriter {
            columns: Columns::new(out, &columns, &[("scheme", scheme)])?,
            jobs: jobs.iter().map(|j| ByteArray::from(j.as_str())).collect(),
            ops: HostOp::ALL.map(|op| ByteArray::from(op.name())),
            statuses: Status::ALL.map(|status| ByteArray::from(status.name())),
        })
    }

    /// Adds one completed request.
    pub fn push(&mut self, s: &Sample) -> Result<(), ReportError> {
        let c = &mut self.columns;
        c.number(s.index);
        c.text(&self.jobs[usize::from(s.job)]);
        c.text(&self.ops[s.op as usize]);
        c.number(s.offset);
        c.number(u64::from(s.bytes));
        c.number(s.arrived.0);
        c.number(s.completed.0);
        c.number(s.latency_ns());
        c.text(&self.statuses[s.status as usize]);
        for cause in Cause::all() {
            c.number(s.ledger.get(cause));
        }
        Ok(c.end_row()?)
    }

    /// Writes the remaining rows and the footer, and returns the output.
    pub fn finish(self) -> Result<W, ReportError> {
        Ok(self.columns.finish()?)
    }
}
