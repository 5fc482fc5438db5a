//! What theory and an independent simulation of the same rules give.

use crate::stage::{SECTOR, Stage, config};
use tailcut_core::figures::Until;
use tailcut_units::{HostOp, Stream};

/// Chunks of a sixty-fourth: as many lines as Westlake has, and the same limits.
const SMALL: &str = "geometry.pages=8";

fn aged(over_provisioning: &str) -> (Stage, f64) {
    let percent = format!("ftl.over_provisioning={over_provisioning}");
    let mut stage = Stage::new(&config("cnex-westlake", &[SMALL, &percent]));
    let bytes = stage.drive.host_bytes();
    stage.drive.fill(bytes);
    let report = stage.drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
    assert!(report.steady, "{report:?}");
    (stage, report.waf)
}

/// Write amplification of uniform writes on a full drive: greedy victims, one open line, and the free space that the
/// limiter leaves. The values are those of an independent simulation with 1,067 lines.
#[test]
fn write_amplification_of_uniform_writes() {
    for (over_provisioning, expected) in [("12%", 5.25), ("7%", 9.0)] {
        let (_, waf) = aged(over_provisioning);
        assert!((waf / expected - 1.0).abs() < 0.03, "{over_provisioning}: {waf:.3}, not {expected}");
    }
}

/// In steady state the free lines times the write amplification are 128, at every rate of writes.
#[test]
fn free_lines_times_write_amplification() {
    let (mut stage, _) = aged("12%");
    let sectors = stage.drive.host_bytes() / SECTOR;
    let mut s = Stream::new(4, "writes", 0);
    let mut at = 0;
    for gap in [100_000, 40_000, 20_000] {
        let mut measured = (0.0, 0);
        for i in 0..150_000u64 {
            at += gap;
            stage.submit(at, HostOp::Write, s.below(sectors), 1);
            stage.ended.clear();
            if i == 50_000 {
                stage.drive.reset_counters();
            }
            if i > 50_000 && i % 64 == 0 {
                measured.0 += f64::from(stage.drive.lines().free_chunks) / 128.0;
                measured.1 += 1;
            }
        }
        at = at.max(stage.drive.now().0);
        let c = stage.drive.counters();
        let data = (c.programs_user + c.programs_gc + c.programs_pad) as f64 / c.programs_user as f64;
        let product = measured.0 / f64::from(measured.1) * data;
        assert!((product / 128.0 - 1.0).abs() < 0.03, "every {gap} ns: {product:.1}");
    }
}
