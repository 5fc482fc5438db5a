//! One run of one drive under one workload, measured.

use crate::host::{Host, MissedRate, RunError};
use crate::load::Offered;
use crate::machine::Stopwatch;
use crate::timeline::Tracks;
use crate::watch::Watch;
use std::collections::VecDeque;
use tailcut_core::device::{
    ChannelTime, Counters, Device, FlashCounters, GroupTime, Medium, Observer, PulseWear, Shape,
    SuspensionWear, Usage,
};
use tailcut_core::drive::Drive;
use tailcut_core::figures::{Dimensions, FaultReport};
use tailcut_core::intervention::Intervention;
use tailcut_stats::{Digest, Gauges, Interval, Measured, Recorder, RecorderOptions, Sample};
use tailcut_units::{HostOp, SimTime, Span};
use tailcut_workload::{JobInfo, Source, Workload};

/// The error of a sink, boxed.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Receives every measured request and fine interval during the run, e.g. to write files.
pub trait Sink: Send {
    /// Take a completed request.
    fn request(&mut self, sample: &Sample) -> Result<(), SinkError>;
    /// Take a fine interval that has ended.
    fn interval(&mut self, interval: &Interval) -> Result<(), SinkError>;
    /// The receiver of this drive's timeline, if one is wanted.
    fn tracks(&mut self, _dimensions: &Dimensions) -> Result<Option<Box<dyn Tracks>>, SinkError> {
        Ok(None)
    }
    /// End the output.
    fn finish(self: Box<Self>) -> Result<(), SinkError>;
}

/// Why a run could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError<E: std::error::Error> {
    /// The host ended the run with an error.
    #[error(transparent)]
    Run(#[from] RunError<E>),
    /// The sink of the requests failed.
    #[error("{0}")]
    Sink(SinkError),
}

/// What to measure in addition to latencies.
#[derive(Clone, Debug, Default)]
pub struct MeasureOptions {
    /// Length of the fine intervals, if a sink wants them.
    pub fine: Option<Span>,
    /// Which run this is, for the watch.
    pub task: usize,
    /// Changes to the drive other than commands, in order of time.
    pub interventions: VecDeque<(SimTime, String)>,
}

/// The measurements of one run.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// The digest over all completions, including those of the ramp.
    pub digest: Digest,
    /// Latencies and their causes.
    pub measured: Measured,
    /// The drive's counters over the measurement.
    pub counters: Counters,
    /// The counters of its flash.
    pub flash: FlashCounters,
    /// The time of the channels over the measurement.
    pub channel: ChannelTime,
    /// How long each part of the drive was in use over the measurement.
    pub usage: Usage,
    /// Planes of a die, and whether each plane is a busy unit.
    pub die_planes: (u32, bool),
    /// Physical blocks erased with an extent.
    pub blocks_per_extent: u32,
    /// The drive has stripes with parity.
    pub has_parity: bool,
    /// Reads go round LUNs that program or erase.
    pub has_write_gate: bool,
    /// The collections of each group of planes over the measurement; empty without parity.
    pub groups: Vec<GroupTime>,
    /// Stripes may move to even out wear.
    pub moves_stripes: bool,
    /// Whether extents are emptied for the erases of their blocks.
    pub levels_erases: bool,
    /// Whether old data are written again.
    pub refreshes: bool,
    /// Mean and maximum of the program/erase cycles at the end.
    pub wear: (f64, u32),
    /// The same for the SLC region, of erases alone; `None` without one.
    pub slc_wear: Option<(f64, u32)>,
    /// What pulses have made of the blocks, at the end; `None` if erases take the configured loops.
    pub pulse_wear: Option<PulseWear>,
    /// Whether pages have raw bit errors.
    pub has_errors: bool,
    /// Suspensions per block at the end, and their effect on the blocks.
    pub suspension_wear: SuspensionWear,
    /// Energy of the arrays in millijoules: in total, and for suspensions alone.
    pub energy_mj: (f64, f64),
    /// The state of the parts that can fail, at the end; `None` if none can.
    pub faults: Option<FaultReport>,
    /// The longest time in which writes waited and none completed.
    pub write_stall: Option<WriteStall>,
    /// Requests issued, including those of the ramp.
    pub issued: u64,
    /// The requests that arrived without waiting for the drive, compared with those
    /// served, over the whole run; `None` if there were none.
    pub offered: Option<Offered>,
    /// The rates that jobs asked for and missed, over the whole run.
    pub missed_rates: Vec<MissedRate>,
    /// The time of the run at which measurement started.
    pub measured_from: SimTime,
    /// Requests that the host split because they exceed the drive's largest command.
    pub split: u64,
    /// Processor seconds of the run, without preconditioning.
    pub cpu_seconds: f64,
    /// Real seconds of the run, without preconditioning.
    pub wall_seconds: f64,
    /// The run was stopped before its end.
    pub partial: bool,
}

/// The levels of a drive now, for the series of a recorder; the use of its parts counts from `usage_from`.
pub fn gauges<O: Observer, M: Medium>(device: &Drive<O, M>, usage_from: &Usage) -> Gauges {
    let (levels, counters) = (device.gauges(), device.counters());
    let blocks = u64::from(device.dimensions().blocks_per_extent);
    let usage = device.usage().since(usage_from);
    let mean = |parts: &[u64]| parts.iter().sum::<u64>() as f64 / parts.len().max(1) as f64;
    Gauges {
        free_blocks: levels.free_extents * blocks,
        buffer_fill: levels.buffer_fill,
        user_limit: levels.user_limit,
        queue_depth: u64::from(device.outstanding()),
        collections: counters.collections,
        erases: counters.erases * blocks - counters.blocks_spared,
        programs_user: counters.programs_user,
        programs_total: counters.programs(),
        used_until_ns: usage.at,
        dies_used_ns: mean(&usage.units),
        channels_used_ns: mean(&usage.channels),
    }
}

/// A time in which writes were outstanding and none was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteStall {
    /// When the stall began.
    pub since: SimTime,
    /// How long the stall lasted.
    pub length: Span,
    /// The latency so far of the write that ended the stall, or of the oldest write still
    /// waiting at the end.
    pub oldest: Span,
    /// The stall still lasted at the end of the run.
    pub lasts: bool,
}

/// When measurement starts: at the end of the shortest ramp in the first group of jobs.
/// Jobs of later groups do not matter.
pub fn measured_from(jobs: &[JobInfo]) -> SimTime {
    let first = jobs.iter().map(|j| j.group).min();
    let ramps = jobs.iter().filter(|j| Some(j.group) == first).map(|j| j.ramp.0);
    SimTime(ramps.min().unwrap_or(0))
}

/// Events of the drive between two checks of the watch; they take a tenth of a second or
/// less.
const STEPS: u64 = 1 << 16;

/// [`measure`] for a workload on a drive without an observer. Runs, sweeps and benchmarks share this copy of the run loop:
/// a benchmark measures the code of a run, and a profile of benchmarks fits runs.
///
/// # Errors
/// As [`measure`].
#[inline(never)]
pub fn measure_workload<'a>(
    host: &mut Host<Workload>,
    device: &mut Drive,
    options: MeasureOptions,
    sink: Option<&'a mut (dyn Sink + 'a)>,
    watch: &'a dyn Watch,
) -> Result<RunOutcome, MeasureError<<Workload as Source>::Error>> {
    measure(host, device, options, sink, watch)
}

/// Run the host's workload on the drive to its end, or until `watch` asks to stop.
///
/// # Errors
/// A workload that cannot be read further, a drive that makes no progress, a failing sink.
pub fn measure<'a, S: Source, O: Observer>(
    host: &mut Host<S>,
    device: &mut Drive<O>,
    options: MeasureOptions,
    sink: Option<&'a mut (dyn Sink + 'a)>,
    watch: &'a dyn Watch,
) -> Result<RunOutcome, MeasureError<S::Error>> {
    let clock = Stopwatch::new();
    let jobs = host.source().jobs();
    let names: Vec<String> = jobs.iter().map(|j| j.name.clone()).collect();
    let start = measured_from(&jobs);
    let recorder = RecorderOptions { start, fine: options.fine, ..RecorderOptions::default() };
    let mut run = Run {
        recorder: Recorder::new(&names, recorder),
        digest: Digest::new(),
        done: 0,
        last: start,
        last_write: start,
        stall: None,
        groups: Vec::new(),
        groups_from: Vec::new(),
        usage_from: Usage::default(),
        sink,
        sink_error: None,
        task: options.task,
        interventions: options.interventions,
        watch,
    };
    let mut over = false;
    if start > device.now() {
        over = run.until(host, device, SimTime(start.0 - 1))?;
    }
    device.reset_counters();
    let channel = device.channel_time();
    let usage = device.usage();
    run.usage_from.clone_from(&usage);
    run.groups_from.extend(group_times(device, start).into_iter().map(|g| g.lane_ns));
    run.groups.clone_from(&run.groups_from);
    while !over && !run.broken() {
        let end = run.recorder.interval_end();
        over = run.until(host, device, SimTime(end.0.saturating_sub(1)))?;
        run.gauge(device, host.now());
        if !over && !run.broken() {
            let collecting = run.note_groups(device, end);
            // The next interval is the first one in which an event happens or a collection
            // continues.
            let next = host.next_event(device);
            run.gauge(device, if collecting { end } else { next });
            run.hand_out_fine();
        }
    }
    if let Some((_, oldest)) = device.waiting_writes() {
        run.note_write(oldest, host.now(), true);
    }
    let stall = run.stall;
    let end = if over { run.last } else { host.now().max(start) };
    run.note_groups(device, end);
    let groups = group_times(device, end)
        .into_iter()
        .zip(&run.groups_from)
        .map(|(g, from)| GroupTime { lane_ns: g.lane_ns.saturating_sub(*from), ..g })
        .collect();
    let dimensions = device.dimensions();
    let page = device.as_page().map(Device::shape);
    let (digest, mut measured) = run.finish(end).map_err(MeasureError::Sink)?;
    job_runtimes(&mut measured, &jobs, host.groups(), start, end);
    merge_rows(&mut measured, &jobs);
    Ok(RunOutcome {
        digest,
        measured,
        counters: device.counters().clone(),
        flash: device.flash_counters().clone(),
        channel: device.channel_time().since(&channel),
        usage: device.usage().since(&usage),
        die_planes: (dimensions.planes, dimensions.has_independent_planes()),
        blocks_per_extent: dimensions.blocks_per_extent,
        has_parity: dimensions.has_parity,
        has_write_gate: dimensions.has_write_gate,
        groups,
        moves_stripes: page.is_some_and(Shape::moves_stripes),
        levels_erases: page.is_some_and(Shape::levels_erases),
        refreshes: page.is_some_and(Shape::refreshes),
        wear: device.wear(),
        slc_wear: device.as_page().and_then(Device::slc_wear),
        pulse_wear: device.pulse_wear(),
        has_errors: dimensions.has_errors,
        suspension_wear: device.suspension_wear(),
        energy_mj: device.energy_mj(),
        faults: device.fault_report(),
        write_stall: stall,
        issued: host.issued(),
        offered: host.offered(),
        missed_rates: host.missed_rates(),
        measured_from: start,
        split: host.split_requests,
        cpu_seconds: clock.cpu_seconds(),
        wall_seconds: clock.wall_seconds(),
        partial: !over,
    })
}

/// The collections of each group of planes up to `at`; none without parity.
fn group_times<O: Observer>(device: &Drive<O>, at: SimTime) -> Vec<GroupTime> {
    device.as_page().map_or_else(Vec::new, |device| device.group_times(at).collect())
}

/// Set the time to which each job's rates refer: the time of its group, if there are
/// several.
fn job_runtimes(
    measured: &mut Measured,
    jobs: &[JobInfo],
    groups: &[(u32, SimTime)],
    start: SimTime,
    end: SimTime,
) {
    for (stats, job) in measured.jobs.iter_mut().zip(jobs) {
        let Some(at) = groups.iter().position(|(group, _)| *group == job.group) else {
            stats.runtime = Span::ZERO;
            continue;
        };
        let of_group = jobs.iter().filter(|j| j.group == job.group);
        let ramp = of_group.map(|j| j.ramp.0.saturating_sub(j.start.0)).min().unwrap_or(0);
        let from = if at == 0 { start } else { groups[at].1 + Span(ramp) };
        let to = groups.get(at + 1).map_or(end, |next| next.1);
        stats.runtime = Span(to.0.saturating_sub(from.0));
    }
}

/// Merge the jobs of each row of the report; the row has the name of its first job, with the number
/// of jobs.
fn merge_rows(measured: &mut Measured, jobs: &[JobInfo]) {
    let each = std::mem::take(&mut measured.jobs).into_iter().zip(jobs);
    let mut first: Option<(&JobInfo, u32)> = None;
    let mut row_of = Vec::with_capacity(jobs.len());
    for (stats, job) in each {
        match (&mut first, measured.jobs.last_mut()) {
            (Some((first, count)), Some(row)) if first.row == job.row => {
                *count += 1;
                let of_row = row.populations.iter_mut();
                of_row.zip(&stats.populations).for_each(|(all, more)| all.merge(more));
                row.name = format!("{} ({count} jobs)", first.name);
            }
            _ => {
                first = Some((job, 1));
                measured.jobs.push(stats);
            }
        }
        row_of.push(measured.jobs.len() as u16 - 1);
    }
    for side in &mut measured.sides {
        let kept = side.slowest.iter_mut().chain(&mut side.failed);
        kept.for_each(|request| request.job = row_of[usize::from(request.job)]);
    }
}

/// The outputs of a run.
struct Run<'a> {
    recorder: Recorder,
    digest: Digest,
    done: u64,
    /// The last completion, or the start.
    last: SimTime,
    /// The last completion of a write, or the start.
    last_write: SimTime,
    stall: Option<WriteStall>,
    /// By group of planes: the time of its collections up to the last check, in ns.
    /// `groups_from` is the time at the start of measurement.
    groups: Vec<u64>,
    groups_from: Vec<u64>,
    /// How long the parts of the drive had been in use at the start of measurement.
    usage_from: Usage,
    sink: Option<&'a mut (dyn Sink + 'a)>,
    sink_error: Option<SinkError>,
    task: usize,
    interventions: VecDeque<(SimTime, String)>,
    watch: &'a dyn Watch,
}

impl Run<'_> {
    fn broken(&self) -> bool {
        self.sink_error.is_some() || self.watch.stopped()
    }

    /// Run up to `end`, checking the watch regularly; returns true when all jobs have
    /// ended.
    fn until<S: Source, O: Observer>(
        &mut self,
        host: &mut Host<S>,
        device: &mut Drive<O>,
        end: SimTime,
    ) -> Result<bool, RunError<S::Error>> {
        loop {
            let due = self.interventions.front().map(|(at, _)| *at).filter(|at| *at <= end);
            let until = due.unwrap_or(end);
            let ran = host.run_for(device, until, STEPS, &mut |f, ramp| self.take(f, ramp));
            self.watch.requests(self.task, self.done, host.now());
            let over = match ran {
                // The reader of the workload may be the first to notice the request to
                // stop.
                Err(RunError::Workload(_)) if self.watch.stopped() => false,
                ran => ran?,
            };
            if over || self.broken() {
                return Ok(over);
            }
            if host.next_event(device) > until {
                match due {
                    Some(at) => self.intervene(device, at)?,
                    None => return Ok(over),
                }
            }
        }
    }

    /// Do to the drive what is due at this time.
    #[cold]
    fn intervene<E: std::error::Error, O: Observer>(
        &mut self,
        device: &mut Drive<O>,
        at: SimTime,
    ) -> Result<(), RunError<E>> {
        let Some((_, text)) = self.interventions.pop_front() else { return Ok(()) };
        let done = text.parse::<Intervention>().and_then(|what| device.intervene(at, &what));
        done.map_err(|source| RunError::Intervention { at, text, source })
    }

    #[inline]
    fn take(&mut self, sample: &Sample<'_>, ramp: bool) {
        self.done += 1;
        self.digest.push(sample.index, sample.completed.0, sample.status);
        if ramp {
            return;
        }
        self.last = sample.completed;
        if sample.op == HostOp::Write {
            self.note_write(sample.arrived, sample.completed, false);
        }
        self.recorder.record(sample);
        if self.sink.is_some() {
            self.hand_out(sample);
        }
    }

    /// Note that a write that arrived at `arrived` ends now, or (`lasts`) still waits.
    #[inline]
    fn note_write(&mut self, arrived: SimTime, now: SimTime, lasts: bool) {
        let since = self.last_write.max(arrived);
        let length = Span(now.0.saturating_sub(since.0));
        if self.stall.is_none_or(|s| length > s.length) {
            self.stall = Some(WriteStall { since, length, oldest: now - arrived, lasts });
        }
        self.last_write = now;
    }

    #[cold]
    #[inline(never)]
    fn hand_out(&mut self, sample: &Sample) {
        if let (Some(sink), None) = (&mut self.sink, &self.sink_error) {
            self.sink_error = sink.request(sample).err();
        }
    }

    fn hand_out_fine(&mut self) {
        if let (Some(sink), None) = (&mut self.sink, &self.sink_error) {
            let mut failed = None;
            self.recorder.drain_fine(|i| failed = failed.take().or_else(|| sink.interval(i).err()));
            self.sink_error = failed;
        }
    }

    fn gauge<O: Observer>(&mut self, device: &Drive<O>, at: SimTime) {
        let gauges = gauges(device, &self.usage_from);
        self.recorder.gauge(at, &gauges);
    }

    /// Report the collections of groups of planes up to `at`; returns true while any group
    /// collects.
    fn note_groups<O: Observer>(&mut self, device: &mut Drive<O>, at: SimTime) -> bool {
        if self.groups.is_empty() {
            return false;
        }
        let Some(device) = device.as_page_mut() else { return false };
        let most = u64::from(device.most_in_group());
        let collecting = device.group_times(at).filter(|g| g.collecting > 0).count() as u64;
        let since = device.group_times(at).zip(&mut self.groups).map(|(g, before)| {
            let passed = g.lane_ns.saturating_sub(*before);
            *before += passed;
            passed
        });
        self.recorder.groups(most, collecting, since);
        collecting > 0
    }

    fn finish(self, end: SimTime) -> Result<(Digest, Measured), SinkError> {
        let Run { recorder, digest, mut sink, sink_error: mut failed, .. } = self;
        let measured = recorder.finish(end, |interval| {
            if let (Some(sink), None) = (&mut sink, &failed) {
                failed = sink.interval(interval).err();
            }
        });
        failed.map_or(Ok((digest, measured)), Err)
    }
}
