//! Does a store keep what was answered, however its server ends?
#![cfg(unix)]

mod common;

use common::served::{SMALL_BUFFER, ask, body, serve_store, tell};
use common::tailcut;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use tailcut_testkit::nbd::{Client, FLUSH, READ, WRITE, WRITE_ZEROES};
use tailcut_units::Stream;
use tailcut_workload::log::{LogFile, LogHeader, LogWriter};

/// Blocks that are written as a whole. Their length is no multiple of a mapping unit, so that neighbours share units.
const BLOCKS: u64 = 400;
const LENGTH: u64 = 10 * 1024 + 512;
/// Requests under way at once.
const DEPTH: usize = 16;

/// A small drive with stripes over four channels.
const RAIN: &str = include_str!("common/rain.toml");

fn check(folder: &Path) -> common::Ended {
    tailcut(&["check", &folder.join("store").display().to_string()])
}

/// The bytes of a block with this stamp; stamp 0 is a block that was never written, or was trimmed.
fn content(block: u64, stamp: u64) -> Vec<u8> {
    if stamp == 0 {
        return vec![0; LENGTH as usize];
    }
    (0..LENGTH)
        .map(|i| (stamp.wrapping_mul(0x9E37_79B9) >> (8 * (i % 4))) as u8 ^ (block + i / 4) as u8)
        .collect()
}

/// What the host knows of each block: the stamp that was answered last, and the one that is under way.
struct Oracle {
    blocks: Vec<(u64, Option<u64>)>,
    next: u64,
    answered: u64,
}

impl Oracle {
    fn new() -> Oracle {
        Oracle { blocks: vec![(0, None); BLOCKS as usize], next: 1, answered: 0 }
    }

    /// Write all blocks: an aged drive is not empty.
    fn write_all(&mut self, socket: &Path) {
        let mut client = Client::connect(socket, true);
        for (block, (known, _)) in (0..).zip(&mut self.blocks) {
            (*known, self.next) = (self.next, self.next + 1);
            let data = content(block, *known);
            assert_eq!(client.ask(WRITE, 0, block * LENGTH, LENGTH as u32, &data).error, 0);
        }
    }

    /// Read all blocks: each has the last content that was answered, or as a whole that which was under way.
    fn check(&mut self, socket: &Path, name: &str) {
        let mut client = Client::connect(socket, true);
        let next = self.next;
        // Blocks that are being made zero, and whether some of that is done.
        let mut settle: Vec<(u64, bool)> = Vec::new();
        for (block, (known, pending)) in (0..).zip(&mut self.blocks) {
            let answer = client.ask(READ, 0, block * LENGTH, LENGTH as u32, &[]);
            assert_eq!(answer.error, 0, "{name}");
            let candidates = [Some(*known), *pending];
            // Zeros may be several commands of the drive, of which each is whole.
            let of = content(block, *known);
            let is_either = || {
                answer
                    .data
                    .chunks(512)
                    .zip(of.chunks(512))
                    .all(|(is, was)| is == was || is.iter().all(|&b| b == 0))
            };
            if *pending == Some(0) && is_either() {
                settle.push((block, answer.data != of));
                continue;
            }
            let is = candidates.into_iter().flatten().find(|&stamp| answer.data == content(block, stamp));
            let wrong = || {
                let first = content(block, *known).iter().zip(&answer.data).position(|(a, b)| a != b);
                let at = first.unwrap_or(0);
                let older = (0..next).find(|&s| content(block, s)[at..at + 512] == answer.data[at..at + 512]);
                let ends = content(block, *known).iter().zip(&answer.data).rposition(|(a, b)| a != b);
                format!(
                    "{name}: block {block} is neither {known} nor {pending:?}: from {first:?} to {ends:?} it has {older:?}"
                )
            };
            *known = is.unwrap_or_else(|| panic!("{}", wrong()));
            *pending = None;
        }
        for (block, some) in settle {
            if some {
                let answer = client.ask(WRITE_ZEROES, 0, block * LENGTH, LENGTH as u32, &[]);
                assert_eq!(answer.error, 0);
            }
            let known = if some { 0 } else { self.blocks[block as usize].0 };
            self.blocks[block as usize] = (known, None);
        }
    }

    /// Send random requests until the server is gone, or for this many.
    fn load(&mut self, mut client: Client, s: &mut Stream, most: u64) {
        let mut under_way: HashMap<u64, (u64, u64)> = HashMap::new();
        let mut sent = 0;
        loop {
            while under_way.len() < DEPTH && sent < most {
                sent += 1;
                let block = s.below(BLOCKS);
                let (known, pending) = &mut self.blocks[block as usize];
                let (at, length) = (block * LENGTH, LENGTH as u32);
                let result = match s.below(12) {
                    0 => client.try_send(FLUSH, 0, 0, 0, &[]).map(|cookie| (cookie, (u64::MAX, 0))),
                    _ if pending.is_some() => continue,
                    1..3 => {
                        client.try_send(READ, 0, at, length, &[]).map(|cookie| (cookie, (u64::MAX, *known)))
                    }
                    kind => {
                        let stamp = if kind == 3 { 0 } else { self.next };
                        self.next += 1;
                        // Even a request that cannot be sent as a whole may have arrived.
                        *pending = Some(stamp);
                        let fua = u16::from(s.below(8) == 0);
                        match kind {
                            3 => client.try_send(WRITE_ZEROES, fua, at, length, &[]),
                            _ => client.try_send(WRITE, fua, at, length, &content(block, stamp)),
                        }
                        .map(|cookie| (cookie, (block, stamp)))
                    }
                };
                match result {
                    Ok((cookie, what)) => drop(under_way.insert(cookie, what)),
                    Err(_) => return,
                }
            }
            if under_way.is_empty() {
                return;
            }
            let Ok(answer) = client.try_answer(|_| 0) else { return };
            assert_eq!(answer.error, 0);
            self.answered += 1;
            let (block, stamp) = under_way.remove(&answer.cookie).unwrap();
            if block != u64::MAX {
                self.blocks[block as usize] = (stamp, None);
            }
        }
    }
}

/// Kill a server under load, again and again.
fn survives(name: &str, args: &[&str], kills: u64) {
    let folder = tempfile::tempdir().unwrap();
    let (mut oracle, mut s) = (Oracle::new(), Stream::new(7, name, 0));
    for round in 0..kills {
        let server = serve_store(folder.path(), args);
        // A server that was killed before it had committed anything has left the store as it was.
        let known = ["a new store", "was killed", "was stopped"];
        assert!(known.iter().any(|what| server.said.contains(what)), "{}", server.said);
        assert_eq!(server.said.contains(known[0]), round == 0, "{}", server.said);
        if round == 0 && args.contains(&"--aged") {
            oracle.write_all(&server.socket());
        }
        oracle.check(&server.socket(), &format!("{name}, round {round}"));
        if round == 0 {
            // The same without a kill.
            oracle.load(Client::connect(&server.socket(), true), &mut s, 2000);
            oracle.check(&server.socket(), &format!("{name}, without a kill"));
        }
        let client = Client::connect(&server.socket(), true);
        let wait = Duration::from_micros(1_000 + s.below(150_000));
        let killer = std::thread::spawn(move || {
            std::thread::sleep(wait);
            server.kill();
        });
        oracle.load(client, &mut s, u64::MAX);
        killer.join().unwrap();
        if round % 8 == 0 {
            let checked = check(folder.path());
            assert_eq!(checked.code, Some(0), "{name}, round {round}: {} {}", checked.out, checked.err);
            assert!(
                checked.out.contains("was killed") && checked.out.contains("is whole"),
                "{}",
                checked.out
            );
        }
    }
    println!("{name}: {kills} kills, {} answers", oracle.answered);
    assert!(oracle.answered > 10 * kills, "{}", oracle.answered);
    let server = serve_store(folder.path(), args);
    oracle.check(&server.socket(), name);
    oracle.load(Client::connect(&server.socket(), true), &mut s, 300);
    server.stop();
    let server = serve_store(folder.path(), args);
    assert!(server.said.contains("was stopped"), "{}", server.said);
    oracle.check(&server.socket(), name);
    server.stop();
}

/// `TAILCUT_KILLS` gives another number of kills of each drive.
fn kills() -> u64 {
    std::env::var("TAILCUT_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(3)
}

#[test]
fn a_page_mapped_drive_survives_the_end_of_its_server() {
    let args = ["tiny", "--scheme", "rps", "--set", "host.queue_depth=8"];
    survives("page", &[&args[..], &SMALL_BUFFER].concat(), kills());
}

#[test]
fn an_aged_drive_with_parity_survives() {
    let folder = tempfile::tempdir().unwrap();
    let device = folder.path().join("rain.toml");
    std::fs::write(&device, RAIN).unwrap();
    let device = device.display().to_string();
    let width = ["--set", "policy.redundancy.rain.width=4"];
    survives(
        "ttflash",
        &[&[&device, "--scheme", "ttflash", "--aged"], &width[..], &SMALL_BUFFER].concat(),
        kills(),
    );
}

#[test]
fn pblk_survives() {
    survives("pblk", &["tiny-pblk"], kills());
}

#[test]
fn rail_survives() {
    survives("rail", &["tiny-pblk", "--scheme", "rail", "--speed", "10"], kills());
}

/// The log of a drive with a past has its state, however its server ended, and replays to the nanosecond.
#[test]
fn a_drive_with_a_past_is_logged_and_replayed() {
    for (name, args) in [
        ("controller", &["tiny", "--speed", "0.5"][..]),
        ("aged", &["tiny", "--aged"]),
        ("faults", &["tiny", "--set", "faults.injected=true"]),
        ("rail", &["tiny-pblk", "--scheme", "rail", "--speed", "10"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let args = [args, &SMALL_BUFFER[..if name == "rail" { 0 } else { 2 }]].concat();
        let args = [&args[..], &["--control", "http://127.0.0.1:0"]].concat();
        let server = serve_store(folder.path(), &args);
        let mut oracle = Oracle::new();
        oracle.write_all(&server.socket());
        if name == "faults" {
            for fault in ["erase=0.0.3", "program=0.0.20.3"] {
                let done = tell(&server.control(), "POST", "/fault", fault);
                assert!(done.starts_with("HTTP/1.1 200"), "{fault}: {done}");
            }
        }
        oracle.load(Client::connect(&server.socket(), true), &mut Stream::new(5, "past", 0), 1500);
        server.kill();
        let log = folder.path().join("log").display().to_string();
        let server = serve_store(folder.path(), &[&args[..], &["--log", &log]].concat());
        oracle.load(Client::connect(&server.socket(), true), &mut Stream::new(6, "past", 0), 1500);
        // What is still buffered is written before the counters are compared.
        assert_eq!(Client::connect(&server.socket(), true).ask(FLUSH, 0, 0, 0, &[]).error, 0);
        let counted = body(&ask(&server.control(), "GET", "/summary.json"));
        let said = server.stop();
        assert!(said.contains("tailcut run --replay"), "{name}: {said}");
        let ended = tailcut(&["run", "--replay", &log]);
        assert!(ended.out.contains("to the nanosecond"), "{name}: {} {}", ended.out, ended.err);
        assert!(ended.out.contains("served: the drive as it was when the log began"), "{}", ended.out);
        // Its summary counts what this server has done.
        let out = tailcut(&["run", "--replay", &log, "--json"]).out;
        let replayed: serde_json::Value = serde_json::from_str(&out).unwrap();
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../docs/summary.schema.json")).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert_eq!(validator.iter_errors(&replayed).map(|e| e.to_string()).next(), None, "{name}");
        let scheme = &replayed["schemes"][0];
        // The drive goes on until its server is asked, and the replay ends with the last completion.
        let programs = |scheme: &serde_json::Value| scheme["programs"]["user"].as_u64().unwrap();
        let (replayed, served) = (programs(scheme), programs(&counted["schemes"][0]));
        assert!(replayed.abs_diff(served) * 20 <= served, "{name}: {replayed} and {served}");
        // A log whose header does not fit its snapshot is refused.
        let file = LogFile::open(Path::new(&log)).unwrap();
        let header = LogHeader { begun: file.header.begun - 1, ..file.header.clone() };
        let mut snapshot = Vec::new();
        file.snapshot().unwrap().read_to_end(&mut snapshot).unwrap();
        let wrong = folder.path().join("wrong");
        LogWriter::create(&wrong, &header, Some(&|to| to.write_all(&snapshot))).unwrap();
        let ended = tailcut(&["run", "--replay", &wrong.display().to_string()]);
        assert!(ended.err.contains("its time is not that at which the log began"), "{name}: {}", ended.err);
        // Another drive has not this past.
        let other = tailcut(&["run", "--replay", &log, "--set", "host.submit_latency=3us"]);
        assert_eq!(other.code, Some(0), "{name}: {}", other.err);
        let said = other.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("and overwritten until it is steady, and has no faults of its past"), "{said}");
        assert!(!other.out.contains("to the nanosecond"));
    }
}

/// What is in the files is not in memory.
#[test]
#[cfg(target_os = "linux")]
fn a_store_may_be_larger_than_memory() {
    const WRITTEN: u64 = 192 << 20;
    const REQUEST: u64 = 256 << 10;
    let folder = tempfile::tempdir().unwrap();
    let server = serve_store(folder.path(), &["tiny", "--set", "geometry.blocks=400", "--speed", "1000"]);
    let mut client = Client::connect(&server.socket(), true);
    assert!(client.size > 2 * WRITTEN);
    let content =
        |at: u64| -> Vec<u8> { (0..REQUEST).map(|i| ((at >> 12) + i * 7 + (i >> 9)) as u8).collect() };
    for at in (0..WRITTEN).step_by(REQUEST as usize) {
        assert_eq!(client.ask(WRITE, 0, at, REQUEST as u32, &content(at)).error, 0);
    }
    for at in (0..WRITTEN).step_by(REQUEST as usize * 16) {
        assert!(client.ask(READ, 0, at, REQUEST as u32, &[]).data == content(at), "{at}");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let most = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
    let most: u64 = most.trim().strip_suffix("kB").unwrap().trim().parse().unwrap();
    assert!(most << 10 < WRITTEN / 2, "{most} KiB in memory");
    server.stop();
}

/// A store is of one drive, and damage is found.
#[test]
fn another_drive_and_damage_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_store(folder.path(), &[&["tiny"][..], &SMALL_BUFFER].concat());
    let store = folder.path().join("store");
    let mut oracle = Oracle::new();
    oracle.load(Client::connect(&server.socket(), true), &mut Stream::new(3, "damage", 0), 4000);
    let path = store.display().to_string();
    let held = check(folder.path());
    assert_eq!(held.code, Some(2));
    assert!(held.err.contains("another process"), "{}", held.err);
    server.stop();
    for (args, why) in [
        (&["tiny", "--seed", "2"][..], "seed 1"),
        (&["tiny", "--set", "timing.read=41us"], "41us"),
        (&["tiny", "--aged"], "not aged"),
    ] {
        let other = tailcut(
            &[
                &["serve"][..],
                args,
                &SMALL_BUFFER,
                &["--store", &path, "--listen", "nbd+unix:/nonexistent/socket"],
            ]
            .concat(),
        );
        assert_eq!(other.code, Some(2), "{}", other.err);
        assert!(other.err.contains(why), "{why}: {}", other.err);
    }
    let ended = check(folder.path());
    assert_eq!(ended.code, Some(0), "{} {}", ended.out, ended.err);
    assert!(ended.out.contains("was stopped") && ended.out.contains("written by the host"), "{}", ended.out);
    assert!(!ended.out.contains("of 0 units"), "{}", ended.out);
    // A flipped bit of a unit, and one of a record.
    for name in ["flash", "oob"] {
        let file = store.join(name);
        let mut bytes = std::fs::read(&file).unwrap();
        let at = bytes.iter().position(|&b| b != 0).unwrap() + 9;
        bytes[at] ^= 4;
        std::fs::write(&file, &bytes).unwrap();
        let ended = check(folder.path());
        assert_eq!(ended.code, Some(1), "{name}: {} {}", ended.out, ended.err);
        assert!(ended.out.contains("BROKEN"), "{}", ended.out);
        bytes[at] ^= 4;
        std::fs::write(&file, &bytes).unwrap();
    }
    assert_eq!(check(folder.path()).code, Some(0));
    // A flipped bit of each part of the controller's memory. The last turn holds what it has changed there; what an
    // earlier one has left is only in this file.
    let file = store.join("memory");
    let bytes = std::fs::read(&file).unwrap();
    let parts = (4096..bytes.len()).step_by(4096).filter(|&at| bytes[at..at + 8] != [0; 8]);
    let mut harmful = None;
    for at in parts.take(40) {
        let mut bytes = bytes.clone();
        bytes[at + 40] ^= 4;
        std::fs::write(&file, &bytes).unwrap();
        let ended = check(folder.path());
        if ended.code == Some(0) {
            continue;
        }
        assert_eq!(ended.code, Some(1), "{at}: {} {}", ended.out, ended.err);
        assert!(ended.err.contains("BROKEN: memory: "), "{}", ended.err);
        harmful = Some(bytes);
    }
    std::fs::write(&file, harmful.expect("a part that the last turn does not hold")).unwrap();
    let serves = ["serve", "tiny", SMALL_BUFFER[0], SMALL_BUFFER[1], "--store", &path];
    let refused = tailcut(
        &[&serves[..], &["--listen", &format!("nbd+unix:{}", folder.path().join("other").display())]]
            .concat(),
    );
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("BROKEN: memory: "), "{}", refused.err);
    // A part that is gone, a file that is cut, and two parts that are exchanged.
    let slot = |at: usize| 4096 + at * 8192..4096 + at * 8192 + 8192;
    let mut cases = [bytes.clone(), bytes.clone(), bytes.clone()];
    cases[0][slot(0)][..12].fill(0);
    cases[1].truncate(4096);
    cases[2][slot(0)].copy_from_slice(&bytes[slot(1)]);
    cases[2][slot(1)].copy_from_slice(&bytes[slot(0)]);
    for (case, wrong) in cases.iter().enumerate() {
        std::fs::write(&file, wrong).unwrap();
        let ended = check(folder.path());
        assert_eq!(ended.code, Some(1), "{case}: {} {}", ended.out, ended.err);
        assert!(ended.err.contains("BROKEN: memory: "), "{case}: {}", ended.err);
    }
    std::fs::write(&file, &bytes).unwrap();
    assert_eq!(check(folder.path()).code, Some(0));
    // A command of a server that was killed.
    let server = serve_store(folder.path(), &[&["tiny"][..], &SMALL_BUFFER].concat());
    oracle.load(Client::connect(&server.socket(), true), &mut Stream::new(4, "damage", 0), 400);
    server.kill();
    let files = std::fs::read_dir(&store).unwrap().flatten().map(|entry| entry.path());
    let is_list =
        |path: &Path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("commands."));
    let commands = files.into_iter().find(|path| is_list(path)).unwrap();
    let whole = std::fs::read(&commands).unwrap();
    let mut flipped = whole.clone();
    flipped[32 * 40 + 17] ^= 1;
    std::fs::write(&commands, &flipped).unwrap();
    let ended = check(folder.path());
    assert_eq!(ended.code, Some(1), "{} {}", ended.out, ended.err);
    assert!(ended.err.contains("BROKEN: the commands up to"), "{}", ended.err);
    std::fs::write(&commands, &whole).unwrap();
    assert_eq!(check(folder.path()).code, Some(0));
    // A configuration that this program does not know is named by the store.
    let header = std::fs::read_to_string(store.join("store.json")).unwrap();
    std::fs::write(store.join("store.json"), header.replacen("[geometry]", "[geometri]", 1)).unwrap();
    let ended = check(folder.path());
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains(&format!("the configuration of {path}")), "{}", ended.err);
    assert!(ended.err.contains("geometri") && !ended.err.contains("stored.toml"), "{}", ended.err);
    std::fs::write(store.join("store.json"), header).unwrap();
    // Files that are cut, or are no store.
    std::fs::write(store.join("turn.0"), b"x").unwrap();
    std::fs::write(store.join("turn.1"), b"").unwrap();
    let ended = check(folder.path());
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("no turn is whole"), "{}", ended.err);
    std::fs::write(store.join("store.json"), "{\"version\": 9}").unwrap();
    assert!(check(folder.path()).err.contains("version 9; allowed is version 2"));
    std::fs::remove_file(store.join("store.json")).unwrap();
    assert!(check(folder.path()).err.contains("other files than those of a store"));
    let none = folder.path().join("none").display().to_string();
    assert!(tailcut(&["check", &none]).err.contains("there is no store"));
}
