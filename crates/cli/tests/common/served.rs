//! A server in a process of its own, and work for it.

use super::command;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tailcut_testkit::nbd::{Client, FLUSH, READ, TRIM, WRITE};
use tailcut_units::Stream;
use tempfile::TempDir;

/// A write buffer that holds few of the blocks of a test, so that most are on flash.
pub const SMALL_BUFFER: [&str; 2] = ["--set", "policy.buffer.lru.capacity=256KiB"];

/// A server of a drive.
pub struct Served {
    pub child: Child,
    out: BufReader<std::process::ChildStdout>,
    /// What it said before it served.
    pub said: String,
    socket: PathBuf,
    /// The folder of the socket, if the server has one of its own.
    own: Option<TempDir>,
}

/// Serve a drive.
pub fn serve(args: &[&str]) -> Served {
    let dir = tempfile::tempdir().unwrap();
    let mut served = start(dir.path(), args);
    served.own = Some(dir);
    served
}

/// Serve the drive of the store in a folder.
pub fn serve_store(folder: &Path, args: &[&str]) -> Served {
    let store = folder.join("store").display().to_string();
    start(folder, &[args, &["--store", &store]].concat())
}

/// Serve a drive at a socket in a folder.
fn start(folder: &Path, args: &[&str]) -> Served {
    let socket = folder.join("socket");
    let listen = format!("nbd+unix:{}", socket.display());
    let mut program = command(Path::new("/nonexistent"));
    program.arg("serve").args(args).args(["--listen", &listen]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("Ctrl-C") {
        let read = out.read_line(&mut said).unwrap();
        assert!(read > 0, "the server ended: {said} {:?}", child.wait_with_output());
    }
    Served { child, out, said, socket, own: None }
}

impl Drop for Served {
    fn drop(&mut self) {
        // A test that fails leaves no server behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// The address of the live page.
    pub fn control(&self) -> String {
        self.said.split(" are at ").nth(1).and_then(|rest| rest.lines().next()).unwrap().to_string()
    }

    pub fn socket(&self) -> PathBuf {
        self.socket.clone()
    }

    /// The folder of its socket.
    pub fn dir(&self) -> &Path {
        self.socket.parent().unwrap()
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stop the server; returns what it says in the end.
    pub fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let (mut text, mut errors) = (String::new(), String::new());
        self.out.read_to_string(&mut text).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert!(self.child.wait().unwrap().success(), "{text} {errors}");
        assert!(!self.socket.exists(), "no socket stays behind");
        text
    }
}

/// Random requests, many at once; what is read is what was written.
pub fn work(socket: &Path, seed: u64) -> u64 {
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

/// Ask the control socket, by HTTP.
pub fn ask(address: &str, method: &str, path: &str) -> String {
    tell(address, method, path, "")
}

/// As [`ask`], with a body.
pub fn tell(address: &str, method: &str, path: &str, body: &str) -> String {
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// What such an answer has behind its head.
pub fn body(text: &str) -> serde_json::Value {
    let (_, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
    serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {text}"))
}
