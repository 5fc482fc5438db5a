//! The purposes of flash operations.

crate::flash::owners! {
    /// The part of the controller that handles the end of an operation, and its piece of work.
    pub(super) enum Work {
        /// A host read.
        Request(id),
        /// A write unit: its program, or a read that it needs first.
        WriteUnit(id),
        /// The collection of a lane.
        Collection(lane),
        /// The flush of a stripe: a read that its parity needs.
        Stripe(job),
        /// The scrubbing of a lane.
        Scrub(lane),
        /// A reconstruction: a read that only the reconstruction needs.
        Rebuild(id),
        /// A unit that a collection could not read: a read of another member of its stripe.
        Mend(id),
    }
}
