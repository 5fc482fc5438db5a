//! What erases make of blocks, where a scheme chooses their pulses.

use super::Blocks;
use crate::address::BlockId;
use crate::nand::loops::MOST_LOOPS;
use serde::{Deserialize, Serialize};

/// What erases have made of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worn {
    /// Its stress, as parts of a cycle of full pulses.
    pub wear: u32,
    /// Steps that its last erase has left: they are its residual fail bits.
    pub left: u8,
    /// Pulses of its last erase.
    pub pulses: u8,
    /// Whether a short first pulse can help.
    pub shallow: bool,
    /// Whether its last erase was at the full voltage, of a scheme that has a lower one too.
    pub full_voltage: bool,
}

/// A [`Worn`] in 6 bytes; no wear: no erase since the run began.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PackedWorn {
    wear: [u16; 2],
    left: u8,
    /// The pulses, `SHALLOW` and `FULL_VOLTAGE`.
    pulses: u8,
}

const SHALLOW: u8 = 0x80;
const FULL_VOLTAGE: u8 = 0x40;
const _: () = assert!(MOST_LOOPS < FULL_VOLTAGE as usize);

impl PackedWorn {
    const NOT_YET: PackedWorn = PackedWorn { wear: [0; 2], left: 0, pulses: 0 };

    fn of(worn: Worn) -> PackedWorn {
        let Worn { wear, left, pulses, shallow, full_voltage } = worn;
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        PackedWorn {
            wear: [wear as u16, (wear >> 16) as u16],
            left,
            pulses: pulses | flag(shallow, SHALLOW) | flag(full_voltage, FULL_VOLTAGE),
        }
    }

    fn worn(self) -> Worn {
        let PackedWorn { wear, left, pulses } = self;
        let wear = u32::from(wear[1]) << 16 | u32::from(wear[0]);
        Worn {
            wear,
            left,
            pulses: pulses & !(SHALLOW | FULL_VOLTAGE),
            shallow: pulses & SHALLOW != 0,
            full_voltage: pulses & FULL_VOLTAGE != 0,
        }
    }
}

impl Blocks {
    /// Let erases change blocks.
    pub fn let_wear(&mut self) {
        self.worn = Some(vec![PackedWorn::NOT_YET; self.suspensions.len()]);
    }

    /// What erases of this run have made of a block; `None` if there was none.
    pub fn worn(&self, block: BlockId) -> Option<Worn> {
        let worn = self.worn.as_ref()?[block.index()].worn();
        (worn.wear > 0).then_some(worn)
    }

    /// Note what an erase has made of a block.
    pub fn wears(&mut self, block: BlockId, after: Worn) {
        if let Some(worn) = &mut self.worn {
            worn[block.index()] = PackedWorn::of(after);
        }
    }

    /// Note at which voltage the erase of a block is that is ordered now.
    pub fn ordered_at(&mut self, block: BlockId, full_voltage: bool) {
        if let Some(worn) = &mut self.worn {
            let flags = &mut worn[block.index()].pulses;
            *flags = *flags & !FULL_VOLTAGE | if full_voltage { FULL_VOLTAGE } else { 0 };
        }
    }

    /// Whether the last erase of a block that was ordered is at the full voltage, of a scheme that has a lower one
    /// too. No erase of this run: the lower one.
    #[inline]
    pub fn is_at_full_voltage(&self, block: BlockId) -> bool {
        self.worn.as_ref().is_some_and(|worn| worn[block.index()].pulses & FULL_VOLTAGE != 0)
    }
}
