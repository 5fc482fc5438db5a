//! Does a layer change only the keys that it sets, and is the layer of each value
//! correct?

use std::path::PathBuf;
use tailcut_config::{Resolved, resolve};
use tailcut_core::policy::flush::FlushConfig;

const NONE: [&str; 0] = [];

fn with(sets: &[&str]) -> Resolved {
    resolve("tiny", &NONE, &NONE, sets).unwrap_or_else(|e| panic!("{sets:?}: {e}"))
}

/// The value of `key` in the resolved text.
fn value(r: &Resolved, key: &str) -> String {
    let (table, rest) = key.split_once('.').unwrap_or(("", key));
    let section = r.toml.split(&format!("[{table}]\n")).nth(1).unwrap_or(&r.toml);
    let line = section.lines().find_map(|l| l.strip_prefix(&format!("{rest} = ")));
    let line = line.unwrap_or_else(|| panic!("no {key} in\n{}", r.toml));
    line.split("  # ").next().unwrap_or(line).trim_end().to_string()
}

/// The layer that set `key`.
fn layer<'a>(r: &'a Resolved, key: &str) -> &'a str {
    &r.entry(key).unwrap_or_else(|| panic!("no {key}")).layer
}

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("layer.toml");
    std::fs::write(&path, text).expect("a file can be written");
    (dir, path)
}

#[test]
fn set_values_need_no_quotes() {
    let table = [
        ("timing.erase.execution=1.5ms", "timing.erase.execution", "\"1.5ms\""),
        ("timing.read=[40us, 70us]", "timing.read", "[\"40us\", \"70us\"]"),
        ("timing.read=['40us', '70us']", "timing.read", "[\"40us\", \"70us\"]"),
        ("timing.program.pulses=[1, 2]", "timing.program.pulses", "[1, 2]"),
        ("geometry.blocks = 200", "geometry.blocks", "200"),
        ("channel.rate=inf", "channel.rate", "\"inf\""),
        ("ftl.extent=line", "ftl.extent", "\"line\""),
        ("policy.schedule=read-priority", "policy.schedule", "\"read-priority\""),
        ("policy.gc_schedule.threshold.start=10%", "policy.gc_schedule.threshold.start", "\"10%\""),
        ("policy.gc_schedule.threshold.start=7", "policy.gc_schedule.threshold.start", "7"),
        ("policy.buffer={ lru = { capacity = '1MiB' } }", "policy.buffer.lru.capacity", "\"1MiB\""),
    ];
    for (set, key, expected) in table {
        let r = with(&[set]);
        assert_eq!(value(&r, key), expected, "{set}");
        let changed: Vec<&str> =
            r.entries.iter().filter(|e| e.layer.starts_with("--set")).map(|e| e.key.as_str()).collect();
        assert_eq!(changed, [key], "{set}");
    }
}

#[test]
fn the_same_member_merges_and_another_replaces() {
    let r = with(&["policy.flush.watermark.high=90%"]);
    assert_eq!(
        (value(&r, "policy.flush.watermark.high"), value(&r, "policy.flush.watermark.low")),
        ("\"90%\"".into(), "\"60%\"".into())
    );
    assert_eq!(layer(&r, "policy.flush.watermark.high"), "--set policy.flush.watermark.high=90%");
    assert_eq!(layer(&r, "policy.flush.watermark.low"), "device tiny");

    let r = with(&["policy.flush=watermark"]);
    assert_eq!(
        value(&r, "policy.flush.watermark.low"),
        "\"60%\"",
        "a bare name of the same member changes nothing"
    );

    let r = with(&["policy.flush=write-unit", "policy.flush.watermark.high=90%"]);
    assert!(matches!(r.config.policy.flush, FlushConfig::Watermark(_)));
    assert_eq!(value(&r, "policy.flush.watermark.low"), "\"80%\"", "replaced twice: the member's default");
    assert_eq!(
        layer(&r, "policy.flush.watermark.low"),
        "--set policy.flush.watermark.high=90%, default of watermark"
    );
}

#[test]
fn one_way_to_give_the_capacity_replaces_the_others() {
    let r = with(&["ftl.user_capacity=300MiB"]);
    assert_eq!((r.config.ftl.user_capacity, r.config.ftl.over_provisioning), (Some(300 << 20), None));
    let r = resolve("z-ssd", &NONE, &NONE, &["ftl.over_provisioning=20%"]).expect("valid");
    assert_eq!((r.config.ftl.user_capacity, r.config.ftl.over_provisioning), (None, Some(0.2)));
    let r = with(&["ftl.user_capacity=300MiB", "ftl.over_provisioning=20%"]);
    assert_eq!((r.config.ftl.user_capacity, r.config.ftl.over_provisioning), (None, Some(0.2)));
    let r = with(&["ftl.user_capacity=300MiB", "ftl.over_provisioning_of_user=125%"]);
    let f = &r.config.ftl;
    assert_eq!((f.user_capacity, f.over_provisioning, f.over_provisioning_of_user), (None, None, Some(1.25)));
}

/// A device takes away the SLC region that its base has, and what is written of it is read back.
#[test]
fn a_region_without_blocks_is_none() {
    let resolved = |device: &str, sets: &[&str]| resolve(device, &NONE, &NONE, sets).expect("valid");
    assert!(resolved("client-tlc-gen3", &[]).config.slc.is_some_and(|slc| slc.blocks > 0));
    let r = resolved("client-tlc-gen3", &["slc.blocks=0"]);
    assert!(r.config.slc.is_none());
    let (_dir, device) = file(&r.toml);
    assert!(resolved(&device.to_string_lossy(), &[]).config == r.config);
    let (_dir, device) = file("base = 'client-tlc-gen3'\nslc.blocks = 0\n");
    assert!(resolved(&device.to_string_lossy(), &[]).config == r.config);
}

#[test]
fn later_layers_win() {
    let (_dir, path) = file("[policy]\nschedule = 'read-priority'\n[geometry]\nblocks = 99\n");
    let given = format!("file {}", path.display());
    let r = resolve("tiny", &["fifo"], &[&path], &["geometry.blocks=98"]).expect("valid");
    assert_eq!((r.config.policy.schedule.name(), r.config.geometry.blocks), ("read-priority", 98));
    assert_eq!(layer(&r, "policy.schedule"), given);
    assert_eq!(layer(&r, "geometry.blocks"), "--set geometry.blocks=98");
    assert_eq!(layer(&r, "geometry.pages"), "device tiny");
}

#[test]
fn a_device_and_a_scheme_may_be_files() {
    let (_dir, device) = file(&with(&[]).toml);
    let (_dir, scheme) = file("description = 'mine'\npolicy.gc_scope = 'controller'\n");
    let r = resolve(&device.to_string_lossy(), &[scheme.to_string_lossy()], &NONE, &NONE).expect("valid");
    assert_eq!(r.config.policy.gc_scope.name(), "controller");
    assert_eq!(r.config.description, with(&[]).config.description);
}

#[test]
fn composition_takes_both_and_refuses_contradictions() {
    let (_dir, a) =
        file("[policy]\ngc_scope = 'plane'\nflush.watermark.high = '70%'\n[timing]\nread = ['1us']");
    let a = a.to_string_lossy().to_string();
    let r = resolve("tiny", &[format!("rps + {a}")], &NONE, &NONE).expect("they agree");
    assert_eq!(
        (r.config.policy.schedule.name(), r.config.policy.gc_scope.name()),
        ("read-priority", "plane")
    );
    resolve("tiny", &["rps+rps"], &NONE, &NONE).expect("equal values agree");
    resolve("tiny", &[format!("{a}+{a}")], &NONE, &NONE).expect("equal values agree");

    let error =
        |schemes: &str| resolve("tiny", &[schemes], &NONE, &NONE).expect_err("contradiction").to_string();
    assert_eq!(
        error("fifo+rps"),
        "schemes `fifo` and `rps` cannot be combined: policy.schedule is \"fifo\" in the first, \
         policy.schedule is \"read-priority\" in the second"
    );
    for (one, other, keys) in [
        (
            "policy.flush = 'write-unit'",
            "policy.flush.watermark.high = '9%'",
            ["policy.flush", "policy.flush"],
        ),
        (
            "ftl.user_capacity = '1MiB'",
            "ftl.over_provisioning = '9%'",
            ["ftl.user_capacity", "ftl.over_provisioning"],
        ),
        ("timing = 3", "timing.erase.loops = 3", ["timing", "timing.erase.loops"]),
        ("timing.erase.loops = 3", "timing = 3", ["timing.erase.loops", "timing"]),
    ] {
        let ((_d, x), (_e, y)) = (file(one), file(other));
        let text = error(&format!("{}+{}", x.display(), y.display()));
        assert!(keys.iter().all(|k| text.contains(&format!("{k} is "))), "{text}");
    }
}
