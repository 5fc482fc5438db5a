//! Is a fault that is injected into a served drive a part of its log and of its store, and do the bytes stay right?
#![cfg(unix)]

mod common;

use common::served::{Served, ask, body, serve, tell, work};
use common::{Ended, tailcut};
use std::path::{Path, PathBuf};
use tailcut_testkit::nbd::{Client, FLUSH, READ, WRITE};

/// A small drive with stripes over eight channels.
const RAIN: &str = include_str!("common/rain.toml");
const CONTROL: [&str; 2] = ["--control", "http://127.0.0.1:0"];
const INJECTED: [&str; 2] = ["--set", "faults.injected=true"];

/// The device and the scheme of a drive with parity.
fn rain(folder: &Path) -> [String; 5] {
    let device = folder.join("rain.toml");
    std::fs::write(&device, RAIN).unwrap();
    let parts =
        [&device.display().to_string(), "--scheme", "ttflash", "--set", "policy.redundancy.rain.width=4"];
    parts.map(str::to_string)
}

fn start(drive: &[&str], more: &[&str]) -> Served {
    serve(&[drive, &CONTROL, &INJECTED, more].concat())
}

fn fault(served: &Served, text: &str) {
    let answer = tell(&served.control(), "POST", "/fault", text);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(body(&answer)["done"], format!("fault {text}"));
}

fn faults(served: &Served) -> serde_json::Value {
    body(&ask(&served.control(), "GET", "/summary.json"))["schemes"][0]["faults"].clone()
}

fn replays_exactly(log: &Path) -> Ended {
    let ended = tailcut(&["run", "--replay", &log.display().to_string()]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.contains("to the nanosecond"), "{} {}", ended.out, ended.err);
    ended
}

const LENGTH: u32 = 8192;

fn content(block: u64, stamp: u8) -> Vec<u8> {
    (0..LENGTH as usize).map(|i| (i as u8).wrapping_mul(block as u8) ^ stamp).collect()
}

fn write(client: &mut Client, blocks: std::ops::Range<u64>, stamp: u8) {
    for block in blocks {
        assert_eq!(client.ask(WRITE, 0, block * u64::from(LENGTH), LENGTH, &content(block, stamp)).error, 0);
    }
    assert_eq!(client.ask(FLUSH, 0, 0, 0, &[]).error, 0);
}

fn read(client: &mut Client, blocks: std::ops::Range<u64>, stamp: u8) {
    for block in blocks {
        let answer = client.ask(READ, 0, block * u64::from(LENGTH), LENGTH, &[]);
        assert_eq!(answer.error, 0, "block {block}");
        assert!(answer.data == content(block, stamp), "block {block}");
    }
}

/// Read what was written, or an error. Returns the number of errors.
fn read_or_lost(client: &mut Client, blocks: std::ops::Range<u64>, stamp: u8) -> usize {
    let lost = |block: &u64| {
        let answer = client.ask(READ, 0, block * u64::from(LENGTH), LENGTH, &[]);
        assert!(answer.error != 0 || answer.data == content(*block, stamp), "block {block}");
        answer.error != 0
    };
    blocks.filter(lost).count()
}

// The last unit of each line holds metadata where the parity of the only stride would be. So one stripe of 64 has no
// parity, and its unit on the dead die is lost: one unit of 192, which is two blocks here. RAIL must say so, and give no
// wrong byte.
#[test]
fn a_die_of_rail_dies_and_no_byte_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("rail");
    let served =
        start(&["tiny-pblk", "--scheme", "rail"], &["--speed", "5", "--log", &log.display().to_string()]);
    let mut client = Client::connect(&served.socket(), true);
    write(&mut client, 2000..2600, 3);
    work(&served.socket(), 7);
    fault(&served, "die=1");
    let lost = read_or_lost(&mut client, 2000..2600, 3);
    write(&mut client, 2000..2300, 4);
    let later = read_or_lost(&mut client, 2000..2300, 4);
    assert!(lost <= 12 && later <= 8, "{lost} of 600 and {later} of 300");
    let scheme = body(&ask(&served.control(), "GET", "/summary.json"))["schemes"][0].clone();
    assert_eq!(scheme["faults"]["dead_planes"], 2);
    served.stop();
    replays_exactly(&log);
}

#[test]
fn a_die_dies_under_load_and_no_byte_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let rain = rain(dir.path());
    let mut rain: Vec<&str> = rain.iter().map(String::as_str).collect();
    // The data of the die are not yet elsewhere when they are read.
    rain.extend(["--set", "faults.rebuild_rate=1kB/s"]);
    let log = dir.path().join("ttflash");
    let served = start(&rain, &["--speed", "5", "--log", &log.display().to_string()]);
    let mut client = Client::connect(&served.socket(), true);
    write(&mut client, 2000..2600, 3);
    let socket = served.socket();
    let load = std::thread::spawn(move || work(&socket, 7));
    fault(&served, "die=1");
    load.join().unwrap();
    read(&mut client, 2000..2600, 3);
    write(&mut client, 2000..2300, 4);
    read(&mut client, 2000..2300, 4);
    read(&mut client, 2300..2600, 3);
    let summary = body(&ask(&served.control(), "GET", "/summary.json"));
    let scheme = &summary["schemes"][0];
    assert_eq!((&scheme["faults"]["dead_planes"], &scheme["faults"]["lost_bytes"]), (&2.into(), &0.into()));
    let blame = scheme["read"]["blame"].as_array().unwrap();
    let rebuilt = blame.iter().any(|b| b["causes"]["reconstruction"].as_f64().is_some_and(|ns| ns > 0.0));
    assert!(rebuilt, "{blame:?}");
    let live = body(&ask(&served.control(), "GET", "/live.json"));
    assert_eq!((&live["done"][0]["done"], &live["failed_requests"]), (&"fault die=1".into(), &0.into()));
    let said = served.stop();
    assert!(said.contains("fault die=1 at") && said.contains("2 planes are dead"), "{said}");
    let ended = replays_exactly(&log);
    assert!(ended.out.contains("fault die=1 at"), "{}", ended.out);
    // A drive that is not prepared cannot replay it.
    let other = tailcut(&["run", "--replay", &log.display().to_string(), "--set", "faults.injected=false"]);
    assert_eq!(other.code, Some(2));
    assert!(other.err.contains("`fault die=1` at") && other.err.contains("faults.injected"), "{}", other.err);
}

#[test]
fn pages_programs_and_erases_fail_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let served = start(&["tiny"], &["--speed", "20", "--log", &log.display().to_string()]);
    let mut client = Client::connect(&served.socket(), false);
    write(&mut client, 0..400, 1);
    for text in ["page=0.0.0.0", "program=1.0.3.2", "erase=0.1.0", "page=0.0.0.1,once"] {
        fault(&served, text);
    }
    let errors = |client: &mut Client| {
        let ask = |block: u64| client.ask(READ, 0, block * u64::from(LENGTH), LENGTH, &[]).error;
        (0..400).map(ask).filter(|error| *error == 5).count()
    };
    // One page of each plane of a row is read alone: the units of one page cannot be read, and of another one once.
    let (first, second) = (errors(&mut client), errors(&mut client));
    assert!(first > second && second > 0, "{first} and {second}");
    assert!(faults(&served)["read_failures"].as_u64().unwrap() > 1);
    // What cannot be read is written again.
    write(&mut client, 0..700, 2);
    work(&served.socket(), 3);
    served.stop();
    replays_exactly(&log);
}

#[test]
fn wrong_requests_are_answered_with_a_sentence() {
    let served = serve(&[&["tiny"][..], &CONTROL].concat());
    let control = served.control();
    for (method, path, text, status, says) in [
        ("POST", "/fault", "die=1", 409, "faults.injected=true"),
        ("POST", "/fault", "", 400, "names no fault"),
        ("POST", "/fault", "disk=1", 400, "the kind is one of"),
        ("POST", "/set", "ftl.user_capacity=1GiB", 400, "these keys do: faults.rebuild_rate"),
        ("POST", "/set", "ftl.user_capacity=1GiB", 400, "speed"),
        ("POST", "/set", "speed=0", 400, "speed"),
        ("POST", "/set", "speed=much", 400, "speed"),
        (
            "POST",
            "/set",
            "policy.suspend_erase.timeout.after=1ms",
            409,
            "this drive has no policy.suspend_erase",
        ),
        ("POST", "/set", "faults.rebuild_rate=1MB/s", 409, "this drive has no parity"),
        ("GET", "/fault", "", 405, "asked by POST"),
        ("POST", "/metrics", "", 405, "asked by GET"),
        ("POST", "/faults", "", 404, "/fault, /measure, /set, /stop"),
        ("DELETE", "/fault", "", 400, "GET or POST"),
    ] {
        let answer = tell(&control, method, path, text);
        let is = answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.contains(says);
        assert!(is, "{method} {path} {text}: {answer}");
    }
    served.stop();
    let served = start(&["tiny"], &[]);
    for (text, says) in [("die=9", "counted from 0"), ("bad=0.0.1", "grow bad"), ("die=1@2s", "begins now")] {
        let answer = tell(&served.control(), "POST", "/fault", text);
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains(says), "{text}: {answer}");
    }
    assert_eq!(faults(&served)["dead_planes"], 0, "what was refused changes nothing");
    served.stop();
}

#[test]
fn what_may_change_changes_and_the_log_replays() {
    let dir = tempfile::tempdir().unwrap();
    let rain = rain(dir.path());
    let rain: Vec<&str> = rain.iter().map(String::as_str).collect();
    for (name, drive, changes) in [
        (
            "t-es",
            &["tiny", "--scheme", "rps+t-es", "--aged"][..],
            ["policy.suspend_erase.timeout.after=1us", "speed=30"],
        ),
        ("rain", &rain[..], ["faults.rebuild_rate=1MB/s", "faults.rebuild_rate=inf"]),
    ] {
        let log = dir.path().join(name);
        let served = start(drive, &["--speed", "10", "--log", &log.display().to_string()]);
        work(&served.socket(), 3);
        fault(&served, "plane=0.0");
        for change in changes {
            let answer = tell(&served.control(), "POST", "/set", change);
            assert!(answer.starts_with("HTTP/1.1 200"), "{change}: {answer}");
            if name == "rain" {
                work(&served.socket(), 4);
            }
        }
        let answer = ask(&served.control(), "POST", "/measure");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let mut client = Client::connect(&served.socket(), true);
        // One of the planes is dead, and without parity some of this is lost.
        (0..300u64).for_each(|i| drop(client.ask(READ, 0, i * 4096, 4096, &[])));
        let scheme = body(&ask(&served.control(), "GET", "/summary.json"))["schemes"][0].clone();
        let asked = |side: &serde_json::Value| side["total_ios"].as_u64().unwrap();
        served.stop();
        let out = dir.path().join(format!("{name}.out"));
        let ended =
            tailcut(&["run", "--replay", &log.display().to_string(), "--out", &out.display().to_string()]);
        assert!(ended.out.contains("to the nanosecond"), "{} {}", ended.out, ended.err);
        // What was measured from then on is the same.
        let text = std::fs::read_to_string(out.join("summary.json")).unwrap();
        let replayed: serde_json::Value = serde_json::from_str(&text).unwrap();
        let replayed = &replayed["schemes"][0];
        assert!(asked(&scheme["read"]) > 0 && scheme["write"]["total_ios"] == 0, "{name}");
        for of in ["mean", "max", "percentile"] {
            let (served, replayed) = (&scheme["read"]["lat_ns"][of], &replayed["read"]["lat_ns"][of]);
            assert_eq!(served, replayed, "{name}: {of}");
        }
    }
}

/// The stores of a test.
struct Kept {
    folder: PathBuf,
    drive: Vec<String>,
}

impl Kept {
    fn start(&self) -> Served {
        let drive: Vec<&str> = self.drive.iter().map(String::as_str).collect();
        start(&drive, &["--speed", "5", "--store", &self.folder.display().to_string()])
    }
}

#[test]
fn a_store_keeps_the_faults_of_a_server_that_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let pblk = ["tiny-pblk", "--scheme", "rail"].map(str::to_string);
    for (name, drive) in [("ttflash", rain(dir.path()).to_vec()), ("rail", pblk.to_vec())] {
        let kept = Kept { folder: dir.path().join(name), drive };
        let served = kept.start();
        let mut client = Client::connect(&served.socket(), true);
        write(&mut client, 0..500, 1);
        fault(&served, "page=2.0.0.0");
        fault(&served, "die=1");
        write(&mut client, 0..100, 2);
        served.kill();
        // Once simulated again from the commands, and once from the saved state.
        for round in ["killed", "stopped"] {
            let served = kept.start();
            assert!(served.said.contains(&format!("its server was {round}")), "{}", served.said);
            let mut client = Client::connect(&served.socket(), true);
            read(&mut client, 0..100, 2);
            read(&mut client, 100..500, 1);
            let known = faults(&served);
            assert_eq!(
                (&known["dead_planes"], &known["lost_bytes"]),
                (&2.into(), &0.into()),
                "{name}, {round}"
            );
            served.stop();
        }
        let checked = tailcut(&["check", &kept.folder.display().to_string()]);
        assert_eq!(checked.code, Some(0), "{name}: {} {}", checked.out, checked.err);
        assert!(checked.out.contains("the store is whole"), "{}", checked.out);
    }
}
