//! A trace as a stream of issues that a simulator pulls.

use super::dense::DenseMap;
use super::error::{TraceError, bad};
use super::file::TraceFile;
use super::footprint::Footprint;
use super::formats::Format;
use super::layout::{Layout, Pieces};
use super::options::{DeviceRule, TimeUnit, TraceOptions};
use super::reader::TraceReader;
use super::record::{Record, TIME_MAX, TraceCounts};
use super::stream::Input;
use crate::Issue;
use std::collections::VecDeque;
use std::sync::Arc;
use tailcut_units::{Command, SimTime, Span};

/// Requests read ahead to find the devices before the layout is fixed.
const AHEAD: usize = 65_536;

/// Opens the trace again for each lap.
type Opener = Box<dyn Fn() -> std::io::Result<Input> + Send>;

/// A trace laid on a drive and repeated.
///
/// Arrivals of lap *k* are `k × (time of the last request + mean gap)` later than those of
/// the first lap. The mean gap is the first lap's time divided by its requests less one (at
/// least 1 ns). The `layout` module defines the addresses and how laps shift them: devices
/// get equal slices, addresses are folded by 4 KiB pages, and each lap shifts them by the
/// span that the first lap covered.
pub struct TraceSource {
    file: String,
    opener: Opener,
    options: TraceOptions,
    reader: TraceReader,
    ahead: VecDeque<Record>,
    layout: Layout,
    dense: Option<Arc<DenseMap>>,
    /// The index in `dense` at which the last record was found.
    near: usize,
    pieces: Option<Pieces>,
    pieces_at: SimTime,
    lap: u32,
    lap_start: u64,
    lap_requests: u64,
    last_time: u64,
    lap_ns: u64,
    /// The file's counts of the first lap, once that lap has ended.
    first_lap: Option<TraceCounts>,
    mapped: TraceCounts,
    finished: bool,
}

impl TraceSource {
    /// Open a trace file for a drive of `capacity` bytes (at least 4096).
    ///
    /// # Errors
    /// See [`TraceError`]: content that cannot be read (including the requests read ahead),
    /// or an option out of bounds.
    pub fn open(
        file: impl Into<TraceFile>,
        options: &TraceOptions,
        capacity: u64,
    ) -> Result<TraceSource, TraceError> {
        let file = file.into();
        let name = file.name();
        TraceSource::from_opener(&name, Box::new(move || file.open()), options, capacity)
    }

    /// The same source with the addresses numbered by `dense`, with all devices together,
    /// from the first byte of the drive's `capacity`.
    pub(crate) fn numbered(self, dense: Arc<DenseMap>, capacity: u64) -> Result<TraceSource, TraceError> {
        let layout = Layout::new(capacity, &[0], DeviceRule::Overlay)?;
        Ok(TraceSource { layout, dense: Some(dense), ..self })
    }

    /// The bytes of the drive that the first lap touches, in pages of 4 KiB; `None` if the
    /// touched pages are only estimated.
    pub(crate) fn drive_footprint(&self, touched: &Footprint) -> Option<u64> {
        let (pages, exact) = touched.pages();
        match &self.dense {
            Some(dense) => Some(self.layout.fold_range(dense.pages())),
            None if !exact || pages == 0 => None,
            None => Some(self.layout.fold(touched)),
        }
    }

    /// Open any input that can be read again from its start; `file` is its name in
    /// messages.
    ///
    /// # Errors
    /// As [`TraceSource::open`].
    pub fn from_opener(
        file: &str,
        opener: Box<dyn Fn() -> std::io::Result<Input> + Send>,
        options: &TraceOptions,
        capacity: u64,
    ) -> Result<TraceSource, TraceError> {
        let mut reader = start(file, &opener, options)?;
        let mut ahead = VecDeque::new();
        let mut devices = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while ahead.len() < AHEAD {
            let Some(record) = reader.next_record()? else {
                break;
            };
            if devices.last() != Some(&record.device) && seen.insert(record.device) {
                devices.push(record.device);
            }
            ahead.push_back(record);
        }
        Ok(TraceSource {
            file: file.into(),
            opener,
            options: options.clone(),
            reader,
            ahead,
            layout: Layout::new(capacity, &devices, options.device_rule)?,
            dense: None,
            near: 0,
            pieces: None,
            pieces_at: SimTime::ZERO,
            lap: 0,
            lap_start: 0,
            lap_requests: 0,
            last_time: 0,
            lap_ns: 0,
            first_lap: None,
            mapped: TraceCounts { laps: 1, ..TraceCounts::default() },
            finished: false,
        })
    }

    /// Return the next command and its arrival (time 0 in a closed loop); `None` at the
    /// end. The pieces of a request larger than its slice arrive together. After an error
    /// the source returns no more issues.
    ///
    /// # Errors
    /// As [`TraceReader::next_record`]; laps beyond 146 years of trace time.
    #[inline]
    pub fn next_issue(&mut self) -> Result<Option<Issue>, TraceError> {
        if let Some(command) = self.next_piece() {
            return Ok(Some(issue(self.pieces_at, command)));
        }
        if self.finished {
            return Ok(None);
        }
        loop {
            let record = match self.ahead.pop_front() {
                Some(record) => record,
                None => match self.reader.next_record() {
                    Ok(Some(record)) => record,
                    Ok(None) if self.next_lap()? => continue,
                    Ok(None) => return Ok(None),
                    Err(error) => {
                        self.finished = true;
                        return Err(error);
                    }
                },
            };
            if let Some(issue) = self.place(&record) {
                return Ok(Some(issue));
            }
        }
    }

    #[inline]
    fn next_piece(&mut self) -> Option<Command> {
        let piece = self.pieces.as_mut()?.next();
        if piece.is_none() {
            self.pieces = None;
        }
        piece
    }

    #[inline]
    fn place(&mut self, record: &Record) -> Option<Issue> {
        self.lap_requests += 1;
        self.last_time = record.time;
        self.mapped.requests += 1;
        let at = if self.options.closed_loop { SimTime::ZERO } else { SimTime(self.lap_start + record.time) };
        self.pieces_at = at;
        let numbered;
        let record = match &self.dense {
            None => record,
            Some(dense) => {
                numbered = dense.place(record, &mut self.near, &mut self.mapped)?;
                &numbered
            }
        };
        Some(issue(at, self.layout.place(record, self.lap, &mut self.mapped, &mut self.pieces)))
    }

    #[cold]
    fn next_lap(&mut self) -> Result<bool, TraceError> {
        // Every early return below ends the source.
        self.finished = true;
        if self.first_lap.is_none() {
            let gaps = self.lap_requests.saturating_sub(1).max(1);
            self.lap_ns = self.last_time + (self.last_time / gaps).max(1);
            self.first_lap = Some(self.reader.counts().clone());
        }
        if self.lap + 1 >= self.options.loop_count {
            return Ok(false);
        }
        let start_ns = self.lap_start.checked_add(self.lap_ns).filter(|t| *t <= TIME_MAX);
        self.lap_start =
            start_ns.ok_or_else(|| bad("loop", self.options.loop_count, "laps within 146 years"))?;
        self.lap += 1;
        self.mapped.laps += 1;
        self.reader = start(&self.file, &self.opener, &self.options)?;
        self.finished = false;
        Ok(true)
    }

    /// The records read, skipped and changed so far. The counts of the file are those of
    /// the first lap; during that lap they include up to 65,536 requests read ahead. The
    /// counts of requests and of changed addresses cover all laps.
    pub fn counts(&self) -> TraceCounts {
        let file = self.first_lap.as_ref().unwrap_or_else(|| self.reader.counts());
        TraceCounts {
            requests: self.mapped.requests,
            folded: self.mapped.folded,
            moved: self.mapped.moved,
            split: self.mapped.split,
            pieces: self.mapped.pieces,
            late_devices: self.mapped.late_devices,
            untouched_trims: self.mapped.untouched_trims,
            laps: self.mapped.laps,
            ..file.clone()
        }
    }

    /// The format found or given.
    pub fn format(&self) -> &'static Format {
        self.reader.format()
    }

    /// See [`TraceReader::time_unit`].
    pub fn time_unit(&self) -> (TimeUnit, &'static str) {
        self.reader.time_unit()
    }
}

fn issue(earliest: SimTime, command: Command) -> Issue {
    Issue { earliest, think: Span::ZERO, command }
}

fn start(file: &str, opener: &Opener, options: &TraceOptions) -> Result<TraceReader, TraceError> {
    let input = opener().map_err(|source| TraceError::Io { file: file.into(), action: "open", source })?;
    TraceReader::new(file, input, options)
}
