#![no_main]
//! The `blktrace` reader on arbitrary bytes.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = tailcut_workload::trace::fuzz_reader(Some("blktrace"), bytes);
});
