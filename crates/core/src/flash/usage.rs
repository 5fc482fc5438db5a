//! The time in use of dies, planes and channels.

use super::account;
use super::plane_reads::{PlaneRead, Stage};
use super::state::Flash;
use super::unit::{Phase, Run, Unit};
use crate::address::BusyUnit;
use crate::containers::NONE;
use crate::nand::OpKind;
use crate::observer::Observer;
use tailcut_units::Occupant;

/// Times of all channels together, up to a given time, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelTime {
    /// Time that has passed, summed over all channels.
    pub total: u64,
    /// Time in which an operation held the channel.
    pub granted: u64,
    /// Part of `granted` in which nothing was transferred because the decoder was full. A stall is added in full at the
    /// beginning of its transfer.
    pub stalled: u64,
    /// Part of `granted` used for pages that did not decode. It is added in full at the beginning of a transfer.
    pub uncorrectable: u64,
}

impl ChannelTime {
    /// The difference to an earlier value.
    pub fn since(&self, earlier: &ChannelTime) -> ChannelTime {
        let granted = self.granted - earlier.granted;
        ChannelTime {
            total: self.total - earlier.total,
            granted,
            stalled: (self.stalled - earlier.stalled).min(granted),
            uncorrectable: (self.uncorrectable - earlier.uncorrectable).min(granted),
        }
    }
}

impl<O: Observer> Flash<O> {
    /// By busy unit: time, ns, in which an operation held it or was being stopped, suspended or resumed there.
    pub fn units_taken(&self) -> Vec<u64> {
        self.state.units.iter().map(|u| u.taken(self.state.now)).collect()
    }

    /// By unit: array time, ns, counted once for each plane addressed.
    pub fn planes_taken(&self) -> Vec<u64> {
        let units = (0..).map(BusyUnit).zip(&self.state.units);
        units.map(|(number, u)| u.plane_ns.saturating_sub(self.array_ahead(number, u))).collect()
    }

    /// By channel: time, ns, in which an operation held it.
    pub fn channels_taken(&self) -> Vec<u64> {
        self.state.channels.iter().map(|c| c.spent(self.state.now).iter().sum()).collect()
    }

    /// Time of all channels granted so far, ns, by occupant in the order of [`Occupant::ALL`].
    pub fn channel_busy(&self) -> [u64; Occupant::COUNT] {
        let mut sum = [0; Occupant::COUNT];
        for channel in &self.state.channels {
            for (total, ns) in sum.iter_mut().zip(channel.granted) {
                *total += ns;
            }
        }
        sum
    }

    /// The times of all channels together up to now.
    pub fn channel_time(&self) -> ChannelTime {
        let (s, now) = (&self.state, self.state.now);
        let mut time = ChannelTime { total: now * s.channels.len() as u64, ..Default::default() };
        for channel in &s.channels {
            time.granted += channel.spent(now).iter().sum::<u64>();
            time.stalled += channel.stalled;
        }
        time.uncorrectable = s.sensing.uncorrectable_ns;
        time
    }

    /// Array time of a unit that is already counted but lies in the future, multiplied by the number of planes.
    fn array_ahead(&self, number: BusyUnit, unit: &Unit) -> u64 {
        let s = &self.state;
        let planes = |op: u32| match s.ops[op].cmd.kind {
            OpKind::Read => u64::from(s.joined(op).0),
            _ => u64::from(s.ops[op].cmd.planes.count_ones()),
        };
        let left = |run: &Run| run.course.left() * planes(run.op);
        let stopped: u64 = unit.suspended().iter().map(left).sum();
        let held = match unit.phase {
            Phase::Array => {
                let op = &s.ops[unit.holder];
                let t = &self.fixed.timing;
                let array = match op.cmd.kind {
                    OpKind::Read => self.sense_ns(unit.holder),
                    OpKind::Copyback if !op.second => t.read_ns(op.cmd.page),
                    OpKind::Program | OpKind::Copyback => {
                        self.program_timing(unit.holder).program_ns(op.cmd.page)
                    }
                    OpKind::Erase => self.erase_ns(unit.holder),
                };
                unit.until.saturating_sub(s.now).min(array) * planes(unit.holder)
            }
            Phase::Stopping | Phase::Suspending | Phase::Resuming => left(&unit.run),
            // The data of a suspended program are being transferred again.
            Phase::Channel if unit.account.slot() == account::OVERHEAD => left(&unit.run),
            Phase::Ahead if unit.holder != NONE => unit.until.saturating_sub(s.now) * planes(unit.holder),
            Phase::Reading => {
                let reads = s.plane_reads.each(number, unit.reading);
                let sensed = reads.filter(|read| read.stage == Stage::Array);
                let left = |read: &PlaneRead| read.until.saturating_sub(s.now).min(self.sense_ns(read.op));
                sensed.map(|read| left(read) * u64::from(read.planes.count_ones())).sum()
            }
            // A dropped sense is counted at the beginning of the transfer.
            Phase::Idle | Phase::Channel | Phase::Out | Phase::Ahead => 0,
        };
        stopped + held
    }
}
