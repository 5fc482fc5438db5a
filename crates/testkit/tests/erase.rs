//! Erase schemes on the blocks of `tlc-3d`: what they apply, what they leave, and what wears.

use proptest::prelude::*;
use tailcut_core::address::BlockId;
use tailcut_core::array::eraser::{Eraser, Known, Plan};
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{Device, Shape};
use tailcut_core::nand::erase::chip::{CYCLE, Nature};
use tailcut_core::nand::erase::config::{EraseConfig, Reading};
use tailcut_core::policy::erase_scheme::EraseSchemeConfig;
use tailcut_sim::lifetime::lifetime;
use tailcut_testkit::{closed_loop, small_drive};
use tailcut_units::{Command, HostOp, Status, Stream};

/// The schemes that choose pulses.
const SCHEMES: [&str; 5] = ["ispe", "i-ispe", "dpes", "aero-cons", "aero"];
const BLOCKS: u32 = 20_000;

fn tlc_3d() -> DeviceConfig {
    toml::from_str(include_str!("../../../presets/devices/tlc-3d.toml")).expect("a device")
}

fn scheme(name: &str) -> EraseSchemeConfig {
    serde::Deserialize::deserialize(toml::Value::String(name.to_string())).expect("a scheme")
}

/// The scheme on the array of `tlc-3d`, with these changes.
fn eraser(name: &str, seed: u64, change: impl Fn(&mut EraseConfig)) -> Eraser {
    let mut c = tlc_3d();
    c.geometry.blocks = 64;
    c.policy.erase_scheme = scheme(name);
    change(c.erase.as_mut().expect("it has the table"));
    Shape::new(&c, seed).unwrap_or_else(|e| panic!("{e}")).eraser.expect("it chooses pulses")
}

/// The scheme that a line of TOML gives, on the array of `tlc-3d`, with these changes.
fn with_scheme(text: &str, change: impl Fn(&mut EraseConfig)) -> Eraser {
    let mut c = tlc_3d();
    c.geometry.blocks = 64;
    let table: toml::Table = text.parse().expect("a table");
    c.policy.erase_scheme = serde::Deserialize::deserialize(toml::Value::Table(table)).expect("a scheme");
    change(c.erase.as_mut().expect("it has the table"));
    Shape::new(&c, 1).unwrap_or_else(|e| panic!("{e}")).eraser.expect("it chooses pulses")
}

/// Every block with its plan, after `cycles` cycles under the scheme.
fn plans(eraser: &Eraser, cycles: u32) -> impl Iterator<Item = (Nature, Known, Plan)> {
    (0..BLOCKS).map(move |block| {
        let nature = eraser.chip().nature(BlockId(block));
        let known = eraser.lived(&nature, cycles);
        (nature, known, eraser.plan(&nature, &known))
    })
}

/// What a row says: shares of blocks by their steps.
type Shares = Vec<(u32, f64)>;

/// The rows of a scheme: program/erase cycles, mean total (steps), and the shares.
fn rows(name: &str) -> Vec<(u32, f64, Shares)> {
    let erase = tlc_3d().erase.expect("it has the table");
    let of = |row: &tailcut_core::nand::erase::requirement::Row| {
        let shares: Shares = row
            .totals
            .iter()
            .map(|&(total, share)| ((total.0 / erase.step.0) as u32, f64::from(share) / 10_000.0))
            .collect();
        (row.pe_cycles, shares.iter().map(|&(steps, share)| f64::from(steps) * share).sum(), shares)
    };
    erase.rows.iter().filter(|row| row.scheme == name).map(of).collect()
}

#[test]
fn every_scheme_applies_what_its_rows_say() {
    for name in SCHEMES {
        let e = eraser(name, 1, |c| c.noise = 0);
        for (cycles, mean, shares) in rows(name) {
            let totals: Vec<u32> = plans(&e, cycles).map(|(_, _, plan)| plan.steps()).collect();
            let got = totals.iter().map(|&n| f64::from(n)).sum::<f64>() / f64::from(BLOCKS);
            assert!((got / mean - 1.0).abs() < 0.01, "{name} at {cycles}: {got:.3} steps, wanted {mean:.3}");
            // An erase by `aero` leaves two steps of at most 35: its rows of 34 and 35 become 33.
            let most = if name == "aero" { 33 } else { 35 };
            let mut wanted = std::collections::BTreeMap::new();
            shares.iter().for_each(|&(steps, share)| *wanted.entry(steps.min(most)).or_insert(0.0) += share);
            for (steps, share) in wanted {
                let got = totals.iter().filter(|&&n| n == steps).count() as f64 / f64::from(BLOCKS);
                // Binomial; the classes are half a percent wide.
                assert!((got - share).abs() < 0.017, "{name} at {cycles}, {steps} steps: {got} for {share}");
            }
        }
    }
}

#[test]
fn full_pulses_wear_a_block_by_one_cycle() {
    for reading in [Reading::Cycles, Reading::Stress] {
        for exponent in [0.0, 1.0, 2.5] {
            let e = eraser("ispe", 1, |c| (c.reading, c.stress_exponent) = (reading, exponent));
            for cycles in [0, 64, 500, 2500, 5000, 9000] {
                for (nature, known, plan) in plans(&e, cycles).take(500) {
                    // The mean of its class, whose blocks change rows at other cycles than it.
                    let off = f64::from(known.wear) / f64::from(CYCLE) - f64::from(cycles);
                    assert!(off.abs() <= 1.0 + 0.002 * f64::from(cycles), "{reading:?}, {cycles}: {off}");
                    let after = e.after(&nature, &known, &plan);
                    assert!(after.wear > known.wear && after.wear <= known.wear + 3 * CYCLE);
                }
            }
        }
    }
}

#[test]
fn shorter_pulses_wear_less_and_higher_ones_more() {
    let wear = |name: &str, exponent: f64| {
        let e = eraser(name, 1, |c| c.stress_exponent = exponent);
        plans(&e, 4000).map(|(_, known, _)| f64::from(known.wear)).sum::<f64>()
            / f64::from(BLOCKS)
            / f64::from(CYCLE)
    };
    let of = |exponent| SCHEMES.map(|name| wear(name, exponent));
    let time = of(0.0);
    assert!((time[0] - 4000.0).abs() < 8.0, "{time:?}");
    assert!(time[4] < time[3] && time[3] < time[0], "{time:?}");
    let steep = of(3.0);
    assert!(steep[1] / steep[0] > time[1] / time[0], "i-ispe starts at higher levels: {time:?} {steep:?}");
}

#[test]
fn a_lower_voltage_wears_less() {
    let wear = |voltage: &str| {
        let e = with_scheme(&format!("dpes = {{ voltage = '{voltage}' }}"), |c| c.stress_exponent = 3.0);
        plans(&e, 3000).map(|(_, known, _)| f64::from(known.wear)).sum::<f64>()
    };
    let ratio = wear("90%") / wear("100%");
    // A pulse has 0.729 of the stress. A block that is less worn needs fewer full pulses, against which its
    // stress is counted.
    assert!((0.729..0.95).contains(&ratio), "{ratio}");
}

/// Without a spread of the errors, and with nothing left by erases, a block that full pulses erase ends at the
/// cycles that the configuration states. More that is allowed, or fewer errors at first, is a longer life.
#[test]
fn a_block_under_full_pulses_lives_as_long_as_stated() {
    let even = |bits: u32| lifetime(&eraser("ispe", 1, |c| c.error_spread = 0.0), bits);
    let life = even(63);
    assert!((5292..=5304).contains(&life.first) && life.last <= 5312 && life.endless == 0, "{life:?}");
    let [less, more] = [50, 70].map(even);
    assert!(less.mean < life.mean && life.mean < more.mean, "{less:?} {more:?}");
    let spread = lifetime(&eraser("ispe", 1, |c| c.error_spread = 0.1), 63);
    // The hundredth part of a normal distribution is 2.33 deviations below its mean: 5300 / 1.233.
    assert!((4150..4450).contains(&spread.first_percent), "{spread:?}");
    let endless = lifetime(&eraser("ispe", 1, |c| c.worn_errors = c.fresh_errors), 63);
    assert_eq!(endless.endless, endless.blocks);
}

#[test]
fn noise_and_mispredictions_cost_single_steps() {
    let costs = |change: &dyn Fn(&mut EraseConfig)| {
        let e = eraser("aero-cons", 1, change);
        let (mut short, mut long, mut steps) = (0, 0, 0);
        for (_, _, plan) in plans(&e, 1500) {
            (short, long, steps) = (short + plan.too_short, long + plan.too_long, steps + plan.steps());
            assert_eq!(plan.left, 0);
        }
        (short, long, steps)
    };
    let exact = costs(&|c| c.noise = 0);
    assert_eq!((exact.0, exact.1), (0, 0));
    let noisy = costs(&|c| c.noise = 500);
    assert!(noisy.0 > 300 && noisy.1 > 300, "{noisy:?}");
    assert_eq!(noisy.2, exact.2 + noisy.1, "only what was too long is added");
    let wrong = costs(&|c| (c.noise, c.misprediction) = (0, 0.1));
    // Binomial(20000, 0.1): sd 42.
    assert!((1800..2200).contains(&(wrong.2 - exact.2)), "{wrong:?} {exact:?}");
    // A pulse that fills its level is not one that should have been the last.
    assert!((1000..2200).contains(&wrong.0), "{wrong:?}");
}

#[test]
fn less_is_left_under_a_stricter_requirement() {
    let mean = |requirement: &str| {
        let e = with_scheme(&format!("aero = {{ requirement = {requirement} }}"), |_| {});
        plans(&e, 2500).map(|(_, _, plan)| u64::from(plan.steps())).sum::<u64>()
    };
    let (lax, middle, strict) = (mean("63"), mean("50"), mean("40"));
    assert!(lax <= middle && middle < strict, "{lax} {middle} {strict}");
}

/// Mean steps of the erases of a scheme, without noise.
fn mean_steps(e: &Eraser, cycles: u32) -> f64 {
    plans(e, cycles).map(|(_, _, plan)| f64::from(plan.steps())).sum::<f64>() / f64::from(BLOCKS)
}

/// The authors' shares of blocks for 50 and for 40 bits are rows of their own; those of 50 follow nearly from
/// the others.
#[test]
fn the_requirement_chooses_or_derives_the_rows() {
    let aero = |bits: u32, without: &'static str| {
        with_scheme(&format!("aero = {{ requirement = {bits} }}"), |c| {
            c.noise = 0;
            c.rows.retain(|row| row.scheme != without);
        })
    };
    for (bits, published) in [(50, [2.47, 5.905, 12.08]), (40, [2.515, 6.635, 12.73])] {
        for (cycles, ms) in [500, 2500, 4500].into_iter().zip(published) {
            let got = mean_steps(&aero(bits, ""), cycles) / 2.0;
            // Blocks of 4,500 cycles that may leave nothing for 40 bits need what they need under aero-cons.
            let band = if cycles == 4500 { 0.03 } else { 0.01 };
            assert!((got / ms - 1.0).abs() < band, "{bits} bits at {cycles}: {got:.3} ms, wanted {ms}");
        }
    }
    for (cycles, ms) in [(500, 2.47), (2500, 5.905), (4500, 12.08)] {
        let got = mean_steps(&aero(50, "aero-50"), cycles) / 2.0;
        assert!((got / ms - 1.0).abs() < 0.03, "50 bits without rows at {cycles}: {got:.3} ms, wanted {ms}");
    }
    for cycles in [0, 1000, 2500, 3200, 4500, 6000] {
        let by_bits = [20, 30, 40, 45, 50, 57, 63, 80].map(|bits| mean_steps(&aero(bits, ""), cycles));
        assert!(by_bits.windows(2).all(|pair| pair[0] >= pair[1]), "{cycles}: {by_bits:?}");
    }
}

#[test]
fn a_block_that_may_leave_nothing_needs_what_it_needs_under_aero_cons() {
    let whole = eraser("aero-cons", 1, |c| c.noise = 0);
    let same = |bits: u32, cycles: u32| {
        let e = with_scheme(&format!("aero = {{ requirement = {bits} }}"), |c| c.noise = 0);
        let of = |(nature, known, plan): (Nature, Known, Plan)| {
            let wanted = whole.plan(&nature, &whole.lived(&nature, cycles));
            assert!(plan.left > 0 || plan.pulses() == wanted.pulses(), "{bits} bits, {cycles}: {known:?}");
            u32::from(plan.left == 0)
        };
        plans(&e, cycles).map(of).sum::<u32>()
    };
    for cycles in [0, 500, 2750, 5000, 8000] {
        assert_eq!((same(20, cycles), same(0, cycles)), (BLOCKS, BLOCKS));
    }
    assert!(same(40, 4500) > 1000 && same(63, 2500) < 1000);
}

#[test]
fn pulse_time_beyond_need_has_a_weight() {
    let wear = |name: &str, weight: f64| {
        let e = eraser(name, 1, |c| (c.noise, c.over_erase_stress) = (0, weight));
        plans(&e, 4000).map(|(_, known, _)| f64::from(known.wear)).sum::<f64>() / f64::from(BLOCKS * CYCLE)
    };
    let of = |name| [0.0, 1.0, 2.0, 4.0].map(|weight| wear(name, weight));
    for full in of("ispe") {
        assert!((full - 4000.0).abs() < 8.0, "{full}");
    }
    // Its blocks get no more than they need, so that full pulses of which much counts wear more beside it.
    let exact = of("aero-cons");
    assert!(exact.is_sorted_by(|a, b| a > b) && exact[0] > 3900.0, "{exact:?}");
    // A pulse of a block that needs five steps of its seven.
    let e = with_scheme("ispe = {}", |c| {
        c.over_erase_stress = 3.0;
        c.rows = vec![
            "ispe 0: 3.5ms 100".parse().expect("a row"),
            "aero-cons 0: 2.5ms 100".parse().expect("a row"),
        ];
    });
    let (_, _, plan) = plans(&e, 0).next().expect("a block");
    assert_eq!((plan.needed, e.stress(&plan)), (5, 4096 * (5 + 3 * 2)));
}

/// The weight is fitted to this life.
#[test]
fn aero_lives_as_long_as_published() {
    let life = |name: &str| lifetime(&eraser(name, 1, |_| {}), 63).mean;
    let longer = life("aero") / life("ispe") - 1.0;
    assert!((0.38..0.48).contains(&longer), "{longer}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the noise and the age: a block is erased, or what is left is counted; and no scheme applies
    /// more than full pulses would, but for mispredictions, which are counted.
    #[test]
    fn blocks_are_erased_or_their_residue_is_counted(
        which in 0..5usize,
        seed in any::<u64>(),
        noise in 0..20_000u32,
        misprediction in 0.0..0.5f64,
        cycles in 0..12_000u32,
        stress in any::<bool>(),
    ) {
        let name = SCHEMES[which];
        let change = |c: &mut EraseConfig| {
            (c.noise, c.misprediction) = (noise, misprediction);
            c.reading = if stress { Reading::Stress } else { Reading::Cycles };
        };
        let (e, full) = (eraser(name, seed, change), eraser("ispe", seed, change));
        for block in 0..300 {
            let nature = e.chip().nature(BlockId(block));
            let mut known = e.lived(&nature, cycles);
            for _ in 0..4 {
                let plan = e.plan(&nature, &known);
                prop_assert!(plan.pulses().iter().all(|p| (1..=7).contains(&p.steps) && (1..=5).contains(&p.level)));
                prop_assert!(plan.pulses().is_sorted_by_key(|p| p.level));
                let may_leave = name == "aero" || plan.pulses().len() == 12;
                prop_assert!(plan.left == 0 || may_leave);
                // The full pulses of the same block, of the same cycles and wear.
                let mut whole = full.plan(&nature, &known).steps();
                whole += plan.too_long + plan.too_short + u32::from(misprediction > 0.0);
                // In the published rows of 2,500 cycles, dpes has a pulse more in some blocks.
                whole += if name == "dpes" { 7 } else { 0 };
                prop_assert!(plan.steps() <= whole, "{name}: {plan:?} {whole}");
                let after = e.after(&nature, &known, &plan);
                prop_assert!(after.wear > known.wear);
                let fail_bits = e.chip().fail_bits(&nature, plan.left, None);
                prop_assert_eq!((u32::from(after.left), e.chip().passes(fail_bits)), (plan.left, plan.left == 0));
                known = Known {
                    cycles: known.cycles + 1,
                    wear: after.wear,
                    pulses: u32::from(after.pulses),
                    shallow: after.shallow,
                    left: u32::from(after.left),
                    full_voltage: false,
                };
            }
        }
    }
}

/// A small drive whose blocks have lived `cycles` program/erase cycles under `scheme`, filled and overwritten
/// once at random.
fn written(scheme_name: &str, cycles: u32, change: impl Fn(&mut DeviceConfig)) -> Device {
    let mut c = small_drive();
    c.policy.erase_scheme = scheme(scheme_name);
    c.age.pe_cycles = Some(cycles);
    change(&mut c);
    let mut device = Device::new(&c, 3, ()).unwrap_or_else(|e| panic!("{e}"));
    device.fill(device.host_bytes());
    let unit = c.ftl.mapping_unit;
    let units = device.host_bytes() / unit;
    let mut s = Stream::new(3, "erase", 0);
    let mut next = |_| Command::new(HostOp::Write, s.below(units) * unit, unit as u32);
    closed_loop(&mut device, 0, 8, units, &mut next, &mut |_| {});
    device.audit().expect("every law holds");
    device
}

#[test]
fn blocks_with_more_errors_than_allowed_are_retired() {
    // A block has 20 errors when new, and 63 after 5,300 cycles of full pulses.
    let retired = |cycles, worn| {
        let device = written("ispe", cycles, |c| c.faults.worn = worn);
        let report = device.block_report();
        (report.map_or(0, |r| r.blocks.grown_bad), device.read_only_since().is_some())
    };
    assert_eq!((retired(5000, None), retired(3000, Some(63))), ((0, false), (0, false)));
    let (some, _) = retired(5250, Some(63));
    assert!(some > 0, "half of the blocks are beyond the limit");
    assert!(retired(9000, Some(63)).1, "all blocks are beyond the limit");
}

#[test]
fn reads_see_what_wear_and_erases_have_left() {
    let failed = |scheme: &str, cycles, correctable| {
        let mut device = written(scheme, cycles, |c| {
            c.faults.correctable = correctable;
            let erase = c.erase.as_mut().expect("it has the table");
            (erase.error_spread, erase.residual_errors, erase.noise) = (0.0, 20, 0);
        });
        let units = device.host_bytes() / 4096;
        let (mut s, mut failed) = (Stream::new(5, "erase", 0), 0);
        let mut next = |_| Command::new(HostOp::Read, s.below(units) * 4096, 4096);
        let start = device.now().0;
        closed_loop(&mut device, start, 8, 2000, &mut next, &mut |c| {
            failed += u32::from(c.status != Status::Ok)
        });
        device.audit().expect("every law holds");
        failed
    };
    // Full pulses leave nothing: 20 errors and what 1,000 cycles add, 8.
    assert_eq!((failed("ispe", 1000, None), failed("ispe", 1000, Some(35))), (0, 0));
    // A few units are still in the write buffer.
    assert!(failed("ispe", 1000, Some(24)) > 1800);
    // Two steps that are left add 20 and more.
    let some = failed("aero", 1000, Some(35));
    assert!(some > 200 && some < 2000, "{some}");
}
