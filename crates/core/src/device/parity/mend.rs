//! Mending: a unit that a collection could not read is computed from the rest of its stripe, and then moved like the
//! others.

use crate::address::Ppa;
use crate::device::drive::Device;
use crate::device::parity::rebuild::Source;
use crate::device::work::Work;
use crate::flash::OpId;
use crate::medium::Medium;
use crate::observer::Observer;
use serde::{Deserialize, Serialize};
use tailcut_units::Occupant;

/// A unit that is being mended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Mend {
    /// The lane whose collection needs the unit.
    pub lane: u32,
    ppa: Ppa,
    /// Number of members of the stripe whose reads have not ended.
    left: u32,
    /// Whether one of them could not be read.
    failed: bool,
}

impl Mend {
    pub fn blank() -> Mend {
        Mend { lane: 0, ppa: Ppa::NONE, left: 0, failed: false }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Begin to mend a valid unit that the collection of its lane could not read. The mending counts
    /// as a read of the collection. A unit that cannot be computed is lost.
    pub(in crate::device) fn begin_mend(&mut self, ppa: Ppa) {
        let unit = self.map.owner(ppa);
        let stripes = self.shape.striped();
        let stripe = stripes.stripe_of(unit);
        let job = self.copies().job_of(stripe);
        let Some(rewritten) = self.copies().computing(job, unit, ppa) else {
            return self.lose_member(unit, ppa);
        };
        let others = stripes.members(stripe).filter(|&u| u != unit);
        let sources: Vec<_> = others.map(|u| (u, self.copies().source(job, rewritten, u))).collect();
        let lane = self.shape.layout.lane_at(ppa);
        debug_assert!(
            self.state.gc.collections[lane as usize].is_active(),
            "{ppa} is mended without a collection of lane {lane}"
        );
        let id = self.state.parity.mends.take();
        self.state.parity.mends[id] = Mend { lane, ppa, left: 0, failed: false };
        self.state.gc.collections[lane as usize].reads += 1;
        self.data.mending(&self.state.parity, id, ppa);
        for (unit, source) in sources {
            match source {
                Source::Nowhere => {}
                Source::Memory => self.data.mends_with(&self.state.parity, id, job, unit),
                Source::Moving(ppa) => self.data.mends_with_moving(&self.state.parity, id, ppa),
                Source::Flash(ppa) => {
                    self.state.parity.mends[id].left += 1;
                    self.state.counters.gc_reads += 1;
                    let op = self.new_unit_read(Occupant::GcRead, Work::Mend(id), ppa);
                    self.submit_op(op);
                }
            }
        }
        if self.state.parity.mends[id].left == 0 {
            self.mended(id);
        }
    }

    /// Handle the arrival of a member of a stripe for a unit that is mended.
    #[cold]
    pub(in crate::device) fn mend_read_arrived(&mut self, op: OpId, id: u32) {
        let failed = self.flash.has_failed(op);
        let ppa = self.flash.op(op).cmd.ppa;
        self.free_op(op);
        if failed {
            self.note_unreadable(&[ppa]);
        }
        let mend = &mut self.state.parity.mends[id];
        mend.failed |= failed;
        mend.left -= 1;
        if mend.left == 0 {
            self.mended(id);
        }
    }

    /// End a mending: stage the unit like one that was read, or lose it.
    fn mended(&mut self, id: u32) {
        let Mend { lane, ppa, failed, .. } = self.state.parity.mends[id];
        self.state.parity.mends.give(id);
        debug_assert_eq!(
            self.shape.layout.extent_of(ppa).0,
            self.state.gc.collections[lane as usize].victim,
            "{ppa} is mended, which is not in the victim of lane {lane}"
        );
        self.state.gc.collections[lane as usize].reads -= 1;
        self.state.counters.mended_units += u64::from(!failed);
        if self.map.is_valid(ppa) {
            let unit = self.map.owner(ppa);
            let job = self.copies().job_of(self.shape.striped().stripe_of(unit));
            if failed && self.copies().computing(job, unit, ppa).is_some() {
                // The member that could not be read has moved meanwhile, so try again.
                return self.begin_mend(ppa);
            }
            if failed {
                self.lose_member(unit, ppa);
            } else {
                self.data.mended(&self.state.parity, id, ppa, unit);
                self.state.gc.collections[lane as usize].staged.push((unit, ppa));
            }
        }
        self.program_staged_rows(lane);
    }
}
