//! What the controller does flash operations for.

use crate::flash::Owner;

/// The part of the controller that handles the end of an operation, and its piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// A host read.
    Request(u32),
    /// A write unit: its program, or a read that it needs first.
    WriteUnit(u32),
    /// The collection of a lane.
    Collection(u32),
    /// The flush of a stripe: a read that its parity needs.
    Stripe(u32),
    /// The scrubbing of a lane.
    Scrub(u32),
    /// A reconstruction: a read for it alone.
    Rebuild(u32),
    /// A unit that a collection could not read: a read of another member of its stripe.
    Mend(u32),
}

impl From<Work> for Owner {
    #[inline]
    fn from(work: Work) -> Owner {
        let (part, id) = match work {
            Work::Request(id) => (0, id),
            Work::WriteUnit(id) => (1, id),
            Work::Collection(id) => (2, id),
            Work::Stripe(id) => (3, id),
            Work::Scrub(id) => (4, id),
            Work::Rebuild(id) => (5, id),
            Work::Mend(id) => (6, id),
        };
        Owner { part, id }
    }
}

impl From<Owner> for Work {
    #[inline]
    fn from(Owner { part, id }: Owner) -> Work {
        match part {
            0 => Work::Request(id),
            1 => Work::WriteUnit(id),
            2 => Work::Collection(id),
            3 => Work::Stripe(id),
            4 => Work::Scrub(id),
            5 => Work::Rebuild(id),
            6 => Work::Mend(id),
            _ => unreachable!("the controller has no part {part}"),
        }
    }
}
