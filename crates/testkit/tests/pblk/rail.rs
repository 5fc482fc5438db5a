//! RAIL: where parity goes, who may program when, and what reads do meanwhile.

use crate::stage::{Done, SECTOR, Stage, config_of};
use tailcut_core::address::Lpn;
use tailcut_core::device::OpKind;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::figures::Until;
use tailcut_core::ftl::map::Mapping;
use tailcut_core::pblk::Pblk;
use tailcut_units::{Cause, Command, HostOp, Ledger, Occupant, Occupants, Status, Stream};

/// A drive of 128 LUNs under RAIL, whose controller and commands take no time.
pub fn westlake(scheme: &str, sets: &[&str]) -> DeviceConfig {
    let own = ["geometry.blocks=200", "pblk.command=0ns", "pblk.read_sector=0ns", "channel.command=0ns"];
    config_of("cnex-westlake", scheme, &[&own, sets].concat())
}

/// A sector of the host on this LUN position, from `from` on.
pub fn sector_on(stage: &Stage, position: u32, from: u32) -> u64 {
    let on = |&lpn: &u32| match stage.drive.whereabouts(Lpn(lpn)) {
        Mapping::Flash(at) => stage.drive.shape().place(at).position == position,
        _ => false,
    };
    u64::from((from..).find(on).expect("one of them"))
}

/// Whether two operations were under way at one time, from their arrival at the LUN to their end.
pub fn overlap(a: &Done, b: &Done) -> bool {
    a.came < b.ended && b.came < a.ended
}

pub fn same_stride(stage: &Stage, a: &Done, b: &Done) -> bool {
    let strides = stage.drive.shape().strides.expect("strides");
    strides.stride_of(a.position) == strides.stride_of(b.position)
}

/// A read of a LUN that programs reads the other members: they are sensed at once, and share their channels.
#[test]
fn an_unloaded_read_of_a_stride() {
    // On 16 channels the others are on one channel, or eight of them on one and seven on another: 108.9, 167.4
    // and 182.0 us.
    for (width, on_one_channel) in [(4, 3), (8, 7), (16, 8)] {
        let mut stage = Stage::new(&westlake("rail", &[&format!("pblk.stride={width}")]));
        stage.drive.fill(stage.drive.host_bytes() / 2);
        let at = stage.drive.now().0;
        stage.submit(at, HostOp::Write, 0, 8);
        stage.until(at + 300_000);
        let program = stage.changes()[0].clone();
        assert_eq!(program.kind, OpKind::Program);
        let sector = sector_on(&stage, program.position, 1_000_000);
        let before = stage.drive.counters().clone();
        stage.submit(at + 300_000, HostOp::Read, sector, 1);
        stage.until(at + 1_000_000);
        let read = stage.ended.last().expect("it has ended").clone();
        let link = SECTOR * 1_000_000_000 / 6_400_000_000;
        let flash = read.at - read.arrived - 10_000 - link;
        let expected = 65_000 + on_one_channel * SECTOR * 1_000_000_000 / 280_000_000;
        assert!(flash.abs_diff(expected) <= on_one_channel, "S = {width}: {flash}, not {expected}");
        assert_eq!(read.ledger.sum(), read.at - read.arrived);
        let c = stage.drive.counters();
        assert_eq!(c.rebuilt_units - before.rebuilt_units, 1);
        assert_eq!(c.rebuild_reads - before.rebuild_reads, width - 1);
        // It would have waited for the rest of the program.
        assert!(program.came + 1_700_000 > read.at);
    }
}

/// As soon as a stripe has its data its parity follows, on the highest LUNs. Of each stride one LUN programs at a time,
/// and the writer lets nothing overtake.
#[test]
fn a_stripe_ends_with_its_parity() {
    let mut stage = Stage::new(&westlake("rail", &["policy.write_gate.stride.off_below=0"]));
    // The metadata at the start of the line have LUN 0.
    for i in 0..95 {
        stage.submit(0, HostOp::Write, 8 * i, 8);
    }
    stage.finish();
    stage.until(1_000_000_000);
    let ops = stage.changes();
    let order: Vec<(Occupant, u32)> = ops.iter().map(|op| (op.occupant, op.position)).collect();
    let data = (1..96).map(|position| (Occupant::UserProgram, position));
    let parity = (96..128).map(|position| (Occupant::ParityProgram, position));
    assert_eq!(order, data.chain(parity).collect::<Vec<_>>());
    for (i, a) in ops.iter().enumerate() {
        for b in &ops[i + 1..] {
            assert!(!overlap(a, b) || !same_stride(&stage, a, b), "{a:?} and {b:?}");
        }
    }
    // LUN 33 waits for LUN 1. LUN 34, whose stride waits for LUN 2, comes behind it all the same.
    assert!(ops[32].position == 33 && ops[32].came >= ops[0].ended);
    assert!(ops.is_sorted_by_key(|op| op.came));
    let c = stage.drive.counters();
    assert_eq!((c.programs_user, c.programs_parity), (95 * 8, 32 * 8));
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
}

/// A program waits for the reads that are under way to its LUN, or comes behind them in the queue of the LUN.
#[test]
fn a_program_waits_for_reads() {
    for waits in [true, false] {
        let key = format!("policy.write_gate.stride.waits_for_reads={waits}");
        let mut stage = Stage::new(&westlake("rail", &[&key]));
        stage.drive.fill(stage.drive.host_bytes() / 2);
        let at = stage.drive.now().0;
        // The next unit goes to this LUN.
        stage.submit(at, HostOp::Write, 0, 8);
        stage.until(at + 3_000_000);
        let next = stage.changes()[0].position + 1;
        let sector = sector_on(&stage, next, 1_000_000);
        let at = at + 3_000_000;
        stage.submit(at, HostOp::Read, sector, 1);
        stage.submit(at + 1_000, HostOp::Write, 8, 8);
        stage.until(at + 10_000_000);
        let program = stage.changes()[1].clone();
        assert_eq!(program.position, next);
        let read = stage.drive.observer().ops.iter().find(|op| op.kind == OpKind::Read).expect("a read");
        assert_eq!(program.came >= read.ended, waits, "{program:?}, {read:?}");
        assert_eq!(stage.drive.counters().rebuilt_units, 0);
    }
}

/// The waits of a ledger for programs and erases.
pub fn behind_writes(ledger: &Ledger) -> u64 {
    let writes = Occupant::ALL
        .into_iter()
        .filter(|&occupant| Occupants::PROGRAMS.has(occupant) || Occupants::ERASES.has(occupant));
    writes.map(|occupant| ledger.get(Cause::die_wait(occupant))).sum()
}

/// Random reads and writes on an aged drive. Returns the drive, and the reads that waited behind programs or erases.
fn worn(scheme: &str, sets: &[&str]) -> (Stage, usize) {
    let all = [&["geometry.channels=4", "geometry.dies_per_chip=2", "geometry.pages=128"], sets].concat();
    let mut stage = Stage::new(&config_of("tiny-pblk", scheme, &all));
    let bytes = stage.drive.host_bytes() / 10 * 8;
    stage.drive.fill(bytes);
    stage.drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
    stage.drive.reset_counters();
    let mut s = Stream::new(3, "rail", 0);
    let mut at = 0;
    let mut reads = Vec::new();
    for i in 0..60_000 {
        at += s.below(60_000);
        let op = if s.below(10) < 3 { HostOp::Write } else { HostOp::Read };
        let most = if s.below(8) == 0 { 32 } else { 2 };
        let index = stage.submit(at, op, s.below(bytes / SECTOR - 32), 1 + s.below(most) as u32);
        if op == HostOp::Read {
            reads.push(index);
        }
        if i % 1_000 == 0 {
            stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
        }
    }
    stage.finish();
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    let waited = stage.ended.iter().filter(|e| e.op == HostOp::Read && behind_writes(&e.ledger) > 0).count();
    (stage, waited)
}

/// No read waits behind a program or an erase, but those of data that have no parity in their place.
#[test]
fn no_read_waits_for_a_write() {
    let (stage, waited) = worn("rail", &["policy.write_gate.stride.off_below=0"]);
    let c = stage.drive.counters();
    assert!(c.collections > 5 && c.erases > 100 && c.rebuilt_units > 1_000, "{c:?}");
    assert!(waited as u64 <= c.unprotected_units, "{waited} of {}", c.unprotected_units);
    assert!(c.unprotected_units < c.rebuilt_units / 10, "{c:?}");
    let gate: u64 = stage.ended.iter().map(|e| e.ledger.get(Cause::WRITE_GATE)).sum();
    assert!(gate > 0, "writes wait for the gate");
    // Without the gate reads wait.
    let (_, waited) = worn("rail", &["policy.write_gate=none"]);
    assert!(waited > 1_000, "{waited}");
}

/// LinuxTinyTail: collection waits for all programs of its stride, users for none; reads avoid collection and erases.
#[test]
fn collection_alone_takes_turns() {
    let (stage, waited) = worn("linux-tinytail", &[]);
    let ops = stage.changes();
    let (mut users, mut collections) = (0, 0);
    for (i, a) in ops.iter().enumerate() {
        for b in ops[i + 1..].iter().take(16).filter(|b| overlap(a, b) && same_stride(&stage, a, b)) {
            // The later one has passed while the other was under way.
            match b.occupant {
                Occupant::Erase => panic!("{b:?} came while {a:?} was under way"),
                Occupant::GcProgram => collections += 1,
                _ => users += 1,
            }
        }
    }
    assert!(users > 100, "users wait for nobody: {users}");
    // A unit is one of collection by its first sector, and is counted by most of its sectors.
    assert!(collections < users / 4, "{collections} of {users}");
    assert!(waited > 500, "reads wait for programs of users: {waited}");
    assert!(stage.drive.counters().rebuilt_units > 100);
}

/// Below a rate of reads the gate is open, parity is still written, and the drive writes as fast as without it.
#[test]
fn few_reads_open_the_gate() {
    let took = |reads: u64| {
        let mut stage = Stage::new(&westlake("rail", &["policy.write_gate.stride.off_below=1000"]));
        stage.drive.fill(stage.drive.host_bytes() / 2);
        let mut at = 0;
        // Two seconds of reads, and writes at the end of them.
        for i in 0..2 * reads {
            at = i * 1_000_000_000 / reads;
            stage.submit(at, HostOp::Read, i * 97 % 1_000_000, 1);
        }
        at = at.max(2_000_000_000);
        let begin = stage.changes().len();
        for i in 0..1_000 {
            stage.submit(at, HostOp::Write, 8 * i, 8);
        }
        stage.finish();
        stage.until(at + 900_000_000);
        let ops = &stage.changes()[begin..];
        let parity = ops.iter().filter(|op| op.occupant == Occupant::ParityProgram).count();
        assert!(parity > 200, "{parity}");
        stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
        ops.iter().map(|op| op.ended).max().expect("programs") - at
    };
    let (few, many) = (took(900), took(1100));
    // The cap on programmed sectors holds back the open one.
    assert!(many > 2 * few, "{few} ns with the gate open, {many} ns with it closed");
}

/// A stride of five with two parities on 128 LUNs leaves three of them unused, which is said.
#[test]
fn what_is_left_over_is_said() {
    let stage = Stage::new(&westlake("rail", &["pblk.stride=5", "pblk.parities=2"]));
    let warnings = &stage.drive.shape().warnings;
    assert!(warnings[0].starts_with("3 of 128 LUNs belong to no stride of 5"), "{warnings:?}");
}

/// Parity is programmed before its data can leave the ring, so that reads find both on flash: a drive whose ring keeps less than
/// two stripes behind what is written is refused, and the reason is named.
#[test]
fn parity_is_out_before_its_data_leave_the_ring() {
    let refused = |sets: &[&str]| {
        let c = config_of("tiny-pblk", "rail", sets);
        let problem = Pblk::new(&c, 1, ()).err().expect("refused");
        (problem.key.to_string(), problem.problem)
    };
    let (key, problem) = refused(&["pblk.kernel=v4-19"]);
    assert!(key == "pblk.kernel" && problem.starts_with("0 slots"), "{key}: {problem}");
    // A ring of any size does not help: the kernel keeps nothing free.
    assert_eq!(refused(&["pblk.kernel=v4-19", "pblk.ring=8192"]).0, "pblk.kernel");
    let (key, problem) = refused(&["geometry.planes=8"]);
    assert!(key == "geometry.planes" && problem.starts_with("8; with strides at most 4"), "{key}: {problem}");
    for sets in [&["geometry.planes=4"][..], &["pblk.kernel=v5-14"], &["pblk.stride=2"]] {
        let stage = Stage::new(&config_of("tiny-pblk", "rail", sets));
        let shape = stage.drive.shape();
        let stripe = shape.luns * shape.array.write_unit;
        assert!(shape.provision.back >= 2 * stripe, "{sets:?}: {:?}", shape.provision);
    }
}

/// A drive with strides of which a LUN has died, and the number of bytes that fill it.
fn with_a_dead_lun() -> (Stage, u64) {
    let sets = ["geometry.channels=4", "geometry.dies_per_chip=2", "geometry.pages=128"];
    let mut config = config_of("tiny-pblk", "rail", &sets);
    config.fault = vec!["die=0@1ms".parse().expect("a fault")];
    let mut stage = Stage::new(&config);
    let bytes = stage.drive.host_bytes() / SECTOR / 10 * 7 * SECTOR;
    stage.drive.fill(bytes);
    stage.drive.wear_in();
    stage.until(2_000_000);
    (stage, bytes)
}

/// A LUN dies on a drive with strides: its data are computed, for users and for collection, and written again. Only what has
/// no parity in its place is lost, and the report names it.
#[test]
fn a_lun_dies_and_strides_give_its_data() {
    let (mut stage, bytes) = with_a_dead_lun();
    let report = stage.drive.fault_report().expect("a drive that can fail");
    let lost: u64 = report.lost.iter().map(|range| range.end - range.start).sum();
    // An eighth of the data was on the LUN.
    assert!(lost > 0 && lost < bytes / 8 / 20, "{lost} bytes of {bytes}");
    let is_lost = |sector: u64| report.lost.iter().any(|range| range.contains(&(sector * SECTOR)));
    let mut failed = 0;
    for sector in (0..bytes / SECTOR).step_by(3) {
        let read = stage.one(HostOp::Read, sector, 1);
        // A stripe that was open then has got its parity since.
        assert!(read.status == Status::Ok || is_lost(sector), "sector {sector}");
        assert_eq!(read.ledger.sum(), read.at - read.arrived);
        failed += u64::from(read.status != Status::Ok);
    }
    let c = stage.drive.counters().clone();
    assert!(failed > 0 && c.rebuilt_units > 1_000, "{failed} failed, {c:?}");
    // What was read is written again, so that it can be read where it lies now.
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    assert!(c.programs_gc > 1_000, "{c:?}");
    // The drive goes on for good: lines are collected although their metadata cannot be read, and freed although they hold what
    // nothing gives.
    let mut at = stage.drive.now().0;
    let once_around = bytes / SECTOR;
    for i in 0..once_around * 3 {
        at += 100_000;
        stage.submit(at, HostOp::Write, i * 7919 % once_around, 1);
    }
    stage.finish();
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    let c = stage.drive.counters();
    assert!(stage.drive.read_only().is_none(), "{}", stage.drive.describe_waiting());
    assert!(c.collections > 100 && c.mended_units > 100, "{c:?}");
    assert!(stage.ended.iter().all(|e| e.status != Status::ReadOnly));
    // Every sector was written again.
    let report = stage.drive.fault_report().expect("a drive that can fail");
    assert!((report.lost.as_slice(), report.lost_units) == (&[], 0), "{report:?}");
}

/// The first command of a read that failed, and was followed by another, is charged as a failed attempt: the array and the
/// channel under `retry`, waits and the host's times as they are.
#[test]
fn a_failed_command_is_charged_as_a_retry() {
    let mut config = config_of("tiny-pblk", "rail", &["pblk.command=0ns", "ecc.decode=1us"]);
    config.fault = vec!["page=0.0.0.3".parse().expect("a fault")];
    let mut stage = Stage::new(&config);
    stage.drive.fill(stage.drive.host_bytes() / 2);
    let (sectors, mut failed) = (stage.drive.host_bytes() / SECTOR / 2, 0);
    for sector in 0..sectors.min(2_000) {
        let rebuilt = stage.drive.counters().rebuilt_units;
        let read = stage.one(HostOp::Read, sector, 1);
        assert_eq!((read.status, read.ledger.sum()), (Status::Ok, read.at - read.arrived));
        let of = |cause| read.ledger.get(cause);
        let attempt = [Cause::RETRY_ARRAY, Cause::RETRY_TRANSFER, Cause::RETRY_DECODE].map(of);
        let own = [Cause::ARRAY, Cause::TRANSFER, Cause::DECODE].map(of);
        if stage.drive.counters().rebuilt_units == rebuilt {
            assert_eq!(attempt, [0; 3]);
            continue;
        }
        // The sector is on that page, and the others of its stride are read next, on pages of the same kind.
        failed += 1;
        assert_eq!(attempt[0], own[0]);
        assert_eq!(attempt[2], own[2]);
        let transfer = SECTOR * 1_000_000_000 / 400_000_000;
        assert_eq!(attempt[1], transfer + 200, "the transfer and its command");
        // Out of the host and back, twice.
        assert_eq!(
            of(Cause::HOST_LATENCY),
            2 * (config.host.submit_latency.0 + config.host.complete_latency.0)
        );
        assert!(of(Cause::HOST_LINK) > 0 && behind_writes(&read.ledger) == 0);
    }
    assert!(failed > 0);
}

/// A sector that nothing gives is lost when its line is collected: it is reported, and reads of it fail until all of it
/// is written.
#[test]
fn lost_sectors_are_told_until_they_are_written() {
    let (mut stage, bytes) = with_a_dead_lun();
    let sectors = bytes / SECTOR;
    let first = |stage: &Stage| {
        let report = stage.drive.fault_report().expect("a drive that can fail");
        let at = |sector: &u64| report.lost.iter().any(|range| range.contains(&(sector * SECTOR)));
        (1..sectors).find(|sector| at(sector))
    };
    let lost = first(&stage).expect("a stripe without parity");
    // All else is written, until the line of the lost sector was collected.
    let mut at = stage.drive.now().0;
    for i in 0.. {
        assert!(i < 5 * sectors, "the line is not collected: {}", stage.drive.describe_waiting());
        let sector = i * 7919 % sectors;
        at += 100_000;
        if sector != lost {
            stage.submit(at, HostOp::Write, sector, 1);
        }
        if stage.drive.has_lost_data(Lpn(lost as u32)) {
            break;
        }
    }
    stage.finish();
    let told = |stage: &Stage| {
        let report = stage.drive.fault_report().expect("a drive that can fail");
        report.lost.iter().any(|range| range.contains(&(lost * SECTOR)))
    };
    assert!(told(&stage));
    assert_eq!(stage.one(HostOp::Read, lost, 1).status, Status::MediaError);
    assert_eq!(stage.one(HostOp::Read, lost - 1, 1).status, Status::Ok);
    // A write of a part leaves the rest lost.
    let now = stage.drive.now();
    let part = Command::new(HostOp::Write, lost * SECTOR, 512);
    stage.drive.submit(now, now, part, 0).expect("a place");
    assert_eq!((stage.finish().status, told(&stage)), (Status::Ok, true));
    assert_eq!(stage.one(HostOp::Read, lost, 1).status, Status::MediaError);
    assert_eq!(stage.one(HostOp::Write, lost, 1).status, Status::Ok);
    assert_eq!((stage.one(HostOp::Read, lost, 1).status, told(&stage)), (Status::Ok, false));
}
