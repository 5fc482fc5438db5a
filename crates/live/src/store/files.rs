//! A store of the drive's data in files.

use super::layout::{self, HEAD, Layout};
use super::record::{RECORD, Record, State};
use super::turn::{self, Note, Turn};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use tailcut_core::address::Ppa;
use tailcut_core::ftl::map::Fill;
use tailcut_core::medium::{Filled, Oob, Pages, Part, Size, Store, Unit};

/// Units that a new store collects before it writes them.
const GATHERED: usize = 1 << 16;

/// The most extents of a store.
const EXTENTS_MAX: u32 = 1 << 28;

/// The data of a served drive: in memory, or in files.
#[derive(Debug)]
pub enum Kept {
    /// In memory, until the process ends.
    Memory(Box<Pages>),
    /// In a folder.
    Files(Box<FileStore>),
}

/// A store of the drive's data in files. See the documentation of the parent module.
#[derive(Debug)]
pub struct FileStore {
    files: Files,
    size: Size,
    layout: Layout,
    /// Number of erases of each extent.
    epochs: Vec<u64>,
    /// Number of units of the sequential fill, and their places.
    filled_units: u32,
    filled: Option<Filled>,
    /// The changes since the last commit.
    turn: Turn,
    /// The number of the last committed turn.
    number: u64,
    mode: Mode,
    /// The checksums of the parts of the controller's memory by place, and their exclusive or.
    sums: RefCell<HashMap<u64, u64>>,
    memory_sum: Cell<u64>,
    /// Why the store has failed, if it has.
    failed: RefCell<Option<String>>,
}

/// How changes are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The store is being created. Changes are written directly.
    New,
    /// Changes are committed in groups, called turns.
    Open,
    /// Changes stay in memory.
    ReadOnly,
}

/// The files of a store.
#[derive(Debug)]
struct Files {
    flash: File,
    oob: File,
    epochs: File,
    memory: File,
    turns: [File; 2],
    size: File,
}

impl Files {
    fn open(folder: &Path, options: &OpenOptions) -> io::Result<Files> {
        let open = |name: &str| {
            let path = folder.join(name);
            options.open(&path).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))
        };
        Ok(Files {
            flash: open("flash")?,
            oob: open("oob")?,
            epochs: open("epochs")?,
            memory: open("memory")?,
            turns: [open("turn.0")?, open("turn.1")?],
            size: open("size")?,
        })
    }
}

impl FileStore {
    /// Create the files of a new store in an empty folder.
    ///
    /// # Errors
    /// A file exists, or it cannot be created.
    pub fn create(folder: &Path) -> io::Result<FileStore> {
        let files = Files::open(folder, OpenOptions::new().read(true).write(true).create_new(true))?;
        Ok(FileStore::of(files, Mode::New))
    }

    /// Open a store at the last committed turn. Returns its note too. With `read_only` the files do not change.
    ///
    /// # Errors
    /// A file is missing or damaged.
    pub fn open(folder: &Path, read_only: bool) -> io::Result<(FileStore, Note)> {
        let files = Files::open(folder, OpenOptions::new().read(true).write(!read_only))?;
        let mode = if read_only { Mode::ReadOnly } else { Mode::Open };
        let mut store = FileStore::of(files, mode);
        let turns = store.files.turns.each_ref().map(turn::read);
        let [one, two] = turns;
        let last = [one?, two?].into_iter().flatten().max_by_key(|(number, ..)| *number);
        let (number, note, turn) = last.ok_or_else(|| damaged("no turn is whole"))?;
        store.take_size()?;
        for (&extent, &epoch) in &turn.extents {
            let place = store.epochs.get_mut(extent as usize);
            *place.ok_or_else(|| damaged("a turn of another drive"))? = epoch;
        }
        if !turn.fits(&store.size) {
            return Err(damaged("a turn of another drive"));
        }
        (store.number, store.turn) = (number, turn);
        if !read_only {
            store.apply()?;
        }
        Ok((store, note))
    }

    fn of(files: Files, mode: Mode) -> FileStore {
        FileStore {
            files,
            size: Size::default(),
            layout: Layout::default(),
            epochs: Vec::new(),
            filled_units: 0,
            filled: None,
            turn: Turn::default(),
            number: 0,
            mode,
            sums: RefCell::default(),
            memory_sum: Cell::new(0),
            failed: RefCell::new(None),
        }
    }

    /// Read the dimensions and the epochs.
    fn take_size(&mut self) -> io::Result<()> {
        let mut bytes = vec![0; 4096.min(self.files.size.metadata()?.len() as usize)];
        self.files.size.read_exact_at(&mut bytes, 0)?;
        let (size, filled): (Size, u32) =
            postcard::from_bytes(&bytes).map_err(|_| damaged("its dimensions cannot be read"))?;
        self.set_size(&size).ok_or_else(|| damaged("its dimensions are out of range"))?;
        self.filled_units = filled;
        let mut epochs = vec![0; self.epochs.len() * 8];
        self.files.epochs.read_exact_at(&mut epochs, 0)?;
        for (epoch, bytes) in self.epochs.iter_mut().zip(epochs.as_chunks::<8>().0) {
            *epoch = u64::from_le_bytes(*bytes);
        }
        Ok(())
    }

    fn set_size(&mut self, size: &Size) -> Option<()> {
        // Every offset in a file can then be computed without overflow.
        let units = u64::from(size.extents) * u64::from(size.units_per_extent);
        let sane = units < u64::from(u32::MAX) && size.units_per_extent > 0 && size.unit_bytes <= 1 << 24;
        // The epochs are kept in memory.
        let sane = sane && size.extents <= EXTENTS_MAX;
        self.layout = Layout::new(size).filter(|_| sane)?;
        self.size = *size;
        self.epochs = vec![0; size.extents as usize];
        Some(())
    }

    fn write_size(&mut self) -> io::Result<()> {
        let bytes = postcard::to_stdvec(&(self.size, self.filled_units)).map_err(io::Error::other)?;
        self.files.size.set_len(bytes.len() as u64)?;
        self.files.size.write_all_at(&bytes, 0)
    }

    /// Commit all changes with a note. A new store is open afterwards.
    ///
    /// # Errors
    /// The files cannot be written, or an earlier access has failed. Uncommitted changes are then lost.
    pub fn commit(&mut self, note: &Note) -> io::Result<()> {
        if let Some(failed) = self.failed.borrow().as_ref() {
            return Err(io::Error::other(failed.clone()));
        }
        debug_assert_ne!(self.mode, Mode::ReadOnly, "a store that is only read is never committed");
        let number = self.number + 1;
        let bytes = self.turn.encode(number, &Note { memory_sum: self.memory_sum.get(), ..*note });
        if bytes.len() as u64 > turn::TURN_MAX {
            return Err(io::Error::other("too much has changed since the last commit"));
        }
        self.files.turns[(number % 2) as usize].write_all_at(&bytes, 0)?;
        self.number = number;
        self.mode = Mode::Open;
        self.apply()
    }

    /// Record the checksum of a part of memory.
    fn note_sum(&self, at: u64, sum: u64) {
        let before = self.sums.borrow_mut().insert(at, sum).unwrap_or(0);
        self.memory_sum.set(self.memory_sum.get() ^ before ^ sum);
    }

    /// Check that all parts of memory of the last turn were read. If one is missing, the store fails.
    pub fn check_memory(&self, note: &Note) {
        if self.memory_sum.get() != note.memory_sum {
            self.fail("memory: a part is missing, or is that of an older turn".to_string());
        }
    }

    /// Number of units and parts of memory that have changed since the last commit.
    pub fn changes(&self) -> usize {
        self.turn.units.len() + self.turn.memory.len()
    }

    /// The number of the last committed turn.
    pub fn turn(&self) -> u64 {
        self.number
    }

    /// Why the store has failed, if it has.
    pub fn failure(&self) -> Option<String> {
        self.failed.borrow().clone()
    }

    /// The dimensions of the drive.
    pub fn size(&self) -> &Size {
        &self.size
    }

    /// Bytes that the files with data take on the disk.
    pub fn bytes_used(&self) -> u64 {
        use std::os::unix::fs::MetadataExt;
        let Files { flash, oob, epochs, memory, .. } = &self.files;
        [flash, oob, epochs, memory]
            .iter()
            .filter_map(|file| file.metadata().ok())
            .map(|m| m.blocks() * 512)
            .sum()
    }

    /// Write the changes to their places.
    fn apply(&mut self) -> io::Result<()> {
        let turn = std::mem::take(&mut self.turn);
        let unit_bytes = u64::from(self.size.unit_bytes);
        for (&extent, &epoch) in &turn.extents {
            self.files.epochs.write_all_at(&epoch.to_le_bytes(), u64::from(extent) * 8)?;
            self.free(self.size.units_of(extent));
        }
        let mut run = Run::default();
        let mut erased = Ppa(0)..Ppa(0);
        for (&ppa, change) in &turn.units {
            if change.is_none() {
                if erased.end != ppa {
                    self.free(std::mem::replace(&mut erased, ppa..ppa));
                }
                erased.end = ppa + 1;
            }
            let epoch = self.epochs[(ppa.0 / self.size.units_per_extent) as usize];
            run.add(&self.files, unit_bytes, ppa, change.as_ref(), epoch)?;
        }
        run.write(&self.files)?;
        self.free(erased);
        for (&at, bytes) in &turn.memory {
            self.files.memory.write_all_at(bytes, at)?;
        }
        Ok(())
    }

    /// Release the disk space of erased units.
    fn free(&self, units: Range<Ppa>) {
        #[cfg(target_os = "linux")]
        if units.start < units.end {
            use rustix::fs::{FallocateFlags, fallocate};
            let at = |ppa: Ppa| u64::from(ppa.0) * u64::from(self.size.unit_bytes);
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let length = at(units.end) - at(units.start);
            // A file system without holes keeps the space. Later programs reuse it.
            let _ = fallocate(&self.files.flash, flags, at(units.start), length);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = units;
    }

    /// Record why the store has failed. The next commit returns it.
    fn fail(&self, what: String) {
        self.failed.borrow_mut().get_or_insert(what);
    }

    /// The record at an address; `None` if the unit was erased, or was not written since the fill.
    fn record(&self, ppa: Ppa) -> Option<Record> {
        let mut bytes = [0; RECORD];
        let got = read_sparse(&self.files.oob, &mut bytes, u64::from(ppa.0) * RECORD as u64);
        if let Err(e) = got {
            self.fail(format!("oob: unit {ppa}: {e}"));
            return None;
        }
        if bytes == [0; RECORD] {
            return None;
        }
        let record = Record::decode(&bytes);
        if record.is_none() {
            self.fail(format!("oob: the record of unit {ppa} is damaged"));
        }
        record.filter(|r| r.epoch == self.epochs[(ppa.0 / self.size.units_per_extent) as usize])
    }

    /// The unit at an address. Its data are only read if `bytes` is set.
    fn look(&self, ppa: Ppa, bytes: bool) -> Option<Unit> {
        if let Some(change) = self.turn.units.get(&ppa) {
            return change.clone();
        }
        let Some(record) = self.record(ppa) else {
            let as_filled = self.epochs[(ppa.0 / self.size.units_per_extent) as usize] == 0;
            return self.filled.as_ref().filter(|_| as_filled)?.unit(&self.size, ppa);
        };
        match record.state {
            State::Erased => None,
            State::Implied => Some(Unit::from_stored(record.oob, None, record.first)),
            State::Bytes if !bytes => Some(Unit::from_stored(record.oob, None, record.first)),
            State::Bytes => {
                let mut payload = vec![0; self.size.unit_bytes as usize];
                let at = u64::from(ppa.0) * payload.len() as u64;
                if let Err(e) = read_sparse(&self.files.flash, &mut payload, at) {
                    self.fail(format!("flash: unit {ppa}: {e}"));
                }
                Some(Unit::from_stored(record.oob, Some(Arc::from(payload)), record.first))
            }
        }
    }

    /// The record of a part of memory, which begins at offset `at` of the file.
    fn kept_in_file(&self, part: Part, index: u32, at: u64) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = vec![0; HEAD];
        read_sparse(&self.files.memory, &mut bytes, at)?;
        let head = bytes.first_chunk().expect("the bytes of a head");
        if *head == [0; HEAD] {
            return Ok(None);
        }
        let len = layout::record_bytes(head);
        // A damaged length must not allocate memory without limit.
        self.layout.place(part, index, len).ok_or_else(|| damaged("its length"))?;
        bytes.resize(HEAD + len, 0);
        read_sparse(&self.files.memory, &mut bytes[HEAD..], at + HEAD as u64)?;
        let (sum, record) = layout::decode(at, &bytes).ok_or_else(|| damaged("its checksum"))?;
        self.note_sum(at, sum);
        Ok(Some(record.to_vec()))
    }

    fn change(&mut self, ppa: Ppa, unit: Option<Unit>) {
        self.turn.units.insert(ppa, unit);
        if self.mode == Mode::New
            && self.turn.units.len() >= GATHERED
            && let Err(e) = self.apply()
        {
            self.fail(e.to_string());
        }
    }
}

impl Store for FileStore {
    const KEEPS: bool = true;

    fn attach(&mut self, size: &Size) -> bool {
        if self.mode != Mode::New {
            if !self.size.is_same_flash(size) {
                self.fail("the store is of a drive of another size".into());
            }
            return true;
        }
        if self.set_size(size).is_none() {
            self.fail("the drive has more units than a store can address".into());
            return false;
        }
        let made = self.files.epochs.set_len(self.epochs.len() as u64 * 8).and_then(|()| self.write_size());
        if let Err(e) = made {
            self.fail(e.to_string());
        }
        false
    }

    fn unit(&self, ppa: Ppa) -> Option<Unit> {
        self.look(ppa, true)
    }

    fn program(&mut self, ppa: Ppa, unit: Unit) -> Option<Oob> {
        let before = self.look(ppa, false).map(|before| before.oob);
        self.change(ppa, Some(unit));
        before
    }

    fn erase(&mut self, units: Range<Ppa>) {
        let extent = units.start.0 / self.size.units_per_extent;
        while let Some((&ppa, _)) = self.turn.units.range(units.clone()).next() {
            self.turn.units.remove(&ppa);
        }
        let epoch = &mut self.epochs[extent as usize];
        *epoch += 1;
        self.turn.extents.insert(extent, *epoch);
    }

    fn erase_unit(&mut self, ppa: Ppa) {
        self.change(ppa, None);
    }

    fn fills_in(&mut self, order: &Fill) {
        self.filled = Some(Filled::new(order, self.filled_units));
    }

    fn fill(&mut self, order: &Fill, units: u32) {
        self.turn = Turn::default();
        self.filled_units = units;
        self.fills_in(order);
        let files = &self.files;
        let emptied = [&files.flash, &files.oob, &files.epochs].iter().try_for_each(|file| file.set_len(0));
        let made = emptied.and_then(|()| files.epochs.set_len(self.epochs.len() as u64 * 8));
        self.epochs.fill(0);
        if let Err(e) = made.and_then(|()| self.write_size()) {
            self.fail(e.to_string());
        }
    }

    fn keep(&mut self, part: Part, index: u32, record: &[u8]) {
        let Some(at) = self.layout.place(part, index, record.len()) else {
            return self.fail(format!("{part:?} {index} has {} bytes, more than it can have", record.len()));
        };
        let bytes = layout::encode(at, record);
        self.note_sum(at, u64::from_le_bytes(*bytes.first_chunk().expect("the bytes of a head")));
        self.turn.memory.insert(at, bytes);
    }

    fn kept(&self, part: Part, index: u32) -> Option<Vec<u8>> {
        if self.mode == Mode::New {
            return None;
        }
        let at = self.layout.place(part, index, 0)?;
        if let Some(bytes) = self.turn.memory.get(&at) {
            let (sum, record) = layout::decode(at, bytes)?;
            self.note_sum(at, sum);
            return Some(record.to_vec());
        }
        match self.kept_in_file(part, index, at) {
            Ok(record) => record,
            Err(e) => {
                self.fail(format!("memory: {part:?} {index}: {e}"));
                None
            }
        }
    }
}

impl Store for Kept {
    const KEEPS: bool = true;

    fn attach(&mut self, size: &Size) -> bool {
        match self {
            Kept::Memory(pages) => pages.attach(size),
            Kept::Files(files) => files.attach(size),
        }
    }

    fn unit(&self, ppa: Ppa) -> Option<Unit> {
        match self {
            Kept::Memory(pages) => pages.unit(ppa),
            Kept::Files(files) => files.unit(ppa),
        }
    }

    fn program(&mut self, ppa: Ppa, unit: Unit) -> Option<Oob> {
        match self {
            Kept::Memory(pages) => pages.program(ppa, unit),
            Kept::Files(files) => files.program(ppa, unit),
        }
    }

    fn erase(&mut self, units: Range<Ppa>) {
        match self {
            Kept::Memory(pages) => pages.erase(units),
            Kept::Files(files) => files.erase(units),
        }
    }

    fn erase_unit(&mut self, ppa: Ppa) {
        match self {
            Kept::Memory(pages) => pages.erase_unit(ppa),
            Kept::Files(files) => files.erase_unit(ppa),
        }
    }

    fn fills_in(&mut self, order: &Fill) {
        match self {
            Kept::Memory(pages) => pages.fills_in(order),
            Kept::Files(files) => files.fills_in(order),
        }
    }

    fn fill(&mut self, order: &Fill, units: u32) {
        match self {
            Kept::Memory(pages) => pages.fill(order, units),
            Kept::Files(files) => files.fill(order, units),
        }
    }

    fn keep(&mut self, part: Part, index: u32, record: &[u8]) {
        if let Kept::Files(files) = self {
            files.keep(part, index, record);
        }
    }

    fn kept(&self, part: Part, index: u32) -> Option<Vec<u8>> {
        match self {
            Kept::Memory(_) => None,
            Kept::Files(files) => files.kept(part, index),
        }
    }
}

/// Consecutive units that are written at once.
#[derive(Default)]
struct Run {
    first: u32,
    records: Vec<u8>,
    /// The offset of the data, and the data of consecutive units.
    payload_at: u64,
    payload: Vec<u8>,
}

impl Run {
    fn add(
        &mut self,
        files: &Files,
        unit_bytes: u64,
        ppa: Ppa,
        unit: Option<&Unit>,
        epoch: u64,
    ) -> io::Result<()> {
        let count = (self.records.len() / RECORD) as u32;
        let payload = unit.and_then(|unit| unit.stored().0);
        let at = u64::from(ppa.0) * unit_bytes;
        let follows = payload.is_none() || self.payload_at + self.payload.len() as u64 == at;
        if count > 0 && (ppa.0 != self.first + count || !follows) {
            self.write(files)?;
        }
        if self.records.is_empty() {
            self.first = ppa.0;
        }
        if let Some(payload) = payload {
            if self.payload.is_empty() {
                self.payload_at = at;
            }
            self.payload.extend_from_slice(payload);
        }
        self.records.extend(Record::of(unit, epoch).encode());
        Ok(())
    }

    /// Write the data, then the records that make them valid.
    fn write(&mut self, files: &Files) -> io::Result<()> {
        if !self.payload.is_empty() {
            files.flash.write_all_at(&self.payload, self.payload_at)?;
        }
        if !self.records.is_empty() {
            files.oob.write_all_at(&self.records, u64::from(self.first) * RECORD as u64)?;
        }
        self.payload.clear();
        self.records.clear();
        Ok(())
    }
}

/// Read bytes of a file. Bytes beyond its end are zeros.
fn read_sparse(file: &File, out: &mut [u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while done < out.len() {
        match file.read_at(&mut out[done..], at + done as u64) {
            Ok(0) => {
                out[done..].fill(0);
                return Ok(());
            }
            Ok(count) => done += count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("damaged: {what}"))
}
