//! What the drive counts.

use serde::{Deserialize, Serialize};

/// Totals since the drive began (or since [`Counters::default`] was put in place).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Mapping units programmed for the host.
    pub programs_user: u64,
    /// Mapping units programmed by collection.
    pub programs_gc: u64,
    /// Mapping units of parity programmed for host writes.
    pub programs_parity: u64,
    /// Mapping units of data programmed only because their stripe moved, or their plane failed.
    pub programs_wear: u64,
    /// Mapping units programmed only to fill a write unit.
    pub programs_pad: u64,
    /// Rows programmed by all dies, for the check that these add up.
    pub rows_programmed: u64,
    /// Mapping units written by the host (an overwrite in the buffer counts).
    pub host_units_written: u64,
    /// Collections completed.
    pub collections: u64,
    /// From the start of each to the end of its erase, together, ns …
    pub collecting_ns: u64,
    /// … and at most, ns.
    pub longest_collection_ns: u64,
    /// Extents erased.
    pub erases: u64,
    /// Flash reads for host reads (one a row touched).
    pub flash_reads: u64,
    /// Flash reads for read-modify-writes.
    pub rmw_reads: u64,
    /// Flash reads that parity needed.
    pub parity_reads: u64,
    /// Flash reads of collections.
    pub gc_reads: u64,
    /// Mapping units of host reads served from the write buffer.
    pub buffer_hits: u64,
    /// Mapping units of host reads that were never written.
    pub unmapped_reads: u64,
    /// Host reads.
    pub reads: u64,
    /// Host reads that waited for a collection directly: its operation on their die or
    /// channel, or its hold.
    pub gc_blocked_reads: u64,
    /// Host reads that met no collection themselves, and queued at a die behind a host
    /// operation that had.
    pub queued_behind_reads: u64,
    /// Host reads that met no collection themselves, and waited in the host while the device
    /// queue was full and held a command that had: the queue-blocked I/Os of FAST'17, Figure 7.
    pub kept_out_reads: u64,
    /// Host reads of which some unit was computed from the rest of its stripe.
    pub rebuilt_reads: u64,
    /// Units so computed …
    pub rebuilt_units: u64,
    /// … and flash reads made for that alone.
    pub rebuild_reads: u64,
    /// Stripes rewritten since a unit of them lay on a failed plane.
    pub stripes_rewritten: u64,
    /// Flash reads of flushes that move a stripe, or a unit of a failed plane.
    pub wear_reads: u64,
    /// Stripes shifted inside their group …
    pub shifts: u64,
    /// … and migrated to another.
    pub migrations: u64,
    /// Collections that began beside another of their group.
    pub rotation_broken: u64,
    /// Most lanes of one group that collected at once.
    pub most_in_group: u64,
    /// Flash reads of scrubbing.
    pub scrub_reads: u64,
    /// Mapping units trimmed.
    pub trimmed: u64,
    /// Mapping units of a TRIM that were kept, since the parity of their stripe covers them.
    pub trims_kept: u64,
}

impl Counters {
    /// Mapping units programmed for whatever reason.
    pub fn programs(&self) -> u64 {
        self.programs_user + self.programs_gc + self.programs_parity + self.programs_wear + self.programs_pad
    }
}
