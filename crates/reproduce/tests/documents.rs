//! Tests that the documents in the repository are complete and were made by this version of the
//! model.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tailcut_reproduce::check::judge;
use tailcut_reproduce::{Experiment, Results, Tally, list, markdown, summary, version};

/// The summaries, and the folders of their pages.
const REPORTS: [&str; 2] = ["reproduction", "composed"];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The report that holds an experiment's page.
fn report(e: &Experiment) -> &'static str {
    REPORTS[usize::from(!e.judges())]
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The files of a folder, by name.
fn files(folder: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(folder).map_or(Vec::new(), Iterator::collect);
    files.into_iter().map(|f| f.expect("readable").file_name().to_string_lossy().into_owned()).collect()
}

/// The pages of a report, by id.
fn pages(report: &str) -> BTreeMap<String, String> {
    let folder = docs().join(report);
    let page = |name: &String| {
        let text = text(&folder.join(name));
        let id = markdown::id(&text).unwrap_or_else(|| panic!("docs/{report}/{name} is no whole page"));
        assert_eq!(format!("{}.md", markdown::stem(id)), *name, "docs/{report}");
        (id.to_string(), text)
    };
    files(&folder).iter().map(page).collect()
}

/// A page made by an older model is outdated, unless no change since then affects its
/// drives.
#[test]
fn no_page_is_older_than_the_model_that_could_change_it() {
    let mut old = Vec::new();
    let reports = REPORTS.map(|report| (report, pages(report)));
    for e in list::all().expect("sound") {
        let pages = &reports.iter().find(|(of, _)| *of == report(&e)).expect("a report").1;
        let needed = version::needed(&e).expect("every scheme can be resolved");
        match pages.get(&e.id).map(|s| version::stated(s)) {
            None => old.push(format!("{}: not in docs/{}", e.id, report(&e))),
            Some(Some(stated)) if stated >= needed => {}
            Some(stated) => old.push(format!(
                "{}: made by model version {}, and version {needed} can change it",
                e.id,
                stated.map_or("?".to_string(), |v| v.to_string())
            )),
        }
    }
    assert!(old.is_empty(), "`make reproduce` renews these pages:\n{}", old.join("\n"));
}

/// A page has the checks, bands, reasons and texts that its file has now.
#[test]
fn every_page_has_the_texts_of_its_file() {
    let mut old = Vec::new();
    let pages: BTreeMap<String, String> = REPORTS.into_iter().flat_map(pages).collect();
    for e in list::all().expect("sound") {
        let Some(page) = pages.get(&e.id) else { continue };
        let mut has = |part: &str| {
            if !page.contains(part) {
                old.push(format!("{}: {part}", e.id));
            }
        };
        has(&format!("# {}: {}\n\n{}. {}\n", e.id, e.title, e.source.trim_end_matches('.'), e.shows.trim()));
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
        let missed = page.contains(" | **");
        assert_eq!(
            e.misses.is_some(),
            missed,
            "{}: `misses` says why values are out of band, if any is",
            e.id
        );
        e.misses.iter().for_each(|why| has(&format!("\n\nMisses: {}\n\n", why.trim())));
        let first = page.lines().next().unwrap_or_default();
        let tally = first.split_once("| ").and_then(|(_, mark)| Tally::of_mark(mark.trim_end_matches("-->")));
        assert!(!e.judges() || tally.is_some(), "{}: `{first}` has no tally", e.id);
    }
    assert!(old.is_empty(), "`tailcut reproduce` renews these pages; they lack:\n{}", old.join("\n"));
}

/// Pages of removed experiments, and pages made at the quick size, are not allowed.
#[test]
fn every_page_is_of_an_experiment_at_its_full_size() {
    let all = list::all().expect("sound");
    for name in REPORTS {
        for (id, page) in pages(name) {
            assert!(
                all.iter().any(|e| e.id == id && report(e) == name),
                "docs/{name}: {id} is no experiment"
            );
            assert!(page.contains(", full size: "), "docs/{name}: {id} was made at the quick size");
        }
    }
}

/// The summaries are those of the pages. UPDATE=1 writes them and their pictures again.
#[test]
fn the_summaries_are_those_of_the_pages() {
    for name in REPORTS {
        let summary = summary::summary(&pages(name), name);
        let pictures =
            summary.pictures.iter().map(|(name, svg)| (docs().join(markdown::FIGURES).join(name), svg));
        for (path, wanted) in pictures.chain([(docs().join(format!("{name}.md")), &summary.text)]) {
            if std::env::var_os("UPDATE").is_some() {
                std::fs::write(&path, wanted).expect("writable");
            }
            assert!(text(&path) == *wanted, "{} differs; UPDATE=1 rewrites it", path.display());
        }
        let lines = summary.text.lines().count();
        assert!(lines <= 220, "docs/{name}.md has {lines} lines: too many to take in");
    }
}

#[test]
fn every_picture_is_shown_and_every_picture_shown_is_there() {
    let mut shown = BTreeSet::new();
    for name in REPORTS {
        let summary = text(&docs().join(format!("{name}.md")));
        for text in pages(name).values().chain([&summary]) {
            for part in text.split(&format!("{}/", markdown::FIGURES)).skip(1) {
                shown.insert(part.split('"').next().unwrap_or_default().to_string());
            }
        }
    }
    let there = files(&docs().join(markdown::FIGURES));
    assert_eq!(shown, there, "`make reproduce` writes the pictures; delete pictures that no document shows");
}

/// The relative links of the documents lead to files.
#[test]
fn every_link_leads_to_a_file() {
    let mut lost = Vec::new();
    for folder in ["", "reproduction", "composed"].map(|folder| docs().join(folder)) {
        for name in files(&folder).iter().filter(|name| name.ends_with(".md")) {
            let text = text(&folder.join(name));
            let links = text.split("](").skip(1).filter_map(|link| link.split([')', '#']).next());
            let links = links.filter(|link| !link.contains("://") && !link.contains([' ', '`', '\n']));
            let wrong = links.filter(|link| !folder.join(link).exists());
            lost.extend(wrong.map(|link| format!("{}: {link}", folder.join(name).display())));
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

/// A picture has the colours for light and for dark pages in its style, and no others.
#[test]
fn every_picture_adapts_to_light_and_dark_pages() {
    for folder in [markdown::FIGURES, "drawings"] {
        let folder = docs().join(folder);
        for name in files(&folder) {
            let picture = text(&folder.join(&name));
            let (style, body) = picture.split_once("</style>").unwrap_or_else(|| panic!("{name}: no style"));
            let (light, dark) =
                style.split_once("@media (prefers-color-scheme: dark) {").unwrap_or_else(|| panic!("{name}"));
            let of_text = |style: &str| style.lines().any(|l| l.contains("text {") && l.contains("fill: #"));
            assert!(of_text(light) && of_text(dark), "{name}: the colour of texts");
            assert!(
                !body.contains("=\"#") && !body.contains("rgb("),
                "{name}: a colour outside of the style"
            );
        }
    }
}
