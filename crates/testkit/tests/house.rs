//! Tests the structure of the source tree: dependencies of crates and modules, rings of files, what the core
//! may not use, the length of files, what module files contain, and the words of comments.

#[path = "house/rings.rs"]
mod rings;
#[path = "house/words.rs"]
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::Table;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Rust file below a folder of the repository, with its text.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(dir) = folders.pop() {
        let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        for entry in entries {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).expect("UTF-8 source");
                let name = path.strip_prefix(root()).expect("inside the repository");
                out.push((name.to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    out.sort();
    out
}

/// The code of a file without comments and without its unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = text.lines().map(|l| if l.trim_start().starts_with("//") { "" } else { l });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a text contains a word as a whole identifier.
fn mentions(text: &str, word: &str) -> bool {
    let ident = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(ident) && !after.is_some_and(ident)
    })
}

/// For each crate, the other crates of the workspace that it may depend on.
const CRATES: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("core", &["units", "ldpc"]),
    ("ldpc", &["units"]),
    ("stats", &["units"]),
    ("workload", &["units"]),
    ("config", &["units", "core"]),
    ("report", &["units", "stats"]),
    ("page", &["units", "stats", "report"]),
    ("sim", &["units", "core", "stats", "workload", "config", "report"]),
    ("reproduce", &["units", "core", "stats", "workload", "config", "report", "sim"]),
    ("live", &["units", "core"]),
    (
        "cli",
        &[
            "units",
            "core",
            "ldpc",
            "stats",
            "workload",
            "config",
            "report",
            "page",
            "sim",
            "reproduce",
            "live",
        ],
    ),
    ("testkit", &["units", "core", "stats", "workload", "config", "report", "sim"]),
    ("py", &["units", "core", "stats", "workload", "config", "report", "page", "sim"]),
];

#[test]
fn crates_depend_downwards_only() {
    let allowed: BTreeMap<_, _> = CRATES.iter().copied().collect();
    let folders: BTreeSet<String> = std::fs::read_dir(root().join("crates"))
        .expect("the crates")
        .map(|e| e.expect("a readable folder").file_name().to_string_lossy().into_owned())
        .collect();
    let listed: BTreeSet<String> = allowed.keys().map(|k| k.to_string()).collect();
    assert_eq!(folders, listed, "every crate has its dependencies listed here");
    for (name, may) in CRATES {
        let path = root().join(format!("crates/{name}/Cargo.toml"));
        let manifest: Table = toml::from_str(&std::fs::read_to_string(&path).expect("a manifest"))
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(manifest["package"]["name"].as_str(), Some(format!("tailcut-{name}").as_str()));
        let external = manifest["dependencies"].get("tailcut-core").and_then(|core| core.get("features"));
        assert_eq!(
            external.is_some(),
            *name == "py",
            "{name}: only py lets functions decide (feature `external`)"
        );
        for section in ["dependencies", "build-dependencies"] {
            let Some(table) = manifest.get(section).and_then(|s| s.as_table()) else { continue };
            for own in table.keys().filter_map(|k| k.strip_prefix("tailcut-")) {
                assert!(may.contains(&own), "{name} depends on {own}; it may use {may:?}");
            }
            // External crates the core may use: none with randomness, time or threads.
            if *name == "core" {
                let mut used: BTreeSet<&str> = table.keys().map(String::as_str).collect();
                let linux = &manifest["target"]["cfg(target_os = \"linux\")"]["dependencies"];
                used.extend(linux.as_table().expect("dependencies").keys().map(String::as_str));
                let known = [
                    "tailcut-units",
                    "tailcut-ldpc",
                    "serde",
                    "thiserror",
                    "bytemuck",
                    "memmap2",
                    "tempfile",
                    "rustix",
                    "postcard",
                    "xxhash-rust",
                    "libm",
                    "strum",
                ];
                let new: Vec<_> = used.iter().filter(|k| !known.contains(k)).collect();
                assert!(new.is_empty(), "core has new dependencies: {new:?}");
            }
        }
        if *name == "units" {
            let table = manifest["dependencies"].as_table().expect("dependencies");
            assert!(table.keys().all(|k| k == "serde"), "units may depend on serde only: {table:?}");
        }
    }
}

#[test]
fn modules_of_the_core_look_down_only() {
    // What a controller may know, and with the controllers and the API above them all that the table below is about.
    const CONTROLLER: &[&str] = &[
        "containers",
        "nand",
        "policy",
        "array",
        "flash",
        "ftl",
        "medium",
        "front",
        "observer",
        "overwrites",
        "figures",
    ];
    let parts = || CONTROLLER.iter().copied().chain(["device", "pblk", "drive"]);
    // For each module folder, those that it may mention. The two controllers are siblings: neither knows the other.
    let rooms: [(&str, &[&str]); 12] = [
        ("containers", &[]),
        ("nand", &["containers"]),
        ("policy", &[]),
        ("array", &["nand", "policy"]),
        ("flash", &["containers", "nand", "policy", "array", "observer"]),
        ("ftl", &["containers", "policy"]),
        ("medium", &["ftl"]),
        ("front", &["containers"]),
        ("overwrites", &[]),
        ("figures", &["containers", "nand", "array", "flash"]),
        ("pblk", CONTROLLER),
        ("device", CONTROLLER),
    ];
    for file in ["address.rs", "divider.rs", "observer.rs"] {
        let text = std::fs::read_to_string(root().join("crates/core/src").join(file)).expect("a file");
        for room in ["containers", "policy", "flash", "ftl", "front", "device"] {
            let path = format!("crate::{room}");
            assert!(!mentions(&code(&text), &path), "{file} may not know {room}");
        }
    }
    for (room, open) in rooms {
        let closed = parts().filter(|part| *part != room && !open.contains(part));
        let closed: Vec<&str> = closed.collect();
        let files = sources(&format!("crates/core/src/{room}"));
        assert!(!files.is_empty(), "{room} has files");
        for (name, text) in files {
            let code = code(&text);
            for other in &closed {
                for path in [format!("crate::{other}"), format!("tailcut_core::{other}")] {
                    assert!(!mentions(&code, &path), "{name}: {room} may not know {other}");
                }
                let deep = format!("super::super::{other}");
                assert!(!mentions(&code, &deep), "{name}: {room} may not know {other}");
            }
        }
    }
}

#[test]
fn the_core_has_no_clock_thread_file_or_unordered_map() {
    let banned = [
        "std::time",
        "std::thread",
        "std::fs",
        "std::net",
        "std::env",
        "std::process",
        "HashMap",
        "HashSet",
        "Instant::now",
        "SystemTime",
        "thread_local",
        "static mut",
        "println",
        "eprintln",
        "lazy_static",
        "OnceLock",
        "Mutex",
        "RwLock",
    ];
    for folder in ["crates/core/src", "crates/units/src"] {
        for (name, text) in sources(folder) {
            let code = code(&text);
            for word in banned {
                // The start of an aged state is the same for any number of threads (test
                // `analytic_start`).
                // The reverse map of a very large drive has a file, which no result depends on.
                let excepted = word == "std::thread" && name.ends_with("device/age/threads.rs")
                    || word == "std::fs" && name.ends_with("containers/big.rs");
                assert!(excepted || !mentions(&code, word), "{name} mentions {word}");
            }
            // A function of the program around the drive, which exists with the feature `external` alone.
            let outside = name.ends_with("/external.rs") || name.ends_with("policy/outside.rs");
            assert!(
                outside || !code.contains("dyn Policy") && !code.contains("Box<dyn"),
                "{name} dispatches through a box"
            );
        }
    }
}

#[test]
fn results_do_not_rest_on_the_machines_transcendentals() {
    let methods =
        ["ln", "log2", "log10", "exp", "powf", "sin", "cos", "tan", "tanh", "ln_1p", "exp_m1", "cbrt"];
    for folder in ["crates/core/src", "crates/units/src", "crates/workload/src", "crates/ldpc/src"] {
        for (name, text) in sources(folder).iter().filter(|(name, _)| !name.contains("/tests/")) {
            if name.ends_with("trace/footprint.rs") {
                continue; // An estimate that is only printed and affects no result.
            }
            let code = code(text);
            for method in methods {
                for form in [format!(".{method}("), format!("f64::{method}(")] {
                    assert!(!code.contains(&form), "{name} calls {form}…): use libm, so that digests agree");
                }
            }
        }
    }
}

#[test]
fn no_file_is_too_long() {
    for (name, text) in sources("crates") {
        let lines = text.lines().count();
        assert!(lines <= 1_000, "{name} has {lines} lines: split it");
    }
}

/// The lines of each function of a formatted text, by the name of the function: from `fn` to the brace that closes it.
fn functions(text: &str) -> Vec<(String, usize)> {
    let mut out = Vec::new();
    let mut open: Vec<(String, usize, usize)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "fn");
        let name = at.and_then(|at| words.get(at + 1)).and_then(|word| word.split(['(', '<']).next());
        if let Some(name) = name.filter(|_| !line.trim_end().ends_with(['}', ';'])) {
            open.push((name.to_string(), number, indent));
        } else if line.trim() == "}"
            && let Some((name, start, _)) = open.pop_if(|(_, _, of)| *of == indent)
        {
            out.push((name, number - start + 1));
        }
    }
    out
}

/// Numbers of the core that may only fall. A change that makes one smaller writes the smaller number here.
#[test]
fn what_the_house_has_too_much_of_only_falls() {
    let files = sources("crates/core/src");
    let files = files.into_iter().filter(|(name, _)| !name.ends_with("tests.rs"));
    let files: Vec<(String, String)> = files.map(|(name, text)| (name, code(&text))).collect();
    let methods = |room: &str| {
        let inside = files.iter().filter(|(name, _)| name.starts_with(&format!("crates/core/src/{room}/")));
        // A method of the controller stands in an `impl` of its type, whichever file that is in.
        let of_type = |text: &str| {
            let name = match room {
                "device" => "Device<",
                "flash" => "Flash<",
                _ => "Pblk<",
            };
            let mut inside = false;
            let mut count = 0;
            for line in text.lines() {
                if line.starts_with("impl") {
                    inside = line.contains(&format!(" {name}"));
                }
                count += usize::from(inside && line.starts_with("    ") && mentions(line, "fn"));
            }
            count
        };
        inside.map(|(_, text)| of_type(text)).sum::<usize>()
    };
    let long: Vec<(String, usize)> =
        files.iter().flat_map(|(_, text)| functions(text)).filter(|(_, lines)| *lines > 70).collect();
    const IDS: [&str; 12] = [
        "lane: u32",
        "extent: u32",
        "slot: u32",
        "stripe: u32",
        "die: u32",
        "channel: u32",
        "line: u32",
        "position: u32",
        "write_unit: u32",
        "request: u32",
        "id: u32",
        "plane: u32",
    ];
    let raw: usize = files.iter().flat_map(|(_, text)| IDS.map(|id| text.matches(id).count())).sum();
    for (what, now, most) in [
        ("methods of Device", methods("device"), 289),
        ("methods of Pblk", methods("pblk"), 176),
        ("methods of Flash", methods("flash"), 226),
        ("functions of more than 70 lines", long.len(), 9),
        ("numbers without a type for what has a name", raw, 676),
    ] {
        assert!(now <= most, "{what}: {now}, and at most {most} were allowed ({long:?})");
        assert!(now == most, "{what}: only {now} are left: write that here instead of {most}");
    }
}

#[test]
fn every_file_says_what_it_is() {
    for (name, text) in sources("crates") {
        assert!(text.starts_with("//!"), "{name} does not begin with a `//!` comment");
    }
}

#[test]
fn module_files_hold_declarations() {
    for (name, text) in sources("crates") {
        let file = name.rsplit('/').next().unwrap_or_default();
        if !matches!(file, "mod.rs" | "lib.rs") || name.contains("/tests/") {
            continue;
        }
        let code = code(&text);
        let lines = code.lines().filter(|l| !l.trim().is_empty()).count();
        assert!(lines <= 120, "{name} has {lines} lines of code: it holds declarations, docs and lists");
        let blocks = code.lines().filter(|l| l.starts_with("impl") && l.ends_with('{')).count();
        assert_eq!(blocks, 0, "{name} has an impl block: move it to a file of its own");
        let functions =
            |l: &&str| l.starts_with("fn ") || l.starts_with("pub fn ") || l.starts_with("pub(crate) fn ");
        let count = code.lines().filter(functions).count();
        assert!(count <= 1, "{name} has {count} functions: move them to files of their own");
    }
}

#[test]
fn policies_are_one_file_and_one_line() {
    let families = root().join("crates/core/src/policy");
    for entry in std::fs::read_dir(families).expect("the families") {
        let family = entry.expect("a readable folder").path();
        if !family.is_dir() {
            continue;
        }
        let list = std::fs::read_to_string(family.join("mod.rs")).expect("a family has a mod.rs");
        for member in std::fs::read_dir(&family).expect("the members") {
            let path = member.expect("a readable folder").path();
            let module = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if module == "mod" {
                continue;
            }
            let name = path.display();
            let registered = list.lines().any(|l| l.trim_start().starts_with(&format!("{module} ")));
            assert!(registered, "{name} is not in its family's list of members");
            let text = std::fs::read_to_string(&path).expect("UTF-8 source");
            for heading in
                ["**What it does.**", "**Parameters and source.**", "**Left out.**", "**Checked by**"]
            {
                assert!(text.contains(heading), "{name} has no {heading}");
            }
            assert!(text.contains("**Why it "), "{name} does not say what it means for the tail");
        }
    }
}

/// A number in `tests/counts.toml` cannot be raised without a line in the changelog.
#[test]
fn the_changelog_states_the_instructions_a_request() {
    let read =
        |name: &str| std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (file, changelog) = (read("tests/counts.toml"), read("CHANGELOG.md"));
    let counts: Table = toml::from_str(&file).unwrap_or_else(|e| panic!("tests/counts.toml: {e}"));
    let counts = counts["instructions"].as_table().expect("a table `instructions`");
    assert!(!counts.is_empty());
    for (name, count) in counts {
        let count = count.as_integer().expect("a whole number") as f64;
        // The newest release is the first section, so the first such line holds.
        let line = changelog.lines().find(|l| l.starts_with(&format!("- `{name}`: ")));
        let stated = line.and_then(|l| l.split_whitespace().nth(2)).and_then(|n| n.parse::<f64>().ok());
        assert!(
            stated.is_some_and(|s| count <= s * 1.02 && s <= count * 1.02),
            "CHANGELOG.md must say (and why, if it is more than before): - `{name}`: {count} instructions a \
             request"
        );
    }
}

#[test]
fn unsafe_code_is_where_it_is_argued_for() {
    for (name, text) in sources("crates") {
        let allows = text.lines().any(|l| l.contains("allow(unsafe_code)") && !l.contains("contains("));
        let argued = ["crates/core/src/containers/big.rs", "crates/testkit/tests/allocation.rs"];
        assert!(!allows || argued.contains(&name.as_str()), "{name} allows unsafe code");
    }
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
    assert!(manifest.contains("unsafe_code = \"deny\""));
    for (name, _) in CRATES {
        let manifest = std::fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml"))).expect("it");
        assert!(manifest.contains("[lints]\nworkspace = true"), "{name} takes the workspace's lints");
    }
}
