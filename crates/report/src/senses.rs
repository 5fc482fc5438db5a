//! The senses of pages with raw bit errors, for the summary and as a table.

use crate::summary::Scheme;
use crate::text::{Grid, cut, grouped};
use serde::{Deserialize, Serialize};

/// Senses of pages over the measurement. A page of each plane counts for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageSenses {
    /// Pages that the controller has sensed.
    pub pages: u64,
    /// Of these, pages that had been sensed before for the same read.
    pub again: u64,
    /// Pages that the die has sensed again by itself.
    pub in_die: u64,
    /// Pages that the die has begun to sense ahead, and that were not needed.
    pub dropped: u64,
    /// Pages whose data could not be decoded, or were not decoded since a prediction said so.
    pub uncorrectable: u64,
    /// Of these, pages that were given up.
    pub given_up: u64,
    /// Pages for which a prediction was made.
    pub predicted: u64,
    /// Pages that would have been decoded, and were predicted to fail.
    pub needless: u64,
    /// Pages that were predicted to be decoded, and failed.
    pub missed: u64,
}

/// The table of the schemes on drives with raw bit errors; empty if there is none.
pub fn senses(schemes: &[Scheme]) -> String {
    if schemes.iter().all(|scheme| scheme.page_senses.is_none()) {
        return String::new();
    }
    let mut grid = Grid::with_widths(&[9]);
    let head = ["scheme", "pages", "again", "in the die", "failed", "given up", "needless", "missed"];
    let shares = ["useful", "uncorrectable", "ECC wait", "idle"];
    grid.row(head.iter().chain(&shares).map(|text| text.to_string()));
    grid.rule();
    for scheme in schemes {
        let mut row = vec![cut(&scheme.name, 24)];
        match &scheme.page_senses {
            None => row.extend(vec!["-".to_string(); head.len() - 1]),
            Some(s) => {
                let counts = [s.pages, s.again, s.in_die, s.uncorrectable, s.given_up, s.needless, s.missed];
                row.extend(counts.map(grouped));
            }
        }
        let shares = scheme.channel.map(|c| [c.useful, c.uncorrectable.unwrap_or(0.0), c.ecc_wait, c.idle]);
        match shares {
            None => row.extend(vec!["-".to_string(); 4]),
            Some(shares) => row.extend(shares.map(|share| format!("{:.1} %", 100.0 * share))),
        }
        grid.row(row);
    }
    format!("\nSenses of pages, and the time of the channels\n{}", grid.render())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Channel;

    #[test]
    fn a_table_has_the_drives_with_errors() {
        let of = |name: &str, page_senses| Scheme { name: name.into(), page_senses, ..Default::default() };
        assert_eq!(senses(&[of("baseline", None)]), "");
        let rif = PageSenses { pages: 12_345, in_die: 678, missed: 9, ..Default::default() };
        let channel = Channel { idle: 0.5, useful: 0.25, uncorrectable: Some(0.125), ecc_wait: 0.125 };
        let table = senses(&[Scheme { channel: Some(channel), ..of("rif", Some(rif)) }, of("plain", None)]);
        for text in ["12,345", "678", "12.5 %", "50.0 %", "plain"] {
            assert!(table.contains(text), "{text} in {table}");
        }
    }
}
