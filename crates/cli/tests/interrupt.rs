//! Does the program end within a second of Ctrl-C or SIGTERM, whatever it is doing, with
//! nothing half-written left behind?
#![cfg(unix)]

mod common;

use common::{command, files, summary};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What the program may take from the signal to its end.
const SOON: Duration = Duration::from_secs(1);

/// A zstd file of little more than blank lines: small, and minutes to read.
fn long_to_read(path: &Path) {
    let good = "128166372000000000,web,0,Write,4096,4096,500\n128166372000001000,web,0,Read,4096,4096,500\n";
    let mut bytes = zstd::encode_all(good.as_bytes(), 1).unwrap();
    let blank = zstd::encode_all(&vec![b'\n'; 128 << 20][..], 1).unwrap();
    (0..2000).for_each(|_| bytes.extend(&blank));
    std::fs::write(path, bytes).unwrap();
}

fn start(cache: &Path, args: &[&str]) -> Child {
    let mut command = command(cache);
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let kill = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

/// Send the signal after a while; how the program ended, and what it said on standard error.
fn stop(mut child: Child, after: Duration, name: &str) -> (Option<i32>, String) {
    std::thread::sleep(after);
    assert!(child.try_wait().unwrap().is_none(), "it was over before it could be interrupted");
    let asked = Instant::now();
    signal(&child, name);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(asked.elapsed() < SOON, "it still runs {:?} after SIG{name}", asked.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (status.code(), said)
}

#[test]
fn converting_stops_and_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("long.zst"), dir.path().join("out"));
    long_to_read(&file);
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    for (name, more) in [("INT", &[][..]), ("TERM", &["--remap", "dense"])] {
        let child = start(dir.path(), &[&["trace", "convert", file, out], more].concat());
        let (code, said) = stop(child, Duration::from_millis(300), name);
        assert_eq!((code, said.contains("interrupted")), (Some(1), true), "{said}");
        assert_eq!(files(dir.path()), ["long.zst"]);
    }
}

#[test]
fn measuring_a_trace_stops() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("long.zst");
    long_to_read(&file);
    for command in [&["trace", "info"][..], &["run", "tiny", "--workload"]] {
        for name in ["INT", "TERM"] {
            let child = start(dir.path(), &[command, &[file.to_str().unwrap()]].concat());
            stop(child, Duration::from_millis(300), name);
        }
    }
}

#[test]
fn ageing_stops_by_the_workload_and_by_the_policy() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let out = out.to_str().unwrap();
    let run = ["run", "mqsim-default", "--no-cache", "--out", out, "--workload"];
    for (name, more) in [
        ("INT", &["randwrite,number_ios=1000"][..]),
        ("TERM", &["randwrite,bsrange=4k-64k,number_ios=1000"]),
        ("INT", &["randwrite,number_ios=1000", "--set", "policy.gc_victim={d-choices={d=1024}}"]),
        ("TERM", &["trim,number_ios=10"]),
    ] {
        let child = start(dir.path(), &[&run[..], more].concat());
        let (code, said) = stop(child, Duration::from_millis(1500), name);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("interrupted before the first request"), "{said}");
        assert_eq!(files(out.as_ref()), [""; 0]);
    }
}

#[test]
fn a_run_stops_with_its_partial_results_in_its_slow_moments_too() {
    let dir = tempfile::tempdir().unwrap();
    let sparse = dir.path().join("sparse.csv");
    // Hours of silence make the run hurry; then comes a burst that takes it minutes.
    let line = |i: u64, us: u64| {
        format!("0,{},4096,r,{}.{:06}\n", i * 7919 % 4096 * 8, us / 1_000_000, us % 1_000_000)
    };
    let slow = (0..20_000).map(|i| line(i, i * 3_000_000_000));
    let burst = (0..2_000_000).map(|i| line(i, 60_000_000_000_000 + i));
    std::fs::write(&sparse, slow.chain(burst).collect::<String>()).unwrap();
    for (name, workload) in [
        ("INT", sparse.to_str().unwrap()),
        // One request trims all of the drive, again and again.
        ("TERM", "trim,bs=256m,number_ios=4000000000,time_based,runtime=100d"),
        ("TERM", "randrw,iodepth=4,number_ios=4000000000,norandommap"),
    ] {
        let out = dir.path().join(name).join(workload.len().to_string());
        let args = ["run", "tiny", "--precondition", "none", "--out", out.to_str().unwrap()];
        let more = ["--requests-parquet", "--workload", workload];
        let child = start(dir.path(), &[&args[..], &more].concat());
        let (code, said) = stop(child, Duration::from_millis(4000), name);
        assert_eq!((code, said.contains("the results are partial")), (Some(1), true), "{said}");
        let text = std::fs::read_to_string(out.join("summary.json")).unwrap();
        assert_eq!(summary(&text)["partial"], true);
        assert!(files(&out).iter().all(|name| !name.ends_with(".partial")));
    }
}

#[test]
fn waiting_for_standard_input_stops() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["INT", "TERM"] {
        let mut run = command(dir.path());
        run.args(["run", "tiny", "--workload", "-"]).stdin(Stdio::piped());
        let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"0,0,4096,r,0.0\n").unwrap();
        stop(child, Duration::from_millis(200), name);
        drop(input);
    }
}

#[test]
fn without_a_terminal_a_line_is_said_every_ten_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let job = "randread,iodepth=4,time_based,runtime=100d,norandommap";
    let child = start(dir.path(), &["run", "tiny", "--precondition", "none", "--workload", job]);
    let (_, said) = stop(child, Duration::from_millis(12_500), "INT");
    let lines: Vec<&str> = said.lines().filter(|l| l.starts_with("progress: ")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].contains("requests") && lines[0].contains(" s"), "{said}");
    assert!(!lines[0].contains("about 0"), "{said}");
}
