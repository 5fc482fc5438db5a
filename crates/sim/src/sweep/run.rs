//! Runs the points of a sweep that are not finished.

use crate::cache::{Cache, LIMIT, Locks};
use crate::points::{Follow, each};
use crate::precondition::Snapshots;
use crate::sweep::design::Design;
use crate::sweep::error::SweepError;
use crate::sweep::folder::{AGED, Folder};
use crate::sweep::plan::Points;
use crate::sweep::table::{Row, table};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use tailcut_report::doubts::reasons;
use tailcut_report::rows::Rows;
use tailcut_workload::Interrupt;

/// How a sweep is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of the sweep.
    pub out: PathBuf,
    /// Points at the same time, at least one.
    pub threads: usize,
    /// Where aged states are kept; `None` for the folder `aged` of the sweep, which is removed at its end.
    pub cache: Option<Cache>,
    /// The interrupt that stops the reading of traces.
    pub interrupt: Interrupt,
}

/// A sweep that has ended.
#[derive(Debug)]
pub struct Swept {
    /// The points: the values of the axes, the key, and what became of each.
    pub points: Vec<(Vec<String>, String, Row)>,
    /// Finished points that were read back.
    pub read_back: usize,
    /// The results.
    pub rows: Rows,
    /// The files of the results.
    pub files: Vec<PathBuf>,
    /// It was stopped before its end.
    pub stopped: bool,
}

impl Swept {
    /// By point: why its figures are not to be taken as they stand. `name` names a point before it with the same result.
    pub fn doubts(&self, name: impl Fn(usize) -> String) -> Vec<Vec<String>> {
        let mut first_of: HashMap<&str, usize> = HashMap::new();
        let mut all = vec![Vec::new(); self.points.len()];
        for (i, (_, key, row)) in self.points.iter().enumerate() {
            let Row::Finished(point) = row else { continue };
            let first = *first_of.entry(&point.scheme.digest).or_insert(i);
            // Random draws may have the same point twice.
            let twin = (first != i && self.points[first].1 != *key).then(|| name(first));
            all[i] = reasons(&point.scheme, twin.as_deref());
        }
        all
    }

    /// Whether a point wrote.
    pub fn writes(&self) -> bool {
        let wrote = |row: &Row| matches!(row, Row::Finished(point) if point.scheme.write.total_ios > 0);
        self.points.iter().any(|(_, _, row)| wrote(row))
    }
}

/// Runs a sweep. Points with the same values of all axes but `scheme` get the same capacity and the same requests.
/// Points that the folder has finished are read back.
///
/// # Errors
/// A design of which no point can run; a folder that holds something else; results that cannot be written.
pub fn sweep(design: &Design, options: &Options, follow: &dyn Follow) -> Result<Swept, SweepError> {
    let all = Points::new(design, options.threads, options.interrupt.clone())?;
    let planned = &all.planned;
    let folder = Folder::open(&options.out, design)?;
    let (mut rows, read_back) = known(&all, &folder);
    let first_of = to_run(&all, &rows);
    let order = all.order(first_of.values().copied().collect());
    // A sweep that was killed left its aged states, which serve again.
    let own = options.out.join(AGED);
    let cache = options.cache.clone().unwrap_or_else(|| Cache::new(own.clone(), LIMIT));
    let snapshots = Snapshots::Cached(cache);
    let aged = Arc::new(Locks::default());
    let runs = design.runs as usize;
    follow.begins("sweep", order.len() * runs);
    for (at, &(_, requests)) in order.iter().enumerate() {
        (0..runs).for_each(|run| follow.weighs(at * runs + run, requests));
    }
    let turns: Vec<usize> = (0..order.len()).collect();
    let done = each(&turns, options.threads, &|at| {
        let row = match follow.stopped() {
            true => Ok(Row::NotRun),
            false => kept(all.run(order[at].0, &snapshots, &aged, (at * runs, follow)), &folder),
        };
        (0..runs).for_each(|run| follow.done(at * runs + run));
        row
    });
    for (&(i, _), row) in order.iter().zip(done) {
        rows[i] = Some(row?);
    }
    for i in 0..planned.len() {
        if rows[i].is_none() {
            rows[i] = rows[first_of[planned[i].key.as_str()]].clone();
        }
    }
    if !follow.stopped() && own.is_dir() {
        std::fs::remove_dir_all(&own).map_err(SweepError::io(&own))?;
    }
    swept(&all, rows, read_back, &folder)
}

/// The rows of the points that cannot run, and of those that the folder has finished; and the number of these.
pub(crate) fn known(all: &Points, folder: &Folder) -> (Vec<Option<Row>>, usize) {
    let mut rows: Vec<Option<Row>> =
        all.planned.iter().map(|p| p.own.as_ref().err().cloned().map(Row::Failed)).collect();
    let mut read_back = 0;
    for (row, p) in rows.iter_mut().zip(&all.planned).filter(|(row, _)| row.is_none()) {
        *row = folder.read(&p.key).map(|point| Row::Finished(Box::new(point.slim())));
        read_back += usize::from(row.is_some());
    }
    (rows, read_back)
}

/// The points without a row by their keys. Random draws may have the same point twice: it runs once.
pub(crate) fn to_run<'a>(all: &'a Points, rows: &[Option<Row>]) -> BTreeMap<&'a str, usize> {
    let mut first_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, p) in all.planned.iter().enumerate().filter(|(i, _)| rows[*i].is_none()) {
        first_of.entry(&p.key).or_insert(i);
    }
    first_of
}

/// Keeps a finished point.
fn kept(row: Row, folder: &Folder) -> Result<Row, SweepError> {
    if let Row::Finished(point) = row {
        folder.keep(&point)?;
        return Ok(Row::Finished(Box::new(point.slim())));
    }
    Ok(row)
}

/// Writes the results of all points; one without a row has not run.
pub(crate) fn swept(
    all: &Points,
    rows: Vec<Option<Row>>,
    read_back: usize,
    folder: &Folder,
) -> Result<Swept, SweepError> {
    let rows = rows.into_iter().map(|row| row.unwrap_or(Row::NotRun));
    let points: Vec<_> =
        all.planned.iter().zip(rows).map(|(p, row)| (p.values.clone(), p.key.clone(), row)).collect();
    let rows = table(&all.design, &points);
    let files = folder.results(&rows)?;
    Ok(Swept { stopped: points.iter().any(|p| matches!(p.2, Row::NotRun)), points, read_back, rows, files })
}
