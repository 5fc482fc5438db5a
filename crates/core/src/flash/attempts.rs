//! The senses of the reads under way, and what they have told.

use super::senses::Senses;
use crate::address::BlockId;
use crate::nand::blocks::Found;
use crate::nand::errors::draw::Aged;
use crate::policy::read_retry::Aim;
use serde::{Deserialize, Serialize};

/// The senses of all operations, and what outlives them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SenseState {
    /// By operation: its senses. Empty if pages have no raw bit errors. (It is not in the operations, so that
    /// other drives do not hold it.)
    pub attempts: Vec<Attempts>,
    /// By operation and codeword: the iterations of its decoding.
    pub iterations: Vec<u8>,
    /// By group of blocks: V_REF as its distance from the default.
    tracked: Vec<u16>,
    /// Blocks of a group.
    group: u32,
    /// The time of the channels that moved pages which did not decode, ns.
    pub uncorrectable_ns: u64,
    /// By plane, modulo their number: the rates of the last block.
    #[serde(skip)]
    aged: [Aged; 4],
}

impl SenseState {
    /// The state of a flash with these senses and blocks.
    pub fn new(senses: Option<&Senses>, ops: u32, blocks: usize) -> SenseState {
        let Some(senses) = senses else { return SenseState::default() };
        let tracks = senses.retry.first() == Aim::Tracked;
        SenseState {
            attempts: vec![Attempts::NONE; ops as usize],
            iterations: vec![0; ops as usize * senses.most_codewords as usize],
            tracked: vec![0; if tracks { blocks.div_ceil(senses.group as usize) } else { 0 }],
            group: senses.group,
            uncorrectable_ns: 0,
            aged: Default::default(),
        }
    }

    /// An operation begins.
    pub fn begin(&mut self, id: u32) {
        self.attempts[id as usize] = Attempts::NONE;
    }

    /// The senses of an operation; [`Attempts::NONE`] if pages have no raw bit errors.
    pub fn attempts(&self, id: u32) -> Attempts {
        self.attempts.get(id as usize).copied().unwrap_or(Attempts::NONE)
    }

    /// Do not sense again for an operation.
    pub fn give_up(&mut self, id: u32) {
        self.attempts[id as usize].again = 0;
    }

    /// The rates of the mean page of a block.
    #[inline]
    pub fn rates(&mut self, senses: &Senses, plane: u32, found: &Found) -> [u64; 2] {
        let last = plane as usize % self.aged.len();
        senses.errors.rates_like(&mut self.aged[last], found)
    }

    /// The V_REF of the group of a block, if a scheme tracks it.
    pub fn tracked(&mut self, block: BlockId) -> Option<&mut u16> {
        if self.tracked.is_empty() {
            return None;
        }
        self.tracked.get_mut((block.0 / self.group) as usize)
    }
}

/// The senses of an operation so far, and what follows: half a line of the caches.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub(super) struct Attempts {
    /// Senses that the controller has ordered.
    pub senses: u8,
    /// Whether the data of the next sense are decoded, and where its V_REF stands.
    pub decoded: bool,
    pub aim: Aim,
    /// Whether only the known cells of this sense cross the channel.
    pub short: bool,
    /// Whether this sense is of a plain read, whose iterations are drawn only if they are needed.
    pub plain: bool,
    /// Whether its reads are counted.
    pub counted: bool,
    /// No codeword of this sense takes more iterations; `SKIPPED` if one is not decoded.
    pub most: u8,
    /// The iterations of the last codeword.
    pub last: u8,
    /// Planes whose pages are sensed again after this sense, as a mask.
    pub again: u32,
    /// Planes whose pages are given up after this sense.
    pub given_up: u32,
    /// The planes and codewords of the command, if some of them are not sensed again.
    pub whole: (u32, u32),
    /// Whether the die keeps the read, and begins the next sense when this one ends.
    pub ahead: bool,
}

const _: () = assert!(size_of::<Attempts>() == 32);

impl Attempts {
    /// Before the first sense.
    pub const NONE: Attempts = Attempts {
        senses: 0,
        decoded: true,
        aim: Aim::Default,
        short: false,
        plain: false,
        counted: false,
        most: 0,
        last: 0,
        again: 0,
        given_up: 0,
        whole: (0, 0),
        ahead: false,
    };

    /// Whether this is the first sense.
    pub fn is_first(&self) -> bool {
        self.senses <= 1
    }
}
