//! The pulses of erases whose scheme chooses them, for the summary and as a table.

use crate::summary::Scheme;
use crate::text::{Grid, cut, duration, grouped};
use serde::{Deserialize, Serialize};

/// Erases of blocks over the measurement, and the wear of the blocks at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErasePulses {
    /// Blocks erased, each plane of an erase counted.
    pub blocks: u64,
    /// Mean pulse time of the erase of a block, ns.
    pub pulse_ns: f64,
    /// Mean number of pulses of the erase of a block.
    pub pulses: f64,
    /// Erases by the highest voltage level that they took, from level 1 on.
    pub by_level: Vec<u64>,
    /// Pulses that followed one which should have been the last.
    pub too_short: u64,
    /// Pulse time that predictions made too long, ns.
    pub too_long_ns: u64,
    /// Erases that left fail bits.
    pub incomplete: u64,
    /// Erases at the full voltage, of a scheme that chooses between two; absent for other schemes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_voltage: Option<u64>,
    /// Mean wear of a block, as program/erase cycles of full pulses.
    pub wear_mean: f64,
    /// Largest wear of a block.
    pub wear_max: f64,
}

/// The table of the schemes that choose pulses; empty if none does.
pub fn erases(schemes: &[Scheme]) -> String {
    if schemes.iter().all(|scheme| scheme.erase_pulses.is_none()) {
        return String::new();
    }
    let levels =
        schemes.iter().filter_map(|s| s.erase_pulses.as_ref()).map(|e| e.by_level.len()).max().unwrap_or(0);
    let mut grid = Grid::with_widths(&[9]);
    let mut head: Vec<String> = ["scheme", "blocks", "mean pulses", "pulse time"].map(String::from).to_vec();
    head.extend((1..=levels).map(|level| format!("level {level}")));
    let chooses = schemes.iter().any(|s| s.erase_pulses.as_ref().is_some_and(|e| e.full_voltage.is_some()));
    head.extend(chooses.then(|| "full voltage".to_string()));
    head.extend(["too short", "incomplete", "mean wear", "max wear"].map(String::from));
    let columns = head.len();
    grid.row(head);
    grid.rule();
    for scheme in schemes {
        let mut row = vec![cut(&scheme.name, 24)];
        match &scheme.erase_pulses {
            None => row.extend(vec!["-".to_string(); columns - 1]),
            Some(e) => {
                row.extend([grouped(e.blocks), format!("{:.2}", e.pulses), duration(e.pulse_ns)]);
                let level = |i: usize| e.by_level.get(i).copied().unwrap_or(0);
                row.extend((0..levels).map(|i| grouped(level(i))));
                row.extend(chooses.then(|| e.full_voltage.map_or("-".to_string(), grouped)));
                row.extend([grouped(e.too_short), grouped(e.incomplete)]);
                row.extend([e.wear_mean, e.wear_max].map(|wear| format!("{wear:.1}")));
            }
        }
        grid.row(row);
    }
    format!("\nErases of blocks, by the voltage level of their last pulse\n{}", grid.render())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_without_a_choice_have_dashes() {
        let pulses = ErasePulses {
            blocks: 1200,
            pulse_ns: 2_400_000.0,
            pulses: 2.25,
            by_level: vec![1150, 50],
            too_short: 3,
            too_long_ns: 500_000,
            incomplete: 700,
            full_voltage: None,
            wear_mean: 501.25,
            wear_max: 540.0,
        };
        let of = |name: &str, erase_pulses| Scheme { name: name.into(), erase_pulses, ..Scheme::default() };
        assert_eq!(erases(&[of("baseline", None)]), "");
        let table = erases(&[of("aero", Some(pulses.clone())), of("baseline", None)]);
        // On a page of 80 columns the table goes on below.
        for text in [
            "  scheme     blocks  mean pulses  pulse time  level 1  level 2  too short\n",
            "  aero        1,200         2.25     2.40 ms    1,150       50          3\n",
            "  baseline        -            -           -        -        -          -\n\n  scheme     incomplete",
            "  aero              700      501.2     540.0\n",
        ] {
            assert!(table.contains(text), "{text} in {table}");
        }
        let table = erases(&[of("dpes", Some(ErasePulses { full_voltage: Some(9), ..pulses }))]);
        assert!(table.contains("level 2  full voltage\n") && table.contains("    9\n"), "{table}");
    }
}
