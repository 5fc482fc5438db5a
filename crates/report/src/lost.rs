//! `lost.jsonl`: the host's byte ranges whose data a run has lost, one JSON object a line.

use serde::Serialize;
use std::io::{BufWriter, Write};
use std::ops::Range;

/// The file's name in an output folder.
pub const FILE: &str = "lost.jsonl";

/// One range.
#[derive(Serialize)]
struct LostLine<'a> {
    /// The scheme in whose run the data were lost.
    scheme: &'a str,
    /// First byte.
    first: u64,
    /// The byte behind the last.
    end: u64,
}

/// Writes the ranges of one scheme, in the order of their addresses.
pub fn write(out: impl Write, scheme: &str, lost: &[Range<u64>]) -> std::io::Result<()> {
    let mut out = BufWriter::new(out);
    for range in lost {
        serde_json::to_writer(&mut out, &LostLine { scheme, first: range.start, end: range.end })?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_range_has_a_line() {
        let mut text = Vec::new();
        write(&mut text, "a \"b\"", &[4096..8192, 0x10_000..0x14_000]).expect("memory can be written");
        assert_eq!(
            String::from_utf8(text).expect("JSON is UTF-8"),
            "{\"scheme\":\"a \\\"b\\\"\",\"first\":4096,\"end\":8192}\n{\"scheme\":\"a \\\"b\\\"\",\"first\":65536,\"end\":81920}\n"
        );
    }
}
