//! A trace as a stream of records in time order.

use super::decode::{BATCH, Batch, Decoder, Entry, Setup};
use super::detect::{Looks, detect, format_by_name, whole_lines};
use super::error::{Place, TraceError};
use super::formats::Format;
use super::options::{TimeUnit, TraceOptions};
use super::record::{Record, TIME_MAX, TraceCounts, too_large};
use super::sort::{Sorter, TooLate};
use super::stream::{ByteStream, Input, text_of};
use std::fs::File;
use std::path::Path;
use tailcut_units::HostOp;

/// The largest size a scaled request may have: 4 GiB less a sector.
const SCALED_MAX: f64 = (u32::MAX - 511) as f64;

/// Reads one trace once, in constant memory: decompressed, sorted, filtered and scaled.
///
/// Times are nanoseconds since the first record of the file (before the device filter),
/// less `start_ns`, divided by the rate scale.
pub struct TraceReader {
    input: ByteStream,
    format: &'static Format,
    decoder: Box<dyn Decoder>,
    batch: Batch,
    sorter: Option<Sorter>,
    options: TraceOptions,
    counts: TraceCounts,
    unit: TimeUnit,
    unit_from: &'static str,
    note: &'static str,
    first: Option<u64>,
    handed_out: u64,
    failure: Option<TraceError>,
    finished: bool,
}

impl TraceReader {
    /// Read a file. Loop, layout and closed-loop options are not looked at here.
    ///
    /// # Errors
    /// See [`TraceError`]: unreadable, empty or unrecognised content, or a bad option.
    pub fn open(path: &Path, options: &TraceOptions) -> Result<TraceReader, TraceError> {
        let file = path.display().to_string();
        match File::open(path) {
            Ok(input) => TraceReader::new(&file, Box::new(input), options),
            Err(source) => Err(TraceError::Io { file, action: "open", source }),
        }
    }

    /// Read anything that reads; `file` is its name in messages.
    ///
    /// # Errors
    /// As [`TraceReader::open`].
    pub fn new(file: &str, input: Input, options: &TraceOptions) -> Result<TraceReader, TraceError> {
        options.check()?;
        let mut input = ByteStream::open(file, input)?;
        let (sample, complete) = input.sample()?;
        let format = match &options.format {
            Some(_) if sample.is_empty() => return Err(TraceError::Empty { file: file.into() }),
            Some(name) => format_by_name(name)?,
            None => detect(file, sample, complete)?,
        };
        let sample = match format.looks {
            Looks::Line(_) => text_of(whole_lines(sample, complete)),
            Looks::Bytes(_) => sample,
        };
        let mut setup =
            Setup { sample, given: options.time_unit, unit: TimeUnit::Ns, unit_from: "format", note: "" };
        let decoder = (format.open)(&mut setup);
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
            options: options.clone(),
            counts: TraceCounts::default(),
            unit,
            unit_from,
            note,
            first: None,
            handed_out: 0,
            failure: None,
            finished: false,
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

    /// Any further choice the reader made from the data; empty if none.
    pub fn note(&self) -> &'static str {
        self.note
    }

    /// What was read and skipped so far.
    pub fn counts(&self) -> &TraceCounts {
        &self.counts
    }

    /// The next request, `None` at the end. After an error there is nothing more.
    ///
    /// # Errors
    /// A bad record, a damaged stream, or a jump back in time beyond the sort window; a
    /// trace without any request is an error at its end.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
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
        if let Some(error) = self.failure.take() {
            self.finished = true;
            return Err(error);
        }
        if std::mem::replace(&mut self.finished, true) || self.handed_out > 0 {
            return Ok(None);
        }
        Err(TraceError::NoRequest { file: self.input.file().into(), detail: self.counts.skipped() })
    }

    // The inner steps hand over plain options and leave an error in `failure`: a result
    // that may hold a large error costs a move per record and layer.
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
            if let Err(TooLate(back)) = sorter.push(entry, &mut self.counts) {
                let place = self.decoder.place(entry.place);
                self.failure = Some(self.out_of_order(place, back));
                return None;
            }
        }
    }

    fn out_of_order(&self, place: Place, back_ns: u64) -> TraceError {
        TraceError::OutOfOrder {
            file: self.input.file().into(),
            place,
            back_ns,
            window_ns: self.options.sort_window_ns,
            window_records: self.options.sort_records,
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
        }
    }

    /// Filters, then scales. Records come in time order, so the window's end ends all.
    #[inline]
    fn select(&mut self, entry: Entry) -> Option<Record> {
        let Entry { mut record, place } = entry;
        let first = *self.first.get_or_insert(record.time);
        let time = record.time - first;
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

    /// No more records: the window is over, or a time is too far from the first.
    #[cold]
    fn stop(&mut self, too_long: Option<(u64, u64)>) {
        self.batch = Batch { ended: true, ..Batch::default() };
        self.sorter = None;
        if let Some((place, time)) = too_long {
            let reason = too_large("time since the first record, in ns,", time, TIME_MAX);
            let (file, place) = (self.input.file().into(), self.decoder.place(place));
            self.failure = Some(TraceError::Record { file, place, reason });
        }
    }

    fn scale(&mut self, record: &mut Record) {
        let time = record.time as f64 / self.options.rate_scale;
        let time_max = (1u64 << 61) as f64;
        self.counts.clamped += u64::from(time > time_max);
        record.time = time.min(time_max) as u64;
        if self.options.size_scale != 1.0 && record.op != HostOp::Flush {
            let sectors = (f64::from(record.bytes) * self.options.size_scale / 512.0).ceil();
            self.counts.clamped += u64::from(sectors * 512.0 > SCALED_MAX);
            record.bytes = (sectors * 512.0).clamp(512.0, SCALED_MAX) as u32;
        }
    }
}
