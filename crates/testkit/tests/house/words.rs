//! Tests the English of comments, help and documents: words that have a plainer one in the field are not used.

use super::{root, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Words that comments and documents do not use, and what to write instead. A phrase may be broken by a line end.
const BANNED: &[(&str, &str)] = &[
    ("anew", "again, or the verb: recompute, redraw"),
    ("as ever", "as usual, unchanged"),
    ("beneath", "below"),
    ("besides", "in addition to, other than, without"),
    ("by turns", "alternately"),
    ("fed", "what was supplied"),
    ("former", "previous, the first"),
    ("formerly", "before"),
    ("homes", "the placement of a stripe"),
    ("hungry", "without a victim"),
    ("hurt", "partly dead, degraded"),
    ("in turns", "alternately, in groups"),
    ("in vain", "without effect, unproductive"),
    ("its turn", "the order, the queue, or what it waits for"),
    ("so many", "the number, by name"),
    ("their turn", "the order, the queue, or what they wait for"),
    ("told", "reported, notified, known"),
    ("vain", "without effect, unproductive"),
    ("whose turn", "which lane, which LUN"),
];

/// The documents that people read: those of the root (without the record of changes) and of `docs`.
fn documents() -> Vec<(String, String)> {
    let names = |folder: &str| {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder");
        let names = entries.map(|e| e.expect("a readable folder").file_name().to_string_lossy().into_owned());
        let at = |name: String| if folder.is_empty() { name } else { format!("{folder}/{name}") };
        names.filter(|name| name.ends_with(".md")).map(at).collect::<Vec<_>>()
    };
    let all = [names(""), names("docs")].concat();
    let read = |name: String| {
        let text = std::fs::read_to_string(root().join(&name)).expect("UTF-8 text");
        (name, text)
    };
    let kept = |name: &String| name != "CHANGELOG.md";
    let mut documents: Vec<(String, String)> = all.into_iter().filter(kept).map(read).collect();
    documents.sort();
    assert!(documents.len() > 10, "the documents were not found");
    documents
}

/// The comment of a line of Rust; `None` if the line has none.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = match line.strip_prefix("//") {
        Some(text) => text,
        None => line.split_once(" // ")?.1,
    };
    Some(text.trim_start_matches(['/', '!']))
}

/// The words of lines in lower case, each with the number of its line. Lines without text interrupt phrases: they give
/// an empty word.
fn words<'a>(lines: impl Iterator<Item = Option<&'a str>>) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (number, line) in (1..).zip(lines) {
        let Some(line) = line else {
            out.push((number, String::new()));
            continue;
        };
        // A word in backticks or with an underscore is a name, and not English.
        for (i, part) in line.split('`').enumerate() {
            if i % 2 == 1 {
                out.push((number, String::new()));
                continue;
            }
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            let found = part.split(|c: char| !is_part(c)).filter(|word| !word.is_empty());
            out.extend(found.map(|word| (number, word.to_lowercase())));
        }
    }
    out
}

/// The banned words in these words, each with the number of its line.
fn banned(words: &[(usize, String)]) -> Vec<(usize, &'static str)> {
    let phrases: Vec<(&str, Vec<&str>)> =
        BANNED.iter().map(|&(phrase, _)| (phrase, phrase.split(' ').collect())).collect();
    let at = |start: usize| {
        phrases.iter().filter(move |(_, parts)| {
            let found = words.get(start..start + parts.len());
            found.is_some_and(|found| found.iter().zip(parts).all(|((_, word), part)| word == part))
        })
    };
    (0..words.len()).flat_map(|start| at(start).map(move |(phrase, _)| (words[start].0, *phrase))).collect()
}

#[test]
fn comments_and_documents_use_the_words_of_the_field() {
    let mut hits: BTreeMap<String, Vec<(usize, &str)>> = BTreeMap::new();
    for (name, text) in sources("crates") {
        // This list names the words itself.
        if name.ends_with("house/words.rs") {
            continue;
        }
        let found = banned(&words(text.lines().map(comment)));
        if !found.is_empty() {
            hits.insert(name, found);
        }
    }
    for (name, text) in documents() {
        let found = banned(&words(text.lines().map(Some)));
        if !found.is_empty() {
            hits.insert(name, found);
        }
    }
    let instead =
        |phrase: &str| BANNED.iter().find(|(of, _)| *of == phrase).map_or("", |(_, instead)| *instead);
    let mut report = String::new();
    for (name, found) in &hits {
        for (line, phrase) in found {
            report.push_str(&format!("{name}:{line}: `{phrase}`: write instead: {}\n", instead(phrase)));
        }
    }
    assert!(hits.is_empty(), "plain technical English (CONTRIBUTING.md):\n{report}");
}

#[test]
fn the_scan_sees_phrases_and_not_names() {
    let found = |text: &str| banned(&words(text.lines().map(comment)));
    assert_eq!(found("/// It is made\n/// anew."), [(2, "anew")]);
    assert_eq!(found("// after so\n// many erases"), [(1, "so many")]);
    assert_eq!(found("let told = 1; // Told twice."), [(1, "told")]);
    assert_eq!(found("/// in vain"), [(1, "in vain"), (1, "vain")]);
    let names = "let told = 1;\n/// `told` and re-fed and told_of.\n/// so\nfn many() {}\n/// many";
    assert_eq!(found(names), []);
}

/// ARCHITECTURE.md names every folder of `core`, and the files of its top, of `flash`, of collection and of the two
/// controllers, except for their lists, states and audits. So a new file there needs a word in it.
#[test]
fn the_architecture_names_what_a_newcomer_meets() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("it is there");
    let names: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let named = |name: &str| {
        let forms = [name.to_string(), format!("{name}.rs"), format!("{name}/")];
        names.iter().any(|code| forms.iter().any(|form| code == form || code.ends_with(&format!("/{form}"))))
    };
    let mut missing = Vec::new();
    for (file, _) in sources("crates/core/src") {
        let path = file.trim_start_matches("crates/core/src/").trim_end_matches(".rs");
        let mut parts: Vec<&str> = path.split('/').collect();
        let stem = parts.pop().expect("a name");
        missing
            .extend(parts.iter().filter(|folder| !named(folder)).map(|folder| format!("{file}: {folder}/")));
        let listed = matches!(parts.as_slice(), [] | ["flash"] | ["device"] | ["device", "gc"] | ["pblk"]);
        if listed && !matches!(stem, "mod" | "lib" | "state" | "audit" | "config") && !named(stem) {
            missing.push(file);
        }
    }
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "ARCHITECTURE.md does not name: {missing:#?}");
    let words = page.split_whitespace().count();
    assert!(words <= 3_300, "ARCHITECTURE.md has {words} words: a quarter of an hour is 3,000");
}

#[test]
fn the_list_is_sorted() {
    assert!(BANNED.is_sorted_by(|a, b| a.0 < b.0));
}
