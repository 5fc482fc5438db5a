//! The counters of the drive.

use serde::{Deserialize, Serialize};

/// Totals since the drive was made, or since they were last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Mapping units programmed for the host.
    pub programs_user: u64,
    /// Mapping units programmed by collection.
    pub programs_gc: u64,
    /// Mapping units of parity programmed for host writes.
    pub programs_parity: u64,
    /// Mapping units of data programmed only because their stripe moved, their plane failed, or their extent
    /// was emptied for levelling.
    pub programs_wear: u64,
    /// Mapping units of data programmed only because of their retention age.
    pub programs_refresh: u64,
    /// Mapping units programmed by folds of the SLC region.
    pub programs_fold: u64,
    /// Mapping units programmed for the host in the SLC region. `programs_user` contains them.
    pub slc_programs: u64,
    /// Mapping units of padding programmed in the SLC region. `programs_pad` contains them.
    pub slc_pads: u64,
    /// Extents of the SLC region erased.
    pub slc_erases: u64,
    /// Mapping units of rows whose program has failed, padding included.
    pub programs_failed: u64,
    /// Rows whose program has failed.
    pub program_failures: u64,
    /// Collections whose victim had a block that could not be erased.
    pub erase_failures: u64,
    /// Flash reads that could not be decoded on some plane.
    pub read_failures: u64,
    /// Host reads that ended without data.
    pub media_errors: u64,
    /// Extents whose bad blocks were replaced by spare blocks.
    pub blocks_replaced: u64,
    /// Mapping units programmed only to fill a write unit.
    pub programs_pad: u64,
    /// Mapping units of the translation layer's own records: pblk's at the start and end of lines.
    pub programs_metadata: u64,
    /// Rows programmed by all dies, for the check that the other counters add up.
    pub rows_programmed: u64,
    /// Mapping units written by the host (an overwrite in the buffer counts).
    pub host_units_written: u64,
    /// Collections completed.
    pub collections: u64,
    /// Sum of the durations of all collections, each from its start to the end of its erase, ns.
    pub collecting_ns: u64,
    /// Duration of the longest collection, ns.
    pub longest_collection_ns: u64,
    /// Collections begun to level the erases of a lane.
    pub collections_for_wear: u64,
    /// Collections begun because of the retention age of their victim's data.
    pub collections_for_refresh: u64,
    /// Extents erased.
    pub erases: u64,
    /// Blocks of these extents whose erase was skipped: bad ones, and those in holes.
    pub blocks_spared: u64,
    /// Flash reads for host reads (one for each row touched).
    pub flash_reads: u64,
    /// Flash reads for read-modify-writes.
    pub rmw_reads: u64,
    /// Flash reads that parity needed.
    pub parity_reads: u64,
    /// Flash reads of collections.
    pub gc_reads: u64,
    /// Flash reads of folds of the SLC region.
    pub fold_reads: u64,
    /// Flash reads of the translation layer's own records.
    pub metadata_reads: u64,
    /// Mapping units of host reads served from the write buffer.
    pub buffer_hits: u64,
    /// Mapping units of host reads that were never written.
    pub unmapped_reads: u64,
    /// Host reads.
    pub reads: u64,
    /// Host reads that waited for a collection directly: its operation on their die or
    /// channel, or its hold.
    pub gc_blocked_reads: u64,
    /// Host reads that no collection delayed directly, and that queued at a die behind a host
    /// operation that a collection had delayed.
    pub queued_behind_reads: u64,
    /// Host reads that no collection delayed directly, and that waited in the host while the device
    /// queue was full and held a command that a collection had delayed: the queue-blocked I/Os of
    /// FAST'17, Figure 7.
    pub kept_out_reads: u64,
    /// Host reads with at least one unit computed from the rest of its stripe.
    pub rebuilt_reads: u64,
    /// Units computed in this way.
    pub rebuilt_units: u64,
    /// Flash reads issued only for such computations.
    pub rebuild_reads: u64,
    /// Units of host reads that waited for a program or an erase and could not be computed, because a place in their
    /// stripe has no parity.
    pub unprotected_units: u64,
    /// Units that collections could not read and that were computed.
    pub mended_units: u64,
    /// Stripes rewritten because a unit of them was on a dead plane or unreadable.
    pub stripes_rewritten: u64,
    /// Flash reads of flushes that move a stripe, or rewrite a unit of a dead plane.
    pub wear_reads: u64,
    /// Stripes shifted inside their group.
    pub shifts: u64,
    /// Stripes migrated to another group.
    pub migrations: u64,
    /// With rotation: collections that began while another lane of their group was collecting.
    pub rotation_broken: u64,
    /// Largest number of lanes of one group that collected at the same time.
    pub most_in_group: u64,
    /// Flash reads of scrubbing.
    pub scrub_reads: u64,
    /// Mapping units trimmed.
    pub trimmed: u64,
    /// Mapping units of TRIM commands that were kept, because the parity of their stripe covers
    /// them.
    pub trims_kept: u64,
}

impl Counters {
    /// Mapping units programmed for any reason.
    pub fn programs(&self) -> u64 {
        self.programs_user
            + self.programs_gc
            + self.programs_parity
            + self.programs_wear
            + self.programs_refresh
            + self.programs_fold
            + self.programs_pad
            + self.programs_metadata
            + self.programs_failed
    }
}
