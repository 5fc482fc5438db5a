//! The key of a point: a hash of all that shapes its result.

use crate::MODEL_VERSION;
use crate::sweep::design::Design;
use crate::sweep::setup::{Setup, Shared};
use tailcut_config::Resolved;
use xxhash_rust::xxh3::xxh3_128;

/// The version of what a finished point holds. Points of another version are run again.
const FORMAT: u32 = 1;

/// The hash of what a point consists of, without the points with which it shares its capacity.
pub fn own(design: &Design, setup: &Setup, resolved: &Resolved, workload: &Shared) -> u128 {
    let Design { runs, precondition, .. } = design;
    let mut text = format!("{FORMAT}\n{MODEL_VERSION}\n{}\n{runs}\n{precondition:?}\n", setup.seed);
    text.push_str(&format!("{}\n{}\n", setup.scheme, workload.identity));
    for entry in &resolved.entries {
        text.push_str(&format!("{}={:?}\n", entry.key, entry.value));
    }
    xxh3_128(text.as_bytes())
}

/// The key of a point: `own` and those of all points that share its capacity, itself included.
pub fn key(own: u128, group: &[u128]) -> String {
    let mut bytes = own.to_le_bytes().to_vec();
    group.iter().for_each(|of| bytes.extend(of.to_le_bytes()));
    format!("{:032x}", xxh3_128(&bytes))
}
