//! How long dies, planes and channels were in use.

use super::account;
use super::state::Flash;
use super::unit::{Phase, Run, Unit};
use crate::nand::OpKind;
use crate::observer::Observer;
use tailcut_units::Occupant;

/// Nanoseconds of all channels together, up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelTime {
    /// All of it.
    pub total: u64,
    /// Held by an operation.
    pub granted: u64,
    /// Held by an operation and moving nothing, because the decoder had no room; a stall
    /// counts in full from the beginning of its transfer.
    pub stalled: u64,
}

impl ChannelTime {
    /// What has passed since an earlier moment.
    pub fn since(&self, earlier: &ChannelTime) -> ChannelTime {
        let granted = self.granted - earlier.granted;
        ChannelTime {
            total: self.total - earlier.total,
            granted,
            stalled: (self.stalled - earlier.stalled).min(granted),
        }
    }
}

impl<O: Observer> Flash<O> {
    /// By unit: nanoseconds in which an operation had it, or was being stopped, suspended or
    /// resumed there.
    pub fn units_taken(&self) -> Vec<u64> {
        self.state.units.iter().map(|u| u.taken(self.state.now)).collect()
    }

    /// By unit: nanoseconds in the array, once for each plane that was addressed.
    pub fn planes_taken(&self) -> Vec<u64> {
        let taken = |(number, u): (usize, &Unit)| u.plane_ns.saturating_sub(self.array_ahead(number, u));
        self.state.units.iter().enumerate().map(taken).collect()
    }

    /// By channel: nanoseconds in which an operation had it.
    pub fn channels_taken(&self) -> Vec<u64> {
        self.state.channels.iter().map(|c| c.spent(self.state.now).iter().sum()).collect()
    }

    /// Nanoseconds of all channels' time granted so far, by occupant in their order.
    pub fn channel_busy(&self) -> [u64; Occupant::COUNT] {
        let mut sum = [0; Occupant::COUNT];
        for channel in &self.state.channels {
            for (total, ns) in sum.iter_mut().zip(channel.granted) {
                *total += ns;
            }
        }
        sum
    }

    /// What all channels together have done up to now.
    pub fn channel_time(&self) -> ChannelTime {
        let (s, now) = (&self.state, self.state.now);
        let mut time = ChannelTime { total: now * s.channels.len() as u64, ..Default::default() };
        for channel in &s.channels {
            time.granted += channel.spent(now).iter().sum::<u64>();
            time.stalled += channel.stalled;
        }
        time
    }

    /// Array time of a unit that is counted and still to come, by planes.
    fn array_ahead(&self, number: usize, unit: &Unit) -> u64 {
        let s = &self.state;
        let planes = |op: u32| match s.ops[op].cmd.kind {
            OpKind::Read => u64::from(s.joined_planes(op)),
            _ => u64::from(s.ops[op].cmd.planes.count_ones()),
        };
        let left = |run: &Run| run.course.left() * planes(run.op);
        let stopped: u64 = unit.suspended().iter().map(left).sum();
        let held = match unit.phase {
            Phase::Array => {
                let op = &s.ops[unit.holder];
                let t = &self.fixed.timing;
                let array = match op.cmd.kind {
                    OpKind::Read => t.read_ns(op.cmd.page),
                    OpKind::Copyback if !op.second => t.read_ns(op.cmd.page),
                    OpKind::Program | OpKind::Copyback => t.program_ns(op.cmd.page),
                    OpKind::Erase => t.erase_ns,
                };
                s.timers.deadline(number).saturating_sub(s.now).min(array) * planes(unit.holder)
            }
            Phase::Stopping | Phase::Suspending | Phase::Resuming => left(&unit.run),
            // A suspended program whose data come again.
            Phase::Channel if unit.account.slot() == account::OVERHEAD => left(&unit.run),
            Phase::Idle | Phase::Channel | Phase::Out => 0,
        };
        stopped + held
    }
}
