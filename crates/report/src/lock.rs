//! A lock that lets one process at a time write to a folder.

use crate::regular::regular;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The lock file. It exists while a run writes to the folder, and remains after a run that was
/// killed.
pub const LOCK: &str = ".tailcut.lock";

/// Why the lock was not taken.
pub enum LockError {
    /// Another process holds it; its number, if the lock file has it.
    Held(Option<u32>),
    /// The lock file cannot be opened, created or written.
    Io(io::Error),
}

/// The right to write to a folder. The operating system releases the lock when the process
/// ends, however it ends, so a lock file that is left behind blocks nobody.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Locks the folder, or returns which process holds the lock. On a file system without
    /// locks every process gets one; then only the check before results are moved in protects
    /// them.
    pub fn take(folder: &Path) -> Result<Lock, LockError> {
        let path = folder.join(LOCK);
        regular(&path).map_err(|e| LockError::Io(named(e)))?;
        loop {
            let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = options.map_err(LockError::Io)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Held(process(&mut file))),
                Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(e)) => return Err(LockError::Io(e)),
            }
            let lock = Lock { path: path.clone(), file };
            // The previous holder may have removed the file after it was opened here. The next process would then
            // create a new file, and this lock would not keep that process out.
            if lock.holds() {
                lock.sign().map_err(LockError::Io)?;
                return Ok(lock);
            }
        }
    }

    /// Whether the locked file is still the folder's lock file.
    pub fn holds(&self) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let id = |m: std::fs::Metadata| (m.dev(), m.ino());
            match (self.file.metadata(), std::fs::metadata(&self.path)) {
                (Ok(ours), Ok(theirs)) => id(ours) == id(theirs),
                _ => false,
            }
        }
        // On other systems the lock file is never removed.
        #[cfg(not(unix))]
        self.path.exists()
    }

    /// Writes the number of this process, to be named to processes that are refused.
    fn sign(&self) -> io::Result<()> {
        self.file.set_len(0)?;
        (&self.file).write_all(std::process::id().to_string().as_bytes())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        #[cfg(unix)]
        if self.holds() {
            // Best effort: a file left behind is not locked.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Says that an error is of the lock file.
fn named(e: io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("`{LOCK}`: {e}"))
}

/// The process number in the lock file, if there is one.
fn process(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.parse().ok()
}
