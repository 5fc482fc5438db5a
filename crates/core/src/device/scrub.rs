//! Scrubbing: units that collection has moved are read again when the host is idle.

use super::drive::Device;
use crate::address::Ppa;
use crate::containers::NONE;
use crate::containers::list::{Link, List};
use crate::containers::timers::UNSET;
use crate::device::drive::State;
use crate::device::work::Work;
use crate::flash::OpId;
use crate::ftl::layout::Layout;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::policy::background::Scrubbing;
use serde::{Deserialize, Serialize};
use tailcut_units::{Occupant, Span};

/// The extents due for scrubbing by lane, and the progress in each lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Scrub {
    idle: u64,
    pause: u64,
    lists: Vec<List>,
    links: Vec<Link>,
    due: Vec<bool>,
    /// By lane: the next unit to look at in its first due extent.
    cursor: Vec<u32>,
    reading: Vec<bool>,
    /// Number of extents due.
    waiting: u32,
    /// When the last command or host operation ended.
    pub host_ended: u64,
    /// When scrubbing looks for work again, ns.
    pub due_at: u64,
}

impl Scrub {
    /// Create the state of scrubbing. Without scrubbing it takes no memory.
    pub fn new(scrubbing: Option<Scrubbing>, lanes: u32, extents: u32) -> Scrub {
        let (lanes, extents) = if scrubbing.is_some() { (lanes as usize, extents as usize) } else { (0, 0) };
        let Scrubbing { idle, pause } = scrubbing.unwrap_or(Scrubbing { idle: Span(0), pause: Span(0) });
        Scrub {
            idle: idle.0,
            pause: pause.0,
            lists: vec![List::default(); lanes],
            links: vec![Link::default(); extents],
            due: vec![false; extents],
            cursor: vec![0; lanes],
            reading: vec![false; lanes],
            waiting: 0,
            host_ended: 0,
            due_at: UNSET,
        }
    }

    fn leave(&mut self, lane: u32, extent: u32) {
        if self.lists[lane as usize].head() == extent {
            self.cursor[lane as usize] = 0;
        }
        self.lists[lane as usize].remove(&mut self.links, extent);
        self.due[extent as usize] = false;
        self.waiting -= 1;
    }

    /// Remove an extent that is erased from those due.
    #[inline]
    pub(super) fn forget(&mut self, layout: &Layout, extent: u32) {
        if self.due.get(extent as usize).is_some_and(|&due| due) {
            let (lane, _) = layout.lane_of(extent);
            self.leave(lane, extent);
        }
    }
}

impl State {
    /// Mark an extent as due if collection has just programmed its last row.
    #[inline]
    pub(super) fn scrub_if_filled(&mut self, layout: &Layout, extent: u32) {
        if self.scrub.due.is_empty() || !self.extents.is_closed(extent) || self.scrub.due[extent as usize] {
            return;
        }
        let (lane, _) = layout.lane_of(extent);
        self.scrub.due[extent as usize] = true;
        self.scrub.waiting += 1;
        self.scrub.lists[lane as usize].push_back(&mut self.scrub.links, extent);
        if self.scrub.due_at == UNSET {
            self.scrub.due_at = self.now + self.scrub.pause;
            self.set_rare_timer();
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Handle the scrub timer: if the host has been idle for long enough, read a unit in each lane.
    pub(super) fn scrub_timer(&mut self) {
        let s = &mut self.state;
        if s.scrub.waiting == 0 {
            return;
        }
        let busy = self.flash.host_ops() > 0 || s.host.requests.used() > 0;
        let quiet = if busy { u64::MAX } else { s.scrub.host_ended + s.scrub.idle };
        // While the host is active, check again when it may have been idle for long enough.
        let next = if quiet > s.now { s.scrub.idle.max(s.scrub.pause) } else { s.scrub.pause };
        s.scrub.due_at = s.now + next;
        if quiet <= s.now {
            for lane in 0..self.shape.layout.lanes {
                self.scrub_lane(lane);
            }
        }
    }

    /// Read the next valid unit of a lane that is due.
    fn scrub_lane(&mut self, lane: u32) {
        let l = lane as usize;
        if self.state.scrub.reading[l] {
            return;
        }
        let units = self.shape.layout.units_per_extent;
        loop {
            let extent = self.state.scrub.lists[l].head();
            if extent == NONE {
                return;
            }
            let start = self.state.scrub.cursor[l];
            let readable =
                |ppa| self.map.is_valid(ppa) && !self.state.faults.is_dead_at(&self.shape.layout, ppa);
            let next = (start..units).find(|&at| readable(Ppa(extent * units + at)));
            let Some(at) = next else {
                self.state.scrub.leave(lane, extent);
                continue;
            };
            self.state.scrub.cursor[l] = at + 1;
            self.state.scrub.reading[l] = true;
            self.state.counters.scrub_reads += 1;
            let op = self.new_unit_read(Occupant::Background, Work::Scrub(lane), Ppa(extent * units + at));
            return self.submit_op(op);
        }
    }

    /// Handle a unit that was read and decoded.
    #[inline(never)]
    pub(super) fn scrubbed(&mut self, op: OpId, lane: u32) {
        self.state.scrub.reading[lane as usize] = false;
        self.free_op(op);
    }
}
