//! `latency.hlog`: the standard HdrHistogram log (V2, deflated), which the HdrHistogram tools
//! of any language read. Each histogram is one interval that spans the whole run, with the tag
//! `scheme/job/read`, or `write`, `trim` or `flush`. Values are in ns; the printed maximum is in ms.

use crate::error::ReportError;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::io::Write;
use std::time::{Duration, SystemTime};
use tailcut_stats::Measured;
use tailcut_units::HostOp;

/// The file's name in an output folder.
pub const FILE: &str = "latency.hlog";

/// Writes the log of one run from the measurements of every scheme. Populations without
/// requests are left out.
pub fn write(mut out: impl Write, schemes: &[(&str, &Measured)]) -> Result<(), ReportError> {
    let failed = |e: &dyn std::fmt::Display| ReportError::Hlog(e.to_string());
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    // Virtual time starts at zero; without a start time, readers would guess one.
    builder
        .add_comment("[Histogram log format version 1.3]")
        .add_comment("[Tailcut latencies in ns; times are virtual]")
        .with_start_time(SystemTime::UNIX_EPOCH)
        .with_base_time(SystemTime::UNIX_EPOCH)
        .with_max_value_divisor(1e6);
    let mut log = builder.begin_log_with(&mut out, &mut serializer).map_err(|e| failed(&e))?;
    for (scheme, measured) in schemes {
        for job in &measured.jobs {
            for op in HostOp::ALL {
                let population = job.of(op);
                if population.count() == 0 {
                    continue;
                }
                let text = tag(&format!("{scheme}/{}/{}", job.name, op.name()));
                let length = Duration::from_nanos(measured.runtime.0);
                log.write_histogram(population.histogram(), Duration::ZERO, length, Tag::new(&text))
                    .map_err(|e| failed(&e))?;
            }
        }
    }
    Ok(())
}

/// Replaces commas and white space, which a tag must not contain.
fn tag(text: &str) -> String {
    text.chars().map(|c| if c == ',' || c.is_whitespace() { '_' } else { c }).collect()
}
