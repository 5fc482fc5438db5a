//! A set of jobs, read from a job file or from one line.

use super::act;
use super::ageing::OverwriteStream;
use super::apply::Draft;
use super::error::{JobError, Place, Problem, Warning};
use super::open::OpenJobs;
use super::spec::{Block, JobSpec, MOST_JOBS, READ, WRITE};
use super::text::{self, Section};

/// Jobs that run together, as described; [`JobSet::open`] opens them on a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSet {
    specs: Vec<JobSpec>,
    warnings: Vec<Warning>,
}

impl JobSet {
    /// Read a fio job file. `source` is its name, for messages.
    ///
    /// # Errors
    /// An option or a line that is unknown, unsupported, unreadable or contradictory; the
    /// error names the line.
    pub fn from_job_file(source: &str, text: &str) -> Result<JobSet, JobError> {
        JobSet::from_sections(source, text::file_sections(source, text)?)
    }

    /// Read an inline description, such as `randrw,bs=4k,iodepth=16;read,bs=128k`, or the
    /// load of Aerospike's certification tool, such as `act:30`.
    ///
    /// # Errors
    /// As [`JobSet::from_job_file`], naming the option.
    pub fn from_inline(text: &str) -> Result<JobSet, JobError> {
        if let Some(load) = act::parse(text)? {
            return JobSet::checked(load.specs(), Vec::new());
        }
        JobSet::from_sections("inline job", text::inline_sections(text)?)
    }

    /// Whether a text is a job file: its first line that is neither blank nor a comment
    /// is a `[section]`.
    pub fn looks_like_job_file(text: &str) -> bool {
        let mut lines = text::lines(text).map(str::trim).filter(|l| !l.is_empty());
        lines.find(|l| !l.starts_with(['#', ';'])).is_some_and(|l| l.starts_with('['))
    }

    /// The jobs, with clones not unfolded.
    pub fn specs(&self) -> &[JobSpec] {
        &self.specs
    }

    /// The options of the description that have no effect, or another effect than in fio.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Open the jobs on a drive of `host_capacity` bytes.
    ///
    /// # Errors
    /// A job's region does not fit the capacity.
    pub fn open(&self, host_capacity: u64, seed: u64) -> Result<OpenJobs, JobError> {
        OpenJobs::new(&self.specs, host_capacity, seed)
    }

    /// The writes of the jobs without an end, for ageing; `None` if no job writes.
    ///
    /// # Errors
    /// As [`JobSet::open`].
    pub fn overwrite_stream(
        &self,
        host_capacity: u64,
        seed: u64,
    ) -> Result<Option<OverwriteStream>, JobError> {
        let open = self.open(host_capacity, seed)?;
        Ok(OverwriteStream::new(&self.specs, &open.clones, &open.weights(), seed))
    }

    /// Turn sections into jobs. As in fio, a `[global]` section applies to the jobs after
    /// it, and a later `[global]` section adds to an earlier one.
    fn from_sections(source: &str, sections: Vec<Section>) -> Result<JobSet, JobError> {
        let whole = Place { source: source.to_string(), line: None, job: None };
        let mut defaults = Draft::new("global", whole.clone());
        let mut specs: Vec<JobSpec> = Vec::new();
        let mut warnings = Vec::new();
        for section in &sections {
            let is_global = section.name == "global" && section.place.line.is_some();
            let mut draft = defaults.clone();
            draft.spec.name.clone_from(&section.name);
            draft.spec.place = section.place.clone();
            for entry in &section.entries {
                draft.apply(entry)?;
            }
            warnings.append(&mut draft.warnings);
            if is_global {
                defaults = draft;
                continue;
            }
            // In fio the wall is before the job, so it has no effect on the first job.
            draft.spec.stonewall &= !specs.is_empty();
            finish(&mut draft)?;
            warnings.append(&mut draft.warnings);
            specs.push(draft.spec);
            // Stop here: a file with an endless number of sections must not fill the
            // memory.
            if specs.len() as u64 > MOST_JOBS {
                return JobSet::checked(specs, warnings);
            }
        }
        if specs.is_empty() {
            let text = "no job: give at least one [section] besides [global], or an inline job \
                        such as `randread,bs=4k`";
            return Err(JobError::new(whole, Problem::Malformed(text.to_string())));
        }
        JobSet::checked(specs, warnings)
    }

    fn checked(specs: Vec<JobSpec>, warnings: Vec<Warning>) -> Result<JobSet, JobError> {
        let mut jobs = 0;
        for spec in &specs {
            jobs += u64::from(spec.numjobs);
            if jobs > MOST_JOBS {
                let why = format!("more than {MOST_JOBS} jobs in all");
                return Err(conflict(spec, "numjobs", why));
            }
        }
        Ok(JobSet { specs, warnings })
    }
}

fn conflict(spec: &JobSpec, option: &'static str, why: String) -> JobError {
    JobError::new(spec.place.clone(), Problem::Conflict { option, why })
}

/// Settle the settings that depend on several options, and check their combination.
fn finish(draft: &mut Draft) -> Result<(), JobError> {
    let spec = &mut draft.spec;
    if spec.unaligned {
        for block in &mut spec.block {
            if let Block::Range { step, .. } = block {
                *step = 1;
            }
        }
    }
    // A mix of 0 or 100 percent is one direction only: a rate of the other direction must
    // not bring it back.
    if spec.mode.uses[READ] && spec.mode.uses[WRITE] {
        match spec.read_percent {
            Some(100) => spec.mode.uses[WRITE] = false,
            Some(0) => spec.mode.uses[READ] = false,
            _ => {}
        }
    }
    if spec.time_based && spec.runtime_ns.is_none() {
        return Err(conflict(spec, "time_based", "needs a runtime".to_string()));
    }
    let paced = spec.directions().any(|d| spec.limit(d).is_some());
    if spec.poisson && paced && !spec.fully_paced() {
        let why = "needs a rate for every direction of the job".to_string();
        return Err(conflict(spec, "rate_process", why));
    }
    warn_of_no_effect(draft, paced);
    Ok(())
}

fn warn_of_no_effect(draft: &mut Draft, paced: bool) {
    let spec = &draft.spec;
    let mut texts: Vec<String> = Vec::new();
    if (spec.poisson || spec.offload) && !paced {
        texts.push("an arrival process without `rate` or `rate_iops` has no effect".into());
    }
    let mixes = spec.mode.uses[READ] && spec.mode.uses[WRITE];
    if let (true, true, Some(percent)) = (mixes, spec.fully_paced(), spec.read_percent) {
        let reads = spec.shares()[READ] * 100.0;
        if (reads - f64::from(percent)).abs() >= 0.5 {
            texts.push(format!(
                "each direction has its own rate, as in fio: {reads:.1} % of the requests are \
                 reads; rwmixread has no effect"
            ));
        }
    }
    if mixes && paced && !spec.fully_paced() {
        texts.push("only one direction has a rate: it paces the whole job".into());
    }
    if !spec.mode.random {
        if spec.percentage_random != [100; 3] {
            texts.push("`percentage_random` has no effect on a sequential job".into());
        }
        if spec.distribution != super::spec::Distribution::Uniform {
            texts.push("`random_distribution` has no effect on a sequential job".into());
        }
    }
    if (spec.fsync > 0 || spec.end_fsync) && !spec.mode.uses[WRITE] {
        texts.push("a job without writes never flushes".into());
    }
    let place = spec.place.clone();
    for text in texts {
        draft.warn(&place, text);
    }
}
