//! Tests queues, throughput bounds and write amplification against their theories, computed
//! here without the model.
//!
//! `cargo test --test theory -- --nocapture` prints every measured value beside its theory.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Completion, Device, Until};
use tailcut_core::ftl::config::ExtentKind;
use tailcut_core::nand::config::PlaneReading;
use tailcut_core::policy::*;
use tailcut_testkit::skew::zipf;
use tailcut_testkit::{Network, Spare, Visit, arrivals, closed_loop, cross_check_drive, small_drive};
use tailcut_units::quantity::Level;
use tailcut_units::{Cause, Command, HostOp, Span, Stream};

/// Assert that `got` is within `share` of `theory`, and print both.
fn within(what: &str, got: f64, theory: f64, share: f64) {
    let off = got / theory - 1.0;
    println!("{what}: measured {got:.3}, theory {theory:.3}, off {:+.2} %", off * 100.0);
    assert!(off.abs() <= share, "{what}: {got} is not within {} % of {theory}", share * 100.0);
}

fn read(offset: u64, bytes: u32) -> Command {
    Command::new(HostOp::Read, offset, bytes)
}

/// One die of one plane behind a host interface that takes no time.
fn one_die() -> DeviceConfig {
    let mut c = cross_check_drive();
    (c.geometry.channels, c.geometry.planes, c.geometry.blocks) = (1, 1, 64);
    c.ftl.over_provisioning = Some(0.2);
    c.controller.command = Span(0);
    (c.host.submit_latency, c.host.complete_latency, c.host.link_rate) = (Span(0), Span(0), u64::MAX);
    (c.host.queue_depth, c.host.max_transfer) = (4096, 8192);
    c
}

/// Poisson reads of 4 KiB on one die against M/D/1: the mean wait is ρ S / 2 (1 − ρ), and
/// one request in 1 − ρ does not wait at all. S is the whole time the die is held.
///
/// The number of requests: the mean wait of n successive customers of M/M/1 has a relative
/// variance of (2 + 5ρ − 4ρ² + ρ³) / (ρ (1 − ρ)² n) (Daley, J. Australian Math. Soc. 1968),
/// and constant service has less. It is chosen so that 2 % is four standard deviations;
/// batch means check that the choice holds.
#[test]
fn one_die_under_poisson_reads_is_m_d_1() {
    let c = one_die();
    let service = (c.channel.command.0 + c.timing.read[0].0 + 4096 * 2) as f64;
    for load in [0.3, 0.6, 0.8] {
        let relative = 0.02 / 4.0;
        let variance =
            (2.0 + 5.0 * load - 4.0 * load * load + load * load * load) / (load * f64::powi(1.0 - load, 2));
        let count = (variance / (relative * relative)) as u64;
        let mut device = Device::new(&c, 1, ()).unwrap();
        let bytes = device.host_bytes();
        device.fill(bytes);
        let mut s = Stream::new(1, "poisson", (load * 10.0) as u64);
        let mut at = 0.0;
        let commands = (0..count).map(|_| {
            at -= f64::ln(1.0 - s.unit()) * service / load;
            (at as u64, read(s.below(bytes / 4096) * 4096, 4096))
        });
        const BATCHES: usize = 20;
        let (mut batches, mut seen, mut at_once) = ([0.0; BATCHES], 0, 0u64);
        arrivals(&mut device, commands, &mut |done: &Completion<'_>| {
            let wait: u64 = done.ledger.iter().filter(|(c, _)| c.is_die_wait()).map(|(_, ns)| ns).sum();
            assert_eq!((done.completed - done.arrived).0, wait + service as u64);
            batches[(seen * BATCHES as u64 / count) as usize] += wait as f64 * BATCHES as f64 / count as f64;
            at_once += u64::from(wait == 0);
            seen += 1;
        });
        let mean = batches.iter().sum::<f64>() / BATCHES as f64;
        let spread = batches.iter().map(|b| (b - mean) * (b - mean)).sum::<f64>();
        let error = f64::sqrt(spread / ((BATCHES - 1) * BATCHES) as f64) / mean;
        println!("load {load}: {count} reads, standard error {:.2} %", error * 100.0);
        assert!(error < 1.5 * relative, "the sample is too small: standard error {error}");
        within(
            &format!("M/D/1 wait at load {load}, us"),
            mean / 1e3,
            load * service / (2.0 * (1.0 - load)) / 1e3,
            0.02,
        );
        within(
            &format!("M/D/1 share without a wait at load {load}"),
            at_once as f64 / count as f64,
            1.0 - load,
            0.01,
        );
    }
}

/// Four dies with one channel each at a fixed depth, against a simulation of four FIFO servers
/// that receive the same requests in the same order.
#[test]
fn four_dies_at_a_depth_are_a_closed_network() {
    let c = cross_check_drive();
    let c = DeviceConfig {
        geometry: tailcut_core::nand::config::GeometryConfig { blocks: 32, ..c.geometry.clone() },
        ..c
    };
    const COUNT: u64 = 200_000;
    for depth in [1, 4, 8, 16, 32] {
        let mut device = Device::new(&c, 1, ()).unwrap();
        let pages = device.host_bytes() / 8192;
        device.fill(pages * 8192);
        let mut s = Stream::new(1, "network", 0);
        let targets: Vec<u64> = (0..COUNT).map(|_| s.below(pages)).collect();
        let mut sum = 0u64;
        let next = &mut |i: u64| read(targets[i as usize] * 8192, 4096);
        let end = closed_loop(&mut device, 0, depth, COUNT, next, &mut |done| {
            sum += (done.completed - done.arrived).0
        });
        let network = Network {
            servers: 4,
            depth: depth as usize,
            before: c.host.submit_latency.0 + c.controller.command.0,
            after: 1024 + c.host.complete_latency.0,
            command: c.channel.command.0,
            array: c.timing.read[0].0,
            transfer: 4096 * 2,
            pairs: false,
        };
        // Pages are striped over the channels first.
        let flow =
            network.run(COUNT, |i| Visit { server: (targets[i as usize] % 4) as usize, plane: 0, page: 0 });
        within(
            &format!("closed network QD{depth}, mean us"),
            sum as f64 / COUNT as f64 / 1e3,
            flow.mean / 1e3,
            0.01,
        );
        within(
            &format!("closed network QD{depth}, reads/s"),
            COUNT as f64 * 1e9 / end as f64,
            flow.rate,
            0.01,
        );
    }
}

/// One channel of dies with planes that are written one at a time, with random reads of a sense time at a depth.
/// Returns when the last read ended, and the latency of each, ns.
fn random_reads(
    (dies, planes, reading): (u32, u32, PlaneReading),
    sense: u64,
    depth: u32,
) -> (u64, Vec<u64>) {
    let mut c = small_drive();
    let g = &mut c.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes) = (1, 1, dies, planes);
    (g.blocks, g.plane_reads) = (32, reading);
    c.timing.read = vec![Span(sense)];
    c.timing.program.pulses = vec![4];
    c.ftl.extent = ExtentKind::Block;
    (c.ftl.mapping_unit, c.ftl.write_planes) = (8192, 1);
    (c.ftl.gc.copy_planes, c.ftl.gc.program_planes, c.ftl.gc.erase_planes) = (1, 1, 1);
    c.policy.schedule = schedule::ScheduleConfig::Fifo(Default::default());
    c.host.queue_depth = 64;
    let mut device = Device::new(&c, 1, ()).unwrap();
    let pages = device.host_bytes() / 8192;
    device.fill(pages * 8192);
    let mut s = Stream::new(1, "planes", 0);
    let mut latencies = vec![0; 20_000];
    let count = latencies.len() as u64;
    let end =
        closed_loop(&mut device, 0, depth, count, &mut |_| read(s.below(pages) * 8192, 4096), &mut |done| {
            latencies[done.index as usize] = (done.completed - done.arrived).0;
        });
    (end, latencies)
}

/// Planes that read independently are to reads what dies of one plane are: each read takes the same time, to the
/// nanosecond.
#[test]
fn planes_that_read_independently_are_as_many_dies() {
    for (sense, depth) in [(40_000, 1), (40_000, 4), (40_000, 32), (3_000, 32), (0, 7)] {
        let planes = random_reads((1, 4, PlaneReading::Independent), sense, depth);
        let dies = random_reads((4, 1, PlaneReading::Together), sense, depth);
        assert!(planes == dies, "a sense of {sense} ns at depth {depth}");
        let together = random_reads((1, 4, PlaneReading::Together), sense, depth);
        match depth {
            1 => assert!(planes == together, "a read alone takes the same time"),
            // Senses that take no time have nothing to overlap.
            _ => assert!(planes.0 < together.0 || sense == 0, "they overlap"),
        }
    }
}

/// With many reads outstanding each plane always has one: a closed network of as many customers as planes, with a
/// time `sense` on their own and `bus` on the channel. Its rate X is bounded by N / (sense + N bus) ≤ X ≤
/// min(1 / bus, N / (sense + bus)) (asymptotic bounds, Denning and Buzen, ACM Computing Surveys 1978).
#[test]
fn reads_by_plane_reach_as_many_senses_as_planes_or_the_channel() {
    let c = small_drive();
    let bus = (c.channel.command.0 + (4096 * 1_000_000_000u64).div_ceil(c.channel.rate)) as f64;
    for sense in [5_000, 20_000, 40_000, 100_000, 400_000] {
        let by = |reading| {
            let (end, latencies) = random_reads((1, 4, reading), sense, 32);
            latencies.len() as f64 / end as f64
        };
        let (together, independent) = (by(PlaneReading::Together), by(PlaneReading::Independent));
        let alone = sense as f64 + bus;
        let low = 4.0 / (sense as f64 + 4.0 * bus);
        let high = f64::min(1.0 / bus, 4.0 / alone);
        println!(
            "a sense of {sense} ns: {:.2} times as many reads as together, bounds {:.2} to {:.2}",
            independent / together,
            low * alone,
            high * alone
        );
        // Few times is a plane without a read: 32 are outstanding.
        assert!(independent > 0.98 * low && independent < 1.001 * high, "{low} < {independent} < {high}");
        within("one sense a die, reads/s", together * 1e9, 1e9 / alone, 0.01);
    }
}

/// The rate of commands in the second half of a closed loop, commands a second.
fn rate(c: &DeviceConfig, depth: u32, count: u64, mut next: impl FnMut(&Device, u64) -> Command) -> f64 {
    let mut device = Device::new(c, 1, ()).unwrap();
    let bytes = device.host_bytes();
    device.fill(bytes / 2);
    let ask = Device::new(c, 1, ()).unwrap();
    let (mut ended, mut half) = (0, 0);
    let end = closed_loop(&mut device, 0, depth, count, &mut |i| next(&ask, i), &mut |done| {
        ended += 1;
        if ended == count / 2 {
            half = done.completed.0;
        }
    });
    (count - count / 2) as f64 * 1e9 / (end - half) as f64
}

/// When everything else is fast and the queue is deep, one server alone determines the rate.
#[test]
fn throughput_ends_at_the_narrowest_server() {
    let mut s = Stream::new(1, "ceilings", 0);
    let mut anywhere = |d: &Device, bytes: u64| s.below(d.host_bytes() / 2 / bytes) * bytes;
    // Page after page, so that the load is spread evenly over the dies at all times.
    let round = |d: &Device, i: u64| read(i % (d.host_bytes() / 2 / 8192) * 8192, 8192);
    let mut free = small_drive();
    free.geometry.blocks = 128;
    free.controller.command = Span(0);
    free.host.link_rate = u64::MAX;
    free.ecc.decode = Span(0);
    (free.host.queue_depth, free.host.max_transfer) = (256, 64 << 10);

    // One channel of eight dies is saturated with command cycles and transfers. With first-come
    // first-served order the dies synchronise: eight pages are transferred out, then eight
    // commands are sent. So a sense must not last longer than the seven commands that follow
    // its own.
    let mut c = free.clone();
    (c.geometry.channels, c.geometry.dies_per_chip) = (1, 8);
    c.timing.read = vec![Span(2_000)];
    c.timing.program.pulses = vec![4];
    let each = c.channel.command.0 + 10_240;
    let got = rate(&c, 64, 40_000, round);
    within("channel bound, reads/s", got, 1e9 / each as f64, 0.01);

    // The same channel with a decoder slower than the bus.
    let mut c = free.clone();
    (c.geometry.channels, c.geometry.dies_per_chip) = (1, 8);
    c.timing.read = vec![Span(5_000)];
    c.timing.program.pulses = vec![4];
    c.ecc.decode = Span(6_000);
    let got = rate(&c, 64, 40_000, round);
    within("decoder bound, reads/s", got, 1e9 / (4.0 * 6_000.0), 0.01);

    // One die of two page types, alternating with equal chances.
    let mut c = free.clone();
    (c.geometry.channels, c.geometry.dies_per_chip) = (1, 1);
    let each = c.channel.command.0 + (40_000 + 60_000) / 2 + 5_120;
    let got = rate(&c, 16, 40_000, |d, _| read(anywhere(d, 4096), 4096));
    within("die bound, reads/s", got, 1e9 / each as f64, 0.01);

    // The same die without a write buffer, written row by row: pages of both types.
    let mut c = c.clone();
    c.policy.buffer = buffer::BufferConfig::None(Default::default());
    c.policy.flush = flush::FlushConfig::Immediate(Default::default());
    let each = 2 * c.channel.command.0 + 20_480 + (4 + 6) * 80_000 / 2;
    let rows = Device::new(&c, 1, ()).unwrap().host_bytes() / 2 / 16384;
    let half = Device::new(&c, 1, ()).unwrap().host_bytes() / 2 / 16384 * 16384;
    let got = rate(&c, 8, rows / 2 * 2, |_, i| Command::new(HostOp::Write, half + i % rows * 16384, 16384));
    within("die bound, writes of a row/s", got, 1e9 / each as f64, 0.01);

    // The host link, in both directions.
    let mut c = free.clone();
    c.host.link_rate = 400_000_000;
    let got = rate(&c, 128, 40_000, |d, _| read(d.host_bytes() - 8192, 8192)) * 8192.0;
    within("host link bound, bytes/s up", got, 400e6, 0.01);
    let mut c = free.clone();
    c.host.link_rate = 20_000_000;
    c.channel.rate = u64::MAX;
    let got = rate(&c, 64, 20_000, |d, _| Command::new(HostOp::Write, anywhere(d, 4096), 4096)) * 4096.0;
    within("host link bound, bytes/s down", got, 20e6, 0.01);

    // The controller.
    let mut c = free.clone();
    c.controller.command = Span(3_000);
    let got = rate(&c, 64, 40_000, |d, _| read(d.host_bytes() - 4096, 4096));
    within("controller bound, commands/s", got, 1e9 / 3_000.0, 0.01);
}

/// A drive of four lanes of 1,024 blocks of 64 units for the functional ageing pass.
fn amplifier(over_provisioning: f64, victim: gc_victim::GcVictimConfig) -> DeviceConfig {
    let mut c = cross_check_drive();
    (c.geometry.channels, c.geometry.planes) = (4, 1);
    (c.geometry.blocks, c.geometry.pages) = (1024, 64);
    c.ftl.over_provisioning = Some(over_provisioning);
    let limits = gc_schedule::threshold::Config {
        start: Level::Count(2),
        hard: Level::Count(1),
        ..Default::default()
    };
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Threshold(limits);
    c.policy.gc_victim = victim;
    c
}

/// The blocks of a lane that can be collected, and their valid units, when a victim is chosen.
/// Excluded are the free blocks (`free` of them), the host's open block (just opened, so
/// empty), and the open block of the collection (half full on average).
fn spare(device: &Device, free: f64) -> Spare {
    let layout = &device.shape().layout;
    let b = layout.units_per_extent;
    Spare {
        b,
        blocks: f64::from(layout.usable[0]) - free - 2.0,
        valid: f64::from(layout.host_units) / f64::from(layout.lanes) - f64::from(b) / 2.0,
    }
}

/// Write amplification in the steady state. Ageing passes are repeated until twelve times the
/// raw capacity was programmed, so that the result does not depend on when the first pass was
/// judged steady.
fn aged(c: &DeviceConfig) -> (f64, Device) {
    let mut device = Device::new(c, 1, ()).unwrap();
    let (bytes, raw) = (device.host_bytes(), u64::from(device.shape().layout.units()));
    device.fill(bytes);
    let mut pass = || device.age_uniform(0..bytes, 8192, &mut |_| true);
    let first = pass();
    assert!(first.steady, "{first:?}");
    let (mut last, mut programs) = (first.waf, first.programs);
    while programs < 12 * raw {
        let report = pass();
        (last, programs) = (report.waf, programs + report.programs);
    }
    println!("  when first called steady: {:.3}, {:+.2} %", first.waf, (first.waf / last - 1.0) * 100.0);
    (last, device)
}

#[test]
fn greedy_write_amplification_meets_mean_field_theory() {
    for over_provisioning in [0.08, 0.15, 0.28] {
        let c = amplifier(over_provisioning, gc_victim::GcVictimConfig::Greedy(Default::default()));
        let (waf, device) = aged(&c);
        let theory = spare(&device, 2.0).greedy();
        within(&format!("greedy at {over_provisioning} over-provisioning"), waf, theory, 0.03);
    }
}

#[test]
fn the_choice_of_victims_orders_write_amplification_as_theory_does() {
    use gc_victim::GcVictimConfig as V;
    let choices = |d| V::DChoices(gc_victim::d_choices::Config { d });
    let run = |victim| aged(&amplifier(0.15, victim));
    let (fifo, device) = run(V::Fifo(Default::default()));
    let s = spare(&device, 2.0);
    within("FIFO", fifo, s.fifo(), 0.03);
    let (greedy, _) = run(V::Greedy(Default::default()));
    let mut last = f64::MAX;
    for d in [1, 2, 5, 10] {
        let (waf, _) = run(choices(d));
        within(&format!("best of {d}"), waf, s.d_choices(d, 1024.0), 0.03);
        assert!(waf < last && waf > 0.99 * greedy, "more choices are better, and greedy is best");
        last = waf;
    }
    let (cost_benefit, _) = run(V::CostBenefit(Default::default()));
    println!("cost-benefit: measured {cost_benefit:.3}, between greedy {greedy:.3} and FIFO {fifo:.3}");
    assert!(cost_benefit > 0.99 * greedy && cost_benefit < 1.01 * fifo);
}

/// Write amplification of FIFO under skewed writes has the period of a turn, and first windows within a turn
/// that agree. The band was set before: successive turns differ by 2 % when the drive is called steady, each
/// difference is at most half of the one before, and the open blocks are an error of 1 %. More skewed writes are
/// left out: the closed form is that of one log, and copies of collection have open blocks of their own, apart
/// from hot data. At `zipf` 1.3 this lowers write amplification for good; at
/// 1.1 and over-provisioning of 0.15 it is 6 % below the closed form, beyond the band of 5 %.
#[test]
fn fifo_under_skewed_writes_is_called_steady_at_the_closed_form() {
    for (over_provisioning, exponent) in [(0.28, 1.1), (0.28, 0.9), (0.15, 0.9)] {
        let mut c = amplifier(over_provisioning, gc_victim::GcVictimConfig::Fifo(Default::default()));
        c.geometry.channels = 1;
        let mut device = Device::new(&c, 1, ()).unwrap();
        device.fill(device.host_bytes());
        let (shares, mut writes) = zipf(device.shape().layout.host_units, 8192, exponent);
        let report = device.overwrite_replay(Until::Steady, &mut writes, &mut |_| true);
        assert!(report.steady, "{report:?}");
        let theory = spare(&device, 2.0).fifo_by_shares(&shares);
        let what = format!("FIFO at {over_provisioning} over-provisioning, zipf {exponent}");
        within(&what, report.waf, theory, 0.05);
    }
}

/// Runs the timed model with buffer, write units, dies and collections.
#[test]
fn the_timed_model_amplifies_writes_as_the_functional_pass_does() {
    let mut c = small_drive();
    c.geometry.blocks = 256;
    c.ftl.extent = ExtentKind::Superblock;
    let mut device = Device::new(&c, 1, ()).unwrap();
    let bytes = device.host_bytes();
    device.fill(bytes);
    let report = device.age_uniform(0..bytes, 4096, &mut |_| true);
    device.reset_counters();
    let mut s = Stream::new(1, "timed", 0);
    let count = bytes / 4096 * 3;
    let next = &mut |_| Command::new(HostOp::Write, s.below(bytes / 4096) * 4096, 4096);
    closed_loop(&mut device, 0, 16, count, next, &mut |done| {
        assert!(done.ledger.get(Cause::HOST_QUEUE) == 0)
    });
    let k = device.counters();
    let waf = (k.programs_user + k.programs_gc + k.programs_pad) as f64 / k.programs_user as f64;
    within("timed against functional", waf, report.waf, 0.03);
    within("timed against theory", waf, spare(&device, 3.0).greedy(), 0.03);
}
