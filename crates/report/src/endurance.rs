//! How long a drive with a limit of program/erase cycles lasts under the writes of a run.

use crate::summary::Scheme;
use crate::text::{cut, grouped};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::human_bytes;

/// Days of five years, the time for which data sheets state drive writes a day.
const DAYS: f64 = 5.0 * 365.0;

/// The endurance of a drive under the write amplification of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Endurance {
    /// Bytes that the host wrote in the run.
    pub written_bytes: u64,
    /// Program/erase cycles of full pulses that a block lasts.
    pub rated_cycles: u64,
    /// Writes of the whole host capacity a day that these cycles allow for five years.
    pub drive_writes_per_day: f64,
}

impl Endurance {
    /// The endurance of a drive whose good blocks have `flash_bytes` and whose host has `host_bytes`. `None` if nothing
    /// was written, so that the write amplification is not known.
    pub fn new(
        written_bytes: u64,
        rated_cycles: u32,
        waf: Option<f64>,
        (flash_bytes, host_bytes): (u64, u64),
    ) -> Option<Endurance> {
        let waf = waf.filter(|&waf| waf > 0.0 && written_bytes > 0 && host_bytes > 0)?;
        let host_writes = f64::from(rated_cycles) * flash_bytes as f64 / waf;
        Some(Endurance {
            written_bytes,
            rated_cycles: u64::from(rated_cycles),
            drive_writes_per_day: host_writes / host_bytes as f64 / DAYS,
        })
    }
}

/// A line for each scheme whose drive has a limit; empty if none has.
pub fn endurance(schemes: &[Scheme]) -> String {
    let line = |s: &Scheme| {
        let (e, waf) = (s.endurance?, s.waf?);
        Some(format!(
            "  {}: {} written, write amplification {waf:.2}; {} cycles are {:.2} drive writes a day over five years\n",
            cut(&s.name, 24),
            human_bytes(e.written_bytes),
            grouped(e.rated_cycles),
            e.drive_writes_per_day,
        ))
    };
    let lines: String = schemes.iter().filter_map(line).map(|l| crate::text::wrapped(&l, 6)).collect();
    if lines.is_empty() { lines } else { format!("\nEndurance\n{lines}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_drive_writes_a_day() {
        // 3,650 cycles of as much flash as the host has, half of it for collection: one a day.
        let e = Endurance::new(1 << 30, 3_650, Some(2.0), (1 << 40, 1 << 40)).unwrap();
        assert_eq!(e.drive_writes_per_day, 1.0);
        assert_eq!(Endurance::new(0, 3_650, Some(2.0), (1, 1)), None);
        assert_eq!(Endurance::new(1, 3_650, None, (1, 1)), None);
        let scheme = Scheme { name: "aero".into(), waf: Some(2.0), endurance: Some(e), ..Scheme::default() };
        let text = endurance(&[scheme, Scheme::default()]);
        assert_eq!(
            text,
            "\nEndurance\n  aero: 1 GiB written, write amplification 2.00; 3,650 cycles are 1.00 drive\n      \
             writes a day over five years\n"
        );
        assert_eq!(endurance(&[Scheme::default()]), "");
    }
}
