//! A host for one device: submits commands, advances time and collects completions.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, Observer};
use tailcut_units::{Command, HostOp, Ledger, SimTime, Status};

/// A command that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// Submission number.
    pub index: u64,
    /// The command.
    pub command: Command,
    /// Time from the submission to the end, ns.
    pub latency: u64,
    /// Time of the end.
    pub at: SimTime,
    /// How the command ended.
    pub status: Status,
    /// Nanoseconds by cause.
    pub ledger: Ledger,
}

/// A device and all that has completed so far.
pub struct Host<O: Observer = ()> {
    /// The device.
    pub device: Device<O>,
    /// Completions in the order of their ends.
    pub done: Vec<Done>,
}

impl Host<()> {
    /// A host with a new drive.
    pub fn new(config: &DeviceConfig) -> Host<()> {
        Host::observed(config, ())
    }
}

impl<O: Observer> Host<O> {
    /// A host with a new drive and an observer.
    pub fn observed(config: &DeviceConfig, observer: O) -> Host<O> {
        let device = Device::new(config, 1, observer).unwrap_or_else(|e| panic!("{e}"));
        Host { device, done: Vec::new() }
    }

    /// Advance time to `at`, ns.
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

    /// Submit a command at `at`, ns; the device queue must have a free place. Returns the
    /// submission number.
    pub fn submit(&mut self, at: u64, op: HostOp, offset: u64, bytes: u32) -> u64 {
        self.submit_command(at, Command::new(op, offset, bytes))
    }

    /// Like `submit`, of a whole command.
    pub fn submit_command(&mut self, at: u64, command: Command) -> u64 {
        self.advance(at);
        self.device.submit(SimTime(at), SimTime(at), command, 0).expect("a place in the queue")
    }

    /// Run until the drive is idle.
    pub fn drain(&mut self) {
        const MOST: u32 = 20_000_000;
        let mut steps = 0;
        while self.device.next_deadline() != SimTime::NEVER {
            self.advance(self.device.next_deadline().0);
            steps += 1;
            assert!(steps < MOST, "the drive never becomes idle: {}", self.device.describe_waiting());
        }
        assert_eq!(self.device.outstanding(), 0, "every command ends");
    }

    /// Submit a command, run until the drive is idle, and return the command's completion.
    pub fn one(&mut self, at: u64, op: HostOp, offset: u64, bytes: u32) -> Done {
        self.one_command(at, Command::new(op, offset, bytes))
    }

    /// Like `one`, of a whole command.
    pub fn one_command(&mut self, at: u64, command: Command) -> Done {
        let index = self.submit_command(at, command);
        self.drain();
        self.done.iter().find(|d| d.index == index).expect("it completed").clone()
    }
}
