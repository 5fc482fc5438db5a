//! Detects the format of a trace from its content.

use super::decode::sample_lines;
use super::error::{TraceError, bad};
use super::formats::list::FORMATS;
use super::formats::{Format, Looks, ascii, disksim};
use super::stream::text_of;

/// A text format must match this share of the sample's lines, in 1/100. It is not 100, so
/// that a bad line is reported as a bad line and not as an unknown file.
const CLAIM_PERCENT: usize = 50;
/// A format listed earlier is more specific. It wins if it matches at least this share (in
/// 1/100) of the lines that the best format matches.
const MARGIN_PERCENT: usize = 95;

/// Return the format called `name`.
///
/// # Errors
/// [`TraceError::Option`] if no format has that name.
pub fn format_by_name(name: &str) -> Result<&'static Format, TraceError> {
    let known = |f: &&&'static Format| f.name == name || f.aliases.contains(&name);
    FORMATS.iter().find(known).copied().ok_or_else(|| bad("format", name, NAMES))
}

/// All names, for messages; a test checks that they equal [`FORMATS`].
pub(crate) const NAMES: &str = "compact, fio-iolog, blktrace, blkparse, msr, systor, alicloud, spc, tencent, fiu, heimdall, disksim, ssdsim, vscsi, oracle-general";

/// Detect the format of content that begins with `sample`; `complete` says that the sample
/// is all of it.
pub(crate) fn detect(file: &str, sample: &[u8], complete: bool) -> Result<&'static Format, TraceError> {
    if sample.is_empty() {
        return Err(TraceError::Empty { file: file.into() });
    }
    for format in FORMATS {
        if let Looks::Bytes(looks) = format.looks
            && looks(sample)
        {
            return Ok(format);
        }
    }
    let text = text_of(whole_lines(sample, complete));
    let lines = sample_lines(text).count();
    let claims = |format: &Format| match format.looks {
        Looks::Line(looks) => sample_lines(text).filter(|l| looks(l)).count(),
        Looks::Bytes(_) => 0,
    };
    let counted: Vec<_> = FORMATS.iter().map(|f| (*f, claims(f))).collect();
    let most = counted.iter().map(|(_, n)| *n).max().unwrap_or(0);
    counted
        .into_iter()
        .find(|(_, n)| *n > 0 && n * 100 >= most * MARGIN_PERCENT && n * 100 >= lines * CLAIM_PERCENT)
        .map(|(format, _)| match format.name {
            // Both have the same columns, in other units.
            "heimdall" if ascii::rather_sectors(text) => &disksim::FORMAT,
            _ => format,
        })
        .ok_or_else(|| TraceError::Unrecognised { file: file.into(), known: NAMES.into() })
}

/// The sample up to its last line break, so that no incomplete line is examined.
pub(crate) fn whole_lines(sample: &[u8], complete: bool) -> &[u8] {
    match sample.iter().rposition(|b| matches!(b, b'\n' | b'\r')) {
        Some(at) if !complete => &sample[..at],
        _ => sample,
    }
}
