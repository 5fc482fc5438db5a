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
    /// Programs outside of the SLC region divided by host programs; absent on a drive without a region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waf_outside_slc: Option<f64>,
}

impl Endurance {
    /// The endurance of the drive of a scheme, whose good blocks outside of an SLC region have `flash_bytes` and whose
    /// host has `host_bytes`. `None` if nothing was written, so that the write amplification is not known, or if all
    /// is still in the region.
    ///
    /// Blocks of the region hold one bit a cell and last many more cycles; no source gives these drives' limit. Their
    /// programs are left out, and what folds move out of them is counted.
    pub fn new(
        written_bytes: u64,
        rated_cycles: u32,
        scheme: &Scheme,
        (flash_bytes, host_bytes): (u64, u64),
    ) -> Option<Endurance> {
        let waf_outside_slc = waf_outside_slc(scheme);
        let waf = waf_outside_slc.or(scheme.waf);
        let waf = waf.filter(|&waf| waf > 0.0 && written_bytes > 0 && host_bytes > 0)?;
        let host_writes = f64::from(rated_cycles) * flash_bytes as f64 / waf;
        Some(Endurance {
            written_bytes,
            rated_cycles: u64::from(rated_cycles),
            drive_writes_per_day: host_writes / host_bytes as f64 / DAYS,
            waf_outside_slc,
        })
    }
}

/// Programs outside of the SLC region divided by host programs, of the first run.
fn waf_outside_slc(scheme: &Scheme) -> Option<f64> {
    let slc = scheme.slc.as_ref()?;
    let user = *scheme.programs.get("user").filter(|&&user| user > 0)?;
    let all: u64 = scheme.programs.iter().map(|(_, n)| n).sum();
    Some(all.saturating_sub(slc.host_units + slc.padding_units) as f64 / user as f64)
}

/// A line for each scheme whose drive has a limit; empty if none has.
pub fn endurance(schemes: &[Scheme]) -> String {
    let line = |s: &Scheme| {
        let (e, waf) = (s.endurance?, s.waf?);
        let (waf, region) = match e.waf_outside_slc {
            Some(waf) => (
                format!("{waf:.2} outside of the SLC region"),
                "; programs in the region are not counted, since its blocks last longer",
            ),
            None => (format!("{waf:.2}"), ""),
        };
        Some(format!(
            "  {}: {} written, write amplification {waf}; {} cycles are {:.2} drive writes a day over five years{region}\n",
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
    use crate::Ordered;
    use crate::summary::SlcUse;

    #[test]
    fn cycles_are_drive_writes_a_day() {
        // 3,650 cycles of as much flash as the host has, half of it for collection: one a day.
        let scheme = Scheme { name: "aero".into(), waf: Some(2.0), ..Scheme::default() };
        let e = Endurance::new(1 << 30, 3_650, &scheme, (1 << 40, 1 << 40)).unwrap();
        assert_eq!(e.drive_writes_per_day, 1.0);
        assert_eq!(Endurance::new(0, 3_650, &scheme, (1, 1)), None);
        assert_eq!(Endurance::new(1, 3_650, &Scheme::default(), (1, 1)), None);
        let scheme = Scheme { endurance: Some(e), ..scheme };
        let text = endurance(&[scheme, Scheme::default()]);
        assert_eq!(
            text,
            "\nEndurance\n  aero: 1 GiB written, write amplification 2.00; 3,650 cycles are 1.00 drive\n      \
             writes a day over five years\n"
        );
        assert_eq!(endurance(&[Scheme::default()]), "");
    }

    #[test]
    fn programs_in_an_slc_region_wear_no_other_block() {
        // 1,000 units of the host, of which 800 go to the region with 40 of padding, and 300 are folded from there.
        let programs = [("user", 1_000), ("gc", 150), ("fold", 300), ("pad", 90)];
        let scheme = Scheme {
            name: "client".into(),
            waf: Some(1.54),
            programs: Ordered(programs.map(|(class, n)| (class.to_string(), n)).into()),
            slc: Some(SlcUse { host_units: 800, padding_units: 40, folded_units: 300, ..SlcUse::default() }),
            ..Scheme::default()
        };
        let e = Endurance::new(1 << 30, 1_825, &scheme, (1 << 40, 1 << 40)).unwrap();
        assert_eq!((e.waf_outside_slc, e.drive_writes_per_day), (Some(0.7), 1.0 / 0.7));
        let text = endurance(&[Scheme { endurance: Some(e), ..scheme.clone() }]);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("write amplification 0.70 outside of the SLC region;"), "{text}");
        assert!(text.contains("programs in the region are not counted"), "{text}");
        // All is still in the region.
        let all = SlcUse { host_units: 1_000, padding_units: 540, ..SlcUse::default() };
        assert_eq!(Endurance::new(1, 1_825, &Scheme { slc: Some(all), ..scheme }, (1, 1)), None);
    }
}
