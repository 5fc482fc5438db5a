//! Whether a drive keeps up with arrivals that do not wait for it.
//!
//! There is a backlog while the requests that have arrived and not ended exceed the drive's queue
//! (1,024 at most, since no drive works on more at once) or the depth of a job. The excess waits
//! outside the drive, and latencies then measure the length of the backlog. A drive *does not keep
//! up* if a backlog lasted, without a break, for more than half of the time between the first
//! arrival and the last, or for more than [`ENDURED`]. A burst of any height that the drive works
//! off in less time is neither. In a closed loop there are no such arrivals, and nothing is
//! reported.

use tailcut_units::{SimTime, Span};

/// A backlog that lasts longer is always reported, even in a much longer run. The official ACT tool
/// ends a run at the same lag.
pub const ENDURED: Span = Span(10_000_000_000);

/// The most requests that a drive works on at once, even if its queue holds more.
const QUEUE_MAX: u64 = 1024;

/// The most times at which the number of completions is recorded.
const SAMPLES: usize = 4096;

/// The arrivals and completions so far.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    queue: u64,
    arrived: u64,
    first: SimTime,
    last: SimTime,
    completed: u64,
    last_completion: SimTime,
    /// Jobs whose last request was issued after its due time, because the job had no free place.
    late: u32,
    /// Since when requests wait outside the drive's queue, or for a place of their job.
    since: Option<SimTime>,
    longest: Span,
    longest_since: SimTime,
    /// The number of completions at some times; one sample per `stride` completions.
    samples: Vec<(SimTime, u64)>,
    stride: u64,
}

/// Arrivals that do not wait for the drive, compared with the requests it served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// Requests that arrived.
    pub requests: u64,
    /// Time from the first arrival to the last.
    pub span: Span,
    /// Requests completed a second, from the first arrival to the last completion.
    pub served_per_second: f64,
    /// Requests that had arrived and not ended at the last arrival; exact within a thousandth of
    /// all requests.
    pub backlog: u64,
    /// Time from the last arrival to the last completion.
    pub behind: Span,
    /// The longest time, without a break, in which requests waited outside the drive's queue or for
    /// a place of their job.
    pub longest: Span,
    /// When `longest` began.
    pub longest_since: SimTime,
}

impl Offered {
    /// Requests offered a second; `None` if all arrived at the same time.
    pub fn per_second(&self) -> Option<f64> {
        (self.span.0 > 0).then(|| self.requests as f64 / (self.span.0 as f64 / 1e9))
    }

    /// Whether the drive kept up, by the rule of this module.
    pub fn keeps_up(&self) -> bool {
        self.longest <= ENDURED && self.longest.0 <= self.span.0 / 2
    }
}

impl Load {
    pub fn new() -> Load {
        Load {
            queue: QUEUE_MAX,
            arrived: 0,
            first: SimTime::ZERO,
            last: SimTime::ZERO,
            completed: 0,
            last_completion: SimTime::ZERO,
            late: 0,
            since: None,
            longest: Span::ZERO,
            longest_since: SimTime::ZERO,
            samples: Vec::with_capacity(SAMPLES),
            stride: 1,
        }
    }

    /// Set the number of requests that the drive's queue holds.
    pub fn queue(&mut self, places: u64) {
        self.queue = places.min(QUEUE_MAX);
    }

    /// Count a request that arrived at `at` and is issued now; `late` belongs to its job.
    #[inline]
    pub fn arrive(&mut self, at: SimTime, now: SimTime, late: &mut bool) {
        if self.arrived == 0 {
            self.first = at;
        }
        self.arrived += 1;
        self.last = self.last.max(at);
        if *late != (now > at) {
            self.turn(now, late);
        }
        if self.since.is_none() && self.arrived - self.completed > self.queue {
            self.since = Some(now);
        }
    }

    /// Count a completion.
    #[inline]
    pub fn complete(&mut self, now: SimTime) {
        self.completed += 1;
        self.last_completion = now;
        if self.completed.is_multiple_of(self.stride) {
            self.sample(now);
        }
        if self.since.is_some() {
            self.close_if_over(now);
        }
    }

    /// Note that a job falls behind, or that it has caught up or ended.
    #[cold]
    pub fn turn(&mut self, now: SimTime, late: &mut bool) {
        *late = !*late;
        if *late {
            self.late += 1;
            self.since.get_or_insert(now);
        } else {
            self.late -= 1;
            self.close_if_over(now);
        }
    }

    fn close_if_over(&mut self, now: SimTime) {
        if self.late == 0 && self.arrived - self.completed <= self.queue {
            self.close(now);
        }
    }

    #[cold]
    fn close(&mut self, now: SimTime) {
        let Some(since) = self.since.take() else { return };
        if now - since > self.longest {
            (self.longest, self.longest_since) = (now - since, since);
        }
    }

    #[inline]
    fn sample(&mut self, now: SimTime) {
        if self.samples.len() == SAMPLES {
            let mut at = 0;
            self.samples.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            self.stride *= 2;
        }
        self.samples.push((now, self.completed));
    }

    /// The comparison up to `now`; `None` if no request arrived that did not wait.
    pub fn offered(&self, now: SimTime) -> Option<Offered> {
        if self.arrived == 0 {
            return None;
        }
        let mut all = self.clone();
        all.close(now);
        let end = if all.completed < all.arrived { now } else { all.last_completion };
        let seconds = (end.0 - all.first.0.min(end.0)) as f64 / 1e9;
        let later = all.samples.partition_point(|(at, _)| *at <= all.last);
        let by_then = match later.checked_sub(1) {
            None => 0,
            // Up to `stride` more completions may lie between two samples.
            Some(before) if later < all.samples.len() => all.samples[before].1,
            Some(_) => all.completed,
        };
        Some(Offered {
            requests: all.arrived,
            span: Span(all.last.0 - all.first.0.min(all.last.0)),
            served_per_second: if seconds > 0.0 { all.completed as f64 / seconds } else { 0.0 },
            backlog: all.arrived - by_then,
            behind: Span(end.0.saturating_sub(all.last.0)),
            longest: all.longest,
            longest_since: all.longest_since,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_queue(places: u64) -> Load {
        let mut load = Load::new();
        load.queue(places);
        load
    }

    /// Requests every `gap` ns at a server that takes `service` ns each.
    fn run(requests: u64, gap: u64, service: u64) -> Offered {
        let mut load = of_queue(32);
        let (mut arrived, mut done, mut free) = (0, 0, 0u64);
        while done < requests {
            let ends = free.max(done * gap) + service;
            if arrived < requests && arrived * gap <= ends {
                load.arrive(SimTime(arrived * gap), SimTime(arrived * gap), &mut false);
                arrived += 1;
            } else {
                load.complete(SimTime(ends));
                (done, free) = (done + 1, ends);
            }
        }
        load.offered(SimTime(free)).unwrap()
    }

    #[test]
    fn a_server_that_is_too_slow_is_found_out_and_its_backlog_known() {
        let slow = run(100_000, 1_000, 1_500);
        assert!(!slow.keeps_up());
        assert_eq!((slow.span, slow.behind), (Span(99_999_000), Span(150_000_000 - 99_999_000)));
        assert!((slow.per_second().unwrap() - 1e6).abs() < 100.0);
        assert!((slow.served_per_second - 1e6 / 1.5).abs() < 100.0);
        // A third of the arrivals was left; samples are taken at every 32nd completion.
        assert!(slow.backlog.abs_diff(33_333) <= 33, "{slow:?}");
        // Three per cent too slow is too slow, although the run ends only three per cent late.
        assert!(!run(1_000_000, 1_000, 1_030).keeps_up());
    }

    #[test]
    fn a_server_that_is_fast_enough_keeps_up_also_with_bursts() {
        let fast = run(100_000, 1_000, 990);
        assert!(fast.keeps_up() && fast.backlog <= 33 && fast.longest == Span::ZERO, "{fast:?}");
        // 1,000 at once, every 10 ms, in 1 ms of service: a backlog for a tenth of the time.
        let mut load = of_queue(32);
        for burst in 0..100u64 {
            let at = burst * 10_000_000;
            (0..1000).for_each(|_| load.arrive(SimTime(at), SimTime(at), &mut false));
            (0..1000).for_each(|i| load.complete(SimTime(at + 1000 * (i + 1))));
        }
        let bursts = load.offered(SimTime(1_000_000_000)).unwrap();
        assert!(bursts.keeps_up() && bursts.longest == Span(968_000), "{bursts:?}");
    }

    #[test]
    fn a_long_backlog_counts_in_a_longer_run() {
        let mut load = of_queue(32);
        (0..1000).for_each(|_| load.arrive(SimTime(0), SimTime(0), &mut false));
        (0..1000).for_each(|i| load.complete(SimTime(11_000_000 * (i + 1))));
        load.arrive(SimTime(3_600_000_000_000), SimTime(3_600_000_000_000), &mut false);
        load.complete(SimTime(3_600_000_100_000));
        assert!(!load.offered(SimTime(3_600_000_100_000)).unwrap().keeps_up());
        assert_eq!(of_queue(1).offered(SimTime(5)), None);
        // All at once, and more than the queue holds: there is no rate to keep up with.
        let mut load = of_queue(2);
        (0..4).for_each(|_| load.arrive(SimTime(0), SimTime(0), &mut false));
        (0..4).for_each(|i| load.complete(SimTime(i + 1)));
        let once = load.offered(SimTime(4)).unwrap();
        assert!(!once.keeps_up() && once.per_second().is_none());
    }
}
