//! The reference as a JSON Schema, from which editors complete and check a configuration.

use super::list::{KeyDefault, KeyEntry};
use super::range::KeyBound;
use serde_json::{Map, Value, json};

/// A number without an exponent, as quantities have it.
const NUMBER: &str = "([0-9]+\\.?[0-9]*|\\.[0-9]+)";

/// A quantity: a number and one of the units that a key states. It does not check the range. Microseconds have two micro
/// signs, and `kB` is the standard spelling of `KB`.
fn quantity(units: &str) -> Value {
    let spelt = |unit| match unit {
        "us" => "us|\u{b5}s|\u{3bc}s",
        "KB" => "[kK]B",
        "KB/s" => "[kK]B/s",
        unit => unit,
    };
    // What follows a semicolon is no unit.
    let units = units.split(';').next().unwrap_or_default().split(", ").map(spelt);
    let units = units.collect::<Vec<_>>().join("|");
    json!({ "type": "string", "pattern": format!("^\\s*{NUMBER}\\s*({units})\\s*$") })
}

/// A bound of a number. Bounds of quantities, which have units, are in the description only.
fn bounded(mut schema: Value, entry: &KeyEntry) -> Value {
    let number = |bound: &KeyBound| serde_json::from_str::<serde_json::Number>(&bound.value).ok();
    let range = &entry.range;
    for (bound, inclusive, exclusive) in
        [(&range.least, "minimum", "exclusiveMinimum"), (&range.most, "maximum", "exclusiveMaximum")]
    {
        if let Some(bound) = bound
            && let Some(value) = number(bound)
        {
            schema[if bound.excluded { exclusive } else { inclusive }] = Value::Number(value);
        }
    }
    schema
}

/// The values of a key's type.
fn values(entry: &KeyEntry) -> Value {
    let text = || json!({ "type": "string" });
    let with_unit = || quantity(entry.units.unwrap_or_default());
    let text_of_whole = || json!({ "type": "string", "pattern": "^\\s*[0-9]+\\s*$" });
    let whole = || bounded(json!({ "type": "integer" }), entry);
    let number = || bounded(json!({ "type": "number" }), entry);
    let list = |items: Value| json!({ "type": "array", "items": items });
    match entry.kind {
        "one of" => json!({ "enum": entry.values.iter().map(|v| &v.name).collect::<Vec<_>>() }),
        "true or false" => json!({ "type": "boolean" }),
        "whole number" => whole(),
        "number" => number(),
        "list of texts" => list(text()),
        "list of whole numbers" => list(whole()),
        "list of numbers" => list(number()),
        "list of times" => list(with_unit()),
        "time or list of times" => json!({ "anyOf": [with_unit(), list(with_unit())] }),
        "time, or \"none\"" => json!({ "anyOf": [with_unit(), { "const": "none" }] }),
        "whole number, or \"none\"" => json!({ "anyOf": [whole(), text_of_whole(), { "const": "none" }] }),
        "level" => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, text_of_whole(), quantity("%")] }),
        "rate" => json!({ "anyOf": [with_unit(), { "const": "inf" }] }),
        _ if entry.units.is_some() => with_unit(),
        _ => text(),
    }
}

/// What an editor shows beside a key.
fn description(entry: &KeyEntry) -> String {
    let mut text = entry.what.clone();
    let mut line = |name: &str, words: &str| text.push_str(&format!("\n\n{name}: {words}"));
    entry.units.iter().for_each(|units| line("Units", units));
    match entry.range.to_string() {
        range if range.is_empty() => {}
        range => line("Range", &range),
    }
    for value in &entry.values {
        line(&value.name, &value.means);
    }
    match &entry.default {
        KeyDefault::Value(value) => line("Default", value),
        KeyDefault::RequiredIn(table) => line("Default", &format!("none, required in {table}")),
        KeyDefault::Required | KeyDefault::NotSet => {}
    }
    text
}

/// A table without keys.
fn table() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

/// The properties of a table.
fn properties(of: &mut Value) -> &mut Map<String, Value> {
    of["properties"].as_object_mut().expect("a table has properties")
}

/// The table in which the last name of a dotted key is, made where it is missing.
fn table_of<'a>(whole: &'a mut Value, key: &'a str) -> (&'a mut Value, &'a str) {
    let Some((name, rest)) = key.split_once('.') else { return (whole, key) };
    let below = match name.strip_suffix("[]") {
        None => properties(whole).entry(name).or_insert_with(table),
        Some(name) => {
            let list = || json!({ "type": "array", "items": table() });
            &mut properties(whole).entry(name).or_insert_with(list)["items"]
        }
    };
    table_of(below, rest)
}

/// A policy: the name of a member, or a table with the parameters of one.
fn policy(family: &KeyEntry, entries: &[KeyEntry]) -> Value {
    let mut members = table();
    for member in &family.values {
        let mut parameters = table();
        parameters["description"] = json!(member.means);
        let prefix = format!("{}.{}.", family.key, member.name);
        for entry in entries {
            if let Some(name) = entry.key.strip_prefix(&prefix) {
                put(&mut parameters, name, entry);
            }
        }
        properties(&mut members).insert(member.name.clone(), parameters);
    }
    members["minProperties"] = json!(1);
    members["maxProperties"] = json!(1);
    json!({ "description": description(family), "anyOf": [values(family), members] })
}

fn put(whole: &mut Value, key: &str, entry: &KeyEntry) {
    let mut schema = values(entry);
    schema["description"] = json!(description(entry));
    let (table, name) = table_of(whole, key);
    if !entry.table_is.is_empty() {
        table["description"] = json!(entry.table_is);
    }
    properties(table).insert(name.to_string(), schema);
}

/// The JSON Schema of device files, schemes and `--config` files: the names, types and bounds of all keys. What a
/// complete device must have, and conditions between keys, are not in it.
pub fn keys_schema(entries: &[KeyEntry]) -> Value {
    let mut whole = table();
    whole["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    whole["title"] = json!("Configuration of a drive for Tailcut");
    for entry in entries {
        match entry.key.strip_prefix("policy.") {
            Some(family) if !family.contains('.') => {
                let (table, name) = table_of(&mut whole, &entry.key);
                properties(table).insert(name.to_string(), policy(entry, entries));
            }
            Some(_) => {}
            None => put(&mut whole, &entry.key, entry),
        }
    }
    whole
}
