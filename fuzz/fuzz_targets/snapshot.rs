#![no_main]
//! Snapshots of aged drives, with a corrected checksum so that the code behind the check is
//! reached.

use tailcut_core::device::Device;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = bytes.to_vec();
    if let Some(body) = file.len().checked_sub(8) {
        let sum = xxhash_rust::xxh3::xxh3_64(&file[..body]);
        file[body..].copy_from_slice(&sum.to_le_bytes());
    }
    let mut device = Device::new(&tailcut_testkit::small_drive(), 1, ()).expect("a sound drive");
    let _ = device.load_aged(7, &mut &file[..]);
});
