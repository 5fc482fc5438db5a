//! Sectors that cannot be read and whose stride gives them.
//!
//! When all reads of a command have ended and some have failed, a second command goes to the device: for a sector that
//! could not be read where it lies it reads the others of its stride, and for one whose others failed it reads
//! the sector itself. If this fails too and two parities let it be computed from others again, there is a third
//! command. What none of them gives is lost. A sector that the host got in this way is written again: it enters the ring like
//! one of collection.

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

/// Whose command it is that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) enum Reader {
    /// A request of the host.
    Host(u32),
    /// A request of collection.
    Collection(u32),
}

impl Reader {
    /// Whom the operations of its commands serve.
    pub fn work(self) -> Work {
        match self {
            Reader::Host(id) => Work::Request(id),
            Reader::Collection(id) => Work::Moved(id),
        }
    }

    /// What its operations are to the flash.
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
    /// Where it lies; or else from the others.
    Plain,
    /// From the others, because its LUN is avoided; or else where it lies.
    Others,
    /// Where it lies, because the others have failed.
    PlainAtLast,
    /// From the others, because it could not be read.
    OthersAtLast,
    /// From others than before, because it could not be read, and one of those before neither.
    OthersAgain,
    /// In no way.
    None,
}

impl Way {
    /// Whether the others are read.
    fn is_by_others(self) -> bool {
        matches!(self, Way::Others | Way::OthersAtLast | Way::OthersAgain)
    }

    /// Whether the sector is computed because it could not be read.
    fn mends(self) -> bool {
        matches!(self, Way::OthersAtLast | Way::OthersAgain)
    }
}

/// A sector that a command reads, on a drive with strides that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Wanted {
    /// The sector.
    pub sector: Ppa,
    /// How it is read.
    pub way: Way,
    /// The member of its stride without which it is computed from the others.
    pub without: u32,
    /// Whether this way has failed, or is not begun.
    pub is_due: bool,
}

/// The sectors that commands read, by command. Empty on a drive without strides, or that cannot fail.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct AllWanted {
    of_host: Vec<Vec<Wanted>>,
    of_collection: Vec<Vec<Wanted>>,
}

impl AllWanted {
    /// Those of a command.
    #[inline]
    fn of(&self, reader: Reader) -> &[Wanted] {
        let (table, id) = match reader {
            Reader::Host(id) => (&self.of_host, id),
            Reader::Collection(id) => (&self.of_collection, id),
        };
        table.get(id as usize).map_or(&[], Vec::as_slice)
    }

    /// The same, to change them.
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

    /// Remember how a sector is read for a command at first: where it lies, or from others.
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
    /// Whether the sectors of reads are remembered, because some may fail and strides may give them.
    #[inline]
    pub(in super::super) fn remembers_reads(&self) -> bool {
        self.strides.is_some() && self.faults.is_some()
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// Let a sector of a command be read in another way, if the one that was tried has failed and another is left. Returns
    /// whether none is.
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

    /// Sectors of an operation could not be read. Whatever needs them for a command is read in another way, if there is
    /// one. Returns whether some sector is not to be had.
    #[cold]
    pub(in super::super) fn try_otherwise(&mut self, reader: Reader, unread: &[Ppa]) -> bool {
        let mut lost = false;
        for at in 0..self.state.wanted.of(reader).len() {
            lost |= self.turn(reader, at, unread);
        }
        lost
    }

    /// Whether a command whose operations have all ended reads again.
    #[inline]
    pub(in super::super) fn reads_again(&self, reader: Reader) -> bool {
        self.state.wanted.of(reader).iter().any(|wanted| wanted.is_due)
    }

    /// Build the second command of a command: the operations for what is due.
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
            // Its line cannot have lost its parity since: it is closed.
            let Some(others) = self.others(wanted.sector) else { continue };
            self.state.wanted.of_mut(reader)[at].without = others.without;
            self.add_rebuild(&mut ops, reader, wanted.sector, &others, of);
        }
        ops
    }

    /// Read again for a host read.
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

    /// Forget what a host read has read. The sectors that it got from others because they could not be read are to be
    /// written again.
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

    /// Sectors of a read of collection could not be read. Those that their strides give are read from there; the others are
    /// returned.
    #[cold]
    pub(in super::super) fn mend_or_leave(&mut self, request: u32, unread: Vec<Ppa>) -> Vec<Ppa> {
        let reader = Reader::Collection(request);
        let mut left = Vec::new();
        // What the others of a stride did not give either.
        for at in 0..self.state.wanted.of(reader).len() {
            let wanted = self.state.wanted.of(reader)[at];
            if wanted.way.mends() && self.turn(reader, at, &unread) {
                left.push(wanted.sector);
            }
        }
        for sector in unread {
            // One that has had its second chance may be read once more for another.
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

    /// Read again for a request of collection.
    #[cold]
    pub(in super::super) fn move_again(&mut self, request: u32) {
        let ops = self.order_again(Reader::Collection(request), FlashCommand::BLANK);
        self.state.counters.gc_reads += ops.len() as u64;
        self.moves_sent(request, ops.len() as u32);
        if !ops.is_empty() {
            self.state.interface.pass_reads(&self.flash, &mut self.state.timers, self.state.now, &ops);
        }
    }

    /// The sectors of a request of collection that strides gave are there.
    #[cold]
    pub(in super::super) fn mended(&mut self, request: u32) {
        let all = std::mem::take(self.state.wanted.of_mut(Reader::Collection(request)));
        for Wanted { sector, without, .. } in all.into_iter().filter(|wanted| wanted.way.mends()) {
            if let (true, Some(others)) = (M::HOLDS_DATA, self.others_without(sector, without)) {
                self.data.mended(&self.shape, &self.state, sector, &others);
            }
        }
    }

    /// Whether the stride of a sector gives it: none of the others is known to be unreadable.
    #[cold]
    pub(in super::super) fn can_compute(&self, sector: Ppa) -> bool {
        self.others(sector).is_some_and(|others| {
            !others.sectors().iter().any(|&other| self.state.failures.is_unreadable(&self.shape, other))
        })
    }
}
