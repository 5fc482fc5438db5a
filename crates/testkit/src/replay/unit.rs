//! Who holds a die (or plane), from the steps of its operations.

use super::account::Account;
use super::history::History;
use tailcut_core::device::{Closing, OpKind, Step, StepEvent};
use tailcut_units::{Cause, Occupant};

/// What follows when the step under way ends.
#[derive(Clone, Copy)]
enum Next {
    Free,
    Held(Occupant),
}

/// A busy unit.
#[derive(Default)]
pub struct Unit {
    history: History,
    /// When the step under way ends, and what follows.
    end: Option<(u64, Next)>,
    held: bool,
    /// Reads sensed together with another whose data are still to go out.
    along: u32,
    /// Collections that close it, and how many of them erase.
    closing: u32,
    erasing: u32,
}

impl Unit {
    /// What a wait is charged to while no operation holds the unit.
    fn idle(&self) -> Cause {
        match (self.closing, self.erasing) {
            (0, _) => Cause::DIE_IDLE,
            (all, erasing) if erasing == all => Cause::GC_HOLD_ERASE,
            _ => Cause::GC_HOLD,
        }
    }

    /// Time goes on to `now`.
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
        self.held = false;
        self.history.change(at, Some(self.idle()));
    }

    /// Charge what it did between two times, the later of which is now.
    pub fn charge(&mut self, from: u64, now: u64, account: &mut Account) {
        self.pass(now);
        self.history.charge(from, now, Some(Cause::DIE_IDLE), account);
    }

    /// A collection closes or opens it.
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

    /// A read is sensed along with the one that gets the unit next.
    pub fn joined(&mut self) {
        self.along += 1;
    }

    /// A step of one of its operations; `resumes`: one that was suspended goes on.
    pub fn step(&mut self, e: &StepEvent, resumes: bool) {
        let at = e.at.0;
        if e.step != Step::Array {
            self.pass(at);
        }
        let mine = Cause::die_wait(e.occupant);
        match e.step {
            Step::Granted => {
                self.held = true;
                self.history.change(at, Some(mine));
            }
            Step::Joined | Step::ChannelIn => {}
            Step::Array => {
                if resumes {
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
            Step::ChannelOut => self.end = Some((e.until.0, Next::Free)),
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
