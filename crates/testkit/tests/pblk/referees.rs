//! What theory and an independent simulation of the same rules give.

use crate::stage::{SECTOR, Stage, config};
use tailcut_core::figures::Until;
use tailcut_testkit::skew::zipf;
use tailcut_units::{HostOp, Stream};

/// Chunks of a sixty-fourth: as many lines as Westlake has, and the same limits.
const SMALL: &str = "geometry.pages=8";

/// A full drive with this over-provisioning.
fn filled(over_provisioning: &str) -> Stage {
    let percent = format!("ftl.over_provisioning={over_provisioning}");
    let mut stage = Stage::new(&config("cnex-westlake", &[SMALL, &percent]));
    stage.drive.fill(stage.drive.host_bytes());
    stage
}

/// The same in the steady state of uniform writes, with its write amplification.
fn aged(over_provisioning: &str) -> (Stage, f64) {
    let mut stage = filled(over_provisioning);
    let bytes = stage.drive.host_bytes();
    let report = stage.drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
    assert!(report.steady, "{report:?}");
    (stage, report.waf)
}

/// Write amplification of uniform writes on a full drive: greedy victims, one open line, and the free space that the
/// limiter leaves. The values are those of an independent simulation with 1,067 lines. That for 11 % was looked at last.
#[test]
fn write_amplification_of_uniform_writes() {
    for (over_provisioning, expected) in [("12%", 5.25), ("7%", 9.0), ("11%", 5.73)] {
        let (_, waf) = aged(over_provisioning);
        assert!((waf / expected - 1.0).abs() < 0.03, "{over_provisioning}: {waf:.3}, not {expected}");
    }
}

/// With one open line more skew gives more write amplification: cold data are spread over all lines.
#[test]
fn write_amplification_of_skewed_writes() {
    for (over_provisioning, exponent, expected) in [("12%", 1.0, 7.66), ("12%", 1.2, 8.68)] {
        let mut stage = filled(over_provisioning);
        let sectors = (stage.drive.host_bytes() / SECTOR) as u32;
        let (_, mut writes) = zipf(sectors, SECTOR as u32, exponent);
        let report = stage.drive.overwrite_replay(Until::Steady, &mut writes, &mut |_| true);
        println!("{over_provisioning}, zipf {exponent}: {report:?}");
        let waf = report.waf;
        assert!(
            (waf / expected - 1.0).abs() < 0.03,
            "{over_provisioning}, {exponent}: {waf:.3}, not {expected}"
        );
    }
}

/// The share of the time of a LUN that programs and erases take, at four rates of writes. A program takes 1.7 ms and 117
/// us on the channel; the published shares of a write amplification of 2.3 are 0.41, 3.26, 12.2 and 39.2 % for programs.
/// There is none here, and lines have a sixty-fourth of the sectors.
#[test]
fn shares_of_busy_luns() {
    for (rate, published) in [(1_000, 0.41), (8_000, 3.26), (30_000, 12.2), (96_000, 39.2)] {
        let programs = rate as f64 / (8.0 * 128.0) * 1.817e-3;
        let erases = rate as f64 / (524_288.0 / 64.0) * 6e-3;
        assert!((2.3 * programs * 100.0 / published - 1.0).abs() < 0.006, "{programs}");
        let mut stage = Stage::new(&config("cnex-westlake", &[SMALL]));
        stage.drive.wear_in();
        let sectors = stage.drive.host_bytes() / SECTOR;
        let mut s = Stream::new(5, "writes", 0);
        let count = 150_000u64;
        for i in 0..count {
            stage.submit(i * 1_000_000_000 / rate, HostOp::Write, s.below(sectors), 1);
            stage.ended.clear();
        }
        stage.finish();
        let (usage, c) = (stage.drive.usage(), stage.drive.counters());
        assert_eq!((c.collections, c.programs_gc), (0, 0), "no collection");
        let busy = usage.units.iter().sum::<u64>() as f64 / (usage.at as f64 * usage.units.len() as f64);
        let written = c.programs() as f64 / c.programs_user as f64;
        let expected = programs * written + erases;
        let erasing = c.erases as f64 * 6e6 / (usage.at as f64 * usage.units.len() as f64);
        assert!(
            (erasing / erases - 1.0).abs() < 0.03,
            "{rate} a second: {erasing:.6} erasing, not {erases:.6}"
        );
        assert!((busy / expected - 1.0).abs() < 0.03, "{rate} a second: {busy:.5}, not {expected:.5}");
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
