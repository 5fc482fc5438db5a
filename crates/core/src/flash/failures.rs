//! Operations that fail: reads that cannot be decoded, programs and erases that do not succeed, and
//! planes that are dead.
//!
//! An operation that fails takes as long as one that succeeds. Each plane of a multi-plane operation
//! succeeds or fails for itself.

use super::attempts::Plain;
use super::join::joined;
use super::op::{OpId, Target};
use super::state::{Flash, FlashConstants, FlashState};
use crate::intervention::{InterventionError, TIMEOUT};
use crate::nand::OpKind;
use crate::nand::blocks::{Blocks, Found};
use crate::nand::faults::config::{FaultConfig, FaultKind};
use crate::nand::faults::{Attempt, Faults, Places};
use crate::observer::QueueStep;
use crate::policy::suspend_erase::SuspendErasePolicy;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use tailcut_units::{SimTime, Span};

/// The failures so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Failures {
    places: Places,
    /// By plane of the drive: whether it is dead. Empty if the flash has no faults.
    dead: Vec<bool>,
    /// Whether one is, or a page was made unreadable while the drive ran.
    fail_reads: bool,
}

impl Failures {
    /// No failure yet.
    pub fn new(faults: Option<&Faults>, planes: u32) -> Failures {
        let Some(faults) = faults else { return Failures::default() };
        Failures { places: faults.places(), dead: vec![false; planes as usize], fail_reads: false }
    }
}

/// What an operation does to the pages of its planes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Act {
    Read,
    Program,
    Erase,
}

impl<O> Flash<O> {
    /// What the blocks remember.
    pub fn blocks(&self) -> &Blocks {
        &self.state.blocks
    }

    /// What the blocks remember, to change it.
    #[inline]
    pub fn blocks_mut(&mut self) -> &mut Blocks {
        &mut self.state.blocks
    }

    /// Let every operation on a plane of the drive fail from now on, those under way included.
    ///
    /// # Panics
    /// If the flash was set up without faults.
    pub fn kill_plane(&mut self, plane: u32) {
        self.state.failures.dead[plane as usize] = true;
        self.state.failures.fail_reads = true;
    }

    /// Let a fault begin at a time. Returns the planes that it kills, which the controller kills.
    ///
    /// # Errors
    /// There is no such place, or the flash was set up without faults that may be injected.
    pub fn inject(
        &mut self,
        fault: &FaultConfig,
        at: SimTime,
    ) -> Result<Option<Range<u32>>, InterventionError> {
        let faults = self.fixed.faults.as_ref().ok_or_else(InterventionError::unprepared)?;
        let planes = faults
            .check_injected(fault)
            .map_err(|e| e.map_or_else(InterventionError::unprepared, InterventionError::Text))?;
        if fault.kills() {
            return Ok(Some(planes));
        }
        let failures = &mut self.state.failures;
        faults.add(&mut failures.places, fault, at.0);
        failures.fail_reads |= fault.kind == FaultKind::Page;
        Ok(None)
    }

    /// Change the delay from which on an erase completes its loop before it is suspended.
    ///
    /// # Errors
    /// The drive suspends erases by another rule.
    pub fn change_erase_timeout(&mut self, after: Span) -> Result<(), InterventionError> {
        match &mut self.state.suspend_erase {
            SuspendErasePolicy::Timeout(policy) => policy.set_after(after),
            _ => return Err(InterventionError::without(TIMEOUT, "policy.suspend_erase = \"timeout\"")),
        }
        Ok(())
    }

    /// Whether an operation has failed on a plane.
    #[inline]
    pub fn has_failed(&self, op: OpId) -> bool {
        let op = &self.state.ops[op.number()];
        op.unread | op.failed != 0
    }

    /// How an operation ends, for observers.
    #[inline]
    pub(super) fn outcome(&self, id: u32) -> QueueStep {
        if self.fixed.faults.is_some() && self.has_failed(OpId(id)) {
            QueueStep::Fails
        } else {
            QueueStep::Ends
        }
    }

    /// Note something at every block (plane and index) of an operation and of those that joined it.
    #[inline(never)]
    pub(super) fn at_blocks(&mut self, head: u32, note: impl Fn(&mut Blocks, u32, u32)) {
        let FlashState { ops, blocks, .. } = &mut self.state;
        for id in joined(ops, head) {
            let cmd = &ops[id].cmd;
            for plane in self.fixed.planes_of(cmd) {
                note(blocks, plane, cmd.block);
            }
        }
    }

    /// Bring what the blocks of an operation remember into the caches: it is looked at when the operation ends, and
    /// when a sense of pages with raw bit errors begins.
    #[inline]
    pub(super) fn prefetch_blocks(&self, id: u32) {
        let cmd = &self.state.ops[id].cmd;
        self.state.blocks.prefetch(self.fixed.blocks_of(cmd));
    }

    /// Decide which of the reads fail that were sensed together.
    #[inline]
    pub(super) fn judge_reads(&mut self, head: u32) {
        if self.fixed.senses.is_none() {
            self.judge_faulty_reads(head);
        } else if !self.is_plain(head) {
            self.judge_senses(head);
        }
    }

    #[inline(never)]
    fn judge_faulty_reads(&mut self, head: u32) {
        self.judge_each(head, Act::Read);
    }

    #[inline(never)]
    fn judge_senses(&mut self, head: u32) {
        let mut at = Some(head);
        while let Some(id) = at {
            self.judge_sense(id);
            at = OpId::of_link(self.state.ops[id].joined).map(OpId::number);
        }
    }

    /// Decide which of the operations fail that have ended together.
    #[inline(never)]
    pub(super) fn judge_ended(&mut self, head: u32) {
        match self.state.ops[head].cmd.kind {
            OpKind::Erase => self.judge_each(head, Act::Erase),
            _ => self.judge_each(head, Act::Program),
        }
    }

    /// Compiled once for each caller, whose act is known.
    #[inline(always)]
    fn judge_each(&mut self, head: u32, act: Act) {
        let mut at = Some(head);
        while let Some(id) = at {
            let mask = self.judge(id, act);
            let op = &mut self.state.ops[id];
            *(if act == Act::Read { &mut op.unread } else { &mut op.failed }) = mask;
            at = OpId::of_link(self.state.ops[id].joined).map(OpId::number);
        }
    }

    /// Decide on which planes a read of pages with raw bit errors fails. A fault strikes its first sense, and no further
    /// one helps; pages of other planes are sensed again if they need it.
    #[inline]
    fn judge_sense(&mut self, id: u32) {
        let may_fail = self.reads_may_fail();
        let attempts = &self.state.sensing.attempts[id as usize];
        let (first, given_up) = (attempts.is_first(), attempts.given_up);
        let counted = attempts.plain == Plain::Counted;
        let mut faulty = if first { 0 } else { self.state.ops[id].unread };
        if first && may_fail {
            faulty = self.judge_first_sense(id);
        } else if first && !counted {
            let blocks = self.fixed.blocks_of(&self.state.ops[id].cmd);
            self.state.blocks.count_reads(blocks);
        }
        self.state.ops[id].unread = faulty | given_up;
    }

    /// Whether a read can fail that decodes.
    #[inline]
    pub(super) fn reads_may_fail(&self) -> bool {
        self.state.failures.fail_reads
            || self.fixed.faults.as_ref().is_some_and(|faults| faults.may_fail_reads)
    }

    #[inline(never)]
    fn judge_first_sense(&mut self, id: u32) -> u32 {
        if self.state.sensing.attempts[id as usize].plain == Plain::Counted {
            // A plane has died during the sense of a plain read.
            let blocks = self.fixed.blocks_of(&self.state.ops[id].cmd);
            self.state.blocks.uncount_reads(blocks);
        }
        let faulty = self.judge(id, Act::Read);
        self.state.sensing.give_up(id, faulty);
        faulty
    }

    /// The planes of an operation's die on which it fails, as a mask.
    #[inline(always)]
    fn judge(&mut self, id: u32, act: Act) -> u32 {
        let Flash { fixed, state, .. } = self;
        let Some(faults) = &fixed.faults else { return 0 };
        let FlashState { ops, blocks, failures, now, .. } = state;
        let cmd = &ops[id].cmd;
        // A copyback programs another block than it reads.
        let (index, page) = match (cmd.target, act) {
            (Target::Copy(to), Act::Program) => (to.block, to.page),
            _ => (cmd.block, cmd.page),
        };
        let mut failed = 0;
        let first = fixed.first_plane(cmd.unit);
        for plane in fixed.planes_of(cmd) {
            let attempt = |found: Found| Attempt { found, page, now: *now };
            let (block, fails) = match act {
                Act::Read => {
                    let found = blocks.read(plane, index, *now);
                    let fails = faults.read_fails(&attempt(found), &mut failures.places);
                    (found.block, fails | has_more_errors(fixed, blocks, plane, index, faults.correctable))
                }
                Act::Program => {
                    let found = blocks.programmed(plane, index, *now);
                    (found.block, faults.program_fails(&attempt(found), &mut failures.places))
                }
                Act::Erase => {
                    let mut found = blocks.finds(plane, index, *now);
                    // The erase that has just ended is counted already.
                    found.cycles -= 1;
                    let fails = faults.erase_fails(&attempt(found), &mut failures.places);
                    (found.block, fails | has_more_errors(fixed, blocks, plane, index, faults.worn))
                }
            };
            if fails && act != Act::Read {
                blocks.grows_bad(block);
            }
            let fails = fails || failures.dead[plane as usize];
            failed |= u32::from(fails) << (plane - first);
        }
        failed
    }
}

/// Whether the block at an index of a plane is expected to have more errors than `most`, in 1/16.
#[inline(always)]
fn has_more_errors(
    fixed: &FlashConstants,
    blocks: &Blocks,
    plane: u32,
    index: u32,
    most: Option<u32>,
) -> bool {
    most.is_some_and(|most| errors(fixed, blocks, plane, index) > most)
}

#[cold]
fn errors(fixed: &FlashConstants, blocks: &Blocks, plane: u32, index: u32) -> u32 {
    fixed.eraser.as_ref().map_or(0, |eraser| eraser.errors(blocks, plane, index))
}
