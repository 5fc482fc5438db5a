#![no_main]
//! Snapshots of aged drives, with a corrected checksum so that the code behind the check is
//! reached. A drive that is restored must be usable.

use tailcut_testkit::{drive_with_holes, small_drive, use_restored};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = bytes.to_vec();
    if let Some(body) = file.len().checked_sub(8) {
        let sum = xxhash_rust::xxh3::xxh3_64(&file[..body]);
        file[body..].copy_from_slice(&sum.to_le_bytes());
    }
    for config in [small_drive(), drive_with_holes()] {
        let _ = use_restored(&config, &file);
    }
});
