//! What one host request waited for, and the host's side of the drive.

use super::account::Account;
use tailcut_core::device::Shape;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_units::{Cause, Command, HostOp, Span};

/// A host request under way.
pub struct Request {
    /// What is asked.
    pub command: Command,
    /// Where its time went until the drive looked at it, and while it waited for room.
    pub account: Account,
    /// When the drive looks at it: its data are there, or the controller has decided.
    pub looked_at: u64,
    /// Up to when its waits for room are accounted for.
    pub room_since: u64,
    /// Of the part that has ended last: where its time went since it was looked at.
    pub last: Option<Account>,
}

/// A unit that is computed from others.
pub struct Rebuild {
    /// Serial number of the host read.
    pub request: u64,
    /// Reads still to end.
    pub left: u32,
    /// Bytes for the host.
    pub bytes: u32,
    /// What the operation that it stands in for waited before.
    pub waited: Account,
    /// Of its last read, from the request's translation on.
    pub account: Account,
}

/// The controller and the link: one thing after the other.
#[derive(Default)]
pub struct Front {
    controller_free: u64,
    down_free: u64,
    up_free: u64,
    controller: u64,
    buffer_write: u64,
    rate: u64,
    submit: u64,
    complete: u64,
}

impl Front {
    /// The front of a drive.
    pub fn new(config: &DeviceConfig, shape: &Shape) -> Front {
        let buffer_write = match &config.policy.buffer {
            BufferConfig::Lru(lru) => lru.write_latency.0,
            BufferConfig::None(_) => 0,
        };
        Front {
            controller: config.controller.command.0,
            buffer_write,
            rate: shape.host.link_rate,
            submit: config.host.submit_latency.0,
            complete: config.host.complete_latency.0,
            ..Front::default()
        }
    }

    /// A request that the host wanted to submit at `wanted` is taken in at `at`.
    pub fn submit(&mut self, command: Command, wanted: u64, at: u64) -> Request {
        let mut account = Account::default();
        account.add(Cause::HOST_QUEUE, at - wanted);
        account.add(Cause::HOST_LATENCY, self.submit);
        let fetched = at + self.submit;
        let begun = fetched.max(self.controller_free);
        self.controller_free = begun + self.controller;
        account.add(Cause::CONTROLLER_WAIT, begun - fetched);
        account.add(Cause::CONTROLLER, self.controller);
        let mut looked_at = self.controller_free;
        if command.op == HostOp::Write {
            let begun = looked_at.max(self.down_free);
            let span = self.link(u64::from(command.bytes));
            self.down_free = begun + span;
            account.add(Cause::HOST_LINK_WAIT, begun - looked_at);
            account.add(Cause::HOST_LINK, span);
            account.add(Cause::CONTROLLER, self.buffer_write);
            looked_at = begun + span + self.buffer_write;
        }
        Request { command, account, looked_at, room_since: looked_at, last: None }
    }

    fn link(&self, bytes: u64) -> u64 {
        Span::transfer(bytes, self.rate).0
    }

    /// Data go up to the host from `now` on.
    pub fn send(&mut self, bytes: u64, now: u64, account: &mut Account) {
        let begun = now.max(self.up_free);
        let span = self.link(bytes);
        self.up_free = begun + span;
        account.add(Cause::HOST_LINK_WAIT, begun - now);
        account.add(Cause::HOST_LINK, span);
    }

    /// From the drive's answer to the host's knowing.
    pub fn complete(&self, account: &mut Account) {
        account.add(Cause::HOST_LATENCY, self.complete);
    }
}
