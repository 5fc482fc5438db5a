//! The state of blocks after erases whose pulses an erase scheme chooses.

use super::Blocks;
use crate::address::BlockId;
use crate::nand::loops::MOST_LOOPS;
use serde::{Deserialize, Serialize};

/// The state of a block after its last erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worn {
    /// Wear: the sum of the stress of all erases, in units of 1/`CYCLE` of a program/erase cycle with full pulses.
    pub wear: u32,
    /// Steps by which the last erase was incomplete. They determine the residual fail bits.
    pub left: u8,
    /// Number of pulses of the last erase.
    pub pulses: u8,
    /// Whether a short first pulse (shallow erasure) is useful for the next erase.
    pub shallow: bool,
    /// Whether the last erase was at the full voltage, under a scheme that chooses between two voltages.
    pub full_voltage: bool,
}

/// A [`Worn`] in 6 bytes. Wear 0 means that the block has not been erased in this run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PackedWorn {
    wear: [u16; 2],
    left: u8,
    /// The number of pulses, and the flags `SHALLOW` and `FULL_VOLTAGE`.
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
    /// Let erases change the state of blocks.
    pub fn let_wear(&mut self) {
        self.worn = Some(vec![PackedWorn::NOT_YET; self.suspensions.len()]);
    }

    /// The state of a block after its last erase; `None` if it has not been erased in this run.
    pub fn worn(&self, block: BlockId) -> Option<Worn> {
        let worn = self.worn.as_ref()?[block.index()].worn();
        (worn.wear > 0).then_some(worn)
    }

    /// Store the state of a block after an erase.
    pub fn wears(&mut self, block: BlockId, after: Worn) {
        if let Some(worn) = &mut self.worn {
            worn[block.index()] = PackedWorn::of(after);
        }
    }

    /// Note the voltage of the erase that is issued to a block now.
    pub fn ordered_at(&mut self, block: BlockId, full_voltage: bool) {
        if let Some(worn) = &mut self.worn {
            let flags = &mut worn[block.index()].pulses;
            *flags = *flags & !FULL_VOLTAGE | if full_voltage { FULL_VOLTAGE } else { 0 };
        }
    }

    /// Whether the erase issued last to a block uses the full voltage, under a scheme that chooses between two
    /// voltages. False if no erase has been issued in this run.
    #[inline]
    pub fn is_at_full_voltage(&self, block: BlockId) -> bool {
        self.worn.as_ref().is_some_and(|worn| worn[block.index()].pulses & FULL_VOLTAGE != 0)
    }
}
