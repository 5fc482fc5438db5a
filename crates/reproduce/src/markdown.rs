//! `docs/reproduction.md`: a section an experiment, each between markers, so that some
//! can be made anew while the others stay as they are.

use crate::check::{Outcome, Verdict};
use crate::execute::Results;
use crate::file::Experiment;
use crate::list::EXPERIMENTS;
use crate::table::tables;
use crate::text::outcome;
use std::collections::BTreeMap;
use tailcut_sim::MODEL_VERSION;

/// Head of a document that holds comparisons alone.
const COMPARISONS: &str = "\
# Composed

Published ways to cut the tail, laid over one another on one drive. Nobody published these
figures, so that nothing here is judged. Each section is made by the command in it, with
`--report docs/composed.md`, from its file in `experiments/`; do not edit it here.
";

const HEAD: &str = "\
# Reproduction

What the papers publish, beside what the model gives. Made by `tailcut reproduce --report
docs/reproduction.md` (`make reproduce`) from the files in `experiments/`; do not edit it
here: texts belong to those files.

Every check has a band, set from the paper's own stated error or from the precision of its
words before the result was seen, and with its reason beside it. A value outside its band is
a miss and is shown as one. *Not comparable* says why a comparison would mean nothing.

How far a published value is to be trusted: **stated** in the paper; **implied** by its text
(read off the prose, since a figure gives no numbers); **found** in other public material,
such as the authors' code; **inferred** for the reason given; **remembered**, confirmed by no
source, and never compared with.
";

/// One section, with its markers.
pub fn section(e: &Experiment, results: &Results) -> String {
    let words = outcome(e, results);
    let size = if results.quick { "quick" } else { "full" };
    let mut out = format!("<!-- begin {} | {words} -->\n", e.id);
    out.push_str(&format!("## {}: {}\n\n", e.id, e.title));
    out.push_str(&format!("{}. {}\n\n", e.source.trim_end_matches('.'), e.shows.trim()));
    out.push_str(&format!(
        "`tailcut reproduce {}`, {size} size: {words}. Running time on two cores: {} (quick: {}). Model \
         version {MODEL_VERSION}.\n\n",
        e.id, e.time.full, e.time.quick
    ));
    if e.judges() {
        out.push_str("| check | scheme | published | trust | measured | band | verdict |\n");
        out.push_str("| --- | --- | --: | --- | --: | --- | --- |\n");
        for o in &results.outcomes {
            out.push_str(&row(o));
        }
        out.push('\n');
        out.push_str(&remarks(&results.outcomes));
    } else {
        for run in &results.runs {
            let why = run.missing.iter().map(|why| format!("{}: {why}\n\n", run.name));
            out.extend(why);
        }
    }
    for table in tables(e, results) {
        out.push_str(&format!("{}\n", table.markdown()));
    }
    if let Some(text) = &e.discussion {
        out.push_str(&format!("{}\n\n", text.trim()));
    }
    out.push_str(&format!("<!-- end {} -->\n", e.id));
    out
}

fn row(o: &Outcome) -> String {
    let verdict = match o.verdict {
        Verdict::OutOfBand => "**out of band**".to_string(),
        ref v => v.words().to_string(),
    };
    let cells = [&o.label, &o.scheme, &o.published, &o.trust, &o.measured, &o.band, &verdict];
    let cells = cells.map(|c| c.replace('|', "\\|"));
    format!("| {} |\n", cells.join(" | "))
}

/// Where the bands and values come from, why not comparable, and notes.
fn remarks(outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    let mut bands: Vec<(String, Vec<String>)> = Vec::new();
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
    let mut sources: Vec<(String, Vec<String>)> = Vec::new();
    for o in outcomes {
        gather(&mut sources, o.source.clone(), &o.label);
    }
    let said: Vec<&str> = sources.iter().map(|s| s.0.as_str()).collect();
    out.push_str(&format!("Published values: {}.\n\n", said.join("; ")));
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
            out.push_str(&format!("- {}: {note}\n", some(labels, usize::MAX)));
        }
        out.push('\n');
    }
    out
}

fn gather(groups: &mut Vec<(String, Vec<String>)>, key: String, label: &str) {
    let group = match groups.iter_mut().find(|g| g.0 == key) {
        Some(group) => group,
        None => {
            groups.push((key, Vec::new()));
            groups.last_mut().expect("just pushed")
        }
    };
    if !group.1.iter().any(|l| l == label) {
        group.1.push(label.to_string());
    }
}

fn some(labels: &[String], all: usize) -> String {
    if labels.len() == all { "all checks".to_string() } else { labels.join(", ") }
}

/// The document with these sections made anew and the others of `old` kept.
pub fn document(old: Option<&str>, new: &[(String, String)]) -> String {
    let mut sections: BTreeMap<String, String> = old.map(split).unwrap_or_default();
    sections.extend(new.iter().cloned());
    let known = EXPERIMENTS.iter().map(|(id, _)| id.to_string());
    let mut order: Vec<String> = known.filter(|id| sections.contains_key(id)).collect();
    let others: Vec<String> = sections.keys().filter(|id| !order.contains(id)).cloned().collect();
    order.extend(others);
    let composed = !order.is_empty() && order.iter().all(|id| id.starts_with("composed/"));
    let head = if composed { COMPARISONS } else { HEAD };
    let mut out = format!("{head}\n| experiment | result |\n| --- | --- |\n");
    for id in &order {
        let first = sections[id].lines().next().unwrap_or_default();
        let words = first.split_once('|').map_or("", |(_, w)| w.trim_end_matches("-->").trim());
        out.push_str(&format!("| [{id}](#{}) | {words} |\n", anchor(&sections[id])));
    }
    for id in &order {
        out.push_str(&format!("\n{}", sections[id]));
    }
    out
}

/// The anchor that Markdown viewers give a section's heading.
fn anchor(section: &str) -> String {
    let heading = section.lines().find_map(|l| l.strip_prefix("## ")).unwrap_or_default();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The sections of a document by id.
fn split(document: &str) -> BTreeMap<String, String> {
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

    #[test]
    fn sections_not_made_anew_stay_as_they_are() {
        let part = |id: &str, text: &str| {
            (
                id.to_string(),
                format!("<!-- begin {id} | 1 in band -->\n## {id}: t\n\n{text}\n<!-- end {id} -->\n"),
            )
        };
        let both = document(None, &[part("atc19/fig4", "old"), part("atc19/table2", "kept")]);
        let (table, fig) = (both.find("kept").unwrap(), both.find("old").unwrap());
        assert!(table < fig, "in the order of the list");
        let again = document(Some(&both), &[part("atc19/fig4", "new")]);
        assert_eq!(again, both.replace("old", "new"));
        assert_eq!(document(Some(&both), &[]), both);
        assert!(both.contains("| [atc19/fig4](#atc19fig4-t) | 1 in band |"), "{both}");
    }
}
