//! A trace as a stream of records in time order.

use super::decode::{BATCH, Batch, Decoder, Entry, Setup};
use super::detect::{detect, format_by_name, whole_lines};
use super::error::TraceError;
use super::file::TraceFile;
use super::formats::{Format, Looks, columns};
use super::gaps::{Gaps, Largest};
use super::options::{TimeUnit, TraceOptions};
use super::record::{Record, TIME_MAX, TraceCounts, too_large};
use super::sort::{Sorter, TooLate};
use super::spread::Spread;
use super::stream::{ByteStream, Input, text_of};
use crate::interrupt::Interrupt;
use tailcut_units::HostOp;

/// The largest size of a scaled request: 4 GiB less a sector, in bytes.
const SCALED_MAX: f64 = (u32::MAX - 511) as f64;

/// Reads one trace once, in constant memory: decompresses, sorts, filters and scales its
/// records.
///
/// Times are nanoseconds since the first record of the file, before the device filter. With
/// `skip_gaps_ns` they are shortened by the gaps cut. `start_ns` is then subtracted, and the
/// result is divided by the rate scale.
pub struct TraceReader {
    input: ByteStream,
    format: &'static Format,
    decoder: Box<dyn Decoder>,
    batch: Batch,
    sorter: Option<Sorter>,
    gaps: Option<Gaps>,
    largest: Largest,
    options: TraceOptions,
    counts: TraceCounts,
    unit: TimeUnit,
    unit_from: &'static str,
    note: &'static str,
    spread: Option<Spread>,
    first: Option<u64>,
    handed_out: u64,
    failure: Option<TraceError>,
    finished: bool,
    /// The input is several files, one after another.
    several: bool,
}

impl TraceReader {
    /// Open a file. Loop, layout and closed-loop options have no effect here.
    ///
    /// # Errors
    /// See [`TraceError`]: unreadable, empty or unrecognised content, or a bad option.
    pub fn open(file: &TraceFile, options: &TraceOptions) -> Result<TraceReader, TraceError> {
        let name = file.name();
        match file.open() {
            Ok(input) => {
                let several = matches!(file, TraceFile::Several(_));
                TraceReader::new(&name, input, options).map(|reader| TraceReader { several, ..reader })
            }
            Err(source) => Err(TraceError::Io { file: name, action: "open", source }),
        }
    }

    /// Open any input; `file` is its name in messages.
    ///
    /// # Errors
    /// As [`TraceReader::open`].
    pub fn new(file: &str, input: Input, options: &TraceOptions) -> Result<TraceReader, TraceError> {
        options.check()?;
        let mut input = ByteStream::open(file, input, &options.interrupt)?;
        let (sample, complete) = input.sample()?;
        if let Some(kind) = archive(sample) {
            return Err(TraceError::Archive { file: file.into(), kind });
        }
        let named = options.format.as_ref();
        let format = match named {
            _ if sample.is_empty() => return Err(TraceError::Empty { file: file.into() }),
            None if options.columns.is_some() => &columns::FORMAT,
            Some(name) => format_by_name(name)?,
            None => detect(file, sample, complete)?,
        };
        let sample = match format.looks {
            Looks::Line(_) => text_of(whole_lines(sample, complete)),
            Looks::Bytes(_) => sample,
        };
        let mut setup =
            Setup { sample, given: options.time_unit, unit: TimeUnit::Ns, unit_from: "format", note: "" };
        let decoder = match &options.columns {
            Some(columns) => columns.open(&mut setup),
            None => (format.open)(&mut setup),
        };
        let Setup { unit, unit_from, note, .. } = setup;
        if matches!(format.looks, Looks::Line(_)) {
            input.skip_byte_order_mark()?;
        }
        let sorter = (!decoder.sorted()).then(|| Sorter::new(options.sort_window_ns, options.sort_records));
        Ok(TraceReader {
            input,
            format,
            decoder,
            batch: Batch::default(),
            sorter,
            gaps: options.skip_gaps_ns.map(|most| Gaps::new(most, options.sort_window_ns)),
            largest: Largest::default(),
            options: options.clone(),
            counts: TraceCounts::default(),
            unit,
            unit_from,
            note,
            spread: options.spread_ns.map(|step| {
                let step = (step as f64 / options.rate_scale) as u64;
                // Such a step and any time may be added.
                Spread::new(step.clamp(1, 1 << 61), options.seed)
            }),
            first: None,
            handed_out: 0,
            failure: None,
            finished: false,
            several: false,
        })
    }

    /// The format found or given.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// `gzip`, `zstd` or nothing.
    pub fn compression(&self) -> Option<&'static str> {
        self.input.compression()
    }

    /// The unit of the time column, and whether it was `given`, `detected` or the `format`'s.
    pub fn time_unit(&self) -> (TimeUnit, &'static str) {
        (self.unit, self.unit_from)
    }

    /// Any further choice that the reader made from the data; empty if none.
    pub fn note(&self) -> &'static str {
        self.note
    }

    /// Whether requests arrive at the times of the file.
    pub(super) fn keeps_times(&self) -> bool {
        !self.options.closed_loop && self.options.spread_ns.is_none()
    }

    /// The interrupt that can stop the reading.
    pub(super) fn interrupt(&self) -> Interrupt {
        self.options.interrupt.clone()
    }

    pub(super) fn interrupted(&self) -> TraceError {
        TraceError::Interrupted { file: self.input.file().into() }
    }

    /// The records read and skipped so far.
    pub fn counts(&self) -> &TraceCounts {
        &self.counts
    }

    /// Return the next request; `None` at the end. After an error there are no more requests.
    ///
    /// # Errors
    /// A bad record, a damaged stream, or a jump back in time beyond the sort window. A trace
    /// without any request gives an error at its end.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        let Some(mut spread) = self.spread.take() else { return self.next_selected() };
        let record = spread.next(|| self.next_selected());
        self.spread = Some(spread);
        record
    }

    #[inline]
    fn next_selected(&mut self) -> Result<Option<Record>, TraceError> {
        while !self.finished {
            let Some(entry) = self.next_sorted() else {
                break;
            };
            if let Some(record) = self.select(entry) {
                return Ok(Some(record));
            }
        }
        self.end()
    }

    #[cold]
    fn end(&mut self) -> Result<Option<Record>, TraceError> {
        if let Some(mut error) = self.failure.take() {
            self.finished = true;
            if let (TraceError::Record { read_as, .. }, None, None) =
                (&mut error, &self.options.format, &self.options.columns)
            {
                *read_as = format!(
                    " (read as {}, since the content looks like it; --format names another)",
                    self.format.name
                );
            }
            return Err(error);
        }
        self.finished = true;
        self.counts.warnings = self.decoder.warnings();
        self.counts.warnings.extend(self.largest.warning(|at| self.decoder.place(at)));
        if self.handed_out > 0 {
            return Ok(None);
        }
        let doubts: String = self.counts.warnings.iter().map(|text| format!("; {text}")).collect();
        let detail = self.counts.skipped() + &doubts;
        Err(TraceError::NoRequest { file: self.input.file().into(), detail })
    }

    // The inner steps return plain options and store an error in `failure`: a result type with
    // room for a large error costs one move per record and layer.
    #[inline]
    fn next_sorted(&mut self) -> Option<Entry> {
        if self.sorter.is_none() {
            return self.next_decoded();
        }
        loop {
            if let Some(entry) = self.sorter.as_mut()?.pop_settled() {
                return Some(entry);
            }
            let next = self.next_decoded();
            if self.failure.is_some() {
                return None;
            }
            let sorter = self.sorter.as_mut()?;
            let Some(entry) = next else {
                return sorter.pop();
            };
            if let Err(late) = sorter.push(entry, &mut self.counts) {
                self.failure = Some(self.out_of_order(entry.place, late));
                return None;
            }
        }
    }

    fn out_of_order(&self, place: u64, late: TooLate) -> TraceError {
        let follow = "files given together follow each other: give them in the order of their times";
        let doubts = self.several.then(|| follow.to_string()).into_iter().chain(self.decoder.warnings());
        TraceError::OutOfOrder {
            file: self.input.file().into(),
            place: self.decoder.place(place),
            newest: self.decoder.place(late.newest),
            back_ns: late.back,
            window_ns: self.options.sort_window_ns,
            window_records: self.options.sort_records,
            doubt: doubts.map(|text| format!("; {text}")).collect(),
        }
    }

    #[inline]
    fn next_decoded(&mut self) -> Option<Entry> {
        if let Some(&entry) = self.batch.entries.get(self.batch.next) {
            self.batch.next += 1;
            return Some(entry);
        }
        self.refill()
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) -> Option<Entry> {
        loop {
            if let Some(&entry) = self.batch.entries.get(self.batch.next) {
                self.batch.next += 1;
                return Some(entry);
            }
            if let Some(error) = self.batch.error.take() {
                self.batch.ended = true;
                self.failure = Some(error);
            }
            if self.batch.ended {
                return None;
            }
            self.batch.entries.clear();
            self.batch.entries.reserve(BATCH);
            self.batch.next = 0;
            self.decoder.decode(&mut self.input, &mut self.batch, &mut self.counts);
            if let Some(gaps) = &mut self.gaps {
                for entry in &mut self.batch.entries {
                    entry.record.time = gaps.adjust(entry.record.time, &mut self.counts);
                }
            }
        }
    }

    /// Filter and scale a record. Records come in time order, so the first record after the
    /// time window ends the trace.
    #[inline]
    fn select(&mut self, entry: Entry) -> Option<Record> {
        let Entry { mut record, place } = entry;
        let first = *self.first.get_or_insert(record.time);
        let time = record.time - first;
        self.largest.note(time, place);
        if time > TIME_MAX {
            self.stop(Some((place, time)));
            return None;
        }
        if self.options.end_ns.is_some_and(|end| time >= end) {
            self.stop(None);
            return None;
        }
        if self.options.device.is_some_and(|d| d != record.device) {
            self.counts.other_devices += 1;
            return None;
        }
        if time < self.options.start_ns {
            self.counts.before_window += 1;
            return None;
        }
        record.time = time - self.options.start_ns;
        if self.options.rate_scale != 1.0 || self.options.size_scale != 1.0 {
            self.scale(&mut record);
        }
        self.handed_out += 1;
        self.counts.requests += 1;
        self.finished = Some(self.handed_out) == self.options.limit;
        Some(record)
    }

    /// End the stream: the time window has ended, or a time is too far from the first
    /// record's.
    #[cold]
    fn stop(&mut self, too_long: Option<(u64, u64)>) {
        self.batch = Batch { ended: true, ..Batch::default() };
        self.sorter = None;
        if let Some((place, time)) = too_long {
            let reason = too_large("time since the first record, in ns,", time, TIME_MAX);
            let (file, place) = (self.input.file().into(), self.decoder.place(place));
            self.failure = Some(TraceError::Record { file, place, reason, read_as: String::new() });
        }
    }

    fn scale(&mut self, record: &mut Record) {
        let time = record.time as f64 / self.options.rate_scale;
        let time_max = (1u64 << 61) as f64;
        let mut clamped = time > time_max;
        record.time = time.min(time_max) as u64;
        if self.options.size_scale != 1.0 && record.op != HostOp::Flush {
            let sectors = (f64::from(record.bytes) * self.options.size_scale / 512.0).ceil();
            clamped |= sectors * 512.0 > SCALED_MAX;
            record.bytes = (sectors * 512.0).clamp(512.0, SCALED_MAX) as u32;
        }
        self.counts.clamped += u64::from(clamped);
    }
}

/// The kind of archive that content is, by its magic numbers.
fn archive(sample: &[u8]) -> Option<&'static str> {
    match sample {
        [b'P', b'K', 3, 4, ..] => Some("a zip"),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Some("a 7z"),
        [b'R', b'a', b'r', b'!', 0x1a, 7, ..] => Some("a rar"),
        _ if sample.get(257..262) == Some(b"ustar") => Some("a tar"),
        _ => None,
    }
}
