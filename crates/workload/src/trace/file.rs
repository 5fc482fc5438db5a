//! The source of a trace: a file or a copy of standard input, which can be read repeatedly.

use super::error::TraceError;
use super::stream::{Input, decompress};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3Default;

/// Files up to this size in bytes are hashed whole; longer ones only at their start, middle
/// and end.
const HASHED_MAX: u64 = 256 << 20;
/// Bytes hashed at a time, and of each hashed part of a long file.
const HASHED_PART: u64 = 1 << 20;

/// A trace file, or a copy of standard input.
#[derive(Clone, Debug)]
pub enum TraceFile {
    /// A file of the user.
    Path(PathBuf),
    /// A copy of standard input in a temporary file without a name. The system deletes it
    /// when the process ends, for any reason.
    Spooled(Arc<File>),
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
    pub fn standard_input() -> Result<TraceFile, TraceError> {
        TraceFile::spool(&mut io::stdin().lock())
    }

    fn spool(input: &mut impl Read) -> Result<TraceFile, TraceError> {
        let mut copy = || -> io::Result<File> {
            let mut file = tempfile::tempfile()?;
            io::copy(input, &mut file)?;
            Ok(file)
        };
        let file = copy().map_err(|source| TraceError::Io {
            file: format!("standard input, copied to {}", std::env::temp_dir().display()),
            action: "read or store it",
            source,
        })?;
        Ok(TraceFile::Spooled(Arc::new(file)))
    }

    /// The file's name in messages.
    pub fn name(&self) -> String {
        match self {
            TraceFile::Path(path) => path.display().to_string(),
            TraceFile::Spooled(_) => "standard input".to_string(),
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
            TraceFile::Spooled(file) => Ok(file.metadata()?.len()),
            TraceFile::Several(files) => files.iter().map(TraceFile::size).sum(),
        }
    }

    /// Open the file at its start.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(&self) -> io::Result<Input> {
        self.open_at(0)
    }

    fn open_at(&self, at: u64) -> io::Result<Input> {
        Ok(match self {
            TraceFile::Path(path) => {
                let mut file = File::open(path)?;
                if at > 0 {
                    file.seek(SeekFrom::Start(at))?;
                }
                Box::new(file)
            }
            TraceFile::Spooled(file) => Box::new(At { file: Arc::clone(file), at }),
            TraceFile::Several(files) => Box::new(Chain {
                files: files.clone().into_iter(),
                current: None,
                last: b'\n',
                is_text: true,
            }),
        })
    }

    /// Return a hash of the content. A very long file is hashed by its length, start,
    /// middle and end. 0 if the file cannot be read; opening it reports why.
    pub(crate) fn content_hash(&self) -> u64 {
        if let TraceFile::Several(files) = self {
            let mut hash = Xxh3Default::new();
            files.iter().for_each(|file| hash.update(&file.content_hash().to_le_bytes()));
            return hash.digest();
        }
        let hash = || -> io::Result<u64> {
            let length = self.size()?;
            let mut hash = Xxh3Default::new();
            hash.update(&length.to_le_bytes());
            let parts = match length > HASHED_MAX {
                true => [0, length / 2, length - HASHED_PART].map(|at| (at, HASHED_PART)).to_vec(),
                false => vec![(0, length)],
            };
            let mut buffer = vec![0; HASHED_PART as usize];
            for (at, bytes) in parts {
                let mut input = self.open_at(at)?.take(bytes);
                loop {
                    match input.read(&mut buffer)? {
                        0 => break,
                        n => hash.update(&buffer[..n]),
                    }
                }
            }
            Ok(hash.digest())
        };
        hash().unwrap_or(0)
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
    fn a_spooled_input_reads_again_and_again_and_hashes_as_its_file() {
        let bytes: Vec<u8> = (0..3_000_000u32).map(|i| ((i * 7) >> 3) as u8).collect();
        let spooled = TraceFile::spool(&mut &bytes[..]).unwrap();
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
        assert_eq!(spooled.content_hash(), named.content_hash());
        assert_ne!(named.content_hash(), 0);
        assert_eq!(spooled.name(), "standard input");
    }
}
