//! Do the faults of a drive come from every layer, in text and in tables, and are they written so that
//! they can be read again?

use std::path::PathBuf;
use tailcut_config::{Resolved, parse_device, resolve, resolve_with_faults, show_config};
use tailcut_core::device::Shape;
use tailcut_core::nand::faults::config::FaultConfig;

const NONE: [&str; 0] = [];

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("mine.toml");
    std::fs::write(&path, text).expect("a file can be written");
    (dir, path)
}

fn faults(texts: &[&str]) -> Vec<FaultConfig> {
    texts.iter().map(|text| text.parse().unwrap_or_else(|e| panic!("{e}"))).collect()
}

fn texts(r: &Resolved) -> Vec<String> {
    r.config.fault.iter().map(FaultConfig::to_string).collect()
}

const TABLES: &str = "[faults]\nerase = \"0.1%\"\n[[fault]]\nkind = \"die\"\ndie = 1\nat = \"2s\"\n\
                      [[fault]]\nkind = \"page\"\ndie = 0\nplane = 1\nblock = 2\npage = 3\nonce = true\n";

#[test]
fn a_device_a_scheme_and_a_file_can_give_tables_of_faults() {
    let (_device, device) = file(&format!("base = \"tiny\"\n{TABLES}"));
    let (_layer, layer) = file(TABLES);
    let (device, layer) = (device.to_str().expect("UTF-8"), layer.to_str().expect("UTF-8"));
    let by = [
        resolve(device, &NONE, &NONE, &NONE),
        resolve("tiny", &[layer], &NONE, &NONE),
        resolve("tiny", &NONE, &[layer], &NONE),
    ];
    for r in by {
        let r = r.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(texts(&r), ["die=1@2s", "page=0.1.2.3,once"]);
        assert_eq!(r.config.faults.erase, Some(0.001));
        assert!(r.entry("fault").expect("it is set").layer.starts_with("file "), "{:?}", r.entry("fault"));
    }
}

/// Without this rule a layer could not take a fault away.
#[test]
fn a_list_of_faults_replaces_that_of_the_layers_below() {
    let (_dir, path) = file(TABLES);
    let over = resolve("tiny", &NONE, &[&path], &["fault=[{ kind = 'plane', die = 0, plane = 1 }]"]);
    assert_eq!(texts(&over.expect("valid")), ["plane=0.1"]);
    let none = resolve("tiny", &NONE, &[&path], &["fault=[]"]).expect("valid");
    assert!(none.config.fault.is_empty() && none.entry("fault").is_none());
}

#[test]
fn faults_in_text_come_after_those_of_all_layers() {
    let (_dir, path) = file(TABLES);
    let more = faults(&["channel=1@3ms", "erase=0.0.5,cycle=2"]);
    let r = resolve_with_faults("tiny", &NONE, &[&path], &NONE, &more).expect("valid");
    assert_eq!(texts(&r), ["die=1@2s", "page=0.1.2.3,once", "channel=1@3ms", "erase=0.0.5,cycle=2"]);
    let layer = &r.entry("fault").expect("it is set").layer;
    assert!(layer.ends_with("mine.toml, --fault channel=1@3ms, --fault erase=0.0.5,cycle=2"), "{layer}");
    let alone = resolve_with_faults("tiny", &NONE, &NONE, &NONE, &more).expect("valid");
    assert_eq!(
        alone.entry("fault").expect("set").layer,
        "--fault channel=1@3ms, --fault erase=0.0.5,cycle=2"
    );
}

#[test]
fn what_is_written_is_read_again() {
    let (_dir, path) = file(&format!(
        "fault = [\n  {{ kind = \"bad\", die = 0, plane = 0, block = 9 }},\n]  # a sheet\n{}",
        "[faults]\nread = \"0.01%\"  # measured\n"
    ));
    for more in [&[][..], &["program=0.0.1.2,cycle=3@5us", "page=0.0.1.2,reads=7"]] {
        let r = resolve_with_faults("tiny", &NONE, &[&path], &NONE, &faults(more)).expect("valid");
        for text in [&r.toml, &show_config(&r)] {
            let again = parse_device("again", text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(again.config, r.config, "{text}");
        }
        let again = parse_device("again", &r.toml).expect("as before");
        assert_eq!(again.toml, r.toml);
        let of = |key: &str| again.entry(key).expect("it is set").source.clone();
        assert_eq!(
            (of("fault").as_deref(), of("faults.read").as_deref()),
            (Some("a sheet"), Some("measured"))
        );
    }
}

#[test]
fn a_mistake_in_a_table_has_its_place() {
    let error = |text: &str| {
        let (_dir, path) = file(text);
        let error = resolve("tiny", &NONE, &[&path], &NONE).expect_err(text).to_string();
        error.replace(&path.display().to_string(), "mine.toml")
    };
    let unknown = error("[[fault]]\nkind = \"die\"\ndie = 1\n[[fault]]\nkind = \"die\"\nplan = 1\n");
    assert_eq!(
        unknown,
        "mine.toml:6:1: there is no key `fault.2.plan` (did you mean `plane`?); allowed here: kind, channel, die, \
         plane, block, page, at, cycle, reads, older, once"
    );
    let kind = error("[[fault]]\nkind = \"dye\"\ndie = 1\n");
    assert!(kind.starts_with("mine.toml:2:8: fault.1.kind cannot be `dye` (did you mean `die`?)"), "{kind}");
    let missing = error("[[fault]]\ndie = 1\n");
    assert!(missing.starts_with("mine.toml:1:") && missing.contains("fault.1.kind is missing"), "{missing}");
    let time = error("[[fault]]\nkind = \"die\"\ndie = 1\nat = 3\n");
    assert!(time.starts_with("mine.toml:4:6: fault.1.at: `3` has no unit"), "{time}");
}

#[test]
fn a_fault_outside_the_drive_is_named() {
    let refused = |texts: &[&str]| {
        let r = resolve_with_faults("tiny", &NONE, &NONE, &NONE, &faults(texts)).expect("a configuration");
        Shape::new(&r.config, 1).err().map(|e| e.to_string())
    };
    let dies = resolve("tiny", &NONE, &NONE, &NONE).expect("valid").config.geometry.dies();
    assert_eq!(
        refused(&["die=0", &format!("die={dies}@2s")]),
        Some(format!("fault.2.die: {dies}: the drive has {dies}, counted from 0 (die={dies}@2s)"))
    );
    let cycle = refused(&["die=0,cycle=1"]).expect("a die has no cycle");
    assert_eq!(cycle, "fault.1.cycle: does not belong to kind `die` (die=0,cycle=1)");
    let never = refused(&["erase=0.0.0,cycle=8388607"]).expect("no erase has so many cycles");
    let text = "fault.1.cycle: 8388607: less than 8388607, what a block counts (erase=0.0.0,cycle=8388607)";
    assert_eq!(never, text);
    assert_eq!(refused(&["die=0@1s", "page=0.0.0.0", "erase=0.0.0,cycle=8388606"]), None);
}
