//! Writes the pages of a report: one for each experiment, with all its rows. [`crate::summary`] writes the page above
//! them.

use crate::file::{CheckKind, Experiment};
use crate::fold;
use crate::picture;
use crate::results::{Outcome, Results, Verdict};
use crate::table::tables;
use crate::tally::Tally;
use crate::text::outcome;
use tailcut_sim::MODEL_VERSION;

/// The page of an experiment.
#[derive(Clone, Debug)]
pub struct Page {
    /// The experiment's id.
    pub id: String,
    /// The text with its markers.
    pub text: String,
    /// Its figures: file names in the folder [`FIGURES`] beside the summary, and their contents.
    pub pictures: Vec<(String, String)>,
}

/// The folder of figures, beside the summary.
pub const FIGURES: &str = "figures";

/// What the name of a file has for the id of an experiment.
pub fn stem(id: &str) -> String {
    id.replace('/', "-")
}

/// The page of an experiment, in a folder beside its summary. `summary` is the file name of the summary.
pub fn page(e: &Experiment, results: &Results, summary: &str) -> Page {
    let words = outcome(e, results);
    let mark = if e.judges() { Tally::of(&results.outcomes).mark() } else { words.clone() };
    let size = if results.quick { "quick" } else { "full" };
    let mut out = format!("<!-- begin {} | {mark} -->\n", e.id);
    let mut pictures = Pictures { id: &e.id, files: Vec::new() };
    out.push_str(&format!("# {}: {}\n\n", e.id, e.title));
    out.push_str(&format!("{}. {}\n\n", e.source.trim_end_matches('.'), e.shows.trim()));
    out.push_str(&format!(
        "`tailcut reproduce {}`, {size} size: {words}. Running time on two cores: {} (quick: {}). Model \
         version {MODEL_VERSION}. [Summary of all experiments](../{summary}).\n\n",
        e.id, e.time.full, e.time.quick
    ));
    let missed = |outcomes: &[Outcome]| outcomes.iter().any(|o| o.verdict == Verdict::OutOfBand);
    if let Some(why) = e.misses.as_ref().filter(|_| missed(&results.outcomes) || missed(&results.expected)) {
        out.push_str(&format!("{MISSES}{}\n\n", why.trim()));
    }
    if e.judges() {
        let chart = picture::checks(e, results);
        let picture = chart.map_or(String::new(), |chart| pictures.add("published and measured", &chart));
        out.push_str(&checks(&results.outcomes, &picture));
        out.push_str(&remarks(&results.outcomes));
    } else {
        for run in &results.runs {
            let why = run.missing.iter().map(|why| format!("{}: {why}\n\n", run.name));
            out.extend(why);
        }
    }
    out.push_str(&expectations(&results.expected));
    for table in tables(e, results) {
        out.push_str(&table.markdown());
        if let Some(chart) = &table.chart {
            out.push_str(&pictures.add(&table.title, chart));
        }
    }
    if let Some(text) = &e.discussion {
        out.push_str(&format!("{}\n\n", text.trim()));
    }
    out.push_str(&format!("<!-- end {} -->\n", e.id));
    Page { id: e.id.clone(), text: out, pictures: pictures.files }
}

/// Begins the line of a page that says why values are out of band.
pub(crate) const MISSES: &str = "Misses: ";

/// The first row of the table of checks, and of that of expectations.
pub(crate) const CHECKS: &str = "| check | scheme | kind | published | trust | measured | band | verdict |";
pub(crate) const EXPECTED: &str = "| expected | scheme | band | measured | verdict |";

/// The pictures of a page.
struct Pictures<'a> {
    id: &'a str,
    files: Vec<(String, String)>,
}

impl Pictures<'_> {
    /// Draws a picture; returns the text that shows it in the page.
    fn add(&mut self, title: &str, chart: &picture::Chart) -> String {
        let name = format!("{}-{}.svg", stem(self.id), self.files.len() + 1);
        let title = format!("{}: {title}", self.id);
        let text = shown(&title, &format!("../{FIGURES}/{name}"));
        self.files.push((name, chart.svg(&title)));
        text
    }
}

/// The text that shows a picture.
pub(crate) fn shown(title: &str, path: &str) -> String {
    format!("<img alt=\"{}\" src=\"{path}\">\n\n", title.replace(['"', '<', '>'], "'"))
}

/// The checks with their picture. Of many checks, those out of band come first, and all are folded.
fn checks(outcomes: &[Outcome], picture: &str) -> String {
    let all: Vec<&Outcome> = outcomes.iter().collect();
    if all.len() <= fold::LONG {
        return format!("{}{picture}", rows(&all));
    }
    let out: Vec<&Outcome> = all.iter().copied().filter(|o| o.verdict == Verdict::OutOfBand).collect();
    let shown = if out.is_empty() { String::new() } else { format!("Out of band:\n\n{}", rows(&out)) };
    let mut summary = format!("All {} checks.", all.len());
    if let Some(o) = fold::nearest(outcomes) {
        summary.push_str(&format!(" In band, but nearest to a limit: {}.", fold::said(o)));
    }
    format!("{shown}{}", fold::folded(&summary, &format!("{}{picture}", rows(&all))))
}

/// The table of some checks.
fn rows(outcomes: &[&Outcome]) -> String {
    let mut out = format!("{CHECKS}\n");
    out.push_str("| --- | --- | --- | --: | --- | --: | --- | --- |\n");
    outcomes.iter().for_each(|o| out.push_str(&row(o)));
    out.push('\n');
    out
}

fn verdict(o: &Outcome) -> String {
    match o.verdict {
        Verdict::OutOfBand if o.kind == CheckKind::Calibrated => "**calibration missed**".to_string(),
        Verdict::OutOfBand => "**out of band**".to_string(),
        ref v => v.words().to_string(),
    }
}

fn row(o: &Outcome) -> String {
    let (kind, verdict) = (o.kind.to_string(), verdict(o));
    let cells = [&o.label, &o.scheme, &kind, &o.published, &o.trust, &o.measured, &o.band, &verdict];
    let cells = cells.map(|c| c.replace('|', "\\|"));
    format!("| {} |\n", cells.join(" | "))
}

/// What was expected before the first run, with the reasons, beside what was measured.
fn expectations(outcomes: &[Outcome]) -> String {
    if outcomes.is_empty() {
        return String::new();
    }
    let mut out = format!("Expected before the first run:\n\n{EXPECTED}\n| --- | --- | --- | --: | --- |\n");
    for o in outcomes {
        let cells = [&o.label, &o.scheme, &o.band, &o.measured, &verdict(o)].map(|c| c.replace('|', "\\|"));
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    format!("{out}\n{}", reasons(outcomes))
}

/// The reasons for bands.
fn reasons(outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    let mut bands = Vec::new();
    for o in outcomes.iter().filter(|o| !o.because.is_empty()) {
        if !matches!(o.verdict, Verdict::NotComparable(_)) || !o.band.is_empty() {
            gather(&mut bands, format!("{} ({})", o.because, o.band), &o.label);
        }
    }
    if !bands.is_empty() {
        out.push_str("Bands:\n\n");
        for (because, labels) in &bands {
            out.push_str(&format!("- {because}: {}\n", some(labels, outcomes.len())));
        }
        out.push('\n');
    }
    out
}

/// The reasons for bands, what was fitted, the sources of values, the reasons why checks are not
/// comparable, and notes.
fn remarks(outcomes: &[Outcome]) -> String {
    let mut out = reasons(outcomes);
    let mut fitted = Vec::new();
    for o in outcomes {
        if let Some(what) = &o.fitted {
            gather(&mut fitted, what.clone(), &format!("{} ({})", o.label, o.scheme));
        }
    }
    if !fitted.is_empty() {
        out.push_str("Calibrated:\n\n");
        for (what, labels) in &fitted {
            out.push_str(&format!("- {}: {what}\n", some(labels, outcomes.len())));
        }
        out.push('\n');
    }
    let mut sources = Vec::new();
    for o in outcomes {
        gather(&mut sources, o.source.clone(), &o.label);
    }
    let said: Vec<&str> = sources.iter().map(|(source, _): &(String, _)| source.as_str()).collect();
    out.push_str(&format!("Sources of the published values: {}.\n\n", said.join("; ")));
    let mut notes = Vec::new();
    for o in outcomes {
        if let Verdict::NotComparable(why) = &o.verdict {
            gather(&mut notes, format!("not comparable, {why}"), &format!("{} ({})", o.label, o.scheme));
        }
        if let Some(note) = &o.note {
            gather(&mut notes, note.clone(), &format!("{} ({})", o.label, o.scheme));
        }
    }
    if !notes.is_empty() {
        out.push_str("Notes:\n\n");
        for (note, labels) in &notes {
            out.push_str(&format!("- {}: {note}\n", some(labels, outcomes.len())));
        }
        out.push('\n');
    }
    out
}

/// The checks that share a remark.
#[derive(Default)]
struct Labels {
    different: Vec<String>,
    checks: usize,
}

/// As many labels are named; of more, only the first and their number.
const NAMED: usize = 6;

fn gather(groups: &mut Vec<(String, Labels)>, key: String, label: &str) {
    let group = match groups.iter_mut().find(|g| g.0 == key) {
        Some(group) => group,
        None => {
            groups.push((key, Labels::default()));
            groups.last_mut().expect("just pushed")
        }
    };
    group.1.checks += 1;
    if !group.1.different.iter().any(|l| l == label) {
        group.1.different.push(label.to_string());
    }
}

fn some(labels: &Labels, all: usize) -> String {
    let Labels { different, checks } = labels;
    match different.as_slice() {
        _ if *checks == all => "all checks".to_string(),
        [first, ..] if different.len() > NAMED => format!("{first}, and {} more checks", checks - 1),
        _ => different.join(", "),
    }
}

/// The id in the first line of a page that is whole; `None` for another text.
pub fn id(text: &str) -> Option<&str> {
    let id = text.strip_prefix("<!-- begin ")?.split(" |").next()?.trim();
    text.ends_with(&format!("\n<!-- end {id} -->\n")).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(i: usize, kind: CheckKind, verdict: Verdict, used: f64) -> Outcome {
        let text = |what: &str| format!("{what} {i}");
        Outcome {
            label: text("check"),
            kind,
            run: "r".to_string(),
            scheme: "s".to_string(),
            measure: "read.mean".to_string(),
            published: text("published"),
            source: "Table 2".to_string(),
            trust: "stated".to_string(),
            band: "± 5 %".to_string(),
            because: "precision".to_string(),
            measured: text("measured"),
            value: Some(i as f64),
            fitted: (kind == CheckKind::Calibrated).then(|| "an input".to_string()),
            used: Some(used),
            verdict,
            note: None,
        }
    }

    #[test]
    fn many_checks_are_folded_to_the_misses_and_the_one_nearest_to_a_limit() {
        let mut all: Vec<Outcome> =
            (0..fold::LONG).map(|i| check(i, CheckKind::Value, Verdict::InBand, i as f64 / 20.0)).collect();
        assert!(!checks(&all, "").contains("<details>"), "few checks");
        all.push(check(99, CheckKind::Calibrated, Verdict::OutOfBand, 3.0));
        let text = checks(&all, "picture");
        let (shown, folded) = text.split_once("<details>").expect("folded");
        assert!(shown.starts_with("Out of band:") && shown.matches(" | s | ").count() == 1, "{shown}");
        assert!(shown.contains("| check 99 | s | calibrated |") && shown.contains("**calibration missed**"));
        let nearest = "All 16 checks. In band, but nearest to a limit: check 14 [s], measured 14, published \
                       published 14 (± 5 %).</summary>";
        assert!(folded.contains(nearest) && folded.contains("picture"), "{folded}");
        let said = remarks(&all);
        for needle in ["- precision (± 5 %): all checks\n", "Calibrated:\n\n- check 99 (s): an input\n"] {
            assert!(said.contains(needle), "{needle}: {said}");
        }
        all[0].because = "other".to_string();
        assert!(remarks(&all).contains("- precision (± 5 %): check 1, and 14 more checks\n"));
    }

    #[test]
    fn a_page_is_known_by_its_first_and_last_line() {
        let page = "<!-- begin atc19/fig4 | m -->\n# t\n\ntext\n<!-- end atc19/fig4 -->\n";
        assert_eq!(id(page), Some("atc19/fig4"));
        for other in ["", "# Notes\n", &page[..60], &page.replace("end atc19/fig4", "end atc19/fig5")] {
            assert_eq!(id(other), None, "{other}");
        }
    }
}
