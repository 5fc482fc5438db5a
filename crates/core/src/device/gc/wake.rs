//! Wakes waiting collections: it checks again whether they may start or continue.

use crate::address::BusyUnit;
use crate::device::drive::Device;
use crate::ftl::config::ExtentKind;
use crate::medium::Medium;
use crate::nand::config::BusyKind;
use crate::observer::Observer;
use crate::policy::gc_scope::Scope;
use std::ops::Range;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Wake the waiting collections if three conditions hold:
    ///
    /// - Writes wait for a free extent. (Without them, a lane that needs space checks again at its next program.)
    /// - A lane has found no victim.
    /// - Since then an extent has become a possible victim. This is not required on a drive with dead parts of lanes,
    ///   because the number of valid units does not show it there.
    #[inline]
    pub(in crate::device) fn wake_for_victim(&mut self) {
        let s = &self.state;
        if s.gc.lacks_victim
            && (s.gc.victim_appeared || !s.faults.dead_parts.is_empty())
            && (s.write.stalled.any() || s.parity.stripes.waiting > 0 || s.faults.again.any())
        {
            self.state.gc.victim_appeared = false;
            self.state.gc.lacks_victim = false;
            self.wake_waiting();
        }
    }

    /// Let other lanes collect before the lane that has just collected, whose scope is free now. If collections wait
    /// for an idle channel (`heeds_channel`), all waiting lanes are woken. Otherwise only the waiting lane with the
    /// least free space is, and only if it has less than lane `collected`.
    pub(in crate::device) fn wake_before(&mut self, collected: u32) {
        if self.shape.fixed.heeds_channel {
            return self.wake_waiting();
        }
        let s = &self.state;
        let waiting = (0..self.shape.layout.lanes).filter(|&l| s.gc.collections[l as usize].waiting);
        let neediest = waiting.min_by_key(|&l| s.extents.free(&self.shape.layout, l));
        let own = s.extents.free(&self.shape.layout, collected);
        if let Some(lane) = neediest.filter(|&l| s.extents.free(&self.shape.layout, l) < own) {
            self.wake(lane);
        }
    }

    /// Wake all waiting collections, because a scope that they need may have become free.
    pub(in crate::device) fn wake_waiting(&mut self) {
        self.wake_lanes(0..self.shape.layout.lanes);
    }

    fn wake_lanes(&mut self, lanes: Range<u32>) {
        if self.shape.fixed.heeds_channel {
            return self.wake_in_turn(lanes);
        }
        for lane in lanes {
            if self.state.gc.collections[lane as usize].waiting {
                self.wake(lane);
            }
        }
    }

    /// Wake the collections of these lanes in the order in which they began to wait. A channel under load is rarely
    /// idle, and the first collection that is woken occupies it. In the order of lanes, the last lanes would therefore
    /// never collect. (The simulator of the ttFlash authors also has a queue for each channel.)
    fn wake_in_turn(&mut self, lanes: Range<u32>) {
        // A collection that waits again after it was woken comes after all others.
        let last = self.state.gc.waits;
        let mut woken = 0;
        loop {
            let collections = &self.state.gc.collections;
            let wait = |&lane: &u32| collections[lane as usize].wait;
            let waits =
                |lane: &u32| collections[*lane as usize].waiting && (woken + 1..=last).contains(&wait(lane));
            let Some(first) = lanes.clone().filter(waits).min_by_key(wait) else { return };
            woken = wait(&first);
            self.wake(first);
        }
    }

    fn wake(&mut self, lane: u32) {
        if self.state.gc.collections[lane as usize].is_active() {
            self.pump_collection(lane);
        } else {
            self.check_collection(lane);
        }
    }

    /// The host operations of a busy unit have changed: wake the collections that may have yielded to them.
    pub(in crate::device) fn wake_unit(&mut self, unit: BusyUnit) {
        let lanes = match (self.shape.layout.kind, self.shape.busy) {
            _ if self.shape.fixed.gc_scope == Scope::Controller => 0..self.shape.layout.lanes,
            (ExtentKind::Line, _) => 0..1,
            _ if self.shape.fixed.heeds_channel || self.shape.fixed.gc_scope == Scope::Channel => {
                let per_channel = self.shape.layout.lanes / self.shape.channels;
                let channel = self.shape.channel_of(unit);
                channel * per_channel..(channel + 1) * per_channel
            }
            (ExtentKind::Superblock, _) | (_, BusyKind::Plane) => unit.0..unit.0 + 1,
            (ExtentKind::Block, BusyKind::Die) => {
                unit.0 * self.shape.layout.planes..(unit.0 + 1) * self.shape.layout.planes
            }
        };
        self.wake_lanes(lanes);
    }
}
