//! Writes `docs/reproduction.md` and `docs/composed.md`: for each paper the values out of band with the reasons, one
//! table and one figure. Everything is read from the pages of the experiments, so that one page can be written again
//! while the others stay unchanged.

use crate::list::{EXPERIMENTS, PAPERS};
use crate::markdown::{CHECKS, EXPECTED, FIGURES, MISSES, shown, stem};
use crate::picture::{self, Placed};
use crate::tally::{Judged, Tally};
use crate::version;
use std::collections::BTreeMap;

/// The first line of a summary, by which it is known.
const MARK: &str = "<!-- A summary by tailcut reproduce. -->";

/// The first paragraph of a summary with only the user's experiments.
const OWN: &str = "\
`tailcut reproduce --report` writes this page and those of the experiments from your experiment files. Do not edit them:
their texts are in those files.
";

/// The first paragraph of a summary with published values.
const PUBLISHED: &str = "\
This page sums up how values that papers publish compare with values that the model gives. Each experiment has a page
with all checks and rows. `tailcut reproduce --report docs/reproduction.md` (`make reproduce`) writes the pages from the
files in `experiments/`. Do not edit them: their texts are in those files.
";

/// The first paragraph of a summary without published values.
const COMPARISONS: &str = "\
These are results for which no published values exist: published schemes combined on one drive, schemes on a drive with
faults, and measures that no paper reports. Each experiment has a page with all rows, and with the command that writes
it from its file in `experiments/` (with `--report docs/composed.md`). Do not edit the pages: their texts are in those
files.
";

/// What follows in a summary with published values.
const KINDS: &str = "\
Every check has a band, with the reason for it. The band was set before the result was known: from the error that the
paper states, or from the precision of its words; a band that was set later says so. A value outside its band is a miss.
There are four kinds of checks.

- A **value** check compares with a number, or a statement in words, that was published. The model can miss it.
- An **order** check compares a direction: for example, which of two latencies is longer.
- A **calibrated** check compares with a value to which the model was fitted, or that is an input of the preset or a sum
  of inputs. It tests the calibration and predicts nothing. The experiment's page says what was fitted.
- A **structural** check is true by construction of the model. It tests only the bookkeeping.

A check is *not comparable* if a comparison would have no meaning; the experiment's page gives the reason. An
**expectation** has a band that was set before the first run, and no published value. The column *trust* of a page says
how reliable a published value is: **stated** in the paper; **implied** by its text (read from the prose, because a
figure gives no numbers); **found** in other public material, such as the authors' code; **inferred**, for the reason
given; **remembered**, confirmed by no source, and never compared.

The tables show how many checks are in band. The figure of a paper shows each check by its ratio to the published value,
or to the limit if the paper gives no number.
";

/// What follows in a summary without published values.
const EXPECTATIONS: &str = "\
Where an experiment states expectations, their bands were set before the first run. A value outside its band is shown
first, with the reason.
";

/// A summary with its figures: file names in the folder [`FIGURES`] beside it, and their contents.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The text.
    pub text: String,
    /// The figures.
    pub pictures: Vec<(String, String)>,
}

/// Whether a text may be replaced by a summary: it is one, or it is empty.
pub fn is_summary(text: &str) -> bool {
    text.trim().is_empty() || text.lines().next() == Some(MARK)
}

/// Check that new experiments fit to the pages of a report. They must either all have published values or all have none.
/// `new` gives the id of each experiment and whether it has published values.
///
/// # Errors
/// If some experiments have published values and others have none; the message names one of each.
pub fn fits<'a>(
    pages: &'a BTreeMap<String, String>,
    new: impl Iterator<Item = (&'a str, bool)>,
) -> Result<(), String> {
    let mut all: BTreeMap<&str, bool> =
        pages.iter().map(|(id, page)| (id.as_str(), Tally::of_mark(mark(page)).is_some())).collect();
    all.extend(new);
    let first = |published: bool| all.iter().find(|(_, of)| **of == published).map(|(id, _)| id);
    match (first(true), first(false)) {
        (Some(with), Some(without)) => Err(format!(
            "{with} has published values and {without} has none: write them to two files (--report)"
        )),
        _ => Ok(()),
    }
}

/// The summary of the pages by id, which are in the folder `folder` beside it.
pub fn summary(pages: &BTreeMap<String, String>, folder: &str) -> Summary {
    let papers = papers(pages, folder);
    let tallies = || papers.iter().flat_map(|paper| &paper.parts).filter_map(|part| part.tally);
    let judged = tallies().next().is_some();
    let own = !pages.keys().any(|id| built_in(id).is_some());
    let (title, about) = if judged { ("Reproduction", PUBLISHED) } else { ("Composed", COMPARISONS) };
    let about = if own { OWN } else { about };
    let mut out = Summary { text: format!("{MARK}\n# {title}\n\n{about}\n"), pictures: Vec::new() };
    match judged {
        true => {
            let totals = totals(&sum(tallies()));
            out.text.push_str(&format!("{totals}\n\n{}{KINDS}\n", overview(&papers)));
        }
        false => out.text.push_str(&format!("{EXPECTATIONS}\n")),
    }
    for paper in &papers {
        paper.add_to(&mut out);
    }
    out.text.truncate(out.text.trim_end().len());
    out.text.push('\n');
    out
}

/// The place of an experiment in the list.
fn built_in(id: &str) -> Option<usize> {
    EXPERIMENTS.iter().position(|(known, _)| *known == id)
}

/// The experiments with one paper in their ids.
struct Paper<'a> {
    id: &'a str,
    parts: Vec<Part<'a>>,
}

/// An experiment as its page shows it.
struct Part<'a> {
    id: &'a str,
    /// The address of its page.
    link: String,
    page: &'a str,
    /// The counts of its checks; `None` without published values.
    tally: Option<Tally>,
    checks: Vec<Row>,
    expected: Vec<Row>,
}

/// A check or an expectation in the table of a page.
struct Row {
    label: String,
    scheme: String,
    /// Empty for an expectation.
    kind: String,
    published: String,
    measured: String,
    band: String,
    verdict: String,
}

/// The pages by paper, both in the order of the list.
fn papers<'a>(pages: &'a BTreeMap<String, String>, folder: &str) -> Vec<Paper<'a>> {
    let mut order: Vec<&String> = pages.keys().collect();
    order.sort_by_key(|id| built_in(id).unwrap_or(usize::MAX));
    let mut papers: Vec<Paper<'a>> = Vec::new();
    for id in order {
        let page = pages[id].as_str();
        let part = Part {
            id,
            link: format!("{folder}/{}.md", stem(id)),
            page,
            tally: Tally::of_mark(mark(page)),
            checks: rows(page, CHECKS),
            expected: rows(page, EXPECTED),
        };
        let paper = id.split('/').next().unwrap_or(id);
        match papers.iter_mut().find(|p| p.id == paper) {
            Some(known) => known.parts.push(part),
            None => papers.push(Paper { id: paper, parts: vec![part] }),
        }
    }
    papers
}

impl Paper<'_> {
    fn title(&self) -> String {
        let named = PAPERS.iter().find(|(id, _)| *id == self.id);
        named.map_or(self.id.to_string(), |(_, name)| format!("{}: {name}", self.id))
    }

    fn tally(&self) -> Option<Tally> {
        let tallies: Vec<Tally> = self.parts.iter().filter_map(|part| part.tally).collect();
        (!tallies.is_empty()).then(|| sum(tallies.into_iter()))
    }

    /// Adds the part of the summary that is about this paper.
    fn add_to(&self, out: &mut Summary) {
        out.text.push_str(&format!("## {}\n\n", self.title()));
        let misses: Vec<String> = self.parts.iter().filter_map(Part::misses).collect();
        match misses.as_slice() {
            [] => {}
            some => out.text.push_str(&format!("Out of band:\n\n{}\n\n", some.join("\n"))),
        }
        if self.tally().is_none() {
            out.text.push_str("| experiment | result | model version |\n| --- | --- | --: |\n");
            self.parts.iter().for_each(|part| out.text.push_str(&part.compared()));
            out.text.push('\n');
            self.parts.iter().filter_map(Part::first_picture).for_each(|shown| out.text.push_str(&shown));
            return;
        }
        out.text.push_str(
            "| experiment | values | orders | calibrated | structural | expectations | not comparable | model version |\n",
        );
        out.text.push_str("| --- | --: | --: | --: | --: | --: | --: | --: |\n");
        self.parts.iter().for_each(|part| out.text.push_str(&part.judged()));
        out.text.push('\n');
        let checks = |part: &Part<'_>| part.checks.iter().filter_map(Row::placed).collect::<Vec<_>>();
        let rows: Vec<_> = self.parts.iter().map(|part| (part.id, checks(part))).collect();
        let rows: Vec<_> = rows.into_iter().filter(|(_, checks)| !checks.is_empty()).collect();
        if let Some(chart) = picture::of_paper(&rows) {
            let title = format!("{}: measured relative to published", self.id);
            let name = format!("{}.svg", self.id);
            out.text.push_str(&shown(&title, &format!("{FIGURES}/{name}")));
            out.pictures.push((name, chart.svg(&title)));
        }
    }
}

/// This number of misses is shown for each experiment.
const MISSED: usize = 3;

impl Part<'_> {
    /// What is out of band, and why; `None` if nothing is. Expectations are named only if no check is out of band.
    fn misses(&self) -> Option<String> {
        let missed = |rows: &[Row]| rows.iter().filter(|r| r.is_missed()).map(Row::said).collect::<Vec<_>>();
        let (checks, expected) = (missed(&self.checks), missed(&self.expected));
        let (missed, of, what) = match checks.is_empty() {
            false => (checks, self.checks.iter().filter(|r| r.is_judged()).count(), "checks"),
            true => (expected, self.expected.len(), "expectations"),
        };
        if missed.is_empty() {
            return None;
        }
        let more = match missed.len().saturating_sub(MISSED) {
            0 => String::new(),
            n => format!("; {n} more"),
        };
        let named = missed[..missed.len().min(MISSED)].join("; ");
        let why = self.page.lines().find_map(|line| line.strip_prefix(MISSES));
        let why = why.map_or(String::new(), |why| format!(" {why}"));
        let n = missed.len();
        Some(format!("- [{}]({}), {n} of {of} {what}: {named}{more}.{why}", self.id, self.link))
    }

    /// The row of an experiment with published values.
    fn judged(&self) -> String {
        let met = self.expected.iter().filter(|r| r.verdict == "in band").count();
        let expectations = Judged { held: met, missed: self.expected.len() - met };
        let cells = self.tally.map(|t| {
            [
                share(t.values),
                share(t.orders),
                share(t.calibrated),
                share(t.structural),
                share(expectations),
                count(t.not_comparable),
            ]
        });
        // Without published values there is nothing to count.
        let cells = cells.unwrap_or_else(|| [(); 6].map(|()| "–".to_string()));
        format!("| {} | {} | {} |\n", self.named(), cells.join(" | "), self.made_at())
    }

    /// The row of an experiment without published values.
    fn compared(&self) -> String {
        format!("| {} | {} | {} |\n", self.named(), mark(self.page), self.made_at())
    }

    /// The link to the page, with its title.
    fn named(&self) -> String {
        let title = self.page.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
        let title = title.strip_prefix(self.id).unwrap_or(title).replace('|', "\\|");
        format!("[{}]({}){title}", self.id, self.link)
    }

    fn made_at(&self) -> String {
        version::stated(self.page).map_or("?".to_string(), |v| v.to_string())
    }

    /// The first picture of the page.
    fn first_picture(&self) -> Option<String> {
        let line = self.page.lines().find(|line| line.starts_with("<img "))?;
        Some(format!("{}\n\n", line.replace(&format!("../{FIGURES}/"), &format!("{FIGURES}/"))))
    }
}

impl Row {
    fn is_missed(&self) -> bool {
        self.verdict.starts_with("**")
    }

    fn is_judged(&self) -> bool {
        self.is_missed() || self.verdict == "in band"
    }

    /// A miss with its numbers.
    fn said(&self) -> String {
        let Row { label, scheme, measured, published, band, .. } = self;
        match self.kind.is_empty() {
            true => format!("{label} [{scheme}] {measured} ({band})"),
            false => format!("{label} [{scheme}] {measured}, published {published} ({band})"),
        }
    }

    /// The check in the chart of its paper; `None` if it was not judged or tests only the bookkeeping.
    fn placed(&self) -> Option<Placed> {
        let wanted = self.is_judged() && self.kind != "structural";
        wanted.then(|| Placed { ratio: self.ratio(), held: !self.is_missed() })
    }

    /// The ratio to the published number; if there is none in the unit of the measured one, to the limit of the band, or
    /// to the middle of its limits on a logarithmic scale.
    fn ratio(&self) -> Option<f64> {
        let (measured, unit) = number(&self.measured)?;
        let published = self.published.split(" (").next().and_then(number).filter(|(_, of)| *of == unit);
        let of = match (published, self.band.split_once(" to ")) {
            (Some((value, _)), _) => value,
            (None, Some((from, to))) => match (number(from)?.0, number(to)?.0) {
                (from, to) if from > 0.0 => (from * to).sqrt(),
                (_, to) => to,
            },
            (None, None) => {
                number(self.band.trim_start_matches("at most ").trim_start_matches("at least "))?.0
            }
        };
        (of != 0.0).then(|| measured / of)
    }
}

/// The number with which a text begins, and the rest, which is its unit.
fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !"+-.".contains(c)).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim()))
}

/// The rows of the last table of a page that has this head. It has all of them.
fn rows(page: &str, head: &str) -> Vec<Row> {
    let Some((_, table)) = page.rsplit_once(&format!("{head}\n")) else { return Vec::new() };
    let lines = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    lines.filter_map(|line| row(&cells(line))).collect()
}

fn row(cells: &[String]) -> Option<Row> {
    let row = |[label, scheme, kind, published, measured, band, verdict]: [&String; 7]| Row {
        label: label.clone(),
        scheme: scheme.clone(),
        kind: kind.clone(),
        published: published.clone(),
        measured: measured.clone(),
        band: band.clone(),
        verdict: verdict.clone(),
    };
    let none = &String::new();
    match cells {
        [label, scheme, kind, published, _, measured, band, verdict] => {
            Some(row([label, scheme, kind, published, measured, band, verdict]))
        }
        [label, scheme, band, measured, verdict] => {
            Some(row([label, scheme, none, none, measured, band, verdict]))
        }
        _ => None,
    }
}

/// The cells of a line of a table.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\0");
    let inside = line.trim_start_matches("| ").trim_end_matches(" |");
    inside.split(" | ").map(|cell| cell.replace('\0', "|")).collect()
}

/// The table of the papers.
fn overview(papers: &[Paper<'_>]) -> String {
    let mut out = String::from(
        "| paper | values | orders | calibrated | structural | not comparable |\n| --- | --: | --: | --: | --: | --: |\n",
    );
    for paper in papers {
        let title = paper.title();
        let t = paper.tally().unwrap_or_default();
        let cells = [share(t.values), share(t.orders), share(t.calibrated), share(t.structural)];
        let not = count(t.not_comparable);
        out.push_str(&format!("| [{title}](#{}) | {} | {not} |\n", anchor(&title), cells.join(" | ")));
    }
    format!("{out}\n")
}

fn sum(tallies: impl Iterator<Item = Tally>) -> Tally {
    tallies.fold(Tally::default(), |mut all, tally| {
        all += tally;
        all
    })
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

/// How many checks are in band, in bold type if not all are.
fn share(judged: Judged) -> String {
    match (judged.all(), judged.missed) {
        (0, _) => "–".to_string(),
        (all, 0) => format!("{all} of {all}"),
        (all, _) => format!("**{} of {all}**", judged.held),
    }
}

fn count(n: usize) -> String {
    if n == 0 { "–".to_string() } else { n.to_string() }
}

/// The result that the first line of a page states.
fn mark(page: &str) -> &str {
    let first = page.lines().next().unwrap_or_default();
    first.split_once('|').map_or("", |(_, w)| w.trim_end_matches("-->").trim())
}

/// The anchor that Markdown viewers give a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages by id, each with a result in its first line and a text.
    fn pages(all: &[(&str, &str, &str)]) -> BTreeMap<String, String> {
        let page = |&(id, mark, text): &(&str, &str, &str)| {
            let text = format!("<!-- begin {id} | {mark} -->\n# {id}: t\n\n{text}\n\n<!-- end {id} -->\n");
            (id.to_string(), text)
        };
        all.iter().map(page).collect()
    }

    fn text(all: &[(&str, &str, &str)]) -> String {
        summary(&pages(all), "report").text
    }

    const COUNTS: &str =
        "values 5/2, calibrated 8/1, orders 1/1, structural 3/0, not comparable 4, full size only 0";

    #[test]
    fn the_head_counts_checks_by_kind_over_all_pages() {
        let other =
            "values 1/0, calibrated 2/0, orders 0/1, structural 0/0, not comparable 1, full size only 0";
        let text = text(&[
            ("atc19/fig4", COUNTS, "Model version 5."),
            ("atc19/table2", other, "Model version 4."),
            ("test/own", other, "Model version 4."),
        ]);
        for needle in [
            "**9 published values that the model could miss: 7 in band, 2 out. 4 orders: 1 in band, 3 out.** \
             Counted apart: 13 (1 out) values to which the model was fitted or that are its inputs, 3 \
             structural, 6 not comparable.",
            "| [test](#test) | 1 of 1 | **0 of 1** | 2 of 2 | – | 1 |",
            "| [atc19/table2](report/atc19-table2.md): t | 1 of 1 | **0 of 1** | 2 of 2 | – | – | 1 | 4 |\n\
             | [atc19/fig4](report/atc19-fig4.md): t | **5 of 7** | **1 of 2** | **8 of 9** | 3 of 3 | – | 4 | 5 |",
        ] {
            assert!(text.contains(needle), "{needle}\n{text}");
        }
        assert!(is_summary(&text) && is_summary("\n") && !is_summary("# Reproduction\n\nmine\n"));
    }

    #[test]
    fn misses_have_their_numbers_and_reasons() {
        let row = |label: &str, published: &str, measured: &str, band: &str, verdict: &str| {
            format!("| {label} | a\\|b | value | {published} | stated | {measured} | {band} | {verdict} |\n")
        };
        let table =
            |rows: &str| format!("{CHECKS}\n| --- | --- | --- | --: | --- | --: | --- | --- |\n{rows}");
        let missed = row("mean", "10 us", "20 us", "± 10 %", "**out of band**");
        let held = row("p99", "fast", "30 us", "at most 60 us", "in band");
        let page =
            format!("{MISSES}It is slow.\n\n{}\n{}", table(&missed), table(&format!("{missed}{held}")));
        let all = pages(&[("atc19/fig4", COUNTS, &page)]);
        let summary = summary(&all, "report");
        let needle = "- [atc19/fig4](report/atc19-fig4.md), 1 of 2 checks: mean [a|b] 20 us, published 10 us (± 10 %). \
                      It is slow.\n";
        assert!(summary.text.contains(needle), "{}", summary.text);
        let [(name, picture)] = summary.pictures.as_slice() else { panic!("one picture") };
        assert!(name == "atc19.svg" && summary.text.contains("src=\"figures/atc19.svg\""));
        assert!(picture.contains("1 of 2 in band"), "{picture}");
    }

    #[test]
    fn a_check_is_placed_by_the_published_value_or_the_limit() {
        let ratio = |published: &str, measured: &str, band: &str| {
            let [published, measured, band] = [published, measured, band].map(String::from);
            let [label, scheme, kind, verdict] = [const { String::new() }; 4];
            Row { label, scheme, kind, published, measured, band, verdict }.ratio()
        };
        assert_eq!(ratio("40 us", "30 us", "± 10 %"), Some(0.75));
        assert_eq!(ratio("-40 % (at most)", "-50 %", "± 25 %"), Some(1.25));
        assert_eq!(ratio("below 200 us", "300 us", "at most 200 us"), Some(1.5));
        assert_eq!(ratio("2.5x to 7.8x", "8x", "1 to 4x"), Some(4.0));
        assert_eq!(ratio("no stall", "500 us", "0 to 1000 us"), Some(0.5));
        assert_eq!(ratio("none", "3 us", "at most 0 us"), None);
        assert_eq!(ratio("10 us", "-", "± 10 %"), None);
    }

    #[test]
    fn published_values_and_comparisons_have_reports_of_their_own() {
        let checks = pages(&[("atc19/fig4", COUNTS, "")]);
        let comparisons = pages(&[("hpca24/ultra-large", "8 of 9 expectations met", "")]);
        let fits = |old: &BTreeMap<String, String>, new: &[(&str, bool)]| fits(old, new.iter().copied());
        assert_eq!(fits(&checks, &[("atc19/table2", true)]), Ok(()));
        assert_eq!(fits(&comparisons, &[("composed/erases", false)]), Ok(()));
        let why = fits(&checks, &[("composed/erases", false)]).unwrap_err();
        assert!(why.contains("atc19/fig4 has published values and composed/erases has none"), "{why}");
        assert!(fits(&comparisons, &[("atc19/fig4", true)]).is_err());
        assert!(fits(&BTreeMap::new(), &[("atc19/fig4", true), ("composed/erases", false)]).is_err());
        // An experiment that has got its first published value.
        assert_eq!(fits(&comparisons, &[("hpca24/ultra-large", true)]), Ok(()));
    }

    #[test]
    fn a_summary_without_published_values_counts_no_checks() {
        let expected = "Model version 5.\n\nMisses: Chance.\n\n| expected | scheme | band | measured | verdict |\n\
                        | --- | --- | --- | --: | --- |\n| mean | s | at most 3 us | 4 us | **out of band** |\n\n\
                        <img alt=\"a\" src=\"../figures/hpca24-ultra-large-1.svg\">\n";
        let alone = ("hpca24/ultra-large", "8 of 9 expectations met", expected);
        let composed = text(&[alone]);
        assert!(composed.contains("# Composed"), "{composed}");
        for needle in [
            "| [hpca24/ultra-large](report/hpca24-ultra-large.md): t | 8 of 9 expectations met | 5 |",
            "1 of 1 expectations: mean [s] 4 us (at most 3 us). Chance.",
            "<img alt=\"a\" src=\"figures/hpca24-ultra-large-1.svg\">",
        ] {
            assert!(composed.contains(needle), "{needle}\n{composed}");
        }
        let mixed = text(&[alone, ("hpca24/tail", COUNTS, "")]);
        assert!(mixed.contains("hpca24-ultra-large.md): t | – | – | – | – | – | – | 5 |"), "{mixed}");
    }
}
