//! Decisions of policies, one by one, as their sources state them.

use tailcut_core::device::Shape;
use tailcut_core::policy::PolicyContext;
use tailcut_core::policy::flush::{FlushConfig, FlushPolicy, FlushVerdict, FlushView, in_flight, watermark};
use tailcut_core::policy::gc_schedule::{GcScheduleConfig, GcSchedulePolicy, SpaceView, TOKEN};
use tailcut_core::policy::gc_schedule::{preemptive, rotating, threshold, tokens};
use tailcut_core::policy::gc_victim::{GcVictimConfig, GcVictimPolicy, VictimView};
use tailcut_core::policy::wear::{WearConfig, WearPolicy, WearVerdict, WearView, shift_migrate};
use tailcut_testkit::parity_drive;
use tailcut_testkit::swarm::member;
use tailcut_units::quantity::Level;

fn context() -> PolicyContext {
    Shape::new(&parity_drive(), 1).expect("a drive").context
}

fn schedule(config: GcScheduleConfig) -> GcSchedulePolicy {
    GcSchedulePolicy::new(&config, &context()).expect("valid parameters")
}

/// A lane of 20 extents, `free` of them free, in which nothing happens.
fn lane(free: u32) -> SpaceView {
    SpaceView { free, extents: 20, lanes: 10, ..SpaceView::default() }
}

#[test]
fn a_collection_starts_at_its_threshold_and_waits_for_the_channel_only_above_a_level() {
    let limits = |channel| {
        let (start, hard) = (Level::Count(6), Level::Count(3));
        schedule(GcScheduleConfig::Threshold(threshold::Config {
            start,
            hard,
            wait_for_channel_above: channel,
        }))
    };
    let (waits, starts) = (limits(Level::Count(4)), limits(Level::Count(6)));
    let busy = |free| SpaceView { channel_active: true, ..lane(free) };
    for free in 0..10 {
        assert_eq!([&waits, &starts].map(|p| p.start(&lane(free))), [free <= 6; 2], "{free}");
        assert_eq!([&waits, &starts].map(|p| p.start(&busy(free))), [free <= 4, free <= 6], "{free}");
        assert_eq!([&waits, &starts].map(|p| p.urgent(&lane(free))), [free <= 3; 2], "{free}");
    }
    assert_eq!([&waits, &starts].map(|p| p.heeds_channel()), [true, false]);
    assert_eq!(waits.reserve(), 3);
}

/// With a token left a collection yields to host programs; without one it goes first, until it has earned one.
#[test]
fn a_collection_with_tokens_yields_until_they_are_spent() {
    let limits = tokens::Config { start: Level::Count(6), hard: Level::Count(3), most: 2 };
    let p = schedule(GcScheduleConfig::Tokens(limits));
    let writes = |free, tokens| SpaceView { host_active: true, host_writes: true, tokens, ..lane(free) };
    for (free, tokens, proceeds, closes) in [
        (5, 2 * TOKEN, false, false),
        (5, TOKEN, false, false),
        (5, TOKEN - 1, true, true),
        (5, -TOKEN, true, true),
        (3, 2 * TOKEN, true, false),
    ] {
        let view = writes(free, tokens);
        assert_eq!((p.proceed(&view), p.closes_programs(&view)), (proceeds, closes), "{free}, {tokens}");
        let reads = SpaceView { host_writes: false, host_reads: true, ..view };
        assert!(p.proceed(&reads), "reads pay nothing");
    }
    assert_eq!((p.start(&writes(6, 0)), p.start(&writes(7, 0)), p.reserve()), (true, false, 3));
}

/// The states of Lee et al. (TCAD'13): S1 above the hard limit, S2 below it, S3 below it with a write
/// of high priority.
#[test]
fn a_collection_in_four_states_yields_to_what_the_state_says() {
    use preemptive::{Config, States};
    let [two, four, high] = [(States::Two, false), (States::Four, false), (States::Four, true)].map(
        |(states, high_priority_writes)| {
            let (start, hard) = (Level::Count(6), Level::Count(3));
            schedule(GcScheduleConfig::Preemptive(Config { start, hard, states, high_priority_writes }))
        },
    );
    let reads = |free| SpaceView { host_active: true, host_reads: true, ..lane(free) };
    let writes = |free| SpaceView { host_active: true, host_programs: true, ..lane(free) };
    let both = |free| SpaceView { host_reads: true, ..writes(free) };
    // Free extents, the work of the host, and whether a collection goes on: two states, four, and four
    // with writes of high priority.
    let table = [
        ("S1 idle", lane(4), [true, true, true]),
        ("S1 reads", reads(4), [false, false, false]),
        ("S1 writes", writes(4), [false, false, false]),
        ("S2 idle", lane(3), [true, true, true]),
        ("S2 reads", reads(3), [true, false, false]),
        ("S2 writes", writes(3), [true, true, true]),
        ("S2 or S3, reads and writes", both(3), [true, false, true]),
        ("the last but one", both(2), [true, false, true]),
        ("the last extent", both(1), [true, true, true]),
        ("none", reads(0), [true, true, true]),
    ];
    for (what, view, runs) in table {
        assert_eq!([&two, &four, &high].map(|p| p.proceed(&view)), runs, "{what}");
        assert_eq!([&two, &four, &high].map(|p| p.start(&view)), runs, "{what}");
        let closes = view.free <= 3;
        let closes = [false, closes, closes];
        assert_eq!([&two, &four, &high].map(|p| p.closes_programs(&view)), closes, "{what}");
    }
    assert!(!two.start(&lane(7)) && two.start(&lane(6)) && two.proceed(&lane(7)));
    assert!(two.urgent(&lane(3)) && !two.urgent(&lane(4)));
}

/// The turns of ttFlash (FAST'17): one plane of a group collects, and below the hard limit the mode
/// decides.
#[test]
fn a_plane_collects_out_of_turn_as_the_mode_says() {
    use rotating::{Config, Mode};
    let [yielding, forced, dynamic] = [Mode::Yielding, Mode::Forced, Mode::Dynamic].map(|mode| {
        schedule(GcScheduleConfig::Rotating(Config {
            start: Level::Count(6),
            hard: Level::Count(3),
            stop: Level::Count(1),
            mode,
            wait_for_channel_above: Level::Count(5),
        }))
    });
    let beside = |free| SpaceView { group_collecting: 1, ..lane(free) };
    let short = |free, urgent_lanes, keeps_up| SpaceView { urgent_lanes, keeps_up, ..beside(free) };
    let table = [
        ("its turn", lane(6), [true, true, true]),
        ("enough space", lane(7), [false, false, false]),
        ("another's turn", beside(4), [false, false, false]),
        ("another's turn, hard", beside(3), [true, false, false]),
        // In the authors' simulator, 30 % of the lanes: 3 of 10.
        ("2 of 10 lanes are short", short(3, 2, false), [true, false, false]),
        ("3 of 10 lanes are short", short(3, 3, false), [true, false, true]),
        ("they are short, and collection keeps up", short(3, 3, true), [true, false, false]),
        ("they are short, and this one is not", short(4, 3, false), [false, false, false]),
        ("a busy channel", SpaceView { channel_active: true, ..lane(6) }, [false, false, false]),
        ("a busy channel, less space", SpaceView { channel_active: true, ..lane(5) }, [true, true, true]),
        ("a reconstruction here", SpaceView { rebuilds_here: true, ..lane(4) }, [false, false, false]),
        ("a reconstruction here, hard", SpaceView { rebuilds_here: true, ..lane(3) }, [true, true, true]),
    ];
    for (what, view, starts) in table {
        assert_eq!([&yielding, &forced, &dynamic].map(|p| p.start(&view)), starts, "{what}");
    }
    assert!(dynamic.urgent(&lane(3)) && !dynamic.urgent(&lane(4)));
    assert!(dynamic.heeds_channel() && dynamic.rotates() && dynamic.reserve() == 1);
    let never =
        Config { wait_for_channel_above: Level::Count(6), start: Level::Count(6), ..Config::default() };
    assert!(!schedule(GcScheduleConfig::Rotating(never)).heeds_channel());
}

/// A buffer of ten units, all of one die of one lane.
fn flush_view(dirty: u32, held: u32) -> FlushView {
    FlushView { dirty, held, capacity: 10, lane_dirty: dirty, die_ready: dirty > 0, units_per_write: 1 }
}

#[test]
fn groups_of_a_die_leave_while_less_than_the_limit_is_on_its_way() {
    let context = PolicyContext { groups: 0, plane_lanes: 2, ..context() };
    let config = FlushConfig::InFlight(in_flight::Config { most: 0.5 });
    let mut p = FlushPolicy::new(&config, &context).expect("valid");
    let mut next = |dirty, on_its_way, die_ready| {
        p.next(&FlushView { die_ready, ..flush_view(dirty, dirty + on_its_way) })
    };
    use FlushVerdict::{Hold, Oldest, ReadyDie};
    // A group is two units. Five may be on their way: a group may follow three, not four.
    assert_eq!([next(4, 3, true), next(4, 4, true), next(4, 0, false)], [ReadyDie, Hold, Hold]);
    // A full buffer without a complete group would never get one.
    assert_eq!([next(10, 0, false), next(9, 1, false)], [Oldest, Hold]);
    // With nothing on its way one group may leave, however small the limit is.
    let config = FlushConfig::InFlight(in_flight::Config { most: 0.0 });
    let mut p = FlushPolicy::new(&config, &context).expect("valid");
    assert_eq!(p.next(&flush_view(4, 4)), ReadyDie);
}

#[test]
fn a_buffer_drains_from_the_high_mark_to_the_low_one() {
    let config = watermark::Config { high: 0.8, low: 0.3 };
    let mut p = FlushPolicy::new(&FlushConfig::Watermark(config), &context()).expect("valid marks");
    let mut leaves = |dirty| p.next(&flush_view(dirty, dirty)) != FlushVerdict::Hold;
    let steps = [(0, false), (8, false), (9, true), (8, true), (4, true), (3, false), (8, false), (9, true)];
    for (step, (dirty, drains)) in steps.into_iter().enumerate() {
        assert_eq!(leaves(dirty), drains, "step {step}: {dirty} of 10 are dirty");
    }
}

#[test]
fn victims_are_chosen_by_what_each_policy_compares() {
    // By extent: valid units of 100, and the age in closings.
    let old = (89, 400);
    let half = (50, 100);
    let young = (20, 10);
    let mostly_valid = (95, 900);
    let open = ((1 << 31) | 10, 1_000);
    // (100 - valid) * age / valid is 49 for `old`, 100 for `half` and 40 for `young`.
    let table = [
        (vec![old, half, young, mostly_valid, open], [2, 0, 1]),
        (vec![young, old], [0, 1, 1]),
        // Without valid units the benefit has no bound, whatever the age.
        (vec![half, (0, 1), young], [1, 0, 1]),
        (vec![young, young], [0, 0, 0]),
    ];
    for (extents, picks) in table {
        let (valid, ages): (Vec<u32>, Vec<u64>) = extents.iter().copied().unzip();
        let closed: Vec<u64> = ages.iter().map(|age| 1_000 - age).collect();
        let view = VictimView {
            valid: &valid,
            closed: &closed,
            now: 1_000,
            choice: 0,
            holes: &[],
            units_per_extent: 100,
            most_valid: 90,
        };
        let picked = ["greedy", "fifo", "cost-benefit"].map(|name| {
            let policy = GcVictimPolicy::new(&member::<GcVictimConfig>(name), &context());
            policy.expect("it has no parameters").pick(&view)
        });
        assert_eq!(picked, picks.map(Some), "{extents:?}");
    }
}

/// Horizontal shifting and vertical migration (FAST'17, section 7): the gap must be exceeded.
#[test]
fn a_stripe_moves_when_its_plane_or_its_group_is_worn_beyond_the_gap() {
    let x = PolicyContext { extents_per_lane: 10, units_per_extent: 80, units_per_write: 8, ..context() };
    // A plane has 100 pages, so that 3 cycles are 300 programs.
    let config = shift_migrate::Config { gap: Level::Count(3) };
    let p = WearPolicy::new(&WearConfig::ShiftMigrate(config), &x).expect("a gap of whole pages");
    let table = [
        ("even", (1_000, 1_000, 9_000, 9_000), WearVerdict::Stay),
        ("at the gap", (1_300, 1_000, 9_300, 9_000), WearVerdict::Stay),
        ("a worn plane", (1_301, 1_000, 9_300, 9_000), WearVerdict::Shift),
        ("a plane worn much more", (5_000, 1_000, 9_300, 9_000), WearVerdict::Shift),
        ("a worn group", (1_300, 1_000, 9_301, 9_000), WearVerdict::Migrate),
        ("a group worn much more", (1_000, 1_000, 20_000, 9_000), WearVerdict::Migrate),
        ("both", (1_301, 1_000, 9_301, 9_000), WearVerdict::Shift),
    ];
    for (what, (own, best_rotation, group, coldest), verdict) in table {
        assert_eq!(p.decide(&WearView { own, best_rotation, group, coldest }), verdict, "{what}");
    }
}
