//! Lists all keys, from the sources of their structs.

use super::comments::{Comment, Field, Struct, default_of, struct_of, values_of};
use super::kind::type_of;
use super::range::KeyRange;
use crate::base::{BASE, BASE_IS};
use crate::error::{ConfigError, nearest};
use crate::layer::load_preset;
use crate::missing::LENDER;
use crate::preset::PresetKind;
use crate::read::read;
use crate::scale::{FEWEST, SCALED, SCALED_IS};
use crate::tree::{Data, Tree};
use crate::write::values;
use serde::Serialize;
use std::collections::BTreeMap;
use tailcut_core::device::config::SOURCES;
use tailcut_core::policy::{FAMILIES, FamilyDoc, MemberDoc};
use wildmatch::WildMatch;

/// The value of a key that no layer sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyDefault {
    /// There is none: every device must set the key.
    Required,
    /// There is none: the key is optional.
    NotSet,
    /// There is none: the key must be set if its table is there.
    RequiredIn(String),
    /// This value, as TOML.
    Value(String),
}

/// A name that is an allowed value of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyValue {
    /// The name, as written in a configuration.
    pub name: String,
    /// The meaning.
    pub means: String,
}

/// A key of a device file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyEntry {
    /// The dotted key.
    pub key: String,
    /// The description.
    pub what: String,
    /// The type of the value, in words.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The units of a quantity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<&'static str>,
    /// The allowed values.
    pub range: KeyRange,
    /// The allowed names, if the value is one of several names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<KeyValue>,
    /// The value if no layer sets the key.
    pub default: KeyDefault,
    /// The mechanism that reads the key, and the module of the source.
    pub read_by: String,
    /// The description of the key's table.
    #[serde(skip)]
    pub(super) table_is: String,
}

/// The context in which the keys of a table are listed.
struct Table<'a> {
    /// The files that may define the types of the fields.
    sources: &'a [&'a str],
    /// The key of the table; empty for the top table.
    key: &'a str,
    /// The mechanism that reads the table, if its comment names none.
    read_by: Option<&'a str>,
    /// The default values of the keys; `None` if the keys have no defaults.
    defaults: Option<&'a BTreeMap<String, String>>,
    /// Whether the whole table may be left out.
    optional: bool,
}

impl Table<'_> {
    fn default_of(&self, key: &str, may_be_absent: bool) -> KeyDefault {
        if may_be_absent {
            return KeyDefault::NotSet;
        }
        match self.defaults.and_then(|d| d.get(key)) {
            Some(value) => KeyDefault::Value(value.clone()),
            None if self.optional => KeyDefault::RequiredIn(self.key.to_string()),
            None => KeyDefault::Required,
        }
    }

    /// The value of a field that may be left out and then has the default value of its type.
    fn default_of_type(&self, field: &Field<'_>) -> Option<String> {
        match field.ty {
            _ if !field.has_default || self.defaults.is_some() => None,
            "bool" => Some("false".to_string()),
            ty if ty.starts_with("Vec<") && !self.key.is_empty() => Some("[]".to_string()),
            ty => default_of(self.sources, ty).map(|name| format!("\"{name}\"")),
        }
    }

    /// List the fields of the table's struct, and of the structs in it.
    fn list(&self, definition: Struct<'_>, out: &mut Vec<KeyEntry>) {
        let Comment { what: table_is, read_by, .. } = definition.comment;
        let inherited = read_by.as_deref().or(self.read_by);
        for field in definition.fields {
            let key = if self.key.is_empty() {
                field.name.to_string()
            } else {
                self.key.to_string() + "." + field.name
            };
            let inner = field.ty.strip_prefix("Option<").and_then(|ty| ty.strip_suffix('>'));
            let ty = inner.unwrap_or(field.ty);
            let read_by = field.comment.read_by.as_deref().or(inherited);
            if key == "policy" {
                // The members of policies are listed with their families.
                continue;
            }
            let item = ty.strip_prefix("Vec<").and_then(|ty| ty.strip_suffix('>'));
            if let Some(below) = item.and_then(|ty| struct_of(self.sources, ty)) {
                // A list of tables: `key[]` stands for each of them.
                let key = format!("{key}[]");
                Table { key: &key, read_by, optional: true, ..*self }.list(below, out);
                continue;
            }
            if let Some(below) = struct_of(self.sources, ty) {
                let optional = self.optional || inner.is_some();
                Table { key: &key, read_by, optional, ..*self }.list(below, out);
                continue;
            }
            let known = type_of(ty, field.with);
            let named = if known.is_none() { values_of(self.sources, ty) } else { None };
            let of_type = known.as_ref().map(|t| t.range.clone()).unwrap_or_default();
            // An absent limit is written as "none", so the key is always written.
            let may_be_absent = inner.is_some() && !field.with.is_some_and(|w| w.ends_with("_limit"));
            out.push(KeyEntry {
                default: match self.default_of_type(&field) {
                    Some(value) => KeyDefault::Value(value),
                    None => self.default_of(&key, may_be_absent),
                },
                what: field.comment.what,
                kind: known.as_ref().map_or(if named.is_some() { "one of" } else { "?" }, |t| t.name),
                units: known.and_then(|t| t.quantity).map(|q| q.units),
                range: field.comment.range.map_or(of_type.clone(), |text| KeyRange::parse(&text, of_type)),
                values: named
                    .unwrap_or_default()
                    .into_iter()
                    .map(|(name, means)| KeyValue { name, means })
                    .collect(),
                read_by: read_by.unwrap_or_default().to_string(),
                table_is: table_is.clone(),
                key,
            });
        }
    }
}

/// The key of a family, whose value is a member.
fn family_entry(family: &FamilyDoc, read_by: &str, table_is: &str) -> KeyEntry {
    let values = family.members.iter().map(|m| KeyValue { name: m.name.to_string(), means: m.title() });
    KeyEntry {
        key: format!("policy.{}", family.name),
        what: family.decides.to_string(),
        kind: "one of",
        units: None,
        range: KeyRange::default(),
        values: values.collect(),
        default: family.neutral.map_or(KeyDefault::Required, |name| KeyDefault::Value(name.to_string())),
        read_by: read_by.to_string(),
        table_is: table_is.to_string(),
    }
}

/// The values of a member that is given only by its name; they do not depend on the drive.
fn defaults_of(family: &FamilyDoc, member: &MemberDoc) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut drive = load_preset(PresetKind::Device, LENDER)?;
    let nothing_set = Tree::table(drive.origin.clone());
    let data = Data::Table(BTreeMap::from([(member.name.to_string(), nothing_set)]));
    let bare = Tree { data, origin: drive.origin.clone() };
    if let Data::Table(top) = &mut drive.data
        && let Some(Tree { data: Data::Table(policies), .. }) = top.get_mut("policy")
    {
        policies.insert(family.name.to_string(), bare);
    }
    Ok(values(&read(&drive)?).into_iter().map(|(key, value)| (key, value.to_string())).collect())
}

/// List the parameters of a member, with their defaults.
fn list_member(
    family: &FamilyDoc,
    member: &MemberDoc,
    read_by: &str,
    out: &mut Vec<KeyEntry>,
) -> Result<(), ConfigError> {
    let sources = [member.source, family.source];
    let Some(definition) = struct_of(&sources, "Config") else { return Ok(()) };
    let defaults = defaults_of(family, member)?;
    let key = format!("policy.{}.{}", family.name, member.name);
    let table = Table {
        sources: &sources,
        key: &key,
        read_by: Some(read_by),
        defaults: Some(&defaults),
        optional: false,
    };
    table.list(definition, out);
    Ok(())
}

/// List every key that a device file may have, table by table.
pub fn key_entries() -> Result<Vec<KeyEntry>, ConfigError> {
    let definition = |name: &str| {
        struct_of(&SOURCES, name).unwrap_or(Struct { comment: Comment::default(), fields: Vec::new() })
    };
    let whole = definition("DeviceConfig");
    let of_layers = |key: &str, what: &str, kind, range| KeyEntry {
        key: key.to_string(),
        what: what.to_string(),
        kind,
        units: None,
        range,
        values: Vec::new(),
        default: KeyDefault::NotSet,
        read_by: "the layers of a configuration".to_string(),
        table_is: whole.comment.what.clone(),
    };
    let mut out = vec![
        of_layers(BASE, BASE_IS, "text", KeyRange::default()),
        of_layers(SCALED, SCALED_IS, "whole number", KeyRange::new(Some(&FEWEST.to_string()), None)),
    ];
    let table = Table { sources: &SOURCES, key: "", read_by: None, defaults: None, optional: false };
    table.list(whole, &mut out);
    let policies = definition("PolicyConfig");
    for family in FAMILIES {
        let field = policies.fields.iter().find(|f| f.name == family.name);
        let read_by = field.and_then(|f| f.comment.read_by.as_deref()).unwrap_or_default();
        out.push(family_entry(family, read_by, &policies.comment.what));
        for member in family.members {
            list_member(family, member, read_by, &mut out)?;
        }
    }
    Ok(out)
}

/// The keys that match a pattern. A pattern with `*` or `?` must match the whole key; any
/// other pattern must be a part of it.
pub fn select_keys(pattern: &str) -> Result<Vec<KeyEntry>, ConfigError> {
    let all = key_entries()?;
    let glob = pattern.contains(['*', '?']).then(|| WildMatch::new(pattern));
    let fits = |e: &&KeyEntry| glob.as_ref().map_or_else(|| e.key.contains(pattern), |g| g.matches(&e.key));
    let found: Vec<KeyEntry> = all.iter().filter(fits).cloned().collect();
    if found.is_empty() {
        let nearest = nearest(pattern, all.iter().map(|e| e.key.as_str()));
        return Err(ConfigError::NoKey { pattern: pattern.to_string(), nearest });
    }
    Ok(found)
}
