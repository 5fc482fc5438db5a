//! What holds a die (or plane), from the steps of its operations.

use super::account::Account;
use super::history::History;
use tailcut_core::device::{Closing, OpKind, Step, StepEvent};
use tailcut_units::{Cause, Occupant};

/// The holder of the unit after the step under way.
#[derive(Clone, Copy)]
enum Next {
    Free,
    Held(Occupant),
}

/// A busy unit.
#[derive(Default)]
pub struct Unit {
    history: History,
    /// Time at which the step under way ends, and the holder after it.
    end: Option<(u64, Next)>,
    held: bool,
    /// When the unit was freed last.
    freed: u64,
    /// Joined reads whose data are still to be transferred out.
    along: u32,
    /// Collections that close the unit, and how many of these are erasing.
    closing: u32,
    erasing: u32,
}

impl Unit {
    /// The cause to which a wait is charged while no operation holds the unit.
    fn idle(&self) -> Cause {
        match (self.closing, self.erasing) {
            (0, _) => Cause::DIE_IDLE,
            (all, erasing) if erasing == all => Cause::GC_HOLD_ERASE,
            _ => Cause::GC_HOLD,
        }
    }

    /// Apply the end of the step under way if it is due by `now`.
    fn pass(&mut self, now: u64) {
        if let Some((at, next)) = self.end.filter(|&(at, _)| at <= now) {
            self.end = None;
            match next {
                Next::Free => self.free(at),
                Next::Held(occupant) => self.history.change(at, Some(Cause::die_wait(occupant))),
            }
        }
    }

    fn free(&mut self, at: u64) {
        (self.held, self.freed) = (false, at);
        self.history.change(at, Some(self.idle()));
    }

    /// Charge the time from `from` to `now`, the present time, to what the unit did.
    pub fn charge(&mut self, from: u64, now: u64, account: &mut Account) {
        self.pass(now);
        self.history.charge(from, now, Some(Cause::DIE_IDLE), account);
    }

    /// A collection closes or opens the unit.
    pub fn closing(&mut self, at: u64, closing: Closing) {
        self.pass(at);
        match closing {
            Closing::Closes(erases) => {
                self.closing += 1;
                self.erasing += u32::from(erases);
            }
            Closing::Erases => self.erasing += 1,
            Closing::Opens(erased) => {
                self.closing -= 1;
                self.erasing -= u32::from(erased);
            }
        }
        if !self.held {
            self.history.change(at, Some(self.idle()));
        }
    }

    /// A read joins the read that is granted the unit next.
    pub fn joined(&mut self) {
        self.along += 1;
    }

    /// Apply a step of an operation of this unit; `resumes`: the operation was suspended and
    /// continues.
    pub fn step(&mut self, e: &StepEvent, resumes: bool) {
        let at = e.at.0;
        // These are reported before their time.
        if !matches!(e.step, Step::Array | Step::Decode | Step::Ahead) {
            self.pass(at);
        }
        let mine = Cause::die_wait(e.occupant);
        match e.step {
            Step::Granted => {
                self.held = true;
                self.history.change(at, Some(mine));
            }
            Step::Joined | Step::ChannelIn | Step::Decode => {}
            Step::Array => {
                // A read that is sensed again after another sense was begun ahead has never left its unit. If
                // something else happened at the same time before it, the unit was freed.
                let ahead = self.end.is_some() || !self.held && self.freed == at;
                if resumes || e.kind == OpKind::Read && ahead {
                    self.pass(at);
                    self.held = true;
                    self.history.change(at, Some(mine));
                }
                self.end = match e.kind {
                    OpKind::Read => None,
                    OpKind::Copyback if e.occupant == Occupant::GcRead => {
                        Some((e.until.0, Next::Held(Occupant::GcProgram)))
                    }
                    OpKind::Copyback | OpKind::Program | OpKind::Erase => Some((e.until.0, Next::Free)),
                };
            }
            Step::ChannelOut if self.along > 0 => self.along -= 1,
            Step::ChannelOut | Step::Ahead => self.end = Some((e.until.0, Next::Free)),
            Step::Stopping => self.under_way(at, Cause::SUSPEND_POINT),
            Step::Suspending | Step::Resuming => self.under_way(at, Cause::SUSPEND_OVERHEAD),
            Step::Suspended => {
                self.end = None;
                self.free(at);
            }
            Step::Returned => {
                self.along = 0;
                self.free(at);
            }
        }
    }

    fn under_way(&mut self, at: u64, cause: Cause) {
        self.end = None;
        self.held = true;
        self.history.change(at, Some(cause));
    }
}
