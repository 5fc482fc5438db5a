//! Speculative senses (pipelined read retry): the die of a read begins the next retry of a page while the data of the
//! last sense are transferred and decoded.
//!
//! Such a read holds its busy unit from one sense to the next. If the data of the last sense can be decoded, the die
//! drops the speculative sense.

use super::op::{FlashCommand, OpId};
use super::state::Flash;
use super::unit::Phase;
use crate::containers::NONE;
use crate::observer::{Observer, QueueStep, Step};
use tailcut_units::Cause;

impl<O: Observer> Flash<O> {
    /// Disable speculative senses for joined reads: they were sensed together, and the die must keep their data until
    /// all are transferred.
    #[cold]
    pub(super) fn sense_nothing_ahead(&mut self, head: u32) {
        let mut at = head;
        while at != NONE {
            self.state.sensing.attempts[at as usize].ahead = false;
            at = self.state.ops[at].joined;
        }
    }

    /// The data of a read are transferred, from `sent` on, and its busy unit has begun a speculative sense. If the data
    /// decode (at `decoded`), the unit is held until the sense is dropped. Otherwise the read holds it further.
    #[cold]
    #[inline(never)]
    pub(super) fn keep_sensing(&mut self, id: u32, sent: u64, decoded: u64) {
        let Flash { fixed, state: s, .. } = self;
        let senses = fixed.senses.as_ref().expect("the caller has seen them");
        let op = &mut s.ops[id];
        let unit = op.cmd.unit;
        let u = &mut s.units[unit.index()];
        let sense = fixed.timing.read_ns(op.cmd.page);
        // The speculative sense began when the sense before it ended.
        let begun = u.until;
        let mut ends = begun + senses.further_ns(sense);
        u.enters(Phase::Ahead);
        let mut kept = decoded;
        let (again, planes) = (s.sensing.attempts(id).again, op.cmd.plane_count());
        if again == 0 {
            kept = senses.dropped_at(begun, sense, decoded);
            ends = ends.min(kept);
            s.events.set(unit.index(), kept);
            // The read ends before its busy unit is free.
            u.holder = NONE;
            u.until = kept;
        } else {
            u.until = ends;
        }
        u.plane_ns += (ends - begun) * u64::from(planes);
        s.counters.operations[op.cmd.occupant as usize] += 1;
        s.counters.planes[op.cmd.occupant as usize] += u64::from(planes);
        s.counters.senses.dropped += u64::from(planes - again.count_ones());
        s.counters.senses.ahead_ns += ends.min(kept) - begun;
        self.observe_from(id, Step::Ahead, sent, kept);
    }

    /// Continue a read whose data could not be decoded with its speculative sense: the read is in the array until that
    /// sense ends.
    pub(super) fn sensed_ahead(&mut self, id: u32) {
        self.observe_queue(id, QueueStep::SensesOn);
        self.plan_senses(id);
        let s = &mut self.state;
        let op = &mut s.ops[id];
        let FlashCommand { unit, page, .. } = op.cmd;
        let u = &mut s.units[unit.index()];
        // The end of the sense. If that is in the past, its data wait in the page register.
        let end = u.until.max(s.now);
        u.enters(Phase::Array);
        u.until = end;
        op.ledger.charge(Cause::ARRAY, end - s.now);
        s.counters.array_ns[op.counted()] += end - s.now;
        self.observe(id, Step::Array, end);
        self.set_sensed(unit, OpId(id), self.fixed.timing.page_type(page), end);
    }
}
