//! A drive under either translation layer: the API of drivers.
//!
//! A [`Drive`] has no clock, thread or I/O. Its driver repeats three calls:
//!
//! 1. [`Drive::next_deadline`] returns the time of the drive's next event.
//! 2. [`Drive::advance_to_completion`] lets time pass, at most to a given time, and hands out each command that ends.
//!    At equal times the events of the drive come before a submission.
//! 3. [`Drive::submit`] gives it a command at a time that it has been advanced to. A full queue refuses it
//!    ([`SubmitError::QueueFull`]); after the next completion there is a place ([`Drive::has_place`]).
//!
//! Time never goes back. A command that the drive cannot serve ends too, with a status that says why
//! ([`tailcut_units::Status`]). The ledger of every command adds up to its latency. A configuration that no drive can
//! have is refused when the drive is created, and the error names the key ([`ConfigProblem`]).
//!
//! Before a run a drive is filled ([`Drive::fill`]) and overwritten ([`Drive::overwrite_uniform`],
//! [`Drive::overwrite_replay`]), or takes the state of a snapshot ([`Drive::load_aged`]). This takes no simulated time.

use crate::config::DeviceConfig;
use crate::device::{self, Device, Shape};
use crate::figures::{
    AgeReport, Capacity, Counters, Dimensions, FaultReport, Gauges, PulseWear, SuspensionWear, Until, Usage,
};
use crate::flash::{ChannelTime, FlashCounters};
use crate::front::{Completion, SubmitError};
use crate::ftl::config::FtlKind;
use crate::intervention::{Intervention, InterventionError};
use crate::medium::{Medium, NoData};
use crate::nand::config::BusyKind;
use crate::observer::Observer;
use crate::pblk::{self, Pblk};
use crate::problem::ConfigProblem;
use crate::snapshot::SnapshotError;
use std::io::{Read, Write};
use std::ops::Range;
use tailcut_units::{Command, SimTime};

/// A drive under one of the translation layers.
pub enum Drive<O: Observer = (), M: Medium = NoData> {
    /// The controller of the drive maps pages.
    Page(Box<Device<O, M>>),
    /// pblk on the host maps sectors of an open-channel device.
    Pblk(Box<Pblk<O, M>>),
}

/// Evaluate an expression for the drive, under either translation layer.
macro_rules! either {
    ($self:expr, $drive:ident => $do:expr) => {
        match $self {
            Drive::Page($drive) => $do,
            Drive::Pblk($drive) => $do,
        }
    };
}

impl<O: Observer> Drive<O> {
    /// Create a new, empty drive. Its random streams derive from the seed.
    ///
    /// # Errors
    /// The key at fault, and what is allowed.
    pub fn new(config: &DeviceConfig, seed: u64, observer: O) -> Result<Drive<O>, ConfigProblem> {
        Drive::with_medium(config, seed, observer, NoData)
    }

    /// Restore the drive that [`Drive::snapshot`] has saved.
    ///
    /// # Errors
    /// The configuration is refused, or the stream holds another drive.
    pub fn restore(
        config: &DeviceConfig,
        seed: u64,
        observer: O,
        from: &mut dyn Read,
    ) -> Result<Drive<O>, SnapshotError> {
        Ok(match config.ftl.kind {
            FtlKind::Page => Drive::Page(Box::new(Device::restore(config, seed, observer, from)?)),
            FtlKind::Pblk => Drive::Pblk(Box::new(Pblk::restore(config, seed, observer, from)?)),
        })
    }

    /// Capacity that the host of such a drive addresses, in bytes.
    ///
    /// # Errors
    /// As [`Drive::new`].
    pub fn host_bytes_of(config: &DeviceConfig, seed: u64) -> Result<u64, ConfigProblem> {
        Ok(match config.ftl.kind {
            FtlKind::Page => Shape::new(config, seed)?.host_bytes(),
            FtlKind::Pblk => pblk::Shape::new(config, seed)?.host_bytes(),
        })
    }
}

impl<O: Observer, M: Medium> Drive<O, M> {
    /// As [`Drive::new`], over a medium that may hold the data.
    ///
    /// # Errors
    /// The key at fault, and what is allowed.
    pub fn with_medium(
        config: &DeviceConfig,
        seed: u64,
        observer: O,
        medium: M,
    ) -> Result<Drive<O, M>, ConfigProblem> {
        Ok(match config.ftl.kind {
            FtlKind::Page => Drive::Page(Box::new(Device::with_medium(config, seed, observer, medium)?)),
            FtlKind::Pblk => Drive::Pblk(Box::new(Pblk::with_medium(config, seed, observer, medium)?)),
        })
    }

    /// The drive, if it has the page-mapping controller.
    pub fn as_page(&self) -> Option<&Device<O, M>> {
        match self {
            Drive::Page(device) => Some(device),
            Drive::Pblk(_) => None,
        }
    }

    /// The drive for changes, if it has the page-mapping controller.
    pub fn as_page_mut(&mut self) -> Option<&mut Device<O, M>> {
        match self {
            Drive::Page(device) => Some(device),
            Drive::Pblk(_) => None,
        }
    }

    /// Its dimensions.
    pub fn dimensions(&self) -> Dimensions {
        either!(self, drive => drive.shape().dimensions())
    }

    /// Bytes of the largest command.
    #[inline]
    pub fn max_transfer(&self) -> u64 {
        either!(self, drive => drive.shape().host.max_transfer)
    }

    /// Warnings for the user about a configuration that can be built.
    pub fn warnings(&self) -> &[String] {
        match self {
            Drive::Page(device) => &device.shape().warnings,
            Drive::Pblk(pblk) => &pblk.shape().warnings,
        }
    }

    /// Capacity the host addresses, in bytes.
    pub fn host_bytes(&self) -> u64 {
        either!(self, drive => drive.host_bytes())
    }

    /// The capacity arithmetic.
    pub fn capacity(&self) -> &Capacity {
        either!(self, drive => drive.capacity())
    }

    /// Whether a further command would be accepted now.
    #[inline]
    pub fn has_place(&self) -> bool {
        either!(self, drive => drive.has_place())
    }

    /// Prefetch the map entry for a command at this offset that may be submitted soon. Only the speed of the simulation
    /// depends on this.
    #[inline]
    pub fn prepare(&self, offset: u64) {
        either!(self, drive => drive.prepare(offset));
    }

    /// Submit a command at time `at`, to which the drive has been advanced. `wanted` is when the host wanted to submit
    /// it, at most `at`; its latency counts from there. Its completion carries the tag. Returns the serial number of the
    /// submission.
    ///
    /// # Errors
    /// The queue is full, or the submitter has not kept to the order of calls.
    #[inline]
    pub fn submit(
        &mut self,
        at: SimTime,
        wanted: SimTime,
        command: Command,
        tag: u64,
    ) -> Result<u64, SubmitError> {
        either!(self, drive => drive.submit(at, wanted, command, tag))
    }

    /// As [`Drive::submit`], with the bytes of a write, which a medium with data stores: as many as the command says, or
    /// none for zeros.
    ///
    /// # Errors
    /// As [`Drive::submit`].
    #[inline]
    pub fn submit_write(
        &mut self,
        at: SimTime,
        wanted: SimTime,
        command: Command,
        tag: u64,
        data: &[u8],
    ) -> Result<u64, SubmitError> {
        either!(self, drive => drive.submit_write(at, wanted, command, tag, data))
    }

    /// Apply a change (a fault, or another value of a key) at a time to which the drive has been advanced. It comes
    /// before every command that is submitted later. A refused change leaves the drive unchanged.
    ///
    /// # Errors
    /// If the drive does not support the change, the address does not exist, or the order of calls is wrong.
    pub fn intervene(&mut self, at: SimTime, what: &Intervention) -> Result<(), InterventionError> {
        let (now, next) = (self.now(), self.next_deadline());
        if at < now || next <= at {
            return Err(InterventionError::Order { at, now, next });
        }
        either!(self, drive => drive.intervene(at, what))
    }

    /// The time of the next event; [`SimTime::NEVER`] if there is none.
    #[inline]
    pub fn next_deadline(&self) -> SimTime {
        either!(self, drive => drive.next_deadline())
    }

    /// Fire all events due at or before `until`, in order, but stop when a command has ended and all events of that
    /// time have fired, or after `most` timers. `completed` is called for every command that ends. Returns the number
    /// of timers fired.
    #[inline]
    pub fn advance_to_completion(
        &mut self,
        until: SimTime,
        most: u64,
        completed: &mut impl FnMut(&Completion<'_>),
    ) -> u64 {
        either!(self, drive => drive.advance_to_completion(until, most, completed))
    }

    /// Drain the drive to idle: program the contents of its buffer, and finish all operations under way. Returns
    /// whether nothing is left; data without room on flash stay in the buffer. No command may be under way.
    pub fn settle(&mut self) -> bool {
        either!(self, drive => drive.settle())
    }

    /// Shut the drive down: drain it to idle and, under pblk, pad the open line to its end, write all metadata and let
    /// the map point to the device. Returns whether nothing is left to do. No command may be under way. The next
    /// command starts the drive again.
    pub fn shut_down(&mut self) -> bool {
        match self {
            Drive::Page(drive) => drive.settle(),
            Drive::Pblk(drive) => drive.shut_down(),
        }
    }

    /// The time of the last timer fired or command submitted.
    #[inline]
    pub fn now(&self) -> SimTime {
        either!(self, drive => drive.now())
    }

    /// Number of commands under way.
    pub fn outstanding(&self) -> u32 {
        either!(self, drive => drive.outstanding())
    }

    /// Number of host writes under way, and when the host wanted the oldest.
    pub fn waiting_writes(&self) -> Option<(u32, SimTime)> {
        either!(self, drive => drive.waiting_writes())
    }

    /// Describe the commands and operations under way and their waits, for the error of a run that makes no progress.
    pub fn describe_waiting(&self) -> String {
        either!(self, drive => drive.describe_waiting())
    }

    /// Timers fired since the drive was made.
    pub fn events(&self) -> u64 {
        either!(self, drive => drive.events())
    }

    /// Bytes of the host's addresses that hold data. The whole map is read.
    pub fn held_bytes(&self) -> u64 {
        let unit = self.dimensions().unit_bytes;
        let map = match self {
            Drive::Page(device) => &device.map,
            Drive::Pblk(pblk) => &pblk.map,
        };
        u64::from(map.held((self.host_bytes() / unit) as u32)) * unit
    }

    /// Memory of pools and queues, in bytes.
    pub fn pool_bytes(&self) -> usize {
        either!(self, drive => drive.pool_bytes())
    }

    /// Totals so far.
    pub fn counters(&self) -> &Counters {
        either!(self, drive => drive.counters())
    }

    /// Totals of the flash so far.
    pub fn flash_counters(&self) -> &FlashCounters {
        either!(self, drive => drive.flash_counters())
    }

    /// Reset all counters, for example at the end of preconditioning or of a ramp.
    pub fn reset_counters(&mut self) {
        either!(self, drive => drive.reset_counters());
    }

    /// The current levels.
    pub fn gauges(&self) -> Gauges {
        either!(self, drive => drive.gauges())
    }

    /// The time in use of all parts since the drive was made.
    pub fn usage(&self) -> Usage {
        either!(self, drive => drive.usage())
    }

    /// The times of all channels together up to now.
    pub fn channel_time(&self) -> ChannelTime {
        either!(self, drive => drive.channel_time())
    }

    /// Mean and largest program/erase count of a block.
    pub fn wear(&self) -> (f64, u32) {
        either!(self, drive => drive.wear())
    }

    /// The wear of the blocks by erase pulses; `None` if erases use the configured loops.
    pub fn pulse_wear(&self) -> Option<PulseWear> {
        either!(self, drive => drive.pulse_wear())
    }

    /// Suspensions of erases by block since the drive was made, and their effect.
    pub fn suspension_wear(&self) -> SuspensionWear {
        either!(self, drive => drive.suspension_wear())
    }

    /// Energy that the arrays took since the counters were reset, in millijoules: in all, and for suspending, resuming
    /// and repeating alone.
    pub fn energy_mj(&self) -> (f64, f64) {
        either!(self, drive => drive.energy_mj())
    }

    /// The report on all failures of the drive; `None` if it cannot fail.
    pub fn fault_report(&self) -> Option<FaultReport> {
        either!(self, drive => drive.fault_report())
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        either!(self, drive => drive.observer())
    }

    /// The observer, for reading out its events.
    pub fn observer_mut(&mut self) -> &mut O {
        either!(self, drive => drive.observer_mut())
    }

    /// Replace the observer.
    pub fn observed_by<P: Observer>(self, observer: P) -> Drive<P, M> {
        match self {
            Drive::Page(device) => Drive::Page(Box::new(device.observed_by(observer))),
            Drive::Pblk(pblk) => Drive::Pblk(Box::new(pblk.observed_by(observer))),
        }
    }

    /// The medium.
    pub fn medium(&self) -> &M {
        either!(self, drive => drive.medium())
    }

    /// The medium, for changes that the drive itself does not make.
    pub fn medium_mut(&mut self) -> &mut M {
        match self {
            Drive::Page(device) => device.medium_mut(),
            Drive::Pblk(drive) => &mut drive.data.medium,
        }
    }

    /// The same drive over another medium, which must hold the same data.
    pub fn over<N: Medium>(self, medium: N) -> Drive<O, N> {
        match self {
            Drive::Page(device) => Drive::Page(Box::new(device::over(*device, medium))),
            Drive::Pblk(drive) => Drive::Pblk(Box::new(pblk::over(*drive, medium))),
        }
    }

    /// Save the whole drive as it is now, operations under way included, but for its medium. `config` and `seed` must be
    /// those that it was made with.
    ///
    /// # Errors
    /// The stream cannot be written.
    pub fn snapshot(
        &self,
        config: &DeviceConfig,
        seed: u64,
        to: &mut dyn Write,
    ) -> Result<(), SnapshotError> {
        either!(self, drive => drive.snapshot(config, seed, to))
    }

    /// Return the observer and drop the drive.
    pub fn into_observer(self) -> O {
        either!(self, drive => drive.into_observer())
    }

    /// Write the first `bytes` of the host's addresses once, in order, at time 0. The drive must be new.
    pub fn fill(&mut self, bytes: u64) {
        either!(self, drive => drive.fill(bytes));
    }

    /// Overwrite uniformly at random, `bytes` at a time, inside `region`, in zero time. The drive must be at rest.
    /// `progress` is called with a rough fraction and stops the pass by returning false; a drive that was stopped must
    /// not be used.
    pub fn overwrite_uniform(
        &mut self,
        until: Until,
        region: &Range<u64>,
        bytes: u32,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> AgeReport {
        either!(self, drive => drive.overwrite_uniform(until, region, bytes, progress))
    }

    /// As [`Drive::overwrite_uniform`], with the writes among these commands, in order. An endless iterator must
    /// contain writes.
    pub fn overwrite_replay(
        &mut self,
        until: Until,
        writes: &mut impl Iterator<Item = Command>,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> AgeReport {
        either!(self, drive => drive.overwrite_replay(until, writes, progress))
    }

    /// Check every law over the whole state.
    ///
    /// # Errors
    /// Names the law that is broken, and where.
    pub fn audit(&self) -> Result<(), String> {
        either!(self, drive => drive.audit())
    }
}

impl Drive {
    /// Save the aged state of the translation layer. Every scheme with the same `key` can start from it. The drive must
    /// be at rest.
    ///
    /// # Errors
    /// The stream cannot be written.
    pub fn save_aged(&self, key: u64, report: &AgeReport, to: &mut dyn Write) -> Result<(), SnapshotError> {
        either!(self, drive => drive.save_aged(key, report, to))
    }

    /// Load a saved aged state. The drive must be new.
    ///
    /// # Errors
    /// The stream cannot be read, or holds another state than this drive can have.
    pub fn load_aged(&mut self, key: u64, from: &mut dyn Read) -> Result<AgeReport, SnapshotError> {
        either!(self, drive => drive.load_aged(key, from))
    }
}

impl Shape {
    /// The dimensions of the drive.
    pub fn dimensions(&self) -> Dimensions {
        Dimensions {
            unit_bytes: self.layout.unit_bytes,
            queue_depth: self.host.queue_depth,
            max_transfer: self.host.max_transfer,
            channels: self.channels,
            dies: self.dies,
            planes: self.layout.planes,
            units: if self.busy == BusyKind::Plane { self.dies * self.layout.planes } else { self.dies },
            planes_read: self.planes_read,
            blocks_per_extent: self.layout.blocks_per_extent(),
            has_parity: self.has_parity(),
            has_write_gate: false,
            has_errors: self.senses.is_some(),
        }
    }
}

impl pblk::Shape {
    /// The dimensions of the drive.
    pub fn dimensions(&self) -> Dimensions {
        Dimensions {
            unit_bytes: pblk::array::SECTOR,
            queue_depth: self.host.queue_depth,
            max_transfer: self.host.max_transfer,
            channels: self.array.channels,
            dies: self.luns,
            planes: self.planes,
            units: self.luns,
            planes_read: self.planes_read,
            blocks_per_extent: self.planes,
            has_parity: self.strides.is_some(),
            has_write_gate: self.gate.is_some(),
            has_errors: self.parts.senses.is_some(),
        }
    }
}
