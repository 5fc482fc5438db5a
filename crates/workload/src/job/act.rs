//! The load of Aerospike's certification tool (ACT).
//!
//! At a multiplier of N the load has small reads of one record at 2000 N a second. It
//! also has the large blocks of write-back and defragmentation: 128 KiB reads and writes
//! at 24 N a second each. All requests have constant spacing and do not wait for the
//! drive. The tool's own rate of large blocks follows from the record size
//! (`rates=official`): 1000 N records are written a second, each rounded up to 16 bytes,
//! and packed into 128 KiB blocks. The rate is doubled since blocks are defragmented when
//! half full. For 1536-byte records this gives 23.44 N.

use super::error::{JobError, Place, Problem, excerpt};
use super::spec::{Block, JobSpec, Mode, READ, Rate, WRITE};
use super::value::{self, Extent, Units};

const LARGE: u32 = 128 << 10;
const SECTOR: u64 = 512;
const SMALL_READS: u64 = 2000;
const RECORD_WRITES: u64 = 1000;
const LARGE_BLOCKS: u64 = 24;
/// A minute: long enough for a 99.9th percentile. The tool itself runs for a day.
const DURATION_NS: u64 = 60_000_000_000;

/// An ACT load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Load {
    multiplier: u64,
    record: u64,
    duration_ns: u64,
    ramp_ns: u64,
    official: bool,
    poisson: bool,
    size: Option<Extent>,
}

/// Parse an ACT load from `act:30` or `act,multiplier=30,duration=60s,record=1536`;
/// `None` if the text is something else.
pub(super) fn parse(text: &str) -> Result<Option<Load>, JobError> {
    let mut pieces = text.split(',').map(str::trim);
    let first = pieces.next().unwrap_or("");
    let mut load = Load {
        multiplier: 1,
        record: 1536,
        duration_ns: DURATION_NS,
        ramp_ns: 0,
        official: false,
        poisson: false,
        size: None,
    };
    match first.split_once(':') {
        Some(("act", multiplier)) => load.set("multiplier", multiplier)?,
        None if first == "act" => {}
        _ => return Ok(None),
    }
    for piece in pieces.filter(|p| !p.is_empty()) {
        let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
        load.set(key.trim(), value.trim())?;
    }
    Ok(Some(load))
}

fn place() -> Place {
    Place { source: "inline job".to_string(), line: None, job: Some("act".to_string()) }
}

const KEYS: [(&str, &str); 7] = [
    ("multiplier", "1 to 10000"),
    ("record", "record bytes, 16 to 128k"),
    ("duration", "a time such as 60s, 1h or 24h"),
    ("ramp", "a time such as 10s"),
    ("rates", "paper or official"),
    ("arrivals", "constant or poisson"),
    ("size", "bytes or a percentage of the host capacity"),
];

impl Load {
    fn set(&mut self, key: &str, value: &str) -> Result<(), JobError> {
        let fail = |problem| JobError::new(place(), problem);
        let Some((_, allowed)) = KEYS.iter().find(|(name, _)| *name == key) else {
            let near = KEYS.iter().map(|(name, _)| *name);
            let nearest = near
                .filter(|name| key.len() <= 40 && strsim::damerau_levenshtein(key, name) <= 3)
                .min_by_key(|name| strsim::damerau_levenshtein(key, name));
            return Err(fail(Problem::UnknownOption { option: excerpt(key), nearest }));
        };
        self.assign(key, value).map_err(|wrong| {
            fail(Problem::BadValue { option: key.to_string(), value: excerpt(value), wrong, allowed })
        })
    }

    fn assign(&mut self, key: &str, value: &str) -> Result<(), String> {
        let units = Units::default();
        match (key, value) {
            ("multiplier", _) => self.multiplier = value::bounded(value, units, 1, 10_000)?,
            ("record", _) => self.record = value::bounded(value, units, 16, u64::from(LARGE))?,
            ("duration" | "ramp", _) => {
                let ns = value::time(value, 1_000_000_000)?;
                if key == "ramp" {
                    self.ramp_ns = ns;
                } else if ns == 0 {
                    return Err("the duration must not be 0".to_string());
                } else {
                    self.duration_ns = ns;
                }
            }
            ("rates", "paper") => self.official = false,
            ("rates", "official") => self.official = true,
            ("arrivals", "constant") => self.poisson = false,
            ("arrivals", "poisson") => self.poisson = true,
            ("size", _) => self.size = Some(value::extent(value, units)?),
            _ => return Err("not one of the choices".to_string()),
        }
        Ok(())
    }

    /// The three jobs: `small_reads`, `large_reads`, `large_writes`.
    pub fn specs(&self) -> Vec<JobSpec> {
        let small = self.record.div_ceil(SECTOR) * SECTOR;
        let small_rate = Rate { per_second: SMALL_READS * self.multiplier, scale: 1 };
        let large_rate = if self.official {
            let record = self.record.div_ceil(16) * 16;
            let bytes = RECORD_WRITES * self.multiplier * record * 2;
            Rate { per_second: bytes, scale: u64::from(LARGE) }
        } else {
            Rate { per_second: LARGE_BLOCKS * self.multiplier, scale: 1 }
        };
        vec![
            self.job("small_reads", READ, small as u32, SECTOR, small_rate),
            self.job("large_reads", READ, LARGE, u64::from(LARGE), large_rate),
            self.job("large_writes", WRITE, LARGE, u64::from(LARGE), large_rate),
        ]
    }

    fn job(&self, name: &str, direction: usize, bytes: u32, align: u64, rate: Rate) -> JobSpec {
        let mut spec = JobSpec::new(name, place());
        let mut uses = [false; 3];
        uses[direction] = true;
        spec.mode = Mode { uses, random: true, step: 0 };
        spec.block = [Block::Fixed(bytes), Block::Fixed(bytes), Block::Fixed(bytes)];
        spec.align = [Some(align); 3];
        spec.rate_iops[direction] = Some(rate);
        spec.size = self.size;
        spec.norandommap = true;
        spec.time_based = true;
        spec.runtime_ns = Some(self.duration_ns);
        spec.ramp_ns = self.ramp_ns;
        spec.poisson = self.poisson;
        spec.offload = true;
        // The tool's threads start at arbitrary phases.
        spec.random_phase = true;
        spec
    }
}
