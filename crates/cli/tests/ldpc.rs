//! Does `tailcut ldpc` print curves, write the table, and refuse what makes no sense?
#![cfg(unix)]

mod common;

use common::{command, files, tailcut};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn curve(more: &[&str]) -> Value {
    let text = tailcut(&[&["ldpc", "curve", "--json"], more].concat()).ok();
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn a_curve_shows_failures_iterations_and_weights() {
    let text = tailcut(&["ldpc", "curve", "--rber", "0.003,0.012", "--frames", "40"]).ok();
    for needle in
        ["40 codewords", "min-sum, flooding, factor 0.750, at most 20", "0.003", "0.012", "1.00000", "p99"]
    {
        assert!(text.contains(needle), "`{needle}` is not in\n{text}");
    }
    let found = curve(&["--rber", "0.003,0.012", "--frames", "40"]);
    let points = found["points"].as_array().unwrap();
    let number = |point: usize, name: &str| points[point][name].as_f64().unwrap();
    assert_eq!((number(0, "failure_rate"), number(1, "failure_rate")), (0.0, 1.0));
    assert!(number(0, "failure_rate_high") > 0.05, "40 frames do not show more");
    assert!((3.8..4.6).contains(&number(0, "mean_iterations")), "{found}");
    assert!(points[1]["mean_iterations"].is_null(), "none decodes");
    for point in points {
        for weight in [&point["weight"], &point["first_weight"]] {
            let of = |name: &str| weight[name].as_f64().unwrap();
            // Five standard errors of 40 frames.
            let band = of("expected_deviation") * 5.0 / 40f64.sqrt();
            assert!((of("mean") - of("expected_mean")).abs() < band, "{weight}");
        }
    }
}

#[test]
fn the_options_choose_the_decoder() {
    let of = |found: &Value| found["points"][0]["mean_iterations"].as_f64().unwrap();
    let rate = ["--rber", "0.005", "--frames", "40"];
    let with = |more: &[&str]| curve(&[&rate[..], more].concat());
    let flooding = with(&[]);
    let layered = with(&["--schedule", "layered"]);
    assert!(of(&layered) < 0.7 * of(&flooding));
    assert_eq!(layered["schedule"], "layered");
    let soft = with(&["--soft-senses", "2"]);
    assert!(of(&soft) < of(&flooding));
    let few = with(&["--iterations", "5"]);
    assert!(few["points"][0]["failed"].as_u64().unwrap() > 20);
    let other = with(&["--seed", "2"]);
    assert_ne!(other["points"], flooding["points"]);
    assert_eq!(with(&["--threads", "1"]), with(&["--threads", "3"]));
    let stalled = with(&["--factor", "1"]);
    assert_eq!(stalled["points"][0]["failed"], 40);
    let flipped = curve(&["--decoder", "bit-flip", "--rber", "0.002", "--frames", "20"]);
    assert_eq!(
        (flipped["points"][0]["failed"].as_u64(), flipped["iterations"].as_u64()),
        (Some(0), Some(100))
    );
    assert!(flipped.get("schedule").is_none());
    let exact = curve(&["--errors", "0,100", "--frames", "10"]);
    assert_eq!(exact["points"][0]["mean_iterations"], 0.0);
    assert_eq!(exact["points"][1]["errors"], 100);
}

#[test]
fn a_table_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.txt");
    let out = file.to_str().unwrap();
    let quick = ["ldpc", "table", "--frames", "1"];
    let said = tailcut(&[&quick[..], &["--out", out]].concat()).ok();
    assert!(said.contains("77 rows"), "{said}");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("tailcut-ldpc-table 1\n"), "{written}");
    // The same bytes on standard output, and for any number of threads.
    assert_eq!(tailcut(&[&quick[..], &["--threads", "3"]].concat()).ok(), written);
    let again = [&quick[..], &["--out", out]].concat();
    tailcut(&again).refused(&["exists already", "--force"]);
    tailcut(&[&again[..], &["--force", "--schedule", "layered"]].concat()).ok();
    assert!(std::fs::read_to_string(&file).unwrap().contains("schedule layered"));
    assert_eq!(files(folder.path()), ["table.txt"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refuse = |more: &[&str], needles: &[&str]| {
        tailcut(&[&["ldpc", "curve"], more].concat()).refused(needles);
    };
    refuse(&["--rber", "0.6"], &["--rber", "0 to 0.5"]);
    refuse(&["--rber", "high"], &["--rber", "`high`", "0.0085"]);
    refuse(&["--factor", "1.5"], &["--factor", "0.001 to 1"]);
    refuse(&["--iterations", "0"], &["--iterations", "0"]);
    refuse(&["--frames", "0"], &["--frames"]);
    refuse(&["--soft-senses", "3"], &["3 extra senses", "0, 2, 4 or 6"]);
    refuse(&["--soft-senses", "2", "--rber", "0.3"], &["0.3", "0.00001 to 0.2"]);
    refuse(&["--decoder", "bit-flip", "--factor", "0.5"], &["--factor", "bit flipping"]);
    refuse(&["--errors", "36865"], &["--errors", "36864"]);
    refuse(&["--errors", "3", "--rber", "0.01"], &["--errors", "--rber"]);
    refuse(&["--errors", "3", "--soft-senses", "2"], &["--errors", "--soft-senses"]);
    tailcut(&["ldpc", "table", "--out", "/no/such/folder/t"]).refused(&["/no/such/folder/t"]);
    tailcut(&["ldpc", "table", "--force"]).refused(&["--out"]);
}

#[test]
fn a_signal_ends_it_within_a_second_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("table.txt");
    let table = ["ldpc", "table", "--out", out.to_str().unwrap()];
    let curve = ["ldpc", "curve", "--frames", "1000000"];
    for args in [&table[..], &curve] {
        let mut child = command(folder.path());
        let child = child.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The first row of the table is done at once, and no later one before minutes have passed.
        std::thread::sleep(Duration::from_millis(1500));
        let asked = Instant::now();
        assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), said.as_str()), (Some(1), "error: interrupted\n"));
        // Generous, since a busy machine is no slow program: a frame takes a few milliseconds.
        assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
        assert_eq!(files(folder.path()), [""; 0]);
    }
}

/// The outputs that `docs/ldpc.md` shows are those of the program.
#[test]
fn the_manual_shows_real_output() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ldpc.md");
    let manual = std::fs::read_to_string(path).expect("the manual");
    let block = |start: &str| {
        let found = manual.split("```\n").find(|block| block.starts_with(start));
        found.and_then(|block| block.split_once('\n')).unwrap_or_else(|| panic!("no `{start}`"))
    };
    let (asked, shown) = block("$ tailcut ldpc curve");
    let args: Vec<&str> = asked.trim_start_matches("$ tailcut ").split(' ').collect();
    assert_eq!(tailcut(&args).ok(), shown);
    // The table takes minutes; what is said of it follows from the shipped one.
    let table = tailcut_ldpc::Table::shipped();
    let rows = table.rows.len();
    let said = format!(
        "table.txt: {rows} rows; a tenth of the codewords fails at a raw bit error rate of {:.5}\n",
        table.limit()
    );
    assert_eq!(block("$ tailcut ldpc table").1, said);
}

#[test]
fn predictions_are_right_away_from_the_limit_and_guess_at_it() {
    let few = ["ldpc", "predict", "--rber", "0.004,0.0082,0.012", "--pages", "60"];
    let found: Value = serde_json::from_str(&tailcut(&[&few[..], &["--json"]].concat()).ok()).unwrap();
    let points = found["points"].as_array().unwrap();
    let accuracy = |i: usize, kind: &str| points[i][kind]["accuracy"].as_f64().unwrap();
    for kind in ["page", "chunk"] {
        assert!(accuracy(0, kind) == 1.0 && accuracy(2, kind) > 0.95, "{found}");
        assert!((0.2..0.95).contains(&accuracy(1, kind)), "{found}");
        let density = found[kind]["density"].as_f64().unwrap();
        assert!((0.001..0.1).contains(&density), "{found}");
    }
    assert_eq!(points[0]["failed"], 0);
    // The limit is 0.00815: a mean weight of 0.2233 of 1,024 and of 16,384 checks.
    assert!((220..=240).contains(&found["chunk_threshold"].as_u64().unwrap()), "{found}");
    assert!((3500..=3850).contains(&found["page_threshold"].as_u64().unwrap()), "{found}");
    let text = tailcut(&few).ok();
    assert!(text.contains("60 pages") && text.contains("published accuracy of the chunk: 98.7 %"), "{text}");
    tailcut(&["ldpc", "predict", "--rber", "0.01,0.004"]).refused(&["--rber", "increase"]);
}

/// By default the decoder is that of the table from which drives draw; a table chooses its own, and its limit.
#[test]
fn predictions_are_for_the_decoder_of_the_table() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    let predict = |more: &[&str]| -> Value {
        let few = ["ldpc", "predict", "--rber", "0.0084", "--pages", "60", "--json"];
        serde_json::from_str(&tailcut(&[&few[..], more].concat()).ok()).unwrap()
    };
    let shipped = tailcut_ldpc::Table::shipped();
    std::fs::write(file("shipped.txt"), shipped.to_string()).unwrap();
    let default = predict(&[]);
    assert_eq!(default, predict(&["--table", &file("shipped.txt")]));
    let decoder = (&default["schedule"], &default["factor"], &default["iterations"]);
    assert_eq!(decoder, (&"flooding".into(), &"0.750".into(), &20.into()));
    // At this rate the layered decoder decodes most of the pages that the flooding one does not.
    let layered = predict(&["--schedule", "layered"]);
    assert_eq!(
        (&layered["schedule"], &layered["page_threshold"]),
        (&"layered".into(), &default["page_threshold"])
    );
    let failed = |found: &Value| found["points"][0]["failed"].as_u64().unwrap();
    assert!(2 * failed(&layered) < failed(&default), "{} and {}", failed(&layered), failed(&default));
    // A table with a limit of its own moves the thresholds.
    let table = ["ldpc", "table", "--schedule", "layered", "--frames", "20", "--out"];
    tailcut(&[&table[..], &[&file("layered.txt")]].concat()).ok();
    let own = predict(&["--table", &file("layered.txt")]);
    assert_eq!(
        (&own["schedule"], &own["points"][0]["failed"]),
        (&"layered".into(), &layered["points"][0]["failed"])
    );
    assert!(own["page_threshold"].as_u64() > default["page_threshold"].as_u64(), "{own}");
    tailcut(&["ldpc", "predict", "--table", &file("none.txt")]).refused(&["--table", "none.txt"]);
    let both = ["ldpc", "predict", "--table", &file("layered.txt"), "--schedule", "flooding"];
    tailcut(&both).refused(&["--schedule", "--table"]);
}
