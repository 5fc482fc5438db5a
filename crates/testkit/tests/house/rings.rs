//! Tests that no files of a crate import each other in a ring, or that such rings only become smaller.
//!
//! A file imports the file that defines a name, also if a third file re-exports the name. A file that re-exports a name
//! imports its file too; a line `mod` imports nothing.

use super::sources;
use std::collections::{BTreeMap, BTreeSet};

/// Crates of which no files import each other in a ring.
const WITHOUT_RINGS: [&str; 3] = ["config", "reproduce", "workload"];

/// For a crate and a folder of its sources (empty: all of them), the files of the largest ring that has a file there.
const LARGEST_RINGS: [(&str, &str, usize); 3] =
    [("core", "flash", 7), ("core", "device", 29), ("core", "pblk", 14)];

/// The path of a module from the root of its crate, which has an empty path.
type Module = Vec<String>;

/// A path of a `use` or of an expression: its segments, and the name that a `use` gives to it.
struct Import {
    path: Vec<String>,
    /// `None` in an expression.
    name: Option<String>,
}

/// The file of each module of a crate, with its code; without tests.
fn modules(krate: &str) -> BTreeMap<Module, (String, String)> {
    let top = format!("crates/{krate}/src/");
    let module = |(file, text): (String, String)| {
        let path = file.strip_prefix(&top)?.strip_suffix(".rs")?;
        let mut parts: Module = path.split('/').map(str::to_string).collect();
        if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            parts.pop();
        }
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
        let code = lines.collect::<Vec<_>>().join("\n");
        (!parts.iter().any(|part| part == "tests")).then_some((parts, (file, code)))
    };
    sources(top.trim_end_matches('/')).into_iter().filter_map(module).collect()
}

/// The identifiers, the double colons and the other characters of a code, without blanks.
fn tokens(code: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if is_part(first) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        out.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    out
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Read the tree of a `use` that starts at `at`; the result is where it ends. `above`: the segments before the tree.
fn read_tree(tokens: &[&str], mut at: usize, above: &[String], out: &mut Vec<Import>) -> usize {
    let token = |at: usize| tokens.get(at).copied().unwrap_or_default();
    let mut path = above.to_vec();
    while is_name(token(at)) && token(at + 1) == "::" {
        path.push(token(at).to_string());
        at += 2;
    }
    if token(at) == "{" {
        while matches!(token(at), "{" | ",") {
            at += 1;
            if token(at) != "}" {
                at = read_tree(tokens, at, &path, out);
            }
        }
        return at + 1;
    }
    // `a::b::{self}` is `a::b`.
    if token(at) != "self" || above.is_empty() {
        path.push(token(at).to_string());
    }
    let renamed = token(at + 1) == "as";
    at += if renamed { 3 } else { 1 };
    let name = if renamed { Some(token(at - 1).to_string()) } else { path.last().cloned() };
    out.push(Import { path, name });
    at
}

/// The paths of a code. An expression's path counts if it starts with `crate`, `super`, `self` or a name of `below`.
fn imports(code: &str, below: &BTreeSet<&str>) -> Vec<Import> {
    let tokens = tokens(code);
    let token = |at: usize| tokens.get(at).copied().unwrap_or_default();
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let begins = matches!(token(at), "crate" | "super" | "self") || below.contains(token(at));
        if token(at) == "use" {
            at = read_tree(&tokens, at + 1, &[], &mut out);
        } else if token(at) == "pub" && token(at + 1) == "(" {
            // A visibility such as `pub(in crate::trace)` imports nothing.
            at += tokens[at..].iter().position(|token| *token == ")").unwrap_or(1);
        } else if begins && token(at + 1) == "::" && (at == 0 || token(at - 1) != "::") {
            let mut path = vec![token(at).to_string()];
            while token(at + 1) == "::" && is_name(token(at + 2)) {
                at += 2;
                path.push(token(at).to_string());
            }
            out.push(Import { path, name: None });
        }
        at += 1;
    }
    out
}

/// The files of a crate, and for each file the files that it imports, with a name that it imports from there.
struct Graph {
    files: BTreeMap<Module, String>,
    edges: BTreeMap<Module, BTreeMap<Module, String>>,
}

impl Graph {
    fn of(krate: &str) -> Graph {
        Graph::of_modules(modules(krate))
    }

    fn of_modules(modules: BTreeMap<Module, (String, String)>) -> Graph {
        let is_module = |path: &[String]| modules.contains_key(path);
        // The module that a path of `module` leads to, and the segment after it.
        let resolve = |module: &Module, path: &[String]| {
            let (mut base, mut rest) = match path[0].as_str() {
                "crate" => (Vec::new(), &path[1..]),
                "super" => (module.clone(), path),
                "self" => (module.clone(), &path[1..]),
                first if is_module(&[&module[..], &[first.to_string()]].concat()) => (module.clone(), path),
                _ => return None,
            };
            while let Some(next) = rest.first() {
                let below = [&base[..], std::slice::from_ref(next)].concat();
                if next == "super" {
                    base.pop()?;
                } else if is_module(&below) {
                    base = below;
                } else {
                    break;
                }
                rest = &rest[1..];
            }
            is_module(&base).then(|| (base, rest.first().cloned()))
        };
        let mut targets = Vec::new();
        // What a module's own `use` makes a name of the module mean.
        let mut renamed = BTreeMap::new();
        for (module, (_, code)) in &modules {
            let is_below = |other: &&Module| other.len() == module.len() + 1 && other.starts_with(module);
            let below =
                modules.keys().filter(is_below).filter_map(|m| m.last().map(String::as_str)).collect();
            for import in imports(code, &below) {
                let Some(target) = resolve(module, &import.path) else { continue };
                if let Some(name) = import.name {
                    renamed.entry((module.clone(), Some(name))).or_insert_with(|| target.clone());
                }
                targets.push((module.clone(), target));
            }
        }
        let mut edges: BTreeMap<Module, BTreeMap<Module, String>> = BTreeMap::new();
        for (module, mut target) in targets {
            let mut seen = BTreeSet::new();
            while let Some(next) = renamed.get(&target)
                && seen.insert(target.clone())
            {
                target = next.clone();
            }
            let (to, name) = target;
            if to != module {
                edges.entry(module).or_default().entry(to).or_insert(name.unwrap_or_else(|| "*".to_string()));
            }
        }
        let files = modules.into_iter().map(|(module, (file, _))| (module, file)).collect();
        Graph { files, edges }
    }

    /// The modules that a module imports, directly or through others.
    fn reached<'a>(&'a self, from: &'a Module) -> BTreeSet<&'a Module> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            let next = self.edges.get(module).into_iter().flat_map(|to| to.keys());
            open.extend(next.filter(|to| reached.insert(*to)));
        }
        reached
    }

    /// The largest ring that has a file of a folder; empty if there is none.
    fn largest_ring(&self, folder: &str) -> Vec<&Module> {
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            self.files.keys().map(|module| (module, self.reached(module))).collect();
        let inside = |module: &&Module| folder.is_empty() || module.first().is_some_and(|top| top == folder);
        let ring = |module: &Module| {
            let both = reached[module].iter().copied().filter(|other| reached[*other].contains(module));
            both.collect::<Vec<_>>()
        };
        self.files.keys().filter(inside).map(ring).max_by_key(Vec::len).unwrap_or_default()
    }

    /// A ring in words: its files, and one import between them.
    fn shown(&self, ring: &[&Module]) -> String {
        let files: Vec<&str> = ring.iter().map(|module| self.files[*module].as_str()).collect();
        let edge = ring.iter().find_map(|from| {
            let (to, name) = self.edges.get(*from)?.iter().find(|(to, _)| ring.contains(to))?;
            Some(format!("{} imports `{name}` of {}", self.files[*from], self.files[to]))
        });
        format!("{}; {}", files.join(", "), edge.unwrap_or_default())
    }
}

#[test]
fn files_do_not_import_each_other_in_a_ring() {
    for krate in WITHOUT_RINGS {
        let graph = Graph::of(krate);
        let ring = graph.largest_ring("");
        assert!(ring.is_empty(), "{} files of {krate} are a ring: {}", ring.len(), graph.shown(&ring));
    }
}

/// A change that makes a ring smaller writes the smaller number into the table; a crate without rings moves to
/// [`WITHOUT_RINGS`].
#[test]
fn rings_of_files_only_become_smaller() {
    for (krate, folder, most) in LARGEST_RINGS {
        let graph = Graph::of(krate);
        let ring = graph.largest_ring(folder);
        let (now, shown) = (ring.len(), graph.shown(&ring));
        let place = format!("{krate} {folder}");
        let place = place.trim_end();
        assert!(now <= most, "{place}: a ring of {now} files, and at most {most} were allowed: {shown}");
        assert!(
            now == most,
            "{place}: the largest ring has only {now} files: write that here instead of {most}"
        );
    }
}

#[test]
fn imports_are_seen_through_lists_expressions_and_re_exports() {
    let files = [
        ("", "pub use a::{Low, deep::{self, Other as Renamed}};\nmod a; mod b;"),
        ("a", "pub use crate::c::Low; pub(in crate::b) struct A;"),
        ("a::deep", "fn f() { super::super::b::g(); }"),
        ("b", "use crate::{Low, Renamed};"),
        ("c", "fn h() -> crate::b::B { b::not_a_child() }"),
    ];
    let module = |path: &str| path.split("::").filter(|part| !part.is_empty()).map(str::to_string).collect();
    let modules: BTreeMap<Module, (String, String)> =
        files.iter().map(|(path, code)| (module(path), (format!("{path}.rs"), code.to_string()))).collect();
    let graph = Graph::of_modules(modules);
    let edges: Vec<String> = graph
        .edges
        .iter()
        .flat_map(|(from, to)| to.keys().map(|to| format!("{} {}", from.join("::"), to.join("::"))))
        .collect();
    assert_eq!(edges, [" a::deep", " c", "a c", "a::deep b", "b a::deep", "b c", "c b"]);
    let ring = graph.largest_ring("");
    assert_eq!(graph.shown(&ring), "a::deep.rs, b.rs, c.rs; a::deep.rs imports `g` of b.rs");
    assert_eq!(graph.largest_ring("a").len(), 3);
}
