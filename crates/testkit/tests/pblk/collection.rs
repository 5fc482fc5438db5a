//! Collection in single steps: the metadata of a victim, its reads, what is dropped, and what keeps a line.

use crate::stage::{Done, SECTOR, Stage, config};
use std::collections::BTreeMap;
use tailcut_core::address::Lpn;
use tailcut_core::device::OpKind;
use tailcut_core::figures::Until;
use tailcut_core::ftl::map::Mapping;
use tailcut_core::pblk::lines::State;
use tailcut_units::{HostOp, Occupant, Stream};

const US: u64 = 1_000;
const SECOND: u64 = 1_000_000_000;

/// The sectors of the host in a line, in the order of their addresses on flash.
fn sectors_of(stage: &Stage, line: u32) -> Vec<u64> {
    let sectors = (stage.drive.host_bytes() / SECTOR) as u32;
    let at = |lpn: u32| match stage.drive.whereabouts(Lpn(lpn)) {
        Mapping::Flash(at) if at.0 / stage.drive.shape().line_sectors == line => Some((at, u64::from(lpn))),
        _ => None,
    };
    let mut all: Vec<_> = (0..sectors).filter_map(at).collect();
    all.sort_unstable();
    all.into_iter().map(|(_, lpn)| lpn).collect()
}

/// Operations of an occupant, in the order in which they came.
fn ops_of(stage: &Stage, occupant: Occupant) -> Vec<Done> {
    stage.drive.observer().ops.iter().filter(|op| op.occupant == occupant).cloned().collect()
}

/// A line of which nothing is valid is not freed while a read of it is under way.
#[test]
fn a_read_holds_its_line() {
    let mut stage = Stage::new(&config("tiny-pblk", &[]));
    stage.drive.fill(stage.drive.host_bytes() / 2);
    let all = sectors_of(&stage, 0);
    let (&last, others) = all.split_last().expect("a full line");
    for &sector in others {
        stage.one(HostOp::Trim, sector, 1);
    }
    // Collection looks at each whole second.
    let look = (stage.drive.now().0 / SECOND + 2) * SECOND;
    stage.until(look - 100 * US);
    assert_eq!(stage.drive.lines().line(0).state, State::Closed);
    let free = stage.drive.lines().free_chunks;
    stage.submit(look - 20 * US, HostOp::Read, last, 1);
    stage.submit(look - 19 * US, HostOp::Trim, last, 1);
    stage.until(look + US);
    assert_eq!(stage.drive.lines().line(0).valid, 0);
    assert_eq!(stage.drive.outstanding(), 1, "the read is under way");
    assert_eq!((stage.drive.lines().line(0).state, stage.drive.lines().free_chunks), (State::Victim, free));
    stage.finish();
    let read = stage.drive.observer().ops.iter().rfind(|op| op.kind == OpKind::Read).expect("a read");
    assert!(read.ended > look, "{read:?}");
    let luns = stage.drive.shape().luns;
    assert_eq!(
        (stage.drive.lines().line(0).state, stage.drive.lines().free_chunks),
        (State::Free, free + luns)
    );
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
}

/// Eight readers read 64 sectors each with one vector command: 512 sectors come to the device at once, and each reader whose data
/// are there sends for the next 64.
#[test]
fn readers_read_vectors_of_64_sectors() {
    let own = ["geometry.blocks=200", "geometry.pages=64", "pblk.command=0ns", "pblk.read_sector=0ns"];
    let mut stage = Stage::new(&config("cnex-westlake", &own));
    stage.drive.fill(stage.drive.host_bytes());
    // More than half of a line is not valid, so that it is the first victim. The rest of it is valid write unit by write unit.
    let all = sectors_of(&stage, 3);
    for &sector in &all[..all.len() * 5 / 8 / 8 * 8] {
        stage.one(HostOp::Trim, sector, 1);
    }
    // Less than half of other lines is overwritten, until collection runs.
    let others =
        (10..20).flat_map(|line| sectors_of(&stage, line).into_iter().step_by(4)).collect::<Vec<_>>();
    for sector in others {
        stage.one(HostOp::Write, sector, 1);
        if stage.drive.gauges().collecting > 0 {
            break;
        }
    }
    assert_eq!(stage.drive.lines().line(3).state, State::Victim);
    let at = stage.drive.now().0;
    stage.until(at + SECOND / 10);
    let reads: Vec<Done> = ops_of(&stage, Occupant::GcRead).into_iter().filter(|op| op.line == 3).collect();
    let mut at_once: BTreeMap<u64, u32> = BTreeMap::new();
    reads.iter().for_each(|op| *at_once.entry(op.came).or_default() += 1);
    let groups: Vec<u32> = at_once.values().copied().collect();
    // One operation is a write unit of eight sectors on a LUN.
    assert_eq!(groups[0], 8 * 64 / 8, "{groups:?}");
    let (_, later) = groups.split_first().expect("reads");
    let (_, later) = later.split_last().expect("more than eight requests");
    assert!(
        later.len() > 8 && later.iter().all(|ops| ops.is_multiple_of(8)) && later.contains(&8),
        "{groups:?}"
    );
    // And never more under way.
    for (i, op) in reads.iter().enumerate() {
        let under_way = reads[..i].iter().filter(|other| other.ended > op.came).count();
        assert!(under_way < 64, "{under_way} before {op:?}");
    }
}

/// Sectors that were overwritten between their read and their entry into the ring take slots of the ring and count for
/// the limiter, and are programmed as padding.
#[test]
fn dropped_sectors_take_slots_and_shares() {
    let mut stage = Stage::new(&config("tiny-pblk", &[]));
    let bytes = stage.drive.host_bytes();
    stage.drive.fill(bytes);
    stage.drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
    let mut s = Stream::new(3, "dropped", 0);
    for i in 0..3_000 {
        stage.submit(i * 50 * US, HostOp::Write, s.below(bytes / SECTOR), 1);
    }
    stage.finish();
    let at = stage.drive.now().0;
    stage.until(at + SECOND);
    // Collection has read what it may not write yet. All of that is trimmed.
    let c = stage.drive.counters().clone();
    assert!(!stage.drive.limiter().admits_gc(at + SECOND));
    let read = c.gc_reads;
    for sector in 0..bytes / SECTOR {
        stage.submit(at + SECOND, HostOp::Trim, sector, 1);
    }
    stage.finish();
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    let (before, unsynced) = (stage.drive.counters().clone(), stage.drive.limiter().counted());
    assert_eq!(before.gc_reads, read, "nothing more is read");
    stage.until(at + 7 * SECOND);
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    let (after, counted) = (stage.drive.counters(), stage.drive.limiter().counted());
    let padding = after.programs_pad - before.programs_pad;
    // Less than a write unit was in the ring already and not programmed.
    assert_eq!(after.programs_user, before.programs_user);
    assert!(after.programs_gc - before.programs_gc < 4);
    println!("{padding} of padding, {unsynced:?} then {counted:?}");
    assert!(padding > 64, "{padding}");
    // They have taken the slots of what was in the ring before.
    assert!(
        counted.1 > unsynced.1 && u64::from(counted.1 - unsynced.1) <= padding + 8,
        "{unsynced:?}, {counted:?}"
    );
}

/// Before a victim is moved its metadata are read, unit after unit and each alone. That takes some time in which nothing of
/// it is moved.
#[test]
fn metadata_are_read_one_after_another() {
    let mut stage = Stage::new(&config(
        "tiny-pblk",
        &[
            "geometry.channels=8",
            "geometry.dies_per_chip=2",
            "geometry.pages=256",
            "geometry.blocks=64",
            "pblk.ring=2048",
        ],
    ));
    let bytes = stage.drive.host_bytes();
    stage.drive.fill(bytes);
    stage.drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
    let mut s = Stream::new(3, "metadata", 0);
    for _ in 0..60_000 {
        stage.submit(0, HostOp::Write, s.below(bytes / SECTOR), 1);
    }
    stage.finish();
    let reads = ops_of(&stage, Occupant::MetaRead);
    let units = stage.drive.shape().provision.emeta / stage.drive.shape().array.write_unit;
    assert!(units > 1 && reads.len() > 20 * units as usize, "{units} units, {} reads", reads.len());
    let host = 10 * US;
    for pair in reads.windows(2) {
        assert!(pair[1].came >= pair[0].ended, "{pair:?}");
        // The host hears of each before it sends the next.
        assert!(pair[0].line != pair[1].line || pair[1].came > pair[0].ended + host / 2, "{pair:?}");
    }
    let moved = ops_of(&stage, Occupant::GcRead);
    let (mut at, mut longest) = (0, 0);
    while at < reads.len() {
        let line = reads[at].line;
        let of_line = &reads[at..reads.len().min(at + units as usize)];
        assert!(of_line.iter().all(|op| op.line == line), "all of a line before another");
        at += of_line.len();
        let (first, last) = (&of_line[0], &of_line[of_line.len() - 1]);
        let between = |op: &Done| op.line == line && op.came > first.came && op.came < last.ended;
        assert!(!moved.iter().any(between), "line {line} is moved before its metadata are read");
        longest = longest.max(last.ended - first.came);
    }
    // A read takes 40 us in the array, and the host 5 us on each way.
    assert!(longest > u64::from(units) * 50 * US, "{units} units in {longest} ns");
}
