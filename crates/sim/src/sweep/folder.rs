//! The folder of a sweep: its design, its finished points, and its results.
//!
//! `sweep.json` has the design. `points/KEY.json` is a finished point; it appears whole or not at all, so that a sweep
//! that was killed loses only the points that were running. `results.parquet` and `results.csv` are made from the
//! finished points whenever a sweep ends.

use crate::sweep::design::Design;
use crate::sweep::error::SweepError;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use tailcut_report::lock::{Lock, LockError};
use tailcut_report::regular::{read, replace};
use tailcut_report::rows::Rows;
use tailcut_report::summary::Scheme;
use tailcut_units::HostOp;

/// The file of the design.
pub const DESIGN: &str = "sweep.json";
/// The largest file that is read, bytes.
const FILE_MAX: u64 = 16 << 20;
/// The results.
pub const PARQUET: &str = "results.parquet";
/// The results as text.
pub const CSV: &str = "results.csv";
/// The aged states of a sweep without a cache.
pub const AGED: &str = "aged";
const POINTS: &str = "points";

/// A finished point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Its key, which its file has too.
    pub key: String,
    /// Version of the program.
    pub tailcut: String,
    /// Capacity the host sees, bytes.
    pub host_capacity_bytes: u64,
    /// The results, over all runs and without the series.
    pub scheme: Scheme,
    /// Warnings to the user.
    pub warnings: Vec<String>,
}

impl Finished {
    /// It without what the table of the results does not need: a sweep holds all its points.
    pub fn slim(mut self) -> Finished {
        for op in HostOp::ALL {
            let side = self.scheme.side_mut(op);
            (side.batch_shifts, side.by_run, side.blame) = (None, None, Vec::new());
        }
        self.scheme.jobs = Vec::new();
        self
    }
}

/// The folder, which no other process writes to as long as the value exists.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: Lock,
}

impl Folder {
    /// Opens the folder of a design, or makes it.
    ///
    /// # Errors
    /// It holds something else than this sweep, is in use, or cannot be written.
    pub fn open(path: &Path, design: &Design) -> Result<Folder, SweepError> {
        let folder = path.display().to_string();
        fs::create_dir_all(path).map_err(SweepError::io(path))?;
        let file = path.join(DESIGN);
        let known = file.is_file();
        if !known {
            let names = fs::read_dir(path).map_err(SweepError::io(path))?.flatten();
            let names = names.map(|e| e.file_name().to_string_lossy().into_owned());
            // What a sweep leaves that was killed before its design was written.
            if let Some(file) =
                names.filter(|name| !name.starts_with(DESIGN) && name != tailcut_report::lock::LOCK).min()
            {
                return Err(SweepError::NotASweep { folder, file });
            }
        }
        let lock = Lock::take(path).map_err(|e| match e {
            LockError::Held(process) => SweepError::Busy { folder: folder.clone(), process },
            LockError::Io(source) => SweepError::Io { path: folder.clone(), source },
        })?;
        if known {
            let text = read(&file, FILE_MAX).map_err(SweepError::io(&file))?;
            let held: Design = serde_json::from_str(&text).map_err(|e| SweepError::Another {
                folder: folder.clone(),
                what: format!("{DESIGN}: {e}"),
            })?;
            if let Some(what) = unlike(&held, design) {
                return Err(SweepError::Another { folder, what });
            }
        } else {
            replace(&file, json(design)).map_err(SweepError::io(&file))?;
        }
        let points = path.join(POINTS);
        fs::create_dir_all(&points).map_err(SweepError::io(&points))?;
        for entry in fs::read_dir(&points).map_err(SweepError::io(&points))?.flatten() {
            // The lock is held, so these files are of a sweep that was killed.
            if entry.file_name().to_string_lossy().ends_with(".partial") {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(Folder { path: path.to_path_buf(), _lock: lock })
    }

    /// The finished point of a key. What cannot be read is not finished.
    pub fn read(&self, key: &str) -> Option<Finished> {
        let text = read(&self.file(key), FILE_MAX).ok()?;
        let point: Finished = serde_json::from_str(&text).ok()?;
        (point.key == key).then_some(point)
    }

    /// Keeps a finished point.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, point: &Finished) -> Result<(), SweepError> {
        let path = self.file(&point.key);
        let text = serde_json::to_string(point).expect("a point has only string keys");
        replace(&path, &text).map_err(SweepError::io(&path))
    }

    /// Writes the results; returns the names of the files.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn results(&self, rows: &Rows) -> Result<Vec<PathBuf>, SweepError> {
        let csv = self.path.join(CSV);
        replace(&csv, rows.csv()).map_err(SweepError::io(&csv))?;
        if tailcut_report::parquet::available().is_err() {
            return Ok(vec![csv]);
        }
        let path = self.path.join(PARQUET);
        let written = rows.parquet(Vec::new())?;
        let partial = self.path.join(format!("{PARQUET}.partial"));
        fs::write(&partial, written).map_err(SweepError::io(&partial))?;
        fs::rename(&partial, &path).map_err(SweepError::io(&path))?;
        Ok(vec![path, csv])
    }

    fn file(&self, key: &str) -> PathBuf {
        self.path.join(POINTS).join(format!("{key}.json"))
    }
}

fn json(design: &Design) -> String {
    serde_json::to_string_pretty(design).expect("a design has only string keys") + "\n"
}

/// What differs between two designs: the first field.
fn unlike(held: &Design, wanted: &Design) -> Option<String> {
    if held == wanted {
        return None;
    }
    let field = |of: &Design| serde_json::to_value(of).unwrap_or_default();
    let (held, wanted) = (field(held), field(wanted));
    let fields = held.as_object().into_iter().flatten();
    let other = fields.into_iter().find(|(name, value)| wanted.get(name.as_str()) != Some(value));
    other.map(|(name, value)| {
        let new = wanted.get(name.as_str()).cloned().unwrap_or_default();
        format!("its `{name}` is {value}, not {new}")
    })
}
