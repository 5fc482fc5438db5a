#![no_main]
//! Detection by content, decompression, and whichever reader is chosen.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = tailcut_workload::trace::fuzz_reader(None, bytes);
});
