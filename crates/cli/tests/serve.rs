//! Does `tailcut serve` give programs a disk, and does its log replay to the nanosecond?
#![cfg(unix)]

mod common;

use common::{Ended, command, tailcut};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tailcut_testkit::nbd::{Client, FLUSH, READ, TRIM, WRITE};
use tailcut_units::Stream;
use tempfile::TempDir;

/// A server, and the folder with its socket.
struct Served {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    dir: TempDir,
}

fn serve(args: &[&str]) -> Served {
    let dir = tempfile::tempdir().unwrap();
    let listen = format!("nbd+unix:{}", dir.path().join("socket").display());
    let mut program = command(Path::new("/nonexistent"));
    program.arg("serve").args(args).args(["--listen", &listen]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("Ctrl-C") {
        line.clear();
        let read = out.read_line(&mut line).unwrap();
        assert!(read > 0, "the server ended: {:?}", child.wait_with_output());
    }
    Served { child, out, dir }
}

impl Served {
    fn socket(&self) -> PathBuf {
        self.dir.path().join("socket")
    }

    /// Stop the server; returns what it says in the end.
    fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let mut text = String::new();
        self.out.read_to_string(&mut text).unwrap();
        let ended = self.child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{text} {}", String::from_utf8_lossy(&ended.stderr));
        assert!(!self.dir.path().join("socket").exists(), "no socket stays behind");
        text
    }
}

/// Random requests, many at once; what is read is what was written.
fn work(socket: &Path, seed: u64) -> u64 {
    let mut client = Client::connect(socket, true);
    let mut s = Stream::new(seed, "serve", 0);
    let (slots, length) = (64u64, 12 * 1024u64);
    // `None` until it is written: an aged drive is not empty.
    let mut known: Vec<Option<Vec<u8>>> = vec![None; slots as usize];
    let mut requests = 0;
    for round in 0..40u64 {
        let mut sent = std::collections::HashMap::new();
        for slot in 0..16 {
            let slot = (slot * 4 + round % 4) % slots;
            let offset = slot * length * 7;
            let (kind, fua, data) = match s.below(6) {
                0..=2 => (READ, 0, Vec::new()),
                3 => (FLUSH, 0, Vec::new()),
                _ => (WRITE, u16::from(s.below(4) == 0), vec![s.below(256) as u8; length as usize]),
            };
            let (offset, bytes) = if kind == FLUSH { (0, 0) } else { (offset, length as u32) };
            if kind == WRITE {
                known[slot as usize] = Some(data.clone());
            }
            sent.insert(client.send(kind, fua, offset, bytes, &data), (kind, slot));
            requests += 1;
        }
        while !sent.is_empty() {
            let answer = client.answer(|_| 0);
            let (kind, slot) = sent.remove(&answer.cookie).unwrap();
            assert_eq!(answer.error, 0);
            if kind == READ
                && let Some(written) = &known[slot as usize]
            {
                assert!(answer.data == *written, "slot {slot}, round {round}");
            }
        }
    }
    assert_eq!(client.ask(TRIM, 0, 0, 1 << 20, &[]).error, 0);
    requests + 1
}

fn replay(log: &Path, args: &[&str]) -> Ended {
    let log = log.display().to_string();
    tailcut(&[&["run", "--replay", &log], args].concat())
}

#[test]
fn a_log_replays_to_the_nanosecond() {
    let dir = tempfile::tempdir().unwrap();
    for (name, args) in [
        ("page", &["tiny", "--scheme", "rps", "--aged"][..]),
        ("pblk", &["tiny-pblk", "--set", "faults.read=0.5%"]),
        ("fast", &["tiny", "--speed", "50", "--set", "host.queue_depth=4"]),
    ] {
        let log = dir.path().join(name);
        let path = log.display().to_string();
        let served = serve(&[args, &["--log", &path]].concat());
        let requests = if name == "pblk" { 0 } else { work(&served.socket(), 7) };
        if name == "pblk" {
            // Some of its reads fail, and a failed read is an answer too.
            let mut client = Client::connect(&served.socket(), false);
            (0..40u64).for_each(|i| drop(client.ask(WRITE, 0, i * 8192, 8192, &[1; 8192])));
            client.ask(FLUSH, 0, 0, 0, &[]);
            (0..400u64).for_each(|i| drop(client.ask(READ, 0, i % 40 * 8192, 4096, &[])));
        }
        let said = served.stop();
        assert!(said.contains("late by") && said.contains("tailcut run --replay"), "{said}");
        let ended = replay(&log, &[]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        assert!(
            ended.out.contains("those of the served drive, to the nanosecond"),
            "{name}: {} {}",
            ended.out,
            ended.err
        );
        assert!(
            ended.out.contains("read") && ended.out.contains("die_wait") || name == "pblk",
            "{}",
            ended.out
        );
        if requests > 0 {
            assert!(said.contains(&format!("{requests} requests")), "{said}");
        }
        // Under another scheme it is another run, and says nothing of the kind.
        let other = replay(&log, &["--set", "host.submit_latency=3us"]);
        assert_eq!(other.code, Some(0), "{}", other.err);
        assert!(!other.out.contains("to the nanosecond"));
    }
}

#[test]
fn a_log_of_a_killed_server_replays_up_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut served = serve(&["tiny", "--log", &log.display().to_string()]);
    work(&served.socket(), 3);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let ended = replay(&log, &[]);
    // What was not written yet is missing; whatever is there is replayed.
    assert!(ended.err.contains("has no end"), "{}", ended.err);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
}

#[test]
fn wrong_uses_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let notes = dir.path().join("notes");
    std::fs::write(&notes, "text").unwrap();
    let notes = notes.display().to_string();
    let socket = format!("nbd+unix:{}", dir.path().join("s").display());
    tailcut(&["serve", "tiny"]).refused(&["--listen"]);
    tailcut(&["serve", "tiny", "--listen", "http://h"]).refused(&["nbd+unix:PATH"]);
    tailcut(&["serve", "tiny", "--listen", &format!("nbd+unix:{notes}")]).refused(&["is no socket"]);
    tailcut(&["serve", "tiny", "--listen", "nbd://0.0.0.0:1"]).refused(&["--allow-remote"]);
    tailcut(&["serve", "tiny", "--listen", &socket, "--log", &notes])
        .refused(&["--log", "a log is a new file"]);
    tailcut(&["serve", "nothing", "--listen", &socket]).refused(&["nothing"]);
    tailcut(&["run", "--replay", &notes]).refused(&["no log of a served drive"]);
    tailcut(&["run"]).refused(&["DEVICE is missing"]);
    tailcut(&["run", "tiny", "--replay", &notes]).refused(&["cannot be used with"]);
}
