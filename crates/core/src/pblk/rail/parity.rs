//! Parity: the writer programs it as soon as a stripe has its data.
//!
//! All members of a stride count that hold data: not those on bad chunks or where metadata are, and of the others the
//! sectors that are not padding. Sector `j` of a parity is computed from their sectors `j`, and its record from
//! their addresses (see `equations`). Parity takes no ring slot and is not valid for collection. Where the chunk of a parity
//! is bad or metadata lie, its stride lacks this parity in this stripe.

use crate::medium::Medium;
use crate::observer::Observer;
use crate::pblk::drive::Pblk;
use crate::pblk::writer::{Content, Unit};

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// The unit of parity that the open line takes next, if it is parity's turn.
    #[inline]
    pub(in super::super) fn parity_unit(&self) -> Option<u32> {
        let open = self.state.writer.open();
        let strides = self.shape.strides_of(&self.state.lines, open.line)?;
        let unit = self.state.lines.unit_from(open.line, open.next);
        (unit < self.state.lines.line(open.line).end && strides.is_parity(self.shape.position_of(unit)))
            .then_some(unit)
    }

    /// Give a parity the next place of the open line.
    pub(in super::super) fn map_parity(&mut self, unit: u32) -> Unit {
        self.state.writer.passes(unit);
        Unit::without_sectors(Content::Parity, self.state.writer.open().line, unit)
    }

    /// Let all parity pass whose turn it is, in zero time.
    pub(in super::super) fn write_parity_at_once(&mut self) {
        while let Some(unit) = self.parity_unit() {
            let unit = self.map_parity(unit);
            self.count(&unit);
        }
    }
}
