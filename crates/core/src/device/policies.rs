//! The policies above the flash, and their constant answers.

use super::write::path::WritePath;
use crate::array::eraser::Eraser;
use crate::config::Transfer;
use crate::flash::setup::{Parts, suspends_programs};
use crate::policy::background::BackgroundPolicy;
use crate::policy::buffer::{Acknowledge, BufferPolicy};
use crate::policy::flush::FlushPolicy;
use crate::policy::gc_schedule::GcSchedulePolicy;
use crate::policy::gc_scope::{GcScopePolicy, Scope};
use crate::policy::gc_victim::GcVictimPolicy;
use crate::policy::placement::PlacementPolicy;
use crate::policy::read_path::ReadPathPolicy;
use crate::policy::schedule::SchedulePolicy;
use crate::policy::suspend_erase::SuspendErasePolicy;
use crate::policy::suspend_program::SuspendProgramPolicy;
use crate::policy::wear::WearPolicy;
use crate::policy::{PolicyConfig, PolicyContext};
use crate::problem::{ConfigProblem, of_policy};
use serde::{Deserialize, Serialize};

/// One member of each family that decides above the flash, with its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Policies {
    pub buffer: BufferPolicy,
    pub flush: FlushPolicy,
    pub placement: PlacementPolicy,
    pub read_path: ReadPathPolicy,
    pub gc_victim: GcVictimPolicy,
    pub gc_schedule: GcSchedulePolicy,
    pub gc_scope: GcScopePolicy,
    pub background: BackgroundPolicy,
    pub wear: WearPolicy,
}

/// The members on which the dimensions of a drive depend.
pub(super) struct Dimensioning {
    pub buffer: BufferPolicy,
    pub placement: PlacementPolicy,
    pub gc_schedule: GcSchedulePolicy,
}

/// One member of each family that decides at the dies and channels. The flash owns them in a drive.
pub(super) struct Arbiters {
    pub schedule: SchedulePolicy,
    pub suspend_erase: SuspendErasePolicy,
    pub suspend_program: SuspendProgramPolicy,
}

impl Arbiters {
    pub fn new(p: &PolicyConfig, x: &PolicyContext) -> Result<Arbiters, ConfigProblem> {
        Ok(Arbiters {
            schedule: SchedulePolicy::new(&p.schedule, x).map_err(of_policy("schedule"))?,
            suspend_erase: SuspendErasePolicy::new(&p.suspend_erase, x)
                .map_err(of_policy("suspend_erase"))?,
            suspend_program: SuspendProgramPolicy::new(&p.suspend_program, x)
                .map_err(of_policy("suspend_program"))?,
        })
    }

    /// Whether programs of any kind are ever suspended.
    pub fn suspends_programs(&self) -> bool {
        suspends_programs(&self.suspend_program)
    }
}

impl Policies {
    /// Create the members that no dimension depends on, beside those of `built`.
    pub fn new(p: &PolicyConfig, x: &PolicyContext, built: Dimensioning) -> Result<Policies, ConfigProblem> {
        Ok(Policies {
            buffer: built.buffer,
            flush: FlushPolicy::new(&p.flush, x).map_err(of_policy("flush"))?,
            placement: built.placement,
            read_path: ReadPathPolicy::new(&p.read_path, x).map_err(of_policy("read_path"))?,
            gc_victim: GcVictimPolicy::new(&p.gc_victim, x).map_err(of_policy("gc_victim"))?,
            gc_schedule: built.gc_schedule,
            gc_scope: GcScopePolicy::new(&p.gc_scope, x).map_err(of_policy("gc_scope"))?,
            background: BackgroundPolicy::new(&p.background, x).map_err(of_policy("background"))?,
            wear: WearPolicy::new(&p.wear, x).map_err(of_policy("wear"))?,
        })
    }
}

/// Answers of the policies that never change in a drive.
#[derive(Clone, Debug)]
pub(super) struct FixedAnswers {
    /// Whether flash operations can fail.
    pub may_fail: bool,
    /// Whether every operation has the index of its block.
    pub names_blocks: bool,
    pub write_path: WritePath,
    /// Whether a write is acknowledged as soon as the buffer holds it; otherwise when it is programmed.
    pub acknowledge_held: bool,
    pub overwrite_in_place: bool,
    /// Time to put a write into the buffer, ns.
    pub buffer_write_ns: u64,
    /// Whether the data of a read cross the host link as a whole (`host.transfer`).
    pub sends_whole: bool,
    /// Whether groups of a die are flushed together, depending on the amount of data in flight.
    pub flushes_by_die: bool,
    /// Whether a flush avoids collecting lanes for the reads that its parity needs, if it has a choice.
    pub flush_avoids_collections: bool,
    /// Whether reads of collecting planes may be replaced by reconstructions.
    pub rebuilds_reads: bool,
    pub gc_scope: Scope,
    /// Whether collections take no time.
    pub collects_instantly: bool,
    /// Whether collections may close dies to host programs while they yield to reads.
    pub may_close_programs: bool,
    /// Largest number of tokens of a collection; 0 without tokens.
    pub most_tokens: u32,
    /// Whether the start of a collection depends on the load of its channel.
    pub heeds_channel: bool,
    /// Whether the lanes of a group should collect one at a time.
    pub rotates: bool,
    /// Whether stripes may move.
    pub moves_stripes: bool,
    /// Whether the last loop of an erase is deferred until its extent is opened.
    pub defers_last_loop: bool,
    /// Largest allowed difference in erases between the extents of a lane; `None` without levelling.
    pub erase_gap: Option<u32>,
    /// Whether data with a high retention age are rewritten.
    pub refreshes: bool,
}

impl FixedAnswers {
    /// Ask the policies. `may_fail`: flash operations can fail. `has_parity`: units belong to stripes.
    pub fn new(
        (p, arbiters): (&Policies, &Arbiters),
        parts: &Parts,
        transfer: Transfer,
        may_fail: bool,
        has_parity: bool,
    ) -> FixedAnswers {
        let per_erase = parts.eraser.as_ref().map_or(1, Eraser::cycles_per_erase);
        FixedAnswers {
            may_fail,
            names_blocks: may_fail || parts.slow_programs.is_some() || arbiters.suspends_programs(),
            write_path: if has_parity { WritePath::Stripes } else { WritePath::Rows },
            acknowledge_held: p.buffer.acknowledge() == Acknowledge::WhenHeld,
            overwrite_in_place: p.buffer.overwrites_in_place(),
            buffer_write_ns: p.buffer.write_latency().0,
            sends_whole: transfer == Transfer::Whole,
            flushes_by_die: p.flush.by_die(),
            flush_avoids_collections: p.flush.avoids_collections(),
            rebuilds_reads: p.read_path.rebuilds(),
            gc_scope: p.gc_scope.scope(),
            collects_instantly: p.gc_schedule.instant(),
            may_close_programs: p.gc_schedule.may_close_programs(),
            most_tokens: p.gc_schedule.most_tokens(),
            heeds_channel: p.gc_schedule.heeds_channel(),
            rotates: p.gc_schedule.rotates(),
            moves_stripes: p.wear.moves_stripes(),
            defers_last_loop: !p.gc_schedule.instant()
                && parts.eraser.as_ref().is_some_and(Eraser::defers_last_loop),
            erase_gap: p.wear.erase_gap().map(|gap| gap.div_ceil(per_erase)),
            refreshes: p.background.refreshing().is_some(),
        }
    }
}
