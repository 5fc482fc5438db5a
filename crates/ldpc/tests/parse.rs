//! Does any text give a table or an error that names the line, and never a panic?

use proptest::prelude::*;
use tailcut_ldpc::{LARGEST_TEXT, Outcomes, Table, TableError};

/// Read a text. A table is written as the same text, and every figure of it can be computed.
fn answer(text: &str) -> Result<(), TableError> {
    let table: Table = match text.parse() {
        Ok(table) => table,
        Err(e) => {
            assert!(!e.to_string().is_empty());
            return Err(e);
        }
    };
    assert_eq!(table.to_string(), text);
    let outcomes = Outcomes::new(&table);
    for errors in [0, 1, 17, 300, 36_864, u32::MAX] {
        for draw in [0, 1, u32::MAX / 3, u32::MAX] {
            let (decodes, iterations) = outcomes.outcome(errors, draw);
            assert!(iterations <= table.iterations);
            assert_eq!(decodes, outcomes.decodes(errors, draw));
            let _ = (outcomes.weight(errors, draw, !draw), outcomes.first_weight(errors, draw, draw));
        }
    }
    let failing = table.failure_rate(0.008);
    assert!((0.0..=1.0 + 1e-9).contains(&failing), "{failing}");
    let _ = table.mean_iterations(0.008);
    Ok(())
}

/// A table with three iterations and three rows.
const SMALL: &str = "tailcut-ldpc-table 1
code qc-4x36x1024 1
seed 1
schedule flooding
factor 0.750
iterations 3
rows 3
errors frames failed all-mean all-deviation first-mean first-deviation decoded-in-0 and-so-on
0 10 0 0.00 0.00 0.00 0.00 10 0 0 0
100 10 2 380.12 20.00 95.00 9.00 0 1 3 4
36864 10 10 4096.00 0.00 1024.00 0.00 0 0 0 0
";

#[test]
fn a_small_table_is_read() {
    answer(SMALL).unwrap();
    let table: Table = SMALL.parse().unwrap();
    assert_eq!((table.rows.len(), table.rows[1].failed, table.rows[1].all.mean), (3, 2, 38_012));
}

#[test]
fn an_error_names_the_line_and_what_is_allowed() {
    let refused = |from: &str, to: &str, needles: &[&str]| {
        assert!(SMALL.contains(from), "{from}");
        let error = answer(&SMALL.replacen(from, to, 1)).expect_err(to).to_string();
        needles.iter().for_each(|needle| assert!(error.contains(needle), "`{needle}` is not in: {error}"));
    };
    refused("table 1", "table 2", &["line 1", "`tailcut-ldpc-table 2`", "`tailcut-ldpc-table 1`"]);
    refused("code qc", "code qd", &["line 2", "a seed"]);
    refused("1024 1\n", "1024 99999999999999999999\n", &["line 2", "2^64 - 1"]);
    refused("\nseed 1", "\nseed 01", &["line 3", "`seed 01`"]);
    refused("flooding", "sideways", &["line 4", "`flooding` or `layered`"]);
    refused("0.750", "0.75", &["line 5", "three decimals"]);
    refused("0.750", "1.001", &["line 5", "0.001 to 1.000"]);
    refused("iterations 3", "iterations 0", &["line 6", "1 to 255"]);
    refused("iterations 3", "iterations 4", &["line 9", "11 fields", "12 fields"]);
    refused("rows 3", "rows 1", &["line 7", "2 to 4096"]);
    refused("rows 3", "rows 2", &["line 11", "the end of the text after 2 rows"]);
    refused("rows 3", "rows 4", &["line 12", "1 fields", "11 fields"]);
    refused("errors frames", "frames errors", &["line 8"]);
    refused("\n0 10 0", "\n1 10 0", &["line 9", "`1`", "errors from 0 to 0"]);
    refused("\n100 10", "\n0 10", &["line 10", "errors from 1 to 36864"]);
    refused("\n36864 10", "\n36865 10", &["line 11", "`36865`"]);
    refused("\n100 10", "\n100 11", &["line 10", "10 frames failed or decoded", "11 frames"]);
    refused("\n100 10 2", "\n100 10 12", &["line 10", "`12`", "failed frames from 0 to 10"]);
    refused("380.12", "380.1", &["line 10", "two decimals"]);
    refused("380.12", "4096.01", &["line 10", "`4096.01`"]);
    refused("380.12", "+380.12", &["line 10", "`+380.12`"]);
    refused("0.00 0 0 0 0\n", "0.00 0 0 0 0", &["line 12", "the end of the text", "a line break"]);
    refused("0.00 0 0 0 0\n", "0.00 0 0 0 0\n\n", &["line 13", "a further line"]);
    refused("0 1 3 4\n", "0 1 3 4\r\n", &["line 10"]);
    let long = format!("seed {}", "9".repeat(500_000));
    let error = answer(&SMALL.replacen("seed 1", &long, 1)).unwrap_err().to_string();
    assert!(error.len() < 200, "a long line is cut: {error}");
    let largest = " ".repeat(LARGEST_TEXT + 1);
    assert_eq!(answer(&largest), Err(TableError::TooLong(LARGEST_TEXT + 1)));
    assert!(matches!(answer(""), Err(TableError::Line { line: 1, .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text(text in "\\PC{0,300}") {
        let _ = answer(&text);
    }

    #[test]
    fn table_like_rows(rows in prop::collection::vec(prop::collection::vec("[0-9.]{1,6}", 9..13), 2..5)) {
        let head: String = SMALL.lines().take(6).map(|line| format!("{line}\n")).collect();
        let columns = SMALL.lines().nth(7).unwrap();
        let lines: String = rows.iter().map(|fields| fields.join(" ") + "\n").collect();
        let _ = answer(&format!("{head}rows {}\n{columns}\n{lines}", rows.len()));
    }

    #[test]
    fn damaged_tables(of_shipped in any::<bool>(), at in any::<prop::sample::Index>(), cut in 0usize..40, insert in "[0-9a-z. \n]{0,6}") {
        let text = if of_shipped { Table::shipped_text() } else { SMALL };
        let start = at.index(text.len());
        let end = (start + cut).min(text.len());
        let damaged = format!("{}{insert}{}", &text[..start], &text[end..]);
        let _ = answer(&damaged);
    }
}
