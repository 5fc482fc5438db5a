//! Are README.md and the pages of commands in `docs` correct?

mod common;

use common::{piped, tailcut};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).expect("it is there")
}

/// The pages whose command lines are for copying, with the folder that their links are relative to.
fn pages() -> Vec<(&'static str, String)> {
    let page = |name: &str| std::fs::read_to_string(root().join("docs").join(name)).expect("it is there");
    vec![("", readme()), ("docs", page("commands.md")), ("docs", page("schemes.md"))]
}

/// The fenced blocks of a text: the word after the fence, and the lines.
fn blocks(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            blocks.push((kind, lines.by_ref().take_while(|l| *l != "```").collect()));
        }
    }
    blocks
}

/// The tables at the top are the output of the demonstration. `UPDATE=1` rewrites them.
#[test]
fn the_sample_is_what_the_tour_prints() {
    let dir = tempfile::tempdir().unwrap();
    let tour = piped(&["demo", "--report", dir.path().join("page.html").to_str().unwrap()]).ok();
    let paragraph = |start: &str| {
        let all = tour.split("\n\n").map(|p| p.trim_matches('\n'));
        all.into_iter().find(|p| p.starts_with(start)).unwrap_or_else(|| panic!("no `{start}` in\n{tour}"))
    };
    let sample = ["Reads\n", "In use", "rps, slowest reads"].map(paragraph).join("\n\n");
    let text = readme();
    let (before, rest) = text.split_once("```\n").expect("a block begins");
    let (shown, after) = rest.split_once("\n```\n").expect("the block ends");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(root().join("README.md"), format!("{before}```\n{sample}\n```\n{after}"))
            .expect("it can be written");
        return;
    }
    assert_eq!(shown, sample, "the tour prints something else; UPDATE=1 rewrites the sample");
}

/// The program accepts every command line of the pages.
#[test]
fn their_commands_are_commands() {
    let pages = pages();
    let mut tried = 0;
    let blocks = pages.iter().flat_map(|(_, text)| blocks(text));
    for (_, lines) in blocks.filter(|(kind, _)| *kind == "sh") {
        for line in lines.join("\n").replace("\\\n", " ").lines() {
            let Some(rest) = line.strip_prefix("target/release/tailcut ") else { continue };
            let words = words(rest.split("  #").next().expect("never empty"));
            // `--help` ends the program before it runs, after the arguments before it were
            // parsed.
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            words.push("--help");
            let ended = tailcut(&words);
            assert_eq!(ended.code, Some(0), "{line}\n{}", ended.err);
            for option in words.iter().filter(|w| w.starts_with("--")) {
                let name = option.split('=').next().expect("never empty");
                assert!(ended.out.contains(name), "{line}: `{name}` is not in the help");
            }
            tried += 1;
        }
    }
    assert!(tried >= 35, "only {tried} command lines were found");
}

/// The words of a command line, without single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace().map(String::from)),
            _ => words.push(part.to_string()),
        }
    }
    words
}

/// The links lead to existing files, and the names are built in.
#[test]
fn their_links_and_names_hold() {
    for (folder, text) in pages() {
        let links = text.split("](").skip(1).filter_map(|l| l.split(')').next());
        for link in links.filter(|l| !l.contains("://") && !l.starts_with('#')) {
            assert!(root().join(folder).join(link).exists(), "{link} is not there");
        }
    }
    let toolchain = std::fs::read_to_string(root().join("Cargo.toml")).expect("it is there");
    let version = toolchain
        .lines()
        .find_map(|l| l.strip_prefix("rust-version = "))
        .expect("a version")
        .trim_matches('"');
    assert!(readme().contains(&format!("A Rust toolchain ({version} or newer)")), "it is {version}");
    let built_in = ["devices", "schemes"].map(|kind| tailcut(&["show", kind]).ok()).concat();
    let text: String = pages().into_iter().map(|(_, text)| text).collect();
    let runs = text.lines().filter_map(|l| l.strip_prefix("target/release/tailcut run "));
    for device in runs.filter_map(|l| l.split_whitespace().next()).filter(|d| *d != "my-ssd.toml") {
        assert!(
            built_in.lines().any(|l| l.split_whitespace().next() == Some(device)),
            "{device} is not built in"
        );
    }
}
