//! The threshold voltages of TLC cells: eight normal distributions, which widen with cycles and shift down with the age
//! of the data. V_REF stays at its default, or follows the shift.
//!
//! All its numbers are assumptions. The programmed states have equal distances. Widths and shifts are chosen so that
//! new data have an error rate of 1.5e-3, and that older data have the rate of the fitted model. The test of `model`
//! compares the two models; neither is computed from the other.

use super::model::{PageState, Rates};
use super::normal::above;

/// Distance of the means of neighbouring states. Voltages have no unit: only their ratios matter.
const DISTANCE: f64 = 63.0;
/// Standard deviation of the states of new data in a fresh block.
const WIDTH: f64 = 11.25;
/// Relative widening of the states by one cycle.
const WIDENING: f64 = 2e-5;
/// Shift of the highest state of a fresh block after a day.
const SHIFT: f64 = 6.584;
/// Power of time, and growth with cycles, of the shift.
const SHIFT_POWER: f64 = 0.27;
const SHIFT_BY_CYCLE: f64 = 2.4e-4;
/// Shift of the lowest programmed state relative to that of the highest. The erased state does not shift.
const LEAST_SHIFT: f64 = 0.3;
/// Number of states of a cell.
const STATES: usize = 8;
const BITS: f64 = 3.0;

/// The error rates of a page.
pub(super) fn rates(state: PageState) -> Rates {
    Rates { best: rate(state, 1.0), default: rate(state, 0.0) }
}

/// The error rate if each V_REF is moved by this share of the mean shift of its two neighbouring states.
pub(super) fn rate(PageState { cycles, days, .. }: PageState, moved: f64) -> f64 {
    let shift = SHIFT * libm::exp(SHIFT_BY_CYCLE * cycles) * libm::pow(days, SHIFT_POWER);
    let width = WIDTH * (1.0 + WIDENING * cycles);
    let share = |state: usize| match state {
        0 => 0.0,
        _ => LEAST_SHIFT + (1.0 - LEAST_SHIFT) * (state - 1) as f64 / (STATES - 2) as f64,
    };
    let mean = |state: usize| DISTANCE * state as f64 - shift * share(state);
    let misread = |low: usize| {
        let middle = DISTANCE * (low as f64 + 0.5);
        let reference = middle - moved * shift * (share(low) + share(low + 1)) / 2.0;
        above((reference - mean(low)) / width) + above((mean(low + 1) - reference) / width)
    };
    // Neighbouring states differ in one bit (Gray code).
    (0..STATES - 1).map(misread).sum::<f64>() / (STATES as f64 * BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All models let the errors beyond the best grow with the square of the distance of V_REF from its
    /// optimum. These states say how good that is.
    #[test]
    fn errors_grow_with_the_square_of_the_distance() {
        for (cycles, days) in [(0.0, 17.0), (0.0, 60.0), (1000.0, 10.0), (2000.0, 30.0)] {
            let state = PageState { cycles, days, reads: 0.0 };
            let Rates { best, default } = rates(state);
            for moved in [0.25, 0.5, 0.75, 1.25] {
                let share = (rate(state, moved) - best) / (default - best);
                let square = (1.0f64 - moved).powi(2);
                assert!((share - square).abs() < 0.085, "{cycles}, {days}: {share} instead of {square}");
            }
        }
    }
}
