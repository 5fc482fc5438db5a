//! Does `tailcut reproduce` list, refuse, run, judge and report as documented?

mod common;

use common::{command, end, tailcut};
use serde_json::Value;
use std::path::Path;

/// An experiment of one second on the small drive, with one check that passes and one
/// that fails.
const SMALL: &str = r#"
id = "test/small"
title = "two checks"
source = "nobody"
shows = "That both verdicts are shown."
misses = "Reads take longer."

[time]
quick = "1 s"
full = "1 s"

[defaults]
scheme = "rps"
source = "nobody, table 1"
trust = "stated"

[[run]]
name = "mix"
device = "tiny"
schemes = ["baseline", "rps"]
workload = "randread,bs=4k,iodepth=1,{size}"
full = "number_ios=2000"
quick = "number_ios=500"

[[check]]
label = "as the baseline"
run = "mix"
measure = "read.mean"
relative_to = { scheme = "baseline" }
published = 1.0
unit = "x"
band = { relative = 1, because = "reads alone" }

[[check]]
label = "much too fast"
run = "mix"
measure = "read.mean"
published = 1
unit = "us"
band = { relative = 10, because = "to be missed" }
"#;

fn run(folder: &Path, args: &[&str]) -> common::Ended {
    let file = folder.join("small.toml");
    std::fs::write(&file, SMALL).unwrap();
    let mut all = vec!["reproduce", file.to_str().unwrap(), "--no-cache"];
    all.extend(args);
    end(command(Path::new("/nonexistent")).args(&all))
}

#[test]
fn the_list_has_every_experiment_and_its_time() {
    let text = tailcut(&["reproduce", "--list"]).ok();
    for needle in ["atc19/table2", "atc19/fig4", "jsa14/load", "quick", "full"] {
        assert!(text.contains(needle), "`{needle}` is not in\n{text}");
    }
}

#[test]
fn an_unknown_id_is_refused_with_the_nearest() {
    tailcut(&["reproduce", "atc19/fig44"]).refused(&["atc19/fig44", "did you mean `atc19/fig4`"]);
    tailcut(&["reproduce", "/nonexistent/x.toml"]).refused(&["/nonexistent/x.toml"]);
}

#[test]
fn a_miss_is_a_result_and_with_strict_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let text = run(folder.path(), &[]).ok();
    for needle in ["as the baseline [rps]", "in band", "out of band", "2 values (1 in band, 1 out)"] {
        assert!(text.contains(needle), "`{needle}` is not in\n{text}");
    }
    let strict = run(folder.path(), &["--strict"]);
    assert_eq!(strict.code, Some(1), "{}", strict.err);
    assert!(strict.err.contains("1 out of band"), "{}", strict.err);
    let quick = run(folder.path(), &["--quick", "--strict"]).ok();
    assert!(quick.contains("2 judged at full size only"), "{quick}");
}

/// An experiment of the user has the warnings of a run.
#[test]
fn what_a_run_would_say_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.toml");
    let more = "set = [\"age.pe_cycles=100\", \"faults.read=2%\"]\n\n[[run]]\nname = \"over\"\ndevice = \"tiny\"\n\
                schemes = [\"baseline\"]\nworkload = \"randread,bs=4k,rate_iops=900000,rate_process=poisson,{size}\"\n\
                full = \"number_ios=100000\"\nquick = \"number_ios=500\"\n\n[[check]]\nlabel = \"as";
    let text = SMALL
        .replacen("\n[[check]]\nlabel = \"as", more, 1)
        .replace("\"baseline\", \"rps\"", "\"baseline\", \"fifo\", \"rps\"");
    std::fs::write(&file, text).unwrap();
    let args = ["reproduce", file.to_str().unwrap(), "--no-cache", "--json"];
    let ended = end(command(Path::new("/nonexistent")).args(args));
    let err = ended.err.clone();
    let json: Value = serde_json::from_str(&ended.ok()).unwrap();
    let runs = json["experiments"][0]["runs"].as_array().unwrap();
    let written: Vec<&str> =
        runs.iter().flat_map(|r| r["warnings"].as_array().unwrap()).map(|w| w.as_str().unwrap()).collect();
    for piece in [
        "mix: scheme `fifo` changes nothing on tiny",
        "mix: --set age.pe_cycles=100: nothing reads age.pe_cycles here",
        "of its reads (",
        "mix: fifo: same result as baseline",
        "over: baseline DOES NOT KEEP UP: ",
    ] {
        assert!(written.iter().any(|w| w.contains(piece)), "{piece}: {written:?}");
        assert!(err.contains(piece), "{piece}: {err}");
    }
}

#[test]
fn json_has_the_checks_and_the_report_keeps_other_pages() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.md");
    let other = "<!-- begin atc19/fig4 | values 3/0, calibrated 0/0, orders 1/0, structural 0/0, not comparable 0, full size only 0 -->\n# atc19/fig4: x\n\nkept\n<!-- end atc19/fig4 -->\n";
    let kept = folder.path().join("report/atc19-fig4.md");
    std::fs::create_dir(folder.path().join("report")).unwrap();
    std::fs::write(&kept, other).unwrap();
    let out = run(folder.path(), &["--json", "--report", report.to_str().unwrap()]).ok();
    let json: Value = serde_json::from_str(&out).unwrap();
    let checks = json["experiments"][0]["checks"].as_array().unwrap();
    let verdicts: Vec<&str> = checks.iter().map(|c| c["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["in_band", "out_of_band"]);
    assert_eq!(checks[0]["value"], 1.0);
    let run = &json["experiments"][0]["runs"][0];
    assert_eq!((run["name"].as_str(), run["schemes"][1]["name"].as_str()), (Some("mix"), Some("rps")));
    assert_eq!(run["schemes"][0]["read"]["total_ios"], 2000);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), other);
    let summary = std::fs::read_to_string(&report).unwrap();
    for needle in [
        "**5 published values that the model could miss: 4 in band, 1 out. 1 orders: 1 in band, 0 out.",
        "| [atc19/fig4](report/atc19-fig4.md): x | 3 of 3 | 1 of 1 |",
        "| [test/small](report/test-small.md): two checks | **1 of 2** |",
        "- [test/small](report/test-small.md), 1 of 2 checks: much too fast [rps] ",
        " (± 10 %). Reads take longer.\n",
        "src=\"figures/test.svg\"",
    ] {
        assert!(summary.contains(needle), "`{needle}` is not in\n{summary}");
    }
    let page = std::fs::read_to_string(folder.path().join("report/test-small.md")).unwrap();
    for needle in [
        "# test/small: two checks",
        "**out of band**",
        "to be missed",
        "Misses: Reads take longer.",
        "(../report.md)",
        "src=\"../figures/test-small-1.svg\"",
    ] {
        assert!(page.contains(needle), "`{needle}` is not in\n{page}");
    }
    let svg = std::fs::read_to_string(folder.path().join("figures/test-small-1.svg")).unwrap();
    assert!(svg.contains("much too fast [rps]") && svg.contains("prefers-color-scheme: dark"), "{svg}");
    assert!(folder.path().join("figures/test.svg").exists());
}

#[test]
fn without_checks_it_is_a_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let (head, _) = SMALL.split_once("[[check]]").unwrap();
    let head =
        head.replace("schemes = [\"baseline\", \"rps\"]\n", "").replace("test/small", "composed/small");
    let variants = "[[variant]]\nname = \"as it is\"\nscheme = \"baseline\"\nset = []\n";
    let table = "[[table]]\ntitle = \"Both\"\nrun = \"mix\"\n";
    let columns = "columns = [\"read.mean us\", \"read.mean us @ mix\", \"capacity\", \"left.p90\"]\n";
    let file = folder.path().join("composed.toml");
    let report = folder.path().join("composed.md");
    let go = |text: String| {
        std::fs::write(&file, text).unwrap();
        let args = ["reproduce", file.to_str().unwrap(), "--no-cache", "--strict", "--report"];
        end(command(Path::new("/nonexistent")).args(args).arg(&report))
    };
    go(format!("{head}{variants}{table}{columns}")).ok();
    let text = std::fs::read_to_string(&report).unwrap();
    for needle in
        ["# Composed", "| [composed/small](composed/composed-small.md): ", "| 1 scheme under 1 workload |"]
    {
        assert!(text.contains(needle), "`{needle}` is not in\n{text}");
    }
    let text = std::fs::read_to_string(folder.path().join("composed/composed-small.md")).unwrap();
    for needle in ["read.mean, mix", "| as it is |", "array "] {
        assert!(text.contains(needle), "`{needle}` is not in\n{text}");
    }
    assert!(!text.contains("| check |"), "{text}");
    go(SMALL.to_string()).refused(&["test/small has published values and composed/small has none"]);
    for wrong in ["nan..3", "1..inf", "4..3"] {
        let column = format!("columns = [\"read.mean us in {wrong}\"]");
        go(format!("{head}{variants}{table}{column}")).refused(&["table `Both`", "is not a range"]);
    }
    go(format!("{head}{variants}{table}columns = [\"left.p42\"]")).refused(&["table `Both`", "left.p42"]);
    go(format!("{head}{variants}{table}columns = [\"waf @ max\"]")).refused(&["no run `max`"]);
}

#[test]
fn a_band_is_finite_and_not_negative() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.toml");
    for (limit, said) in
        [("-5", "-5 % is negative"), ("nan", "`NaN` is no limit"), ("inf", "`inf` is no limit")]
    {
        std::fs::write(&file, SMALL.replace("relative = 10", &format!("relative = {limit}"))).unwrap();
        tailcut(&["reproduce", file.to_str().unwrap()]).refused(&["small.toml", "band", said]);
    }
    std::fs::write(&file, SMALL.replace("published = 1\n", "published = nan\n")).unwrap();
    tailcut(&["reproduce", file.to_str().unwrap()]).refused(&["small.toml", "published: `NaN`"]);
}

/// A report replaces a report, and nothing else.
#[cfg(unix)]
#[test]
fn a_report_is_written_over_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let report = |path: &Path| run(folder.path(), &["--quick", "--report", path.to_str().unwrap()]);
    let notes = "# Notes\n\nmine\n";
    std::fs::write(at("notes.md"), notes).unwrap();
    let marked = format!("{notes}<!-- begin atc19/fig4 | x -->\n<!-- end atc19/fig4 -->\n");
    std::fs::write(at("marked.md"), &marked).unwrap();
    std::fs::create_dir(at("mine")).unwrap();
    std::fs::write(at("mine/test-small.md"), notes).unwrap();
    report(&at("mine.md")).refused(&["test-small.md", "no report", "--report"]);
    assert_eq!(std::fs::read_to_string(at("mine/test-small.md")).unwrap(), notes);
    report(&at("new.txt")).refused(&["new.txt", "does not end in .md", "--report"]);
    for (name, text) in [("notes.md", notes), ("marked.md", marked.as_str()), ("small.toml", SMALL)] {
        report(&at(name)).refused(&[name, "no report", "--report"]);
        assert_eq!(std::fs::read_to_string(at(name)).unwrap(), text);
    }
    report(Path::new("/dev/null")).refused(&["/dev/null", "a device"]);
    std::os::unix::fs::symlink(at("notes.md"), at("link.md")).unwrap();
    report(&at("link.md")).refused(&["link.md", "a symbolic link"]);
    report(&at("none/report.md")).refused(&["none/report.md"]);
    assert_eq!(std::fs::read_to_string(at("notes.md")).unwrap(), notes);
    // A new file, then the file that it wrote.
    report(&at("new.md")).ok();
    let first = std::fs::read_to_string(at("new.md")).unwrap();
    assert!(first.contains("# Reproduction\n") && first.contains("test/small"), "{first}");
    // It is about the user's file, and not about the documents of the repository.
    assert!(
        !first.contains("docs/") && !first.contains("experiments/") && first.contains("four kinds"),
        "{first}"
    );
    report(&at("new.md")).ok();
    // What only looks like a picture stays.
    std::fs::create_dir_all(at("figures")).unwrap();
    std::fs::write(at("figures/test-small-mine.svg"), "mine").unwrap();
    report(&at("new.md")).ok();
    assert_eq!(std::fs::read_to_string(at("figures/test-small-mine.svg")).unwrap(), "mine");
}

/// The results are shown, also as JSON, if the report cannot be written in the end.
#[cfg(unix)]
#[test]
fn a_report_that_cannot_be_written_loses_no_result() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("figures"), "a file where the pictures go").unwrap();
    let report = folder.path().join("new.md");
    let ended = run(folder.path(), &["--json", "--report", report.to_str().unwrap()]);
    assert!(ended.code != Some(0) && ended.err.contains("figures"), "{}", ended.err);
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(json["experiments"][0]["checks"][0]["value"], 1.0);
}
