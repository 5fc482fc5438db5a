//! Tests an SLC region: how fast bursts are, what folds cost, and with what it cannot go together.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, InMemory};
use tailcut_core::ftl::config::{BadBlocks, CopyMode, ExtentKind};
use tailcut_core::nand::slc::SlcConfig;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_core::policy::flush::FlushConfig;
use tailcut_core::policy::gc_schedule::{GcScheduleConfig, instant};
use tailcut_testkit::rig::{Rig, UNIT};
use tailcut_testkit::swarm::member;
use tailcut_testkit::{Host, errors_table, slc_drive, small_drive};
use tailcut_units::quantity::Level;
use tailcut_units::{Cause, HostOp, Occupant, Span};

/// Bytes of a row on each of four dies.
const STRIPE: u64 = 64 << 10;
/// Rows of each die that the region has: four blocks of eight pages.
const ROWS: u64 = 32;
const SECOND: u64 = 1_000_000_000;

/// The drive with a region, without a write buffer, behind a host interface that takes no time: a write of `STRIPE`
/// bytes programs a row on each die.
fn through() -> DeviceConfig {
    let mut c = slc_drive();
    (c.host.submit_latency, c.host.complete_latency, c.host.link_rate) = (Span(0), Span(0), u64::MAX);
    (c.controller.command, c.ftl.mapping_unit) = (Span(0), 8192);
    c.policy.buffer = BufferConfig::None(Default::default());
    c.policy.flush = FlushConfig::Immediate(Default::default());
    c
}

/// Write `count` stripes from number `first` on, each when the one before it has ended; return their latencies.
fn burst(host: &mut Host, at: u64, first: u64, count: u64) -> Vec<u64> {
    let mut now = at;
    let mut latencies = Vec::new();
    for number in first..first + count {
        host.submit(now, HostOp::Write, number * STRIPE, STRIPE as u32);
        let ended = host.done.len();
        while host.done.len() == ended {
            let next = host.device.next_deadline().0;
            host.advance(next);
        }
        let done = host.done.last().expect("it ended");
        now = done.at.0;
        latencies.push(done.latency);
    }
    latencies
}

#[test]
fn a_burst_is_fast_up_to_the_size_of_the_region_and_fast_again_after_a_pause() {
    let c = through();
    let mut host = Host::new(&c);
    let latencies = burst(&mut host, 0, 0, ROWS + 20);
    // Two dies of a channel: the second waits for the data of the first. Command, data, program.
    let (data, transfer) = (600 + 20_480, 20_480 + 600);
    let slc = data + transfer + 100_000;
    assert!(latencies[..ROWS as usize].iter().all(|&ns| ns == slc), "{latencies:?}, and not {slc}");
    // Pages of the two types in turn.
    let native: Vec<u64> = [320_000, 480_000].map(|program| data + transfer + program).repeat(10);
    assert_eq!(latencies[ROWS as usize..], native);
    // Nothing was folded while the host wrote.
    assert_eq!(host.device.counters().programs_fold, 0);
    host.advance(2 * SECOND);
    let c = host.device.counters();
    let rows = ROWS * 4;
    assert_eq!((c.slc_programs, c.programs_fold, c.slc_erases), (rows * 2, rows * 2, 4 * 4));
    assert_eq!((c.programs_user, c.programs_gc, c.erases), ((rows + 20 * 4) * 2, 0, 0));
    assert_eq!(c.programs(), c.programs_user + c.programs_fold, "folds are in write amplification");
    assert_eq!(host.device.slc_wear(), Some((1.0, 1)));
    assert_eq!(host.device.wear().1, 0, "its erases do not wear the others");
    let again = burst(&mut host, 2 * SECOND, 0, ROWS + 1);
    assert!(again[..ROWS as usize].iter().all(|&ns| ns == slc) && again[ROWS as usize] > slc, "{again:?}");
    host.device.audit().unwrap();
}

#[test]
fn what_is_overwritten_in_the_region_is_not_folded() {
    let mut host = Host::new(&through());
    for _ in 0..ROWS {
        let now = host.device.now().0;
        burst(&mut host, now, 5, 1);
    }
    host.drain();
    let c = host.device.counters();
    assert_eq!((c.slc_programs, c.programs_fold, c.slc_erases), (ROWS * 8, 8, 4 * 4));
    // The last extents are full of stale units: theirs are erased without a read.
    assert_eq!(c.fold_reads, 4);
    host.device.audit().unwrap();
}

/// Below the share a lane folds while the host is busy, and its writes go on.
#[test]
fn a_region_that_runs_short_is_folded_under_load() {
    let mut c = through();
    c.slc.as_mut().expect("it has a region").fold_below = 0.5;
    let mut host = Host::new(&c);
    burst(&mut host, 0, 0, 2 * ROWS);
    let counters = host.device.counters();
    assert!(counters.programs_fold > 0 && counters.slc_programs > ROWS * 8, "{counters:?}");
    let waits = |o| host.done.iter().map(|d| d.ledger.get(Cause::die_wait(o))).sum::<u64>();
    assert!(waits(Occupant::FoldProgram) > 0, "writes wait for programs of folds");
    host.drain();
    host.device.audit().unwrap();
}

/// The bytes of a drive that folds under each kind of extent, and beside schemes that change erases, reads and
/// collections.
#[test]
fn bytes_survive_folds_beside_other_schemes() {
    type Change = fn(&mut DeviceConfig);
    let changes: [(&str, Change); 10] = [
        ("as it is", |_| ()),
        ("blocks", |c| {
            (c.ftl.extent, c.ftl.write_planes) = (ExtentKind::Block, 1);
            (c.ftl.gc.copy_planes, c.ftl.gc.program_planes, c.ftl.gc.erase_planes) = (1, 1, 1);
            c.ftl.join_programs = true;
        }),
        ("lines", |c| c.ftl.extent = ExtentKind::Line),
        ("aero", |c| c.policy.erase_scheme = member("aero")),
        ("dpes", |c| c.policy.erase_scheme = member("dpes")),
        ("last loops", |c| {
            c.policy.erase_scheme = member("aero");
            c.erase.as_mut().expect("the small drive has it").defer_last_loop = true;
        }),
        ("rif", |c| {
            (c.errors, c.ecc.codeword) = (Some(errors_table()), 4096);
            (c.age.pe_cycles, c.age.retention) = (Some(500), Some(Span(17 * 86_400 * SECOND)));
            c.policy.read_retry = member("rif");
        }),
        ("instant", |c| {
            let start = Level::Count(3);
            c.policy.gc_schedule = GcScheduleConfig::Instant(instant::Config { start });
        }),
        ("tokens", |c| c.policy.gc_schedule = member("tokens")),
        ("suspended", |c| {
            c.policy.schedule = member("read-priority");
            (c.policy.suspend_erase, c.policy.suspend_program) = (member("immediate"), member("inter-phase"));
        }),
    ];
    for (name, change) in changes {
        let mut c = slc_drive();
        let region = c.slc.as_mut().expect("it has a region");
        (region.fold_below, region.blocks, c.geometry.blocks) = (0.6, 2, 20);
        change(&mut c);
        let mut rig = Rig::new(&c);
        for i in 0..1_500 {
            rig.write(i * 7 % rig.units(), i as u8);
        }
        rig.flush();
        let counters = rig.device.counters();
        assert!(counters.slc_programs > 200 && counters.programs_fold > 50, "{name}: {counters:?}");
        (0..rig.units()).for_each(|lpn| drop(rig.read_right(lpn)));
    }
}

#[test]
fn its_capacity_is_not_the_hosts() {
    let (with, without) = (slc_drive(), small_drive());
    let [a, b] = [&with, &without].map(|c| Device::new(c, 1, ()).unwrap().capacity().clone());
    // Four blocks of 128 KiB in each of eight planes.
    assert_eq!((a.slc, a.raw, a.user), (4 << 20, b.raw + (4 << 20), b.user));
    // An extent of each die more is reserved, for folds.
    assert_eq!((a.spare, a.reserved), (b.spare, b.reserved + 4 * 256 * 1024));
}

#[test]
fn what_cannot_go_with_a_region_is_refused_with_the_reason() {
    type Change = fn(&mut DeviceConfig, &mut SlcConfig);
    let refused: [(&str, &str, Change); 8] = [
        ("slc", "all cells hold one bit", |c, _| {
            c.timing.read.truncate(1);
            c.timing.program.pulses.truncate(1);
        }),
        ("ftl.gc.copy", "a fold changes the kind", |c, _| {
            (c.ftl.extent, c.ftl.write_planes, c.ftl.mapping_unit) = (ExtentKind::Block, 1, 8192);
            (c.ftl.gc.copy_planes, c.ftl.gc.program_planes, c.ftl.gc.erase_planes) = (1, 1, 1);
            c.ftl.gc.copy = CopyMode::Copyback;
        }),
        ("slc", "set ftl.bad_blocks to remap", |c, _| c.ftl.bad_blocks = BadBlocks::Hole),
        ("slc", "nothing fails in a region", |c, _| c.faults.program = Some(0.01)),
        ("slc.blocks", "36 blocks that can be used", |_, slc| slc.blocks = 36),
        ("slc.blocks", "at least one block", |_, slc| slc.blocks = 0),
        ("slc.erase", "ramp-up", |_, slc| slc.erase = Span(99_999)),
        ("slc.fold_idle", "at least 1ms", |_, slc| slc.fold_idle = Span(999_999)),
    ];
    for (key, words, change) in refused {
        let mut c = slc_drive();
        let mut slc = c.slc.take().expect("it has a region");
        change(&mut c, &mut slc);
        c.slc = Some(slc);
        let problem = Device::new(&c, 1, ()).err().unwrap_or_else(|| panic!("{key}: it is accepted"));
        assert!(problem.key == key && problem.problem.contains(words), "{problem}");
    }
    let mut parity = tailcut_testkit::parity_drive();
    (parity.slc, parity.ftl.gc.copy) = (slc_drive().slc, CopyMode::Controller);
    let problem = Device::<()>::new(&parity, 1, ()).err().expect("parity");
    assert!(problem.problem.contains("parity protects"), "{problem}");
    assert!(Device::with_medium(&slc_drive(), 1, (), InMemory::new()).is_ok() && UNIT == 4096);
}
