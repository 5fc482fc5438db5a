//! The state of the senses of all reads under way, and the V_REFs learned from them.

use super::senses::Senses;
use crate::address::BlockId;
use crate::containers::bits;
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
    /// What a scheme tracks, if one does.
    tracked: Option<Tracked>,
    /// The time of the channels that moved pages which did not decode, ns.
    pub uncorrectable_ns: u64,
    /// By plane, modulo their number: the rates of the last block.
    #[serde(skip)]
    aged: [Aged; 4],
}

impl SenseState {
    /// Create the state for a flash with this model of senses.
    pub fn new(senses: Option<&Senses>, ops: u32, planes: u32, per_plane: u32) -> SenseState {
        let Some(senses) = senses else { return SenseState::default() };
        let tracks = senses.retry.first() == Aim::Tracked;
        SenseState {
            attempts: vec![Attempts::NONE; ops as usize],
            iterations: vec![0; ops as usize * senses.most_codewords as usize],
            tracked: tracks.then(|| Tracked::new(ops, planes, per_plane, senses.group)),
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

    /// Do not sense the pages of these planes of an operation again, a mask.
    pub fn give_up(&mut self, id: u32, planes: u32) {
        self.attempts[id as usize].again &= !planes;
    }

    /// The rates of the mean page of a block.
    #[inline]
    pub fn rates(&mut self, senses: &Senses, plane: u32, found: &Found) -> [u64; 2] {
        let last = plane as usize % self.aged.len();
        senses.errors.rates_like(&mut self.aged[last], found)
    }

    /// The V_REF of the group of a block, as its distance from the default; 0 if no scheme tracks it.
    pub fn tracked(&self, block: BlockId) -> u16 {
        self.tracked.as_ref().map_or(0, |tracked| tracked.by_group[tracked.group_of(block)])
    }

    /// Note the V_REF of a page that an operation senses again and that will decode, if a scheme tracks it. `plane`: in
    /// its die.
    pub fn note_vref(&mut self, id: u32, plane: u32, block: BlockId, vref: u16) {
        if let Some(tracked) = &mut self.tracked {
            let group = tracked.group_of(block) as u32;
            tracked.under_way[(id * u32::BITS + plane) as usize] = (group, vref);
        }
    }

    /// The data of these planes of an operation, a mask, are decoded after another sense than the first.
    #[cold]
    pub fn decoded_again(&mut self, id: u32, planes: u32) {
        if let Some(Tracked { by_group, under_way, .. }) = &mut self.tracked {
            for plane in bits(planes) {
                let (group, vref) = under_way[(id * u32::BITS + plane) as usize];
                by_group[group as usize] = vref;
            }
        }
    }
}

/// V_REF by group of blocks: where it was for the last page of the group that decoded when it was sensed again.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Tracked {
    /// By plane and group: V_REF as its distance from the default.
    by_group: Vec<u16>,
    /// By operation and plane of its die: the group of its page, and the V_REF of its sense.
    under_way: Vec<(u32, u16)>,
    /// Blocks of a plane, and of a group.
    per_plane: u32,
    group: u32,
}

impl Tracked {
    fn new(ops: u32, planes: u32, per_plane: u32, group: u32) -> Tracked {
        let groups = planes as usize * per_plane.div_ceil(group) as usize;
        let under_way = vec![(0, 0); ops as usize * u32::BITS as usize];
        Tracked { by_group: vec![0; groups], under_way, per_plane, group }
    }

    /// The group of a block: neighbours of one plane.
    fn group_of(&self, BlockId(block): BlockId) -> usize {
        let (plane, in_plane) = (block / self.per_plane, block % self.per_plane);
        (plane * self.per_plane.div_ceil(self.group) + in_plane / self.group) as usize
    }
}

/// Whether a sense is that of a plain read, whose iterations are drawn only if they are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Plain {
    No,
    /// Its reads are not yet counted.
    Uncounted,
    Counted,
}

/// The senses of an operation so far, and what follows: half a line of the caches.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub(super) struct Attempts {
    /// Senses that the controller has ordered, and those of them whose data are decoded.
    pub senses: u8,
    /// See `senses`.
    pub to_decode: u8,
    /// Whether the data of the next sense are decoded, and where its V_REF stands.
    pub decoded: bool,
    pub aim: Aim,
    /// Whether only the known cells of this sense cross the channel.
    pub short: bool,
    pub plain: Plain,
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
    /// Planes whose pages the die has sensed again by itself.
    pub in_die: u32,
    /// Whether the die keeps the read, and begins the next sense when this one ends.
    pub ahead: bool,
}

const _: () = assert!(size_of::<Attempts>() == 32);

impl Attempts {
    /// Before the first sense.
    pub const NONE: Attempts = Attempts {
        senses: 0,
        to_decode: 0,
        decoded: true,
        aim: Aim::Default,
        short: false,
        plain: Plain::No,
        most: 0,
        last: 0,
        again: 0,
        given_up: 0,
        whole: (0, 0),
        in_die: 0,
        ahead: false,
    };

    /// Whether this sense is that of a plain read.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.plain != Plain::No
    }

    /// Whether this is the first sense.
    pub fn is_first(&self) -> bool {
        self.senses <= 1
    }
}
