//! How long the parts of the drive were in use.

use super::drive::Device;
use crate::figures::Usage;
use crate::medium::Medium;
use crate::observer::Observer;

impl<O: Observer, M: Medium> Device<O, M> {
    /// How long all parts were in use since the drive was made. Time that is granted and still to
    /// come is not included.
    pub fn usage(&self) -> Usage {
        Usage {
            at: self.state.now,
            units: self.flash.units_taken(),
            planes: self.flash.planes_taken(),
            channels: self.flash.channels_taken(),
            link: self.link_ns(),
        }
    }
}
