//! A set of jobs, read from a job file or from one line.

use super::act;
use super::ageing::OverwriteStream;
use super::apply::Draft;
use super::command_line;
use super::error::{JobError, Place, Problem, Warning, excerpt};
use super::open::OpenJobs;
use super::spec::{Block, JobSpec, MOST_JOBS, READ, WRITE};
use super::text::{self, Section};
use wildmatch::WildMatch;

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
        JobSet::from_job_file_sections(source, text, &[])
    }

    /// As [`JobSet::from_job_file`], with the jobs of these sections only (all if there is none); a
    /// name may have `*` and `?`. `[global]` sections always apply.
    ///
    /// # Errors
    /// As [`JobSet::from_job_file`], and a name that fits no section.
    pub fn from_job_file_sections(source: &str, text: &str, only: &[String]) -> Result<JobSet, JobError> {
        let mut sections = text::file_sections(source, text)?;
        let fits =
            |name: &str, section: &Section| !section.global && WildMatch::new(name).matches(&section.name);
        if let Some(none) = only.iter().find(|name| !sections.iter().any(|s| fits(name, s))) {
            let mut there: Vec<&str> =
                sections.iter().filter(|s| !s.global).map(|s| s.name.as_str()).take(20).collect();
            there.dedup();
            let wrong = format!("no section `{}`; there are: {}", excerpt(none), there.join(", "));
            let place = Place { source: source.to_string(), line: None, job: None };
            return Err(JobError::new(place, Problem::Malformed(wrong)));
        }
        if !only.is_empty() {
            sections.retain(|s| s.global || only.iter().any(|name| fits(name, s)));
        }
        JobSet::from_sections(source, sections)
    }

    /// Read an inline description, such as `randrw,bs=4k,iodepth=16;read,bs=128k`, or the
    /// load of Aerospike's certification tool, such as `act:30`, or the options of a fio command line,
    /// such as `fio --name=a --rw=randread --bs=4k`.
    ///
    /// # Errors
    /// As [`JobSet::from_job_file`], naming the option.
    pub fn from_inline(text: &str) -> Result<JobSet, JobError> {
        if let Some(load) = act::parse(text)? {
            return JobSet::checked(load.specs(), Vec::new());
        }
        let sections = match command_line::sections(text)? {
            Some(sections) => sections,
            None => text::inline_sections(text)?,
        };
        JobSet::from_sections("inline job", sections)
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

    /// The jobs with every rate multiplied by `factor`; `None` if none has a rate.
    pub fn at_rate(&self, factor: f64) -> Option<JobSet> {
        let mut set = self.clone();
        let paced = set.specs.iter_mut().filter(|spec| spec.has_rate());
        (paced.map(|spec| spec.multiply_rates(factor)).count() > 0).then_some(set)
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
    /// it, and a later `[global]` section adds to an earlier one. All problems are found, not only
    /// the first.
    fn from_sections(source: &str, sections: Vec<Section>) -> Result<JobSet, JobError> {
        let whole = Place { source: source.to_string(), line: None, job: None };
        let mut defaults = Draft::new("global", whole.clone());
        let mut specs: Vec<JobSpec> = Vec::new();
        let mut warnings = Vec::new();
        let mut errors = Vec::new();
        let mut no_effect: Vec<String> = Vec::new();
        for section in &sections {
            let mut draft = defaults.clone();
            draft.spec.name.clone_from(&section.name);
            draft.spec.place = section.place.clone();
            errors.extend(section.entries.iter().filter_map(|entry| draft.apply(entry).err()));
            no_effect.append(&mut draft.no_effect);
            warnings.append(&mut draft.warnings);
            if section.global {
                defaults = draft;
                continue;
            }
            // In fio the wall is before the job, so it has no effect on the first job.
            draft.spec.stonewall &= !specs.is_empty();
            errors.extend(finish(&mut draft));
            warnings.append(&mut draft.warnings);
            specs.push(draft.spec);
            // Stop here: a file with an endless number of sections must not fill the
            // memory.
            if specs.len() as u64 > MOST_JOBS {
                break;
            }
        }
        // An engine that is refused has options of its own, which are not the problem.
        if errors.iter().any(|e| matches!(*e.problem, Problem::Engine { .. })) {
            errors.retain(|e| !matches!(*e.problem, Problem::UnknownOption { .. }));
        }
        if let Some(error) = JobError::all(errors) {
            return Err(error);
        }
        if specs.is_empty() {
            let text = "no job: give at least one [section] besides [global], or an inline job \
                        such as `randread,bs=4k`";
            return Err(JobError::new(whole, Problem::Malformed(text.to_string())));
        }
        if !no_effect.is_empty() {
            no_effect.sort_unstable();
            no_effect.dedup();
            let text = format!("these options have no effect here: {}", no_effect.join(", "));
            warnings.insert(0, Warning { place: whole, text });
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

/// Settle the settings that depend on several options, and return what is wrong with their
/// combination.
fn finish(draft: &mut Draft) -> Vec<JobError> {
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
    let mixed = spec.mode.uses[READ] && spec.mode.uses[WRITE];
    let unread_mix = spec.read_percent.is_some() && !mixed;
    if mixed {
        match spec.read_percent {
            Some(100) => spec.mode.uses[WRITE] = false,
            Some(0) => spec.mode.uses[READ] = false,
            _ => {}
        }
    }
    let paced = spec.directions().any(|d| spec.limit(d).is_some());
    let errors = conflicts(spec, paced);
    if unread_mix {
        let place = spec.place.clone();
        let text = "`rwmixread` and `rwmixwrite` have no effect on a job that is not mixed (`rw`, `randrw`)";
        draft.warn(&place, text.into());
    }
    warn_of_no_effect(draft, paced);
    errors
}

/// What contradicts in the options of a job.
fn conflicts(spec: &JobSpec, paced: bool) -> Vec<JobError> {
    let mut errors = Vec::new();
    let mut say = |option, why: &str| errors.push(conflict(spec, option, why.to_string()));
    if spec.time_based && spec.runtime_ns.is_none() {
        say("time_based", "needs a runtime");
    }
    if spec.poisson && paced && !spec.fully_paced() {
        say("rate_process", "needs a rate for every direction of the job");
    }
    if spec.verify.is_some() && spec.do_verify && spec.mode.uses[WRITE] {
        say(
            "verify",
            "the job would read its writes back, which is not modelled; give do_verify=0, or a job that reads \
             after a stonewall",
        );
    }
    let most = spec.directions().map(|d| u64::from(spec.block[d].most())).max().unwrap_or(1);
    if !spec.mode.random && spec.mode.step < 0 && spec.mode.step.unsigned_abs() <= most {
        say("rw", "to go backwards, the bytes skipped must be more than one block");
    }
    errors
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
    if let (true, false, Some(depth @ 2..)) = (spec.synchronous, spec.offload, spec.iodepth) {
        texts.push(format!(
            "a synchronous engine keeps one request outstanding; `iodepth={depth}` has no effect"
        ));
    }
    if spec.think_blocks != 1 && spec.think_ns == 0 {
        texts.push("`thinktime_blocks` has no effect without `thinktime`".into());
    }
    if spec.identical_runs && (spec.mode.step <= 1 || !spec.mode.random) {
        texts.push("`rw_sequencer` has no effect without `:N` on a random job".into());
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
