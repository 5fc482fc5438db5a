//! The device: its parts, and the loop that fires its timers.

use super::checks::check_combinations;
use super::faults::state::FaultState;
use super::gc::state::Gc;
use super::host::commands::Host;
use super::limits::Limits;
use super::parity::rewrite::MOST_REWRITTEN;
use super::parity::state::Parity;
use super::policies::{Arbiters, Policies};
use super::refresh::Refresh;
use super::scrub::Scrub;
use super::shape::Shape;
use super::slc::Slc;
use super::write::state::Writes;
use crate::address::BusyUnit;
use crate::config::DeviceConfig;
use crate::containers::few_timers::FewTimers;
use crate::containers::timers::UNSET;
use crate::device::payload::Payload;
use crate::figures::{Capacity, Counters, Gauges, PulseWear, SuspensionWear};
use crate::flash::{ChannelTime, Flash, FlashCounters, Joins, Setup};
use crate::front::Completion;
use crate::ftl::config::ExtentKind;
use crate::ftl::extents::Extents;
use crate::ftl::map::Map;
use crate::ftl::readers::Readers;
use crate::medium::{Medium, NoData};
use crate::nand::blocks::Blocks;
use crate::observer::Observer;
use crate::problem::ConfigProblem;
use serde::{Deserialize, Serialize};
use tailcut_units::{Occupant, Occupants, SimTime};

/// Limit of events in [`Device::settle`]: a drive that is not idle after this many will never be.
const SETTLE_EVENTS_MAX: u64 = 100_000_000;

/// The timers above the flash.
pub(super) const TIMER_READ_DONE: usize = 0;
pub(super) const TIMER_WRITE_DONE: usize = 1;
pub(super) const TIMER_READ_READY: usize = 2;
pub(super) const TIMER_WRITE_READY: usize = 3;
pub(super) const TIMER_REBUILT: usize = 4;
/// One timer for scrubbing, refreshing, folding and faults, whichever is due first. They are rare, and a further timer
/// would slow down all others.
pub(super) const TIMER_RARE: usize = 5;

/// A drive and its state. See the module's documentation.
pub struct Device<O: Observer = (), M: Medium = NoData> {
    pub(super) shape: Shape,
    pub(super) data: Payload<M>,
    pub(crate) map: Map,
    pub(super) flash: Flash<O>,
    pub(super) state: State,
}

/// The variable state above the flash, without the map's arrays. A snapshot serialises it.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub now: u64,
    /// Number of timers fired.
    pub events: u64,
    pub timers: FewTimers,
    pub policies: Policies,
    pub host: Host,
    pub extents: Extents,
    /// The reads that keep their extents from being erased, by the numbers of their operations.
    pub readers: Readers,
    pub write: Writes,
    pub gc: Gc,
    pub parity: Parity,
    /// The state of scrubbing.
    pub scrub: Scrub,
    /// The state of refreshing.
    pub refresh: Refresh,
    /// The SLC region.
    pub slc: Slc,
    pub faults: FaultState,
    /// Work to be done at the end of the current event.
    pub deferred: Vec<Deferred>,
    pub counters: Counters,
}

/// Work that is deferred to the end of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Deferred {
    /// A collection has closed this busy unit, so host reads that wait there may be replaced by reconstructions.
    RebuildQueued { unit: BusyUnit },
    /// A lane is to be collected in zero time.
    Collect { lane: u32 },
    /// Operations that may join were queued at this unit, which was idle.
    Begin { unit: BusyUnit },
    /// A collection has emptied a victim with no block to erase.
    Emptied { lane: u32 },
    /// A unit of a stripe cannot be read and must be rewritten.
    Rewrite,
    /// The drive has become read-only.
    RefuseChanges,
    /// Writes with forced unit access are wholly in the buffer.
    Forced,
}

impl<O: Observer> Device<O> {
    /// Create a new, empty drive. Its random streams derive from the seed.
    pub fn new(config: &DeviceConfig, seed: u64, observer: O) -> Result<Device<O>, ConfigProblem> {
        Device::with_medium(config, seed, observer, NoData)
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Create a new, empty drive over a medium.
    pub fn with_medium(
        config: &DeviceConfig,
        seed: u64,
        observer: O,
        medium: M,
    ) -> Result<Device<O, M>, ConfigProblem> {
        let (shape, policies, arbiters) = Shape::with_policies(config, seed)?;
        check_combinations(config, &policies, &arbiters, shape.has_parity())?;
        super::write::queues::check(&shape, policies.buffer.queue_limit())?;
        let memory = |e: std::io::Error| {
            ConfigProblem::new("geometry", format!("there is no room for the map of this drive: {e}"))
        };
        let map = Map::new(&shape.layout, shape.fill.clone()).map_err(memory)?;
        let limits = Limits::new(&shape);
        let Arbiters { schedule, suspend_erase, suspend_program } = arbiters;
        let setup = Setup {
            channels: shape.channels,
            units: shape.units,
            planes: shape.layout.planes,
            unit_planes: shape.unit_planes(),
            plane_reads: shape.planes_read > 1,
            cache_program: config.geometry.cache_program,
            blocks: shape.new_blocks(),
            faults: shape.faults.clone(),
            eraser: shape.eraser.clone(),
            senses: shape.senses.clone(),
            ops: limits.ops,
            commands: shape.host.queue_depth,
            timing: shape.timing.clone(),
            slow_programs: shape.slow_programs.clone(),
            suspend: shape.suspend.clone(),
            order: config.channel.order,
            ecc: config.ecc.clone(),
            joins: joins(config),
            tells_transfers: shape.fixed.heeds_channel,
            schedule,
            suspend_erase,
            suspend_program,
        };
        let flash = Flash::new(setup, observer);
        let state = State::new(&shape, &limits, policies);
        let data = super::payload::attached(medium, &shape, &state);
        let mut device = Device { shape, data, map, flash, state };
        device.state.set_fault_timer(&device.shape);
        Ok(device)
    }

    /// Capacity the host addresses, in bytes: whole mapping units.
    pub fn host_bytes(&self) -> u64 {
        self.shape.host_bytes()
    }

    /// The capacity arithmetic.
    pub fn capacity(&self) -> &Capacity {
        &self.shape.capacity
    }

    /// The values derived from the configuration.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Totals so far.
    pub fn counters(&self) -> &Counters {
        &self.state.counters
    }

    /// Totals of the flash so far.
    pub fn flash_counters(&self) -> &FlashCounters {
        self.flash.counters()
    }

    /// Reset all counters, for example at the end of preconditioning or of a ramp.
    pub fn reset_counters(&mut self) {
        let s = &mut self.state;
        s.gc.groups.reset(s.now);
        let most = s.gc.groups.most_collecting();
        s.counters = Counters { most_in_group: u64::from(most), ..Counters::default() };
        self.flash.reset_counters();
    }

    /// The state of each block of the flash.
    pub fn blocks(&self) -> &Blocks {
        self.flash.blocks()
    }

    /// The wear of the blocks by erase pulses; `None` if erases use the configured loops.
    pub fn pulse_wear(&self) -> Option<PulseWear> {
        let eraser = self.flash.eraser()?;
        let wear = self.shape.mean_and_most(&self.state.extents, self.flash.blocks(), |plane, index| {
            self.flash.wear_of(plane, index)
        });
        Some(PulseWear::of(eraser, wear))
    }

    /// Program/erase cycles of the blocks in use. An erase counts as many as it stands for (`erase.cycles_per_erase`).
    pub fn pe_cycles(&self) -> Vec<u32> {
        let blocks = self.flash.blocks();
        let mut all = Vec::new();
        self.shape.of_blocks(&self.state.extents, self.flash.blocks(), |plane, index| {
            all.push(match self.flash.eraser() {
                Some(eraser) => eraser.cycles(blocks, plane, index),
                None => blocks.cycles_at(blocks.place(plane, index)),
            });
        });
        all
    }

    /// Mean and largest program/erase count of a block.
    pub fn wear(&self) -> (f64, u32) {
        let blocks = self.flash.blocks();
        self.shape.mean_and_most(&self.state.extents, self.flash.blocks(), |plane, index| {
            blocks.cycles_at(blocks.place(plane, index))
        })
    }

    /// Suspensions of erases by block since the drive was made: mean and maximum, and the factors
    /// by which they multiply the raw bit error rate.
    pub fn suspension_wear(&self) -> SuspensionWear {
        let blocks = self.flash.blocks();
        let of = |plane, index| blocks.suspensions()[blocks.id(plane, index).index()];
        SuspensionWear::of(
            self.shape.mean_and_most(&self.state.extents, self.flash.blocks(), of),
            self.shape.suspend.erase.rber_growth,
        )
    }

    /// Energy that the arrays took since the counters were reset, in millijoules: in all, and for
    /// suspending, resuming and repeating alone.
    pub fn energy_mj(&self) -> (f64, f64) {
        self.flash.counters().energy_mj(&self.shape.energy)
    }

    /// Time of all channels granted so far, ns, by occupant in the order of [`Occupant::ALL`].
    pub fn channel_busy(&self) -> [u64; Occupant::COUNT] {
        self.flash.channel_busy()
    }

    /// The times of all channels together up to now.
    pub fn channel_time(&self) -> ChannelTime {
        self.flash.channel_time()
    }

    /// The current levels.
    pub fn gauges(&self) -> Gauges {
        let b = &self.state.write.buffer;
        Gauges {
            free_extents: self.state.extents.free_total(&self.shape.layout),
            buffer_fill: f64::from(b.held()) / f64::from(b.capacity().max(1)),
            user_limit: None,
            collecting: self.state.gc.under_way,
        }
    }

    /// Memory of the pools of operations, commands, write units, stripes and reconstructions, and of
    /// the queues of events, in bytes. An element of a pool counts from its first use on.
    pub fn pool_bytes(&self) -> usize {
        let State { host, write, parity, .. } = &self.state;
        self.flash.pool_bytes()
            + host.requests.bytes()
            + write.units.bytes()
            + parity.stripes.jobs.bytes()
            + parity.rebuilds.bytes()
    }

    /// Timers fired since the drive was made.
    pub fn events(&self) -> u64 {
        self.state.events
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        self.flash.observer()
    }

    /// The observer, for reading out its events.
    pub fn observer_mut(&mut self) -> &mut O {
        self.flash.observer_mut()
    }

    /// Replace the observer.
    pub fn observed_by<P: Observer>(self, observer: P) -> Device<P, M> {
        let Device { shape, data, map, flash, state } = self;
        Device { shape, data, map, flash: flash.observed_by(observer), state }
    }

    /// Return the observer and drop the drive.
    pub fn into_observer(self) -> O {
        self.flash.into_observer()
    }

    /// Number of commands under way.
    pub fn outstanding(&self) -> u32 {
        self.state.host.requests.used() as u32
    }

    /// When the next timer fires; [`SimTime::NEVER`] if none is set.
    #[inline]
    pub fn next_deadline(&self) -> SimTime {
        SimTime(self.state.timers.first().1).min(self.flash.next_event())
    }

    /// Fire every timer due at or before `until`, each at its own deadline and in order.
    /// `completed` is called for every command that ends.
    pub fn advance(&mut self, until: SimTime, completed: &mut impl FnMut(&Completion<'_>)) {
        while self.advance_to_completion(until, u64::MAX, completed) > 0 {}
        if until != SimTime::NEVER {
            self.pass(self.state.now.max(until.0));
        }
    }

    /// Drain the drive to idle: program the contents of the buffer, and finish all operations under way. Returns
    /// whether nothing is left; data without room on flash stay in the buffer. No command may be under way.
    pub fn settle(&mut self) -> bool {
        debug_assert_eq!(self.outstanding(), 0);
        for _ in 0..SETTLE_EVENTS_MAX {
            self.flush_all();
            if !self.state.deferred.is_empty() {
                self.run_deferred();
            }
            if self.is_quiescent() {
                return self.state.write.buffer.held() == 0;
            }
            self.advance_to_completion(SimTime::NEVER, 1, &mut |_| {});
        }
        false
    }

    /// Fire the timers due at or before `until` in order, but stop when a command has ended and all
    /// timers of that time have fired, or after `most` timers. `completed` is called for every
    /// command that ends. Returns the number of timers fired.
    #[inline]
    pub fn advance_to_completion(
        &mut self,
        until: SimTime,
        most: u64,
        completed: &mut impl FnMut(&Completion<'_>),
    ) -> u64 {
        let mut until = until.0.min(u64::MAX - 1);
        let mut fired = 0;
        while fired < most {
            let (timer, own) = self.state.timers.first();
            let SimTime(of_flash) = self.flash.next_event();
            // At equal times the timers above the flash fire first.
            let at = own.min(of_flash);
            if at > until {
                break;
            }
            debug_assert!(at >= self.state.now);
            self.pass(at);
            fired += 1;
            if own <= of_flash {
                if timer == TIMER_READ_DONE || timer == TIMER_WRITE_DONE {
                    until = at;
                }
                self.fire(timer, completed);
            } else {
                self.fire_flash();
            }
            if !self.state.deferred.is_empty() {
                self.run_deferred();
            }
        }
        self.state.events += fired;
        fired
    }

    /// The time of the last timer fired or command submitted.
    #[inline]
    pub fn now(&self) -> SimTime {
        SimTime(self.state.now)
    }

    /// Set the time to `now`, for the flash too.
    #[inline]
    pub(super) fn pass(&mut self, now: u64) {
        self.state.now = now;
        self.flash.pass(SimTime(now));
    }

    /// Handle the timer of scrubbing, refreshing, folding and faults.
    #[cold]
    fn rare_timer(&mut self) {
        let now = self.state.now;
        if self.state.scrub.due_at <= now {
            self.state.scrub.due_at = UNSET;
            self.scrub_timer();
        }
        if self.state.refresh.due_at <= now {
            self.state.refresh.due_at = UNSET;
            self.refresh_timer();
        }
        if self.state.faults.due_at <= now {
            self.state.faults.due_at = UNSET;
            self.fault_timer();
        }
        if self.state.slc.due_at <= now {
            self.state.slc.due_at = UNSET;
            let host_ops = self.flash.host_ops();
            if self.shape.folds.is_some_and(|rule| self.state.may_fold(rule, host_ops)) {
                (0..self.shape.layout.lanes).for_each(|lane| self.check_collection(lane));
            }
        }
        self.state.set_rare_timer();
    }

    /// Do the work that the event has deferred. All other state is consistent at this point.
    #[cold]
    pub(super) fn run_deferred(&mut self) {
        while let Some(left) = self.state.deferred.pop() {
            match left {
                Deferred::RebuildQueued { unit } => self.rebuild_queued(unit),
                Deferred::Collect { lane } => self.collect_instantly(lane),
                Deferred::Begin { unit } => self.flash.begin_gathered(unit),
                Deferred::Emptied { lane } => self.victim_erased(lane),
                Deferred::Rewrite => self.relocate(MOST_REWRITTEN),
                Deferred::RefuseChanges => self.refuse_changes(),
                Deferred::Forced => {
                    while let Some(id) = self.state.host.forced.pop_front() {
                        self.begin_flush(id);
                    }
                }
            }
        }
    }

    #[inline]
    fn fire(&mut self, timer: usize, completed: &mut impl FnMut(&Completion<'_>)) {
        match timer {
            TIMER_READ_DONE => self.deliver_reads(completed),
            TIMER_WRITE_DONE => self.deliver_writes(completed),
            TIMER_READ_READY => self.fetch_read(),
            TIMER_WRITE_READY => self.fetch_write(),
            TIMER_REBUILT => self.unit_rebuilt(),
            TIMER_RARE => self.rare_timer(),
            _ => unreachable!("there is no timer {timer}"),
        }
    }
}

/// Which operations join over planes.
fn joins(c: &DeviceConfig) -> Joins {
    let mut kinds = Occupants::NONE;
    let mut join = |joins: bool, of: &[Occupant]| {
        if joins {
            kinds = kinds | Occupants::of(of);
        }
    };
    join(c.ftl.join_reads, &[Occupant::UserRead]);
    join(c.ftl.gc.join_reads, &[Occupant::GcRead, Occupant::FoldRead]);
    join(c.ftl.join_programs, &[Occupant::UserProgram, Occupant::GcProgram, Occupant::FoldProgram]);
    join(c.ftl.extent == ExtentKind::Block && c.ftl.gc.erase_planes > 1, &[Occupant::Erase]);
    Joins { kinds, erase_planes: c.ftl.gc.erase_planes }
}

impl State {
    /// Set the timer of scrubbing, refreshing, folding and faults after one of them has changed.
    #[cold]
    pub fn set_rare_timer(&mut self) {
        let at = self.scrub.due_at.min(self.refresh.due_at).min(self.faults.due_at).min(self.slc.due_at);
        self.timers.set(TIMER_RARE, at);
    }

    fn new(shape: &Shape, limits: &Limits, policies: Policies) -> State {
        let lanes = shape.layout.lanes;
        let scrub = Scrub::new(policies.background.scrubbing(), lanes, shape.layout.extents());
        let refresh = Refresh::new(policies.background.refreshing(), lanes);
        State {
            now: 0,
            events: 0,
            timers: FewTimers::default(),
            host: Host::new(shape.host.queue_depth, shape.units, shape.most_parts()),
            extents: Extents::with_holes(&shape.layout, shape.holes.as_ref()),
            readers: Readers::new(limits.ops),
            write: Writes::new(shape, limits, policies.buffer.queue_limit()),
            gc: Gc::new(shape, limits),
            parity: Parity::new(shape, limits),
            scrub,
            refresh,
            slc: Slc::new(shape),
            faults: FaultState::new(shape, limits.write_units),
            deferred: Vec::with_capacity((shape.units * (1 + lanes.min(2)) + lanes) as usize),
            counters: Counters::default(),
            policies,
        }
    }
}
