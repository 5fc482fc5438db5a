//! Tests that the summary of every drive of the swarm keeps the contract of `summary.json`.

use std::collections::BTreeSet;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::figures::Counters;
use tailcut_report::Ordered;
use tailcut_report::summary::{SCHEMA, Scheme, Summary, Workload};
use tailcut_sim::{Experiment, ExperimentError, PastKind, SchemeSpec, Snapshots, summarise};
use tailcut_testkit::swarm;
use tailcut_workload::{TraceReplay, WorkloadSpec};

/// The summary of a short run of a drive.
fn summary(config: DeviceConfig, seed: u64, past: PastKind) -> Result<Summary, ExperimentError> {
    let job = "randrw,bsrange=4k-256k,rwmixread=60,iodepth=8,fsync=40,norandommap,number_ios=400";
    let workload = WorkloadSpec::parse(job, |_| None, &TraceReplay::default()).expect("a job");
    let experiment = Experiment {
        schemes: vec![SchemeSpec { name: "drawn".into(), config }],
        workload: &workload,
        seed,
        runs: 1,
        past: Some(past),
        snapshots: Snapshots::Off,
        threads: 1,
        fine: None,
        one_past: false,
        timeline: None,
    };
    let plan = experiment.plan()?;
    let results = experiment.run(&plan, &(), &|_, _| Ok(None))?;
    let schemes: Vec<Scheme> = results.iter().flatten().flatten().map(|r| summarise("drawn", r)).collect();
    Ok(Summary {
        tailcut: "0".into(),
        schema: SCHEMA,
        model_version: 1,
        seed,
        partial: false,
        device: "drawn".into(),
        host_capacity_bytes: plan.capacity,
        workload: Workload { source: job.into(), ..Workload::default() },
        warnings: plan.warnings,
        schemes,
    })
}

/// The dotted names of what a summary holds, without the numbers of lists.
fn names(value: &serde_json::Value, at: &str, all: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (name, value) in map {
                names(value, &format!("{at}.{name}"), all);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| names(value, at, all)),
        _ => drop(all.insert(at.to_string())),
    }
}

/// The part of the schema that describes the counters.
fn counters_of_schema() -> String {
    let entry = |(name, counts): (&str, &str)| {
        let counts = serde_json::to_string(counts).unwrap();
        format!(
            "            \"{name}\": {{\n              \"type\": \"integer\",\n              \"description\": {counts},\n              \"minimum\": 1\n            }}"
        )
    };
    Counters::NAMES.map(entry).join(",\n") + "\n          },\n"
}

/// The schema names every counter. `UPDATE=1` rewrites that part of it.
#[test]
fn the_schema_has_every_counter() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/summary.schema.json");
    let text = std::fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once("        \"counters\": {\n").unwrap();
    let (head, rest) = rest.split_once("\"properties\": {\n").unwrap();
    let (_, after) = rest.split_once("\n          },\n").unwrap();
    let counters = counters_of_schema();
    let whole = format!("{before}        \"counters\": {{\n{head}\"properties\": {{\n{counters}{after}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &whole).unwrap();
    }
    assert!(whole == text, "docs/summary.schema.json has other counters; UPDATE=1 rewrites them");
}

#[test]
fn every_summary_of_the_swarm_fits_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/summary.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (mut seen, mut ran) = (BTreeSet::new(), 0);
    let pages = (0..160).map(|seed| (seed, swarm::draw_with_faults(seed).config));
    // Drives with faults have no SLC region.
    let pages = pages.chain((0..60).map(|seed| (seed, swarm::draw(seed).config)));
    let hosts = (0..40).map(|seed| (seed, swarm::pblk::draw(seed)));
    for (seed, config) in pages.chain(hosts) {
        let past = if seed % 4 == 0 { PastKind::Sequential } else { PastKind::None };
        // A drive on which nothing can be written, or whose channels are all dead, has no summary.
        let Ok(summary) = summary(config, seed, past) else { continue };
        let value = serde_json::to_value(&summary).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert_eq!(errors, [""; 0], "seed {seed}");
        let one = &summary.schemes[0];
        let failed = one.failed.get("read").and_then(|by: &Ordered<u64>| by.get("media_error")).copied();
        if let Some(faults) = &one.faults {
            assert_eq!(faults.media_errors, failed.unwrap_or(0), "seed {seed}");
            assert!(faults.media_error_commands >= faults.media_errors, "seed {seed}");
        }
        let counted = |name: &str| one.counters.get(name).copied().unwrap_or(0);
        for (class, n) in &one.programs.0 {
            assert_eq!(counted(&format!("programs_{class}")), *n, "seed {seed}");
        }
        names(&value["schemes"][0], "", &mut seen);
        ran += 1;
    }
    assert!(ran >= 150, "only {ran} drives of 260 had a summary");
    for name in [
        ".gc.for_refresh",
        ".gc.for_wear",
        ".gc.parity_reads",
        ".gc.groups.mean",
        ".slc.pe_cycles.mean",
        ".programs.fold",
        ".programs.refresh",
        ".faults.media_error_commands",
        ".faults.read_only_reason",
        ".suspends.erase",
        ".erase_pulses.blocks",
        ".page_senses.pages",
        ".units.from_buffer",
    ] {
        assert!(seen.contains(name), "no drive has `{name}`: {seen:?}");
    }
}
