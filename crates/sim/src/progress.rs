//! How far many runs are, in words and as the length of a bar, and when they will end.

use crate::Plan;
use crate::points::Follow;
use crate::watch::Watch;
use std::time::{Duration, Instant};
use tailcut_units::quantity::human_time;
use tailcut_units::{SimTime, Span};

/// Length of one run's bar: a run's progress is counted in this many parts.
const PARTS: u64 = 1000;
/// The time between lines where nothing shows a bar, so that a log shows whether a long run still works.
pub const EVERY: Duration = Duration::from_secs(10);

/// How long the pace is measured before the first estimate. An estimate that is wrong by less stays.
const FIRST: Duration = Duration::from_secs(5);

/// Shows how far many runs are. Their reports change its state.
pub trait Show: Sync {
    /// Changes the state. The state is then shown as a run sees it; without a run nothing has become visible.
    fn change(&self, seen_by: Option<usize>, change: &dyn Fn(&mut State));

    /// Whether the runs must stop.
    fn interrupted(&self) -> bool;
}

impl<T: Show> Watch for T {
    fn ageing(&self, task: usize, fraction: f64) {
        self.change(Some(task), &|state| state.ageing(task, fraction));
    }

    fn requests(&self, task: usize, done: u64, now: SimTime) {
        self.change(Some(task), &|state| state.requests(task, done, now));
    }

    fn done(&self, task: usize) {
        self.change(Some(task), &|state| state.done(task));
    }

    fn stopped(&self) -> bool {
        self.interrupted()
    }
}

impl<T: Show> Follow for T {
    fn begins(&self, _: &str, tasks: usize) {
        self.change(None, &|state| state.begins(tasks));
    }

    fn weighs(&self, task: usize, requests: f64) {
        self.change(None, &|state| state.weighs(task, requests));
    }

    fn planned(&self, first: usize, count: usize, plan: &Plan) {
        self.change(None, &|state| state.planned(first, count, plan));
    }
}

#[derive(Clone, Copy, Default)]
struct Task {
    expected: Option<u64>,
    runtime: Option<u64>,
    done: u64,
    ageing: f64,
    parts: u64,
    /// Its size: requests, if they are known. Tasks of unknown size count as the mean of the others.
    size: Option<f64>,
}

/// How far the runs are.
pub struct State {
    tasks: Vec<Task>,
    started: Instant,
    /// When the first completed part was seen, and how much work was done then. The
    /// time left is estimated from there, so that ageing is not counted as slow requests.
    counted: Option<(Instant, f64)>,
    /// The pace is measured for this long before an end is estimated from it.
    patience: Duration,
    /// The first estimate since then: when it was made, and the end that it gave.
    said: Option<(Instant, Instant)>,
    told: Instant,
}

impl State {
    /// Nothing is done yet of this number of runs.
    pub fn new(runs: usize, now: Instant) -> State {
        State {
            tasks: vec![Task::default(); runs],
            started: now,
            counted: None,
            patience: FIRST,
            said: None,
            told: now,
        }
    }

    /// There is this number of runs.
    fn begins(&mut self, runs: usize) {
        self.tasks.resize(runs, Task::default());
    }

    /// The plan of `count` runs from `first` on.
    fn planned(&mut self, first: usize, count: usize, plan: &Plan) {
        for task in self.tasks.iter_mut().skip(first).take(count) {
            task.expected = plan.expected.filter(|&n| n > 0);
            task.runtime = plan.runtime.map(|r| r.0).filter(|&ns| ns > 0);
            task.size = task.size.or(task.expected.map(|n| n as f64));
        }
    }

    /// The requests of a run, known before its plan.
    fn weighs(&mut self, task: usize, requests: f64) {
        self.tasks[task].size = Some(requests).filter(|&n| n > 0.0);
    }

    /// The drive of a run is aged by this share of its usual length.
    fn ageing(&mut self, task: usize, share: f64) {
        self.tasks[task].ageing = share;
    }

    /// A run has completed `done` requests, up to a moment of virtual time.
    fn requests(&mut self, task: usize, done: u64, now: SimTime) {
        let task = &mut self.tasks[task];
        let parts = match (task.expected, task.runtime) {
            (Some(all), _) => done.min(all) as f64 / all as f64,
            (None, Some(end)) => now.0.min(end) as f64 / end as f64,
            (None, None) => 0.0,
        };
        (task.done, task.parts) = (done, (parts * PARTS as f64) as u64);
    }

    /// A run has ended.
    fn done(&mut self, task: usize) {
        self.tasks[task].parts = PARTS;
    }

    /// Whether a line is due. If it is, the next one is due after another interval.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let due = now.duration_since(self.told) >= EVERY;
        if due {
            self.told = now;
        }
        due
    }

    /// The work of all tasks that is done, and all work: tasks count by their size.
    fn work(&self) -> (f64, f64) {
        let sizes = || self.tasks.iter().filter_map(|t| t.size);
        let known = sizes().count();
        let mean = if known > 0 { sizes().sum::<f64>() / known as f64 } else { PARTS as f64 };
        self.tasks.iter().fold((0.0, 0.0), |(done, all), t| {
            let size = t.size.unwrap_or(mean);
            (done + size * t.parts as f64 / PARTS as f64, all + size)
        })
    }

    /// The length of the bar: [`PARTS`] for each run.
    pub fn length(&self) -> u64 {
        PARTS * self.tasks.len() as u64
    }

    /// The length of the bar that is done.
    pub fn position(&mut self, now: Instant) -> u64 {
        let (done, all) = self.work();
        if done > 0.0 {
            self.counted.get_or_insert((now, done));
        }
        self.length() * (1000.0 * done / all.max(1.0)) as u64 / 1000
    }

    /// The progress in words, as seen by a run; unknown figures are left out.
    pub fn text(&mut self, task: usize, now: Instant) -> String {
        let (work, all) = self.work();
        let done: u64 = self.tasks.iter().map(|t| t.done).sum();
        let mut text = match work {
            0.0 => String::new(),
            _ => format!("{} %, ", (work * 100.0 / all) as u64),
        };
        text += &match self.tasks[task] {
            // How long it takes until the write amplification is steady is known roughly.
            Task { done: 0, ageing, .. } if ageing >= 1.0 => "ageing, longer than usual".to_string(),
            Task { done: 0, ageing, .. } => format!("ageing, {:.0} %", (ageing * 100.0).min(99.0)),
            _ => format!("{} requests", tailcut_report::text::rate(done as f64)),
        };
        text += &format!(", {}", seconds(now.duration_since(self.started).as_secs_f64()));
        if let Some(left) = self.left(work, all, now) {
            text += &format!(", about {} left", seconds(left));
        }
        text
    }

    /// The seconds left by the pace so far. An estimate that has been wrong by more than half is withdrawn: the pace is
    /// then measured again, for as long as the run has taken so far, before there is another estimate.
    fn left(&mut self, work: f64, all: f64, now: Instant) -> Option<f64> {
        let (since, from) = self.counted?;
        let passed = now.duration_since(since);
        if work <= from || passed < self.patience {
            // While nothing is completed, an end that was promised comes no nearer.
            let late = self.said.is_some_and(|(at, end)| now > end + end.duration_since(at) / 2);
            if late {
                self.withdraw(work, now);
            }
            return None;
        }
        let left = passed.as_secs_f64() * (all - work) / (work - from);
        let left = left.min(1e9);
        let end = now + Duration::from_secs_f64(left);
        let (at, first) = *self.said.get_or_insert((now, end));
        let wrong = end.max(first).duration_since(end.min(first));
        if wrong > first.duration_since(at) / 2 && wrong > FIRST {
            self.withdraw(work, now);
            return None;
        }
        Some(left)
    }

    fn withdraw(&mut self, work: f64, now: Instant) {
        self.counted = Some((now, work));
        self.patience = now.duration_since(self.started);
        self.said = None;
    }
}

/// Format seconds, rounded up to whole seconds.
pub fn seconds(seconds: f64) -> String {
    human_time(Span(seconds.ceil().min(1e9) as u64 * 1_000_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_not_said() {
        let start = Instant::now();
        let at = |s: u64| start + Duration::from_secs(s);
        let mut state = State::new(2, start);
        state.tasks[0].ageing = 0.25;
        assert_eq!(state.position(at(20)), 0);
        assert_eq!(state.text(0, at(20)), "ageing, 25 %, 20 s");
        state.tasks[0].ageing = 1.2;
        assert_eq!(state.text(0, at(20)), "ageing, longer than usual, 20 s");
        // The number of requests is not known.
        state.tasks[1].done = 1_500_000;
        assert_eq!(state.text(1, at(20)), "1.50M requests, 20 s");
        state.tasks[1].parts = 200;
        state.position(at(30));
        assert_eq!(state.text(1, at(30)), "10 %, 1.50M requests, 30 s");
        // 400 of 2,000 parts in ten seconds: the other 1,400 take 35 s.
        state.tasks[1].parts = 600;
        assert_eq!(state.text(1, at(40)), "30 %, 1.50M requests, 40 s, about 35 s left");
    }

    #[test]
    fn tasks_count_by_their_size() {
        let start = Instant::now();
        let at = |s: u64| start + Duration::from_secs(s);
        let mut state = State::new(3, start);
        (state.tasks[0].size, state.tasks[1].size) = (Some(1e6), Some(9e6));
        // The third counts as the mean, 5 million: the whole is 15 million.
        state.tasks[0].parts = 500;
        state.position(at(10));
        state.tasks[0].parts = 1000;
        // Half a million in 10 s: 14 million take 280 s.
        assert_eq!(state.text(0, at(20)), "6 %, ageing, 0 %, 20 s, about 280 s left");
        assert_eq!(state.position(at(20)), 198);
    }

    #[test]
    fn an_estimate_that_was_wrong_by_half_is_withdrawn() {
        let start = Instant::now();
        let at = |s: u64| start + Duration::from_secs(s);
        let mut state = State::new(1, start);
        let mut said = |s: u64, parts: u64| {
            state.tasks[0].parts = parts;
            state.position(at(s));
            let text = state.text(0, at(s));
            text.split_once("about ").map(|(_, left)| left.to_string())
        };
        // Too early for a pace.
        assert_eq!(said(1, 10), None);
        assert_eq!(said(3, 30), None);
        // 90 parts in 9 s: the other 900 take 90 s.
        assert_eq!(said(10, 100).as_deref(), Some("90 s left"));
        assert_eq!(said(20, 190).as_deref(), Some("86 s left"));
        // The pace falls; at some time the first estimate has proved wrong, and none is made for as long again.
        assert!(said(30, 240).is_some());
        let gone: Vec<u64> = (31..100).filter(|&s| said(s, 240 + (s - 30)).is_none()).collect();
        assert!(gone[0] < 60 && gone.len() as u64 >= gone[0], "{gone:?}");
        // The new one is by the new pace: a part a second.
        let text = said(200, 410).expect("an estimate");
        assert_eq!(text, "590 s left");
    }

    #[test]
    fn an_end_that_has_passed_is_no_estimate() {
        let start = Instant::now();
        let at = |s: u64| start + Duration::from_secs(s);
        let mut state = State::new(2, start);
        let mut said = |s: u64, parts: u64| {
            state.tasks[0].parts = parts;
            state.position(at(s));
            state.text(0, at(s)).contains("left")
        };
        assert!(!said(1, 100));
        assert!(said(11, 900));
        // The first run has ended, and the second ages its drive: the time left does not count up.
        assert!(said(13, 1000));
        let up = (14..600).filter(|&s| said(s, 1000)).count();
        assert!(up < 30, "it was said for {up} seconds in which nothing was completed");
    }

    #[test]
    fn a_line_is_due_every_ten_seconds() {
        let start = Instant::now();
        let mut state = State::new(1, start);
        let due: Vec<u64> =
            (0..350).filter(|tenth| state.is_due(start + Duration::from_millis(tenth * 100))).collect();
        assert_eq!(due, [100, 200, 300]);
    }
}
