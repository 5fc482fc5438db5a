//! The configurations of the schemes and variants of a run: the device with all keys and faults that are set.

use crate::error::ReproduceError;
use crate::file::{Experiment, Run};
use std::path::Path;
use tailcut_config::resolve_with_faults;
use tailcut_core::nand::faults::config::FaultConfig;
use tailcut_sim::SchemeSpec;

/// Resolves the schemes and variants of a run at a size.
pub(crate) fn scheme_specs(
    e: &Experiment,
    run: &Run,
    quick: bool,
) -> Result<Vec<SchemeSpec>, ReproduceError> {
    let no_files: [&Path; 0] = [];
    let faults = faults(run, quick);
    let resolve = |(name, scheme, sets): (&String, &String, Vec<&String>)| {
        let resolved = resolve_with_faults(&run.device, &[scheme], &no_files, &sets, &faults);
        let resolved = resolved.map_err(|source| ReproduceError::Config {
            file: e.id.clone(),
            run: run.name.clone(),
            source: Box::new(source),
        })?;
        Ok(SchemeSpec { name: name.clone(), config: resolved.config })
    };
    named(run, quick).map(resolve).collect()
}

/// The faults of a run at a size. Their texts were checked when the file was read.
pub(crate) fn faults(run: &Run, quick: bool) -> Vec<FaultConfig> {
    let texts = if quick && !run.quick_fault.is_empty() { &run.quick_fault } else { &run.fault };
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

/// The schemes of a run and its variants: the name, the scheme, and all keys that are set at a size.
pub(crate) fn named(run: &Run, quick: bool) -> impl Iterator<Item = (&String, &String, Vec<&String>)> {
    let plain = run.schemes.iter().map(|s| (s, s, &[][..]));
    let variants = run.variant.iter().map(|v| (&v.name, &v.scheme, &v.set[..]));
    let sets = move || run.set.iter().chain(run.quick_set.iter().filter(move |_| quick));
    plain.chain(variants).map(move |(name, scheme, set)| (name, scheme, sets().chain(set).collect()))
}
