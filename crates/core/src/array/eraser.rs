//! The erase of a block by the pulses that an erase scheme chooses: the pulses that the block gets, and its state
//! afterwards. No time passes here; `flash::erase` is the erase in time.
//!
//! The pulses depend only on the state of the block before its erase. The same plan is computed when the erase begins
//! and when it ends, and then gives the new state of the block.

use crate::address::BlockId;
use crate::nand::blocks::{Blocks, Worn};
use crate::nand::erase::chip::{CYCLE, Chip, Nature};
use crate::nand::erase::config::{EraseConfig, Reading};
use crate::nand::erase::requirement::{Allowed, CLASSES, Requirement};
use crate::nand::loops::MOST_LOOPS;
use crate::policy::erase_scheme::{BlockView, EraseSchemePolicy, Pulse, VerifyView, WriteLoad};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The scheme whose pulses end exactly when the block is erased. Its rows (`erase.rows`) give the pulse time that
/// blocks need.
const EXACT: &str = "aero-cons";
/// The upper limit of a block's wear.
pub const MOST_WEAR: u32 = u32::MAX / 2;
/// Distance between two entries of the table of wear, in program/erase cycles.
const EVERY: u32 = 250;
const TABLED: u32 = 64;

/// An erase scheme, and the model of the array to which it applies pulses.
#[derive(Clone, Debug)]
pub struct Eraser {
    chip: Chip,
    scheme: EraseSchemePolicy,
    /// Pulse time until the scheme's verify passes: with the scheme's pulses, and with full pulses.
    need: Requirement,
    full: Requirement,
    /// Pulse time at which blocks are erased, if the configuration has rows of the scheme [`EXACT`].
    exact: Option<Requirement>,
    /// The name of the rows of `erase.rows` that the scheme uses.
    rows: String,
    reading: Reading,
    /// Program/erase cycles that one simulated erase stands for.
    cycles_per_erase: u32,
    /// Whether the last loop of an erase is deferred until the extent is opened.
    defers_last_loop: bool,
    /// Relative increase of a block's errors for each suspension of its erases, in units of 2^-32.
    growth: u64,
    /// The wear of a block that only this scheme has erased: by class, then for every `EVERY` cycles.
    life: Vec<[u32; TABLED as usize + 1]>,
}

/// The stress of the plan for a typical block, by required pulse time and expected errors.
type StressOfPlans = BTreeMap<(Need, u32), u64>;

/// The pulse time that a block needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    /// Steps until the verify of the scheme passes. (A scheme without prediction applies whole pulses.)
    steps: u32,
    /// Steps until the block is erased; all further steps are over-erase.
    exact: u32,
}

/// Relative increase of errors for one suspension, in units of 2^-32. `growth` is the share that 1,000 suspensions add.
pub fn by_suspension(growth: f64) -> u64 {
    libm::round(growth / 1000.0 * 4_294_967_296.0) as u64
}

/// Relative increase of a block's errors by all suspensions of its erases, in units of 2^-32. One suspension adds
/// `each`.
#[inline]
pub(crate) fn growth_of(blocks: &Blocks, block: BlockId, each: u64) -> u64 {
    // Skip the look-up, which would miss the processor's caches.
    if each == 0 { 0 } else { (u64::from(blocks.suspensions_of(block)) * each).min(1 << 38) }
}

/// Totals over all erases of blocks whose pulses a scheme has chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseTotals {
    /// Erases of blocks.
    pub blocks: u64,
    /// Total pulse time, ns.
    pub pulse_ns: u64,
    /// Number of erases by number of pulses.
    pub by_pulses: [u64; MOST_LOOPS + 1],
    /// Number of erases by highest voltage level.
    pub by_level: [u64; MOST_LOOPS + 1],
    /// Predicted last pulses that were too short, so that another pulse followed.
    pub too_short: u64,
    /// Steps of predicted pulses that the block did not need.
    pub too_long: u64,
    /// Erases that left the block incompletely erased.
    pub incomplete: u64,
    /// Erases at the full voltage, under a scheme that chooses between two voltages.
    pub full_voltage: u64,
}

/// The pulses of one erase of a block, and their result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pulses: [Pulse; MOST_LOOPS],
    count: usize,
    /// Steps that the block needed to be erased; all further steps are over-erase.
    pub needed: u32,
    /// Steps that the block still needs after the last pulse; 0 if it is erased.
    pub left: u32,
    /// Pulses that followed a pulse predicted to be the last.
    pub too_short: u32,
    /// Steps of predicted pulses that the block did not need.
    pub too_long: u32,
    /// Whether a short first pulse (shallow erasure) is useful for the next erase.
    pub shallow: bool,
    /// Whether the pulses are at the full voltage, under a scheme that chooses between two voltages.
    pub full_voltage: bool,
}

impl Plan {
    /// The pulses in order of time.
    pub fn pulses(&self) -> &[Pulse] {
        &self.pulses[..self.count]
    }

    /// The total pulse time, in steps.
    pub fn steps(&self) -> u32 {
        self.pulses().iter().map(|pulse| pulse.steps).sum()
    }
}

/// The state of a block before its erase.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Program/erase cycles, including those before the run (`age.pe_cycles`).
    pub cycles: u32,
    /// Wear, in units of 1/`CYCLE` of a program/erase cycle with full pulses.
    pub wear: u32,
    /// Number of pulses of the last erase.
    pub pulses: u32,
    /// Whether a short first pulse (shallow erasure) is useful.
    pub shallow: bool,
    /// Steps by which the last erase was incomplete.
    pub left: u32,
    /// Whether the erase is at the full voltage, under a scheme that chooses between two voltages.
    pub full_voltage: bool,
}

impl Eraser {
    /// Create the model for a scheme; `None` for a scheme that uses the configured loops. `growth` is the share by
    /// which 1,000 suspensions of a block's erases raise its errors.
    ///
    /// # Errors
    /// If the configuration has no rows for the scheme; the message names them.
    pub fn new(
        c: &EraseConfig,
        scheme: EraseSchemePolicy,
        growth: f64,
        seed: u64,
    ) -> Result<Option<Eraser>, String> {
        let Some(rows) = scheme.rows() else { return Ok(None) };
        let most = c.steps_per_level() * c.levels;
        let of = |rows: &str| {
            Requirement::new(&c.rows, rows, c.step.0, most)
                .ok_or_else(|| format!("erase.rows has no row of `{rows}`"))
        };
        let (mut need, full, exact) = (of(rows)?, of("ispe")?, of(EXACT));
        let mut name = rows.to_string();
        if let Some(errors) = scheme.requirement() {
            let exact = exact.as_ref().map_err(String::clone)?;
            let allowed = Allowed { errors, none: c.fresh_errors, all: c.worn_errors };
            need = need.allowing(exact, allowed, &c.rows, rows, c.step.0);
            if errors < c.worn_errors {
                name = format!("{rows}-{errors}");
            }
        }
        let exact = exact.ok();
        let chip = Chip::new(c, scheme.voltage(), seed);
        let (reading, cycles_per_erase) = (c.reading, c.cycles_per_erase);
        let defers_last_loop = c.defer_last_loop;
        let mut eraser = Eraser {
            chip,
            scheme,
            need,
            full,
            exact,
            rows: name,
            reading,
            cycles_per_erase,
            defers_last_loop,
            growth: by_suspension(growth),
            life: Vec::new(),
        };
        let mut known = BTreeMap::new();
        eraser.life = (0..CLASSES).map(|class| eraser.life_of(class, &mut known)).collect();
        Ok(Some(eraser))
    }

    /// The model of the array.
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// The name of the rows of `erase.rows` that the scheme uses.
    pub fn rows(&self) -> &str {
        &self.rows
    }

    /// Factor by which the programs of a block take longer if it was erased at the scheme's lower voltage.
    pub fn program_time(&self) -> f64 {
        self.scheme.program_time()
    }

    /// Whether the scheme chooses for each erase between the full voltage and a lower one.
    pub fn chooses_voltage(&self) -> bool {
        self.scheme.chooses_voltage()
    }

    /// Whether an erase that is issued under this write load uses the full voltage.
    pub fn at_full_voltage(&self, load: &WriteLoad) -> bool {
        self.scheme.at_full_voltage(load)
    }

    /// The wear of a block of this class after every `EVERY` cycles.
    fn life_of(&self, class: u32, known: &mut StressOfPlans) -> [u32; TABLED as usize + 1] {
        let mut wear = 0.0;
        let mut life = [0; TABLED as usize + 1];
        for (cycles, at) in (0..).step_by(EVERY as usize).zip(&mut life) {
            *at = libm::round(wear) as u32;
            // The midpoint method: use the wear per erase in the middle of the interval.
            let half = EVERY / 2;
            let middle = wear + f64::from(half) * self.mean_wear(class, cycles, *at, known);
            let middle = libm::round(middle) as u32;
            wear += f64::from(EVERY) * self.mean_wear(class, cycles + half, middle, known);
        }
        life
    }

    /// Mean wear that one erase adds, over the blocks of a class.
    fn mean_wear(&self, class: u32, cycles: u32, wear: u32, known: &mut StressOfPlans) -> f64 {
        let errors = self.chip.expected_errors(wear);
        let under = self.mean_of_turns(class, self.row(cycles, wear), |turn| {
            let need = self.need_of(class, turn, self.row(cycles, wear), errors);
            let stress = || self.stress(&self.steady_plan(need, wear));
            *known.entry((need, errors)).or_insert_with(stress) as f64
        });
        let row = wear / CYCLE;
        let full = self.mean_of_turns(class, row, |turn| self.full_stress(class, turn, row) as f64);
        f64::from(CYCLE) * under / full
    }

    /// The mean of `of` over the blocks of a class. The blocks of a class differ in `turn`: the point between two rows
    /// of requirements at which a block changes from one row's pulse time to the other's ([`Requirement::steps`]).
    fn mean_of_turns(&self, class: u32, row: u32, mut of: impl FnMut(u32) -> f64) -> f64 {
        let rows = [Some(&self.need), Some(&self.full), self.exact.as_ref()];
        let mut ends = rows.map(|rows| rows.map_or(0, |rows| rows.turn_at(class, row)));
        ends.sort_unstable();
        let (mut from, mut sum) = (0, 0.0);
        for end in ends.into_iter().chain([0x1_0000]) {
            if end > from {
                sum += f64::from(end - from) * of(from);
                from = end;
            }
        }
        sum / 65_536.0
    }

    /// The stress of an erase with full pulses, of a block whose wear is that of `row` cycles with full pulses.
    fn full_stress(&self, class: u32, turn: u32, row: u32) -> u64 {
        let steps = self.full.steps(class, turn, row);
        let exact = self.exact.as_ref().map_or(steps, |rows| rows.steps(class, turn, row));
        self.chip.full_stress(steps, exact)
    }

    /// The number of cycles at which the rows of requirements are looked up.
    fn row(&self, cycles: u32, wear: u32) -> u32 {
        match self.reading {
            Reading::Cycles => cycles,
            Reading::Stress => wear / CYCLE,
        }
    }

    /// The pulse time that a block with these properties needs.
    fn needed(&self, nature: &Nature, known: &Known) -> Need {
        let row = self.row(known.cycles, known.wear);
        if known.full_voltage {
            let steps = self.full.steps(nature.class, nature.turn, row);
            return self.with_exact(steps, nature.class, nature.turn, row);
        }
        self.need_of(nature.class, nature.turn, row, self.chip.expected_errors(known.wear))
    }

    /// The pulse time that blocks of this class and `turn` need, when `errors` (in 1/16) are expected. It is limited to
    /// the time of full pulses, unless a row of the scheme itself has more: interpolation between rows, or beyond the
    /// last row, might otherwise exceed it. The rows of a scheme that predicts do not contain the steps that its erases
    /// may leave out. A block that may leave none out needs as many steps as under the scheme [`EXACT`]; other blocks
    /// need at most as many.
    fn need_of(&self, class: u32, turn: u32, row: u32, errors: u32) -> Need {
        let of = |rows: &Requirement| rows.steps(class, turn, row);
        let (steps, by_row, full) = (of(&self.need), self.need.by_row(class, row), of(&self.full));
        if !self.scheme.predicts() {
            return self.with_exact(steps.min(full.max(by_row)), class, turn, row);
        }
        let chip = &self.chip;
        let exact = self.exact.as_ref().map_or(full, of);
        let level = steps.div_ceil(chip.steps_per_level).clamp(1, chip.levels);
        let needed = match self.scheme.may_leave(level, errors) {
            0 => exact,
            left => steps.min(exact.max(by_row)) + left,
        };
        let steps = needed.min(full.next_multiple_of(chip.steps_per_level));
        Need { steps, exact: steps }
    }

    /// The pulse time of a block whose verify passes after `steps` steps.
    fn with_exact(&self, steps: u32, class: u32, turn: u32, row: u32) -> Need {
        let exact = self.exact.as_ref().map_or(steps, |rows| rows.steps(class, turn, row).min(steps));
        Need { steps, exact }
    }

    /// The plan for a typical block, without noise, whose earlier erases needed as many steps. The wear determines the
    /// expected errors.
    fn steady_plan(&self, needed: Need, wear: u32) -> Plan {
        let nature = self.chip.typical(0);
        let new = Known { cycles: 0, wear, pulses: 0, shallow: true, left: 0, full_voltage: false };
        let first = self.run(&nature, &new, needed, 0, false);
        let then = Known { pulses: first.count as u32, shallow: first.shallow, ..new };
        self.run(&nature, &then, needed, 0, false)
    }

    /// The stress that the pulses of a plan put on the block.
    pub fn stress(&self, plan: &Plan) -> u64 {
        let mut left = plan.needed;
        let of = |pulse: &Pulse| {
            let needed = left.min(pulse.steps);
            left -= needed;
            self.chip.stress(plan.full_voltage, pulse.level, needed, pulse.steps - needed)
        };
        plan.pulses().iter().map(of).sum()
    }

    /// The wear, after `cycles` cycles, of a block that only this scheme has erased.
    pub fn wear_after(&self, nature: &Nature, cycles: u32) -> u32 {
        let life = &self.life[nature.class as usize];
        let at = (cycles / EVERY).min(TABLED - 1) as usize;
        let each = u64::from(life[at + 1] - life[at]);
        let more = u64::from(cycles - at as u32 * EVERY);
        (u64::from(life[at]) + each * more / u64::from(EVERY)).min(u64::from(MOST_WEAR)) as u32
    }

    /// The state, after `cycles` cycles and without noise, of a block that only this scheme has erased.
    pub fn lived(&self, nature: &Nature, cycles: u32) -> Known {
        let wear = self.wear_after(nature, cycles);
        let new = Known { cycles, wear, pulses: 0, shallow: true, left: 0, full_voltage: false };
        if cycles == 0 {
            return new;
        }
        let plan = self.steady_plan(self.needed(nature, &new), wear);
        Known { pulses: plan.count as u32, shallow: plan.shallow, left: plan.left, ..new }
    }

    /// Plan the pulses of the next erase of a block.
    pub fn plan(&self, nature: &Nature, known: &Known) -> Plan {
        let needed = self.needed(nature, known);
        let more = self.scheme.predicts() && self.chip.is_mispredicted(nature, known.cycles);
        self.run(nature, known, needed, u32::from(more), true)
    }

    /// Apply pulses until the block is erased or the scheme stops. The block needs the steps of `needed` and `hidden`
    /// further ones (a misprediction). The fail bits do not show the hidden steps until a pulse that was predicted to
    /// be the last has been applied.
    fn run(&self, nature: &Nature, known: &Known, needed: Need, hidden: u32, noisy: bool) -> Plan {
        let (chip, scheme) = (&self.chip, &self.scheme);
        let block = BlockView {
            pulses: known.pulses,
            shallow: known.shallow,
            errors: chip.expected_errors(known.wear),
        };
        let none = Pulse { level: 1, steps: 0 };
        let mut plan = Plan {
            pulses: [none; MOST_LOOPS],
            count: 0,
            needed: needed.exact + hidden,
            left: 0,
            too_short: 0,
            too_long: 0,
            shallow: known.shallow,
            full_voltage: known.full_voltage,
        };
        let (mut left, mut level, mut used) = (needed.steps + hidden, 0, 0);
        let mut hidden = hidden;
        let mut pulse = scheme.first(&block);
        // Whether the present pulse is predicted to be the last.
        let mut last = false;
        loop {
            plan.pulses[plan.count] = pulse;
            plan.count += 1;
            let goes_on = pulse.level == level && used < chip.steps_per_level;
            used = if goes_on { used + pulse.steps } else { pulse.steps };
            level = pulse.level;
            plan.shallow &= level > 1 || used < chip.steps_per_level;
            // No verify precedes the first pulse, so that it is not predicted.
            if scheme.predicts() && plan.count > 1 {
                plan.too_long += pulse.steps.saturating_sub(left);
            }
            left = left.saturating_sub(pulse.steps);
            let number = plan.count as u32 - 1;
            hidden = if last { 0 } else { hidden };
            let shown = if left > 0 { left.saturating_sub(hidden).max(1) } else { 0 };
            let fail_bits = chip.fail_bits(nature, shown, noisy.then_some((known.cycles, number)));
            if chip.passes(fail_bits) {
                return plan;
            }
            let verify = VerifyView { level, left: chip.steps_per_level.saturating_sub(used), fail_bits };
            let next = scheme.next(&block, &verify).filter(|_| plan.count < MOST_LOOPS);
            let Some(next) = next else {
                plan.left = left;
                return plan;
            };
            plan.too_short += u32::from(last);
            // A pulse that fills the rest of its level may have been shortened to fit, so it is not taken as the last.
            let room = if verify.left == 0 { chip.steps_per_level } else { verify.left };
            last = scheme.predicts() && next.steps < room;
            pulse = next;
        }
    }

    /// The state of a block after an erase by this plan.
    pub fn after(&self, nature: &Nature, known: &Known, plan: &Plan) -> Worn {
        let full = self.full_stress(nature.class, nature.turn, known.wear / CYCLE);
        let stress = u128::from(self.stress(plan)) * u128::from(CYCLE) / u128::from(full);
        let wear = u128::from(known.wear) + stress.max(1) * u128::from(self.cycles_per_erase);
        Worn {
            wear: wear.min(u128::from(MOST_WEAR)) as u32,
            left: plan.left.min(255) as u8,
            pulses: plan.count as u8,
            shallow: plan.shallow,
            full_voltage: plan.full_voltage,
        }
    }

    /// Erase the block at an index of a plane: update its state, and return its pulses.
    pub(crate) fn erase(&self, blocks: &mut Blocks, plane: u32, index: u32) -> Plan {
        let (block, nature, known) = self.known(blocks, plane, index);
        let plan = self.plan(&nature, &known);
        blocks.wears(block, self.after(&nature, &known, &plan));
        plan
    }

    /// The block at an index of a plane, with its properties and its state.
    pub(crate) fn known(&self, blocks: &Blocks, plane: u32, index: u32) -> (BlockId, Nature, Known) {
        let block = blocks.id(plane, index);
        let nature = self.chip.nature(block);
        let cycles = self.cycles(blocks, plane, index);
        let known = match blocks.worn(block) {
            Some(Worn { wear, pulses, shallow, left, full_voltage }) => {
                let (pulses, left) = (u32::from(pulses), u32::from(left));
                Known { cycles, wear, pulses, shallow, left, full_voltage }
            }
            None => {
                let full_voltage = blocks.is_at_full_voltage(block);
                Known { full_voltage, ..self.lived(&nature, cycles) }
            }
        };
        (block, nature, known)
    }

    /// Program/erase cycles of the block at an index of a plane: those before the run, and for each erase since then as
    /// many as it stands for.
    pub fn cycles(&self, blocks: &Blocks, plane: u32, index: u32) -> u32 {
        let past = blocks.past().cycles;
        let erases = blocks.cycles_at(blocks.place(plane, index)) - past;
        past.saturating_add(erases.saturating_mul(self.cycles_per_erase))
    }

    /// Program/erase cycles that one simulated erase stands for.
    pub fn cycles_per_erase(&self) -> u32 {
        self.cycles_per_erase
    }

    /// Whether the last loop of an erase is deferred until the extent is opened.
    pub fn defers_last_loop(&self) -> bool {
        self.defers_last_loop
    }

    /// Expected raw bit errors per KiB, in 1/16, at the stated retention, of the block at an index of a plane.
    pub(crate) fn errors(&self, blocks: &Blocks, plane: u32, index: u32) -> u32 {
        let (block, nature, known) = self.known(blocks, plane, index);
        let errors = u64::from(self.chip.errors(&nature, known.wear, known.left));
        let more = (errors * growth_of(blocks, block, self.growth)) >> 32;
        u32::try_from(errors + more).unwrap_or(u32::MAX)
    }

    /// Raw bit errors per KiB, in 1/16, that come from the incomplete last erase of the block at an index of a plane.
    pub(crate) fn left_errors(&self, blocks: &Blocks, plane: u32, index: u32) -> u32 {
        let (_, nature, known) = self.known(blocks, plane, index);
        if known.left == 0 {
            return 0;
        }
        self.chip.residual_errors(self.chip.fail_bits(&nature, known.left, None))
    }

    /// Mean erase time of a block after `cycles` cycles, ns. A deferred last loop is not included. `others` is the time
    /// that each loop takes in addition to its pulse.
    pub fn mean_ns(&self, cycles: u32, others: u64) -> u64 {
        let (mut steps, mut pulses) = (0, 0);
        for class in 0..CLASSES {
            let nature = self.chip.typical(class);
            let known = self.lived(&nature, cycles);
            let plan = self.steady_plan(self.needed(&nature, &known), known.wear);
            let pulses_made = &plan.pulses()[..plan.count - usize::from(self.defers_last_loop)];
            steps += pulses_made.iter().map(|pulse| u64::from(pulse.steps)).sum::<u64>();
            pulses += pulses_made.len() as u64;
        }
        (steps * self.chip.step_ns + pulses * others) / u64::from(CLASSES)
    }
}

impl EraseTotals {
    pub(crate) fn count(&mut self, plan: &Plan, step_ns: u64) {
        let level = plan.pulses().iter().map(|pulse| pulse.level).max().unwrap_or(0);
        self.blocks += 1;
        self.pulse_ns += u64::from(plan.steps()) * step_ns;
        self.by_pulses[plan.count] += 1;
        self.by_level[level as usize] += 1;
        self.too_short += u64::from(plan.too_short);
        self.too_long += u64::from(plan.too_long);
        self.incomplete += u64::from(plan.left > 0);
        self.full_voltage += u64::from(plan.full_voltage);
    }
}
