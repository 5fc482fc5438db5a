//! A layer from `--set key=value`.

use crate::error::ConfigError;
use crate::tree::{Data, Origin, Source, Tree, parse};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most parts of a key; real keys have at most five.
const PARTS: usize = 12;

/// Read `a.b.c=value`. The value is TOML, or text that needs no quotes (`100us`).
pub(crate) fn parse_set(argument: &str) -> Result<Tree, ConfigError> {
    let wrong = |message: &str| ConfigError::Set { text: argument.to_string(), message: message.to_string() };
    let Some((key, value)) = argument.split_once('=') else {
        return Err(wrong("write key=value, e.g. --set policy.schedule=fifo"));
    };
    let parts: Vec<&str> = key.split('.').map(str::trim).collect();
    if parts.iter().any(|p| p.is_empty()) {
        return Err(wrong("the key before = has an empty part"));
    }
    if parts.len() > PARTS {
        return Err(wrong("no key has so many parts"));
    }
    let value = value.trim();
    if value.is_empty() {
        return Err(wrong("there is no value after ="));
    }
    let source = Source::bare(&format!("--set {}={value}", key.trim()));
    let mut tree = Tree { data: value_of(&source, value).map_err(wrong)?, origin: Origin::of(&source) };
    for part in parts.iter().rev() {
        let table = BTreeMap::from([(part.to_string(), tree)]);
        tree = Tree { data: Data::Table(table), origin: Origin::of(&source) };
    }
    Ok(tree)
}

fn value_of(source: &Arc<Source>, text: &str) -> Result<Data, &'static str> {
    if let Some(data) = as_toml(source, text) {
        return Ok(match data {
            // `inf` is a rate here and `nan` is invalid: no key takes either as a float.
            Data::Float(x) if !x.is_finite() => Data::Text(text.to_string()),
            data => data,
        });
    }
    match text.as_bytes()[0] {
        b'[' => unquoted_list(source, text),
        b'{' => Err("the table is not valid TOML; quote its texts: { key = \"100us\" }"),
        b'"' | b'\'' => Err("the quoted text does not end, or is followed by other text"),
        _ => Ok(Data::Text(text.to_string())),
    }
}

/// Parse the text as exactly one TOML value; `None` if it is not one.
fn as_toml(source: &Arc<Source>, text: &str) -> Option<Data> {
    // A line break is refused, so that no second key can follow the value.
    if text.contains(['\n', '\r']) {
        return None;
    }
    let tree = parse(source, &format!("value = {text}")).ok()?;
    match tree.data {
        Data::Table(mut t) if t.len() == 1 => t.remove("value").map(|v| v.data),
        _ => None,
    }
}

/// Parse `[40us, 60us]`: a list whose texts have no quotes.
fn unquoted_list(source: &Arc<Source>, text: &str) -> Result<Data, &'static str> {
    let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) else {
        return Err("the list does not end with ]");
    };
    if inner.contains(['[', ']', '{', '}', '"', '\'']) {
        return Err("the list is not valid TOML; quote its texts: [\"40us\", \"60us\"]");
    }
    let items = inner.trim_end_matches([',', ' ']).split(',').map(|item| {
        let item = item.trim();
        if item.is_empty() {
            return Err("the list has an empty item");
        }
        Ok(Tree { data: value_of(source, item)?, origin: Origin::of(source) })
    });
    Ok(Data::List(items.collect::<Result<_, _>>()?))
}
