//! Does one application run on the served drive, and does the replay of its log agree? (`make apps` runs all of them.)
#![cfg(unix)]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

fn apps() -> Command {
    let mut python = Command::new("python3");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/run.py");
    python.arg("-B").arg(script).stdin(Stdio::null());
    python
}

#[test]
fn a_mail_server_runs_on_the_drive() {
    let Ok(output) = Command::new("python3").arg("--version").output() else {
        println!("skipped: there is no python3 here");
        return;
    };
    assert!(output.status.success());
    let dir = tempfile::tempdir().unwrap();
    let mut run = apps();
    run.args([
        "--tailcut",
        env!("CARGO_BIN_EXE_tailcut"),
        "--size",
        "small",
        "--only",
        "filebench",
        "--results",
    ]);
    let ended = common::end(run.arg(dir.path()));
    if let Some(why) = ended.out.lines().find(|line| line.starts_with("skipped:")) {
        println!("{why}");
        return;
    }
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let path = dir.path().join("filebench-ttflash-256g-ttflash-varmail.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{e}: {}", ended.out));
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["replay"]["exact"], true, "{}", ended.out);
    // What the server had measured is what the replay measures.
    assert_eq!(result["replay"]["as_served"], true, "{result}");
    let count = |of: &serde_json::Value| of["count"].as_u64().unwrap();
    assert!(count(&result["program"]) > 10 && count(&result["drive"]["read"]) >= count(&result["program"]));
    // The page of one result names it.
    let page = dir.path().join("page.md");
    let script =
        "import sys; sys.path.insert(0, sys.argv[1]); import page; page.write(sys.argv[2], sys.argv[3])";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps");
    let mut python = Command::new("python3");
    python.args(["-B", "-c", script]).arg(folder).arg(&page).arg(dir.path());
    assert_eq!(common::end(&mut python).code, Some(0));
    assert!(std::fs::read_to_string(page).unwrap().contains("| varmail | ttflash |"));
}
