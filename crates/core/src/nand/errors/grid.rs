//! A function of one or two whole numbers as a table with linear interpolation. The points are dense for small numbers
//! and at growing distances for large ones, so that powers are within 0.1 %.

/// Points in each octave of a [`Grid`], as a power of two.
const PER_OCTAVE: u32 = 3;
/// Numbers above this are treated as this.
const LARGEST: u64 = (1 << 40) - 1;

/// A position between two points.
#[derive(Clone, Copy)]
pub struct Between {
    /// The lower point.
    pub point: usize,
    /// The position between this point and the next, in units of 2^-16.
    pub share: u64,
}

/// The number at a point, with 2^`PER_OCTAVE` points in each octave.
pub fn number<const PER_OCTAVE: u32>(point: usize) -> u64 {
    let point = point as u64;
    let per = 1 << PER_OCTAVE;
    if point < per { point } else { (per + point % per) << (point / per - 1) }
}

/// The position of a number, with 2^`PER_OCTAVE` points in each octave.
#[inline]
pub fn place<const PER_OCTAVE: u32>(n: u64) -> Between {
    let n = n.min(LARGEST);
    let per = 1u64 << PER_OCTAVE;
    if n < per {
        return Between { point: n as usize, share: 0 };
    }
    let octave = n.ilog2() - PER_OCTAVE;
    let point = u64::from(octave) * per + (n >> octave);
    let rest = n & ((1 << octave) - 1);
    Between { point: point as usize, share: rest << 16 >> octave }
}

/// The number of points from 0 to `most`, and one above.
fn points(most: u64) -> usize {
    place::<PER_OCTAVE>(most).point + 2
}

#[inline]
fn between(low: u64, high: u64, share: u64) -> u64 {
    if high >= low { low + (((high - low) * share) >> 16) } else { low - (((low - high) * share) >> 16) }
}

/// `N` functions of two numbers with a common table, so that their values are adjacent in memory. Values are below
/// 2^40.
#[derive(Clone, Debug)]
pub struct Grid<const N: usize> {
    most: [u64; 2],
    width: usize,
    values: Vec<[u64; N]>,
}

/// For each first number: the second number up to which all values of a [`Grid`] grow monotonically.
#[derive(Clone, Debug)]
pub struct Growth {
    most: u64,
    /// By point of the first number.
    until: Vec<u64>,
}

impl Growth {
    /// The limit of the second number for this first number.
    pub fn until(&self, x: u64) -> u64 {
        // The values are between those of two points.
        let Between { point, .. } = place::<PER_OCTAVE>(x.min(self.most));
        self.until[point].min(self.until[point + 1])
    }
}

impl<const N: usize> Grid<N> {
    /// The table of `f` for numbers up to `most`. Larger numbers give the values at `most`.
    pub fn new(most: [u64; 2], f: impl Fn(u64, u64) -> [u64; N]) -> Grid<N> {
        let most = most.map(|n| n.min(LARGEST));
        let width = points(most[1]);
        let row = |x: usize| (0..width).map(move |y| (number::<PER_OCTAVE>(x), number::<PER_OCTAVE>(y)));
        let values = (0..points(most[0])).flat_map(row).map(|(x, y)| f(x, y)).collect();
        Grid { most, width, values }
    }

    /// The limits up to which the values grow.
    pub fn growth(&self) -> Growth {
        let falls = |pair: &[[u64; N]]| pair[0].iter().zip(&pair[1]).any(|(low, high)| low > high);
        let until = |row: &[[u64; N]]| row.windows(2).position(falls).map_or(u64::MAX, number::<PER_OCTAVE>);
        Growth { most: self.most[0], until: self.values.chunks(self.width).map(until).collect() }
    }

    /// The values at two numbers.
    #[inline]
    pub fn at(&self, x: u64, y: u64) -> [u64; N] {
        let [x, y] = [x.min(self.most[0]), y.min(self.most[1])].map(place::<PER_OCTAVE>);
        let first = x.point * self.width + y.point;
        let along = |first: usize| mixed(&self.values[first], &self.values[first + 1], y.share);
        match x.share {
            0 => along(first),
            share => mixed(&along(first), &along(first + self.width), share),
        }
    }
}

#[inline]
fn mixed<const N: usize>(low: &[u64; N], high: &[u64; N], share: u64) -> [u64; N] {
    std::array::from_fn(|i| between(low[i], high[i], share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn points_are_numbers_in_order() {
        for point in 1..300 {
            let number = number::<PER_OCTAVE>;
            assert!(number(point) > number(point - 1));
            let found = place::<PER_OCTAVE>(number(point));
            assert_eq!((found.point, found.share), (point, 0));
        }
    }

    #[test]
    fn a_function_grows_until_it_falls() {
        let growth = Grid::new([20, 1000], |x, y| [if x == 10 { 2000 - y.abs_diff(40) } else { y }]).growth();
        let until = [0, 8, 9, 10, 11, 20, 21].map(|x| growth.until(x));
        assert_eq!(until, [u64::MAX, u64::MAX, 40, 40, u64::MAX, u64::MAX, u64::MAX]);
    }

    proptest! {
        #[test]
        fn a_power_is_met(x in 0u64..3000, y in 1u64..5_000_000) {
            let f = |x: u64, y: u64| [(1e6 * (1.0 + x as f64 / 500.0) * libm::pow(y as f64, 0.54)) as u64];
            let grid = Grid::new([4000, 6_000_000], f);
            let ([found], [exact]) = (grid.at(x, y), f(x, y));
            prop_assert!(found.abs_diff(exact) <= exact / 1000 + 2, "{found}, {exact}");
        }

        #[test]
        fn beyond_the_largest_numbers_nothing_changes(x in any::<u64>(), y in any::<u64>()) {
            let grid = Grid::new([100, 1000], |x, y| [x * 1000 + y]);
            let exact = x.min(100) * 1000 + y.min(1000);
            prop_assert!(grid.at(x, y)[0].abs_diff(exact) <= 1 + exact / 1000);
        }
    }
}
