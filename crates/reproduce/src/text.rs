//! The output on the terminal.

use crate::file::Experiment;
use crate::fold;
use crate::results::{Outcome, Results, Verdict};
use crate::table::tables;
use crate::tally::Tally;
use tailcut_report::text::{Grid, page, wrapped};

/// The result of an experiment in a few words.
pub fn outcome(e: &Experiment, results: &Results) -> String {
    let judged = results.expected.iter().filter(|o| !matches!(o.verdict, Verdict::FullSizeOnly));
    let held = results.expected.iter().filter(|o| o.verdict == Verdict::InBand).count();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let expected = match judged.count() {
        0 => String::new(),
        n => format!(", {held} of {} met", count(n, "expectation")),
    };
    match e.judges() {
        true => format!("{}{expected}", Tally::of(&results.outcomes).words()),
        false => {
            let ran = results.runs.iter().filter(|r| r.missing.is_none());
            let (runs, most) = ran.fold((0, 0), |(n, most), r| (n + 1, r.schemes.len().max(most)));
            let searches = match results.searches.len() {
                0 => String::new(),
                n => format!(", {} for a rating", count(n, "search run")),
            };
            format!("{} under {}{searches}{expected}", count(most, "scheme"), count(runs, "workload"))
        }
    }
}

/// The list of experiments.
pub fn list(experiments: &[Experiment]) -> String {
    let mut grid = Grid::default();
    grid.row(["id", "quick", "full"].map(String::from));
    grid.rule();
    for e in experiments {
        grid.row([e.id.clone(), e.time.quick.clone(), e.time.full.clone()]);
    }
    let mut out = grid.render();
    out.push('\n');
    let wide = experiments.iter().map(|e| e.id.len()).max().unwrap_or(0);
    for e in experiments {
        out.push_str(&wrapped(&format!("  {:<wide$}  {}\n", e.id, e.title), wide + 4));
    }
    out
}

/// The heading before an experiment runs.
pub fn heading(e: &Experiment, quick: bool) -> String {
    let (size, time) = if quick { ("quick", &e.time.quick) } else { ("full", &e.time.full) };
    format!("{}: {}\n  {}; {size} size, about {time}\n\n", e.id, e.title, e.source)
}

/// The result of an experiment.
pub fn result(e: &Experiment, results: &Results) -> String {
    let mut out = String::new();
    let mut grid = Grid::default();
    let all = &results.outcomes;
    let long = all.len() > fold::LONG;
    let shown: Vec<&Outcome> = all.iter().filter(|o| !long || o.verdict == Verdict::OutOfBand).collect();
    if !shown.is_empty() {
        grid.row(["check", "kind", "published", "measured", "band", "verdict"].map(String::from));
        grid.rule();
    }
    for o in shown {
        let label = format!("{} [{}]", o.label, o.scheme);
        let verdict = o.verdict.words().to_string();
        let kind = o.kind.to_string();
        grid.row([label, kind, o.published.clone(), o.measured.clone(), o.band.clone(), verdict]);
    }
    out.push_str(&grid.render());
    let mut grid = Grid::default();
    if !results.expected.is_empty() {
        grid.row(["expected", "measured", "band", "verdict"].map(String::from));
        grid.rule();
    }
    for o in &results.expected {
        let label = format!("{} [{}]", o.label, o.scheme);
        grid.row([label, o.measured.clone(), o.band.clone(), o.verdict.words().to_string()]);
    }
    if long {
        out.push_str(&wrap(&folded(all), page(), "  ", "    "));
    }
    out.push_str(&grid.render());
    let mut notes: Vec<String> = Vec::new();
    for o in &results.outcomes {
        if let Verdict::NotComparable(why) = &o.verdict {
            let one = format!("not comparable, {why}");
            notes.extend((!notes.contains(&one)).then_some(one));
        } else if o.verdict == Verdict::OutOfBand
            && let Some(note) = &o.note
        {
            notes.push(format!("{} [{}]: {note}", o.label, o.scheme));
        }
    }
    for note in notes {
        out.push_str(&wrap(&note, page(), "  - ", "    "));
    }
    for table in tables(e, results) {
        out.push_str(&format!("\n{}", table.plain()));
    }
    for run in &results.runs {
        let why = run.missing.iter().filter(|_| !e.judges());
        why.for_each(|why| out.push_str(&format!("\n  {}: {why}\n", run.name)));
    }
    out.push_str(&format!("\n  {} in {:.0} s\n\n", outcome(e, results), results.seconds));
    out
}

/// The line that stands for the checks of a long list that are not out of band.
fn folded(outcomes: &[Outcome]) -> String {
    let nearest = fold::nearest(outcomes);
    let nearest = nearest.map_or(String::new(), |o| format!("; nearest to a limit: {}", fold::said(o)));
    let held = outcomes.iter().filter(|o| o.verdict == Verdict::InBand).count();
    format!("{held} of {} checks in band (all are in --json and --report){nearest}", outcomes.len())
}

/// Breaks a text into lines of at most `width` columns.
fn wrap(text: &str, width: usize, first: &str, rest: &str) -> String {
    let mut out = String::new();
    let mut line = first.to_string();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > width {
            out.push_str(&line);
            out.push('\n');
            line = rest.to_string();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    out.push_str(&line);
    out.push('\n');
    out
}
