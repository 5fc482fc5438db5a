//! Tests that every member of every policy family keeps the contract of its family.
//!
//! The members come from the families' own lists, so that a new member is tested as soon as it
//! is registered. A new family fails here until it has laws.

use tailcut_core::address::Lpn;
use tailcut_core::device::Shape;
use tailcut_core::policy::background::{BackgroundConfig, BackgroundPolicy};
use tailcut_core::policy::buffer::{Acknowledge, BufferConfig, BufferPolicy};
use tailcut_core::policy::erase_scheme::{
    BlockView, EraseSchemeConfig, EraseSchemePolicy, Pulse, VerifyView, WriteLoad,
};
use tailcut_core::policy::flush::{FlushConfig, FlushPolicy, FlushVerdict, FlushView};
use tailcut_core::policy::gc_schedule::{GcScheduleConfig, GcSchedulePolicy, SpaceView, TOKEN};
use tailcut_core::policy::gc_scope::{GcScopeConfig, GcScopePolicy};
use tailcut_core::policy::gc_victim::{GcVictimConfig, GcVictimPolicy, VictimView};
use tailcut_core::policy::placement::{LaneLoad, LaneView, PlacementConfig, PlacementPolicy};
use tailcut_core::policy::read_path::{BlockedView, ReadPathConfig, ReadPathPolicy};
use tailcut_core::policy::read_retry::{FailedView, ReadRetryPolicy};
use tailcut_core::policy::redundancy::{RedundancyConfig, RedundancyPolicy};
use tailcut_core::policy::schedule::{QueueView, ScheduleConfig, SchedulePolicy};
use tailcut_core::policy::suspend_erase::{
    EraseStop, EraseView, Serve, SuspendEraseConfig, SuspendErasePolicy,
};
use tailcut_core::policy::suspend_program::{ProgramView, SuspendProgramConfig, SuspendProgramPolicy};
use tailcut_core::policy::wear::{WearConfig, WearPolicy, WearVerdict, WearView};
use tailcut_core::policy::write_gate::{WriteGateConfig, WriteGatePolicy};
use tailcut_core::policy::{FAMILIES, PolicyContext};
use tailcut_testkit::swarm::{self, member};
use tailcut_units::{ArrayAct, Occupant, Occupants, Span, Stream};

/// The bit that is set in an extent's count of valid units if the extent cannot be collected.
const CLOSED_TO_COLLECTION: u32 = 1 << 31;

/// The policy contexts of drives of many shapes.
fn contexts() -> Vec<PolicyContext> {
    (0..24)
        .map(|seed| {
            let case = swarm::draw(seed);
            Shape::new(&case.config, seed).expect("a drawn drive is valid").context
        })
        .collect()
}

#[test]
fn every_family_has_laws() {
    for family in FAMILIES {
        let law: fn(&str, &PolicyContext) = match family.name {
            "schedule" => schedule,
            "suspend_erase" => suspend_erase,
            "erase_scheme" => erase_scheme,
            "suspend_program" => suspend_program,
            "read_retry" => read_retry,
            "buffer" => buffer,
            "flush" => flush,
            "placement" => placement,
            "redundancy" => redundancy,
            "read_path" => read_path,
            "gc_victim" => gc_victim,
            "gc_schedule" => gc_schedule,
            "gc_scope" => gc_scope,
            "background" => background,
            "wear" => wear,
            "write_gate" => write_gate,
            other => panic!("the family {other} has no laws here"),
        };
        assert!(!family.members.is_empty() && !family.decides.is_empty(), "{}", family.name);
        for member in family.members {
            for context in &contexts() {
                law(member.name, context);
            }
        }
    }
}

/// A read gives up in the end, and decodes the data of its last sense. Only a member that
/// predicts has a predictor.
fn read_retry(name: &str, x: &PolicyContext) {
    let policy = ReadRetryPolicy::new(&member(name), x).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut decoded = true;
    let gives_up = (1..=65).find(|&senses| match policy.next(&FailedView { senses }) {
        Some(sense) => {
            decoded = sense.decoded;
            false
        }
        None => true,
    });
    assert!(gives_up.is_some() && decoded, "{name}");
    assert!(["none", "retry-ideal"].contains(&name) == (gives_up == Some(1)), "{name}: {gives_up:?}");
    let inference = policy.inference();
    assert!(inference.right.iter().all(|&right| right <= 1 << 32), "{name}");
    assert_eq!(policy.predictor().is_some(), ["rp-controller", "rif"].contains(&name), "{name}");
}

fn schedule(name: &str, x: &PolicyContext) {
    let config: ScheduleConfig = member(name);
    let mut a = SchedulePolicy::new(&config, x).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut b = a.clone();
    let mut s = Stream::new(x.seed, "schedule laws", 0);
    for _ in 0..200 {
        let drawn = 1 + s.below((1 << Occupant::COUNT) - 1);
        let waiting: Occupants = Occupant::ALL.into_iter().filter(|&o| drawn >> o as u8 & 1 != 0).collect();
        let urgent = s.below(2) == 1;
        let mut arrived = [0; Occupant::COUNT];
        arrived.fill_with(|| s.below(1 << 40));
        let later = arrived.map(|at| at + (1 << 41));
        let chosen = a.next(&QueueView { waiting, urgent, arrived: &arrived });
        assert!(waiting.has(chosen), "{name} serves an empty queue");
        let again = b.next(&QueueView { waiting, urgent, arrived: &later });
        assert_eq!(chosen, again, "{name} depends on the time");
        for holder in Occupant::ALL {
            let may = a.interrupters(holder);
            assert_eq!(may, b.interrupters(holder), "{name}: who interrupts {holder:?} is not fixed");
            assert!(!Occupants::READS.has(holder) || may.is_empty(), "{name} lets {holder:?} be interrupted");
            assert!((may & !Occupants::HOST).is_empty(), "{name} lets collection interrupt {holder:?}");
            // Otherwise the drive would suspend an operation for another one and then serve the
            // suspended one first.
            for other in may.iter() {
                let waiting = Occupants::of(&[holder, other]);
                let first = a.clone().next(&QueueView { waiting, urgent, arrived: &arrived });
                assert_eq!(first, other, "{name}: {other:?} may interrupt {holder:?} and waits behind it");
            }
        }
    }
}

fn suspend_erase(name: &str, x: &PolicyContext) {
    let config: SuspendEraseConfig = member(name);
    let p = SuspendErasePolicy::new(&config, x).unwrap_or_else(|e| panic!("{name}: {e}"));
    let suspends = p.suspends();
    assert_eq!(suspends, name != "never", "{name} and its name disagree");
    if !suspends {
        return;
    }
    let mut s = Stream::new(x.seed, "suspend_erase laws", 0);
    let twin = p.clone();
    for _ in 0..200 {
        let view = EraseView { delayed: s.below(1 << 28), oldest_write: s.below(1 << 28) };
        // Asked in the other order and twice: earlier answers must not matter.
        let (stop, serve) = (p.stop(&view), p.serve(&view));
        assert_eq!((twin.serve(&view), twin.stop(&view), twin.stop(&view)), (serve, stop, stop), "{name}");
        assert!(p.suspends() && twin.suspends(), "{name} is not constant");
        let deferred = stop == EraseStop::AfterLoop;
        let expected = if deferred { x.served_after_loop } else { Serve::All };
        assert_eq!(serve, expected, "{name}: {stop:?}");
        // Once an erase defers, it must continue to defer; otherwise the time to its end would
        // not be bounded.
        let later = EraseView { delayed: view.delayed * 2, oldest_write: view.oldest_write * 2 };
        assert!(!deferred || p.stop(&later) == EraseStop::AfterLoop, "{name} stops deferring");
    }
}

fn erase_scheme(name: &str, x: &PolicyContext) {
    let config: EraseSchemeConfig = member(name);
    let p = EraseSchemePolicy::new(&config, x).unwrap_or_else(|e| panic!("{name}: {e}"));
    let without = PolicyContext { erase: None, ..x.clone() };
    assert_eq!(EraseSchemePolicy::new(&config, &without).is_err(), name != "fixed", "{name}");
    assert_eq!(p.rows(), (name != "fixed").then_some(name), "its rows are its own");
    // The default of no member chooses, and a scheme that does not choose is never at the full voltage.
    let busy = WriteLoad { in_flight: 9, room: 9, waits: true };
    assert!(!p.chooses_voltage() && !p.at_full_voltage(&busy), "{name}");
    if name == "fixed" {
        return;
    }
    let array = x.erase.expect("the drives of the swarm have the table");
    let fits = |pulse: Pulse, left: u32| {
        (1..=array.levels).contains(&pulse.level) && (1..=left).contains(&pulse.steps)
    };
    let mut s = Stream::new(x.seed, "erase_scheme laws", 0);
    for _ in 0..500 {
        let block =
            BlockView { pulses: s.below(13) as u32, shallow: s.below(2) == 1, errors: s.below(2000) as u32 };
        let first = p.first(&block);
        assert!(fits(first, array.steps_per_level), "{name}: {first:?}");
        assert_eq!(first, p.first(&block), "{name} is not constant");
        let level = 1 + s.below(u64::from(array.levels)) as u32;
        let left = s.below(u64::from(array.steps_per_level)) as u32;
        let verify = VerifyView { level, left, fail_bits: 101 + s.below(200_000) as u32 };
        let Some(next) = p.next(&block, &verify) else {
            // What is left is at most what was meant to be left.
            let left = p.may_leave(level, block.errors);
            let most = array.gamma + array.delta * left.saturating_sub(1);
            assert!(verify.fail_bits <= most && left > 0, "{name}: {verify:?}");
            assert!(p.requirement().is_some_and(|bits| block.errors <= 16 * bits), "{name}");
            continue;
        };
        // A predicted pulse stays at its level while there is room; a full one has its own.
        let room = if p.predicts() && left > 0 { left } else { array.steps_per_level };
        assert!(fits(next, room) && next.level >= level, "{name}: {verify:?} {next:?}");
        let worse = p.next(&block, &VerifyView { fail_bits: verify.fail_bits + array.delta, ..verify });
        assert!(worse.is_some_and(|worse| worse.steps >= next.steps), "{name}: {verify:?}");
    }
}

fn suspend_program(name: &str, x: &PolicyContext) {
    let config: SuspendProgramConfig = member(name);
    let p = SuspendProgramPolicy::new(&config, x).unwrap_or_else(|e| panic!("{name}: {e}"));
    let suspends = Occupant::ALL.map(|o| o.act() == ArrayAct::Program && p.suspends(o));
    assert_eq!(suspends.contains(&true), name != "never", "{name} and its name disagree");
    let mut s = Stream::new(x.seed, "suspend_program laws", 0);
    for _ in 0..500 {
        let occupant = Occupant::ALL[s.below(Occupant::COUNT as u64) as usize];
        if !suspends[occupant as usize] {
            continue;
        }
        let view = ProgramView {
            occupant,
            left: s.below(2_000_000),
            delayed: s.below(100_000_000),
            cycles: s.below(10_000) as u32,
            urgent: s.below(2) == 1,
            oldest_write: s.below(100_000_000),
        };
        let stop = p.stop(&view);
        assert_eq!(stop, p.stop(&view), "{name} changes its answer");
        assert_eq!(stop.is_none(), name == "collection" && view.urgent, "{name}: {view:?}");
        assert!((0..10).all(|_| p.suspends(occupant)), "{name} changes what it suspends");
    }
}

fn buffer(name: &str, x: &PolicyContext) {
    let config: BufferConfig = member(name);
    let mut p = BufferPolicy::new(&config, x).unwrap_or_else(|e| panic!("{name}: {e}"));
    let nature = |p: &mut BufferPolicy| {
        (p.capacity(), p.acknowledge(), p.overwrites_in_place(), p.survives_power_cut())
    };
    let first = nature(&mut p);
    assert!((0..10).all(|_| nature(&mut p) == first), "{name} changes its nature");
    let row = u64::from(x.units_per_write) * x.unit_bytes;
    assert!(first.0.is_none_or(|bytes| bytes >= row), "{name} does not hold a write unit");
    // Only a buffer that acknowledges early can lose or overwrite acknowledged data.
    if first.1 == Acknowledge::WhenProgrammed {
        assert!(!first.2 && !first.3, "{name} holds no acknowledged data");
    }
}

fn flush(name: &str, x: &PolicyContext) {
    let config: FlushConfig = member(name);
    let mut p = match FlushPolicy::new(&config, x) {
        Err(_) if name == "gc-tolerant" && x.groups == 0 => return,
        Err(_) if name == "in-flight" && x.groups > 0 => return,
        p => p.unwrap_or_else(|e| panic!("{name}: {e}")),
    };
    let mut s = Stream::new(x.seed, "flush laws", 0);
    let mut seen = Vec::new();
    for _ in 0..200 {
        let capacity = 1 + s.below(300) as u32;
        let held = s.below(u64::from(capacity) + 1) as u32;
        let mut dirty = s.below(u64::from(held) + 1) as u32;
        let mut lane_dirty = s.below(u64::from(dirty) + 1) as u32;
        let group = x.plane_lanes * x.units_per_write;
        let units_per_write = x.units_per_write;
        let (mut verdicts, mut twin) = (0, p.clone());
        loop {
            // All dirty units are of one die.
            let die_ready = dirty >= group;
            let view = FlushView { dirty, held, capacity, lane_dirty, die_ready, units_per_write };
            let verdict = p.next(&view);
            assert_eq!(verdict, twin.next(&view), "{name} is not deterministic");
            seen.push(verdict);
            match verdict {
                FlushVerdict::Hold => break,
                FlushVerdict::Oldest | FlushVerdict::LeastHindered => {
                    assert!(dirty > 0, "{name} flushes more than is dirty");
                    let gone = units_per_write.min(dirty);
                    dirty -= gone;
                    lane_dirty = lane_dirty.min(dirty);
                }
                FlushVerdict::ReadyDie => {
                    assert!(die_ready, "{name} flushes a die without a complete group");
                    dirty -= group;
                    lane_dirty = lane_dirty.min(dirty);
                }
                FlushVerdict::SameLane => {
                    assert!(lane_dirty > 0, "{name} flushes an empty lane");
                    let gone = units_per_write.min(lane_dirty);
                    (dirty, lane_dirty) = (dirty - gone, lane_dirty - gone);
                }
            }
            verdicts += 1;
            assert!(verdicts <= held, "{name} flushes without end");
        }
    }
    assert_eq!(p.by_die(), seen.contains(&FlushVerdict::ReadyDie), "{name}");
    // The papers of the other members read parity's data from any plane.
    assert_eq!(p.avoids_collections(), name == "gc-tolerant", "{name}");
}

fn placement(name: &str, x: &PolicyContext) {
    let orders: &[&str] = match name {
        "static" => &["CWDP", "PDWC", "DCPW"],
        "die" => &["CWD", "DWC", "WCD"],
        _ => &[""],
    };
    for &letters in orders {
        let mut config: PlacementConfig = member(name);
        if let PlacementConfig::Static(c) = &mut config {
            c.order = letters.to_string();
        }
        if let PlacementConfig::Die(c) = &mut config {
            c.order = letters.to_string();
        }
        let mut p = PlacementPolicy::new(&config, x).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (chunk, order) = (p.chunk(), p.order());
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..x.lanes).collect::<Vec<_>>(), "{name} {letters}: each lane once");
        assert!(chunk > 0 && x.units_per_extent.is_multiple_of(chunk), "{name}: a chunk crosses extents");
        let (lanes, levels) = (p.pool_lanes(), p.levels());
        assert!(x.lanes.is_multiple_of(lanes), "{name}: pools of {lanes} lanes of {}", x.lanes);
        for lpn in Lpn(0).run((3 * x.lanes * chunk).min(5_000)) {
            let filled = order[(lpn.0 / chunk) as usize % order.len()];
            assert_eq!(
                p.pool(lpn),
                filled / lanes,
                "{name} {letters}: unit {lpn} is filled into another pool"
            );
        }
        let mut s = Stream::new(x.seed, "placement laws", 0);
        let mut twin = p.clone();
        for _ in 0..100 {
            let mut load: Vec<LaneLoad> = (0..x.lanes).map(|_| LaneLoad::of(s.below(9) as u32)).collect();
            for _ in 0..s.below(u64::from(x.lanes) + 1) {
                load[s.below(u64::from(x.lanes)) as usize].lacks_room();
            }
            let written: Vec<u64> = (0..x.lanes).map(|_| s.below(9)).collect();
            let view = LaneView { load: &load, written: &written };
            let pool = s.below(u64::from(x.lanes / lanes)) as u32;
            let lane = p.lane(pool, &view);
            assert_eq!(lane, twin.lane(pool, &view), "{name} is not determined");
            assert_eq!(lane / lanes, pool, "{name} leaves the pool");
            let of = (pool * lanes) as usize..((pool + 1) * lanes) as usize;
            let has_room = |l: &usize| load[*l].has_room();
            let room = of.clone().any(|l| has_room(&l));
            assert!(lanes == 1 || !room || has_room(&(lane as usize)), "{name} names a lane without room");
            let least = of.filter(has_room).map(|l| written[l]).min();
            assert!(!levels || least.is_none_or(|n| written[lane as usize] == n), "{name} does not level");
        }
        let idle = vec![LaneLoad::default(); x.lanes as usize];
        let mut met = vec![0; x.lanes as usize];
        for i in 0..2 * x.lanes {
            let view = LaneView { load: &idle, written: &met };
            let lane = p.lane(i % (x.lanes / lanes), &view);
            met[lane as usize] += 1;
        }
        assert!(met.iter().all(|&n| n == 2), "{name} gives idle lanes unequal shares: {met:?}");
    }
}

fn redundancy(name: &str, x: &PolicyContext) {
    let config: RedundancyConfig = member(name);
    // Whether stripes fit depends on the drive.
    let Ok(p) = RedundancyPolicy::new(&config, x) else { return };
    let striping = p.striping();
    assert!((0..10).all(|_| p.striping() == striping), "{name} changes its stripes");
    if let Some(s) = striping {
        assert!(x.channels.is_multiple_of(s.width), "{name}: {} of {} channels", s.width, x.channels);
    }
}

fn read_path(name: &str, x: &PolicyContext) {
    let config: ReadPathConfig = member(name);
    let p = ReadPathPolicy::new(&config, x).unwrap_or_else(|e| panic!("{name}: {e}"));
    let rebuilds = p.rebuilds();
    let mut s = Stream::new(x.seed, "read path laws", 0);
    for _ in 0..1_000 {
        let extra = s.below(32) as u32;
        let left = s.below(70_000_000);
        let others_left = s.below(3).saturating_sub(1) * s.below(70_000_000);
        // Values that are consistent: predictions that lie in the future, and an operation
        // under way.
        let view = BlockedView {
            left: Span(left),
            left_as_begun: Span(s.below(left + 1) + 1),
            last_step: s.below(2) == 0,
            step_left: Span(s.below(left + 1) + 1),
            others_left: Span(others_left),
            extra_left_as_begun: Span(s.below(others_left + 1)),
            extra,
            busy_channels: s.below(u64::from(extra) + 1) as u32,
            read: Span(142_575),
            rotates: s.below(2) == 0,
        };
        let verdict = p.rebuild(&view);
        assert!(rebuilds || !verdict, "{name} rebuilds after all");
        let longer = BlockedView { left: view.left + Span(1_000), ..view };
        assert!(!verdict || p.rebuild(&longer), "{name} waits where there is longer to wait");
        let (others_left, extra_left_as_begun) = (Span(0), Span(0));
        let free = BlockedView { others_left, extra_left_as_begun, extra: 0, busy_channels: 0, ..view };
        assert!(!rebuilds || view.left == Span(0) || p.rebuild(&free), "{name} waits for nothing");
    }
}

/// Tests the decisions of the authors' simulator, as in its code, for a read of one page with
/// seven others of its stripe.
#[test]
fn the_authors_overlook_the_erase_behind_the_last_page() {
    let x = &contexts()[0];
    let [paper, authors] = ["gc-tolerant", "gc-tolerant-authors"]
        .map(|name| ReadPathPolicy::new(&member::<ReadPathConfig>(name), x).expect("it has no parameters"));
    let us = |n: u64| Span(n * 1_000);
    // Seven reads of 142.6 us; all channels are busy.
    let (extra, busy_channels, read) = (7, 7, Span(142_575));
    let last_program = BlockedView {
        left: us(2_700),
        left_as_begun: us(2_000),
        last_step: true,
        step_left: us(700),
        others_left: us(0),
        extra_left_as_begun: us(0),
        extra,
        busy_channels,
        read,
        rotates: true,
    };
    let verdicts = |view: &BlockedView| [&paper, &authors].map(|p| p.clone().rebuild(view));
    assert_eq!(verdicts(&last_program), [true, false], "700 us are less than seven reads");
    let one_read = BlockedView { extra: 1, busy_channels: 1, ..last_program };
    assert_eq!(verdicts(&one_read), [true, true], "and more than one");
    let erase = BlockedView { left: us(1_500), step_left: us(1_500), ..last_program };
    assert_eq!(verdicts(&erase), [true, true]);
    let its_end = BlockedView { left: us(900), step_left: us(900), ..last_program };
    assert_eq!(verdicts(&its_end), [false, false]);
    let moves = BlockedView { last_step: false, step_left: us(20), ..last_program };
    assert_eq!(verdicts(&moves), [true, true], "for any time left of the page under way");
    // Outside rotation, the prediction made at the start of the collection counts, for both planes.
    let late = BlockedView { left: us(9_000), left_as_begun: us(0), rotates: false, ..moves };
    assert_eq!(verdicts(&late), [true, false], "by the prediction it would be over");
    let beside = BlockedView {
        others_left: us(9_000),
        extra_left_as_begun: us(500),
        left_as_begun: us(3_000),
        ..late
    };
    assert_eq!(verdicts(&beside), [false, true]);
}

fn gc_victim(name: &str, x: &PolicyContext) {
    let config: GcVictimConfig = member(name);
    let p = GcVictimPolicy::new(&config, x).unwrap_or_else(|e| panic!("{name}: {e}"));
    let twin = p.clone();
    let mut s = Stream::new(x.seed, "victim laws", 0);
    let (n, most) = (x.units_per_extent, x.units_per_extent - x.units_per_write);
    for round in 0..200u64 {
        let extents = 1 + s.below(40) as usize;
        let full = round % 3;
        let valid: Vec<u32> = (0..extents)
            .map(|_| match s.below(4) {
                0 => CLOSED_TO_COLLECTION | s.below(u64::from(n) + 1) as u32,
                1 if full > 0 => n,
                _ if full == 2 => n,
                _ => s.below(u64::from(n) + 1) as u32,
            })
            .collect();
        // Half of the drives can have holes; what is not won includes them.
        let in_hole = |&v: &u32| (v & !CLOSED_TO_COLLECTION) / x.units_per_write * x.units_per_write / 2;
        let holes: Vec<u32> = if round % 2 == 0 { vec![] } else { valid.iter().map(in_hole).collect() };
        let closed: Vec<u64> = (0..extents).map(|_| s.below(1_000)).collect();
        let view = VictimView {
            valid: &valid,
            closed: &closed,
            now: 1_000,
            choice: 7,
            holes: &holes,
            units_per_extent: n,
            most_valid: most,
        };
        let can_be = |i: &usize| valid[*i] <= most;
        for i in (0..extents).filter(can_be) {
            let hole = if holes.is_empty() { 0 } else { holes[i] };
            assert_eq!(view.moves(i), valid[i] - hole, "{name} moves what lies in no hole");
        }
        // A collection wins the whole extent but for what is valid or lost; the first of equals.
        let best = (0..extents).filter(can_be).min_by_key(|&i| (valid[i], i));
        assert_eq!(view.wins_most(), best.map(|i| i as u32), "{name}: {valid:?}");
        let picked = p.pick(&view);
        assert_eq!(picked, twin.pick(&view), "{name} is not determined by its seed");
        match picked {
            Some(i) => assert!(valid[i as usize] <= most, "{name} wins nothing with {}", valid[i as usize]),
            None => assert!(valid.iter().all(|&v| v > most), "{name} misses a victim in {valid:?}"),
        }
    }
}

fn gc_schedule(name: &str, x: &PolicyContext) {
    let config: GcScheduleConfig = member(name);
    let p = match GcSchedulePolicy::new(&config, x) {
        Err(_) if name == "rotating" && x.groups == 0 => return,
        p => p.unwrap_or_else(|e| panic!("{name}: {e}")),
    };
    let reserve = p.reserve();
    assert!(reserve >= 1, "{name} leaves collection nothing to copy into");
    let extents = x.extents_per_lane;
    let mut started = true;
    for free in 0..=extents {
        let view = |host_active| SpaceView {
            free,
            extents,
            host_active,
            host_reads: host_active,
            host_programs: false,
            host_writes: host_active,
            tokens: i64::from(p.most_tokens()) * TOKEN,
            channel_active: host_active,
            group_collecting: 0,
            rebuilds_here: host_active,
            urgent_lanes: 0,
            lanes: x.lanes,
            keeps_up: true,
        };
        let beside = SpaceView { group_collecting: 1, ..view(false) };
        assert!(!p.start(&beside) || p.start(&view(false)), "{name} starts only while another collects");
        assert!(!p.rotates() || free <= extents / 2 || !p.start(&beside), "{name} does not rotate");
        let poor = SpaceView { tokens: TOKEN - 1, ..view(true) };
        let by_tokens = p.most_tokens() > 0;
        assert!(
            !by_tokens || p.proceed(&poor) && p.closes_programs(&poor),
            "{name} waits for what cannot run"
        );
        assert!(!by_tokens || !p.closes_programs(&view(true)), "{name} holds back programs that can pay");
        assert!(p.proceed(&view(false)), "{name} yields without host work with {free} free");
        let starts = p.start(&view(false));
        assert!(started || !starts, "{name} starts with {free} free and not with fewer");
        started = starts;
        assert!(starts || !p.start(&view(true)), "{name} starts only for an active host");
        if free <= reserve {
            // Host writes are blocked at this level. Only collection can free space, so it must
            // run whatever the host does.
            assert!(p.start(&view(true)), "{name} does not start at its reserve of {reserve}");
            assert!(p.proceed(&view(true)), "{name} yields at its reserve of {reserve}");
        }
        assert_eq!(p.reserve(), reserve, "{name} changes its reserve");
    }
}

fn background(name: &str, x: &PolicyContext) {
    let config: BackgroundConfig = member(name);
    let p = BackgroundPolicy::new(&config, x).unwrap_or_else(|e| panic!("{name}: {e}"));
    let scrubbing = p.scrubbing();
    assert!((0..10).all(|_| p.scrubbing() == scrubbing), "{name} is not constant");
    assert!(scrubbing.is_none_or(|s| s.pause > Span(0)), "{name} never pauses");
}

fn write_gate(name: &str, x: &PolicyContext) {
    let config: WriteGateConfig = member(name);
    let p = match WriteGatePolicy::new(&config, x) {
        Ok(p) => p,
        Err(e) => return assert!(name == "stride" && x.groups == 0, "{name}: {e}"),
    };
    let rules = p.rules();
    assert_eq!(rules.is_some(), name != "none", "{name} and its name disagree");
    assert!((0..10).all(|_| p.rules() == rules), "{name} changes its answer");
}

fn wear(name: &str, x: &PolicyContext) {
    let config: WearConfig = member(name);
    let p = match WearPolicy::new(&config, x) {
        Ok(p) => p,
        Err(e) => {
            // The member needs stripes, and enough pages for its gap.
            let pages = x.extents_per_lane * x.units_per_extent / x.units_per_write;
            return assert!(x.groups == 0 || pages < 20, "{name}: {e}");
        }
    };
    let levels = p.moves_stripes();
    assert!(p.erase_gap().is_none_or(|gap| gap > 0), "{name} empties extents that are behind no other");
    let mut s = Stream::new(x.seed, "wear laws", 0);
    let mut moves = 0;
    for _ in 0..1_000 {
        let most = 1 << s.below(30);
        let mut draw = || s.below(most);
        let [best_rotation, coldest] = [draw(), draw()];
        let view = WearView { own: best_rotation + draw(), best_rotation, group: coldest + draw(), coldest };
        let verdict = p.decide(&view);
        assert_eq!(verdict, p.decide(&view), "{name} is not deterministic");
        // A stripe must move only to lanes with fewer programs, and must not move back at once.
        let there = match verdict {
            WearVerdict::Stay => continue,
            WearVerdict::Shift => {
                assert!(view.own > view.best_rotation, "{name} shifts for nothing: {view:?}");
                WearView { own: view.best_rotation, ..view }
            }
            WearVerdict::Migrate => {
                assert!(view.group > view.coldest, "{name} migrates for nothing: {view:?}");
                WearView { own: 0, best_rotation: 0, group: view.coldest, coldest: view.group }
            }
        };
        assert_ne!(p.decide(&there), verdict, "{name} moves a stripe again at once: {view:?}");
        moves += 1;
    }
    assert_eq!(moves > 0, levels, "{name} moves {moves} stripes");
}

fn gc_scope(name: &str, x: &PolicyContext) {
    let config: GcScopeConfig = member(name);
    let p = GcScopePolicy::new(&config, x).unwrap_or_else(|e| panic!("{name}: {e}"));
    let scope = p.scope();
    assert!((0..10).all(|_| p.scope() == scope), "{name} changes its scope");
}

#[test]
fn scopes_differ() {
    let x = &contexts()[0];
    let mut seen = Vec::new();
    for name in GcScopeConfig::MEMBERS {
        let scope = GcScopePolicy::new(&member(name), x).expect("no parameters").scope();
        assert!(!seen.contains(&scope), "{name} has the scope of another member");
        seen.push(scope);
    }
}
