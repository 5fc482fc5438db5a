//! Copies standard input to a temporary file, as far as it is needed.

use super::error::TraceError;
use super::file::TraceFile;
use super::options::TraceOptions;
use super::reader::TraceReader;
use super::stream::Input;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The first part of standard input after which a trace with a limit may be complete.
const FIRST_PART: u64 = 64 << 10;

impl TraceFile {
    /// Copy all of standard input to a temporary file, since a trace is read more than
    /// once.
    ///
    /// # Errors
    /// Standard input cannot be read, or the folder for temporary files is full.
    pub fn standard_input(options: &TraceOptions) -> Result<TraceFile, TraceError> {
        TraceFile::spool(&mut io::stdin().lock(), options)
    }

    /// Copy the input up to its end, or up to where a trace with a limit is no longer read: the input may have no end.
    fn spool(input: &mut impl Read, options: &TraceOptions) -> Result<TraceFile, TraceError> {
        let fail = |source| TraceError::Io {
            file: format!("standard input, copied to {}", std::env::temp_dir().display()),
            action: "read or store it",
            source,
        };
        let file = Arc::new(tempfile::tempfile().map_err(fail)?);
        let spooled = TraceFile::Spooled { name: "standard input", file: Arc::clone(&file) };
        let mut part = if options.limit.is_some() { FIRST_PART } else { u64::MAX };
        loop {
            let copied = io::copy(&mut input.take(part), &mut &*file).map_err(fail)?;
            if copied < part || spooled.is_enough(options) {
                return Ok(spooled);
            }
            // As much again: all parts together are read twice.
            part = spooled.size().map_err(fail)?;
        }
    }

    /// Whether the requests up to the limit are here, and were read without a look at the end of what is here.
    fn is_enough(&self, options: &TraceOptions) -> bool {
        let Some(limit) = options.limit else { return false };
        let ended = Arc::new(AtomicBool::new(false));
        let Ok(input) = self.open() else { return false };
        let input = Box::new(Ended { input, ended: Arc::clone(&ended) });
        let Ok(mut reader) = TraceReader::new(&self.name(), input, options) else { return false };
        let enough = (0..limit).all(|_| matches!(reader.next_record(), Ok(Some(_))));
        enough && matches!(reader.next_record(), Ok(None)) && !ended.load(Relaxed)
    }
}

/// Notes when a reader comes to the end of an input.
struct Ended {
    input: Input,
    ended: Arc<AtomicBool>,
}

impl Read for Ended {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(to)?;
        if bytes == 0 && !to.is_empty() {
            self.ended.store(true, Relaxed);
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spooled_input_reads_again_and_again() {
        let bytes: Vec<u8> = (0..3_000_000u32).map(|i| ((i * 7) >> 3) as u8).collect();
        let spooled = TraceFile::spool(&mut &bytes[..], &TraceOptions::default()).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let (mut one, mut other) = (spooled.open().unwrap(), spooled.open().unwrap());
        let mut start = [0; 100];
        one.read_exact(&mut start).unwrap();
        let (mut rest, mut all) = (Vec::new(), Vec::new());
        other.read_to_end(&mut all).unwrap();
        one.read_to_end(&mut rest).unwrap();
        assert!(start == bytes[..100] && rest == bytes[100..] && all == bytes);
        let named = TraceFile::from(file.path());
        assert_eq!((spooled.size().unwrap(), named.size().unwrap()), (3_000_000, 3_000_000));
        assert_eq!(spooled.name(), "standard input");
    }

    /// Lines without an end. It fails if more is read than the limit needs.
    struct Endless {
        line: u64,
        rest: Vec<u8>,
        given: usize,
    }

    impl Read for Endless {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            assert!(self.given < 64 << 20, "the input is read on and on");
            if self.rest.is_empty() {
                let (s, us) = (self.line / 1_000_000, self.line % 1_000_000);
                self.rest = format!("0,{},4096,r,{s}.{us:06}\n", self.line % 512 * 8).into_bytes();
                self.line += 100;
            }
            let n = self.rest.len().min(to.len());
            to[..n].copy_from_slice(&self.rest[..n]);
            self.rest.drain(..n);
            self.given += n;
            Ok(n)
        }
    }

    #[test]
    fn an_endless_input_with_a_limit_is_read_as_far_as_needed() {
        for limit in [1, 1000, 100_000] {
            let options = TraceOptions { limit: Some(limit), ..TraceOptions::default() };
            let spooled =
                TraceFile::spool(&mut Endless { line: 0, rest: vec![], given: 0 }, &options).unwrap();
            let mut reader = TraceReader::open(&spooled, &options).unwrap();
            let mut read = Vec::new();
            while let Some(record) = reader.next_record().unwrap() {
                read.push(record.time);
            }
            assert_eq!(read.len() as u64, limit);
            assert!(
                read.iter().zip(0u64..).all(|(&time, i)| time == i * 100_000),
                "in order, and none is missing"
            );
        }
    }
}
