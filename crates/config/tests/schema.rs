//! Tests that the JSON Schema of the keys accepts what the program accepts, and refuses misspelt and wrong values.

use serde_json::Value;
use std::path::Path;
use tailcut_config::{KeyDefault, key_entries, keys_schema};

fn schema() -> Value {
    keys_schema(&key_entries().expect("the keys can be listed"))
}

/// The problems of a TOML text under the schema.
fn problems(validator: &jsonschema::Validator, text: &str) -> Vec<String> {
    let value: toml::Table = toml::from_str(text).expect("TOML");
    let value = serde_json::to_value(value).expect("JSON");
    validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn every_device_and_scheme_fits() {
    let validator = jsonschema::validator_for(&schema()).expect("a schema");
    let presets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../presets");
    let mut read = 0;
    for folder in ["devices", "schemes"] {
        for entry in std::fs::read_dir(presets.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            assert_eq!(problems(&validator, &text), [""; 0], "{}", path.display());
            read += 1;
        }
    }
    assert!(read > 50, "only {read} files");
}

#[test]
fn what_is_wrong_is_refused() {
    let validator = jsonschema::validator_for(&schema()).expect("a schema");
    for wrong in [
        "geometry = { channel = 8 }",
        "geometry = { channels = 0 }",
        "geometry = { channels = 257 }",
        "geometry = { channels = 2.5 }",
        "geometry = { page = 4096 }",
        "geometry = { busy_unit = \"chip\" }",
        "timing = { read = \"60us\" }",
        "timing = { read = [\"60KiB\"] }",
        "timing = { read = [\"1_000us\"] }",
        "timing = { read = [\"1.2.3us\"] }",
        "host = { link_rate = \"5us\" }",
        "ftl = { over_provisioning = 7 }",
        "ftl = { over_provisioning = \"7us\" }",
        "policy = { gc_victim = \"greed\" }",
        "policy = { gc_victims = \"greedy\" }",
        "policy = { gc_victim = { d-choices = { e = 2 } } }",
        "policy = { gc_victim = { d-choices = { d = 2 }, greedy = {} } }",
        "fault = [{ at = 5 }]",
        "colour = \"blue\"",
    ] {
        assert!(!problems(&validator, wrong).is_empty(), "{wrong}");
    }
    for right in [
        "base = \"z-ssd\"\ngeometry = { channels = 4, page = \"16 KiB\" }",
        "policy = { gc_victim = { d-choices = { d = 2 } } }",
        "policy = { gc_victim = { greedy = {} } }",
        "timing = { read = [\"60\u{b5}s\", \"60\u{3bc}s\", \".5 us\", \"1.us\"] }",
        "host = { link_rate = \"inf\", submit_latency = \".5us\" }",
        "policy = { gc_schedule = { threshold = { start = \"4\" } } }\nage = { free = 5 }",
    ] {
        assert_eq!(problems(&validator, right), [""; 0], "{right}");
    }
}

/// Every key is in the schema, with its description, and its default is a value that the schema accepts.
#[test]
fn every_key_is_there_with_its_default() {
    let schema = schema();
    for entry in key_entries().unwrap() {
        let mut at = &schema;
        for name in entry.key.split('.') {
            // A member's table is the second form of its family.
            let of = if at["anyOf"][1]["properties"].is_object() { &at["anyOf"][1] } else { at };
            at = match name.strip_suffix("[]") {
                Some(name) => &of["properties"][name]["items"],
                None => &of["properties"][name],
            };
        }
        let text = at["description"].as_str().unwrap_or_else(|| panic!("`{}` is not there", entry.key));
        assert!(text.starts_with(&entry.what), "{}: {text}", entry.key);
        if let KeyDefault::Value(value) = &entry.default {
            let value = match toml::from_str::<toml::Table>(&format!("value = {value}")) {
                Ok(table) => serde_json::to_value(&table["value"]).unwrap(),
                Err(_) => Value::String(value.clone()),
            };
            let validator = jsonschema::validator_for(at).unwrap();
            assert!(validator.is_valid(&value), "{} = {value}", entry.key);
        }
    }
}
