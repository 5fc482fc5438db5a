//! Reads that fail on a drive with strides: unreadable sectors are computed by parity.
//!
//! When all operations of a read have ended and some have failed, pblk sends a second vector command. A sector that
//! could not be read directly is computed from the other members of its stride. A sector whose computation failed is
//! read directly. If the second command fails too, and two parities allow another choice of members, there is a third
//! command. If all of them fail, the sector is lost. A sector that was computed because it could not be read is
//! written again: it enters the ring as a sector of collection.

use super::reads::Others;
use crate::address::{Lpn, Ppa};
use crate::flash::{FlashCommand, OpId};
use crate::ftl::map::Mapping;
use crate::medium::Medium;
use crate::observer::{Observer, RequestStep};
use crate::pblk::drive::Pblk;
use crate::pblk::interface::Work;
use crate::pblk::shape::Shape;
use serde::{Deserialize, Serialize};
use tailcut_units::{Cause, Occupant, Status};

/// The request that a read belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) enum Reader {
    /// A request of the host.
    Host(u32),
    /// A request of collection.
    Collection(u32),
}

impl Reader {
    /// The owner of its flash operations.
    pub fn work(self) -> Work {
        match self {
            Reader::Host(id) => Work::Request(id),
            Reader::Collection(id) => Work::Moved(id),
        }
    }

    /// The occupant of its flash operations.
    pub fn occupant(self) -> Occupant {
        match self {
            Reader::Host(_) => Occupant::UserRead,
            Reader::Collection(_) => Occupant::GcRead,
        }
    }
}

/// How a sector is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) enum Way {
    /// Directly. If this fails, by parity.
    Plain,
    /// By parity, because reads avoid its LUN. If this fails, directly.
    Others,
    /// Directly, because parity has failed.
    PlainAtLast,
    /// By parity, because the sector could not be read.
    OthersAtLast,
    /// By parity with other members, because a member of the first choice could not be read either.
    OthersAgain,
    /// Not at all.
    None,
}

impl Way {
    /// Whether parity computes the sector.
    fn is_by_others(self) -> bool {
        matches!(self, Way::Others | Way::OthersAtLast | Way::OthersAgain)
    }

    /// Whether parity computes the sector because it could not be read.
    fn mends(self) -> bool {
        matches!(self, Way::OthersAtLast | Way::OthersAgain)
    }
}

/// A sector that a read needs, on a drive with strides and faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Wanted {
    pub sector: Ppa,
    pub way: Way,
    /// The member of its stride that is not read when parity computes the sector.
    pub without: u32,
    /// Whether a repeated read of it is still to be sent.
    pub is_due: bool,
}

/// The sectors that reads need, by request. Empty on a drive without strides or without faults.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct AllWanted {
    of_host: Vec<Vec<Wanted>>,
    of_collection: Vec<Vec<Wanted>>,
}

impl AllWanted {
    /// The sectors of a request.
    #[inline]
    fn of(&self, reader: Reader) -> &[Wanted] {
        let (table, id) = match reader {
            Reader::Host(id) => (&self.of_host, id),
            Reader::Collection(id) => (&self.of_collection, id),
        };
        table.get(id as usize).map_or(&[], Vec::as_slice)
    }

    /// The sectors of a request, mutable.
    fn of_mut(&mut self, reader: Reader) -> &mut Vec<Wanted> {
        let (table, id) = match reader {
            Reader::Host(id) => (&mut self.of_host, id as usize),
            Reader::Collection(id) => (&mut self.of_collection, id as usize),
        };
        if table.len() <= id {
            table.resize_with(id + 1, Vec::new);
        }
        &mut table[id]
    }

    /// Record a sector of a request and whether it is read directly or by parity.
    #[inline]
    pub(in super::super) fn remember(
        &mut self,
        shape: &Shape,
        reader: Reader,
        sector: Ppa,
        others: Option<&Others>,
    ) {
        if shape.remembers_reads() {
            let (way, without) = others.map_or((Way::Plain, 0), |others| (Way::Others, others.without));
            self.of_mut(reader).push(Wanted { sector, way, without, is_due: false });
        }
    }
}

impl Shape {
    /// Whether the sectors of reads are recorded. They are if reads can fail and strides can compute sectors.
    #[inline]
    pub(in super::super) fn remembers_reads(&self) -> bool {
        self.strides.is_some() && self.faults.is_some()
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// If the read of a sector has failed, choose the next way to read it. Returns whether no way is left.
    fn turn(&mut self, reader: Reader, at: usize, unread: &[Ppa]) -> bool {
        let wanted = self.state.wanted.of(reader)[at];
        let Wanted { sector, way, .. } = wanted;
        let failed = match way.is_by_others() {
            true => {
                self.others_without(sector, wanted.without).is_none_or(|others| others.has_any_of(unread))
            }
            false => unread.contains(&sector),
        };
        if wanted.is_due || !failed {
            return false;
        }
        let way = match way {
            Way::Others => Way::PlainAtLast,
            Way::Plain if self.others(sector).is_some() => Way::OthersAtLast,
            Way::PlainAtLast | Way::OthersAtLast if self.can_compute(sector) => Way::OthersAgain,
            _ => Way::None,
        };
        self.state.wanted.of_mut(reader)[at] = Wanted { way, is_due: way != Way::None, ..wanted };
        way == Way::None
    }

    /// Some sectors could not be read. Choose another way for each sector of the request that depends on them.
    /// Returns whether a sector has no way left.
    #[cold]
    pub(in super::super) fn try_otherwise(&mut self, reader: Reader, unread: &[Ppa]) -> bool {
        let mut lost = false;
        for at in 0..self.state.wanted.of(reader).len() {
            lost |= self.turn(reader, at, unread);
        }
        lost
    }

    /// Whether a request must repeat reads after its operations have ended.
    #[inline]
    pub(in super::super) fn reads_again(&self, reader: Reader) -> bool {
        self.state.wanted.of(reader).iter().any(|wanted| wanted.is_due)
    }

    /// Build the operations of the repeated reads of a request.
    fn order_again(&mut self, reader: Reader, of: FlashCommand) -> Vec<OpId> {
        let mut ops = Vec::new();
        for at in 0..self.state.wanted.of(reader).len() {
            let wanted = self.state.wanted.of(reader)[at];
            if !wanted.is_due {
                continue;
            }
            self.state.wanted.of_mut(reader)[at].is_due = false;
            if !wanted.way.is_by_others() {
                self.add_read(&mut ops, reader.occupant(), reader.work(), wanted.sector, of);
                continue;
            }
            // The line still has its parity, because it is closed.
            let Some(others) = self.others(wanted.sector) else { continue };
            self.state.wanted.of_mut(reader)[at].without = others.without;
            self.add_rebuild(&mut ops, reader, wanted.sector, &others, of);
        }
        ops
    }

    /// Send the repeated reads of a host read.
    #[cold]
    pub(in super::super) fn read_again(&mut self, id: u32) {
        let serial = self.state.interface.requests[id].host.index;
        let of = FlashCommand { tag: id, serial, ..FlashCommand::BLANK };
        let ops = self.order_again(Reader::Host(id), of);
        let r = &mut self.state.interface.requests[id];
        r.host.ledger.charge(Cause::HOST_LATENCY, self.shape.host.submit_latency.0);
        r.remaining = ops.len() as u32;
        self.state.interface.observe(&mut self.flash, self.state.now, id, RequestStep::ReadsAgain);
        if ops.is_empty() {
            self.state.interface.requests[id].host.status = Status::MediaError;
            return self.state.complete(&self.shape, &mut self.flash, id);
        }
        self.state.gate.reads_sent(&self.shape, &self.flash, &ops);
        self.state.interface.pass_reads(&self.flash, &mut self.state.timers, self.state.now, &ops);
    }

    /// Remove the records of a host read. Queue the sectors that were computed because they could not be read, to
    /// write them again.
    pub(in super::super) fn forget_wanted(&mut self, host: Reader) {
        let all = std::mem::take(self.state.wanted.of_mut(host));
        for Wanted { sector, .. } in all.into_iter().filter(|wanted| wanted.way.mends()) {
            let lpn = self.map.owner(sector);
            if lpn != Lpn::NONE && self.map.is_valid(sector) && self.map.lookup(lpn) == Mapping::Flash(sector)
            {
                self.write_again(lpn, sector);
            }
        }
        self.admit();
    }

    /// Some sectors of a request of collection could not be read. Sectors that parity can compute are read again.
    /// Returns the others.
    #[cold]
    pub(in super::super) fn mend_or_leave(&mut self, request: u32, unread: Vec<Ppa>) -> Vec<Ppa> {
        let reader = Reader::Collection(request);
        let mut left = Vec::new();
        // Sectors that parity could not compute either.
        for at in 0..self.state.wanted.of(reader).len() {
            let wanted = self.state.wanted.of(reader)[at];
            if wanted.way.mends() && self.turn(reader, at, &unread) {
                left.push(wanted.sector);
            }
        }
        for sector in unread {
            // A sector that was already computed may have been read again as a member for another sector.
            let known = self.state.wanted.of(reader).iter().any(|wanted| wanted.sector == sector);
            if known || !self.state.collector.is_of_request(request, sector) {
                continue;
            }
            if self.others(sector).is_some() {
                let way = Way::OthersAtLast;
                self.state.wanted.of_mut(reader).push(Wanted { sector, way, without: 0, is_due: true });
            } else {
                left.push(sector);
            }
        }
        left
    }

    /// Send the repeated reads of a request of collection.
    #[cold]
    pub(in super::super) fn move_again(&mut self, request: u32) {
        let ops = self.order_again(Reader::Collection(request), FlashCommand::BLANK);
        self.state.counters.gc_reads += ops.len() as u64;
        self.moves_sent(request, ops.len() as u32);
        if !ops.is_empty() {
            self.state.interface.pass_reads(&self.flash, &mut self.state.timers, self.state.now, &ops);
        }
    }

    /// All reads of a request of collection have arrived. Compute its sectors that could not be read.
    #[cold]
    pub(in super::super) fn mended(&mut self, request: u32) {
        let all = std::mem::take(self.state.wanted.of_mut(Reader::Collection(request)));
        for Wanted { sector, without, .. } in all.into_iter().filter(|wanted| wanted.way.mends()) {
            if let (true, Some(others)) = (M::HOLDS_DATA, self.others_without(sector, without)) {
                self.data.mended(&self.shape, &self.state, sector, &others);
            }
        }
    }

    /// Whether parity can compute a sector: no other member of its stride is known to be unreadable.
    #[cold]
    pub(in super::super) fn can_compute(&self, sector: Ppa) -> bool {
        self.others(sector).is_some_and(|others| {
            !others.sectors().iter().any(|&other| self.state.failures.is_unreadable(&self.shape, other))
        })
    }
}
