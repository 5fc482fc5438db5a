//! A closed network of FIFO servers with constant service times, simulated on its own. It
//! computes the result of a drive under random reads at a fixed depth without any of the
//! drive's code.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The destination of a request.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// The server (die).
    pub server: usize,
    /// The plane of the die; used only if `pairs` is set.
    pub plane: u32,
    /// The page offset in its block; used only if `pairs` is set.
    pub page: u32,
}

/// The servers and the times of every visit, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Network {
    /// Servers (dies).
    pub servers: usize,
    /// Requests in circulation.
    pub depth: usize,
    /// Time from the issue of a request to its arrival at the server.
    pub before: u64,
    /// Time from the end of the service to the end of the request.
    pub after: u64,
    /// Command cycles, once for each plane.
    pub command: u64,
    /// Array time, once for each service.
    pub array: u64,
    /// Transfer time, once for each plane, one plane after the other.
    pub transfer: u64,
    /// Multi-plane reads: a server that starts a request also serves, for each other plane, one
    /// queued request with the same page offset.
    pub pairs: bool,
}

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Mean time from issue to end, ns.
    pub mean: f64,
    /// Minimum and maximum time from issue to end, ns.
    pub range: (u64, u64),
    /// Requests a second.
    pub rate: f64,
    /// Services of more than one request.
    pub paired: u64,
}

struct Server {
    queue: VecDeque<(u64, Visit)>,
    busy: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A server becomes free.
    Free(usize),
    /// The request that was issued at this time ends.
    End(u64),
    /// The request with this number and issue time arrives at its server.
    Arrive(u64, u64),
}

impl Network {
    /// Run `count` requests through the network; `route` returns the destination of each serial
    /// number.
    pub fn run(&self, count: u64, mut route: impl FnMut(u64) -> Visit) -> Flow {
        let mut events = BinaryHeap::new();
        let mut order = 0u64;
        let mut schedule = |events: &mut BinaryHeap<_>, at: u64, event: Event| {
            order += 1;
            events.push(Reverse((at, order, event)));
        };
        let mut servers: Vec<Server> =
            (0..self.servers).map(|_| Server { queue: VecDeque::new(), busy: false }).collect();
        let mut visits = VecDeque::new();
        let (mut issued, mut first_visit) = (0, 0);
        let mut flow = Flow { mean: 0.0, range: (u64::MAX, 0), rate: 0.0, paired: 0 };
        let mut sum = 0u128;
        let mut last = 0;
        let mut batch = Vec::new();
        for _ in 0..(self.depth as u64).min(count) {
            visits.push_back(Some(route(issued)));
            schedule(&mut events, self.before, Event::Arrive(issued, 0));
            issued += 1;
        }
        while let Some(Reverse((now, _, event))) = events.pop() {
            let server = match event {
                Event::Arrive(number, issue) => {
                    let visit: Visit =
                        visits[(number - first_visit) as usize].take().expect("a request arrives once");
                    while visits.front().is_some_and(Option::is_none) {
                        visits.pop_front();
                        first_visit += 1;
                    }
                    servers[visit.server].queue.push_back((issue, visit));
                    visit.server
                }
                Event::Free(server) => {
                    servers[server].busy = false;
                    server
                }
                Event::End(issue) => {
                    let took = now - issue;
                    sum += u128::from(took);
                    flow.range = (flow.range.0.min(took), flow.range.1.max(took));
                    last = now;
                    if issued < count {
                        visits.push_back(Some(route(issued)));
                        schedule(&mut events, now + self.before, Event::Arrive(issued, now));
                        issued += 1;
                    }
                    continue;
                }
            };
            let s = &mut servers[server];
            if s.busy || s.queue.is_empty() {
                continue;
            }
            s.busy = true;
            batch.clear();
            batch.push(s.queue.pop_front().expect("the queue is not empty"));
            if self.pairs {
                let (_, head) = batch[0];
                let mut planes = 1u64 << head.plane;
                let mut i = 0;
                while i < s.queue.len() {
                    let (_, v) = s.queue[i];
                    if v.page == head.page && planes >> v.plane & 1 == 0 {
                        planes |= 1 << v.plane;
                        batch.push(s.queue.remove(i).expect("it is there"));
                    } else {
                        i += 1;
                    }
                }
                flow.paired += u64::from(batch.len() > 1);
            }
            let mut at = now + self.command * batch.len() as u64 + self.array;
            for &(issue, _) in &batch {
                at += self.transfer;
                schedule(&mut events, at + self.after, Event::End(issue));
            }
            schedule(&mut events, at, Event::Free(server));
        }
        flow.mean = sum as f64 / count as f64;
        flow.rate = count as f64 * 1e9 / last as f64;
        flow
    }
}
