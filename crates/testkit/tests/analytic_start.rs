//! Tests that uniform overwrites from an analytic start end in the state in which overwrites from the
//! sequential fill end.
//!
//! `cargo test --test analytic_start -- --nocapture` prints every value that is compared.

use tailcut_core::address::Lpn;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{AgeReport, Device, UniformStart};
use tailcut_core::ftl::map::Mapping;
use tailcut_core::policy::{gc_schedule, gc_victim};
use tailcut_testkit::cross_check_drive;
use tailcut_testkit::swarm::member;
use tailcut_units::quantity::Level;

const UNIT: u32 = 8192;
/// Largest relative difference of write amplification.
const WAF: f64 = 0.03;
/// Largest distance of two cumulative distributions of valid units. With 4,096 extents the distance
/// of two samples of one distribution is above 0.043 in one case of a thousand (Smirnov); the
/// extents of a lane are not independent, and two full passes must pass the same test.
const DISTANCE: f64 = 0.05;
/// Largest difference of the free extents of a lane, on average.
const FREE: f64 = 1.0;

/// Four lanes of 1,024 blocks of 64 units.
fn drive(victim: &str) -> DeviceConfig {
    let mut c = cross_check_drive();
    (c.geometry.channels, c.geometry.planes) = (4, 1);
    (c.geometry.blocks, c.geometry.pages) = (1024, 64);
    c.ftl.over_provisioning = Some(0.15);
    let limits = gc_schedule::threshold::Config {
        start: Level::Count(2),
        hard: Level::Count(1),
        ..Default::default()
    };
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Threshold(limits);
    c.policy.gc_victim = member(victim);
    c
}

/// A drive of which `percent` of the addresses are filled and overwritten.
fn aged(c: &DeviceConfig, seed: u64, percent: u64, start: UniformStart) -> (Device, u64, AgeReport) {
    let mut device = Device::new(c, seed, ()).unwrap();
    let unit = u64::from(UNIT);
    let bytes = device.host_bytes() / unit * percent / 100 * unit;
    device.fill(bytes);
    let report = device.age_uniform_from(start, 0..bytes, UNIT, &mut |_| true);
    device.audit().unwrap();
    assert_eq!(report.analytic, start != UniformStart::Fill);
    (device, bytes, report)
}

/// Overwrite until twelve times the raw capacity was programmed. Returns write amplification at the
/// end.
fn overwritten(device: &mut Device, bytes: u64, first: &AgeReport) -> f64 {
    let raw = u64::from(device.shape().layout.units());
    let (mut programs, mut waf) = (first.programs, first.waf);
    while programs < 12 * raw {
        let report = device.age_uniform_from(UniformStart::Fill, 0..bytes, UNIT, &mut |_| true);
        (programs, waf) = (programs + report.programs, report.waf);
    }
    waf
}

/// The addresses of all filled units.
fn places(device: &Device, bytes: u64) -> Vec<u32> {
    let place = |lpn| match device.whereabouts(Lpn(lpn)) {
        Mapping::Flash(ppa) => ppa.0,
        other => panic!("unit {lpn} is {other:?}"),
    };
    (0..(bytes / u64::from(UNIT)) as u32).map(place).collect()
}

/// By number of valid units: the share of extents with at most that number.
fn distribution(device: &Device, bytes: u64) -> Vec<f64> {
    let layout = &device.shape().layout;
    let mut valid = vec![0; layout.extents() as usize];
    for place in places(device, bytes) {
        valid[(place / layout.units_per_extent) as usize] += 1;
    }
    let mut shares = vec![0.0; layout.units_per_extent as usize + 1];
    for count in valid {
        shares[count] += 1.0 / f64::from(layout.extents());
    }
    let mut sum = 0.0;
    shares
        .into_iter()
        .map(|share| {
            sum += share;
            sum
        })
        .collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn overwrites_from_an_analytic_start_end_where_those_from_a_fill_end() {
    for victim in gc_victim::GcVictimConfig::MEMBERS {
        for percent in [60, 80, 100] {
            let c = drive(victim);
            let full = |seed| {
                let (mut device, bytes, report) = aged(&c, seed, percent, UniformStart::Fill);
                let waf = overwritten(&mut device, bytes, &report);
                let free = device.gauges().free_extents as f64 / 4.0;
                (waf, distribution(&device, bytes), free, report.waf)
            };
            let (waf, shares, free, first) = full(1);
            let (_, other, _, _) = full(2);
            let (mut device, bytes, report) = aged(&c, 1, percent, UniformStart::Analytic(1));
            assert!(report.steady, "{report:?}");
            let analytic = distribution(&device, bytes);
            let free_now = device.gauges().free_extents as f64 / 4.0;
            let next = device.age_uniform_from(UniformStart::Fill, 0..bytes, UNIT, &mut |_| true);
            assert!(!next.analytic, "a drive with a past keeps it");
            let (seeds, off) = (distance(&shares, &other), distance(&shares, &analytic));
            println!(
                "{victim} {percent} %: WAF {waf:.3} (when first steady {first:.3}), analytic {:.3} ({:+.2} %), \
                 then {:.3} ({:+.2} %); distance {off:.3}, of two seeds {seeds:.3}; free {free} and {free_now}; \
                 {:.2} of the raw capacity programmed",
                report.waf,
                (report.waf / waf - 1.0) * 100.0,
                next.waf,
                (next.waf / waf - 1.0) * 100.0,
                report.programs as f64 / f64::from(device.shape().layout.units()),
            );
            assert!((report.waf / waf - 1.0).abs() < WAF, "{victim} {percent} %");
            assert!((next.waf / waf - 1.0).abs() < WAF, "{victim} {percent} %, afterwards");
            assert!(seeds < DISTANCE && off < DISTANCE, "{victim} {percent} %: {off}, {seeds}");
            assert!((free - free_now).abs() <= FREE, "{victim} {percent} %: {free}, {free_now}");
        }
    }
}

/// Under dynamic placement, consecutive units lie on lanes that have nothing to do with each other;
/// under static placement, on the lanes that their addresses say; under placement by die, on the
/// planes of their die.
#[test]
fn units_lie_where_the_placement_allows_and_without_locality() {
    for (placement, lanes_of_pool) in [("dynamic", 8), ("die", 2), ("static", 1)] {
        let mut c = drive("greedy");
        // Under dynamic placement all lanes open extents at the same time, so that a window must be long
        // enough for many of them.
        c.geometry.planes = 2;
        c.ftl.extent = tailcut_core::ftl::config::ExtentKind::Block;
        c.ftl.write_planes = 1;
        (c.ftl.gc.program_planes, c.ftl.gc.erase_planes) = (1, 1);
        c.policy.placement = member(placement);
        let (device, bytes, report) = aged(&c, 1, 90, UniformStart::Analytic(2));
        assert!(report.steady, "{placement}: {report:?}");
        let shape = device.shape();
        let lanes: Vec<u32> = places(&device, bytes).iter().map(|&p| p / 64 / shape.layout.stride).collect();
        let mut counts = [0u32; 8];
        for (unit, &lane) in (0..).zip(&lanes) {
            counts[lane as usize] += 1;
            let filled = shape.layout.lane_at(shape.fill.ppa(Lpn(unit)));
            assert_eq!(lane / lanes_of_pool, filled / lanes_of_pool, "unit {unit} is in its pool");
        }
        let n = lanes.len() as f64;
        assert!(
            counts.iter().all(|&c| (f64::from(c) * 8.0 / n - 1.0).abs() < 0.02),
            "{placement}: {counts:?}"
        );
        // The distance at which units of one pool come again: 8, or the order of the dies.
        for step in 1..=16 {
            let pairs = lanes.iter().zip(&lanes[step..]);
            let (mut together, mut same) = (0.0, 0.0);
            for (a, b) in pairs.filter(|(a, b)| *a / lanes_of_pool == *b / lanes_of_pool) {
                together += 1.0;
                same += f64::from(a == b);
            }
            if together > 0.0 {
                let expected = 1.0 / f64::from(lanes_of_pool);
                let deviation = f64::sqrt(expected * (1.0 - expected) / together);
                let off = same / together - expected;
                assert!(
                    off.abs() <= 5.0 * deviation,
                    "{placement}, distance {step}: {off:.4}, {deviation:.4}"
                );
            }
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_state() {
    for placement in ["static", "dynamic", "die"] {
        let mut c = drive("d-choices");
        c.policy.placement = member(placement);
        let state = |threads| {
            let (device, _, report) = aged(&c, 7, 100, UniformStart::Analytic(threads));
            let mut bytes = Vec::new();
            device.save_aged(1, &report, &mut bytes).unwrap();
            bytes
        };
        let one = state(1);
        assert!(one == state(2) && one == state(3) && one == state(64), "{placement}");
    }
}

#[test]
fn an_analytic_start_can_be_stopped() {
    for placement in ["static", "dynamic"] {
        let mut c = drive("greedy");
        c.policy.placement = member(placement);
        let (mut last, mut calls) = (0.0, 0);
        let mut device = Device::new(&c, 1, ()).unwrap();
        let bytes = device.host_bytes();
        device.fill(bytes);
        device.age_uniform_from(UniformStart::Analytic(1), 0..bytes, UNIT, &mut |part| {
            // It is a share of the usual length.
            assert!((last..2.0).contains(&part), "{part} comes after {last}");
            (last, calls) = (part, calls + 1);
            true
        });
        assert!(calls > 10 && last > 0.8, "{calls} calls until {last}");
        for end in 1..20 {
            let mut device = Device::new(&c, 1, ()).unwrap();
            device.fill(bytes);
            let mut left = end;
            let report = device.age_uniform_from(UniformStart::Analytic(2), 0..bytes, UNIT, &mut |_| {
                left -= 1;
                left > 0
            });
            assert!(!report.steady && left == 0, "progress is not called after it has said no");
        }
    }
}

/// Drives without a known steady state are overwritten from the fill on.
#[test]
fn other_drives_begin_at_the_fill() {
    let analytic = |c: &DeviceConfig, region: u64, bytes: u32| {
        let mut device = Device::new(c, 1, ()).unwrap();
        let all = device.host_bytes();
        device.fill(all);
        let start = UniformStart::Analytic(1);
        device.age_uniform_from(start, 0..all / 256 * region, bytes, &mut |_| true).analytic
    };
    let c = drive("greedy");
    assert!(analytic(&c, 256, UNIT) && analytic(&c, 256, UNIT / 2));
    assert!(!analytic(&c, 128, UNIT), "a part of the filled addresses");
    assert!(!analytic(&c, 256, 2 * UNIT), "two units at a time");
    assert!(!analytic(&tailcut_testkit::parity_drive(), 256, 4096), "parity");
    // By size alone, such a small drive begins at the fill.
    let mut device = Device::new(&c, 1, ()).unwrap();
    let all = device.host_bytes();
    device.fill(all);
    assert!(!device.age_uniform(0..all, UNIT, &mut |_| true).analytic);
}
