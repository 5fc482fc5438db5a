//! Tests which operations a collection blocks, and which it waits for, when its lane or its
//! scope spans more than one channel.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Step, StepEvent};
use tailcut_core::ftl::config::{CopyMode, ExtentKind};
use tailcut_core::nand::config::BusyKind;
use tailcut_core::policy::gc_schedule::{GcScheduleConfig, threshold};
use tailcut_core::policy::gc_scope::{GcScopeConfig, plane};
use tailcut_testkit::swarm::member;
use tailcut_testkit::{Done, Host, small_drive};
use tailcut_units::quantity::Level;
use tailcut_units::{Cause, HostOp, Occupant, Stream};

const UNIT: u64 = 4096;

/// Tests a line, which spans both channels. Continuous reads of either channel alone must delay
/// the start of a collection until the reads end.
#[test]
fn a_collection_that_waits_for_its_channel_waits_for_all_channels_of_its_lane() {
    for channel in 0..2 {
        for scope in ["operation", "plane", "channel"] {
            let mut c = small_drive();
            c.ftl.extent = ExtentKind::Line;
            c.policy.buffer = member("none");
            c.policy.flush = member("immediate");
            c.policy.gc_scope = member(scope);
            c.policy.gc_schedule = GcScheduleConfig::Threshold(threshold::Config {
                start: Level::Count(5),
                hard: Level::Count(1),
                wait_for_channel_above: Level::Count(2),
            });
            let mut host = Host::observed(&c, Vec::<StepEvent>::new());
            let bytes = host.device.host_bytes();
            host.device.fill(bytes);
            let is_there = |host: &mut Host<Vec<StepEvent>>, at, unit: u64| {
                host.device.observer_mut().clear();
                host.one(at, HostOp::Read, unit * UNIT, UNIT as u32);
                let granted = |e: &&StepEvent| e.occupant == Occupant::UserRead && e.step == Step::Granted;
                host.device.observer().iter().find(granted).expect("it is on flash").channel == channel
            };
            // Units in the last extents; the writes below do not overwrite them.
            let last = bytes / UNIT - 64..bytes / UNIT;
            let units: Vec<u64> = last.filter(|&u| is_there(&mut host, u * 1_000_000, u)).collect();
            assert!(units.len() > 8, "{} units on channel {channel}", units.len());
            let mut at = bytes / UNIT * 1_000_000;
            let mut s = Stream::new(1, "line", u64::from(channel));
            let (mut seen, mut reading, mut writing, mut since) = (host.done.len(), 0, 0, None);
            // 20 ms of only reads after the writes that made a collection due.
            while since.is_none_or(|t| at < t + 20_000_000) {
                while reading < 4 {
                    host.submit(
                        at,
                        HostOp::Read,
                        units[s.below(units.len() as u64) as usize] * UNIT,
                        UNIT as u32,
                    );
                    reading += 1;
                }
                if host.device.gauges().free_extents <= 5 && since.is_none() && writing == 0 {
                    since = Some(at);
                } else if writing == 0 && since.is_none() {
                    host.submit(at, HostOp::Write, s.below(bytes / UNIT / 2) * UNIT, UNIT as u32);
                    writing = 1;
                }
                at = host.device.next_deadline().0;
                host.advance(at);
                for done in &host.done[seen..] {
                    match done.command.op {
                        HostOp::Read => reading -= 1,
                        _ => writing -= 1,
                    }
                }
                seen = host.done.len();
                let collecting = host.device.gauges().collecting;
                assert_eq!(collecting, 0, "gc_scope {scope}, reads of channel {channel}, {since:?}, at {at}");
            }
            assert_eq!(host.device.counters().collections, 0);
            host.drain();
            assert!(
                host.device.counters().collections > 0,
                "it was due: gc_scope {scope}, channel {channel}"
            );
        }
    }
}

/// Run a random workload on a full drive; returns all completions and the number of
/// collections.
fn play(config: &DeviceConfig, seed: u64) -> (Vec<Done>, u64) {
    let mut host = Host::new(config);
    let bytes = host.device.host_bytes();
    host.device.fill(bytes);
    host.device.age_uniform(0..bytes, UNIT as u32, &mut |_| true);
    let mut s = Stream::new(seed, "scopes", 0);
    let mut at = 0;
    for _ in 0..3_000 {
        at += if s.below(50) == 0 { 20_000_000 } else { s.below(400_000) };
        host.advance(at);
        while !host.device.has_place() {
            at = host.device.next_deadline().0;
            host.advance(at);
        }
        let op = if s.below(2) == 0 { HostOp::Read } else { HostOp::Write };
        let units = 1 + s.below(3);
        let offset = s.below(bytes / UNIT - units) * UNIT;
        host.submit(at, op, offset, (units * UNIT) as u32);
    }
    host.drain();
    (host.done, host.device.counters().collections)
}

/// Drives of `dies` dies of `planes` planes on one channel, with every combination of
/// collection settings.
fn drives(dies: u32, planes: u32) -> Vec<(String, DeviceConfig)> {
    let mut out = Vec::new();
    for busy in [BusyKind::Die, BusyKind::Plane] {
        for extent in [ExtentKind::Block, ExtentKind::Superblock, ExtentKind::Line] {
            for schedule in ["threshold", "preemptive", "instant"] {
                for copy in [CopyMode::Controller, CopyMode::Copyback] {
                    let mut c = small_drive();
                    let g = &mut c.geometry;
                    (g.channels, g.dies_per_chip, g.planes, g.page) = (1, dies, planes, UNIT);
                    g.busy_unit = busy;
                    (c.ftl.write_planes, c.ftl.extent) = (1, extent);
                    (c.ftl.gc.copy_planes, c.ftl.gc.program_planes) = (1, 1);
                    c.ftl.gc.erase_planes = if extent == ExtentKind::Block { 1 } else { planes };
                    c.ftl.gc.copy = copy;
                    c.policy.gc_schedule = member(schedule);
                    c.policy.schedule = member("read-priority");
                    out.push((format!("{busy:?} {extent:?} {schedule} {copy:?}"), c));
                }
            }
        }
    }
    out
}

fn scoped(c: &DeviceConfig, scope: GcScopeConfig) -> DeviceConfig {
    let mut c = c.clone();
    c.policy.gc_scope = scope;
    c
}

/// Tests scopes that cover the same units: every command must end at the same time with the
/// same ledger. On one plane these are all scopes; on one channel these are the channel's and
/// the controller's.
#[test]
fn scopes_that_cover_the_same_are_the_same() {
    let alone = || GcScopeConfig::Plane(plane::Config { one_per_channel: true });
    let all = [member("plane"), alone(), member("channel"), member("controller")];
    let (mut ran, mut held) = (0, 0);
    for (i, (dies, planes, scopes)) in [(1, 1, &all[..]), (3, 2, &all[2..])].into_iter().enumerate() {
        for (name, c) in drives(dies, planes) {
            let refused = |c: &DeviceConfig| tailcut_core::device::Device::new(c, 1, ()).is_err();
            let verdicts: Vec<bool> = scopes.iter().map(|s| refused(&scoped(&c, s.clone()))).collect();
            assert!(verdicts.iter().all(|&r| r == verdicts[0]), "{name}: {verdicts:?}");
            if verdicts[0] {
                continue;
            }
            let (first, collections) = play(&scoped(&c, scopes[0].clone()), i as u64);
            assert!(collections > 20, "{dies} dies, {name}: {collections} collections");
            held += first.iter().map(|d| d.ledger.get(Cause::GC_HOLD)).sum::<u64>();
            ran += 1;
            for scope in &scopes[1..] {
                let (other, n) = play(&scoped(&c, scope.clone()), i as u64);
                let at = first.iter().zip(&other).position(|(a, b)| a != b);
                let label = format!("{dies} dies, {name}, gc_scope {}", scope.name());
                assert_eq!((n, other.len(), at), (collections, first.len(), None), "{label}");
            }
        }
    }
    assert!(ran > 20 && held > 1_000_000_000, "{ran} drives, {held} ns held: too few to compare");
}
