//! Random flashes under random scripts: the invariants after every event, and at the end.

use crate::driver::{Act, Log, Outcome, Stage};
use crate::erase::{SCHEMES, eraser};
use crate::parts::*;
use crate::watch::Watch;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;
use tailcut_core::address::BusyUnit;
use tailcut_core::array::eraser::Eraser;
use tailcut_core::flash::{Flash, FlashCommand, FlashState, Joins, Suspension};
use tailcut_core::nand::OpKind;
use tailcut_core::nand::config::*;
use tailcut_core::policy::schedule::{ScheduleConfig, channel_reads, read_write_erase};
use tailcut_core::policy::suspend_erase::{SuspendEraseConfig, timeout};
use tailcut_core::policy::suspend_program::SuspendProgramConfig;
use tailcut_units::{Cause, Occupant, Occupants, Span};

fn span(most: u64) -> impl Strategy<Value = Span> {
    prop_oneof![1 => Just(0), 4 => 0..=most].prop_map(Span)
}

fn timing() -> impl Strategy<Value = TimingConfig> {
    let program = (span(80), span(20), prop::collection::vec(1..5u32, 2));
    let erase = (1..4u32, span(60), prop::collection::vec(span(400), 1..4), span(40), span(40));
    let read = prop::collection::vec(span(30), 2);
    (read, program, erase).prop_map(|(read, (pulse, verify, pulses), e)| TimingConfig {
        read,
        program: ProgramTiming { pulse, verify, pulses },
        // Loops of unequal length, if there are several pulses.
        erase: EraseTiming { loops: e.0, ramp_up: e.1, execution: e.2, recovery: e.3, verify: e.4 },
        program_erase: ProgramErase::Timed,
    })
}

fn limits() -> impl Strategy<Value = SuspendLimits> {
    let rarely = |most: u64| prop_oneof![6 => Just(None), 1 => (0..most).prop_map(|n| Some(Span(n)))];
    let most = prop_oneof![6 => Just(None), 1 => (0..4u32).prop_map(Some)];
    (most, rarely(20), rarely(20)).prop_map(|(most, spacing, least_left)| SuspendLimits {
        most,
        spacing,
        least_left,
    })
}

fn suspend() -> impl Strategy<Value = SuspendConfig> {
    let served = prop_oneof![Just(ServedAfterLoop::Queued), Just(ServedAfterLoop::All)];
    let data = prop_oneof![Just(SuspendedData::Shadow), Just(SuspendedData::Controller)];
    let keep = prop_oneof![6 => Just(false), 1 => Just(true)];
    let of = prop_oneof![3 => Just(LeastLeftOf::Erase), 1 => Just(LeastLeftOf::Loop)];
    ((span(8), span(60), span(30), served, limits(), keep, of), (span(8), data, span(60), limits())).prop_map(
        |(e, p)| SuspendConfig {
            erase: EraseSuspend {
                suspend: e.0,
                resume: e.1,
                verify: e.2,
                serve: e.3,
                limits: e.4,
                least_left_of: e.6,
                keep_last_loop: e.5,
                rber_growth: 0.0,
            },
            program: ProgramSuspend { suspend: p.0, data: p.1, reload: p.2, limits: p.3 },
        },
    )
}

/// The index of a member in its family's list. The first member, which does least, is drawn less
/// often.
fn place(members: &[&str]) -> impl Strategy<Value = usize> + use<> {
    let others = 1..members.len();
    prop_oneof![1 => Just(0), 8 => others]
}

fn schedule() -> impl Strategy<Value = ScheduleConfig> {
    (place(ScheduleConfig::MEMBERS), any::<bool>(), 1..4u32).prop_map(|(i, write_suspends_erase, share)| {
        match member(ScheduleConfig::MEMBERS[i]) {
            ScheduleConfig::ReadWriteErase(_) => {
                ScheduleConfig::ReadWriteErase(read_write_erase::Config { write_suspends_erase })
            }
            ScheduleConfig::ChannelReads(_) => ScheduleConfig::ChannelReads(channel_reads::Config { share }),
            plain => plain,
        }
    })
}

fn suspend_erase() -> impl Strategy<Value = SuspendEraseConfig> {
    let clock = prop_oneof![Just(timeout::Clock::Erase), Just(timeout::Clock::OldestWrite)];
    (place(SuspendEraseConfig::MEMBERS), span(150), clock).prop_map(|(i, after, clock)| {
        match member(SuspendEraseConfig::MEMBERS[i]) {
            SuspendEraseConfig::Timeout(_) => SuspendEraseConfig::Timeout(timeout::Config { after, clock }),
            plain => plain,
        }
    })
}

fn suspend_program() -> impl Strategy<Value = SuspendProgramConfig> {
    place(SuspendProgramConfig::MEMBERS).prop_map(|i| member(SuspendProgramConfig::MEMBERS[i]))
}

/// The sets of kinds that may join in a drive: host reads, collection reads, programs, erases.
fn joins() -> impl Strategy<Value = Joins> {
    let sets = [
        &[Occupant::UserRead][..],
        &[Occupant::GcRead],
        &[Occupant::UserProgram, Occupant::GcProgram],
        &[Occupant::Erase],
    ];
    (prop::collection::vec(any::<bool>(), 4), 1..=4u32).prop_map(move |(has, erase_planes)| {
        let some = sets.iter().zip(has).filter(|(_, has)| *has);
        let kinds = some.fold(Occupants::NONE, |all, (set, _)| all | Occupants::of(set));
        Joins { kinds, erase_planes }
    })
}

fn parts() -> impl Strategy<Value = Parts> {
    let by_plane = prop_oneof![2 => Just(false), 1 => Just(true)];
    let cached = prop_oneof![2 => Just(false), 1 => Just(true)];
    let shape = (1..=2u32, 1..=3u32, 1..=4u32, by_plane, cached);
    let order = prop::sample::select(ChannelOrder::ALL.to_vec());
    let bus = (
        prop_oneof![Just(1_000_000_000), Just(100_000_000), Just(u64::MAX)],
        span(12),
        span(6),
        1..4u32,
        order,
    );
    let scheme = prop::option::of(0..SCHEMES.len());
    let policies = (schedule(), suspend_erase(), suspend_program(), scheme);
    (shape, timing(), bus, suspend(), joins(), policies).prop_map(
        |(shape, timing, bus, suspend, joins, p)| Parts {
            plane_reads: shape.3,
            cache_program: shape.4,
            channels: shape.0,
            units: shape.0 * shape.1,
            planes: shape.2,
            timing,
            // Cached programs wait for slow channels.
            channel: ChannelConfig {
                rate: if shape.4 && bus.0 < u64::MAX { bus.0 / 8 } else { bus.0 },
                command: bus.1,
                order: bus.4,
            },
            ecc: EccConfig { codeword: 2, decode: bus.2, queue: bus.3, engines: None },
            suspend,
            // Reads that run by plane do not join.
            joins: Joins {
                kinds: if shape.3 { joins.kinds & !Occupants::READS } else { joins.kinds },
                ..joins
            },
            schedule: p.0,
            suspend_erase: p.1,
            // Programs are not suspended where the next one is loaded.
            suspend_program: if shape.4 { member("never") } else { p.2 },
            eraser: p.3.map(|i| eraser(SCHEMES[i], 7)),
            senses: None,
        },
    )
}

/// The random numbers of one action of the controller, reduced later to the size of the flash.
#[derive(Clone, Copy, Debug)]
struct Draw {
    gap: u64,
    what: u32,
    unit: u32,
    planes: u32,
    page: u32,
    codewords: u32,
    tag: u32,
    /// If its kind joins, the number of operations of this kind that are submitted together.
    beside: u32,
}

/// The random input of a script.
#[derive(Clone, Debug)]
struct Script {
    draws: Vec<Draw>,
    /// Whether the script closes dies.
    closes: bool,
    /// The factor by which all gaps are multiplied.
    pace: u64,
}

fn scripts() -> impl Strategy<Value = Script> {
    let gap = prop_oneof![2 => Just(0), 3 => 1..20u64, 4 => 20..150u64, 2 => 150..500u64];
    // Most operations are on one die and for one page, so that they meet and join.
    let unit = prop_oneof![Just(0), 0..6u32];
    let page = prop_oneof![3 => Just(0), 1 => 1..4u32];
    let draw = (gap, 0..30u32, unit, 0..15u32, page, 1..6u32, 0..2 * COMMANDS, 1..5u32);
    let draw = draw.prop_map(|d| Draw {
        gap: d.0,
        what: d.1,
        unit: d.2,
        planes: d.3,
        page: d.4,
        codewords: d.5,
        tag: d.6,
        beside: d.7,
    });
    let draws = prop::collection::vec(draw, 1..40usize);
    (draws, any::<bool>(), 1..4u64).prop_map(|(draws, closes, pace)| Script { draws, closes, pace })
}

/// The command of a draw. As in drives, kinds that queue by plane are of single planes, and
/// copybacks do not join.
fn operation(parts: &Parts, draw: &Draw, occupant: Occupant, copies: bool) -> FlashCommand {
    let unit = draw.unit % parts.units;
    let to = || copyback_to(unit, (draw.unit + 1) % BLOCKS, draw.page + 1);
    let cmd = if copies { to() } else { of(occupant, unit) };
    let lines_up = parts.joins.kinds.has(cmd.occupant) && cmd.occupant != Occupant::UserRead;
    // Most reads that run by plane are of one.
    let by_plane = parts.plane_reads && cmd.kind == OpKind::Read && !draw.codewords.is_multiple_of(3);
    let planes = if lines_up || by_plane {
        1 << (draw.planes % parts.planes)
    } else {
        1 + draw.planes % ((1 << parts.planes) - 1).max(1)
    };
    let host = Occupants::HOST_READS.has(cmd.occupant);
    FlashCommand {
        planes,
        page: if cmd.kind == OpKind::Erase { 0 } else { draw.page },
        codewords: if cmd.codewords == 0 { 0 } else { draw.codewords },
        block: draw.unit % BLOCKS,
        tag: if host && draw.tag < COMMANDS { draw.tag } else { u32::MAX },
        bytes: if host { 4_096 } else { 0 },
        rebuild: if host && draw.tag.is_multiple_of(5) { draw.tag } else { u32::MAX },
        ..cmd
    }
}

/// The script of these draws. It opens again what it closes, at the latest at the end.
fn stage(parts: &Parts, script: &Script) -> (Stage, Vec<usize>) {
    let mut stage = Stage::new(parts);
    if parts.slow_programs().is_some() {
        // Where a scheme chooses the voltage, every second block is at the full one.
        for (plane, index) in (0..parts.units * parts.planes).flat_map(|p| [(p, 1), (p, 3)]) {
            stage.flash.orders_erase_at(plane, index, true);
        }
    }
    let mut at = 0;
    let mut asked = Vec::new();
    let mut closed: Vec<(BusyUnit, bool)> = Vec::new();
    let mut barred: Vec<BusyUnit> = Vec::new();
    let mut urgent: Vec<BusyUnit> = Vec::new();
    let joins_moves = parts.joins.kinds.has(Occupant::GcRead) || parts.joins.kinds.has(Occupant::GcProgram);
    for draw in &script.draws {
        at += draw.gap * script.pace;
        let unit = BusyUnit(draw.unit % parts.units);
        let kinds = Occupant::ALL;
        let act = match draw.what {
            // Each kind once, some kinds more often, and copybacks if collection reads and programs
            // do not join.
            what @ 0..20 => {
                let more = [Occupant::Erase, Occupant::UserProgram];
                let occupant = match what {
                    18.. => Occupant::GcRead,
                    10..18 => Occupant::UserRead,
                    8..10 => more[what as usize % 2],
                    // Reads and programs of users are drawn elsewhere too.
                    0..4 if draw.tag % 2 == 1 => kinds[8 + what as usize],
                    _ => kinds[what as usize],
                };
                let first = operation(parts, draw, occupant, what >= 18 && !joins_moves);
                let beside = if parts.joins.kinds.has(first.occupant) { draw.beside } else { 1 };
                for n in 0..beside.min(OPS - asked.len() as u32) {
                    let shifted = Draw { planes: draw.planes + n, ..*draw };
                    asked.push(
                        stage.ask(at, operation(parts, &shifted, occupant, what >= 18 && !joins_moves)),
                    );
                }
                // Another read soon after: while the first is served, or when the interrupted
                // operation has resumed.
                if occupant == Occupant::UserRead && asked.len() < OPS as usize {
                    let later = at + 12 * u64::from(draw.tag);
                    asked.push(stage.ask(later, operation(parts, draw, occupant, false)));
                }
                continue;
            }
            20..27 if !script.closes => continue,
            20 => {
                closed.push((unit, draw.page == 0));
                Act::Close { unit, erases: draw.page == 0 }
            }
            21..24 => {
                let Some((unit, erases)) = closed.pop() else { continue };
                Act::Open { unit, erases }
            }
            24 => {
                let Some(moves) = closed.iter_mut().find(|c| !c.1) else { continue };
                moves.1 = true;
                Act::CloseToErase(moves.0)
            }
            25 => {
                barred.push(unit);
                Act::CloseToPrograms(unit)
            }
            26 => {
                let Some(unit) = barred.pop() else { continue };
                Act::OpenToPrograms(unit)
            }
            27 => {
                urgent.push(unit);
                Act::Urgent { unit, urgent: true }
            }
            28 => {
                let Some(unit) = urgent.pop() else { continue };
                Act::Urgent { unit, urgent: false }
            }
            _ if draw.page == 0 => Act::OldestWrite(at),
            _ => Act::OldestWrite(u64::MAX),
        };
        stage.act(at, act);
    }
    at += 200;
    for (unit, erases) in closed {
        stage.act(at, Act::Open { unit, erases });
    }
    for unit in barred {
        stage.act(at + 50, Act::OpenToPrograms(unit));
    }
    (stage, asked)
}

/// The array time of an operation that is not interrupted. Where a scheme chooses the pulses of an erase or the
/// time of a program, it is what the operation was charged.
fn array_ns(stage: &Stage, op: &Outcome) -> u64 {
    let (t, cmd) = (stage.flash.timing(), &op.cmd);
    let chooses_voltage = stage.flash.eraser().is_some_and(Eraser::chooses_voltage);
    match cmd.kind {
        OpKind::Erase if stage.flash.eraser().is_some() => op.ledger.get(Cause::ARRAY),
        OpKind::Program | OpKind::Copyback if chooses_voltage => op.ledger.get(Cause::ARRAY),
        OpKind::Read => t.read_ns(cmd.page),
        OpKind::Program => t.program_ns(cmd.page),
        OpKind::Erase => t.erase_ns,
        OpKind::Copyback => t.read_ns(cmd.page) + t.program_ns(cmd.copy_to().page),
    }
}

/// Run the whole script. The driver checks that operations end once and that their accounts are
/// exact.
fn run(parts: &Parts, script: &Script) -> (Stage, Vec<usize>) {
    let (mut stage, asked) = stage(parts, script);
    let mut watch = Watch::new(parts);
    let mut steps = 0;
    while stage.step() {
        watch.look(&stage);
        steps += 1;
        assert!(steps < 20_000, "the script does not end");
    }
    stage.play();
    watch.conclude(&stage);
    (stage, asked)
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() }
}

/// The random scripts reach all cases that the laws are about.
#[test]
fn the_scripts_reach_what_is_to_be_tried() {
    let mut runner = TestRunner::deterministic();
    let mut met: BTreeMap<String, u32> = BTreeMap::new();
    let mut meet = |what: &str, times: usize| *met.entry(what.to_string()).or_default() += times as u32;
    for _ in 0..800 {
        let (parts, script) = (parts(), scripts()).new_tree(&mut runner).expect("a draw").current();
        let (stage, asked) = run(&parts, &script);
        let c = stage.flash.counters();
        let cancelled = |s: &Suspension| s.resumes_cancelled as usize;
        meet("erases suspended", c.erase_suspension.suspends as usize);
        meet("programs suspended", c.program_suspension.suspends as usize);
        meet("resumes of erases cancelled", cancelled(&c.erase_suspension));
        meet("resumes of programs cancelled", cancelled(&c.program_suspension));
        if parts.plane_reads {
            let reads = || asked.iter().map(|&op| &stage[op]).filter(|op| op.cmd.kind == OpKind::Read);
            let beside = |a: &Outcome, b: &Outcome| {
                a.cmd.unit == b.cmd.unit
                    && a.granted() < b.granted()
                    && b.granted() < a.out.map_or(0, |out| out.1)
            };
            let pairs = reads().map(|a| reads().filter(|b| beside(a, b)).count()).sum::<usize>();
            meet("reads side by side", pairs);
            let c = stage.flash.counters();
            let suspends = c.erase_suspension.suspends + c.program_suspension.suspends;
            meet("reads side by side, with suspensions", if suspends > 0 { pairs } else { 0 });
        }
        for op in asked.iter().map(|&op| &stage[op]) {
            let kind = op.cmd.occupant.name();
            meet("returned", op.returned.len());
            meet("cached", op.cached.len());
            let promoted = op.grants.last().zip(op.inward.first()).filter(|_| !op.cached.is_empty());
            meet("cached, and loaded before", promoted.map_or(0, |(at, load)| usize::from(load.1 < *at)));
            meet(
                "cached, and loading",
                promoted.map_or(0, |(at, load)| usize::from(load.0 < *at && *at < load.1)),
            );
            meet("cached, and waiting", promoted.map_or(0, |(at, load)| usize::from(load.0 > *at)));
            meet(&format!("joined: {kind}"), usize::from(op.joined.is_some()));
            meet(
                "joined and suspended",
                usize::from(op.joined.is_some() && op.ledger.get(Cause::SUSPENDED) > 0),
            );
            meet("data again", usize::from(op.cmd.kind == OpKind::Program && op.inward.len() > 1));
            for (cause, _) in op.ledger.iter().filter(|&(_, ns)| ns > 0) {
                meet(&format!("cause: {}", cause.name()), 1);
            }
        }
    }
    let mut wanted: Vec<String> = [
        "erases suspended",
        "programs suspended",
        "resumes of erases cancelled",
        "resumes of programs cancelled",
        "returned",
        "cached",
        "cached, and loaded before",
        "cached, and loading",
        "cached, and waiting",
        "joined and suspended",
        "data again",
        "reads side by side",
        "reads side by side, with suspensions",
    ]
    .map(String::from)
    .into();
    let joins =
        [Occupant::UserRead, Occupant::GcRead, Occupant::UserProgram, Occupant::GcProgram, Occupant::Erase];
    wanted.extend(joins.map(|o| format!("joined: {}", o.name())));
    // Every cause that the flash charges.
    let above = [
        Cause::HOST_QUEUE,
        Cause::HOST_LATENCY,
        Cause::CONTROLLER_WAIT,
        Cause::CONTROLLER,
        Cause::HOST_LINK_WAIT,
        Cause::HOST_LINK,
        Cause::BUFFER_FLUSH,
        Cause::ADMISSION,
        Cause::RING_ROOM,
        Cause::LUN_SEMAPHORE,
        Cause::WRITE_GATE,
        Cause::FREE_SPACE,
        Cause::RECONSTRUCTION,
        Cause::PREDICT,
        Cause::RETRY_ARRAY,
        Cause::RETRY_TRANSFER,
        Cause::RETRY_DECODE,
    ];
    wanted.extend(Cause::all().filter(|c| !above.contains(c)).map(|c| format!("cause: {}", c.name())));
    for what in wanted {
        assert!(met.get(&what).is_some_and(|&n| n >= 10), "{what}: met too rarely: {met:#?}");
    }
}

proptest! {
    #![proptest_config(config())]

    /// The driver audits the flash after every event, and compares each account with the time that
    /// its operation took. The watch keeps its own accounts of dies and channels.
    #[test]
    fn any_script_comes_to_its_end_by_the_books(parts in parts(), script in scripts()) {
        let (mut stage, asked) = run(&parts, &script);
        stage.flash.audit_rest().expect("it is idle");
        prop_assert_eq!((stage.flash.under_way(), stage.flash.host_ops()), (0, 0));
        let end = stage.now + 1_000;
        stage.until(end);
        let mut planes = vec![0; parts.units as usize];
        let mut operations = 0;
        for &op in &asked {
            let (o, cmd) = (&stage[op], stage[op].cmd);
            let array = array_ns(&stage, o);
            prop_assert_eq!(o.ledger.get(Cause::ARRAY), array, "{:?}", o);
            planes[cmd.unit.index()] += array * u64::from(cmd.planes.count_ones());
            if o.joined.is_none() {
                operations += if cmd.kind == OpKind::Copyback { 2 } else { 1 };
            }
        }
        prop_assert_eq!(stage.flash.planes_taken(), planes);
        let c = stage.flash.counters();
        prop_assert_eq!(c.operations.iter().sum::<u64>(), operations);
        prop_assert_eq!(stage.flash.channel_busy().iter().sum::<u64>(), stage.flash.channel_time().granted);
        for tag in 0..COMMANDS {
            stage.flash.track(tag);
        }
        prop_assert_eq!(stage.flash.commands_blocked(), 0);
    }

    /// A flash that is saved at any event and restored into another continues as the first.
    #[test]
    fn a_flash_goes_on_from_what_is_saved_of_it(parts in parts(), script in scripts(), after in 0..200usize) {
        let whole = run(&parts, &script).0;
        let (mut stage, _) = stage(&parts, &script);
        for _ in 0..after {
            stage.step();
        }
        let saved = postcard::to_stdvec(stage.flash.state()).expect("it can be saved");
        let state: FlashState = postcard::from_bytes(&saved).expect("it can be read");
        stage.move_to(Flash::new(parts.build(), Log::default()), state);
        stage.play();
        prop_assert_eq!(format!("{:?}", stage.events), format!("{:?}", whole.events));
    }
}
