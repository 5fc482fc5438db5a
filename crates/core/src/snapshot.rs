//! Snapshots: an aged drive's map and tables, or a whole drive in the middle of a run.
//!
//! Layout, all integers little-endian: magic (8 bytes), format version (u32), kind
//! (u32), key (u64), length of the state (u64), the state (postcard); then each bulk
//! array as its length in bytes (u64) and its chunks of 1 MiB, each a presence byte
//! (0: all zero, nothing follows) and the bytes; last the XXH3-64 of all before (u64).
//!
//! The arrays are read and not mapped, since a mapped file has no huge pages: `docs/profiling.md` has
//! the figures.

use crate::config::DeviceConfig;
use crate::ftl::map::Map;
use crate::problem::ConfigProblem;
use serde::{Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};
use xxhash_rust::xxh3::Xxh3;

const MAGIC: &[u8; 8] = b"TAILCUT\0";
/// The format's version: a snapshot of another version is refused.
pub(crate) const VERSION: u32 = 45;
const CHUNK: usize = 1 << 20;
/// The longest state, bytes.
const STATE_MAX: u64 = 1 << 34;

/// Why a snapshot was not taken or not restored. After an error, drop the device that was being
/// restored.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The file could not be read or written.
    #[error("cannot read or write the snapshot: {0}")]
    Io(#[from] io::Error),
    /// Not a snapshot at all.
    #[error("not a Tailcut snapshot")]
    NotASnapshot,
    /// Another version of the format.
    #[error("snapshot of format version {found}; this program reads version {VERSION}")]
    Version {
        /// The file's version.
        found: u32,
    },
    /// A snapshot of another kind, drive, seed or past.
    #[error(
        "snapshot of another drive, seed or preconditioning (its key is {found:016x}, wanted {wanted:016x})"
    )]
    OtherDrive {
        /// The file's key.
        found: u64,
        /// The key asked for.
        wanted: u64,
    },
    /// Cut short, or with other contents than were written.
    #[error("damaged snapshot: {0}")]
    Damaged(String),
    /// The configuration itself is refused.
    #[error(transparent)]
    Config(#[from] ConfigProblem),
}

/// What kind of snapshot a file holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SnapshotKind {
    /// The tables of an aged drive at rest.
    Aged = 1,
    /// A whole drive, operations under way included.
    Whole = 2,
}

/// Save a state and a map.
pub(crate) fn save(
    kind: SnapshotKind,
    key: u64,
    state: &impl Serialize,
    map: &Map,
    to: &mut dyn Write,
) -> Result<(), SnapshotError> {
    let mut out = Hashed { inner: to, hash: Xxh3::new() };
    out.put(MAGIC)?;
    out.put(&VERSION.to_le_bytes())?;
    out.put(&(kind as u32).to_le_bytes())?;
    out.put(&key.to_le_bytes())?;
    let state = postcard::to_stdvec(state).map_err(|e| damaged(&e.to_string()))?;
    out.put(&(state.len() as u64).to_le_bytes())?;
    out.put(&state)?;
    let arrays = [map.forward.bytes(), map.reverse.bytes(), map.valid.bytes()];
    map.reverse.access_in_order(true);
    let put = arrays.into_iter().try_for_each(|array| out.array(array));
    map.reverse.access_in_order(false);
    put?;
    let sum = out.hash.digest();
    out.inner.write_all(&sum.to_le_bytes())?;
    Ok(())
}

/// Load what [`save`] has saved: the state, and the arrays of the map.
pub(crate) fn load<T: DeserializeOwned>(
    kind: SnapshotKind,
    key: u64,
    map: &mut Map,
    from: &mut dyn Read,
) -> Result<T, SnapshotError> {
    let mut input = Hashed { inner: from, hash: Xxh3::new() };
    if input.get::<8>().map_err(|_| SnapshotError::NotASnapshot)? != *MAGIC {
        return Err(SnapshotError::NotASnapshot);
    }
    let found = u32::from_le_bytes(input.get()?);
    if found != VERSION {
        return Err(SnapshotError::Version { found });
    }
    let same_kind = u32::from_le_bytes(input.get()?) == kind as u32;
    let found = u64::from_le_bytes(input.get()?);
    if !same_kind || found != key {
        return Err(SnapshotError::OtherDrive { found, wanted: key });
    }
    let state = input.state()?;
    map.reverse.access_in_order(true);
    let arrays = [map.forward.bytes_mut(), map.reverse.bytes_mut(), map.valid.bytes_mut()];
    let got = arrays.into_iter().try_for_each(|array| input.array(array));
    map.reverse.access_in_order(false);
    got?;
    let sum = input.hash.digest();
    let mut stored = [0; 8];
    input.inner.read_exact(&mut stored).map_err(cut_short)?;
    if u64::from_le_bytes(stored) != sum {
        return Err(damaged("its checksum is wrong"));
    }
    // The checksum is right, so the state is what was written.
    postcard::from_bytes(&state).map_err(|e| damaged(&e.to_string()))
}

/// The key of a whole drive.
pub(crate) fn whole_key(config: &DeviceConfig, seed: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64(format!("{VERSION} {config:?} {seed}").as_bytes())
}

/// The error of a file with other contents than were written.
pub(crate) fn damaged(what: &str) -> SnapshotError {
    SnapshotError::Damaged(what.to_string())
}

/// Run the audit of a restored drive. The state is damaged if the audit fails, or panics.
///
/// An audit follows links and adds numbers through all parts of a drive, and may find an index or a sum that no drive
/// has. The drive is dropped then, so that nobody sees a state in the middle of a change.
pub(crate) fn audited(audit: impl FnOnce() -> Result<(), String>) -> Result<(), SnapshotError> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(audit)) {
        Ok(result) => result.map_err(SnapshotError::Damaged),
        Err(_) => Err(damaged("its state contradicts itself")),
    }
}

fn cut_short(e: io::Error) -> SnapshotError {
    if e.kind() == io::ErrorKind::UnexpectedEof { damaged("it is cut short") } else { SnapshotError::Io(e) }
}

/// A stream that hashes the bytes that pass through it.
struct Hashed<S> {
    inner: S,
    hash: Xxh3,
}

impl Hashed<&mut dyn Write> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.hash.update(bytes);
        Ok(self.inner.write_all(bytes)?)
    }

    fn array(&mut self, array: &[u8]) -> Result<(), SnapshotError> {
        self.put(&(array.len() as u64).to_le_bytes())?;
        for chunk in array.chunks(CHUNK) {
            let present = chunk.iter().any(|&b| b != 0);
            self.put(&[u8::from(present)])?;
            if present {
                self.put(chunk)?;
            }
        }
        Ok(())
    }
}

impl Hashed<&mut dyn Read> {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), SnapshotError> {
        self.inner.read_exact(bytes).map_err(cut_short)?;
        self.hash.update(bytes);
        Ok(())
    }

    fn get<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn state(&mut self) -> Result<Vec<u8>, SnapshotError> {
        let len = u64::from_le_bytes(self.get()?);
        if len > STATE_MAX {
            return Err(damaged("its state is longer than that of any drive"));
        }
        let mut state = Vec::new();
        // Memory grows with the bytes that are present, because the stored length may be wrong.
        (&mut self.inner).take(len).read_to_end(&mut state)?;
        if state.len() as u64 != len {
            return Err(damaged("it is cut short"));
        }
        self.hash.update(&state);
        Ok(state)
    }

    fn array(&mut self, array: &mut [u8]) -> Result<(), SnapshotError> {
        if u64::from_le_bytes(self.get()?) != array.len() as u64 {
            return Err(damaged("an array has another size"));
        }
        for chunk in array.chunks_mut(CHUNK) {
            match self.get::<1>()? {
                [0] => {}
                [1] => self.fill(chunk)?,
                _ => return Err(damaged("a chunk is marked neither present nor zero")),
            }
        }
        Ok(())
    }
}
