//! Whether every mistake gets one clear message: where, what, and what is allowed.

use tailcut_config::{ConfigError, Problem, parse_device, resolve};

const NONE: [&str; 0] = [];

fn set_error(set: &str) -> String {
    resolve("tiny", &NONE, &NONE, &[set]).expect_err(set).to_string()
}

/// The error of `tiny` as a file with one line replaced.
fn file_error(from: &str, to: &str) -> String {
    let toml = resolve("tiny", &NONE, &NONE, &NONE).expect("valid").toml;
    assert!(toml.contains(from), "{from} in\n{toml}");
    parse_device("my.toml", &toml.replacen(from, to, 1)).expect_err(to).to_string()
}

#[test]
fn a_layer_names_itself_and_the_key() {
    let table = [
        (
            "timing.erase.lops=3",
            "--set timing.erase.lops=3: there is no key `timing.erase.lops` (did you mean `loops`?); \
             allowed here: loops, ramp_up, execution, recovery, verify",
        ),
        (
            "timing.erase.execution=100",
            "--set timing.erase.execution=100: timing.erase.execution: `100` has no unit; write e.g. \"100us\" (ns, us, ms, s)",
        ),
        (
            "timing.read=[40us, 9]",
            "--set timing.read=[40us, 9]: timing.read.2: `9` has no unit; write e.g. \"100us\" (ns, us, ms, s)",
        ),
        (
            "policy.schedule=fifi",
            "--set policy.schedule=fifi: policy.schedule cannot be `fifi` (did you mean `fifo`?); it is one of: fifo, read-priority, read-write-erase, channel-reads",
        ),
        (
            "policy.flush.high=90%",
            "--set policy.flush.high=90%: policy.flush cannot be `high`; it is one of: immediate, gc-tolerant, watermark, write-unit",
        ),
        (
            "policy.flush.watermark.hi=90%",
            "--set policy.flush.watermark.hi=90%: there is no key `policy.flush.watermark.hi` (did you mean `high`?); allowed here: high, low",
        ),
        (
            "ftl.extent=superblok",
            "--set ftl.extent=superblok: ftl.extent cannot be `superblok` (did you mean `superblock`?); it is one of: block, superblock, line",
        ),
        (
            "geometry.blocks=many",
            "--set geometry.blocks=many: geometry.blocks is the text \"many\", but takes a whole number from 0 to 4294967295",
        ),
        (
            "geometry.blocks=-1",
            "--set geometry.blocks=-1: geometry.blocks is the number -1, but takes a whole number from 0 to 4294967295",
        ),
        ("geometry=3", "--set geometry=3: geometry is the number 3, but takes a table of keys"),
        (
            "polcy.schedule=fifo",
            "--set polcy.schedule=fifo: there is no key `polcy` (did you mean `policy`?); allowed here: \
             description, geometry, timing, suspend, energy, channel, ecc, host, controller, ftl, policy, age",
        ),
        ("geometry.blocks", "--set geometry.blocks: write key=value, e.g. --set policy.schedule=fifo"),
        ("geometry.=1", "--set geometry.=1: the key before = has an empty part"),
        ("geometry.blocks=", "--set geometry.blocks=: there is no value after ="),
        ("timing.read=[1us", "--set timing.read=[1us: the list does not end with ]"),
    ];
    for (set, expected) in table {
        assert_eq!(set_error(set), expected);
    }
}

#[test]
fn a_file_names_line_and_column() {
    let table = [
        (
            "blocks = 128",
            "blcks = 128",
            ":8:1: there is no key `geometry.blcks` (did you mean `blocks`?); allowed",
        ),
        (
            "blocks = 128",
            "blocks = '1'",
            ":8:10: geometry.blocks is the text \"1\", but takes a whole number",
        ),
        ("blocks = 128\n", "", ":3:2: geometry.blocks is missing; a drive has no default for it"),
        ("blocks = 128", "blocks = = 128", ":8:10: "),
        (
            "blocks = 128",
            "blocks = 99999999999999999999",
            ":8:10: `99999999999999999999` is too large a number",
        ),
        ("page = \"8KiB\"", "page = 8192", ":10:8: geometry.page: `8192` has no unit; write e.g. \"16KiB\""),
        ("over_provisioning = \"12%\"", "", ": ftl: give user_capacity"),
        (
            "over_provisioning = \"12%\"",
            "over_provisioning = '1%'\nuser_capacity = '1MB'",
            ": ftl: give one of",
        ),
        (
            "schedule = \"fifo\"",
            "schedule = {}",
            ": policy.schedule: takes one member (fifo, read-priority, read-write-erase, channel-reads), but none is",
        ),
        (
            "schedule = \"fifo\"",
            "schedule.fifo = {}\nschedule.read-priority = {}",
            ": policy.schedule: takes one member (fifo, read-priority, read-write-erase, channel-reads), but fifo and read-priority is given",
        ),
    ];
    for (from, to, expected) in table {
        let error = file_error(from, to);
        assert!(error.starts_with("my.toml:") && error.contains(expected), "{to}\n{error}\n{expected}");
    }
}

#[test]
fn an_unknown_preset_lists_the_known() {
    let error = resolve("z-sdd", &NONE, &NONE, &NONE).expect_err("no such device").to_string();
    assert!(error.starts_with("no device is called `z-sdd` (did you mean `z-ssd`?); give a file ending in .toml, or one of: z-ssd, "), "{error}");
    let error = resolve("tiny", &["fifo+"], &NONE, &NONE).expect_err("an empty scheme").to_string();
    assert_eq!(
        error,
        "no scheme is called ``; give a file ending in .toml, or one of: baseline, fifo, rps, es, i-es, d-es, t-es, ideal-es, ips, ipc, wse, per, pe0, no-gc, preemptive-gc, ttflash-pb, ttflash-pb-gtr, ttflash, ttflash-nogc"
    );
    let error = resolve("missing.toml", &NONE, &NONE, &NONE).expect_err("no such file").to_string();
    assert!(error.starts_with("cannot read missing.toml: "), "{error}");
}

#[test]
fn a_missing_section_is_named() {
    let error = parse_device("empty.toml", "").expect_err("nothing in it");
    let ConfigError::Key { key, problem, .. } = error else { panic!("{error}") };
    assert_eq!((key.as_str(), *problem), ("description", Problem::Missing));
}
