//! Does a server give a client of the protocol what a disk would give it?

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::drive::Drive;
use tailcut_core::medium::Bytes;
use tailcut_live::{Address, Engine, Export, Kept, Listener, ServeOptions, Served, Server};
use tailcut_testkit::nbd::*;
use tailcut_testkit::small_drive;
use tailcut_units::Stream;
use tempfile::TempDir;

/// A server in a thread of its own.
struct Running {
    path: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<(Served, Result<(), String>)>>,
    bytes: u64,
    _dir: TempDir,
}

impl Running {
    fn of(config: &DeviceConfig) -> Running {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let drive = Drive::with_medium(config, 1, (), Bytes::over(Kept::Memory(Box::default()))).unwrap();
        let bytes = drive.host_bytes();
        let listener = Listener::bind(&Address::Unix(path.clone()), false).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let export = Export {
                name: "drive".into(),
                description: "a test".into(),
                bytes,
                preferred: 4096,
                longest: 32 << 20,
            };
            let options = ServeOptions { export, speed: 1000.0, spin: false };
            let mut server = Server::new(Engine::new(drive), vec![listener], options);
            server.run(&|| told.load(Ordering::Relaxed), &mut |_| {}).unwrap();
            let served = server.served().clone();
            (served, server.engine().drive().audit())
        });
        Running { path, stop, thread: Some(thread), bytes, _dir: dir }
    }

    fn client(&self, structured: bool) -> Client {
        Client::connect(&self.path, structured)
    }

    fn end(mut self) -> Served {
        self.stop.store(true, Ordering::Relaxed);
        let (served, audit) = self.thread.take().unwrap().join().unwrap();
        audit.unwrap();
        served
    }
}

fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut s = Stream::new(seed, "live", 0);
    (0..count).map(|_| s.below(256) as u8).collect()
}

#[test]
fn what_is_written_is_read() {
    let server = Running::of(&small_drive());
    for structured in [false, true] {
        let mut client = server.client(structured);
        assert_eq!((client.size, client.flags & 1), (server.bytes, 1));
        let beyond = client.size / 2;
        assert_eq!(client.ask(READ, 0, beyond, 512, &[]).data, [0; 512], "nothing was written");
        // Longer than a command of the drive, and not whole sectors.
        let text = bytes(7, (1 << 20) + 333);
        assert_eq!(client.ask(WRITE, 0, 12_345, text.len() as u32, &text).error, 0);
        assert_eq!(client.ask(READ, 0, 12_345, text.len() as u32, &[]).data, text);
        assert_eq!(client.ask(FLUSH, 0, 0, 0, &[]).error, 0);
        // Zeros over it, a part of a unit at both ends; what is beside them stays.
        for flags in [0, 1, 2] {
            assert_eq!(client.ask(WRITE, 0, 12_345, text.len() as u32, &text).error, 0);
            assert_eq!(client.ask(WRITE_ZEROES, flags, 20_001, 30_000, &[]).error, 0);
            let got = client.ask(READ, 0, 12_345, 60_000, &[]).data;
            let (from, to) = (20_001 - 12_345, 50_001 - 12_345);
            assert_eq!(got[..from], text[..from]);
            assert!(got[from..to].iter().all(|&b| b == 0), "flags {flags}");
            assert_eq!(got[to..], text[to..60_000]);
        }
        assert_eq!(client.ask(TRIM, 0, 0, 1 << 20, &[]).error, 0);
        assert_eq!(client.ask(READ, 0, 4096 * 8, 4096, &[]).data, [0; 4096]);
        // The last byte of the drive.
        let end = client.size - 1;
        assert_eq!(client.ask(WRITE, 1, end, 1, &[9]).error, 0);
        assert_eq!(client.ask(READ, 0, end, 1, &[]).data, [9]);
        client.send(DISCONNECT, 0, 0, 0, &[]);
    }
    let served = server.end();
    assert_eq!((served.connections, served.broken, served.failed), (2, 0, 0));
}

#[test]
fn wrong_requests_are_errors_and_the_session_goes_on() {
    let server = Running::of(&small_drive());
    for structured in [false, true] {
        let mut client = server.client(structured);
        let (inval, nospc) = (22, 28);
        let size = client.size;
        for (kind, flags, offset, length, error) in [
            (READ, 0, size, 1, inval),
            (READ, 0, size - 1, 2, inval),
            (READ, 0, u64::MAX, 4096, inval),
            (READ, 0, 0, 0, inval),
            (READ, 1 << 9, 0, 4096, inval),
            (READ, 0, 0, (32 << 20) + 1, if size > 32 << 20 { 75 } else { inval }),
            (TRIM, 0, size, 1, inval),
            (WRITE_ZEROES, 0, size - 1, 2, nospc),
            (WRITE_ZEROES, 2 | 16, 0, 4096, 95),
            (FLUSH, 0, 1, 0, inval),
            (BLOCK_STATUS, 0, 0, 4096, inval),
            (99, 0, 0, 4096, inval),
        ] {
            let got = client.ask(kind, flags, offset, length, &[]);
            assert_eq!(got.error, error, "command {kind}, flags {flags}, {length} bytes from {offset}");
        }
        // The payload of a write that is refused is no request.
        assert_eq!(client.ask(WRITE, 0, size - 1, 4096, &bytes(1, 4096)).error, nospc);
        assert_eq!(client.ask(WRITE, 0, 0, 0, &[]).error, inval);
        assert_eq!(client.ask(WRITE, 0, 0, 4096, &bytes(1, 4096)).error, 0);
    }
    assert_eq!(server.end().broken, 0);
}

#[test]
fn a_client_that_breaks_the_protocol_ends_its_session_alone() {
    let server = Running::of(&small_drive());
    let mut good = server.client(true);
    // A wrong beginning, and a write that is too long.
    assert!(server.client(false).raw(&[0x55; 4096]).is_empty());
    let mut long = 0x2560_9513_u32.to_be_bytes().to_vec();
    long.extend([0, 0, 0, 1]);
    long.extend([0; 16]);
    long.extend(u32::MAX.to_be_bytes());
    assert!(server.client(false).raw(&long).is_empty());
    // A client that leaves in the middle of a write, and one with answers that it never reads.
    let mut half = server.client(true);
    half.send(WRITE, 0, 0, 65_536, &[1; 1000]);
    drop(half);
    let mut deaf = server.client(true);
    for _ in 0..200 {
        deaf.send(READ, 0, 0, 1 << 20, &[]);
    }
    assert_eq!(good.ask(WRITE, 0, 0, 4096, &bytes(2, 4096)).error, 0);
    assert_eq!(good.ask(READ, 0, 0, 4096, &[]).data, bytes(2, 4096));
    drop(deaf);
    assert_eq!(good.ask(FLUSH, 0, 0, 0, &[]).error, 0);
    drop(good);
    assert_eq!(server.end().broken, 2);
}

/// Many requests at once, on several connections: each connection has its own part of the drive and knows what is there.
#[test]
fn several_clients_with_many_requests_at_once() {
    let server = Running::of(&small_drive());
    let part = server.bytes / 4 / 4096 * 4096;
    let clients: Vec<_> = (0..4u64)
        .map(|number| {
            let mut client = server.client(number % 2 == 0);
            std::thread::spawn(move || {
                let mut s = Stream::new(number, "clients", 0);
                let mut known = vec![0u8; part as usize];
                for _ in 0..60 {
                    // The requests of a round do not overlap: each is within its own sixteenth.
                    let piece = part / 16;
                    let mut sent = std::collections::HashMap::new();
                    for place in 0..16 {
                        let length = 1 + s.below(piece.min(40_000) - 1);
                        let at = place * piece + s.below(piece - length);
                        let range = at as usize..(at + length) as usize;
                        let offset = number * part + at;
                        let (kind, data) = match s.below(5) {
                            0 | 1 => (READ, Vec::new()),
                            2 => (WRITE_ZEROES, Vec::new()),
                            3 => (FLUSH, Vec::new()),
                            _ => (WRITE, bytes(s.below(1 << 30), length as usize)),
                        };
                        let (offset, length) = if kind == FLUSH { (0, 0) } else { (offset, length as u32) };
                        let fua = u16::from(kind == WRITE && s.below(8) == 0);
                        let cookie = client.send(kind, fua, offset, length, &data);
                        sent.insert(cookie, (kind, range.clone()));
                        match kind {
                            WRITE => known[range].copy_from_slice(&data),
                            WRITE_ZEROES => known[range].fill(0),
                            _ => {}
                        }
                    }
                    while !sent.is_empty() {
                        let length = |cookie| match &sent[&cookie] {
                            (READ, range) => range.len(),
                            _ => 0,
                        };
                        let answer = client.answer(length);
                        assert_eq!(answer.error, 0);
                        let (kind, range) = sent.remove(&answer.cookie).expect("a request of this client");
                        if kind == READ {
                            assert!(answer.data == known[range], "a read has the bytes that were written");
                        }
                    }
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    let served = server.end();
    assert_eq!((served.requests, served.failed), (4 * 60 * 16, 0));
}
