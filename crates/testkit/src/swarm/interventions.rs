//! What is done to a drive from outside while it serves commands: faults that begin now, and changes of keys.

use super::draw::{chance, one_of};
use super::draw_flash::draw_page;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::intervention::{Intervention, InterventionError};
use tailcut_core::nand::faults::config::{FaultKind, FaultsConfig};
use tailcut_units::Stream;

/// What is done, each before the command of a number, in order.
#[derive(Clone, Debug, Default)]
pub struct Interventions(Vec<(u32, Intervention)>);

/// Let one drive in two that can fail take faults while it runs.
pub(super) fn draw_prepared(s: &mut Stream, c: &mut DeviceConfig) {
    let can_fail = c.faults != FaultsConfig::default() || !c.fault.is_empty();
    c.faults.injected = can_fail && chance(s, 2);
}

impl Interventions {
    /// Some for a drive, if it is prepared for them.
    pub(super) fn draw(s: &mut Stream, c: &DeviceConfig, commands: u32) -> Interventions {
        if !c.faults.injected {
            return Interventions::default();
        }
        let number = one_of(s, &[1, 1, 2, 4, 12]);
        let mut all: Vec<_> = (0..number)
            .map(|_| (1 + s.below(commands.into()) as u32, draw_text(s, c)))
            .map(|(before, text)| (before, text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))))
            .collect();
        all.sort_by_key(|(before, _)| *before);
        Interventions(all)
    }

    /// Those before the command of a number.
    pub fn before(&self, command: u32) -> impl Iterator<Item = &Intervention> {
        self.0.iter().filter(move |(before, _)| *before == command).map(|(_, what)| what)
    }

    /// Whether one makes a read fail that may succeed later.
    pub fn pass(&self) -> bool {
        self.0.iter().any(|(_, what)| matches!(what, Intervention::Fault(fault) if fault.once))
    }

    /// Whether one makes reads fail or planes die.
    pub fn lose_reads(&self) -> bool {
        self.0.iter().any(|(_, what)| {
            matches!(what, Intervention::Fault(fault) if fault.kind == FaultKind::Page || fault.kills())
        })
    }
}

fn draw_text(s: &mut Stream, c: &DeviceConfig) -> String {
    let g = &c.geometry;
    let [die, plane, block, page] = draw_page(s, g);
    match s.below(12) {
        0 | 1 => format!("fault program={die}.{plane}.{block}.{page}"),
        2 | 3 => format!("fault erase={die}.{plane}.{block}"),
        4 | 5 => format!("fault page={die}.{plane}.{block}.{page}"),
        6 => format!("fault page={die}.{plane}.{block}.{page},once"),
        7 | 8 => format!("set faults.rebuild_rate={}", one_of(s, &["5MB/s", "80MB/s", "inf"])),
        9 => format!("set policy.suspend_erase.timeout.after={}us", s.below(5_000)),
        10 if chance(s, 4) => format!("fault channel={}", s.below(g.channels.into())),
        10 if chance(s, 2) => format!("fault die={die}"),
        _ => format!("fault plane={die}.{plane}"),
    }
}

/// What a drive said to an intervention: `Ok(true)` if it has done it, and `Ok(false)` if it has nothing that the key
/// changes.
pub(super) fn done(what: &Intervention, said: Result<(), InterventionError>) -> Result<bool, String> {
    match said {
        Ok(()) => Ok(true),
        Err(InterventionError::Drive(_)) if what.key().is_some() => Ok(false),
        Err(e) => Err(format!("{what}: {e}")),
    }
}
