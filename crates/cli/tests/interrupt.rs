//! Does the program end within a second of Ctrl-C or SIGTERM at any time, without leaving an
//! incomplete file?
#![cfg(unix)]

mod common;

use common::{command, digests, end, files, summary};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The time that the program may take from the signal to its end, in seconds of processor
/// time, so that a busy machine does not look like a slow program.
const SOON: f64 = 1.0;
/// The limit if processor time is not known, and for a program that is not scheduled.
const LATE: Duration = Duration::from_secs(120);
/// The limit for a program that sleeps.
const ASLEEP: Duration = Duration::from_secs(5);

/// A zstd file with almost only blank lines: small, but it takes minutes to read.
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

/// Whether SIGINT is ignored here, and thus in every program started from here.
fn interrupts_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> 1 & 1 != 0)
}

/// Whether every thread of a process waits for something.
fn is_asleep(child: &Child) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
    let mut states = threads.filter_map(|t| {
        let text = std::fs::read_to_string(t.path().join("stat")).ok()?;
        text.rsplit_once(')').map(|(_, rest)| rest.trim_start().starts_with('S'))
    });
    states.next().is_some_and(|first| first && states.all(|s| s))
}

/// Processor seconds of a process so far, counted in the kernel's ticks of 10 ms.
fn cpu_seconds(child: &Child) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The state is the first field after the name, which is in parentheses and may hold
    // blanks.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(ticks as f64 / 100.0)
}

/// Wait until a run has printed its plan: from then on it handles signals.
fn said_its_plan(child: &mut Child) {
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    while !lines.next().expect("it says its plan").unwrap().starts_with("precondition") {}
}

/// Wait until the program has used this much processor time, in seconds.
fn uses(child: &Child, seconds: f64) {
    let (started, before) = (Instant::now(), cpu_seconds(child));
    while cpu_seconds(child).zip(before).is_some_and(|(now, before)| now - before < seconds) {
        assert!(started.elapsed() < LATE, "it does not come to anything");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Send the signal after a while; returns the exit code and the text on standard error.
fn stop(mut child: Child, after: Duration, name: &str) -> (Option<i32>, String) {
    // If this test was started in the background, Ctrl-C may be ignored in its children.
    let name = if name == "INT" && interrupts_are_ignored() { "TERM" } else { name };
    std::thread::sleep(after);
    assert!(child.try_wait().unwrap().is_none(), "it was over before it could be interrupted");
    let (asked, before) = (Instant::now(), cpu_seconds(&child));
    signal(&child, name);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let used = cpu_seconds(&child).zip(before).map_or(0.0, |(now, before)| now - before);
        let late = if is_asleep(&child) { ASLEEP } else { LATE };
        assert!(used < SOON && asked.elapsed() < late, "it still runs {used} s after SIG{name}");
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
        let (code, said) = stop(child, Duration::from_millis(1000), name);
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
        let mut child = start(dir.path(), &[&run[..], more].concat());
        said_its_plan(&mut child);
        // After the sequential fill.
        uses(&child, 1.5);
        let (code, said) = stop(child, Duration::from_millis(500), name);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("interrupted before the first request"), "{said}");
        assert_eq!(files(out.as_ref()), [""; 0]);
    }
}

#[test]
fn a_run_stops_with_its_partial_results_in_its_slow_moments_too() {
    let dir = tempfile::tempdir().unwrap();
    let sparse = dir.path().join("sparse.csv");
    // Hours without a request pass quickly; then comes a burst that takes minutes to
    // simulate.
    let line = |i: u64, us: u64| {
        format!("0,{},4096,r,{}.{:06}\n", i * 7919 % 4096 * 8, us / 1_000_000, us % 1_000_000)
    };
    let slow = (0..20_000).map(|i| line(i, i * 3_000_000_000));
    let burst = (0..2_000_000).map(|i| line(i, 60_000_000_000_000 + i));
    std::fs::write(&sparse, slow.chain(burst).collect::<String>()).unwrap();
    for (name, workload) in [
        ("INT", sparse.to_str().unwrap()),
        // One request trims the whole drive, again and again.
        ("TERM", "trim,bs=256m,number_ios=4000000000,time_based,runtime=100d"),
        ("TERM", "randrw,iodepth=4,number_ios=4000000000,norandommap"),
    ] {
        let out = dir.path().join(name).join(workload.len().to_string());
        let args = ["run", "tiny", "--precondition", "none", "--out", out.to_str().unwrap()];
        let more = ["--requests-parquet", "--workload", workload];
        let mut child = start(dir.path(), &[&args[..], &more].concat());
        said_its_plan(&mut child);
        uses(&child, 1.0);
        let (code, said) = stop(child, Duration::from_millis(500), name);
        assert_eq!((code, said.contains("the results are partial")), (Some(1), true), "{said}");
        let text = std::fs::read_to_string(out.join("summary.json")).unwrap();
        assert_eq!(summary(&text)["partial"], true);
        assert!(files(&out).iter().all(|name| !name.ends_with(".partial")));
    }
}

#[test]
fn a_benchmark_that_is_stopped_has_no_result() {
    let dir = tempfile::tempdir().unwrap();
    // The one ends in its requests, the other while it ages its drive.
    for name in ["growth/100M", "mqsim-default/age-100"] {
        let mut child = start(dir.path(), &["bench", "--only", name]);
        uses(&child, 1.5);
        let mut out = child.stdout.take().unwrap();
        let (code, said) = stop(child, Duration::from_millis(200), "INT");
        assert_eq!((code, said.contains("interrupted")), (Some(1), true), "{said}");
        let mut printed = String::new();
        out.read_to_string(&mut printed).unwrap();
        let lines: Vec<&str> = printed.lines().collect();
        assert!(lines.len() == 1 && lines[0].trim_start().starts_with("benchmark"), "{printed}");
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

#[test]
fn a_demonstration_and_lives_stop_with_what_they_have() {
    let dir = tempfile::tempdir().unwrap();
    let child = start(dir.path(), &["demo", "--requests", "400000000"]);
    uses(&child, 6.0);
    let (code, said) = stop(child, Duration::from_millis(500), "INT");
    assert_eq!((code, said.contains("interrupted")), (Some(1), true), "{said}");
    let lives = ["lifetime", "tlc-3d", "--workload", "randwrite,bs=16k,number_ios=4000000000,norandommap"];
    let mut child = start(dir.path(), &[&lives[..], &["--scheme", "ispe", "--json"]].concat());
    uses(&child, 6.0);
    let mut out = child.stdout.take().unwrap();
    let (code, said) = stop(child, Duration::from_millis(500), "TERM");
    assert_eq!((code, said.contains("interrupted")), (Some(1), true), "{said}");
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    if !text.is_empty() {
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["partial"], true, "{text}");
    }
    // Blocks alone take less than a second a scheme; many schemes take longer.
    let many = ["ispe"; 200].join(",");
    let child = start(dir.path(), &["lifetime", "tlc-3d", "--scheme", &many]);
    uses(&child, 0.5);
    let (code, said) = stop(child, Duration::from_millis(300), "INT");
    assert_eq!((code, said.contains("interrupted")), (Some(1), true), "{said}");
}

/// A run that ends while it stores its aged drive leaves no state that another run would take.
#[test]
fn an_aged_drive_is_stored_whole_or_not_at_all() {
    let args = ["run", "mqsim-default", "--set", "geometry.blocks=192", "--json"];
    let args = [&args[..], &["--workload", "randwrite,bs=4k,number_ios=1000"]].concat();
    let dir = tempfile::tempdir().unwrap();
    let fresh = summary(&end(command(dir.path()).args(&args).arg("--no-cache")).ok());
    for name in ["TERM", "KILL"] {
        let mut cut = false;
        // The file may be whole before the signal comes.
        for attempt in 0..10 {
            let cache = dir.path().join(format!("{name}{attempt}"));
            let mut child = start(&cache, &args);
            let began = Instant::now();
            while files(&cache).is_empty() {
                assert!(child.try_wait().unwrap().is_none() && began.elapsed() < LATE, "it stores nothing");
                std::thread::sleep(Duration::from_millis(1));
            }
            signal(&child, name);
            let status = child.wait().unwrap();
            let kept = files(&cache);
            if kept.iter().any(|file| file.starts_with("aged-")) {
                continue;
            }
            cut = true;
            // SIGTERM lets the run remove what it has begun; after SIGKILL a later run removes it.
            let (code, left) = if name == "TERM" { (Some(1), 0) } else { (None, 1) };
            assert_eq!((status.code(), kept.len()), (code, left), "{kept:?}");
            let again = summary(&end(command(&cache).args(&args)).ok());
            assert_eq!(digests(&again), digests(&fresh));
            assert_eq!(files(&cache).iter().filter(|file| file.starts_with("aged-")).count(), 1);
            break;
        }
        assert!(cut, "the file was whole before every SIG{name}");
    }
}

/// A report stays as it was until it is replaced by a whole one.
#[test]
fn a_report_is_whole_after_every_signal() {
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("report.md");
    let args = ["reproduce", "atc19/fig4", "--no-cache", "--report", report.to_str().unwrap()];
    let before = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduction.md")).unwrap();
    std::fs::write(&report, &before).unwrap();
    for name in ["TERM", "KILL"] {
        let child = start(dir.path(), &args);
        uses(&child, 1.0);
        let (code, said) = stop(child, Duration::from_millis(100), name);
        assert_eq!(code, if name == "TERM" { Some(1) } else { None }, "{said}");
        assert!(std::fs::read(&report).unwrap() == before, "the report has changed");
        assert_eq!(files(dir.path()), ["report.md"]);
    }
}
