//! Does `tailcut compare` tell two runs apart, say what they have in common, and set the exit code?

mod common;

use common::{piped, tailcut};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

const JOB: &str = "randrw,bs=4k,rwmixread=70,rate_iops=4200,1800,rate_process=poisson,number_ios=20000";

/// Runs on `tiny` in a new folder.
fn run(dir: &TempDir, name: &str, more: &[&str]) -> String {
    let out = dir.path().join(name);
    let out = out.to_str().unwrap();
    let args = [&["run", "tiny", "--workload", JOB, "--out", out], more].concat();
    tailcut(&args).ok();
    out.to_string()
}

fn row<'a>(json: &'a Value, figure: &str) -> &'a Value {
    let all = json["figures"].as_array().unwrap();
    all.iter().find(|row| row["figure"] == figure).unwrap_or_else(|| panic!("no {figure}"))
}

#[test]
fn two_schemes_of_one_folder() {
    let dir = tempfile::tempdir().unwrap();
    let out = run(&dir, "both", &["--scheme", "baseline,rps"]);
    let (a, b) = (format!("{out}:baseline"), format!("{out}:rps"));
    let text = piped(&["compare", &a, &b]).ok();
    let paths = |line: &&str| !line.contains(&out);
    assert!(text.lines().filter(paths).all(|line| line.chars().count() <= 80), "{text}");
    for said in [
        "inputs   same requests; differences are taken batch by batch\n",
        "model    the same version",
        "Figures, with the 95 % confidence interval of the difference",
        "Reads, which causes moved: mean time",
        "die_wait.erase",
        "Configuration, keys that differ: ",
        "policy.schedule",
        "scheme rps",
    ] {
        assert!(text.contains(said), "{said} in {text}");
    }
    let p99 = text.lines().find(|line| line.trim_start().starts_with("read.p99 ")).unwrap();
    assert!(p99.ends_with(" faster") && p99.contains(" -"), "{p99}");
    let iops = text.lines().find(|line| line.trim_start().starts_with("read.iops ")).unwrap();
    assert!(iops.ends_with("no difference seen"), "{iops}");

    // The other way round, as JSON; a scheme that a colon does not name is that of the option.
    let summary = format!("{out}/summary.json");
    let json = tailcut(&["compare", &b, &summary, "--scheme", "baseline", "--json"]).ok();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(row(&json, "read.p99")["verdict"], "slower");
    assert_eq!((&json["inputs"]["pairing"], &json["a"]["scheme"]), (&"batches".into(), &"rps".into()));
    let ci = row(&json, "read.p99")["ci95"].as_array().unwrap();
    assert!(ci[0].as_f64() > Some(0.0) && ci[0].as_f64() < ci[1].as_f64(), "{ci:?}");
    let sums: f64 =
        json["blame"][0]["causes"].as_array().unwrap().iter().map(|c| c["a_ns"].as_f64().unwrap()).sum();
    assert!((sums - row(&json, "read.mean")["a"].as_f64().unwrap()).abs() < 1.0);

    tailcut(&["compare", &out, &b]).refused(&["has the schemes baseline, rps: name one"]);
    tailcut(&["compare", &format!("{out}:fifo"), &b]).refused(&["no scheme `fifo`", "baseline, rps"]);
    tailcut(&["compare", &a, &format!("{out}-none:x")]).refused(&["-none:x`"]);
    tailcut(&["compare", &a, &b, "--fail-above", "read.p98.7=5%"]).refused(&["`iops`, `mean`, or one of"]);
    tailcut(&["compare", &a, &b, "--fail-above", "reads.p99=5%"]).refused(&["`read`, `write`"]);
    tailcut(&["compare", &a, &b, "--fail-above", "read.p99=5"]).refused(&["read.p99=5"]);
}

#[test]
fn limits_set_the_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let out = run(&dir, "both", &["--scheme", "rps,baseline"]);
    let (rps, baseline) = (format!("{out}:rps"), format!("{out}:baseline"));
    let ended = |a: &str, b: &str, limits: &[&str]| {
        let limits = limits.iter().flat_map(|limit| ["--fail-above", limit]);
        let ended = tailcut(&["compare", a, b].into_iter().chain(limits).collect::<Vec<_>>());
        (ended.code, ended.err, ended.out)
    };
    // Far slower, at the same rate.
    let (code, said, text) = ended(&rps, &baseline, &["read.p99=5%", "read.iops=5%"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("B is worse than A by more than read.p99=5%\n"), "{said}");
    assert!(text.contains("  beyond\n") && text.contains("  within\n"), "{text}");
    // No read is beyond the p99.9999 of 14,000: undecided.
    let (code, said, _) = ended(&baseline, &rps, &["read.p99.9999=5%", "read.p99=0%"]);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("undecided whether B is worse than A by more than read.p99.9999=5%"), "{said}");
    assert_eq!(ended(&baseline, &rps, &["read.p99=0%", "read.mean=0%"]).0, Some(0));
}

#[test]
fn inputs_that_differ_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let one = run(&dir, "one", &["--scheme", "rps"]);
    let other = run(&dir, "other", &["--scheme", "rps", "--seed", "2"]);
    let text = tailcut(&["compare", &one, &other]).ok();
    assert!(text.contains("NOT THE SAME REQUESTS: differences are not paired"), "{text}");
    assert!(
        text.contains("\n         seed: A 1, B 2\n") && text.contains("Configuration: no key differs"),
        "{text}"
    );
    let again = tailcut(&["compare", &one, &one]).ok();
    assert!(again.contains("both have the same digest") && !again.contains("faster"), "{again}");
    // Another version of the model.
    let path = Path::new(&other).join("summary.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let from = text.find("\"model_version\": ").unwrap();
    let to = from + text[from..].find(',').unwrap();
    std::fs::write(&path, format!("{}\"model_version\": 1{}", &text[..from], &text[to..])).unwrap();
    let text = tailcut(&["compare", &one, &other]).ok();
    assert!(text.contains("NOT THE SAME VERSION: A ") && text.contains(", B 1 (tailcut "), "{text}");
}

#[test]
fn several_runs_print_intervals_and_are_compared_run_by_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs");
    let out = path.to_str().unwrap();
    let args = ["run", "tiny", "--workload", JOB, "--scheme", "baseline,rps", "--runs", "3", "--out", out];
    let ended = tailcut(&args);
    let text = ended.ok();
    for said in ["Intervals over 3 runs\n", "Differences from baseline, run by run\n"] {
        assert!(text.contains(said), "{said} in {text}");
    }
    let faster =
        |line: &&str| line.contains("  rps") && line.contains("read.p99 ") && line.ends_with("faster");
    assert_eq!(text.lines().filter(faster).count(), 1, "{text}");
    common::summary(&std::fs::read_to_string(path.join("summary.json")).unwrap());
    // One scheme has intervals too, and nothing to differ from.
    let text = tailcut(&["run", "tiny", "--workload", JOB, "--runs", "3"]).ok();
    assert!(text.contains("Intervals over 3 runs\n") && !text.contains("Differences"), "{text}");
    assert!(text.lines().any(|line| line.contains("  baseline") && line.contains("read.p99.9 ")), "{text}");
    let text = tailcut(&["compare", &format!("{out}:baseline"), &format!("{out}:rps")]).ok();
    assert!(
        text.contains("differences are taken run by run")
            && text.contains("A        baseline on tiny, 3 runs"),
        "{text}"
    );
}
