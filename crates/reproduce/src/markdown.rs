//! Writes `docs/reproduction.md` and `docs/composed.md`. Each experiment has one section between markers, so that some
//! sections can be regenerated while the others stay unchanged.

use crate::check::{Outcome, Verdict};
use crate::execute::Results;
use crate::file::{CheckKind, Experiment};
use crate::fold;
use crate::list::EXPERIMENTS;
use crate::picture::{self, Theme};
use crate::table::tables;
use crate::tally::{Judged, Tally};
use crate::text::outcome;
use crate::version;
use std::collections::BTreeMap;
use tailcut_sim::MODEL_VERSION;

/// The first paragraph, below the title, of a document with only the user's experiments.
const OWN: &str = "\
`tailcut reproduce --report` writes this document from your experiment files. Do not edit it here: its texts are in
those files.
";

/// Head of a document without published values.
const COMPARISONS: &str = "\
# Composed

This page has results for which no published values exist: published schemes combined on one drive,
schemes on a drive with faults, and measures that no paper reports. Where a section states
expectations, their bands were set before the first run. The command in each section writes that
section from its file in `experiments/`, with `--report docs/composed.md`. Do not edit it here.
";

const HEAD: &str = "\
# Reproduction

This page compares values that papers publish with values that the model gives. `tailcut reproduce
--report docs/reproduction.md` (`make reproduce`) writes it from the files in `experiments/`. Do not
edit it here: its texts are in those files.

There are four kinds of checks.

- A **value** check compares with a number, or a statement in words, that was published. The model
  can miss it.
- A **calibrated** check compares with a value to which the model was fitted, or that is an input of
  the preset or a sum of inputs. It tests the calibration and predicts nothing. Each section says
  what was fitted.
- An **order** check compares a direction: for example, which of two latencies is longer.
- A **structural** check is true by construction of the model. It tests only the bookkeeping.

Every check has a band, with the reason for it. The band was set before the result was known: from
the error that the paper states, or from the precision of its words. A value outside its band is
reported as a miss; for a calibrated value it is a miss of the calibration. A check is *not
comparable* if a comparison would have no meaning; the notes give the reason. A section with many
checks shows those outside their bands first, and has all of them in a list to unfold.

The column *trust* says how reliable a published value is: **stated** in the paper; **implied** by
its text (read from the prose, because a figure gives no numbers); **found** in other public
material, such as the authors' code; **inferred**, for the reason given; **remembered**, confirmed
by no source, and never compared.
";

/// A section of a document.
#[derive(Clone, Debug)]
pub struct Section {
    /// The experiment's id.
    pub id: String,
    /// The text with its markers.
    pub text: String,
    /// Its figures: file names in the folder [`FIGURES`] beside the document, and their contents.
    pub pictures: Vec<(String, String)>,
}

/// The folder of figures, beside the document.
pub const FIGURES: &str = "figures";

/// The section of an experiment.
pub fn section(e: &Experiment, results: &Results) -> Section {
    let words = outcome(e, results);
    let mark = if e.judges() { Tally::of(&results.outcomes).mark() } else { words.clone() };
    let size = if results.quick { "quick" } else { "full" };
    let mut out = format!("<!-- begin {} | {mark} -->\n", e.id);
    let mut pictures = Pictures { id: e.id.replace('/', "-"), files: Vec::new() };
    out.push_str(&format!("## {}: {}\n\n", e.id, e.title));
    out.push_str(&format!("{}. {}\n\n", e.source.trim_end_matches('.'), e.shows.trim()));
    out.push_str(&format!(
        "`tailcut reproduce {}`, {size} size: {words}. Running time on two cores: {} (quick: {}). Model \
         version {MODEL_VERSION}.\n\n",
        e.id, e.time.full, e.time.quick
    ));
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
    Section { id: e.id.clone(), text: out, pictures: pictures.files }
}

/// The pictures of a section.
struct Pictures {
    id: String,
    files: Vec<(String, String)>,
}

impl Pictures {
    /// Draws one picture for light and for dark pages; returns the text that shows it in the
    /// document.
    fn add(&mut self, title: &str, chart: &picture::Chart) -> String {
        let n = self.files.len() / 2 + 1;
        let name = |theme: &str| format!("{}-{n}.{theme}.svg", self.id);
        let (light, dark) = (name("light"), name("dark"));
        let title = format!("{}: {title}", self.id.replacen('-', "/", 1));
        let text = format!(
            "<picture>\n<source media=\"(prefers-color-scheme: dark)\" srcset=\"{FIGURES}/{dark}\">\n\
             <img alt=\"{}\" src=\"{FIGURES}/{light}\">\n</picture>\n\n",
            title.replace(['"', '<', '>'], "'")
        );
        self.files.push((light, chart.svg(&title, Theme::Light)));
        self.files.push((dark, chart.svg(&title, Theme::Dark)));
        text
    }
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
    let mut out = String::from("| check | scheme | kind | published | trust | measured | band | verdict |\n");
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
    let mut out = String::from(
        "Expected before the first run:\n\n| expected | scheme | band | measured | verdict |\n\
         | --- | --- | --- | --: | --- |\n",
    );
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

/// Whether a section counts checks against published values.
fn is_published(section: &str) -> bool {
    Tally::of_mark(mark(section)).is_some()
}

/// Build the document from the new sections and from the other sections of `old`, which stay as they are.
pub fn document(old: Option<&str>, new: &[Section]) -> String {
    let mut sections: BTreeMap<String, String> = old.map(split).unwrap_or_default();
    sections.extend(new.iter().map(|s| (s.id.clone(), s.text.clone())));
    let known = EXPERIMENTS.iter().map(|(id, _)| id.to_string());
    let mut order: Vec<String> = known.filter(|id| sections.contains_key(id)).collect();
    let others: Vec<String> = sections.keys().filter(|id| !order.contains(id)).cloned().collect();
    order.extend(others);
    let composed = !order.is_empty() && !order.iter().any(|id| is_published(&sections[id]));
    let mut out = if composed { comparisons(&order, &sections) } else { judged(&order, &sections) };
    let built_in = |id: &String| EXPERIMENTS.iter().any(|(known, _)| known == id);
    if !order.is_empty() && !order.iter().any(built_in) {
        out = of_own(&out);
    }
    for id in &order {
        out.push_str(&format!("\n{}", sections[id]));
    }
    out
}

/// Replace the first paragraph of a head, which is about the built-in experiments, by the one about the user's files.
fn of_own(head: &str) -> String {
    let mut parts = head.splitn(3, "\n\n");
    let (title, _, rest) = (parts.next(), parts.next(), parts.next());
    format!("{}\n\n{OWN}\n{}", title.unwrap_or_default(), rest.unwrap_or_default())
}

/// Whether [`document`] of this or an earlier version has written a text. Such a text has one of its titles, and each
/// section that begins also ends. An empty text counts too, because replacing it loses nothing.
pub fn is_report(text: &str) -> bool {
    let title = |of: &str| of.lines().next().unwrap_or_default().to_string();
    let begun = text.lines().filter(|line| line.starts_with("<!-- begin ")).count();
    let first = title(text);
    let named = first == title(HEAD) || first == title(COMPARISONS);
    text.trim().is_empty() || named && begun > 0 && begun == split(text).len()
}

/// Check that new sections fit into the document `old`. The sections of a document must either all have published
/// values or all have none. `new` gives the id of each section and whether it has published values.
///
/// # Errors
/// If some sections have published values and others have none; the message names one of each.
pub fn fits<'a>(old: Option<&str>, new: impl Iterator<Item = (&'a str, bool)>) -> Result<(), String> {
    let sections = old.map(split).unwrap_or_default();
    let mut all: BTreeMap<String, bool> =
        sections.into_iter().map(|(id, text)| (id, is_published(&text))).collect();
    all.extend(new.map(|(id, published)| (id.to_string(), published)));
    let first = |published: bool| all.iter().find(|(_, of)| **of == published).map(|(id, _)| id);
    match (first(true), first(false)) {
        (Some(with), Some(without)) => Err(format!(
            "{with} has published values and {without} has none: write them to two files (--report)"
        )),
        _ => Ok(()),
    }
}

/// The head of a document without published values.
fn comparisons(order: &[String], sections: &BTreeMap<String, String>) -> String {
    let mut out = format!("{COMPARISONS}\n| experiment | result | model version |\n| --- | --- | --: |\n");
    for id in order {
        let section = &sections[id];
        out.push_str(&format!("| {} | {} | {} |\n", link(id, section), mark(section), made_at(section)));
    }
    out
}

/// The head of a document of checks: totals, and one row for each section.
fn judged(order: &[String], sections: &BTreeMap<String, String>) -> String {
    let tallies: Vec<Option<Tally>> = order.iter().map(|id| Tally::of_mark(mark(&sections[id]))).collect();
    let mut all = Tally::default();
    tallies.iter().flatten().for_each(|t| all += *t);
    let mut out = format!("{HEAD}\n{}\n\n", totals(&all));
    out.push_str(
        "| experiment | values in band | values out | orders in band | orders out | calibrated | structural \
         | not comparable | model version |\n",
    );
    out.push_str("| --- | --: | --: | --: | --: | --: | --: | --: | --: |\n");
    for (id, tally) in order.iter().zip(&tallies) {
        let section = &sections[id];
        let cells = match tally {
            Some(t) => [
                t.values.held.to_string(),
                t.values.missed.to_string(),
                t.orders.held.to_string(),
                t.orders.missed.to_string(),
                with_missed(t.calibrated),
                with_missed(t.structural),
                t.not_comparable.to_string(),
            ],
            // The section has no published values.
            None => [(); 7].map(|()| "–".to_string()),
        };
        let (link, version) = (link(id, section), made_at(section));
        out.push_str(&format!("| {link} | {} | {version} |\n", cells.join(" | ")));
    }
    out
}

/// The totals: the number of checks of each kind, and their verdicts.
fn totals(all: &Tally) -> String {
    let Tally { values, calibrated, orders, structural, not_comparable, full_only } = all;
    let full = match full_only {
        0 => String::new(),
        n => format!(", {n} judged at full size only"),
    };
    format!(
        "**{} published values that the model could miss: {} in band, {} out. {} orders: {} in band, {} out.** \
         Counted apart: {} values to which the model was fitted or that are its inputs, {} structural, \
         {not_comparable} not comparable{full}.",
        values.all(),
        values.held,
        values.missed,
        orders.all(),
        orders.held,
        orders.missed,
        with_missed(*calibrated),
        with_missed(*structural),
    )
}

/// The number of checks, and how many of them are out of band.
fn with_missed(judged: Judged) -> String {
    match judged.missed {
        0 => judged.all().to_string(),
        n => format!("{} ({n} out)", judged.all()),
    }
}

fn link(id: &str, section: &str) -> String {
    format!("[{id}](#{})", anchor(section))
}

/// The result that the first line of a section states.
fn mark(section: &str) -> &str {
    let first = section.lines().next().unwrap_or_default();
    first.split_once('|').map_or("", |(_, w)| w.trim_end_matches("-->").trim())
}

fn made_at(section: &str) -> String {
    version::stated(section).map_or("?".to_string(), |v| v.to_string())
}

/// The anchor that Markdown viewers give a section's heading.
fn anchor(section: &str) -> String {
    let heading = section.lines().find_map(|l| l.strip_prefix("## ")).unwrap_or_default();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The sections of a document by id.
pub fn split(document: &str) -> BTreeMap<String, String> {
    let mut sections = BTreeMap::new();
    let mut open: Option<(String, String)> = None;
    for line in document.lines() {
        if let Some(rest) = line.strip_prefix("<!-- begin ") {
            let id = rest.split(" |").next().unwrap_or_default().trim().to_string();
            open = Some((id, String::new()));
        }
        if let Some((id, text)) = &mut open {
            text.push_str(line);
            text.push('\n');
            if line == format!("<!-- end {id} -->") {
                sections.extend(open.take());
            }
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(id: &str, mark: &str, text: &str) -> Section {
        let text = format!("<!-- begin {id} | {mark} -->\n## {id}: t\n\n{text}\n<!-- end {id} -->\n");
        Section { id: id.to_string(), text, pictures: Vec::new() }
    }

    #[test]
    fn sections_that_are_not_regenerated_stay_as_they_are() {
        let both = document(None, &[part("atc19/fig4", "m", "old"), part("atc19/table2", "m", "kept")]);
        let (table, fig) = (both.find("kept").unwrap(), both.find("old").unwrap());
        assert!(table < fig, "in the order of the list");
        let again = document(Some(&both), &[part("atc19/fig4", "m", "new")]);
        assert_eq!(again, both.replace("old", "new"));
        assert_eq!(document(Some(&both), &[]), both);
        let other = document(None, &[part("atc19/fig4", "m", ""), part("atc19/own", "m", "stays")]);
        assert!(document(Some(&other), &[]).contains("stays"), "of no built-in experiment");
    }

    #[test]
    fn the_head_counts_checks_by_kind_over_all_sections() {
        let marks = [
            "values 5/2, calibrated 8/1, orders 1/1, structural 3/0, not comparable 4, full size only 0",
            "values 1/0, calibrated 2/0, orders 0/1, structural 0/0, not comparable 1, full size only 0",
        ];
        let new = part("atc19/fig4", marks[0], "Model version 5.");
        let text = document(None, &[new, part("atc19/table2", marks[1], "Model version 4.")]);
        for needle in [
            "**8 published values that the model could miss: 6 in band, 2 out. 3 orders: 1 in band, 2 out.** \
             Counted apart: 11 (1 out) values to which the model was fitted or that are its inputs, 3 \
             structural, 5 not comparable.",
            "| [atc19/fig4](#atc19fig4-t) | 5 | 2 | 1 | 1 | 9 (1 out) | 3 | 4 | 5 |",
            "| [atc19/table2](#atc19table2-t) | 1 | 0 | 0 | 1 | 2 | 0 | 1 | 4 |",
        ] {
            assert!(text.contains(needle), "{needle}\n{text}");
        }
    }

    #[test]
    fn published_values_and_comparisons_have_documents_of_their_own() {
        let mark =
            "values 1/0, calibrated 0/0, orders 0/1, structural 0/0, not comparable 1, full size only 0";
        let checks = document(None, &[part("atc19/fig4", mark, "")]);
        let comparisons = document(None, &[part("hpca24/ultra-large", "8 of 9 expectations met", "")]);
        let fits = |old: &str, new: &[(&str, bool)]| fits(Some(old), new.iter().copied());
        assert_eq!(fits(&checks, &[("atc19/table2", true)]), Ok(()));
        assert_eq!(fits(&comparisons, &[("composed/erases", false)]), Ok(()));
        let told = fits(&checks, &[("composed/erases", false)]).unwrap_err();
        assert!(told.contains("atc19/fig4 has published values and composed/erases has none"), "{told}");
        assert!(fits(&comparisons, &[("atc19/fig4", true)]).is_err());
        assert!(fits("", &[("atc19/fig4", true), ("composed/erases", false)]).is_err());
        // An experiment that has got its first published value.
        assert_eq!(fits(&comparisons, &[("hpca24/ultra-large", true)]), Ok(()));
    }

    #[test]
    fn a_document_without_published_values_counts_no_checks() {
        let expected = part("hpca24/ultra-large", "8 of 9 expectations met", "Model version 5.");
        let alone = document(None, std::slice::from_ref(&expected));
        assert!(alone.starts_with("# Composed"), "{alone}");
        assert!(alone.contains("(#hpca24ultra-large-t) | 8 of 9 expectations met | 5 |"), "{alone}");
        let tally =
            "values 5/2, calibrated 0/0, orders 1/1, structural 3/0, not comparable 4, full size only 0";
        let mixed = document(None, &[expected, part("atc19/fig4", tally, "")]);
        assert!(mixed.contains("(#hpca24ultra-large-t) | – | – | – | – | – | – | – | 5 |"), "{mixed}");
    }

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
}
