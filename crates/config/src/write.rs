//! The canonical text of a configuration.

use crate::resolve::Entry;
use tailcut_core::device::config::DeviceConfig;
use toml::Value;

/// Every value by its dotted key, in the order of the structs. A policy without
/// parameters is one entry, `policy.schedule` = `"fifo"`; one with parameters is an
/// entry for each.
pub(crate) fn values(config: &DeviceConfig) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    match Value::try_from(config) {
        Ok(value) => flatten("", value, &mut out),
        // The structs hold texts, integers, lists and tables, which TOML can express.
        Err(e) => unreachable!("a configuration is always TOML: {e}"),
    }
    out
}

fn flatten(prefix: &str, value: Value, out: &mut Vec<(String, Value)>) {
    let Value::Table(table) = value else {
        out.push((prefix.to_string(), value));
        return;
    };
    for (key, value) in table {
        match &value {
            Value::Table(t) if t.is_empty() => out.push((prefix.to_string(), Value::String(key))),
            _ if prefix.is_empty() => flatten(&key, value, out),
            _ => flatten(&format!("{prefix}.{key}"), value, out),
        }
    }
}

/// Columns of a document.
const WIDTH: usize = 110;

/// The entries as a TOML document: one section for each top-level table, dotted keys
/// below, and beside each value what `comment` says of it, in lines that read back as one
/// (see `tree`).
pub(crate) fn document(entries: &[Entry], comment: impl Fn(&Entry) -> Option<String>) -> String {
    let line = |key: &str, value: &Value| format!("{key} = {value}");
    // Short lines get their comments in one column; long ones would push it off screen.
    let lengths = entries.iter().map(|e| line(below(&e.key), &e.value).chars().count());
    let column = lengths.filter(|&n| n <= 48).max().unwrap_or(0);
    let mut text = String::new();
    let mut section = "";
    for entry in entries {
        let table = entry.key.split_once('.').map_or("", |(table, _)| table);
        if table != section {
            text.push_str(&format!("\n[{table}]\n"));
            section = table;
        }
        let line = line(below(&entry.key), &entry.value);
        let Some(comment) = comment(entry) else {
            text.push_str(&format!("{line}\n"));
            continue;
        };
        let mut beside = line;
        for part in wrapped(&comment, WIDTH.saturating_sub(column + 4)) {
            text.push_str(&format!("{beside:column$}  # {part}\n"));
            beside.clear();
        }
    }
    text
}

/// A dotted key without its section.
fn below(key: &str) -> &str {
    key.split_once('.').map_or(key, |(_, rest)| rest)
}

/// The words of a text in lines of at most so many columns; a longer word has its own.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("never empty");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}
