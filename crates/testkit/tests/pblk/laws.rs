//! Laws that hold whatever is asked of the drive.

use crate::stage::{Stage, config};
use tailcut_core::figures::Until;
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
