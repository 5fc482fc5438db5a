//! Snapshots: an aged drive's map and extents, or a whole drive in the middle of a run.
//!
//! Layout, all integers little-endian: magic (8 bytes), format version (u32), kind
//! (u32), key (u64), length of the state (u64), the state (postcard); then each bulk
//! array as its length in bytes (u64) and its chunks of 1 MiB, each a presence byte
//! (0: all zero, nothing follows) and the bytes; last the XXH3-64 of all before (u64).
//!
//! The arrays are read and not mapped, since a mapped file has no huge pages: `docs/profiling.md` has
//! the figures.

use super::config::DeviceConfig;
use super::drive::{Device, State};
use super::medium::Medium;
use crate::address::Lpn;
use crate::device::age::precondition::AgeReport;
use crate::flash::FlashState;
use crate::ftl::extents::Extents;
use crate::ftl::map::{MapState, Place};
use crate::nand::blocks::Blocks;
use crate::observer::Observer;
use crate::problem::ConfigProblem;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, Read, Write};
use xxhash_rust::xxh3::Xxh3;

const MAGIC: &[u8; 8] = b"TAILCUT\0";
/// The format's version: a snapshot of another version is refused.
pub(super) const VERSION: u32 = 34;
const CHUNK: usize = 1 << 20;

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
enum Kind {
    Aged = 1,
    Whole = 2,
}

#[derive(Serialize, Deserialize)]
struct Aged {
    report: AgeReport,
    map: MapState,
    extents: Extents,
    blocks: Blocks,
    /// Stripes that have moved: each with its group and the offset of its parity.
    moved: Vec<(u32, u32, u32)>,
}

impl<O: Observer> Device<O> {
    /// Restore the drive that [`Device::snapshot`] has saved.
    pub fn restore(
        config: &DeviceConfig,
        seed: u64,
        observer: O,
        from: &mut dyn Read,
    ) -> Result<Device<O>, SnapshotError> {
        let mut device = Device::new(config, seed, observer)?;
        let (mut state, flash, map): (State, FlashState, MapState) =
            device.load(Kind::Whole, whole_key(config, seed), from)?;
        let layout = &device.shape.layout;
        if !state.extents.fits(layout) {
            return Err(damaged("its tables do not fit this drive"));
        }
        state.extents.check(layout, device.shape.holes.as_ref(), true).map_err(|e| damaged(&e))?;
        state.host.scratch = std::mem::take(&mut device.state.host.scratch);
        device.state = state;
        device.flash.restore(flash);
        device.map.state = map;
        Ok(device)
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Save the state of the translation layer. Every scheme with the same `key` can start from it.
    /// The drive must be idle.
    ///
    /// # Panics
    /// If a plane of the drive is dead: another scheme's drive would use that plane. If last loops of erases
    /// are deferred: the file has no place for them, and ageing leaves none.
    pub fn save_aged(&self, key: u64, report: &AgeReport, to: &mut dyn Write) -> Result<(), SnapshotError> {
        assert!(self.state.faults.life.is_empty(), "an aged drive has all its planes");
        assert!(self.state.gc.last_loops.deferred().next().is_none(), "an aged drive defers no last loop");
        let aged = Aged {
            report: report.clone(),
            map: self.map.state.clone(),
            extents: self.state.extents.clone(),
            blocks: self.flash.blocks().by_index(),
            moved: self.state.parity.places.all_moved(),
        };
        self.save(Kind::Aged, key, &aged, to)
    }

    /// Load a saved state of the translation layer. The drive must be new.
    pub fn load_aged(&mut self, key: u64, from: &mut dyn Read) -> Result<AgeReport, SnapshotError> {
        let aged: Aged = self.load(Kind::Aged, key, from)?;
        let fits = aged.extents.fits(&self.shape.layout) && self.flash.blocks_mut().take_counts(aged.blocks);
        if !fits || aged.map.filled > self.shape.layout.host_units {
            return Err(damaged("its tables do not fit this drive"));
        }
        // Ageing makes no block bad, so that the holes are those of a new drive.
        let layout = &self.shape.layout;
        aged.extents.check(layout, self.shape.holes.as_ref(), false).map_err(|e| damaged(&e))?;
        self.map.state = aged.map;
        self.state.extents = aged.extents;
        let homes = &mut self.state.parity.places;
        if !self.shape.stripes.as_ref().map_or(aged.moved.is_empty(), |s| homes.restore(s, &aged.moved)) {
            return Err(damaged("its stripes do not fit this drive"));
        }
        if !self.map.is_sane(&self.shape.layout) {
            return Err(damaged("its map points outside the drive"));
        }
        if !self.map.agrees(&self.shape.layout) {
            return Err(damaged("the two directions of its map disagree"));
        }
        self.audit_extents().and_then(|()| self.audit_rows()).map_err(|e| damaged(&e))?;
        if !self.stripes_are_home() {
            return Err(damaged("a unit is not where its stripe is"));
        }
        self.state.extents.check_room(&self.shape.layout).map_err(|e| damaged(&e))?;
        self.data_adopted();
        Ok(aged.report)
    }

    /// Whether every unit on flash is on the lane that its stripe gives it. With no stripes: always.
    fn stripes_are_home(&self) -> bool {
        let Some(stripes) = &self.shape.stripes else { return true };
        let (layout, places) = (&self.shape.layout, &self.state.parity.places);
        Lpn(0).run(self.map.forward.len() as u32).all(|lpn| match self.map.lookup(lpn) {
            Place::Flash(ppa) => layout.lane_at(ppa) == places.lane(stripes, lpn),
            _ => true,
        })
    }

    /// Save the whole drive as it is now, operations under way included. `config` and `seed` must
    /// be those that it was made with.
    pub fn snapshot(
        &self,
        config: &DeviceConfig,
        seed: u64,
        to: &mut dyn Write,
    ) -> Result<(), SnapshotError> {
        self.save(
            Kind::Whole,
            whole_key(config, seed),
            &(&self.state, self.flash.state(), &self.map.state),
            to,
        )
    }

    fn save(
        &self,
        kind: Kind,
        key: u64,
        state: &impl Serialize,
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
        let arrays = [self.map.forward.bytes(), self.map.reverse.bytes(), self.map.valid.bytes()];
        self.map.reverse.access_in_order(true);
        let put = arrays.into_iter().try_for_each(|array| out.array(array));
        self.map.reverse.access_in_order(false);
        put?;
        let sum = out.hash.digest();
        out.inner.write_all(&sum.to_le_bytes())?;
        Ok(())
    }

    fn load<T: DeserializeOwned>(
        &mut self,
        kind: Kind,
        key: u64,
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
        let map = &mut self.map;
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
}

fn whole_key(config: &DeviceConfig, seed: u64) -> u64 {
    xxhash_rust::xxh3::xxh3_64(format!("{VERSION} {config:?} {seed}").as_bytes())
}

fn damaged(what: &str) -> SnapshotError {
    SnapshotError::Damaged(what.to_string())
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
