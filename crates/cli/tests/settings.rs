//! Are settings that are not what they seem refused or said, and is what a process may not have an error in words?

mod common;

use common::{Ended, command, digests, end, files, summary, tailcut};
use std::process::{Command, Stdio};

const READS: [&str; 4] = ["run", "tiny", "--workload", "randread,number_ios=200"];

fn run(more: &[&str]) -> Ended {
    tailcut(&[&READS[..], more].concat())
}

/// The warnings of a run, which are also those of its summary.
fn warnings(more: &[&str]) -> Vec<String> {
    let ended = run(&[more, &["--json"]].concat());
    let said: Vec<String> =
        ended.err.lines().filter_map(|l| l.strip_prefix("warning: ")).map(String::from).collect();
    let s = summary(&ended.ok());
    let written = s["warnings"].as_array().cloned().unwrap_or_default();
    assert_eq!(written.iter().map(|w| w.as_str().unwrap()).collect::<Vec<_>>(), said);
    said
}

#[test]
fn a_row_is_the_scheme_of_its_name() {
    run(&["--scheme", "fifo,rps", "--set", "policy.schedule=channel-reads"]).refused(&[
        "scheme `rps` sets policy.schedule to read-priority",
        "--set policy.schedule=channel-reads",
        "leave one of the two out",
    ]);
    run(&["--scheme", "baseline,rps", "--set", "policy.schedule=fifo"]).refused(&["scheme `rps`", "fifo"]);
    // One scheme alone is no comparison; what a scheme leaves open is no contradiction.
    let said = warnings(&["--scheme", "rps", "--set", "policy.schedule=fifo"]);
    assert!(said.iter().any(|w| w.starts_with("scheme `rps` sets policy.schedule")), "{said:?}");
    // Of reads alone both schemes make the same.
    let same = ["rps: same result as baseline: nothing was erased in this run"];
    assert_eq!(warnings(&["--scheme", "baseline,rps", "--set", "policy.gc_victim=greedy"]), same);
    assert_eq!(warnings(&["--scheme", "baseline,rps"]), same);
}

#[test]
fn a_key_of_another_member_says_that_it_switches() {
    let said = warnings(&["--set", "policy.gc_schedule.tokens.most=9"]);
    assert!(said.len() == 1 && said[0].contains("makes tokens the member of policy.gc_schedule"), "{said:?}");
    assert!(said[0].contains("it is threshold"), "{said:?}");
    assert_eq!(warnings(&["--set", "policy.gc_schedule.threshold.start=6"]), [""; 0]);
}

#[test]
fn what_nothing_reads_is_said() {
    for set in [
        "age.pe_cycles=1000",
        "age.retention=10d",
        "age.reads=1000",
        "faults.within=1s",
        "faults.rebuild_rate=1MB/s",
        "suspend.erase.suspend=50us",
        "suspend.program.reload=5us",
        "age.fill=50%",
    ] {
        let said = warnings(&["--set", set]);
        let key = set.split('=').next().unwrap();
        assert!(said.len() == 1 && said[0].contains(&format!("nothing reads {key}")), "{set}: {said:?}");
    }
    let suspends =
        ["--scheme", "rps", "--set", "suspend.erase.suspend=50us", "--set", "policy.suspend_erase=immediate"];
    assert_eq!(warnings(&suspends), [""; 0]);
    let said = warnings(&["--set", "age.free=8", "--precondition", "none"]);
    assert!(said.len() == 1 && said[0].contains("age.free") && said[0].contains("none"), "{said:?}");
    let both = ["--closed-loop", "4", "--rate-scale", "2"];
    run(&both).refused(&["--closed-loop", "--rate-scale"]);
}

/// No preset says that it has a value that nothing reads.
#[test]
fn presets_have_nothing_to_say() {
    for device in ["tiny", "z-ssd", "mqsim-e"] {
        let args = ["run", device, "--workload", "randread,number_ios=10", "--precondition", "none"];
        let ended = tailcut(&args);
        assert!(!ended.err.contains("nothing reads"), "{}", ended.err);
    }
}

#[test]
fn capacities_that_differ_are_said() {
    let dir = tempfile::tempdir().unwrap();
    let more = dir.path().join("more.toml");
    std::fs::write(&more, "ftl.over_provisioning = \"40%\"\n").unwrap();
    let said = warnings(&["--scheme", &format!("baseline,{}", more.display())]);
    assert!(said.iter().any(|w| w.contains("more spare space")), "{said:?}");
}

/// A part of the blocks with a capacity in plain proportion has less spare space than the whole drive.
#[test]
fn a_scaled_drive_keeps_its_spare_space() {
    let dir = tempfile::tempdir().unwrap();
    let device = dir.path().join("device.toml");
    std::fs::write(&device, "base = \"tiny\"\ngeometry.bad_blocks = \"0%\"\n").unwrap();
    let device = device.display().to_string();
    let job = ["run", &device, "--workload", "randwrite,bs=4k,number_ios=20000"];
    let said = |more: &[&str]| {
        let ended = tailcut(&[&job[..], more].concat());
        let lines = ended.err.lines().filter(|l| l.contains("of the 128 blocks of"));
        lines.map(String::from).collect::<Vec<_>>()
    };
    let half = said(&["--set", "geometry.blocks=64"]);
    assert!(half.len() == 1 && half[0].contains("64 of the 128 blocks"), "{half:?}");
    assert!(half[0].contains("--set scaled_blocks=64"), "{half:?}");
    assert_eq!(said(&["--set", "scaled_blocks=64"]), [""; 0]);
    // Of the 472 MB of the whole drive, 59 of 123 blocks.
    let capacity =
        |bytes: &str| said(&["--set", "geometry.blocks=64", "--set", &format!("ftl.user_capacity={bytes}")]);
    assert_eq!((capacity("227MB").len(), capacity("236MB").len()), (0, 1));
    assert_eq!(said(&["--set", "geometry.blocks=64", "--set", "ftl.over_provisioning=20%"]), [""; 0]);
    assert_eq!(said(&["--set", "geometry.blocks=64", "--precondition", "none"]), [""; 0]);
}

#[test]
fn messages_have_units_ranges_and_places() {
    let words = [
        (&["--runs", "0"][..], "a whole number from 1 to 1000"),
        (&["--limit", "x"], "a whole number from 1"),
        (&["--rate-scale", "abc"], "`abc` is not a number"),
        (
            &["--set", "host.queue_depth=0"],
            "--set host.queue_depth=0: scheme `baseline`: host.queue_depth: 0 is out of range: 1 to 65535",
        ),
    ];
    for (args, said) in words {
        run(args).refused(&[said]);
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.toml");
    std::fs::write(&file, "[geometry]\nblocks = 0\n").unwrap();
    run(&["--config", file.to_str().unwrap()]).refused(&["x.toml:2:", "geometry.blocks", "1 to 1048576"]);
    // A chain of bases has an end.
    let name = |i: u32| dir.path().join(format!("b{i}.toml"));
    for i in 0..40 {
        std::fs::write(name(i), format!("base = \"b{}.toml\"\n", i + 1)).unwrap();
    }
    std::fs::write(name(40), "base = \"tiny\"\n").unwrap();
    tailcut(&["run", name(0).to_str().unwrap()]).refused(&["more than 32 devices", "base"]);
    tailcut(&["run", name(20).to_str().unwrap(), "--workload", "randread,number_ios=10"]).ok();
}

/// The aged drive of a trace serves the same requests in another format, and one drive serves all runs.
#[test]
fn one_aged_drive_serves_all_that_it_may() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let trace = dir.path().join("t.csv");
    let line = |i: u64| format!("0,{},4096,w,{}.{:06}\n", i * 7919 % 4096 * 8, i / 1000, i % 1000 * 1000);
    std::fs::write(&trace, (0..2000).map(line).collect::<String>()).unwrap();
    let compact = dir.path().join("t.tct");
    tailcut(&["trace", "convert", trace.to_str().unwrap(), compact.to_str().unwrap()]).ok();
    let of = |workload: &std::path::Path, more: &[&str]| {
        let mut run = command(&cache);
        let args = ["run", "tiny", "--json", "--precondition", "steady", "--workload"];
        summary(&end(run.args(args).arg(workload).args(more)).ok())
    };
    let cached =
        |s: &serde_json::Value, i: usize| s["schemes"][i]["precondition"]["cached"].as_bool().unwrap();
    let (first, second) = (of(&trace, &[]), of(&compact, &[]));
    assert_eq!((cached(&first, 0), cached(&second, 0)), (false, true));
    assert_eq!(digests(&first), digests(&second));
    // Without a cache the second scheme has a copy, and the same result as alone.
    let both = of(&trace, &["--no-cache", "--scheme", "baseline,rps", "--threads", "1"]);
    assert_eq!((cached(&both, 0), cached(&both, 1)), (false, true));
    let alone = of(&trace, &["--no-cache", "--scheme", "rps"]);
    assert_eq!(digests(&both)[1], digests(&alone)[0]);
    // Of three runs each has a drive of its own, or all have one.
    let kept = files(&cache).len();
    of(&trace, &["--runs", "3", "--one-drive"]);
    assert_eq!(files(&cache).len(), kept);
    of(&trace, &["--runs", "3"]);
    assert_eq!(files(&cache).len(), kept + 2);
    let snapshot = dir.path().join("aged.snap");
    let runs = ["--runs", "3", "--one-drive", "--snapshot", snapshot.to_str().unwrap()];
    of(&trace, &runs);
    assert!(snapshot.is_file());
}

/// Lines without an end: with a limit the run ends, and what is kept of them is small.
#[cfg(unix)]
#[test]
fn endless_standard_input_with_a_limit_ends() {
    let mut yes = Command::new("sh");
    let line = "i=0; while :; do echo \"0,$((i % 512 * 8)),4096,r,$((i / 1000)).$((i % 1000 + 1000))\"; i=$((i+1)); done";
    let mut child = yes.args(["-c", line]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut run = command(std::path::Path::new("/nonexistent"));
    run.args([
        "run",
        "tiny",
        "--no-cache",
        "--json",
        "--workload",
        "-",
        "--limit",
        "500",
        "--sort-window",
        "1s",
    ]);
    let s = summary(&end(run.stdin(child.stdout.take().unwrap())).ok());
    assert_eq!(s["workload"]["requests"], 500);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Thousands of jobs take little memory each.
#[test]
fn jobs_take_the_memory_that_their_latencies_need() {
    let job = "randread,bs=4k,numjobs=4096,number_ios=2";
    let s = summary(&tailcut(&["run", "tiny", "--json", "--workload", job]).ok());
    assert_eq!(s["schemes"][0]["jobs"].as_array().unwrap().len(), 4096);
    if let Some(bytes) = s["schemes"][0]["peak_rss_bytes"].as_u64() {
        assert!(bytes < 1 << 30, "{bytes} bytes");
    }
}

/// Without a thread more than the first, a run takes longer and ends the same.
#[cfg(target_os = "linux")]
#[test]
fn limits_of_the_process_end_in_words() {
    let line = |limit: &str, more: &str| {
        let line = format!(
            "{limit}; exec '{}' run tiny --no-cache --scheme baseline,rps --workload randread,number_ios=200 {more}",
            env!("CARGO_BIN_EXE_tailcut")
        );
        end(Command::new("sh").args(["-c", &line]).stdin(Stdio::null()))
    };
    let whole = summary(&line("true", "--json").ok());
    // As root the number of processes has no limit.
    let few = line("ulimit -u 1", "--json");
    if few.code == Some(0) {
        assert_eq!(digests(&summary(&few.out)), digests(&whole));
    }
    assert!(!few.err.contains("panicked"), "{}", few.err);
}

/// Of the address space, too little for the drive is said with both numbers before anything runs; too little for
/// anything else ends in a line and code 1, and never by a signal.
#[cfg(target_os = "linux")]
#[test]
fn too_little_address_space_ends_in_words() {
    let line = |kib: u64, args: &str| {
        let line = format!("ulimit -v {kib}; exec '{}' {args}", env!("CARGO_BIN_EXE_tailcut"));
        end(Command::new("sh").args(["-c", &line]).stdin(Stdio::null()))
    };
    let job = "--no-cache --workload randread,number_ios=200";
    let small = format!("run tiny --threads 1 {job}");
    let fits = (1..40).map(|n| (n * 16) << 10).find(|&kib| line(kib, &small).code == Some(0));
    let fits = fits.expect("a run of `tiny` fits 640 MiB");
    // More runs at a time need more.
    let many = "run mqsim-e --runs 4 --threads 4 --json";
    let ended = line(fits + (192 << 10), &format!("{many} {job}"));
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    for needle in ["4 at a time", "MiB of address space", "this process may have", "ulimit -v", "--threads"] {
        assert!(ended.err.contains(needle), "{}", ended.err);
    }
    line(fits + (192 << 10), &format!("{} {job}", many.replace("--runs 4 --threads 4", ""))).ok();
    // The map alone does not fit.
    let ended = line(fits, &format!("run mqsim-default {job}"));
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(ended.err.contains("GB of address space (`ulimit -v` may limit it)"), "{}", ended.err);
    // Below that, whatever does not fit.
    let mut refused = 0;
    for kib in (1..6).map(|n| fits * n / 6) {
        for args in [&small[..], "run tiny --no-cache --workload randread,numjobs=256,number_ios=2"] {
            let ended = line(kib, args);
            let said = ended.err.contains("error: ") || ended.err.contains("memory allocation of ");
            // The loader of the system fails before the program begins.
            let began = said || !ended.err.is_empty() || ended.code == Some(0);
            if began && !ended.err.contains("shared librar") {
                assert!(
                    matches!(ended.code, Some(0..=2)),
                    "{kib} KiB, {args}: {:?} {}",
                    ended.code,
                    ended.err
                );
                assert!(ended.code == Some(0) || said, "{kib} KiB, {args}: {}", ended.err);
                refused += u32::from(said);
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn a_scheme_that_changes_nothing_is_said() {
    let fifo = "scheme `fifo` changes nothing on tiny: all its values are the device's own";
    let changes_nothing = |more: &[&str]| {
        let said = warnings(more).into_iter();
        said.filter(|warning| warning.contains("the device's own")).collect::<Vec<_>>()
    };
    assert_eq!(changes_nothing(&["--scheme", "baseline,fifo,rps"]), [fifo]);
    // The user's settings are not those of the device.
    assert_eq!(changes_nothing(&["--scheme", "fifo", "--set", "policy.gc_victim=fifo"]), [fifo]);
    assert_eq!(changes_nothing(&["--scheme", "baseline,rps+es"]), [""; 0]);
}

/// A trace that writes little says how much of the drive its own writes age.
#[test]
fn a_trace_smaller_than_the_drive_says_how_it_ages() {
    let dir = tempfile::tempdir().unwrap();
    let trace = |name: &str, op: &str, requests: u64| {
        let file = dir.path().join(name);
        let line = |i: u64| format!("1,{op},{},65536,{}\n", i * 65536 % (400 << 20), 1000 * i);
        std::fs::write(&file, (0..requests).map(line).collect::<String>()).unwrap();
        file.to_str().unwrap().to_string()
    };
    let line = |file: &str, more: &[&str]| {
        let out = tailcut(&[&["run", "tiny", "--workload", file][..], more].concat()).ok();
        out.lines().find(|l| l.starts_with("precondition")).unwrap().to_string()
    };
    let little = trace("little.csv", "W", 160);
    let said = line(&little, &[]);
    assert!(
        said.contains(
            "at random, a mapping unit at a time (since the trace writes 10 MiB, 2.5 % of what is filled) (by default"
        ),
        "{said}"
    );
    let own = ["--set", "age.overwrites=workload"];
    let said = line(&little, &own);
    assert!(
        said.contains("as the workload writes, lap after lap (10 MiB a lap, 2.5 % of what is filled;"),
        "{said}"
    );
    assert!(said.contains("age.overwrites = \"uniform\""), "{said}");
    let said = line(&little, &["--set", "age.overwrites=uniform"]);
    assert!(said.contains("at random, a mapping unit at a time (age.overwrites) (by default"), "{said}");
    let said = line(&trace("much.csv", "W", 8000), &[]);
    assert!(said.contains("as the workload writes (by default"), "{said}");
    let said = line(&trace("reads.csv", "R", 160), &["--precondition", "steady"]);
    assert!(said.contains("(since the trace writes 0 B, 0.0 % of what is filled) (as asked)"), "{said}");
    let said = line(&trace("reads.csv", "R", 160), &[&own[..], &["--precondition", "steady"]].concat());
    assert!(said.contains("at random, 4 KiB at a time, since the trace writes nothing (as asked)"), "{said}");
}
