//! A sweep whose points are run elsewhere: by other processes, or on other machines.
//!
//! The [`Remote`] has the folder. It gives out a [`Job`] for each point that is not finished, and takes the results.
//! [`alone`] runs a job. A job is a design of its own, which holds the points that share a capacity, so that the point
//! has the same key and the same digest as in a sweep on this machine.

use crate::cache::{Cache, Locks};
use crate::points::Follow;
use crate::precondition::Snapshots;
use crate::sweep::design::{Axis, Design};
use crate::sweep::error::SweepError;
use crate::sweep::folder::{Finished, Folder};
use crate::sweep::plan::Points;
use crate::sweep::run::{Swept, known, swept, to_run};
use crate::sweep::table::Row;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use tailcut_workload::Interrupt;

/// A point to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The number of the point in its sweep, from 0.
    pub point: usize,
    /// The point and those with which it shares its capacity, which differ in their schemes.
    pub design: Design,
    /// The scheme of the point.
    pub scheme: String,
}

/// A sweep whose points are run elsewhere.
pub struct Remote {
    all: Points,
    folder: Folder,
    rows: Vec<Option<Row>>,
    read_back: usize,
}

impl Remote {
    /// Opens the folder of a design and reads back what is finished. Up to `threads` points are prepared at a time.
    ///
    /// # Errors
    /// As for a [sweep](crate::sweep::sweep).
    pub fn open(
        design: &Design,
        out: &Path,
        threads: usize,
        interrupt: Interrupt,
    ) -> Result<Remote, SweepError> {
        let all = Points::new(design, threads, interrupt)?;
        let folder = Folder::open(out, design)?;
        let (rows, read_back) = known(&all, &folder);
        Ok(Remote { all, folder, rows, read_back })
    }

    /// The points to run, the largest first.
    pub fn jobs(&self) -> Vec<Job> {
        let points = to_run(&self.all, &self.rows).values().copied().collect();
        self.all.order(points).into_iter().map(|(point, _)| self.job(point)).collect()
    }

    fn job(&self, point: usize) -> Job {
        let Points { design, planned, groups, .. } = &self.all;
        let p = &planned[point];
        let members = groups[p.group].members.iter().map(|&i| planned[i].setup.scheme.clone());
        let mut schemes: Vec<String> = members.collect();
        let axes = design.axis.iter().zip(&p.values).filter(|(axis, _)| axis.key != "scheme");
        let mut axis: Vec<Axis> =
            axes.map(|(axis, value)| Axis { key: axis.key.clone(), values: vec![value.clone()] }).collect();
        schemes.sort_unstable();
        axis.push(Axis { key: "scheme".into(), values: schemes });
        let design = Design { random: None, axis, ..design.clone() };
        Job { point, design, scheme: p.setup.scheme.clone() }
    }

    /// Takes the result of a point, which [`alone`] has given.
    ///
    /// # Errors
    /// It is not of this point, or not of this version; it cannot be kept.
    pub fn take(&mut self, point: usize, result: &str) -> Result<(), SweepError> {
        let wrong = |why: String| Err(SweepError::Design(format!("point {}: {why}", point + 1)));
        let Some(p) = self.all.planned.get(point) else { return wrong("there is no such point".into()) };
        let finished: Finished = match serde_json::from_str(result) {
            Ok(finished) => finished,
            Err(e) => return wrong(format!("the result cannot be read: {e}")),
        };
        if finished.key != p.key {
            return wrong(
                "the result is of another point, or its files or the version of tailcut were not the same where it ran"
                    .into(),
            );
        }
        self.folder.keep(&finished)?;
        self.rows[point] = Some(Row::Finished(Box::new(finished.slim())));
        Ok(())
    }

    /// A point has failed.
    pub fn fail(&mut self, point: usize, why: &str) {
        if let Some(row) = self.rows.get_mut(point) {
            *row = Some(Row::Failed(why.to_string()));
        }
    }

    /// Writes the results. Points that were neither taken nor failed have not run.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn finish(mut self) -> Result<Swept, SweepError> {
        // A point that was drawn twice has run once.
        for i in 0..self.rows.len() {
            if self.rows[i].is_none() {
                let key = &self.all.planned[i].key;
                let twin =
                    (0..self.rows.len()).find(|&j| self.all.planned[j].key == *key && self.rows[j].is_some());
                self.rows[i] = twin.and_then(|j| self.rows[j].clone());
            }
        }
        swept(&self.all, self.rows, self.read_back, &self.folder)
    }
}

/// Runs a job; the result is for [`Remote::take`]. `None` if it was stopped.
///
/// # Errors
/// Why the point failed.
pub fn alone(
    job: &Job,
    cache: Option<Cache>,
    follow: &dyn Follow,
    interrupt: Interrupt,
) -> Result<Option<String>, String> {
    let all = Points::new(&job.design, 1, interrupt).map_err(|e| e.to_string())?;
    let point = all.planned.iter().position(|p| p.setup.scheme == job.scheme);
    let Some(point) = point else { return Err(format!("the job has no scheme `{}`", job.scheme)) };
    if let Err(why) = &all.planned[point].own {
        return Err(why.clone());
    }
    let snapshots = cache.map_or(Snapshots::Off, Snapshots::Cached);
    let runs = job.design.runs as usize;
    follow.begins("point", runs);
    match all.run(point, &snapshots, &Arc::new(Locks::default()), (0, follow)) {
        Row::Finished(finished) => serde_json::to_string(&*finished).map(Some).map_err(|e| e.to_string()),
        Row::Failed(why) => Err(why),
        Row::NotRun => Ok(None),
    }
}
