//! Applies one layer to another.
//!
//! Tables are merged by key, and all other values are replaced. There are two exceptions:
//! a policy family holds one member, and a drive's capacity is given in one way.

use crate::error::{ConfigError, Conflict, Problem};
use crate::tree::{Data, Origin, Tree};
use std::collections::BTreeMap;
use tailcut_core::ftl::config::FtlConfig;
use tailcut_core::policy::FAMILIES;

/// The keys under `ftl` that give the capacity: one of them in a layer replaces the
/// others.
const CAPACITY: [&str; 3] = FtlConfig::CAPACITY_KEYS;

/// Bring the policies of a layer into one form: `{ member = { keys } }`.
pub(crate) fn normalise(layer: &mut Tree) -> Result<(), ConfigError> {
    let Data::Table(top) = &mut layer.data else { return Ok(()) };
    let Some(Tree { data: Data::Table(policies), .. }) = top.get_mut("policy") else { return Ok(()) };
    for family in FAMILIES {
        let Some(value) = policies.get_mut(family.name) else { continue };
        let members = || family.members.iter().map(|m| m.name).collect::<Vec<_>>().join(", ");
        match &mut value.data {
            Data::Text(member) => {
                let inner = Tree::table(value.origin.clone());
                value.data = Data::Table(BTreeMap::from([(std::mem::take(member), inner)]));
            }
            Data::Table(t) if t.len() != 1 => {
                let given: Vec<&str> = t.keys().map(String::as_str).collect();
                let given = if given.is_empty() { "none".to_string() } else { given.join(" and ") };
                return Err(ConfigError::Key {
                    place: value.origin.value_place(),
                    key: format!("policy.{}", family.name),
                    problem: Box::new(Problem::Invalid(format!(
                        "takes one member ({}), but {given} is given",
                        members()
                    ))),
                });
            }
            // Anything else is refused when the value is read.
            _ => {}
        }
    }
    Ok(())
}

/// Apply `over` to `base`; both are normalised.
pub(crate) fn overlay(base: &mut Tree, over: &Tree) {
    merge(base, over, &mut Vec::new());
}

fn merge(base: &mut Tree, over: &Tree, path: &mut Vec<String>) {
    let (Data::Table(below), Data::Table(above)) = (&mut base.data, &over.data) else {
        base.clone_from(over);
        return;
    };
    if is_family(path) && below.keys().ne(above.keys()) {
        base.clone_from(over);
        return;
    }
    if path.len() == 1 && path[0] == "ftl" && CAPACITY.iter().any(|key| above.contains_key(*key)) {
        below.retain(|key, _| !CAPACITY.contains(&key.as_str()));
    }
    for (key, value) in above {
        match below.get_mut(key) {
            None => {
                below.insert(key.clone(), value.clone());
            }
            Some(old) => {
                path.push(key.clone());
                merge(old, value, path);
                path.pop();
            }
        }
    }
}

fn is_family(path: &[String]) -> bool {
    path.len() == 2 && path[0] == "policy" && FAMILIES.iter().any(|f| f.name == path[1])
}

/// Every value of a normalised layer by its dotted key. A policy member is the value of
/// its family's key (the member's name in quotes), in addition to the member's own keys.
pub(crate) fn leaves(tree: &Tree) -> BTreeMap<String, (String, Origin)> {
    let mut out = BTreeMap::new();
    collect(tree, &mut Vec::new(), &mut out);
    out
}

fn collect(tree: &Tree, path: &mut Vec<String>, out: &mut BTreeMap<String, (String, Origin)>) {
    let Data::Table(t) = &tree.data else {
        out.insert(path.join("."), (tree.shown(), tree.origin.clone()));
        return;
    };
    if is_family(path)
        && let Some(member) = t.keys().next()
    {
        out.insert(path.join("."), (format!("{member:?}"), tree.origin.clone()));
    }
    for (key, value) in t {
        path.push(key.clone());
        collect(value, path, out);
        path.pop();
    }
}

/// Refuse two schemes that set one key to different values.
pub(crate) fn refuse_conflict(a: (&str, &Tree), b: (&str, &Tree)) -> Result<(), ConfigError> {
    let (first, second) = (leaves(a.1), leaves(b.1));
    let conflict = |key: &str, x: &str, other: &str, y: &str| {
        Err(ConfigError::Conflict(Box::new(Conflict {
            first: a.0.to_string(),
            second: b.0.to_string(),
            first_key: key.to_string(),
            first_value: x.to_string(),
            second_key: other.to_string(),
            second_value: y.to_string(),
        })))
    };
    for (key, (value, _)) in &first {
        if let Some((other, _)) = second.get(key)
            && other != value
        {
            return conflict(key, value, key, other);
        }
    }
    // A key has a value in one scheme and is a table in the other. A policy family always
    // is both.
    for (values, tables) in [(&first, &second), (&second, &first)] {
        for (key, (value, _)) in values.iter().filter(|(key, _)| !key.starts_with("policy.")) {
            let below = format!("{key}.");
            if let Some((k, (v, _))) = tables.range(below.clone()..).next()
                && k.starts_with(&below)
            {
                let (value, v) = (value.as_str(), v.as_str());
                let forward = std::ptr::eq(values, &first);
                return if forward { conflict(key, value, k, v) } else { conflict(k, v, key, value) };
            }
        }
    }
    for (this, other) in CAPACITY.iter().flat_map(|this| CAPACITY.iter().map(move |other| (this, other))) {
        let (this_key, other_key) = (format!("ftl.{this}"), format!("ftl.{other}"));
        if this != other
            && let (Some((x, _)), Some((y, _))) = (first.get(&this_key), second.get(&other_key))
        {
            return conflict(&this_key, x, &other_key, y);
        }
    }
    Ok(())
}
