//! The voltage of an erase, under a scheme that chooses between the full voltage and a lower one by the load of writes.
//!
//! The choice is made once for all blocks of an extent, when its erase is issued, and stored with the blocks.

use crate::device::host::commands::Host;
use crate::device::shape::Shape;
use crate::device::write::state::Writes;
use crate::flash::Flash;
use crate::ftl::extents::Extents;
use crate::observer::Observer;
use crate::policy::erase_scheme::WriteLoad;

impl Writes {
    /// The load of host writes on the drive.
    pub(super) fn load(&self, shape: &Shape, host: &Host) -> WriteLoad {
        let b = &self.buffer;
        if !shape.fixed.acknowledge_held {
            return WriteLoad { in_flight: 0, room: 0, waits: b.held() > 0 };
        }
        WriteLoad {
            in_flight: b.held() - b.dirty(),
            room: b.capacity() - b.dirty(),
            waits: !host.room.is_empty() || self.queues.waiting() > 0,
        }
    }
}

impl Shape {
    fn set_voltage<O: Observer>(
        &self,
        flash: &mut Flash<O>,
        extents: &Extents,
        extent: u32,
        full_voltage: bool,
    ) {
        let layout = &self.layout;
        let (lane, index) = layout.lane_of(extent);
        for plane in layout.planes_of(lane) {
            let (_, part) = layout.part_of_plane(plane);
            if !extents.is_hole(layout, extent, part) {
                flash.orders_erase_at(plane, index, full_voltage);
            }
        }
    }

    /// Choose the lower voltage for the next erase of an extent, because the host does not write.
    pub(in crate::device) fn choose_lower_voltage<O: Observer>(
        &self,
        flash: &mut Flash<O>,
        extents: &Extents,
        extent: u32,
    ) {
        if flash.eraser().is_some_and(|eraser| eraser.chooses_voltage()) {
            self.set_voltage(flash, extents, extent, false);
        }
    }

    /// Choose the voltage of the erase of an extent that is about to be issued, by the load of host writes.
    pub(super) fn choose_voltage<O: Observer>(
        &self,
        flash: &mut Flash<O>,
        extents: &Extents,
        load: &WriteLoad,
        extent: u32,
    ) {
        let Some(eraser) = flash.eraser().filter(|eraser| eraser.chooses_voltage()) else { return };
        let full_voltage = eraser.at_full_voltage(load);
        self.set_voltage(flash, extents, extent, full_voltage);
    }
}
