//! The canonical text of a configuration.

use std::collections::BTreeMap;
use tailcut_core::device::config::DeviceConfig;
use toml::Value;

/// Every value by its dotted key, in the order of the structs. A policy without
/// parameters is one entry, `policy.schedule` = `"fifo"`; one with parameters is an
/// entry for each.
pub(crate) fn entries(config: &DeviceConfig) -> Vec<(String, Value)> {
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

/// The entries as a TOML document: one section for each top-level table, dotted keys
/// below, and each value's layer as a comment if wanted.
pub(crate) fn document(entries: &[(String, Value)], layers: Option<&BTreeMap<String, String>>) -> String {
    let line = |key: &str, value: &Value| format!("{key} = {value}");
    // Short lines get their comments in one column; long ones would push it off screen.
    let lengths = entries.iter().map(|(k, v)| line(k, v).chars().count());
    let column = lengths.filter(|&n| n <= 48).max().unwrap_or(0);
    let mut text = String::new();
    let mut section = "";
    for (key, value) in entries {
        let (table, rest) = key.split_once('.').unwrap_or(("", key));
        if table != section {
            text.push_str(&format!("\n[{table}]\n"));
            section = table;
        }
        let line = line(rest, value);
        match layers.and_then(|l| l.get(key)) {
            Some(layer) => text.push_str(&format!("{line:column$}  # {layer}\n")),
            None => text.push_str(&format!("{line}\n")),
        }
    }
    text
}
