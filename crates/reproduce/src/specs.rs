//! The configurations of the schemes and variants of a run: the device with all keys and faults that are set.

use crate::error::ReproduceError;
use crate::file::Variant;
use std::path::Path;
use tailcut_config::resolve_with_faults;
use tailcut_core::nand::faults::config::FaultConfig;
use tailcut_sim::SchemeSpec;

/// Resolves schemes and variants on a device, with `sets` and `faults` applied to all of them.
pub(crate) fn scheme_specs(
    (file, run): (&str, &str),
    device: &str,
    (schemes, variants): (&[String], &[Variant]),
    sets: &[&String],
    faults: &[String],
) -> Result<Vec<SchemeSpec>, ReproduceError> {
    let faults = parsed(faults);
    named((schemes, variants), sets)
        .map(|(name, scheme, set)| scheme_spec((file, run), device, (name, scheme), &set, &faults))
        .collect()
}

/// Faults by their texts, which were checked when the file was read.
pub(crate) fn parsed(faults: &[String]) -> Vec<FaultConfig> {
    faults.iter().filter_map(|text| text.parse().ok()).collect()
}

/// The schemes of a run and its variants: the name, the scheme, and all keys that are set.
pub(crate) fn named<'a>(
    (schemes, variants): (&'a [String], &'a [Variant]),
    sets: &'a [&'a String],
) -> impl Iterator<Item = (&'a String, &'a String, Vec<&'a String>)> {
    let plain = schemes.iter().map(|s| (s, s, &[][..]));
    let variants = variants.iter().map(|v| (&v.name, &v.scheme, &v.set[..]));
    let all = plain.chain(variants);
    all.map(move |(name, scheme, set)| (name, scheme, sets.iter().copied().chain(set).collect()))
}

/// Resolves one scheme on a device.
fn scheme_spec(
    (file, run): (&str, &str),
    device: &str,
    (name, scheme): (&str, &str),
    sets: &[&String],
    faults: &[FaultConfig],
) -> Result<SchemeSpec, ReproduceError> {
    let no_files: [&Path; 0] = [];
    let resolved = resolve_with_faults(device, &[scheme], &no_files, sets, faults);
    let resolved = resolved.map_err(|source| ReproduceError::Config {
        file: file.to_string(),
        run: run.to_string(),
        source: Box::new(source),
    })?;
    Ok(SchemeSpec { name: name.to_string(), config: resolved.config })
}
