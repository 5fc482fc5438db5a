//! Programs, erases and reads that fail.

use crate::stage::{SECTOR, Stage, config};
use std::collections::BTreeSet;
use tailcut_core::address::{Lpn, Ppa};
use tailcut_core::device::OpKind;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::figures::Until;
use tailcut_core::ftl::map::Mapping;
use tailcut_core::pblk::limiter;
use tailcut_core::pblk::lines::{Group, State};
use tailcut_units::{HostOp, Occupant, Status};

/// LUN position 5 of the preset is the first LUN of channel 5.
const DIE: u32 = 5 * 8;

/// A drive of the preset with 200 lines and these faults.
fn with_faults(device: &str, sets: &[&str], faults: &[&str]) -> DeviceConfig {
    let mut config = config(device, sets);
    config.fault = faults.iter().map(|text| text.parse().unwrap_or_else(|e| panic!("{e}"))).collect();
    config
}

/// Where a sector of the host is on the device: its line, and write unit of the line. The ring must have let go of it.
fn unit_of(stage: &Stage, sector: u64) -> (u32, u32) {
    let Mapping::Flash(Ppa(at)) = stage.drive.whereabouts(Lpn(sector as u32)) else { panic!("not on flash") };
    let shape = stage.drive.shape();
    (at / shape.line_sectors, at % shape.line_sectors / shape.array.write_unit)
}

/// The sectors of a failed program go to the next address, the rest of the chunk is left out, the metadata at the end
/// begin earlier, and the line is the first victim.
#[test]
fn a_program_fails() {
    let fault = format!("program={DIE}.0.0.10");
    let mut stage = Stage::new(&with_faults("cnex-westlake", &["geometry.blocks=200"], &[&fault]));
    let luns = stage.drive.shape().luns;
    let (units, metadata) = (stage.drive.shape().line_units, stage.drive.shape().provision.emeta / 8);
    // All of the first line, and as much of the second as lets its metadata leave and the ring forget it.
    let sectors = u64::from(units) * 8 + 2 * 8192;
    for first in (0..sectors).step_by(64) {
        stage.submit(0, HostOp::Write, first, 64);
    }
    stage.finish();
    let now = stage.drive.now().0;
    stage.until(now + 1_050_000_000);
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    let c = stage.drive.counters();
    assert_eq!((c.program_failures, c.programs_failed), (1, 8));

    // Unit 10 x 128 + 5 would hold the sectors from 8 x (10 x 128 + 4) on: the first unit has metadata.
    let failed = 10 * luns + 5;
    let sector = u64::from(failed - 1) * 8;
    let (line, unit) = unit_of(&stage, sector);
    assert_eq!(line, 0);
    // The host hears of the failure 1.8 ms after the writer has gone on to other LUNs.
    assert!(unit > failed && unit <= failed + luns + 1, "unit {unit} of the line, not {failed}");
    assert!((1..8).all(|i| unit_of(&stage, sector + i) == (0, unit)), "all sectors of the unit");
    let of_line: Vec<_> = stage.changes().into_iter().filter(|op| op.line == 0).collect();
    let on_chunk: Vec<u32> = of_line
        .iter()
        .filter(|op| op.kind == OpKind::Program && op.position == 5)
        .map(|op| op.page)
        .collect();
    // One unit may have been mapped there before the host heard.
    let last = on_chunk.last().expect("programs on the chunk");
    assert!((10..=11).contains(last), "the rest of the chunk takes nothing: {on_chunk:?}");

    let at_end: BTreeSet<u32> = of_line
        .iter()
        .filter(|op| op.occupant == Occupant::MetaProgram && op.page > 0)
        .map(|op| op.page * luns + op.position)
        .collect();
    let expected: BTreeSet<u32> =
        (0..units).rev().filter(|unit| unit % luns != 5).take(metadata as usize).collect();
    assert_eq!(at_end, expected, "the metadata are the last units without the chunk");

    let lines = stage.drive.lines();
    assert_eq!(lines.listed(Group::WriteError) + u32::from(lines.line(0).state == State::Victim), 1);
    assert_eq!(stage.drive.limiter().state(), limiter::State::WriteErrors, "only that line is collected");
    // Collection takes what the ring leaves it: with the writes of users it goes on.
    for first in (0..sectors).step_by(64) {
        stage.submit(0, HostOp::Write, first + sectors, 64);
    }
    stage.finish();
    let now = stage.drive.now().0;
    stage.until(now + 20_000_000_000);
    assert_ne!(stage.drive.lines().line(0).state, State::Closed);
    assert!(stage.drive.counters().programs_gc > 0);
    assert_eq!(stage.drive.limiter().state(), limiter::State::Off);
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
}

/// The third state of the rate limiter lasts until the line with the write error is free, so that it is collected while
/// users go on to write.
#[test]
fn a_write_error_counts_until_its_line_is_free() {
    let mut stage = Stage::new(&with_faults("tiny-pblk", &[], &["program=0.0.0.10"]));
    let sectors = stage.drive.host_bytes() / SECTOR * 4 / 10;
    let mut limits = BTreeSet::new();
    // Users write all the time, and the drive has plenty of free lines.
    for i in 0..3 * sectors {
        stage.submit(i * 1_000_000, HostOp::Write, i * 7919 % sectors, 1);
        limits.insert(format!("{:?}", stage.drive.limiter().state()));
    }
    stage.finish();
    let c = stage.drive.counters();
    assert!(c.program_failures == 1 && c.collections > 0 && c.programs_gc > 0, "{c:?}");
    assert_eq!(limits, BTreeSet::from(["Off".into(), "WriteErrors".into()]));
    assert_eq!((stage.drive.lines().write_errors(), stage.drive.limiter().state()), (0, limiter::State::Off));
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
}

/// A line with a write error of which a sector cannot be read is free once all of it was overwritten.
#[test]
fn a_write_error_and_an_unreadable_page_end_with_the_data() {
    let faults = ["program=1.0.0.10", "page=0.0.0.3"];
    let mut stage = Stage::new(&with_faults("tiny-pblk", &[], &faults));
    let sectors = stage.drive.host_bytes() / SECTOR / 2;
    for i in 0..4 * sectors {
        // A long pause lets collection come to the line.
        let pause = (i / sectors) * 20_000_000_000;
        stage.submit(i * 100_000 + pause, HostOp::Write, i % sectors, 1);
    }
    stage.finish();
    let now = stage.drive.now().0;
    stage.until(now + 20_000_000_000);
    let c = stage.drive.counters();
    assert!(c.program_failures == 1 && c.read_failures > 0, "{c:?}");
    assert_eq!((stage.drive.lines().write_errors(), stage.drive.limiter().state()), (0, limiter::State::Off));
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
}

/// A line whose metadata at the start cannot be written is lost, and its data go to the next one.
#[test]
fn the_start_of_a_line_fails() {
    let mut stage = Stage::new(&with_faults("tiny-pblk", &[], &["program=0.0.1.0"]));
    let (data, luns) =
        (stage.drive.shape().line_size(0).expect("a good line").capacity, stage.drive.shape().luns);
    let free = stage.drive.lines().free_chunks;
    for first in (0..u64::from(data) + 512).step_by(8) {
        stage.submit(0, HostOp::Write, first, 8);
    }
    stage.finish();
    let now = stage.drive.now().0;
    stage.until(now + 50_000_000);
    let lines = stage.drive.lines();
    assert_eq!([0, 1, 2].map(|line| lines.line(line).state), [State::Closed, State::Lost, State::Open]);
    // The rate limiter counts the chunks of the lost line as free.
    assert_eq!(free - lines.free_chunks, luns, "the line with the data");
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(stage.drive.fault_report().expect("a drive that can fail").blocks.retired_extents, 1);
    // The drive goes on.
    for first in (0..stage.drive.host_bytes() / SECTOR - 8).step_by(8) {
        stage.submit(0, HostOp::Write, first, 8);
    }
    stage.finish();
    assert!(stage.ended.iter().all(|e| e.status == Status::Ok));
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
}

/// A chunk that cannot be erased is bad from then on: the line holds less, and takes nothing there.
#[test]
fn an_erase_fails() {
    let mut stage = Stage::new(&with_faults("tiny-pblk", &[], &["erase=1.0.2"]));
    let shape = stage.drive.shape();
    // The first two lines were never written, and need no erase.
    let (data, chunk, luns) =
        (shape.line_size(2).expect("a good line").capacity, shape.array.chunk, shape.luns);
    let position = shape.array.position(1 / shape.array.luns_per_channel, 1 % shape.array.luns_per_channel);
    stage.drive.wear_in();
    for first in (0..4 * u64::from(data)).step_by(8) {
        stage.submit(0, HostOp::Write, first, 8);
    }
    stage.finish();
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    let lines = stage.drive.lines();
    assert!(lines.is_bad(2, position) && lines.bad_of(2) == 1);
    assert_eq!((lines.line(2).capacity, lines.line(2).chunks), (data - chunk, luns - 1));
    assert!(
        !stage
            .changes()
            .iter()
            .any(|op| { op.kind == OpKind::Program && (op.line, op.position) == (2, position) })
    );
    let report = stage.drive.fault_report().expect("a drive that can fail");
    assert_eq!(report.blocks.blocks.grown_bad, u64::from(stage.drive.shape().planes));
    assert_eq!(stage.drive.counters().erase_failures, 1);
}

/// A sector that cannot be read is reported by address; collection leaves its line as it is.
#[test]
fn a_page_cannot_be_read() {
    let mut stage = Stage::new(&with_faults("tiny-pblk", &[], &["page=0.0.0.3"]));
    let bytes = stage.drive.host_bytes();
    stage.drive.fill(bytes);
    let sector = (0..bytes / SECTOR)
        .find(|&sector| stage.one(HostOp::Read, sector, 1).status == Status::MediaError)
        .expect("a sector on that page");
    let report = stage.drive.fault_report().expect("a drive that can fail");
    assert!(report.lost[0].contains(&(sector * SECTOR)) && report.lost_units >= 1, "{report:?}");
    // Overwrites of everything else let collection come to the line.
    stage.drive.overwrite_uniform(Until::Erases(20), &(0..bytes), 4096, &mut |_| true);
    for i in 0..20_000u64 {
        let at = i * 7919 % (bytes / SECTOR);
        if at != sector {
            stage.submit(i * 20_000, HostOp::Write, at, 1);
        }
    }
    stage.finish();
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
}

/// A die dies: its data are lost, writes go to the others, and a drive that cannot go on refuses them.
#[test]
fn a_die_dies() {
    let mut stage = Stage::new(&with_faults("tiny-pblk", &[], &["die=0@1ms"]));
    let bytes = stage.drive.host_bytes();
    stage.drive.fill(bytes);
    stage.until(2_000_000);
    let report = stage.drive.fault_report().expect("a drive that can fail");
    assert_eq!(report.dead_planes, stage.drive.shape().planes);
    let lost: u64 = report.lost.iter().map(|range| range.end - range.start).sum();
    let share = lost as f64 * f64::from(stage.drive.shape().luns) / bytes as f64;
    assert!((share - 1.0).abs() < 0.15, "{share} of the data of one LUN");
    for i in 0..30_000u64 {
        stage.submit(3_000_000 + i * 20_000, HostOp::Write, i * 7919 % (bytes / SECTOR), 1);
    }
    stage.finish();
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    let refused = stage.ended.iter().filter(|e| e.status == Status::ReadOnly).count();
    let served = stage.ended.iter().filter(|e| e.status == Status::Ok).count();
    assert!(served > 500, "{served} writes before the drive ran out of lines");
    let since = stage.drive.read_only().expect("no metadata can be read, so nothing is collected").since;
    assert!(refused > 0 && since.0 > 3_000_000);
    assert!(stage.ended.iter().all(|e| e.ledger.sum() == e.at - e.arrived));
    assert_eq!(stage.one(HostOp::Flush, 0, 0).status, Status::ReadOnly, "what the ring holds stays there");
    // What is in the ring or on live LUNs is read.
    let read = (0..bytes / SECTOR).filter(|&s| stage.one(HostOp::Read, s, 1).status == Status::Ok).count();
    assert!(read as f64 > 0.6 * (bytes / SECTOR) as f64);
}
