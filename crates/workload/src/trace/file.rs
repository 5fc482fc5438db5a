//! The source of a trace: a file or a copy of standard input, which can be read repeatedly.

use super::convert::write_compact;
use super::error::TraceError;
use super::options::TraceOptions;
use super::reader::TraceReader;
use super::record::Record;
use super::stream::{Input, decompress};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The first part of standard input after which a trace with a limit may be complete.
const FIRST_PART: u64 = 64 << 10;

/// A trace file, or a copy of standard input.
#[derive(Clone, Debug)]
pub enum TraceFile {
    /// A file of the user.
    Path(PathBuf),
    /// What has no file of its own, in a temporary file without a name: a copy of standard input, or arrays of a
    /// program. The system deletes it when the process ends, for any reason.
    Spooled {
        /// Its name in messages.
        name: &'static str,
        /// The temporary file.
        file: Arc<File>,
    },
    /// Files that follow each other as one: each is decompressed, and a last line without a line break
    /// is completed before the next file.
    Several(Vec<TraceFile>),
}

impl<P: AsRef<Path>> From<P> for TraceFile {
    fn from(path: P) -> TraceFile {
        TraceFile::Path(path.as_ref().to_path_buf())
    }
}

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

    /// Records of a program as a trace; `name` is what messages call it. Their times must not decrease, and be at most
    /// [`TIME_MAX`](super::TIME_MAX).
    ///
    /// # Errors
    /// The folder for temporary files is full.
    pub fn of_records(name: &'static str, records: &[Record]) -> io::Result<TraceFile> {
        let file = tempfile::tempfile()?;
        write_compact(records, &file)?;
        Ok(TraceFile::Spooled { name, file: Arc::new(file) })
    }

    /// The file's name in messages.
    pub fn name(&self) -> String {
        match self {
            TraceFile::Path(path) => path.display().to_string(),
            TraceFile::Spooled { name, .. } => name.to_string(),
            TraceFile::Several(files) => {
                let names: Vec<String> = files.iter().take(3).map(TraceFile::name).collect();
                let more = files.len().saturating_sub(3);
                let rest = if more > 0 { format!(" + {more} more") } else { String::new() };
                names.join(" + ") + &rest
            }
        }
    }

    /// The file's size in bytes, as stored (compressed if it is).
    ///
    /// # Errors
    /// The file does not exist any more.
    pub fn size(&self) -> io::Result<u64> {
        match self {
            TraceFile::Path(path) => Ok(std::fs::metadata(path)?.len()),
            TraceFile::Spooled { file, .. } => Ok(file.metadata()?.len()),
            TraceFile::Several(files) => files.iter().map(TraceFile::size).sum(),
        }
    }

    /// Open the file at its start.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(&self) -> io::Result<Input> {
        Ok(match self {
            TraceFile::Path(path) => Box::new(File::open(path)?),
            TraceFile::Spooled { file, .. } => Box::new(At { file: Arc::clone(file), at: 0 }),
            TraceFile::Several(files) => Box::new(Chain {
                files: files.clone().into_iter(),
                current: None,
                last: b'\n',
                is_text: true,
            }),
        })
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

/// Reads files one after another, each decompressed.
struct Chain {
    files: std::vec::IntoIter<TraceFile>,
    current: Option<Input>,
    /// The last byte read of the present file.
    last: u8,
    /// No byte of value 0 has been read.
    is_text: bool,
}

impl Read for Chain {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(current) = &mut self.current {
                let bytes = current.read(to)?;
                if let Some(last) = to[..bytes].last() {
                    self.last = *last;
                    self.is_text = self.is_text && !to[..bytes].contains(&0);
                    return Ok(bytes);
                }
                self.current = None;
            }
            if self.is_text && !matches!(self.last, b'\n' | b'\r') && !self.files.as_slice().is_empty() {
                (to[0], self.last) = (b'\n', b'\n');
                return Ok(1);
            }
            let Some(file) = self.files.next() else { return Ok(0) };
            let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", file.name()));
            self.current = Some(decompress(file.open().map_err(named)?).map_err(named)?.0);
        }
    }
}

/// Reads a shared file from its own position.
struct At {
    file: Arc<File>,
    at: u64,
}

impl Read for At {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let bytes = std::os::unix::fs::FileExt::read_at(&*self.file, to, self.at)?;
        #[cfg(windows)]
        let bytes = std::os::windows::fs::FileExt::seek_read(&*self.file, to, self.at)?;
        self.at += bytes as u64;
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
