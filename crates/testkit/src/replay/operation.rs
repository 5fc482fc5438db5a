//! What one flash operation waited for and did.

use super::account::Account;
use super::history::History;
use super::write::Placed;
use tailcut_core::device::{OpKind, QueueEvent, Shape, Step, StepEvent};
use tailcut_units::{Cause, Occupant};

/// A flash operation, kept until its number is used again.
pub struct Operation {
    /// What was told when it arrived at its die.
    pub told: QueueEvent,
    /// Since when it has been in the die's queue.
    pub queued: Option<u64>,
    /// Since when it waits for the channel.
    waits: Option<u64>,
    /// When it had the channel first.
    pub started: Option<u64>,
    /// Done together with it.
    pub joined: Vec<u32>,
    /// It is suspended, or being resumed.
    suspended: bool,
    /// Waits for the channel while it was resumed.
    resuming: u64,
    /// When its last part in the array began, and how long that takes undisturbed.
    array: (u64, u64),
    /// When its data were out.
    out: u64,
    /// When it was over.
    pub ended: Option<u64>,
    /// The write unit that it programs.
    pub placed: Option<Placed>,
    /// Where its time went.
    pub account: Account,
}

impl Operation {
    /// One that arrives at its die.
    pub fn new(told: QueueEvent, placed: Option<Placed>) -> Operation {
        Operation {
            told,
            queued: Some(told.at.0),
            waits: None,
            started: None,
            joined: Vec::new(),
            suspended: false,
            resuming: 0,
            array: (0, 0),
            out: 0,
            ended: None,
            placed,
            account: Account::default(),
        }
    }

    /// Whether it is suspended or being resumed.
    pub fn is_suspended(&self) -> bool {
        self.suspended
    }

    /// From `at` on it waits for the channel.
    pub fn wait_for_channel(&mut self, at: u64) {
        self.waits = Some(at);
    }

    /// It waits for the channel no longer.
    pub fn charge_channel(&mut self, channel: &History, now: u64) {
        let Some(since) = self.waits.take() else { return };
        let before = self.account.sum();
        channel.charge(since, now, None, &mut self.account);
        if self.suspended {
            self.resuming += self.account.sum() - before;
        }
    }

    /// A step that goes on in this operation alone.
    pub fn step(&mut self, e: &StepEvent, shape: &Shape) -> Result<(), String> {
        match e.step {
            Step::Suspended => self.suspended = true,
            Step::Resuming => self.waits = Some(e.at.0),
            Step::ChannelOut => {
                let transfer = shape.timing.transfer_codewords_ns(self.told.codewords);
                let spent = e.until.0 - e.at.0;
                let stalled = spent.checked_sub(transfer).ok_or("data go out faster than the channel")?;
                self.account.add(Cause::TRANSFER, transfer);
                self.account.add(Cause::ECC_QUEUE, stalled);
                self.out = e.until.0;
            }
            _ => {}
        }
        Ok(())
    }

    /// It goes on in the array, or into it; returns the time undisturbed if into it.
    pub fn array(&mut self, e: &StepEvent, shape: &Shape) -> Result<Option<u64>, String> {
        if std::mem::take(&mut self.suspended) {
            return Ok(None);
        }
        let t = &shape.timing;
        let nominal = match e.kind {
            OpKind::Read => t.read_ns(e.page),
            OpKind::Copyback if e.occupant == Occupant::GcRead => t.read_ns(e.page),
            OpKind::Copyback | OpKind::Program => t.program_ns(e.page),
            OpKind::Erase => t.erase_ns,
        };
        if e.until.0 - e.at.0 != nominal {
            return Err(format!("{e:?} should take {nominal} ns"));
        }
        Ok(Some(nominal))
    }

    /// It, or what it joined, began in the array at `at` for `ns`.
    pub fn sensed_or_pulsed(&mut self, at: u64, ns: u64) {
        self.array = (at, ns);
        self.account.add(Cause::ARRAY, ns);
    }

    /// It is over.
    pub fn end(&mut self, now: u64, decode: u64) -> Result<(), String> {
        self.ended = Some(now);
        if self.told.kind == OpKind::Read {
            let decoding = now - self.out;
            let waited = decoding.checked_sub(decode).ok_or("data are decoded too soon")?;
            self.account.add(Cause::DECODE, decode);
            self.account.add(Cause::ECC_QUEUE, waited);
        } else {
            let (begun, nominal) = self.array;
            let beyond = (now - begun).checked_sub(nominal + self.resuming).ok_or("it ends too soon")?;
            self.account.add(Cause::SUSPENDED, beyond);
        }
        let (sum, span) = (self.account.sum(), now - self.told.at.0);
        match sum == span {
            true => Ok(()),
            false => Err(format!("operation {:?}: {sum} of {span} ns are accounted for", self.told)),
        }
    }
}
