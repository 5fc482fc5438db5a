//! Does any input break the reader? It must give records or an error within a short time.

use super::samples::{SSDSIM, XZ, all, records_with};
use crate::trace::{Columns, FORMATS, TraceOptions, fuzz_reader};
use proptest::prelude::*;
use tailcut_units::Stream;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), pick in any::<u8>()) {
        fuzz_reader(None, &bytes);
        let format = FORMATS[usize::from(pick) % FORMATS.len()];
        fuzz_reader(Some(format.name), &bytes);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[0-9RWrwDQ .,+\\-\nex]{0,300}", pick in any::<u8>()) {
        fuzz_reader(None, text.as_bytes());
        let format = FORMATS[usize::from(pick) % FORMATS.len()];
        fuzz_reader(Some(format.name), text.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn own_columns_never_panic(
        spec in "(time=[0-9]{1,2}:(ns|s|ms)|op=[0-9](:read1)?|offset=[1-9](:pages)?|size=[1-9]|volume=[1-9](:name)?|delimiter=(tab|;|blanks)|[a-z=:]{0,9})(,(time=1:us|op=2|offset=3|size=4)){0,4}",
        text in "[0-9RWrw \\t;,|.\"\\-\nex]{0,300}",
    ) {
        let Ok(columns) = spec.parse::<Columns>() else { return Ok(()) };
        prop_assert_eq!(&columns.to_string().parse::<Columns>().unwrap(), &columns);
        let options = TraceOptions { columns: Some(columns), spread_ns: Some(1000), ..TraceOptions::default() };
        let _ = records_with(text.as_bytes(), &options);
    }
}

#[test]
fn damaged_bzip2_and_xz_streams_never_panic() {
    use std::io::Write as _;
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(SSDSIM.as_bytes()).unwrap();
    for whole in [encoder.finish().unwrap(), XZ.to_vec()] {
        assert!(fuzz_reader(None, &whole).result.is_ok());
        for round in 0..2000 {
            let mut random = Stream::new(round, "compressed", whole.len() as u64);
            let mut bytes = whole.clone();
            mutate(&mut bytes, &mut random);
            fuzz_reader(None, &bytes);
        }
    }
}

/// One random change: a byte, a cut, a repeat, or a large number.
fn mutate(bytes: &mut Vec<u8>, random: &mut Stream) {
    let at = random.below(bytes.len() as u64 + 1) as usize;
    match random.below(6) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = random.next_u64() as u8,
        2 => bytes.truncate(at),
        3 => {
            let copy = bytes[at..].to_vec();
            bytes.extend(copy);
        }
        4 => {
            let digits =
                ["99999999999999999999", "-", "18446744073709551615", "0", ".", "\n", "4294967296", " ,"];
            let digits = digits[random.below(digits.len() as u64) as usize];
            bytes.splice(at..at, digits.bytes());
        }
        _ if at < bytes.len() => {
            bytes.remove(at);
        }
        _ => {}
    }
}

#[test]
fn mutated_samples_never_panic() {
    let mut survived = 0;
    for (name, sample) in all() {
        for round in 0..400 {
            let mut random = Stream::new(round, name, sample.len() as u64);
            let mut bytes = sample.clone();
            for _ in 0..=random.below(4) {
                mutate(&mut bytes, &mut random);
            }
            survived += u64::from(fuzz_reader(None, &bytes).result.is_ok());
            fuzz_reader(Some(name), &bytes);
        }
    }
    // If none were readable, the mutations would test only the error path.
    assert!(survived > 500, "{survived}");
}
