//! The queues of one die: one for each kind of work.

use super::op::{FlashCommand, Op};
use super::queue::Queue;
use crate::containers::slab::Slab;
use crate::containers::{NONE, bits};
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
    /// For kinds that are queued by plane: mask of the planes that have an operation in the queue.
    fronts: [u32; Occupant::COUNT],
    /// For kinds that are queued by plane: the further operations of each plane, by kind and plane. Empty if no kind is
    /// queued by plane.
    backlog: Vec<Queue>,
    /// If host reads join: by page index modulo `PAGES`, the first of the queued ones, which are linked by `Op::alike`
    /// in order of arrival. Empty otherwise.
    alike: Vec<u32>,
    /// If host reads run by plane: the number of queued ones by plane, those of several planes at `SEVERAL`. Empty
    /// otherwise.
    by_plane: Vec<u32>,
}

/// Length of [`Queues::alike`].
const PAGES: usize = 64;
/// The index of multi-plane reads in [`Queues::by_plane`], after those of the planes.
const SEVERAL: usize = u32::BITS as usize;

/// The index of a host read in [`Queues::by_plane`].
#[inline]
fn plane_of(cmd: &FlashCommand) -> usize {
    if cmd.has_one_plane() { cmd.planes.trailing_zeros() as usize } else { SEVERAL }
}

impl Queues {
    /// Create empty queues, with `planes` planes for kinds that are queued by plane (0: no kind
    /// is). Host reads may join (`reads_join`) or run by plane (`by_plane`).
    pub fn new(planes: u32, reads_join: bool, by_plane: bool) -> Queues {
        Queues {
            waiting: Occupants::NONE,
            queues: Default::default(),
            arrived: [0; Occupant::COUNT],
            fronts: [0; Occupant::COUNT],
            backlog: vec![Queue::default(); planes as usize * Occupant::COUNT],
            alike: vec![NONE; if reads_join { PAGES } else { 0 }],
            by_plane: vec![0; if by_plane { SEVERAL + 1 } else { 0 }],
        }
    }

    /// Count a host read that enters its queue, or link it to those that may have the same page index.
    #[inline]
    fn comes(&mut self, ops: &mut Slab<Op>, id: u32) {
        let Op { cmd, arrived, .. } = &ops[id];
        if cmd.occupant != Occupant::UserRead {
            return;
        }
        if let Some(count) = self.by_plane.get_mut(plane_of(cmd)) {
            *count += 1;
        }
        let Some(head) = self.alike.get_mut(cmd.page as usize % PAGES) else { return };
        let (mut before, mut next, arrived) = (NONE, *head, *arrived);
        while next != NONE && ops[next].arrived < arrived {
            (before, next) = (next, ops[next].alike);
        }
        ops[id].alike = next;
        match before {
            NONE => *head = id,
            before => ops[before].alike = id,
        }
    }

    /// Undo [`Queues::comes`] for a host read that leaves its queue.
    #[inline]
    fn leaves(&mut self, ops: &mut Slab<Op>, id: u32) {
        let cmd = &ops[id].cmd;
        if cmd.occupant != Occupant::UserRead {
            return;
        }
        if let Some(count) = self.by_plane.get_mut(plane_of(cmd)) {
            *count -= 1;
        }
        let Some(head) = self.alike.get_mut(cmd.page as usize % PAGES) else { return };
        let next = ops[id].alike;
        if *head == id {
            *head = next;
            return;
        }
        let mut before = *head;
        while ops[before].alike != id {
            before = ops[before].alike;
        }
        ops[before].alike = next;
    }

    /// If planes read independently: whether a queued host read may need only planes of this mask.
    #[inline]
    pub fn may_need(&self, planes: u32) -> bool {
        self.by_plane[SEVERAL] != 0 || bits(planes).any(|plane| self.by_plane[plane as usize] != 0)
    }

    /// The first queued operation that may join this command, which has left its queue, or `NONE`.
    /// [`Queues::next_to_join`] gives the others.
    #[inline]
    pub fn first_to_join(&self, cmd: &FlashCommand) -> u32 {
        match cmd.occupant {
            Occupant::UserRead => self.alike[cmd.page as usize % PAGES],
            kind => self.head(kind),
        }
    }

    /// The next queued operation after `op` that may join the same command, or `NONE`.
    #[inline]
    pub fn next_to_join(op: &Op) -> u32 {
        if op.cmd.occupant == Occupant::UserRead { op.alike } else { op.next }
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
        let op = &ops[id];
        let kind = op.cmd.occupant;
        if !self.waiting.has(kind) {
            self.waiting.insert(kind);
            self.arrived[kind as usize] = op.arrived;
        }
        self.queues[kind as usize].push_back(ops, id);
        self.comes(ops, id);
    }

    /// Insert an operation that arrived before most others into its queue, in order of arrival.
    pub fn return_in_order(&mut self, ops: &mut Slab<Op>, id: u32) {
        let kind = ops[id].cmd.occupant;
        self.comes(ops, id);
        self.waiting.insert(kind);
        let queue = &mut self.queues[kind as usize];
        queue.insert_in_order(ops, id);
        self.arrived[kind as usize] = ops[queue.head].arrived;
    }

    /// [`Queues::return_in_order`] for a kind that is queued by plane.
    pub fn line_up_in_order(&mut self, ops: &mut Slab<Op>, id: u32) {
        let (kind, planes) = (ops[id].cmd.occupant as usize, ops[id].cmd.planes);
        if self.fronts[kind] & planes == 0 {
            return self.stand(ops, id);
        }
        let front = self.queues[kind].iter(ops).find(|&at| ops[at].cmd.planes == planes);
        let front = front.expect("the plane has an operation in the queue");
        let plane = planes.trailing_zeros();
        if ops[front].arrived < ops[id].arrived {
            return self.backlog(kind, plane).insert_in_order(ops, id);
        }
        self.queues[kind].unlink(ops, front);
        self.backlog(kind, plane).insert_in_order(ops, front);
        self.stand(ops, id);
    }

    /// Remove an operation of this kind.
    #[inline]
    pub fn unlink(&mut self, ops: &mut Slab<Op>, kind: Occupant, id: u32) {
        self.leaves(ops, id);
        let queue = &mut self.queues[kind as usize];
        queue.unlink(ops, id);
        match queue.head {
            NONE => self.waiting.remove(kind),
            head => self.arrived[kind as usize] = ops[head].arrived,
        }
    }

    fn backlog(&mut self, kind: usize, plane: u32) -> &mut Queue {
        let planes = self.backlog.len() / Occupant::COUNT;
        &mut self.backlog[kind * planes + plane as usize]
    }

    /// Queue an operation of a kind that is queued by plane. The first operation of each plane is in the die's queue;
    /// the others wait in the plane's backlog. A search for operations that may join therefore looks at no more than
    /// one operation for each plane, and the pages of a block are programmed in order.
    pub fn line_up(&mut self, ops: &mut Slab<Op>, id: u32) {
        let (kind, planes) = (ops[id].cmd.occupant as usize, ops[id].cmd.planes);
        if self.fronts[kind] & planes == 0 {
            return self.stand(ops, id);
        }
        self.backlog(kind, planes.trailing_zeros()).push_back(ops, id);
    }

    /// Insert the first operation of a plane into the die's queue, ordered by page and then by
    /// arrival. The plane with the lowest page goes first, so that planes whose blocks are filled
    /// or emptied together stay in step and their operations join.
    ///
    /// Only the page index is compared: a plane that is at the last pages of its block goes after planes that have
    /// begun another block. A plane that is ahead waits until the others reach its page. It waits for at most one block
    /// of pages of each other plane, because operations for later pages are inserted after it.
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

    /// Move the next operation of each of these planes into the die's queue, because the first ones have left.
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

    /// Whether the counts and links match the queued host reads, for the audit.
    pub fn knows_reads(&self, ops: &Slab<Op>) -> bool {
        let reads: Vec<u32> = self.queue(Occupant::UserRead).iter(ops).collect();
        let of_plane = |&count: &u32, plane| {
            count as usize == reads.iter().filter(|&&id| plane_of(&ops[id].cmd) == plane).count()
        };
        let linked = |&head: &u32, place| {
            let some = |id: u32| Some(id).filter(|&id| id != NONE);
            let links = std::iter::successors(some(head), |&id| some(ops[id].alike)).take(reads.len() + 1);
            links.eq(reads.iter().copied().filter(|&id| ops[id].cmd.page as usize % PAGES == place))
        };
        self.by_plane.iter().zip(0..).all(|(count, plane)| of_plane(count, plane))
            && self.alike.iter().zip(0..).all(|(head, place)| linked(head, place))
    }

    /// The queue of a kind, for the audit.
    pub fn queue(&self, kind: Occupant) -> Queue {
        self.queues[kind as usize]
    }

    /// All backlogs, for the audit; each with whether an operation of its plane is in the queue.
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

    /// The other planes always have a next page to program, and cycle through their blocks without
    /// end.
    #[test]
    fn a_plane_that_is_ahead_waits_for_one_block_of_each_other() {
        let (planes, pages, kind) = (4, 16, Occupant::UserProgram);
        let mut ops = Slab::new(8, Op::blank());
        let mut queues = Queues::new(planes, false, false);
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
            queues.unlink(ops, kind, id);
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
            // Each of the other planes has one operation left. Remove these before the next round.
            for _ in 1..planes {
                take(&mut queues, &mut ops);
            }
        }
    }
}
