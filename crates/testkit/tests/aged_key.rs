//! Tests that two drives share an aged state only if the state is the same.
//!
//! An aged state is stored under a key computed from everything that determines the state. A
//! configuration key, a workload or a seed that changes the state must change that key;
//! otherwise a run would use the aged state of another drive. The tests make pairs of drives,
//! age both where their keys are equal, and compare the states to be stored.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use tailcut_core::device::AgeReport;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::policy::FAMILIES;
use tailcut_sim::cache::Locks;
use tailcut_sim::precondition::Past;
use tailcut_sim::{Experiment, PastKind, SchemeSpec, Snapshots};
use tailcut_testkit::keys::{Changed, changed_keys, leaves, members, parse, set, table_of};
use tailcut_testkit::{small_drive, swarm};
use tailcut_units::Stream;
use tailcut_workload::trace::{DeviceRule, Remap, TimeUnit, TraceFile, TraceOptions, convert};
use tailcut_workload::{TraceReplay, WorkloadSpec};
use toml::Table;

/// Configuration keys that change the key of the aged state but, on the drives of this test,
/// never the state. A scheme that differs in one of them from another scheme ages a drive of
/// its own, which costs time but gives correct results. Add a key here only if that is
/// intended.
const OVER_KEYED: &[&str] = &[
    "geometry.busy_unit",
    "geometry.plane_reads",
    "geometry.cache_program",
    // Drives of these sizes collect too little to have cold lines.
    "pblk.hot_cold",
    "policy.gc_schedule.preemptive.hard",
    "policy.gc_schedule.preemptive.high_priority_writes",
    "policy.gc_schedule.preemptive.states",
    "policy.gc_schedule.rotating.hard",
    "policy.gc_schedule.rotating.mode",
    "policy.gc_schedule.rotating.stop",
    "policy.gc_schedule.rotating.wait_for_channel_above",
    "policy.gc_schedule.threshold.hard",
    "policy.gc_schedule.threshold.wait_for_channel_above",
    "policy.gc_schedule.tokens.hard",
    "policy.gc_schedule.tokens.most",
    "policy.redundancy.rain.xor",
];

/// A drive to be aged.
#[derive(Clone)]
struct Case<'a> {
    name: String,
    config: DeviceConfig,
    workload: &'a WorkloadSpec,
    seed: u64,
    past: PastKind,
}

impl Case<'_> {
    /// Call `act` with the past that an experiment with these schemes gives this drive. Returns
    /// `None` if the drive or the experiment is invalid.
    fn past<T>(&self, beside: Option<&DeviceConfig>, act: impl FnOnce(&Past) -> Option<T>) -> Option<T> {
        let scheme = |config: &DeviceConfig| SchemeSpec { name: "a".into(), config: config.clone() };
        let plan = Experiment {
            schemes: [&self.config].into_iter().chain(beside).map(scheme).collect(),
            workload: self.workload,
            seed: self.seed,
            runs: 1,
            past: Some(self.past),
            snapshots: Snapshots::Off,
            threads: 1,
            fine: None,
            one_past: false,
            timeline: None,
        }
        .plan()
        .ok()?;
        let identity = self.workload.identity(plan.capacity, plan.filled, self.seed).ok()?;
        act(&Past {
            kind: self.past,
            filled: plan.filled,
            capacity: plan.capacity,
            workload: self.workload,
            identity: &identity,
            snapshots: &Snapshots::Off,
            locks: &Locks::default(),
            task: 0,
            watch: &(),
        })
    }

    /// The key of the aged state.
    fn key(&self, beside: Option<&DeviceConfig>) -> Option<u64> {
        self.past(beside, |past| Some(past.key(&self.config, self.seed)))
    }

    /// A hash of everything that is stored: the state and the report of ageing.
    fn state(&self, beside: Option<&DeviceConfig>) -> Option<u64> {
        self.past(beside, |past| {
            let (device, done) = past.give(&self.config, self.seed).ok()?;
            let mut kept = format!("{:?}", done.report).into_bytes();
            device.save_aged(0, &AgeReport::default(), &mut kept).expect("memory can be written");
            Some(xxhash_rust::xxh3::xxh3_64(&kept))
        })
    }
}

/// Check two drives. Returns whether they share a key; an error if they share a key but have
/// different states; `None` if one of them cannot be built.
fn shares_rightly(a: &Case, b: &Case, together: bool) -> Option<Result<bool, String>> {
    let (for_a, for_b) = (together.then_some(&b.config), together.then_some(&a.config));
    if a.key(for_a)? != b.key(for_b)? {
        return Some(Ok(false));
    }
    let same = a.state(for_a)? == b.state(for_b)?;
    Some(same.then_some(true).ok_or_else(|| format!("{} and {} share a key but not a state", a.name, b.name)))
}

fn job(text: &str) -> WorkloadSpec {
    WorkloadSpec::parse(text, |_| None, &TraceReplay::default()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Requests to two devices of a trace: mostly writes, some out of order, and a long gap. `what`
/// names the random stream.
fn lines(what: &str) -> String {
    let mut s = Stream::new(1, what, 0);
    let mut text = String::new();
    for i in 0..400 {
        let op = if s.below(4) == 0 { "Read" } else { "Write" };
        let (device, page, bytes) = (s.below(2), s.below(4_000), 512 * (1 + s.below(20)));
        let late = if s.below(10) == 0 { 3_000 } else { 0 };
        let gap = if i > 300 { 600_000_000 } else { 0 };
        let time = 10_000u64 + i * 1_000 + gap - late;
        writeln!(text, "{time},web,{device},{op},{},{bytes},500", page * 4096).expect("a string");
    }
    text
}

/// Write a trace file into `folder` and open it as a workload.
fn trace(folder: &tempfile::TempDir, text: &str, options: TraceOptions, depth: Option<u32>) -> WorkloadSpec {
    let path = folder.path().join(format!("{:016x}.csv", xxhash_rust::xxh3::xxh3_64(text.as_bytes())));
    std::fs::write(&path, text).expect("a temporary file");
    let replay = TraceReplay { options, depth, ..TraceReplay::default() };
    WorkloadSpec::parse(path.to_str().expect("UTF-8"), |_| None, &replay).unwrap_or_else(|e| panic!("{e}"))
}

/// The drive of a table; for the scattered past, `age.free` is set if it is missing.
fn case<'a>(name: &str, table: &Table, workload: &'a WorkloadSpec, past: PastKind) -> Option<Case<'a>> {
    let mut config: DeviceConfig = table.clone().try_into().ok()?;
    if past == PastKind::Scattered && config.age.free.is_none() {
        config.age.free = Some(tailcut_units::quantity::Level::Count(4));
    }
    Some(Case { name: format!("{name}, {}", past.name()), config, workload, seed: 3, past })
}

/// Tests each configuration key and each member of a family, with the drive alone and together
/// with the changed drive as a second scheme, under different pasts.
#[test]
fn a_key_that_changes_the_aged_state_changes_its_key() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let replayed = trace(&folder, &lines("keys"), TraceOptions::default(), None);
    let jobs = job("randwrite,random_distribution=zipf:0.9");
    let (mut pairs, missing) = changed_keys();
    assert!(missing.is_empty(), "{missing:?}");
    for (family, members) in members() {
        let (_, before) = members[0].clone();
        for (member, after) in members.into_iter().skip(1) {
            pairs.push(Changed {
                key: format!("policy.{family}"),
                value: member,
                before: before.clone(),
                after,
            });
        }
    }
    let (mut wrong, mut shared, mut over) = (Vec::new(), 0, BTreeMap::new());
    for Changed { key, value, before, after } in &pairs {
        let mut tried = 0;
        for (workload, past, together) in [
            (&replayed, PastKind::Steady, false),
            (&jobs, PastKind::Steady, true),
            (&jobs, PastKind::Scattered, false),
        ] {
            let (Some(a), Some(b)) = (
                case("before", before, workload, past),
                case(&format!("{key} = {value}"), after, workload, past),
            ) else {
                continue;
            };
            match shares_rightly(&a, &b, together) {
                None => continue,
                Some(Err(e)) => wrong.push(e),
                Some(Ok(true)) => shared += 1,
                Some(Ok(false)) => {
                    let never = over.entry(key.as_str()).or_insert(true);
                    *never = *never && a.state(None) == b.state(None);
                }
            }
            tried += 1;
        }
        assert!(tried > 0, "{key} = {value} was never tried");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let never: BTreeSet<&str> = over.iter().filter(|(_, same)| **same).map(|(key, _)| *key).collect();
    let changed = over.len() - never.len();
    println!("{} changes, {shared} pairs share a key, {changed} keys change the state", pairs.len());
    assert_eq!(never, OVER_KEYED.iter().copied().collect(), "keys that change no state");
    assert!(shared > 150 && changed > 10, "{shared} shared, {changed} changed");
}

/// Options of a trace; each entry changes one option, and the last entry two.
fn trace_options() -> Vec<TraceOptions> {
    // Lists all fields, so that a new option does not compile until it is added here.
    let TraceOptions {
        format: _,
        time_unit: _,
        rate_scale: _,
        size_scale: _,
        loop_count: _,
        limit: _,
        start_ns: _,
        end_ns: _,
        device: _,
        device_rule: _,
        sort_window_ns: _,
        sort_records: _,
        closed_loop: _,
        remap: _,
        skip_gaps_ns: _,
        columns: _,
        spread_ns: _,
        seed: _,
        interrupt: _,
    } = TraceOptions::default();
    let plain = TraceOptions::default;
    let with = |change: &dyn Fn(&mut TraceOptions)| {
        let mut options = plain();
        change(&mut options);
        options
    };
    vec![
        plain(),
        with(&|o| o.format = Some("msr".into())),
        with(&|o| {
            o.columns = Some("time=1:100ns,op=4,offset=5,size=6,volume=3".parse().expect("columns"));
        }),
        with(&|o| o.spread_ns = Some(1_000_000)),
        with(&|o| o.seed = 2),
        with(&|o| o.time_unit = Some(TimeUnit::Us)),
        with(&|o| o.rate_scale = 7.0),
        with(&|o| o.size_scale = 1.5),
        with(&|o| o.loop_count = 3),
        with(&|o| o.limit = Some(100)),
        with(&|o| o.start_ns = 5_000_000),
        with(&|o| o.end_ns = Some(15_000_000)),
        with(&|o| o.device = Some(1)),
        with(&|o| o.device_rule = DeviceRule::Overlay),
        with(&|o| o.sort_records = 100),
        with(&|o| o.sort_window_ns = 2_000_000_000),
        with(&|o| o.remap = Remap::Dense),
        with(&|o| o.skip_gaps_ns = Some(1_000_000)),
        with(&|o| (o.skip_gaps_ns, o.start_ns) = (Some(1_000_000), 5_000_000)),
    ]
}

/// Tests jobs, traces and seeds on one drive: those with the same key have the same state.
#[test]
fn workloads_and_seeds_that_change_the_aged_state_change_its_key() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut workloads: Vec<(String, WorkloadSpec)> = [
        "randwrite",
        "randwrite,bs=8k",
        "randwrite,bs=8k,iodepth=4",
        "randwrite,bsrange=4k-8k",
        "write",
        "randwrite,size=8m",
        "randwrite,size=8m,offset=8m",
        "randwrite,random_distribution=zipf:1.1",
        "randwrite,random_distribution=zipf:0.8",
        "randwrite,random_distribution=zipf:0.8,iodepth=4,runtime=10",
        "randwrite,random_distribution=zipf:0.8,rate_iops=100",
        "randwrite,random_distribution=pareto:0.3",
        "randrw,random_distribution=zipf:0.8",
        "randrw,random_distribution=zipf:0.8,rwmixread=70",
        "randread",
        "randread,size=8m",
        "randwrite,size=8m;randwrite,offset=8m,size=8m",
        "randwrite,size=8m,rate_iops=100;randwrite,offset=8m,size=8m,rate_iops=300",
        "randwrite,size=8m,rate_iops=300;randwrite,offset=8m,size=8m,rate_iops=100",
        "randwrite,size=8m,numjobs=2;randwrite,offset=8m,size=8m",
    ]
    .into_iter()
    .map(|text| (text.to_string(), job(text)))
    .collect();
    for options in trace_options() {
        let name = format!("{options:?}");
        workloads.push((name, trace(&folder, &lines("a"), options, None)));
    }
    let dense = TraceOptions { remap: Remap::Dense, ..TraceOptions::default() };
    for (depth, what) in [(Some(4), "a"), (Some(9), "a"), (None, "b")] {
        let name = format!("lines {what}, depth {depth:?}");
        workloads.push((name, trace(&folder, &lines(what), TraceOptions::default(), depth)));
    }
    // Only the reads differ, which makes no difference unless reads get pages of their own in
    // the dense numbering.
    let reads = lines("a").replace(",Read,4", ",Read,3");
    workloads.push(("other reads".into(), trace(&folder, &reads, TraceOptions::default(), None)));
    workloads.push(("other reads, dense".into(), trace(&folder, &reads, dense, None)));
    // The same requests in another format.
    let from = folder.path().join("from.csv");
    std::fs::write(&from, lines("a")).expect("written");
    let to = folder.path().join("converted");
    convert(TraceFile::from(&from), &to, &TraceOptions::default()).expect("converted");
    let converted = WorkloadSpec::parse(to.to_str().expect("UTF-8"), |_| None, &TraceReplay::default());
    workloads.push(("converted".into(), converted.expect("a trace")));
    let identity = |name: &str| {
        let (_, workload) = workloads.iter().find(|(n, _)| n == name).expect("listed");
        workload.identity(1 << 24, 1 << 23, 1).expect("a text")
    };
    let plain = identity(&format!("{:?}", TraceOptions::default()));
    assert_eq!(plain, identity("converted"));
    assert_eq!(plain, identity("other reads"));
    assert_eq!(plain, identity("lines a, depth Some(9)"));
    assert_eq!(
        plain,
        identity(&format!("{:?}", TraceOptions { rate_scale: 7.0, ..TraceOptions::default() }))
    );
    assert_ne!(plain, identity("lines b, depth None"));
    let mut kept: BTreeMap<u64, (String, u64)> = BTreeMap::new();
    let (mut shared, mut states) = (0, BTreeSet::new());
    for (name, workload) in &workloads {
        for (overwrites, seed, past, fill) in [
            ("'workload'", 1, PastKind::Steady, "'100%'"),
            ("'workload'", 2, PastKind::Steady, "'100%'"),
            ("'workload'", 1, PastKind::Steady, "'90%'"),
            ("'uniform'", 1, PastKind::Steady, "'100%'"),
            ("'uniform'", 1, PastKind::Scattered, "'100%'"),
        ] {
            let mut table = table_of(&small_drive());
            set(&mut table, "age.overwrites", parse(overwrites));
            set(&mut table, "age.fill", parse(fill));
            let name = format!("{name}, overwrites {overwrites}, seed {seed}, fill {fill}");
            let mut case = case(&name, &table, workload, past).expect("a drive");
            case.seed = seed;
            let key = case.key(None).unwrap_or_else(|| panic!("{name}: no drive"));
            let state = case.state(None).unwrap_or_else(|| panic!("{name}: no state"));
            states.insert(state);
            if let Some((twin, other)) = kept.insert(key, (case.name.clone(), state)) {
                assert_eq!(state, other, "{} and {twin} share a key but not a state", case.name);
                shared += 1;
            }
        }
    }
    println!("{} workloads, {} keys, {} states, {shared} shared", workloads.len(), kept.len(), states.len());
    assert!(shared > 20 && states.len() > 40, "{shared} shared, {} states", states.len());
}

/// Copy a part of another drive's configuration: a family of policies, or a single key. Returns
/// the path of the part.
fn graft(onto: &mut Table, from: &Table, pick: usize) -> String {
    let mut paths = Vec::new();
    leaves("", from, &mut paths);
    paths.retain(|path| !path.starts_with("policy."));
    paths.extend(FAMILIES.iter().map(|f| format!("policy.{}", f.name)));
    let path = &paths[pick % paths.len()];
    let value = path.split('.').fold(toml::Value::Table(from.clone()), |at, key| at[key].clone());
    set(onto, path, value);
    path.clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Tests pairs of a drive of the swarm and the same drive with a part of another.
    #[test]
    fn drives_that_share_a_key_share_their_state(
        seeds in (0u64..100_000, 0u64..100_000),
        pick in any::<usize>(),
        replays in any::<bool>(),
        scattered in any::<bool>(),
        together in any::<bool>(),
    ) {
        let tables = [seeds.0, seeds.1].map(|seed| table_of(&swarm::draw(seed).config));
        let mut mixed = tables[0].clone();
        let path = graft(&mut mixed, &tables[1], pick);
        let workload = job(if replays { "randwrite,random_distribution=zipf:0.9" } else { "randwrite" });
        let past = if scattered { PastKind::Scattered } else { PastKind::Steady };
        let name = format!("seed {}", seeds.0);
        let (Some(a), Some(b)) = (
            case(&name, &tables[0], &workload, past),
            case(&format!("with {path} of seed {}", seeds.1), &mixed, &workload, past),
        ) else {
            return Ok(());
        };
        if let Some(Err(problem)) = shares_rightly(&a, &b, together) {
            prop_assert!(false, "{problem}");
        }
    }
}
