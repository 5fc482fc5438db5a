//! The measurements of a server: latencies with their causes, the log, and the digest.

use crate::args::serve::ServeArgs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tailcut_core::device::Usage;
use tailcut_live::store::folder::Stored;
use tailcut_live::{Event, Server};
use tailcut_report::Summary;
use tailcut_report::summary::{Gc, SCHEMA, Scheme, Workload};
use tailcut_sim::MODEL_VERSION;
use tailcut_sim::measure::gauges;
use tailcut_sim::summarise::{counted, faults};
use tailcut_stats::{Digest, Measured, Recorder, RecorderOptions, Sample};
use tailcut_units::{HostOp, SimTime, Status};
use tailcut_workload::log::{LogError, LogWriter};

/// The name of the only job of a server.
const JOB: &str = "served";

/// The measurements of a server, shared with its engine.
#[derive(Clone)]
pub struct Monitor(Arc<Mutex<Measures>>);

pub struct Measures {
    recorder: Recorder,
    digest: Digest,
    /// The number of the first command. The drive of a store has had earlier commands.
    first: Option<u64>,
    usage_from: Usage,
    /// Only requests from this time on are measured.
    from: SimTime,
    /// Changes to the drive other than commands.
    done: Vec<(SimTime, String)>,
    /// The log, until a write to it fails.
    pub log: Option<LogWriter>,
    /// The error of the log.
    pub log_failed: Option<LogError>,
}

impl Monitor {
    /// Start to measure a drive.
    pub fn new(drive: &Stored, log: Option<LogWriter>) -> Monitor {
        let options = RecorderOptions { start: drive.now(), ..RecorderOptions::default() };
        let recorder = Recorder::new(&[JOB.to_string()], options);
        let usage_from = drive.usage();
        let measures = Measures {
            recorder,
            digest: Digest::new(),
            first: None,
            usage_from,
            from: drive.now(),
            done: Vec::new(),
            log,
            log_failed: None,
        };
        Monitor(Arc::new(Mutex::new(measures)))
    }

    pub fn measures(&self) -> MutexGuard<'_, Measures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Record an event of the drive.
    pub fn note(&self, event: &Event<'_>) {
        let mut m = self.measures();
        match event {
            Event::Completed(c) => {
                let index = c.index - m.first.unwrap_or_default();
                m.digest.push(index, c.completed.0, c.status);
                if c.arrived < m.from {
                    return;
                }
                m.recorder.record(&Sample {
                    index,
                    job: 0,
                    op: c.command.op,
                    offset: c.command.offset,
                    bytes: c.command.bytes,
                    arrived: c.arrived,
                    completed: c.completed,
                    status: c.status,
                    ledger: c.ledger,
                });
            }
            Event::Intervened { at, text } => {
                m.done.push((*at, text.to_string()));
                if let Some(Err(e)) = m.log.as_mut().map(|log| log.intervention(*at, text)) {
                    (m.log, m.log_failed) = (None, Some(e));
                }
            }
            Event::Submitted { index, at, wanted, command } => {
                m.first.get_or_insert(*index);
                if let Some(Err(e)) = m.log.as_mut().map(|log| log.command(*at, *wanted, command)) {
                    // The drive is still served; the error is reported at the end.
                    (m.log, m.log_failed) = (None, Some(e));
                }
            }
        }
    }

    /// Record the levels of the drive at the ends of intervals.
    pub fn gauge(&self, drive: &Stored) {
        let mut m = self.measures();
        if drive.now() >= m.recorder.interval_end() {
            let gauges = gauges(drive, &m.usage_from);
            m.recorder.gauge(drive.now(), &gauges);
        }
    }

    /// Changes to the drive other than commands, in order of time.
    pub fn done(&self) -> Vec<(SimTime, String)> {
        self.measures().done.clone()
    }

    /// Measure the requests from now on, and forget earlier latencies. The counters of the drive and the digest
    /// continue.
    pub fn measure_from(&self, now: SimTime) {
        let options = RecorderOptions { start: now, ..RecorderOptions::default() };
        let mut m = self.measures();
        m.recorder = Recorder::new(&[JOB.to_string()], options);
        m.from = now;
    }

    /// The digest of all completions, and their number.
    pub fn digest(&self) -> (u64, u64) {
        let m = self.measures();
        (m.digest.value(), m.digest.count())
    }

    /// The summary until now, in the form of a run's summary.
    pub fn summary(&self, args: &ServeArgs, server: &Server) -> Summary {
        let drive = server.engine().drive();
        let (recorder, digest) = {
            let m = self.measures();
            (m.recorder.clone(), m.digest.value())
        };
        let end = drive.now().max(SimTime(1));
        let measured = recorder.finish(end, |_| {});
        let scheme = Scheme {
            name: args.scheme.clone(),
            digest: format!("{digest:016x}"),
            wall_seconds: server.seconds(),
            ..counters(drive, &measured)
        };
        let scheme = scheme.with_measurements(&measured);
        let of = |op: HostOp| scheme.side(op).total_ios;
        let (reads, writes) = (of(HostOp::Read), of(HostOp::Write));
        let workload = Workload {
            source: JOB.to_string(),
            requests: HostOp::ALL.into_iter().map(of).sum(),
            read_fraction: reads as f64 / (reads + writes).max(1) as f64,
            ..Workload::default()
        };
        Summary {
            tailcut: env!("CARGO_PKG_VERSION").to_string(),
            schema: SCHEMA,
            model_version: MODEL_VERSION,
            seed: args.seed,
            partial: false,
            device: args.device.clone(),
            host_capacity_bytes: drive.host_bytes(),
            workload,
            warnings: Vec::new(),
            schemes: vec![scheme],
        }
    }
}

/// A summary with the counters of the drive.
fn counters(drive: &Stored, measured: &Measured) -> Scheme {
    let c = drive.counters();
    let own = |(class, n): (&str, u64)| (n > 0 || class == "user").then(|| (class.to_string(), n));
    let blocks = u64::from(drive.dimensions().blocks_per_extent);
    let media_errors = measured.errors.of(HostOp::Read, Status::MediaError);
    Scheme {
        programs: c.programs_by_class().into_iter().filter_map(own).collect(),
        counters: counted(c.all()),
        gc: Some(Gc { collections: c.collections, ..Gc::default() }),
        erases: Some(c.erases * blocks - c.blocks_spared),
        energy_mj: Some(drive.energy_mj().0),
        faults: drive.fault_report().map(|state| faults(c, media_errors, &state)),
        ..Scheme::default()
    }
}
