//! Are unusual traces and jobs accepted: on standard input, with clocks that jump, with
//! cut ends, with pages far apart, with a warm-up, and from a slow drive?

mod common;

use common::{Ended, command, digests, files, summary, tailcut};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tailcut_testkit::traces;

/// 2,000 requests, five in six reads, one every 100 us.
fn msr() -> String {
    let line = |i: u64| {
        let op = if i.is_multiple_of(6) { "Write" } else { "Read" };
        format!("{},web,0,{op},{},8192,500\n", 128_166_372_000_000_000 + i * 1_000, i * 7919 % 200_000 * 4096)
    };
    (0..2000).map(line).collect()
}

/// Run with bytes on standard input.
fn fed(args: &[&str], bytes: &[u8]) -> Ended {
    let mut command = command(Path::new("/nonexistent"));
    let mut child = command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its input may not read it to the end.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn run(file: &str, more: &[&str]) -> Value {
    let args = ["run", "tiny", "--precondition", "sequential", "--json", "--workload", file];
    summary(&tailcut(&[&args[..], more].concat()).ok())
}

#[test]
fn standard_input_is_a_trace_or_a_job_file_compressed_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.csv");
    std::fs::write(&file, msr()).unwrap();
    let file = file.to_str().unwrap();
    // Ageing reads the trace again, laps read it again, and dense numbering reads it
    // before these.
    let base = ["run", "tiny", "--json", "--loop", "2", "--remap", "dense", "--workload"];
    let expected = summary(&tailcut(&[&base[..], &[file]].concat()).ok());
    let zstd = zstd::encode_all(msr().as_bytes(), 1).unwrap();
    for bytes in [msr().into_bytes(), zstd] {
        let piped = summary(&fed(&[&base[..], &["-", "--no-cache"]].concat(), &bytes).ok());
        assert_eq!(digests(&piped), digests(&expected));
        assert_eq!(piped["workload"]["source"], "standard input");
        assert_eq!(piped["workload"]["footprint_bytes"], expected["workload"]["footprint_bytes"]);
    }
    let info: Value =
        serde_json::from_str(&fed(&["trace", "info", "-", "--json"], msr().as_bytes()).ok()).unwrap();
    assert_eq!(info["requests"], 2000);
    let job = b"[a]\nrw=randread\nnumber_ios=300\n";
    let jobs = summary(&fed(&["run", "tiny", "--no-cache", "--json", "--workload", "-"], job).ok());
    assert_eq!(jobs["schemes"][0]["jobs"][0]["read"]["total_ios"], 300);
    fed(&["run", "tiny", "--workload", "-"], b"").refused(&["standard input", "empty"]);
    fed(&["run", "tiny", "--workload", "-"], b"no trace at all\n").refused(&["standard input", "known"]);
    fed(&["run", "tiny", "--workload", "-"], b"[a]\nrw=reed\n").refused(&["standard input:2", "`rw=reed`"]);
}

#[test]
fn pages_far_apart_meet_by_modulo_and_not_by_dense_numbering() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("far.csv");
    // 1,000 pages spread over 1 TiB: on the tiny drive's 100,000 pages some of them fold
    // together.
    let page = |i: u64| ((i * 2_654_435_761) ^ (i << 17)) % (1 << 28);
    let highest = (0..1000).map(page).max().unwrap();
    let line = |i: u64| {
        let op = if i.is_multiple_of(2) { 'r' } else { 'w' };
        format!("0,{},4096,{op},{i}.0\n", page(i % 1000) * 8)
    };
    std::fs::write(&file, (0..2000).map(line).collect::<String>()).unwrap();
    let file = file.to_str().unwrap();
    let (modulo, dense) = (run(file, &[]), run(file, &["--remap", "dense"]));
    assert_eq!(digests(&modulo), digests(&run(file, &["--remap", "modulo"])));
    let footprint = |s: &Value| {
        (s["workload"]["footprint_bytes"].as_u64(), s["workload"]["drive_footprint_bytes"].as_u64())
    };
    let (before, after) = footprint(&modulo);
    assert_eq!(before, Some(1000 * 4096));
    assert!(after < before, "{after:?}");
    assert_eq!(footprint(&dense), (Some(1000 * 4096), Some(1000 * 4096)));
    let said =
        tailcut(&["run", "tiny", "--precondition", "none", "--workload", file, "--remap", "dense"]).ok();
    assert!(
        said.contains("densely: footprint 4.1 MB there") || said.contains("densely: footprint"),
        "{said}"
    );

    // A trace converted with a dense remap stays dense and gives the same run.
    let out = dir.path().join("dense.tcut");
    let out = out.to_str().unwrap();
    tailcut(&["trace", "convert", file, out, "--remap", "dense"]).ok();
    let info = |file: &str| -> Value {
        serde_json::from_str(&tailcut(&["trace", "info", file, "--json"]).ok()).unwrap()
    };
    assert_eq!(
        (&info(out)["footprint_bytes"], &info(out)["address_bytes"]),
        (&4_096_000.into(), &4_096_000.into())
    );
    assert_eq!(info(file)["address_bytes"], (highest + 1) * 4096);
    assert_eq!(digests(&run(out, &[])), digests(&dense));
    tailcut(&["trace", "convert", file, out, "--force", "--remap", "modulo"])
        .refused(&["--remap modulo", "`run`"]);
    tailcut(&["run", "tiny", "--remap", "dense", "--workload", "randread"])
        .refused(&["--remap", "`randread` is a job"]);
}

#[test]
fn a_clock_that_jumps_is_a_warning_and_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("jump.csv");
    let at = |i: u64| if i == 0 { 0 } else { 1_700_000_000 + i };
    let text: String = (0..50).map(|i| format!("0,{},4096,r,{}.0\n", i * 8, at(i))).collect();
    std::fs::write(&file, &text).unwrap();
    let path = file.to_str().unwrap();
    for args in [&["run", "tiny", "--workload", path][..], &["trace", "info", path]] {
        let ended = tailcut(args);
        assert!(
            ended.err.contains("warning: line 2: ") && ended.err.contains("--skip-gaps 10s"),
            "{}",
            ended.err
        );
        ended.ok();
    }
    let cut = tailcut(&["run", "tiny", "--json", "--workload", path, "--skip-gaps", "10s"]);
    assert!(!cut.err.contains("warning: line") && cut.err.contains("1 long gaps were cut"), "{}", cut.err);
    assert_eq!(summary(&cut.ok())["workload"]["span_ns"], 58_000_000_000u64);
    let out = dir.path().join("out.tcut");
    let said = tailcut(&["trace", "convert", path, out.to_str().unwrap(), "--skip-gaps", "10s"]).ok();
    assert!(said.contains("over 58 s") && said.contains("gaps are shorter by"), "{said}");
    tailcut(&["trace", "info", path, "--skip-gaps", "0s"]).refused(&["--skip-gaps"]);
    // A last line without a line break gives another warning.
    std::fs::write(&file, text.trim_end()).unwrap();
    let ended = tailcut(&["trace", "info", path, "--skip-gaps", "10s"]);
    assert!(ended.err.contains("warning: line 50: the file ends without a line break"), "{}", ended.err);
}

#[test]
fn a_warm_up_is_said_and_not_measured() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.csv");
    std::fs::write(&file, msr()).unwrap();
    let file = file.to_str().unwrap();
    let whole = run(file, &[]);
    for option in [["--warm-up", "50ms"], ["--measure-from", "50ms"]] {
        let warm = run(file, &option);
        assert_eq!(digests(&warm), digests(&whole));
        let ios = |s: &Value| {
            s["schemes"][0]["read"]["total_ios"].as_u64().unwrap()
                + s["schemes"][0]["write"]["total_ios"].as_u64().unwrap()
        };
        assert_eq!((ios(&whole), ios(&warm)), (2000, 1500));
        assert_eq!(
            (&warm["workload"]["requests"], &warm["workload"]["warm_up_ns"]),
            (&2000.into(), &50_000_000.into())
        );
        assert_eq!(whole["workload"].get("warm_up_ns"), None);
    }
    let said =
        tailcut(&["run", "tiny", "--precondition", "none", "--workload", file, "--warm-up", "50ms"]).ok();
    assert!(said.contains("measured from 50 ms on"), "{said}");
    let refused = |more: &[&str], needles: &[&str]| {
        tailcut(&[&["run", "tiny", "--workload", file], more].concat()).refused(needles);
    };
    refused(&["--warm-up", "1s"], &["--warm-up", "nothing would be measured"]);
    refused(&["--warm-up", "1s", "--measure-from", "1s"], &["--measure-from", "cannot be used with"]);
    refused(&["--measure-from", "1ms", "--closed-loop", "4"], &["--measure-from", "--closed-loop"]);
    tailcut(&["run", "tiny", "--workload", "randread", "--warm-up", "1s"])
        .refused(&["--warm-up", "is a job"]);
}

#[test]
fn a_job_that_only_trims_is_aged_and_run() {
    let s = summary(&tailcut(&["run", "tiny", "-w", "trim,number_ios=10", "--json"]).ok());
    let scheme = &s["schemes"][0];
    assert_eq!((&scheme["trims"], &scheme["precondition"]["kind"]), (&10.into(), &"steady".into()));
    assert!(scheme["precondition"]["waf"].as_f64().unwrap() > 1.0);
    assert_eq!(scheme["trim"]["total_ios"], 10);
    // Stray commas and empty jobs are not a workload.
    for text in [",,,,", ";", "", ",", "randread;;randwrite"] {
        let ended = tailcut(&["run", "tiny", &format!("--workload={text}")]);
        assert_eq!(ended.code, Some(2), "{text:?}: {}", ended.err);
    }
    tailcut(&["run", "tiny", "--set", "policy.gc_victim={d-choices={d=1025}}"])
        .refused(&["d-choices.d is 1025", "1 to 1024"]);
}

/// What `fsync` costs is in the table, the causes, the summary, the series and `explain`: nothing with a capacitor, and a
/// program with a volatile buffer.
#[test]
fn flushes_have_latencies() {
    let dir = tempfile::tempdir().unwrap();
    let mean = |buffer: &str| {
        let out = dir.path().join(buffer);
        let set = format!("policy.buffer.lru.power_loss={buffer}");
        let job = "randwrite,bs=4k,iodepth=1,fsync=1,size=10%,number_ios=2000";
        let ended = tailcut(&["run", "tiny", "-w", job, "--set", &set, "--out", out.to_str().unwrap()]).ok();
        assert!(ended.contains("\nFlushes\n") && ended.contains("slowest flushes"), "{ended}");
        let s: serde_json::Value =
            serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
        let scheme = &s["schemes"][0];
        let flush = &scheme["flush"];
        assert!(flush["total_ios"].as_u64().unwrap() >= 1999, "{flush}");
        assert_eq!(
            (&flush["total_ios"], &scheme["jobs"][0]["flush"]["total_ios"]),
            (&scheme["flushes"], &scheme["flushes"])
        );
        assert!(scheme["series"][0]["flush_p99_ns"].as_u64().unwrap() > 0);
        let explained = tailcut(&["explain", out.to_str().unwrap()]).ok();
        assert!(explained.contains("baseline, flushes above p99.99"), "{explained}");
        assert!(explained.contains("  flush ") && !explained.contains("0 B at offset"), "{explained}");
        flush["lat_ns"]["mean"].as_f64().unwrap()
    };
    let [free, costly] = ["capacitor", "volatile"].map(mean);
    assert!(free * 10.0 < costly, "{free} ns and {costly} ns");
}

#[test]
fn a_job_file_with_walls_runs_its_jobs_in_turn() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("walls.fio");
    std::fs::write(&file, "[global]\nbs=4k\n[fill]\nrw=write\nsize=4m\n[read]\nstonewall\nrw=randread\nsize=4m\nnumber_ios=500\n").unwrap();
    let s = run(file.to_str().unwrap(), &[]);
    let jobs = s["schemes"][0]["jobs"].as_array().unwrap();
    let runtime = |job: &Value| job["runtime_ns"].as_u64().unwrap();
    assert_eq!(runtime(&jobs[0]) + runtime(&jobs[1]), s["schemes"][0]["runtime_ns"].as_u64().unwrap());
    assert_eq!((&jobs[0]["write"]["total_ios"], &jobs[1]["read"]["total_ios"]), (&1024.into(), &500.into()));
}

#[test]
fn a_drive_that_does_not_keep_up_says_so_and_others_do_not() {
    let of = |job: &str| {
        let ended = tailcut(&["run", "tiny", "--precondition", "sequential", "--json", "--workload", job]);
        let said = ended.err.contains("DOES NOT KEEP UP")
            && ended.err.contains("latencies below measure the backlog");
        (summary(&ended.ok())["schemes"][0].get("load").cloned(), said)
    };
    let (load, said) = of("randread,rate_iops=200000,rate_process=poisson,number_ios=30000");
    let load = load.unwrap();
    assert!(said && load["keeps_up"] == false, "{load}");
    assert!(load["served_iops"].as_f64().unwrap() < load["offered_iops"].as_f64().unwrap() * 0.5, "{load}");
    assert!(
        load["backlog"].as_u64().unwrap() > 15_000 && load["behind_ns"].as_u64().unwrap() > 100_000_000,
        "{load}"
    );
    let (load, said) = of("randread,rate_iops=10000,rate_process=poisson,number_ios=30000");
    assert!(!said && load.unwrap()["keeps_up"] == true);
    assert_eq!(of("randread,iodepth=256,number_ios=30000"), (None, false));
}

#[test]
fn the_llm_trace_is_too_fast_for_a_small_drive() {
    let Some(folder) = traces() else { return };
    let path = folder.join("llm-offload.mqsim.gz");
    if !path.exists() {
        println!("skipped: the trace is not there");
        return;
    }
    let ended = tailcut(&[
        "run",
        "mqsim-e",
        "--precondition",
        "sequential",
        "--json",
        "--workload",
        path.to_str().unwrap(),
    ]);
    assert!(ended.err.contains("DOES NOT KEEP UP"), "{}", ended.err);
    let s = summary(&ended.ok());
    let load = &s["schemes"][0]["load"];
    assert_eq!(load["keeps_up"], false);
    assert!(load["longest_backlog_ns"].as_u64().unwrap() > 10_000_000_000, "{load}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_grows_too_large_is_named_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("series.parquet.partial"), "of a run that was killed").unwrap();
    let script = format!(
        "trap '' XFSZ; ulimit -f 200; exec {} run tiny --no-cache --precondition none --requests-parquet --out {} \
         --workload randread,number_ios=100000",
        env!("CARGO_BIN_EXE_tailcut"),
        out.display()
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("requests.parquet") && said.contains("File too large"), "{said}");
    assert_eq!(files(&out), [""; 0]);
}

#[test]
fn own_columns_are_given_saved_and_printed_back() {
    let dir = tempfile::tempdir().unwrap();
    let (file, saved) = (dir.path().join("t.txt"), dir.path().join("my.columns"));
    std::fs::write(&file, "t;v;k;lba;n\n100;7;R;16;4096\n350;9;W;0;512\n").unwrap();
    let file = file.to_str().unwrap();
    let spec = "time=1:us,op=3,offset=4:sectors,size=5,volume=2";
    let said = tailcut(&["trace", "info", file, "--columns", spec, "--delimiter", ";"]).ok();
    let line = said.lines().find_map(|l| l.strip_prefix("columns ")).unwrap().trim().to_string();
    assert!(line.ends_with("volume=2,delimiter=semicolon") && said.contains("1, 1"), "{said}");
    std::fs::write(&saved, &line).unwrap();
    let saved = saved.to_str().unwrap();
    assert_eq!(tailcut(&["trace", "info", file, "--columns", saved]).ok(), said);
    assert_eq!(run(file, &["--columns", saved])["workload"]["requests"], 2);
    tailcut(&["trace", "info", file]).refused(&["no known trace format", "--columns"]);
    tailcut(&["trace", "info", file, "--columns", "time=1"]).refused(&["time=N:UNIT"]);
    tailcut(&["trace", "info", file, "--columns", "missing.columns"]).refused(&["missing.columns"]);
    tailcut(&["trace", "info", file, "--delimiter", ";"]).refused(&["--columns"]);
    tailcut(&["trace", "info", file, "--columns", spec, "--format", "msr"]).refused(&["--format"]);
}

/// Ten reads of 256 KiB by DiskSim, which could be some of 512 bytes in another format: the run says why they are not.
#[test]
fn a_decision_between_two_formats_is_said_by_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.trace");
    std::fs::write(
        &file,
        (0..10).map(|i| format!("{}.000 0 {} 512 1\n", i * 2, i * 512)).collect::<String>(),
    )
    .unwrap();
    let said = tailcut(&["run", "tiny", "--precondition", "none", "-w", file.to_str().unwrap()]).ok();
    assert!(
        said.contains("addresses in sectors") && said.contains("--format heimdall reads bytes"),
        "{said}"
    );
}

#[test]
fn several_traces_follow_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let header = "Timestamp,Response,IOType,LUN,Offset,Size\n";
    let hour = |n: u64, op: char| {
        let path = dir.path().join(format!("{n}.csv"));
        std::fs::write(&path, format!("{header}{}.1,0.001,{op},0,{},4096\n", 1_456_095_600 + n, n * 4096))
            .unwrap();
        path.to_str().unwrap().to_string()
    };
    let (first, second) = (hour(0, 'R'), hour(1, 'W'));
    let s = run(&first, &["-w", &second]);
    assert_eq!((&s["workload"]["requests"], &s["workload"]["span_ns"]), (&2.into(), &1_000_000_000.into()));
    assert_eq!(s["schemes"][0]["write"]["total_ios"], 1);
    tailcut(&["run", "tiny", "-w", &second, "-w", &first, "--sort-window", "1ms"]).refused(&[
        "line 4",
        "jumps back",
        "give them in the order of their times",
    ]);
    tailcut(&["run", "tiny", "-w", &first, "-w", "randread"])
        .refused(&["`randread` is no trace file", "one job file"]);
}

#[test]
fn a_coarse_clock_is_said_and_its_requests_can_be_spread() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.csv");
    let line = |i: u64| format!("{},{},8,0,1\n", 1_600_000_000 + i / 8, i * 64);
    std::fs::write(&file, (0..240).map(line).collect::<String>()).unwrap();
    let file = file.to_str().unwrap();
    let args = ["run", "mqsim-e", "--precondition", "sequential", "--json", "-w", file];
    let mean = |s: &Value| s["schemes"][0]["read"]["lat_ns"]["mean"].as_f64().unwrap();
    let at_once = tailcut(&args);
    assert!(
        at_once.err.contains("the clock's step is 1 s") && at_once.err.contains("--spread"),
        "{}",
        at_once.err
    );
    assert!(mean(&summary(&at_once.ok())) > 200_000.0);
    let spread = tailcut(&[&args[..], &["--spread", "1s"]].concat());
    assert!(!spread.err.contains("the clock's step is 1 s, far"), "{}", spread.err);
    // Two requests may still meet.
    let mean = mean(&summary(&spread.ok()));
    assert!((99_796.0..101_000.0).contains(&mean), "{mean}");
    let said = tailcut(&["trace", "info", file]).ok();
    assert!(said.contains("clock step        1 s, 8.0 requests"), "{said}");
    tailcut(&["run", "tiny", "-w", "randread", "--spread", "1s"]).refused(&["--spread", "is a job"]);
}

#[test]
fn a_trace_that_only_reads_is_said_to_read_and_a_free_collection_is_steady() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.csv");
    std::fs::write(&file, (0..64).map(|i| format!("0,{},4096,r,{i}.001\n", i * 8)).collect::<String>())
        .unwrap();
    let said = tailcut(&["run", "tiny", "-w", file.to_str().unwrap()]).ok();
    assert!(said.contains("although this one only reads") && !said.contains("may write"), "{said}");
    let ended = tailcut(&["run", "tiny", "-w", "write,bs=128k,iodepth=8,size=100%,number_ios=200"]);
    assert!(!ended.err.contains("did not become steady"), "{}", ended.err);
    ended.ok();
}
