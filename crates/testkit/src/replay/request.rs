//! The waits of one host request, and the host interface of the drive.

use super::account::Account;
use super::history::History;
use tailcut_core::device::RingWait;
use tailcut_core::device::config::{DeviceConfig, Transfer};
use tailcut_core::ftl::config::FtlKind;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_units::{Cause, Command, HostOp, Span};

/// A host request under way.
pub struct Request {
    /// The host command.
    pub command: Command,
    /// Nanoseconds by cause until `looked_at`, and of waits for buffer room.
    pub account: Account,
    /// Time at which the drive processes the request: the controller is done and the data of a
    /// write have arrived, ns.
    pub looked_at: u64,
    /// Time up to which the waits for buffer room are accounted for, ns.
    pub room_since: u64,
    /// Whether it is a write with forced unit access that is wholly in the buffer, since `room_since`.
    pub forced: bool,
    /// The account of the part that ended last, from `looked_at` on.
    pub last: Option<Account>,
    /// pblk: when the sectors of a read that are through the controller were through, and how many they are.
    pub passed: Option<(u64, u64)>,
    /// Where the data of a read are sent whole: its bytes that are in the controller, and when the last
    /// of them came.
    pub gathered: (u64, u64),
}

impl Request {
    /// A request that the drive processes at a time.
    fn looked_at(command: Command, account: Account, at: u64) -> Request {
        Request {
            command,
            account,
            looked_at: at,
            room_since: at,
            forced: false,
            last: None,
            passed: None,
            gathered: (0, 0),
        }
    }
}

/// The reconstruction of a unit from the rest of its stripe.
pub struct Rebuild {
    /// Serial number of the host read.
    pub request: u64,
    /// Reads that have not ended yet.
    pub left: u32,
    /// Whether one of them has failed.
    pub failed: bool,
    /// Bytes of the unit that the host asked for.
    pub bytes: u32,
    /// The account of the read that was replaced, up to its withdrawal.
    pub waited: Account,
    /// The account of the last read of the reconstruction, from the request's translation on.
    pub account: Account,
}

/// The controller and the host link; each serves in order, one at a time.
#[derive(Default)]
pub struct Front {
    controller_free: u64,
    down_free: u64,
    pub up_free: u64,
    controller: u64,
    buffer_write: u64,
    rate: u64,
    rate_from_host: u64,
    whole: bool,
    submit: u64,
    complete: u64,
    /// pblk on the host, if it is there.
    pub pblk: Option<Pblk>,
}

/// What a drive under pblk has before the flash.
pub struct Pblk {
    /// Time of a vector command in the controller, and of each sector of it that is read, ns.
    command: u64,
    sector: u64,
    /// Codewords of a sector.
    codewords: u64,
    /// For what writes wait before the ring.
    waits: History,
}

impl Pblk {
    fn of(config: &DeviceConfig) -> Pblk {
        let p = &config.pblk;
        Pblk {
            command: p.command.unwrap_or(config.controller.command).0,
            sector: p.read_sector.unwrap_or(Span::ZERO).0,
            codewords: 4096 / config.ecc.codeword,
            waits: History::default(),
        }
    }

    /// A read of a request arrives at its die: what it waited for since the look-up. What the controller does not need
    /// for the sectors of its command so far is waiting for other commands, whose sectors it takes in turn.
    pub fn read_arrives(&self, r: &mut Request, now: u64, codewords: u32) -> Result<Account, String> {
        let sectors = u64::from(codewords) / self.codewords;
        let (last, before) = r.passed.unwrap_or((r.looked_at + self.command, 0));
        if now < last + sectors * self.sector {
            return Err(format!(
                "a read of {sectors} sectors arrives at {now}, and its command was that far at {last}"
            ));
        }
        r.passed = Some((now, before + sectors));
        let own = self.command + (before + sectors) * self.sector;
        let mut account = Account::default();
        account.add(Cause::CONTROLLER_WAIT, now - r.looked_at - own);
        account.add(Cause::CONTROLLER, own);
        Ok(account)
    }
}

impl Front {
    /// The controller and link of a drive.
    pub fn new(config: &DeviceConfig) -> Front {
        let buffer_write = match &config.policy.buffer {
            BufferConfig::Lru(lru) => lru.write_latency.0,
            BufferConfig::None(_) => 0,
        };
        Front {
            controller: config.controller.command.0,
            buffer_write,
            rate: config.host.link_rate,
            rate_from_host: config.host.write_link_rate.unwrap_or(config.host.link_rate),
            whole: config.host.transfer == Transfer::Whole && config.ftl.kind == FtlKind::Page,
            pblk: (config.ftl.kind == FtlKind::Pblk).then(|| Pblk::of(config)),
            submit: config.host.submit_latency.0,
            complete: config.host.complete_latency.0,
            ..Front::default()
        }
    }

    /// A request that the host wanted to submit at `wanted` is submitted at `at`.
    pub fn submit(&mut self, command: Command, wanted: u64, at: u64) -> Request {
        let mut account = Account::default();
        account.add(Cause::HOST_QUEUE, at - wanted);
        account.add(Cause::HOST_LATENCY, self.submit);
        let fetched = at + self.submit;
        if self.pblk.is_some() {
            return Request::looked_at(command, account, fetched);
        }
        let begun = fetched.max(self.controller_free);
        self.controller_free = begun + self.controller;
        account.add(Cause::CONTROLLER_WAIT, begun - fetched);
        account.add(Cause::CONTROLLER, self.controller);
        let mut looked_at = self.controller_free;
        if command.op == HostOp::Write {
            let begun = looked_at.max(self.down_free);
            let span = Span::transfer(u64::from(command.bytes), self.rate_from_host).0;
            self.down_free = begun + span;
            account.add(Cause::HOST_LINK_WAIT, begun - looked_at);
            account.add(Cause::HOST_LINK, span);
            account.add(Cause::CONTROLLER, self.buffer_write);
            looked_at = begun + span + self.buffer_write;
        }
        Request::looked_at(command, account, looked_at)
    }

    fn link(&self, bytes: u64) -> u64 {
        Span::transfer(bytes, self.rate).0
    }

    /// A part of a read, with `bytes` for the host, has ended by `now`, after `account`.
    pub fn part(&mut self, r: &mut Request, bytes: u64, now: u64, mut account: Account) {
        if self.whole {
            r.gathered = (r.gathered.0 + bytes, now);
        } else {
            self.send(bytes, now, &mut account);
        }
        r.last = Some(account);
    }

    /// A request has ended. If its data were sent whole, they were sent when the last of them came. The link
    /// serves reads in the order in which they end.
    pub fn ended(&mut self, r: &mut Request) {
        let (bytes, at) = r.gathered;
        if self.whole
            && let Some(account) = &mut r.last
        {
            self.send(bytes, at, account);
        }
        self.complete(&mut r.account);
    }

    /// A read has got what its first command gives, which failed in part, and its second one comes to the device at `now`.
    pub fn read_again(&self, r: &mut Request, now: u64) {
        if let Some(first) = r.last.take() {
            r.account.merge(&first.retried());
        }
        r.account.add(Cause::HOST_LATENCY, self.complete + self.submit);
        (r.looked_at, r.passed) = (now, None);
    }

    /// From `now` on the first write that waits before the ring waits for this.
    pub fn wait_for(&mut self, reason: RingWait, now: u64) {
        if let Some(pblk) = &mut self.pblk {
            pblk.waits.change(now, Some(reason.cause()));
        }
    }

    /// A write has waited before the ring from `since` to `now`.
    pub fn waited(&self, since: u64, now: u64, account: &mut Account) {
        if let Some(pblk) = &self.pblk {
            pblk.waits.charge(since, now, Some(Cause::ADMISSION), account);
        }
    }

    /// Send `bytes` to the host from `now` on and charge the time.
    pub fn send(&mut self, bytes: u64, now: u64, account: &mut Account) {
        let begun = now.max(self.up_free);
        let span = self.link(bytes);
        self.up_free = begun + span;
        account.add(Cause::HOST_LINK_WAIT, begun - now);
        account.add(Cause::HOST_LINK, span);
    }

    /// Charge the host's time to take the completion.
    fn complete(&self, account: &mut Account) {
        account.add(Cause::HOST_LATENCY, self.complete);
    }
}
