//! Decodes many frames and counts.

use crate::CODEWORD_BITS;
use crate::channel::{Channel, Errors};
use crate::code::{Code, Word};
use crate::decoder::{Decoder, Settings};
use crate::sensing::Sensing;
use crate::wilson::{Interval, NORMAL_95, wilson};
use libm::sqrt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Frames that a thread takes at a time.
const BATCH: u64 = 8;

/// What is measured. The codeword of zeros is sent: decoders and channel treat 0 and 1 alike.
#[derive(Clone, Debug)]
pub struct Job {
    /// Seed of the error patterns.
    pub seed: u64,
    /// How to decode.
    pub settings: Settings,
    /// Errors of each frame.
    pub errors: Errors,
    /// What the senses tell.
    pub sensing: Sensing,
    /// Number of frames, at least 1.
    pub frames: u64,
}

/// Sums over frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Frames that were decoded, or not.
    pub frames: u64,
    /// Frames whose end result is not the word that was sent.
    pub failed: u64,
    /// Those of the failed frames that ended in another codeword, which no check detects.
    pub undetected: u64,
    /// Frames by iterations, of those that did not fail.
    pub decoded_in: Vec<u64>,
    /// Raw errors of all frames, in bits.
    pub raw_errors: u64,
    /// Syndrome weight over all 4,096 checks.
    pub all: WeightSums,
    /// Syndrome weight over the first 1,024 checks.
    pub first: WeightSums,
}

/// Sums of one syndrome weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WeightSums {
    /// Sum of the weights.
    pub sum: u64,
    /// Sum of their squares.
    pub squares: u64,
    /// Sum of the weights of the frames that failed.
    pub of_failed: u64,
}

impl WeightSums {
    /// Count a frame with this weight.
    pub fn count(&mut self, weight: u32, failed: bool) {
        let weight = u64::from(weight);
        self.sum += weight;
        self.squares += weight * weight;
        self.of_failed += if failed { weight } else { 0 };
    }

    fn add(&mut self, other: &WeightSums) {
        self.sum += other.sum;
        self.squares += other.squares;
        self.of_failed += other.of_failed;
    }

    /// The correlation of the weight with failing, of `failed` of `frames` frames; its standard error is the
    /// inverse root of `frames`. `None` if no frame or every frame failed, or all weights are the same.
    pub fn correlation(&self, frames: u64, failed: u64) -> Option<f64> {
        let (mean, deviation) = self.moments(frames);
        let share = failed as f64 / frames as f64;
        let of_failed = self.of_failed as f64 / failed as f64;
        let odds = share / (1.0 - share);
        (0 < failed && failed < frames && deviation > 0.0)
            .then(|| (of_failed - mean) / deviation * sqrt(odds))
    }

    /// Mean and standard deviation (of the population), in checks.
    pub fn moments(&self, frames: u64) -> (f64, f64) {
        let n = frames.max(1) as f64;
        let mean = self.sum as f64 / n;
        (mean, sqrt((self.squares as f64 / n - mean * mean).max(0.0)))
    }
}

impl Tally {
    /// Add the sums of other frames.
    pub fn add(&mut self, other: &Tally) {
        self.frames += other.frames;
        self.failed += other.failed;
        self.undetected += other.undetected;
        self.decoded_in.resize(self.decoded_in.len().max(other.decoded_in.len()), 0);
        for (count, more) in self.decoded_in.iter_mut().zip(&other.decoded_in) {
            *count += more;
        }
        self.raw_errors += other.raw_errors;
        self.all.add(&other.all);
        self.first.add(&other.first);
    }

    /// Share of the frames that failed.
    pub fn failure_rate(&self) -> Interval {
        wilson(self.failed, self.frames)
    }

    /// Mean iterations of the frames that did not fail, and half the width of its 95 % confidence interval.
    /// `None` if all failed.
    pub fn iterations(&self) -> Option<(f64, f64)> {
        let n = (self.frames - self.failed) as f64;
        let sum = |power: fn(f64) -> f64| -> f64 {
            self.decoded_in.iter().enumerate().map(|(i, &count)| count as f64 * power(i as f64)).sum()
        };
        let mean = sum(|i| i) / n;
        let variance = (sum(|i| i * i) / n - mean * mean).max(0.0);
        (self.frames > self.failed).then(|| (mean, NORMAL_95 * sqrt(variance / n)))
    }

    /// The iterations that a share of the frames that did not fail does not exceed. `None` if all failed.
    pub fn iterations_at(&self, share: f64) -> Option<u32> {
        let wanted = share * (self.frames - self.failed) as f64;
        let mut sum = 0;
        let reached = self.decoded_in.iter().position(|&count| {
            sum += count;
            sum as f64 >= wanted
        });
        reached.filter(|_| self.frames > self.failed).map(|i| i as u32)
    }

    /// Share of the bits that were wrong.
    pub fn raw_error_rate(&self) -> f64 {
        self.raw_errors as f64 / (self.frames.max(1) as f64 * CODEWORD_BITS as f64)
    }
}

/// Decode the frames of a job on `threads` threads. The result does not depend on their number.
///
/// `progress` is called from the threads with the number of frames that are newly done; it returns whether
/// to go on. `None` if it ever said no.
pub fn measure(
    code: &Code,
    job: &Job,
    threads: usize,
    progress: &(dyn Fn(u64) -> bool + Sync),
) -> Option<Tally> {
    let workers = in_batches(
        job.frames,
        threads,
        &|| Worker::new(code, job),
        &|w: &mut Worker, n| w.decode(n),
        progress,
    )?;
    let mut all = Tally::default();
    workers.iter().for_each(|worker| all.add(&worker.tally));
    Some(all)
}

/// Let `threads` workers take the numbers below `count`, a batch at a time. Returns the workers; `None` if
/// `progress` ever said no.
pub(crate) fn in_batches<W: Send>(
    count: u64,
    threads: usize,
    new: &(dyn Fn() -> W + Sync),
    take: &(dyn Fn(&mut W, u64) + Sync),
    progress: &(dyn Fn(u64) -> bool + Sync),
) -> Option<Vec<W>> {
    let (next, stopped) = (AtomicU64::new(0), AtomicBool::new(false));
    let work = || {
        let mut worker = new();
        loop {
            let first = next.fetch_add(BATCH, Relaxed);
            if first >= count || stopped.load(Relaxed) {
                return worker;
            }
            let end = count.min(first + BATCH);
            (first..end).for_each(|number| take(&mut worker, number));
            if !progress(end - first) {
                stopped.store(true, Relaxed);
            }
        }
    };
    let workers = std::thread::scope(|scope| {
        // Without more threads the work takes longer.
        let more = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).filter_map(more).collect();
        let mut workers = vec![work()];
        // A panic of a thread is a defect; it goes on in this one.
        let others =
            others.into_iter().map(|o| o.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        workers.extend(others);
        workers
    });
    (!stopped.into_inner()).then_some(workers)
}

struct Worker<'a> {
    code: &'a Code,
    job: &'a Job,
    channel: Channel,
    decoder: Decoder,
    sent: Word,
    tally: Tally,
}

impl<'a> Worker<'a> {
    fn new(code: &'a Code, job: &'a Job) -> Worker<'a> {
        let decoded_in = vec![0; usize::from(job.settings.iterations) + 1];
        Worker {
            code,
            job,
            channel: Channel::new(job.seed, job.errors, &job.sensing),
            decoder: Decoder::new(code, &job.settings),
            sent: Word::zero(),
            tally: Tally { decoded_in, ..Tally::default() },
        }
    }

    fn decode(&mut self, frame: u64) {
        let marks = self.channel.draw(frame);
        let decoded = self.decoder.decode(&self.sent, marks, &self.job.sensing);
        let received = Channel::received(&self.sent, marks, &self.job.sensing);
        let failed = !decoded.success || *self.decoder.word() != self.sent;
        let syndrome = self.code.syndrome(&received);
        let tally = &mut self.tally;
        tally.frames += 1;
        tally.raw_errors += u64::from(received.distance(&self.sent));
        tally.all.count(syndrome.weight(), failed);
        tally.first.count(syndrome.first_weight(), failed);
        if failed {
            tally.failed += 1;
            tally.undetected += u64::from(decoded.success);
        } else {
            tally.decoded_in[decoded.iterations as usize] += 1;
        }
    }
}
