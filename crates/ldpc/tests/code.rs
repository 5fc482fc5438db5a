//! Is the matrix what it says: full rank, no short cycles, the stated weights; does the encoder satisfy it?

mod common;

use common::{code, payload};
use tailcut_ldpc::{
    BLOCK_COLUMNS, BLOCK_ROWS, Block, CHECKS, CIRCULANT, CODEWORD_BITS, Code, Encoder, FIRST_PARITY,
    PAYLOAD_BLOCKS, Word,
};
use tailcut_units::Stream;

/// The rank over GF(2) of rows that hold the given ones.
fn rank(rows: impl Iterator<Item = Vec<usize>>, columns: usize) -> usize {
    let mut matrix: Vec<Vec<u64>> = rows
        .map(|ones| {
            let mut row = vec![0u64; columns.div_ceil(64)];
            ones.iter().for_each(|&i| row[i / 64] ^= 1 << (i % 64));
            row
        })
        .collect();
    let mut rank = 0;
    for column in 0..columns {
        let holds = |row: &[u64]| row[column / 64] >> (column % 64) & 1 == 1;
        let Some(pivot) = (rank..matrix.len()).find(|&i| holds(&matrix[i])) else { continue };
        matrix.swap(rank, pivot);
        let (above, below) = matrix.split_at_mut(rank + 1);
        let pivot = &above[rank][column / 64..];
        for row in below.iter_mut().filter(|row| holds(row)) {
            row[column / 64..].iter_mut().zip(pivot).for_each(|(a, b)| *a ^= b);
        }
        rank += 1;
    }
    rank
}

#[test]
fn the_parity_part_has_the_full_rank() {
    let code = code();
    let first = FIRST_PARITY * CIRCULANT;
    let parity =
        (0..CHECKS).map(|check| code.bits_of(check).filter(|&b| b >= first).map(|b| b - first).collect());
    // Then the whole matrix has it too.
    assert_eq!(rank(parity, CHECKS), CHECKS);
}

#[test]
fn without_the_mask_the_rank_is_at_most_4093() {
    // Eight block columns without a block of zeros, with random shifts: every block row sums to all ones.
    let mut stream = Stream::new(1, "populated", 0);
    let shifts: Vec<usize> = (0..32).map(|_| stream.below(CIRCULANT as u64) as usize).collect();
    let rows = (0..CHECKS).map(|check| {
        let (row, index) = (check / CIRCULANT, check % CIRCULANT);
        (0..8).map(|column| column * CIRCULANT + (index + shifts[row * 8 + column]) % CIRCULANT).collect()
    });
    let rank = rank(rows, 8 * CIRCULANT);
    assert!(rank <= CHECKS - 3 && rank > CHECKS - 16, "{rank}");
}

#[test]
fn two_checks_share_at_most_one_bit() {
    for seed in [1, 2, 3] {
        let code = Code::new(seed);
        for row in 0..BLOCK_ROWS {
            // The other checks of the block row are rotations of its first.
            let mut of_first = vec![false; CODEWORD_BITS];
            code.bits_of(row * CIRCULANT).for_each(|bit| of_first[bit] = true);
            for other in (0..CHECKS).filter(|&check| check != row * CIRCULANT) {
                let shared = code.bits_of(other).filter(|&bit| of_first[bit]).count();
                assert!(shared <= 1, "seed {seed}: checks {} and {other} share {shared}", row * CIRCULANT);
            }
        }
    }
}

#[test]
fn weights_are_as_stated() {
    let code = code();
    assert_eq!([0, 1, 2, 3].map(|row| code.row_weight(row)), [36, 35, 35, 35]);
    let columns: Vec<usize> = (0..BLOCK_COLUMNS).map(|column| code.column_weight(column)).collect();
    assert_eq!(columns[..FIRST_PARITY], [4; PAYLOAD_BLOCKS]);
    assert_eq!(columns[FIRST_PARITY..], [4, 3, 3, 3]);
    // The first block row needs no rotation.
    assert!((0..BLOCK_COLUMNS).all(|column| code.shift(0, column) == Some(0)));
}

#[test]
fn codes_of_different_seeds_differ() {
    assert_ne!(Code::new(1), Code::new(2));
    assert_eq!(Code::new(1), Code::new(1));
}

#[test]
fn the_syndrome_by_rotations_is_the_parity_of_the_bits_of_each_check() {
    let code = code();
    let mut stream = Stream::new(1, "word", 0);
    let mut word = Word::zero();
    word.0.iter_mut().for_each(|block| *block = Block(std::array::from_fn(|_| stream.next_u64())));
    let syndrome = code.syndrome(&word);
    let mut weight = 0;
    for check in 0..CHECKS {
        let parity = code.bits_of(check).filter(|&bit| word.bit(bit)).count() % 2 == 1;
        assert_eq!(syndrome.0[check / CIRCULANT].bit(check % CIRCULANT), parity, "check {check}");
        weight += u32::from(parity);
        if check + 1 == CIRCULANT {
            assert_eq!(syndrome.first_weight(), weight);
        }
    }
    assert_eq!(syndrome.weight(), weight);
}

#[test]
fn codewords_hold_their_payload_and_satisfy_every_check() {
    for seed in [1, 2] {
        let code = Code::new(seed);
        let encoder = Encoder::new(&code).expect("the parity part is invertible");
        for id in 0..20 {
            let payload = payload(id);
            let word = encoder.encode(&payload);
            assert_eq!(word.0[..PAYLOAD_BLOCKS], payload);
            assert!(code.accepts(&word), "payload {id}");
            // A wrong bit fails the checks of its column.
            for bit in [0, 12_345, FIRST_PARITY * CIRCULANT, CODEWORD_BITS - 1] {
                let mut wrong = word.clone();
                wrong.flip(bit);
                assert_eq!(wrong.distance(&word), 1);
                assert_eq!(code.syndrome(&wrong).weight() as usize, code.column_weight(bit / CIRCULANT));
                assert!(!code.accepts(&wrong));
            }
        }
        let zero = encoder.encode(&[Block::ZERO; PAYLOAD_BLOCKS]);
        assert_eq!(zero, Word::zero());
    }
}
