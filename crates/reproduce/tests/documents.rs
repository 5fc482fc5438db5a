//! Tests that the documents in the repository are complete and were made by this version of the
//! model.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tailcut_reproduce::check::judge;
use tailcut_reproduce::{Experiment, Results, Tally, list, markdown, version};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The document that holds an experiment's section.
fn document(e: &Experiment) -> &'static str {
    if e.judges() { "reproduction.md" } else { "composed.md" }
}

fn text(name: &str) -> String {
    std::fs::read_to_string(docs().join(name)).unwrap_or_else(|e| panic!("docs/{name}: {e}"))
}

/// A section made by an older model is outdated, unless no change since then affects its
/// drives.
#[test]
fn no_section_is_older_than_the_model_that_could_change_it() {
    let mut old = Vec::new();
    for e in list::all().expect("sound") {
        let sections = markdown::split(&text(document(&e)));
        let needed = version::needed(&e).expect("every scheme can be resolved");
        match sections.get(&e.id).map(|s| version::stated(s)) {
            None => old.push(format!("{}: not in docs/{}", e.id, document(&e))),
            Some(Some(stated)) if stated >= needed => {}
            Some(stated) => old.push(format!(
                "{}: made by model version {}, and version {needed} can change it",
                e.id,
                stated.map_or("?".to_string(), |v| v.to_string())
            )),
        }
    }
    assert!(old.is_empty(), "`make reproduce` renews these sections:\n{}", old.join("\n"));
}

/// A section has the checks, bands, reasons and texts that its file has now.
#[test]
fn every_section_has_the_texts_of_its_file() {
    let mut old = Vec::new();
    for e in list::all().expect("sound") {
        let sections = markdown::split(&text(document(&e)));
        let Some(section) = sections.get(&e.id) else { continue };
        let mut has = |part: &str| {
            if !section.contains(part) {
                old.push(format!("{}: {part}", e.id));
            }
        };
        has(&format!("## {}: {}\n\n{}. {}\n", e.id, e.title, e.source.trim_end_matches('.'), e.shows.trim()));
        e.discussion.iter().for_each(|text| has(text.trim()));
        let nothing = Results {
            id: e.id.clone(),
            quick: false,
            seconds: 0.0,
            runs: Vec::new(),
            searches: Vec::new(),
            found: Vec::new(),
            outcomes: Vec::new(),
            expected: Vec::new(),
        };
        for (c, o) in e.check.iter().zip(judge(&e, &e.check, &nothing)) {
            // The label of a find ends with the value that was found.
            let label = if c.found.is_some() { String::new() } else { format!("| {} ", o.label) };
            has(&format!("{label}| {} | {} | {} | {} |", o.scheme, o.kind, o.published, o.trust));
            has(&format!("| {} |", o.band));
            o.fitted.iter().for_each(|what| has(&format!(": {what}\n")));
        }
        for o in judge(&e, &e.expect, &nothing) {
            has(&format!("| {} | {} | {} |", o.label, o.scheme, o.band));
        }
        let first = section.lines().next().unwrap_or_default();
        let tally = first.split_once("| ").and_then(|(_, mark)| Tally::of_mark(mark.trim_end_matches("-->")));
        assert!(!e.judges() || tally.is_some(), "{}: `{first}` has no tally", e.id);
    }
    assert!(old.is_empty(), "`tailcut reproduce` renews these sections; they lack:\n{}", old.join("\n"));
}

/// Sections of removed experiments, and sections made at the quick size, are not allowed.
#[test]
fn every_section_is_of_an_experiment_at_its_full_size() {
    let all = list::all().expect("sound");
    for name in ["reproduction.md", "composed.md"] {
        for (id, section) in markdown::split(&text(name)) {
            assert!(
                all.iter().any(|e| e.id == id && document(e) == name),
                "docs/{name}: {id} is no experiment"
            );
            assert!(section.contains(", full size: "), "docs/{name}: {id} was made at the quick size");
        }
    }
}

#[test]
fn every_picture_is_shown_and_every_picture_shown_is_there() {
    let mut shown = BTreeSet::new();
    for name in ["reproduction.md", "composed.md"] {
        for part in text(name).split(&format!("\"{}/", markdown::FIGURES)).skip(1) {
            shown.insert(part.split('"').next().unwrap_or_default().to_string());
        }
    }
    let folder = docs().join(markdown::FIGURES);
    let files = std::fs::read_dir(&folder).map_or(Vec::new(), Iterator::collect);
    let there: BTreeSet<String> =
        files.into_iter().map(|f| f.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(shown, there, "`make reproduce` writes the pictures; delete pictures that no document shows");
}
