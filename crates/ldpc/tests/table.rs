//! Is the shipped table what the code and the decoder give, and does the simulator draw what it says?

mod common;

use common::code;
use tailcut_ldpc::{
    Channel, Errors, Job, Outcomes, Plan, Sensing, Settings, Table, Tally, WeightSums, Weights, at_count,
    measure,
};
use tailcut_units::Stream;

#[test]
fn the_shipped_table_has_the_shipped_plan() {
    let table = Table::shipped();
    assert_eq!(table.plan(), Plan::shipped());
    assert_eq!(table.to_string(), Table::shipped_text());
}

/// `tailcut ldpc table` measures all rows again, which takes minutes.
#[test]
fn measuring_some_rows_again_gives_the_same_bytes() {
    let shipped = Table::shipped();
    let mut plan = Plan::shipped();
    plan.rows.retain(|&(errors, _)| [0, 8, 304, 568].contains(&errors));
    assert_eq!(plan.rows.len(), 4);
    let again = Table::measure(&plan, 2, &|_| true).expect("it is not stopped");
    for row in again.rows {
        let expected = shipped.rows.iter().find(|shipped| shipped.errors == row.errors).expect("the row");
        assert_eq!(row.to_string(), expected.to_string());
    }
}

#[test]
fn weights_are_those_of_the_closed_form() {
    let code = code();
    for row in &Table::shipped().rows {
        for (block_rows, Weights { mean, deviation }) in [(4, row.all), (1, row.first)] {
            let expected = at_count(&code, block_rows, row.errors as usize);
            let n = f64::from(row.frames);
            // Five standard errors, the rounding of the text, and for few errors, where the weight is far
            // from normal, a tenth of a check.
            let (mean, deviation) = (f64::from(mean) / 100.0, f64::from(deviation) / 100.0);
            let band = 5.0 * expected.deviation / n.sqrt() + 0.005;
            assert!((mean - expected.mean).abs() < band, "{} errors: {mean}, {expected:?}", row.errors);
            let band = 5.0 * expected.deviation / (2.0 * n).sqrt() + 0.1;
            assert!(
                (deviation - expected.deviation).abs() < band,
                "{}: {deviation}, {expected:?}",
                row.errors
            );
        }
    }
}

#[test]
fn failures_and_iterations_grow_with_errors() {
    let table = Table::shipped();
    for pair in table.rows.windows(2) {
        let (a, b) = (pair[0].failure_rate(), pair[1].failure_rate());
        let error = 4.0 * (a * (1.0 - a) / f64::from(pair[0].frames)).sqrt();
        assert!(b >= a - error, "{} errors: {a}, {} errors: {b}", pair[0].errors, pair[1].errors);
        if pair[1].failed * 2 < pair[1].frames {
            assert!(pair[1].mean_iterations() > pair[0].mean_iterations(), "{} errors", pair[1].errors);
        }
    }
    let rates: Vec<f64> = table.rows.iter().map(|row| row.failure_rate()).collect();
    assert_eq!((rates[0], rates[26], *rates.last().unwrap()), (0.0, 0.0, 1.0));
    assert_eq!(table.failure_rate(0.0), 0.0);
    assert!((table.failure_rate(0.5) - 1.0).abs() < 1e-9);
    assert_eq!(table.mean_iterations(0.5), 0.0);
}

/// Uniform draws: every 2^16-th number, from its middle.
fn draws() -> impl Iterator<Item = u32> {
    (0..1u32 << 16).map(|i| (i << 16) + (1 << 15))
}

/// A second draw beside each of [`draws`]: together they fill the square evenly (a Fibonacci lattice).
fn scattered(draw: u32) -> u32 {
    ((draw >> 16).wrapping_mul(40_503) << 16) + (1 << 15)
}

#[test]
fn draws_have_the_distributions_of_the_rows() {
    let table = Table::shipped();
    let outcomes = Outcomes::new(&table);
    let all = f64::from(1u32 << 16);
    for row in &table.rows {
        let mut decoded_in = vec![0u32; usize::from(table.iterations) + 1];
        let mut failed = 0;
        let (mut weights, mut first) = ([0.0; 2], [0.0; 2]);
        for draw in draws() {
            match outcomes.outcome(row.errors, draw) {
                (true, iterations) => decoded_in[usize::from(iterations)] += 1,
                (false, iterations) => {
                    assert_eq!(iterations, outcomes.limit());
                    failed += 1;
                }
            }
            let of = |sums: &mut [f64; 2], weight: u32| {
                sums[0] += f64::from(weight);
                sums[1] += f64::from(weight) * f64::from(weight);
            };
            let other = scattered(draw);
            of(&mut weights, outcomes.weight(row.errors, draw, other));
            of(&mut first, outcomes.first_weight(row.errors, draw, other));
        }
        let near = |a: u32, b: u32| (f64::from(a) / all - f64::from(b) / f64::from(row.frames)).abs() < 1e-4;
        assert!(near(failed, row.failed), "{} errors: {failed} of 2^16", row.errors);
        assert!(decoded_in.iter().zip(&row.decoded_in).all(|(&a, &b)| near(a, b)), "{} errors", row.errors);
        for (sums, expected) in [(weights, row.all), (first, row.first)] {
            let mean = sums[0] / all;
            let deviation = (sums[1] / all - mean * mean).max(0.0).sqrt();
            let (of_mean, of_deviation) =
                (f64::from(expected.mean) / 100.0, f64::from(expected.deviation) / 100.0);
            // Rounding adds 1/12 to the variance; with few errors the weight is cut at four an error.
            let slack = if row.errors < 120 { 0.3 } else { 0.02 + 0.01 * of_deviation };
            assert!((mean - of_mean).abs() < slack, "{} errors: {mean}, {of_mean}", row.errors);
            assert!(
                (deviation - of_deviation).abs() < slack + 0.02,
                "{}: {deviation}, {of_deviation}",
                row.errors
            );
        }
    }
}

#[test]
fn tables_with_any_number_of_iterations_are_drawn_from() {
    for limit in [1, 6, 7, 8, 15, 16, 40, u8::MAX] {
        let mut table = Table::shipped();
        table.iterations = limit;
        // One frame each: of every number of iterations, and one that fails.
        let frames = u32::from(limit) + 2;
        for row in &mut table.rows {
            (row.frames, row.failed, row.decoded_in) = (frames, 1, vec![1; usize::from(limit) + 1]);
        }
        let (outcomes, errors) = (Outcomes::new(&table), table.rows[3].errors);
        for frame in 0..frames {
            let draw = (((2 * u64::from(frame) + 1) << 32) / u64::from(2 * frames)) as u32;
            let decodes = frame <= u32::from(limit);
            assert_eq!(outcomes.outcome(errors, draw), (decodes, frame.min(limit.into()) as u8), "{limit}");
            assert_eq!(outcomes.decodes(errors, draw), decodes, "{limit}");
        }
    }
}

#[test]
fn between_rows_draws_are_mixed() {
    let table = Table::shipped();
    let outcomes = Outcomes::new(&table);
    for errors in [4, 283, 302, 307, 355] {
        let failed = draws().filter(|&draw| !outcomes.outcome(errors, draw).0).count();
        let share = failed as f64 / f64::from(1u32 << 16);
        assert!((share - table.at(errors).0).abs() < 1e-4, "{errors} errors: {share}");
    }
    // Beyond the table.
    let last = table.rows.last().unwrap().errors;
    let mut stream = Stream::new(1, "beyond", 0);
    for errors in [last + 1, last + 1000, u32::MAX] {
        let draw = stream.next_u64() as u32;
        assert_eq!(outcomes.outcome(errors, draw), (false, outcomes.limit()));
        let other = stream.next_u64() as u32;
        assert_eq!(outcomes.weight(errors, draw, other), outcomes.weight(last, draw, other));
        assert_eq!(outcomes.first_weight(errors, draw, other), outcomes.first_weight(last, draw, other));
    }
    assert_eq!(outcomes.outcome(0, u32::MAX), (true, 0));
    for (a, b) in [(0, 0), (0, u32::MAX), (u32::MAX, u32::MAX)] {
        assert_eq!((outcomes.weight(0, a, b), outcomes.first_weight(0, a, b)), (0, 0));
        assert!((0..40).all(|n| outcomes.weight(n, a, b) <= 4 * n && outcomes.first_weight(n, a, b) <= n));
    }
}

/// Given the number of errors, codewords with a low weight fail more often.
#[test]
fn weights_and_outcomes_are_drawn_together() {
    let (table, code) = (Table::shipped(), code());
    let outcomes = Outcomes::new(&table);
    for errors in [312, 324] {
        let job = Job {
            seed: 77,
            settings: Settings::DEFAULT,
            errors: Errors::Exactly(errors),
            sensing: Sensing::hard(),
            frames: 1500,
        };
        let tally = measure(&code, &job, 2, &|_| true).expect("it is not stopped");
        let mut drawn = Tally::default();
        for draw in draws() {
            drawn.frames += 1;
            let failed = !outcomes.outcome(errors, draw).0;
            drawn.failed += u64::from(failed);
            drawn.all.count(outcomes.weight(errors, draw, scattered(draw)), failed);
            drawn.first.count(outcomes.first_weight(errors, draw, scattered(draw)), failed);
        }
        for (found, expected, least) in [(&drawn.all, &tally.all, 0.3), (&drawn.first, &tally.first, 0.1)] {
            let found = found.correlation(drawn.frames, drawn.failed).expect("some fail");
            let expected = expected.correlation(tally.frames, tally.failed).expect("some fail");
            // The standard error of the measured one is 0.026.
            assert!((found - expected).abs() < 0.08, "{errors} errors: {found}, measured {expected}");
            assert!(found < -least && expected < -least, "{errors} errors: {found}, measured {expected}");
        }
    }
}

/// At an error rate, codewords with a high weight have more errors and fail more often, but less so than if
/// weight and outcome were drawn independently.
#[test]
fn at_an_error_rate_a_high_weight_means_failing_as_often_as_measured() {
    let outcomes = Outcomes::new(&Table::shipped());
    let sensing = Sensing::new(0, 0.0085).unwrap();
    let mut channel = Channel::new(5, Errors::Rate(0.0085), &sensing);
    let mut stream = Stream::new(5, "draws", 0);
    let (mut together, mut apart) = (Tally::default(), Tally::default());
    for frame in 0..20_000 {
        let errors = channel.draw(frame).len() as u32;
        let mut draw = || stream.next_u64() as u32;
        let (of_outcome, of_weight, other) = (draw(), draw(), draw());
        let failed = !outcomes.outcome(errors, of_outcome).0;
        for (tally, given) in [(&mut together, of_outcome), (&mut apart, other)] {
            tally.frames += 1;
            tally.failed += u64::from(failed);
            tally.all.count(outcomes.weight(errors, given, of_weight), failed);
            tally.first.count(outcomes.first_weight(errors, given, of_weight), failed);
        }
    }
    // `tailcut ldpc curve --rber 0.0085 --json`, 2,000 frames: a standard error of 0.02. The drawn ones have 0.007.
    let of = |sums: &WeightSums, tally: &Tally| sums.correlation(tally.frames, tally.failed).unwrap();
    for (sums, of_apart, measured) in
        [(&together.all, &apart.all, 0.466), (&together.first, &apart.first, 0.389)]
    {
        let (found, independent) = (of(sums, &together), of(of_apart, &apart));
        assert!((found - measured).abs() < 0.05, "{found}, measured {measured}");
        assert!(independent > measured + 0.05, "{independent} without regard to the outcome");
    }
}
