//! Tests that a limit on the data that wait in the buffer for one die holds back the writes to that die,
//! and no other writes.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::ftl::config::ExtentKind;
use tailcut_core::policy::buffer::{BufferConfig, QueueLimit, QueueOf};
use tailcut_core::policy::flush::{FlushConfig, in_flight};
use tailcut_testkit::{Host, small_drive};
use tailcut_units::{Cause, HostOp, Span};

/// A mapping unit is a page of one plane.
const UNIT: u64 = 8192;
const DIES: u64 = 4;

/// Two channels of two dies; superblocks are lanes. Units are striped over the dies, and a
/// write unit of two pages fills a row. One group of a die, a row, is on its way at a time.
fn drive(limit: Option<QueueLimit>) -> DeviceConfig {
    let mut c = small_drive();
    (c.host.submit_latency, c.host.complete_latency, c.host.link_rate) = (Span(0), Span(0), u64::MAX);
    (c.controller.command, c.ftl.mapping_unit) = (Span(0), UNIT);
    let BufferConfig::Lru(lru) = &mut c.policy.buffer else { unreachable!("it has a buffer") };
    (lru.capacity, lru.queue_limit) = (64 * UNIT, limit);
    c.policy.flush = FlushConfig::InFlight(in_flight::Config { most: 0.0 });
    c
}

fn limit(of: QueueOf, units: u64) -> Option<QueueLimit> {
    Some(QueueLimit { of, bytes: units * UNIT })
}

/// Latencies of single-page writes to these units, all submitted at time 0.
fn writes(c: &DeviceConfig, units: &[u64]) -> Vec<u64> {
    let mut host = Host::new(c);
    for &unit in units {
        host.submit(0, HostOp::Write, unit * UNIT, UNIT as u32);
        host.device.audit().expect("the queues are sound");
    }
    host.drain();
    host.device.audit().expect("the queues are sound");
    let mut done = host.done;
    done.sort_by_key(|d| d.index);
    for d in &done {
        let room: u64 = d.ledger.iter().filter(|(c, _)| *c != Cause::CONTROLLER).map(|(_, ns)| ns).sum();
        assert_eq!(room, d.latency, "all of a write's time is a wait for its queue: {:?}", d.ledger);
    }
    done.into_iter().map(|d| d.latency).collect()
}

#[test]
fn a_full_queue_holds_back_its_own_writes_and_others_pass() {
    // Five pages for die 0, then one for each other die.
    let units = [0, DIES, 2 * DIES, 3 * DIES, 4 * DIES, 1, 2, 3];
    assert_eq!(writes(&drive(None), &units), [0; 8], "the buffer has room for all");
    let took = writes(&drive(limit(QueueOf::Die, 2)), &units);
    // The first two leave as a row, and the next two wait until it is programmed: the commands and the
    // data of two planes, and a program of the first page type.
    let program = 2 * 300 + 2 * 10_240 + 4 * 80_000;
    assert_eq!(took, [0, 0, 0, 0, program, 0, 0, 0], "the fifth waits until the second row leaves");
}

/// A page that is alone at its die does not keep the groups of other dies from leaving in turn, however fast a
/// third die is written.
#[test]
fn complete_groups_leave_in_the_order_in_which_they_were_completed() {
    let mut c = drive(limit(QueueOf::Die, 2));
    c.host.queue_depth = 1024;
    let mut host = Host::new(&c);
    let write = |host: &mut Host, at, unit: u64| host.submit(at, HostOp::Write, unit * UNIT, UNIT as u32);
    // The first row of die 3 is on its way. One page waits for die 0, and six for die 1: two wait in the buffer,
    // four wait for its queue.
    for unit in [3, 3 + DIES, 0].into_iter().chain((0..6).map(|i| 1 + i * DIES)) {
        write(&mut host, 0, unit);
    }
    // Die 2 gets a row in less time than a program takes.
    for i in 0..400 {
        write(&mut host, i * 100_000, 2 + i % 100 * DIES);
    }
    host.drain();
    host.device.audit().expect("the queues are sound");
    let of_die = |die: u64| host.done.iter().filter(move |d| d.command.offset / UNIT % DIES == die);
    assert_eq!(of_die(0).map(|d| d.latency).max(), Some(0), "a lone page waits in the buffer");
    let program = 1_500_000;
    let longest = of_die(1).map(|d| d.latency).max().expect("writes");
    assert!(longest < 8 * program, "die 1 waits for {longest} ns");
    assert!(of_die(2).any(|d| d.latency > program), "die 2 is written faster than it is programmed");
}

#[test]
fn the_writes_of_a_queue_keep_their_order() {
    let units: Vec<u64> = (0..8).map(|i| i * DIES).collect();
    let took = writes(&drive(limit(QueueOf::Die, 2)), &units);
    assert!(took.windows(2).all(|w| w[0] <= w[1]), "{took:?}");
    assert_eq!(took.iter().filter(|&&ns| ns == 0).count(), 4, "two leave, and two fill the queue: {took:?}");
}

#[test]
fn a_queue_is_of_a_die_or_of_a_lane() {
    let blocks = |of| {
        let mut c = drive(limit(of, 2));
        (c.ftl.extent, c.ftl.write_planes) = (ExtentKind::Block, 1);
        (c.ftl.gc.copy_planes, c.ftl.gc.program_planes, c.ftl.gc.erase_planes) = (1, 1, 1);
        c
    };
    // Units of die 0, on its two planes in turn. The first two leave, and the next two wait.
    let units: Vec<u64> = (0..5).map(|i| i * DIES).collect();
    assert_eq!(writes(&blocks(QueueOf::Lane), &units), [0; 5], "a plane has two");
    let took = writes(&blocks(QueueOf::Die), &units);
    assert!(took[..4] == [0; 4] && took[4] > 0, "the die has two: {took:?}");
}

#[test]
fn a_write_over_several_queues_waits_for_each() {
    let mut c = drive(limit(QueueOf::Die, 2));
    c.host.max_transfer = 16 * UNIT;
    let mut host = Host::new(&c);
    // A row of the first command leaves, and the others fill their queues. Each row of the second command
    // waits for one of them.
    let bytes = 2 * DIES * UNIT;
    host.submit(0, HostOp::Write, 0, bytes as u32);
    host.submit(0, HostOp::Write, bytes, bytes as u32);
    host.device.audit().expect("the queues are sound");
    host.drain();
    assert!(host.done[0].latency == 0 && host.done[1].latency > 0, "{:?}", host.done);
}

#[test]
fn a_limit_is_refused_where_the_queue_of_a_write_is_not_known() {
    let refused = |change: fn(&mut DeviceConfig), why: &str| {
        let mut c = drive(limit(QueueOf::Die, 2));
        c.policy.flush = tailcut_testkit::swarm::member("watermark");
        change(&mut c);
        let error = tailcut_core::device::Device::new(&c, 1, ()).map(drop).expect_err("it is refused");
        assert!(error.to_string().contains(why), "{error}");
    };
    refused(|c| c.policy.placement = tailcut_testkit::swarm::member("dynamic"), "placement");
    refused(|c| c.ftl.extent = ExtentKind::Line, "lane");
    refused(
        |c| {
            let BufferConfig::Lru(lru) = &mut c.policy.buffer else { unreachable!("it has a buffer") };
            lru.queue_limit = limit(QueueOf::Die, 1).map(|l| QueueLimit { bytes: l.bytes / 2, ..l });
        },
        "one write unit",
    );
}
