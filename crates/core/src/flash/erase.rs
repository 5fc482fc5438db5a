//! Erases whose pulses an erase scheme chooses ([`crate::array::eraser`]).
//!
//! The pulses of an erase are planned when the erase enters the array. In a multi-plane erase each plane has its own plan,
//! and the erase takes as long as the slowest plane. When the erase ends, its blocks get their new state.

use super::join::joined;
use super::op::{FlashCommand, OpId};
use super::state::Flash;
use crate::array::eraser::{Eraser, Plan};
use crate::nand::ErasePart;
use crate::nand::loops::Loops;
use crate::policy::erase_scheme::Pulse;

impl<O> Flash<O> {
    /// The model of the erase scheme; `None` if erases use the configured loops.
    pub fn eraser(&self) -> Option<&Eraser> {
        self.fixed.eraser.as_ref()
    }

    /// The wear of the block at an index of a plane, in units of 1/`CYCLE` of a program/erase cycle with full pulses. 0
    /// if erases use the configured loops.
    pub fn wear_of(&self, plane: u32, index: u32) -> u32 {
        self.fixed.eraser.as_ref().map_or(0, |eraser| eraser.known(&self.state.blocks, plane, index).2.wear)
    }

    /// The loops of an erase that is about to enter the array, together with the erases that joined it. All take as
    /// long as the slowest.
    #[cold]
    pub(super) fn loops_of(&self, head: u32) -> Loops {
        let page = self.state.ops[head].cmd.page;
        let eraser = match &self.fixed.eraser {
            Some(eraser) if !self.fixed.timing.is_slc(page) => eraser,
            _ => return *self.fixed.timing.loops_of(page),
        };
        let mut slowest = Loops::NONE;
        for id in joined(&self.state.ops, head) {
            let cmd = &self.state.ops[id].cmd;
            let plan = self.slowest_plan(eraser, cmd);
            let (last, others) = plan.pulses().split_last().expect("an erase has a pulse");
            let part = match cmd.part {
                ErasePart::Whole => plan.pulses(),
                ErasePart::AllButLast => others,
                ErasePart::Last => std::slice::from_ref(last),
            };
            let loops = self.loops_with(eraser, part);
            if loops.total() > slowest.total() {
                slowest = loops;
            }
        }
        slowest
    }

    /// The loops that consist of these pulses and the configured other phases.
    fn loops_with(&self, eraser: &Eraser, pulses: &[Pulse]) -> Loops {
        let ns = |pulse: &Pulse| (u64::from(pulse.steps) * eraser.chip().step_ns) as u32;
        self.fixed.timing.loops.with_pulses(pulses.iter().map(ns))
    }

    /// The plan of the slowest plane, among the planes that the command addresses.
    fn slowest_plan(&self, eraser: &Eraser, cmd: &FlashCommand) -> Plan {
        let plans = self.fixed.planes_of(cmd).map(|plane| {
            let (_, nature, known) = eraser.known(&self.state.blocks, plane, cmd.block);
            eraser.plan(&nature, &known)
        });
        plans.max_by_key(|plan| self.loops_with(eraser, plan.pulses()).total()).expect("an erase has a plane")
    }

    /// Whether the erase of this command has more than one loop.
    #[cold]
    pub fn has_earlier_loops(&self, cmd: &FlashCommand) -> bool {
        self.fixed.eraser.as_ref().is_some_and(|eraser| self.slowest_plan(eraser, cmd).pulses().len() > 1)
    }

    /// Time in the array, ns, of an erase and of those that joined it, if nothing interrupts it.
    #[cold]
    pub(super) fn erase_ns(&self, head: u32) -> u64 {
        let page = self.state.ops[head].cmd.page;
        match &self.fixed.eraser {
            Some(_) if !self.fixed.timing.is_slc(page) => self.loops_of(head).total(),
            _ => self.fixed.timing.erase_ns_of(page),
        }
    }

    /// Note the end of an erase and of those that joined it. Only erases with the same `part` join.
    #[cold]
    pub(super) fn erase_ended(&mut self, head: u32) {
        if self.state.ops[head].cmd.part == ErasePart::AllButLast {
            return;
        }
        let mut at = Some(head);
        while let Some(id) = at {
            let op = &self.state.ops[id];
            at = OpId::of_link(op.joined).map(OpId::number);
            let (index, slc) = (op.cmd.block, self.fixed.timing.is_slc(op.cmd.page));
            self.fixed.planes_of(&op.cmd).for_each(|plane| self.block_erased(plane, index, slc));
        }
    }

    /// Note the end of the erase of the block at an index of a plane. Blocks in SLC mode use the configured loops.
    fn block_erased(&mut self, plane: u32, index: u32, slc: bool) {
        let s = &mut self.state;
        if let Some(eraser) = self.fixed.eraser.as_ref().filter(|_| !slc) {
            let plan = eraser.erase(&mut s.blocks, plane, index);
            s.counters.erases.count(&plan, eraser.chip().step_ns);
        }
        s.blocks.erased(s.blocks.place(plane, index));
    }

    /// Erase the block at an index of a plane without taking time. The totals do not count this erase.
    pub fn erase_at_once(&mut self, plane: u32, index: u32) {
        let s = &mut self.state;
        // The state of a block follows from its cycles unless an erase with a duration, or one at another voltage, has
        // changed it.
        let block = s.blocks.id(plane, index);
        let touched = s.blocks.worn(block).is_some() || s.blocks.is_at_full_voltage(block);
        if let Some(eraser) = self.fixed.eraser.as_ref().filter(|_| touched) {
            eraser.erase(&mut s.blocks, plane, index);
        }
        s.blocks.erased(s.blocks.place(plane, index));
    }
}
