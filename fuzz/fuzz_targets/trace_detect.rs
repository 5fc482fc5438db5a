#![no_main]
//! Detection of the format by content, decompression, and the reader that is chosen.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = tailcut_workload::trace::fuzz_reader(None, bytes);
});
