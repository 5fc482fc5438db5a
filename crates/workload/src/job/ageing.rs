//! The writes of a set of jobs, without an end, for ageing a drive before the run.

use super::open::OpenClone;
use super::spec::{JobSpec, READ, TRIM, WRITE};
use super::stream::{Extents, JobStream, Purpose};
use tailcut_units::{Command, Stream};

/// The writes of all jobs, without an end and without times. Each job's writes follow its
/// own distribution over its own region and hot blocks, but not the same sequence as in
/// the run. The jobs are mixed in the shares that they have in the run. Trims are left
/// out: ageing ignores them, and jobs that trim most of the time would rarely give a
/// write.
#[derive(Clone, Debug)]
pub struct OverwriteStream {
    draws: Stream,
    /// (upper bound of the draws that choose the stream, the job's stream).
    streams: Vec<(u64, JobStream)>,
}

impl OverwriteStream {
    /// Make the stream; `None` if no job writes. `weights` holds every clone's share of
    /// requests.
    pub(super) fn new(
        specs: &[JobSpec],
        clones: &[OpenClone],
        weights: &[f64],
        seed: u64,
    ) -> Option<OverwriteStream> {
        let unfolded = specs.iter().flat_map(|s| std::iter::repeat_n(s, s.numjobs as usize));
        let mut streams = Vec::new();
        let mut sum = 0.0;
        for (id, (spec, clone)) in unfolded.zip(clones).enumerate() {
            let share = clone.shares[WRITE];
            if share > 0.0 {
                sum += weights[id] * share;
                streams.push((sum, endless(spec, clone, seed, id as u64)));
            }
        }
        if streams.is_empty() {
            return None;
        }
        let scale = (1u64 << 63) as f64 * 2.0 / sum;
        let streams = streams.into_iter().map(|(upto, stream)| ((upto * scale) as u64, stream));
        Some(OverwriteStream { draws: Stream::new(seed, "job.ageing.choice", 0), streams: streams.collect() })
    }
}

/// The job's writes, without its limits and times.
fn endless(spec: &JobSpec, clone: &OpenClone, seed: u64, id: u64) -> JobStream {
    let mut spec = spec.clone();
    spec.mode.uses[READ] = false;
    spec.mode.uses[TRIM] = false;
    spec.rate = [None; 3];
    spec.rate_iops = [None; 3];
    spec.runtime_ns = None;
    spec.think_ns = 0;
    spec.fsync = 0;
    let extents = Extents { requests: u64::MAX, bytes: u64::MAX };
    JobStream::new(&spec, clone.region.clone(), extents, seed, id, Purpose::Ageing)
}

impl Iterator for OverwriteStream {
    type Item = Command;

    #[inline]
    fn next(&mut self) -> Option<Command> {
        let index = if self.streams.len() == 1 {
            0
        } else {
            let draw = self.draws.next_u64();
            let index = self.streams.partition_point(|(below, _)| *below <= draw);
            index.min(self.streams.len() - 1)
        };
        self.streams[index].1.next().map(|issue| issue.command)
    }
}
