//! The TRIM command.

use crate::address::Lpn;
use crate::device::drive::Device;
use crate::medium::Medium;
use crate::observer::Observer;

impl<O: Observer, M: Medium> Device<O, M> {
    /// Unmap the whole units inside a range.
    #[inline(never)]
    pub(in crate::device) fn trim(&mut self, id: u32) {
        let unit_bytes = self.shape.layout.unit_bytes;
        let command = self.state.host.requests[id].host.command;
        let first = command.offset.div_ceil(unit_bytes);
        let end = (command.offset + u64::from(command.bytes)) / unit_bytes;
        if first < end {
            let kept = u64::from(self.trim_units(Lpn(first as u32), Lpn(end as u32)));
            self.state.counters.trimmed += end - first - kept;
            self.state.counters.trims_kept += kept;
        }
        self.state.complete_message(&self.shape, &mut self.flash, id);
        self.admit_waiting(None);
        self.admit_queued(None);
        self.state.flushes_done(&self.shape, &mut self.flash);
        self.wake_for_victim();
    }
}
