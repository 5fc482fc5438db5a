//! Does `tailcut serve` give programs a disk, and does its log replay to the nanosecond?
#![cfg(unix)]

mod common;

use common::chromium::{browser, open};
use common::served::{ask, serve, work};
use common::{Ended, tailcut};
use std::path::Path;
use std::process::{Command, Stdio};
use tailcut_testkit::nbd::{Client, FLUSH, READ, WRITE};

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
            ended.out.contains("read") && ended.out.contains("die_wait") || name != "page",
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
    let served = serve(&["tiny", "--log", &log.display().to_string()]);
    work(&served.socket(), 3);
    served.kill();
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

#[test]
fn a_running_server_is_asked_and_stopped() {
    let served = serve(&["tiny", "--control", "http://127.0.0.1:0"]);
    let address = served.control();
    let requests = work(&served.socket(), 5);
    let body = |text: String| text.split_once("\r\n\r\n").unwrap().1.to_string();
    let summary: serde_json::Value =
        serde_json::from_str(&body(ask(&address, "GET", "/summary.json"))).unwrap();
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../docs/summary.schema.json")).unwrap();
    let wrong: Vec<String> =
        jsonschema::validator_for(&schema).unwrap().iter_errors(&summary).map(|e| e.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(summary["schemes"][0]["read"]["total_ios"].as_u64().unwrap() > 100);
    let live: serde_json::Value = serde_json::from_str(&body(ask(&address, "GET", "/live.json"))).unwrap();
    assert_eq!(live["requests"], requests);
    let metrics = body(ask(&address, "GET", "/metrics"));
    assert!(metrics.contains("tailcut_requests_total{op=\"read\"}"), "{metrics}");
    assert!(metrics.contains("{op=\"read\",quantile=\"0.999\"}"), "{metrics}");
    assert!(metrics.contains("tailcut_blame_seconds{op=\"read\",above=\"0\",cause=\""), "{metrics}");
    let lateness = |text: &str| {
        let line = metrics.lines().find(|l| l.contains(&format!("tailcut_lateness_seconds{text}")));
        line.unwrap_or_else(|| panic!("no {text}: {metrics}")).rsplit_once(' ').unwrap().1.to_string()
    };
    assert_eq!(lateness("_bucket{le=\"+Inf\"}"), lateness("_count"));
    assert!(lateness("_bucket{le=\"0.5\"}").parse::<u64>().unwrap() > 0);
    let steps = live["lateness_ns"]["histogram"].as_array().unwrap();
    assert!(steps.is_sorted_by_key(|step| step["count"].as_u64()), "{live}");
    // Every line is a comment, or a name, perhaps labels, and a number.
    for line in metrics.lines().filter(|l| !l.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("tailcut_") && value.parse::<f64>().is_ok(), "{line}");
    }
    assert!(ask(&address, "GET", "/nothing").starts_with("HTTP/1.1 404"));
    if let Some(browser) = browser() {
        let dir = tempfile::tempdir().unwrap();
        let (dom, said) = open(&browser, dir.path(), &["--dump-dom"], &address);
        assert!(!said.contains("CONSOLE"), "{said}");
        for text in ["data-shown=", "data-points=", "<td>read</td>", "Live drive: tiny, baseline"] {
            assert!(dom.contains(text), "no `{text}` in {dom}");
        }
    }
    assert!(ask(&address, "POST", "/stop").contains("stops"));
    let mut served = served;
    assert!(served.child.wait().unwrap().success());
}

/// Over TCP it is the same drive, and clients that never choose an export keep nobody out.
#[test]
fn a_drive_is_served_over_tcp_beside_silent_clients() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let served = serve(&["tiny", "--listen", &format!("nbd://{address}"), "--store", "memory"]);
    assert!(!Path::new("memory").exists());
    let mut client = Client::connect_tcp(&address, true);
    assert_eq!(client.ask(WRITE, 0, 5_000, 9_000, &[9; 9_000]).error, 0);
    let mut other = Client::connect(&served.socket(), false);
    assert!(other.ask(READ, 0, 5_000, 9_000, &[]).data == [9; 9_000]);
    if let Ok(sh) = Command::new("nbdsh").arg("--version").output()
        && sh.status.success()
    {
        let script = "assert h.pread(9000, 5000) == b'\\x09' * 9000; h.pwrite(b'sh', 0); h.flush()";
        let args = ["-u", &format!("nbd://{address}"), "-c", script];
        let ran = Command::new("nbdsh").args(args).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(client.ask(READ, 0, 0, 2, &[]).data, b"sh");
    } else {
        println!("skipped: nbdsh is not installed");
    }
    // More silent clients than there are places; one that speaks waits for the first of them to lose its place.
    let silent: Vec<_> = (0..300).map(|_| std::net::TcpStream::connect(&address).unwrap()).collect();
    let begun = std::time::Instant::now();
    let mut late = Client::connect_tcp(&address, true);
    assert!(late.ask(READ, 0, 5_000, 9_000, &[]).data == [9; 9_000]);
    assert!(begun.elapsed().as_secs() >= 5, "{:?}", begun.elapsed());
    assert!(client.ask(READ, 0, 5_000, 9_000, &[]).data == [9; 9_000]);
    drop(silent);
    let said = served.stop();
    assert!(said.contains("<= ") && said.contains('#'), "the histogram of lateness: {said}");
}

/// Stock clients, where they are installed.
#[test]
fn stock_clients_find_a_disk() {
    let served = serve(&["tiny"]);
    let uri = format!("nbd+unix:///?socket={}", served.socket().display());
    let run = |program: &str, args: &[&str]| {
        let Ok(output) = Command::new(program).args(args).stdin(Stdio::null()).output() else {
            println!("skipped: {program} is not installed");
            return;
        };
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {text}");
    };
    run("nbdinfo", &[&uri]);
    let file = served.dir().join("copy");
    std::fs::write(&file, (0..3u32 << 20).map(|i| (i / 7) as u8).collect::<Vec<u8>>()).unwrap();
    let back = served.dir().join("back");
    run("nbdcopy", &[&file.display().to_string(), &uri]);
    run("nbdcopy", &[&uri, &back.display().to_string()]);
    if let Ok(back) = std::fs::read(&back) {
        assert!(back[..3 << 20] == std::fs::read(&file).unwrap(), "what was copied there comes back");
    }
    run(
        "qemu-io",
        &[
            "-f",
            "raw",
            "-c",
            "write -P 7 1M 3M",
            "-c",
            "read -P 7 1M 3M",
            "-c",
            "write -z 2M 1M",
            "-c",
            "read -P 0 2M 1M",
            "-c",
            "flush",
            &uri,
        ],
    );
    run("qemu-img", &["bench", "-f", "raw", "-c", "500", "-d", "8", "-w", &uri]);
    run(
        "fio",
        &[
            "--name=v",
            "--ioengine=nbd",
            &format!("--uri={uri}"),
            "--rw=randwrite",
            "--bs=4k",
            "--iodepth=16",
            "--size=8m",
            "--verify=crc32c",
            "--verify_fatal=1",
            "--verify_state_save=0",
        ],
    );
    served.stop();
}

/// The drive as a file, where FUSE is at hand.
#[test]
fn the_drive_is_a_file() {
    use std::os::unix::fs::FileExt;
    if std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse").is_err() {
        println!("skipped: there is no FUSE here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("fuse:{}", folder.path().display());
    let served = serve(&["tiny", "--listen", &listen]);
    let path = folder.path().join("drive");
    {
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let data: Vec<u8> = (0..200_000u32).map(|i| (i / 3) as u8).collect();
        file.write_all_at(&data, 12_345).unwrap();
        file.sync_all().unwrap();
        let mut back = vec![0; data.len()];
        file.read_exact_at(&mut back, 12_345).unwrap();
        assert!(back == data);
        let end = file.metadata().unwrap().len();
        assert_eq!(file.read_at(&mut back, end).unwrap(), 0);
        assert!(file.write_at(&[1], end).is_err() && file.set_len(1).is_err());
        // The same bytes through the other door.
        let mut client = Client::connect(&served.socket(), true);
        assert!(client.ask(READ, 0, 12_345, 200_000, &[]).data == data);
        client.ask(WRITE, 0, 12_345, 4, b"door");
        file.read_exact_at(&mut back[..4], 12_345).unwrap();
        assert_eq!(&back[..4], b"door");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    served.stop();
    assert!(!path.exists(), "the folder is unmounted");
    // A hole longer than a request can be.
    let served = serve(&["tiny", "--set", "geometry.blocks=4000", "--listen", &listen]);
    let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let end = file.metadata().unwrap().len();
    assert!(end > 5 << 30, "{end}");
    let written = [4096, 1 << 30, (5 << 30) - 4096];
    written.iter().for_each(|&at| file.write_all_at(&[7; 4096], at).unwrap());
    let length = ((5u64 << 30) - 4096).to_string();
    let args = ["--punch-hole", "--offset", "4096", "--length", &length];
    if let Ok(punched) = Command::new("fallocate").args(args).arg(&path).status() {
        assert!(punched.success());
        for at in written {
            let mut back = [1; 4096];
            file.read_exact_at(&mut back, at).unwrap();
            assert!(back == [0; 4096], "{at}");
        }
    }
    drop(file);
    served.stop();
}

/// What a request takes on the machine is taken off the latencies of the host.
#[test]
fn a_floor_is_taken_off() {
    for (floor, says) in
        [("3us", "3 us of the host's 4 us"), ("1s", "4 us of the host's 4 us"), ("auto", "are taken off")]
    {
        let served = serve(&["tiny", "--floor", floor]);
        assert!(served.said.contains(says), "{}", served.said);
        served.stop();
    }
    let wrong = tailcut(&["serve", "tiny", "--listen", "nbd+unix:/nonexistent/x", "--floor", "much"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("`auto`, or a time"), "{}", wrong.err);
}

/// A small drive with stripes over four channels.
const RAIN: &str = include_str!("common/rain.toml");

/// fio finds what it wrote, over both front ends; pages that cannot be read come back from parity.
#[test]
fn fio_verifies_over_each_front_end() {
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: there is no fio here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let device = folder.path().join("rain.toml");
    std::fs::write(&device, RAIN).unwrap();
    let device = device.display().to_string();
    let fuse = std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse").is_ok();
    let mount = folder.path().join("mount");
    std::fs::create_dir(&mount).unwrap();
    let listen = format!("fuse:{}", mount.display());
    for args in [
        &["tiny", "--scheme", "baseline"][..],
        &[
            &device,
            "--scheme",
            "ttflash",
            "--set",
            "policy.redundancy.rain.width=4",
            "--set",
            "faults.page=0.05%",
        ],
        &["tiny-pblk", "--scheme", "rail", "--set", "faults.page=0.05%"],
    ] {
        let more = if fuse { &["--listen", &listen, "--speed", "20"][..] } else { &["--speed", "20"] };
        let served = serve(&[args, more].concat());
        let uri = format!("--uri=nbd+unix:///?socket={}", served.socket().display());
        let file = format!("--filename={}", mount.join("drive").display());
        let nbd = ["--ioengine=nbd", "--iodepth=16", &uri];
        let psync = ["--ioengine=psync", "--offset=16m", &file];
        for way in [nbd, psync].iter().take(if fuse { 2 } else { 1 }) {
            let job = ["--name=v", "--rw=randwrite", "--bs=4k", "--size=4m", "--verify=crc32c"];
            let ends = ["--verify_fatal=1", "--verify_state_save=0", "--minimal"];
            let ran =
                Command::new("fio").args(job).args(ends).args(way).current_dir(&folder).output().unwrap();
            // A fio without the engine says so; that is no failure of the drive.
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            if said.contains("engine nbd not") {
                println!("skipped: this fio has no engine for NBD");
                continue;
            }
            assert!(ran.status.success(), "{args:?} {way:?}: {said}");
        }
        served.stop();
    }
}
