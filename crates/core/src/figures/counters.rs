//! The counters of the drive.

use serde::{Deserialize, Serialize};

/// Define the counters. A class of programs has its name in output, too.
macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident $($class:literal)?;)+) => {
        /// Totals since the drive was made, or since they were last reset.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Counters {
            $($(#[doc = $doc])+ pub $name: u64,)+
        }

        impl Counters {
            /// The name of each counter, and what it counts.
            pub const NAMES: [(&str, &str); [$(stringify!($name)),+].len()] =
                [$((stringify!($name), concat!($($doc),+).trim_ascii_start())),+];

            /// The classes of programs: each mapping unit that was programmed is in one.
            pub const CLASSES: [&str; [$($($class,)?)+].len()] = [$($($class,)?)+];

            /// All counters, in the order of [`NAMES`](Counters::NAMES).
            pub fn all(&self) -> [(&'static str, u64); Counters::NAMES.len()] {
                [$((stringify!($name), self.$name)),+]
            }

            /// Mapping units programmed, by class, in the order of [`CLASSES`](Counters::CLASSES).
            pub fn programs_by_class(&self) -> [(&'static str, u64); Counters::CLASSES.len()] {
                [$($(($class, self.$name),)?)+]
            }
        }
    };
}

counters! {
    /// Mapping units programmed for the host.
    programs_user "user";
    /// Mapping units programmed by collection.
    programs_gc "gc";
    /// Mapping units of parity programmed for host writes.
    programs_parity "parity";
    /// Mapping units of data programmed only because their stripe moved, their plane failed, or their extent
    /// was emptied for levelling.
    programs_wear "wear";
    /// Mapping units of data programmed only because of their retention age.
    programs_refresh "refresh";
    /// Mapping units programmed by folds of the SLC region.
    programs_fold "fold";
    /// Mapping units programmed for the host in the SLC region. `programs_user` contains them.
    slc_programs;
    /// Mapping units of padding programmed in the SLC region. `programs_pad` contains them.
    slc_pads;
    /// Extents of the SLC region erased.
    slc_erases;
    /// Rows whose program has failed.
    program_failures;
    /// Collections whose victim had a block that could not be erased.
    erase_failures;
    /// Flash reads that could not be decoded on some plane.
    read_failures;
    /// Host reads that ended without data.
    media_errors;
    /// Extents whose bad blocks were replaced by spare blocks.
    blocks_replaced;
    /// Mapping units programmed only to fill a write unit.
    programs_pad "pad";
    /// Mapping units of the translation layer's own records: pblk's at the start and end of lines.
    programs_metadata "metadata";
    /// Mapping units of rows whose program has failed, padding included.
    programs_failed "failed";
    /// Rows programmed by all dies, for the check that the other counters add up.
    rows_programmed;
    /// Mapping units written by the host (an overwrite in the buffer counts).
    host_units_written;
    /// Collections completed.
    collections;
    /// Sum of the durations of all collections, each from its start to the end of its erase, ns.
    collecting_ns;
    /// Duration of the longest collection, ns.
    longest_collection_ns;
    /// Collections begun to level the erases of a lane.
    collections_for_wear;
    /// Collections begun because of the retention age of their victim's data.
    collections_for_refresh;
    /// Extents erased.
    erases;
    /// Blocks of these extents whose erase was skipped: bad ones, and those in holes.
    blocks_spared;
    /// Flash reads for host reads (one for each row touched).
    flash_reads;
    /// Flash reads for read-modify-writes.
    rmw_reads;
    /// Flash reads that parity needed.
    parity_reads;
    /// Flash reads of collections.
    gc_reads;
    /// Flash reads of folds of the SLC region.
    fold_reads;
    /// Flash reads of the translation layer's own records.
    metadata_reads;
    /// Mapping units of host reads served from the write buffer.
    buffer_hits;
    /// Mapping units of host reads that were never written.
    unmapped_reads;
    /// Host reads.
    reads;
    /// Host reads that waited for a collection directly: its operation on their die or
    /// channel, or its hold.
    gc_blocked_reads;
    /// Host reads that no collection delayed directly, and that queued at a die behind a host
    /// operation that a collection had delayed.
    queued_behind_reads;
    /// Host reads that no collection delayed directly, and that waited in the host while the device
    /// queue was full and held a command that a collection had delayed: the queue-blocked I/Os of
    /// FAST'17, Figure 7.
    kept_out_reads;
    /// Host reads with at least one unit computed from the rest of its stripe.
    rebuilt_reads;
    /// Units computed in this way.
    rebuilt_units;
    /// Flash reads issued only for such computations.
    rebuild_reads;
    /// Units of host reads that waited for a program or an erase and could not be computed, because a place in their
    /// stripe has no parity.
    unprotected_units;
    /// Units that collections could not read and that were computed.
    mended_units;
    /// Stripes rewritten because a unit of them was on a dead plane or unreadable.
    stripes_rewritten;
    /// Flash reads of flushes that move a stripe, or rewrite a unit of a dead plane.
    wear_reads;
    /// Stripes shifted inside their group.
    shifts;
    /// Stripes migrated to another group.
    migrations;
    /// With rotation: collections that began while another lane of their group was collecting.
    rotation_broken;
    /// Largest number of lanes of one group that collected at the same time.
    most_in_group;
    /// Flash reads of scrubbing.
    scrub_reads;
    /// Mapping units trimmed.
    trimmed;
    /// Mapping units of TRIM commands that were kept, because the parity of their stripe covers
    /// them.
    trims_kept;
}

impl Counters {
    /// Mapping units programmed for any reason.
    pub fn programs(&self) -> u64 {
        self.programs_by_class().iter().map(|(_, n)| n).sum()
    }
}
