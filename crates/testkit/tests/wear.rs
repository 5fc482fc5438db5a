//! Tests that wear levelling spreads frequent writes and erases, and does not move evenly written data.
//!
//! On small drives with parity, the writes wear some planes of a group, or one group, more than
//! the rest. With levelling the numbers of programs of the planes come closer, at the cost of
//! additional programs. All bytes and the parity of moved stripes must be preserved.

use tailcut_core::address::Lpn;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Counters, Device, InMemory};
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_core::policy::gc_schedule::GcScheduleConfig;
use tailcut_core::policy::wear::{WearConfig, shift_migrate, static_threshold};
use tailcut_testkit::swarm::{self, Case, Plan};
use tailcut_testkit::{closed_loop, parity_drive, small_drive};
use tailcut_units::quantity::Level;
use tailcut_units::{Command, HostOp, Stream};

const PAGE: u64 = 4096;
/// Data units of a stripe.
const DATA: u64 = 3;
const GROUPS: u64 = 4;

/// Four groups of four planes of 768 pages, and a buffer that holds few of the frequently
/// written units. `gap`: millionths of a program/erase cycle; 0 for no levelling.
fn drive(gap: u32) -> DeviceConfig {
    let mut c = parity_drive();
    c.geometry.chips_per_channel = 2;
    c.geometry.blocks = 48;
    c.geometry.pages = 16;
    if let BufferConfig::Lru(m) = &mut c.policy.buffer {
        m.capacity = 16 * PAGE;
    }
    if gap > 0 {
        let gap = Level::Share(gap);
        c.policy.wear = WearConfig::ShiftMigrate(shift_migrate::Config { gap });
    }
    c
}

/// The same drive with this number of blocks on each plane.
fn drive_of(gap: u32, blocks: u32) -> DeviceConfig {
    let mut c = drive(gap);
    c.geometry.blocks = blocks;
    c
}

/// The result of a workload.
struct Worn {
    counters: Counters,
    /// Programs of each lane, by group.
    groups: Vec<Vec<u64>>,
    /// Stripes that each group had at the start, and the most that it accepts.
    held: Vec<(u64, u64)>,
}

impl Worn {
    /// Difference between the largest and the smallest number of programs of a lane of a group.
    fn spread(&self, group: usize) -> u64 {
        let lanes = &self.groups[group];
        lanes.iter().max().unwrap() - lanes.iter().min().unwrap()
    }

    fn means(&self) -> Vec<u64> {
        self.groups.iter().map(|lanes| lanes.iter().sum::<u64>() / lanes.len() as u64).collect()
    }

    /// Difference between the largest and the smallest mean number of programs of a group.
    fn spread_of_groups(&self) -> u64 {
        self.means().iter().max().unwrap() - self.means().iter().min().unwrap()
    }

    fn waf(&self) -> f64 {
        self.counters.programs() as f64 / self.counters.programs_user as f64
    }
}

/// Run writes of one unit each on a full drive.
fn worn(config: &DeviceConfig, writes: u64, unit: impl Fn(&mut Stream, u64) -> u64) -> Worn {
    let mut device = Device::new(config, 3, ()).expect("a valid drive");
    device.fill(device.host_bytes());
    let stripes = device.shape().stripes.clone().expect("it has parity");
    let mut s = Stream::new(3, "wear", 0);
    let count = u64::from(stripes.count);
    let mut next = |_| Command::new(HostOp::Write, unit(&mut s, count) * PAGE, PAGE as u32);
    closed_loop(&mut device, 0, 8, writes, &mut next, &mut |_| {});
    device.audit().expect("every law holds");
    device.audit_parity().expect("every stripe has its parity");
    let mut groups = vec![Vec::new(); stripes.groups as usize];
    for (lane, &n) in (0..).zip(device.programs_by_lane()) {
        groups[stripes.group_of_lane(lane) as usize].push(n);
    }
    let counters = device.counters().clone();
    let classes = counters.programs_user + counters.programs_gc + counters.programs_parity;
    assert_eq!(classes + counters.programs_wear, counters.rows_programmed);
    assert_eq!(groups.iter().flatten().sum::<u64>(), counters.rows_programmed);
    let (rounds, rest) = stripes.rows_of_fill(stripes.count);
    let most = device.shape().most_stripes.iter();
    let held = (0..).zip(most).map(|(g, &most)| (u64::from(rounds + u32::from(g < rest)), u64::from(most)));
    Worn { counters, groups, held: held.collect() }
}

/// Run the same workload without and with levelling.
fn both(writes: u64, unit: impl Fn(&mut Stream, u64) -> u64 + Copy) -> (Worn, Worn) {
    let pair = (worn(&drive(0), writes, unit), worn(&drive(50_000), writes, unit));
    for (name, w) in [("none", &pair.0), ("shift-migrate", &pair.1)] {
        let c = &w.counters;
        println!(
            "{name}: waf {:.3}, user {}, parity {}, gc {}, wear {}, {} shifts, {} migrations, {:?}",
            w.waf(),
            c.programs_user,
            c.programs_parity,
            c.programs_gc,
            c.programs_wear,
            c.shifts,
            c.migrations,
            w.groups
        );
    }
    pair
}

/// The first unit of a random stripe: wears the planes of these units and of the parity.
fn first_units(s: &mut Stream, stripes: u64) -> u64 {
    s.below(stripes) * DATA
}

/// A unit of a random stripe of the first group, within an eighth of the drive.
fn one_group(s: &mut Stream, stripes: u64) -> u64 {
    s.below(stripes / 8 / GROUPS) * GROUPS * DATA + s.below(DATA)
}

#[test]
fn hot_pages_are_spread_over_their_group() {
    let (none, levelled) = both(40_000, first_units);
    let c = &levelled.counters;
    assert_eq!((none.counters.programs_wear, none.counters.shifts), (0, 0));
    assert!(c.shifts > 0 && c.programs_wear > 0, "{c:?}");
    for group in 0..GROUPS as usize {
        let (before, after) = (none.spread(group), levelled.spread(group));
        assert!(before > 1_000 && after * 5 < before, "group {group}: {before} apart, then {after}");
    }
}

#[test]
fn a_hot_group_is_relieved() {
    let (none, levelled) = both(40_000, one_group);
    let c = &levelled.counters;
    assert!(c.migrations > 0 && c.programs_wear > 0, "{c:?}");
    let (before, after) = (none.spread_of_groups(), levelled.spread_of_groups());
    assert!(after * 5 < before, "groups are {before} apart, then {after}: {:?}", levelled.means());
}

#[test]
fn even_wear_moves_nothing() {
    // A cycle is 768 programs, about nine times the random difference between the planes here.
    let w = worn(&drive(1_000_000), 40_000, |s, stripes| s.below(stripes * DATA));
    assert_eq!((w.counters.programs_wear, w.counters.shifts, w.counters.migrations), (0, 0, 0));
    let plain = worn(&drive(0), 40_000, |s, stripes| s.below(stripes * DATA));
    assert_eq!(w.counters, plain.counters, "without moves the results must be the same");
}

/// Every stripe of one group is written often, and the drive has the largest capacity it
/// accepts: migration stops at the limit of the other groups, and no group runs out of space.
#[test]
fn no_group_is_overfilled() {
    for over_provisioning in [0.25, 0.3, 0.4] {
        let mut c = drive_of(4_000, 24);
        c.ftl.over_provisioning = Some(over_provisioning);
        let w = worn(&c, 30_000, |s, stripes| s.below(stripes / GROUPS) * GROUPS * DATA + s.below(DATA));
        let n = &w.counters;
        println!("{over_provisioning}: waf {:.3}, {} migrations, {:?}", w.waf(), n.migrations, w.means());
        assert!(n.migrations > 0 && n.collections > 500, "{over_provisioning}: {n:?}");
        // Stripes leave the first group until the others are full (some move on between the
        // others). The other groups give up at most a quarter of their spare pages.
        let taken = w.held[1..].iter().map(|(own, most)| most - own).sum::<u64>();
        assert!(n.migrations >= taken && n.migrations < taken * 5 / 4, "{} for {taken}", n.migrations);
        for &(own, most) in &w.held {
            assert!((most - own) * 4 < 24 * 16 - own, "{over_provisioning}: {:?}", w.held);
        }
    }
}

/// Tests that ageing writes a stripe at its current place, and that a saved aged drive includes
/// the moved stripes.
#[test]
fn a_drive_is_aged_where_its_stripes_are() {
    let c = drive_of(4_000, 24);
    let mut device = Device::new(&c, 3, ()).expect("a valid drive");
    device.fill(device.host_bytes());
    let stripes = u64::from(device.shape().stripes.as_ref().expect("it has parity").count);
    let mut s = Stream::new(3, "wear", 1);
    let mut next = |_| Command::new(HostOp::Write, first_units(&mut s, stripes) * PAGE, PAGE as u32);
    closed_loop(&mut device, 0, 8, 5_000, &mut next, &mut |_| {});
    let end = closed_loop(&mut device, 1 << 50, 1, 1, &mut |_| Command::FLUSH, &mut |_| {});
    device.advance(tailcut_units::SimTime(end + (1 << 40)), &mut |_| {});
    assert!(device.is_quiescent() && device.counters().shifts > 100 && device.counters().migrations > 10);
    let report = device.age_uniform(0..device.host_bytes(), PAGE as u32, &mut |_| true);
    assert!(report.programs > 1_000);
    device.audit().expect("every stripe is on the lanes of its place");
    device.audit_parity().expect("every stripe has its parity");
    let mut saved = Vec::new();
    device.save_aged(7, &report, &mut saved).expect("the drive is idle");
    let mut other = Device::new(&c, 3, ()).expect("a valid drive");
    other.load_aged(7, &mut saved.as_slice()).expect("it is like the first");
    other.audit().expect("every stripe is on the lanes of its place");
    for unit in Lpn(0).run((device.host_bytes() / PAGE) as u32) {
        assert_eq!(other.whereabouts(unit), device.whereabouts(unit));
    }
    // A drive without levelling cannot load stripes that have moved.
    let mut fixed = Device::new(&drive_of(0, 24), 3, ()).expect("a valid drive");
    assert!(fixed.load_aged(7, &mut saved.as_slice()).is_err());
}

/// Tests a gap at which any difference moves a stripe, under reads, TRIMs, partial units and
/// FLUSHes.
#[test]
fn what_moves_stays_what_was_written() {
    let (mut shifts, mut migrations, mut rebuilt) = (0, 0, 0);
    for seed in 0..8 {
        let config = drive_of(if seed % 2 == 0 { 4_000 } else { 20_000 }, 24);
        let plan = Plan {
            commands: 3_000,
            fill: if seed == 3 { 64 } else { 256 },
            aged: seed % 3 == 0,
            weights: [6, 8, u64::from(seed % 4 == 1), 1],
            astray: 0,
            grain: if seed % 2 == 0 { PAGE } else { 512 },
            largest: 2 * PAGE,
            hot: [0, 1, 8, 64][seed as usize % 4],
            gap: [0, 50_000, 400_000][seed as usize % 3],
            pause: 0,
            sequential: false,
            audit_every: 200,
            fails: 0,
            interventions: Default::default(),
        };
        let case = Case { seed, config, plan };
        let (_, device) =
            swarm::run_over(&case, InMemory::new()).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let c = device.counters();
        (shifts, migrations, rebuilt) =
            (shifts + c.shifts, migrations + c.migrations, rebuilt + c.rebuilt_units);
    }
    println!("{shifts} shifts, {migrations} migrations, {rebuilt} units rebuilt");
    assert!(shifts > 500 && migrations > 100 && rebuilt > 500, "{shifts} {migrations} {rebuilt}");
}

/// Overwrite a part of a full drive without parity. Returns the counters and the cycles of its blocks.
fn overwritten(gap: Option<u32>, part: f64, writes: u64) -> (Counters, Vec<u32>) {
    let mut config = small_drive();
    config.geometry.pages = 8;
    if let GcScheduleConfig::Threshold(m) = &mut config.policy.gc_schedule {
        m.start = Level::Count(5);
    }
    if let Some(gap) = gap {
        config.policy.wear = WearConfig::StaticThreshold(static_threshold::Config { gap });
    }
    let mut device = Device::new(&config, 3, ()).expect("a valid drive");
    device.fill(device.host_bytes());
    let unit = config.ftl.mapping_unit;
    let units = ((device.host_bytes() / unit) as f64 * part) as u64;
    let mut s = Stream::new(3, "wear", 0);
    let mut next = |_| Command::new(HostOp::Write, s.below(units) * unit, unit as u32);
    closed_loop(&mut device, 0, 8, writes, &mut next, &mut |_| {});
    device.audit().expect("every law holds");
    let c = device.counters().clone();
    // A row holds several units.
    assert_eq!(c.programs() % (c.programs() / c.rows_programmed), 0);
    (c, device.pe_cycles())
}

#[test]
fn cold_blocks_are_emptied_and_erased() {
    let (none, plain) = overwritten(None, 0.2, 60_000);
    assert_eq!((none.collections_for_wear, none.programs_wear), (0, 0));
    let (levelled, even) = overwritten(Some(5), 0.2, 60_000);
    let of = |cycles: &[u32]| {
        let mean = f64::from(cycles.iter().sum::<u32>()) / cycles.len() as f64;
        let squares: f64 = cycles.iter().map(|&n| (f64::from(n) - mean).powi(2)).sum();
        (f64::from(*cycles.iter().min().unwrap()) / mean, (squares / cycles.len() as f64).sqrt() / mean)
    };
    let ((coldest, spread), (coldest_then, spread_then)) = (of(&plain), of(&even));
    println!(
        "the coldest at {coldest:.2} of the mean, spread {spread:.2}; {coldest_then:.2}, {spread_then:.2}"
    );
    assert!(coldest == 0.0 && coldest_then > 0.5, "{plain:?} {even:?}");
    // A block that hot data take again and again stays ahead: only cold blocks are emptied.
    assert!(spread_then < 0.6 * spread, "{plain:?} {even:?}");
    assert!(levelled.collections_for_wear > 50 && levelled.programs_wear > 400, "{levelled:?}");
}

#[test]
fn erases_that_are_even_cause_no_collections() {
    let (none, _) = overwritten(None, 1.0, 30_000);
    let (levelled, _) = overwritten(Some(1000), 1.0, 30_000);
    assert_eq!(none, levelled);
}

#[test]
fn without_stripes_there_is_nothing_to_move() {
    let mut c = tailcut_testkit::small_drive();
    c.policy.wear = WearConfig::ShiftMigrate(shift_migrate::Config::default());
    let Err(e) = Device::new(&c, 1, ()) else { panic!("it is accepted") };
    assert_eq!(e.key, "policy.wear");
    assert!(e.problem.contains("policy.redundancy"), "{e}");
    // A gap of less than one page.
    let Err(e) = Device::new(&drive(1), 1, ()) else { panic!("it is accepted") };
    assert!(e.problem.contains("policy.wear.shift-migrate.gap"), "{e}");
}
