//! Does a run say what its figures are worth: whether targets are met, how long the drive lasts, and which rows are not
//! what they seem? Do its tables fit the page?

mod common;

use common::{Ended, command, end, piped, summary, tailcut};
use serde_json::Value;
use std::path::Path;

const JOB: &str = "randrw,bs=4k,rwmixread=70,iodepth=16,size=70%,number_ios=20000";

fn run(more: &[&str]) -> Ended {
    tailcut(&[&["run", "tiny", "--workload", JOB], more].concat())
}

/// The summary of a run, whatever its exit code.
fn scheme(ended: &Ended) -> Value {
    summary(&ended.out)["schemes"][0].clone()
}

#[test]
fn targets_have_verdicts_and_exit_codes() {
    let met = run(&["--target", "read.mean=1s", "--target", "write.p99=1s", "--json"]);
    assert_eq!(met.code, Some(0), "{}", met.err);
    let of = scheme(&met);
    let targets = of["targets"].as_array().unwrap();
    assert_eq!(targets.len(), 2);
    for target in targets {
        let (from, to) = (target["ci95_ns"][0].as_f64().unwrap(), target["ci95_ns"][1].as_f64().unwrap());
        let measured = target["measured_ns"].as_f64().unwrap();
        assert!(from <= measured && measured <= to && to <= 1e9, "{target}");
        assert_eq!(target["verdict"], "meets");
        assert!((target["margin"].as_f64().unwrap() - (1.0 - measured / 1e9)).abs() < 1e-9, "{target}");
    }
    assert!(met.err.contains("Targets, by the 95 % confidence intervals"), "{}", met.err);

    let missed = run(&["--target", "read.p50=10us", "--target", "write.p99=1s"]);
    assert_eq!(missed.code, Some(3), "{}", missed.err);
    assert!(missed.err.contains("error: targets missed: read.p50=10us (baseline)\n"), "{}", missed.err);
    assert!(missed.out.contains("misses") && missed.out.contains("meets"), "{}", missed.out);

    // At the measured value itself no interval decides.
    let p99 = of["read"]["lat_ns"]["percentile"]["99.000000"].as_u64().unwrap();
    let undecided = run(&["--target", &format!("read.p99={p99}ns"), "--json"]);
    assert_eq!(undecided.code, Some(4), "{}", undecided.err);
    assert_eq!(scheme(&undecided)["targets"][0]["verdict"], "undecided");
    run(&["--target", "read.p98.7=1ms"]).refused(&["--target", "p99.9"]);
    assert!(scheme(&run(&["--json"])).get("targets").is_none());
}

#[test]
fn a_drive_with_a_limit_of_cycles_has_an_endurance() {
    let job = "randwrite,bs=64k,iodepth=16,size=1g,number_ios=4000";
    let ended = tailcut(&["run", "tlc-3d", "--workload", job, "--precondition", "none", "--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let of = scheme(&ended);
    let e = &of["endurance"];
    assert_eq!((&e["written_bytes"], &e["rated_cycles"]), (&(4000 * 65_536).into(), &5300.into()));
    let s = summary(&ended.out);
    let (host, waf) = (s["host_capacity_bytes"].as_f64().unwrap(), of["waf"].as_f64().unwrap());
    let writes = e["drive_writes_per_day"].as_f64().unwrap() * 1825.0 * host * waf / 5300.0;
    let raw = (8 * 2 * 4 * 497 * 2112_u64 * 16_384) as f64;
    assert!(writes <= raw && writes > 0.9 * raw, "{writes} of {raw}");
    assert!(
        ended.err.contains("drive writes a day") || ended.err.contains("over five years"),
        "{}",
        ended.err
    );
    assert!(scheme(&run(&["--json"])).get("endurance").is_none());
    let rated = scheme(&run(&["--json", "--set", "ftl.rated_cycles=3000"]));
    assert_eq!(rated["endurance"]["rated_cycles"], 3000);
}

#[test]
fn a_row_of_survivors_is_marked() {
    let ended = run(&["--set", "faults.read=1%"]);
    let rows: Vec<&str> = ended.out.lines().filter(|l| l.starts_with("  baseline")).collect();
    assert!(rows[0].starts_with("  baseline !") && !rows[1].contains('!'), "{}", ended.out);
    let note = ended.out.lines().find(|l| l.starts_with("! baseline: ")).expect("a note");
    assert!(note.contains("of its reads"), "{note}");
    assert!(
        ended.err.contains("warning: baseline: ") && ended.err.contains("those of the others"),
        "{}",
        ended.err
    );
}

#[test]
fn a_run_without_collection_is_marked() {
    let ended = tailcut(&["run", "tiny", "--workload", "randwrite,bs=4k,size=70%,number_ios=20"]);
    assert!(ended.err.contains("nothing was collected in this run"), "{}", ended.err);
    assert!(ended.out.contains("! baseline: nothing was collected"), "{}", ended.out);
    // As long as this the run is steady.
    assert!(!run(&[]).out.contains("! "));
}

#[test]
fn schemes_with_one_result_are_named() {
    let ended = run(&["--scheme", "baseline,fifo"]);
    assert!(ended.err.contains("warning: fifo: same result as baseline"), "{}", ended.err);
    assert!(ended.out.contains("\n  fifo !"), "{}", ended.out);
}

#[test]
fn what_a_flush_costs_is_said() {
    let job = "randwrite,bs=4k,size=70%,number_ios=200,fsync=1";
    let of = |more: &[&str]| tailcut(&[&["run", "tiny", "--workload", job], more].concat()).ok();
    let said = of(&[]);
    assert!(said.contains("flushes ") && said.contains("answered at once"), "{said}");
    let said = of(&["--set", "policy.buffer.lru.power_loss=volatile"]);
    assert!(said.contains("each waits until"), "{said}");
    assert!(!run(&[]).out.contains("flushes "));
}

#[test]
fn a_drive_that_is_filled_in_part_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("t.csv");
    let lines: String =
        (0..20).map(|i| format!("1281663720030616{i:02},h,0,Read,{},4096,0\n", i * 8192)).collect();
    std::fs::write(&trace, lines).unwrap();
    let of = |more: &[&str]| {
        let args = ["run", "ttflash-256g", "--workload", trace.to_str().unwrap(), "--precondition", "none"];
        tailcut(&[&args[..], more].concat()).err
    };
    let said = of(&[]);
    assert!(said.contains("fills 45.0 % of the drive") && said.contains("--set age.fill="), "{said}");
    assert!(!of(&["--set", "age.fill=45%"]).contains("of the drive before a trace"));
}

/// Runs a command on a page of a width.
fn on(columns: &str, colour: (&str, &str), args: &[&str]) -> Ended {
    end(command(Path::new("/nonexistent")).env("COLUMNS", columns).env(colour.0, colour.1).args(args))
}

#[test]
fn tables_fit_the_page() {
    let job = "randrw,bs=4k,iodepth=16,size=70%,number_ios=20000";
    let schemes = "baseline,preemptive-gc,ips+preemptive-gc";
    let args = ["run", "tiny", "--scheme", schemes, "--workload", job, "--no-cache"];
    let wide = |ended: &Ended| ended.out.lines().map(|l| l.chars().count()).max().unwrap();
    let plain = piped(&args);
    assert_eq!(plain.code, Some(0), "{}", plain.err);
    assert!(wide(&plain) <= 80, "{}", plain.out);
    assert!(plain.out.contains("p99.999 is shown on a wider page"), "{}", plain.out);
    let none = ("TERM", "dumb");
    let more = on("130", none, &args);
    assert!(more.out.contains("  p99.999 ") && wide(&more) > 90 && wide(&more) <= 130, "{}", more.out);
    let narrow = on("60", none, &args);
    // A word may be longer than a narrow page.
    let tables = narrow.out.split_once("\nReads\n").expect("tables").1;
    assert!(tables.lines().all(|l| l.chars().count() <= 60), "{tables}");
    for what in [
        &["show", "schemes"][..],
        &["show", "policies"],
        &["show", "rain-bound", "ttflash-256g", "--dwpd", "5"],
        &["lifetime", "tlc-3d", "--scheme", "ispe"],
        &["reproduce", "--list"],
    ] {
        assert!(wide(&piped(what)) <= 80, "{what:?}");
    }
}

#[test]
fn colour_is_for_terminals() {
    let args = ["run", "tiny", "--workload", JOB, "--set", "age.reads=5", "--no-cache"];
    let plain = piped(&args);
    assert!(plain.err.contains("warning: ") && !plain.err.contains('\u{1b}'), "{}", plain.err);
    let forced = on("80", ("CLICOLOR_FORCE", "1"), &args);
    assert!(forced.err.contains("\u{1b}[1m\u{1b}[33mwarning:"), "{:?}", forced.err);
    let mut never = command(Path::new("/nonexistent"));
    let never = end(never.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").args(args));
    assert!(!never.err.contains('\u{1b}'), "{}", never.err);
}
