//! The output folder: all results of a run appear in it, or none.

use crate::error::ReportError;
use crate::lock::{LOCK, Lock, LockError};
use crate::regular::{open, regular};
use serde::Deserialize;
use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The file that marks a folder as a run; it is moved in last.
pub const SUMMARY: &str = "summary.json";
/// The resolved configuration.
pub const CONFIG: &str = "config.toml";

/// The names of results: their first and last parts.
const RESULTS: [(&str, &str); 9] = [
    ("summary", ".json"),
    ("config", ".toml"),
    ("latency", ".hlog"),
    ("slowest", ".jsonl"),
    ("lost", ".jsonl"),
    ("requests", ".parquet"),
    ("series", ".parquet"),
    ("timeline", ".pftrace"),
    ("report", ".html"),
];

/// Appended to a name while its file is being written.
const PARTIAL: &str = ".partial";

/// A folder that receives the results of one run.
///
/// Files are written under temporary names; [`commit`](OutputFolder::commit) moves them to
/// their final names, the summary last. If the value is dropped before that, the temporary
/// files are removed. While the value exists, no other process writes to the folder.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    pending: Vec<String>,
    /// The results found at the beginning, which `commit` replaces.
    former: Vec<Former>,
    lock: Lock,
}

/// A result as it was found at the beginning. Only such results are ever replaced.
#[derive(Debug, PartialEq)]
struct Former {
    name: String,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl OutputFolder {
    /// Creates the folder if needed and checks that it can be written. Refuses a folder that
    /// another run is writing to, and a folder that is not empty and never held a run. Refuses
    /// a folder that holds a run unless `force` is set; `commit` then replaces that run.
    pub fn prepare(path: &Path, force: bool) -> Result<OutputFolder, ReportError> {
        let not_writable = |source| ReportError::NotWritable { path: path.to_path_buf(), source };
        fs::create_dir_all(path).map_err(not_writable)?;
        // Checked now and not after an hour of simulation, and before a lock file is left in a
        // folder that has nothing to do with runs.
        refuse_foreign(path)?;
        let lock = Lock::take(path).map_err(|e| match e {
            LockError::Held(process) => ReportError::Busy { path: path.to_path_buf(), process },
            LockError::Io(source) => not_writable(source),
        })?;
        let former = results_in(path).map_err(not_writable)?;
        if let (Some(file), false) = (former.first(), force) {
            return Err(ReportError::HoldsRun { path: path.to_path_buf(), file: file.name.clone() });
        }
        // The lock is held, so these files are of a run that was killed.
        for name in names_in(path).map_err(not_writable)?.iter().filter(|n| is_partial(n)) {
            fs::remove_file(path.join(name)).map_err(not_writable)?;
        }
        Ok(OutputFolder { path: path.to_path_buf(), pending: Vec::new(), former, lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a result file; it gets its final name at commit.
    pub fn create(&mut self, name: &str) -> Result<File, ReportError> {
        debug_assert!(is_result(name), "`{name}` would not be recognised as a result");
        let path = self.partial(name);
        let again = self.pending.iter().any(|p| p == name);
        // Nothing else may be there: a link would lead the file elsewhere.
        let mut options = File::options();
        options.write(true).truncate(again).create_new(!again);
        let file = options.open(&path).map_err(ReportError::io(&path))?;
        if !again {
            self.pending.push(name.to_string());
        }
        Ok(file)
    }

    /// Writes a whole result file; it gets its final name at commit.
    pub fn write(&mut self, name: &str, text: &str) -> Result<(), ReportError> {
        let path = self.partial(name);
        self.create(name)?.write_all(text.as_bytes()).map_err(ReportError::io(&path))
    }

    /// Moves all files to their final names. Removes an earlier run first, starting with its
    /// summary, so that the folder never holds files of two runs under one summary.
    ///
    /// # Errors
    /// If the folder no longer holds what it held at the beginning, its files are left as they
    /// are. The new files go to a new folder beside it, which the error names.
    pub fn commit(mut self) -> Result<(), ReportError> {
        let found = results_in(&self.path).map_err(ReportError::io(&self.path))?;
        if found != self.former || !self.lock.holds() {
            let to = self.put_beside()?;
            return Err(ReportError::Changed { path: self.path.clone(), to });
        }
        for Former { name, .. } in found {
            let path = self.path.join(name);
            fs::remove_file(&path).map_err(ReportError::io(&path))?;
        }
        let to = self.path.clone();
        self.put_in(&to)
    }

    /// Moves the files to their final names in `to`, the summary last.
    fn put_in(&mut self, to: &Path) -> Result<(), ReportError> {
        self.pending.sort_by_key(|name| name == SUMMARY);
        for name in &self.pending {
            let path = to.join(name);
            fs::rename(self.partial(name), &path).map_err(ReportError::io(&path))?;
        }
        self.pending.clear();
        Ok(())
    }

    /// Moves the files to a new folder beside this one: `run.2` for `run`.
    fn put_beside(&mut self) -> Result<PathBuf, ReportError> {
        let number = |n: u32| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{n}"));
            PathBuf::from(name)
        };
        let free = (2..).map(number).find(|p| fs::symlink_metadata(p).is_err());
        let to = free.expect("some number is free");
        fs::create_dir(&to).map_err(ReportError::io(&to))?;
        self.put_in(&to)?;
        Ok(to)
    }

    fn partial(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}{PARTIAL}"))
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        for name in &self.pending {
            // Best effort: the run has already failed, and that failure is what is reported.
            let _ = fs::remove_file(self.partial(name));
        }
    }
}

fn is_result(name: &str) -> bool {
    RESULTS.iter().any(|(first, last)| {
        let middle = name.strip_prefix(first).and_then(|n| n.strip_suffix(last));
        middle.is_some_and(|m| m.is_empty() || m.starts_with('.'))
    })
}

fn is_partial(name: &str) -> bool {
    name.strip_suffix(PARTIAL).is_some_and(is_result)
}

fn names_in(path: &Path) -> std::io::Result<Vec<String>> {
    fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// The results in a folder, the summary first, then by name.
fn results_in(path: &Path) -> std::io::Result<Vec<Former>> {
    let mut results = Vec::new();
    for name in names_in(path)?.into_iter().filter(|n| is_result(n)) {
        let file = path.join(&name);
        regular(&file).map_err(|e| io::Error::new(e.kind(), format!("`{name}`: {e}")))?;
        let is = fs::symlink_metadata(&file)?;
        results.push(Former { name, bytes: is.len(), modified: is.modified().ok() });
    }
    results.sort_by(|a, b| (a.name != SUMMARY, &a.name).cmp(&(b.name != SUMMARY, &b.name)));
    Ok(results)
}

/// Refuses a folder that is not empty and never held a run: it has neither a summary of this
/// program nor the lock file of a run that was killed.
fn refuse_foreign(path: &Path) -> Result<(), ReportError> {
    #[derive(Deserialize)]
    #[allow(dead_code)] // Only their presence is checked.
    struct Head {
        tailcut: String,
        schema: u32,
    }
    let not_writable = |source| ReportError::NotWritable { path: path.to_path_buf(), source };
    let names = names_in(path).map_err(not_writable)?;
    let Some(file) = names.iter().filter(|n| !is_partial(n)).min() else { return Ok(()) };
    let ours = || {
        let summary = open(&path.join(SUMMARY)).ok()?;
        serde_json::from_reader::<_, Head>(BufReader::new(summary)).ok()
    };
    if names.iter().any(|n| n == LOCK) || ours().is_some() {
        return Ok(());
    }
    Err(ReportError::NotARun { path: path.to_path_buf(), file: file.clone() })
}
