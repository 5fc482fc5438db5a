//! What may be written and read: regular files alone. A symbolic link would lead a result to another place, and
//! a pipe or a device would take it without keeping it, or let the program wait for ever.

use std::fs::{self, File, FileType};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Whether there is a regular file at the path that may be replaced; `false` if there is nothing.
///
/// # Errors
/// Something else is there, a symbolic link included; the error says what.
pub fn regular(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(is) if is.is_file() => Ok(true),
        Ok(is) => Err(other(is.file_type())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Open a regular file to read it, through symbolic links too.
///
/// # Errors
/// There is none; nothing is waited for.
pub fn open(path: &Path) -> io::Result<File> {
    let is = fs::metadata(path)?;
    if is.is_file() { File::open(path) } else { Err(other(is.file_type())) }
}

/// Read a regular file of at most `most` bytes, through symbolic links too.
///
/// # Errors
/// There is none, it is larger, or it is no text; nothing is waited for.
pub fn read(path: &Path, most: u64) -> io::Result<String> {
    let file = open(path)?;
    let size = file.metadata()?.len();
    if size > most {
        let text = format!("it has {size} bytes; at most {most} are read");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    io::read_to_string(file)
}

/// Write a file completely or not at all. It replaces a regular file only.
///
/// # Errors
/// Something else is there, or it cannot be written; nothing is left behind.
pub fn replace(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    Replacement::new(path)?.write(text.as_ref())
}

/// A new file that takes the place of a regular file, or of nothing, when all of it is written. Without that it is
/// removed.
#[derive(Debug)]
pub struct Replacement {
    path: PathBuf,
    partial: PathBuf,
    file: File,
}

impl Replacement {
    /// Begin the file that will be at a path.
    ///
    /// # Errors
    /// Something else than a regular file is there, or the folder cannot be written.
    pub fn new(path: &Path) -> io::Result<Replacement> {
        regular(path)?;
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = PathBuf::from(name);
        let file = File::create_new(&partial)?;
        Ok(Replacement { path: path.to_path_buf(), partial, file })
    }

    /// Where the file will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Write all of it, and put it in its place.
    ///
    /// # Errors
    /// It cannot be written, or not renamed.
    pub fn write(mut self, text: impl AsRef<[u8]>) -> io::Result<()> {
        self.file.write_all(text.as_ref())?;
        fs::rename(&self.partial, &self.path)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // After the renaming there is nothing to remove.
        let _ = fs::remove_file(&self.partial);
    }
}

/// The error of what is no regular file.
fn other(is: FileType) -> io::Error {
    let kind = match () {
        () if is.is_dir() => "a folder",
        () if is.is_symlink() => "a symbolic link",
        () if is_pipe(is) => "a named pipe",
        () => "a device or a socket",
    };
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {kind}, not a regular file"))
}

#[cfg(unix)]
fn is_pipe(is: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&is)
}

#[cfg(not(unix))]
fn is_pipe(_: FileType) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_pipes_devices_and_folders_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let said = |result: io::Result<bool>| result.unwrap_err().to_string();
        fs::write(at("file"), "kept").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        assert!(regular(&at("file")).unwrap() && !regular(&at("new")).unwrap());
        assert!(said(regular(&at("link"))).contains("a symbolic link"));
        assert!(said(regular(&at("pipe"))).contains("a named pipe"));
        assert!(said(regular(dir.path())).contains("a folder"));
        assert!(said(regular(Path::new("/dev/null"))).contains("a device"));
        assert!(open(&at("link")).is_ok() && open(&at("pipe")).is_err());
        replace(&at("link"), "other").unwrap_err();
        replace(&at("new"), "whole").unwrap();
        replace(&at("new"), "again").unwrap();
        assert_eq!(fs::read_to_string(at("file")).unwrap(), "kept");
        assert_eq!(fs::read_to_string(at("new")).unwrap(), "again");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
    }
}
