//! Long lists: which row stands for the others, and how the rest is folded.

use crate::check::{Outcome, Verdict};

/// Lists of more rows are folded.
pub const LONG: usize = 15;

/// Of the checks in band, the one whose value is nearest to a limit of its band.
pub fn nearest(outcomes: &[Outcome]) -> Option<&Outcome> {
    let held = outcomes.iter().filter(|o| o.verdict == Verdict::InBand && o.used.is_some());
    // The first of several.
    held.rev().max_by(|a, b| a.used.unwrap_or(0.0).total_cmp(&b.used.unwrap_or(0.0)))
}

/// A check in one sentence.
pub fn said(o: &Outcome) -> String {
    format!("{} [{}], {}, published {} ({})", o.label, o.scheme, o.measured, o.published, o.band)
}

/// A Markdown text that is shown when its summary is unfolded.
pub fn folded(summary: &str, text: &str) -> String {
    let summary = summary.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<details>\n<summary>{summary}</summary>\n\n{}\n\n</details>\n\n", text.trim_end())
}

/// From the smallest to the largest of some values, each with its text and the name of its row; `None` if there are
/// fewer than two.
pub fn range<'a>(values: impl Iterator<Item = (f64, &'a str, String)> + Clone) -> Option<String> {
    let by = |a: &(f64, &str, String), b: &(f64, &str, String)| a.0.total_cmp(&b.0);
    let (least, most) = (values.clone().min_by(by)?, values.max_by(by)?);
    let one = |(_, text, row): (f64, &str, String)| format!("{text} ({row})");
    (least.0 < most.0).then(|| format!("from {} to {}", one(least), one(most)))
}
