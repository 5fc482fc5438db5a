//! Parity: the writer programs it as soon as a stripe has its data.
//!
//! All members of a stride count that hold data: not those on bad chunks or where metadata are, and of the others the
//! sectors that are not padding. Sector `j` of a parity is computed from their sectors `j`, and its record from
//! their addresses (see `equations`). Parity takes no ring slot and is not valid for collection. Where the chunk of a parity
//! is bad or metadata lie, its stride lacks this parity in this stripe.

use crate::medium::Medium;
use crate::observer::Observer;
use crate::pblk::drive::Pblk;
use crate::pblk::lines::Lines;
use crate::pblk::shape::Shape;
use crate::pblk::writer::Writer;
use crate::pblk::writer::{Content, Unit};

impl Writer {
    /// The unit of parity that the open line takes next, if it is parity's turn.
    #[inline]
    pub(in super::super) fn parity_unit(&self, shape: &Shape, lines: &Lines) -> Option<u32> {
        let open = self.open();
        let strides = shape.strides_of(lines, open.line)?;
        let unit = lines.unit_from(open.line, open.next);
        (unit < lines.line(open.line).end && strides.is_parity(shape.position_of(unit))).then_some(unit)
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Give a parity the next place of the open line.
    pub(in super::super) fn map_parity(&mut self, unit: u32) -> Unit {
        self.state.writer.passes(unit);
        Unit::without_sectors(Content::Parity, self.state.writer.open().line, unit)
    }

    /// Let all parity pass whose turn it is, in zero time.
    pub(in super::super) fn write_parity_at_once(&mut self) {
        while let Some(unit) = self.state.writer.parity_unit(&self.shape, &self.state.lines) {
            let unit = self.map_parity(unit);
            self.count(&unit);
        }
    }
}
