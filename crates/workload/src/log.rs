//! The log of a drive that was served in real time: its configuration, and every command with its times.
//!
//! Binary, little-endian: the magic `TCUTLIVE`, u32 version (2), u32 length of the header, the header as JSON, u64 XXH3-64
//! of the header. Then u64 length of a snapshot, and the snapshot: the state of a drive with a past when the log began; a
//! log of a new drive has none. Then records of 32 bytes: u64 time of the submission and u64 time at which the client
//! wanted it (ns of the drive), u64 offset (bytes), u32 bytes, u8 operation (0 read, 1 write, 2 trim, 3 flush, 254 an
//! intervention, 255 the end), u8 forced unit access, u16 zero. The record of something else that was done to the drive has
//! operation 254 and the length of a text as its bytes; records with the text follow, filled up with zeros. The record of
//! the end has the time of the end, the digest of all completions and their number, and it is last; a log without it is of
//! a server that was killed.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tailcut_units::{Command, HostOp, SimTime};
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of a log.
pub const LOG_MAGIC: [u8; 8] = *b"TCUTLIVE";
const VERSION: u32 = 2;
/// The longest header, in bytes.
const HEADER_MAX: u32 = 1 << 20;
const RECORD: usize = 32;
const INTERVENTION: u8 = 254;
const END: u8 = 255;
/// How the text begins that notes another speed of the model's time.
pub const SPEED: &str = "speed ";
/// The text that notes that latencies are measured from then on.
pub const MEASURE: &str = "measure";
/// The longest text of an intervention, in bytes.
pub const TEXT_MAX: u32 = 1024;
/// The length of a snapshot that is not whole.
const UNKNOWN: u64 = u64::MAX;
/// The most interventions of a log.
const INTERVENTIONS_MAX: usize = 1 << 20;
/// The most bytes of their texts.
const TEXTS_MAX: u64 = 32 << 20;

/// What was served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHeader {
    /// Version of the program.
    pub tailcut: String,
    /// Version of the model: the replay is exact under the same one alone.
    pub model_version: u32,
    /// The device, as it was given.
    pub device: String,
    /// The scheme.
    pub scheme: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Capacity of the drive, bytes.
    pub capacity: u64,
    /// Bytes that were filled, and then overwritten uniformly until the drive was steady; 0 for a new drive.
    pub aged: u64,
    /// The time of the drive when the log began, ns; 0 for a new drive.
    #[serde(default)]
    pub begun: u64,
    /// Bytes that held data when the log began, of a drive with a past.
    #[serde(default)]
    pub held: u64,
    /// The resolved configuration, as TOML.
    pub config: String,
}

/// Writes the snapshot of a log.
pub type PutSnapshot<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// Why a log cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file exists.
    #[error("{path}: exists; a log is a new file")]
    Exists {
        /// The file.
        path: String,
    },
    /// The file is damaged, or no log.
    #[error("{path}: {what}")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        what: String,
    },
}

/// Writes a log.
pub struct LogWriter {
    file: BufWriter<File>,
    path: PathBuf,
    /// The time of the last record.
    last: SimTime,
}

impl LogWriter {
    /// Begin a log in a new file. `snapshot` writes the state of a drive with a past.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub fn create(
        path: &Path,
        header: &LogHeader,
        snapshot: Option<PutSnapshot<'_>>,
    ) -> Result<LogWriter, LogError> {
        let name = path.display().to_string();
        let file = match File::create_new(path) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::AlreadyExists => return Err(LogError::Exists { path: name }),
            Err(source) => return Err(LogError::File { path: name, source }),
        };
        let mut writer =
            LogWriter { file: BufWriter::new(file), path: path.to_path_buf(), last: SimTime(header.begun) };
        let json = serde_json::to_vec(header).expect("a header is plain data");
        let mut out = LOG_MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend((json.len() as u32).to_le_bytes());
        out.extend(&json);
        out.extend(xxh3_64(&json).to_le_bytes());
        let length = if snapshot.is_some() { UNKNOWN } else { 0 };
        out.extend(length.to_le_bytes());
        writer.put(&out)?;
        if let Some(snapshot) = snapshot {
            let put = writer.put_snapshot(snapshot, out.len() as u64);
            put.map_err(|source| LogError::File { path: path.display().to_string(), source })?;
        }
        writer.flush()?;
        Ok(writer)
    }

    /// Write a snapshot, which begins at `at`, and its length before it.
    fn put_snapshot(&mut self, snapshot: PutSnapshot<'_>, at: u64) -> io::Result<()> {
        snapshot(&mut self.file)?;
        let length = self.file.stream_position()? - at;
        self.file.seek(SeekFrom::Start(at - 8))?;
        self.file.write_all(&length.to_le_bytes())?;
        self.file.seek(SeekFrom::End(0)).map(|_| ())
    }

    /// Append a command: when it was submitted, and when that was wanted.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn command(&mut self, at: SimTime, wanted: SimTime, command: &Command) -> Result<(), LogError> {
        let op = HostOp::ALL.iter().position(|op| *op == command.op).unwrap_or_default() as u8;
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(&at.0.to_le_bytes());
        record[8..16].copy_from_slice(&wanted.0.to_le_bytes());
        record[16..24].copy_from_slice(&command.offset.to_le_bytes());
        record[24..28].copy_from_slice(&command.bytes.to_le_bytes());
        (record[28], record[29]) = (op, u8::from(command.fua));
        self.last = at;
        self.put(&record)
    }

    /// Append something else that was done to the drive, as a text of at most [`TEXT_MAX`] bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn intervention(&mut self, at: SimTime, text: &str) -> Result<(), LogError> {
        let mut out = vec![0; RECORD];
        out[..8].copy_from_slice(&at.0.to_le_bytes());
        out[24..28].copy_from_slice(&(text.len() as u32).to_le_bytes());
        out[28] = INTERVENTION;
        out.extend(text.as_bytes());
        out.resize(out.len().next_multiple_of(RECORD), 0);
        self.last = at;
        self.put(&out)?;
        self.flush()
    }

    /// End the log: the time, which is at least that of the last record, and the digest and the number of all
    /// completions.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn end(mut self, at: SimTime, digest: u64, completions: u64) -> Result<(), LogError> {
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(&at.max(self.last).0.to_le_bytes());
        record[8..16].copy_from_slice(&digest.to_le_bytes());
        record[16..24].copy_from_slice(&completions.to_le_bytes());
        record[28] = END;
        self.put(&record)?;
        self.flush()
    }

    /// Hand what is buffered to the operating system.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> Result<(), LogError> {
        let path = &self.path;
        self.file.flush().map_err(|source| LogError::File { path: path.display().to_string(), source })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        let path = &self.path;
        self.file
            .write_all(bytes)
            .map_err(|source| LogError::File { path: path.display().to_string(), source })
    }
}

/// The end of a whole log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEnd {
    /// When the drive was stopped.
    pub at: SimTime,
    /// The digest of all completions.
    pub digest: u64,
    /// The number of completions.
    pub completions: u64,
}

/// A command of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// When it was submitted.
    pub at: SimTime,
    /// When the client wanted that.
    pub wanted: SimTime,
    /// The command.
    pub command: Command,
}

/// A log file, known by its header.
#[derive(Clone, Debug)]
pub struct LogFile {
    path: PathBuf,
    /// What was served.
    pub header: LogHeader,
    /// Commands.
    pub commands: u64,
    /// What else was done to the drive, in order of time.
    pub interventions: Vec<(SimTime, String)>,
    /// The end; `None` if the server was killed.
    pub end: Option<LogEnd>,
    writes: bool,
    /// Bytes of the snapshot, and where it begins.
    snapshot: (u64, u64),
}

/// Reads the commands of a log.
pub struct LogReader {
    file: BufReader<File>,
    path: String,
    capacity: u64,
    begun: SimTime,
    last: SimTime,
    end: Option<LogEnd>,
    commands: u64,
    interventions: Vec<(SimTime, String)>,
    /// Bytes of their texts.
    texts: u64,
    snapshot: (u64, u64),
}

impl LogFile {
    /// Whether a file begins as a log does.
    pub fn is_log(path: &Path) -> bool {
        let mut magic = [0; 8];
        path.is_file()
            && File::open(path).and_then(|mut f| f.read_exact(&mut magic)).is_ok()
            && magic == LOG_MAGIC
    }

    /// Read a log to its end once, so that a damaged one is reported before anything runs.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn open(path: &Path) -> Result<LogFile, LogError> {
        let (header, mut reader) = open(path)?;
        let mut writes = false;
        while let Some(logged) = reader.next()? {
            writes |= logged.command.op == HostOp::Write;
        }
        let LogReader { commands, interventions, end, snapshot, .. } = reader;
        Ok(LogFile { path: path.to_path_buf(), header, commands, interventions, end, writes, snapshot })
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the drive had a past when the log began: the log has its state.
    pub fn has_past(&self) -> bool {
        self.snapshot.0 > 0
    }

    /// The snapshot of the drive when the log began; empty for a new drive.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn snapshot(&self) -> io::Result<impl Read + use<>> {
        let (bytes, at) = self.snapshot;
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(at))?;
        Ok(BufReader::with_capacity(1 << 20, file).take(bytes))
    }

    /// From when on latencies were measured: the last time that this was asked for, or the beginning.
    pub fn measured_from(&self) -> SimTime {
        let marks = self.interventions.iter().filter(|(_, text)| text == MEASURE);
        marks.map(|(at, _)| *at).next_back().unwrap_or(SimTime(self.header.begun))
    }

    /// Whether it has writes.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// Its commands, from the first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn commands(&self) -> Result<LogReader, LogError> {
        Ok(open(&self.path)?.1)
    }
}

fn open(path: &Path) -> Result<(LogHeader, LogReader), LogError> {
    let name = path.display().to_string();
    let file = |source| LogError::File { path: name.clone(), source };
    let damaged = |what: &str| LogError::Damaged { path: name.clone(), what: what.to_string() };
    let mut from = BufReader::new(File::open(path).map_err(file)?);
    let short = |e: io::Error| match e.kind() {
        ErrorKind::UnexpectedEof => damaged("the log ends inside its header"),
        _ => file(e),
    };
    let mut head = [0; 16];
    from.read_exact(&mut head[..8]).map_err(|e| match e.kind() {
        ErrorKind::UnexpectedEof => damaged("no log of a served drive: the magic TCUTLIVE is missing"),
        _ => file(e),
    })?;
    if head[..8] != LOG_MAGIC {
        return Err(damaged("no log of a served drive: the magic TCUTLIVE is missing"));
    }
    from.read_exact(&mut head[8..]).map_err(short)?;
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if word(8) != VERSION {
        return Err(damaged(&format!("version {}; allowed is version {VERSION}", word(8))));
    }
    if word(12) > HEADER_MAX {
        return Err(damaged(&format!("a header of {} bytes; at most {HEADER_MAX} are allowed", word(12))));
    }
    let mut json = vec![0; word(12) as usize];
    let mut sum = [0; 8];
    from.read_exact(&mut json).and_then(|()| from.read_exact(&mut sum)).map_err(short)?;
    if xxh3_64(&json) != u64::from_le_bytes(sum) {
        return Err(damaged("the checksum of the header is wrong"));
    }
    let header: LogHeader =
        serde_json::from_slice(&json).map_err(|e| damaged(&format!("the header: {e}")))?;
    if header.begun > SimTime::LATEST.0 {
        return Err(damaged(&format!(
            "it began at {}; the latest time is {}",
            SimTime(header.begun),
            SimTime::LATEST
        )));
    }
    let mut length = [0; 8];
    from.read_exact(&mut length).map_err(short)?;
    let length = u64::from_le_bytes(length);
    let at = from.stream_position().map_err(file)?;
    let all = from.get_ref().metadata().map_err(file)?.len();
    if at.checked_add(length).is_none_or(|end| end > all) {
        return Err(damaged("the log ends inside its snapshot"));
    }
    from.seek(SeekFrom::Start(at + length)).map_err(file)?;
    let capacity = header.capacity;
    let reader = LogReader {
        file: from,
        path: name.clone(),
        capacity,
        begun: SimTime(header.begun),
        last: SimTime(header.begun),
        end: None,
        commands: 0,
        interventions: Vec::new(),
        texts: 0,
        snapshot: (length, at),
    };
    Ok((header, reader))
}

impl LogReader {
    /// The next command; `None` at the end. A record that is cut is the end too: the server was killed.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Logged>, LogError> {
        loop {
            let mut r = [0; RECORD];
            if self.end.is_some() || !self.read(&mut r)? {
                return Ok(None);
            }
            if r[28] != INTERVENTION {
                return self.command(&r);
            }
            if !self.intervention(&r)? {
                return Ok(None);
            }
        }
    }

    /// Fill a buffer; `false` if the log ends before.
    fn read(&mut self, to: &mut [u8]) -> Result<bool, LogError> {
        match self.file.read_exact(to) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(source) => Err(LogError::File { path: self.path.clone(), source }),
        }
    }

    /// Take the text of an intervention; `false` if the log ends before it does.
    fn intervention(&mut self, r: &[u8; RECORD]) -> Result<bool, LogError> {
        let after = self.commands;
        let damaged = |what: String| LogError::Damaged {
            path: self.path.clone(),
            what: format!("an intervention after command {after}: {what}"),
        };
        let at = SimTime(u64::from_le_bytes(*r.first_chunk().expect("eight bytes")));
        let bytes = u32::from_le_bytes([r[24], r[25], r[26], r[27]]);
        if at < self.last {
            return Err(damaged(format!("time falls from {} to {at}", self.last)));
        }
        if at > SimTime::LATEST {
            return Err(damaged(format!("it is at {at}; the latest time is {}", SimTime::LATEST)));
        }
        if bytes == 0 || bytes > TEXT_MAX {
            return Err(damaged(format!("a text of {bytes} bytes; allowed are 1 to {TEXT_MAX}")));
        }
        self.texts += u64::from(bytes);
        if self.interventions.len() >= INTERVENTIONS_MAX || self.texts > TEXTS_MAX {
            return Err(damaged(format!(
                "more than {INTERVENTIONS_MAX} of them, or {TEXTS_MAX} bytes of their texts"
            )));
        }
        let mut text = vec![0; (bytes as usize).next_multiple_of(RECORD)];
        if !self.read(&mut text)? {
            return Ok(false);
        }
        text.truncate(bytes as usize);
        let text = String::from_utf8(text).map_err(|_| LogError::Damaged {
            path: self.path.clone(),
            what: format!("the text of an intervention after command {after} is no UTF-8"),
        })?;
        self.last = at;
        self.interventions.push((at, text));
        Ok(true)
    }

    fn command(&mut self, r: &[u8; RECORD]) -> Result<Option<Logged>, LogError> {
        let number = self.commands + 1;
        let damaged = |what: String| {
            Err(LogError::Damaged { path: self.path.clone(), what: format!("command {number}: {what}") })
        };
        let word = |at: usize| u64::from_le_bytes(r[at..at + 8].try_into().expect("eight bytes"));
        let at = SimTime(word(0));
        if at < self.last {
            return damaged(format!("time falls from {} to {}", self.last, at));
        }
        if r[28] == END {
            self.end = Some(LogEnd { at, digest: word(8), completions: word(16) });
            return match self.file.read(&mut [0]) {
                Ok(0) => Ok(None),
                _ => damaged("bytes follow the end".to_string()),
            };
        }
        if at > SimTime::LATEST {
            return damaged(format!("it is at {at}; the latest time is {}", SimTime::LATEST));
        }
        let Some(&op) = HostOp::ALL.get(usize::from(r[28])) else {
            return damaged(format!("operation {}; allowed are 0 to 3, 254 and 255", r[28]));
        };
        let (wanted, offset) = (SimTime(word(8)), word(16));
        let bytes = u32::from_le_bytes([r[24], r[25], r[26], r[27]]);
        if wanted > at {
            return damaged(format!("submitted at {at} before it was wanted at {wanted}"));
        }
        if wanted < self.begun {
            return damaged(format!("wanted at {wanted}, and the log began at {}", self.begun));
        }
        let inside = offset.checked_add(u64::from(bytes)).is_some_and(|end| end <= self.capacity);
        if !inside || (bytes == 0) != (op == HostOp::Flush) {
            return damaged(format!("{bytes} bytes from {offset} of a drive of {}", self.capacity));
        }
        (self.last, self.commands) = (at, number);
        Ok(Some(Logged { at, wanted, command: Command { op, offset, bytes, fua: r[29] != 0 } }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header() -> LogHeader {
        LogHeader {
            tailcut: "0".into(),
            model_version: 1,
            device: "tiny".into(),
            scheme: "rps".into(),
            seed: 7,
            capacity: 1 << 20,
            aged: 0,
            begun: 3,
            held: 4096,
            config: "a = 1\n".into(),
        }
    }

    fn log(dir: &Path, ends: bool) -> PathBuf {
        let path = dir.join(if ends { "whole" } else { "killed" });
        let snapshot = |to: &mut dyn Write| to.write_all(b"a snapshot");
        let mut writer = LogWriter::create(&path, &header(), ends.then_some(&snapshot)).unwrap();
        let write = Command { op: HostOp::Write, offset: 4096, bytes: 512, fua: true };
        writer.command(SimTime(10), SimTime(5), &write).unwrap();
        writer.intervention(SimTime(15), "fault page=0.0.12.3,reads=100,once").unwrap();
        writer.command(SimTime(20), SimTime(20), &Command::FLUSH).unwrap();
        if ends {
            writer.end(SimTime(30), 99, 2).unwrap()
        } else {
            writer.flush().unwrap()
        }
        path
    }

    #[test]
    fn what_is_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = log(dir.path(), true);
        let file = LogFile::open(&path).unwrap();
        assert_eq!((&file.header, file.commands, file.writes()), (&header(), 2, true));
        assert_eq!(file.end, Some(LogEnd { at: SimTime(30), digest: 99, completions: 2 }));
        let text = "fault page=0.0.12.3,reads=100,once".to_string();
        assert_eq!(file.interventions, [(SimTime(15), text)]);
        let mut snapshot = String::new();
        file.snapshot().unwrap().read_to_string(&mut snapshot).unwrap();
        assert_eq!((snapshot.as_str(), file.measured_from()), ("a snapshot", SimTime(3)));
        let mut reader = file.commands().unwrap();
        let first = reader.next().unwrap().unwrap();
        assert_eq!((first.at, first.wanted, first.command.fua), (SimTime(10), SimTime(5), true));
        assert_eq!(reader.next().unwrap().unwrap().command, Command::FLUSH);
        assert_eq!(reader.next().unwrap(), None);
        assert!(matches!(LogWriter::create(&path, &header(), None), Err(LogError::Exists { .. })));
    }

    #[test]
    fn a_log_of_a_killed_server_ends_with_its_last_whole_command() {
        let dir = tempfile::tempdir().unwrap();
        let path = log(dir.path(), false);
        assert_eq!(LogFile::open(&path).unwrap().end, None);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        let file = LogFile::open(&path).unwrap();
        assert_eq!((file.commands, file.end, file.has_past()), (1, None, false));
    }

    #[test]
    fn an_end_is_not_before_the_last_record() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut writer = LogWriter::create(&path, &header(), None).unwrap();
        writer.intervention(SimTime(50), MEASURE).unwrap();
        writer.end(SimTime(30), 1, 0).unwrap();
        assert_eq!(LogFile::open(&path).unwrap().end.map(|end| end.at), Some(SimTime(50)));
    }

    #[test]
    fn a_time_after_the_latest_is_damage() {
        let dir = tempfile::tempdir().unwrap();
        let read = |name: &str, put: &dyn Fn(&mut LogWriter), begun: u64| {
            let path = dir.path().join(name);
            let mut writer = LogWriter::create(&path, &LogHeader { begun, ..header() }, None).unwrap();
            put(&mut writer);
            writer.flush().unwrap();
            LogFile::open(&path).map(|_| ()).map_err(|e| e.to_string())
        };
        let late = SimTime(SimTime::LATEST.0 + 1);
        let command =
            |at: SimTime| move |w: &mut LogWriter| w.command(at, SimTime(9), &Command::FLUSH).unwrap();
        read("latest", &command(SimTime::LATEST), 3).unwrap();
        for (name, error) in [
            ("command", read("command", &command(late), 3)),
            ("intervention", read("intervention", &|w| w.intervention(late, "measure").unwrap(), 3)),
            ("header", read("header", &|_| (), late.0)),
        ] {
            assert!(error.as_ref().is_err_and(|e| e.contains("the latest time is")), "{name}: {error:?}");
        }
    }

    #[test]
    fn a_log_that_ends_inside_its_snapshot_is_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let bytes = std::fs::read(log(dir.path(), true)).unwrap();
        let at = bytes.windows(10).position(|w| w == b"a snapshot").unwrap();
        for cut in [at - 8, at - 3, at, at + 9] {
            let path = dir.path().join(format!("cut{cut}"));
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert!(matches!(LogFile::open(&path), Err(LogError::Damaged { .. })), "{cut}");
        }
        let failing = |_: &mut dyn Write| Err(io::Error::other("no"));
        let path = dir.path().join("failed");
        assert!(LogWriter::create(&path, &header(), Some(&failing)).is_err());
        assert!(matches!(LogFile::open(&path), Err(LogError::Damaged { .. })));
    }

    proptest! {
        #[test]
        fn damage_is_an_error_or_another_log(at in 0usize..1_000, to in any::<u8>(), cut in any::<bool>()) {
            let dir = tempfile::tempdir().unwrap();
            let path = log(dir.path(), true);
            let mut bytes = std::fs::read(&path).unwrap();
            let at = at % bytes.len();
            bytes[at] = to;
            if cut {
                bytes.truncate(at);
            }
            std::fs::write(&path, &bytes).unwrap();
            if let Ok(file) = LogFile::open(&path) {
                let mut reader = file.commands().unwrap();
                while let Ok(Some(logged)) = reader.next() {
                    prop_assert!(logged.command.offset + u64::from(logged.command.bytes) <= 1 << 20);
                }
            }
        }
    }
}
