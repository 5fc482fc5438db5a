//! Erases whose pulses a scheme chooses: several planes, and suspension.

use crate::driver::Stage;
use crate::parts::*;
use tailcut_core::address::BlockId;
use tailcut_core::array::eraser::{Eraser, Plan};
use tailcut_core::flash::FlashCommand;
use tailcut_core::nand::OpKind;
use tailcut_core::nand::erase::config::{EraseConfig, Reading};
use tailcut_core::nand::erase::requirement::Row;
use tailcut_core::policy::PolicyContext;
use tailcut_core::policy::erase_scheme::{
    EraseContext, EraseSchemeConfig, EraseSchemePolicy, aero, aero_cons, dpes,
};
use tailcut_core::policy::suspend_erase::SuspendEraseConfig;
use tailcut_units::{Cause, Occupant, Span, Stream};

/// Ramp-up, recovery and verify of a loop of `parts`.
const OTHERS: u64 = RAMP + (RECOVERY - EXECUTION) + (LOOP - RECOVERY);
const STEP_NS: u64 = 10_000;

/// An array with steps of this length, whose blocks need three to twenty in pulses of at most seven.
pub fn eraser(scheme: &str, step_ns: u64) -> Eraser {
    let row = |scheme: &str, totals: &[(u64, u32)]| Row {
        scheme: scheme.to_string(),
        pe_cycles: 0,
        totals: totals.iter().map(|&(steps, percent)| (Span(steps * step_ns), 100 * percent)).collect(),
    };
    let rows = vec![
        row("ispe", &[(7, 30), (14, 40), (21, 30)]),
        row("i-ispe", &[(7, 50), (14, 50)]),
        row("dpes", &[(7, 30), (14, 50), (21, 20)]),
        row("aero-cons", &[(3, 20), (6, 10), (9, 40), (20, 30)]),
        row("aero", &[(3, 40), (6, 20), (12, 40)]),
    ];
    let table = EraseConfig {
        step: Span(step_ns),
        pulse: Span(7 * step_ns),
        levels: 5,
        gamma: 500,
        delta: 5000,
        high: 30_500,
        pass: 100,
        noise: 1000,
        misprediction: 0.2,
        reading: Reading::Cycles,
        stress_exponent: 1.0,
        over_erase_stress: 2.0,
        cycles_per_erase: 1,
        defer_last_loop: false,
        fresh_errors: 20,
        worn_errors: 63,
        worn_cycles: 5300,
        error_spread: 0.1,
        residual_errors: 5,
        rows,
    };
    let x = PolicyContext {
        erase: Some(EraseContext {
            step_ns,
            steps_per_level: 7,
            levels: 5,
            gamma: 500,
            delta: 5000,
            high: 30_500,
            residual_errors: 5,
        }),
        ..Parts::new().context()
    };
    let shallow = Span(2 * step_ns);
    let slack = dpes::Config { mode: dpes::Mode::Slack, ..Default::default() };
    let config = match scheme {
        "aero" => EraseSchemeConfig::Aero(aero::Config {
            shallow,
            left: vec![Span(step_ns), Span(2 * step_ns)],
            ..Default::default()
        }),
        "aero-cons" => EraseSchemeConfig::AeroCons(aero_cons::Config { shallow, ..Default::default() }),
        "dpes-slack" => EraseSchemeConfig::Dpes(slack),
        other => member(other),
    };
    let scheme = EraseSchemePolicy::new(&config, &x).expect("it fits the array");
    Eraser::new(&table, scheme, 0.0, 7).expect("it has rows").expect("it chooses pulses")
}

pub const SCHEMES: [&str; 6] = ["ispe", "i-ispe", "dpes", "dpes-slack", "aero-cons", "aero"];

/// The plans of a block after this number of erases.
fn plans(eraser: &Eraser, block: BlockId, erases: u32) -> Vec<Plan> {
    let nature = eraser.chip().nature(block);
    let mut known = eraser.lived(&nature, 0);
    let mut plans = Vec::new();
    for cycles in 1..=erases {
        let plan = eraser.plan(&nature, &known);
        let after = eraser.after(&nature, &known, &plan);
        (known.cycles, known.wear) = (cycles, after.wear);
        (known.pulses, known.shallow) = (u32::from(after.pulses), after.shallow);
        plans.push(plan);
    }
    plans
}

/// An erase of several planes lasts as long as that of its slowest plane. A plane that is erased gets no
/// further pulse.
#[test]
fn an_erase_of_several_planes_takes_its_slowest_plane() {
    for scheme in SCHEMES {
        let eraser = eraser(scheme, STEP_NS);
        let parts = Parts { planes: 4, eraser: Some(eraser.clone()), ..Parts::new() };
        let mut stage = Stage::new(&parts);
        let mut at = 0;
        for erases in 1..=6 {
            for index in 0..BLOCKS {
                let cmd = FlashCommand { planes: 0b1011, block: index, ..erase(0) };
                let id = stage.ask(at, cmd);
                stage.play();
                let of = |plane: u32| {
                    let block = stage.flash.blocks().id(plane, index);
                    (block, plans(&eraser, block, erases))
                };
                let planned = [0, 1, 3].map(of);
                let last = planned.each_ref().map(|(_, plans)| *plans.last().expect("there is one"));
                let time =
                    |plan: &Plan| u64::from(plan.steps()) * STEP_NS + plan.pulses().len() as u64 * OTHERS;
                let should = last.iter().map(time).max().expect("planes");
                assert_eq!(stage[id].end() - at, 3 * COMMAND + should, "{scheme}, erase {erases} of {index}");
                at = stage[id].end();
                for (block, plans) in planned {
                    let (worn, plan) = (stage.flash.blocks().worn(block), plans[erases as usize - 1]);
                    let worn = worn.expect("it was erased");
                    assert_eq!(usize::from(worn.pulses), plan.pulses().len());
                    assert_eq!((u32::from(worn.left), worn.shallow), (plan.left, plan.shallow));
                }
                assert!(stage.flash.blocks().worn(stage.flash.blocks().id(2, index)).is_none());
            }
        }
        let totals = &stage.flash.counters().erases;
        assert_eq!(totals.blocks, u64::from(6 * BLOCKS * 3));
        assert_eq!(totals.by_pulses.iter().sum::<u64>(), totals.blocks);
    }
}

/// Erases of one die among reads that interrupt them: under every rule of suspension the blocks get the same
/// pulses, and are the same afterwards.
#[test]
fn suspended_erases_apply_the_same_pulses() {
    for scheme in SCHEMES {
        let mut first = None;
        for &member in SuspendEraseConfig::MEMBERS {
            let eraser = eraser(scheme, STEP_NS);
            let parts = Parts { eraser: Some(eraser), ..Parts::under("read-priority", member, "never") };
            let parts = parts.joining(&[Occupant::Erase], 2);
            let mut stage = Stage::new(&parts);
            let mut s = Stream::new(5, "reads", 0);
            let mut at = 0;
            for i in 0..40 {
                let cmd = FlashCommand { block: i % BLOCKS, ..erase(0) };
                let id = stage.ask(at, cmd);
                for _ in 0..s.below(4) {
                    stage.ask(at + s.below(400_000), read(0));
                }
                stage.play();
                at = stage[id].end().max(at + 400_000) + 100_000;
            }
            let suspended = stage.flash.counters().erase_suspension.suspends;
            assert_eq!(suspended > 0, member != "never", "{scheme}, {member}");
            let blocks = stage.flash.blocks();
            let worn: Vec<_> = (0..BLOCKS).map(|index| blocks.worn(blocks.id(0, index))).collect();
            let got = (stage.flash.counters().erases.clone(), worn);
            assert_eq!(got.0.blocks, 40);
            assert_eq!(first.get_or_insert_with(|| got.clone()), &got, "{scheme}, {member}");
        }
    }
}

/// The pulses of a block at the full voltage are those of `ispe`, and at the lower one those of `dpes`. The block
/// wears by the voltage of each erase.
#[test]
fn an_erase_is_at_the_voltage_that_was_ordered() {
    let [choice, low, full] = ["dpes-slack", "dpes", "ispe"].map(|scheme| eraser(scheme, STEP_NS));
    let parts = Parts { eraser: Some(choice), ..Parts::new() };
    let mut stage = Stage::new(&parts);
    let (block, mut at) = (stage.flash.blocks().id(0, 0), 0);
    let nature = low.chip().nature(block);
    let mut known = low.lived(&nature, 0);
    for full_voltage in [false, true, true, false, true] {
        stage.flash.orders_erase_at(0, 0, full_voltage);
        let id = stage.ask(at, erase(0));
        stage.play();
        let alone = if full_voltage { &full } else { &low };
        let plan = alone.plan(&nature, &known);
        let after = alone.after(&nature, &known, &plan);
        let time = u64::from(plan.steps()) * STEP_NS + plan.pulses().len() as u64 * OTHERS;
        assert_eq!(stage[id].end() - at, COMMAND + time);
        let worn = stage.flash.blocks().worn(block).expect("it was erased");
        assert_eq!((worn.wear, worn.full_voltage), (after.wear, full_voltage));
        (known.cycles, known.wear) = (known.cycles + 1, after.wear);
        at = stage[id].end();
    }
    assert_eq!(stage.flash.counters().erases.full_voltage, 3);
}

/// A program takes longer if one of its blocks was erased at the lower voltage, also if it is suspended.
#[test]
fn programs_take_the_time_of_their_slowest_block() {
    let suspended = Parts::under("read-priority", "never", "inter-phase");
    for (parts, reads) in [(Parts::new(), false), (suspended, true)] {
        let parts = Parts { eraser: Some(eraser("dpes-slack", STEP_NS)), ..parts };
        let mut stage = Stage::new(&parts);
        stage.flash.orders_erase_at(0, 1, true);
        stage.flash.orders_erase_at(1, 1, true);
        stage.flash.orders_erase_at(0, 2, true);
        let mut at = 0;
        let at_block = |planes, block| FlashCommand { planes, block, ..program(0) };
        let to = |to_block| copyback_to(0, to_block, 0);
        let slow = PROGRAM * 6 / 5;
        for (cmd, array) in [
            (at_block(0b11, 0), slow),
            (at_block(0b11, 1), PROGRAM),
            (at_block(0b11, 2), slow),
            (at_block(0b01, 2), PROGRAM),
            (at_block(0b10, 2), slow),
            (to(1), SENSE + PROGRAM),
            (to(3), SENSE + slow),
        ] {
            let id = stage.ask(at, cmd);
            let suspends = reads && cmd.kind == OpKind::Program;
            if suspends {
                stage.ask(at + 40_000, read(0));
            }
            stage.play();
            assert_eq!(stage[id].ledger.get(Cause::ARRAY), array, "{cmd:?}");
            assert_eq!(stage[id].suspended.len(), usize::from(suspends));
            // A phase ends before a suspension: nothing is repeated.
            let spent: u64 = stage[id].array.iter().map(|&(from, until)| until - from).sum();
            assert_eq!(spent, array, "{cmd:?}");
            at = stage[id].end() + 100_000;
        }
    }
}
