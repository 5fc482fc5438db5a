//! A device file that changes another device: `base = "z-ssd"`, or a file.

use crate::error::{ConfigError, Problem};
use crate::layer::{load_file, load_preset};
use crate::merge::overlay;
use crate::preset::PresetKind;
use crate::tree::{Data, Tree};
use std::path::{Path, PathBuf};

/// The most bases below one another.
const MOST_BASES: usize = 32;

/// The key, beside `description`.
pub(crate) const BASE: &str = "base";

/// The description of the key.
pub(crate) const BASE_IS: &str = "The device that this one changes: the name of a preset, or the path of a \
    device file beside this one. Without it a device file is complete.";

/// Load a device (a preset or a path ending in `.toml`) and apply it to its base, which
/// may have a base too.
pub(crate) fn load_device(name: &str) -> Result<Tree, ConfigError> {
    load(name, &mut Vec::new())
}

/// `above`: the devices loaded so far that have this one as their base, outermost first.
fn load(name: &str, above: &mut Vec<String>) -> Result<Tree, ConfigError> {
    let path = name.ends_with(".toml").then(|| Path::new(name));
    let mut tree = match path {
        Some(path) => load_file(path)?,
        None => load_preset(PresetKind::Device, name)?,
    };
    let Data::Table(top) = &mut tree.data else { return Ok(tree) };
    let Some(base) = top.remove(BASE) else { return Ok(tree) };
    let wrong = |problem: Problem| ConfigError::Key {
        place: base.origin.value_place(),
        key: BASE.to_string(),
        problem: Box::new(problem),
    };
    let Data::Text(text) = &base.data else {
        let expected = "the name of a device in quotes, or the path of a device file".to_string();
        return Err(wrong(Problem::WrongType { found: base.shown(), expected }));
    };
    let below = match path {
        // Relative to the folder of the file, not to the current folder.
        Some(path) if text.ends_with(".toml") => {
            path.parent().unwrap_or(Path::new("")).join(text).to_string_lossy().into_owned()
        }
        _ => text.clone(),
    };
    above.push(identity(name));
    if above.len() > MOST_BASES {
        let text = format!("more than {MOST_BASES} devices, each the base of the one before");
        return Err(wrong(Problem::Invalid(text)));
    }
    if let Some(first) = above.iter().position(|a| *a == identity(&below)) {
        let circle: Vec<&str> = above[first..].iter().map(String::as_str).chain([below.as_str()]).collect();
        return Err(wrong(Problem::Invalid(format!("the bases form a cycle: {}", circle.join(" -> ")))));
    }
    let mut whole = load(&below, above).map_err(|e| match e {
        ConfigError::Read { path, source } => {
            wrong(Problem::Invalid(format!("cannot read {}: {source}", path.display())))
        }
        ConfigError::UnknownPreset { name, nearest, known, .. } => {
            let allowed = known.iter().map(|k| k.to_string()).chain(["a path ending in .toml".to_string()]);
            wrong(Problem::UnknownMember { found: name, nearest, allowed: allowed.collect() })
        }
        other => other,
    })?;
    overlay(&mut whole, &tree);
    Ok(whole)
}

/// A text that is the same for all names of one file.
fn identity(name: &str) -> String {
    let path = if name.ends_with(".toml") { std::fs::canonicalize(name).ok() } else { None };
    path.unwrap_or_else(|| PathBuf::from(name)).to_string_lossy().into_owned()
}
