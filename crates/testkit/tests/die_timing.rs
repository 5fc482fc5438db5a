//! Tests that every constraint between two flash operations is tight: the second is blocked one
//! nanosecond before the first releases a resource, starts at exactly that nanosecond, and is
//! not blocked if the two share no resource.
//!
//! Each ordered pair of read, program and erase runs on an idle drive. The second operation is
//! requested at, before and after the time at which the first releases the resource. The
//! resources that the first holds, and their times, are computed here from the configuration.
//!
//! Reads and programs are requested by host commands on a drive whose host interface takes no
//! time. Erases are requested by collection: a block of a lane is trimmed while the lane's free
//! blocks are at or below the collection threshold. The next program of the lane that ends then
//! starts the collection of a block without valid data, which is an erase at that time.

use tailcut_core::device::StepEvent;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::ftl::config::ExtentKind;
use tailcut_core::nand::config::BusyKind;
use tailcut_core::policy::*;
use tailcut_testkit::{Host, Operation, operations, small_drive};
use tailcut_units::quantity::Level;
use tailcut_units::{HostOp, Occupant, Span};

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
    // After the fill ten blocks of each lane are free. When a lane has opened another block, it
    // collects one block at a time as long as there is a victim.
    let limits = gc_schedule::threshold::Config {
        start: Level::Count(10),
        hard: Level::Count(1),
        ..Default::default()
    };
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Threshold(limits);
    c
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Program,
    Erase,
}

const KINDS: [Kind; 3] = [Kind::Read, Kind::Program, Kind::Erase];

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
}

/// The resources that one operation holds, and for how long, ns.
#[derive(Clone, Copy, Debug)]
struct Hold {
    /// Command cycles and data in.
    inward: u64,
    array: u64,
    /// Data out.
    outward: u64,
}

impl Hold {
    fn of(c: &DeviceConfig, kind: Kind, page_type: u64) -> Hold {
        let command = c.channel.command.0;
        let page = (c.geometry.page * 1_000_000_000).div_ceil(c.channel.rate);
        let (p, e) = (&c.timing.program, &c.timing.erase);
        match kind {
            Kind::Read => Hold { inward: command, array: c.timing.read[page_type as usize].0, outward: page },
            Kind::Program => {
                let array = u64::from(p.pulses[page_type as usize]) * (p.pulse.0 + p.verify.0);
                Hold { inward: command + page, array, outward: 0 }
            }
            Kind::Erase => {
                let one = e.ramp_up.0 + e.execution.0 + e.recovery.0 + e.verify.0;
                Hold { inward: command, array: u64::from(e.loops) * one, outward: 0 }
            }
        }
    }

    fn whole(self) -> u64 {
        self.inward + self.array + self.outward
    }
}

/// The host commands of one pair.
struct Script<'a> {
    config: &'a DeviceConfig,
    events: Vec<(u64, HostOp, u64)>,
    /// Pages written on each lane after the fill.
    rows: [u64; LANES as usize],
    /// Start times of the programs that only serve to start collections.
    launches: Vec<u64>,
    /// How long before its start such a program is requested, ns.
    early: u64,
    clock: u64,
}

impl<'a> Script<'a> {
    fn new(config: &'a DeviceConfig) -> Script<'a> {
        Script {
            config,
            events: Vec::new(),
            rows: [0; LANES as usize],
            launches: Vec::new(),
            early: 0,
            clock: 1_000_000,
        }
    }

    /// Offset of the `k`-th page of a lane; pages are striped over channels, then dies, then
    /// planes.
    fn offset(lane: u64, k: u64) -> u64 {
        let position = lane / 4 + lane / 2 % 2 * 2 + lane % 2 * 4;
        (k * LANES + position) * 8192
    }

    /// Write a page of the lane at `at` that was not written before, so that no unit becomes
    /// stale.
    fn write(&mut self, at: u64, lane: u64) {
        let k = FILLED * PAGES + self.rows[lane as usize];
        self.rows[lane as usize] += 1;
        self.events.push((at, HostOp::Write, Self::offset(lane, k)));
    }

    /// Write pages, long before the pair, until the lane's next page has this type.
    fn bring_to(&mut self, lane: u64, page_type: u64) {
        while self.rows[lane as usize] % TYPES != page_type {
            self.write(self.clock, lane);
            self.clock += 10_000_000;
        }
    }

    /// Request a read or a program at `at`. For an erase, request a program of a page of type
    /// `launch` that ends at `at`.
    fn ask(&mut self, kind: Kind, lane: u64, page_type: u64, launch: u64, at: u64) {
        match kind {
            Kind::Read => self.events.push((at, HostOp::Read, Self::offset(lane, PAGES + page_type))),
            Kind::Program => {
                self.bring_to(lane, page_type);
                self.write(at, lane);
            }
            Kind::Erase => {
                // The lane must have opened its block before; otherwise the collection would
                // start with the launching program and not at its end.
                if self.rows[lane as usize] == 0 {
                    self.bring_to(lane, 1);
                }
                self.bring_to(lane, launch);
                self.trim(lane, 0);
                let begin = at - Hold::of(self.config, Kind::Program, launch).whole();
                self.launches.push(begin);
                self.write(begin - self.early, lane);
            }
        }
    }

    /// Trim a filled block of a lane.
    fn trim(&mut self, lane: u64, block: u64) {
        for page in 0..PAGES {
            self.events.push((T / 2, HostOp::Trim, Self::offset(lane, block * PAGES + page)));
        }
    }

    /// Run the script; returns the operations of the pair in order of their grants.
    fn run(mut self) -> Vec<Operation> {
        self.events.sort_by_key(|e| e.0);
        let mut host = Host::observed(self.config, Vec::<StepEvent>::new());
        host.device.fill(FILLED * PAGES * LANES * 8192);
        for &(at, op, offset) in &self.events {
            host.submit(at, op, offset, 8192);
        }
        host.drain();
        let all = operations(host.device.observer());
        let launched =
            |o: &Operation| o.occupant == Occupant::UserProgram && self.launches.contains(&o.granted);
        all.into_iter().filter(|o| o.granted > T / 2 && !launched(o)).collect()
    }
}

/// One case of the table.
#[derive(Clone, Copy, Debug)]
struct Case {
    busy: BusyKind,
    first: Kind,
    first_type: u64,
    second: Kind,
    second_type: u64,
    relation: Relation,
}

impl Case {
    fn shares_unit(&self) -> bool {
        self.relation == Relation::SamePlane
            || self.relation == Relation::OtherPlane && self.busy == BusyKind::Die
    }

    fn shares_channel(&self) -> bool {
        self.relation != Relation::OtherChannel
    }

    /// Programs of one plane are in page order, so the page type of the second program follows
    /// from that of the first.
    fn is_possible(&self) -> bool {
        let both = self.first == Kind::Program && self.second == Kind::Program;
        !(both && self.relation == Relation::SamePlane) || self.second_type == (self.first_type + 1) % TYPES
    }

    /// The page types of the programs that launch the first and the second operation as erases.
    /// The types differ, so that the transfers of these programs do not overlap on the channel.
    /// If the other operation is a program of the same plane, the type is that of the preceding
    /// page.
    fn launches(&self) -> (u64, u64) {
        let before = |page_type: u64| (page_type + TYPES - 1) % TYPES;
        let same = self.relation == Relation::SamePlane;
        let first = if same && self.second == Kind::Program { before(self.second_type) } else { 1 };
        let second = if same && self.first == Kind::Program { before(self.first_type) } else { 2 };
        (first, second)
    }

    /// Run the pair with the second operation requested at `at`; returns both operations.
    fn run(&self, c: &DeviceConfig, at: u64) -> (Operation, Operation) {
        let mut script = Script::new(c);
        let (first_launch, second_launch) = self.launches();
        let lane = self.relation.lane();
        script.ask(self.first, 0, self.first_type, first_launch, T);
        script.ask(self.second, lane, self.second_type, second_launch, at);
        self.pair(script)
    }

    fn pair(&self, script: Script<'_>) -> (Operation, Operation) {
        let ops = script.run();
        assert_eq!(ops.len(), 2, "{self:?}: {ops:#?}");
        let [first, second] = <[Operation; 2]>::try_from(ops).unwrap();
        assert_eq!(
            (occupant(self.first), occupant(self.second)),
            (first.occupant, second.occupant),
            "{self:?}"
        );
        for (o, kind, page_type) in
            [(&first, self.first, self.first_type), (&second, self.second, self.second_type)]
        {
            assert!(kind == Kind::Erase || u64::from(o.page) % TYPES == page_type, "{self:?}: {o:?}");
        }
        (first, second)
    }
}

fn occupant(kind: Kind) -> Occupant {
    match kind {
        Kind::Read => Occupant::UserRead,
        Kind::Program => Occupant::UserProgram,
        Kind::Erase => Occupant::Erase,
    }
}

fn cases() -> impl Iterator<Item = Case> {
    let types = |kind| if kind == Kind::Erase { 0..1 } else { 0..TYPES };
    let kinds = KINDS.into_iter().flat_map(|a| KINDS.map(|b| (a, b)));
    let typed = kinds.flat_map(move |(a, b)| types(a).flat_map(move |x| types(b).map(move |y| (a, x, b, y))));
    typed
        .flat_map(|(first, first_type, second, second_type)| {
            RELATIONS.into_iter().flat_map(move |relation| {
                [BusyKind::Die, BusyKind::Plane].map(|busy| Case {
                    busy,
                    first,
                    first_type,
                    second,
                    second_type,
                    relation,
                })
            })
        })
        .filter(Case::is_possible)
}

#[test]
fn a_busy_unit_is_free_to_the_nanosecond() {
    let mut tried = 0;
    for case in cases().filter(Case::shares_unit) {
        let c = harness(case.busy);
        let hold = Hold::of(&c, case.first, case.first_type);
        let free = T + hold.whole();
        if case.second == Kind::Erase {
            erase_follows(&case, &c, hold);
            tried += 1;
            continue;
        }
        // At times: long before the end of the first, one nanosecond before it, at it, and one
        // after.
        for at in [T + 1, T + hold.inward, free - 1, free, free + 1] {
            let (first, second) = case.run(&c, at);
            assert_eq!((first.granted, first.released()), (T, free), "{case:?}");
            assert_eq!(second.granted, at.max(free), "{case:?}, asked at {at}");
            assert_eq!(second.on_channel(), at.max(free), "{case:?}, asked at {at}");
            let own = Hold::of(&c, case.second, case.second_type);
            assert_eq!(second.released(), at.max(free) + own.whole(), "{case:?}, asked at {at}");
            tried += 1;
        }
    }
    assert!(tried > 500, "only {tried} cases were tried");
}

/// An erase as the second operation on the same unit: it is requested when its launching
/// program ends. The first operation is then already queued between the two, and the erase
/// waits until it releases the unit.
fn erase_follows(case: &Case, c: &DeviceConfig, hold: Hold) {
    let mut script = Script::new(c);
    let (_, launch) = case.launches();
    let lane = case.relation.lane();
    let free = T + hold.whole();
    if case.first != Kind::Erase {
        if case.relation == Relation::SamePlane {
            script.ask(Kind::Erase, lane, 0, launch, T);
            script.ask(case.first, 0, case.first_type, 0, T - 1_000);
        } else {
            script.ask(case.first, 0, case.first_type, 0, T - 1_000);
            script.ask(Kind::Erase, lane, 0, launch, T);
        }
        let (first, second) = case.pair(script);
        assert_eq!((first.granted, first.released()), (T, free), "{case:?}");
        assert_eq!((second.granted, second.on_channel()), (free, free), "{case:?}");
    } else if case.relation == Relation::SamePlane {
        // A lane collects one block after the other: the second erase is requested when the
        // first ends.
        script.ask(Kind::Erase, 0, 0, launch, T);
        script.trim(0, 1);
        let (first, second) = case.pair(script);
        assert_eq!((first.granted, first.released(), second.granted), (T, free, free), "{case:?}");
    } else {
        // Both launching programs queue on the die. The first erase is requested during the
        // second program; the second erase is requested at the end of that program, when the
        // first erase starts.
        script.ask(Kind::Erase, 0, 0, 1, T - Hold::of(c, Kind::Program, 2).whole());
        script.early = 1_000;
        script.ask(Kind::Erase, lane, 0, 2, T);
        let (first, second) = case.pair(script);
        assert_eq!((first.granted, first.released(), second.granted), (T, free, free), "{case:?}");
    }
}

#[test]
fn operations_on_different_units_meet_on_the_channel_only() {
    let mut tried = 0;
    for case in cases().filter(|c| !c.shares_unit()) {
        let c = harness(case.busy);
        let hold = Hold::of(&c, case.first, case.first_type);
        let own = Hold::of(&c, case.second, case.second_type);
        let sensed = T + hold.inward + hold.array;
        // At the end of the first's command and data in, and at the end of its data out.
        let out = (hold.outward > 0).then_some(sensed + hold.outward);
        for end in [T + hold.inward].into_iter().chain(out) {
            for at in [end - 1, end, end + 1] {
                let (first, second) = case.run(&c, at);
                let begin = if case.shares_channel() { at.max(end) } else { at };
                assert_eq!((second.granted, second.on_channel()), (at, begin), "{case:?}, asked at {at}");
                assert!(end > sensed || second.on_channel() < sensed, "{case:?}: the array works on");
                // Two sensed pages are transferred one after the other, in the order of their
                // senses.
                let mut out = [sensed, begin + own.inward + own.array];
                if case.shares_channel() && hold.outward > 0 && own.outward > 0 {
                    let (early, late) = if out[0] <= out[1] { (0, 1) } else { (1, 0) };
                    out[late] = out[late].max(out[early] + hold.outward);
                }
                let released = (first.released(), second.released());
                let want = (out[0] + hold.outward, out[1] + own.outward);
                assert_eq!((first.granted, released), (T, want), "{case:?}, asked at {at}");
                tried += 1;
            }
        }
    }
    assert!(tried > 1_000, "only {tried} cases were tried");
}

#[test]
fn a_sensed_page_keeps_its_unit_until_the_channel_takes_it() {
    for (page_type, relation) in
        [0, 1, 2].into_iter().flat_map(|t| [Relation::OtherDie, Relation::OtherPlane].map(|r| (t, r)))
    {
        let busy = if relation == Relation::OtherDie { BusyKind::Die } else { BusyKind::Plane };
        let c = harness(busy);
        let read = Hold::of(&c, Kind::Read, page_type);
        let sensed = T + read.inward + read.array;
        let inward = Hold::of(&c, Kind::Program, 0).inward;
        // The program's data transfer ends one nanosecond before, at and after the end of the
        // sense.
        for data_end in [sensed - 1, sensed, sensed + 1, sensed + 5_000] {
            let mut script = Script::new(&c);
            script.ask(Kind::Read, 0, page_type, 0, T);
            script.ask(Kind::Program, relation.lane(), 0, 0, data_end - inward);
            // A second read of the same plane, queued early, shows when the plane is free.
            script.ask(Kind::Read, 0, page_type, 0, T + 1);
            let ops = script.run();
            let reads: Vec<&Operation> = ops.iter().filter(|o| o.occupant == Occupant::UserRead).collect();
            let out = data_end.max(sensed);
            assert_eq!(reads[0].outward, Some((out, out + read.outward)), "data in until {data_end}");
            assert_eq!(reads[1].granted, out + read.outward, "data in until {data_end}");
        }
    }
}
