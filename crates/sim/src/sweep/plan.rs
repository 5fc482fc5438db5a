//! The points of a design: their keys, their plans, and their runs.

use crate::cache::Locks;
use crate::experiment::{Experiment, ExperimentError, Plan, SchemeSpec};
use crate::points::{Follow, each, point};
use crate::precondition::{PastKind, Snapshots};
use crate::settings;
use crate::sweep::design::Design;
use crate::sweep::draw::points;
use crate::sweep::error::SweepError;
use crate::sweep::folder::Finished;
use crate::sweep::key::{key, own};
use crate::sweep::setup::{Setup, Shared, Workloads};
use crate::sweep::table::Row;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tailcut_core::drive::Drive;
use tailcut_workload::Interrupt;

/// A point before it runs.
pub(crate) struct Planned {
    pub values: Vec<String>,
    pub setup: Setup,
    /// Its own hash, or why it cannot run.
    pub own: Result<u128, String>,
    /// The points with the same values of all axes but the scheme.
    pub group: usize,
    pub key: String,
    /// The capacity of its drive alone, bytes.
    capacity: u64,
}

/// The points that share a capacity, planned when the first of them runs.
pub(crate) struct Group {
    /// Its points that can run, by number.
    pub members: Vec<usize>,
    plan: OnceLock<Arc<GroupPlan>>,
}

/// The plan of a group.
struct GroupPlan {
    /// The plan, if a member can run.
    plan: Option<Plan>,
    /// Why members cannot run.
    errors: HashMap<usize, String>,
}

/// The points of a design.
pub(crate) struct Points {
    pub design: Design,
    pub planned: Vec<Planned>,
    pub groups: Vec<Group>,
    workloads: Workloads,
}

/// Makes the points of a design and their keys, and checks what can be checked without a run.
fn plan(
    design: &Design,
    workloads: &Workloads,
    threads: usize,
) -> Result<(Vec<Planned>, Vec<Group>), SweepError> {
    let all = points(design).map_err(SweepError::Design)?;
    let scheme = design.axis.iter().position(|axis| axis.key == "scheme");
    let one = |i: usize| {
        let setup = Setup::of(design, &all[i]);
        let found = prepared(design, &setup, workloads);
        (setup, found)
    };
    let numbers: Vec<usize> = (0..all.len()).collect();
    let found = each(&numbers, threads, &one);
    let mut planned: Vec<Planned> = Vec::new();
    let mut of_group: HashMap<Vec<&String>, usize> = HashMap::new();
    for (values, (setup, found)) in all.iter().zip(found) {
        let others: Vec<&String> =
            values.iter().enumerate().filter(|(i, _)| Some(*i) != scheme).map(|(_, v)| v).collect();
        let next = of_group.len();
        let group = *of_group.entry(others).or_insert(next);
        let (own, capacity) = match found {
            Ok((own, capacity)) => (Ok(own), capacity),
            Err(why) => (Err(why), 0),
        };
        planned.push(Planned { values: values.clone(), setup, own, group, key: String::new(), capacity });
    }
    refuse(design, &planned)?;
    let mut groups: Vec<Group> =
        (0..of_group.len()).map(|_| Group { members: Vec::new(), plan: OnceLock::new() }).collect();
    for (i, p) in planned.iter().enumerate().filter(|(_, p)| p.own.is_ok()) {
        let members = &mut groups[p.group].members;
        // A random design may draw a point twice.
        if members.iter().all(|&other| planned[other].own != p.own) {
            members.push(i);
        }
    }
    let hashes: Vec<Vec<u128>> = groups
        .iter()
        .map(|g| {
            let mut of: Vec<u128> = g.members.iter().filter_map(|&i| planned[i].own.clone().ok()).collect();
            of.sort_unstable();
            of
        })
        .collect();
    for p in &mut planned {
        if let Ok(own) = p.own {
            p.key = key(own, &hashes[p.group]);
        }
    }
    Ok((planned, groups))
}

/// The hash and the capacity of a point.
fn prepared(design: &Design, setup: &Setup, workloads: &Workloads) -> Result<(u128, u64), String> {
    let resolved = setup.resolved(design).map_err(|e| e.to_string())?;
    let workload = workloads.of(setup)?;
    let capacity = Drive::<()>::host_bytes_of(&resolved.config, setup.seed).map_err(|e| e.to_string())?;
    Ok((own(design, setup, &resolved, &workload), capacity))
}

/// Refuses a design of which no point can run, and a value of an axis with which no point can: that is a mistake. Other
/// points that cannot run are failures of these points.
fn refuse(design: &Design, planned: &[Planned]) -> Result<(), SweepError> {
    let failed = |p: &&Planned| p.own.is_err();
    if design.random.is_none() {
        for (i, axis) in design.axis.iter().enumerate().filter(|(_, axis)| axis.values.len() > 1) {
            for value in &axis.values {
                let with: Vec<&Planned> = planned.iter().filter(|p| p.values[i] == *value).collect();
                let all = planned.iter().filter(failed).count() == planned.len();
                if let (false, true, Some(Err(why))) =
                    (all, with.iter().all(|p| p.own.is_err()), with.first().map(|p| &p.own))
                {
                    let place = format!("axis `{}`, value `{value}`", axis.key);
                    return Err(SweepError::Design(format!("{place}: {why}")));
                }
            }
        }
    }
    match planned.first().map(|p| &p.own) {
        Some(Err(why)) if planned.iter().all(|p| p.own.is_err()) => {
            Err(SweepError::Design(format!("no point can run; the first: {why}")))
        }
        _ => Ok(()),
    }
}

impl Points {
    /// The points of a design; up to `threads` are prepared at the same time.
    ///
    /// # Errors
    /// A design of which no point can run.
    pub fn new(design: &Design, threads: usize, interrupt: Interrupt) -> Result<Points, SweepError> {
        let workloads = Workloads::new(interrupt);
        let (planned, groups) = plan(design, &workloads, threads)?;
        Ok(Points { design: design.clone(), planned, groups, workloads })
    }

    /// The points in the order in which they run, with their requests: the largest first, so that no thread is left
    /// with a large one at the end. Points of a group follow each other.
    pub fn order(&self, points: Vec<usize>) -> Vec<(usize, f64)> {
        let mut known: HashMap<(String, u64, u64), f64> = HashMap::new();
        let mut all: Vec<(usize, f64)> = Vec::new();
        for i in points {
            let p = &self.planned[i];
            let workload = self.workloads.of(&p.setup).ok();
            let requests = workload.map_or(0.0, |w| {
                let key = (w.identity.clone(), p.capacity, p.setup.seed);
                *known.entry(key).or_insert_with(|| requests(&w, p))
            });
            all.push((i, requests));
        }
        let group = |i: usize| self.planned[i].group;
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(group(a.0).cmp(&group(b.0))).then(a.0.cmp(&b.0)));
        all
    }

    /// Runs a point, or says why it failed.
    pub fn run(
        &self,
        i: usize,
        snapshots: &Snapshots,
        aged: &Arc<Locks>,
        follow: (usize, &dyn Follow),
    ) -> Row {
        let p = &self.planned[i];
        let group = Arc::clone(self.groups[p.group].plan.get_or_init(|| Arc::new(self.plan(p.group))));
        if let Some(why) = group.errors.get(&i) {
            return Row::Failed(why.clone());
        }
        let Some(plan) = &group.plan else { return Row::Failed("no scheme can run here".into()) };
        let (workload, spec) = match (self.workloads.of(&p.setup), self.spec(i)) {
            (Ok(workload), Ok(spec)) => (workload, spec),
            (Err(why), _) | (_, Err(why)) => return Row::Failed(why),
        };
        let experiment = self.experiment(vec![spec], &workload, p, snapshots.clone());
        let mut warnings = self.said_before(p, &experiment, plan);
        let done = match point(&experiment, plan, follow, Some(aged)) {
            Ok(Some(done)) => done,
            Ok(None) => return Row::NotRun,
            Err(ExperimentError::Workload(e)) if e.is_interrupt() => return Row::NotRun,
            Err(e) => return Row::Failed(e.to_string()),
        };
        warnings.extend(done.warnings);
        let mut scheme = done.schemes.into_iter().next().expect("one scheme ran");
        scheme.series = Vec::new();
        Row::Finished(Box::new(Finished {
            key: p.key.clone(),
            tailcut: env!("CARGO_PKG_VERSION").to_string(),
            host_capacity_bytes: plan.capacity,
            scheme,
            warnings,
        }))
    }

    /// What there is to say about a point before it runs.
    fn said_before(&self, p: &Planned, experiment: &Experiment, plan: &Plan) -> Vec<String> {
        let Ok(resolved) = p.setup.resolved(&self.design) else { return Vec::new() };
        let layers = p.setup.layers(&self.design);
        let resolved = [(p.setup.scheme.clone(), resolved)];
        let mut all = settings::of_schemes(&layers, &resolved).unwrap_or_default();
        all.extend(settings::of_past(&layers, &resolved, experiment, plan));
        all.extend(plan.warnings.iter().cloned());
        all
    }

    /// Plans a group. A scheme that cannot run is left out.
    fn plan(&self, group: usize) -> GroupPlan {
        let mut left = self.groups[group].members.clone();
        let mut errors = HashMap::new();
        while let Some(&first) = left.first() {
            let p = &self.planned[first];
            let mut specs = Vec::new();
            for &i in &left {
                match self.spec(i) {
                    Ok(spec) => specs.push(spec),
                    Err(why) => drop(errors.insert(i, why)),
                }
            }
            let workload = match self.workloads.of(&p.setup) {
                Ok(workload) if specs.len() == left.len() => workload,
                Ok(_) => {
                    left.retain(|i| !errors.contains_key(i));
                    continue;
                }
                Err(why) => {
                    errors.extend(left.iter().map(|&i| (i, why.clone())));
                    break;
                }
            };
            match self.experiment(specs, &workload, p, Snapshots::Off).plan() {
                Ok(plan) => return GroupPlan { plan: Some(plan), errors },
                Err(e) => {
                    let of = |i: &usize| matches!(&e, ExperimentError::Config { scheme, .. } if *scheme == self.planned[*i].setup.scheme);
                    let culprit = left.iter().copied().find(of);
                    let why = e.to_string();
                    let out: Vec<usize> = culprit.map_or_else(|| left.clone(), |i| vec![i]);
                    errors.extend(out.into_iter().map(|i| (i, why.clone())));
                    left.retain(|i| !errors.contains_key(i));
                }
            }
        }
        GroupPlan { plan: None, errors }
    }

    fn spec(&self, i: usize) -> Result<SchemeSpec, String> {
        let setup = &self.planned[i].setup;
        let resolved = setup.resolved(&self.design).map_err(|e| e.to_string())?;
        Ok(SchemeSpec { name: setup.scheme.clone(), config: resolved.config })
    }

    fn experiment<'b>(
        &self,
        schemes: Vec<SchemeSpec>,
        workload: &'b Shared,
        p: &Planned,
        snapshots: Snapshots,
    ) -> Experiment<'b> {
        Experiment {
            schemes,
            workload: &workload.spec,
            seed: p.setup.seed,
            runs: self.design.runs,
            one_past: false,
            past: self.design.precondition.as_ref().and_then(|past| past.parse::<PastKind>().ok()),
            snapshots,
            threads: 1,
            fine: None,
            timeline: None,
        }
    }
}

/// The requests of a run, as far as they are known before it; 0 if they are not.
fn requests(workload: &Shared, p: &Planned) -> f64 {
    if let Some(trace) = workload.spec.trace() {
        let laps = f64::from(trace.options.loop_count);
        return trace.info.as_ref().map_or(0.0, |info| info.requests as f64 * laps);
    }
    let open = workload.spec.open(p.capacity, p.capacity, p.setup.seed).ok();
    open.and_then(|w| w.expected_requests()).unwrap_or(0) as f64
}
