//! `--highest-rate`: searches the highest rate at which a scheme meets all targets.
//!
//! Arrivals are made faster or slower by a factor. The factor is doubled or halved until one rate meets the targets
//! and another one does not. Then the geometric mean of the two is tried, until their ratio is at most [`CLOSE`]. The
//! search assumes that no rate above a rate that misses the targets meets them.

use crate::args::RunArgs;
use crate::error::CliError;
use crate::progress::Progress;
use tailcut_report::highest_rate::{HighestRate, TriedRate};
use tailcut_report::targets::Verdict;
use tailcut_sim::points::{Follow, Shifted, each};
use tailcut_sim::{Experiment, ExperimentError, Finished, SchemeSpec, finished};

/// The search ends when the lowest rate that misses the targets is at most this multiple of the highest rate that
/// meets them.
const CLOSE: f64 = 1.05;

/// The largest factor. The smallest factor is its inverse.
const MOST: f64 = 1024.0;

/// The bounds that are known for one scheme.
struct Bracket {
    meets: Option<TriedRate>,
    fails: Option<TriedRate>,
}

impl Bracket {
    /// The next factor to try; `None` if the search is over.
    fn next(&self) -> Option<f64> {
        match (&self.meets, &self.fails) {
            (Some(low), Some(high)) => {
                (high.factor / low.factor > CLOSE).then(|| (low.factor * high.factor).sqrt())
            }
            (Some(low), None) => Some(low.factor * 2.0).filter(|&factor| factor <= MOST),
            (None, Some(high)) => Some(high.factor / 2.0).filter(|&factor| factor >= 1.0 / MOST),
            (None, None) => None,
        }
    }

    fn learn(&mut self, tried: TriedRate) {
        let side = if tried.verdict == Verdict::Meets { &mut self.meets } else { &mut self.fails };
        *side = Some(tried);
    }
}

/// Search the highest rate of every scheme and put it into the summary.
///
/// # Errors
/// The workload has no rate, or a run fails. An interrupt ends the search. The summary then lacks the schemes that
/// are not finished, and is partial.
pub fn search(args: &RunArgs, experiment: &Experiment, finished: &mut Finished) -> Result<(), CliError> {
    let mut brackets = Vec::new();
    for scheme in &finished.summary.schemes {
        let mut bracket = Bracket { meets: None, fails: None };
        bracket.learn(TriedRate::of(scheme, 1.0));
        brackets.push(bracket);
    }
    loop {
        let open: Vec<(usize, f64)> =
            brackets.iter().enumerate().filter_map(|(i, b)| Some((i, b.next()?))).collect();
        if open.is_empty() {
            break;
        }
        let tried = round(args, experiment, &open)?;
        for ((i, _), tried) in open.iter().zip(tried) {
            match tried {
                Some(tried) => brackets[*i].learn(tried),
                None => {
                    finished.summary.partial = true;
                    return Ok(());
                }
            }
        }
    }
    for (scheme, Bracket { meets, fails }) in finished.summary.schemes.iter_mut().zip(brackets) {
        scheme.highest_rate = Some(HighestRate { meets, fails });
    }
    Ok(())
}

/// Run each scheme at its factor, several at a time. An interrupted run gives `None`.
fn round(
    args: &RunArgs,
    experiment: &Experiment,
    open: &[(usize, f64)],
) -> Result<Vec<Option<TriedRate>>, CliError> {
    let progress = Progress::of_tasks(open.len());
    let tasks: Vec<usize> = (0..open.len()).collect();
    let done = each(&tasks, experiment.threads, &|task| {
        let (scheme, factor) = open[task];
        one(args, experiment, (&experiment.schemes[scheme], factor), (&progress, task))
    });
    progress.finish();
    done.into_iter().collect()
}

/// Run one scheme with arrivals that are faster by a factor.
fn one(
    args: &RunArgs,
    experiment: &Experiment,
    (spec, factor): (&SchemeSpec, f64),
    (progress, task): (&Progress, usize),
) -> Result<Option<TriedRate>, CliError> {
    let Some(workload) = experiment.workload.at_rate(factor) else {
        return Err(CliError::Input(
            "--highest-rate needs arrivals that can be made faster: a trace without --closed-loop, or a job whose \
             directions have `rate` or `rate_iops`"
                .into(),
        ));
    };
    let experiment = Experiment {
        schemes: vec![spec.clone()],
        workload: &workload,
        snapshots: experiment.snapshots.clone(),
        threads: 1,
        fine: None,
        timeline: None,
        ..*experiment
    };
    let plan = experiment.plan()?;
    progress.planned(task, 1, &plan);
    let watch = Shifted { to: progress, first: task };
    let results = match experiment.run(&plan, &watch, &|_, _| Ok(None)) {
        Ok(results) => results,
        Err(ExperimentError::Stuck { .. }) => return Ok(Some(TriedRate::stuck(factor))),
        Err(e) => return Err(e.into()),
    };
    let mut done = finished(args.device_name(), &experiment, &plan, results)?;
    if done.summary.partial {
        return Ok(None);
    }
    done.judged(&args.target);
    Ok(done.summary.schemes.first().map(|scheme| TriedRate::of(scheme, factor)))
}
