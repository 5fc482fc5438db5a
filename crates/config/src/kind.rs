//! Keys that belong to one kind of translation layer.
//!
//! A device may describe both a controller that maps pages and what pblk needs. What changes the device (a scheme, a file,
//! `--set`) sets keys of the kind that the drive has.

use crate::error::{ConfigError, Problem};
use crate::merge::leaves;
use crate::tree::Tree;
use tailcut_core::ftl::config::FtlKind;

/// Keys and tables that only a controller that maps pages reads.
const PAGE: [&str; 20] = [
    "policy.buffer",
    "policy.flush",
    "policy.placement",
    "policy.redundancy",
    "policy.read_path",
    "policy.gc_victim",
    "policy.gc_schedule",
    "policy.gc_scope",
    "policy.background",
    "policy.wear",
    "ftl.extent",
    "ftl.bad_blocks",
    "ftl.write_planes",
    "ftl.join_reads",
    "ftl.join_programs",
    "ftl.gc",
    "host.transfer",
    "age.free",
    "faults.rebuild_rate",
    "slc",
];

/// Keys and tables that only pblk reads.
const PBLK: [&str; 1] = ["pblk"];

/// Refuse the keys of a layer that belong to another kind than the drive has.
pub(crate) fn refuse_other_kind(kind: FtlKind, layer: &Tree) -> Result<(), ConfigError> {
    let (others, own, other) = match kind {
        FtlKind::Page => (&PBLK[..], "page", "pblk"),
        FtlKind::Pblk => (&PAGE[..], "pblk", "page"),
    };
    let within = |key: &str, table: &str| {
        key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    for (key, (_, origin)) in leaves(layer) {
        if others.iter().any(|table| within(&key, table)) {
            let sentence =
                format!("belongs to ftl.kind = \"{other}\", and this drive has ftl.kind = \"{own}\"");
            return Err(ConfigError::Key {
                place: origin.key_place(),
                key,
                problem: Box::new(Problem::Invalid(sentence)),
            });
        }
    }
    Ok(())
}
