//! A store in a folder, including the state of the controller.
//!
//! In addition to the files of [`FileStore`] there are:
//! - `store.json`: the header, which describes the drive, and `lock`, which one process holds;
//! - `controller.N`: a snapshot of the controller, without data; N is its generation;
//! - `commands.N`: every command that the drive has received since the snapshot, 32 bytes each, little-endian: u64 time
//!   of the submission, u64 time at which the client wanted it, u64 offset, u32 bytes, u8 operation (0 read, 1 write, 2
//!   trim, 3 flush), u8 forced unit access, u16 zero. An intervention has operation 254. Its bytes are the length of a
//!   text, which follows and is padded with zeros to a multiple of 32 bytes. It counts as one command.
//!
//! The note of each turn has the number of commands that the drive had received, and the number of timers that had
//! fired. The model is deterministic. The snapshot and the commands therefore give the state of the controller at
//! that turn, to the nanosecond. When a store is opened, the outstanding commands are completed before clients can
//! connect.

use super::{FileStore, Kept, Note};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tailcut_core::config::DeviceConfig;
use tailcut_core::drive::Drive;
use tailcut_core::intervention::{Intervention, InterventionError};
use tailcut_core::medium::{Bytes, Silent};
use tailcut_core::snapshot::SnapshotError;
use tailcut_units::{Command, HostOp, SimTime};
use xxhash_rust::xxh3::Xxh3;

/// The version of the format. A store of another version is refused.
const VERSION: u32 = 2;
const HEADER: &str = "store.json";
const LOCK: &str = "lock";
const RECORD: usize = 32;
/// The operation code of an intervention, and the longest text of one.
const INTERVENTION: u8 = 254;
const TEXT_MAX: u32 = 1024;
/// The longest header, bytes.
const HEADER_MAX: u64 = 1 << 20;
/// The controller is saved again after this number of commands, so that opening the store stays fast.
const COMMANDS_MAX: u64 = 4 << 20;
/// A turn is committed after this number of changes, even if no client waits for it.
const CHANGES_MAX: usize = 4096;

/// The drive of a store.
pub type Stored = Drive<(), Bytes<Kept>>;

/// The header of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreHeader {
    /// Version of the store's format.
    pub version: u32,
    /// Version of the program that created it.
    pub tailcut: String,
    /// Version of the model. Under another version the commands would give another state.
    pub model_version: u32,
    /// The device, as the user named it.
    pub device: String,
    /// The scheme.
    pub scheme: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Bytes that were filled and then overwritten to the steady state; 0 for a new drive.
    pub aged: u64,
    /// The resolved configuration, as TOML.
    pub config: String,
}

impl StoreHeader {
    /// Compare the header of the store with that of the drive to be served.
    ///
    /// # Errors
    /// The first difference.
    pub fn serves(&self, wanted: &StoreHeader) -> Result<(), String> {
        let differs = |what: &str, is: &dyn Display, wanted: &dyn Display| {
            Err(format!("the store has {what} {is}, and this drive has {wanted}"))
        };
        if self.model_version != wanted.model_version {
            return differs("model version", &self.model_version, &wanted.model_version);
        }
        if self.seed != wanted.seed {
            return differs("seed", &self.seed, &wanted.seed);
        }
        if self.aged == 0 && wanted.aged > 0 {
            return Err("the store is of a drive that was not aged".to_string());
        }
        let lines = |header: &StoreHeader| header.config.lines().map(str::to_string).collect::<Vec<_>>();
        let (is, wanted) = (lines(self), lines(wanted));
        let nothing = "nothing".to_string();
        match (0..is.len().max(wanted.len())).find(|&i| is.get(i) != wanted.get(i)) {
            Some(i) => {
                let line = |of: &[String]| format!("`{}`", of.get(i).unwrap_or(&nothing));
                differs("the configuration", &line(&is), &line(&wanted))
            }
            None => Ok(()),
        }
    }

    /// Create the header of a drive, in this version of the format.
    pub fn new(
        (tailcut, model_version): (&str, u32),
        (device, scheme, seed): (&str, &str, u64),
        aged: u64,
        config: String,
    ) -> StoreHeader {
        let (tailcut, device, scheme) = (tailcut.to_string(), device.to_string(), scheme.to_string());
        StoreHeader { version: VERSION, tailcut, model_version, device, scheme, seed, aged, config }
    }
}

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or the folder.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The folder is not a store, is damaged, or belongs to another drive.
    #[error("{path}: {what}")]
    Refused {
        /// The file or the folder.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// A part of the controller's memory, or the list of its commands, is damaged.
    #[error("{path}: BROKEN: {what}")]
    Damaged {
        /// The folder.
        path: String,
        /// Which part, and what is wrong.
        what: String,
    },
    /// The state of the controller cannot be read or written.
    #[error("{path}: {source}")]
    Controller {
        /// The file.
        path: String,
        /// Why.
        source: SnapshotError,
    },
}

impl StoreError {
    /// Whether the cause is the user's input.
    pub fn is_input(&self) -> bool {
        matches!(self, StoreError::Refused { .. })
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> StoreError {
    let path = path.display().to_string();
    move |source| StoreError::Io { path: path.clone(), source }
}

fn refused(path: &Path, what: impl Into<String>) -> StoreError {
    StoreError::Refused { path: path.display().to_string(), what: what.into() }
}

/// Keeps the store of a served drive: it records commands and commits turns.
pub struct Keeper {
    folder: PathBuf,
    /// Held while the store is open.
    lock: Arc<File>,
    config: DeviceConfig,
    seed: u64,
    generation: u64,
    /// The file of the commands of this generation, their number, and those that are not in the file yet.
    commands: File,
    count: u64,
    unwritten: Vec<u8>,
    /// The checksum of all commands in the file.
    sum: Xxh3,
    /// Timers that had fired when the generation began.
    events: u64,
}

/// An opened store.
pub struct Opened {
    /// The drive. Commands of the last process have been completed.
    pub drive: Stored,
    /// Its keeper.
    pub keeper: Keeper,
    /// Commands that were replayed.
    pub replayed: u64,
    /// Whether the last process had shut the drive down.
    pub stopped: bool,
}

/// Read the header of a store; `None` if the folder is missing or empty.
///
/// # Errors
/// The folder holds something else, or a header of another version.
pub fn header(folder: &Path) -> Result<Option<StoreHeader>, StoreError> {
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => return Ok(None),
        Ok(false) => {}
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(at(folder)(e)),
    }
    let path = folder.join(HEADER);
    let mut text = String::new();
    match File::open(&path).and_then(|file| file.take(HEADER_MAX).read_to_string(&mut text)) {
        Ok(_) => {}
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return Err(refused(
                folder,
                "has other files than those of a store; give an empty or a new folder",
            ));
        }
        Err(e) => return Err(at(&path)(e)),
    }
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| refused(&path, format!("no header of a store: {e}")))?;
    match value.get("version").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(VERSION) => {}
        version => {
            let found = version.map_or("no version".to_string(), |v| format!("version {v}"));
            return Err(refused(&path, format!("{found}; allowed is version {VERSION}")));
        }
    }
    let header =
        serde_json::from_value(value).map_err(|e| refused(&path, format!("no header of a store: {e}")))?;
    Ok(Some(header))
}

/// Create a store. `aged` ages the new drive.
///
/// # Errors
/// The folder is not empty, or cannot be written; or an error of `aged`.
pub fn create<E: From<StoreError>>(
    folder: &Path,
    header: &StoreHeader,
    config: &DeviceConfig,
    make: impl FnOnce(Bytes<Kept>) -> Result<Stored, E>,
) -> Result<(Stored, Keeper), E> {
    fs::create_dir_all(folder).map_err(at(folder))?;
    let lock = lock(folder)?;
    let store = FileStore::create(folder).map_err(at(folder))?;
    let mut drive = make(Bytes::over(Kept::Files(Box::new(store))))?;
    let mut keeper = Keeper::new(folder, lock, config, header.seed, 0)?;
    keeper.save(&mut drive, true)?;
    // The header is written last. Without it the folder is not a store.
    let text = serde_json::to_string_pretty(header).map_err(io::Error::other).map_err(at(folder))?;
    let path = folder.join(HEADER);
    fs::write(&path, text).map_err(at(&path))?;
    Ok((drive, keeper))
}

/// Open a store and continue from its last turn.
///
/// # Errors
/// A file is missing or damaged, or the store belongs to another drive.
pub fn open(folder: &Path, config: &DeviceConfig, seed: u64) -> Result<Opened, StoreError> {
    let lock = lock(folder)?;
    let (mut drive, note) = restored(folder, config, seed, false)?;
    let mut keeper = Keeper::new(folder, lock, config, seed, note.generation + 1)?;
    end_what_is_under_way(&mut drive);
    drive.medium_mut().forget_faults();
    // Counters count for the new process only.
    drive.reset_counters();
    keeper.save(&mut drive, true)?;
    keeper.forget_others()?;
    Ok(Opened { drive, keeper, replayed: note.commands, stopped: note.stopped })
}

/// The drive of a store at the last turn. No file is changed; later changes stay in memory.
///
/// # Errors
/// As [`open`].
pub fn look(folder: &Path, config: &DeviceConfig, seed: u64) -> Result<(Stored, Note), StoreError> {
    let _lock = lock(folder)?;
    let (mut drive, note) = restored(folder, config, seed, true)?;
    end_what_is_under_way(&mut drive);
    drive.medium_mut().forget_faults();
    Ok((drive, note))
}

fn restored(
    folder: &Path,
    config: &DeviceConfig,
    seed: u64,
    read_only: bool,
) -> Result<(Stored, Note), StoreError> {
    let (store, note) = FileStore::open(folder, read_only).map_err(at(folder))?;
    let path = controller(folder, note.generation);
    let file = File::open(&path).map_err(at(&path))?;
    let failed = |source| StoreError::Controller { path: path.display().to_string(), source };
    let saved =
        Drive::restore(config, seed, (), &mut BufReader::with_capacity(1 << 20, file)).map_err(failed)?;
    let mut drive = saved.over(Silent);
    replay(&mut drive, &commands(folder, note.generation), &note)?;
    let drive = drive.over(Bytes::over(Kept::Files(Box::new(store))));
    // A damaged part of the controller's memory would become wrong data. The store is therefore refused.
    if let Kept::Files(files) = drive.medium().store() {
        files.check_memory(&note);
        if let Some(what) = files.failure() {
            return Err(StoreError::Damaged { path: folder.display().to_string(), what });
        }
    }
    Ok((drive, note))
}

/// Replay the commands of a drive up to a turn.
fn replay(drive: &mut Drive<(), Silent>, path: &Path, note: &Note) -> Result<(), StoreError> {
    // A generation ends soon after this number of commands.
    if note.commands > 2 * COMMANDS_MAX {
        let what = format!("the last turn has {} commands, more than a store keeps", note.commands);
        return Err(StoreError::Damaged { path: path.display().to_string(), what });
    }
    if sum_of_commands(path, note.commands)? != note.commands_sum {
        let what = format!("the commands up to {} are not those of the last turn", note.commands);
        return Err(StoreError::Damaged { path: path.display().to_string(), what });
    }
    let mut file = BufReader::new(File::open(path).map_err(at(path))?);
    let from = drive.events();
    for number in 1..=note.commands {
        let mut record = [0; RECORD];
        file.read_exact(&mut record).map_err(at(path))?;
        let damaged = || refused(path, format!("command {number} is damaged"));
        if record[28] == INTERVENTION {
            let text = text_of(&record, &mut file).map_err(at(path))?.ok_or_else(damaged)?;
            intervene(drive, &record, &text).map_err(|e| refused(path, format!("command {number}: {e}")))?;
            continue;
        }
        let (when, wanted, command) = decode(&record).ok_or_else(damaged)?;
        while drive.advance_to_completion(when, u64::MAX, &mut |_| {}) > 0 {}
        if let Err(e) = drive.submit_write(when, wanted, command, 0, &[]) {
            return Err(refused(path, format!("command {number}: {e}")));
        }
    }
    while let Some(left) = note.events.checked_sub(drive.events() - from).filter(|left| *left > 0) {
        if drive.advance_to_completion(SimTime::NEVER, left, &mut |_| {}) == 0 {
            break;
        }
    }
    if drive.events() - from == note.events && drive.now().0 == note.now {
        return Ok(());
    }
    Err(refused(
        path,
        format!(
            "after {} commands the drive is at {} ns and {} events, and the store at {} ns and {}",
            note.commands,
            drive.now().0,
            drive.events() - from,
            note.now,
            note.events
        ),
    ))
}

/// XXH3-64 of the first `count` commands of a file, with their texts.
fn sum_of_commands(path: &Path, count: u64) -> Result<u64, StoreError> {
    let mut file = BufReader::new(File::open(path).map_err(at(path))?);
    let mut sum = Xxh3::new();
    for _ in 0..count {
        let mut record = [0; RECORD];
        file.read_exact(&mut record).map_err(at(path))?;
        sum.update(&record);
        if record[28] == INTERVENTION
            && let Some((text, _)) = padded_text(&record, &mut file).map_err(at(path))?
        {
            sum.update(&text);
        }
    }
    Ok(sum.digest())
}

/// The text of an intervention; `None` if it is damaged.
fn text_of(record: &[u8; RECORD], file: &mut impl Read) -> io::Result<Option<String>> {
    let Some((mut text, bytes)) = padded_text(record, file)? else { return Ok(None) };
    text.truncate(bytes);
    Ok(String::from_utf8(text).ok())
}

/// The text of an intervention as it is in the file, padded to whole records, and its length; `None` if it is
/// damaged.
fn padded_text(record: &[u8; RECORD], file: &mut impl Read) -> io::Result<Option<(Vec<u8>, usize)>> {
    let bytes = u32::from_le_bytes([record[24], record[25], record[26], record[27]]);
    if bytes > TEXT_MAX {
        return Ok(None);
    }
    let mut text = vec![0; (bytes as usize).next_multiple_of(RECORD)];
    file.read_exact(&mut text)?;
    Ok(Some((text, bytes as usize)))
}

/// Replay an intervention.
fn intervene(
    drive: &mut Drive<(), Silent>,
    record: &[u8; RECORD],
    text: &str,
) -> Result<(), InterventionError> {
    let when = SimTime(u64::from_le_bytes(*record.first_chunk().expect("eight bytes")));
    let what = text.parse::<Intervention>()?;
    while drive.advance_to_completion(when, u64::MAX, &mut |_| {}) > 0 {}
    drive.intervene(when, &what)
}

/// Complete the commands that were outstanding in the last process. No client waits for them.
fn end_what_is_under_way(drive: &mut Stored) {
    while drive.outstanding() > 0 && drive.advance_to_completion(SimTime::NEVER, u64::MAX, &mut |_| {}) > 0 {}
}

impl Keeper {
    /// Create the keeper of a new generation. [`Keeper::save`] makes the generation the current one.
    fn new(
        folder: &Path,
        lock: Arc<File>,
        config: &DeviceConfig,
        seed: u64,
        generation: u64,
    ) -> Result<Keeper, StoreError> {
        Ok(Keeper {
            folder: folder.to_path_buf(),
            lock,
            config: config.clone(),
            seed,
            generation,
            commands: begin_commands(folder, generation)?,
            count: 0,
            unwritten: Vec::new(),
            sum: Xxh3::new(),
            events: 0,
        })
    }

    /// Record a command that is submitted to the drive now.
    pub fn command(&mut self, submitted: SimTime, wanted: SimTime, command: &Command) {
        self.unwritten.extend(encode(submitted, wanted, command));
        self.count += 1;
    }

    /// Record an intervention now.
    pub fn intervention(&mut self, at: SimTime, text: &str) {
        let command = Command { op: HostOp::Flush, offset: 0, bytes: text.len() as u32, fua: false };
        let mut record = encode(at, at, &command);
        record[28] = INTERVENTION;
        self.unwritten.extend(record);
        self.unwritten.extend(text.as_bytes());
        self.unwritten.resize(self.unwritten.len().next_multiple_of(RECORD), 0);
        self.count += 1;
    }

    /// Whether there are enough changes for a commit, even if no client waits for it.
    pub fn is_due(&self, drive: &Stored) -> bool {
        matches!(drive.medium().store(), Kept::Files(files) if files.changes() >= CHANGES_MAX)
    }

    /// Commit the changes of the drive. Clients may then get their replies.
    ///
    /// # Errors
    /// The files cannot be written. Uncommitted changes are then lost.
    pub fn commit(&mut self, drive: &mut Stored) -> Result<(), StoreError> {
        if self.count >= COMMANDS_MAX {
            return self.save_next(drive, false);
        }
        self.write_turn(drive, false)
    }

    /// Commit and save the controller, so that no command is replayed when the store is opened.
    ///
    /// # Errors
    /// As [`Keeper::commit`].
    pub fn stop(&mut self, drive: &mut Stored) -> Result<(), StoreError> {
        self.save_next(drive, true)
    }

    fn save_next(&mut self, drive: &mut Stored, stopped: bool) -> Result<(), StoreError> {
        let (lock, next) = (Arc::clone(&self.lock), self.generation + 1);
        let next = Keeper::new(&self.folder, lock, &self.config, self.seed, next)?;
        *self = next;
        self.save(drive, stopped)?;
        self.forget_others()
    }

    /// Save the controller as the start of this generation, and make it the current one.
    fn save(&mut self, drive: &mut Stored, stopped: bool) -> Result<(), StoreError> {
        let path = controller(&self.folder, self.generation);
        let failed = |source| StoreError::Controller { path: path.display().to_string(), source };
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&path).map_err(at(&path))?);
        drive.snapshot(&self.config, self.seed, &mut file).map_err(failed)?;
        file.flush().map_err(at(&path))?;
        (self.count, self.events) = (0, drive.events());
        self.write_turn(drive, stopped)
    }

    fn write_turn(&mut self, drive: &mut Stored, stopped: bool) -> Result<(), StoreError> {
        let path = commands(&self.folder, self.generation);
        self.commands.write_all(&self.unwritten).map_err(at(&path))?;
        self.sum.update(&self.unwritten);
        self.unwritten.clear();
        let note = Note {
            generation: self.generation,
            commands: self.count,
            events: drive.events() - self.events,
            now: drive.now().0,
            stopped,
            commands_sum: self.sum.digest(),
            memory_sum: 0,
        };
        drive.medium_mut().keep();
        match drive.medium_mut().store_mut() {
            Kept::Files(files) => files.commit(&note).map_err(at(&self.folder)),
            Kept::Memory(_) => Ok(()),
        }
    }

    /// Remove the files of other generations.
    fn forget_others(&self) -> Result<(), StoreError> {
        for entry in fs::read_dir(&self.folder).map_err(at(&self.folder))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let generation = ["controller.", "commands."].iter().find_map(|kind| name.strip_prefix(kind));
            let is_other = |of: &str| of.parse().is_ok_and(|n: u64| n != self.generation);
            if generation.is_some_and(is_other) {
                fs::remove_file(entry.path()).map_err(at(&entry.path()))?;
            }
        }
        Ok(())
    }
}

/// Lock the store for this process. The lock is released when the process ends, however it ends.
fn lock(folder: &Path) -> Result<Arc<File>, StoreError> {
    let path = folder.join(LOCK);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(at(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(Arc::new(file)),
        Err(TryLockError::WouldBlock) => Err(refused(folder, "another process has this store open")),
        Err(TryLockError::Error(e)) => Err(at(&path)(e)),
    }
}

fn controller(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("controller.{generation}"))
}

fn commands(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("commands.{generation}"))
}

fn begin_commands(folder: &Path, generation: u64) -> Result<File, StoreError> {
    let path = commands(folder, generation);
    File::create(&path).map_err(at(&path))
}

fn encode(submitted: SimTime, wanted: SimTime, command: &Command) -> [u8; RECORD] {
    let mut out = [0; RECORD];
    out[..8].copy_from_slice(&submitted.0.to_le_bytes());
    out[8..16].copy_from_slice(&wanted.0.to_le_bytes());
    out[16..24].copy_from_slice(&command.offset.to_le_bytes());
    out[24..28].copy_from_slice(&command.bytes.to_le_bytes());
    out[28] = HostOp::ALL.iter().position(|op| *op == command.op).unwrap_or_default() as u8;
    out[29] = u8::from(command.fua);
    out
}

fn decode(from: &[u8; RECORD]) -> Option<(SimTime, SimTime, Command)> {
    let long = |at: usize| from[at..].first_chunk().map(|b| u64::from_le_bytes(*b));
    let op = *HostOp::ALL.get(usize::from(from[28]))?;
    let bytes = u32::from_le_bytes(*from[24..].first_chunk()?);
    let command = Command { op, offset: long(16)?, bytes, fua: from[29] != 0 };
    Some((SimTime(long(0)?), SimTime(long(8)?), command))
}
