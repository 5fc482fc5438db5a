//! The decoding of a page's codewords, by the error rate of the sense.
//!
//! At most rates the outcome is certain: all codewords of the page decode, or none does. Then the iterations of each
//! codeword are drawn from their distribution at the rate, without drawing its errors. Only at rates near the
//! correction limit are the errors of each codeword drawn. "Certain" is exact: draws of errors are bounded, and the
//! table of the code holds shares of a finite number of simulated codewords, which can be 0 or 1.

use super::draw::{Errors, HALF};
use super::grid::{self, Between};
use super::times::DecodeTimes;
use tailcut_ldpc::Outcomes;
use tailcut_units::random::mix;

/// Quantiles of a distribution of iterations.
const QUANTILES: usize = 256;
/// Points in each octave of rates, as a power of two.
const PER_OCTAVE: u32 = 4;
/// Lower rates are treated as this one, at which one codeword in 30 has an error.
const LOWEST: u64 = 1 << 20;

/// The certain outcome at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certain {
    /// It happens to all codewords.
    All,
    /// It happens to none.
    None,
    /// Neither is certain.
    Neither,
}

/// The position of a rate in the table, which begins at [`LOWEST`].
#[inline]
fn place(rate: u64) -> Between {
    let Between { point, share } = grid::place::<PER_OCTAVE>(rate.max(LOWEST));
    Between { point: point - grid::place::<PER_OCTAVE>(LOWEST).point, share }
}

/// The rate at a point.
fn rate_at(point: usize) -> u64 {
    grid::number::<PER_OCTAVE>(point + grid::place::<PER_OCTAVE>(LOWEST).point)
}

impl Certain {
    fn of(least: bool, most: bool) -> Certain {
        match (least, most) {
            (true, true) => Certain::All,
            (false, false) => Certain::None,
            _ => Certain::Neither,
        }
    }
}

/// The certain outcomes at the rates between two points of the table.
#[derive(Clone, Copy, Debug)]
struct Band {
    decodes: Certain,
    predicted: Certain,
}

/// Number of codewords whose iterations one draw contains: eight bits for each, and 16 bits for the choice of the
/// distribution.
const PER_DRAW: usize = 6;

/// An error rate of a sense, and its position in the tables of [`Decodings`].
#[derive(Clone, Copy)]
pub struct At {
    /// The rate, in units of 2^-40.
    pub rate: u64,
    between: Between,
}

/// The outcomes of decoding by rate.
#[derive(Clone, Debug)]
pub struct Decodings {
    /// By point of the table: the rates from there to the next point.
    bands: Vec<Band>,
    /// By point at which all codewords decode: quantiles of the decoder iterations of a codeword.
    iterations: Vec<[u8; QUANTILES]>,
    /// See [`Decodings::plain_below`].
    plain_below: u64,
    /// By point below that rate: the largest number of iterations of a codeword at rates up to the next point.
    most_plain: Vec<u8>,
}

impl Decodings {
    /// Compute the tables. A codeword is predicted to fail if its syndrome weight is above `threshold`; with `u32::MAX`
    /// none is.
    pub fn new(errors: &Errors, outcomes: &Outcomes, times: &DecodeTimes, threshold: u32) -> Decodings {
        let last = place(HALF).point + 1;
        let mut bands = Vec::with_capacity(last);
        for point in 0..last {
            let (least, _) = errors.bounds(rate_at(point));
            let (_, most) = errors.bounds(rate_at(point + 1).min(HALF));
            let [certain, hopeless] = [outcomes.always_decodes(most), outcomes.never_decodes(least)];
            // The outcome does not change above the largest number of errors in the table.
            let counts = least.min(outcomes.counts())..=most.min(outcomes.counts());
            let weights = counts.map(|errors| outcomes.first_weights(errors));
            let (lightest, heaviest) =
                weights.fold((u32::MAX, 0), |(low, high), (a, b)| (low.min(a), high.max(b)));
            let decodes = Certain::of(!hopeless, certain);
            let predicted = Certain::of(lightest > threshold, heaviest > threshold);
            bands.push(Band { decodes, predicted });
        }
        let decoded = bands.iter().take_while(|band| band.decodes == Certain::All).count();
        let iterations: Vec<_> =
            (0..=decoded).map(|point| distribution(errors, (outcomes, times), rate_at(point))).collect();
        let plain = |band: &&Band| band.decodes == Certain::All && band.predicted == Certain::None;
        let plain = bands.iter().take_while(plain).count();
        let mut most = 0;
        let most_plain = iterations.windows(2).take(plain).map(|tables| {
            most = tables.iter().map(|table| table[QUANTILES - 1]).fold(most, u8::max);
            most
        });
        let (most_plain, plain_below) = (most_plain.collect(), if plain == 0 { 0 } else { rate_at(plain) });
        Decodings { bands, iterations, plain_below, most_plain }
    }

    /// The position of the error rate with which a page is sensed.
    #[inline]
    pub fn at(&self, rate: u64) -> At {
        At { rate, between: place(rate) }
    }

    /// Whether the codewords of a page decode.
    #[inline]
    pub fn decodes(&self, at: At) -> Certain {
        self.bands[at.between.point].decodes
    }

    /// Whether its first codeword is predicted to fail.
    #[inline]
    pub fn predicted(&self, at: At) -> Certain {
        self.bands[at.between.point].predicted
    }

    /// Below this rate all codewords certainly decode, and none is predicted to fail.
    #[inline]
    pub fn plain_below(&self) -> u64 {
        self.plain_below
    }

    /// Draw the iterations of the codewords of a page at a rate at which all decode. Returns the largest number.
    #[inline]
    pub fn iterate(&self, at: At, mut draw: u64, iterations: &mut [u8]) -> u8 {
        let mut most = 0;
        for codewords in iterations.chunks_mut(PER_DRAW) {
            let table = self.distribution(at, draw);
            for (i, iterations) in codewords.iter_mut().enumerate() {
                *iterations = table[quantile(draw, i)];
                most = most.max(*iterations);
            }
            draw = mix(draw);
        }
        most
    }

    /// The iterations that [`Decodings::iterate`] draws for codeword `number` of the page.
    #[inline]
    pub fn iterations_of(&self, at: At, draw: u64, number: usize) -> u8 {
        if number >= PER_DRAW {
            return self.iterations_of(at, mix(draw), number - PER_DRAW);
        }
        self.distribution(at, draw)[quantile(draw, number)]
    }

    /// The highest rate, at most [`Decodings::plain_below`], below which no codeword takes more than `most` iterations,
    /// and the largest number of iterations there. Without such a rate, the result is that of `plain_below`.
    pub fn plain_within(&self, most: u64) -> (u64, u8) {
        let within = self.most_plain.iter().take_while(|&&n| u64::from(n) <= most).count();
        let points = if within == 0 { self.most_plain.len() } else { within };
        points.checked_sub(1).map_or((0, 0), |last| (rate_at(points), self.most_plain[last]))
    }

    /// The distribution of the iterations of a codeword at a rate at which all decode. Between two points, the highest
    /// 16 bits of the draw choose one of the two distributions, which mixes them.
    #[inline]
    fn distribution(&self, At { between, .. }: At, draw: u64) -> &[u8; QUANTILES] {
        &self.iterations[between.point + usize::from(draw >> 48 < between.share)]
    }
}

/// The quantile that a draw contains for codeword `i`.
#[inline]
fn quantile(draw: u64, i: usize) -> usize {
    usize::from((draw >> (8 * i)) as u8)
}

/// The sorted iterations of a codeword at a rate, from samples that are spread evenly over the draws of its errors and
/// of its decoding (multiples of the powers of the root of x^4 = x + 1).
fn distribution(errors: &Errors, (outcomes, times): (&Outcomes, &DecodeTimes), rate: u64) -> [u8; QUANTILES] {
    const STEPS: [u32; 3] = [0xD1B5_4A33, 0xABC9_8388, 0x8CB9_2BA7];
    let mut samples = std::array::from_fn(|i| {
        let [factor, normal, draw] = STEPS.map(|step| step.wrapping_mul(i as u32).wrapping_add(1 << 31));
        let wrong = errors.drawn(rate, u64::from(factor >> 20), u64::from(normal >> 20));
        times.ticks(wrong, outcomes.outcome(wrong, draw))
    });
    samples.sort_unstable();
    samples
}

#[cfg(test)]
mod tests {
    use super::super::config::ErrorsConfig;
    use super::super::draw::{Page, Vref};
    use super::*;
    use crate::address::BlockId;
    use crate::nand::blocks::Found;
    use proptest::prelude::*;
    use tailcut_ldpc::{CODEWORD_BITS, Table};

    const DAY: u64 = 86_400_000_000_000;
    const THRESHOLD: u32 = 250;

    fn errors(codeword_spread: f64) -> Errors {
        shifted(codeword_spread, 0.0)
    }

    /// The same with optima of V_REF that differ.
    fn shifted(codeword_spread: f64, shift: f64) -> Errors {
        let config = ErrorsConfig {
            block_spread: 0.1,
            layer_spread: 0.05,
            layers: 10,
            page_spread: 0.05,
            codeword_spread,
            shift_block_spread: shift,
            shift_layer_spread: shift,
            shift_boundary_spread: shift,
            ..ErrorsConfig::alike()
        };
        Errors::new(&config, 1, 576, CODEWORD_BITS as u64, 7)
    }

    fn decodings(errors: &Errors, outcomes: &Outcomes) -> Decodings {
        let times = DecodeTimes::new(&ErrorsConfig::alike(), &Table::shipped(), 4);
        Decodings::new(errors, outcomes, &times, THRESHOLD)
    }

    fn page(e: &Errors, block: u32, cycles: u32, hours: u64) -> Page {
        e.page(&Found { block: BlockId(block), cycles, reads: 0, age: hours * DAY / 24 }, block % 500, 0)
    }

    proptest! {
        #[test]
        fn what_is_certain_is_what_is_drawn(block in 0u32..100_000, cycles in 0u32..3000, hours in 0u64..1500, spread in 0.0..0.1f64) {
            let (e, outcomes) = (errors(spread), Outcomes::new(&Table::shipped()));
            let d = decodings(&e, &outcomes);
            for block in block..block + 50 {
                let page = page(&e, block, cycles, hours);
                let rate = e.rate(&page, Vref::Moved(0));
                for number in 0..4 {
                    let wrong = e.codeword(page.draw(), rate, number);
                    let [draw, own] = e.decode_draws(page.draw(), number);
                    let (decodes, _) = outcomes.outcome(wrong, draw);
                    let heavy = outcomes.first_weight(wrong, draw, own) > THRESHOLD;
                    let at = d.at(rate);
                    for (certain, happens) in [(d.decodes(at), decodes), (d.predicted(at), heavy)] {
                        prop_assert!(certain == Certain::Neither || (certain == Certain::All) == happens);
                    }
                    prop_assert!(rate >= d.plain_below() || decodes && !heavy);
                }
            }
        }
    }

    proptest! {
        /// What [`crate::flash`] takes for plain from a block alone holds for each page of it, until it is older.
        #[test]
        fn no_page_of_a_plain_block_exceeds_its_bounds(block in 0u32..100_000, cycles in 0u32..1500, hours in 0u64..300, number in 0u32..576, younger in 0u64..300, shift in prop::sample::select(vec![0.0, 0.2, 1.0])) {
            let e = shifted(0.015, shift);
            let d = decodings(&e, &Outcomes::new(&Table::shipped()));
            let found = Found { block: BlockId(block), cycles, reads: 0, age: hours * DAY / 24 };
            let limit = d.plain_below();
            let is_plain = e.bound(number) <= e.largest_bound(&found, limit);
            let before = Found { age: found.age.saturating_sub(younger * DAY / 24), ..found };
            for reads in 0..20 {
                let rate_of = |found| e.rate(&e.page(&Found { reads, ..found }, number, 2), Vref::Moved(0));
                let (rate, younger) = (rate_of(found), rate_of(before));
                let sensed = Found { reads, ..found };
                let page = e.page(&sensed, number, 2);
                let (undisturbed, draw) = e.undisturbed(e.rates(&sensed), &sensed, number, 2);
                prop_assert_eq!((undisturbed.min(HALF), draw), (rate, page.draw()));
                // The bounds are not far from the rates.
                prop_assert!(is_plain || shift > 0.0 || rate * 3 / 2 > limit, "{rate}");
                if is_plain {
                    prop_assert!(rate < limit && younger < limit, "{rate}, {younger}");
                    let [low, high] = [0, u64::MAX].map(|draw| d.distribution(d.at(rate), draw)[QUANTILES - 1]);
                    prop_assert!(low.max(high) <= d.plain_within(u64::MAX).1);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn one_codeword_is_drawn_as_all_are(draw in any::<u64>(), rate in 0u64..1 << 31, codewords in 1usize..40) {
            let d = decodings(&errors(0.015), &Outcomes::new(&Table::shipped()));
            prop_assert!(rate < d.plain_below());
            let at = d.at(rate);
            let mut all = vec![0; codewords];
            d.iterate(at, draw, &mut all);
            let each: Vec<u8> = (0..codewords).map(|number| d.iterations_of(at, draw, number)).collect();
            prop_assert_eq!(&all, &each);
            prop_assert!(all.iter().all(|&n| n <= d.plain_within(u64::MAX).1));
            // A lower rate has fewer iterations at most.
            let most = d.plain_within(0).1 / 2;
            let (limit, found) = d.plain_within(most.into());
            prop_assert!(found <= most && limit < d.plain_below());
            let mut all = vec![0; codewords];
            d.iterate(d.at(rate % limit), draw, &mut all);
            prop_assert!(all.iter().all(|&n| n <= found));
        }
    }

    /// The distribution of iterations at a rate against draws of errors, over the rates of a drive's life.
    #[test]
    fn iterations_are_those_of_drawn_errors() {
        let (e, outcomes) = (errors(0.015), Outcomes::new(&Table::shipped()));
        let d = decodings(&e, &outcomes);
        let mut certain = 0;
        for share in [1e-6, 1e-4, 5e-4, 1e-3, 2e-3, 3.3e-3, 4.1e-3, 5.2e-3, 5.6e-3] {
            let rate = (share * (1u64 << 40) as f64) as u64;
            if d.decodes(d.at(rate)) != Certain::All {
                continue;
            }
            certain += 1;
            let (mut drawn, mut told) = ([0u32; 64], [0u32; 64]);
            for block in 0..5_000 {
                let page = page(&e, block, 0, 0);
                for number in 0..4 {
                    let [draw, other] = e.decode_draws(page.draw(), number);
                    let wrong = e.codeword(page.draw(), rate, number);
                    drawn[usize::from(outcomes.outcome(wrong, draw).1)] += 1;
                    let table = d.distribution(d.at(rate), u64::from(other) << 32);
                    told[usize::from(table[(draw >> 24) as usize])] += 1;
                }
            }
            let (mut a, mut b, mut distance) = (0, 0, 0);
            for (drawn, told) in drawn.into_iter().zip(told) {
                (a, b) = (a + drawn, b + told);
                distance = distance.max(a.abs_diff(b));
            }
            // Of 20,000: 0.016 is what two samples differ by in one case of a hundred.
            assert!(distance < 500, "{share}: {distance}, {drawn:?}, {told:?}");
        }
        assert!(certain >= 7, "{certain} rates at which all codewords decode");
    }

    #[test]
    fn most_rates_are_certain() {
        let d = decodings(&errors(0.015), &Outcomes::new(&Table::shipped()));
        let of = |share: f64| (share * (1u64 << 40) as f64) as u64;
        let decodes = |rate| d.decodes(d.at(rate));
        assert_eq!(decodes(of(0.005)), Certain::All);
        assert_eq!(decodes(of(0.0085)), Certain::Neither);
        assert_eq!(decodes(of(0.013)), Certain::None);
        assert_eq!(decodes(HALF), Certain::None);
        let predicted = |share| d.predicted(d.at(of(share)));
        assert_eq!((predicted(0.002), predicted(0.02)), (Certain::None, Certain::All));
        assert!((of(0.002)..of(0.008)).contains(&d.plain_below()));
        let (limit, most) = d.plain_within(u64::MAX);
        assert!(limit == d.plain_below() && most > 0 && d.plain_within(0) == (limit, most));
    }
}
