//! Tests that a restored snapshot behaves like the original drive, and that anything else is
//! refused without a panic.

use tailcut_core::address::BusyUnit;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{AgeReport, Counters, Device, Observer, SnapshotError, Step, StepEvent, aged_key};
use tailcut_core::ftl::config::BadBlocks;
use tailcut_core::policy::gc_victim::GcVictimConfig;
use tailcut_core::policy::placement::PlacementConfig;
use tailcut_testkit::swarm::member;
use tailcut_testkit::{Host, drive_with_holes, parity_drive, slc_drive, small_drive, use_restored};
use tailcut_units::quantity::Level;
use tailcut_units::{HostOp, Stream};

/// Submit `n` random commands as fast as the queue accepts them; returns the time.
fn traffic<O: Observer>(host: &mut Host<O>, stream: &mut Stream, n: u32, mut at: u64) -> u64 {
    let units = host.device.host_bytes() / 4096;
    for _ in 0..n {
        while !host.device.has_place() {
            at = host.device.next_deadline().0;
            host.advance(at);
        }
        let op = [HostOp::Write, HostOp::Write, HostOp::Read, HostOp::Trim, HostOp::Flush]
            [stream.below(5) as usize];
        let op = if op == HostOp::Flush && stream.below(20) != 0 { HostOp::Write } else { op };
        let bytes = if op == HostOp::Flush { 0 } else { 512 * (1 + stream.below(16) as u32) };
        host.submit(at, op, stream.below(units - 2) * 4096 + 512 * stream.below(8), bytes);
    }
    at
}

#[test]
fn a_run_goes_on_after_restoring_as_if_nothing_had_happened() {
    goes_on_after_restoring(&small_drive());
    let mut folds = slc_drive();
    folds.slc.as_mut().expect("it has a region").fold_below = 0.5;
    let counters = goes_on_after_restoring(&folds);
    assert!(counters.slc_programs > 1_000 && counters.programs_fold > 100, "{counters:?}");
}

fn goes_on_after_restoring(config: &DeviceConfig) -> Counters {
    let mut whole = Host::new(config);
    let mut stream = Stream::new(5, "snapshot", 0);
    let at = traffic(&mut whole, &mut stream, 4_000, 0);
    assert!(whole.device.outstanding() > 0, "the snapshot is taken with operations under way");
    let mut file = Vec::new();
    whole.device.snapshot(config, 1, &mut file).unwrap();
    let device = Device::restore(config, 1, (), &mut &file[..]).unwrap();
    let mut restored = Host { device, done: whole.done.clone() };
    let mut again = stream.clone();
    traffic(&mut whole, &mut stream, 4_000, at);
    traffic(&mut restored, &mut again, 4_000, at);
    whole.drain();
    restored.drain();
    assert_eq!(whole.done.len(), restored.done.len());
    assert!(whole.done == restored.done, "completions differ after restoring");
    assert_eq!(whole.device.counters(), restored.device.counters());
    whole.device.audit().unwrap();
    whole.device.counters().clone()
}

/// Tests a snapshot in every stage of a suspension: stopping, suspending, suspended and
/// resuming.
#[test]
fn a_suspended_operation_goes_on_after_restoring() {
    let mut config = small_drive();
    config.policy.schedule = member("read-write-erase");
    config.policy.suspend_erase = member("arbitrary");
    config.policy.suspend_program = member("inter-phase");
    let (mut met, mut nested) = ([0; 4], 0);
    let mut whole = Host::observed(&config, Vec::<StepEvent>::new());
    whole.device.fill(whole.device.host_bytes());
    let mut stream = Stream::new(6, "suspended", 0);
    let mut at = traffic(&mut whole, &mut stream, 4_000, 0);
    for _ in 0..400 {
        at = traffic(&mut whole, &mut stream, 5, at);
        for _ in 0..stream.below(20) {
            at = at.max(whole.device.next_deadline().0);
            whole.advance(at);
        }
        let Some(step) = stages(whole.device.observer(), &mut nested) else { continue };
        met[step] += 1;
        if met[step] > 4 {
            continue;
        }
        let mut file = Vec::new();
        whole.device.snapshot(&config, 1, &mut file).unwrap();
        let restore =
            || Host { device: Device::restore(&config, 1, (), &mut &file[..]).unwrap(), done: Vec::new() };
        let (mut one, mut two) = (restore(), restore());
        one.device.audit().unwrap_or_else(|e| panic!("{e}"));
        // One drive continues directly, the other from a second snapshot taken at the same
        // time.
        let mut again = Vec::new();
        two.device.snapshot(&config, 1, &mut again).unwrap();
        assert!(file == again, "a restored drive is written as it was");
        two.device = Device::restore(&config, 1, (), &mut &again[..]).unwrap();
        let before = whole.done.len();
        let mut twin = stream.clone();
        for host in [&mut one, &mut two] {
            traffic(host, &mut stream.clone(), 300, at);
            host.drain();
        }
        at = traffic(&mut whole, &mut twin, 300, at);
        stream = twin;
        let until = whole.done.len() - before;
        assert!(until > 100, "{until} commands ended");
        assert!(whole.done[before..] == one.done[..until], "completions differ after restoring");
        assert!(one.done == two.done && one.device.counters() == two.device.counters());
    }
    assert!(met.iter().all(|&n| n > 0) && nested > 0, "{met:?}, {nested} nested");
}

/// Tests a snapshot with partly programmed stripes, stripes that move, and a failed plane: all
/// of them continue.
#[test]
fn stripes_on_their_way_go_on_after_restoring() {
    let mut config = parity_drive();
    config.ftl.over_provisioning = Some(0.5);
    config.policy.wear = toml::Value::String("shift-migrate".into()).try_into().unwrap();
    config.fault = vec!["page=0.0.0.0,once@1000s".parse().unwrap()];
    for fails in [false, true] {
        let mut whole = Host::new(&config);
        whole.device.fill(whole.device.host_bytes());
        let mut stream = Stream::new(8, "stripes", 0);
        let mut at = traffic(&mut whole, &mut stream, 3_000, 0);
        if fails {
            whole.device.kill_planes(5..6).unwrap();
        }
        let (mut lost, mut under_way) = (0, 0);
        for _ in 0..40 {
            at = traffic(&mut whole, &mut stream, 7, at);
            lost += u32::from(whole.device.copies().lost_units() > 0);
            under_way += u32::from(whole.device.outstanding() > 0);
            let mut file = Vec::new();
            whole.device.snapshot(&config, 1, &mut file).unwrap();
            let device = Device::restore(&config, 1, (), &mut &file[..]).unwrap();
            device.audit().unwrap_or_else(|e| panic!("{e}"));
            let mut one = Host { device, done: Vec::new() };
            let (before, mut twin) = (whole.done.len(), stream.clone());
            traffic(&mut one, &mut stream.clone(), 60, at);
            at = traffic(&mut whole, &mut twin, 60, at);
            stream = twin;
            assert!(whole.done[before..] == one.done[..], "completions differ after restoring");
            assert_eq!(whole.device.counters(), one.device.counters());
        }
        assert!(under_way > 0 && (lost > 0) == fails, "{under_way} under way, {lost} with lost units");
    }
}

/// The stage of some operation by its last step; also counts units with two suspended
/// operations.
fn stages(steps: &[StepEvent], nested: &mut u32) -> Option<usize> {
    const STAGES: [Step; 4] = [Step::Stopping, Step::Suspending, Step::Suspended, Step::Resuming];
    let mut last = std::collections::BTreeMap::new();
    for e in steps {
        last.insert(e.op, (e.step, e.unit));
    }
    let suspended = |unit| last.values().filter(|v| **v == (Step::Suspended, unit)).count();
    *nested += u32::from((0..4).map(BusyUnit).any(|unit| suspended(unit) == 2));
    let at = |stage: &Step| last.values().any(|v| v.0 == *stage);
    // The less frequent stages first.
    [0, 1, 3, 2].into_iter().find(|&i| at(&STAGES[i]))
}

fn aged() -> (Device, AgeReport, Vec<u8>) {
    aged_drive(&small_drive())
}

fn aged_drive(config: &DeviceConfig) -> (Device, AgeReport, Vec<u8>) {
    let mut device = Device::new(config, 1, ()).unwrap();
    let bytes = device.host_bytes();
    device.fill(bytes);
    let report = device.age_uniform(0..bytes, 4096, &mut |_| true);
    let mut file = Vec::new();
    device.save_aged(7, &report, &mut file).unwrap();
    (device, report, file)
}

#[test]
fn an_aged_drive_is_the_same_drive_restored() {
    let victims = GcVictimConfig::MEMBERS.iter().map(|name| (*name, "static"));
    let places = PlacementConfig::MEMBERS.iter().map(|name| ("greedy", *name));
    for (victim, place) in victims.chain(places) {
        let mut config = small_drive();
        let member = |name: &str| toml::Value::String(name.into());
        config.policy.gc_victim = member(victim).try_into().unwrap();
        config.policy.placement = member(place).try_into().unwrap();
        let (device, report, file) = aged_drive(&config);
        assert!(report.steady && report.waf > 1.2, "{victim}, {place}: {report:?}");
        let mut restored = Device::new(&config, 1, ()).unwrap();
        assert_eq!(restored.load_aged(7, &mut &file[..]).unwrap(), report);
        let run = |device| {
            let mut host = Host { device, done: Vec::new() };
            traffic(&mut host, &mut Stream::new(9, "aged", 0), 3_000, 0);
            host.drain();
            host.done
        };
        assert!(run(device) == run(restored), "{victim}, {place}: the run differs");
    }
}

fn load(key: u64, file: &[u8]) -> Result<AgeReport, SnapshotError> {
    Device::new(&small_drive(), 1, ()).unwrap().load_aged(key, &mut &file[..])
}

#[test]
fn every_wrong_snapshot_is_named_for_what_it_is() {
    let (_, _, file) = aged();
    assert!(matches!(load(7, b"hello"), Err(SnapshotError::NotASnapshot)));
    assert!(matches!(load(7, &[0; 4096]), Err(SnapshotError::NotASnapshot)));
    assert!(matches!(load(8, &file), Err(SnapshotError::OtherDrive { .. })));
    let mut version = file.clone();
    version[8] = 99;
    assert!(matches!(load(7, &version), Err(SnapshotError::Version { found: 99 })));
    for cut in [20, 100, file.len() / 2, file.len() - 1] {
        assert!(matches!(load(7, &file[..cut]), Err(SnapshotError::Damaged(_))), "cut at {cut}");
    }
    let whole = Device::restore(&small_drive(), 1, (), &mut &file[..]);
    assert!(matches!(whole, Err(SnapshotError::OtherDrive { .. })));
}

/// Tests that any flipped bit is detected, and that loading a damaged file with a corrected
/// checksum does not panic.
#[test]
fn damage_is_noticed_and_never_panics() {
    let (_, _, file) = aged();
    let mut s = Stream::new(11, "damage", 0);
    for _ in 0..60 {
        let mut bad = file.clone();
        let at = 24 + s.below(bad.len() as u64 - 24) as usize;
        bad[at] ^= 1 << s.below(8);
        assert!(load(7, &bad).is_err(), "a flipped bit at {at} went unnoticed");
        let body = bad.len() - 8;
        let sum = xxhash_rust::xxh3::xxh3_64(&bad[..body]);
        bad[body..].copy_from_slice(&sum.to_le_bytes());
        let _ = load(7, &bad);
    }
}

/// The file with a checksum that is right for its bytes.
fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    if let Some(body) = file.len().checked_sub(8) {
        let sum = xxhash_rust::xxh3::xxh3_64(&file[..body]);
        file[body..].copy_from_slice(&sum.to_le_bytes());
    }
    file
}

/// Changes each byte of an aged state in turn, and corrects the checksum. Whatever is not refused must be
/// usable.
#[test]
fn a_changed_aged_state_is_refused_or_can_be_used() {
    for (name, mut config) in [("holes", drive_with_holes()), ("stripes", parity_drive())] {
        if name == "stripes" {
            (config.geometry.blocks, config.geometry.pages) = (10, 4);
            config.ftl.over_provisioning = Some(0.7);
        }
        let (_, _, file) = aged_drive(&config);
        let erases = use_restored(&config, &file).expect("it is as it was saved");
        assert!(erases > 20, "{name}: {erases} erases");
        let mut s = Stream::new(13, "changes", 0);
        let (mut used, mut refused) = (0, 0);
        let mut try_it = |changed: Vec<u8>| match use_restored(&config, &sealed(changed)) {
            Ok(_) => used += 1,
            Err(_) => refused += 1,
        };
        for at in 0..file.len() - 8 {
            let mut changed = file.clone();
            match s.below(4) {
                0 => changed[at] = s.below(256) as u8,
                1 => changed[at] = changed[at].wrapping_add(1),
                _ => changed[at] ^= 1 << s.below(8),
            }
            try_it(changed);
        }
        for _ in 0..200 {
            let mut changed = file.clone();
            changed.truncate(s.below(file.len() as u64) as usize);
            try_it(changed);
            let mut changed = file.clone();
            let at = 32 + s.below(file.len() as u64 - 40) as usize;
            if s.below(2) == 0 {
                changed.remove(at);
            } else {
                changed.insert(at, s.below(256) as u8);
            }
            try_it(changed);
        }
        assert!(used > 100 && refused > 1_000, "{name}: {used} used, {refused} refused");
    }
}

#[test]
fn an_aged_state_with_other_holes_is_refused_by_name() {
    let config = drive_with_holes();
    let (_, _, file) = aged_drive(&config);
    let refusal =
        |config: &DeviceConfig| use_restored(config, &file).expect_err("it is another drive").to_string();
    let mut fewer = config.clone();
    fewer.fault.pop();
    assert!(refusal(&fewer).contains("its holes are not those of the bad blocks of this drive"));
    let mut remapped = config.clone();
    remapped.fault.clear();
    remapped.ftl.bad_blocks = BadBlocks::Remap;
    assert!(refusal(&remapped).contains("its extents have holes, and those of this drive have none"));
    let (_, _, file) = aged_drive(&remapped);
    let mut hole = remapped.clone();
    hole.ftl.bad_blocks = BadBlocks::Hole;
    let refused = use_restored(&hole, &file).expect_err("it is another drive").to_string();
    assert!(refused.contains("its extents have no holes, and those of this drive can"), "{refused}");
}

#[test]
fn the_key_of_an_aged_state_follows_what_shapes_it_and_nothing_else() {
    let base = small_drive();
    let key = aged_key(&base, 1, "steady");
    assert_ne!(key, aged_key(&base, 2, "steady"));
    assert_ne!(key, aged_key(&base, 1, "sequential"));
    let mut layout = base.clone();
    layout.ftl.over_provisioning = Some(0.3);
    assert_ne!(key, aged_key(&layout, 1, "steady"));
    let mut free = base.clone();
    free.age.free = Some(Level::Share(300_000));
    assert_ne!(key, aged_key(&free, 1, "steady"));
    let mut timing = base.clone();
    timing.timing.erase.loops += 1;
    timing.policy.schedule = tailcut_core::policy::schedule::ScheduleConfig::ReadPriority(Default::default());
    assert_eq!(key, aged_key(&timing, 1, "steady"));
}
