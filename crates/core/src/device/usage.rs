//! The time in use of the parts of the drive.

use super::drive::Device;
use crate::figures::Usage;
use crate::medium::Medium;
use crate::observer::Observer;

impl<O: Observer, M: Medium> Device<O, M> {
    /// The time in use of all parts since the drive was made. Granted time that lies in the future is not included.
    pub fn usage(&self) -> Usage {
        Usage {
            at: self.state.now,
            units: self.flash.units_taken(),
            planes: self.flash.planes_taken(),
            channels: self.flash.channels_taken(),
            link: self.state.host.link_ns(&self.shape, self.state.now),
        }
    }
}
