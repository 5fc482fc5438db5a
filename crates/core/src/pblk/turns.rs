//! The server of reads in the controller. It serves the vector commands round-robin, one sector at a time.
//!
//! The time of a command is added to its first sector. A read of one sector therefore does not wait for all sectors
//! of an earlier vector command.

use crate::containers::NONE;
use crate::flash::OpId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A vector command that the controller serves.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Turn {
    /// The operation of its next sector, and the sectors of this operation that are left.
    op: u32,
    left: u32,
    /// When the command arrived, and its service time so far, ns.
    came: u64,
    own: u64,
    /// Whether its first sector was served.
    begun: bool,
}

/// An operation whose last sector was served. It is submitted to the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Through {
    pub op: OpId,
    /// Waiting time and service time of its command so far, ns.
    pub waited: u64,
    pub own: u64,
}

/// The commands in the controller. The first one is being served.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Turns {
    queue: VecDeque<Turn>,
    /// By operation: the next operation of its command, and its number of sectors.
    next: Vec<(u32, u32)>,
    /// Time for a command and for a sector, ns.
    command: u64,
    sector: u64,
}

impl Turns {
    /// Create an idle server for up to `ops` operations.
    pub fn new(ops: u32, command: u64, sector: u64) -> Turns {
        Turns {
            queue: VecDeque::with_capacity(ops as usize),
            next: vec![(NONE, 0); ops as usize],
            command,
            sector,
        }
    }

    /// A command with these operations arrives at `now`. `sectors` gives the number of sectors of an operation.
    /// Returns when the service of its first sector ends, if the server was idle.
    pub fn come(&mut self, now: u64, ops: &[OpId], sectors: impl Fn(OpId) -> u32) -> Option<u64> {
        let mut next = NONE;
        for &op in ops.iter().rev() {
            self.next[op.number() as usize] = (next, sectors(op));
            next = op.number();
        }
        if next == NONE {
            return None;
        }
        let left = self.next[next as usize].1;
        self.queue.push_back(Turn { op: next, left, came: now, own: 0, begun: false });
        (self.queue.len() == 1).then(|| self.begin(now))
    }

    /// Serve a sector of the first command. Returns when this ends.
    fn begin(&mut self, now: u64) -> u64 {
        let turn = &mut self.queue[0];
        let span = if turn.begun { 0 } else { self.command } + self.sector;
        turn.begun = true;
        turn.own += span;
        now + span
    }

    /// The service of a sector ends at `now`. Calls `through` for each operation that was served completely. Returns
    /// when the service of the next sector ends, if there is one. If sectors take no time, a command is served at
    /// once.
    pub fn end(&mut self, now: u64, mut through: impl FnMut(Through)) -> Option<u64> {
        let mut turn = self.queue.pop_front()?;
        turn.left -= 1;
        while turn.left == 0 || self.sector == 0 {
            let (next, _) = self.next[turn.op as usize];
            through(Through { op: OpId::of(turn.op), waited: now - turn.came - turn.own, own: turn.own });
            turn.op = next;
            if next == NONE {
                break;
            }
            turn.left = self.next[next as usize].1;
        }
        if turn.op != NONE {
            self.queue.push_back(turn);
        }
        (!self.queue.is_empty()).then(|| self.begin(now))
    }

    /// The operations that are not served completely.
    pub fn ops(&self) -> impl Iterator<Item = OpId> {
        let rest = |turn: &Turn| {
            std::iter::successors(Some(turn.op), |&op| {
                Some(self.next[op as usize].0).filter(|&op| op != NONE)
            })
        };
        self.queue.iter().flat_map(rest).map(OpId::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ops(numbers: &[u32]) -> Vec<OpId> {
        numbers.iter().map(|&n| OpId::of(n)).collect()
    }

    /// Run the server from `at` on. Returns each operation with the time at which it was served completely.
    fn run(t: &mut Turns, mut at: Option<u64>) -> Vec<(u32, u64, u64)> {
        let mut all = Vec::new();
        while let Some(now) = at {
            at = t.end(now, |through| all.push((through.op.number(), now, through.waited)));
        }
        all
    }

    #[test]
    fn sectors_of_a_command_alone_follow_one_another() {
        let mut t = Turns::new(8, 100, 10);
        let at = t.come(1_000, &ops(&[3, 5]), |op| op.number());
        assert_eq!(at, Some(1_110), "the first sector");
        assert_eq!(run(&mut t, at), [(3, 1_130, 0), (5, 1_180, 0)]);
    }

    #[test]
    fn one_sector_does_not_wait_for_a_whole_vector() {
        let mut t = Turns::new(8, 0, 10);
        let at = t.come(0, &ops(&[1]), |_| 64);
        assert_eq!(t.come(5, &ops(&[2]), |_| 1), None, "it is busy");
        assert_eq!(t.ops().collect::<Vec<_>>(), ops(&[1, 2]));
        assert_eq!(run(&mut t, at), [(2, 20, 5), (1, 650, 10)]);
    }

    #[test]
    fn commands_whose_sectors_take_no_time_are_through_at_once() {
        let mut t = Turns::new(8, 7, 0);
        let at = t.come(0, &ops(&[1, 2, 3]), |_| 5);
        assert_eq!(run(&mut t, at), [(1, 7, 0), (2, 7, 0), (3, 7, 0)]);
        assert_eq!(t.come(9, &[], |_| 1), None);
    }
}
