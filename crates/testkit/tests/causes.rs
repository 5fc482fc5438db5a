//! Tests the lengths of waits at a die and for a channel, by occupant, against lengths computed
//! from the configuration.
//!
//! A drive whose host interface takes no time is written, read and collected. 100 ns after an
//! operation of the occupant has been granted its die, a read of one mapping unit arrives. At
//! the same die the read waits for the rest of the operation. At another die of the channel it
//! waits for the rest of the command (and of a program's data).

use tailcut_core::address::{BusyUnit, Lpn};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{OpKind, Step, StepEvent};
use tailcut_core::ftl::map::Mapping;
use tailcut_core::nand::slc::SlcConfig;
use tailcut_core::policy::background::{BackgroundConfig, scrub};
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_testkit::swarm::member;
use tailcut_testkit::{Host, one_die, operations, parity_drive, slc_drive};
use tailcut_units::{Cause, HostOp, Ledger, Occupant, Span, Stream};

/// Delay of the probing read after the grant of the operation, ns; within the operation's
/// command.
const LATER: u64 = 100;
const COMMANDS: u64 = 400;

/// Two dies of one plane on one channel, without a write buffer, with read priority and
/// scrubbing.
fn two_dies() -> DeviceConfig {
    let mut c = one_die();
    c.geometry.dies_per_chip = 2;
    c.policy.background = BackgroundConfig::Scrub(scrub::Config { idle: Span(100_000), pause: Span(50_000) });
    c
}

/// Two independent planes on each of four channels, with parity.
fn planes_with_parity() -> DeviceConfig {
    let mut c = parity_drive();
    (c.host.submit_latency, c.host.complete_latency, c.host.link_rate) = (Span(0), Span(0), u64::MAX);
    (c.controller.command, c.policy.schedule) = (Span(0), member("read-priority"));
    (c.policy.read_path, c.policy.gc_scope) = (member("wait"), member("operation"));
    (c.policy.gc_schedule, c.policy.flush) = (member("threshold"), member("write-unit"));
    if let BufferConfig::Lru(lru) = &mut c.policy.buffer {
        lru.write_latency = Span(0);
    }
    c
}

/// A read of one mapping unit that must wait for another operation.
#[derive(Clone, Copy)]
struct Probe {
    at: u64,
    /// The busy unit that is read.
    unit: BusyUnit,
    /// A page of another type than the probe reads. Two pages that are sensed at the same time
    /// are then ready at different times, so that neither waits for the data of the other.
    page: u32,
}

/// Run writes of whole and half units and reads, 20 ms apart, and a probe if there is one.
/// Returns the steps of the drive and the probe's ledger.
fn play(c: &DeviceConfig, probe: Option<Probe>) -> (Vec<StepEvent>, Option<Ledger>) {
    let mut host = Host::observed(c, Vec::new());
    let bytes = host.device.host_bytes();
    host.device.fill(bytes);
    let mut stream = Stream::new(3, "causes", 0);
    let unit_bytes = c.ftl.mapping_unit;
    let mut index = None;
    for number in 1..=COMMANDS {
        let at = number * 20_000_000;
        if let Some(p) = probe.filter(|p| p.at < at && index.is_none()) {
            host.advance(p.at);
            let on_unit = |lpn: &u64| {
                let shape = host.device.shape();
                let Mapping::Flash(ppa) = host.device.whereabouts(Lpn(*lpn as u32)) else { return false };
                let place = shape.layout.place(ppa);
                shape.unit_of(place.die, place.plane) == p.unit && (place.page ^ p.page) & 1 == 1
            };
            let lpn = (0..bytes / unit_bytes).find(on_unit).expect("the unit holds data");
            index = Some(host.submit(p.at, HostOp::Read, lpn * unit_bytes, unit_bytes as u32));
        }
        let offset = stream.below(bytes / unit_bytes) * unit_bytes;
        let (op, length) = match stream.below(4) {
            0 => (HostOp::Read, unit_bytes),
            1 => (HostOp::Write, unit_bytes / 2),
            _ => (HostOp::Write, unit_bytes),
        };
        host.submit(at, op, offset, length as u32);
    }
    host.drain();
    let ledger = index.map(|i| host.done.iter().find(|d| d.index == i).expect("it ended").ledger);
    (host.device.into_observer(), ledger)
}

/// Find an operation of this occupant that is granted its die and the channel at once while the
/// other unit of its channel is idle.
fn find(steps: &[StepEvent], occupant: Occupant) -> StepEvent {
    let ops = operations(steps);
    let alone = |e: &&StepEvent| {
        let (at, other) = (e.at.0, BusyUnit(e.unit.0 ^ 1));
        let mine = |s: &&StepEvent| s.op == e.op && s.step == Step::ChannelIn && s.at >= e.at;
        let begins = steps.iter().find(mine).is_some_and(|s| s.at == e.at);
        let busy = ops.iter().filter(|o| o.unit == other).flat_map(|o| &o.stays);
        begins && !busy.into_iter().any(|&(from, to)| from < at + 100_000 && to > at)
    };
    let granted = steps.iter().filter(|e| e.occupant == occupant && e.step == Step::Granted);
    *granted.skip(3).find(alone).unwrap_or_else(|| panic!("no {occupant:?} alone on its channel"))
}

/// Time of the command (and data in) on the channel, and total time on the die, ns.
fn spans(c: &DeviceConfig, e: &StepEvent) -> (u64, u64) {
    let t = &c.timing;
    let transfer = (c.ftl.mapping_unit * 1_000_000_000).div_ceil(c.channel.rate);
    let command = c.channel.command.0;
    let of = |n: usize| e.page as usize % n;
    match e.kind {
        OpKind::Read if e.page >= c.geometry.pages => {
            let slc = c.slc.as_ref().expect("only blocks in SLC mode have such pages");
            (command, command + slc.read.0 + transfer)
        }
        OpKind::Read => (command, command + t.read[of(t.read.len())].0 + transfer),
        OpKind::Program => {
            let pulses = u64::from(t.program.pulses[of(t.program.pulses.len())]);
            let array = pulses * (t.program.pulse.0 + t.program.verify.0);
            (command + transfer, command + transfer + array)
        }
        OpKind::Erase => {
            let e = &t.erase;
            let others = u64::from(e.loops) * (e.ramp_up.0 + e.recovery.0 + e.verify.0);
            (command, command + others + e.pulses().map(|pulse| pulse.0).sum::<u64>())
        }
        OpKind::Copyback => unreachable!("no drive of this test copies back what is probed"),
    }
}

/// The waits at dies in a ledger.
fn die_waits(ledger: &Ledger) -> Vec<(String, u64)> {
    let waits = ledger.iter().filter(|&(c, ns)| ns > 0 && c.is_die_wait());
    waits.map(|(c, ns)| (c.name(), ns)).collect()
}

fn check(c: &DeviceConfig, occupants: &[Occupant]) {
    let (steps, _) = play(c, None);
    for &occupant in occupants {
        let e = find(&steps, occupant);
        let (on_channel, on_die) = spans(c, &e);
        let probe = |unit| Some(Probe { at: e.at.0 + LATER, unit, page: e.page });
        let ledger = play(c, probe(e.unit)).1.expect("it was read");
        let expected = vec![(Cause::die_wait(occupant).name(), on_die - LATER)];
        assert_eq!(die_waits(&ledger), expected, "behind {e:?}");
        let ledger = play(c, probe(BusyUnit(e.unit.0 ^ 1))).1.expect("it was read");
        // The probe's data may also wait for the program of the data that the first operation
        // read, so only the wait for `occupant` is compared.
        let waited = ledger.get(Cause::channel_wait(occupant));
        assert_eq!(waited, on_channel - LATER, "beside {e:?}");
    }
}

#[test]
fn a_read_waits_for_the_rest_of_the_operation_before_it() {
    let of_stripes = Occupant::ParityProgram;
    // This controller has no metadata on flash; those of pblk are in the swarm.
    let of_folds = [Occupant::FoldRead, Occupant::FoldProgram];
    let elsewhere = [of_stripes, Occupant::MetaProgram, Occupant::MetaRead, of_folds[0], of_folds[1]];
    let others: Vec<Occupant> = Occupant::ALL.into_iter().filter(|o| !elsewhere.contains(o)).collect();
    check(&two_dies(), &others);
    check(&planes_with_parity(), &[of_stripes]);
    let mut folds = two_dies();
    folds.policy.background = member("none");
    folds.geometry.blocks += 1;
    folds.slc =
        Some(SlcConfig { blocks: 1, fold_idle: Span(1_000_000), ..slc_drive().slc.expect("a region") });
    check(&folds, &of_folds);
}

/// Tests that writes wait for a free block. All writes arrive at once and may go to either of
/// two dies, so that no single die is the reason that there is no free block. Until an erase
/// frees a block, the whole wait is charged to free space.
#[test]
fn a_write_waits_for_a_free_block() {
    let mut c = two_dies();
    (c.policy.placement, c.policy.background) = (member("dynamic"), member("none"));
    let mut host = Host::observed(&c, Vec::new());
    let bytes = host.device.host_bytes();
    host.device.fill(bytes);
    let mut stream = Stream::new(3, "causes", 1);
    let (unit, begin) = (c.ftl.mapping_unit, 1_000);
    for _ in 0..c.host.queue_depth {
        let offset = stream.below(bytes / unit) * unit;
        host.submit(begin, HostOp::Write, offset, unit as u32);
    }
    host.drain();
    let ops = operations(host.device.observer());
    let erased: Vec<u64> =
        ops.iter().filter(|o| o.occupant == Occupant::Erase).map(|o| o.released()).collect();
    let stalls: Vec<u64> = host.done.iter().map(|d| d.ledger.get(Cause::FREE_SPACE)).collect();
    let stalls: Vec<u64> = stalls.into_iter().filter(|&ns| ns > 0).collect();
    assert!(stalls.len() > 5, "{} writes waited for a block", stalls.len());
    for ns in stalls {
        assert!(erased.contains(&(begin + ns)), "no erase ends {ns} ns after the writes came");
    }
}
