//! Tests which host commands share a die, a plane or a channel, and which type of page each meets.
//!
//! Each pair of a read and a program runs on an idle drive whose host interface takes no time, with
//! the second on the plane of the first, on the other plane of its die, on the other die of its
//! channel, or on the other channel. What two operations wait for that share a resource is tested at
//! the flash alone (`flash` of `core`); behind each occupant, in `causes`.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, Shape, StepEvent};
use tailcut_core::ftl::config::{ExtentKind, FtlKind};
use tailcut_core::nand::config::{BusyKind, PlaneReading};
use tailcut_core::pblk;
use tailcut_core::policy::*;
use tailcut_testkit::{Host, Operation, errors_table, operations, small_drive};
use tailcut_units::{HostOp, Span};

const LANES: u64 = 8;
const PAGES: u64 = 6;
const TYPES: u64 = 3;
/// Blocks of each lane that are filled.
const FILLED: u64 = 2;
/// Start of the first operation of a pair, ns.
const T: u64 = 1_000_000_000;

/// Two channels of two dies of two planes with three page types; every plane is a lane.
fn harness(busy: BusyKind) -> DeviceConfig {
    let mut c = small_drive();
    (c.geometry.blocks, c.geometry.pages, c.geometry.busy_unit) = (12, PAGES as u32, busy);
    c.timing.read = vec![Span(40_000), Span(61_000), Span(83_000)];
    c.timing.program.pulses = vec![4, 6, 9];
    (c.host.submit_latency, c.host.complete_latency, c.host.link_rate) = (Span(0), Span(0), u64::MAX);
    c.controller.command = Span(0);
    (c.ftl.mapping_unit, c.ftl.extent, c.ftl.write_planes) = (8192, ExtentKind::Block, 1);
    (c.ftl.gc.copy_planes, c.ftl.gc.program_planes, c.ftl.gc.erase_planes) = (1, 1, 1);
    c.ftl.over_provisioning = Some(0.5);
    c.policy.buffer = buffer::BufferConfig::None(Default::default());
    c.policy.flush = flush::FlushConfig::Immediate(Default::default());
    c
}

/// The position of the second operation relative to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    SamePlane,
    OtherPlane,
    OtherDie,
    OtherChannel,
}

const RELATIONS: [Relation; 4] =
    [Relation::SamePlane, Relation::OtherPlane, Relation::OtherDie, Relation::OtherChannel];

impl Relation {
    /// The lane of the second operation when the first is on lane 0. Lanes are numbered by
    /// plane, then die, then channel.
    fn lane(self) -> u64 {
        match self {
            Relation::SamePlane => 0,
            Relation::OtherPlane => 1,
            Relation::OtherDie => 2,
            Relation::OtherChannel => 4,
        }
    }

    fn shares_unit(self, busy: BusyKind) -> bool {
        self == Relation::SamePlane || self == Relation::OtherPlane && busy == BusyKind::Die
    }
}

/// How long an operation holds its die and, at first, its channel, ns.
fn spans(c: &DeviceConfig, op: HostOp, page_type: u64) -> (u64, u64) {
    let command = c.channel.command.0;
    let page = (c.geometry.page * 1_000_000_000).div_ceil(c.channel.rate);
    let p = &c.timing.program;
    match op {
        HostOp::Read => (command + c.timing.read[page_type as usize].0 + page, command),
        _ => {
            let array = u64::from(p.pulses[page_type as usize]) * (p.pulse.0 + p.verify.0);
            (command + page + array, command + page)
        }
    }
}

/// Offset of the `k`-th page of a lane; pages are striped over channels, then dies, then planes.
fn offset(lane: u64, k: u64) -> u64 {
    let position = lane / 4 + lane / 2 % 2 * 2 + lane % 2 * 4;
    (k * LANES + position) * 8192
}

/// Run two operations, each of a page type on a lane, which arrive at these times.
fn pair(c: &DeviceConfig, asked: [(HostOp, u64, u64, u64); 2]) -> [Operation; 2] {
    let mut host = Host::observed(c, Vec::<StepEvent>::new());
    host.device.fill(FILLED * PAGES * LANES * 8192);
    // Pages written on each lane after the fill. None of them was written before, so nothing becomes
    // stale and nothing is collected.
    let mut rows = [0; LANES as usize];
    let mut events = Vec::new();
    let mut clock = 1_000_000;
    for (op, lane, page_type, at) in asked {
        if op == HostOp::Read {
            events.push((at, op, offset(lane, PAGES + page_type)));
            continue;
        }
        let row = &mut rows[lane as usize];
        loop {
            let is_it = *row % TYPES == page_type;
            let begin = if is_it { at } else { clock };
            events.push((begin, op, offset(lane, FILLED * PAGES + *row)));
            *row += 1;
            clock += 10_000_000;
            if is_it {
                break;
            }
        }
    }
    events.sort_by_key(|e| e.0);
    for (at, op, offset) in events {
        host.submit(at, op, offset, 8192);
    }
    host.drain();
    let mut ops = operations(host.device.observer());
    ops.retain(|o| o.granted >= T);
    ops.try_into().expect("two operations")
}

#[test]
fn who_shares_a_die_and_who_a_channel() {
    let kinds = [HostOp::Read, HostOp::Write];
    let types = (0..TYPES).flat_map(|a| (0..TYPES).map(move |b| (a, b)));
    let mut tried = 0;
    for ((first_type, second_type), (first, second)) in
        types.flat_map(|types| kinds.iter().flat_map(move |&a| kinds.map(|b| (types, (a, b)))))
    {
        for (relation, busy) in
            RELATIONS.into_iter().flat_map(|r| [BusyKind::Die, BusyKind::Plane].map(|busy| (r, busy)))
        {
            // Pages of a plane are programmed in order.
            let in_order = second_type == (first_type + 1) % TYPES;
            let both = first == HostOp::Write && second == HostOp::Write;
            if both && relation == Relation::SamePlane && !in_order {
                continue;
            }
            let c = harness(busy);
            let lane = relation.lane();
            let [a, b] = pair(&c, [(first, 0, first_type, T), (second, lane, second_type, T + 1)]);
            let label = format!(
                "{first:?} of type {first_type}, {second:?} of type {second_type}, {relation:?}, {busy:?}"
            );
            let (held, inward) = spans(&c, first, first_type);
            assert_eq!((a.granted, a.on_channel()), (T, T), "{label}");
            let begins = if relation.shares_unit(busy) {
                (T + held, T + held)
            } else if relation != Relation::OtherChannel {
                (T + 1, T + inward)
            } else {
                (T + 1, T + 1)
            };
            assert_eq!((b.granted, b.on_channel()), begins, "{label}");
            if relation.shares_unit(busy) || relation == Relation::OtherChannel {
                let own = spans(&c, second, second_type).0;
                assert_eq!((a.released(), b.released()), (T + held, begins.1 + own), "{label}");
            }
            tried += 1;
        }
    }
    assert_eq!(tried, (4 * TYPES * TYPES * 4 - 6) * 2);
}

/// Where reads run by plane, two reads share what they share where planes are busy units; a program has its die.
#[test]
fn reads_that_run_by_plane_share_a_die_and_programs_do_not() {
    let kinds = [HostOp::Read, HostOp::Write];
    for (first, second) in kinds.into_iter().flat_map(|a| kinds.map(|b| (a, b))) {
        for relation in RELATIONS {
            let mut c = harness(BusyKind::Die);
            c.geometry.plane_reads = PlaneReading::Independent;
            let reads = first == HostOp::Read && second == HostOp::Read;
            let busy = if reads { BusyKind::Plane } else { BusyKind::Die };
            let (held, inward) = spans(&c, first, 0);
            let [a, b] = pair(&c, [(first, 0, 0, T), (second, relation.lane(), 1, T + 1)]);
            let label = format!("{first:?}, {second:?}, {relation:?}");
            let begins = if relation.shares_unit(busy) {
                (T + held, T + held)
            } else if relation != Relation::OtherChannel {
                (T + 1, T + inward)
            } else {
                (T + 1, T + 1)
            };
            assert_eq!((a.granted, a.on_channel()), (T, T), "{label}");
            assert_eq!((b.granted, b.on_channel()), begins, "{label}");
        }
    }
}

/// What is changed of a drive.
type Change<'a> = &'a dyn Fn(&mut DeviceConfig);

/// Where reads cannot run by plane, or another key asks for what contradicts it, the drive is refused with the key.
#[test]
fn what_does_not_fit_reads_by_plane_is_refused() {
    let refused = |change: Change<'_>| {
        let mut c = small_drive();
        c.geometry.plane_reads = PlaneReading::Independent;
        change(&mut c);
        let problem = match c.ftl.kind {
            FtlKind::Page => Shape::new(&c, 1).err(),
            FtlKind::Pblk => pblk::Shape::new(&c, 1).err(),
        };
        problem.map(|p| p.key)
    };
    assert_eq!(refused(&|_| ()), None);
    let by_block = |c: &mut DeviceConfig| {
        (c.ftl.extent, c.ftl.write_planes) = (ExtentKind::Block, 1);
        (c.ftl.gc.copy_planes, c.ftl.gc.program_planes, c.ftl.gc.erase_planes) = (1, 1, 1);
    };
    let pblk = |c: &mut DeviceConfig| {
        c.ftl.kind = FtlKind::Pblk;
        (c.pblk.ring, c.geometry.pages) = (Some(256), 64);
    };
    let pipelined = |c: &mut DeviceConfig| {
        c.errors = Some(errors_table());
        c.ecc.codeword = 4096;
        let walk = read_retry::walk::Config { pipelined: true, ..Default::default() };
        c.policy.read_retry = read_retry::ReadRetryConfig::Walk(walk);
    };
    assert_eq!(refused(&by_block), None);
    assert_eq!(refused(&pblk), None);
    let cases: [(&str, Change<'_>); 7] = [
        ("geometry.plane_reads", &|c| {
            by_block(c);
            c.geometry.busy_unit = BusyKind::Plane;
        }),
        ("geometry.plane_reads", &|c| {
            by_block(c);
            c.geometry.planes = 1;
        }),
        ("geometry.plane_reads", &|c| {
            pblk(c);
            c.geometry.planes = 1;
        }),
        ("ftl.join_reads", &|c| c.ftl.join_reads = true),
        ("ftl.gc.join_reads", &|c| {
            by_block(c);
            c.ftl.gc.join_reads = true;
        }),
        ("policy.read_retry.walk.pipelined", &pipelined),
        ("policy.read_retry.walk.pipelined", &|c| {
            pblk(c);
            pipelined(c);
        }),
    ];
    for (i, (key, change)) in cases.iter().enumerate() {
        assert_eq!(refused(change).as_deref(), Some(*key), "case {i}");
    }
}

#[test]
fn what_does_not_fit_a_cache_program_is_refused_with_both_keys() {
    let mut c = small_drive();
    c.geometry.cache_program = true;
    c.policy.schedule = schedule::ScheduleConfig::ReadPriority(Default::default());
    assert!(Device::new(&c, 1, ()).is_ok());
    let members = suspend_program::SuspendProgramConfig::MEMBERS;
    for name in members.iter().filter(|&&name| name != "never") {
        let name = toml::Value::String(name.to_string());
        c.policy.suspend_program = name.clone().try_into().expect("a member");
        let problem = Device::new(&c, 1, ()).err().unwrap_or_else(|| panic!("{name}: it is accepted"));
        assert_eq!(problem.key, "policy.suspend_program");
        assert!(problem.problem.contains("with geometry.cache_program"), "{problem}");
    }
    let mut c = small_drive();
    (c.ftl.kind, c.pblk.ring, c.geometry.pages) = (FtlKind::Pblk, Some(256), 64);
    assert!(pblk::Pblk::new(&c, 1, ()).is_ok());
    c.geometry.cache_program = true;
    let problem = pblk::Pblk::new(&c, 1, ()).err().expect("one program at a time");
    assert!(problem.key == "geometry.cache_program" && problem.problem.contains("ftl.kind"), "{problem}");
}
