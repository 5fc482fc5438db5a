//! A drive under pblk whose operations are watched, and the commands that ended.

use std::collections::BTreeMap;
use tailcut_config::resolve;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Observer, OpKind, QueueEvent, QueueStep, Step, StepEvent};
use tailcut_core::pblk::Pblk;
use tailcut_units::{Command, HostOp, Ledger, Occupant, SimTime, Status};

/// Bytes of a sector.
pub const SECTOR: u64 = 4096;

/// A drive of a preset under pblk, with these keys.
pub fn config(device: &str, sets: &[&str]) -> DeviceConfig {
    config_of(device, "pblk", sets)
}

/// A drive of a preset under a scheme, with these keys.
pub fn config_of(device: &str, scheme: &str, sets: &[&str]) -> DeviceConfig {
    let none: [&str; 0] = [];
    resolve(device, &[scheme], &none, sets).unwrap_or_else(|e| panic!("{e}")).config
}

/// An operation of the flash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// What the array did, and for whom.
    pub kind: OpKind,
    pub occupant: Occupant,
    /// The LUN position, and the line and page.
    pub position: u32,
    pub line: u32,
    pub page: u32,
    /// When it came to its LUN, entered the array, and ended, ns.
    pub came: u64,
    pub array: u64,
    pub ended: u64,
}

/// The operations of a drive in the order in which they came to their LUNs.
#[derive(Default)]
pub struct Watch {
    pub ops: Vec<Done>,
    under_way: BTreeMap<u32, usize>,
    /// LUNs of a channel, and channels.
    shape: (u32, u32),
}

impl Observer for Watch {
    fn step(&mut self, e: &StepEvent) {
        if e.step == Step::Array {
            let op = &mut self.ops[self.under_way[&e.op]];
            op.array = e.at.0;
            op.page = e.page;
        }
    }

    fn queued(&mut self, e: &QueueEvent) {
        match e.step {
            QueueStep::Arrives => {
                let (luns, channels) = self.shape;
                let position = e.unit.0 % luns * channels + e.unit.0 / luns;
                self.under_way.insert(e.op, self.ops.len());
                self.ops.push(Done {
                    kind: e.kind,
                    occupant: e.occupant,
                    position,
                    line: e.extent,
                    page: 0,
                    came: e.at.0,
                    array: 0,
                    ended: 0,
                });
            }
            QueueStep::Ends => self.ops[self.under_way[&e.op]].ended = e.at.0,
            _ => {}
        }
    }
}

/// A command that ended.
#[derive(Clone, Debug)]
pub struct Ended {
    pub op: HostOp,
    pub arrived: u64,
    pub at: u64,
    pub status: Status,
    pub ledger: Ledger,
}

/// A drive, the time, and what has ended.
pub struct Stage {
    pub drive: Pblk<Watch>,
    pub ended: Vec<Ended>,
}

impl Stage {
    /// A new drive.
    pub fn new(config: &DeviceConfig) -> Stage {
        let g = &config.geometry;
        let shape = (g.chips_per_channel * g.dies_per_chip, g.channels);
        let watch = Watch { shape, ..Watch::default() };
        let drive = Pblk::new(config, 1, watch).unwrap_or_else(|e| panic!("{e}"));
        Stage { drive, ended: Vec::new() }
    }

    /// Let time pass up to `at`.
    pub fn until(&mut self, at: u64) {
        let Stage { drive, ended } = self;
        drive.advance(SimTime(at), &mut |c| {
            ended.push(Ended {
                op: c.command.op,
                arrived: c.arrived.0,
                at: c.completed.0,
                status: c.status,
                ledger: *c.ledger,
            });
        });
    }

    /// Submit a command at `at`, once the queue has a place. Returns its number.
    pub fn submit(&mut self, at: u64, op: HostOp, sector: u64, sectors: u32) -> u64 {
        let bytes = sectors * SECTOR as u32;
        self.submit_command(at, Command::new(op, sector * SECTOR, bytes))
    }

    /// Like `submit`, of a whole command.
    pub fn submit_command(&mut self, at: u64, command: Command) -> u64 {
        let mut now = at.max(self.drive.now().0);
        self.until(now);
        while !self.drive.has_place() {
            now = self.drive.next_deadline().0;
            self.until(now);
        }
        self.drive.submit(SimTime(now), SimTime(at.min(now)), command, 0).expect("a place")
    }

    /// Run until no command is under way. Returns the last that ended.
    pub fn finish(&mut self) -> Ended {
        while self.drive.outstanding() > 0 {
            let at = self.drive.next_deadline();
            assert_ne!(at, SimTime::NEVER, "{}", self.drive.describe_waiting());
            self.until(at.0);
        }
        self.ended.last().expect("something has ended").clone()
    }

    /// Run one command to its end.
    pub fn one(&mut self, op: HostOp, sector: u64, sectors: u32) -> Ended {
        let now = self.drive.now().0;
        self.submit(now, op, sector, sectors);
        self.finish()
    }

    /// The programs and erases so far, in the order in which they came to their LUNs.
    pub fn changes(&self) -> Vec<Done> {
        let ops = &self.drive.observer().ops;
        ops.iter().filter(|op| op.kind != OpKind::Read).cloned().collect()
    }
}
