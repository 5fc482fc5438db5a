#![no_main]
//! The file of a turn of a store, with a right checksum.

use xxhash_rust::xxh3::xxh3_64;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut turn = b"TCUTTURN".to_vec();
    turn.extend(bytes);
    let sum = xxh3_64(&turn);
    turn.extend(sum.to_le_bytes());
    if let Some((number, note, decoded)) = tailcut_live::store::turn::decode(&turn) {
        let _ = decoded.encode(number, &note);
    }
});
