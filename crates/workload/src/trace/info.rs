//! Measures of a trace.

use super::burst::Bursts;
use super::clock::Clock;
use super::error::TraceError;
use super::file::TraceFile;
use super::footprint::Footprint;
use super::layout::PAGE;
use super::options::{TimeUnit, TraceOptions};
use super::reader::TraceReader;
use super::record::{Record, TraceCounts};
use crate::interrupt::Interrupt;
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use tailcut_units::HostOp;
use tailcut_units::quantity::human_bytes;

/// The mean sizes of requests that a block device is asked for, bytes.
const SIZES: (f64, f64) = (512.0, 16_777_216.0);
/// Memory the footprint may use before it is estimated, in bytes.
const FOOTPRINT_MEMORY: usize = 256 << 20;
/// The most devices counted; with more, the count stays at this number.
const DEVICES_MAX: usize = 1 << 20;

/// The measures of a trace. Sizes in bytes, times in ns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceInfo {
    /// The format's name.
    pub format: &'static str,
    /// `gzip` or `zstd`, if compressed.
    pub compression: Option<&'static str>,
    /// Unit of the time column.
    pub time_unit: TimeUnit,
    /// `format`, `detected` or `given`.
    pub time_unit_from: &'static str,
    /// A further choice that the reader made from the data.
    pub note: &'static str,
    /// Reads, writes, trims and flushes.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Reads among reads and writes; 0 if there are none.
    pub read_fraction: f64,
    /// Mean size of a read or write; 0 if there are none.
    pub mean_bytes: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Distinct 4 KiB pages (per device) that are read or written, times 4096.
    pub footprint_bytes: u64,
    /// The bytes from address 0 of each device to the end of its last read or write,
    /// added up: the address range over which the footprint is spread.
    pub address_bytes: u64,
    /// Whether the footprint is exact, or an estimate (standard error 0.8 %).
    pub footprint_exact: bool,
    /// From the first request to the last.
    pub span_ns: u64,
    /// When the last request arrives in a replay.
    pub last_ns: u64,
    /// Devices, volumes or address spaces.
    pub devices: u64,
    /// The clock's step: the largest time of which all times between requests are multiples, in ns;
    /// `None` if all requests arrive at one time.
    pub clock_step_ns: Option<u64>,
    /// Requests at each time at which one arrives.
    pub requests_per_time: f64,
    /// Coefficient of variation of the times between arrivals (1: random, more: bursts).
    pub interarrival_cv: Option<f64>,
    /// Requests of the fullest interval of 100 ms, divided by the mean of all intervals.
    pub peak_to_mean_100ms: Option<f64>,
    /// Variance of the requests per interval of 100 ms, divided by their mean (1:
    /// random).
    pub dispersion_100ms: Option<f64>,
    /// Reads and writes by size, in powers of two; empty classes are left out.
    pub sizes: Vec<SizeBucket>,
    /// Requests that were out of time order and were sorted.
    pub reordered: u64,
    /// The records read and skipped.
    pub counts: TraceCounts,
}

/// Requests of one size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeBucket {
    /// The largest size of the class; the sizes are above half of it.
    pub up_to_bytes: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// Measure a trace file. The filters and scales of the options apply; loops and the
/// layout on a drive do not.
///
/// # Errors
/// As [`TraceReader::open`] and [`TraceReader::next_record`].
pub fn info(file: impl Into<TraceFile>, options: &TraceOptions) -> Result<TraceInfo, TraceError> {
    info_of(TraceReader::open(&file.into(), options)?)
}

/// Measure the rest of a reader.
///
/// # Errors
/// As [`TraceReader::next_record`].
pub fn info_of(reader: TraceReader) -> Result<TraceInfo, TraceError> {
    Ok(measure(reader)?.0)
}

/// Measure the rest of a reader, and keep the set of pages it touches.
pub(crate) fn measure(mut reader: TraceReader) -> Result<(TraceInfo, Footprint), TraceError> {
    let mut sums = Sums::new(reader.interrupt());
    while let Some(record) = reader.next_record()? {
        sums.add(&record);
        // Check after each record, since one record may touch a million pages.
        if sums.interrupt.is_raised() {
            return Err(reader.interrupted());
        }
    }
    Ok(sums.finish(&reader))
}

struct Sums {
    ops: [u64; 4],
    bytes: [u64; 2],
    sizes: [[u64; 2]; 33],
    footprint: Footprint,
    /// End of the last read or write, by device.
    devices: HashMap<u32, u64>,
    last: (Option<u32>, u64),
    interrupt: Interrupt,
    bursts: Bursts,
    clock: Clock,
}

impl Sums {
    fn new(interrupt: Interrupt) -> Sums {
        Sums {
            ops: [0; 4],
            bytes: [0; 2],
            sizes: [[0; 2]; 33],
            footprint: Footprint::new(FOOTPRINT_MEMORY, interrupt.clone()),
            devices: HashMap::new(),
            last: (None, 0),
            interrupt,
            bursts: Bursts::default(),
            clock: Clock::default(),
        }
    }

    fn add(&mut self, record: &Record) {
        self.bursts.add(record.time);
        self.clock.add(record.time);
        let end = if matches!(record.op, HostOp::Read | HostOp::Write) {
            record.offset + u64::from(record.bytes)
        } else {
            0
        };
        if self.last.0 != Some(record.device) || end > self.last.1 {
            self.note_device(record.device, end);
        }
        let direction = match record.op {
            HostOp::Read => 0,
            HostOp::Write => 1,
            HostOp::Trim => 2,
            HostOp::Flush => 3,
        };
        self.ops[direction] += 1;
        if direction > 1 {
            return;
        }
        let bytes = u64::from(record.bytes);
        self.bytes[direction] = self.bytes[direction].saturating_add(bytes);
        // The smallest power of two not below the size: 2^0 to 2^32.
        self.sizes[bytes.next_power_of_two().trailing_zeros() as usize][direction] += 1;
        self.footprint.add(record.device, record.offset / PAGE, (record.offset + bytes - 1) / PAGE);
    }

    fn note_device(&mut self, device: u32, end: u64) {
        let known = self.devices.len();
        let highest = match self.devices.entry(device) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) if known < DEVICES_MAX => entry.insert(0),
            Entry::Vacant(_) => return,
        };
        *highest = end.max(*highest);
        self.last = (Some(device), *highest);
    }

    fn finish(self, reader: &TraceReader) -> (TraceInfo, Footprint) {
        let [reads, writes, trims, flushes] = self.ops;
        let moved = (reads + writes).max(1) as f64;
        let (pages, footprint_exact) = self.footprint.pages();
        let (time_unit, time_unit_from) = reader.time_unit();
        let bucket =
            |(i, n): (usize, &[u64; 2])| SizeBucket { up_to_bytes: 1 << i, reads: n[0], writes: n[1] };
        let (span_ns, last_ns) = (self.bursts.span_ns(), self.bursts.last_ns());
        let bursts = self.bursts.finish();
        let mut counts = reader.counts().clone();
        // Without arrival times, or with times that were spread, the clock does not matter.
        counts.warnings.extend(self.clock.warning().filter(|_| reader.keeps_times()));
        let mean_bytes = (self.bytes[0] as f64 + self.bytes[1] as f64) / moved;
        counts.warnings.extend(doubtful_size(reads + writes, mean_bytes));
        let info = TraceInfo {
            format: reader.format().name,
            compression: reader.compression(),
            time_unit,
            time_unit_from,
            note: reader.note(),
            requests: self.ops.iter().sum(),
            reads,
            writes,
            trims,
            flushes,
            read_fraction: reads as f64 / moved,
            mean_bytes,
            read_bytes: self.bytes[0],
            write_bytes: self.bytes[1],
            footprint_bytes: pages.saturating_mul(PAGE),
            footprint_exact,
            address_bytes: self.devices.values().fold(0, |sum, &end| sum.saturating_add(end)),
            span_ns,
            last_ns,
            devices: self.devices.len() as u64,
            clock_step_ns: self.clock.step(),
            requests_per_time: self.clock.per_time(),
            interarrival_cv: bursts.gap_cv,
            peak_to_mean_100ms: bursts.peak_to_mean,
            dispersion_100ms: bursts.dispersion,
            sizes: self.sizes.iter().enumerate().filter(|(_, n)| **n != [0, 0]).map(bucket).collect(),
            reordered: reader.counts().reordered,
            counts,
        };
        (info, self.footprint)
    }
}

/// A warning about a mean size that no block device is asked for: sizes are in another unit, or in another column.
fn doubtful_size(requests: u64, mean_bytes: f64) -> Option<String> {
    if requests == 0 || (SIZES.0..=SIZES.1).contains(&mean_bytes) {
        return None;
    }
    let mean = human_bytes(mean_bytes.round() as u64);
    Some(format!(
        "the mean size of its reads and writes is {mean}: sizes may be in another unit or in another column than they \
         are taken to be (--columns)"
    ))
}
