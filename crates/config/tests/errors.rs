//! Does every mistake give one clear message with the place, the problem and the allowed
//! values?

use tailcut_config::{ConfigError, parse_device, resolve};

const NONE: [&str; 0] = [];

fn set_error(set: &str) -> String {
    resolve("tiny", &NONE, &NONE, &[set]).expect_err(set).to_string()
}

/// The error of `tiny` as a file in which one line is replaced.
fn file_error(from: &str, to: &str) -> String {
    let toml = without_comments(&resolve("tiny", &NONE, &NONE, &NONE).expect("valid").toml);
    assert!(toml.contains(from), "{from} in\n{toml}");
    parse_device("my.toml", &toml.replacen(from, to, 1)).expect_err(to).to_string()
}

/// A canonical text without the sources of its values.
fn without_comments(toml: &str) -> String {
    let bare = toml.lines().map(|l| l.split("  # ").next().unwrap_or(l).trim_end());
    let kept: Vec<&str> =
        bare.zip(toml.lines()).filter(|(b, l)| !b.is_empty() || l.is_empty()).map(|(b, _)| b).collect();
    kept.join("\n") + "\n"
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
            "--set timing.erase.execution=100: timing.erase.execution: `100` has no unit; write e.g. \"100us\" (ns, us, ms, s, h, d)",
        ),
        (
            "timing.read=[40us, 9]",
            "--set timing.read=[40us, 9]: timing.read.2: `9` has no unit; write e.g. \"100us\" (ns, us, ms, s, h, d)",
        ),
        (
            "policy.schedule=fifi",
            "--set policy.schedule=fifi: policy.schedule cannot be `fifi` (did you mean `fifo`?); it is one of: fifo, read-priority, read-write-erase, channel-reads, ranked",
        ),
        (
            "policy.flush.high=90%",
            "--set policy.flush.high=90%: policy.flush cannot be `high`; it is one of: immediate, in-flight, gc-tolerant, watermark, write-unit",
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
             description, geometry, timing, suspend, energy, channel, ecc, host, controller, ftl, pblk, policy, age, erase, errors, slc, faults, fault",
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
        (
            "over_provisioning = \"12%\"",
            "",
            ": ftl: give exactly one of user_capacity (e.g. \"240GB\"), over_",
        ),
        (
            "over_provisioning = \"12%\"",
            "over_provisioning = '1%'\nuser_capacity = '1MB'",
            ": ftl: give exactly one of",
        ),
        (
            "over_provisioning = \"12%\"",
            "over_provisioning = '1%'\nover_provisioning_of_user = '1.1%'",
            ": ftl: give exactly one of",
        ),
        (
            "over_provisioning = \"12%\"",
            "over_provisioning_of_user = '0.1'",
            "`0.1` has no unit; write e.g. \"28%\"",
        ),
        ("over_provisioning = \"12%\"", "base = 'tiny'", ": there is no key `ftl.base`"),
        (
            "schedule = \"fifo\"",
            "schedule = {}",
            ": policy.schedule: takes one member (fifo, read-priority, read-write-erase, channel-reads, ranked), but none is",
        ),
        (
            "schedule = \"fifo\"",
            "schedule.fifo = {}\nschedule.read-priority = {}",
            ": policy.schedule: takes one member (fifo, read-priority, read-write-erase, channel-reads, ranked), but fifo and read-priority is given",
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
        "no scheme is called ``; give a file ending in .toml, or one of: baseline, fifo, rps, es, i-es, d-es, t-es, ideal-es, ips, ipc, wse, per, pe0, ispe, i-ispe, dpes, dpes-slack, aero-cons, aero, retry-ideal, retry-one, walk, pr2, ar2, pr2-ar2, sentinel, swift-read, swift-read-plus, rp-controller, rif, no-gc, preemptive-gc, ttflash-pb, ttflash-pb-gtr, ttflash, ttflash-nogc, pblk, linux-tinytail, rail, rail-hc"
    );
    let error = resolve("missing.toml", &NONE, &NONE, &NONE).expect_err("no such file").to_string();
    assert!(error.starts_with("cannot read missing.toml: "), "{error}");
}

/// The author of a device file learns all keys that it must have at once.
#[test]
fn missing_keys_are_named_all_at_once() {
    let error = parse_device("empty.toml", "description = 'x'").expect_err("nothing in it");
    let ConfigError::Missing { keys, .. } = &error else { panic!("{error}") };
    let text = error.to_string();
    assert!(text.starts_with("file empty.toml: ") && text.contains("base = \"z-ssd\""), "{text}");
    // With these keys set, the file is a valid device.
    let tiny = resolve("tiny", &NONE, &NONE, &NONE).expect("valid");
    let known: Vec<&str> = tiny.entries.iter().map(|e| e.key.as_str()).collect();
    for key in keys {
        let first = key.split(" or ").next().expect("never empty");
        let is_known =
            |k: &&str| *k == first || k.starts_with(&format!("{first}.")) || first.starts_with("ftl.user");
        assert!(known.iter().any(is_known), "{key}");
    }
    let with_default =
        ["description", "ftl.bad_blocks", "ftl.kind", "geometry.plane_reads", "geometry.cache_program"];
    let has_default = |k: &str| with_default.contains(&k);
    let of_tables = known.iter().filter(|k| !k.starts_with("policy.") && !has_default(k)).count();
    let named = |f: &&tailcut_core::policy::FamilyDoc| {
        !tiny
            .entries
            .iter()
            .any(|e| e.key == format!("policy.{}", f.name) && e.layer == tailcut_config::NEUTRAL)
    };
    let families = tailcut_core::policy::FAMILIES.iter().filter(named).count();
    assert_eq!(keys.len(), of_tables + families, "{keys:?}");

    // Some keys are missing, in several tables.
    let bare = without_comments(&tiny.toml);
    let gone = [
        "blocks = 128\n",
        "erase.verify = \"100us\"\n",
        "gc_victim = \"greedy\"\n",
        "over_provisioning = \"12%\"\n",
    ];
    let holed = gone.iter().fold(bare.clone(), |text, line| {
        assert!(text.contains(line), "{line} in\n{text}");
        text.replacen(line, "", 1)
    });
    let error = parse_device("my.toml", &holed).expect_err("four are missing");
    let expected = "file my.toml: 4 keys are missing, and a drive has no default for them: geometry.blocks, \
                    timing.erase.verify, ftl.user_capacity or ftl.over_provisioning or \
                    ftl.over_provisioning_of_user, policy.gc_victim; give them, or begin with another drive: base = \"z-ssd\"";
    assert_eq!(error.to_string(), expected);

    // A misspelled key must be reported first, since it is why another key seems to be
    // missing.
    let error =
        parse_device("my.toml", &holed.replacen("read = ", "raed = ", 1)).expect_err("a typing error");
    assert!(error.to_string().contains("there is no key `timing.raed` (did you mean `read`?)"), "{error}");
}

/// The error of a device file in a folder with other files; the folder's name is removed.
fn base_error(files: &[(&str, &str)]) -> String {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }
    let first = dir.path().join(files[0].0);
    let error =
        resolve(first.to_str().expect("UTF-8"), &NONE, &NONE, &NONE).expect_err("no such base").to_string();
    let canonical = dir.path().canonicalize().expect("it is there");
    error.replace(&format!("{}/", canonical.display()), "").replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn a_base_that_is_none_is_named() {
    assert_eq!(
        base_error(&[("a.toml", "base = \"z-sdd\"")]),
        "a.toml:1:8: base cannot be `z-sdd` (did you mean `z-ssd`?); it is one of: z-ssd, z-ssd-artifact, ttflash-256g, \
         cnex-westlake, cnex-westlake-mlc, mqsim-default, mqsim-e, mqsim-e-xfer0, wuhe-slc, wuhe-mlc, tlc-3d, tlc-3d-artifact, tlc-2d, mlc-3d, tlc-3d-errors, rif-2t, qlc-61t, dc-tlc-gen4, dc-tlc-gen5, dc-qlc-gen4, client-tlc-gen3, tiny, tiny-pblk, a path ending in .toml"
    );
    assert!(
        base_error(&[("a.toml", "base = 3")])
            .starts_with("a.toml:1:8: base is 3, but takes the name of a device")
    );
    let gone = base_error(&[("below/a.toml", "base = '../b.toml'")]);
    assert!(gone.starts_with("below/a.toml:1:8: base: cannot read below/../b.toml: "), "{gone}");
    assert_eq!(
        base_error(&[("a.toml", "base = 'x/b.toml'"), ("x/b.toml", "base = '../a.toml'")]),
        "x/b.toml:1:8: base: the bases form a cycle: a.toml -> x/b.toml -> x/../a.toml"
    );
    let own = base_error(&[("a.toml", "\nbase = './a.toml'")]);
    assert_eq!(own, "a.toml:2:8: base: the bases form a cycle: a.toml -> ./a.toml");
    // An error in a base names the base.
    let deep =
        base_error(&[("a.toml", "base = 'b.toml'"), ("b.toml", "base = 'tiny'\n[geometry]\nblcks = 1")]);
    assert!(deep.starts_with("b.toml:3:1: there is no key `geometry.blcks`"), "{deep}");
}

/// Layers other than a device change a device that is given.
#[test]
fn only_a_device_has_a_base() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("layer.toml");
    std::fs::write(&path, "base = \"tiny\"").expect("a file can be written");
    let scheme =
        resolve("tiny", &[path.to_str().expect("UTF-8")], &NONE, &NONE).expect_err("a scheme").to_string();
    let file = resolve("tiny", &NONE, &[&path], &NONE).expect_err("a layer").to_string();
    for error in [scheme, file] {
        assert!(error.contains("layer.toml:1:1: base: only a device file can have a base"), "{error}");
    }
    assert!(set_error("base=tiny").contains("there is no key `base`"));
}
