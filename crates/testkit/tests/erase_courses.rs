//! Erases whose pulses a scheme chooses, on random drives under random workloads: their courses, what they make of
//! their blocks, and their totals, against a second calculation ([`tailcut_testkit::erases`]).

use std::collections::BTreeMap;
use tailcut_core::device::Shape;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::policy::erase_scheme::EraseSchemeConfig;
use tailcut_core::policy::suspend_erase::SuspendEraseConfig;
use tailcut_testkit::erases::{Log, Referee, Seen};
use tailcut_testkit::swarm::{self, Case, draw, member};
use tailcut_units::Span;

/// Seeds that are tried; a third of them have an erase scheme.
const SEEDS: u64 = 300;

/// The case of a seed; `None` if its erases take the configured loops.
fn case_of(seed: u64) -> Option<Case> {
    let case = draw(seed);
    (!matches!(case.config.policy.erase_scheme, EraseSchemeConfig::Fixed(_))).then_some(case)
}

/// The same case with many reads, which interrupt erases by a rule that depends on the seed.
fn interrupted(mut case: Case) -> Case {
    let p = &mut case.config.policy;
    p.schedule = member("read-priority");
    p.gc_scope = member("operation");
    let rules = &SuspendEraseConfig::MEMBERS[1..];
    p.suspend_erase = member(rules[case.seed as usize % rules.len()]);
    let e = &mut case.config.suspend.erase;
    (e.limits.most, e.limits.spacing, e.limits.least_left) = (None, None, None);
    case.plan.weights[0] += case.plan.weights[1];
    case
}

/// Run a case under a referee of the drive with this configuration.
fn judge(case: &Case, believed: &DeviceConfig, seed: u64) -> Result<Seen, String> {
    let mut referee = Referee::new(believed, seed).expect("the scheme chooses pulses");
    let (_, device) = swarm::watch(case, Log::default(), &mut |device| referee.look(device))?;
    referee.conclude(&device)?;
    Ok(referee.seen)
}

#[test]
fn every_erase_takes_the_course_that_follows_from_its_blocks() {
    let mut by_scheme: BTreeMap<&str, Seen> = BTreeMap::new();
    for case in (0..SEEDS).filter_map(case_of) {
        let name = case.config.policy.erase_scheme.name();
        // A drive may need what the second case changes.
        let is_legal = |case: &Case| Shape::new(&case.config, case.seed).is_ok();
        for case in [case.clone(), interrupted(case)].into_iter().filter(is_legal) {
            let seen = judge(&case, &case.config, case.seed);
            let seen = seen.unwrap_or_else(|e| panic!("seed {}, {name}: {e}", case.seed));
            by_scheme.entry(name).or_default().add(&seen);
        }
    }
    let mut all = Seen::default();
    for name in &EraseSchemeConfig::MEMBERS[1..] {
        let s = by_scheme.get(name).unwrap_or_else(|| panic!("no drive has {name}"));
        assert!(s.blocks > 1000 && s.resumes > 100 && s.repeated_ns > 0 && s.deferred > 0, "{name}: {s:?}");
        all.add(s);
    }
    assert!(all.joined > 20 && all.incomplete > 100 && all.full_voltage > 100, "{all:?}");
    println!("{all:?}");
}

/// A referee that believes in another drive finds a difference: each of its rules is applied. The rules of
/// suspension are compared on drives whose erases are interrupted.
#[test]
fn a_referee_of_another_drive_disagrees() {
    let mut drives: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for case in (0..SEEDS).filter_map(case_of) {
        let of_scheme = drives.entry(case.config.policy.erase_scheme.name()).or_default();
        // Beyond all rows every block needs the same.
        let young = case.config.age.pe_cycles.is_none_or(|cycles| cycles <= 1000);
        if young
            && of_scheme.len() < 4
            && judge(&case, &case.config, case.seed).is_ok_and(|seen| seen.blocks > 50)
        {
            of_scheme.push(case);
        }
    }
    type Change = fn(&mut DeviceConfig);
    let changes: [(&str, &str, Change); 9] = [
        ("ispe", "a longer verify", |c| c.timing.erase.verify = Span(c.timing.erase.verify.0 + 1)),
        ("dpes", "other stress", |c| erase(c).stress_exponent += 0.5),
        ("dpes", "other rows", |c| c.policy.erase_scheme = member("ispe")),
        ("i-ispe", "no memory", |c| c.policy.erase_scheme = member("ispe")),
        ("aero-cons", "other noise", |c| erase(c).noise = 40_000),
        ("aero-cons", "other mispredictions", |c| erase(c).misprediction = 0.3),
        ("aero-cons", "no short pulse", |c| c.policy.erase_scheme = member("ispe")),
        ("aero", "nothing is left", |c| c.policy.erase_scheme = member("aero-cons")),
        ("aero", "other residual errors", |c| erase(c).residual_errors = 5000),
    ];
    for (scheme, what, change) in changes {
        let differs = |case: &Case| {
            let mut believed = case.config.clone();
            change(&mut believed);
            judge(case, &believed, case.seed).is_err()
        };
        assert!(drives[scheme].iter().any(differs), "{scheme}: {what} is not seen");
        let other_blocks = |case: &Case| judge(case, &case.config, case.seed + 1).is_err();
        assert!(drives[scheme].iter().any(other_blocks), "{scheme}");
    }
    // What an erase under `deferred` does, other rules allow too.
    let rules =
        [("arbitrary", "ideal"), ("immediate", "deferred"), ("timeout", "ideal"), ("ideal", "immediate")];
    for (rule, other) in rules {
        let mut cases = (0..SEEDS).filter_map(case_of).map(interrupted);
        let differs = |case: &Case| {
            let mut believed = case.config.clone();
            believed.policy.suspend_erase = member(other);
            case.config.policy.suspend_erase.name() == rule
                && Shape::new(&case.config, case.seed).is_ok()
                && judge(case, &believed, case.seed).is_err()
        };
        assert!(cases.any(|case| differs(&case)), "{rule} is not told from {other}");
    }
}

fn erase(c: &mut DeviceConfig) -> &mut tailcut_core::nand::erase::config::EraseConfig {
    c.erase.as_mut().expect("the drives of the swarm have the table")
}
