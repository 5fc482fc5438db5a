//! The reference as a text: for a terminal, or as a page.

use super::kind::QUANTITIES;
use super::list::{KeyDefault, KeyEntry};
use crate::write::wrapped;

/// The width of the text on a terminal, in columns.
const WIDTH: usize = 100;

/// The text of `tailcut show keys`: a paragraph for each key.
pub fn keys_text(entries: &[KeyEntry]) -> String {
    let mut text = String::new();
    for entry in entries {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("{}\n", entry.key));
        let mut line = |words: &str, first: &str, next: &str| {
            for (i, part) in wrapped(words, WIDTH - next.len()).iter().enumerate() {
                text.push_str(&format!("{}{part}\n", if i == 0 { first } else { next }));
            }
        };
        line(&entry.what, "    ", "    ");
        let units = entry.units.map(|u| format!(" ({u})")).unwrap_or_default();
        let range = match entry.range.to_string() {
            range if range.is_empty() => String::new(),
            range => format!(": {range}"),
        };
        line(&format!("{}{units}{range}", entry.kind), "    ", "      ");
        for value in &entry.values {
            line(&format!("{}: {}", value.name, value.means), "      ", "        ");
        }
        line(&format!("default: {}", shown_default(entry)), "    ", "      ");
        line(&format!("read by: {}", entry.read_by), "    ", "      ");
    }
    text
}

fn shown_default(entry: &KeyEntry) -> String {
    match &entry.default {
        KeyDefault::Required => "required".to_string(),
        KeyDefault::NotSet => "not set".to_string(),
        KeyDefault::RequiredIn(table) => format!("required in `{table}`"),
        KeyDefault::Value(value) => format!("`{value}`"),
    }
}

const HEAD: &str = "\
# Configuration

Every key of a device file, and of schemes, `--config` files and `--set`, which change one.
`tailcut show keys PATTERN` prints the same. The keys of a device have no default: a built-in
device or a complete file gives all of them, and `tailcut show config DEVICE` prints what it gives,
with the sources. The parameters of a policy have defaults, and [policies.md](policies.md) is the
manual of the policies. The faults of the flash (`faults`, and `fault[]` for each table `[[fault]]`) may
be left out; [faults.md](faults.md) describes them. A module such as `device::shape` is a file of
`crates/core/src`, and `sim::…` is one of `crates/sim/src`.

Editors complete and check a file if they have a JSON Schema of the keys: `tailcut show keys --schema >
tailcut.schema.json` writes it, and most TOML editors read its name from the first line of the file,
`#:schema ./tailcut.schema.json`.

A range gives the values that the key allows by itself; conditions that depend on other keys follow after
a semicolon. A value outside its range is refused with an error that names the key.

";

/// The page of `tailcut show keys --markdown`, with a table for each table of keys.
pub fn keys_markdown(entries: &[KeyEntry]) -> String {
    let mut text = String::from(HEAD);
    text.push_str("| type | example | units | whole multiples of one |\n|---|---|---|---|\n");
    for (name, kind) in QUANTITIES {
        let cells = [name, &format!("`\"{}\"`", kind.example), kind.units, kind.finest];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let mut tables: Vec<&str> = Vec::new();
    for table in entries.iter().map(table_of) {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    for table in tables {
        let mut rows = entries.iter().filter(|e| table_of(e) == table).peekable();
        let heading = if table.is_empty() { "At the top".to_string() } else { format!("`{table}`") };
        let what = rows.peek().map_or("", |e| &e.table_is);
        text.push_str(&format!("\n## {heading}\n\n{what}\n\n"));
        text.push_str(
            "| key | what it does | type | range | default | read by |\n|---|---|---|---|---|---|\n",
        );
        for entry in rows {
            text.push_str(&row(entry));
        }
    }
    text
}

/// The table of a key; empty at the top.
fn table_of(entry: &KeyEntry) -> &str {
    entry.key.rsplit_once('.').map_or("", |(table, _)| table)
}

fn row(entry: &KeyEntry) -> String {
    let values = entry.values.iter().map(|v| format!("<br>`{}`: {}", v.name, v.means));
    let what = std::iter::once(entry.what.clone()).chain(values).collect::<String>();
    let cells = [
        format!("`{}`", entry.key),
        what,
        entry.kind.to_string(),
        entry.range.to_string(),
        shown_default(entry),
        entry.read_by.clone(),
    ];
    format!("| {} |\n", cells.map(|c| c.replace('|', "\\|")).join(" | "))
}
