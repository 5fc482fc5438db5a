//! The raw bit errors of each sense, as keyed draws: the same key always gives the same errors.
//!
//! A rate is a raw bit error rate (RBER): the share of wrong bits, in units of 2^-40. The rate of a page is the sum of
//! two parts: the rate at its optimum V_REF (`best`), and what the V_REF of the sense adds. At the default V_REF this
//! addition is the `excess`. Rates vary over blocks, layers, pages and codewords by lognormal factors with mean 1.

use super::config::ErrorsConfig;
use super::grid::{Grid, Growth};
use super::model::{PageState, Rates};
use super::normal::{QUANTILES, quantiles};
use super::spread::{FACTOR_SHIFT, MOST_FACTOR, Shifts, Spread};
use crate::address::BlockId;
use crate::nand::blocks::Found;
use tailcut_units::Stream;
use tailcut_units::random::mix;

/// The read reference voltage with which a page is sensed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vref {
    /// The default, moved by this many sixteenths of a step.
    Moved(u16),
    /// The optimum of the page.
    #[default]
    Best,
    /// Off the optimum of the page by this many sixteenths of a step.
    Beside(i16),
}

/// The unit of ages is 2^36 ns (69 s).
const AGE_SHIFT: u32 = 36;
/// Days in one unit of age.
const UNIT_DAYS: f64 = (1u64 << AGE_SHIFT) as f64 / 86_400e9;
/// Upper ends of the tables: cycles, ages (about 16 years) and reads.
const MOST: [u64; 3] = [1 << 14, 1 << 23, 1 << 32];
/// The rate at which all bits are wrong.
const ONE: f64 = (1u64 << 40) as f64;
/// The largest rate: half of the bits are wrong.
pub const HALF: u64 = 1 << 39;
/// The number of a page's first sense in the keys; later senses have the following numbers. (The start value is
/// arbitrary; another one would only give other draws.)
pub const FIRST_SENSE: u32 = 2;

/// The errors of all pages of a drive.
#[derive(Clone, Debug)]
pub struct Errors {
    /// By cycles and age: the rate of the mean page at the optimum V_REF, and the excess at the default V_REF.
    aged: Grid<2>,
    /// By cycles and reads of a block: the excess at the default V_REF that comes from read disturb, if the model has
    /// it.
    read: Option<Grid<1>>,
    /// By page of a block: factor of its rate relative to the mean page, from its page type and its layer, in units of
    /// 2^-16.
    by_page: Vec<u32>,
    /// By page of a block: factor of the excess at the default V_REF that comes from the spread of the optimum over
    /// read boundaries and layers, in units of 2^-16. Empty if the optimum has no such spread.
    shift_by_page: Vec<u32>,
    /// The spread of the optimum over blocks.
    block_shift: Spread,
    /// See [`Errors::bound`]. Empty if the model has read disturb, because rates then depend on more than cycles and
    /// age.
    bounds_by_page: Vec<PageFactor>,
    /// By cycles: the age up to which rates grow monotonically.
    growth: Growth,
    /// The rate that a V_REF one step off the optimum adds.
    step: u64,
    /// Spreads over blocks, pages and codewords.
    spreads: [Spread; 3],
    /// Keys of the draws of blocks, pages, senses and decodings.
    keys: [u64; 4],
    /// Number of bits of a codeword.
    bits: u64,
    /// Quantiles of the standard normal distribution, in 1/1024, each with the skewness term of a binomial draw.
    normal: Vec<[i32; 2]>,
}

/// Factor of a page's rate relative to the mean page of its block, in one byte with a resolution of 1/64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageFactor(u8);

impl PageFactor {
    /// There is no entry.
    pub const UNKNOWN: PageFactor = PageFactor(0);
    /// Smaller than the factor of any page.
    pub const NONE: PageFactor = PageFactor(1);
    /// Shift from a factor with [`FACTOR_SHIFT`] fractional bits.
    const SHIFT: u32 = FACTOR_SHIFT - 6;

    /// The byte that stands for this factor.
    #[inline]
    pub(crate) fn byte(self) -> u8 {
        self.0
    }

    /// The factor that a byte stands for.
    #[inline]
    pub(crate) fn of_byte(byte: u8) -> PageFactor {
        PageFactor(byte)
    }

    /// The factor of a page, rounded up. A factor that is too large for a byte exceeds every result of
    /// [`PageFactor::down`].
    fn up(factor: u64) -> PageFactor {
        PageFactor(((factor >> PageFactor::SHIFT) + 1).clamp(2, 255) as u8)
    }

    /// A factor rounded down.
    fn down(factor: u64) -> PageFactor {
        PageFactor((factor >> PageFactor::SHIFT).clamp(1, 254) as u8)
    }
}

/// A cache of the rates that were looked up last. Blocks that are read one after another often have the same cycles
/// and age.
#[derive(Clone, Copy, Debug)]
pub struct RateCache {
    cycles: u32,
    age: u64,
    rates: [u64; 2],
}

impl Default for RateCache {
    /// Matches no block.
    fn default() -> RateCache {
        RateCache { cycles: 0, age: u64::MAX, rates: [0; 2] }
    }
}

/// The error rates of a page in one sense, and the key of its draws. The rates do not yet depend on V_REF
/// ([`Errors::rate`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    best: u64,
    excess: u64,
    key: u64,
    /// The input of the hash that gives `key`.
    unmixed: u64,
}

impl Page {
    /// The page in its second sense; `self` is the page in its first sense.
    #[inline]
    pub fn again(&self) -> Page {
        let unmixed = self.unmixed ^ u64::from(FIRST_SENSE ^ (FIRST_SENSE + 1));
        Page { key: mix(unmixed), unmixed, ..*self }
    }

    /// The draw of this sense. The draws of its codewords are derived from it.
    #[inline]
    pub fn draw(&self) -> u64 {
        self.key
    }

    /// The page with its errors raised by the factor 1 + `growth`/2^32, and then by the rate `added`.
    #[inline]
    pub fn worsened(self, added: u64, growth: u64) -> Page {
        if added | growth == 0 {
            return self;
        }
        let grown = |rate: u64| rate + ((u128::from(rate) * u128::from(growth)) >> 32) as u64;
        Page { best: (grown(self.best) + added).min(HALF), excess: grown(self.excess).min(HALF), ..self }
    }
}

impl Errors {
    /// Create the model for a checked configuration. A block has `pages` pages, and a codeword has `bits` bits on
    /// flash.
    pub fn new(c: &ErrorsConfig, page_types: usize, pages: u32, bits: u64, seed: u64) -> Errors {
        let of = |cycles: u64, age: u64, reads: u64| {
            let days = age as f64 * UNIT_DAYS;
            // All pages of a block are taken to be read equally often.
            let reads = reads as f64 / f64::from(pages);
            c.model.rates(PageState { cycles: cycles as f64, days, reads })
        };
        let units = |rate: f64| libm::round((rate * ONE).clamp(0.0, HALF as f64)) as u64;
        let excess = |Rates { best, default }: Rates| default - best;
        let base = |cycles| excess(of(cycles, 0, 0));
        let boundaries: Vec<f64> =
            (0..page_types).map(|i| f64::from(c.boundaries[i % c.boundaries.len()])).collect();
        let mean = boundaries.iter().sum::<f64>() / page_types as f64;
        let normal = quantiles();
        let key = |purpose| Stream::new(seed, purpose, 0).next_u64();
        let by_type: Vec<u64> = boundaries.iter().map(|n| libm::round(n / mean * 65_536.0) as u64).collect();
        let (layers, layer_key) = (Spread::new(c.layer_spread, &normal), key("errors layer"));
        let layer_pages = pages.div_ceil(c.layers).max(1);
        let of_page = |page: u32| {
            let layer = mix(layer_key ^ u64::from(page / layer_pages));
            layers.times(by_type[page as usize % page_types], layer) as u32
        };
        let spreads = [c.block_spread, c.page_spread, c.codeword_spread]
            .map(|deviation| Spread::new(deviation, &normal));
        let aged = Grid::new([MOST[0], MOST[1]], |x, y| {
            let rates = of(x, y, 0);
            [units(rates.best), units(excess(rates))]
        });
        let by_page: Vec<u32> = (0..pages).map(of_page).collect();
        let shifts = Shifts { boundaries: page_types as u32, layer_pages };
        let shift_by_page = shifts.by_page(c, pages, &normal, key("errors shift"));
        let bound = |page: usize| {
            let shift =
                shift_by_page.get(page).map_or(1 << FACTOR_SHIFT, |&shift| at_least_one(shift.into()));
            let factor = (u64::from(by_page[page]) * spreads[1].most()) >> FACTOR_SHIFT;
            PageFactor::up((((factor + 1) * shift) >> FACTOR_SHIFT) + 1)
        };
        let bounded = if c.model.counts_reads() { 0 } else { pages as usize };
        let bounds_by_page = (0..bounded).map(bound).collect();
        Errors {
            growth: aged.growth(),
            aged,
            read: c
                .model
                .counts_reads()
                .then(|| Grid::new([MOST[0], MOST[2]], |x, y| [units(excess(of(x, 0, y)) - base(x))])),
            by_page,
            shift_by_page,
            block_shift: Spread::of_shift(c.shift_block_spread, &normal),
            bounds_by_page,
            step: units(c.step),
            spreads,
            keys: ["errors block", "errors page", "errors sense", "errors decoding"].map(key),
            bits,
            normal: normal
                .iter()
                .map(|z| [z * 1024.0, (z * z - 1.0) / 6.0 * 1024.0].map(|x| libm::round(x) as i32))
                .collect(),
        }
    }

    /// [`Errors::page_of`] with the rates looked up.
    #[cfg(test)]
    pub fn page(&self, found: &Found, page: u32, sense: u32) -> Page {
        self.page_of(self.rates(found), found, page, sense)
    }

    /// The rates of the mean page of a block: at the optimum V_REF, and the excess at the default V_REF.
    #[inline(never)]
    pub fn rates(&self, found: &Found) -> [u64; 2] {
        self.aged.at(found.cycles.into(), found.age >> AGE_SHIFT)
    }

    /// Whether the pages have bounds ([`Errors::bound`]).
    pub fn has_bounds(&self) -> bool {
        !self.bounds_by_page.is_empty()
    }

    /// An upper bound of a page's factor relative to the mean page of its block, over all draws.
    #[inline]
    pub fn bound(&self, page: u32) -> PageFactor {
        self.bounds_by_page[page as usize]
    }

    /// The largest bound for which the rates of pages at the default V_REF stay below `limit`, in the block `oldest` at
    /// its present age and at every smaller age.
    pub fn largest_bound(&self, oldest: &Found, limit: u64) -> PageFactor {
        if oldest.age >> AGE_SHIFT > self.growth.until(oldest.cycles.into()) {
            return PageFactor::NONE;
        }
        let [best, excess] = self.rates(oldest);
        // `page_of` rounds the factors of a page down twice, in another order, so this computation must not come out
        // larger.
        let of_page = ((limit << FACTOR_SHIFT).saturating_sub(1) / (best + excess).max(1)).min(MOST_FACTOR);
        let draw = self.block_draw(oldest.block);
        let of_block = self.spreads[0].times(1 << FACTOR_SHIFT, draw).max(1);
        let shift = at_least_one(self.block_shift.times(1 << FACTOR_SHIFT, draw >> 32));
        let of_block = ((of_block * shift) >> FACTOR_SHIFT) + 1;
        PageFactor::down((of_page << FACTOR_SHIFT).saturating_sub(1) / of_block)
    }

    /// The draw for a block's factor.
    #[inline]
    fn block_draw(&self, block: BlockId) -> u64 {
        mix(self.keys[0] ^ u64::from(block.0))
    }

    /// [`Errors::rates`], with the rates of the last look-up as a cache.
    #[inline]
    pub fn rates_like(&self, last: &mut RateCache, found: &Found) -> [u64; 2] {
        let (cycles, age) = (found.cycles, found.age >> AGE_SHIFT);
        if (last.cycles, last.age) != (cycles, age) {
            *last = RateCache { cycles, age, rates: self.rates(found) };
        }
        last.rates
    }

    /// A page in sense number `sense`. The first argument are the rates of its block ([`Errors::rates`]).
    #[inline(always)]
    pub fn page_of(&self, [best, excess]: [u64; 2], found: &Found, page: u32, sense: u32) -> Page {
        let (factor, shift, unmixed) = self.page_draws(found, page, sense);
        let disturb = self.read.as_ref().map_or(0, |read| disturb(read, found));
        let (best, excess) = scaled(best, (excess + disturb).min(HALF), factor, shift);
        Page { best, excess, key: mix(unmixed), unmixed }
    }

    /// For a page that has a bound: its [`Errors::rate`] at the default V_REF (exact unless it is above [`HALF`]), and
    /// its [`Page::draw`].
    #[inline(always)]
    pub fn undisturbed(&self, rates: [u64; 2], found: &Found, page: u32, sense: u32) -> (u64, u64) {
        debug_assert!(self.has_bounds());
        let (factor, shift, unmixed) = self.page_draws(found, page, sense);
        let (best, excess) = scaled(rates[0], rates[1], factor, shift);
        (best + excess, mix(unmixed))
    }

    /// The factor of a page relative to the mean page of the mean block, the factor of its excess at the default V_REF,
    /// and the input of the hash that gives its draw.
    #[inline(always)]
    fn page_draws(&self, found: &Found, page: u32, sense: u32) -> (u64, u64, u64) {
        let (id, cycles) = (u64::from(found.block.0), u64::from(found.cycles));
        let [blocks, pages, _] = &self.spreads;
        let [_, page_key, sense_key, _] = self.keys;
        let draw = self.block_draw(found.block);
        let factor = blocks.times(self.by_page[page as usize].into(), draw);
        let shift = match self.shift_by_page.get(page as usize) {
            Some(&shift) => self.block_shift.times(shift.into(), draw >> 32).min(MOST_FACTOR),
            None => 1 << FACTOR_SHIFT,
        };
        let of_page = mix(page_key ^ (id << 32 | u64::from(page)));
        let factor = pages.times(factor, of_page).min(MOST_FACTOR);
        let sense = cycles << 40 | u64::from(found.reads) << 8 | u64::from(sense);
        (factor, shift, of_page ^ sense_key ^ sense)
    }

    /// The error rate of a page at a V_REF.
    #[inline]
    pub fn rate(&self, page: &Page, vref: Vref) -> u64 {
        let added = match vref {
            Vref::Best => 0,
            Vref::Moved(0) => page.excess,
            Vref::Beside(by) => {
                (self.step * u64::from(by.unsigned_abs()) * u64::from(by.unsigned_abs())) >> 8
            }
            Vref::Moved(by) => {
                let away = u64::from(self.optimum(page).abs_diff(by)).min(1 << 12);
                (self.step * away * away) >> 8
            }
        };
        (page.best + added).min(HALF)
    }

    /// The number of wrong bits of codeword `number` of a page. `sense` is the draw of the sense ([`Page::draw`]) and
    /// `rate` its error rate. This is a binomial draw, by the normal approximation with skewness, whose quantiles are
    /// at most half an error off.
    #[inline]
    pub fn codeword(&self, sense: u64, rate: u64, number: u32) -> u32 {
        let draw = mix(sense ^ u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        self.drawn(rate, draw >> 12, draw)
    }

    /// The number of wrong bits of a codeword, from the page's error rate, the draw for the codeword's factor and the
    /// draw for its errors.
    #[inline]
    pub fn drawn(&self, rate: u64, factor: u64, normal: u64) -> u32 {
        let rate = self.spreads[2].times(rate, factor).min(HALF);
        // `mean` is in 1/1024.
        let mean = (rate * self.bits) >> 30;
        let share = rate as f64 / ONE;
        let deviation = (mean as f64 / 1024.0 * (1.0 - share)).sqrt();
        let [z, skew] = self.normal[(normal % QUANTILES as u64) as usize];
        let drawn = mean as i64 + (deviation * f64::from(z) + (1.0 - 2.0 * share) * f64::from(skew)) as i64;
        ((drawn + 512) >> 10).clamp(0, self.bits as i64) as u32
    }

    /// The smallest and the largest number of wrong bits of a codeword, over all draws, in a page with this error rate.
    pub fn bounds(&self, rate: u64) -> (u32, u32) {
        // Factors and quantiles are sorted. At low rates the smallest number is not at the lowest quantile, because of
        // the skewness term.
        let last = QUANTILES as u64 - 1;
        let least = (0..QUANTILES as u64 / 2).step_by(64).map(|normal| self.drawn(rate, 0, normal)).min();
        (least.unwrap_or(0).saturating_sub(1), self.drawn(rate, last, last))
    }

    /// Two draws for the decoding of codeword `number` of a page, or for the page itself (`u32::MAX`). `sense` is the
    /// draw of the sense.
    #[inline]
    pub fn decode_draws(&self, sense: u64, number: u32) -> [u32; 2] {
        let draw = mix(sense ^ self.keys[3] ^ u64::from(number));
        [(draw >> 32) as u32, draw as u32]
    }

    /// A normal draw, with this standard deviation, of the distance of V_REF from the optimum of a page, in sixteenths
    /// of a step.
    #[inline]
    pub fn off_optimum(&self, page: &Page, deviation: u16) -> i16 {
        let [_, draw] = self.decode_draws(page.key, u32::MAX);
        let [z, _] = self.normal[draw as usize % QUANTILES];
        let off = (u32::from(deviation) * z.unsigned_abs()).min((i16::MAX as u32) << 10) >> 10;
        z.signum() as i16 * off as i16
    }

    /// The distance of a V_REF from the default, in sixteenths of a step.
    #[inline]
    pub fn distance(&self, page: &Page, vref: Vref) -> u16 {
        match vref {
            Vref::Moved(by) => by,
            Vref::Best => self.optimum(page),
            Vref::Beside(by) => self.optimum(page).saturating_add_signed(by),
        }
    }

    /// The distance of a page's optimum V_REF from the default, in sixteenths of a step.
    #[inline]
    pub fn optimum(&self, page: &Page) -> u16 {
        // sqrt is exact on every machine.
        ((page.excess as f64 / self.step as f64).sqrt() * 16.0) as u16
    }
}

/// Multiply the rate at the optimum V_REF, and the excess at the default V_REF, by the factors of a page.
#[inline(always)]
fn scaled(best: u64, excess: u64, factor: u64, shift: u64) -> (u64, u64) {
    let of_page = |rate: u64| (rate * factor) >> FACTOR_SHIFT;
    (of_page(best), (of_page(excess).min(HALF) * shift) >> FACTOR_SHIFT)
}

/// The larger of a factor and 1.
fn at_least_one(factor: u64) -> u64 {
    factor.max(1 << FACTOR_SHIFT)
}

/// The excess from read disturb. (Not inlined, because most drives do not have it.)
#[inline(never)]
fn disturb(read: &Grid<1>, found: &Found) -> u64 {
    read.at(found.cycles.into(), found.reads.into())[0]
}

#[cfg(test)]
mod tests {
    use super::super::config::ErrorModel;
    use super::*;

    const DAY: u64 = 86_400_000_000_000;

    fn config(spread: f64) -> ErrorsConfig {
        ErrorsConfig {
            boundaries: vec![2, 3, 2],
            block_spread: spread,
            layer_spread: spread,
            layers: 10,
            page_spread: spread,
            codeword_spread: spread,
            ..ErrorsConfig::alike()
        }
    }

    fn errors(spread: f64) -> Errors {
        Errors::new(&config(spread), 3, 576, 36_864, 7)
    }

    /// Pages that differ only in their optimum, by block, layer and boundary.
    fn shifted([block, layer, boundary]: [f64; 3]) -> Errors {
        let c = ErrorsConfig {
            boundaries: vec![2, 2, 2],
            layers: 96,
            shift_block_spread: block,
            shift_layer_spread: layer,
            shift_boundary_spread: boundary,
            ..config(0.0)
        };
        Errors::new(&c, 3, 576, 36_864, 7)
    }

    fn found(block: u32, cycles: u32, days: u64) -> Found {
        Found { block: BlockId(block), cycles, reads: 0, age: days * DAY }
    }

    fn share(rate: u64) -> f64 {
        rate as f64 / ONE
    }

    #[test]
    fn the_tables_hold_the_model() {
        let e = errors(0.0);
        for (cycles, days) in [(0, 0), (0, 17), (200, 14), (500, 10), (2000, 30), (3001, 365)] {
            let page = e.page(&found(1, cycles, days), 0, 0);
            let state = PageState { cycles: cycles.into(), days: days as f64, reads: 0.0 };
            let model = ErrorModel::Fitted.rates(state);
            // Pages of the first type have 6/7 of the mean rate.
            for (rate, exact) in [(Vref::Moved(0), model.default), (Vref::Best, model.best)] {
                let (rate, exact) = (share(e.rate(&page, rate)), exact * 6.0 / 7.0);
                assert!((rate / exact - 1.0).abs() < 3e-3, "{cycles}, {days}: {rate}, {exact}");
            }
        }
    }

    /// 1,000 reads of each page at 1,000 cycles: 3.73e-9 · 1000^0.33 · 1000^1.71 = 4.92e-3.
    #[test]
    fn reads_of_a_block_are_shared_by_its_pages() {
        let power_law = ErrorsConfig { model: ErrorModel::PowerLaw, boundaries: vec![2], ..config(0.0) };
        for pages in [64, 576] {
            let e = Errors::new(&power_law, 1, pages, 36_864, 7);
            let rate = |reads| {
                let page = e.page(&Found { reads, ..found(1, 1000, 1) }, 0, FIRST_SENSE);
                share(e.rate(&page, Vref::Moved(0)))
            };
            let added = rate(1000 * pages) - rate(0);
            assert!((added / 4.92e-3 - 1.0).abs() < 0.01, "{pages} pages: {added}");
        }
    }

    #[test]
    fn blocks_tell_which_pages_have_plain_reads() {
        let limit = 5 << 30; // a share of 0.0049
        for model in [ErrorModel::Fitted, ErrorModel::ThresholdVoltage] {
            let e = Errors::new(&ErrorsConfig { model, ..config(0.05) }, 3, 576, 36_864, 7);
            let most = |days| e.largest_bound(&found(1, 100, days), limit);
            let pages = |days| (0..576).filter(|&page| e.bound(page) <= most(days)).count();
            assert_eq!((pages(0), pages(60)), (576, 0), "{model:?}");
            assert!((0..60).any(|days| (1..576).contains(&pages(days))), "{model:?}");
        }
        let disturbed = ErrorsConfig { model: ErrorModel::PowerLaw, ..config(0.05) };
        assert!(!Errors::new(&disturbed, 3, 576, 36_864, 7).has_bounds());
    }

    #[test]
    fn a_v_ref_that_moves_has_its_best_at_the_optimum() {
        let e = errors(0.0);
        let page = e.page(&found(1, 1000, 20), 1, 0);
        let rates: Vec<u64> = (0..400).map(|by| e.rate(&page, Vref::Moved(by))).collect();
        let best = (0..400).min_by_key(|&by| rates[by]).unwrap();
        assert!(rates[..best].is_sorted_by(|a, b| a >= b) && rates[best..].is_sorted());
        let optimum = e.rate(&page, Vref::Best);
        assert!(rates[best] >= optimum && rates[best] < optimum + e.step / 100);
        // One step beside the optimum adds one step's errors.
        assert_eq!(e.rate(&page, Vref::Beside(16)), optimum + e.step);
        assert!(rates[best + 16].abs_diff(optimum + e.step) < e.step / 5);
    }

    #[test]
    fn codewords_have_binomial_errors() {
        let e = errors(0.0);
        for days in [0, 5, 17, 60] {
            let mut all = Vec::new();
            let mut expected = 0.0;
            for block in 0..5000 {
                let page = e.page(&found(block, 0, days), 3, 0);
                let rate = e.rate(&page, Vref::Moved(0));
                expected = share(rate) * 36_864.0;
                all.extend((0..4).map(|number| f64::from(e.codeword(page.draw(), rate, number))));
            }
            let n = all.len() as f64;
            let mean = all.iter().sum::<f64>() / n;
            let variance = all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
            let binomial = expected * (1.0 - expected / 36_864.0);
            // Four standard errors: of the mean, and of the variance of a nearly normal variable.
            assert!(
                (mean - expected).abs() < 4.0 * (binomial / n).sqrt() + 0.05,
                "{days}: {mean}, {expected}"
            );
            assert!((variance / binomial - 1.0).abs() < 4.0 * (2.0 / n).sqrt() + 0.01, "{days}: {variance}");
        }
    }

    #[test]
    fn spreads_have_their_deviation_and_keep_the_mean() {
        let (even, spread) = (errors(0.0), errors(0.1));
        let mean_rate = even.rate(&even.page(&found(0, 0, 17), 0, 0), Vref::Moved(0)) as f64;
        let mut logs = Vec::new();
        let mut sum = 0.0;
        for block in 0..20_000 {
            let page = spread.page(&found(block, 0, 17), 3 * (block % 190), 0);
            let rate = spread.rate(&page, Vref::Moved(0)) as f64;
            logs.push(libm::log(rate / mean_rate));
            sum += rate;
        }
        let n = logs.len() as f64;
        // The ten layers have one draw each for all blocks: their mean may be off by 0.1 / sqrt(10).
        assert!((sum / n / mean_rate - 1.0).abs() < 0.1, "{}", sum / n / mean_rate);
        let mean = logs.iter().sum::<f64>() / n;
        let deviation = (logs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
        assert!((0.14..0.20).contains(&deviation), "block, layer and page: {deviation}");
    }

    /// The optimum varies by block, layer and boundary, and the excess at the default with its square. Half of the
    /// pages are above the model and half below.
    #[test]
    fn optima_have_a_spread_of_their_own() {
        let [block, layer, boundary] = [0.15, 0.2, 0.2];
        let e = shifted([block, layer, boundary]);
        let shifts = |select: &dyn Fn(u32) -> (u32, u32), n: u32| -> Vec<f64> {
            let of = |i| {
                let (block, page) = select(i);
                libm::log(f64::from(e.optimum(&e.page(&found(block, 1000, 30), page, 0))))
            };
            (0..n).map(of).collect()
        };
        let deviation = |logs: &[f64]| {
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            (logs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / logs.len() as f64).sqrt()
        };
        let by_block = deviation(&shifts(&|i| (i, 0), 20_000));
        assert!((by_block / block - 1.0).abs() < 0.03, "{by_block}");
        let by_layer = deviation(&shifts(&|i| (3, 6 * i), 96));
        assert!((by_layer / layer - 1.0).abs() < 0.25, "96 layers: {by_layer}");
        // Pages of one layer of one block.
        let pages = shifts(&|i| (3, i), 6);
        assert!(pages[..3] == pages[3..] && pages[0] != pages[1] && pages[1] != pages[2], "{pages:?}");
        let all = shifts(&|i| (i, i * 7 % 576), 50_000);
        let model = errors(0.0);
        let middle = libm::log(f64::from(model.optimum(&model.page(&found(0, 1000, 30), 2, 0))));
        let below = all.iter().filter(|&&x| x < middle).count() as f64 / all.len() as f64;
        assert!((0.3..0.7).contains(&below), "three boundaries and 96 layers are few draws: {below}");
        // The excess at the default follows from the distance; the rate at the optimum is that of the model.
        for page in [e.page(&found(1, 1000, 30), 5, 0), e.page(&found(9, 1000, 30), 77, 0)] {
            let away = f64::from(e.optimum(&page)) / 16.0;
            let added = share(e.rate(&page, Vref::Moved(0)) - e.rate(&page, Vref::Best));
            // Distances are whole sixteenths of a step.
            assert!((added / (0.0005 * away * away) - 1.0).abs() < 0.04, "{added}, {away}");
            assert!((share(e.rate(&page, Vref::Best)) / 1.5e-3 - 1.0).abs() < 1e-3);
        }
    }

    /// One V_REF suits every page of a group if the optimum does not vary, and not if it does.
    #[test]
    fn one_v_ref_does_not_repair_every_page() {
        let repaired = |spread: f64| {
            let e = shifted([spread; 3]);
            let vref = Vref::Moved(e.optimum(&e.page(&found(0, 2000, 25), 100, 0)));
            let good = |page: &u32| {
                let page = e.page(&found(page % 16, 2000, 25), page % 576, 0);
                share(e.rate(&page, vref)) < 0.0075
            };
            (0..5_000).filter(good).count() as f64 / 5_000.0
        };
        assert_eq!(repaired(0.0), 1.0);
        assert!((0.3..0.9).contains(&repaired(0.25)), "{}", repaired(0.25));
    }

    #[test]
    fn draws_depend_on_what_is_sensed_alone() {
        let e = errors(0.1);
        let page = |reads, sense| {
            let page = e.page(&Found { reads, ..found(9, 100, 17) }, 5, sense);
            (0..4)
                .map(|number| e.codeword(page.draw(), e.rate(&page, Vref::Moved(0)), number))
                .collect::<Vec<_>>()
        };
        assert_eq!(page(3, 0), page(3, 0));
        assert_ne!(page(3, 0), page(4, 0));
        assert_ne!(page(3, 0), page(3, 1));
        let [first, second] = [0, 1].map(|n| e.page(&found(9, 100, 17), 5, FIRST_SENSE + n));
        assert_eq!(first.again(), second);
    }
}
