//! Does each value carry the source that its layer names next to it?

use tailcut_config::{Resolved, parse_device, resolve, show_config};

const NONE: [&str; 0] = [];

fn source<'a>(r: &'a Resolved, key: &str) -> Option<&'a str> {
    r.entry(key).unwrap_or_else(|| panic!("no {key}")).source.as_deref()
}

/// A device file based on `tiny`.
fn device(text: &str) -> Resolved {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("mine.toml");
    std::fs::write(&path, text).expect("a file can be written");
    resolve(path.to_str().expect("UTF-8"), &NONE, &NONE, &NONE).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_comment_beside_a_value_is_its_source() {
    let r = device(
        r##"# Not a source: it begins its line.
base = "tiny"   # nor this: no value

[geometry]      # data sheet,
                # page 3
blocks = 100
pages = 64      # measured
                # twice
# for the reader alone
page = "8KiB"   #    padded
planes = 2      #

[timing.erase]
loops = 2       # "quoted" # and more
execution = "700us"

[suspend.erase]
limits = { most = 3, spacing = "none", least_left = "none" }  # of all three
[ policy . buffer . lru ] # spaced
capacity = "1MiB"
[age]
fill = "50%"# close
"##,
    );
    let expected = [
        ("geometry.blocks", Some("data sheet, page 3")),
        ("geometry.pages", Some("measured twice")),
        ("geometry.page", Some("padded")),
        ("geometry.planes", Some("data sheet, page 3")),
        ("timing.erase.loops", Some("\"quoted\" # and more")),
        ("timing.erase.execution", None),
        ("suspend.erase.limits.most", Some("of all three")),
        ("suspend.erase.limits.least_left", Some("of all three")),
        ("policy.buffer.lru.capacity", Some("spaced")),
        ("age.fill", Some("close")),
    ];
    for (key, text) in expected {
        assert_eq!(source(&r, key), text, "{key}");
    }
    // A value that the file does not set keeps the source of its base.
    let tiny = resolve("tiny", &NONE, &NONE, &NONE).expect("valid");
    for key in ["geometry.channels", "timing.read", "policy.buffer.lru.power_loss", "age.overwrites"] {
        assert_eq!((source(&r, key), source(&r, key).is_some()), (source(&tiny, key), true), "{key}");
        assert_eq!(r.entry(key).expect("there").layer, "device tiny");
    }
}

/// A replaced value loses its source: the new value has its own source, or none.
#[test]
fn a_layer_over_a_value_takes_its_source_away() {
    let r = resolve("z-ssd", &["t-es"], &NONE, &["geometry.blocks=700"]).expect("valid");
    assert_eq!(source(&r, "geometry.blocks"), None);
    assert_eq!(source(&r, "geometry.pages"), Some("ATC'19 Table 1"));
    let after = r.entry("policy.suspend_erase.timeout.after").expect("there");
    assert_eq!((after.layer.as_str(), after.source.is_some()), ("scheme t-es", true));
}

/// The file that a run writes names the sources of its values, and they are read back.
#[test]
fn a_resolved_file_keeps_the_sources() {
    for name in ["z-ssd", "ttflash-256g", "mqsim-e-xfer0"] {
        let first = resolve(name, &NONE, &NONE, &NONE).expect("valid");
        let again = parse_device("again.toml", &first.toml).unwrap_or_else(|e| panic!("{e}"));
        for (a, b) in first.entries.iter().zip(&again.entries) {
            assert_eq!((&a.key, &a.value, &a.source), (&b.key, &b.value, &b.source), "{name}");
            assert_eq!(b.layer, "file again.toml");
        }
        let shown = parse_device("shown.toml", &show_config(&first)).unwrap_or_else(|e| panic!("{e}"));
        for (a, b) in first.entries.iter().zip(&shown.entries).filter(|(a, _)| a.source.is_some()) {
            let said = format!("{}: {}", a.layer, a.source.as_deref().unwrap_or_default());
            assert_eq!(b.source.as_deref(), Some(said.as_str()), "{name} {}", a.key);
        }
    }
}
