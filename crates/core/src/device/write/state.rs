//! The state of host writes on their way to flash.

use super::programs::Programs;
use super::queues::WriteQueues;
use super::ready_dies::ReadyDies;
use super::write_unit::{Stalled, WriteUnit};
use crate::address::{Lpn, Ppa};
use crate::containers::slab::Slab;
use crate::device::limits::Limits;
use crate::device::shape::Shape;
use crate::ftl::buffer::Buffer;
use crate::policy::buffer::QueueLimit;
use crate::policy::placement::LaneLoad;
use serde::{Deserialize, Serialize};

/// The source of the data of a mapping unit in a write unit. All units of a write unit have the same kind of source, so
/// its handler asks for that kind directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::device) enum Source {
    /// Rows of the host: this slot of the write buffer.
    Slot(u32),
    /// Members of stripes: the source in this entry of `StripeState::members`.
    Member(u32),
    /// Rows of collections: this place on flash.
    Flash(Ppa),
}

impl Source {
    /// The slot of a unit in a row of the host.
    #[inline]
    pub fn slot(self) -> u32 {
        let Source::Slot(slot) = self else { panic!("{self:?} is no slot") };
        slot
    }

    /// The index of a member of a stripe.
    #[inline]
    pub fn member(self) -> usize {
        let Source::Member(member) = self else { panic!("{self:?} is no member of a stripe") };
        member as usize
    }

    /// The place from which a collection moves a unit.
    #[inline]
    pub fn flash(self) -> Ppa {
        let Source::Flash(ppa) = self else { panic!("{self:?} is no place on flash") };
        ppa
    }
}

/// The write buffer, and the write units that have left it.
#[derive(Serialize, Deserialize)]
pub(in crate::device) struct Writes {
    pub buffer: Buffer,
    /// The writes that wait for a die or lane whose waiting data are limited.
    pub queues: WriteQueues,
    /// Dies with a complete group, if groups of a die are flushed together.
    pub ready: ReadyDies,
    /// Write units under way, those of collections included.
    pub units: Slab<WriteUnit>,
    /// For each write unit, its logical units and the sources of their data.
    pub members: Vec<(Lpn, Source)>,
    /// Write units that wait for a free block.
    pub stalled: Stalled,
    /// By lane: host programs queued or under way, and whether the lane was found without room.
    pub lane_load: Vec<LaneLoad>,
    /// By lane: number of host write units placed there.
    pub lane_written: Vec<u64>,
    /// Rows programmed by lane.
    pub programs: Programs,
}

impl Writes {
    pub fn new(shape: &Shape, limits: &Limits, queue_limit: Option<QueueLimit>) -> Writes {
        let depth = shape.host.queue_depth;
        let lanes = shape.layout.lanes as usize;
        let units = limits.write_units;
        let buffer = Buffer::new(shape.buffer_slots, shape.layout.unit_bytes, limits.lists, depth);
        Writes {
            buffer: buffer.with_aside(limits.aside),
            queues: WriteQueues::new(shape, queue_limit, depth),
            ready: ReadyDies::new(shape.layout.lanes / shape.lanes_of_die()),
            units: Slab::new(units as usize, WriteUnit::blank()),
            members: vec![(Lpn(0), Source::Slot(0)); (units * shape.layout.units_per_row) as usize],
            stalled: Stalled::new(limits.lists, units),
            lane_load: vec![LaneLoad::default(); lanes],
            lane_written: vec![0; lanes],
            programs: Programs::new(shape.stripes.as_ref(), shape.layout.lanes),
        }
    }
}
