//! The voltage of an erase, under a scheme that chooses between two.
//!
//! The choice is made once for all blocks of an extent, when its erase is issued, and stored with the blocks.

use crate::device::drive::Device;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::policy::erase_scheme::WriteLoad;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Choose the voltage of the erase of an extent that is about to be issued.
    pub(super) fn choose_voltage(&mut self, extent: u32) {
        let Some(eraser) = self.flash.eraser().filter(|eraser| eraser.chooses_voltage()) else { return };
        let full_voltage = eraser.at_full_voltage(&self.write_load());
        self.set_voltage(extent, full_voltage);
    }

    /// Choose the lower voltage for the next erase of an extent, because the host does not write.
    pub(in crate::device) fn choose_lower_voltage(&mut self, extent: u32) {
        if self.flash.eraser().is_some_and(|eraser| eraser.chooses_voltage()) {
            self.set_voltage(extent, false);
        }
    }

    fn set_voltage(&mut self, extent: u32, full_voltage: bool) {
        let layout = &self.shape.layout;
        let (lane, index) = layout.lane_of(extent);
        for plane in layout.planes_of(lane) {
            let (_, part) = layout.part_of_plane(plane);
            if !self.state.extents.is_hole(layout, extent, part) {
                self.flash.orders_erase_at(plane, index, full_voltage);
            }
        }
    }

    /// The load of host writes on the drive.
    fn write_load(&self) -> WriteLoad {
        let s = &self.state;
        let b = &s.write.buffer;
        if !self.shape.fixed.acknowledge_held {
            return WriteLoad { in_flight: 0, room: 0, waits: b.held() > 0 };
        }
        WriteLoad {
            in_flight: b.held() - b.dirty(),
            room: b.capacity() - b.dirty(),
            waits: !s.host.room.is_empty() || s.write.queues.waiting() > 0,
        }
    }
}
