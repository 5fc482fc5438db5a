//! Long lists: which row stands for the others, and how the rest is folded.

use crate::results::{Outcome, Verdict};

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
pub fn range(values: &[(f64, String, String)]) -> Option<String> {
    let by = |a: &&(f64, String, String), b: &&(f64, String, String)| a.0.total_cmp(&b.0);
    let (least, most) = (values.iter().min_by(by)?, values.iter().max_by(by)?);
    let one = |(_, text, row): &(f64, String, String)| format!("{text} ({row})");
    (least.0 < most.0).then(|| format!("from {} to {}", one(least), one(most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_told_by_its_ends() {
        let one = |v: f64, row: &str| (v, format!("{v} us"), row.to_string());
        let told = range(&[one(3.0, "a"), one(1.0, "b"), one(7.0, "c")]);
        assert_eq!(told.as_deref(), Some("from 1 us (b) to 7 us (c)"));
        assert_eq!(range(&[one(3.0, "a"), one(3.0, "b")]), None);
        let text = folded("p < 1 & more", "| a |\n\n");
        assert_eq!(text, "<details>\n<summary>p &lt; 1 &amp; more</summary>\n\n| a |\n\n</details>\n\n");
    }
}
