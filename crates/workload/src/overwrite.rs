//! A trace's writes, looped without an end, for ageing a drive.

use crate::trace::{TraceError, TraceSource};
use crate::workload::{TraceSpec, WorkloadError};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use tailcut_units::{Command, HostOp};
use xxhash_rust::xxh3::Xxh3Default;

/// Writes of a lap held in memory (64 MiB); a longer trace is read anew each lap.
const HELD: usize = 4 << 20;
/// Addresses are shifted by whole pages of this size.
const PAGE: u64 = 4096;
/// Content hashed whole up to this, else by its ends.
const HASHED_MAX: u64 = 256 << 20;

/// The writes of a trace in order, folded onto the drive, lap after lap. A lap shifts the
/// addresses by the span that the writes of one lap cover (by 0.618 of the drive where
/// that is nearly all of it), so that a short trace ages the whole of what is filled.
pub struct TraceWrites {
    filled: u64,
    kept: Kept,
}

enum Kept {
    /// All writes of a lap.
    Held { writes: Vec<Command>, next: usize, shift: u64, step: u64 },
    /// Too many to hold: the source loops and shifts by its own rule.
    Streamed { source: Box<TraceSource>, failed: Option<Box<TraceError>> },
}

impl TraceWrites {
    /// `None` if the trace does not write.
    pub(crate) fn open(trace: &TraceSpec, filled: u64) -> Result<Option<TraceWrites>, WorkloadError> {
        let mut source = trace.source(1, filled)?;
        let mut writes = Vec::new();
        while let Some(issue) = source.next_issue()? {
            if issue.command.op != HostOp::Write {
                continue;
            }
            if writes.len() == HELD {
                let source = Box::new(trace.source(u32::MAX, filled)?);
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
        // 633/1024 is the golden section: laps spread evenly and never meet.
        let step = if span < pages / 2 { span } else { (u128::from(pages) * 633 / 1024) as u64 };
        let kept = Kept::Held { writes, next: 0, shift: 0, step: step.max(1) };
        Ok(Some(TraceWrites { filled, kept }))
    }

    /// Why a streamed trace stopped, if it did.
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

/// A hash of a file's content, of a very large one by its length, start and end; 0 if it
/// cannot be read (opening it will say why).
pub(crate) fn content_hash(path: &Path) -> u64 {
    let hash = || -> std::io::Result<u64> {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        let mut hash = Xxh3Default::new();
        hash.update(&length.to_le_bytes());
        let mut buffer = vec![0; 1 << 20];
        if length > HASHED_MAX {
            let ends = [SeekFrom::Start(0), SeekFrom::Start(length / 2), SeekFrom::End(-(1 << 20))];
            for end in ends {
                file.seek(end)?;
                file.read_exact(&mut buffer)?;
                hash.update(&buffer);
            }
            return Ok(hash.digest());
        }
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(hash.digest()),
                n => hash.update(&buffer[..n]),
            }
        }
    };
    hash().unwrap_or(0)
}
