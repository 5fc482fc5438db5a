#![no_main]
//! Tables of the error-correcting code: read, written again, and prepared for draws.

use tailcut_ldpc::{Outcomes, Table};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(table) = text.parse::<Table>() {
        assert_eq!(table.to_string(), text);
        let outcomes = Outcomes::new(&table);
        for errors in [0, 1, 300, u32::MAX] {
            assert!(outcomes.outcome(errors, u32::MAX / 2).1 <= table.iterations);
            let _ = (outcomes.weight(errors, 0, 1), outcomes.first_weight(errors, u32::MAX, 0));
        }
        let _ = (table.failure_rate(0.008), table.mean_iterations(0.008));
    }
});
