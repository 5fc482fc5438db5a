//! A synthetic run to report on: reads, some of which wait for a program or an erase, and
//! writes.

#![allow(dead_code)] // Each test file uses a part of it.

use tailcut_report::faults::{FaultBlocks, Faults};
use tailcut_report::summary::{
    Channel, Gc, GcGroup, Load, Operations, PeCycles, Precondition, SCHEMA, Scheme, SlcUse, Suspends, Use,
    Utilisation, Workload,
};
use tailcut_report::{Ordered, Summary};
use tailcut_stats::{Digest, Gauges, Measured, Recorder, RecorderOptions, Sample};
use tailcut_units::{Cause, HostOp, Ledger, Occupant, ReadOnlyReason, SimTime, Span, Status, Stream};

pub const JOBS: [&str; 2] = ["serve", "load data, nightly"];

/// Generates `requests` requests, records them and passes each to `each`.
pub fn play(requests: u64, seed: u64, mut each: impl FnMut(&Sample)) -> (Measured, String) {
    let jobs = JOBS.map(String::from);
    let fine = Some(Span(1_000_000));
    let mut recorder = Recorder::new(&jobs, RecorderOptions { fine, ..Default::default() });
    let mut stream = Stream::new(seed, "report test", 0);
    let mut digest = Digest::new();
    let mut now = 0;
    for index in 0..requests {
        now += 1 + stream.below(20_000);
        let op = if stream.below(10) < 7 { HostOp::Read } else { HostOp::Write };
        let ledger = ledger(op, &mut stream);
        let completed = SimTime(now + ledger.sum());
        let sample = Sample {
            index,
            job: u16::from(stream.below(5) == 0),
            op: if index % 1_000 == 999 { HostOp::Flush } else { op },
            offset: stream.below(1 << 20) * 4096,
            bytes: 4096 << stream.below(3),
            arrived: SimTime(now),
            completed,
            status: if index % 1_500 == 7 { Status::OutOfRange } else { Status::Ok },
            ledger: &ledger,
        };
        digest.push(index, completed.0, sample.status);
        recorder.record(&sample);
        each(&sample);
        if index % 50 == 0 {
            recorder.gauge(SimTime(now), &gauges(index));
            recorder.groups(index % 3, index % 2, [index, 0, 7].into_iter());
        }
    }
    (recorder.finish(SimTime(now + 20_000_000), |_| ()), digest.to_string())
}

fn ledger(op: HostOp, stream: &mut Stream) -> Ledger {
    let mut ledger = Ledger::new();
    ledger.charge(Cause::HOST_LATENCY, 1_500);
    ledger.charge(Cause::CONTROLLER, 700 + stream.below(50));
    ledger.charge(Cause::HOST_LINK, 1_280);
    if op == HostOp::Read {
        ledger.charge(Cause::ARRAY, 3_000);
        ledger.charge(Cause::TRANSFER, 5_120);
        if stream.below(50) == 0 {
            ledger.charge(Cause::die_wait(Occupant::UserProgram), stream.below(100_000));
        }
        if stream.below(400) == 0 {
            ledger.charge(Cause::die_wait(Occupant::Erase), stream.below(3_000_000));
            ledger.charge(Cause::RETRY_ARRAY, 3_000);
        }
    } else if stream.below(30) == 0 {
        ledger.charge(Cause::BUFFER_FLUSH, stream.below(500_000));
    }
    ledger
}

fn gauges(index: u64) -> Gauges {
    Gauges {
        free_blocks: 1_000 - index % 100,
        buffer_fill: 0.5,
        user_limit: None,
        queue_depth: 3,
        collections: index / 100,
        erases: index / 100,
        programs_user: index,
        programs_total: index * 2,
        used_until_ns: index * 1_000,
        dies_used_ns: index as f64 * 250.0,
        channels_used_ns: index as f64 * 500.0,
    }
}

pub fn scheme(name: &str, requests: u64, seed: u64) -> (Scheme, Measured) {
    let (measured, digest) = play(requests, seed, |_| ());
    let summary = Scheme {
        name: name.to_string(),
        digest,
        wall_seconds: 1.5,
        cpu_seconds: 1.25,
        peak_rss_bytes: Some(1 << 28),
        precondition: Some(Precondition {
            steady: Some(false),
            kind: "steady".into(),
            cpu_seconds: 3.0,
            cached: true,
            waf: None,
            analytic_start: false,
        }),
        load: Some(Load {
            offered_iops: Some(2000.0),
            served_iops: 1000.0,
            backlog: 12_345,
            behind_ns: 5_000_000_000,
            longest_backlog_ns: 9_000_000_000,
            longest_backlog_since_ns: 1_000_000,
            keeps_up: false,
        }),

        units: Ordered(vec![("trimmed".into(), 3)]),
        counters: Ordered(vec![("programs_user".into(), 1_000), ("trimmed".into(), 3)]),
        programs: Ordered(vec![("user".into(), 1_000), ("gc".into(), 500), ("pad".into(), 10)]),
        gc: Some(Gc {
            collections: 12,
            moved_units: Some(500),
            mean_ns: Some(2_500_000.5),
            longest_ns: Some(9_000_000),
            blocked_reads_fraction: Some(0.25),
            queued_behind_fraction: Some(0.125),
            for_refresh: Some(2),
            kept_out_fraction: Some(0.0625),
            rebuilt_reads_fraction: Some(0.5),
            groups: vec![GcGroup { mean: 0.125, most: 2 }, GcGroup::default()],
            ..Gc::default()
        }),
        suspends: Some(Suspends {
            erase: 3,
            per_erase: 0.5,
            rber_factor_mean: 1.0,
            rber_factor_max: 1.0,
            ..Suspends::default()
        }),
        operations: Ordered(vec![("erase".into(), Operations { count: 12, planes: 1.0 })]),
        erases: Some(12),
        erase_pulses: (name == "t-es").then(|| tailcut_report::erases::ErasePulses {
            blocks: 12,
            pulse_ns: 2_500_000.0,
            pulses: 1.5,
            by_level: vec![10, 2],
            ..Default::default()
        }),
        page_senses: (name == "t-es").then(|| tailcut_report::senses::PageSenses {
            pages: 100,
            again: 3,
            uncorrectable: 3,
            ..Default::default()
        }),
        pe_cycles: Some(PeCycles { mean: 1.5, max: 3 }),
        slc: Some(SlcUse {
            host_units: 40,
            padding_units: 4,
            folded_units: 30,
            fold_reads: 20,
            erases: 4,
            pe_cycles: PeCycles { mean: 0.5, max: 1 },
        }),
        channel: Some(Channel { idle: 0.5, useful: 0.375, uncorrectable: None, ecc_wait: 0.125 }),
        utilisation: Some(Utilisation {
            dies: Use { mean: 0.5, busiest: 0.75 },
            planes: Use { mean: 0.25, busiest: 0.375 },
            channels: Use { mean: 0.5, busiest: 0.5 },
            host_link: Use { mean: 0.0625, busiest: 0.125 },
        }),
        faults: (name == "t-es").then(|| Faults {
            read_failures: 7,
            media_errors: 2,
            media_error_commands: 3,
            blocks: FaultBlocks { all: 512, factory_bad: 3, grown_bad: 1, spare: 4, in_holes: 2 },
            retired_extents: 1,
            spare_extents: 14,
            read_only_since_ns: Some(1_234_567),
            read_only_reason: Some(ReadOnlyReason::FewGoodBlocks),
            lost_bytes: 8_192,
            lost_ranges: 1,
            lost: vec![[0, 8_192]],
            ..Faults::default()
        }),
        ..Scheme::default()
    };
    (summary.with_measurements(&measured), measured)
}

pub fn summary(schemes: Vec<Scheme>) -> Summary {
    Summary {
        tailcut: "0.1.0".into(),
        schema: SCHEMA,
        model_version: 1,
        seed: 1,
        partial: false,
        device: "z-ssd".into(),
        host_capacity_bytes: 1 << 38,
        workload: Workload {
            source: "randrw,bs=4k".into(),
            requests: 40_000,
            read_fraction: 0.7,
            parted_requests: 5,
            records: Ordered(vec![("folded".into(), 7)]),
            ..Workload::default()
        },
        warnings: vec!["the drive did not become steady".into()],
        schemes,
    }
}
