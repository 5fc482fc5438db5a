//! The output folder: results appear in it whole or not at all.

use crate::error::ReportError;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file that makes a folder a run; it is moved in last.
pub const SUMMARY: &str = "summary.json";
/// The resolved configuration.
pub const CONFIG: &str = "config.toml";

/// What results look like: first and last part of their names.
const RESULTS: [(&str, &str); 8] = [
    ("summary", ".json"),
    ("config", ".toml"),
    ("latency", ".hlog"),
    ("slowest", ".jsonl"),
    ("requests", ".parquet"),
    ("series", ".parquet"),
    ("timeline", ".pftrace"),
    ("report", ".html"),
];

/// Appended to a name while its file is being written.
const PARTIAL: &str = ".partial";

/// A folder that receives the results of one run.
///
/// Files are written under temporary names; [`commit`](OutputFolder::commit) moves them in
/// place, the summary last. Dropped without that, it removes them.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    pending: Vec<String>,
}

impl OutputFolder {
    /// Creates the folder if needed and checks that it can be written. A folder that
    /// holds a run is refused unless `force` is set; then that run is replaced at commit.
    pub fn prepare(path: &Path, force: bool) -> Result<OutputFolder, ReportError> {
        let not_writable = |source| ReportError::NotWritable { path: path.to_path_buf(), source };
        fs::create_dir_all(path).map_err(not_writable)?;
        let present = results_in(path).map_err(not_writable)?;
        if let (Some(file), false) = (present.first(), force) {
            return Err(ReportError::HoldsRun { path: path.to_path_buf(), file: file.clone() });
        }
        // Asked now, not after an hour of simulation.
        let probe = path.join(format!(".tailcut{PARTIAL}"));
        File::create(&probe).and_then(|_| fs::remove_file(&probe)).map_err(not_writable)?;
        remove_stale(path).map_err(not_writable)?;
        Ok(OutputFolder { path: path.to_path_buf(), pending: Vec::new() })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Starts a result file; it gets its name at commit.
    pub fn create(&mut self, name: &str) -> Result<File, ReportError> {
        debug_assert!(is_result(name), "`{name}` would not be recognised as a result");
        let path = self.partial(name);
        let file = File::create(&path).map_err(ReportError::io(&path))?;
        if !self.pending.iter().any(|p| p == name) {
            self.pending.push(name.to_string());
        }
        Ok(file)
    }

    /// Writes a whole result file; it gets its name at commit.
    pub fn write(&mut self, name: &str, text: &str) -> Result<(), ReportError> {
        let path = self.partial(name);
        self.create(name)?.write_all(text.as_bytes()).map_err(ReportError::io(&path))
    }

    /// Puts all files in place. An earlier run is removed first, its summary before
    /// everything else, so that at no moment two runs look like one.
    pub fn commit(mut self) -> Result<(), ReportError> {
        let mut old = results_in(&self.path).map_err(ReportError::io(&self.path))?;
        old.sort_by_key(|name| name != SUMMARY);
        for name in old {
            let path = self.path.join(name);
            fs::remove_file(&path).map_err(ReportError::io(&path))?;
        }
        self.pending.sort_by_key(|name| name == SUMMARY);
        for name in &self.pending {
            let path = self.path.join(name);
            fs::rename(self.partial(name), &path).map_err(ReportError::io(&path))?;
        }
        self.pending.clear();
        Ok(())
    }

    fn partial(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}{PARTIAL}"))
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        for name in &self.pending {
            // Best effort: the run has failed already, and that is what is reported.
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

/// Remove what a run left that was killed while it wrote.
fn remove_stale(path: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_string_lossy().strip_suffix(PARTIAL).is_some_and(is_result) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The results in a folder, the summary first, then by name.
fn results_in(path: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if is_result(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| (name != SUMMARY, name.clone()));
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(path)
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_run_appears_whole_and_is_not_overwritten_unasked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/run");
        let mut folder = OutputFolder::prepare(&path, false).unwrap();
        folder.write(SUMMARY, "{}").unwrap();
        folder.write("requests.t-es.parquet", "x").unwrap();
        assert_eq!(names(&path), ["requests.t-es.parquet.partial", "summary.json.partial"]);
        folder.commit().unwrap();
        assert_eq!(names(&path), ["requests.t-es.parquet", "summary.json"]);

        let refused = OutputFolder::prepare(&path, false).unwrap_err();
        assert!(matches!(&refused, ReportError::HoldsRun { file, .. } if file == SUMMARY));
        assert!(refused.to_string().contains(path.to_str().unwrap()));

        fs::write(path.join("notes.txt"), "mine").unwrap();
        let mut folder = OutputFolder::prepare(&path, true).unwrap();
        folder.write(CONFIG, "a = 1").unwrap();
        folder.commit().unwrap();
        // The former run is gone as a whole; what is not ours stays.
        assert_eq!(names(&path), ["config.toml", "notes.txt"]);
    }

    #[test]
    fn a_run_given_up_leaves_nothing_and_keeps_the_former() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(SUMMARY), "old").unwrap();
        let mut folder = OutputFolder::prepare(dir.path(), true).unwrap();
        folder.write(SUMMARY, "new").unwrap();
        drop(folder);
        assert_eq!(names(dir.path()), [SUMMARY]);
        assert_eq!(fs::read_to_string(dir.path().join(SUMMARY)).unwrap(), "old");
    }

    #[test]
    fn what_a_killed_run_left_goes_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        for name in
            ["requests.parquet.partial", "config.t-es.toml.partial", "notes.partial", "a.toml.partial"]
        {
            fs::write(dir.path().join(name), "half").unwrap();
        }
        drop(OutputFolder::prepare(dir.path(), false).unwrap());
        assert_eq!(names(dir.path()), ["a.toml.partial", "notes.partial"]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("below")] {
            let error = OutputFolder::prepare(&path, true).unwrap_err();
            assert!(matches!(error, ReportError::NotWritable { .. }));
            assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_write_protected_folder_is_refused_at_once() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
        // Root may write anyway; then there is nothing to test.
        if File::create(dir.path().join("probe")).is_err() {
            let error = OutputFolder::prepare(dir.path(), false).unwrap_err();
            assert!(error.to_string().contains(dir.path().to_str().unwrap()), "{error}");
        }
    }
}
