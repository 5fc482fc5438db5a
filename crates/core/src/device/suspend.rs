//! Suspension: programs and erases that give way to what is more urgent, and go on later.
//!
//! Whether and how is the policies' business; where an operation may stop and what that
//! costs is the flash's ([`crate::nand::suspend`]). Suspended operations stack on their
//! unit and resume last in, first out.

use super::counters::Suspension;
use super::drive::Device;
use super::join::joined;
use super::medium::Medium;
use super::observer::{Observer, Step};
use super::op::{OpKind, Owner, WAIT_IDLE, WAIT_OVERHEAD, WAIT_POINT};
use super::server::{MOST_SUSPENDED, Phase, Run};
use crate::ftl::NONE;
use crate::nand::config::{SuspendLimits, SuspendedData};
use crate::nand::suspend::Stop;
use crate::policy::schedule::QueueView;
use crate::policy::suspend_erase::{EraseStop, EraseView, Serve};
use crate::policy::suspend_program::ProgramStop;
use tailcut_units::{Cause, Occupant};

impl<O: Observer, M: Medium> Device<O, M> {
    /// An operation that may be interrupted goes into the array at `begun`, for `total` ns.
    pub(super) fn begin_run(&mut self, id: u32, begun: u64, total: u64) {
        let s = &mut self.state;
        let (unit, occupant) = (s.ops[id].unit, s.ops[id].occupant);
        let u = &mut s.units[unit as usize];
        u.run = Run { op: id, begun, total, ..Run::NONE };
        u.interrupters = s.interrupters[occupant as usize];
        self.interrupt_if_awaited(unit);
    }

    /// Something that may interrupt the unit's operation arrived before it could.
    fn interrupt_if_awaited(&mut self, unit: u32) {
        let open = self.open_queues(unit);
        let u = &self.state.units[unit as usize];
        let urgent = u.waiting & u.interrupters & open;
        if urgent != 0 {
            let by = Occupant::ALL[urgent.trailing_zeros() as usize];
            let by = u.queues[by as usize].head;
            self.interrupt(unit, by);
        }
    }

    /// Operation `by`, which may interrupt the unit's operation, waits for it.
    #[cold]
    pub(super) fn interrupt(&mut self, unit: u32, by: u32) {
        let run = self.state.units[unit as usize].run;
        if self.state.units[unit as usize].phase == Phase::Resuming {
            let limits = self.suspend_limits(run.op);
            let spaced = run.suspends > 0 && limits.spacing.is_some_and(|spacing| spacing.0 > 0);
            if !spaced && limits.most.is_none_or(|most| run.suspends < most) {
                self.cancel_resume(unit, by);
            }
            return;
        }
        let Some((from, stop)) = self.would_stop(unit) else { return };
        let (at, point) = (run.progress + from - run.begun, from + stop.after);
        let s = &mut self.state;
        let now = s.now;
        let u = &mut s.units[unit as usize];
        u.interrupters = 0;
        u.run.suspends += 1;
        u.run.progress = stop.keep;
        u.run.cost = stop.cost;
        u.run.resume = stop.resume;
        self.count_suspend(run.op).repeated_ns += at + stop.after - stop.keep;
        if point == now {
            return self.wind_down(unit, by);
        }
        let u = &mut self.state.units[unit as usize];
        u.phase = Phase::Stopping;
        u.count_to(WAIT_POINT, now);
        self.observe_stop(run.op, Step::Stopping, by, point);
        let timer = self.timer_of_unit(unit);
        self.state.timers.set(timer, point);
    }

    /// When something that may interrupt the operation in a unit's array begins to stop it,
    /// and how; none where it would not be stopped any more.
    fn would_stop(&self, unit: u32) -> Option<(u64, Stop)> {
        let u = &self.state.units[unit as usize];
        let run = u.run;
        let limits = self.suspend_limits(run.op);
        if u.phase != Phase::Array || limits.most.is_some_and(|most| run.suspends >= most) {
            return None;
        }
        let least = limits.least_left.map_or(0, |least| least.0);
        let spacing = limits.spacing.filter(|_| run.suspends > 0).map_or(0, |s| s.0);
        let from = self.state.now.max(run.begun + spacing);
        let at = run.progress + from - run.begun;
        if at >= run.total {
            return None;
        }
        let stop = self.stop(&run, at, from);
        // A phase or loop that is finished first may leave too little, or nothing.
        let left = run.total.saturating_sub(at + stop.after);
        (left > 0 && left >= least).then_some((from, stop))
    }

    /// How long the operation in a unit's array keeps the unit from what may interrupt it, ns;
    /// none where it would not be stopped any more.
    pub(super) fn interrupted_in(&self, unit: u32) -> Option<u64> {
        let (from, stop) = self.would_stop(unit)?;
        Some(from + stop.after + stop.cost - self.state.now)
    }

    /// How the flash stops a run that is `at` ns into its course at time `from`, by the
    /// policy's choice.
    fn stop(&self, run: &Run, at: u64, from: u64) -> Stop {
        let kind = self.state.ops[run.op].kind;
        let t = &self.shape.timing;
        if kind != OpKind::Erase {
            let page = self.state.ops[run.op].page;
            return match self.state.policies.suspend_program.clone().stop() {
                Some(ProgramStop::AfterPhase) => t.program_end_phase(page, at),
                Some(ProgramStop::CancelPhase) => t.program_cancel_phase(page, at),
                None => unreachable!("nothing interrupts a program that is never suspended"),
            };
        }
        let view = self.erase_view(run.op, at, from);
        match self.state.policies.suspend_erase.clone().stop(&view) {
            EraseStop::AtOnce => t.erase_stop_exactly(at),
            EraseStop::AtOnceFree => t.erase_stop_free(at),
            EraseStop::CancelLoop => t.erase_cancel_loop(at),
            EraseStop::AfterLoop => t.erase_end_loop(at, run.progress),
        }
    }

    /// What a policy sees of an erase that has done `progress` ns of its course by `now`.
    fn erase_view(&self, op: u32, progress: u64, now: u64) -> EraseView {
        let s = &self.state;
        EraseView {
            delayed: now.saturating_sub(s.ops[op].entered + progress),
            oldest_write: self.oldest_waiting_write(now),
        }
    }

    fn suspend_limits(&self, op: u32) -> &SuspendLimits {
        let suspend = &self.shape.suspend;
        match self.state.ops[op].kind {
            OpKind::Erase => &suspend.erase.limits,
            OpKind::Read | OpKind::Program | OpKind::Copyback => &suspend.program.limits,
        }
    }

    /// The stopping point is reached.
    fn wind_down(&mut self, unit: u32, by: u32) {
        let s = &mut self.state;
        let now = s.now;
        let u = &mut s.units[unit as usize];
        let Run { op, cost, .. } = u.run;
        if cost == 0 {
            return self.suspended(unit, by);
        }
        u.phase = Phase::Suspending;
        u.count_to(WAIT_OVERHEAD, now);
        self.suspension_of(op).overhead_ns += cost;
        self.observe_stop(op, Step::Suspending, by, now + cost);
        let timer = self.timer_of_unit(unit);
        self.state.timers.set(timer, now + cost);
    }

    /// The totals that an operation's suspensions count to.
    fn suspension_of(&mut self, op: u32) -> &mut Suspension {
        let c = &mut self.state.counters;
        match self.state.ops[op].kind {
            OpKind::Erase => &mut c.erase_suspension,
            OpKind::Read | OpKind::Program | OpKind::Copyback => &mut c.program_suspension,
        }
    }

    /// One more suspension; what else it costs is counted in the totals returned.
    fn count_suspend(&mut self, op: u32) -> &mut Suspension {
        let s = &mut self.state;
        if s.ops[op].kind == OpKind::Erase {
            for id in joined(&s.ops, op) {
                s.extents.suspended(s.ops[id].extent);
            }
        }
        let totals = self.suspension_of(op);
        totals.suspends += 1;
        totals
    }

    /// The die is free for others.
    fn suspended(&mut self, unit: u32, by: u32) {
        let s = &mut self.state;
        let u = &mut s.units[unit as usize];
        let run = Run { serve_before: u64::MAX, ..u.run };
        debug_assert!((u.suspended as usize) < MOST_SUSPENDED);
        u.stack[u.suspended as usize] = run;
        u.suspended += 1;
        u.holder = NONE;
        u.phase = Phase::Idle;
        u.count_to(WAIT_IDLE, s.now);
        let timer = self.timer_of_unit(unit);
        self.state.timers.clear(timer);
        self.observe_stop(run.op, Step::Suspended, by, self.state.now);
        self.dispatch(unit);
    }

    /// The unit is free and an operation is suspended on it: serve what goes before it, or
    /// resume it.
    #[cold]
    pub(super) fn dispatch_over_suspended(&mut self, unit: u32) {
        let open = self.open_queues(unit);
        let s = &mut self.state;
        let u = &mut s.units[unit as usize];
        let run = *u.top().expect("an operation is suspended");
        let occupant = s.ops[run.op].occupant;
        let mut urgent = u.waiting & open & s.interrupters[occupant as usize];
        if urgent != 0 && occupant == Occupant::Erase {
            let before = self.serve_before(unit, &run);
            let arrived = &self.state.units[unit as usize].arrived;
            for o in Occupant::ALL {
                if arrived[o as usize] >= before {
                    urgent &= !(1 << o as u8);
                }
            }
        }
        if urgent == 0 {
            return self.resume(unit);
        }
        let s = &mut self.state;
        let u = &s.units[unit as usize];
        let view = QueueView { waiting: urgent, urgent: u.urgent > 0, arrived: &u.arrived };
        let next = s.policies.schedule.next(&view);
        let of_host = matches!(occupant, Occupant::UserProgram | Occupant::ParityProgram);
        let met = !of_host || self.erase_is_suspended(unit);
        let id = self.take_queued(unit, next);
        if met && let Owner::Request(r) = self.state.ops[id].owner {
            self.state.meets_collection(r);
        }
        self.grant(id);
        self.read_left(unit, next);
    }

    fn erase_is_suspended(&self, unit: u32) -> bool {
        let u = &self.state.units[unit as usize];
        u.stack[..u.suspended as usize].iter().any(|r| self.state.ops[r.op].kind == OpKind::Erase)
    }

    /// Only what arrived before this is served before a suspended erase resumes.
    fn serve_before(&mut self, unit: u32, run: &Run) -> u64 {
        if run.serve_before != u64::MAX {
            return run.serve_before;
        }
        let view = self.erase_view(run.op, run.progress, self.state.now);
        let s = &mut self.state;
        match s.policies.suspend_erase.serve(&view) {
            Serve::All => u64::MAX,
            Serve::Queued => {
                let top = s.units[unit as usize].top().expect("it is suspended");
                top.serve_before = s.arrivals;
                s.arrivals
            }
        }
    }

    /// Nothing goes before the operation suspended last.
    fn resume(&mut self, unit: u32) {
        let s = &mut self.state;
        let now = s.now;
        let u = &mut s.units[unit as usize];
        let run = *u.top().expect("an operation is suspended");
        u.suspended -= 1;
        u.run = Run { begun: now, ..run };
        u.holder = run.op;
        let total = run.resume.total();
        let op = &mut s.ops[run.op];
        u.interrupters = s.interrupters[op.occupant as usize];
        if op.kind == OpKind::Program && self.shape.suspend.program.data == SuspendedData::Controller {
            u.interrupters = 0;
            u.phase = Phase::Channel;
            u.count_to(WAIT_OVERHEAD, now);
            op.second = true;
            // What it costs is the transfer, once it has the channel.
            self.observe(run.op, Step::Resuming, now);
            return self.request_channel(run.op);
        }
        if total == 0 {
            return self.go_on(unit);
        }
        u.phase = Phase::Resuming;
        u.count_to(WAIT_OVERHEAD, now);
        self.observe(run.op, Step::Resuming, now + total);
        let timer = self.timer_of_unit(unit);
        self.state.timers.set(timer, now + total);
        self.interrupt_if_awaited(unit);
    }

    /// A program whose data were given up has the channel to get them again.
    pub(super) fn transfer_again(&mut self, id: u32) {
        let s = &mut self.state;
        let now = s.now;
        let t = &self.shape.timing;
        let op = &mut s.ops[id];
        op.second = false;
        let unit = op.unit;
        let (planes, codewords) = (self.joined_planes(id), self.joined_codewords(id));
        let data = t.command_ns * u64::from(planes) + t.transfer_codewords_ns(codewords);
        let s = &mut self.state;
        let op = &mut s.ops[id];
        s.channels[op.channel as usize].occupy(op.occupant, now, data);
        let u = &mut s.units[unit as usize];
        u.phase = Phase::Resuming;
        u.run.begun = now;
        // The transfer cannot be cut, and nothing is to be loaded from elsewhere.
        u.run.resume = Default::default();
        self.suspension_of(id).overhead_ns += data;
        self.observe(id, Step::ChannelIn, now + data);
        let timer = self.timer_of_unit(unit);
        self.state.timers.set(timer, now + data);
    }

    /// What resuming costs is paid.
    fn resumed(&mut self, unit: u32) {
        let u = &self.state.units[unit as usize];
        let (op, paid) = (u.run.op, u.run.resume.total());
        self.suspension_of(op).overhead_ns += paid;
        self.go_on(unit);
    }

    /// The array goes on where it stopped.
    fn go_on(&mut self, unit: u32) {
        let s = &mut self.state;
        let now = s.now;
        let u = &mut s.units[unit as usize];
        let Run { op, progress, total, .. } = u.run;
        let occupant = s.ops[op].occupant;
        u.run.begun = now;
        u.phase = Phase::Array;
        u.interrupters = s.interrupters[occupant as usize];
        u.count_to(occupant as usize, now);
        let end = now + total - progress;
        self.observe(op, Step::Array, end);
        let timer = self.timer_of_unit(unit);
        self.state.timers.set(timer, end);
        self.interrupt_if_awaited(unit);
    }

    /// Something urgent arrives while the operation is being resumed: nothing was gained.
    fn cancel_resume(&mut self, unit: u32, by: u32) {
        let now = self.state.now;
        let run = self.state.units[unit as usize].run;
        if self.state.ops[run.op].kind == OpKind::Erase {
            let view = self.erase_view(run.op, run.progress, now);
            if self.state.policies.suspend_erase.stop(&view) == EraseStop::AfterLoop {
                return;
            }
        }
        let elapsed = now - run.begun;
        let totals = self.count_suspend(run.op);
        totals.resumes_cancelled += 1;
        totals.overhead_ns += elapsed;
        let u = &mut self.state.units[unit as usize];
        u.interrupters = 0;
        u.run.suspends += 1;
        u.run.cost = run.resume.cancel(elapsed);
        self.wind_down(unit, by);
    }

    /// The timer of a unit whose operation is on its way out of or back into the array.
    #[cold]
    pub(super) fn suspension_timer(&mut self, unit: u32) {
        match self.state.units[unit as usize].phase {
            Phase::Stopping => self.wind_down(unit, NONE),
            Phase::Suspending => self.suspended(unit, NONE),
            Phase::Resuming => self.resumed(unit),
            phase => unreachable!("{phase:?} has no timer"),
        }
    }

    /// An operation that was suspended is over: its time beyond the nominal is its own.
    #[cold]
    pub(super) fn charge_suspended(&mut self, id: u32) {
        let s = &mut self.state;
        let op = &mut s.ops[id];
        let rest = s.now - op.entered - op.ledger.sum();
        super::host::charge(&mut op.ledger, Cause::SUSPENDED, rest);
    }
}
