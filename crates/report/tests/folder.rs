//! Tests that the results of a run appear all together or not at all, and that a run replaces
//! only a run.

use std::fs::{self, File};
use std::path::Path;
use tailcut_report::folder::{CONFIG, SUMMARY};
use tailcut_report::{OutputFolder, ReportError};

/// Exists while a run writes, and remains after a run that was killed.
const LOCK: &str = ".tailcut.lock";

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The head of a summary, by which a run is recognised.
fn summary(seed: u32) -> String {
    format!("{{\"tailcut\": \"0.1.0\", \"schema\": 1, \"seed\": {seed}}}")
}

#[test]
fn a_run_appears_whole_and_is_not_overwritten_unasked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/run");
    let mut folder = OutputFolder::prepare(&path, false).unwrap();
    folder.write(SUMMARY, &summary(1)).unwrap();
    folder.write("requests.t-es.parquet", "x").unwrap();
    assert_eq!(names(&path), [LOCK, "requests.t-es.parquet.partial", "summary.json.partial"]);
    folder.commit().unwrap();
    assert_eq!(names(&path), ["requests.t-es.parquet", "summary.json"]);

    let refused = OutputFolder::prepare(&path, false).unwrap_err();
    assert!(matches!(&refused, ReportError::HoldsRun { file, .. } if file == SUMMARY));
    assert!(refused.to_string().contains(path.to_str().unwrap()));

    fs::write(path.join("notes.txt"), "mine").unwrap();
    let mut folder = OutputFolder::prepare(&path, true).unwrap();
    folder.write(CONFIG, "a = 1").unwrap();
    folder.commit().unwrap();
    // The previous run is removed completely; other files stay.
    assert_eq!(names(&path), ["config.toml", "notes.txt"]);
}

#[test]
fn a_run_given_up_leaves_nothing_and_keeps_the_former() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(SUMMARY), summary(1)).unwrap();
    let mut folder = OutputFolder::prepare(dir.path(), true).unwrap();
    folder.write(SUMMARY, "new").unwrap();
    drop(folder);
    assert_eq!(names(dir.path()), [SUMMARY]);
    assert_eq!(fs::read_to_string(dir.path().join(SUMMARY)).unwrap(), summary(1));
}

#[test]
fn one_run_writes_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let first = OutputFolder::prepare(dir.path(), false).unwrap();
    for force in [false, true] {
        let busy = OutputFolder::prepare(dir.path(), force).unwrap_err();
        let us = std::process::id();
        assert!(matches!(busy, ReportError::Busy { process: Some(p), .. } if p == us), "{busy}");
    }
    drop(first);
    assert_eq!(names(dir.path()), [""; 0]);
    OutputFolder::prepare(dir.path(), false).unwrap();
}

/// A run that was killed leaves only the lock file and unfinished results.
#[test]
fn a_run_that_was_killed_keeps_nobody_out() {
    let dir = tempfile::tempdir().unwrap();
    let left = [LOCK, "summary.json.partial", "requests.es.parquet.partial"];
    left.iter().for_each(|name| fs::write(dir.path().join(name), "4194304").unwrap());
    let mut folder = OutputFolder::prepare(dir.path(), false).unwrap();
    assert_eq!(names(dir.path()), [LOCK]);
    folder.write(SUMMARY, &summary(1)).unwrap();
    folder.commit().unwrap();
    assert_eq!(names(dir.path()), [SUMMARY]);
}

#[test]
fn a_folder_that_never_held_a_run_is_refused() {
    // File names of results are not enough, and neither is a summary of another program.
    let foreign = [("notes.txt", "mine"), (CONFIG, "a = 1"), (SUMMARY, "{\"schema\": 1}")];
    for (name, text) in foreign {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(name), text).unwrap();
        for force in [false, true] {
            let error = OutputFolder::prepare(dir.path(), force).unwrap_err();
            assert!(matches!(&error, ReportError::NotARun { file, .. } if file == name), "{error}");
        }
        assert_eq!(names(dir.path()), [name], "nothing is left there");
    }
}

/// Results written by another process during the run are left alone, and this run's results are
/// not lost.
#[test]
fn results_that_came_in_between_are_not_replaced() {
    for (force, former) in [(false, None), (true, Some(1))] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run");
        fs::create_dir(&path).unwrap();
        former.iter().for_each(|&n| fs::write(path.join(SUMMARY), summary(n)).unwrap());
        let mut folder = OutputFolder::prepare(&path, force).unwrap();
        folder.write(SUMMARY, &summary(2)).unwrap();
        // Like a process on another machine whose locks this machine does not see.
        fs::write(path.join(SUMMARY), summary(30)).unwrap();
        let error = folder.commit().unwrap_err();
        let beside = dir.path().join("run.2");
        assert!(matches!(&error, ReportError::Changed { to, .. } if *to == beside), "{error}");
        assert_eq!(fs::read_to_string(path.join(SUMMARY)).unwrap(), summary(30));
        assert_eq!(fs::read_to_string(beside.join(SUMMARY)).unwrap(), summary(2));
        assert_eq!((names(&path), names(&beside)), (vec![SUMMARY.into()], vec![SUMMARY.into()]));
    }
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
    // Root may write anyway; then the test checks nothing.
    if File::create(dir.path().join("probe")).is_err() {
        let error = OutputFolder::prepare(dir.path(), false).unwrap_err();
        assert!(error.to_string().contains(dir.path().to_str().unwrap()), "{error}");
    }
}
