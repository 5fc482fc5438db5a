//! The writes of a trace, repeated without an end, for ageing a drive.

use crate::error::WorkloadError;
use crate::trace::{TraceError, TraceReader, TraceSource};
use crate::trace_spec::TraceSpec;
use tailcut_units::{Command, HostOp};
use xxhash_rust::xxh3::Xxh3Default;

/// The most writes of a lap held in memory (64 MiB). A trace with more writes is read
/// again for each lap.
const HELD: usize = 4 << 20;
/// Addresses are shifted by whole pages of this size.
const PAGE: u64 = 4096;

/// The writes of a trace in order, folded onto the drive, lap after lap. Each lap shifts
/// the addresses by the span that the writes of one lap cover, or by 0.618 of the filled
/// bytes if that span is half of them or more. A short trace thus ages everything that is
/// filled.
pub struct TraceWrites {
    filled: u64,
    kept: Kept,
}

enum Kept {
    /// All writes of a lap.
    Held { writes: Vec<Command>, next: usize, shift: u64, step: u64 },
    /// A lap has too many writes to hold: the source loops and shifts by its own rule.
    Streamed { source: Box<TraceSource>, failed: Option<Box<TraceError>> },
}

impl TraceWrites {
    /// Open the trace's writes; `None` if the trace does not write.
    pub(crate) fn open(trace: &TraceSpec, filled: u64) -> Result<Option<TraceWrites>, WorkloadError> {
        let mut source = trace.source(1, filled, 1)?;
        let mut writes = Vec::new();
        while let Some(issue) = source.next_issue()? {
            if issue.command.op != HostOp::Write {
                continue;
            }
            if writes.len() == HELD {
                let source = Box::new(trace.source(u32::MAX, filled, 1)?);
                return Ok(Some(TraceWrites { filled, kept: Kept::Streamed { source, failed: None } }));
            }
            writes.push(issue.command);
        }
        if writes.is_empty() {
            return Ok(None);
        }
        let low = writes.iter().map(|c| c.offset / PAGE).min().unwrap_or(0);
        let high = writes.iter().map(|c| (c.offset + u64::from(c.bytes)).div_ceil(PAGE)).max().unwrap_or(0);
        let pages = filled / PAGE;
        let span = high - low;
        // 633/1024 is close to the golden ratio 0.618: the shifts of successive laps
        // spread evenly and do not coincide.
        let step = if span < pages / 2 { span } else { (u128::from(pages) * 633 / 1024) as u64 };
        let kept = Kept::Held { writes, next: 0, shift: 0, step: step.max(1) };
        Ok(Some(TraceWrites { filled, kept }))
    }

    /// A text that is the same for two traces whose writes age `filled` bytes alike, however they are stored: a hash of
    /// the writes of a lap, as they are laid on the drive. A trace with too many writes to hold shifts its laps by its
    /// own rule, so that its text has all requests, and how they are laid.
    ///
    /// # Errors
    /// A trace that cannot be read.
    pub(crate) fn identity(trace: &TraceSpec, filled: u64) -> Result<String, WorkloadError> {
        let mut source = trace.source(1, filled, 1)?;
        let (mut hash, mut writes) = (Xxh3Default::new(), 0);
        while let Some(issue) = source.next_issue()? {
            let Command { op, offset, bytes, .. } = issue.command;
            if op == HostOp::Write {
                hash.update(&offset.to_le_bytes());
                hash.update(&bytes.to_le_bytes());
                writes += 1;
            }
            if writes > HELD {
                return TraceWrites::whole(trace);
            }
        }
        Ok(format!("{writes} writes {:032x}", hash.digest128()))
    }

    /// [`TraceWrites::identity`] by all requests.
    fn whole(trace: &TraceSpec) -> Result<String, WorkloadError> {
        let mut reader = TraceReader::open(&trace.file, &trace.options)?;
        let (mut hash, mut requests) = (Xxh3Default::new(), 0u64);
        while let Some(record) = reader.next_record()? {
            hash.update(&record.offset.to_le_bytes());
            hash.update(&record.bytes.to_le_bytes());
            hash.update(&record.device.to_le_bytes());
            hash.update(&[record.op as u8]);
            requests += 1;
        }
        let laid = (trace.options.device_rule, trace.options.remap);
        Ok(format!("{requests} requests {:032x}, {laid:?}", hash.digest128()))
    }

    /// The error that stopped a streamed trace, if any.
    pub fn failure(&mut self) -> Option<Box<TraceError>> {
        match &mut self.kept {
            Kept::Held { .. } => None,
            Kept::Streamed { failed, .. } => failed.take(),
        }
    }
}

impl Iterator for TraceWrites {
    type Item = Command;

    #[inline]
    fn next(&mut self) -> Option<Command> {
        let filled = self.filled;
        match &mut self.kept {
            Kept::Held { writes, next, shift, step } => {
                if *next == writes.len() {
                    *next = 0;
                    *shift = (*shift + *step) % (filled / PAGE).max(1);
                }
                let mut command = writes[*next];
                *next += 1;
                let most = filled - u64::from(command.bytes).min(filled);
                command.offset = ((command.offset + *shift * PAGE) % filled).min(most);
                Some(command)
            }
            Kept::Streamed { source, failed } => loop {
                match source.next_issue() {
                    Ok(Some(issue)) if issue.command.op == HostOp::Write => return Some(issue.command),
                    Ok(Some(_)) => {}
                    Ok(None) => return None,
                    Err(error) => {
                        *failed = Some(Box::new(error));
                        return None;
                    }
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Ageing, TraceReplay, WorkloadSpec};
    use std::io::Write;

    fn writes_of(lines: &str) -> Option<Vec<(u64, u32)>> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        let path = file.path().to_str().unwrap();
        let spec = WorkloadSpec::parse(path, |_| None, &TraceReplay::default()).unwrap();
        match spec.ageing(1 << 24, 1 << 23, 1).unwrap() {
            Ageing::Trace(writes) => Some(writes.take(20_000).map(|c| (c.offset, c.bytes)).collect()),
            Ageing::Uniform { region, bytes } => {
                assert_eq!((region, bytes), (0..1 << 23, 4096));
                None
            }
            _ => panic!("a trace ages by its writes, or uniformly"),
        }
    }

    fn line(i: u64, op: &str, offset: u64, bytes: u64) -> String {
        format!("{},web,0,{op},{offset},{bytes},500\n", 128_166_372_000_000_000 + i * 1_000)
    }

    #[test]
    fn a_short_trace_reaches_the_whole_of_what_is_filled_and_nothing_else() {
        let lines: String = (0..40).map(|i| line(i, "Write", i % 10 * 20_480, 6_000 + i * 512)).collect();
        let writes = writes_of(&lines).unwrap();
        assert_eq!(&writes[..2], &[(0, 6_000), (20_480, 6_512)]);
        let mut reached = vec![false; 1 << 11];
        for (offset, bytes) in writes {
            let end = offset + u64::from(bytes);
            assert!(end <= 1 << 23, "{offset} + {bytes}");
            (offset / 4096..end.div_ceil(4096)).for_each(|page| reached[page as usize] = true);
        }
        assert!(reached.iter().all(|&r| r), "{} pages", reached.iter().filter(|&&r| r).count());
    }

    #[test]
    fn a_trace_without_writes_leaves_uniform_ones() {
        let lines: String = (0..40).map(|i| line(i, "Read", i * 4096, 4096)).collect();
        assert!(writes_of(&lines).is_none());
    }
}
