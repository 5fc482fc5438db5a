//! The parity-check matrix, its construction, and the syndrome.

use crate::block::Block;
use crate::{BLOCK_COLUMNS, BLOCK_ROWS, CIRCULANT, CODEWORD_BITS};
use tailcut_units::Stream;

/// First block column of the parity part.
pub const FIRST_PARITY: usize = BLOCK_COLUMNS - BLOCK_ROWS;

/// The seed of the code that the shipped table belongs to.
pub const CODE_SEED: u64 = 1;

/// A quasi-cyclic code: 4 × 36 blocks of 1,024 × 1,024, each a rotated identity or zero.
///
/// Check i of a block row includes bit (i + shift) mod 1,024 of each block column whose block is not
/// zero. The 32 block columns of the payload have weight 4. The parity part has zeros in its diagonal,
/// except in the first block row: its columns have weights 4, 3, 3, 3, and the rows of the matrix have
/// weights 36, 35, 35, 35. A parity part without zeros would be singular, since every block row would sum
/// to all ones; this mask is invertible modulo 2, and so the matrix has the full rank 4,096. (Over GF(2)
/// the ring of circulants of 1,024 is local: a matrix of circulants is invertible if the matrix of their
/// weights is invertible modulo 2.)
///
/// All shifts of the first block row and the first block column are 0. This is no restriction, since the
/// bits of a block column and the checks of a block row can be renumbered; it is the arrangement for which
/// a predictor in the die needs no rotations (RiF, HPCA'24). The other shifts are random, without cycles
/// of length 4: two checks share at most one bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    shifts: [[Option<u16>; BLOCK_COLUMNS]; BLOCK_ROWS],
}

/// A word of 36,864 bits, by block columns: 32 of payload, then 4 of parity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word(pub Box<[Block; BLOCK_COLUMNS]>);

/// The parities of all 4,096 checks, by block rows. A codeword has a syndrome of zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Syndrome(pub [Block; BLOCK_ROWS]);

impl Code {
    /// The code with shifts drawn from a seed.
    pub fn new(seed: u64) -> Code {
        let mut stream = Stream::new(seed, "ldpc shifts", 0);
        let mut shifts = [[None; BLOCK_COLUMNS]; BLOCK_ROWS];
        for column in 0..BLOCK_COLUMNS {
            // At most 35 of 1,024 differences are taken for each of six pairs of rows, so that a draw is
            // good with a probability of at least 0.8.
            loop {
                for (row, shifts) in shifts.iter_mut().enumerate() {
                    let masked = row > 0 && column == FIRST_PARITY + row;
                    let free = row > 0 && column > 0;
                    let drawn = if free { stream.below(CIRCULANT as u64) as u16 } else { 0 };
                    shifts[column] = (!masked).then_some(drawn);
                }
                if (0..column).all(|before| !is_cycle(&shifts, before, column)) {
                    break;
                }
            }
        }
        Code { shifts }
    }

    /// The rotation of a block, or `None` for a block of zeros. `row` is below 4, `column` below 36.
    #[inline]
    pub fn shift(&self, row: usize, column: usize) -> Option<usize> {
        self.shifts[row][column].map(usize::from)
    }

    /// The blocks of a block row that are not zero: block column and rotation.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.shifts[row]
            .iter()
            .enumerate()
            .filter_map(|(column, shift)| Some((column, usize::from((*shift)?))))
    }

    /// Number of bits in each check of a block row.
    pub fn row_weight(&self, row: usize) -> usize {
        self.row(row).count()
    }

    /// Number of checks that include each bit of a block column.
    pub fn column_weight(&self, column: usize) -> usize {
        (0..BLOCK_ROWS).filter(|&row| self.shift(row, column).is_some()).count()
    }

    /// Number of block columns that two block rows have in common. Each gives 1,024 pairs of checks that
    /// share one bit.
    pub fn shared_columns(&self, a: usize, b: usize) -> usize {
        let both = |&column: &usize| self.shift(a, column).is_some() && self.shift(b, column).is_some();
        (0..BLOCK_COLUMNS).filter(both).count()
    }

    /// The bits of a check, in order of block columns. `check` is below 4,096.
    pub fn bits_of(&self, check: usize) -> impl Iterator<Item = usize> + '_ {
        let index = check % CIRCULANT;
        self.row(check / CIRCULANT)
            .map(move |(column, shift)| column * CIRCULANT + (index + shift) % CIRCULANT)
    }

    /// The parities of the checks of one block row.
    #[inline]
    pub fn row_syndrome(&self, row: usize, word: &Word) -> Block {
        let mut sum = Block::ZERO;
        for (column, shift) in self.row(row) {
            sum.add(&word.0[column].rotated(shift));
        }
        sum
    }

    /// The parities of all checks.
    pub fn syndrome(&self, word: &Word) -> Syndrome {
        Syndrome(std::array::from_fn(|row| self.row_syndrome(row, word)))
    }

    /// Whether a word is a codeword.
    #[inline]
    pub fn accepts(&self, word: &Word) -> bool {
        (0..BLOCK_ROWS).all(|row| self.row_syndrome(row, word).is_zero())
    }
}

/// Whether two block columns are in a cycle of length 4: in two rows the difference of shifts is the same.
fn is_cycle(shifts: &[[Option<u16>; BLOCK_COLUMNS]; BLOCK_ROWS], a: usize, b: usize) -> bool {
    let difference = |row: usize| {
        let (a, b) = (shifts[row][a]?, shifts[row][b]?);
        Some((usize::from(a) + CIRCULANT - usize::from(b)) % CIRCULANT)
    };
    (0..BLOCK_ROWS)
        .any(|low| (0..low).any(|high| difference(low).is_some() && difference(low) == difference(high)))
}

impl Word {
    /// A word of zeros, which is a codeword.
    pub fn zero() -> Word {
        Word(Box::new([Block::ZERO; BLOCK_COLUMNS]))
    }

    /// Bit `index`, which is below 36,864.
    #[inline]
    pub fn bit(&self, index: usize) -> bool {
        self.0[index / CIRCULANT].bit(index % CIRCULANT)
    }

    /// Invert bit `index`, which is below 36,864.
    #[inline]
    pub fn flip(&mut self, index: usize) {
        self.0[index / CIRCULANT].flip(index % CIRCULANT);
    }

    /// Number of bits in which two words differ.
    pub fn distance(&self, other: &Word) -> u32 {
        (0..CODEWORD_BITS / 64)
            .map(|i| (self.0[i / 16].0[i % 16] ^ other.0[i / 16].0[i % 16]).count_ones())
            .sum()
    }
}

impl Syndrome {
    /// Number of checks that fail, of all 4,096.
    pub fn weight(&self) -> u32 {
        self.0.iter().map(Block::weight).sum()
    }

    /// Number of checks that fail, of the 1,024 of the first block row.
    pub fn first_weight(&self) -> u32 {
        self.0[0].weight()
    }
}
