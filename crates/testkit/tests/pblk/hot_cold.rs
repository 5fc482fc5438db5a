//! RAIL-HC: users and collection on LUNs of their own.

use crate::rail::behind_writes;
use crate::stage::{SECTOR, Stage, config_of};
use std::collections::BTreeMap;
use tailcut_core::address::{Lpn, Ppa};
use tailcut_core::device::OpKind;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::figures::Until;
use tailcut_core::ftl::map::Mapping;
use tailcut_core::medium::InMemory;
use tailcut_core::pblk::Pblk;
use tailcut_core::pblk::lines::State;
use tailcut_core::pblk::ring::Heat;
use tailcut_units::{Command, HostOp, Occupant, SimTime, Status, Stream};

/// A small drive of 16 LUNs.
fn small(sets: &[&str]) -> DeviceConfig {
    let own = ["geometry.channels=8", "geometry.dies_per_chip=2", "policy.write_gate.stride.off_below=0"];
    config_of("tiny-pblk", "rail-hc", &[&own, sets].concat())
}

/// An aged drive.
fn aged(sets: &[&str]) -> Stage {
    let mut stage = Stage::new(&small(sets));
    let bytes = stage.drive.host_bytes();
    stage.drive.fill(bytes);
    let report = stage.drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
    assert!(report.waf > 1.5, "{report:?}");
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    stage
}

/// Users program hot LUNs, with parity, and collection cold ones, without. The two parts follow the write amplification.
#[test]
fn users_and_collection_program_luns_of_their_own() {
    let mut stage = aged(&[]);
    let split = stage.drive.lines().split().expect("cold lines");
    assert!(split.hot < 16 && split.hot >= 4 && split.hot.is_multiple_of(4), "{split:?}");
    let sectors = stage.drive.host_bytes() / SECTOR;
    let mut s = Stream::new(3, "writes", 0);
    for i in 0..60_000u64 {
        stage.submit(i * 60_000, HostOp::Write, s.below(sectors), 1);
    }
    stage.finish();
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    let lines = stage.drive.lines();
    let (mut users, mut collected, mut other) = (0, 0, 0);
    for op in stage.changes() {
        let heat = lines.heat(op.line);
        match op.occupant {
            Occupant::UserProgram | Occupant::ParityProgram => {
                assert_eq!(heat, Heat::Hot, "{op:?}");
                users += 1;
            }
            Occupant::GcProgram if heat == Heat::Cold => collected += 1,
            Occupant::GcProgram => other += 1,
            _ => {}
        }
    }
    assert!(users > 1_000 && collected > 1_000 && other * 5 < collected, "{users}, {collected}, {other}");
    // Of one index the hot line has the first LUNs and the cold one the last.
    let both = (0..lines.indexes()).filter(|&index| {
        let [hot, cold] = [index, index + lines.indexes()].map(|line| lines.line(line));
        assert!(hot.luns.end() <= cold.luns.from, "index {index}: {:?} and {:?}", hot.luns, cold.luns);
        hot.state == State::Closed && cold.state == State::Closed
    });
    assert!(both.count() > 10);
}

/// The lanes of hot and of cold lines keep to one gate: while a cold line has LUNs of the open hot line, which has all on a
/// drive that is new, no stride has two busy LUNs, whichever lane they are for.
#[test]
fn both_lanes_keep_to_the_gate() {
    let mut stage = Stage::new(&small(&[]));
    stage.drive.fill(stage.drive.host_bytes());
    let sectors = stage.drive.host_bytes() / SECTOR;
    let start = stage.drive.now().0;
    let (mut s, mut luns) = (Stream::new(5, "gate", 0), Vec::new());
    for i in 0..100_000 {
        let op = if i % 5 < 2 { HostOp::Read } else { HostOp::Write };
        stage.submit(start + i * 20_000, op, s.below(sectors), 1);
        // Lines are taken again under another share: note what they have while they are open.
        let (ops, lines) = (&stage.drive.observer().ops, stage.drive.lines());
        luns.extend(ops[luns.len()..].iter().map(|op| (lines.heat(op.line), lines.line(op.line).luns.end())));
    }
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    let ops = &stage.drive.observer().ops;
    let changes: Vec<_> = ops.iter().zip(&luns).filter(|(op, _)| op.kind != OpKind::Read).collect();
    let ends_of_hot: Vec<_> =
        changes.iter().map(|(_, (heat, end))| (*heat == Heat::Hot).then_some(*end)).collect();
    let (mut at_once, mut in_one) = (0u64, 0u64);
    for (i, (op, (heat, _))) in changes.iter().enumerate() {
        // The gate follows the open hot line. Between two programs of hot lines that may be either's.
        let before = ends_of_hot[..=i].iter().rev().flatten().next();
        let behind = ends_of_hot[i..].iter().flatten().next();
        let Some(used) = before.min(behind) else { continue };
        // Those that came before it and have not ended: no more than one on each LUN.
        for (other, (others_heat, _)) in changes[i.saturating_sub(64)..i].iter() {
            let is_under_way = other.ended == 0 || other.ended > op.came;
            if is_under_way && heat != others_heat && op.position.max(other.position) < *used {
                at_once += 1;
                let strides = used / 4;
                in_one += u64::from(op.position % strides == other.position % strides);
            }
        }
    }
    println!("{} changes, {at_once} at once, {in_one} in one stride", changes.len());
    assert!(at_once > 500 && in_one == 0);
}

/// A gate for collection alone, against collection alone, keeps count of both lanes and stops nothing.
#[test]
fn a_gate_of_collection_alone_goes_on() {
    let keys = ["covers", "against"].map(|key| format!("policy.write_gate.stride.{key}=collection"));
    let mut stage = aged(&[&keys[0], &keys[1]]);
    let sectors = stage.drive.host_bytes() / SECTOR;
    let (mut s, start) = (Stream::new(7, "collection", 0), stage.drive.now().0);
    for i in 0..100_000 {
        let op = if i % 5 < 3 { HostOp::Read } else { HostOp::Write };
        stage.submit(start + i * 20_000, op, s.below(sectors), 1);
    }
    stage.finish();
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    assert!(stage.ended.iter().all(|e| e.status == Status::Ok));
}

/// A drive whose cold lines lose their first program is not stopped by it: collection goes on in hot lines.
#[test]
fn a_lost_cold_line_gives_way_to_the_hot_one() {
    for position in [12, 13, 15] {
        let mut config = small(&[]);
        // LUN 1 of a channel is its second die.
        let die = position % 8 * 2 + position / 8;
        let faults = (0..config.geometry.blocks).map(|block| format!("program={die}.0.{block}.0"));
        config.fault = faults.map(|text| text.parse().unwrap_or_else(|e| panic!("{e}"))).collect();
        let mut stage = Stage::new(&config);
        let sectors = stage.drive.host_bytes() / SECTOR * 7 / 10;
        let bytes = sectors * SECTOR;
        stage.drive.fill(bytes);
        stage.drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
        let mut s = Stream::new(6, "lost", position);
        let start = stage.drive.now().0;
        for i in 0..60_000u64 {
            stage.submit(start + i * 60_000, HostOp::Write, s.below(sectors), 1);
        }
        stage.finish();
        stage.drive.audit().unwrap_or_else(|e| panic!("{position}: {e}"));
        let refused = stage.ended.iter().filter(|e| e.status != Status::Ok).count();
        assert_eq!(refused, 0, "LUN {position}: writes were refused");
        let report = stage.drive.fault_report().expect("a drive that can fail");
        println!("LUN {position}: {:?}", report.blocks);
    }
}

/// Reads of hot data wait for a program or an erase only where they have no parity, or where another line had other strides.
/// Reads of cold data may wait.
#[test]
fn reads_of_hot_data_wait_for_no_write() {
    let mut stage = aged(&[]);
    let sectors = stage.drive.host_bytes() / SECTOR;
    let mut s = Stream::new(4, "mixed", 0);
    let (mut at, mut hot, mut cold) = (stage.drive.now().0, 0u64, 0u64);
    let (mut waits_hot, mut waits_cold) = (0u64, 0u64);
    for i in 0..120_000u64 {
        at += 40_000;
        if i % 3 == 0 {
            stage.submit(at, HostOp::Write, s.below(sectors), 1);
            continue;
        }
        let sector = s.below(sectors);
        stage.until(at);
        let lines = stage.drive.lines();
        let Mapping::Flash(from) = stage.drive.whereabouts(Lpn(sector as u32)) else { continue };
        let place = stage.drive.shape().place(from);
        let line = lines.line_at(place.index, place.position);
        let is_hot = lines.heat(line) == Heat::Hot;
        stage.ended.clear();
        stage.submit(at, HostOp::Read, sector, 1);
        // The queue is short: let the read end before the next command.
        while !stage.ended.iter().any(|e| e.op == HostOp::Read) {
            let due = stage.drive.next_deadline().0;
            stage.until(due);
        }
        let read = stage.ended.iter().find(|e| e.op == HostOp::Read).expect("it has ended").clone();
        let for_writes = behind_writes(&read.ledger);
        match is_hot {
            true => (hot, waits_hot) = (hot + 1, waits_hot + u64::from(for_writes > 0)),
            false => (cold, waits_cold) = (cold + 1, waits_cold + u64::from(for_writes > 0)),
        }
    }
    println!("{hot} reads of hot data, {waits_hot} wait; {cold} of cold data, {waits_cold} wait");
    assert!(hot > 5_000 && cold > 5_000 && waits_cold > 50);
    assert!(waits_hot * 50 < hot && 5 * waits_hot * cold < waits_cold * hot, "{waits_hot} of {hot}");
}

/// A line that holds a later copy of a sector comes later in the order of lines, so that what a power cut leaves on flash says
/// which copy is the last (golden timeline 14).
#[test]
fn the_latest_line_has_the_last_copy() {
    for seed in 0..4 {
        let config = small(&["geometry.blocks=40", "ftl.over_provisioning=30%"]);
        let mut drive =
            Pblk::with_medium(&config, seed, (), InMemory::new()).unwrap_or_else(|e| panic!("{e}"));
        let bytes = drive.host_bytes();
        drive.fill(bytes);
        drive.overwrite_uniform(Until::Erases(60), &(0..bytes), 4096, &mut |_| true);
        let sectors = bytes / SECTOR;
        let mut s = Stream::new(seed, "writes", 0);
        let mut at = 0;
        let mut checked = 0;
        for i in 0..60_000u64 {
            at += 20_000;
            // A small hot set: lines are collected soon after they were closed.
            let within = if i % 4 == 0 { sectors } else { sectors / 40 };
            let command = Command::new(HostOp::Write, s.below(within) * SECTOR, SECTOR as u32);
            drive.advance(SimTime(at), &mut |_| {});
            while !drive.has_place() {
                at = drive.next_deadline().0;
                drive.advance(SimTime(at), &mut |_| {});
            }
            drive.submit(SimTime(at), SimTime(at), command, 0).expect("a place");
            if i % 10_000 == 9_999 {
                checked += check_order(&drive);
            }
        }
        assert!(checked > 1_000, "{checked}");
        assert!(drive.counters().collections > 50, "{:?}", drive.counters());
    }
}

/// Check that the copy of each sector to which the map points is in the latest line of all that hold one. Returns how many
/// sectors had an older copy.
fn check_order(drive: &Pblk<(), InMemory>) -> u64 {
    let (shape, lines) = (drive.shape(), drive.lines());
    let mut last: BTreeMap<Lpn, ((u64, bool, u64), Ppa)> = BTreeMap::new();
    let mut older = 0;
    for index in 0..lines.indexes() {
        for sector in shape.unit_start(index, 0).run(shape.line_sectors) {
            let Some(unit) = drive.medium().unit(sector) else { continue };
            let line = shape.line_of(lines, sector);
            let l = lines.line(line);
            // What is left of an earlier life of a chunk is older than all that was taken from it.
            let is_left = l.state == State::Free || l.state == State::Open && !l.begun;
            if is_left || !l.luns.has(shape.place(sector).position) || unit.oob.lpn == Lpn::NONE {
                continue;
            }
            let key = (lines.order(line), sector);
            match last.get_mut(&unit.oob.lpn) {
                Some(other) => {
                    older += 1;
                    *other = (*other).max(key);
                }
                None => _ = last.insert(unit.oob.lpn, key),
            }
        }
    }
    for (&lpn, &(_, sector)) in &last {
        if let Mapping::Flash(now) = drive.whereabouts(lpn) {
            let kinds = [now, sector].map(|of| lines.heat(shape.line_of(lines, of)));
            let of = [now, sector].map(|of| {
                let l = lines.line(shape.line_of(lines, of));
                (l.state, l.luns, drive.medium().unit(of).map(|unit| unit.oob.sequence))
            });
            assert_eq!(now, sector, "sector {lpn} is in {kinds:?}, {of:?}");
        }
    }
    older
}

/// What collection programs on cold LUNs takes no turns, so that the drive writes more than under RAIL.
#[test]
fn cold_programs_take_no_turns() {
    let rate = |scheme: &str| {
        let own = ["geometry.channels=8", "geometry.dies_per_chip=2", "policy.write_gate.stride.off_below=0"];
        let mut stage = Stage::new(&config_of("tiny-pblk", scheme, &own));
        let bytes = stage.drive.host_bytes();
        stage.drive.fill(bytes);
        stage.drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
        let mut s = Stream::new(3, "writes", 0);
        (0..60_000).for_each(|_| _ = stage.submit(0, HostOp::Write, s.below(bytes / SECTOR), 1));
        stage.finish();
        let erases = stage.changes().iter().filter(|op| op.kind == OpKind::Erase).count();
        assert!(erases > 100, "{erases}");
        60_000.0 / (stage.drive.now().0 as f64 / 1e9)
    };
    let (rail, hot_cold) = (rate("rail"), rate("rail-hc"));
    println!("rail {rail:.0}, rail-hc {hot_cold:.0} writes a second");
    assert!(hot_cold > 1.2 * rail, "{hot_cold:.0} and {rail:.0} writes a second");
}
