//! Writes a trace, or a part of it, in the compact form.

use super::dense::DenseMap;
use super::error::TraceError;
use super::file::TraceFile;
use super::formats::compact::{CompactWriter, HEADER_BYTES, RECORD_BYTES};
use super::info::measure;
use super::options::{Remap, TraceOptions};
use super::reader::TraceReader;
use super::record::TraceCounts;
use super::touched::Touched;
use serde::Serialize;
use std::path::Path;
use tempfile::NamedTempFile;

/// Description of the file written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Converted {
    /// The format read.
    pub format: &'static str,
    /// Requests written.
    pub requests: u64,
    /// Time of the last request, in ns since the first request of the trace (or since
    /// `start_ns`).
    pub span_ns: u64,
    /// Size of the new file in bytes.
    pub bytes: u64,
    /// The records read and skipped.
    pub counts: TraceCounts,
}

/// Write `input` to `output` in the compact form, sorted. `limit`, `start_ns` and `end_ns`
/// cut the trace; the device filter and the scales apply. A dense remap needs an extra pass
/// and numbers the touched pages of each device. The new file appears complete or not at all:
/// it is written next to its final place, synced and renamed.
///
/// # Errors
/// As [`TraceReader`] while reading; [`TraceError::Io`] while writing.
pub fn convert(
    input: impl Into<TraceFile>,
    output: &Path,
    options: &TraceOptions,
) -> Result<Converted, TraceError> {
    let input = input.into();
    let touched = match options.remap {
        Remap::Modulo => None,
        Remap::Dense => Some(Touched::new(measure(TraceReader::open(&input, options)?)?.1, options)?),
    };
    let reader = TraceReader::open(&input, options)?;
    let directory = match output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let failed = |action, source| TraceError::Io { file: output.display().to_string(), action, source };
    let write = |source| failed("write", source);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tailcut-trace-");
    #[cfg(unix)]
    {
        // Give the permissions of any new file (the umask applies); a temporary file would be
        // readable by its owner only.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(directory).map_err(|source| failed("create", source))?;
    let converted = fill(reader, touched.and_then(|t| t.dense).as_deref(), &mut file, write)?;
    file.as_file().sync_all().map_err(write)?;
    file.persist(output).map_err(|e| write(e.error))?;
    Ok(converted)
}

fn fill(
    mut reader: TraceReader,
    dense: Option<&DenseMap>,
    file: &mut NamedTempFile,
    write: impl Fn(std::io::Error) -> TraceError,
) -> Result<Converted, TraceError> {
    let mut out = CompactWriter::new(file.as_file_mut()).map_err(&write)?;
    let (mut near, mut left_out) = (0, TraceCounts::default());
    while let Some(record) = reader.next_record()? {
        let placed = dense.map_or(Some(record), |map| map.place_in_device(&record, &mut near, &mut left_out));
        let Some(record) = placed else { continue };
        out.push(&record).map_err(&write)?;
    }
    let header = out.finish().map_err(&write)?;
    Ok(Converted {
        format: reader.format().name,
        requests: header.records,
        span_ns: header.span_ns,
        bytes: HEADER_BYTES as u64 + header.records * RECORD_BYTES as u64,
        counts: TraceCounts {
            requests: header.records,
            untouched_trims: left_out.untouched_trims,
            ..reader.counts().clone()
        },
    })
}
