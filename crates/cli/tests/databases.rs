//! Does every command of docs/databases.md print what the page shows?
#![cfg(unix)]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with the examples, in which the commands of the page run one after another.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("examples")).unwrap();
        for entry in std::fs::read_dir(root().join("examples")).unwrap() {
            let from = entry.unwrap().path();
            std::fs::copy(&from, dir.path().join("examples").join(from.file_name().unwrap())).unwrap();
        }
        Place(dir)
    }

    /// Run the lines of a block; returns what they print.
    fn run(&self, block: &str) -> String {
        let program = env!("CARGO_BIN_EXE_tailcut");
        let lines = format!("set -e\ntailcut() {{ '{program}' \"$@\"; }}\n{block}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &lines]).current_dir(self.0.path()).stdin(Stdio::null());
        let ended = common::end(shell.env("TAILCUT_CACHE", self.0.path().join("cache")));
        assert!(!ended.err.contains("error: "), "{block}\n{}", ended.err);
        assert_eq!(ended.code, Some(0), "{block}\n{}{}", ended.out, ended.err);
        ended.out
    }
}

/// `UPDATE=1` writes the output into the page.
#[test]
fn the_page_shows_what_its_commands_print() {
    let path = root().join("docs/databases.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let place = Place::new();
    let (mut written, mut rest, mut shown) = (String::new(), &page[..], 0);
    while let Some((before, after)) = rest.split_once("```sh\n") {
        let (block, after) = after.split_once("```\n").unwrap();
        let printed = place.run(block);
        written += &format!("{before}```sh\n{block}```\n");
        rest = after;
        if let Some(text) = after.strip_prefix("\n```text\n") {
            let (_, after) = text.split_once("```\n").unwrap();
            written += &format!("\n```text\n{printed}```\n");
            rest = after;
            shown += 1;
        } else {
            assert_eq!(printed, "", "the page does not show what this prints:\n{block}");
        }
    }
    written += rest;
    assert!(shown >= 8, "only {shown} outputs");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, written).unwrap();
        return;
    }
    let differs = page.lines().zip(written.lines()).find(|(shown, printed)| shown != printed);
    assert!(page == written, "{differs:?}; UPDATE=1 rewrites the outputs");
}

/// The commands that need a device and root are those that record; all others are run.
#[test]
fn what_is_not_run_records() {
    let page = std::fs::read_to_string(root().join("docs/databases.md")).unwrap();
    let kinds: Vec<&str> =
        page.lines().filter_map(|l| l.strip_prefix("```")).filter(|kind| !kind.is_empty()).collect();
    assert!(kinds.iter().all(|kind| ["sh", "text", "console"].contains(kind)), "{kinds:?}");
    let recording = page.split("```console\n").skip(1).filter_map(|after| after.split("```").next());
    for line in recording.flat_map(str::lines) {
        let first = line.trim_start_matches("sudo ").split(' ').next();
        assert!(matches!(first, Some("blktrace" | "blkparse" | "bpftrace" | "fio")), "{line}");
    }
}

/// Links lead to files, and every example is on the page.
#[test]
fn its_links_and_examples_are_there() {
    let page = std::fs::read_to_string(root().join("docs/databases.md")).unwrap();
    for link in page.split("](").skip(1).filter_map(|l| l.split(')').next()) {
        let file = link.split('#').next().unwrap();
        assert!(root().join("docs").join(file).exists(), "{link}");
    }
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(page.contains(&format!("examples/{name}")), "{name} is not on the page");
    }
}
