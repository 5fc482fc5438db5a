//! The state of the senses (array reads, with their retries) of all reads under way, and the V_REFs learned from them.

use crate::address::BlockId;
use crate::array::senses::Senses;
use crate::containers::bits;
use crate::nand::blocks::Found;
use crate::nand::errors::draw::RateCache;
use crate::policy::read_retry::Aim;
use serde::{Deserialize, Serialize};

/// The state of the senses of all operations, and the state that outlives single operations.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SenseState {
    /// By operation: the state of its senses. Empty if pages have no raw bit errors. (It is separate from the
    /// operations, so that other drives do not need the memory.)
    pub attempts: Vec<Attempts>,
    /// By operation and codeword: the iterations of its decoding.
    pub iterations: Vec<u8>,
    /// The tracked V_REFs, if the scheme tracks them.
    tracked: Option<Tracked>,
    /// Channel time used for pages that did not decode, ns.
    pub uncorrectable_ns: u64,
    /// The error rates of the mean page that were looked up last, for some planes: by plane modulo 4.
    #[serde(skip)]
    rate_caches: [RateCache; 4],
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
            rate_caches: Default::default(),
        }
    }

    /// Reset the state for a new operation.
    pub fn begin(&mut self, id: u32) {
        self.attempts[id as usize] = Attempts::NONE;
    }

    /// The state of an operation's senses; [`Attempts::NONE`] if pages have no raw bit errors.
    pub fn attempts(&self, id: u32) -> Attempts {
        self.attempts.get(id as usize).copied().unwrap_or(Attempts::NONE)
    }

    /// Do not sense the pages of these planes (a mask) of an operation again.
    pub fn give_up(&mut self, id: u32, planes: u32) {
        self.attempts[id as usize].again &= !planes;
    }

    /// The rates of the mean page of a block.
    #[inline]
    pub fn rates(&mut self, senses: &Senses, plane: u32, found: &Found) -> [u64; 2] {
        let last = plane as usize % self.rate_caches.len();
        senses.errors.rates_like(&mut self.rate_caches[last], found)
    }

    /// The tracked V_REF of a block's group, as its distance from the default; 0 if the scheme does not track it.
    pub fn tracked(&self, block: BlockId) -> u16 {
        self.tracked.as_ref().map_or(0, |tracked| tracked.by_group[tracked.group_of(block)])
    }

    /// Note the V_REF of a retry whose data will decode, if the scheme tracks V_REFs. Its group gets it only when they
    /// have been decoded ([`SenseState::decoded_again`]). `plane` is numbered within its die.
    pub fn note_vref(&mut self, id: u32, plane: u32, block: BlockId, vref: u16) {
        if let Some(tracked) = &mut self.tracked {
            let group = tracked.group_of(block) as u32;
            tracked.under_way[(id * u32::BITS + plane) as usize] = (group, vref);
        }
    }

    /// Update the tracked V_REFs: the data of these planes (a mask) of an operation have been decoded after a retry.
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

/// The tracked V_REF of each group of blocks: that of the last retry in the group whose data could be decoded.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Tracked {
    /// By plane and group: the V_REF as its distance from the default.
    by_group: Vec<u16>,
    /// By operation and plane of its die: the group of the page, and the V_REF of the retry under way.
    under_way: Vec<(u32, u16)>,
    /// Number of blocks of a plane.
    per_plane: u32,
    /// Number of blocks of a group.
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

/// Whether a sense belongs to a plain read ([`super::plain`]), whose decoder iterations are drawn only if they are
/// needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Plain {
    No,
    /// The reads of its blocks have not been counted yet.
    Uncounted,
    Counted,
}

/// The state of an operation's senses. It fits half a cache line.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub(super) struct Attempts {
    /// Number of senses by commands so far.
    pub senses: u8,
    /// Number of the `senses` whose data are decoded.
    pub to_decode: u8,
    /// Whether the data of the next sense are decoded.
    pub decoded: bool,
    /// The V_REF of the next sense.
    pub aim: Aim,
    /// Whether only the cells with a known pattern cross the channel after this sense, to infer V_REF.
    pub known_cells_only: bool,
    pub plain: Plain,
    /// Largest number of iterations of a codeword of this sense; `SKIPPED` if a codeword is not decoded.
    pub most: u8,
    /// The iterations of the last codeword.
    pub last: u8,
    /// Planes whose pages will be sensed again by a retry, as a mask.
    pub again: u32,
    /// Planes whose pages are given up after this sense, as a mask.
    pub given_up: u32,
    /// The planes (a mask) and codewords of the original command, once a retry has changed them; else zeros.
    pub original: (u32, u32),
    /// Planes whose pages the die has sensed a second time without a command, as a mask.
    pub in_die: u32,
    /// Whether the die begins a speculative sense at the end of this one.
    pub ahead: bool,
}

const _: () = assert!(size_of::<Attempts>() == 32);

impl Attempts {
    /// The state before the first sense.
    pub const NONE: Attempts = Attempts {
        senses: 0,
        to_decode: 0,
        decoded: true,
        aim: Aim::Default,
        known_cells_only: false,
        plain: Plain::No,
        most: 0,
        last: 0,
        again: 0,
        given_up: 0,
        original: (0, 0),
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
