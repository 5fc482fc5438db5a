//! The location of real traces, which are not part of the repository.

use std::path::{Path, PathBuf};

/// The folder of real traces: the one that `TAILCUT_TRACES` names, otherwise a folder `traces`
/// in a folder beside the checkout. If there is none, prints that the test is skipped.
pub fn traces() -> Option<PathBuf> {
    let named = std::env::var_os("TAILCUT_TRACES").map(PathBuf::from);
    let looked = named.as_ref().map_or("beside the checkout".into(), |n| format!("at {}", n.display()));
    let found = named.or_else(beside_the_checkout).filter(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: no folder of real traces {looked} (set TAILCUT_TRACES)");
    }
    found
}

/// The first folder `../*/traces`, relative to the checkout.
fn beside_the_checkout() -> Option<PathBuf> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let beside = std::fs::read_dir(checkout.parent()?).ok()?;
    let mut folders: Vec<PathBuf> = beside.flatten().map(|e| e.path().join("traces")).collect();
    folders.sort();
    folders.into_iter().find(|folder| folder.is_dir())
}
