//! A drive that was saved and restored goes on as if nothing had happened.

use crate::stage::{SECTOR, config, config_of};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::figures::{AgeReport, Until};
use tailcut_core::pblk::Pblk;
use tailcut_units::random::mix;
use tailcut_units::{Command, HostOp, SimTime, Stream};

/// Random commands from `at` on; returns a digest over their ends, and the time.
fn work(drive: &mut Pblk, seed: u64, mut at: u64, commands: u32) -> (u64, u64) {
    let mut s = Stream::new(seed, "snapshots", 0);
    let sectors = drive.host_bytes() / SECTOR;
    let mut digest = 0;
    let mut step = |drive: &mut Pblk, until: u64| {
        drive.advance(SimTime(until), &mut |c| digest = mix(digest ^ mix(c.index) ^ mix(c.completed.0)));
    };
    for _ in 0..commands {
        at += s.below(60_000);
        step(drive, at);
        while !drive.has_place() {
            at = drive.next_deadline().0;
            step(drive, at);
        }
        let op = [HostOp::Read, HostOp::Write, HostOp::Write, HostOp::Flush][s.below(4) as usize];
        let bytes = if op == HostOp::Flush { 0 } else { SECTOR as u32 };
        let command = Command::new(op, s.below(sectors) * SECTOR, bytes);
        drive.submit(SimTime(at), SimTime(at), command, 0).expect("a place");
    }
    (digest, at)
}

/// A drive of 16 LUNs with hot and cold lines.
fn hot_and_cold() -> DeviceConfig {
    config_of("tiny-pblk", "rail-hc", &["geometry.channels=8", "geometry.dies_per_chip=2"])
}

#[test]
fn a_drive_that_is_restored_goes_on() {
    goes_on(&config("tiny-pblk", &[]));
    goes_on(&hot_and_cold());
}

fn goes_on(c: &DeviceConfig) {
    let mut drive = Pblk::new(c, 3, ()).expect("a sound drive");
    let bytes = drive.host_bytes();
    drive.fill(bytes);
    drive.overwrite_uniform(Until::Erases(40), &(0..bytes), 4096, &mut |_| true);
    let (_, at) = work(&mut drive, 1, 0, 3_000);
    let mut file = Vec::new();
    drive.snapshot(c, 3, &mut file).expect("memory can be written");
    let mut restored = Pblk::restore(c, 3, (), &mut file.as_slice()).expect("the same drive");
    restored.audit().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(work(&mut drive, 2, at, 3_000), work(&mut restored, 2, at, 3_000));
    // Another drive, and a damaged file.
    let other = config("tiny-pblk", &["pblk.ring=256"]);
    assert!(Pblk::restore(&other, 3, (), &mut file.as_slice()).is_err());
    let last = file.len() - 20;
    file[last] ^= 1;
    assert!(Pblk::restore(c, 3, (), &mut file.as_slice()).is_err());
}

#[test]
fn a_run_does_not_depend_on_whether_the_aged_state_was_stored() {
    starts_alike(&config("tiny-pblk", &["geometry.bad_blocks=1%"]));
    starts_alike(&hot_and_cold());
}

fn starts_alike(c: &DeviceConfig) {
    let aged = || {
        let mut drive = Pblk::new(c, 5, ()).expect("a sound drive");
        let bytes = drive.host_bytes();
        drive.fill(bytes);
        let report = drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
        (drive, report)
    };
    let (mut fresh, report) = aged();
    let mut file = Vec::new();
    fresh.save_aged(9, &report, &mut file).expect("memory can be written");
    let mut loaded = Pblk::new(c, 5, ()).expect("a sound drive");
    let told: AgeReport = loaded.load_aged(9, &mut file.as_slice()).expect("the same drive");
    assert_eq!(told, report);
    assert_eq!(work(&mut fresh, 4, 0, 4_000), work(&mut loaded, 4, 0, 4_000));
    // The same again, from the beginning.
    assert_eq!(work(&mut aged().0, 6, 0, 4_000), work(&mut aged().0, 6, 0, 4_000));
    assert!(loaded.load_aged(8, &mut file.as_slice()).is_err(), "another key");
}
