//! Checks that serde cannot make: whether the parts of an experiment file fit together.

use crate::column::{Column, Of};
use crate::file::{Band, CapacityOf, Check, CheckKind, Experiment, RatingSearch, Run, Table, Trust};
use crate::measure::Measure;
use crate::unit::{Kind, unit_of};
use std::collections::BTreeSet;
use tailcut_core::nand::faults::config::FaultConfig;
use tailcut_workload::job::JobSet;

/// Checks a whole file.
///
/// # Errors
/// The key, what is wrong, and what is allowed.
pub(crate) fn check(e: &Experiment) -> Result<(), String> {
    if e.id.split('/').filter(|p| !p.is_empty()).count() != 2 {
        return Err(format!("id: `{}` is not of the form paper/figure", e.id));
    }
    let mut names = BTreeSet::new();
    for name in e.run.iter().map(|r| &r.name).chain(e.sweeps.iter().map(|s| &s.name)) {
        if !names.insert(name.as_str()) {
            return Err(format!("two runs or sweeps are called `{name}`"));
        }
    }
    for run in &e.run {
        check_run(run).map_err(|why| format!("run `{}`: {why}", run.name))?;
    }
    for find in &e.find {
        let wrong = |why: String| Err(format!("find `{}`: {why}", find.name));
        if e.axis(&find.axis).is_none() {
            return wrong(format!("axis: no sweep has an axis `{}`", find.axis));
        }
        if e.check.iter().filter(|c| c.found.as_ref() == Some(&find.name)).count() < 2 {
            return wrong("fewer than two checks use it, so it predicts nothing".to_string());
        }
        let mut users = e.check.iter().filter(|c| c.found.as_ref() == Some(&find.name));
        if let Some(label) = find.by.as_ref().filter(|&label| !users.any(|c| c.label == *label)) {
            return wrong(format!("by: no check that uses it has the label `{label}`"));
        }
    }
    for check in &e.check {
        check_check(e, check).map_err(|why| format!("check `{}`: {why}", check.label))?;
    }
    for expected in &e.expect {
        check_expected(e, expected).map_err(|why| format!("expect `{}`: {why}", expected.label))?;
    }
    for table in &e.table {
        check_table(e, table).map_err(|why| format!("table `{}`: {why}", table.title))?;
    }
    for series in &e.series {
        let wrong = |why: String| format!("series `{}`: {why}", series.title);
        if run_of(e, &series.run).map_err(wrong)?.search.is_some() {
            return Err(wrong(format!("run: `{}` is a search, which gives ratings only", series.run)));
        }
    }
    Ok(())
}

fn check_table(e: &Experiment, table: &Table) -> Result<(), String> {
    let shown = run_like(e, &table.run)?;
    let known: Vec<&str> = shown.names().collect();
    if let Some(other) = table.schemes.iter().find(|s| !known.contains(&s.as_str())) {
        return Err(format!("schemes: `{}` has no scheme `{other}`", table.run));
    }
    if table.by_scheme && table.columns.len() != 1 {
        return Err("columns: a table with `by_scheme` has exactly one column".to_string());
    }
    for column in &table.columns {
        let column = Column::parse(column)?;
        if let Some(other) = column.relative_to.filter(|s| !known.contains(&s.as_str())) {
            return Err(format!("columns: `{}` has no scheme `{other}`", table.run));
        }
        let run = column.run.as_ref().map_or(Ok(shown), |name| run_like(e, name))?;
        if let Of::Measure(measure, _) = &column.of {
            fits(run, measure).map_err(|why| format!("columns: {why}"))?;
            has_job(run, measure).map_err(|why| format!("columns: {why}"))?;
        }
    }
    Ok(())
}

/// The run of this name, or the first one of a sweep.
fn run_like<'a>(e: &'a Experiment, name: &str) -> Result<&'a Run, String> {
    let sweep = e.sweeps.iter().find(|s| s.name == name);
    run_of(e, sweep.and_then(|s| s.points.first()).map_or(name, |(_, run)| run))
}

fn check_names<'a>(all: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for name in all {
        if !names.insert(name) {
            return Err(format!("schemes: `{name}` is given twice"));
        }
    }
    if names.is_empty() { Err("schemes: give at least one".to_string()) } else { Ok(()) }
}

/// Checks that no placeholder other than `known` is left.
fn check_filled<'a>(texts: impl Iterator<Item = &'a String>, known: &[&str]) -> Result<(), String> {
    for text in texts {
        let mut rest = text.as_str();
        while let Some(from) = rest.find('{') {
            let end = rest[from..].find('}').map_or(rest.len(), |end| from + end + 1);
            let found = &rest[from..end];
            if !known.contains(&found) {
                return Err(format!("unknown placeholder `{found}`; known are {}", known.join(", ")));
            }
            rest = &rest[end..];
        }
    }
    Ok(())
}

/// Checks a search: its load, and that no key is given that a search does not use.
fn check_search(run: &Run, search: &RatingSearch) -> Result<(), String> {
    let texts = [&run.trace, &run.precondition, &run.stand_in].iter().any(|text| text.is_some());
    let lists =
        [&run.quick_set, &run.fault, &run.quick_fault, &run.needs].iter().any(|list| !list.is_empty());
    let own = run.capacity == CapacityOf::Own;
    if texts || lists || own || run.alone.is_some() || run.replay.is_some() {
        return Err(
            "search: not allowed with alone, trace, replay, precondition, stand_in, quick_set, fault, quick_fault, \
             needs or capacity"
                .to_string(),
        );
    }
    let load = run.workload.as_deref().unwrap_or_default();
    if !load.contains("{multiplier}") || !load.contains("{size}") {
        return Err("workload: must contain `{multiplier}` and `{size}`".to_string());
    }
    if run.full.is_none() {
        return Err("full is missing: it replaces `{size}` in the workload".to_string());
    }
    if search.step == 0 || search.most < search.step {
        return Err("search.step: must be at least 1 and at most `most`".to_string());
    }
    for text in search.after.iter().chain([&search.slice]) {
        tailcut_units::quantity::parse_time(text)
            .ok()
            .filter(|t| t.0 > 0)
            .ok_or_else(|| format!("search.slice, search.after: `{text}` is not a time above zero"))?;
    }
    Ok(())
}

fn check_run(run: &Run) -> Result<(), String> {
    check_names(run.names())?;
    // A search puts its multiplier into the workload, and nowhere else.
    let of_load: &[&str] = if run.search.is_some() { &["{multiplier}", "{size}"] } else { &["{size}"] };
    check_filled(run.workload.iter(), of_load)?;
    let texts = run.full.iter().chain(&run.quick).chain(&run.set).chain(&run.fault).chain(&run.quick_fault);
    check_filled(texts.chain(run.variant.iter().flat_map(|v| &v.set)), &["{size}"])?;
    if let Some(search) = &run.search {
        return check_search(run, search);
    }
    for scale in run.replay.iter().flat_map(|r| r.rate_scale.iter().chain(&r.size_scale)) {
        scale.value().map_err(|why| format!("replay: {why}"))?;
    }
    for text in run.fault.iter().chain(&run.quick_fault) {
        text.parse::<FaultConfig>().map_err(|why| format!("fault: {why}"))?;
    }
    for name in &run.needs {
        Measure::parse(name).map_err(|why| format!("needs: {why}"))?;
    }
    if run.alone.is_some() {
        let others = [&run.workload, &run.trace, &run.full, &run.quick, &run.precondition];
        let none = others.iter().all(|text| text.is_none()) && run.fault.is_empty();
        return if none { Ok(()) } else { Err("alone: blocks alone have no requests and no faults".into()) };
    }
    if run.capacity == CapacityOf::Own && run.names().count() == 1 {
        return Err("capacity: a single scheme has its own capacity in any case".to_string());
    }
    match (&run.workload, &run.trace) {
        (Some(text), None) => {
            if run.replay.is_some() {
                return Err("replay: only allowed with a trace".to_string());
            }
            if text.contains("{size}") != run.full.is_some() || (run.quick.is_some() && run.full.is_none()) {
                return Err(
                    "full, quick: they replace `{size}` in the workload; give `full` if and only if the \
                     workload contains `{size}`, and `quick` only with `full`"
                        .to_string(),
                );
            }
        }
        (None, Some(_)) if run.full.is_none() && run.quick.is_none() => {}
        (None, Some(_)) => {
            return Err(
                "full, quick: not allowed with a trace; use replay.loop and replay.quick_loop".to_string()
            );
        }
        _ => return Err("give either workload, trace or alone".to_string()),
    }
    run.precondition.as_ref().map_or(Ok(()), |past| {
        past.parse::<tailcut_sim::PastKind>().map(|_| ()).map_err(|e| format!("precondition: {e}"))
    })
}

fn run_of<'a>(e: &'a Experiment, name: &str) -> Result<&'a Run, String> {
    e.run.iter().find(|r| r.name == name).ok_or_else(|| format!("run: there is no run `{name}`"))
}

/// Checks an expectation: it has a value and a band, and nothing that belongs to a published value.
fn check_expected(e: &Experiment, c: &Check) -> Result<(), String> {
    if c.published.is_some() || c.says.is_some() || c.source.is_some() || c.trust.is_some() {
        return Err("published, says, source, trust: only allowed in a check".to_string());
    }
    if e.kind(c) == CheckKind::Calibrated || c.fitted.is_some() {
        return Err("kind, fitted: an expectation is not calibrated".to_string());
    }
    check_measured(e, c)?;
    let band = e.band(c).ok_or("band is missing")?;
    check_band(band, None).map_err(|why| format!("band: {why}"))
}

fn check_check(e: &Experiment, c: &Check) -> Result<(), String> {
    check_measured(e, c)?;
    if let Some(value) = c.published.filter(|value| !value.is_finite()) {
        return Err(format!("published: `{value}` is no value: give a finite number"));
    }
    if c.published.is_none() && c.says.is_none() {
        return Err("published or says is missing: give the value or the words of the paper".to_string());
    }
    if c.source.is_none() && e.defaults.source.is_none() {
        return Err("source is missing".to_string());
    }
    let trust = c.trust.or(e.defaults.trust).ok_or("trust is missing")?;
    check_fitted(e, c)?;
    if c.not_comparable.is_some() {
        return Ok(());
    }
    if trust == Trust::Remembered {
        return Err("trust: a value that is only remembered cannot be compared; give not_comparable".into());
    }
    let band = e.band(c).ok_or("band is missing")?;
    check_band(band, c.published).map_err(|why| format!("band: {why}"))?;
    check_kind(c, e.kind(c), band).map_err(|why| format!("kind: {why}"))
}

/// Checks that the value of a check can be taken from the runs that it names.
fn check_measured(e: &Experiment, c: &Check) -> Result<(), String> {
    if c.run.is_some() != c.runs.is_empty() {
        return Err("give either run or runs".to_string());
    }
    let found = check_at(e, c)?;
    let found = found.as_ref().map(|(axis, value)| (axis.as_str(), value.as_str()));
    let measure = Measure::parse(&c.measure).map_err(|why| format!("measure: {why}"))?;
    let scheme = e.scheme(c).ok_or("scheme is missing")?;
    for run in &e.about(c, found) {
        knows(e, run, scheme, &measure)?;
    }
    let mut kind = measure.kind();
    if let Some(to) = &c.relative_to {
        let other = to.measure.as_ref().map_or(Ok(measure), |m| Measure::parse(m))?;
        for run in e.about(c, found) {
            let at = to.run.as_ref().and_then(|name| e.point(name, c, found));
            knows(e, &at.unwrap_or(run), to.scheme.as_deref().unwrap_or(scheme), &other)
                .map_err(|why| format!("relative_to: {why}"))?;
        }
        if !to.difference {
            kind = Kind::Ratio;
        } else if kind != other.kind() {
            return Err(
                "relative_to: the two measures of a difference must have the same kind of unit".to_string()
            );
        }
    }
    unit_of(&c.unit, kind).map(|_| ())
}

/// Checks that a calibrated check, and no other, says what was fitted.
fn check_fitted(e: &Experiment, c: &Check) -> Result<(), String> {
    let calibrated = e.kind(c) == CheckKind::Calibrated;
    if calibrated && e.fitted(c).is_none_or(str::is_empty) {
        return Err(
            "fitted is missing: say what was fitted to the value, or of which inputs it is made".into()
        );
    }
    if !calibrated && c.fitted.is_some() {
        return Err("fitted: only allowed with `kind = \"calibrated\"`".to_string());
    }
    Ok(())
}

/// Checks that the kind fits what is published.
fn check_kind(c: &Check, kind: CheckKind, band: &Band) -> Result<(), String> {
    let said = c.says.as_ref().is_some_and(|says| says.contains(|ch: char| ch.is_ascii_digit()));
    match kind {
        CheckKind::Value | CheckKind::Calibrated if c.published.is_none() && !said => {
            Err("there is no number in `published` or `says`; is it an order?".to_string())
        }
        CheckKind::Order if c.published.is_some() => {
            Err("a check with a published value is not an order".to_string())
        }
        CheckKind::Order if !band.is_one_sided() => {
            Err("an order has exactly one limit, at_most or at_least".to_string())
        }
        _ => Ok(()),
    }
}

/// Checks that every axis of the sweeps that a check names has a value. Returns the axis of the
/// check's find with one of its values as an example.
fn check_at(e: &Experiment, c: &Check) -> Result<Option<(String, String)>, String> {
    let mut found = None;
    if let Some(name) = &c.found {
        let find = e.find.iter().find(|f| f.name == *name);
        let find = find.ok_or_else(|| format!("found: there is no find `{name}`"))?;
        let first = e.axis(&find.axis).and_then(|a| a.all().next()).unwrap_or_default();
        found = Some((find.axis.clone(), first.to_string()));
    }
    let swept = e.sweeps.iter().filter(|s| c.named().any(|name| name == s.name));
    let axes: Vec<&str> = swept.flat_map(|s| &s.axes).map(|a| a.name.as_str()).collect();
    let of_find = found.as_ref().map(|(axis, _)| axis.as_str());
    for name in c.at.keys().map(String::as_str).chain(of_find) {
        if !axes.contains(&name) {
            return Err(format!("at, found: no sweep of this check has an axis `{name}`"));
        }
    }
    let example = found.as_ref().map(|(axis, value)| (axis.as_str(), value.as_str()));
    if e.about(c, example).len() != c.named().count() {
        let axes = axes.join("`, `");
        return Err(format!("at: give one of the values of each axis of the sweep; the axes are `{axes}`"));
    }
    Ok(found)
}

fn check_band(b: &Band, published: Option<f64>) -> Result<(), String> {
    let given = [b.relative.is_some(), b.range.is_some(), b.at_most.is_some() || b.at_least.is_some()];
    if given.into_iter().filter(|g| *g).count() != 1 {
        return Err("give exactly one of: relative; range; at_most, at_least or both".to_string());
    }
    let limits = [b.relative, b.at_most, b.at_least, b.range.map(|r| r[0]), b.range.map(|r| r[1])];
    if let Some(limit) = limits.into_iter().flatten().find(|limit| !limit.is_finite()) {
        return Err(format!("`{limit}` is no limit: give a finite number"));
    }
    if let Some(percent) = b.relative.filter(|percent| *percent < 0.0) {
        return Err(format!(
            "relative: {percent} % is negative: give the width in both directions, from 0 % on"
        ));
    }
    if b.at_least.zip(b.at_most).is_some_and(|(least, most)| least > most) {
        return Err("at_least is above at_most".to_string());
    }
    if b.relative.is_some() && published.is_none() {
        return Err("relative: there is no published value".to_string());
    }
    if b.range.is_some_and(|[from, to]| from > to) {
        return Err("range: the lower limit is above the upper limit".to_string());
    }
    if b.because.as_ref().is_none_or(String::is_empty) {
        return Err("because is missing: give the reason for the band".to_string());
    }
    Ok(())
}

/// Checks that a run can have the measure: a search has ratings only, and no other run has any.
fn fits(run: &Run, measure: &Measure) -> Result<(), String> {
    match (run.search.is_some(), measure.is_rating()) {
        (true, false) => Err(format!("`{}` is a search, which gives ratings only", run.name)),
        (false, true) => Err(format!("only a search gives ratings, and `{}` has no `search`", run.name)),
        _ => Ok(()),
    }
}

/// Checks that a run has the scheme and can have the measure.
fn knows(e: &Experiment, run: &str, scheme: &str, measure: &Measure) -> Result<(), String> {
    let of = run_of(e, run)?;
    fits(of, measure).map_err(|why| format!("measure: {why}"))?;
    has_job(of, measure).map_err(|why| format!("measure: {why}"))?;
    let known = of.names().any(|s| s == scheme);
    known.then_some(()).ok_or_else(|| format!("scheme: `{run}` has no scheme `{scheme}`"))
}

/// Checks that the workload of a run has the job of a measure, and as one: each clone of a job has figures of its own.
fn has_job(run: &Run, measure: &Measure) -> Result<(), String> {
    let Measure::Side { job: Some(name), .. } = measure else { return Ok(()) };
    let Some(text) = run.load(false) else {
        return Err(format!("`{}` has a trace and no job `{name}`", run.name));
    };
    // What cannot be read as jobs is the name of a preset, or is refused when the run begins.
    let Ok(set) = JobSet::from_inline(&text) else { return Ok(()) };
    match set.specs().iter().find(|spec| spec.name() == name) {
        Some(spec) if spec.clones() > 1 => Err(format!(
            "the job `{name}` of `{}` has {} clones (numjobs), and each has figures of its own; give a measure of all \
             jobs, such as `read.mean`",
            run.name,
            spec.clones()
        )),
        Some(_) => Ok(()),
        None => {
            let names: Vec<_> = set.specs().iter().map(|spec| format!("`{}`", spec.name())).collect();
            Err(format!("`{}` has no job `{name}`; its jobs are {}", run.name, names.join(", ")))
        }
    }
}
