//! An oracle that derives from the commands alone what a drive must have done.
//!
//! The oracle is called at every submission and completion and keeps, for each logical unit,
//! whether the unit must be mapped. It knows no bytes; these are checked by [`crate::bytes`].
//! It checks order, counts, durability and lower bounds of latency.

use tailcut_core::address::{Lpn, Ppa};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, Medium, Observer, Shape};
use tailcut_core::ftl::map::Mapping;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_core::policy::buffer::lru::PowerLoss;
use tailcut_core::policy::gc_schedule::GcScheduleConfig;
use tailcut_units::{Cause, Command, HostOp, Ledger, SimTime, Span, Status};

macro_rules! expect {
    ($holds:expr, $($text:tt)+) => {
        if !$holds {
            return Err(format!($($text)+));
        }
    };
}

/// A completion, stored beyond the call that delivered it.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Submission number.
    pub index: u64,
    /// The command.
    pub command: Command,
    /// Start of its latency.
    pub arrived: SimTime,
    /// End of its latency.
    pub completed: SimTime,
    /// Status of the command.
    pub status: Status,
    /// Nanoseconds by cause.
    pub ledger: Ledger,
}

/// What must be true of a logical unit when no command touches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Absent,
    Present,
    /// A write and a TRIM overlapped in time: either may have taken effect last.
    Open,
}

#[derive(Clone, Copy, Debug)]
struct Unit {
    content: Content,
    /// Writes and TRIMs under way that touch the unit.
    touches: u32,
    /// The oracle's event number of the last touch.
    touched: u64,
}

struct Pending {
    command: Command,
    at: SimTime,
    /// The oracle's event number of the submission.
    event: u64,
    /// Whether this is a read of which all units were on flash (`on_flash`), or of which none
    /// had ever been written (`absent`).
    on_flash: bool,
    absent: bool,
    /// For a read that may end without data: the copies on flash of its units and of the members of
    /// their stripes, each with whether its extent was being collected.
    copies: Vec<(Ppa, bool)>,
    /// Whether flushes of their stripes have all data that they need.
    gathered: Vec<bool>,
}

/// The oracle of one drive.
pub struct Oracle {
    units: Vec<Unit>,
    unit_bytes: u64,
    host_bytes: u64,
    pending: std::collections::BTreeMap<u64, Pending>,
    events: u64,
    submitted: u64,
    /// Writes are acknowledged once they are in the buffer, before they are programmed.
    write_back: bool,
    /// Writes end in the order of submission, because there are no separate write queues in
    /// which one write can pass another.
    in_order: bool,
    /// A FLUSH guarantees that acknowledged data are on flash.
    volatile: bool,
    last_write: Option<u64>,
    /// Whether reads may end without data.
    may_fail: bool,
    /// Whether a read that has failed may succeed later.
    transient: bool,
    floor: Span,
    read_floor: u64,
    program_floor: u64,
    link_rate: u64,
    write_link_rate: u64,
    /// Units of completed writes, trimmed units, and reads, to compare with the drive's
    /// counters.
    written: u64,
    trimmed: u64,
    reads: u64,
}

impl Oracle {
    /// The oracle of a new drive whose first `filled` bytes were written.
    pub fn new(config: &DeviceConfig, shape: &Shape, filled: u64) -> Oracle {
        let unit_bytes = shape.layout.unit_bytes;
        let filled = filled / unit_bytes;
        let units = (0..u64::from(shape.layout.host_units))
            .map(|lpn| Unit {
                content: if lpn < filled { Content::Present } else { Content::Absent },
                touches: 0,
                touched: 0,
            })
            .collect();
        let t = &shape.timing;
        // A page of each type, and one in SLC mode if there are any.
        let pages = || (0..t.page_types()).chain(config.slc.as_ref().map(|_| config.geometry.pages));
        let sense = pages().map(|p| t.read_ns(p)).min().unwrap_or(0);
        let program = pages().map(|p| t.program_ns(p)).min().unwrap_or(0);
        let (write_back, volatile, limited) = match &config.policy.buffer {
            BufferConfig::None(_) => (false, true, false),
            BufferConfig::Lru(c) => (true, c.power_loss == PowerLoss::Volatile, c.queue_limit.is_some()),
        };
        Oracle {
            units,
            unit_bytes,
            host_bytes: shape.host_bytes(),
            pending: Default::default(),
            events: 1,
            submitted: 0,
            write_back,
            in_order: write_back && !limited,
            volatile,
            last_write: None,
            may_fail: shape.faults.is_some(),
            // A page whose raw bit errors were too many may be decoded by another sense.
            transient: config.errors.is_some()
                || config.faults.read.is_some()
                || config.fault.iter().any(|fault| fault.once)
                // They move data without reading them.
                || matches!(config.policy.gc_schedule, GcScheduleConfig::Instant(_)),
            floor: config.host.submit_latency + config.host.complete_latency + config.controller.command,
            read_floor: t.command_ns + sense + t.transfer_codewords_ns(1) + config.ecc.decode.0,
            program_floor: t.command_ns * u64::from(shape.layout.write_planes)
                + t.transfer_codewords_ns(shape.codewords_per_page * shape.layout.write_planes)
                + program,
            link_rate: config.host.link_rate,
            write_link_rate: config.host.write_link_rate.unwrap_or(config.host.link_rate),
            written: 0,
            trimmed: 0,
            reads: 0,
        }
    }

    fn in_range(&self, c: &Command) -> bool {
        c.bytes > 0 && c.offset.checked_add(u64::from(c.bytes)).is_some_and(|end| end <= self.host_bytes)
    }

    /// The units that a command reads or changes.
    fn units_of(&self, c: &Command) -> std::ops::Range<usize> {
        if c.op == HostOp::Flush || !self.in_range(c) {
            return 0..0;
        }
        let end = c.offset + u64::from(c.bytes);
        if c.op == HostOp::Trim {
            let first = c.offset.div_ceil(self.unit_bytes);
            return first as usize..(end / self.unit_bytes).max(first) as usize;
        }
        (c.offset / self.unit_bytes) as usize..end.div_ceil(self.unit_bytes) as usize
    }

    fn copies<O: Observer, M: Medium>(&self, c: &Command, device: &Device<O, M>) -> Vec<(Ppa, bool)> {
        self.units_that_may_fail(c).flat_map(|lpn| device.copies().of_stripe(lpn)).collect()
    }

    /// Whether flushes of the stripes of a read's units have all data that they need.
    fn gathered<O: Observer, M: Medium>(&self, c: &Command, device: &Device<O, M>) -> Vec<bool> {
        self.units_that_may_fail(c).map(|lpn| device.copies().is_gathered(lpn)).collect()
    }

    fn units_that_may_fail(&self, c: &Command) -> impl Iterator<Item = Lpn> {
        let fails = self.may_fail && c.op == HostOp::Read;
        if fails { self.units_of(c) } else { 0..0 }.map(|lpn| Lpn(lpn as u32))
    }

    /// Note that a command is about to be submitted as number `index`.
    pub fn submit<O: Observer, M: Medium>(
        &mut self,
        index: u64,
        at: SimTime,
        command: Command,
        device: &Device<O, M>,
    ) {
        self.submitted += 1;
        self.events += 1;
        let (mut on_flash, mut absent) = (command.op == HostOp::Read, command.op == HostOp::Read);
        for lpn in self.units_of(&command) {
            let u = &mut self.units[lpn];
            match command.op {
                HostOp::Read => {
                    let quiet = u.touches == 0;
                    on_flash &= quiet && matches!(device.whereabouts(Lpn(lpn as u32)), Mapping::Flash(_));
                    absent &= quiet && u.content == Content::Absent;
                }
                HostOp::Write | HostOp::Trim => {
                    let content = match command.op {
                        HostOp::Write => Content::Present,
                        // With parity, a TRIM that does not cover whole stripes may leave units
                        // mapped.
                        _ if device.shape().has_parity() => Content::Open,
                        _ => Content::Absent,
                    };
                    u.content = if u.touches == 0 || u.content == content { content } else { Content::Open };
                    u.touches += 1;
                    u.touched = self.events;
                }
                HostOp::Flush => {}
            }
        }
        let some = !self.units_of(&command).is_empty();
        let pending = Pending {
            command,
            at,
            event: self.events,
            on_flash: on_flash && some,
            absent: absent && some,
            copies: self.copies(&command, device),
            gathered: self.gathered(&command, device),
        };
        self.pending.insert(index, pending);
    }

    /// Check a command that ended; the device must not have advanced since.
    pub fn ended<O: Observer, M: Medium>(&mut self, e: &Ended, device: &Device<O, M>) -> Result<(), String> {
        self.events += 1;
        let name = format!("command {} ({:?})", e.index, e.command);
        let Some(p) = self.pending.remove(&e.index) else {
            return Err(format!("{name} ended without being under way"));
        };
        expect!(p.command == e.command && p.at == e.arrived, "{name} is not what was submitted");
        let latency = (e.completed - e.arrived).0;
        expect!(e.ledger.sum() == latency, "{name}: ledger {} of {latency} ns", e.ledger.sum());
        let range = self.in_range(&e.command) || e.command.op == HostOp::Flush;
        let expected = match (e.status, e.command.op) {
            _ if !range => Status::OutOfRange,
            (Status::MediaError, HostOp::Read) if self.may_fail => Status::MediaError,
            (Status::ReadOnly, HostOp::Write | HostOp::Trim | HostOp::Flush)
                if device.read_only_since().is_some() =>
            {
                Status::ReadOnly
            }
            _ => Status::Ok,
        };
        expect!(e.status == expected, "{name} ended {:?}", e.status);
        expect!(latency >= self.floor.0, "{name} took {latency} ns, less than {}", self.floor);
        for lpn in self.units_of(&e.command) {
            let changes = matches!(e.command.op, HostOp::Write | HostOp::Trim);
            let u = &mut self.units[lpn];
            if changes {
                u.touches -= 1;
                u.touched = self.events;
                if e.status == Status::ReadOnly {
                    // It may have taken effect, and is not acknowledged.
                    (u.content, u.touched) = (Content::Open, u64::MAX);
                }
            }
            if changes && u.touches == 0 {
                let place = device.whereabouts(Lpn(lpn as u32));
                let absent = place == Mapping::Unmapped;
                let lost = absent && device.has_lost_data(Lpn(lpn as u32));
                if lost && u.content != Content::Absent {
                    u.content = Content::Present;
                    continue;
                }
                expect!(
                    u.content == Content::Open || absent == (u.content == Content::Absent),
                    "after {name} unit {lpn} is {place:?} and should be {:?}",
                    u.content
                );
                if u.content == Content::Open {
                    u.content = if absent { Content::Absent } else { Content::Present };
                }
            }
        }
        if e.status == Status::MediaError {
            self.reads += 1;
            // A write under way since before the read may have ended the loss.
            let still = |u: &Unit| u.touches == 0 && u.touched < p.event;
            let untouched = self.units_of(&e.command).all(|l| still(&self.units[l]));
            let end = e.command.offset + u64::from(e.command.bytes);
            let told = |r: &std::ops::Range<u64>| r.start < end && e.command.offset < r.end;
            // A collection may have been reading the data, or those of a member of the stripe, from a page
            // that could not be read later.
            let copies = self.copies(&e.command, device);
            let moved = copies != p.copies || copies.iter().any(|&(_, collected)| collected);
            // A flush may have had some of the data, and all that its new parity needs only later.
            let gathered =
                p.gathered.iter().zip(self.gathered(&e.command, device)).any(|(&was, is)| is && !was);
            expect!(
                !untouched || self.transient || moved || gathered || device.lost_ranges().iter().any(told),
                "{name} ended without data, and none of its range is told as lost"
            );
        }
        if e.status != Status::Ok {
            return Ok(());
        }
        let rate = if e.command.op == HostOp::Write { self.write_link_rate } else { self.link_rate };
        let link = Span::transfer(u64::from(e.command.bytes), rate).0;
        let n = self.units_of(&e.command).len() as u64;
        match e.command.op {
            HostOp::Read => {
                self.reads += 1;
                let untouched = self.units_of(&e.command).all(|l| self.units[l].touched < p.event);
                // With parity a unit may be computed without a flash read, if the rest of its
                // stripe was in the controller on its way to flash. A collection may have a unit that
                // cannot be read any more.
                let computed =
                    (device.shape().has_parity() || self.may_fail) && e.ledger.get(Cause::ARRAY) == 0;
                if p.on_flash && untouched && !computed {
                    let least = self.floor.0 + self.read_floor;
                    expect!(latency >= least, "{name} took {latency} ns, a flash read {least} ns");
                    expect!(e.ledger.get(Cause::ARRAY) > 0, "{name} was on flash, but not sensed");
                }
                if p.absent && untouched {
                    expect!(latency >= self.floor.0 + link, "{name} took {latency} ns, less than its link");
                    expect!(e.ledger.get(Cause::ARRAY) == 0, "{name} was never written, but sensed");
                }
            }
            HostOp::Write => {
                self.written += n;
                let through = if self.write_back { 0 } else { self.program_floor };
                let least = self.floor.0 + link + through;
                expect!(latency >= least, "{name} took {latency} ns, less than {least} ns");
                if e.command.fua {
                    // It ends like the FLUSH after it: later writes may end before.
                    self.check_durable(p.event, &name, device)?;
                } else if self.in_order {
                    let passed = self.last_write.filter(|&w| w > e.index);
                    expect!(passed.is_none(), "{name} ended after write {passed:?}, submitted later");
                    self.last_write = Some(e.index);
                }
            }
            HostOp::Trim => self.trimmed += n,
            HostOp::Flush => self.check_durable(p.event, &name, device)?,
        }
        Ok(())
    }

    /// Check that data that were acknowledged before `event` and not touched since are on
    /// flash.
    fn check_durable<O: Observer, M: Medium>(
        &self,
        event: u64,
        name: &str,
        device: &Device<O, M>,
    ) -> Result<(), String> {
        if !self.volatile {
            return Ok(());
        }
        for (lpn, u) in self.units.iter().enumerate() {
            if u.touches == 0 && u.touched < event && u.content == Content::Present {
                let place = device.whereabouts(Lpn(lpn as u32));
                expect!(
                    matches!(place, Mapping::Flash(_))
                        || device.has_lost_data(Lpn(lpn as u32))
                        || device.copies().is_in_controller_alone(Lpn(lpn as u32)),
                    "{name} ended, and unit {lpn}, acknowledged before it, is {place:?}"
                );
            }
        }
        Ok(())
    }

    /// A fault that the configuration does not have lets a read fail that may succeed later.
    pub fn lets_failures_pass(&mut self) {
        self.transient = true;
    }

    /// Whether a read that has failed may succeed later.
    pub fn failures_pass(&self) -> bool {
        self.transient
    }

    /// Commands submitted so far.
    pub fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Commands that have not ended.
    pub fn under_way(&self) -> usize {
        self.pending.len()
    }

    /// Check the contents and the counters of the drive after every command has ended.
    pub fn finish<O: Observer, M: Medium>(&self, device: &Device<O, M>) -> Result<(), String> {
        expect!(self.pending.is_empty(), "{} commands never ended", self.pending.len());
        for (lpn, u) in self.units.iter().enumerate() {
            let place = device.whereabouts(Lpn(lpn as u32));
            let lost = place == Mapping::Unmapped && device.has_lost_data(Lpn(lpn as u32));
            expect!(
                (place == Mapping::Unmapped) == (u.content == Content::Absent) || lost,
                "unit {lpn} is {place:?} and should be {:?}",
                u.content
            );
        }
        let c = device.counters();
        if device.read_only_since().is_some() {
            return Ok(());
        }
        let counted = (c.host_units_written, c.trimmed + c.trims_kept, c.reads);
        let expected = (self.written, self.trimmed, self.reads);
        expect!(counted == expected, "units written, trimmed, reads: {counted:?}, not {expected:?}");
        expect!(c.programs_user <= c.host_units_written, "more user programs than user writes");
        if !self.write_back {
            expect!(c.programs_user == self.written, "{} user programs of {}", c.programs_user, self.written);
        }
        Ok(())
    }
}
