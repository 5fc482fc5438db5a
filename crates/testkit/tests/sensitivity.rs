//! Tests that every configuration key has an effect.
//!
//! The keys and a change of each come from [`tailcut_testkit::keys`]. A new key fails here
//! until the table there lists a change of it that changes an output. The load is a small mixed
//! workload on an aged drive.

use tailcut_core::device::config::{DeviceConfig, Overwrites};
use tailcut_core::device::{Capacity, Completion, SuspensionWear, Until};
use tailcut_core::drive::Drive;
use tailcut_testkit::keys::{Changed, changed_keys, members};
use tailcut_units::random::mix;
use tailcut_units::{Command, HostOp, SimTime, Status, Stream};
use toml::Table;

/// All outputs of a drive that a key may change.
#[derive(PartialEq, Debug)]
struct Outcome {
    digest: u64,
    host_bytes: u64,
    capacity: Capacity,
    programs: [u64; 3],
    scrubbed: u64,
    erases: u64,
    energy_mj: (f64, f64),
    suspensions: SuspensionWear,
}

fn outcome(table: &Table) -> Result<Outcome, String> {
    let config: DeviceConfig = table.clone().try_into().map_err(|e| e.to_string())?;
    let mut device = Drive::new(&config, 5, ()).map_err(|e| e.to_string())?;
    let capacity = device.capacity().clone();
    let host_bytes = device.host_bytes();
    // Fill by `age.fill`, as the simulator does before a run. For `workload` ageing the trace
    // rewrites the first 9 MiB in a loop.
    let filled = (host_bytes as f64 * config.age.fill) as u64;
    if let Some(free) = config.age.free {
        let page = device.as_page_mut().expect("a key of these drives");
        page.scatter(filled, free, &mut |_| true).map_err(|e| e.to_string())?;
    } else {
        device.fill(filled);
        match config.age.overwrites {
            Overwrites::Uniform | Overwrites::UniformTraces | Overwrites::WorkloadOrUniform => {
                device.overwrite_uniform(Until::Steady, &(0..filled), 4096, &mut |_| true)
            }
            Overwrites::Workload => {
                let offsets = (0..).map(|i: u64| i * 4096 % (9 << 20));
                let mut writes = offsets.map(|offset| Command::new(HostOp::Write, offset, 4096));
                device.overwrite_replay(Until::Steady, &mut writes, &mut |_| true)
            }
        };
    }
    let mut s = Stream::new(9, "sensitivity", 0);
    let mut digest = 0;
    let span = 9 << 20;
    assert!(span <= host_bytes, "{host_bytes} bytes are less than the load addresses");
    let mut at = 0;
    let step = |device: &mut Drive, until: SimTime, digest: &mut u64| {
        let mut note = |c: &Completion<'_>| {
            let status = u64::from(c.status != Status::Ok);
            *digest = mix(*digest ^ mix(c.index) ^ mix(c.completed.0 * 2 + status));
        };
        while device.advance_to_completion(until, u64::MAX, &mut note) > 0 {}
    };
    for _ in 0..1_500 {
        at += s.below(150_000);
        let op = match s.below(100) {
            0..45 => HostOp::Read,
            45..94 => HostOp::Write,
            94..98 => HostOp::Trim,
            _ => HostOp::Flush,
        };
        let offset = s.below(span / 512 - 64) * 512;
        let mut left = if op == HostOp::Flush { 0 } else { 512 * (1 + s.below(64)) };
        let mut from = offset;
        loop {
            // A host splits requests that are larger than the drive accepts.
            let bytes = left.min(config.host.max_transfer);
            step(&mut device, SimTime(at), &mut digest);
            while !device.has_place() {
                let due = device.next_deadline();
                assert!(due != SimTime::NEVER, "{}", device.describe_waiting());
                step(&mut device, due, &mut digest);
                at = at.max(due.0);
            }
            let command = Command::new(op, from, bytes as u32);
            device.submit(SimTime(at), SimTime(at), command, 0).map_err(|e| e.to_string())?;
            (from, left) = (from + bytes, left - bytes);
            if left == 0 {
                break;
            }
        }
    }
    while device.outstanding() > 0 {
        let due = device.next_deadline();
        assert!(due != SimTime::NEVER, "{}", device.describe_waiting());
        step(&mut device, due, &mut digest);
        at = at.max(due.0);
    }
    // Idle time, for what the drive does when idle.
    step(&mut device, SimTime(at + 800_000_000), &mut digest);
    let c = device.counters();
    let programs = [c.programs_user, c.programs_gc, c.programs_pad];
    let erases = c.erases;
    let (energy_mj, suspensions) = (device.energy_mj(), device.suspension_wear());
    let scrubbed = c.scrub_reads;
    Ok(Outcome { digest, host_bytes, capacity, programs, scrubbed, erases, energy_mj, suspensions })
}

#[test]
fn every_key_changes_an_output() {
    let (changed, mut dead) = changed_keys();
    for Changed { key, value, before, after } in &changed {
        match (outcome(before), outcome(after)) {
            (Ok(a), Ok(b)) if a != b => {}
            // It gives the endurance in the summary: test `answers` of `cli`.
            (Ok(_), Ok(_)) if key == "ftl.rated_cycles" => {}
            // A drive this small collects too little to have cold lines; `tests/pblk/hot_cold.rs` has larger ones.
            (Ok(_), Ok(_)) if key == "pblk.hot_cold" => {}
            (Ok(_), Ok(_)) => dead.push(format!("{key} = {value}: nothing changes")),
            (a, b) => dead.push(format!("{key} = {value}: {:?} {:?}", a.err(), b.err())),
        }
    }
    assert!(dead.is_empty(), "{} of {} keys:\n{}", dead.len(), changed.len(), dead.join("\n"));
    assert!(changed.len() >= 60, "only {} keys were tried", changed.len());
}

#[test]
fn every_member_of_a_family_changes_an_output() {
    let mut dead = Vec::new();
    for (family, members) in members() {
        let mut seen: Vec<(&str, Outcome)> = Vec::new();
        for (member, table) in members {
            match outcome(&table) {
                Ok(o) => {
                    if let Some((twin, _)) = seen.iter().find(|(_, s)| *s == o) {
                        dead.push(format!("policy.{family}: {member} has the same outputs as {twin}"));
                    }
                    seen.push((member, o));
                }
                Err(e) => dead.push(format!("policy.{family}.{member}: {e}")),
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}
