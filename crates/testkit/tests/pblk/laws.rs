//! Laws that hold whatever is asked of the drive.

use crate::stage::{Stage, config};
use tailcut_core::address::Lpn;
use tailcut_core::figures::Until;
use tailcut_core::ftl::map::Mapping;
use tailcut_core::pblk::lines::State;
use tailcut_units::{HostOp, Status, Stream};

/// Random commands on a full small drive: every law holds between events, and everything ends.
#[test]
fn the_laws_hold_under_random_commands() {
    for (seed, sets) in [
        (1, vec![]),
        (2, vec!["pblk.kernel=v4-19"]),
        (3, vec!["geometry.bad_blocks=2%", "pblk.erase_semaphore=true"]),
    ] {
        let mut stage = Stage::new(&config("tiny-pblk", &sets));
        stage.drive.fill(stage.drive.host_bytes());
        stage.drive.audit().unwrap_or_else(|e| panic!("filled, {sets:?}: {e}"));
        let mut s = Stream::new(seed, "pblk", 0);
        let sectors = stage.drive.host_bytes() / 4096;
        let mut at = 0;
        for i in 0..20_000u64 {
            at += s.below(40_000);
            let op = [HostOp::Write, HostOp::Write, HostOp::Write, HostOp::Read, HostOp::Read]
                [s.below(5) as usize];
            let op = match s.below(200) {
                0 => HostOp::Flush,
                1 => HostOp::Trim,
                _ => op,
            };
            let most = if s.below(10) == 0 { 64 } else { 4 };
            let count = 1 + s.below(most) as u32;
            stage.submit(at, op, s.below(sectors - 64), count);
            if i % 500 == 0 {
                stage.drive.audit().unwrap_or_else(|e| panic!("command {i}, {sets:?}: {e}"));
            }
        }
        stage.finish();
        stage.drive.audit().unwrap_or_else(|e| panic!("{sets:?}: {e}"));
        assert_eq!(stage.ended.len(), 20_000);
        assert!(stage.ended.iter().all(|e| e.status == Status::Ok && e.ledger.sum() == e.at - e.arrived));
        let c = stage.drive.counters();
        assert!(c.collections > 10 && c.programs_gc > 0 && c.buffer_hits > 0, "{c:?}");
        assert!(stage.drive.settle());
        stage.drive.audit().unwrap_or_else(|e| panic!("at rest, {sets:?}: {e}"));
    }
}

/// The aged state keeps all laws, and a run goes on from it.
#[test]
fn an_aged_drive_is_sound() {
    let mut stage = Stage::new(&config("tiny-pblk", &[]));
    let bytes = stage.drive.host_bytes();
    stage.drive.fill(bytes);
    let report = stage.drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    assert!(report.steady && report.waf > 1.5, "{report:?}");
    for i in 0..2_000 {
        stage.submit(i * 10_000, HostOp::Write, (i * 7919) % (bytes / 4096), 1);
    }
    stage.finish();
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
}

/// A drive that is shut down has all data on flash. Padding takes the rest of the open line, and the metadata at its end
/// are written. The next write opens another line.
#[test]
fn shutting_down_pads_and_closes_the_open_line() {
    let mut stage = Stage::new(&config("tiny-pblk", &[]));
    for i in 0..100 {
        stage.submit(i * 10_000, HostOp::Write, i, 1);
    }
    stage.finish();
    assert!(matches!(stage.drive.whereabouts(Lpn(3)), Mapping::Buffer(_)));
    assert!(stage.drive.shut_down());
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    assert!((0..100).all(|i| matches!(stage.drive.whereabouts(Lpn(i)), Mapping::Flash(_))));
    let (shape, c) = (stage.drive.shape(), stage.drive.counters());
    let (line, provision) = (u64::from(shape.line_sectors), &shape.provision);
    let metadata = u64::from(provision.emeta);
    assert_eq!((c.programs_user, c.programs_metadata), (100, metadata));
    let first = u64::from(provision.smeta);
    assert_eq!(c.programs_pad, line - first - metadata - 100);
    let states = |stage: &Stage| [0, 1].map(|line| stage.drive.lines().line(line).state);
    assert_eq!(states(&stage), [State::Closed, State::Open]);
    let at = stage.drive.now().0;
    for i in 0..100 {
        stage.submit(at + i * 10_000, HostOp::Write, i, 1);
    }
    stage.finish();
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    assert!(stage.drive.shut_down(), "again");
    // All of the first line was overwritten.
    assert_eq!(states(&stage), [State::Free, State::Closed]);
    assert!(
        matches!(stage.drive.whereabouts(Lpn(3)), Mapping::Flash(at) if at.0 / sectors_of_a_line(&stage) == 1)
    );
}

/// Sectors of a line.
fn sectors_of_a_line(stage: &Stage) -> u32 {
    stage.drive.shape().line_sectors
}

/// A write as large as the ring ends, although less than a write unit waits before it that nothing programs.
#[test]
fn a_write_as_large_as_the_ring_ends() {
    for ring in ["256", "1024"] {
        let sets = [format!("pblk.ring={ring}"), "host.max_transfer=4MiB".into()];
        let mut stage = Stage::new(&config("tiny-pblk", &sets.each_ref().map(String::as_str)));
        for older in 0..4 {
            (0..older).for_each(|sector| _ = stage.one(HostOp::Write, sector, 1));
            let ended = stage.one(HostOp::Write, 100, 1024);
            assert_eq!(ended.status, Status::Ok);
        }
        stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    }
}
