//! The encoder: from a payload to its codeword.

use crate::block::Block;
use crate::code::{Code, FIRST_PARITY, Word};
use crate::{BLOCK_COLUMNS, BLOCK_ROWS, CIRCULANT};

/// Blocks of a payload: 4 KiB.
pub const PAYLOAD_BLOCKS: usize = BLOCK_COLUMNS - BLOCK_ROWS;

/// A systematic encoder: the payload, followed by its parity.
///
/// The parity part of the matrix is inverted once, as a 4 × 4 matrix of circulants. The parity of a payload
/// is this inverse times the syndrome of the payload.
#[derive(Clone, Debug)]
pub struct Encoder {
    code: Code,
    inverse: [[Block; BLOCK_ROWS]; BLOCK_ROWS],
}

impl Encoder {
    /// The encoder of a code. `None` if the parity part of the code is singular, which `Code::new` excludes.
    pub fn new(code: &Code) -> Option<Encoder> {
        let part = std::array::from_fn(|row| {
            std::array::from_fn(|column| match code.shift(row, FIRST_PARITY + column) {
                // Row i takes bit i + shift: multiplication by x^-shift.
                Some(shift) => Block::power((CIRCULANT - shift) % CIRCULANT),
                None => Block::ZERO,
            })
        });
        Some(Encoder { code: code.clone(), inverse: inverted(part)? })
    }

    /// The codeword of a payload of 32,768 bits.
    pub fn encode(&self, payload: &[Block; PAYLOAD_BLOCKS]) -> Word {
        let mut word = Word::zero();
        word.0[..PAYLOAD_BLOCKS].copy_from_slice(payload);
        let syndrome = self.code.syndrome(&word);
        for (row, factors) in self.inverse.iter().enumerate() {
            for (factor, part) in factors.iter().zip(&syndrome.0) {
                word.0[FIRST_PARITY + row].add(&factor.times(part));
            }
        }
        word
    }
}

type Square = [[Block; BLOCK_ROWS]; BLOCK_ROWS];

/// The inverse of a matrix of circulants by Gauss and Jordan. A pivot must be invertible; in a local ring
/// an invertible matrix has one in every column.
fn inverted(mut matrix: Square) -> Option<Square> {
    let mut inverse: Square = std::array::from_fn(|row| {
        std::array::from_fn(|column| if row == column { Block::power(0) } else { Block::ZERO })
    });
    for column in 0..BLOCK_ROWS {
        let (pivot, factor) =
            (column..BLOCK_ROWS).find_map(|row| Some((row, matrix[row][column].inverse()?)))?;
        matrix.swap(pivot, column);
        inverse.swap(pivot, column);
        for block in matrix[column].iter_mut().chain(&mut inverse[column]) {
            *block = factor.times(block);
        }
        for row in (0..BLOCK_ROWS).filter(|&row| row != column) {
            let factor = matrix[row][column];
            for i in 0..BLOCK_ROWS {
                let (a, b) = (factor.times(&matrix[column][i]), factor.times(&inverse[column][i]));
                matrix[row][i].add(&a);
                inverse[row][i].add(&b);
            }
        }
    }
    Some(inverse)
}
