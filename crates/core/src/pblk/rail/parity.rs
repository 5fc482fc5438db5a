//! Parity: the writer programs it as soon as a stripe has its data.
//!
//! Parity covers the members of a stride that hold data. Members on bad chunks and metadata do not count, and padding
//! counts as zeros. Sector `j` of a parity is computed from the sectors `j` of the data members, and its record from
//! their logical addresses (see `equations`). Parity takes no ring slot, and collection does not move it. In a stripe
//! where the place of a parity is on a bad chunk or holds metadata, the stride has no such parity.

use crate::medium::Medium;
use crate::observer::Observer;
use crate::pblk::drive::Pblk;
use crate::pblk::lines::Lines;
use crate::pblk::shape::Shape;
use crate::pblk::writer::Writer;
use crate::pblk::writer::{Content, Unit};

impl Writer {
    /// The unit of parity that the open line takes next. `None` if its next unit is data.
    #[inline]
    pub(in super::super) fn parity_unit(&self, shape: &Shape, lines: &Lines) -> Option<u32> {
        let open = self.open();
        let strides = shape.strides_of(lines, open.line)?;
        let unit = lines.unit_from(open.line, open.next);
        (unit < lines.line(open.line).end && strides.is_parity(shape.position_of(unit))).then_some(unit)
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Map a unit of parity to the next place of the open line.
    pub(in super::super) fn map_parity(&mut self, unit: u32) -> Unit {
        self.state.writer.passes(unit);
        Unit::without_sectors(Content::Parity, self.state.writer.open().line, unit)
    }

    /// In zero time, write the parity that follows in the open line.
    pub(in super::super) fn write_parity_at_once(&mut self) {
        while let Some(unit) = self.state.writer.parity_unit(&self.shape, &self.state.lines) {
            let unit = self.map_parity(unit);
            self.count(&unit);
        }
    }
}
