//! Comparisons of two schemes under the same requests.

use super::*;
use tailcut_core::device::Device;
use tailcut_testkit::{Done, Host, Stage, closed_loop, small_drive};
use tailcut_units::{Command, HostOp, Stream};

/// Run a mixed load on an aged drive of four dies; returns the completions and the suspensions
/// of erases.
fn mixed(config: &DeviceConfig) -> (Vec<Done>, u64) {
    let mut host = Host::new(config);
    let bytes = host.device.host_bytes();
    host.device.fill(bytes);
    host.device.age_uniform(0..bytes, 4_096, &mut |_| true);
    let mut s = Stream::new(12, "compare", 0);
    let mut at = 0;
    for _ in 0..6_000 {
        at += s.below(200_000);
        while !host.device.has_place() {
            at = at.max(host.device.next_deadline().0);
            let due = host.device.next_deadline().0;
            host.advance(due);
        }
        let op = if s.below(3) == 0 { HostOp::Write } else { HostOp::Read };
        host.submit(at, op, s.below(bytes / 4_096) * 4_096, 4_096);
    }
    host.drain();
    let suspends = host.device.flash_counters().erase_suspension.suspends;
    (host.done, suspends)
}

fn mixed_with(suspend_erase: SuspendEraseConfig) -> (Vec<Done>, u64) {
    let mut c = small_drive();
    c.policy.schedule = swarm::member("read-priority");
    c.policy.suspend_erase = suspend_erase;
    mixed(&c)
}

#[test]
fn the_ends_of_the_timeout_are_deferred_and_immediate() {
    let timeout = |after| {
        let clock = timeout::Clock::Erase;
        mixed_with(SuspendEraseConfig::Timeout(timeout::Config { after: Span(after), clock }))
    };
    let (deferred, immediate) =
        (mixed_with(swarm::member("deferred")), mixed_with(swarm::member("immediate")));
    assert!(deferred.1 > 100 && immediate.1 > 100, "{} and {} suspensions", deferred.1, immediate.1);
    assert!(timeout(0) == deferred, "a timeout of zero is D-ES");
    assert!(timeout(1_000_000_000_000) == immediate, "a timeout that is never reached is I-ES");
    assert!(deferred.0 != immediate.0 && timeout(1_000_000).0 != deferred.0, "they differ");
}

/// Run reads at given times during successive erases; returns their latencies.
fn open_loop(member: &str, seed: u64, erases: u64) -> Vec<u64> {
    let mut stage = Stage::new(erasing(member));
    if erases > 0 {
        stage.erase(T, erases);
    }
    let mut s = Stream::new(seed, "open loop", 0);
    let mut at = T;
    for _ in 0..150 {
        at += s.below(2 * READ + 30_000 * seed);
        stage.read(at);
    }
    stage.play(T - COMMAND).reads().iter().map(|d| d.latency).collect()
}

#[test]
fn no_read_is_slower_under_ideal_with_the_same_arrivals() {
    let mut slower = 0;
    for seed in 0..20 {
        let ideal = open_loop("ideal", seed, 3);
        // Except for the command of an erase, which occupies the die and cannot be withdrawn.
        let none = open_loop("never", seed, 0);
        let longest = none.iter().zip(&ideal).map(|(n, i)| i.saturating_sub(*n)).max();
        assert!(longest <= Some(3 * COMMAND), "seed {seed}: ideal adds {longest:?}");
        for member in ["arbitrary", "immediate", "deferred", "never"] {
            let real = open_loop(member, seed, 3);
            for (i, (a, b)) in ideal.iter().zip(&real).enumerate() {
                assert!(a <= b, "seed {seed}, read {i}: {a} under ideal, {b} under {member}");
                slower += u64::from(a < b);
            }
        }
    }
    assert!(slower > 1_000, "{slower}");
}

/// Mean latency of the reads of a closed loop and half of its 95 % interval, from batch means.
fn mean(member: &str) -> (f64, f64) {
    let mut c = small_drive();
    c.policy.schedule = swarm::member("read-priority");
    c.policy.suspend_erase = swarm::member(member);
    let mut device = Device::new(&c, 1, ()).expect("a valid drive");
    let bytes = device.host_bytes();
    device.fill(bytes);
    device.age_uniform(0..bytes, 4_096, &mut |_| true);
    let mut s = Stream::new(13, "closed loop", 0);
    let mut reads = Vec::new();
    let mut next = |_| {
        let op = if s.below(3) == 0 { HostOp::Write } else { HostOp::Read };
        Command::new(op, s.below(bytes / 4_096) * 4_096, 4_096)
    };
    closed_loop(&mut device, 0, 8, 60_000, &mut next, &mut |c| {
        if c.command.op == HostOp::Read {
            reads.push((c.completed - c.arrived).0 as f64);
        }
    });
    let batches: Vec<f64> =
        reads.chunks_exact(reads.len() / 20).map(|b| b.iter().sum::<f64>() / b.len() as f64).collect();
    let n = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / n;
    let variance = batches.iter().map(|b| (b - mean) * (b - mean)).sum::<f64>() / (n - 1.0);
    (mean, 2.09 * (variance / n).sqrt())
}

#[test]
fn closed_loops_are_faster_the_less_an_erase_holds_reads_up() {
    let (ideal, es, never) = (mean("ideal"), mean("arbitrary"), mean("never"));
    assert!(ideal.0 <= es.0 + ideal.1 + es.1, "ideal {ideal:?}, ES {es:?}");
    assert!(es.0 + es.1 < never.0 - never.1, "ES {es:?}, never {never:?}");
}
