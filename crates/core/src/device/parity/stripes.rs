//! The stripes that are dirty or being flushed, and the jobs that flush them (`write::stripe`).

use crate::address::{Lpn, Ppa};
use crate::containers::NONE;
use crate::containers::list::{Link, List};
use crate::containers::slab::Slab;
use crate::flash::{DieTimes, SLOTS};
use crate::ftl::dirty_stripes::DirtyStripes;
use crate::ftl::stripes::Stripes;
use serde::{Deserialize, Serialize};
use tailcut_units::Ledger;

/// The method by which a job computes the new parity. All methods use the units that the job writes; they differ in the
/// units that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::device) enum Basis {
    /// Read the old parity and the old copies of the written units.
    ReadModifyWrite,
    /// Read the rest of the stripe.
    ReconstructWrite,
    /// Read the rest of the stripe and the old parity, but not the old copy of this unit. The unit is written only in
    /// part, and its old copy is lost or blocked by a collection, so the old copy is computed from all others.
    ReconstructAround(Lpn),
}

/// The flush of one stripe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct Job {
    /// The entry of the stripe among the dirty stripes.
    pub entry: u32,
    /// Number of units written; the parity is the last.
    pub members: u32,
    /// The method of computing the new parity.
    pub basis: Basis,
    /// Number of reads under way whose data the parity needs.
    pub reads: u32,
    /// Number of programs that have not ended.
    pub programs: u32,
    /// Whether the job rewrites a lost unit.
    pub rewrites: bool,
    /// Whether one of the reads for the parity has failed.
    pub failed: bool,
    /// Whether the job recomputes the parity of a broken stripe from its data.
    pub repairs: bool,
    /// The group from which this flush moves the stripe, or `NONE`.
    pub left: u32,
    /// When the data for the parity were complete, ns.
    pub ready: u64,
    /// The lane that had no free row for the job.
    pub lacking: u32,
    /// The account of that lane's die at the beginning of the wait.
    pub seen: DieTimes,
    /// What the die did during the wait, by cause.
    pub stalled: Ledger,
    /// Latency by cause before the programs were queued.
    pub ledger: Ledger,
}

/// One member of a job.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::device) struct Member {
    /// The logical unit.
    pub unit: Lpn,
    /// Its slot in the write buffer; `NONE` for parity.
    pub slot: u32,
    /// The copy that the old parity covers; `NONE` if there is none. For the parity itself it is `NONE` too; its old
    /// copy is in the stripe's entry.
    pub old_ppa: Ppa,
    /// Its new address.
    pub ppa: Ppa,
    /// Whether it has been programmed there. The slot then no longer belongs to the job.
    pub done: bool,
    /// Whether the slot still lacks bytes, which must be read from the old copy or computed from the other members.
    pub short: bool,
}

/// The state of stripes that are dirty or being flushed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct StripeState {
    pub dirty: DirtyStripes,
    pub jobs: Slab<Job>,
    /// The members of each job.
    pub members: Vec<Member>,
    width: u32,
    /// Number of jobs that wait for rows.
    pub waiting: u32,
    /// The jobs that wait for rows, by group.
    pub stalled: Vec<List>,
    /// The links of these lists, by job.
    pub links: Vec<Link>,
}

impl StripeState {
    /// Create the state for a buffer of `slots` slots. It is empty on a drive without stripes.
    pub fn new(stripes: Option<&Stripes>, slots: u32, lanes: u32) -> StripeState {
        let (width, groups) = stripes.map_or((1, 0), |s| (s.width, s.groups));
        let jobs = StripeState::most_jobs(stripes, slots, lanes);
        let entries = StripeState::most_entries(stripes, slots, lanes);
        let blank = Job {
            entry: NONE,
            members: 0,
            basis: Basis::ReadModifyWrite,
            reads: 0,
            programs: 0,
            rewrites: false,
            failed: false,
            repairs: false,
            left: NONE,
            ready: 0,
            lacking: NONE,
            seen: [0; SLOTS],
            stalled: Ledger::new(),
            ledger: Ledger::new(),
        };
        StripeState {
            dirty: DirtyStripes::new(entries, groups, width - 1),
            jobs: Slab::new(jobs as usize, blank),
            members: vec![Member::default(); (jobs * width) as usize],
            width,
            waiting: 0,
            stalled: vec![List::default(); groups as usize],
            links: vec![Link::default(); jobs as usize],
        }
    }

    /// Largest number of stripes flushed at once: enough to keep many of them busy on every plane.
    pub fn most_jobs(stripes: Option<&Stripes>, slots: u32, lanes: u32) -> u32 {
        // A smaller number limits memory: operations are reserved for every unit of each stripe.
        stripes.map_or(0, |s| slots.min(64 * lanes).min((1 << 17) / s.width))
    }

    /// Largest number of stripes that are dirty or being flushed.
    pub fn most_entries(stripes: Option<&Stripes>, slots: u32, lanes: u32) -> u32 {
        if stripes.is_some() { slots + StripeState::most_jobs(stripes, slots, lanes) } else { 0 }
    }

    /// The members of a job.
    pub fn members_of(&self, job: u32) -> std::ops::Range<usize> {
        let first = (job * self.width) as usize;
        first..first + self.jobs[job].members as usize
    }

    /// The index of this unit among the members of a job (`NONE` means no job).
    #[inline]
    pub(in crate::device) fn member_of(&self, job: u32, unit: Lpn) -> Option<usize> {
        if job == NONE {
            return None;
        }
        self.members_of(job).find(|&i| self.members[i].unit == unit)
    }

    /// The slot in which a job holds a unit; `NONE` if the job does not write the unit.
    pub(in crate::device) fn slot_in_job(&self, job: u32, unit: Lpn) -> u32 {
        self.member_of(job, unit).map_or(NONE, |i| self.members[i].slot)
    }
}
