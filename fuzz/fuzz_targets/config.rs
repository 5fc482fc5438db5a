#![no_main]
//! Device files: from text to the shape of a drive.

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(resolved) = tailcut_config::parse_device("fuzz", text) {
        let _ = tailcut_core::device::Shape::new(&resolved.config, 1);
    }
});
