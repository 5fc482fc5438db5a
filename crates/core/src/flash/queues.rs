//! What waits at one die: a queue for each kind of work.

use super::op::Op;
use super::queue::Queue;
use crate::containers::NONE;
use crate::containers::slab::Slab;
use serde::{Deserialize, Serialize};
use tailcut_units::{Occupant, Occupants};

/// The queues of one die.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queues {
    /// The kinds of work whose queue is not empty.
    waiting: Occupants,
    queues: [Queue; Occupant::COUNT],
    /// Arrival order of each queue's head.
    arrived: [u64; Occupant::COUNT],
    /// Of kinds whose operations line up by plane: the planes of those in the queue …
    fronts: [u32; Occupant::COUNT],
    /// … and by kind and plane those behind them. Empty where nothing lines up.
    backlog: Vec<Queue>,
}

impl Queues {
    /// Empty queues, with `planes` planes whose operations line up (0: nothing does).
    pub fn new(planes: u32) -> Queues {
        Queues {
            waiting: Occupants::NONE,
            queues: Default::default(),
            arrived: [0; Occupant::COUNT],
            fronts: [0; Occupant::COUNT],
            backlog: vec![Queue::default(); planes as usize * Occupant::COUNT],
        }
    }

    /// The kinds of work that wait.
    #[inline]
    pub fn waiting(&self) -> Occupants {
        self.waiting
    }

    /// Arrival order of the head of each queue that is not empty.
    #[inline]
    pub fn arrived(&self) -> &[u64; Occupant::COUNT] {
        &self.arrived
    }

    /// The first operation of a kind, or `NONE`.
    #[inline]
    pub fn head(&self, kind: Occupant) -> u32 {
        self.queues[kind as usize].head
    }

    /// Put an operation at the end of its queue.
    #[inline]
    pub fn push_back(&mut self, ops: &mut Slab<Op>, id: u32) {
        let kind = ops[id].cmd.occupant;
        if !self.waiting.has(kind) {
            self.waiting.insert(kind);
            self.arrived[kind as usize] = ops[id].arrived;
        }
        self.queues[kind as usize].push_back(ops, id);
    }

    /// Put an operation back at the head of its queue.
    pub fn push_front(&mut self, ops: &mut Slab<Op>, id: u32) {
        let kind = ops[id].cmd.occupant;
        self.waiting.insert(kind);
        self.arrived[kind as usize] = ops[id].arrived;
        self.queues[kind as usize].push_front(ops, id);
    }

    /// Take an operation of this kind out, from behind `before` (`NONE`: it is the head).
    #[inline]
    pub fn unlink(&mut self, ops: &mut Slab<Op>, kind: Occupant, before: u32, id: u32) {
        let queue = &mut self.queues[kind as usize];
        queue.unlink(ops, before, id);
        match queue.head {
            NONE => self.waiting.remove(kind),
            head => self.arrived[kind as usize] = ops[head].arrived,
        }
    }

    fn backlog(&mut self, kind: usize, plane: u32) -> &mut Queue {
        let planes = self.backlog.len() / Occupant::COUNT;
        &mut self.backlog[kind * planes + plane as usize]
    }

    /// Queue an operation of a kind that lines up by plane: of each plane the first stands in the
    /// die's queue, the others wait behind it. So what may join is found among as many as there
    /// are planes, and the pages of a block are programmed in order.
    pub fn line_up(&mut self, ops: &mut Slab<Op>, id: u32) {
        let (kind, planes) = (ops[id].cmd.occupant as usize, ops[id].cmd.planes);
        if self.fronts[kind] & planes == 0 {
            return self.stand(ops, id);
        }
        self.backlog(kind, planes.trailing_zeros()).push_back(ops, id);
    }

    /// Put the first operation of its plane into the queue, by page and then by arrival: the
    /// plane that is behind goes first, so that planes whose blocks are filled, or emptied,
    /// together stay together and their operations join.
    ///
    /// The page alone is compared: a plane that has the last pages of its block before it goes
    /// after those that have begun another. A plane that is ahead waits until the others have
    /// come up to it: for at most the pages of a block of each of them, since what lies beyond
    /// its page goes behind it.
    fn stand(&mut self, ops: &mut Slab<Op>, id: u32) {
        let kind = ops[id].cmd.occupant;
        let key = |o: &Op| (o.cmd.page, o.arrived);
        let own = key(&ops[id]);
        let queue = &mut self.queues[kind as usize];
        let (mut before, mut next) = (NONE, queue.head);
        while next != NONE && key(&ops[next]) < own {
            (before, next) = (next, ops[next].next);
        }
        queue.insert_after(ops, before, id);
        self.arrived[kind as usize] = ops[queue.head].arrived;
        self.waiting.insert(kind);
        self.fronts[kind as usize] |= ops[id].cmd.planes;
    }

    /// The first operations of these planes have left the queue: the next take their places.
    pub fn move_up(&mut self, ops: &mut Slab<Op>, kind: Occupant, planes: u32) {
        let kind = kind as usize;
        self.fronts[kind] &= !planes;
        let mut left = planes;
        while left != 0 {
            let behind = self.backlog(kind, left.trailing_zeros());
            left &= left - 1;
            if !behind.is_empty() {
                let next = behind.pop_front(ops);
                self.stand(ops, next);
            }
        }
    }

    /// An operation that left the queue has not begun, and returns before those of its plane.
    pub fn put_back(&mut self, ops: &mut Slab<Op>, id: u32) {
        let (kind, planes) = (ops[id].cmd.occupant as usize, ops[id].cmd.planes);
        if self.fronts[kind] & planes != 0 {
            let mut at = self.queues[kind].head;
            while ops[at].cmd.planes != planes {
                at = ops[at].next;
            }
            self.queues[kind].remove(ops, at);
            self.backlog(kind, planes.trailing_zeros()).push_front(ops, at);
        }
        self.stand(ops, id);
    }

    /// The queue of a kind, for the audit.
    pub fn queue(&self, kind: Occupant) -> Queue {
        self.queues[kind as usize]
    }

    /// All backlogs, for the audit; each with whether something of its plane stands in front.
    pub fn backlogs(&self) -> impl Iterator<Item = (Queue, bool)> {
        let planes = (self.backlog.len() / Occupant::COUNT).max(1);
        self.backlog
            .iter()
            .enumerate()
            .map(move |(i, &queue)| (queue, self.fronts[i / planes] >> (i % planes) & 1 != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other planes that always have another page to do go round their blocks for ever.
    #[test]
    fn a_plane_that_is_ahead_waits_for_one_block_of_each_other() {
        let (planes, pages, kind) = (4, 16, Occupant::UserProgram);
        let mut ops = Slab::new(8, Op::blank());
        let mut queues = Queues::new(planes);
        let mut arrivals = 0;
        let mut queue = |queues: &mut Queues, ops: &mut Slab<Op>, plane: u32, page: u32| {
            let id = ops.take();
            arrivals += 1;
            ops[id].arrived = arrivals;
            let cmd = &mut ops[id].cmd;
            (cmd.occupant, cmd.planes, cmd.page) = (kind, 1 << plane, page);
            queues.line_up(ops, id);
        };
        let take = |queues: &mut Queues, ops: &mut Slab<Op>| {
            let id = queues.head(kind);
            queues.unlink(ops, kind, NONE, id);
            let (mask, page) = (ops[id].cmd.planes, ops[id].cmd.page);
            queues.move_up(ops, kind, mask);
            ops.give(id);
            (mask, page)
        };
        for ahead in 0..pages {
            queue(&mut queues, &mut ops, 0, ahead);
            for plane in 1..planes {
                queue(&mut queues, &mut ops, plane, ahead * plane % pages);
            }
            let mut begun = 0;
            loop {
                let (mask, page) = take(&mut queues, &mut ops);
                if mask == 1 {
                    break;
                }
                begun += 1;
                assert!(begun <= (planes - 1) * pages, "plane 0 waits at page {ahead}");
                queue(&mut queues, &mut ops, mask.trailing_zeros(), (page + 1) % pages);
            }
            // The others, of which each has one left, do not stay for the next round.
            for _ in 1..planes {
                take(&mut queues, &mut ops);
            }
        }
    }
}
