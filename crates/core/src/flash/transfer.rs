//! Decides which operation gets a channel next, and transfers its command or data.

use super::channel::{self, Spent};
use super::op::{FlashCommand, Op, OpId};
use super::plane_reads::Stage;
use super::state::{Flash, FlashState};
use super::unit::Phase;
use crate::containers::NONE;
use crate::nand::OpKind;
use crate::nand::ecc::Decoding;
use crate::observer::{Observer, Step};
use tailcut_units::{Cause, Occupant};

impl FlashState {
    /// Charge the wait of an operation for its channel. `spent` are the channel's times so far.
    #[inline]
    pub(super) fn charge_channel_wait(&mut self, id: u32, spent: &Spent) {
        let op = &mut self.ops[id];
        let seen = channel::part(&op.seen);
        op.ledger.charge_each(Cause::channel_wait(Occupant::ALL[0]), spent, seen);
        if channel::met_collection(spent, seen) {
            let u = &mut self.units[op.cmd.unit.index()];
            match u.phase {
                Phase::Reading => self.plane_reads.of(op.cmd.unit, op.cmd.planes).met_collection = true,
                // Only a cached program waits while another operation is in the array.
                Phase::Array => self.caches[op.cmd.unit.index()].met_collection = true,
                _ => u.met_collection = true,
            }
            if op.cmd.tag != NONE {
                self.commands.meets_collection(op.cmd.tag);
            }
        }
    }
}

impl<O: Observer> Flash<O> {
    /// Give the channel to an operation that has its die, or queue it for the channel.
    #[inline]
    pub(super) fn request_channel(&mut self, id: u32) {
        let s = &mut self.state;
        let now = s.now;
        let op = &mut s.ops[id];
        let number = op.channel;
        let channel = &mut s.channels[number as usize];
        if channel.is_free(now) {
            let (second, kind) = (op.second, op.cmd.kind);
            return self.use_channel(id, second, kind);
        }
        let spent = channel.spent(now);
        op.seen[..Occupant::COUNT].copy_from_slice(&spent);
        // The operations that joined it wait with it until the command is sent.
        let queue = self.fixed.grants.queue(op);
        let mut along = if op.second { NONE } else { op.joined };
        while along != NONE {
            let o = &mut s.ops[along];
            o.seen[..Occupant::COUNT].copy_from_slice(&spent);
            along = o.joined;
        }
        channel.push(queue, &mut s.ops, id);
        self.await_channel(number);
    }

    /// Give the free channel to the next waiter, and charge its wait.
    #[inline]
    pub(super) fn channel_grant(&mut self, number: u32) {
        let s = &mut self.state;
        let channel = &mut s.channels[number as usize];
        let id = channel.take_next(&mut s.ops);
        channel.awaited = false;
        let granted = channel.granted;
        let Op { second, cmd: FlashCommand { kind, .. }, .. } = s.ops[id];
        let mut at = id;
        while at != NONE {
            s.charge_channel_wait(at, &granted);
            at = if second { NONE } else { s.ops[at].joined };
        }
        self.use_channel(id, second, kind);
        if self.state.channels[number as usize].has_waiters() {
            self.await_channel(number);
        }
    }

    /// Start the transfer for which the operation needs the channel.
    #[inline(always)]
    fn use_channel(&mut self, id: u32, second: bool, kind: OpKind) {
        let errors = self.fixed.senses.is_some();
        match (second, kind) {
            (true, OpKind::Read) if errors => self.data_out_of_senses(id),
            (true, OpKind::Read) => self.data_out(id),
            (true, OpKind::Program) => self.transfer_again(id),
            _ if errors => self.start_with_senses(id),
            _ => self.command_in(id),
        }
    }

    /// Send the command and a program's data, then start the array operation. (Not inlined, like the next function:
    /// both are large and called from two places.)
    #[inline(never)]
    fn command_in(&mut self, id: u32) {
        self.start(id, None, 0);
    }

    /// Start an operation on a drive whose pages have raw bit errors.
    #[inline(never)]
    fn start_with_senses(&mut self, id: u32) {
        let reads = self.state.ops[id].cmd.kind == OpKind::Read;
        let (sense, beyond) = if reads { self.plan_senses(id) } else { (None, 0) };
        self.start(id, sense, beyond);
    }

    /// Start an erase or a program whose time depends on its blocks, or a program of a die with a cache register.
    #[cold]
    #[inline(never)]
    fn start_planned(&mut self, id: u32) {
        if self.fixed.cache_program && self.state.ops[id].cmd.kind == OpKind::Program {
            return self.start_beside_cache(OpId(id));
        }
        self.start_as_planned(id);
    }

    /// Start an erase or a program whose time depends on its blocks.
    #[inline(never)]
    pub(super) fn start_as_planned(&mut self, id: u32) {
        self.start(id, Some(self.planned_ns(id)), 0);
    }

    /// Send the command and start the array operation. `planned` is the array time if it depends on pages or blocks.
    /// `beyond` is the time of a read's senses in addition to the first one. (Inlined into several callers, so that
    /// ordinary operations do not pay for the special cases.)
    #[inline(always)]
    fn start(&mut self, id: u32, planned: Option<u64>, beyond: u64) {
        let s = &mut self.state;
        let now = s.now;
        let t = &self.fixed.timing;
        let joined = if s.ops[id].joined == NONE { None } else { Some(s.joined(id)) };
        let op = &mut s.ops[id];
        let (planes, codewords) = joined.unwrap_or_else(|| (op.cmd.plane_count(), op.cmd.codewords));
        let (kind, page) = (op.cmd.kind, op.cmd.page);
        let command = t.command_ns * u64::from(planes);
        let (data, array) = match kind {
            OpKind::Read => (0, planned.unwrap_or_else(|| t.read_ns(page))),
            OpKind::Program => match planned {
                Some(ns) => (t.transfer_codewords_ns(codewords), ns),
                None if self.fixed.plans_programs => return self.start_planned(id),
                None => (t.transfer_codewords_ns(codewords), t.program_ns(page)),
            },
            OpKind::Erase => match planned {
                Some(ns) => (0, ns),
                None if self.fixed.eraser.is_some() => return self.start_planned(id),
                None => (0, t.erase_ns_of(page)),
            },
            OpKind::Copyback if op.second => match planned {
                Some(ns) => (0, ns),
                None if self.fixed.slow_programs.is_some() => return self.start_planned(id),
                None => (0, t.program_ns(page)),
            },
            OpKind::Copyback => (0, t.read_ns(page)),
        };
        op.started = now;
        let (unit, occupant) = (op.cmd.unit, op.cmd.occupant);
        s.counters.count_array(op, planes, array + beyond);
        op.ledger.charge(Cause::COMMAND, command);
        op.ledger.charge(Cause::TRANSFER, data);
        op.ledger.charge(Cause::ARRAY, array);
        let array = array + beyond;
        let along = if kind == OpKind::Read { NONE } else { op.joined };
        s.channels[op.channel as usize].occupy(occupant, now, command + data);
        let u = &mut s.units[unit.index()];
        u.plane_ns += array * u64::from(planes);
        let begun = now + command + data;
        if u.phase == Phase::Reading {
            let read = s.plane_reads.of(unit, op.cmd.planes);
            (read.stage, read.until) = (Stage::Array, begun + array);
        } else {
            u.enters(Phase::Array);
            u.until = begun + array;
        }
        self.observe(id, Step::ChannelIn, begun);
        self.observe_joined(along, id, now);
        self.observe_from(id, Step::Array, begun, begun + array);
        if self.fixed.faults.is_some() && self.fixed.senses.is_none() {
            self.prefetch_blocks(id);
        }
        if kind == OpKind::Read {
            return self.set_sensed(unit, OpId(id), self.fixed.timing.page_type(page), begun + array);
        }
        if data > 0 && self.fixed.tells_transfers {
            self.await_channel(self.state.units[unit.index()].channel);
        }
        let may_be_interrupted = !self.fixed.interrupters[occupant as usize].is_empty();
        self.set_ended(unit, kind, may_be_interrupted, begun + array);
        if may_be_interrupted {
            self.begin_run(id, begun, array);
        }
    }

    /// Transfer a sensed page from its register to the decoder, codeword by codeword.
    #[inline(never)]
    fn data_out(&mut self, id: u32) {
        let s = &mut self.state;
        let op = &s.ops[id];
        let transfer = self.fixed.timing.transfer_codewords_ns(op.cmd.codewords);
        let d = s.decoders[op.channel as usize].transfer(s.now, op.cmd.codewords, transfer);
        self.go_out::<false>(id, transfer, d, false);
    }

    /// [`Flash::data_out`] on a drive whose pages have raw bit errors.
    #[inline(never)]
    fn data_out_of_senses(&mut self, id: u32) {
        let transfer = self.fixed.timing.transfer_codewords_ns(self.state.ops[id].cmd.codewords);
        if self.state.sensing.attempts[id as usize].is_plain()
            && let Some(d) = self.transfer_apart(id, transfer)
        {
            return self.go_out::<true>(id, transfer, d, false);
        }
        self.data_out_of_any_senses(id, transfer);
    }

    /// [`Flash::data_out`] for reads that are not plain.
    #[inline(never)]
    fn data_out_of_any_senses(&mut self, id: u32, transfer: u64) {
        let (transfer, d, ahead) = self.transfer_to_decoder(id, transfer);
        self.go_out::<true>(id, transfer, d, ahead);
    }

    /// Transfer a page whose decoding was planned. `ahead`: its die continues with a speculative sense. `ERRORS`: pages
    /// have raw bit errors. (Compiled for each case, so that drives without errors do not pay for them.)
    #[inline(always)]
    fn go_out<const ERRORS: bool>(&mut self, id: u32, transfer: u64, d: Decoding, ahead: bool) {
        let s = &mut self.state;
        let now = s.now;
        let op = &mut s.ops[id];
        let number = op.channel;
        op.ledger.charge(Cause::TRANSFER, transfer);
        op.ledger.charge(Cause::ECC_QUEUE, d.stalled + d.waited);
        op.ledger.charge(Cause::DECODE, d.done - d.channel_free - d.waited - d.predicted);
        let unit = op.cmd.unit;
        let channel = &mut s.channels[number as usize];
        channel.occupy(op.cmd.occupant, now, d.channel_free - now);
        channel.stalled += d.stalled;
        let u = &mut s.units[unit.index()];
        if ahead {
            channel.out = NONE;
        } else if u.phase == Phase::Reading {
            u.leaving = op.cmd.planes.trailing_zeros();
            u.awaited = true;
            channel.out = unit.0;
            s.plane_reads.of(unit, op.cmd.planes).stage = Stage::Out;
        } else if u.joined == 0 {
            u.enters(Phase::Out);
            u.until = d.channel_free;
            u.awaited = !u.queues.waiting().is_empty() || u.suspended != 0;
            channel.out = unit.0;
        } else {
            // The next read that was sensed together with it becomes the holder.
            u.joined -= 1;
            u.holder = op.joined;
        }
        // While reads that were sensed together remain, the end of a transfer does not release the unit.
        let mut awaited = u.awaited;
        if std::mem::take(&mut op.along) {
            self.observe(id, Step::Granted, now);
        }
        self.observe(id, Step::ChannelOut, d.channel_free);
        if ERRORS {
            self.observe_from(id, Step::Decode, d.channel_free + d.waited, d.done);
            if ahead {
                self.keep_sensing(id, d.channel_free, d.done);
            }
        }
        if d.done == d.channel_free {
            self.state.channels[number as usize].decoded = id;
            awaited = true;
        } else {
            self.set_decoded(number, id, d.done);
        }
        if awaited {
            self.await_channel(number);
        }
    }
}
