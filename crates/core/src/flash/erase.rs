//! Erases whose pulses a scheme chooses: what each block of an erase gets, and what it is afterwards.
//!
//! The pulses of an erase are planned when it enters the array: everything that they depend on is known of
//! the block. When the erase ends, the same plan says what the block has become. In a multi-plane erase each
//! plane has its own plan, and the erase takes the loops of its slowest plane.

use super::join::joined;
use super::op::{FlashCommand, OpId};
use super::state::Flash;
use crate::address::BlockId;
use crate::nand::ErasePart;
use crate::nand::blocks::{Blocks, Worn};
use crate::nand::erase::chip::{CYCLE, Chip, Nature};
use crate::nand::erase::config::{EraseConfig, Reading};
use crate::nand::erase::requirement::{Allowed, CLASSES, Requirement};
use crate::nand::loops::{Loops, MOST_LOOPS};
use crate::policy::erase_scheme::{BlockView, EraseSchemePolicy, Pulse, VerifyView, WriteLoad};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The scheme whose pulses end when a block is erased: its rows are what blocks need.
const EXACT: &str = "aero-cons";
/// The most wear that a block can have.
pub const MOST_WEAR: u32 = u32::MAX / 2;
/// The wear of a block is tabled every so many cycles, up to `TABLED` times as many.
const EVERY: u32 = 250;
const TABLED: u32 = 64;

/// A scheme, and the array that it acts on.
#[derive(Clone, Debug)]
pub struct Eraser {
    chip: Chip,
    scheme: EraseSchemePolicy,
    /// What blocks need under the scheme, and under full pulses.
    need: Requirement,
    full: Requirement,
    /// The pulse time that erases blocks, if there are rows of a scheme whose pulses end then.
    exact: Option<Requirement>,
    /// The name of the scheme's rows.
    rows: String,
    reading: Reading,
    /// Cycles that an erase stands for.
    cycles_per_erase: u32,
    /// Whether the last loop of an erase waits until its extent is opened.
    defers_last_loop: bool,
    /// By how much a suspension of a block's erases raises its errors, of 2^32.
    growth: u64,
    /// By class, then by `EVERY` cycles: the wear of a block that the scheme has always erased.
    life: Vec<[u32; TABLED as usize + 1]>,
}

/// The stress of the plan for a typical block, by what it needs and the errors that are expected.
type StressOfPlans = BTreeMap<(Need, u32), u64>;

/// What a block needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    /// Steps, which may be whole pulses, until the verify of the scheme finds the block erased.
    steps: u32,
    /// Steps of which no one is too many.
    exact: u32,
}

/// What one suspension adds to errors, of 2^32, if 1,000 add this share.
pub fn by_suspension(growth: f64) -> u64 {
    libm::round(growth / 1000.0 * 4_294_967_296.0) as u64
}

/// By how much the suspensions of a block's erases have raised its errors, of 2^32: `each` by one.
#[inline]
pub(super) fn growth_of(blocks: &Blocks, block: BlockId, each: u64) -> u64 {
    // The look-up would miss the caches.
    if each == 0 { 0 } else { (u64::from(blocks.suspensions_of(block)) * each).min(1 << 38) }
}

/// Totals of the erases of blocks, whose pulses a scheme chose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseTotals {
    /// Erases of blocks.
    pub blocks: u64,
    /// Time of their pulses, ns.
    pub pulse_ns: u64,
    /// Erases by the number of their pulses.
    pub by_pulses: [u64; MOST_LOOPS + 1],
    /// Erases by the highest voltage level.
    pub by_level: [u64; MOST_LOOPS + 1],
    /// Pulses that the prediction had made too short.
    pub too_short: u64,
    /// Steps that the prediction had made too many.
    pub too_long: u64,
    /// Erases that left fail bits.
    pub incomplete: u64,
    /// Erases at the full voltage, of a scheme that has a lower one too.
    pub full_voltage: u64,
}

/// The pulses for one block, and what they leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pulses: [Pulse; MOST_LOOPS],
    count: usize,
    /// Steps that the block has needed of the pulses; the others were too many.
    pub needed: u32,
    /// Steps that are left, which the block still needs; 0 if it is erased.
    pub left: u32,
    /// Pulses after one that should have been the last.
    pub too_short: u32,
    /// Steps of predicted pulses that the block did not need.
    pub too_long: u32,
    /// Whether a short first pulse can help the next erase.
    pub shallow: bool,
    /// Whether the pulses are at the full voltage, of a scheme that has a lower one too.
    pub full_voltage: bool,
}

impl Plan {
    /// The pulses, in order.
    pub fn pulses(&self) -> &[Pulse] {
        &self.pulses[..self.count]
    }

    /// Their time, in steps.
    pub fn steps(&self) -> u32 {
        self.pulses().iter().map(|pulse| pulse.steps).sum()
    }
}

/// What is known of a block before its erase.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Program/erase cycles, with those of the past.
    pub cycles: u32,
    /// Its wear, in parts of a cycle of full pulses (`CYCLE`).
    pub wear: u32,
    /// Pulses of its last erase.
    pub pulses: u32,
    /// Whether a short first pulse can help.
    pub shallow: bool,
    /// Steps that its last erase has left.
    pub left: u32,
    /// Whether the erase is at the full voltage, of a scheme that has a lower one too.
    pub full_voltage: bool,
}

impl Eraser {
    /// A scheme on an array; `None` for a scheme that takes the configured loops. `growth`: the share by which
    /// 1,000 suspensions of a block's erases raise its errors.
    ///
    /// # Errors
    /// Says which rows are missing.
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

    /// The array.
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// The name of the rows of requirements that its blocks follow.
    pub fn rows(&self) -> &str {
        &self.rows
    }

    /// How much longer a program takes of a block that was erased at the scheme's voltage: a factor.
    pub fn program_time(&self) -> f64 {
        self.scheme.program_time()
    }

    /// Whether some erases are at the voltage of full pulses, and others at a lower one.
    pub fn chooses_voltage(&self) -> bool {
        self.scheme.chooses_voltage()
    }

    /// Whether an erase that is ordered under this load is at the voltage of full pulses.
    pub fn at_full_voltage(&self, load: &WriteLoad) -> bool {
        self.scheme.at_full_voltage(load)
    }

    /// The wear of a block of a class by its cycles, in steps of `EVERY`.
    fn life_of(&self, class: u32, known: &mut StressOfPlans) -> [u32; TABLED as usize + 1] {
        let mut wear = 0.0;
        let mut life = [0; TABLED as usize + 1];
        for (cycles, at) in (0..).step_by(EVERY as usize).zip(&mut life) {
            *at = libm::round(wear) as u32;
            // By the wear of an erase in the middle.
            let half = EVERY / 2;
            let middle = wear + f64::from(half) * self.mean_wear(class, cycles, *at, known);
            let middle = libm::round(middle) as u32;
            wear += f64::from(EVERY) * self.mean_wear(class, cycles + half, middle, known);
        }
        life
    }

    /// The mean wear of one erase of the blocks of a class.
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

    /// The mean over the blocks of a class, which need as their turn says after so many cycles.
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

    /// The stress of the full pulses of a block of this turn that is worn like so many cycles of them.
    fn full_stress(&self, class: u32, turn: u32, row: u32) -> u64 {
        let steps = self.full.steps(class, turn, row);
        let exact = self.exact.as_ref().map_or(steps, |rows| rows.steps(class, turn, row));
        self.chip.full_stress(steps, exact)
    }

    /// By what the rows are read.
    fn row(&self, cycles: u32, wear: u32) -> u32 {
        match self.reading {
            Reading::Cycles => cycles,
            Reading::Stress => wear / CYCLE,
        }
    }

    /// What erases a block of this nature.
    fn needed(&self, nature: &Nature, known: &Known) -> Need {
        let row = self.row(known.cycles, known.wear);
        if known.full_voltage {
            let steps = self.full.steps(nature.class, nature.turn, row);
            return self.with_exact(steps, nature.class, nature.turn, row);
        }
        self.need_of(nature.class, nature.turn, row, self.chip.expected_errors(known.wear))
    }

    /// What erases the blocks of a class and a turn with these errors, in 1/16, by their rows. No scheme needs more
    /// than full pulses, unless its own row says so: between rows of different cycles, and beyond the last, a
    /// block might. The rows of a scheme that predicts lack what its erases may leave. Where a block may leave
    /// nothing, it needs what it needs under a scheme that leaves nothing; otherwise it needs no more than there.
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

    /// What a block needs that takes so many steps of full pulses.
    fn with_exact(&self, steps: u32, class: u32, turn: u32, row: u32) -> Need {
        let exact = self.exact.as_ref().map_or(steps, |rows| rows.steps(class, turn, row).min(steps));
        Need { steps, exact }
    }

    /// The plan for a typical block that has needed so many steps in its last erases too, without noise. Its
    /// wear matters by the errors that are expected.
    fn steady_plan(&self, needed: Need, wear: u32) -> Plan {
        let nature = self.chip.typical(0);
        let new = Known { cycles: 0, wear, pulses: 0, shallow: true, left: 0, full_voltage: false };
        let first = self.run(&nature, &new, needed, 0, false);
        let then = Known { pulses: first.count as u32, shallow: first.shallow, ..new };
        self.run(&nature, &then, needed, 0, false)
    }

    /// The stress of a plan.
    pub fn stress(&self, plan: &Plan) -> u64 {
        let mut left = plan.needed;
        let of = |pulse: &Pulse| {
            let needed = left.min(pulse.steps);
            left -= needed;
            self.chip.stress(plan.full_voltage, pulse.level, needed, pulse.steps - needed)
        };
        plan.pulses().iter().map(of).sum()
    }

    /// The wear of a block of this nature that the scheme has always erased.
    pub fn wear_after(&self, nature: &Nature, cycles: u32) -> u32 {
        let life = &self.life[nature.class as usize];
        let at = (cycles / EVERY).min(TABLED - 1) as usize;
        let each = u64::from(life[at + 1] - life[at]);
        let more = u64::from(cycles - at as u32 * EVERY);
        (u64::from(life[at]) + each * more / u64::from(EVERY)).min(u64::from(MOST_WEAR)) as u32
    }

    /// What is known of a block that the scheme has always erased, without noise.
    pub fn lived(&self, nature: &Nature, cycles: u32) -> Known {
        let wear = self.wear_after(nature, cycles);
        let new = Known { cycles, wear, pulses: 0, shallow: true, left: 0, full_voltage: false };
        if cycles == 0 {
            return new;
        }
        let plan = self.steady_plan(self.needed(nature, &new), wear);
        Known { pulses: plan.count as u32, shallow: plan.shallow, left: plan.left, ..new }
    }

    /// The pulses for a block.
    pub fn plan(&self, nature: &Nature, known: &Known) -> Plan {
        let needed = self.needed(nature, known);
        let more = self.scheme.predicts() && self.chip.is_mispredicted(nature, known.cycles);
        self.run(nature, known, needed, u32::from(more), true)
    }

    /// Apply pulses to a block that needs so many steps, and `hidden` more, until it is erased or the scheme
    /// leaves it. The fail bits do not tell of hidden steps before a pulse that should be the last.
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
        // Whether the pulse should be the last.
        let mut last = false;
        loop {
            plan.pulses[plan.count] = pulse;
            plan.count += 1;
            let goes_on = pulse.level == level && used < chip.steps_per_level;
            used = if goes_on { used + pulse.steps } else { pulse.steps };
            level = pulse.level;
            plan.shallow &= level > 1 || used < chip.steps_per_level;
            // The first pulse is not predicted.
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
            // A pulse that takes all of its level may be cut off by it.
            let room = if verify.left == 0 { chip.steps_per_level } else { verify.left };
            last = scheme.predicts() && next.steps < room;
            pulse = next;
        }
    }

    /// What a block is after an erase by this plan.
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

    /// Note what an erase makes of the block at an index of a plane, and return its pulses.
    fn erase(&self, blocks: &mut Blocks, plane: u32, index: u32) -> Plan {
        let (block, nature, known) = self.known(blocks, plane, index);
        let plan = self.plan(&nature, &known);
        blocks.wears(block, self.after(&nature, &known, &plan));
        plan
    }

    /// What is known of the block at an index of a plane.
    fn known(&self, blocks: &Blocks, plane: u32, index: u32) -> (BlockId, Nature, Known) {
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

    /// Program/erase cycles of the block at an index of a plane: those of its past, and what its erases since
    /// stand for.
    pub fn cycles(&self, blocks: &Blocks, plane: u32, index: u32) -> u32 {
        let past = blocks.past().cycles;
        let erases = blocks.cycles_at(blocks.place(plane, index)) - past;
        past.saturating_add(erases.saturating_mul(self.cycles_per_erase))
    }

    /// Cycles that an erase stands for.
    pub fn cycles_per_erase(&self) -> u32 {
        self.cycles_per_erase
    }

    /// Whether the last loop of an erase waits until its extent is opened.
    pub fn defers_last_loop(&self) -> bool {
        self.defers_last_loop
    }

    /// Raw bit errors of a KiB, in 1/16, that the block at an index of a plane is expected to have at the
    /// stated retention.
    pub(super) fn errors(&self, blocks: &Blocks, plane: u32, index: u32) -> u32 {
        let (block, nature, known) = self.known(blocks, plane, index);
        let errors = u64::from(self.chip.errors(&nature, known.wear, known.left));
        let more = (errors * growth_of(blocks, block, self.growth)) >> 32;
        u32::try_from(errors + more).unwrap_or(u32::MAX)
    }

    /// The errors of a KiB, in 1/16, that the last erase of the block at an index of a plane has left.
    pub(super) fn left_errors(&self, blocks: &Blocks, plane: u32, index: u32) -> u32 {
        let (_, nature, known) = self.known(blocks, plane, index);
        if known.left == 0 {
            return 0;
        }
        self.chip.residual_errors(self.chip.fail_bits(&nature, known.left, None))
    }

    /// Mean time of the erase of a block after so many cycles, ns, without a last loop that is deferred.
    /// `others`: the time beside each pulse.
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

impl<O> Flash<O> {
    /// The scheme that chooses pulses, if one does.
    pub fn eraser(&self) -> Option<&Eraser> {
        self.fixed.eraser.as_ref()
    }

    /// The wear of the block at an index of a plane, in parts of a cycle of full pulses (`CYCLE`). 0 if erases
    /// take the configured loops.
    pub fn wear_of(&self, plane: u32, index: u32) -> u32 {
        self.fixed.eraser.as_ref().map_or(0, |eraser| eraser.known(&self.state.blocks, plane, index).2.wear)
    }

    /// The loops of an erase that is about to enter the array, with those that joined it.
    #[cold]
    pub(super) fn loops_of(&self, head: u32) -> Loops {
        let page = self.state.ops[head].cmd.page;
        let eraser = match &self.fixed.eraser {
            Some(eraser) if !self.fixed.timing.is_slc(page) => eraser,
            _ => return *self.fixed.timing.loops_of(page),
        };
        let mut slowest = Loops::NONE;
        for id in joined(&self.state.ops, head) {
            let cmd = &self.state.ops[id].cmd;
            let plan = self.slowest_plan(eraser, cmd);
            let (last, others) = plan.pulses().split_last().expect("an erase has a pulse");
            let part = match cmd.part {
                ErasePart::Whole => plan.pulses(),
                ErasePart::AllButLast => others,
                ErasePart::Last => std::slice::from_ref(last),
            };
            let loops = self.loops_with(eraser, part);
            if loops.total() > slowest.total() {
                slowest = loops;
            }
        }
        slowest
    }

    /// The loops of these pulses.
    fn loops_with(&self, eraser: &Eraser, pulses: &[Pulse]) -> Loops {
        let ns = |pulse: &Pulse| (u64::from(pulse.steps) * eraser.chip.step_ns) as u32;
        self.fixed.timing.loops.with_pulses(pulses.iter().map(ns))
    }

    /// The plan of the plane that takes longest, of those of the erase that a command belongs to.
    fn slowest_plan(&self, eraser: &Eraser, cmd: &FlashCommand) -> Plan {
        let plans = self.fixed.planes_of(cmd).map(|plane| {
            let (_, nature, known) = eraser.known(&self.state.blocks, plane, cmd.block);
            eraser.plan(&nature, &known)
        });
        plans.max_by_key(|plan| self.loops_with(eraser, plan.pulses()).total()).expect("an erase has a plane")
    }

    /// Whether the erase that a command belongs to has loops before its last.
    #[cold]
    pub fn has_earlier_loops(&self, cmd: &FlashCommand) -> bool {
        self.fixed.eraser.as_ref().is_some_and(|eraser| self.slowest_plan(eraser, cmd).count > 1)
    }

    /// How long an erase is in the array if nothing interrupts it, with those that joined it, ns.
    #[cold]
    pub(super) fn erase_ns(&self, head: u32) -> u64 {
        let page = self.state.ops[head].cmd.page;
        match &self.fixed.eraser {
            Some(_) if !self.fixed.timing.is_slc(page) => self.loops_of(head).total(),
            _ => self.fixed.timing.erase_ns_of(page),
        }
    }

    /// Note that an erase has ended, with those that joined it. Operations of the same part join.
    #[cold]
    pub(super) fn erase_ended(&mut self, head: u32) {
        if self.state.ops[head].cmd.part == ErasePart::AllButLast {
            return;
        }
        let mut at = Some(head);
        while let Some(id) = at {
            let op = &self.state.ops[id];
            at = OpId::of_link(op.joined).map(OpId::number);
            let (index, slc) = (op.cmd.block, self.fixed.timing.is_slc(op.cmd.page));
            self.fixed.planes_of(&op.cmd).for_each(|plane| self.block_erased(plane, index, slc));
        }
    }

    /// Note that the erase of a block has ended, at an index of a plane. No scheme chooses the pulses of a block in SLC
    /// mode.
    fn block_erased(&mut self, plane: u32, index: u32, slc: bool) {
        let s = &mut self.state;
        if let Some(eraser) = self.fixed.eraser.as_ref().filter(|_| !slc) {
            let plan = eraser.erase(&mut s.blocks, plane, index);
            s.counters.erases.count(&plan, eraser.chip.step_ns);
        }
        s.blocks.erased(s.blocks.place(plane, index));
    }

    /// Note an erase without duration of the block at an index of a plane. The totals do not contain it.
    pub fn erase_at_once(&mut self, plane: u32, index: u32) {
        let s = &mut self.state;
        // A block that no erase of a duration has touched, nor one at another voltage, is as its cycles say.
        let block = s.blocks.id(plane, index);
        let touched = s.blocks.worn(block).is_some() || s.blocks.is_at_full_voltage(block);
        if let Some(eraser) = self.fixed.eraser.as_ref().filter(|_| touched) {
            eraser.erase(&mut s.blocks, plane, index);
        }
        s.blocks.erased(s.blocks.place(plane, index));
    }
}

impl EraseTotals {
    fn count(&mut self, plan: &Plan, step_ns: u64) {
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
