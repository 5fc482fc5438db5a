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
    /// This read leaves its planes, where reads run by plane.
    Left(u32),
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
    /// Whether reads run by plane.
    by_plane: bool,
    /// Where they do: the reads that have planes, in the order in which they got them, with their planes.
    reading: Vec<(u32, u32, Occupant)>,
    /// The program in the cache register.
    cached: Option<u32>,
    /// Collections that close the unit, and how many of these are erasing.
    closing: u32,
    erasing: u32,
}

impl Unit {
    /// A unit; `by_plane`: reads on different planes of it run side by side.
    pub fn new(by_plane: bool) -> Unit {
        Unit { by_plane, ..Unit::default() }
    }

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
                Next::Left(read) => self.left(read, at),
                Next::Held(occupant) => self.history.change(at, Some(Cause::die_wait(occupant))),
            }
        }
    }

    /// A read leaves its planes. The unit counts to the first that is left.
    fn left(&mut self, read: u32, at: u64) {
        self.reading.retain(|r| r.0 != read);
        match self.reading.first() {
            Some(&(.., occupant)) => self.history.change(at, Some(Cause::die_wait(occupant))),
            None => self.free(at),
        }
    }

    /// Apply a step of a read of a unit whose reads run by plane.
    fn reads(&mut self, e: &StepEvent) -> Result<(), String> {
        let at = e.at.0;
        match e.step {
            Step::Granted => {
                self.pass(at);
                if self.reading.iter().any(|r| r.1 & e.planes != 0) || self.reading.is_empty() && self.held {
                    return Err(format!("{e:?}: its planes are in use"));
                }
                if self.reading.is_empty() {
                    self.held = true;
                    self.history.change(at, Some(Cause::die_wait(e.occupant)));
                }
                self.reading.push((e.op, e.planes, e.occupant));
            }
            Step::Returned => {
                self.pass(at);
                self.left(e.op, at);
            }
            Step::ChannelOut => {
                self.pass(at);
                self.end = Some((e.until.0, Next::Left(e.op)));
            }
            _ => {}
        }
        Ok(())
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
    pub fn step(&mut self, e: &StepEvent, resumes: bool) -> Result<(), String> {
        let at = e.at.0;
        if self.by_plane && e.kind == OpKind::Read {
            return self.reads(e);
        }
        // These are reported before their time.
        if !matches!(e.step, Step::Array | Step::Decode | Step::Ahead) {
            self.pass(at);
        }
        let mine = Cause::die_wait(e.occupant);
        match e.step {
            Step::Granted => {
                if !self.reading.is_empty() {
                    return Err(format!("{e:?}: reads have planes of its die"));
                }
                if self.cached == Some(e.op) {
                    self.cached = None;
                }
                self.held = true;
                self.history.change(at, Some(mine));
            }
            Step::Cached => {
                if !self.held || self.cached.replace(e.op).is_some() {
                    return Err(format!("{e:?}: no program is in the array, or one is cached"));
                }
            }
            Step::Returned if self.cached == Some(e.op) => self.cached = None,
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
        Ok(())
    }

    fn under_way(&mut self, at: u64, cause: Cause) {
        self.end = None;
        self.held = true;
        self.history.change(at, Some(cause));
    }
}
