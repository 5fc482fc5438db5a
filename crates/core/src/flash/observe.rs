//! The events that the flash reports to its observer.

use super::state::Flash;
use crate::containers::NONE;
use crate::observer::{Observer, QueueEvent, QueueStep, Step, StepEvent};
use tailcut_units::SimTime;

impl<O: Observer> Flash<O> {
    /// Report a step of an operation that begins now and ends at `until`.
    #[inline]
    pub(super) fn observe(&mut self, id: u32, step: Step, until: u64) {
        self.tell(id, step, self.state.now, until, NONE);
    }

    /// Report a step that begins at `at`.
    #[inline]
    pub(super) fn observe_from(&mut self, id: u32, step: Step, at: u64, until: u64) {
        self.tell(id, step, at, until, NONE);
    }

    /// Report a step of an operation that is interrupted by `by`, or joins it.
    pub(super) fn observe_by(&mut self, id: u32, step: Step, by: u32, until: u64) {
        self.tell(id, step, self.state.now, until, by);
    }

    /// Report that `first` and those that have joined the same operation begin with operation `head`.
    #[inline]
    pub(super) fn observe_joined(&mut self, first: u32, head: u32, now: u64) {
        let mut at = first;
        while at != NONE {
            self.observe_by(at, Step::Joined, head, now);
            at = self.state.ops[at].joined;
        }
    }

    #[inline]
    fn tell(&mut self, id: u32, step: Step, at: u64, until: u64, by: u32) {
        let op = &self.state.ops[id];
        self.observer.step(&StepEvent {
            op: id,
            kind: op.cmd.kind,
            occupant: op.cmd.occupant,
            request: op.cmd.serial,
            by,
            unit: op.cmd.unit,
            channel: op.channel,
            planes: op.cmd.planes,
            page: op.cmd.page,
            step,
            at: SimTime(at),
            until: SimTime(until),
        });
    }

    /// Report a queue step of an operation.
    #[inline]
    pub(super) fn observe_queue(&mut self, id: u32, step: QueueStep) {
        let op = &self.state.ops[id];
        self.observer.queued(&QueueEvent {
            op: id,
            kind: op.cmd.kind,
            occupant: op.cmd.occupant,
            request: op.cmd.serial,
            rebuild: op.cmd.rebuild,
            write_unit: op.cmd.write_unit,
            unit: op.cmd.unit,
            extent: op.cmd.extent,
            channel: op.channel,
            planes: op.cmd.planes,
            part: op.cmd.part,
            codewords: op.cmd.codewords,
            bytes: op.cmd.bytes,
            step,
            at: SimTime(self.state.now),
        });
    }
}
