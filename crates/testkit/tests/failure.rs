//! Tests that no data are lost when a plane fails.
//!
//! On drives with parity under a random workload a plane fails. Every read must return what was
//! written, nothing may be read from the plane any more (checked by the audit), and at the end
//! no data may be left on the plane.

use tailcut_core::address::Lpn;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, InMemory};
use tailcut_core::ftl::config::CopyMode;
use tailcut_core::ftl::map::Mapping;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_testkit::swarm::{self, Case, Plan, member};
use tailcut_testkit::{Host, parity_drive, small_drive};
use tailcut_units::{Cause, HostOp, SimTime, Status};

const PAGE: u64 = 4096;

/// A drive whose other planes have room for the data of a failed plane.
fn roomy() -> DeviceConfig {
    let mut c = parity_drive();
    c.ftl.over_provisioning = Some(0.5);
    // A drive without any fault is not prepared for a plane that dies.
    c.fault = vec!["page=0.0.0.0,once@1000s".parse().unwrap()];
    c
}

fn plan() -> Plan {
    Plan {
        commands: 2_500,
        fill: 256,
        aged: true,
        weights: [8, 8, 1, 1],
        astray: 0,
        grain: 512,
        largest: 5 * PAGE,
        hot: 16,
        gap: 120_000,
        pause: 0,
        sequential: false,
        audit_every: 200,
        fails: 400,
        interventions: Default::default(),
    }
}

#[test]
fn what_a_failed_plane_held_is_rebuilt_and_moves_elsewhere() {
    let (mut rewritten, mut rebuilt) = (0, 0);
    for read_path in ["gc-tolerant", "gc-tolerant-authors"] {
        for (seed, copy) in [(1, CopyMode::Copyback), (2, CopyMode::Controller), (3, CopyMode::Copyback)] {
            for (grain, gap) in [(PAGE, 300_000), (512, 100_000), (1, 10_000)] {
                let mut config = roomy();
                (config.ftl.gc.copy, config.policy.read_path) = (copy, member(read_path));
                let case = Case { seed, config, plan: Plan { grain, gap, ..plan() } };
                let name = format!("{read_path}, seed {seed}, grain {grain}");
                let (outcome, device) =
                    swarm::run_over(&case, InMemory::new()).unwrap_or_else(|e| panic!("{name}: {e}"));
                assert!(outcome.failed, "{name}: the plane did not fail");
                assert_eq!(device.copies().lost_units(), 0);
                rewritten += device.counters().stripes_rewritten;
                rebuilt += device.counters().rebuilt_units;
            }
        }
    }
    assert!(rewritten > 700 && rebuilt > 500, "{rewritten} stripes rewritten, {rebuilt} rebuilt");
}

/// All members of `gc_schedule` and `gc_scope`, and wear levelling; the buffer is always full
/// here.
#[test]
fn a_plane_fails_under_every_way_to_collect() {
    type Change = fn(&mut DeviceConfig);
    let changes: [(&str, Change); 7] = [
        ("threshold", |c| c.policy.gc_schedule = member("threshold")),
        ("instant", |c| c.policy.gc_schedule = member("instant")),
        ("preemptive", |c| c.policy.gc_schedule = member("preemptive")),
        ("channel", |c| (c.policy.gc_scope, c.policy.gc_schedule) = (member("channel"), member("threshold"))),
        ("controller", |c| {
            (c.policy.gc_scope, c.policy.gc_schedule) = (member("controller"), member("preemptive"))
        }),
        ("operation", |c| c.policy.gc_scope = member("operation")),
        ("levelled", |c| c.policy.wear = member("shift-migrate")),
    ];
    for (name, change) in changes {
        let mut config = roomy();
        change(&mut config);
        if let BufferConfig::Lru(m) = &mut config.policy.buffer {
            m.capacity = 8 * PAGE;
        }
        let plan = Plan { grain: PAGE, weights: [4, 12, 0, 0], gap: 0, ..plan() };
        let case = Case { seed: 11, config, plan };
        let (outcome, device) =
            swarm::run_over(&case, InMemory::new()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(outcome.failed && device.copies().lost_units() == 0, "{name}: the plane did not fail");
        assert!(device.counters().stripes_rewritten > 10, "{name}: {:?}", device.counters());
    }
}

/// A read of a unit on a failed plane is a reconstruction: it takes longer, and the failed
/// plane is not read.
#[test]
fn a_read_of_a_failed_plane_is_a_rebuilding() {
    let mut host = Host::observed(&roomy(), ());
    host.device.fill(host.device.host_bytes());
    let ordinary = host.one(100_000, HostOp::Read, 0, PAGE as u32);
    assert_eq!(ordinary.ledger.get(Cause::RECONSTRUCTION), 0);
    let lost_before = host.device.copies().lost_units();
    let Mapping::Flash(ppa) = host.device.whereabouts(Lpn(0)) else { panic!("the drive was filled") };
    let plane = host.device.shape().layout.lane_at(ppa);
    host.device.kill_planes(plane..plane + 1).unwrap();
    assert!(lost_before == 0 && host.device.copies().lost_units() > 0);
    // Before any stripe was rewritten.
    let read = host.one(200_000, HostOp::Read, 0, PAGE as u32);
    assert_eq!(read.ledger.get(Cause::RECONSTRUCTION), 3_000, "{:?}", read.ledger);
    assert!(read.latency > ordinary.latency);
}

#[test]
fn planes_that_do_not_exist_are_refused_and_a_drive_without_room_reads_on() {
    let refusal = |c: &DeviceConfig, plane: u32| {
        Device::new(c, 1, ()).unwrap().kill_planes(plane..plane + 1).unwrap_err()
    };
    assert!(refusal(&small_drive(), 0).contains("without faults"));
    assert!(refusal(&roomy(), 8).contains("has 8"));
    let mut full = roomy();
    full.ftl.over_provisioning = Some(0.25);
    let mut host = Host::observed(&full, ());
    host.device.fill(host.device.host_bytes());
    host.device.kill_planes(3..4).unwrap();
    assert_eq!(host.device.read_only_since(), Some(SimTime(0)));
    let status = |host: &mut Host, at, op| host.one(at, op, 0, PAGE as u32).status;
    assert_eq!(status(&mut host, 1_000, HostOp::Write), Status::ReadOnly);
    assert_eq!(status(&mut host, 100_000, HostOp::Trim), Status::ReadOnly);
    assert_eq!(status(&mut host, 200_000, HostOp::Read), Status::Ok, "computed from the rest");
}
