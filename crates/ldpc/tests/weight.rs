//! Do syndrome weights have the mean and the deviation of their closed forms?

mod common;

use common::code;
use tailcut_ldpc::{CHECKS, Channel, Errors, Sensing, Word, at_count, at_rate};

/// Mean and deviation of both weights over frames.
fn measured(errors: Errors, frames: u64) -> [(f64, f64); 2] {
    let (code, sent) = (code(), Word::zero());
    let sensing = match errors {
        Errors::Exactly(_) => Sensing::hard(),
        Errors::Rate(p) => Sensing::new(0, p).unwrap(),
    };
    let mut channel = Channel::new(11, errors, &sensing);
    let mut sums = [(0.0, 0.0); 2];
    for frame in 0..frames {
        let received = Channel::received(&sent, channel.draw(frame), &sensing);
        let syndrome = code.syndrome(&received);
        for (sum, weight) in sums.iter_mut().zip([syndrome.weight(), syndrome.first_weight()]) {
            let weight = f64::from(weight);
            *sum = (sum.0 + weight, sum.1 + weight * weight);
        }
    }
    let n = frames as f64;
    sums.map(|(sum, squares)| (sum / n, (squares / n - (sum / n) * (sum / n)).sqrt()))
}

#[test]
fn the_closed_forms_agree_with_monte_carlo() {
    const FRAMES: u64 = 10_000;
    let code = code();
    let n = FRAMES as f64;
    for errors in [Errors::Rate(0.002), Errors::Rate(0.0085), Errors::Exactly(100), Errors::Exactly(313)] {
        let found = measured(errors, FRAMES);
        for (block_rows, (mean, deviation)) in [4, 1].into_iter().zip(found) {
            let expected = match errors {
                Errors::Rate(p) => at_rate(&code, block_rows, p),
                Errors::Exactly(n) => at_count(&code, block_rows, n as usize),
            };
            // Five standard errors: of a mean, and of the deviation of a normal variable.
            let (of_mean, of_deviation) =
                (5.0 * expected.deviation / n.sqrt(), 5.0 * expected.deviation / (2.0 * n).sqrt());
            assert!((mean - expected.mean).abs() < of_mean, "{errors:?} {block_rows}: {mean} {expected:?}");
            assert!(
                (deviation - expected.deviation).abs() < of_deviation,
                "{errors:?} {block_rows}: {deviation} {expected:?}"
            );
        }
    }
}

#[test]
fn the_first_block_row_is_binomial_and_the_sum_is_not() {
    let code = code();
    let (first, all) = (at_rate(&code, 1, 0.0085), at_rate(&code, 4, 0.0085));
    // Row weight 36: 235.8 checks of 1,024, as measured independently for a regular code.
    assert!((first.mean - 235.8).abs() < 0.1, "{first:?}");
    let q = first.mean / 1024.0;
    assert!((first.deviation - (1024.0 * q * (1.0 - q)).sqrt()).abs() < 1e-9, "{first:?}");
    // A regular code of row weight 36 has a mean of 943.3; here three block rows have weight 35. Its
    // deviation is 43 and not the binomial 27, and three weaker columns change that by less than 1.
    let regular: f64 = 4.0 * first.mean;
    let lost = 3.0 * 1024.0 * 0.0085 * (1.0 - 2.0 * 0.0085f64).powi(35);
    assert!((regular - 943.3).abs() < 0.3 && (all.mean - (regular - lost)).abs() < 1e-6, "{all:?}");
    assert!((all.deviation - 43.0).abs() < 1.0, "{all:?}");
}

#[test]
fn the_ends_are_exact() {
    let code = code();
    let one = at_count(&code, 4, 1);
    // 33 block columns of weight 4, and 3 of weight 3.
    assert!((one.mean - (33.0 * 4.0 + 3.0 * 3.0) / 36.0).abs() < 1e-9, "{one:?}");
    assert!((one.deviation - (33.0 * 3.0f64).sqrt() / 36.0).abs() < 1e-6, "{one:?}");
    assert!(at_count(&code, 4, 0).mean.abs() < 1e-9);
    assert!((at_rate(&code, 4, 0.5).mean - CHECKS as f64 / 2.0).abs() < 1e-9);
    assert!((at_rate(&code, 4, 0.5).deviation - 32.0).abs() < 1e-9);
}
