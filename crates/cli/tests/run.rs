//! Does `tailcut run` produce the documented output?

mod common;

use common::{command, digests, end, files, summary, tailcut};
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

const JOB: &str = "randrw,bs=4k,rwmixread=70,iodepth=16,size=70%,number_ios=20000";

#[test]
fn the_summary_keeps_its_contract_and_adds_up() {
    let ended = tailcut(&["run", "tiny", "--scheme", "baseline,rps", "--workload", JOB, "--json"]);
    // Standard output holds only the summary; the tables go to standard error.
    assert!(ended.err.contains("IOPS") && ended.err.contains("die_wait.erase"), "{}", ended.err);
    assert!(ended.err.contains("In use, mean and busiest"), "{}", ended.err);
    let said = ended.err.clone();
    let s = summary(&ended.ok());
    assert_eq!((s["device"].as_str(), s["partial"].as_bool()), (Some("tiny"), Some(false)));
    assert_eq!(s["workload"]["requests"], 20_000);
    // The capacity is computed once and printed.
    let bytes = s["host_capacity_bytes"].as_u64().unwrap();
    assert!(said.contains(&tailcut_report::text::grouped(bytes)), "{bytes}: {said}");
    for scheme in s["schemes"].as_array().unwrap() {
        let ios = |side: &str| scheme[side]["total_ios"].as_u64().unwrap();
        assert_eq!(ios("read") + ios("write"), 20_000);
        assert_eq!(scheme["precondition"]["kind"], "steady");
        let programs: u64 =
            scheme["programs"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        let waf = programs as f64 / scheme["programs"]["user"].as_f64().unwrap();
        assert!((waf - scheme["waf"].as_f64().unwrap()).abs() < 1e-9);
        let share = |name: &str| scheme["channel"][name].as_f64().unwrap();
        assert!((share("idle") + share("useful") + share("ecc_wait") - 1.0).abs() < 1e-9);
        assert!(share("idle") > 0.0 && share("useful") > 0.0, "{}", scheme["channel"]);
        let used = |part: &str, of: &str| scheme["utilisation"][part][of].as_f64().unwrap();
        assert!((used("channels", "mean") - (1.0 - share("idle"))).abs() < 1e-9);
        for part in ["dies", "planes", "channels", "host_link"] {
            let (mean, busiest) = (used(part, "mean"), used(part, "busiest"));
            assert!(0.0 < mean && mean <= busiest && busiest <= 1.0, "{part}: {mean} {busiest}");
        }
        // A die is in use for at least as long as its planes are in the array.
        assert!(used("planes", "busiest") < used("dies", "busiest"));
        let pages = &scheme["config"]["geometry.pages"];
        assert_eq!((&pages["value"], &pages["layer"]), (&64.into(), &"device tiny".into()));
        assert!(pages["source"].as_str().unwrap().starts_with("assumption"), "{pages}");
        let gc = |name: &str| scheme["gc"][name].as_f64().unwrap();
        assert!(gc("blocked_reads_fraction") > 0.0 && gc("queued_behind_fraction") > 0.0);
        assert!(gc("blocked_reads_fraction") + gc("queued_behind_fraction") <= 1.0);
        for blame in scheme["read"]["blame"].as_array().unwrap() {
            let sum: f64 = blame["causes"].as_object().unwrap().values().map(|n| n.as_f64().unwrap()).sum();
            assert!((sum - blame["mean_ns"].as_f64().unwrap()).abs() < 1e-6);
        }
    }
}

#[test]
fn the_same_inputs_give_the_same_digests_on_any_number_of_threads() {
    let of = |threads: &str, seed: &str, runs: &str| {
        let args = ["run", "tiny", "--scheme", "baseline,fifo,rps", "--workload", JOB, "--json"];
        let more = ["--threads", threads, "--seed", seed, "--runs", runs];
        digests(&summary(&tailcut(&[&args[..], &more].concat()).ok()))
    };
    let once = of("1", "1", "1");
    assert_eq!(once, of("1", "1", "1"));
    assert_eq!(once, of("2", "1", "1"));
    // The digest of several runs is that of the first run, and does not depend on the other
    // runs.
    assert_eq!(once, of("2", "1", "3"));
    assert_ne!(once, of("1", "2", "1"));
    // This drive is first come, first served by default.
    assert_eq!(once[0], once[1]);
    assert_ne!(once[0], once[2]);
}

/// Reads one at a time on a drive of one die: the parts of each read's time in which it uses
/// the die, plane, channel and link, computed by hand.
#[test]
fn time_in_use_is_that_of_the_operations() {
    let of = |more: &[&str]| {
        let sets = [
            "geometry={channels=1,dies_per_chip=1,planes=1,bad_blocks='0%'}",
            "timing={read=['40us'],program={pulses=[10]}}",
            "ecc.decode=0ns",
            "ftl={over_provisioning='20%',write_planes=1,gc={copy_planes=1,program_planes=1,erase_planes=1}}",
        ];
        let sets = sets.iter().chain(more).flat_map(|s| ["--set", s]);
        let args = ["run", "tiny", "--json", "--workload", "randread,bs=8k,iodepth=1,number_ios=500"];
        let s = summary(&tailcut(&args.into_iter().chain(sets).collect::<Vec<_>>()).ok());
        s["schemes"][0].clone()
    };
    // Submission, controller, command, sense, 8 KiB at 400 MB/s and at 1 GB/s, completion.
    let each = 2_000.0 + 1_000.0 + 200.0 + 40_000.0 + 20_480.0 + 8_192.0 + 2_000.0;
    let (die, channel) = (200.0 + 40_000.0 + 20_480.0, 200.0 + 20_480.0);
    let used = |scheme: &serde_json::Value, part: &str, expected: [f64; 2]| {
        for (of, expected) in ["mean", "busiest"].into_iter().zip(expected) {
            let share = scheme["utilisation"][part][of].as_f64().unwrap();
            assert!((share - expected / each).abs() < 1e-9, "{part}, {of}: {share}, not {}", expected / each);
        }
    };
    let one = of(&[]);
    assert_eq!(one["read"]["lat_ns"]["mean"].as_f64(), Some(each));
    used(&one, "dies", [die, die]);
    used(&one, "planes", [40_000.0, 40_000.0]);
    used(&one, "channels", [channel, channel]);
    used(&one, "host_link", [8_192.0 / 2.0, 8_192.0]);

    // With two independent planes, each is in use for half of the time on average, for any
    // sequence of reads.
    let two = of(&["geometry={planes=2,busy_unit='plane'}", "ftl.extent=block"]);
    used(&two, "dies", [die / 2.0, die / 2.0]);
    let planes = &two["utilisation"]["planes"];
    let (mean, busiest) = (planes["mean"].as_f64().unwrap(), planes["busiest"].as_f64().unwrap());
    assert!((mean - 20_000.0 / each).abs() < 1e-9 && mean < busiest && busiest < 1.2 * mean, "{planes}");
}

/// One drive, with its over-provisioning given in both ways; the text shows both.
#[test]
fn over_provisioning_is_by_raw_or_by_user() {
    let of = |set: &str| {
        let args = ["run", "tiny", "--set", set, "--workload", JOB, "--json"];
        let ended = tailcut(&args);
        let text = ended.err.clone();
        let expected =
            "over-provisioning is 20.0 % of raw, (raw - user) / raw, or 25.0 % of user, (raw - user) / user";
        assert!(text.contains(expected), "{set}: {text}");
        let s = summary(&ended.ok());
        (s["host_capacity_bytes"].as_u64().unwrap(), digests(&s))
    };
    let raw = of("ftl.over_provisioning=20%");
    assert_eq!(raw, of("ftl.over_provisioning_of_user=25%"));
    assert_eq!(raw, of(&format!("ftl.user_capacity={}B", raw.0)));
    let none = ["run", "tiny", "--set", "ftl.over_provisioning_of_user=0%", "--workload", JOB];
    tailcut(&none).refused(&["ftl.over_provisioning_of_user", "no spare blocks left"]);
    let both =
        ["run", "tiny", "--set", "ftl={user_capacity='300MiB', over_provisioning='20%'}", "--workload", JOB];
    tailcut(&both).refused(&["give exactly one of", "user_capacity", "over_provisioning_of_user"]);
}

/// The text describes how this drive was overwritten.
#[test]
fn ageing_is_said_as_it_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.csv");
    let line = |i: u64| {
        format!("{},web,0,Write,{},8192,500\n", 128_166_372_000_000_000 + i * 5_000, i * 7919 % 9000 * 4096)
    };
    std::fs::write(&file, (0..500).map(line).collect::<String>()).unwrap();
    let of = |workload: &str, way: &str| {
        let set = format!("age.overwrites={way}");
        let text = tailcut(&["run", "tiny", "--set", &set, "--workload", workload]).ok();
        text.lines().find(|l| l.starts_with("precondition")).unwrap_or_else(|| panic!("{text}")).to_string()
    };
    let trace = file.to_str().unwrap();
    let said = of(trace, "workload");
    assert!(said.contains("then overwritten as the workload writes"), "{said}");
    let said = of(trace, "uniform");
    assert!(said.contains("then overwritten at random, a mapping unit at a time (age.overwrites)"), "{said}");
    let said = of(JOB, "uniform");
    assert!(said.contains("then overwritten at random"), "{said}");
    let said = of(JOB, "uniform-traces");
    assert!(said.contains("then overwritten as the workload writes"), "{said}");
}

#[test]
fn a_buffer_that_the_drive_cannot_fill_is_said() {
    let more = ["--set", "policy.buffer.lru.capacity=1GiB"];
    let said = |args: &[&str]| {
        let ended = tailcut(args);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        ended.err.lines().filter(|l| l.starts_with("warning: policy.buffer.lru.capacity")).count()
    };
    let run = ["run", "tiny", "--workload", "randread,number_ios=100"];
    assert_eq!(said(&[&run[..], &more].concat()), 1);
    assert_eq!(said(&[&["show", "config", "tiny"], &more[..]].concat()), 1);
    assert_eq!(said(&run), 0);
}

#[test]
fn several_runs_give_intervals_across_runs() {
    let s = summary(&tailcut(&["run", "tiny", "--workload", JOB, "--runs", "3", "--json"]).ok());
    assert_eq!(s["schemes"][0]["runs"], 3);
    assert!(s["schemes"][0]["read"]["lat_ns"]["ci95"]["99.000000"].is_array());
    // Blame and jobs cover all three runs.
    let one = &s["schemes"][0];
    assert!(one["read"]["blame"][0]["requests"].as_u64() > one["read"]["total_ios"].as_u64().map(|n| 2 * n));
    assert_eq!(one["jobs"][0]["read"]["lat_ns"], one["read"]["lat_ns"]);
}

#[test]
fn an_aged_drive_is_kept_and_gives_the_same_run() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let run = || {
        let mut run = command(&cache);
        let ended = end(run.args(["run", "tiny", "--workload", JOB, "--json"]));
        (ended.err.clone(), summary(&ended.ok()))
    };
    let (_, first) = run();
    let (_, second) = run();
    let cached = |s: &serde_json::Value| s["schemes"][0]["precondition"]["cached"].as_bool();
    assert_eq!((cached(&first), cached(&second)), (Some(false), Some(true)));
    assert_eq!(digests(&first), digests(&second));
    let kept = files(&cache);
    assert_eq!(kept.len(), 1);

    // A damaged snapshot is made again, with a warning.
    let path = cache.join(&kept[0]);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (err, third) = run();
    assert!(err.contains("warning: ") && err.contains(&kept[0]) && err.contains("made again"), "{err}");
    assert_eq!((cached(&third), digests(&third)), (Some(false), digests(&first)));
    assert_eq!(cached(&run().1), Some(true));
}

#[test]
fn a_folder_holds_everything_and_explains_itself() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let out = out.to_str().unwrap();
    let args = ["run", "tiny", "--workload", JOB, "--out", out, "--requests-parquet", "--series-parquet=1ms"];
    let text = tailcut(&args).ok();
    for part in ["drive ", "workload ", "precondition  steady", "aged ", "Reads", "slowest reads"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let names = [
        "config.toml",
        "latency.hlog",
        "requests.parquet",
        "series.parquet",
        "slowest.jsonl",
        "summary.json",
    ];
    assert_eq!(files(out.as_ref()), names);
    let written = summary(&std::fs::read_to_string(format!("{out}/summary.json")).unwrap());
    for name in ["requests.parquet", "series.parquet"] {
        let bytes = std::fs::read(format!("{out}/{name}")).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
    }

    let words = tailcut(&["explain", out, "--top", "1"]).ok();
    assert!(words.contains("sum = latency") && words.contains("#1  read"), "{words}");
    tailcut(&["explain", out, "--above", "100"]).refused(&["--above", "100"]);
    tailcut(&["explain", out, "--scheme", "es"]).refused(&["`es`", "baseline"]);
    let of_job = tailcut(&["explain", out, "--top", "1", "--job", "1"]).ok();
    assert!(of_job.starts_with("baseline, job ") && of_job.contains("#1  read"), "{of_job}");
    tailcut(&["explain", out, "--job", "2"]).refused(&["no job `2`"]);

    // The configuration file that the run wrote is a device file that gives the same run.
    let config = format!("{out}/config.toml");
    let again = tailcut(&["run", &config, "--workload", JOB, "--json"]).ok();
    assert_eq!(digests(&summary(&again)), digests(&written));

    // An existing run is not overwritten without --force.
    tailcut(&args).refused(&[out, "already holds a run", "summary.json"]);
    let other = JOB.replace("20000", "5000");
    tailcut(&["run", "tiny", "--scheme", "rps,fifo", "--workload", &other, "--out", out, "--force"]).ok();
    let names = ["config.fifo.toml", "config.rps.toml", "latency.hlog", "slowest.jsonl", "summary.json"];
    assert_eq!(files(out.as_ref()), names);
}

#[test]
fn what_the_drive_holds_is_as_asked_and_said() {
    let of = |args: &[&str]| {
        let text = tailcut(&[&["run", "tiny", "--json"], args].concat());
        let said = text.err.lines().find(|l| l.starts_with("precondition")).unwrap_or_default().to_string();
        (summary(&text.ok())["schemes"][0]["precondition"]["kind"].as_str().unwrap().to_string(), said)
    };
    let reads = ["--workload", "randread,number_ios=2000"];
    let (kind, said) = of(&reads);
    assert!(kind == "sequential" && said.contains("by default"), "{said}");
    for asked in ["none", "sequential", "steady"] {
        let (kind, said) = of(&[&reads[..], &["--precondition", asked]].concat());
        assert!(kind == asked && said.contains(asked) && said.contains("as asked"), "{said}");
    }
}

#[test]
fn a_job_file_and_its_line_are_the_same_workload() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mix.fio");
    std::fs::write(
        &file,
        "[global]\nbs=4k\nnumber_ios=3000\n[reads]\nrw=randread\niodepth=4\n[writes]\nrw=randwrite\n",
    )
    .unwrap();
    let s = summary(&tailcut(&["run", "tiny", "--workload", file.to_str().unwrap(), "--json"]).ok());
    let jobs = s["schemes"][0]["jobs"].as_array().unwrap();
    assert_eq!((jobs[0]["name"].as_str(), jobs[1]["name"].as_str()), (Some("reads"), Some("writes")));
    assert_eq!((&jobs[0]["read"]["total_ios"], &jobs[1]["write"]["total_ios"]), (&3000.into(), &3000.into()));
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_a_partial_run() {
    // A signal before the end of the first request leaves nothing to write, so the wait is
    // increased until the signal comes later.
    for wait in [20, 200, 2000] {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("run");
        assert_eq!(interrupt_after(dir.path(), &out, wait), Some(1));
        if let Ok(text) = std::fs::read_to_string(out.join("summary.json")) {
            assert_eq!(summary(&text)["partial"], true);
            return;
        }
    }
    panic!("no partial summary was left");
}

/// Start an endless run, interrupt it `wait` ms after its last output before the requests
/// begin, and return its exit code.
#[cfg(unix)]
fn interrupt_after(dir: &std::path::Path, out: &std::path::Path, wait: u64) -> Option<i32> {
    let (mut child, lines) = endless(dir, out);
    std::thread::sleep(std::time::Duration::from_millis(wait));
    signal(&child, "-INT");
    for line in lines {
        line.unwrap();
    }
    child.wait().unwrap().code()
}

/// An endless run that has printed its last output before the requests begin, and the rest of
/// its output.
#[cfg(unix)]
fn endless(dir: &std::path::Path, out: &std::path::Path) -> (Child, Lines<BufReader<ChildStdout>>) {
    let job = "randread,iodepth=4,number_ios=4000000000,norandommap";
    let mut child = command(dir)
        .args(["run", "tiny", "--precondition", "none", "--workload", job, "--out"])
        .arg(out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while !lines.next().unwrap().unwrap().starts_with("precondition") {}
    (child, lines)
}

#[cfg(unix)]
fn signal(child: &Child, signal: &str) {
    let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

/// Two processes and one folder: the second is refused while the first writes, with any
/// options, and the first keeps its results.
#[cfg(unix)]
#[test]
fn two_runs_into_one_folder_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let (mut first, lines) = endless(dir.path(), &out);
    let process = format!("process {}", first.id());
    let second = ["run", "tiny", "--workload", "randread,number_ios=100", "--out", out.to_str().unwrap()];
    for force in [&[][..], &["--force"]] {
        tailcut(&[&second[..], force].concat()).refused(&["another run", &process, out.to_str().unwrap()]);
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    signal(&first, "-INT");
    lines.for_each(|line| drop(line.unwrap()));
    assert_eq!(first.wait().unwrap().code(), Some(1));
    let names = ["config.toml", "latency.hlog", "slowest.jsonl", "summary.json"];
    assert_eq!(files(&out), names);
    assert_eq!(summary(&std::fs::read_to_string(out.join("summary.json")).unwrap())["partial"], true);

    // Now the second may write, if `--force` is given.
    tailcut(&second).refused(&["already holds a run"]);
    tailcut(&[&second[..], &["--force"]].concat()).ok();
    let written = summary(&std::fs::read_to_string(out.join("summary.json")).unwrap());
    assert_eq!((written["partial"].as_bool(), &written["workload"]["requests"]), (Some(false), &100.into()));
}

/// A killed run cannot clean up, and must not block the next one.
#[cfg(unix)]
#[test]
fn a_killed_run_keeps_nobody_out() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let (mut first, lines) = endless(dir.path(), &out);
    signal(&first, "-KILL");
    lines.for_each(drop);
    assert_eq!(first.wait().unwrap().code(), None);
    assert!(files(&out).contains(&".tailcut.lock".to_string()), "{:?}", files(&out));
    let again = ["run", "tiny", "--workload", "randread,number_ios=100", "--out", out.to_str().unwrap()];
    tailcut(&again).ok();
    assert_eq!(files(&out), ["config.toml", "latency.hlog", "slowest.jsonl", "summary.json"]);
}

#[test]
fn a_folder_of_something_else_is_refused_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("thesis.tex"), "mine").unwrap();
    let out = dir.path().to_str().unwrap();
    let args = ["run", "tiny", "--workload", "randread,number_ios=100", "--out", out];
    for force in [&[][..], &["--force"]] {
        tailcut(&[&args[..], force].concat()).refused(&[out, "thesis.tex", "holds no run"]);
    }
    assert_eq!(files(dir.path()), ["thesis.tex"]);
}

#[test]
fn closed_output_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = command(dir.path())
        .args(["run", "tiny", "--no-cache", "--workload", JOB])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), err.contains("panicked")), (Some(0), false), "{err}");
}
