//! The parts of the flash, and the setup from which it is made.

use super::attempts::SenseState;
use super::cache::Cached;
use super::channel::{Channel, Grants};
use super::commands::Commands;
use super::counters::FlashCounters;
use super::failures::Failures;
use super::join::Joins;
use super::op::{FlashCommand, Op};
use super::plane_reads::PlaneReads;
use super::queues::Queues;
use super::unit::Unit;
use crate::address::BusyUnit;
use crate::array::eraser::Eraser;
use crate::array::senses::Senses;
use crate::containers::bits;
use crate::containers::event_queue::EventQueue;
use crate::containers::slab::Slab;
use crate::nand::blocks::{Blocks, SideBySide};
use crate::nand::config::{ChannelOrder, EccConfig, SuspendConfig};
use crate::nand::ecc::Ecc;
use crate::nand::faults::Faults;
use crate::nand::timing::Timing;
use crate::policy::schedule::SchedulePolicy;
use crate::policy::suspend_erase::SuspendErasePolicy;
use crate::policy::suspend_program::SuspendProgramPolicy;
use serde::{Deserialize, Serialize};
use tailcut_units::{ArrayAct, Occupant, Occupants};

/// The setup from which a flash is made.
pub struct Setup {
    /// Number of channels.
    pub channels: u32,
    /// Number of busy units of all channels. Each channel has the same number.
    pub units: u32,
    /// Number of planes of a die.
    pub planes: u32,
    /// Number of planes of a busy unit: those of its die, or 1.
    pub unit_planes: u32,
    /// Whether reads on different planes of a die run independently. The busy unit is then the die, and reads do not
    /// join.
    pub plane_reads: bool,
    /// Whether a busy unit loads the data of its next program while a program is in its array (cache program). Programs
    /// are then not suspended.
    pub cache_program: bool,
    /// The state of the blocks.
    pub blocks: Blocks,
    /// The faults that can occur; `None` if nothing can fail.
    pub faults: Option<Faults>,
    /// The model of the erase scheme; `None` if erases use the configured loops.
    pub eraser: Option<Eraser>,
    /// The model of senses; `None` if pages have no raw bit errors.
    pub senses: Option<Senses>,
    /// Largest number of operations under way.
    pub ops: u32,
    /// Largest number of host commands that are tracked.
    pub commands: u32,
    /// Array and transfer times.
    pub timing: Timing,
    /// The times of programs of blocks that were erased at the lower of two voltages, if a scheme chooses.
    pub slow_programs: Option<Timing>,
    /// Costs and limits of suspension.
    pub suspend: SuspendConfig,
    /// The order in which waiting operations get a channel.
    pub order: ChannelOrder,
    /// Parameters of the decoders.
    pub ecc: EccConfig,
    /// Which operations join over planes.
    pub joins: Joins,
    /// Whether [`super::Fact::Transferred`] reports the end of each transfer of a host program.
    pub tells_transfers: bool,
    /// The policy that chooses the next operation among those queued at a unit.
    pub schedule: SchedulePolicy,
    /// The policy that decides how an erase stops for an operation that may interrupt it.
    pub suspend_erase: SuspendErasePolicy,
    /// The policy that decides how a program stops for an operation that may interrupt it.
    pub suspend_program: SuspendProgramPolicy,
}

/// The constants of the flash.
pub(super) struct FlashConstants {
    pub timing: Timing,
    pub slow_programs: Option<Timing>,
    pub suspend: SuspendConfig,
    pub joins: Joins,
    pub tells_transfers: bool,
    /// Number of planes of a die, and of a busy unit.
    pub planes: u32,
    pub unit_planes: u32,
    /// Whether reads on different planes of a die run independently.
    pub plane_reads: bool,
    /// Whether a die has a cache register for programs.
    pub cache_program: bool,
    /// Whether programs need a plan: they may be cached while another program is in the array, or their time may depend
    /// on their blocks.
    pub plans_programs: bool,
    /// The planes of a die, as a mask.
    pub all_planes: u32,
    pub suspend_program: SuspendProgramPolicy,
    pub faults: Option<Faults>,
    pub eraser: Option<Eraser>,
    pub senses: Option<Senses>,
    /// By occupant: the kinds of work that may interrupt its operations, as the schedule and the
    /// two suspension policies together decide.
    pub interrupters: [Occupants; Occupant::COUNT],
    /// Decides the channel queue in which an operation waits.
    pub grants: Grants,
    /// Whether a waiting host read closes its channel to other work.
    pub reads_close_channel: bool,
    /// Whether host programs wait while a collection of their unit is under way.
    pub collections_hold_programs: bool,
}

/// The variable state of the flash, which a snapshot holds.
#[derive(Serialize, Deserialize)]
pub struct FlashState {
    /// The time of the event under way.
    pub(super) now: u64,
    /// The units' timers, and the queues of [`super::events`].
    pub(super) events: EventQueue,
    pub(super) ops: Slab<Op>,
    /// Number of arrivals at dies so far.
    pub(super) arrivals: u64,
    pub(super) units: Vec<Unit>,
    pub(super) plane_reads: PlaneReads,
    /// By unit. Empty if there are no cache registers.
    pub(super) caches: Vec<Cached>,
    pub(super) channels: Vec<Channel>,
    /// By channel.
    pub(super) decoders: Vec<Ecc>,
    pub(super) schedule: SchedulePolicy,
    pub(super) suspend_erase: SuspendErasePolicy,
    /// Host operations queued or under way.
    pub(super) host_ops: u32,
    pub(super) commands: Commands,
    /// When the oldest host write that waits for room in the write buffer arrived; `u64::MAX`:
    /// none waits.
    pub(super) oldest_write: u64,
    pub(super) blocks: Blocks,
    pub(super) failures: Failures,
    pub(super) sensing: SenseState,
    pub(super) counters: FlashCounters,
}

/// All dies, channels and decoders of a drive, with the operations at them.
pub struct Flash<O> {
    pub(super) observer: O,
    pub(super) fixed: FlashConstants,
    pub(super) state: FlashState,
}

impl<O> Flash<O> {
    /// Create an idle flash.
    pub fn new(setup: Setup, observer: O) -> Flash<O> {
        let Setup { channels, units, ops, .. } = setup;
        let gathers = Occupant::ALL.into_iter().any(|o| setup.joins.gathers(o));
        let line_up = if gathers { setup.planes } else { 0 };
        let queues = Queues::new(line_up, setup.joins.has(Occupant::UserRead), setup.plane_reads);
        let schedule = setup.schedule;
        let planes = units * setup.unit_planes;
        let sensing =
            SenseState::new(setup.senses.as_ref(), ops, planes, setup.blocks.count() as u32 / planes);
        let codeword = setup.timing.transfer_codewords_ns(1).saturating_sub(setup.ecc.decode.0);
        let failures = Failures::new(setup.faults.as_ref(), planes);
        let first = Occupant::ALL.into_iter().filter(|&o| schedule.first_on_channel(o)).collect();
        let fixed = FlashConstants {
            interrupters: interrupters(&schedule, &setup.suspend_erase, &setup.suspend_program),
            grants: Grants::new(setup.order, first),
            reads_close_channel: schedule.reads_close_channel(),
            collections_hold_programs: schedule.collections_hold_programs(),
            timing: setup.timing,
            plans_programs: setup.cache_program || setup.slow_programs.is_some(),
            slow_programs: setup.slow_programs,
            suspend: setup.suspend,
            joins: setup.joins,
            tells_transfers: setup.tells_transfers,
            planes: setup.planes,
            unit_planes: setup.unit_planes,
            plane_reads: setup.plane_reads,
            cache_program: setup.cache_program,
            all_planes: u32::MAX >> (32 - setup.planes),
            suspend_program: setup.suspend_program,
            faults: setup.faults,
            eraser: setup.eraser,
            senses: setup.senses.map(|senses| senses.with_codewords_every(codeword)),
        };
        let state = FlashState {
            now: 0,
            events: EventQueue::new(units as usize, ops.max(units) as usize),
            ops: Slab::new(ops as usize, Op::blank()),
            arrivals: 0,
            units: (0..units).map(|u| Unit::new(u / (units / channels), queues.clone())).collect(),
            plane_reads: PlaneReads::new(if setup.plane_reads { planes } else { 0 }, setup.unit_planes),
            caches: vec![Cached::NONE; if setup.cache_program { units as usize } else { 0 }],
            channels: vec![Channel::new(); channels as usize],
            decoders: vec![Ecc::new(&setup.ecc); channels as usize],
            schedule,
            suspend_erase: setup.suspend_erase,
            host_ops: 0,
            commands: Commands::new(setup.commands),
            oldest_write: u64::MAX,
            blocks: setup.blocks,
            failures,
            sensing,
            counters: FlashCounters::default(),
        };
        Flash { observer, fixed, state }
    }

    /// Replace the observer.
    pub fn observed_by<P>(self, observer: P) -> Flash<P> {
        Flash { observer, fixed: self.fixed, state: self.state }
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The observer, to report an event to it or to empty it.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Return the observer and drop the flash.
    pub fn into_observer(self) -> O {
        self.observer
    }

    /// The variable state, to save it.
    pub fn state(&self) -> &FlashState {
        &self.state
    }

    /// Continue from a saved state.
    pub fn restore(&mut self, state: FlashState) {
        self.state = state;
    }

    /// Array and transfer times.
    #[inline]
    pub fn timing(&self) -> &Timing {
        &self.fixed.timing
    }
}

impl FlashConstants {
    /// The planes that an operation addresses, counted over the drive.
    pub fn planes_of(&self, cmd: &FlashCommand) -> impl Iterator<Item = u32> + use<> {
        let first = self.first_plane(cmd.unit);
        bits(cmd.planes).map(move |plane| first + plane)
    }

    /// The blocks that an operation addresses.
    #[inline]
    pub fn blocks_of(&self, cmd: &FlashCommand) -> SideBySide {
        SideBySide { first: self.first_plane(cmd.unit), planes: cmd.planes, index: cmd.block }
    }

    /// The first plane, counted over the drive, of the die that a busy unit is on.
    pub fn first_plane(&self, unit: BusyUnit) -> u32 {
        let first = unit.0 * self.unit_planes;
        // A division would take as long as all the rest.
        if self.unit_planes == self.planes { first } else { first / self.planes * self.planes }
    }
}

/// By occupant: the kinds of work that may interrupt its operations.
fn interrupters(
    schedule: &SchedulePolicy,
    suspend_erase: &SuspendErasePolicy,
    suspend_program: &SuspendProgramPolicy,
) -> [Occupants; Occupant::COUNT] {
    let erases = suspend_erase.suspends();
    Occupant::ALL.map(|holder| {
        let suspends = match holder.act() {
            ArrayAct::Erase => erases,
            ArrayAct::Program => suspend_program.suspends(holder),
            ArrayAct::Read => false,
        };
        if suspends { schedule.interrupters(holder) } else { Occupants::NONE }
    })
}
