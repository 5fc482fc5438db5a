//! Reports all missing keys in one message.

use crate::error::{ConfigError, Problem};
use crate::layer::load_preset;
use crate::preset::PresetKind;
use crate::read::read;
use crate::tree::{Data, Tree};
use crate::write;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::ftl::config::FtlConfig;
use tailcut_core::policy::FAMILIES;

/// The device whose values replace missing ones, to find all that are missing. It has the
/// keys that every device has.
pub(crate) const LENDER: &str = "tiny";

/// Read the tree. If keys without a default are missing, the error names all of them.
pub(crate) fn read_whole(tree: &Tree) -> Result<DeviceConfig, ConfigError> {
    let first = match read(tree) {
        Err(error) if missing(&error).is_some() => error,
        done => return done,
    };
    let lender = load_preset(PresetKind::Device, LENDER)?;
    let mut filled = tree.clone();
    let mut keys = Vec::new();
    let mut error = first;
    // Each pass fills in one key; the number of passes is limited by the keys of the
    // lender.
    while let Some(key) = missing(&error) {
        let Some(value) = lender.at(&key) else { return Err(error) };
        name_all(&key, value, &mut keys);
        filled.put(&key, value.clone());
        match read::<DeviceConfig>(&filled) {
            Err(next) if missing(&next).as_deref() != Some(key.as_str()) => error = next,
            Err(same) => return Err(same),
            Ok(config) => {
                if config.ftl.capacity_rule().is_none() {
                    keys.push(capacity());
                }
                let order = write::values(&read::<DeviceConfig>(&lender)?);
                // In the order of a canonical file.
                keys.sort_by_key(|key| order.iter().position(|(k, _)| same(k, key)));
                return Err(if keys.len() == 1 {
                    error
                } else {
                    ConfigError::Missing { layer: tree.origin.key_place().layer, keys }
                });
            }
        }
    }
    Err(error)
}

fn missing(error: &ConfigError) -> Option<String> {
    match error {
        ConfigError::Key { key, problem, .. } if **problem == Problem::Missing => Some(key.clone()),
        _ => None,
    }
}

/// Add the keys of a missing value: all keys of a table; for a policy family only the
/// family.
fn name_all(key: &str, value: &Tree, keys: &mut Vec<String>) {
    let is_family = FAMILIES.iter().any(|f| key == format!("policy.{}", f.name));
    match &value.data {
        Data::Table(t) if !is_family => {
            t.iter().for_each(|(name, value)| name_all(&format!("{key}.{name}"), value, keys));
        }
        _ if FtlConfig::CAPACITY_KEYS.iter().any(|k| key == format!("ftl.{k}")) => keys.push(capacity()),
        _ => keys.push(key.to_string()),
    }
}

/// Whether `named`, a key as reported, is `key` or contains it.
fn same(key: &str, named: &str) -> bool {
    let alternatives = named.split(" or ").any(|n| key == n);
    alternatives || key.strip_prefix(named).is_some_and(|rest| rest.starts_with('.'))
}

fn capacity() -> String {
    format!("ftl.{}", FtlConfig::CAPACITY_KEYS.join(" or ftl."))
}
