//! How long the parts of the drive were in use.

use super::drive::Device;
use super::medium::Medium;
use super::observer::Observer;
use super::op::{OpKind, WAIT_OVERHEAD};
use super::server::{Phase, Run, Unit};

/// Nanoseconds in which parts of the drive were in use, up to a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The moment.
    pub at: u64,
    /// By die, or by plane where planes are the busy unit: an operation had it, from its
    /// command to its last byte, and no other could begin.
    pub units: Vec<u64>,
    /// By the same: in the array, once for each plane that was addressed.
    pub planes: Vec<u64>,
    /// By channel: an operation had it.
    pub channels: Vec<u64>,
    /// To the host and from the host: the link moved data.
    pub link: [u64; 2],
}

impl Usage {
    /// What came to it since an earlier moment.
    pub fn since(&self, earlier: &Usage) -> Usage {
        // What is under way is an estimate where suspensions repeat it, so it may fall.
        let each = |now: &[u64], then: &[u64]| {
            now.iter()
                .enumerate()
                .map(|(i, ns)| ns.saturating_sub(then.get(i).copied().unwrap_or(0)))
                .collect()
        };
        let link = [0, 1].map(|way| self.link[way].saturating_sub(earlier.link[way]));
        Usage {
            at: self.at - earlier.at,
            units: each(&self.units, &earlier.units),
            planes: each(&self.planes, &earlier.planes),
            channels: each(&self.channels, &earlier.channels),
            link,
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// How long everything was in use since the drive was made. What has been granted and is
    /// still to come is not in it.
    pub fn usage(&self) -> Usage {
        let s = &self.state;
        let planes = |(number, unit): (usize, &Unit)| {
            unit.plane_ns.saturating_sub(self.array_ahead(number as u32, unit))
        };
        Usage {
            at: s.now,
            units: s.units.iter().map(|u| u.taken(s.now)).collect(),
            planes: s.units.iter().enumerate().map(planes).collect(),
            channels: s.channels.iter().map(|c| c.spent(s.now).iter().sum()).collect(),
            link: self.link_ns(),
        }
    }

    /// Array time of a unit that is counted and still to come, by planes.
    fn array_ahead(&self, number: u32, unit: &Unit) -> u64 {
        let s = &self.state;
        let planes = |op: u32| match s.ops[op].kind {
            OpKind::Read => u64::from(self.joined_planes(op)),
            _ => u64::from(s.ops[op].planes.count_ones()),
        };
        let suspended = &unit.stack[..usize::from(unit.suspended)];
        let left = |run: &Run| (run.total - run.progress) * planes(run.op);
        let stopped: u64 = suspended.iter().map(left).sum();
        let held = match unit.phase {
            Phase::Array => {
                let op = &s.ops[unit.holder];
                let t = &self.shape.timing;
                let array = match op.kind {
                    OpKind::Read => t.read_ns(op.page),
                    OpKind::Copyback if !op.second => t.read_ns(op.page),
                    OpKind::Program | OpKind::Copyback => t.program_ns(op.page),
                    OpKind::Erase => t.erase_ns,
                };
                let end = s.timers.deadline(self.timer_of_unit(number));
                end.saturating_sub(s.now).min(array) * planes(unit.holder)
            }
            Phase::Stopping | Phase::Suspending | Phase::Resuming => left(&unit.run),
            // A suspended program whose data come again.
            Phase::Channel if usize::from(unit.slot) == WAIT_OVERHEAD => left(&unit.run),
            Phase::Idle | Phase::Channel | Phase::Out => 0,
        };
        stopped + held
    }
}
