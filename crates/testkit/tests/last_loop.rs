//! Deferred last loops (`erase.defer_last_loop`): what erases apply in all, who waits, and what is refused.

use tailcut_core::address::BlockId;
use tailcut_core::array::eraser::{Known, Plan};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{AgeReport, Device, Observer, OpKind, Step, StepEvent, Until};
use tailcut_core::ftl::config::{CopyMode, ExtentKind};
use tailcut_core::nand::config::BusyKind;
use tailcut_testkit::swarm::member;
use tailcut_testkit::{Host, drive_with_holes, small_drive};
use tailcut_units::{Cause, HostOp, Occupant, Span, Stream};

const SCHEMES: [&str; 5] = ["ispe", "i-ispe", "dpes", "aero-cons", "aero"];
/// Program/erase cycles of every block before the run.
const PAST: u32 = 600;

/// A drive whose erases a scheme plans, with the last loops deferred or not.
fn planned(mut c: DeviceConfig, scheme: &str, defers: bool) -> DeviceConfig {
    c.policy.erase_scheme = member(scheme);
    c.age.pe_cycles = Some(PAST);
    c.erase.as_mut().expect("the table").defer_last_loop = defers;
    c
}

/// Drives with extents of every kind, moved through the controller or by copyback, and with holes.
fn drives() -> Vec<(&'static str, DeviceConfig)> {
    let mut line = small_drive();
    (line.ftl.extent, line.geometry.pages) = (ExtentKind::Line, 4);
    let mut block = small_drive();
    (block.ftl.extent, block.ftl.write_planes) = (ExtentKind::Block, 1);
    (block.ftl.gc.copy_planes, block.ftl.gc.program_planes, block.ftl.gc.erase_planes) = (1, 1, 1);
    block.geometry.busy_unit = BusyKind::Plane;
    let mut copyback = block.clone();
    (copyback.ftl.mapping_unit, copyback.ftl.gc.copy) = (copyback.geometry.page, CopyMode::Copyback);
    let mut apart = small_drive();
    apart.ftl.gc.erase_planes = 1;
    vec![
        ("superblock", small_drive()),
        ("line", line),
        ("block", block),
        ("copyback", copyback),
        ("plane by plane", apart),
        ("holes", drive_with_holes()),
    ]
}

/// Blocks erased, the time of their pulses, and the array time of all erases, ns.
#[derive(Debug, PartialEq)]
struct Totals {
    blocks: u64,
    pulse_ns: u64,
    array_ns: u64,
}

/// The totals of a drive whose blocks have the cycles that `cycles` gives by block, from the plan of each erase
/// alone. Extents in `deferred` have begun one erase more. An erase covers up to `width` planes of a die.
fn planned_totals(device: &Device, cycles: &[u32], deferred: &[u32], width: usize) -> Totals {
    let shape = device.shape();
    let (layout, eraser) = (&shape.layout, shape.eraser.as_ref().expect("a scheme"));
    let (step, others) = (eraser.chip().step_ns, shape.timing.loops.others());
    let mut totals = Totals { blocks: 0, pulse_ns: 0, array_ns: 0 };
    for lane in 0..layout.lanes {
        for index in 0..shape.blocks {
            let planes: Vec<u32> = layout.planes_of(lane).collect();
            let defers = deferred.contains(&(lane * layout.stride + index));
            for op in planes.chunks(width) {
                let blocks: Vec<u32> = op.iter().map(|plane| plane * shape.blocks + index).collect();
                let natures: Vec<_> = blocks.iter().map(|&b| eraser.chip().nature(BlockId(b))).collect();
                let mut known: Vec<_> = natures.iter().map(|n| eraser.lived(n, PAST)).collect();
                let erases = cycles[blocks[0] as usize] - PAST;
                for number in 0..erases + u32::from(defers) {
                    let plans: Vec<Plan> =
                        natures.iter().zip(&known).map(|(n, k)| eraser.plan(n, k)).collect();
                    let time = |p: &&Plan| u64::from(p.steps()) * step + p.pulses().len() as u64 * others;
                    let slowest = plans.iter().max_by_key(time).expect("an erase has a plane");
                    let mut loops: Vec<u32> = slowest.pulses().iter().map(|p| p.steps).collect();
                    if number == erases {
                        loops.pop();
                    } else {
                        totals.blocks += plans.len() as u64;
                        totals.pulse_ns += plans.iter().map(|p| u64::from(p.steps()) * step).sum::<u64>();
                    }
                    let ns: u64 = loops.iter().map(|&steps| u64::from(steps) * step + others).sum();
                    totals.array_ns += ns;
                    for ((nature, known), plan) in natures.iter().zip(&mut known).zip(&plans) {
                        let after = eraser.after(nature, known, plan);
                        *known = Known {
                            cycles: known.cycles + 1,
                            wear: after.wear,
                            pulses: u32::from(after.pulses),
                            shallow: after.shallow,
                            left: u32::from(after.left),
                            full_voltage: false,
                        };
                    }
                }
            }
        }
    }
    totals
}

/// Every erase of a block applies the pulses of its plan, and the block wears by them, whether the last of them
/// is deferred or not. What is missing in the end are the last loops that are still deferred.
#[test]
fn every_block_gets_the_same_pulses() {
    for (name, config) in drives().into_iter().filter(|(name, _)| *name != "holes") {
        for (scheme, defers) in SCHEMES.iter().flat_map(|scheme| [(scheme, false), (scheme, true)]) {
            let config = planned(config.clone(), scheme, defers);
            let name = format!("{name}, {scheme}, {defers}");
            let (mut host, held) = loaded(&config, (), 2_500);
            host.drain();
            let device = &mut host.device;
            let (deferred, waiting) = device.last_loops();
            let deferred: Vec<u32> = deferred.collect();
            assert_eq!((!deferred.is_empty(), held > 0, waiting), (defers, defers, 0), "{name}");
            let c = device.flash_counters();
            let found =
                Totals { blocks: c.erases.blocks, pulse_ns: c.erases.pulse_ns, array_ns: c.array_ns[2] };
            let width = config.ftl.gc.erase_planes as usize;
            let wanted = planned_totals(device, &device.pe_cycles(), &deferred, width);
            assert_eq!(found, wanted, "{name}");
            // With the last loops made, each block has lived as often as its extent became free.
            device.overwrite_replay(Until::Steady, &mut std::iter::empty(), &mut |_| true);
            device.audit().unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(device.last_loops().0.count(), 0, "{name}");
            let lived: u64 = device.pe_cycles().iter().map(|&n| u64::from(n - PAST)).sum();
            let planes = u64::from(device.shape().layout.blocks_per_extent());
            assert_eq!(lived, device.counters().erases * planes, "{name}");
        }
    }
}

/// Write without pause; returns the host and how often programs were held.
fn loaded<O: Observer>(config: &DeviceConfig, observer: O, writes: u32) -> (Host<O>, u32) {
    let mut host = Host::observed(config, observer);
    host.device.fill(host.device.host_bytes());
    let unit = config.ftl.mapping_unit;
    let units = host.device.host_bytes() / unit;
    let (mut s, mut at, mut held) = (Stream::new(4, "last loop", 0), 0, 0);
    for _ in 0..writes {
        while !host.device.has_place() {
            at = host.device.next_deadline().0;
            host.advance(at);
            held += u32::from(host.device.last_loops().1 > 0);
        }
        let op = if s.below(3) == 0 { HostOp::Read } else { HostOp::Write };
        host.submit(at, op, s.below(units) * unit, unit as u32);
    }
    (host, held)
}

/// A write that waits for a last loop waits for an erase.
#[test]
fn writes_wait_for_the_erase_of_their_extent() {
    let mut config = planned(small_drive(), "ispe", true);
    config.policy.buffer = member("none");
    config.policy.flush = member("immediate");
    let (mut host, held) = loaded(&config, (), 3_000);
    host.drain();
    assert!(held > 100, "{held}");
    let cause = Cause::die_wait(Occupant::Erase);
    let pulse = 3_500_000;
    let waited = |d: &&tailcut_testkit::Done| d.command.op == HostOp::Write && d.ledger.get(cause) >= pulse;
    let writes = host.done.iter().filter(waited).count();
    assert!(writes > 50, "{writes} writes waited for a pulse");
}

/// A drive goes on after a snapshot with deferred loops, loops under way and held programs.
#[test]
fn held_programs_go_on_after_restoring() {
    let mut met = 0;
    for (name, config) in drives() {
        let config = planned(config, "aero", true);
        let (mut host, _) = loaded(&config, (), 2_000);
        let unit = config.ftl.mapping_unit;
        let units = host.device.host_bytes() / unit;
        let mut s = Stream::new(5, name, 0);
        let mut at = host.device.now().0;
        for _ in 0..60 {
            let mut file = Vec::new();
            host.device.snapshot(&config, 1, &mut file).unwrap();
            let device = Device::restore(&config, 1, (), &mut &file[..]).unwrap();
            device.audit().unwrap_or_else(|e| panic!("{name}: {e}"));
            let (deferred, held) = device.last_loops();
            met += u32::from(deferred.count() > 0 && held > 0);
            let (before, mut one) = (host.done.len(), Host { device, done: Vec::new() });
            let mut twin = s.clone();
            let ended = [(&mut one, &mut s), (&mut host, &mut twin)].map(|(host, s)| {
                let mut at = at;
                for _ in 0..20 {
                    while !host.device.has_place() {
                        at = host.device.next_deadline().0;
                        host.advance(at);
                    }
                    host.submit(at, HostOp::Write, s.below(units) * unit, unit as u32);
                }
                at
            });
            assert!(host.done[before..] == one.done[..], "{name}: completions differ after restoring");
            at = ended[1];
        }
    }
    assert!(met > 20, "{met} snapshots with deferred loops and held programs");
}

/// Where the last loop is never suspended, loops before it are, though they are an operation of their own.
#[test]
fn suspension_knows_the_last_loop() {
    let suspends = |row: &str, keeps: bool| {
        let mut config = planned(small_drive(), "ispe", true);
        config.policy.schedule = member("read-priority");
        config.policy.suspend_erase = member("arbitrary");
        config.suspend.erase.keep_last_loop = keeps;
        config.erase.as_mut().expect("the table").rows = vec![row.parse().expect("a row")];
        let (host, held) = loaded(&config, (), 3_000);
        assert!(held > 0);
        host.device.flash_counters().erase_suspension.suspends
    };
    assert_eq!(suspends("ispe 0: 3.5ms 100", true), 0, "the only loop is the last");
    assert!(suspends("ispe 0: 3.5ms 100", false) > 20);
    let (one, both) = (suspends("ispe 0: 7ms 100", true), suspends("ispe 0: 7ms 100", false));
    assert!(one > 20 && one < both, "{one} suspensions of first loops, {both} of all");
}

/// An erase whose blocks need one loop is made when the extent is opened, and not before.
#[test]
fn an_erase_of_one_loop_is_all_deferred() {
    let mut config = planned(small_drive(), "ispe", true);
    config.erase.as_mut().expect("the table").rows = vec!["ispe 0: 3.5ms 100".parse().expect("a row")];
    let (mut host, _) = loaded(&config, Vec::<StepEvent>::new(), 2_000);
    host.drain();
    let erases = |e: &&StepEvent| e.kind == OpKind::Erase && e.step == Step::Array;
    let made = host.device.observer().iter().filter(erases).count();
    let (deferred, held) = host.device.last_loops();
    let deferred = deferred.count();
    // An extent is on one die, and one erase covers its planes.
    assert_eq!(made + deferred, host.device.counters().erases as usize);
    assert!(deferred > 0 && held == 0, "an idle drive leaves loops deferred");
}

/// Where nothing takes time there is nothing to defer, and faults are refused.
#[test]
fn it_is_refused_or_without_effect_elsewhere() {
    let run = |defers| {
        let mut config = planned(small_drive(), "aero", defers);
        config.policy.gc_schedule = member("instant");
        let (mut host, held) = loaded(&config, (), 2_000);
        host.drain();
        let (deferred, waiting) = host.device.last_loops();
        assert_eq!((deferred.count(), waiting, held), (0, 0, 0));
        assert!(host.device.counters().erases > 20);
        host.done
    };
    assert!(run(true) == run(false));
    let mut config = planned(small_drive(), "aero", true);
    config.faults.worn = Some(63);
    let problem = Device::new(&config, 1, ()).err().expect("it is refused");
    assert_eq!(problem.key, "erase.defer_last_loop");
    assert!(problem.problem.contains("leave out all faults"), "{problem}");
    config.policy.erase_scheme = member("fixed");
    config.faults = Default::default();
    config.timing.erase.execution = vec![Span(900_000)];
    assert!(Device::new(&config, 1, ()).is_ok(), "erases without a scheme have no parts");
}

/// The state of an aged drive has no place for deferred loops.
#[test]
#[should_panic(expected = "an aged drive defers no last loop")]
fn deferred_loops_are_not_saved_as_an_aged_state() {
    let (mut host, _) = loaded(&planned(small_drive(), "aero", true), (), 2_000);
    host.drain();
    let _ = host.device.save_aged(1, &AgeReport::default(), &mut Vec::new());
}
