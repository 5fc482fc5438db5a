//! Can a user let parts of the flash fail, and does every output say what failed?

mod common;

use common::{summary, tailcut};
use serde_json::Value;
use tailcut_report::timeline::Timeline;

const JOB: &str = "randrw,bs=4k,rwmixread=70,iodepth=16,size=70%,number_ios=20000";

/// Run `tiny`; returns the summary of the scheme, and what was printed for people.
fn run(more: &[&str]) -> (Value, String) {
    let ended = tailcut(&[&["run", "tiny", "--workload", JOB, "--json"], more].concat());
    let said = ended.err.clone();
    (summary(&ended.ok())["schemes"][0].clone(), said)
}

fn count(scheme: &Value, key: &str) -> u64 {
    scheme["faults"][key].as_u64().unwrap_or_else(|| panic!("no {key} in {}", scheme["faults"]))
}

#[test]
fn a_drive_that_cannot_fail_says_nothing_of_faults() {
    let (scheme, said) = run(&[]);
    assert!(scheme.get("faults").is_none() && scheme.get("failed").is_none());
    assert!(scheme["programs"].get("failed").is_none() && !said.contains("Faults"), "{said}");
}

/// All reads of a drive whose channels are dead fail at once.
#[test]
fn a_runtime_that_is_never_over_is_refused() {
    let job = "randread,bs=4k,iodepth=4,size=70%,time_based,runtime=1s";
    let mut faults = vec!["--fault", "channel=0", "--fault", "channel=1"];
    for set in [
        "host.link_rate=inf",
        "host.submit_latency=0ns",
        "host.complete_latency=0ns",
        "controller.command=0ns",
    ] {
        faults.extend(["--set", set]);
    }
    let ended = tailcut(&[&["run", "tiny", "--workload", job], &faults[..]].concat());
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    for needle in ["no progress", "runtime", "number_ios"] {
        assert!(ended.err.contains(needle), "{}", ended.err);
    }
}

#[test]
fn failures_of_programs_erases_and_reads_are_counted() {
    let rates = ["faults.program=0.1%", "faults.erase=2%", "faults.read=0.1%"];
    let sets: Vec<&str> = rates.iter().flat_map(|rate| ["--set", rate]).collect();
    let (scheme, said) = run(&sets);
    for key in ["program_failures", "erase_failures", "read_failures", "media_errors"] {
        assert!(count(&scheme, key) > 0, "{key}: {}", scheme["faults"]);
    }
    // Failed programs are programs of the flash.
    let programs: u64 = scheme["programs"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    let (user, failed) = (&scheme["programs"]["user"], scheme["programs"]["failed"].as_u64().unwrap());
    assert!(failed >= count(&scheme, "program_failures"));
    let waf = programs as f64 / user.as_f64().unwrap();
    assert!((waf - scheme["waf"].as_f64().unwrap()).abs() < 1e-9);
    // Requests with and without data are all requests.
    let lost = scheme["failed"]["read"]["media_error"].as_u64().unwrap();
    assert_eq!((scheme["errors"].as_u64(), lost), (Some(lost), count(&scheme, "media_errors")));
    let ios = |side: &str| scheme[side]["total_ios"].as_u64().unwrap();
    assert_eq!(ios("read") + ios("write") + lost, 20_000);
    // The ranges of lost data add up.
    let ranges = scheme["faults"]["lost"].as_array().unwrap();
    let bytes: u64 = ranges.iter().map(|r| r[1].as_u64().unwrap() - r[0].as_u64().unwrap()).sum();
    assert_eq!((ranges.len() as u64, bytes), (count(&scheme, "lost_ranges"), count(&scheme, "lost_bytes")));
    assert!(bytes > 0);
    let said_all = [
        "Faults\n",
        " failed\n",
        " bad from the factory, ",
        "  baseline: data lost: ",
        &format!("not in the tables: {lost} reads (media_error)"),
    ];
    for part in said_all {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
}

#[test]
fn a_dead_die_is_shown_and_a_read_only_drive_says_since_when() {
    let (scheme, said) = run(&["--fault", "die=1@5ms"]);
    assert_eq!(count(&scheme, "dead_planes"), 2);
    let since = count(&scheme, "read_only_since_ns");
    assert!(since >= 5_000_000, "{since}");
    assert_eq!(scheme["faults"]["read_only_reason"], "few_good_blocks");
    let refused = scheme["failed"]["write"]["read_only"].as_u64().unwrap();
    assert!(refused > 0 && scheme["failed"]["read"]["media_error"].as_u64().unwrap() > 0);
    let ranges = scheme["faults"]["lost"].as_array().unwrap().len();
    assert!(ranges == 1_000 && count(&scheme, "lost_ranges") > 1_000, "{ranges}");
    assert!(
        said.contains("baseline BECAME READ-ONLY after ") && said.contains("2 planes are dead"),
        "{said}"
    );
}

#[test]
fn a_bad_block_that_is_named_is_told() {
    let blocks = |scheme: &Value, key: &str| scheme["faults"]["blocks"][key].as_u64().unwrap();
    // With a fault that does not happen, the drive counts its blocks itself.
    let (own, _) = run(&["--fault", "erase=0.0.3,cycle=999999"]);
    let (named, said) = run(&["--fault", "bad=0.0.20"]);
    assert_eq!(blocks(&named, "factory_bad"), blocks(&own, "factory_bad") + 1);
    assert_eq!(blocks(&named, "all"), blocks(&own, "all"));
    assert!(blocks(&named, "grown_bad") == 0 && said.contains("no operation failed"), "{said}");
}

#[test]
fn lost_data_and_failed_requests_are_listed_in_files() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let path = out.to_str().unwrap();
    let (scheme, _) = run(&["--fault", "die=1@5ms", "--out", path]);
    let lost = std::fs::read_to_string(format!("{path}/lost.jsonl")).unwrap();
    let ranges: Vec<Value> = lost.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ranges.len() as u64, count(&scheme, "lost_ranges"));
    let bytes = |r: &Value| r["end"].as_u64().unwrap() - r["first"].as_u64().unwrap();
    assert_eq!(ranges.iter().map(bytes).sum::<u64>(), count(&scheme, "lost_bytes"));
    let slowest = std::fs::read_to_string(format!("{path}/slowest.jsonl")).unwrap();
    let with = |status: &str| slowest.lines().filter(|line| line.contains(status)).count();
    let reads = scheme["failed"]["read"]["media_error"].as_u64().unwrap().min(4096);
    assert_eq!(with(r#""status":"media_error""#) as u64, reads);
    let said = tailcut(&["explain", path, "--top", "1"]).ok();
    assert!(
        said.contains("baseline, reads without success:\n#1  read ")
            && said.contains("  ended with media_error\n")
    );
}

/// A run with parity: what is on a dead plane is computed.
#[test]
fn parity_gives_the_data_of_a_bad_page() {
    let small = ["geometry.blocks=64", "ftl.over_provisioning=30%"];
    let sets: Vec<&str> = small.iter().flat_map(|set| ["--set", set]).collect();
    let job = "randread,bs=4k,iodepth=8,size=10%,number_ios=20000";
    let args = [
        "run",
        "ttflash-256g",
        "--scheme",
        "ttflash",
        "--workload",
        job,
        "--json",
        "--set",
        "faults.read=1%",
    ];
    let ended = tailcut(&[&args[..], &sets].concat());
    let said = ended.err.clone();
    let scheme = summary(&ended.ok())["schemes"][0].clone();
    assert!(count(&scheme, "read_failures") > 0 && count(&scheme, "units_rebuilt") > 0);
    assert!(count(&scheme, "media_errors") < count(&scheme, "read_failures") / 10, "{}", scheme["faults"]);
    assert!(said.contains(" rebuilt for reads"), "{said}");
    // The time of failed senses has a cause of its own.
    let causes = scheme["read"]["blame"][0]["causes"].as_object().unwrap();
    assert!(causes.contains_key("retry.array") && causes.contains_key("retry.transfer"), "{causes:?}");
}

#[test]
fn a_folder_holds_the_faults_and_what_failed() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let out = out.to_str().unwrap();
    let faults = ["--fault", "plane=1.0@8ms", "--fault", "program=0.0.3.0", "--set", "faults.erase=1%"];
    let args = ["--out", out, "--timeline=20ms"];
    let (scheme, said) = run(&[&faults[..], &args].concat());
    // The configuration that is written gives the same drive.
    let config = format!("{out}/config.toml");
    let again = tailcut(&["run", &config, "--workload", JOB, "--json"]);
    let again = summary(&again.ok())["schemes"][0].clone();
    assert_eq!(again["digest"], scheme["digest"], "{said}");
    assert_eq!(again["faults"], scheme["faults"]);
    assert_eq!(scheme["config"]["fault"]["layer"], "--fault plane=1.0@8ms, --fault program=0.0.3.0");
    // What has no latency is counted beside the explanation.
    let explained = tailcut(&["explain", out]).ok();
    let failed = scheme["failed"]["read"]["media_error"].as_u64().unwrap();
    assert!(
        failed > 1 && explained.contains("baseline: requests without success, not in the averages below: "),
        "{explained}"
    );
    assert!(explained.contains(&format!("{} reads (media_error)", tailcut_report::text::grouped(failed))));
    // The drive's track of the timeline has the failures.
    let t = Timeline::read(&std::fs::read(format!("{out}/timeline.pftrace")).unwrap()).unwrap();
    let points: Vec<_> = t.tracks[0].slices.iter().map(|s| (s.name.as_str(), s.begin)).collect();
    assert!(points.contains(&("planes die", 8_000_000)), "{points:?}");
    assert!(points.iter().any(|(name, _)| *name == "user_read (failed)"), "{points:?}");
}

#[test]
fn faults_that_are_none_are_refused() {
    let with = |fault: &str| tailcut(&["run", "tiny", "--workload", JOB, "--fault", fault]);
    with("dye=1")
        .refused(&["--fault <FAULT>", "the kind is one of program, erase, page, bad, plane, die, channel"]);
    with("erase=0.0").refused(&["the place of `erase` is die.plane.block", "for example die=3@2s"]);
    with("die=1@soon").refused(&["soon"]);
    with("die=4@2s").refused(&["fault.1.die: 4: the drive has 4, counted from 0 (die=4@2s)"]);
    with("die=0,cycle=2").refused(&["fault.1.cycle: does not belong to kind `die` (die=0,cycle=2)"]);
    let shown = tailcut(&["show", "config", "tiny", "--fault", "die=4"]);
    assert!(shown.out.contains("{ kind = \"die\", die = 4 },"), "{}", shown.out);
    shown.refused(&["no drive can be built from this: fault.1.die: 4"]);
}

/// The manual shows what the program prints.
#[test]
fn the_manual_shows_real_output() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/faults.md");
    let page = std::fs::read_to_string(path).unwrap();
    let job = "randrw,bs=4k,rwmixread=70,iodepth=16,size=70%,number_ios=50000";
    assert!(page.contains(&format!("`--workload {job}`")));
    let mut compared = 0;
    for part in page.split("```sh\n").skip(1) {
        let (command, rest) = part.split_once("\n```\n").expect("the block ends");
        let shown =
            rest.split("```text\n").nth(1).and_then(|text| text.split("```").next()).expect("its output");
        let args: Vec<&str> = command.split_whitespace().skip(1).chain(["--workload", job]).collect();
        let said = tailcut(&args).ok();
        for line in shown.lines() {
            assert!(said.lines().any(|l| l == line), "{command}\n`{line}` is not in: {said}");
            compared += 1;
        }
    }
    assert!(compared > 12, "{compared}");
}
