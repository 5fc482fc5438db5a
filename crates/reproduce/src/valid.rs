//! What serde cannot see: whether the parts of an experiment file fit together.

use crate::file::{Band, Check, Experiment, Run, Trust};
use crate::measure::Measure;
use crate::table::Column;
use crate::unit::{Kind, Unit};
use std::collections::BTreeSet;

/// Check a whole file.
///
/// # Errors
/// The key, what is wrong, what is allowed.
pub(crate) fn check(e: &Experiment) -> Result<(), String> {
    if e.id.split('/').filter(|p| !p.is_empty()).count() != 2 {
        return Err(format!("id: `{}` is not of the form paper/figure", e.id));
    }
    let mut names = BTreeSet::new();
    let all = e.run.iter().map(|r| &r.name).chain(e.search.iter().map(|s| &s.name));
    for name in all {
        if !names.insert(name.as_str()) {
            return Err(format!("two runs are called `{name}`"));
        }
    }
    for run in &e.run {
        check_run(run).map_err(|why| format!("run `{}`: {why}", run.name))?;
    }
    for search in &e.search {
        if !search.workload.contains("{multiplier}") || !search.workload.contains("{size}") {
            let name = &search.name;
            return Err(format!("search `{name}`: workload: it holds `{{multiplier}}` and `{{size}}`"));
        }
    }
    for check in &e.check {
        check_check(e, check).map_err(|why| format!("check `{}`: {why}", check.label))?;
    }
    for table in &e.table {
        run_of(e, &table.run).map_err(|why| format!("table `{}`: {why}", table.title))?;
        for column in &table.columns {
            let wrong = |why| format!("table `{}`: {why}", table.title);
            let (_, run) = Column::parse(column).map_err(wrong)?;
            run.map_or(Ok(()), |run| run_of(e, run).map(|_| ())).map_err(wrong)?;
        }
    }
    for series in &e.series {
        run_of(e, &series.run).map_err(|why| format!("series `{}`: {why}", series.title))?;
    }
    Ok(())
}

/// The unit of this name, if the kind has it.
pub(crate) fn unit_of(name: &str, kind: Kind) -> Result<Unit, String> {
    Unit::of(name, kind).ok_or_else(|| {
        let names = Unit::names(kind).iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        format!("unit: `{name}` does not fit the measure; it takes {names}")
    })
}

fn check_run(run: &Run) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for name in run.names() {
        if !names.insert(name) {
            return Err(format!("schemes: `{name}` is there twice"));
        }
    }
    if names.is_empty() {
        return Err("schemes: at least one".to_string());
    }
    match (&run.workload, &run.trace) {
        (Some(text), None) => {
            if run.replay.is_some() {
                return Err("replay: only a trace is replayed".to_string());
            }
            if text.contains("{size}") != run.full.is_some() || (run.quick.is_some() && run.full.is_none()) {
                return Err("full: it is what `{size}` in the workload stands for".to_string());
            }
        }
        (None, Some(_)) if run.full.is_none() && run.quick.is_none() => {}
        (None, Some(_)) => {
            return Err("full, quick: a trace has replay.loop and replay.quick_loop".to_string());
        }
        _ => return Err("give either workload or trace".to_string()),
    }
    run.precondition.as_ref().map_or(Ok(()), |past| {
        past.parse::<tailcut_sim::PastKind>().map(|_| ()).map_err(|e| format!("precondition: {e}"))
    })
}

fn run_of<'a>(e: &'a Experiment, name: &str) -> Result<&'a Run, String> {
    e.run.iter().find(|r| r.name == name).ok_or_else(|| format!("run: there is no run `{name}`"))
}

fn check_check(e: &Experiment, c: &Check) -> Result<(), String> {
    if c.run.is_some() != c.runs.is_empty() {
        return Err("give either run or runs".to_string());
    }
    let measure = Measure::parse(&c.measure).map_err(|why| format!("measure: {why}"))?;
    let scheme = c.scheme.as_ref().or(e.defaults.scheme.as_ref()).ok_or("scheme is missing")?;
    for run in c.about() {
        knows(e, run, scheme, &measure)?;
    }
    let mut kind = measure.kind();
    if let Some(to) = &c.relative_to {
        let other = to.measure.as_ref().map_or(Ok(measure), |m| Measure::parse(m))?;
        for run in c.about() {
            let run = to.run.as_deref().unwrap_or(run);
            knows(e, run, to.scheme.as_ref().unwrap_or(scheme), &other)
                .map_err(|why| format!("relative_to: {why}"))?;
        }
        kind = Kind::Ratio;
    }
    unit_of(&c.unit, kind)?;
    if c.published.is_none() && c.says.is_none() {
        return Err("published or says: what does the paper have?".to_string());
    }
    if c.source.is_none() && e.defaults.source.is_none() {
        return Err("source is missing".to_string());
    }
    let trust = c.trust.or(e.defaults.trust).ok_or("trust is missing")?;
    if c.not_comparable.is_some() {
        return Ok(());
    }
    if trust == Trust::Remembered {
        return Err("trust: what is only remembered is nothing to compare with; say not_comparable".into());
    }
    let band = c.band.as_ref().or(e.defaults.band.as_ref()).ok_or("band is missing")?;
    check_band(band, c.published).map_err(|why| format!("band: {why}"))
}

fn check_band(b: &Band, published: Option<f64>) -> Result<(), String> {
    let given = [b.relative.is_some(), b.range.is_some(), b.at_most.is_some() || b.at_least.is_some()];
    if given.into_iter().filter(|g| *g).count() != 1 {
        return Err("give one of relative, range, and at_most with at_least".to_string());
    }
    if b.relative.is_some() && published.is_none() {
        return Err("relative to what? there is no published value".to_string());
    }
    if b.range.is_some_and(|[from, to]| from > to) {
        return Err("range: from lies above to".to_string());
    }
    if b.because.as_ref().is_none_or(String::is_empty) {
        return Err("because is missing: where does the band come from?".to_string());
    }
    Ok(())
}

/// Whether a run has the scheme, and a search the rating.
fn knows(e: &Experiment, run: &str, scheme: &str, measure: &Measure) -> Result<(), String> {
    if let Some(search) = e.search.iter().find(|s| s.name == run) {
        if !measure.is_rating() {
            return Err(format!("measure: `{run}` is a search, which gives ratings only"));
        }
        let known = search.schemes.iter().any(|s| s == scheme);
        return known.then_some(()).ok_or_else(|| format!("scheme: `{run}` has no `{scheme}`"));
    }
    if measure.is_rating() {
        return Err(format!("measure: a rating comes of a search, and `{run}` is none"));
    }
    let known = run_of(e, run)?.names().any(|s| s == scheme);
    known.then_some(()).ok_or_else(|| format!("scheme: `{run}` has no `{scheme}`"))
}
