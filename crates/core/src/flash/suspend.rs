//! Suspension: programs and erases that are interrupted for more urgent operations and resumed
//! later.
//!
//! The policies decide whether and how an operation is suspended. The flash determines where an
//! operation may stop and what that costs ([`crate::nand::suspend`], [`crate::nand::course`]).
//! Suspended operations are stacked on their unit and resume last in, first out.

use super::account;
use super::counters::Suspension;
use super::op::{FlashCommand, OpId};
use super::state::Flash;
use super::unit::{MOST_SUSPENDED, Phase, Run};
use super::voltage::programmed_block;
use crate::address::BusyUnit;
use crate::containers::NONE;
use crate::nand::config::{LeastLeftOf, SuspendLimits, SuspendedData};
use crate::nand::course::Course;
use crate::nand::loops::Loops;
use crate::nand::suspend::Stop;
use crate::nand::{ErasePart, OpKind};
use crate::observer::{Observer, Step};
use crate::policy::schedule::QueueView;
use crate::policy::suspend_erase::{EraseStop, EraseView, Serve};
use crate::policy::suspend_program::{ProgramStop, ProgramView};
use tailcut_units::{Occupant, Occupants};

impl<O: Observer> Flash<O> {
    /// Begin an operation that may be interrupted: it takes `total` ns in the array, from `begun` on.
    pub(super) fn begin_run(&mut self, id: u32, begun: u64, total: u64) {
        let FlashCommand { unit, occupant: kind, kind: what, .. } = self.state.ops[id].cmd;
        let loops = match what {
            OpKind::Erase => self.loops_of(id),
            OpKind::Read | OpKind::Program | OpKind::Copyback => Loops::NONE,
        };
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        u.run = Run { op: id, course: Course::new(begun, total, loops), ..Run::NONE };
        u.interrupters = self.fixed.interrupters[kind as usize];
        self.interrupt_if_awaited(unit);
    }

    /// Interrupt the unit's operation if an operation that may interrupt it already waits.
    pub(super) fn interrupt_if_awaited(&mut self, unit: BusyUnit) {
        let open = self.open_queues(unit);
        let u = &self.state.units[unit.index()];
        if let Some(kind) = (u.queues.waiting() & u.interrupters & open).first() {
            let by = u.queues.head(kind);
            self.interrupt(unit, by);
        }
    }

    /// Interrupt the unit's operation, or cancel its resume, for operation `by`, which waits and
    /// may interrupt it.
    #[cold]
    pub(super) fn interrupt(&mut self, unit: BusyUnit, by: u32) {
        let Run { op, course, .. } = self.state.units[unit.index()].run;
        if self.state.units[unit.index()].phase == Phase::Resuming {
            if course.may_cancel_resume(self.suspend_limits(op)) {
                self.cancel_resume(unit, by);
            }
            return;
        }
        let Some((from, stop)) = self.would_stop(unit) else { return };
        let s = &mut self.state;
        let now = s.now;
        let u = &mut s.units[unit.index()];
        u.interrupters = Occupants::NONE;
        let lost = u.run.course.stops(from, &stop);
        self.count_suspend(op).repeated_ns += lost;
        let point = from + stop.after;
        if point == now {
            return self.wind_down(unit, by);
        }
        let u = &mut self.state.units[unit.index()];
        u.enters(Phase::Stopping);
        u.account.count_to(account::STOPPING, now);
        self.observe_by(op, Step::Stopping, by, point);
        self.state.events.set(unit.index(), point);
    }

    /// When, and in which way, the operation in a unit's array would begin to stop for an operation that may interrupt
    /// it; `None` if it would not be stopped.
    fn would_stop(&self, unit: BusyUnit) -> Option<(u64, Stop)> {
        let u = &self.state.units[unit.index()];
        let run = &u.run;
        if u.phase != Phase::Array {
            return None;
        }
        let limits = self.suspend_limits(run.op);
        let from = run.course.may_stop_from(self.state.now, limits)?;
        if self.fixed.suspend.erase.keep_last_loop && run.course.is_in_last_loop(from) {
            let part = self.state.ops[run.op].cmd.part;
            if part != ErasePart::AllButLast {
                return None;
            }
        }
        let least = limits.least_left.map_or(0, |least| least.0);
        let erases = self.state.ops[run.op].cmd.kind == OpKind::Erase;
        if !erases || self.fixed.suspend.erase.least_left_of == LeastLeftOf::Erase {
            let stop = self.stop(unit, from)?;
            return run.course.is_worth(from, &stop, least).then_some((from, stop));
        }
        let stop = match run.course.loop_has_left(from, least) {
            true => self.stop(unit, from)?,
            false => {
                let Course { loops, done, .. } = &run.course;
                self.fixed.timing.erase_end_loop(loops, run.course.progress(from), *done)
            }
        };
        run.course.is_worth(from, &stop, 0).then_some((from, stop))
    }

    /// Time until the operation in a unit's array would be suspended for an operation that may interrupt it, ns; `None`
    /// if it would not be.
    pub(super) fn interrupted_in(&self, unit: BusyUnit) -> Option<u64> {
        let (from, stop) = self.would_stop(unit)?;
        Some(from + stop.after + stop.cost - self.state.now)
    }

    /// The policy's decision, at time `from`, how the operation in a unit's array stops; `None` if it continues.
    fn stop(&self, unit: BusyUnit, from: u64) -> Option<Stop> {
        let run = &self.state.units[unit.index()].run;
        let cmd = &self.state.ops[run.op].cmd;
        let at = run.course.progress(from);
        if cmd.kind != OpKind::Erase {
            let t = self.program_timing(run.op);
            return Some(match self.fixed.suspend_program.stop(&self.program_view(unit, from))? {
                ProgramStop::AfterPhase => t.program_end_phase(cmd.page, at),
                ProgramStop::CancelPhase => t.program_cancel_phase(cmd.page, at),
            });
        }
        let t = &self.fixed.timing;
        Some(match self.state.suspend_erase.stop(&self.erase_view(run.op, at, from)) {
            EraseStop::AtOnce => t.erase_stop_exactly(&run.course.loops, at),
            EraseStop::AtOnceFree => t.erase_stop_free(at),
            EraseStop::CancelLoop => t.erase_cancel_loop(&run.course.loops, at),
            EraseStop::AfterLoop => t.erase_end_loop(&run.course.loops, at, run.course.done),
        })
    }

    /// The policy's view of the program in a unit's array.
    fn program_view(&self, unit: BusyUnit, now: u64) -> ProgramView {
        let s = &self.state;
        let u = &s.units[unit.index()];
        let op = &s.ops[u.run.op];
        let plane = self.fixed.first_plane(unit) + op.cmd.planes.trailing_zeros();
        let progress = u.run.course.progress(now);
        ProgramView {
            occupant: op.cmd.occupant,
            left: u.run.course.total - progress,
            delayed: now.saturating_sub(op.entered + progress),
            cycles: s.blocks.cycles_at(s.blocks.place(plane, programmed_block(&op.cmd))),
            urgent: u.gates.urgent > 0,
            oldest_write: now.saturating_sub(s.oldest_write),
        }
    }

    /// The policy's view of an erase that has done `progress` ns of its array time by `now`.
    fn erase_view(&self, op: u32, progress: u64, now: u64) -> EraseView {
        let s = &self.state;
        EraseView {
            delayed: now.saturating_sub(s.ops[op].entered + progress),
            oldest_write: now.saturating_sub(s.oldest_write),
        }
    }

    fn suspend_limits(&self, op: u32) -> &SuspendLimits {
        let suspend = &self.fixed.suspend;
        match self.state.ops[op].cmd.kind {
            OpKind::Erase => &suspend.erase.limits,
            OpKind::Read | OpKind::Program | OpKind::Copyback => &suspend.program.limits,
        }
    }

    /// Handle the arrival at the suspend point: begin to suspend the operation, or suspend it at once if that takes no
    /// time.
    fn wind_down(&mut self, unit: BusyUnit, by: u32) {
        let s = &mut self.state;
        let now = s.now;
        let u = &mut s.units[unit.index()];
        let (op, cost) = (u.run.op, u.run.course.cost);
        if cost == 0 {
            return self.suspended(unit, by);
        }
        u.enters(Phase::Suspending);
        u.account.count_to(account::OVERHEAD, now);
        self.suspension_of(op).overhead_ns += cost;
        self.observe_by(op, Step::Suspending, by, now + cost);
        self.state.events.set(unit.index(), now + cost);
    }

    /// The totals that count an operation's suspensions.
    fn suspension_of(&mut self, op: u32) -> &mut Suspension {
        let c = &mut self.state.counters;
        match self.state.ops[op].cmd.kind {
            OpKind::Erase => &mut c.erase_suspension,
            OpKind::Read | OpKind::Program | OpKind::Copyback => &mut c.program_suspension,
        }
    }

    /// Count one more suspension. Returns the totals, to which the caller adds its other costs.
    fn count_suspend(&mut self, op: u32) -> &mut Suspension {
        if self.state.ops[op].cmd.kind == OpKind::Erase {
            self.at_blocks(op, |blocks, plane, index| blocks.suspended(blocks.id(plane, index)));
        }
        let totals = self.suspension_of(op);
        totals.suspends += 1;
        totals
    }

    /// Put the operation on the unit's stack of suspended operations, and dispatch the unit, which is then free.
    fn suspended(&mut self, unit: BusyUnit, by: u32) {
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        let run = Run { serve_before: u64::MAX, ..u.run };
        debug_assert!((u.suspended as usize) < MOST_SUSPENDED);
        u.stack[u.suspended as usize] = run;
        u.suspended += 1;
        u.holder = NONE;
        u.enters(Phase::Idle);
        u.account.count_to(account::IDLE, s.now);
        s.events.clear(unit.index());
        self.observe_by(run.op, Step::Suspended, by, self.state.now);
        self.dispatch(unit);
    }

    /// Dispatch a free unit on which an operation is suspended: serve an operation that comes before it, or resume it.
    #[cold]
    pub(super) fn dispatch_over_suspended(&mut self, unit: BusyUnit) {
        let open = self.open_queues(unit);
        let s = &mut self.state;
        let u = &mut s.units[unit.index()];
        let run = *u.top().expect("an operation is suspended");
        let holder = s.ops[run.op].cmd.occupant;
        let mut urgent = u.queues.waiting() & open & self.fixed.interrupters[holder as usize];
        if !urgent.is_empty() && holder == Occupant::Erase {
            let before = self.serve_before(unit, &run);
            let arrived = self.state.units[unit.index()].queues.arrived();
            urgent = urgent.iter().filter(|&kind| arrived[kind as usize] < before).collect();
        }
        if urgent.is_empty() {
            return self.resume(unit);
        }
        let s = &mut self.state;
        let u = &s.units[unit.index()];
        let arrived = u.queues.arrived();
        let next = s.schedule.next(&QueueView { waiting: urgent, urgent: u.gates.urgent > 0, arrived });
        let met = self.belongs_to_collection(unit, holder);
        let id = self.take_queued(unit, next);
        self.note_suspended(OpId(id), met);
        self.grant(id);
        self.read_left(unit, next);
    }

    /// Whether an operation suspended on a unit belongs to a collection. `holder` is the occupant of the one suspended
    /// last.
    pub(super) fn belongs_to_collection(&self, unit: BusyUnit, holder: Occupant) -> bool {
        !Occupants::HOST_PROGRAMS.has(holder) || self.erase_is_suspended(unit)
    }

    /// Count an operation that begins while another one is suspended as delayed by a collection, if the suspended one
    /// belongs to a collection (`met`).
    pub(super) fn note_suspended(&mut self, OpId(id): OpId, met: bool) {
        let s = &mut self.state;
        let cmd = &s.ops[id].cmd;
        // A read that only serves a reconstruction is not counted; the read that it replaces is.
        if met && cmd.tag != NONE && cmd.bytes > 0 {
            s.commands.meets_collection(cmd.tag);
        }
    }

    fn erase_is_suspended(&self, unit: BusyUnit) -> bool {
        let suspended = self.state.units[unit.index()].suspended();
        suspended.iter().any(|r| self.state.ops[r.op].cmd.kind == OpKind::Erase)
    }

    /// The arrival number up to which operations are served before a suspended erase resumes.
    pub(super) fn serve_before(&mut self, unit: BusyUnit, run: &Run) -> u64 {
        if run.serve_before != u64::MAX {
            return run.serve_before;
        }
        let view = self.erase_view(run.op, run.course.done, self.state.now);
        let s = &mut self.state;
        match s.suspend_erase.serve(&view) {
            Serve::All => u64::MAX,
            Serve::Queued => {
                let top = s.units[unit.index()].top().expect("it is suspended");
                top.serve_before = s.arrivals;
                s.arrivals
            }
        }
    }

    /// Resume the operation suspended last, since no operation comes before it.
    fn resume(&mut self, unit: BusyUnit) {
        let s = &mut self.state;
        let now = s.now;
        let u = &mut s.units[unit.index()];
        let mut run = *u.top().expect("an operation is suspended");
        run.course.since = now;
        u.suspended -= 1;
        u.run = run;
        u.holder = run.op;
        let total = run.course.resume.total();
        let op = &mut s.ops[run.op];
        u.interrupters = self.fixed.interrupters[op.cmd.occupant as usize];
        if op.cmd.kind == OpKind::Program && self.fixed.suspend.program.data == SuspendedData::Controller {
            u.interrupters = Occupants::NONE;
            u.enters(Phase::Channel);
            u.account.count_to(account::OVERHEAD, now);
            op.second = true;
            // The cost is the transfer, which is counted when the program gets the channel.
            self.observe(run.op, Step::Resuming, now);
            return self.request_channel(run.op);
        }
        if total == 0 {
            return self.go_on(unit);
        }
        u.enters(Phase::Resuming);
        u.account.count_to(account::OVERHEAD, now);
        self.observe(run.op, Step::Resuming, now + total);
        self.state.events.set(unit.index(), now + total);
        self.interrupt_if_awaited(unit);
    }

    /// Transfer the data of a suspended program, which has got the channel, to the die again.
    pub(super) fn transfer_again(&mut self, id: u32) {
        let t = &self.fixed.timing;
        let s = &mut self.state;
        let now = s.now;
        let (planes, codewords) = s.joined(id);
        let data = t.command_ns * u64::from(planes) + t.transfer_codewords_ns(codewords);
        let op = &mut s.ops[id];
        op.second = false;
        let unit = op.cmd.unit;
        s.channels[op.channel as usize].occupy(op.cmd.occupant, now, data);
        let u = &mut s.units[unit.index()];
        u.enters(Phase::Resuming);
        u.run.course.since = now;
        // The transfer cannot be cancelled, and no page register is to be reloaded.
        u.run.course.resume = Default::default();
        self.suspension_of(id).overhead_ns += data;
        self.observe(id, Step::ChannelIn, now + data);
        self.state.events.set(unit.index(), now + data);
    }

    /// Count the cost of a resume that has ended, and continue the operation.
    fn resumed(&mut self, unit: BusyUnit) {
        let run = &self.state.units[unit.index()].run;
        let (op, paid) = (run.op, run.course.resume.total());
        self.suspension_of(op).overhead_ns += paid;
        self.go_on(unit);
    }

    /// Continue the array operation where it stopped.
    fn go_on(&mut self, unit: BusyUnit) {
        let s = &mut self.state;
        let now = s.now;
        let u = &mut s.units[unit.index()];
        let op = u.run.op;
        let end = u.run.course.go_on(now);
        let kind = s.ops[op].cmd.occupant;
        u.enters(Phase::Array);
        u.until = end;
        u.interrupters = self.fixed.interrupters[kind as usize];
        u.account.count_to(account::of(kind), now);
        self.observe(op, Step::Array, end);
        self.state.events.set(unit.index(), end);
        self.interrupt_if_awaited(unit);
    }

    /// Cancel the resume of an operation, because operation `by`, which may interrupt it, has
    /// arrived. The time spent on resuming is lost. An erase that stops only at the end of a loop
    /// is not cancelled.
    fn cancel_resume(&mut self, unit: BusyUnit, by: u32) {
        let now = self.state.now;
        let Run { op, course, .. } = self.state.units[unit.index()].run;
        if self.state.ops[op].cmd.kind == OpKind::Erase {
            let view = self.erase_view(op, course.done, now);
            if self.state.suspend_erase.stop(&view) == EraseStop::AfterLoop {
                return;
            }
        }
        let u = &mut self.state.units[unit.index()];
        u.interrupters = Occupants::NONE;
        let elapsed = u.run.course.cancels_resume(now);
        let totals = self.count_suspend(op);
        totals.resumes_cancelled += 1;
        totals.overhead_ns += elapsed;
        self.wind_down(unit, by);
    }

    /// Handle the timer of a unit whose operation is being stopped, suspended or resumed.
    #[cold]
    pub(super) fn suspension_timer(&mut self, unit: BusyUnit) {
        match self.state.units[unit.index()].phase {
            Phase::Stopping => self.wind_down(unit, NONE),
            Phase::Suspending => self.suspended(unit, NONE),
            Phase::Resuming => self.resumed(unit),
            phase => unreachable!("{phase:?} has no timer"),
        }
    }
}
