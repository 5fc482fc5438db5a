//! Checks the files that a command writes.

use crate::error::CliError;
use std::path::Path;
use tailcut_report::regular::regular;

/// Check that a result may be written to a path: the path is free, or it is a regular file and `force` is set.
pub fn may_write(to: &Path, force: bool) -> Result<(), CliError> {
    let exists = regular(to).map_err(|e| CliError::Input(format!("cannot write {}: {e}", to.display())))?;
    if exists && !force {
        let text = format!("{} exists already: name another file, or give --force", to.display());
        return Err(CliError::Input(text));
    }
    Ok(())
}
