//! The source of a trace: a file or a copy of standard input, which can be read repeatedly.

use super::formats::compact::write_compact;
use super::record::Record;
use super::stream::{Input, decompress};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
