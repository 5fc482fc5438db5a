//! One die on which an erase or a program enters the array at a known time.

use crate::{Done, Host, Operation, operations, small_drive};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Counters, StepEvent};
use tailcut_core::ftl::config::ExtentKind;
use tailcut_core::policy::{buffer, flush, gc_schedule, schedule};
use tailcut_units::quantity::Level;
use tailcut_units::{HostOp, Occupant, Span};

/// Pages of a block.
const PAGES: u64 = 6;
/// Bytes of a page, which is one mapping unit.
const PAGE: u64 = 8192;
/// Blocks filled before the script starts.
const FILLED: u64 = 4;

/// One die of one plane behind a host interface that takes no time, without a write buffer,
/// with read priority. A block has six pages. The die tries to collect whenever a program ends,
/// and finds a victim only if a block was trimmed.
pub fn one_die() -> DeviceConfig {
    let mut c = small_drive();
    let g = &mut c.geometry;
    (g.channels, g.dies_per_chip, g.planes, g.blocks, g.pages) = (1, 1, 1, 16, PAGES as u32);
    (c.host.submit_latency, c.host.complete_latency, c.host.link_rate) = (Span(0), Span(0), u64::MAX);
    (c.controller.command, c.host.queue_depth) = (Span(0), 256);
    (c.ftl.mapping_unit, c.ftl.extent, c.ftl.write_planes) = (PAGE, ExtentKind::Block, 1);
    (c.ftl.gc.copy_planes, c.ftl.gc.program_planes, c.ftl.gc.erase_planes) = (1, 1, 1);
    c.ftl.over_provisioning = Some(0.5);
    c.policy.schedule = schedule::ScheduleConfig::ReadPriority(Default::default());
    c.policy.buffer = buffer::BufferConfig::None(Default::default());
    c.policy.flush = flush::FlushConfig::Immediate(Default::default());
    let limits = gc_schedule::threshold::Config {
        start: Level::Count(14),
        hard: Level::Count(1),
        ..Default::default()
    };
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Threshold(limits);
    c
}

/// A script for [`one_die`], or a drive like it.
pub struct Stage {
    config: DeviceConfig,
    /// Host commands of one page: time in ns, operation and offset.
    events: Vec<(u64, HostOp, u64)>,
    /// Pages written after the fill.
    rows: u64,
}

/// The result of a script.
pub struct Played {
    /// Operations that were granted or released their unit after the given time.
    pub ops: Vec<Operation>,
    /// Commands that ended after the given time, in order.
    pub done: Vec<Done>,
    /// Counters of the drive.
    pub counters: Counters,
}

impl Stage {
    /// An empty script.
    pub fn new(config: DeviceConfig) -> Stage {
        Stage { config, events: Vec::new(), rows: 0 }
    }

    /// The time of the command cycles of one plane and of the transfer of a page, ns.
    fn channel(config: &DeviceConfig) -> (u64, u64) {
        (config.channel.command.0, (PAGE * 1_000_000_000).div_ceil(config.channel.rate))
    }

    /// Add a read of a page of the first type that arrives at `at`.
    pub fn read(&mut self, at: u64) -> &mut Stage {
        self.events.push((at, HostOp::Read, (FILLED - 1) * PAGES * PAGE));
        self
    }

    /// Add a write of a page that was not written before, so that no unit becomes stale.
    pub fn write(&mut self, at: u64) -> &mut Stage {
        self.events.push((at, HostOp::Write, (FILLED * PAGES + self.rows) * PAGE));
        self.rows += 1;
        self
    }

    /// Add a write whose program enters the array at `at`, if the die is free.
    pub fn program(&mut self, at: u64) -> &mut Stage {
        let (command, data) = Stage::channel(&self.config);
        self.write(at - command - data)
    }

    /// Add erases of `blocks` blocks, one after the other; the first enters the array at `at`.
    /// The blocks are trimmed before, and collection starts at the end of a program.
    pub fn erase(&mut self, at: u64, blocks: u64) -> &mut Stage {
        assert!(self.rows == 0 && blocks < FILLED, "erases come first and leave a block to read");
        // This write opens a block first; otherwise collection would start at the start of the
        // program.
        self.write(1_000_000);
        for page in 0..blocks * PAGES {
            self.events.push((at / 2, HostOp::Trim, page * PAGE));
        }
        let p = &self.config.timing.program;
        let (command, _) = Stage::channel(&self.config);
        let launch = u64::from(p.pulses[1]) * (p.pulse.0 + p.verify.0);
        self.program(at - command - launch)
    }

    /// Play the script to the end and return what happened from `from` on.
    pub fn play(self, from: u64) -> Played {
        let mut events = self.events;
        events.sort_by_key(|e| e.0);
        let mut host = Host::observed(&self.config, Vec::<StepEvent>::new());
        host.device.fill(FILLED * PAGES * PAGE);
        for (at, op, offset) in events {
            host.submit(at, op, offset, PAGE as u32);
        }
        host.drain();
        let mut ops = operations(host.device.observer());
        ops.retain(|o| o.granted >= from || o.released() > from);
        let done = host.done.into_iter().filter(|d| d.at.0 > from).collect();
        Played { ops, done, counters: host.device.counters().clone() }
    }
}

impl Played {
    /// The operations of one kind.
    pub fn of(&self, occupant: Occupant) -> Vec<&Operation> {
        self.ops.iter().filter(|o| o.occupant == occupant).collect()
    }

    /// The only operation of a kind.
    pub fn only(&self, occupant: Occupant) -> &Operation {
        let all = self.of(occupant);
        assert_eq!(all.len(), 1, "{all:#?}");
        all[0]
    }

    /// The reads that ended, in order of arrival.
    pub fn reads(&self) -> Vec<&Done> {
        let mut reads: Vec<&Done> = self.done.iter().filter(|d| d.command.op == HostOp::Read).collect();
        reads.sort_by_key(|d| d.index);
        reads
    }
}
