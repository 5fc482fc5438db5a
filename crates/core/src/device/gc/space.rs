//! What the policy family `gc_schedule` sees of a lane: its free extents, and the host operations that a collection
//! would disturb.

use crate::address::BusyUnit;
use crate::device::drive::{Device, State};
use crate::device::shape::Shape;
use crate::flash::Flash;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::policy::gc_schedule::SpaceView;
use tailcut_units::Occupants;

/// The view that the lane would have if no host operation and no other collection were under way.
pub(in crate::device) fn quiet(view: SpaceView) -> SpaceView {
    SpaceView {
        host_active: false,
        host_reads: false,
        host_programs: false,
        host_writes: false,
        channel_active: false,
        group_collecting: 0,
        rebuilds_here: false,
        ..view
    }
}

impl Shape {
    /// Whether a host operation uses a channel of the lane, or is going to.
    #[cold]
    fn host_needs_channels<O: Observer>(&self, flash: &Flash<O>, lane: u32) -> bool {
        let units = self.units_of_channel(lane);
        let per_channel = self.units / self.channels;
        let firsts = (units.start.0..units.end.0).step_by(per_channel as usize);
        firsts.map(BusyUnit).any(|u| flash.host_needs_channel(u..BusyUnit(u.0 + per_channel)))
    }
}

impl State {
    /// The view of a lane now.
    pub(in crate::device) fn space<O: Observer>(
        &self,
        shape: &Shape,
        flash: &Flash<O>,
        lane: u32,
    ) -> SpaceView {
        let scope = BusyUnit::each(shape.heeded_units(lane));
        let active = |unit: BusyUnit| flash.host_load(unit).ops > 0;
        let host_active = if scope.len() == shape.units as usize {
            flash.host_ops() > 0
        } else {
            scope.clone().any(active)
        };
        let (mut host_reads, mut host_programs) = (false, false);
        if host_active && shape.fixed.may_close_programs {
            for unit in scope.filter(|&unit| active(unit)) {
                host_reads |= flash.host_load(unit).reads > 0;
                host_programs |= flash.waiting(unit).meets(Occupants::HOST_PROGRAMS);
            }
        }
        let mut host_writes = false;
        if host_active && shape.fixed.most_tokens > 0 {
            let programs = |unit| {
                let load = flash.host_load(unit);
                load.ops > load.reads
            };
            host_writes = BusyUnit::each(shape.heeded_units(lane)).any(programs);
        }
        let (mut channel_active, mut group_collecting) = (false, 0);
        if shape.fixed.heeds_channel {
            channel_active = shape.host_needs_channels(flash, lane);
        }
        if let Some(stripes) = &shape.stripes {
            let own = self.gc.collections[lane as usize].is_active();
            let group = stripes.group_of_lane(lane);
            group_collecting = self.gc.groups.collecting(group) - u32::from(own);
        }
        let rebuilds_here = shape.fixed.rotates
            && BusyUnit::each(shape.scope_units(lane)).any(|u| flash.host_load(u).rebuilds > 0);
        SpaceView {
            free: self.extents.free(&shape.layout, lane).saturating_sub(shape.kept_for_failures),
            extents: shape.whole_extents[lane as usize],
            host_active,
            host_reads,
            host_programs,
            host_writes,
            tokens: self.gc.collections[lane as usize].tokens,
            channel_active,
            group_collecting,
            rebuilds_here,
            urgent_lanes: self.gc.urgent_lanes,
            lanes: shape.layout.lanes,
            keeps_up: self.gc.pace.keeps_up(self.now),
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Note whether a lane is short of space, after a possible change of its free extents. Returns its view.
    pub(in crate::device) fn note_space(&mut self, lane: u32) -> SpaceView {
        let view = self.state.space(&self.shape, &self.flash, lane);
        let live = !self.state.faults.is_dead(lane);
        let s = &mut self.state;
        let urgent = live && s.policies.gc_schedule.urgent(&view);
        if s.gc.urgent[lane as usize] == urgent {
            return view;
        }
        s.gc.urgent[lane as usize] = urgent;
        s.gc.urgent_lanes = if urgent { s.gc.urgent_lanes + 1 } else { s.gc.urgent_lanes - 1 };
        for unit in BusyUnit::each(self.shape.units_of_lane(lane)) {
            self.flash.set_urgent(unit, urgent);
        }
        view
    }
}
