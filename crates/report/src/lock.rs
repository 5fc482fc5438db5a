//! One writer at a time in a folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The lock's file. It is there while a run writes to the folder, and after one that was
/// killed.
pub const LOCK: &str = ".tailcut.lock";

/// Why a lock is not had.
pub enum LockError {
    /// Another process has it; its number, if it says so.
    Held(Option<u32>),
    /// The file cannot be made.
    Io(io::Error),
}

/// The right to write to a folder. The operating system takes the lock from a process
/// that ends, however it ends, so a file left behind keeps nobody out.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Lock the folder, or say who has it. Where the file system knows no locks, everybody
    /// gets one: what is checked before results are put in place must do.
    pub fn take(folder: &Path) -> Result<Lock, LockError> {
        let path = folder.join(LOCK);
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
            // Whoever had it may have removed the file after it was opened here; then the
            // next one makes a new file, and this lock would keep nobody out.
            if lock.holds() {
                lock.sign().map_err(LockError::Io)?;
                return Ok(lock);
            }
        }
    }

    /// Whether the file locked is still the folder's.
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
        // Elsewhere the file is never removed.
        #[cfg(not(unix))]
        self.path.exists()
    }

    /// Write this process's number, for whoever is refused.
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

/// The number of the process that signed.
fn process(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.parse().ok()
}
