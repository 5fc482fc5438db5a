//! Erases at one of two voltages, under a scheme that chooses, and the program times that follow.
//!
//! The controller sets the voltage when it issues an erase. Programs of a block that was erased at the lower voltage
//! take longer. A multi-plane operation takes as long as its slowest plane.

use super::join::joined;
use super::op::FlashCommand;
use super::state::Flash;
use crate::nand::OpKind;
use crate::nand::timing::Timing;

impl<O> Flash<O> {
    /// Set the voltage of the erase that is issued now to the block at an index of a plane.
    pub fn orders_erase_at(&mut self, plane: u32, index: u32, full_voltage: bool) {
        let blocks = &mut self.state.blocks;
        blocks.ordered_at(blocks.id(plane, index), full_voltage);
    }

    /// The times of a program and of those that joined it.
    #[inline]
    pub(super) fn program_timing(&self, head: u32) -> &Timing {
        match &self.fixed.slow_programs {
            Some(slow) if self.meets_lower_voltage(head) => slow,
            _ => &self.fixed.timing,
        }
    }

    /// Time in the array, ns, of a program or erase whose time depends on its blocks, together with those that joined
    /// it, if nothing interrupts it.
    #[cold]
    pub(super) fn planned_ns(&self, head: u32) -> u64 {
        let cmd = &self.state.ops[head].cmd;
        match cmd.kind {
            OpKind::Erase => self.erase_ns(head),
            _ => self.program_timing(head).program_ns(cmd.page),
        }
    }

    /// Whether a block of a program, or of those that joined it, was erased at the lower voltage.
    fn meets_lower_voltage(&self, head: u32) -> bool {
        let (ops, blocks) = (&self.state.ops, &self.state.blocks);
        joined(ops, head).any(|id| {
            let cmd = &ops[id].cmd;
            let index = programmed_block(cmd);
            self.fixed.planes_of(cmd).any(|plane| !blocks.is_at_full_voltage(blocks.id(plane, index)))
        })
    }
}

/// The index of the block that a program or copyback programs.
pub(super) fn programmed_block(cmd: &FlashCommand) -> u32 {
    if cmd.kind == OpKind::Copyback { cmd.copy_to().block } else { cmd.block }
}
