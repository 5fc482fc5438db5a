//! The canonical text of a configuration.

use crate::resolved::Entry;
use tailcut_core::device::config::DeviceConfig;
use toml::Value;

/// Every value by its dotted key, in the order of the structs. A policy without
/// parameters is one entry, such as `policy.schedule` = `"fifo"`; a policy with
/// parameters has one entry for each parameter.
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

/// The width of a document, in columns.
const WIDTH: usize = 110;

/// Write the entries as a TOML document: the keys at the top, then one section for each table, with
/// dotted keys. The text of `comment` is put next to each value, on one or more lines,
/// which are read back as one comment (see `tree`).
pub(crate) fn document(entries: &[Entry], comment: impl Fn(&Entry) -> Option<String>) -> String {
    let line = |key: &str, value: &Value| format!("{key} = {}", shown(value));
    // The comments of short lines are in one column; long lines would move that column
    // off screen.
    let lengths = entries.iter().map(|e| last(&line(below(&e.key), &e.value)).chars().count());
    let column = lengths.filter(|&n| n <= 48).max().unwrap_or(0);
    let mut text = String::new();
    let mut section = "";
    let (in_tables, at_top): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|e| e.key.contains('.'));
    for entry in at_top.into_iter().chain(in_tables) {
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
        let mut beside = last(&line).to_string();
        text.push_str(&line[..line.len() - beside.len()]);
        for part in wrapped(&comment, WIDTH.saturating_sub(column + 4)) {
            text.push_str(&format!("{beside:column$}  # {part}\n"));
            beside.clear();
        }
    }
    text
}

/// The value in TOML: a list of tables on several lines, anything else on one.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(list) if list.iter().any(Value::is_table) => {
            let items: String = list.iter().map(|item| format!("  {item},\n")).collect();
            format!("[\n{items}]")
        }
        _ => value.to_string(),
    }
}

/// The last line of a text.
fn last(text: &str) -> &str {
    text.rsplit_once('\n').map_or(text, |(_, last)| last)
}

/// A dotted key without its section.
fn below(key: &str) -> &str {
    key.split_once('.').map_or(key, |(_, rest)| rest)
}

/// Break a text into lines of at most `columns` columns; a longer word has its own line.
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
