//! Does any text give a configuration or an error, and never a panic?

use proptest::prelude::*;
use tailcut_config::{DEVICES, parse_device, resolve};

const NONE: [&str; 0] = [];

/// An error has a text, and an accepted text round-trips.
fn answer(text: &str) {
    match parse_device("fuzz.toml", text) {
        Ok(r) => {
            let again = parse_device("again.toml", &r.toml).map(|r| r.config);
            assert_eq!(again.ok(), Some(r.config));
        }
        Err(e) => assert!(!e.to_string().is_empty()),
    }
}

#[test]
fn hostile_shapes() {
    answer(&format!("{}a = 1", "a.".repeat(50)));
    answer(&format!("a = {}1{}", "[".repeat(50_000), "]".repeat(50_000)));
    answer(&format!("a = {}{}", "{a=".repeat(50_000), "}".repeat(50_000)));
    answer(&"[a]\n".repeat(10_000));
    answer(&format!("{}=1", "a.".repeat(100_000)));
    answer("\u{feff}description = 'x'");
    answer("\0");
    let dots = "a.".repeat(100_000);
    assert!(resolve("tiny", &NONE, &NONE, &[format!("{dots}a=1")]).is_err());
}

proptest! {
    #[test]
    fn any_text(text in "\\PC{0,200}") {
        answer(&text);
    }

    #[test]
    fn toml_like_text(lines in prop::collection::vec(("[a-z_.\\[\\]]{0,20}", "[ =]{0,3}", "[a-z0-9\"'%.\\[\\]{}, -]{0,12}"), 0..12)) {
        let text: String = lines.iter().map(|(a, b, c)| format!("{a}{b}{c}\n")).collect();
        answer(&text);
    }

    #[test]
    fn damaged_presets(which in 0..DEVICES.len(), at in any::<prop::sample::Index>(), cut in 0usize..40, insert in "\\PC{0,6}") {
        let text = DEVICES[which].text;
        let floor = |mut i: usize| { while !text.is_char_boundary(i) { i -= 1 } i };
        let start = floor(at.index(text.len()));
        let end = floor((start + cut).min(text.len()));
        answer(&format!("{}{insert}{}", &text[..start], &text[end..]));
    }

    #[test]
    fn any_set(key in "[a-z_.]{0,30}", value in "\\PC{0,30}") {
        let _ = resolve("tiny", &NONE, &NONE, &[format!("{key}={value}")]);
        let _ = resolve("tiny", &NONE, &NONE, &[format!("policy.flush={value}"), value]);
    }

    #[test]
    fn any_name(name in "\\PC{0,100}") {
        prop_assume!(!name.ends_with(".toml"));
        prop_assert!(resolve(&name, &NONE, &NONE, &NONE).is_err());
        prop_assert!(resolve("tiny", &[&name], &NONE, &NONE).is_err());
    }
}
