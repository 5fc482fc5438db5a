//! Loads one layer: a preset, or a file.

use crate::error::ConfigError;
use crate::merge::normalise;
use crate::preset::PresetKind;
use crate::tree::{Source, Tree, parse};
use std::path::{Path, PathBuf};

/// Load a preset as a normalised layer.
pub(crate) fn load_preset(kind: PresetKind, name: &str) -> Result<Tree, ConfigError> {
    let preset = kind.find(name)?;
    let mut tree = parse(&Source::bare(&format!("{} {name}", kind.word())), preset.text)?;
    normalise(&mut tree)?;
    Ok(tree)
}

/// Load a file as a normalised layer.
pub(crate) fn load_file(path: &Path) -> Result<Tree, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Read { path: PathBuf::from(path), source })?;
    let mut tree = parse(&Source::text(&format!("file {}", path.display()), &text), &text)?;
    normalise(&mut tree)?;
    Ok(tree)
}
