//! Stores aged states in the user's cache folder, up to a size limit.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tailcut_core::device::SnapshotError;

/// The default size limit of the cache, in bytes.
pub const LIMIT: u64 = 20 << 30;

/// The name prefix of files that are being written.
const TEMPORARY: &str = ".tailcut-";
/// A file being written is abandoned if it was not modified for this long.
const STALE: Duration = Duration::from_secs(3600);
/// How long a process that waits for another's state sleeps between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// A folder of aged states, each named by its key.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// The right to make a state. Other processes that need the state wait until it is dropped, or its process has ended.
#[derive(Debug)]
pub struct Making {
    path: PathBuf,
    _file: File,
}

impl Drop for Making {
    fn drop(&mut self) {
        // Who waits has the file open, and looks for the state before it makes one.
        let _ = fs::remove_file(&self.path);
    }
}

/// A snapshot that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot store the aged state in {}: {source}", path.display())]
pub struct CacheError {
    /// The file.
    pub path: PathBuf,
    /// The error.
    pub source: SnapshotError,
}

impl Cache {
    /// A cache in `folder`, which is created when first needed.
    pub fn new(folder: PathBuf, limit: u64) -> Cache {
        Cache { folder, limit }
    }

    /// The user's cache: `TAILCUT_CACHE`, else `tailcut` in `XDG_CACHE_HOME`, else in
    /// `~/.cache`. `None` if none of these variables (with `HOME`) is set.
    pub fn of_user() -> Option<Cache> {
        let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let folder = set("TAILCUT_CACHE")
            .or_else(|| set("XDG_CACHE_HOME").map(|p| p.join("tailcut")))
            .or_else(|| set("HOME").map(|p| p.join(".cache/tailcut")))?;
        Some(Cache::new(folder, LIMIT))
    }

    /// The file of a key, whether it exists or not.
    pub fn path(&self, key: u64) -> PathBuf {
        self.folder.join(format!("aged-{key:016x}.snap"))
    }

    /// Mark a state as used now, so that states used earlier are evicted before it.
    pub fn touch(&self, key: u64) {
        // Errors are ignored: a cache that cannot be written can still be read.
        let file = File::options().append(true).open(self.path(key));
        let _ = file.and_then(|f| f.set_modified(SystemTime::now()));
    }

    /// Wait until no other process makes this state, unless `stopped` says so. `None` without a lock: where files cannot be
    /// locked, several processes may make one state, which costs time alone.
    pub fn make(&self, key: u64, stopped: &dyn Fn() -> bool) -> Option<Making> {
        fs::create_dir_all(&self.folder).ok()?;
        let path = self.folder.join(format!("{TEMPORARY}{key:016x}.lock"));
        let file = File::options().create(true).truncate(false).write(true).open(&path).ok()?;
        loop {
            match file.try_lock() {
                Ok(()) => return Some(Making { path, _file: file }),
                Err(TryLockError::WouldBlock) if !stopped() => std::thread::sleep(LOOK),
                Err(_) => return None,
            }
        }
    }

    /// Store a state, then evict the least recently used states until the limit holds.
    ///
    /// # Errors
    /// The folder or the file cannot be written; no incomplete file stays.
    pub fn save(
        &self,
        key: u64,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), SnapshotError>,
    ) -> Result<(), CacheError> {
        let path = self.path(key);
        fs::create_dir_all(&self.folder)
            .map_err(|e| CacheError { path: path.clone(), source: SnapshotError::Io(e) })?;
        write_whole(&path, fill)?;
        self.evict(&path);
        Ok(())
    }

    /// Remove incomplete files of killed runs; a recent one may belong to another run.
    fn remove_stale(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let ours = entry.file_name().to_string_lossy().starts_with(TEMPORARY);
            let age = entry.metadata().ok().and_then(|m| m.modified().ok()?.elapsed().ok());
            if ours && age.is_some_and(|age| age > STALE) {
                // Errors are ignored, as everywhere in the cache.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn evict(&self, keep: &Path) {
        self.remove_stale();
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let name = entry.file_name().into_string().ok()?;
                let ours = name.starts_with("aged-") && name.ends_with(".snap");
                let facts = entry.metadata().ok().filter(|_| ours)?;
                Some((facts.modified().ok()?, facts.len(), entry.path()))
            })
            .collect();
        files.sort();
        let mut total: u64 = files.iter().map(|f| f.1).sum();
        for (_, bytes, path) in files {
            if total <= self.limit {
                break;
            }
            // The newest state stays even if it alone exceeds the limit, since it is in
            // use.
            if path != keep && fs::remove_file(&path).is_ok() {
                total -= bytes;
            }
        }
    }
}

/// Write a file that appears complete or not at all.
pub(crate) fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), SnapshotError>,
) -> Result<(), CacheError> {
    let write = || -> Result<(), SnapshotError> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder)?;
        let mut out = BufWriter::with_capacity(1 << 20, file.as_file_mut());
        fill(&mut out)?;
        out.flush()?;
        drop(out);
        file.persist(path).map_err(|e| SnapshotError::Io(e.error))?;
        Ok(())
    };
    write().map_err(|source| CacheError { path: path.to_path_buf(), source })
}

/// The aged states of an experiment, by key: if several runs share a state, only one makes it, and the others copy it.
#[derive(Debug, Default)]
pub struct Locks(Mutex<HashMap<u64, Arc<Mutex<Shared>>>>);

/// A state that runs share.
#[derive(Debug, Default)]
pub struct Shared {
    /// Runs that need the state and have not had it.
    pub left: usize,
    /// The state, as a file would hold it, while runs are left and no file has it.
    pub held: Option<Vec<u8>>,
}

impl Locks {
    /// Those of runs that need these states, a key for each run.
    pub fn for_runs(keys: impl Iterator<Item = u64>) -> Locks {
        let locks = Locks::default();
        for key in keys {
            locks.of(key).lock().unwrap_or_else(PoisonError::into_inner).left += 1;
        }
        locks
    }

    /// The lock of a key.
    pub fn of(&self, key: u64) -> Arc<Mutex<Shared>> {
        Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn the_least_recently_used_goes_first_and_strangers_stay() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("new"), 250);
        let put = |key| cache.save(key, |to| Ok(to.write_all(&[7; 100])?)).unwrap();
        let age = |key, seconds| {
            let file = File::options().append(true).open(cache.path(key)).unwrap();
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(seconds)).unwrap();
        };
        put(1);
        fs::write(folder.path().join("new/notes.txt"), [0; 1000]).unwrap();
        put(2);
        age(1, 300);
        age(2, 200);
        cache.touch(1);
        put(3);
        assert_eq!(
            names(&folder.path().join("new")),
            ["aged-0000000000000001.snap", "aged-0000000000000003.snap", "notes.txt"]
        );
    }

    #[test]
    fn what_killed_runs_left_goes_when_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_path_buf(), LIMIT);
        for (name, seconds) in [(".tailcut-old", 7200), (".tailcut-young", 60), (".other", 7200)] {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        }
        cache.save(1, |to| Ok(to.write_all(b"aged")?)).unwrap();
        assert_eq!(names(folder.path()), [".other", ".tailcut-young", "aged-0000000000000001.snap"]);
    }

    /// Of several that need a state at once one makes it, and the others find it, although they share no memory.
    #[test]
    fn one_makes_a_state_and_the_others_wait() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("new"), LIMIT);
        let made = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _making = cache.make(1, &|| false).expect("files can be locked");
                    if !cache.path(1).exists() {
                        std::thread::sleep(Duration::from_millis(50));
                        cache.save(1, |to| Ok(to.write_all(b"aged")?)).unwrap();
                        made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
        assert_eq!(names(&folder.path().join("new")), ["aged-0000000000000001.snap"]);
        let held = cache.make(2, &|| false);
        assert!(held.is_some() && cache.make(3, &|| false).is_some(), "another state is made meanwhile");
        assert!(cache.make(2, &|| true).is_none(), "who is stopped does not wait");
    }

    #[test]
    fn what_fails_half_way_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_path_buf(), LIMIT);
        let saved = cache.save(1, |to| {
            to.write_all(b"half")?;
            Err(SnapshotError::NotASnapshot)
        });
        assert!(saved.is_err());
        assert!(names(folder.path()).is_empty());
    }
}
