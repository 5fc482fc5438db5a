//! A drive under pblk: its parts, and the loop that fires its timers.

use super::collect::Collector;
use super::failures::Failures;
use super::interface::Interface;
use super::limiter::Limiter;
use super::lines::{Lines, State as LineState};
use super::rail::failures::AllWanted;
use super::rail::gate::Gate;
use super::rail::hot_cold::Mix;
use super::rail::reads::Others;
use super::ring::Ring;
use super::shape::Shape;
use super::writer::Writer;
use crate::address::{Lpn, Ppa};
use crate::config::DeviceConfig;
use crate::containers::few_timers::FewTimers;
use crate::containers::timers::UNSET;
use crate::figures::{Capacity, Counters, Gauges, PulseWear, SuspensionWear, Usage};
use crate::flash::setup::{check_suspension, suspends_programs};
use crate::flash::{ChannelTime, Flash, FlashCounters, Joins, Setup};
use crate::front::Completion;
use crate::ftl::map::{Map, Mapping};
use crate::medium::{Medium, NoData};
use crate::nand::blocks::Blocks;
use crate::observer::{Change, Observer};
use crate::pblk::payload::Payload;
use crate::policy::schedule::SchedulePolicy;
use crate::policy::suspend_erase::SuspendErasePolicy;
use crate::policy::suspend_program::SuspendProgramPolicy;
use crate::problem::{ConfigProblem, of_policy};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use tailcut_units::{Occupant, Occupants, SimTime};

/// The most events in which a drive becomes idle.
const SETTLE_EVENTS_MAX: u64 = 100_000_000;

/// The timers above the flash. At equal times the lowest number fires first.
pub(super) const TIMER_UP: usize = 0;
pub(super) const TIMER_DONE: usize = 1;
pub(super) const TIMER_ARRIVED: usize = 2;
pub(super) const TIMER_READS: usize = 3;
pub(super) const TIMER_WRITES: usize = 4;
pub(super) const TIMER_RARE: usize = 5;

/// A drive under pblk and its state. See the documentation of the module.
pub struct Pblk<O: Observer = (), M: Medium = NoData> {
    pub(super) shape: Shape,
    pub(crate) map: Map,
    pub(super) flash: Flash<O>,
    pub(super) state: State,
    pub(crate) data: Payload<M>,
}

/// The mutable state above the flash, without the arrays of the map.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub now: u64,
    /// Number of timers fired.
    pub events: u64,
    pub timers: FewTimers,
    pub interface: Interface,
    pub ring: Ring,
    pub limiter: Limiter,
    pub lines: Lines,
    pub writer: Writer,
    pub collector: Collector,
    pub gate: Gate,
    pub mix: Mix,
    /// Sectors that a host read computes by parity, where the medium holds data: request, sector, and the sectors to
    /// read.
    pub rebuilds: Vec<(u32, Ppa, Others)>,
    /// Sectors that outstanding reads need, on a drive with strides and faults.
    pub wanted: AllWanted,
    /// Whether the first command was submitted. Before it, the drive is aged in zero time.
    pub runs: bool,
    /// Lines without references. They are freed at the end of the event.
    pub released: Vec<u32>,
    pub failures: Failures,
    pub counters: Counters,
}

impl<O: Observer> Pblk<O> {
    /// Create a new, empty drive. Its random streams derive from the seed.
    ///
    /// # Errors
    /// The key at fault, and what is allowed.
    pub fn new(config: &DeviceConfig, seed: u64, observer: O) -> Result<Pblk<O>, ConfigProblem> {
        Pblk::with_medium(config, seed, observer, NoData)
    }
}

impl Shape {
    /// Mean and maximum of a function of plane and block index over the good blocks.
    fn mean_and_most(&self, of: impl Fn(u32, u32) -> u32) -> (f64, u32) {
        let (mut sum, mut count, mut most) = (0u64, 0u64, 0);
        for (plane, bad) in (0..).zip(&self.bad_blocks) {
            for index in (0..self.array.lines).filter(|index| !bad.contains(index)) {
                let n = of(plane, index);
                sum += u64::from(n);
                most = most.max(n);
                count += 1;
            }
        }
        (sum as f64 / count.max(1) as f64, most)
    }
}

impl<O: Observer, M: Medium> Pblk<O, M> {
    /// As [`Pblk::new`], over a medium.
    ///
    /// # Errors
    /// As [`Pblk::new`].
    pub fn with_medium(
        config: &DeviceConfig,
        seed: u64,
        observer: O,
        medium: M,
    ) -> Result<Pblk<O, M>, ConfigProblem> {
        let shape = Shape::new(config, seed)?;
        let (p, x) = (&config.policy, &shape.context);
        let schedule = SchedulePolicy::new(&p.schedule, x).map_err(of_policy("schedule"))?;
        let suspend_erase =
            SuspendErasePolicy::new(&p.suspend_erase, x).map_err(of_policy("suspend_erase"))?;
        let suspend_program =
            SuspendProgramPolicy::new(&p.suspend_program, x).map_err(of_policy("suspend_program"))?;
        check_suspension(config, &schedule, suspend_erase.suspends(), suspends_programs(&suspend_program))?;
        // Parity may compute each sector of a host read from the other members of its stride.
        let others = shape.strides.map_or(1, |strides| strides.width - 1);
        let most_ops = shape.host.queue_depth * shape.most_parts() * others
            + 2 * shape.luns
            + Collector::MOST_OPS
            + shape.line_units.min(64);
        let setup = Setup {
            channels: shape.array.channels,
            units: shape.luns,
            planes: shape.planes,
            unit_planes: shape.planes,
            plane_reads: shape.planes_read > 1,
            cache_program: false,
            blocks: shape.new_blocks(config),
            faults: shape.faults.clone(),
            eraser: shape.parts.eraser.clone(),
            senses: shape.parts.senses.clone(),
            ops: most_ops,
            commands: shape.host.queue_depth,
            timing: shape.parts.timing.clone(),
            slow_programs: shape.parts.slow_programs.clone(),
            suspend: config.suspend.clone(),
            order: config.channel.order,
            ecc: config.ecc.clone(),
            joins: Joins { kinds: Occupants::NONE, erase_planes: shape.planes },
            tells_transfers: false,
            schedule,
            suspend_erase,
            suspend_program,
        };
        let memory = |e: std::io::Error| {
            ConfigProblem::new("geometry", format!("there is no room for the map of this drive: {e}"))
        };
        let all = shape.array.lines * shape.line_sectors;
        let map = Map::of(shape.sectors, all, shape.fill()).map_err(memory)?;
        let flash = Flash::new(setup, observer);
        let sizes = (0..shape.array.lines).map(|line| shape.line_size(line));
        let lines = Lines::new(shape.luns, shape.bad.clone(), sizes, shape.first_split());
        let provision = &shape.provision;
        let state = State {
            now: 0,
            events: 0,
            timers: FewTimers::default(),
            interface: Interface::new(&shape, most_ops),
            ring: Ring::new(provision.ring, provision.back),
            limiter: Limiter::new(provision.ring, provision.high, shape.reserve),
            lines,
            writer: Writer::new(&shape),
            collector: Collector::new(&shape),
            gate: Gate::new(shape.strides.as_ref(), shape.luns),
            mix: Mix::default(),
            rebuilds: Vec::new(),
            wanted: AllWanted::default(),
            runs: false,
            released: Vec::with_capacity(shape.array.lines as usize),
            failures: Failures::default(),
            counters: Counters::default(),
        };
        let data = super::payload::attached(medium, &shape, &state);
        let mut drive = Pblk { shape, map, flash, state, data };
        drive.open_first_line();
        drive.set_rare_timer();
        Ok(drive)
    }

    /// Capacity that the host addresses, in bytes.
    pub fn host_bytes(&self) -> u64 {
        self.shape.host_bytes()
    }

    /// The capacity calculation.
    pub fn capacity(&self) -> &Capacity {
        &self.shape.capacity
    }

    /// The values derived from the configuration.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The location of a sector of the host.
    pub fn whereabouts(&self, sector: Lpn) -> Mapping {
        self.map.lookup(sector)
    }

    /// The counters.
    pub fn counters(&self) -> &Counters {
        &self.state.counters
    }

    /// The counters of the flash.
    pub fn flash_counters(&self) -> &FlashCounters {
        self.flash.counters()
    }

    /// Reset all counters.
    pub fn reset_counters(&mut self) {
        self.state.counters = Counters::default();
        self.flash.reset_counters();
    }

    /// The state of each block of the flash.
    pub fn blocks(&self) -> &Blocks {
        self.flash.blocks()
    }

    /// The state of the rate limiter.
    pub fn limiter(&self) -> &Limiter {
        &self.state.limiter
    }

    /// The lines.
    pub fn lines(&self) -> &Lines {
        &self.state.lines
    }

    /// The current levels.
    pub fn gauges(&self) -> Gauges {
        let (user, gc) = self.state.limiter.counted();
        let (user_max, _) = self.state.limiter.limits();
        let of_ring = |slots: u32| f64::from(slots) / f64::from(self.shape.provision.ring);
        Gauges {
            free_extents: u64::from(self.state.lines.free_chunks),
            buffer_fill: of_ring(user + gc),
            user_limit: Some(of_ring(user_max)),
            collecting: self.state.collector.victims(),
        }
    }

    /// Memory of the pools of operations and requests, in bytes. An element counts from its first use on.
    pub fn pool_bytes(&self) -> usize {
        self.flash.pool_bytes() + self.state.interface.requests.bytes()
    }

    /// Program what the ring holds, and finish all operations. Returns whether the drive is idle and the ring is
    /// empty. No command may be outstanding.
    pub fn settle(&mut self) -> bool {
        debug_assert_eq!(self.outstanding(), 0);
        for _ in 0..SETTLE_EVENTS_MAX {
            if self.is_quiet() {
                // A partial write unit is programmed last, because its padding takes space.
                if self.state.ring.flush().is_none() {
                    return true;
                }
                self.run_writer();
                if self.is_quiet() {
                    return false;
                }
            }
            self.advance_to_completion(SimTime::NEVER, 1, &mut |_| {});
        }
        false
    }

    /// Shut the drive down: program what the ring holds, pad the open line to its end, write all metadata, and let
    /// the map point to flash. Returns whether all of this is done. No command may be outstanding. The drive goes on
    /// with the next command.
    pub fn shut_down(&mut self) -> bool {
        if !self.settle() {
            return false;
        }
        self.state.writer.shutting_down = true;
        self.run_writer();
        let mut left = SETTLE_EVENTS_MAX;
        while !self.is_quiet() && left > 0 {
            left -= self.advance_to_completion(SimTime::NEVER, 1, &mut |_| {});
        }
        self.state.writer.shutting_down = false;
        self.switch_slots(self.state.ring.synced());
        self.collect();
        self.is_quiet() && self.state.ring.unsynced() == 0
    }

    /// Describe what is outstanding and what it waits for, for the error message of a run that makes no progress.
    pub fn describe_waiting(&self) -> String {
        let s = &self.state;
        let (limits, counted) = (s.limiter.limits(), s.limiter.counted());
        let mut out = format!(
            "{} commands outstanding, {} writes wait before the ring; {} sectors of it are not programmed; users have \
             {} slots of {}, collection {} of {}; {} chunks are free of {}, {} lines are being read",
            self.outstanding(),
            s.interface.room.len(),
            s.ring.unsynced(),
            counted.0,
            limits.0,
            counted.1,
            limits.1,
            s.lines.free_chunks,
            self.shape.array.lines * self.shape.luns,
            s.collector.victims(),
        );
        let _ = write!(out, "\n  {}; {}", s.collector.describe(), s.writer.describe());
        const MOST: usize = 64;
        let used = (0..s.lines.count()).filter(|&line| s.lines.line(line).state != LineState::Free);
        for line in used.take(MOST) {
            let l = s.lines.line(line);
            let _ = write!(
                out,
                "\n  line {line}: {:?}, {} of {} sectors valid, {} in the ring, {} references",
                l.state, l.valid, l.capacity, l.in_ring, l.references
            );
        }
        out
    }

    /// Mean and largest number of program/erase cycles of a block.
    pub fn wear(&self) -> (f64, u32) {
        let blocks = self.flash.blocks();
        self.shape.mean_and_most(|plane, index| blocks.cycles_at(blocks.place(plane, index)))
    }

    /// Wear of the blocks by erase pulses; `None` if erases take the configured loops.
    pub fn pulse_wear(&self) -> Option<PulseWear> {
        let eraser = self.flash.eraser()?;
        let wear = self.shape.mean_and_most(|plane, index| self.flash.wear_of(plane, index));
        Some(PulseWear::of(eraser, wear))
    }

    /// Suspensions of erases by block since the drive was created, and their effect.
    pub fn suspension_wear(&self) -> SuspensionWear {
        let blocks = self.flash.blocks();
        let of = |plane, index| blocks.suspensions()[blocks.id(plane, index).index()];
        SuspensionWear::of(self.shape.mean_and_most(of), self.shape.rber_growth)
    }

    /// Energy that the arrays took since the counters were reset, in millijoules: the total, and the part of
    /// suspending, resuming and repeating.
    pub fn energy_mj(&self) -> (f64, f64) {
        self.flash.counters().energy_mj(&self.shape.energy)
    }

    /// How long each part was in use since the drive was created.
    pub fn usage(&self) -> Usage {
        Usage {
            at: self.state.now,
            units: self.flash.units_taken(),
            planes: self.flash.planes_taken(),
            channels: self.flash.channels_taken(),
            link: self.state.interface.link_ns(self.state.now),
        }
    }

    /// Time granted on all channels so far, ns, by occupant in the order of [`Occupant::ALL`].
    pub fn channel_busy(&self) -> [u64; Occupant::COUNT] {
        self.flash.channel_busy()
    }

    /// The times of all channels together until now.
    pub fn channel_time(&self) -> ChannelTime {
        self.flash.channel_time()
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        self.flash.observer()
    }

    /// The observer, mutable.
    pub fn observer_mut(&mut self) -> &mut O {
        self.flash.observer_mut()
    }

    /// Replace the observer.
    pub fn observed_by<P: Observer>(self, observer: P) -> Pblk<P, M> {
        let Pblk { shape, map, flash, state, data } = self;
        Pblk { shape, map, flash: flash.observed_by(observer), state, data }
    }

    /// Return the observer and drop the drive.
    pub fn into_observer(self) -> O {
        self.flash.into_observer()
    }

    /// Timers fired since the drive was created.
    pub fn events(&self) -> u64 {
        self.state.events
    }

    /// Number of outstanding commands.
    pub fn outstanding(&self) -> u32 {
        self.state.interface.requests.used() as u32
    }

    /// The time of the last timer or command.
    #[inline]
    pub fn now(&self) -> SimTime {
        SimTime(self.state.now)
    }

    /// When the next timer fires; [`SimTime::NEVER`] if none is set.
    #[inline]
    pub fn next_deadline(&self) -> SimTime {
        SimTime(self.state.timers.first().1).min(self.flash.next_event())
    }

    /// Fire every timer that is due at or before `until`, each at its own time and in order. `completed` is called
    /// for every command that ends.
    pub fn advance(&mut self, until: SimTime, completed: &mut impl FnMut(&Completion<'_>)) {
        while self.advance_to_completion(until, u64::MAX, completed) > 0 {}
        if until != SimTime::NEVER {
            self.pass(self.state.now.max(until.0));
        }
    }

    /// Fire the timers that are due at or before `until` in order. Stop when a command has ended and all timers of
    /// that time have fired, or after `most` timers. Returns the number of timers fired.
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
            // No timer is set, or only that of collection and of dying planes.
            if (at == UNSET || timer == TIMER_RARE && own <= of_flash) && self.stop_if_stuck() {
                continue;
            }
            if at > until {
                break;
            }
            debug_assert!(at >= self.state.now);
            self.pass(at);
            fired += 1;
            if own <= of_flash {
                if self.fire(timer, completed) {
                    until = at;
                }
            } else {
                self.fire_flash();
            }
            if !self.state.released.is_empty() {
                self.free_lines();
            }
        }
        if fired == most && self.next_deadline() == SimTime::NEVER {
            self.stop_if_stuck();
        }
        self.state.events += fired;
        fired
    }

    /// Set the time to `now`, for the flash too.
    #[inline]
    pub(super) fn pass(&mut self, now: u64) {
        self.state.now = now;
        self.flash.pass(SimTime(now));
    }

    /// The first command was submitted. Collection begins if ageing has left too few free chunks.
    #[cold]
    pub(super) fn begin_run(&mut self) {
        self.state.runs = true;
        self.collect();
    }

    /// Fire a timer. Returns whether a command has ended.
    #[inline]
    fn fire(&mut self, timer: usize, completed: &mut impl FnMut(&Completion<'_>)) -> bool {
        match timer {
            TIMER_UP => self.data_are_up(completed),
            TIMER_DONE => self.heard(completed),
            TIMER_ARRIVED => {
                self.arrived();
                false
            }
            TIMER_READS => {
                self.turn_ends();
                false
            }
            TIMER_WRITES => {
                self.state.interface.submit_next_write(&mut self.flash, &mut self.state.timers);
                false
            }
            TIMER_RARE => {
                self.rare_timer();
                false
            }
            _ => unreachable!("there is no timer {timer}"),
        }
    }

    /// Free the lines without references. The writer and collection may wait for them.
    #[cold]
    fn free_lines(&mut self) {
        while let Some(line) = self.state.released.pop() {
            if self.state.lines.free_up(line) {
                self.collected(line);
                self.state.failures.forget_line(&self.shape, &self.state.lines, line);
            }
        }
        self.space_changed();
        self.run_writer();
        self.admit();
    }

    /// Update the limits after the number of free chunks has changed, and run the collector.
    pub(super) fn space_changed(&mut self) {
        let before = self.state.limiter.limits();
        self.limits_at_once();
        let (users, collection) = self.state.limiter.limits();
        if before != (users, collection) {
            let change = Change::Limits { users, collection, free: self.state.lines.free_chunks };
            self.flash.observer_mut().changes(SimTime(self.state.now), change);
        }
        self.collect();
    }
}
