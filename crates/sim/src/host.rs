//! The host: jobs with their queue depths in front of one device, in virtual time.

use crate::load::{Load, Offered};
use std::collections::VecDeque;
use tailcut_core::containers::timers::Timers;
use tailcut_core::device::Observer;
use tailcut_core::drive::Drive;
use tailcut_core::intervention::InterventionError;
use tailcut_stats::Sample;
use tailcut_units::{Command, HostOp, SimTime, Status};
use tailcut_workload::{Issue, JobInfo, Source};

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E: std::error::Error> {
    /// The workload could not be read further.
    #[error(transparent)]
    Workload(E),
    /// Requests wait, but no event is due that could complete them.
    #[error("the drive makes no progress at {at}: {what}")]
    Stuck {
        /// When the drive stopped.
        at: SimTime,
        /// The operations that wait, and what they wait for.
        what: String,
    },
    /// A request is later than any time that a run may reach.
    #[error("job `{job}`: its next request is after 146 years, the longest run")]
    TooLate {
        /// The job.
        job: String,
    },
    /// The drive does not take what is done to it.
    #[error("`{text}` at {at}: {source}")]
    Intervention {
        /// When.
        at: SimTime,
        /// What is done.
        text: String,
        /// Why it cannot be done.
        source: InterventionError,
    },
}

/// Set in a tag that the device carries if the command is a part of a split request.
const PART: u64 = 1 << 47;
const JOB_SHIFT: u32 = 48;

/// The most requests that wait in the host for a place in the device queue. If a trace is
/// faster than the drive, further requests stay in their source. Their latencies are not
/// affected, since these count from the intended arrival.
const QUEUE_MAX: usize = 1 << 16;

/// The bytes of a command that count as one event of work: a trim of this size takes about
/// as long to simulate as an event.
const STEP_BYTES: u64 = 1 << 16;

/// If a drive fires this many events without a completion while requests are outstanding,
/// the run fails: the drive no longer serves the host. Minutes of collection on the largest
/// drives are far fewer events.
const IDLE_STEPS_MAX: u64 = 200_000_000;

/// Limit of events at one moment for a job that ends by its runtime. Beyond it the run fails, because the end of the
/// runtime would never come. This happens with a drive that answers every request in zero time, e.g. with dead
/// channels.
const STILL_STEPS_MAX: u64 = 20_000_000;

/// A request larger than the drive's largest command.
#[derive(Clone, Copy)]
struct Split {
    index: u64,
    command: Command,
    left: u32,
    status: Status,
}

/// A job that issued less than it was asked for, because it waited for completions.
#[derive(Clone, Debug, PartialEq)]
pub struct MissedRate {
    /// The job's name.
    pub job: String,
    /// Reads a second: asked and issued; `None` without a rate of reads.
    pub reads: Option<(f64, f64)>,
    /// Writes a second, likewise.
    pub writes: Option<(f64, f64)>,
}

/// The state of a job.
struct Job {
    info: JobInfo,
    next: Option<Issue>,
    outstanding: u32,
    /// When the last completion freed a place.
    freed: SimTime,
    /// The shift of the job's times, in ns.
    shift: u64,
    /// The last request was issued after its due time because the job had no free place.
    late: bool,
    /// Commands issued by kind, in the order of [`HostOp`], and how long after its due time the last was issued.
    issued: [u64; HostOp::COUNT],
    behind: u64,
    last_issue: SimTime,
    /// It is in [`Host::resumed`].
    resumed: bool,
}

/// A command that waits in the host because the device queue is full.
struct Waiting {
    wanted: SimTime,
    command: Command,
    tag: u64,
}

/// The state of the driver without the device.
pub struct Host<S: Source> {
    source: S,
    jobs: Vec<Job>,
    issue: Timers,
    /// The jobs that may issue again because a request has ended.
    resumed: Vec<u16>,
    queue: VecDeque<Waiting>,
    splits: Vec<Split>,
    spare_splits: Vec<u32>,
    issued: u64,
    outstanding: u64,
    now: SimTime,
    /// The group that runs, and all groups so far with the times at which they began.
    group: u32,
    groups: Vec<(u32, SimTime)>,
    load: Option<Load>,
    /// Work left before the host pauses, in events.
    steps: u64,
    /// Device events since the last completion.
    idle_steps: u64,
    /// When the host paused last, and the events since it paused at another time.
    paused: (SimTime, u64),
    /// Requests that were larger than the drive's largest command.
    pub split_requests: u64,
}

impl<S: Source> Host<S> {
    /// A host at time 0, before its first request.
    pub fn new(source: S) -> Result<Host<S>, RunError<S::Error>> {
        let infos = source.jobs();
        let load = infos.iter().any(|j| j.open_loop).then(Load::new);
        let mut host = Host {
            source,
            issue: Timers::new(infos.len()),
            resumed: Vec::with_capacity(infos.len()),
            jobs: infos
                .into_iter()
                .map(|info| Job {
                    info,
                    next: None,
                    outstanding: 0,
                    freed: SimTime::ZERO,
                    shift: 0,
                    late: false,
                    issued: [0; HostOp::COUNT],
                    behind: 0,
                    last_issue: SimTime::ZERO,
                    resumed: false,
                })
                .collect(),
            queue: VecDeque::with_capacity(1024),
            splits: Vec::with_capacity(256),
            spare_splits: Vec::with_capacity(256),
            issued: 0,
            outstanding: 0,
            now: SimTime::ZERO,
            group: 0,
            groups: Vec::new(),
            load,
            steps: 0,
            idle_steps: 0,
            paused: (SimTime::ZERO, 0),
            split_requests: 0,
        };
        let first = host.jobs.iter().map(|j| j.info.group).min().unwrap_or(0);
        host.begin_group(first)?;
        Ok(host)
    }

    /// The workload; its counts can be read from it.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The current virtual time.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Requests issued so far.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// When the next event happens in the host or in the drive; the current time if there is
    /// none.
    pub fn next_event<O: Observer>(&self, device: &Drive<O>) -> SimTime {
        // A full host queue issues no further requests before the drive makes progress.
        let issue = if self.queue.len() >= QUEUE_MAX { u64::MAX } else { self.issue.first().1 };
        let at = device.next_deadline().0.min(issue);
        if at == u64::MAX { self.now } else { SimTime(at) }
    }

    /// When each group of jobs began, in order.
    pub fn groups(&self) -> &[(u32, SimTime)] {
        &self.groups
    }

    /// The requests that arrived without waiting for the drive, compared with those served;
    /// `None` if there were none.
    pub fn offered(&self) -> Option<Offered> {
        self.load.as_ref()?.offered(self.now)
    }

    /// The rates that jobs asked for and missed by more than a twentieth. Jobs whose arrivals do not
    /// wait for the drive are left out; their backlog is in [`Host::offered`].
    pub fn missed_rates(&self) -> Vec<MissedRate> {
        let missed =
            self.jobs.iter().filter(|j| !j.info.open_loop && j.info.asked.iter().any(Option::is_some));
        missed
            .filter_map(|j| {
                let begun = j.info.start.0.saturating_add(j.shift);
                let passed = j.last_issue.0.saturating_sub(begun);
                let seconds = passed as f64 / 1e9;
                let each = [0, 1].map(|d| j.info.asked[d].map(|asked| (asked, j.issued[d] as f64 / seconds)));
                (j.behind > passed / 20).then(|| MissedRate {
                    job: j.info.name.clone(),
                    reads: each[0],
                    writes: each[1],
                })
            })
            .collect()
    }

    /// Run until every job has ended, or until `until` (then `Ok(false)`). Calls `finished` for every
    /// request that ends, with whether it arrived before its job's ramp was over and must not be
    /// measured. A request is reported as one, even if the device served it in parts.
    pub fn run<O: Observer>(
        &mut self,
        device: &mut Drive<O>,
        until: SimTime,
        finished: &mut impl FnMut(&Sample<'_>, bool),
    ) -> Result<bool, RunError<S::Error>> {
        self.run_for(device, until, u64::MAX, finished)
    }

    /// As [`Host::run`], but pause (`Ok(false)`) after `steps` of work, counted in events of
    /// the drive.
    pub fn run_for<O: Observer>(
        &mut self,
        device: &mut Drive<O>,
        until: SimTime,
        steps: u64,
        finished: &mut impl FnMut(&Sample<'_>, bool),
    ) -> Result<bool, RunError<S::Error>> {
        self.steps = steps;
        if let Some(load) = &mut self.load {
            load.queue(u64::from(device.dimensions().queue_depth));
        }
        loop {
            let (job, at) = self.issue.first();
            if at == u64::MAX && self.outstanding == 0 {
                // Nothing measures what the drive does by itself from here on.
                if !self.begin_next_group()? {
                    return Ok(true);
                }
                continue;
            }
            if self.steps == 0 {
                return self.paused_after(steps).map(|()| false);
            }
            let due = device.next_deadline();
            let held_back = self.queue.len() >= QUEUE_MAX;
            if (due.0 <= at || held_back) && due != SimTime::NEVER {
                if due > until {
                    return Ok(false);
                }
                let pass = if held_back { until } else { until.min(SimTime(at)) };
                // A command that waits for the timers of this time is submitted directly after
                // them.
                let pass = if !self.queue.is_empty() && device.has_place() { due } else { pass };
                self.let_pass(device, pass, finished)?;
            } else if at != u64::MAX {
                if at > SimTime::LATEST.0 {
                    return Err(RunError::TooLate { job: self.jobs[job].info.name.clone() });
                }
                if at > until.0 {
                    return Ok(false);
                }
                self.now = self.now.max(SimTime(at));
                self.issue_one(job, device)?;
            } else {
                return Err(RunError::Stuck { at: self.now, what: device.describe_waiting() });
            }
        }
    }

    /// Let all requests under way end, and issue no other. [`Host::go_on`] follows.
    ///
    /// # Errors
    /// If the drive makes no progress.
    pub fn drain<O: Observer>(
        &mut self,
        device: &mut Drive<O>,
        finished: &mut impl FnMut(&Sample<'_>, bool),
    ) -> Result<(), RunError<S::Error>> {
        while self.outstanding > 0 {
            if device.next_deadline() != SimTime::NEVER {
                // After one event no step is left, so that jobs set their timers and issue nothing.
                self.steps = 1;
                self.let_pass(device, SimTime::NEVER, finished)?;
            } else if !self.queue.is_empty() && device.has_place() {
                self.drain_queue(device);
            } else {
                return Err(RunError::Stuck { at: self.now, what: device.describe_waiting() });
            }
        }
        Ok(())
    }

    /// Go on at `now` as if no time had passed since `since`.
    pub fn go_on(&mut self, since: SimTime, now: SimTime) {
        let pause = now.0.saturating_sub(since.0);
        self.now = now;
        for job in 0..self.jobs.len() {
            let j = &mut self.jobs[job];
            j.shift = j.shift.saturating_add(pause);
            if let Some(issue) = &mut j.next {
                issue.earliest = SimTime(issue.earliest.0.saturating_add(pause));
                self.schedule(job);
            }
        }
    }

    /// Note that the host pauses after `steps` of work.
    #[cold]
    fn paused_after(&mut self, steps: u64) -> Result<(), RunError<S::Error>> {
        let still = if self.paused.0 == self.now { self.paused.1.saturating_add(steps) } else { 0 };
        self.paused = (self.now, still);
        let timed = self.jobs.iter().find(|j| j.next.is_some() && j.info.runtime.is_some());
        match timed {
            Some(job) if still > STILL_STEPS_MAX => {
                let what = format!(
                    "its requests take no time, so that the runtime of job `{}` is never over; give the job \
                     `number_ios` or `io_size`",
                    job.info.name
                );
                Err(RunError::Stuck { at: self.now, what })
            }
            _ => Ok(()),
        }
    }

    /// Advance the device to its next completion, at most to `until`, and process the completion.
    #[inline]
    fn let_pass<O: Observer>(
        &mut self,
        device: &mut Drive<O>,
        until: SimTime,
        finished: &mut impl FnMut(&Sample<'_>, bool),
    ) -> Result<(), RunError<S::Error>> {
        let Host { jobs, splits, spare_splits, outstanding, issue, load, resumed, .. } = self;
        let mut any = false;
        let fired = device.advance_to_completion(until, self.steps, &mut |c| {
            any = true;
            let number = (c.tag >> JOB_SHIFT) as usize;
            let (mut index, mut command, mut status) = (c.tag & (PART - 1), c.command, c.status);
            if c.tag & PART != 0 {
                let slot = (c.tag & (PART - 1)) as u32;
                let split = &mut splits[slot as usize];
                split.left -= 1;
                if c.status != Status::Ok {
                    split.status = c.status;
                }
                if split.left > 0 {
                    return;
                }
                (index, command, status) = (split.index, split.command, split.status);
                spare_splits.push(slot);
            }
            *outstanding -= 1;
            let job = &mut jobs[number];
            job.outstanding -= 1;
            job.freed = c.completed;
            if job.info.open_loop
                && let Some(load) = load
            {
                load.complete(c.completed);
            }
            let ramp = c.arrived.0 < job.info.ramp.0.saturating_add(job.shift);
            let sample = Sample {
                index,
                job: number as u16,
                op: command.op,
                offset: command.offset,
                bytes: command.bytes,
                arrived: c.arrived,
                completed: c.completed,
                status,
                ledger: c.ledger,
            };
            finished(&sample, ramp);
            if !issue.is_set(number) && job.next.is_some() && !job.resumed {
                job.resumed = true;
                resumed.push(number as u16);
            }
        });
        self.now = device.now();
        self.steps -= fired;
        self.idle_steps = if any || self.outstanding == 0 { 0 } else { self.idle_steps + fired };
        if self.idle_steps > IDLE_STEPS_MAX {
            return Err(RunError::Stuck { at: self.now, what: device.describe_waiting() });
        }
        if !self.queue.is_empty() {
            self.drain_queue(device);
        }
        while let Some(job) = self.resumed.pop() {
            let job = usize::from(job);
            self.jobs[job].resumed = false;
            match self.ready_at(job) {
                // Most completions let one job issue at once.
                Some(at) if at <= self.now.0 && self.is_alone(device) => self.issue_one(job, device)?,
                Some(at) => self.issue.set(job, at),
                None => {}
            }
        }
        Ok(())
    }

    /// Whether a request that is issued now is the next thing that happens: no other job, no
    /// command that waits and no event of the device goes before it.
    #[inline]
    fn is_alone<O: Observer>(&self, device: &Drive<O>) -> bool {
        let others = self.issue.first().1.min(device.next_deadline().0);
        others > self.now.0 && self.resumed.is_empty() && self.queue.is_empty() && self.steps > 0
    }

    /// Submit the commands that waited for a place in the device queue.
    #[inline]
    fn drain_queue<O: Observer>(&mut self, device: &mut Drive<O>) {
        while device.has_place() {
            // A submission at this time must come after all timers due at this time.
            if device.next_deadline() <= self.now {
                return;
            }
            let Some(w) = self.queue.pop_front() else { return };
            device.prepare(w.command.offset);
            device.submit(self.now, w.wanted, w.command, w.tag).expect("there is a place");
        }
    }

    /// Begin the jobs of the next group, if there is one.
    #[cold]
    fn begin_next_group(&mut self) -> Result<bool, RunError<S::Error>> {
        let later = self.jobs.iter().map(|j| j.info.group).filter(|g| *g > self.group);
        match later.min() {
            Some(group) => self.begin_group(group).map(|()| true),
            None => Ok(false),
        }
    }

    fn begin_group(&mut self, group: u32) -> Result<(), RunError<S::Error>> {
        self.group = group;
        self.groups.push((group, self.now));
        for job in 0..self.jobs.len() {
            let j = &mut self.jobs[job];
            if j.info.group == group {
                j.shift = self.now.0.saturating_sub(j.info.start.0);
                self.pull(job)?;
            }
        }
        Ok(())
    }

    /// Fetch a job's next issue and set its timer.
    #[inline]
    fn pull(&mut self, job: usize) -> Result<(), RunError<S::Error>> {
        let next = self.source.next(job).map_err(RunError::Workload)?;
        let j = &mut self.jobs[job];
        j.next = next;
        if j.shift > 0
            && let Some(issue) = &mut j.next
        {
            issue.earliest = SimTime(issue.earliest.0.saturating_add(j.shift));
        }
        self.schedule(job);
        Ok(())
    }

    /// Set a job's timer to the time of its next request, if the job has a free place.
    #[inline]
    fn schedule(&mut self, job: usize) {
        match self.ready_at(job) {
            Some(at) => self.issue.set(job, at),
            None if self.issue.is_set(job) => self.issue.clear(job),
            None => {}
        }
    }

    /// When a job issues its next request; `None` if it has none left, or no free place.
    #[inline]
    fn ready_at(&mut self, job: usize) -> Option<u64> {
        let j = &mut self.jobs[job];
        let Some(next) = &j.next else {
            self.end(job);
            return None;
        };
        if j.outstanding >= j.info.depth {
            return None;
        }
        let paused = match next.think.0 {
            0 => SimTime::ZERO,
            // The whole job pauses: nothing is outstanding meanwhile.
            _ if j.outstanding > 0 => return None,
            _ => SimTime(j.freed.0.saturating_add(next.think.0)),
        };
        let at = next.earliest.max(paused).max(self.now);
        if j.info.runtime.is_some_and(|end| at.0 >= end.0.saturating_add(j.shift)) {
            j.next = None;
            self.end(job);
            return None;
        }
        // A timer holds no later time.
        Some(at.0.min(SimTime::LATEST.0 + 1))
    }

    /// Called when a job has issued its last request.
    fn end(&mut self, job: usize) {
        let late = &mut self.jobs[job].late;
        if *late && let Some(load) = &mut self.load {
            load.turn(self.now, late);
        }
    }

    /// Issue a job's next request now.
    #[inline]
    fn issue_one<O: Observer>(
        &mut self,
        job: usize,
        device: &mut Drive<O>,
    ) -> Result<(), RunError<S::Error>> {
        self.steps -= 1;
        let at = self.now;
        let j = &mut self.jobs[job];
        let issue = j.next.take().expect("the timer is set only for a pending issue");
        j.outstanding += 1;
        let mut wanted = at;
        if j.info.open_loop {
            wanted = issue.earliest;
            if let Some(load) = &mut self.load {
                load.arrive(wanted, at, &mut j.late);
            }
        }
        self.outstanding += 1;
        let index = self.issued;
        self.issued += 1;
        let command = issue.command;
        let j = &mut self.jobs[job];
        j.issued[command.op as usize] += 1;
        (j.behind, j.last_issue) = (at.0.saturating_sub(issue.earliest.0), at);
        self.steps = self.steps.saturating_sub(u64::from(command.bytes) / STEP_BYTES);
        let most = device.max_transfer();
        if u64::from(command.bytes) <= most || matches!(command.op, HostOp::Trim | HostOp::Flush) {
            self.hand_over(device, wanted, command, (job as u64) << JOB_SHIFT | index);
        } else {
            self.split(device, wanted, command, job, index, most as u32);
        }
        self.pull(job)?;
        if let Some(next) = &self.jobs[job].next {
            device.prepare(next.command.offset);
        }
        Ok(())
    }

    #[inline]
    fn hand_over<O: Observer>(&mut self, device: &mut Drive<O>, wanted: SimTime, command: Command, tag: u64) {
        let at = self.now;
        if self.queue.is_empty() && device.has_place() && device.next_deadline() > at {
            device.submit(at, wanted, command, tag).expect("there is a place");
        } else {
            self.queue.push_back(Waiting { wanted, command, tag });
        }
    }

    /// Split a request into parts that the drive accepts; the request ends with its last
    /// part.
    fn split<O: Observer>(
        &mut self,
        device: &mut Drive<O>,
        wanted: SimTime,
        command: Command,
        job: usize,
        index: u64,
        most: u32,
    ) {
        self.split_requests += 1;
        let split = Split { index, command, left: command.bytes.div_ceil(most), status: Status::Ok };
        let slot = self.spare_splits.pop().unwrap_or(self.splits.len() as u32);
        if slot as usize == self.splits.len() {
            self.splits.push(split);
        } else {
            self.splits[slot as usize] = split;
        }
        let tag = (job as u64) << JOB_SHIFT | PART | u64::from(slot);
        let mut done = 0;
        while done < command.bytes {
            let bytes = (command.bytes - done).min(most);
            let part = Command { offset: command.offset + u64::from(done), bytes, ..command };
            self.hand_over(device, wanted, part, tag);
            done += bytes;
        }
    }
}
