//! A host around one device: submits, lets time pass, collects completions.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, Observer};
use tailcut_units::{Command, HostOp, Ledger, SimTime, Status};

/// A command that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// Submission number.
    pub index: u64,
    /// What was asked.
    pub command: Command,
    /// From the submission to the end, ns.
    pub latency: u64,
    /// When it ended.
    pub at: SimTime,
    /// How.
    pub status: Status,
    /// What it waited for.
    pub ledger: Ledger,
}

/// A device and all that has completed so far.
pub struct Host<O: Observer = ()> {
    /// The device.
    pub device: Device<O>,
    /// Completions in order.
    pub done: Vec<Done>,
}

impl Host<()> {
    /// A host with a new drive.
    pub fn new(config: &DeviceConfig) -> Host<()> {
        Host::observed(config, ())
    }
}

impl<O: Observer> Host<O> {
    /// A host with a new drive and an onlooker.
    pub fn observed(config: &DeviceConfig, observer: O) -> Host<O> {
        let device = Device::new(config, 1, observer).unwrap_or_else(|e| panic!("{e}"));
        Host { device, done: Vec::new() }
    }

    /// Let time pass to `at`.
    pub fn advance(&mut self, at: u64) {
        let done = &mut self.done;
        self.device.advance(SimTime(at), &mut |c| {
            done.push(Done {
                index: c.index,
                command: c.command,
                latency: (c.completed - c.arrived).0,
                at: c.completed,
                status: c.status,
                ledger: *c.ledger,
            });
        });
    }

    /// Submit at `at`; the device queue must have a place.
    pub fn submit(&mut self, at: u64, op: HostOp, offset: u64, bytes: u32) -> u64 {
        self.advance(at);
        let command = Command { op, offset, bytes };
        self.device.submit(SimTime(at), SimTime(at), command, 0).expect("a place in the queue")
    }

    /// Run until nothing happens by itself any more.
    pub fn drain(&mut self) {
        const MOST: u32 = 20_000_000;
        let mut steps = 0;
        while self.device.next_deadline() != SimTime::NEVER {
            self.advance(self.device.next_deadline().0);
            steps += 1;
            assert!(steps < MOST, "the drive never comes to rest: {}", self.device.describe_waiting());
        }
        assert_eq!(self.device.outstanding(), 0, "every command ends");
    }

    /// Submit, run to the end, and return the completion.
    pub fn one(&mut self, at: u64, op: HostOp, offset: u64, bytes: u32) -> Done {
        let index = self.submit(at, op, offset, bytes);
        self.drain();
        self.done.iter().find(|d| d.index == index).expect("it completed").clone()
    }
}
