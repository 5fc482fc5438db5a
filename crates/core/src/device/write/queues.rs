//! Limits on the dirty data of each die or lane in the write buffer, and the writes that wait because of them.
//!
//! There is one queue for each die or lane, as `policy.buffer` says, or none. Its length is the number of dirty mapping
//! units of that die or lane; units in flight are not counted. A write whose next unit is for a full queue waits for
//! that queue; writes for other queues pass it.

use crate::containers::NONE;
use crate::containers::list::{Link, List};
use crate::containers::slab::Slab;
use crate::device::drive::Device;
use crate::device::host::commands::Host;
use crate::device::host::commands::Request;
use crate::device::shape::Shape;
use crate::device::write::state::Writes;
use crate::flash::Flash;
use crate::flash::OpId;
use crate::ftl::buffer::DirtyList;
use crate::ftl::config::ExtentKind;
use crate::medium::Medium;
use crate::observer::Observer;
use crate::policy::buffer::{QueueLimit, QueueOf};
use crate::problem::ConfigProblem;
use serde::{Deserialize, Serialize};
use tailcut_units::{Occupant, SimTime};

/// The queues of a drive that limits them; empty on one that does not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::device) struct WriteQueues {
    /// Length of a queue, in mapping units, at which writes wait; `u32::MAX` without a limit.
    limit: u32,
    /// Number of lanes that share a queue.
    lanes: u32,
    /// By queue: the commands that wait, oldest first.
    waiting: Vec<List>,
    links: Vec<Link>,
    /// Number of commands that wait.
    count: u32,
}

impl WriteQueues {
    /// Create the queues that `limit` asks for, with at most `depth` commands under way.
    pub fn new(shape: &Shape, limit: Option<QueueLimit>, depth: u32) -> WriteQueues {
        let layout = &shape.layout;
        let Some(QueueLimit { of, bytes }) = limit else {
            return WriteQueues {
                limit: u32::MAX,
                lanes: 1,
                waiting: Vec::new(),
                links: Vec::new(),
                count: 0,
            };
        };
        let lanes = lanes_of(shape, of);
        let queues = (layout.lanes / lanes) as usize;
        WriteQueues {
            limit: (bytes / layout.unit_bytes).clamp(1, u64::from(u32::MAX - 1)) as u32,
            lanes,
            waiting: vec![List::default(); queues],
            links: vec![Link::default(); depth as usize],
            count: 0,
        }
    }

    #[inline]
    fn limits(&self) -> bool {
        self.limit != u32::MAX
    }

    fn queue_of(&self, lane: u32) -> u32 {
        lane / self.lanes
    }

    /// Number of commands that wait.
    pub fn waiting(&self) -> u32 {
        self.count
    }

    /// Queue a command behind those that arrived before it. A command that waited for another queue
    /// may be older than the last one here.
    fn push(&mut self, queue: u32, id: u32, requests: &Slab<Request>) {
        let list = &mut self.waiting[queue as usize];
        let younger = |other: u32| other != NONE && requests[other].host.arrived > requests[id].host.arrived;
        let out_of_order = younger(list.tail());
        list.push_back(&mut self.links, id);
        self.count += 1;
        let mut at = if out_of_order { list.head() } else { id };
        while at != id {
            let next = list.after(&self.links, at);
            if younger(at) {
                list.remove(&mut self.links, at);
                list.push_back(&mut self.links, at);
            }
            at = next;
        }
    }

    fn pop(&mut self, queue: u32, id: u32) {
        self.waiting[queue as usize].remove(&mut self.links, id);
        self.count -= 1;
    }

    /// Take all commands out of the queues in which they wait.
    pub fn forget_waiting(&mut self) -> Vec<u32> {
        let mut all = Vec::new();
        for list in &mut self.waiting {
            while list.head() != NONE {
                all.push(list.head());
                list.remove(&mut self.links, list.head());
            }
        }
        self.count = 0;
        all
    }

    /// The command that has waited longest for each queue that has any.
    pub fn heads(&self) -> impl Iterator<Item = u32> {
        self.waiting.iter().map(List::head).filter(|&id| id != NONE)
    }

    /// Audit: check the lists. `leaves`: data are in flight. Returns the waiting commands.
    pub fn audit(&self, leaves: bool) -> Result<Vec<u32>, String> {
        let mut all = Vec::new();
        for (queue, list) in self.waiting.iter().enumerate() {
            let mut at = list.head();
            while at != NONE {
                if all.len() == self.links.len() {
                    return Err(format!("the waiters of queue {queue} are a ring"));
                }
                all.push(at);
                at = list.after(&self.links, at);
            }
            if !list.is_empty() && !leaves {
                return Err(format!("writes wait for queue {queue} and nothing is on its way"));
            }
        }
        match all.len() as u32 == self.count {
            true => Ok(all),
            false => Err(format!("{} writes wait for queues and {} are counted", all.len(), self.count)),
        }
    }
}

/// Number of lanes that share a queue.
fn lanes_of(shape: &Shape, of: QueueOf) -> u32 {
    match of {
        QueueOf::Die if shape.layout.kind == ExtentKind::Block => shape.layout.planes,
        QueueOf::Die | QueueOf::Lane => 1,
    }
}

/// Refuse a limit if the queue of a write is not known when the write arrives.
pub(in crate::device) fn check(shape: &Shape, limit: Option<QueueLimit>) -> Result<(), ConfigProblem> {
    let refuse = |problem: &str| Err(ConfigProblem::new("policy.buffer.lru.queue_limit", problem));
    match limit {
        None => Ok(()),
        Some(_) if shape.has_parity() => {
            refuse("stripes leave the buffer as a whole: set policy.redundancy to none")
        }
        Some(QueueLimit { of: QueueOf::Die, .. }) if shape.layout.kind == ExtentKind::Line => {
            refuse("an extent spans all dies with ftl.extent `line`: set `of` to lane")
        }
        Some(limit) if shape.pool_lanes > lanes_of(shape, limit.of) => refuse(
            "policy.placement chooses the lane of a write only when it leaves the buffer: set it to static for queues to each lane, static or die for queues to each die",
        ),
        Some(_) => Ok(()),
    }
}

impl Writes {
    /// Whether a queue has its limit of dirty units.
    fn is_full(&self, shape: &Shape, queue: u32) -> bool {
        let q = &self.queues;
        self.dirty_of_lanes(shape, queue * q.lanes..(queue + 1) * q.lanes) >= q.limit
    }

    /// The queue that keeps command `id` from writing a unit of this list's pool, because the queue is full or older
    /// commands wait for it.
    #[inline]
    pub(in crate::device) fn queue_closed_to(&self, shape: &Shape, list: DirtyList, id: u32) -> Option<u32> {
        let q = &self.queues;
        if !q.limits() {
            return None;
        }
        let queue = q.queue_of(shape.first_lane(list.pool()));
        let head = q.waiting[queue as usize].head();
        (head != NONE && head != id || self.is_full(shape, queue)).then_some(queue)
    }

    /// The queue with room whose first waiting write is the oldest.
    fn queue_with_room(&self, shape: &Shape, host: &Host) -> Option<u32> {
        let q = &self.queues;
        let first = |queue: u32| q.waiting[queue as usize].head();
        (0..q.waiting.len() as u32)
            .filter(|&queue| first(queue) != NONE && !self.is_full(shape, queue))
            .min_by_key(|&queue| host.requests[first(queue)].host.index)
    }

    /// Tell the flash since when the oldest write has waited for the buffer. Suspension may depend on it.
    pub(in crate::device) fn note_oldest_write<O: Observer>(&mut self, flash: &mut Flash<O>, host: &Host) {
        if !flash.interrupts(Occupant::Erase) {
            return;
        }
        let waiting = host.room.front().copied().into_iter().chain(self.queues.heads());
        let oldest = waiting.map(|id| host.requests[id].host.arrived).min();
        flash.set_oldest_write(oldest.map_or(SimTime::NEVER, SimTime));
    }

    /// Let a write wait for a queue, or (`None`) for room in the buffer.
    pub(in crate::device) fn wait_for<O: Observer>(
        &mut self,
        flash: &mut Flash<O>,
        host: &mut Host,
        id: u32,
        queue: Option<u32>,
    ) {
        match queue {
            Some(queue) => self.queues.push(queue, id, &host.requests),
            // A write that comes from a queue keeps its place.
            None if self.queues.limits() => {
                let arrived = host.requests[id].host.arrived;
                let behind = host.room.partition_point(|&other| host.requests[other].host.arrived <= arrived);
                host.room.insert(behind, id);
            }
            None => host.room.push_back(id),
        }
        self.note_oldest_write(flash, host);
    }

    /// Remove a write that has waited longest for a queue.
    fn leave_queue<O: Observer>(&mut self, flash: &mut Flash<O>, host: &Host, queue: u32, id: u32) {
        self.queues.pop(queue, id);
        self.note_oldest_write(flash, host);
    }

    /// Remove the write that has waited longest for room in the buffer.
    pub(in crate::device) fn leave_room<O: Observer>(&mut self, flash: &mut Flash<O>, host: &mut Host) {
        host.room.pop_front();
        self.note_oldest_write(flash, host);
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Admit writes that waited for queues that have room now, the oldest first. `by` is the program that
    /// made room, and its write unit; `None` if no program did.
    #[inline]
    pub(in crate::device) fn admit_queued(&mut self, by: Option<(OpId, u32)>) {
        if self.state.write.queues.count > 0 {
            self.admit_from_queues(by);
        }
    }

    fn admit_from_queues(&mut self, by: Option<(OpId, u32)>) {
        while let Some(queue) = self.state.write.queue_with_room(&self.shape, &self.state.host) {
            let id = self.state.write.queues.waiting[queue as usize].head();
            self.state.charge_wait_for_room(&mut self.flash, id, by);
            match self.hold_units(id) {
                Ok(()) => self.state.write.leave_queue(&mut self.flash, &self.state.host, queue, id),
                Err(Some(same)) if same == queue => {}
                Err(other) => {
                    self.state.write.leave_queue(&mut self.flash, &self.state.host, queue, id);
                    self.state.write.wait_for(&mut self.flash, &mut self.state.host, id, other);
                }
            }
        }
        if self.state.write.queues.count > 0 {
            self.make_room();
        }
    }
}
