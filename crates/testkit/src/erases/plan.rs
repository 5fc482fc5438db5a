//! The pulses of a block's erase, computed from the configuration.

use tailcut_core::device::config::DeviceConfig;
use tailcut_core::nand::erase::chip::{CYCLE, Chip, Nature};
use tailcut_core::nand::erase::config::{EraseConfig, Reading};
use tailcut_core::nand::erase::requirement::{Allowed, Requirement};
use tailcut_core::policy::erase_scheme::EraseSchemeConfig;

/// The most pulses of an erase.
const MOST_PULSES: usize = 12;
/// The most wear of a block.
const MOST_WEAR: u64 = u32::MAX as u64 / 2;

/// What is known of a block before its erase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Program/erase cycles.
    pub cycles: u32,
    /// Wear, in parts of a cycle of full pulses.
    pub wear: u32,
    /// Pulses of the last erase.
    pub pulses: u32,
    /// Whether a short first pulse can help.
    pub shallow: bool,
    /// Steps that the last erase has left.
    pub left: u32,
}

/// An erase of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Level, from 1 on, and steps of each pulse.
    pub pulses: Vec<(u32, u32)>,
    /// What the block is afterwards.
    pub after: Record,
}

/// When AERO ends an erase, and how long its pulses are.
struct Aero {
    shallow: u32,
    always_shallow: bool,
    /// Steps that may be left at each level, from 1 on, the last for all levels above. Empty: none.
    left: Vec<u32>,
    /// The most errors with what is left, bits of a KiB.
    requirement: u32,
}

enum Rule {
    /// Full pulses, from level 1 on.
    FromFirst,
    /// Full pulses, from the level of as many pulses as the last erase took.
    FromLast,
    Aero(Aero),
}

/// Computes erases under one scheme.
pub struct Planner {
    erase: EraseConfig,
    rule: Rule,
    /// The voltage of the scheme against that of full pulses.
    voltage: f64,
    chip: Chip,
    /// What blocks need under the scheme, under full pulses, and under pulses that end when a block is erased.
    own: Requirement,
    full: Requirement,
    exact: Requirement,
}

impl Planner {
    /// A planner of a drive; `None` if erases take the configured loops.
    pub fn new(c: &DeviceConfig, seed: u64) -> Option<Planner> {
        let erase = c.erase.clone()?;
        let steps = |ns: u64| (ns / erase.step.0) as u32;
        let (name, rule, voltage) = match &c.policy.erase_scheme {
            EraseSchemeConfig::Fixed(_) => return None,
            EraseSchemeConfig::Ispe(_) => ("ispe", Rule::FromFirst, 1.0),
            EraseSchemeConfig::IIspe(_) => ("i-ispe", Rule::FromLast, 1.0),
            EraseSchemeConfig::Dpes(m) => ("dpes", Rule::FromFirst, m.voltage),
            EraseSchemeConfig::AeroCons(m) => {
                assert!(m.table.is_empty(), "the planner knows the table of the slope alone");
                let (shallow, always_shallow) = (steps(m.shallow.0), m.always_shallow);
                let aero = Aero { shallow, always_shallow, left: Vec::new(), requirement: 0 };
                ("aero-cons", Rule::Aero(aero), 1.0)
            }
            EraseSchemeConfig::Aero(m) => {
                assert!(m.table.is_empty(), "the planner knows the table of the slope alone");
                let left = m.left.iter().map(|time| steps(time.0)).collect();
                let (shallow, always_shallow) = (steps(m.shallow.0), m.always_shallow);
                let aero = Aero { shallow, always_shallow, left, requirement: m.requirement };
                ("aero", Rule::Aero(aero), 1.0)
            }
        };
        let most = steps(erase.pulse.0) * erase.levels;
        let rows = |name: &str| Requirement::new(&erase.rows, name, erase.step.0, most).expect("it has rows");
        let (mut own, full, exact) = (rows(name), rows("ispe"), rows("aero-cons"));
        if let EraseSchemeConfig::Aero(m) = &c.policy.erase_scheme {
            let allowed = Allowed { errors: m.requirement, none: erase.fresh_errors, all: erase.worn_errors };
            own = own.allowing(&exact, allowed, &erase.rows, name, erase.step.0);
        }
        let chip = Chip::new(&erase, voltage, seed);
        Some(Planner { rule, voltage, chip, own, full, exact, erase })
    }

    /// What a block has from its making.
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// Length of a step, ns.
    pub fn step_ns(&self) -> u64 {
        self.erase.step.0
    }

    /// Steps of a full pulse.
    fn whole(&self) -> u32 {
        (self.erase.pulse.0 / self.erase.step.0) as u32
    }

    /// The erase of a block; `full_voltage`: at the voltage of full pulses, under a scheme with a lower one.
    pub fn plan(&self, nature: &Nature, block: &Record, full_voltage: bool) -> Plan {
        let needed = self.needed(nature, block, full_voltage);
        let (pulses, left) = match &self.rule {
            Rule::FromFirst => self.full_pulses(1, needed),
            Rule::FromLast => self.full_pulses(block.pulses.max(1), needed),
            Rule::Aero(aero) => self.predicted_pulses(aero, nature, block, needed),
        };
        let at_first: u32 = pulses.iter().filter(|&&(level, _)| level == 1).map(|&(_, steps)| steps).sum();
        let after = Record {
            cycles: block.cycles + self.erase.cycles_per_erase,
            wear: self.wear_after(nature, block, &pulses, self.exact(nature, block, needed), full_voltage),
            pulses: pulses.len() as u32,
            // A short pulse that is followed by the rest of its level only adds a verify.
            shallow: block.shallow && at_first < self.whole(),
            left,
        };
        Plan { pulses, after }
    }

    /// The steps that erase a block by its rows.
    fn needed(&self, nature: &Nature, block: &Record, full_voltage: bool) -> u32 {
        let row = match self.erase.reading {
            Reading::Cycles => block.cycles,
            Reading::Stress => block.wear / CYCLE,
        };
        let full = self.full.steps(nature.class, nature.turn, row);
        if full_voltage {
            return full;
        }
        let own = self.own.steps(nature.class, nature.turn, row);
        let Rule::Aero(aero) = &self.rule else {
            // Between rows no scheme needs more than full pulses.
            return own.min(full.max(self.own.by_row(nature.class, row)));
        };
        // The rows lack what erases leave. A block that may leave nothing needs its exact time. No block needs more
        // than its full pulses.
        let exact = self.exact.steps(nature.class, nature.turn, row);
        let level = own.div_ceil(self.whole()).clamp(1, self.erase.levels);
        let left = self.may_leave(aero, block, level);
        let own = own.min(exact.max(self.own.by_row(nature.class, row)));
        let needed = if left == 0 { exact } else { own + left };
        needed.min(full.div_ceil(self.whole()) * self.whole())
    }

    /// The steps that are not over-erase, of a block whose verify passes after `needed` steps.
    fn exact(&self, nature: &Nature, block: &Record, needed: u32) -> u32 {
        let row = match self.erase.reading {
            Reading::Cycles => block.cycles,
            Reading::Stress => block.wear / CYCLE,
        };
        match self.rule {
            Rule::Aero(_) => needed + u32::from(self.chip.is_mispredicted(nature, block.cycles)),
            _ => self.exact.steps(nature.class, nature.turn, row).min(needed),
        }
    }

    fn full_pulses(&self, first: u32, needed: u32) -> (Vec<(u32, u32)>, u32) {
        let count = needed.div_ceil(self.whole()).max(1);
        let level = |i: u32| (first + i).min(self.erase.levels);
        ((0..count).map(|i| (level(i), self.whole())).collect(), 0)
    }

    /// A first pulse, then what the fail bits tell, level after level.
    fn predicted_pulses(
        &self,
        aero: &Aero,
        nature: &Nature,
        block: &Record,
        needed: u32,
    ) -> (Vec<(u32, u32)>, u32) {
        let whole = self.whole();
        // A step that the fail bits do not tell of before the pulse that should be the last.
        let mut unseen = u32::from(self.chip.is_mispredicted(nature, block.cycles));
        let mut left = needed + unseen;
        let (mut level, mut room) = (1, whole);
        let mut steps = if block.shallow || aero.always_shallow { aero.shallow } else { whole };
        let (mut pulses, mut should_end) = (Vec::new(), false);
        loop {
            pulses.push((level, steps));
            (left, room) = (left.saturating_sub(steps), room - steps);
            if should_end {
                unseen = 0;
            }
            let shown = if left == 0 { 0 } else { left.saturating_sub(unseen).max(1) };
            let verify = Some((block.cycles, pulses.len() as u32 - 1));
            let fail_bits = self.chip.fail_bits(nature, shown, verify);
            if fail_bits <= self.erase.pass || pulses.len() == MOST_PULSES {
                return (pulses, left);
            }
            let told = self.steps_told(fail_bits);
            if told.is_some_and(|told| told <= self.may_leave(aero, block, level)) {
                return (pulses, left);
            }
            if room == 0 {
                (level, room) = ((level + 1).min(self.erase.levels), whole);
            }
            let may_leave = self.may_leave(aero, block, level);
            steps = told.map_or(room, |told| told.saturating_sub(may_leave).clamp(1, room));
            should_end = steps < room;
        }
    }

    /// The steps that erase a block with these fail bits; `None` if they are too many to tell.
    fn steps_told(&self, fail_bits: u32) -> Option<u32> {
        let e = &self.erase;
        (fail_bits <= e.high).then(|| 1 + fail_bits.saturating_sub(e.gamma).div_ceil(e.delta))
    }

    /// The steps that an erase may leave which ends at a level: as many as their errors allow.
    fn may_leave(&self, aero: &Aero, block: &Record, level: u32) -> u32 {
        let e = &self.erase;
        // Errors count in 1/16 of a bit.
        let added = |steps: u32| {
            let fail_bits = u64::from(e.gamma) + u64::from(e.delta) * u64::from(steps - 1);
            fail_bits * 16 * u64::from(e.residual_errors) / u64::from(e.delta)
        };
        let has = u64::from(self.chip.expected_errors(block.wear));
        let allowed = |&steps: &u32| has + added(steps) <= 16 * u64::from(aero.requirement);
        (1..=aero.left_at(level)).take_while(allowed).count() as u32
    }

    fn wear_after(
        &self,
        nature: &Nature,
        block: &Record,
        pulses: &[(u32, u32)],
        exact: u32,
        full_voltage: bool,
    ) -> u32 {
        let voltage = if full_voltage { 1.0 } else { self.voltage };
        let stress = self.stress(pulses, exact, voltage);
        // A cycle of wear is what the full pulses of a block of this wear cost.
        let row = block.wear / CYCLE;
        let of = |rows: &Requirement| rows.steps(nature.class, nature.turn, row);
        let count = of(&self.full).div_ceil(self.whole()).min(self.erase.levels);
        let full: Vec<(u32, u32)> = (1..=count).map(|level| (level, self.whole())).collect();
        let cycle = self.stress(&full, of(&self.exact), 1.0);
        let more = (u128::from(stress) * u128::from(CYCLE) / u128::from(cycle)).max(1);
        let more = more * u128::from(self.erase.cycles_per_erase);
        (u128::from(block.wear) + more).min(u128::from(MOST_WEAR)) as u32
    }
}

impl Planner {
    /// The stress of pulses of which the first `exact` steps are not too many.
    fn stress(&self, pulses: &[(u32, u32)], exact: u32, voltage: f64) -> u64 {
        let mut done = 0;
        let mut stress = 0;
        for &(level, steps) in pulses {
            let field = libm::pow(f64::from(level) * voltage, self.erase.stress_exponent);
            let weight = |of: f64| libm::round(4096.0 * of * field).max(1.0) as u64;
            let (each, over) = (weight(1.0), weight(self.erase.over_erase_stress));
            for step in done..done + steps {
                stress += if step < exact { each } else { over };
            }
            done += steps;
        }
        stress
    }
}

impl Aero {
    fn left_at(&self, level: u32) -> u32 {
        let at = (level as usize).min(self.left.len());
        at.checked_sub(1).map_or(0, |at| self.left[at])
    }
}
