//! The wear of the blocks of a drive.

use crate::array::eraser::Eraser;
use crate::nand::erase::chip::CYCLE;

/// The number of suspended erases of the blocks, and the effect on the raw bit error rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SuspensionWear {
    /// Mean suspensions of a block.
    pub mean: f64,
    /// Largest number of suspensions of a block.
    pub most: u32,
    /// Factor of the raw bit error rate at the mean.
    pub rber_mean: f64,
    /// Factor of the raw bit error rate at the largest number.
    pub rber_most: f64,
}

/// The wear of blocks in use by erase pulses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PulseWear {
    /// Mean wear of a block, in program/erase cycles of full pulses.
    pub mean: f64,
    /// The largest wear of a block.
    pub most: f64,
    /// Voltage levels of the array.
    pub levels: u32,
    /// The unit of pulse time, ns.
    pub step_ns: u64,
    /// Whether some erases are at the full voltage, and others at a lower one.
    pub chooses_voltage: bool,
}

impl SuspensionWear {
    /// The effect of the mean and the largest number of suspensions, if 1,000 suspensions raise the rate by `growth`.
    pub(crate) fn of((mean, most): (f64, u32), growth: f64) -> SuspensionWear {
        let factor = |n: f64| 1.0 + growth * n / 1000.0;
        SuspensionWear { mean, most, rber_mean: factor(mean), rber_most: factor(f64::from(most)) }
    }
}

impl PulseWear {
    /// The mean and the largest wear of blocks that this scheme erases.
    pub(crate) fn of(eraser: &Eraser, (mean, most): (f64, u32)) -> PulseWear {
        let chip = eraser.chip();
        let cycles = |wear: f64| wear / f64::from(CYCLE);
        PulseWear {
            mean: cycles(mean),
            most: cycles(f64::from(most)),
            levels: chip.levels,
            step_ns: chip.step_ns,
            chooses_voltage: eraser.chooses_voltage(),
        }
    }
}
