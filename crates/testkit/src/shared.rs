//! A closed network of dies that share channels, simulated on its own: every request goes to a random die, which needs
//! its channel for a command, senses, and needs its channel again for the data. It computes the result of a drive under
//! random reads at a fixed depth without any of the drive's code.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tailcut_core::nand::config::ChannelOrder;

/// The dies, their channels and the times of every request, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct SharedChannels {
    /// Dies of each channel.
    pub dies: usize,
    /// All dies. Die `d` is on channel `d / dies`.
    pub all_dies: usize,
    /// Requests in circulation.
    pub depth: usize,
    /// Time of a request outside the flash.
    pub outside: u64,
    /// Command cycles, array time and transfer time.
    pub times: [u64; 3],
    /// Who gets a channel next.
    pub order: ChannelOrder,
}

struct Die {
    queue: VecDeque<u64>,
    /// The issue time of the request that has the die.
    holder: Option<u64>,
}

#[derive(Default)]
struct Channel {
    busy: bool,
    /// Who waits: group, number of the arrival, die, whether for its data.
    waiting: BinaryHeap<Reverse<(u8, u64, usize, bool)>>,
}

/// At equal times the events of dies come before those of channels, and requests from outside last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Sensed(usize),
    /// A channel is free, and this die's data are out.
    Free(usize, Option<usize>),
    /// The request that was issued at this time arrives at its die.
    Arrive(u64, usize),
}

struct Run<'a> {
    of: &'a SharedChannels,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    events: BinaryHeap<Reverse<(u64, Event, u64)>>,
    now: u64,
    serial: u64,
}

impl SharedChannels {
    /// Run `count` requests, and return the mean time of one. `route` returns the die of each serial number.
    pub fn mean(&self, count: u64, mut route: impl FnMut(u64) -> usize) -> f64 {
        let die = || Die { queue: VecDeque::new(), holder: None };
        let mut run = Run {
            of: self,
            dies: (0..self.all_dies).map(|_| die()).collect(),
            channels: (0..self.all_dies / self.dies).map(|_| Channel::default()).collect(),
            events: BinaryHeap::new(),
            now: 0,
            serial: 0,
        };
        let mut issued = 0;
        for _ in 0..(self.depth as u64).min(count) {
            run.set(self.outside, Event::Arrive(0, route(issued)));
            issued += 1;
        }
        let mut sum = 0;
        while let Some(Reverse((now, event, _))) = run.events.pop() {
            run.now = now;
            if let Some(began) = run.fire(event) {
                sum += now - began;
                if issued < count {
                    run.set(self.outside, Event::Arrive(now, route(issued)));
                    issued += 1;
                }
            }
        }
        sum as f64 / count as f64
    }

    fn group(&self, data: bool) -> u8 {
        match self.order {
            ChannelOrder::Arrival => 0,
            ChannelOrder::CommandsFirst => u8::from(data),
            ChannelOrder::DataFirst => u8::from(!data),
        }
    }
}

impl Run<'_> {
    fn set(&mut self, after: u64, event: Event) {
        self.serial += 1;
        self.events.push(Reverse((self.now + after, event, self.serial)));
    }

    /// Returns the issue time of a request that has ended.
    fn fire(&mut self, event: Event) -> Option<u64> {
        match event {
            Event::Arrive(began, die) => {
                self.dies[die].queue.push_back(began);
                self.begin(die);
                None
            }
            Event::Sensed(die) => {
                self.ask(die, true);
                None
            }
            Event::Free(channel, out) => {
                let ended = out.map(|die| {
                    let ended = self.dies[die].holder.take().expect("a request had the die");
                    self.begin(die);
                    ended
                });
                self.channels[channel].busy = false;
                self.grant(channel);
                ended
            }
        }
    }

    fn begin(&mut self, die: usize) {
        if self.dies[die].holder.is_none() && !self.dies[die].queue.is_empty() {
            self.dies[die].holder = self.dies[die].queue.pop_front();
            self.ask(die, false);
        }
    }

    fn ask(&mut self, die: usize, data: bool) {
        self.serial += 1;
        let channel = die / self.of.dies;
        self.channels[channel].waiting.push(Reverse((self.of.group(data), self.serial, die, data)));
        self.grant(channel);
    }

    fn grant(&mut self, channel: usize) {
        if self.channels[channel].busy {
            return;
        }
        let Some(Reverse((.., die, data))) = self.channels[channel].waiting.pop() else {
            return;
        };
        self.channels[channel].busy = true;
        let [command, array, transfer] = self.of.times;
        if data {
            self.set(transfer, Event::Free(channel, Some(die)));
        } else {
            self.set(command, Event::Free(channel, None));
            self.set(command + array, Event::Sensed(die));
        }
    }
}
