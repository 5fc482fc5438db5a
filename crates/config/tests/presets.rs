//! Are the built-in presets complete, self-contained, and shown correctly?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tailcut_config::*;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::ftl::config::FtlKind;

const NONE: [&str; 0] = [];

fn preset(name: &str) -> Resolved {
    resolve(name, &NONE, &NONE, &NONE).unwrap_or_else(|e| panic!("{e}"))
}

/// Compare with a golden file in `tests/golden`; `UPDATE=1` rewrites it.
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs; UPDATE=1 rewrites it");
}

/// The manual page of the policies equals the comments of their files.
#[test]
fn the_manual_page_of_the_policies_is_up_to_date() {
    golden("../../../../docs/policies.md", &tailcut_config::policies_markdown());
}

#[test]
fn every_file_of_the_presets_folder_is_built_in() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../presets");
    for (folder, kind) in [
        ("devices", PresetKind::Device),
        ("schemes", PresetKind::Scheme),
        ("workloads", PresetKind::Workload),
    ] {
        let files = std::fs::read_dir(root.join(folder)).expect("the folder exists");
        let files: BTreeSet<PathBuf> = files.map(|f| f.expect("readable").path()).collect();
        let built_in: BTreeSet<PathBuf> =
            kind.all().iter().map(|p| root.join(folder).join(format!("{}.toml", p.name))).collect();
        assert_eq!(files, built_in);
    }
}

#[test]
fn every_device_resolves_to_a_file_that_resolves_to_the_same() {
    for p in DEVICES {
        let first = preset(p.name);
        let again = parse_device("again.toml", &first.toml).unwrap_or_else(|e| panic!("{}: {e}", p.name));
        assert_eq!(again.config, first.config);
        assert_eq!(again.toml, first.toml);
        let shown = parse_device("shown.toml", &show_config(&first)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(shown.config, first.config, "what is shown is itself a device file");
    }
}

#[test]
fn every_device_can_be_built() {
    for p in DEVICES {
        let config = preset(p.name).config;
        for seed in 0..20 {
            let shape = tailcut_core::device::Shape::new(&config, seed);
            let shape = shape.unwrap_or_else(|e| panic!("{} with seed {seed}: {e}", p.name));
            let entry = DeviceEntry::new(p.name, &config);
            // The entry ignores rounding to mapping units, and bad blocks.
            assert!(entry.host_bytes.abs_diff(shape.host_bytes()) <= 2 * config.ftl.mapping_unit);
        }
    }
}

/// The latencies of a drive that gives up what it cannot decode are those of the reads that it does not give up.
#[test]
fn every_device_with_errors_retries() {
    let with_errors =
        DEVICES.iter().map(|p| (p.name, preset(p.name).config)).filter(|(_, c)| c.errors.is_some());
    let retries: Vec<(&str, &str)> =
        with_errors.map(|(name, c)| (name, c.policy.read_retry.name())).collect();
    assert!(retries.len() >= 3 && retries.iter().all(|(_, member)| *member != "none"), "{retries:?}");
}

/// A device under a scheme; `None` if the scheme is of a controller and the device has pblk.
fn with(device: &str, scheme: &str) -> Option<DeviceConfig> {
    match resolve(device, &[scheme], &NONE, &NONE) {
        Ok(resolved) => Some(resolved.config),
        Err(e) => {
            let pblk = preset(device).config.ftl.kind == FtlKind::Pblk;
            assert!(pblk && e.to_string().contains("belongs to ftl.kind = \"page\""), "{e}");
            None
        }
    }
}

#[test]
fn every_device_resolves_under_every_scheme() {
    for device in DEVICES {
        for scheme in SCHEMES {
            let Some(config) = with(device.name, scheme.name) else { continue };
            assert_eq!(config.description, preset(device.name).config.description);
        }
        let baseline = resolve(device.name, &["baseline"], &NONE, &NONE).expect("an empty scheme");
        assert_eq!(baseline.config, preset(device.name).config);
    }
}

/// A bound differs from its scheme only in when collections run, so the difference of their
/// results is the cost of collection. Every scheme whose collection takes no time is such a
/// bound.
#[test]
fn a_bound_without_collection_differs_from_its_scheme_in_collection_only() {
    const BOUNDS: [(&str, &str); 2] = [("no-gc", "baseline"), ("ttflash-nogc", "ttflash")];
    for device in DEVICES {
        for scheme in SCHEMES {
            let Some(mut bound) = with(device.name, scheme.name) else { continue };
            if bound.policy.gc_schedule.name() != "instant" {
                continue;
            }
            let of = BOUNDS.iter().find(|(name, _)| *name == scheme.name);
            let (_, of) = of.unwrap_or_else(|| panic!("{}: what does it bound?", scheme.name));
            let scheme_itself = with(device.name, of).expect("of the same kind");
            assert_ne!(bound, scheme_itself);
            bound.policy.gc_schedule = scheme_itself.policy.gc_schedule.clone();
            assert_eq!(bound, scheme_itself, "{}: {} against {of}", device.name, scheme.name);
        }
    }
    // It can also be built, including its reconstruction reads.
    let bound = with("ttflash-256g", "ttflash-nogc").expect("of the same kind");
    assert_eq!(bound.policy.read_path.name(), "gc-tolerant");
    tailcut_core::device::Device::new(&bound, 1, ()).expect("instant collection with rebuilt reads");
}

/// Built-in devices, and a device that they change, directly or not.
const BASES: [(&[&str], &str); 6] = [
    (&["cnex-westlake-mlc"], "cnex-westlake"),
    (&["tiny-pblk"], "tiny"),
    (&["mqsim-e-xfer0", "rif-2t"], "mqsim-e"),
    (&["tlc-3d-artifact", "tlc-2d", "mlc-3d", "tlc-3d-errors", "qlc-61t"], "tlc-3d"),
    (&["qlc-61t"], "tlc-3d-errors"),
    (&["dc-tlc-gen5", "dc-qlc-gen4", "client-tlc-gen3"], "dc-tlc-gen4"),
];

#[test]
fn every_key_of_a_preset_comes_from_a_preset() {
    for p in DEVICES {
        for e in &preset(p.name).entries {
            let own = e.layer == format!("device {}", p.name);
            // A built-in device may change another one. If a device names no member of a family, it
            // has the member that changes nothing.
            let neutral = e.layer == tailcut_config::NEUTRAL;
            let based = BASES
                .iter()
                .filter(|(names, _)| names.contains(&p.name))
                .any(|(_, base)| e.layer == format!("device {base}"));
            assert!(own || neutral || based, "{}: {}", e.key, e.layer);
        }
    }
}

/// The source of each value is data: no value of a device or a scheme may lack it.
#[test]
fn every_value_has_a_source() {
    let sourceless = |r: &Resolved, layer: &str| -> Vec<String> {
        let of = r.entries.iter().filter(|e| e.layer.starts_with(layer) && e.key != "description");
        of.filter(|e| e.source.is_none() && !e.layer.contains(", default of"))
            .map(|e| e.key.clone())
            .collect()
    };
    for p in DEVICES {
        assert_eq!(sourceless(&preset(p.name), "device"), [""; 0], "{} has values without a source", p.name);
    }
    for s in SCHEMES {
        // A scheme of a controller does not fit a device that has pblk.
        let all = DEVICES.iter().filter_map(|d| {
            with(d.name, s.name)?;
            resolve(d.name, &[s.name], &NONE, &NONE).ok()
        });
        let mut set = false;
        for r in all {
            assert_eq!(sourceless(&r, "scheme"), [""; 0], "{} has values without a source", s.name);
            set |= r.entries.iter().any(|e| e.layer.starts_with("scheme"));
        }
        assert_eq!(set, s.name != "baseline", "{}", s.name);
    }
}

/// A source must be understandable without the file.
#[test]
fn a_source_stands_for_itself() {
    for p in DEVICES {
        for e in preset(p.name).entries {
            let source = e.source.unwrap_or_default().to_lowercase();
            for nothing in ["see above", "see below", "as above", "todo"] {
                assert!(!source.contains(nothing), "{}: {} = {}: {source}", p.name, e.key, e.value);
            }
        }
    }
}

#[test]
fn the_infinite_channel_is_the_only_difference_of_xfer0() {
    let (mut a, b) = (preset("mqsim-e").config, preset("mqsim-e-xfer0").config);
    assert_eq!(b.channel.rate, u64::MAX);
    a.channel.rate = u64::MAX;
    a.description.clone_from(&b.description);
    assert_eq!(a, b);
}

/// The arithmetic that the presets' comments claim.
#[test]
fn calibrated_times_add_up() {
    let ns = |c: &tailcut_core::device::config::DeviceConfig| {
        c.host.submit_latency.0
            + c.controller.command.0
            + c.channel.command.0
            + c.timing.read[0].0
            + tailcut_units::Span::transfer(4096, c.channel.rate).0
            + c.ecc.decode.0
            + tailcut_units::Span::transfer(4096, c.host.link_rate).0
            + c.host.complete_latency.0
    };
    let z = preset("z-ssd").config;
    assert!((16_850..=16_950).contains(&ns(&z)), "ATC'19 Table 2: 16.9 us at QD1, here {}", ns(&z));
    let iops = 1e9 / z.controller.command.0 as f64;
    assert!((780e3..800e3).contains(&iops), "ATC'19 Table 2: 790 K at QD32, here {iops}");
    assert_eq!(ns(&preset("ttflash-256g").config), 142_575);
    let e = preset("mqsim-e").config;
    assert!((1_590..=1_610).contains(&(ns(&e) - 90_000 - 8_192)));
    let d = preset("mqsim-default").config.timing;
    assert_eq!((d.read[0].0, d.program.pulse.0, d.erase.execution[0].0), (75_000, 750_000, 3_800_000));
}

#[test]
fn lists_for_people() {
    golden("devices.txt", &devices_text().expect("all presets are valid"));
    golden("schemes.txt", &schemes_text().expect("all schemes are valid"));
    golden("workloads.txt", &workloads_text().expect("all workloads are valid"));
    for text in [devices_text(), schemes_text(), workloads_text()] {
        let text = text.expect("it is valid");
        let wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "a line is wider than a terminal of 80 columns");
    }
    let r = resolve("z-ssd", &["fifo"], &NONE, &["policy.flush.watermark.high=90%"]).expect("valid");
    golden("config.txt", &show_config(&r));
}

#[test]
fn the_policy_manual_has_every_member() {
    let (text, manual) = (policies_text(), policies_markdown());
    for family in tailcut_core::policy::FAMILIES {
        assert!(manual.contains(&format!("## `policy.{}`", family.name)));
        for member in family.members {
            assert!(text.contains(member.name));
            assert!(manual.contains(&format!("### `{}`", member.name)));
            assert!(member.manual().len() > 100, "{}.{} has a manual", family.name, member.name);
        }
    }
}

#[test]
fn workloads_are_one_line_jobs() {
    for w in workload_presets().expect("all workloads are valid") {
        assert!(!w.description.is_empty() && !w.job.contains(['\n', ' ']), "{w:?}");
    }
    let error = workload_preset("randread").expect_err("no such workload").to_string();
    assert!(error.starts_with("no workload is called `randread` (did you mean `randread-qd"), "{error}");
}
