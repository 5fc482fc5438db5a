//! Tests a read that arrives during a program, in every phase and at every boundary between
//! phases.

use super::*;
use tailcut_core::nand::config::SuspendedData;
use tailcut_testkit::Stage;
use tailcut_units::{Cause, Occupant};

/// Times of a pulse, and of a pulse with its verify, ns. A program of a page of the first type
/// has four of them.
pub const PULSE: u64 = 70_000;
pub const STEP: u64 = 80_000;
pub const PROGRAM: u64 = 4 * STEP;
/// Times of cutting a phase, and of reloading the page register, ns.
const CUT: u64 = 4_000;
pub const RELOAD: u64 = 3_000;

fn programming(member: &str) -> DeviceConfig {
    let mut c = one_die();
    c.policy.suspend_program = swarm::member(member);
    c
}

/// When the program stops, when the die is free, and the position at which the program
/// continues; from the start of the program, ns.
pub fn expected(member: &str, x: u64) -> Option<(u64, u64, u64)> {
    let (begun, inside) = (x / STEP * STEP, x % STEP);
    let (from, end) = if inside < PULSE { (begun, begun + PULSE) } else { (begun + PULSE, begun + STEP) };
    match member {
        _ if x >= PROGRAM => None,
        "never" => None,
        _ if x == from => Some((x, x, x)),
        "inter-phase" if end == PROGRAM => None,
        "inter-phase" => Some((end, end, end)),
        _ => Some((x, x + CUT, from)),
    }
}

#[test]
fn a_read_meets_every_phase() {
    let boundaries = (0..=4).flat_map(|n| [n * STEP, n * STEP + PULSE]);
    let instants: Vec<u64> = boundaries.flat_map(|b| [b.saturating_sub(1), b, b + 1, b + 5_001]).collect();
    for member in ["never", "inter-phase", "intra-phase"] {
        for (&x, data) in instants
            .iter()
            .flat_map(|x| [SuspendedData::Shadow, SuspendedData::Controller].map(|data| (x, data)))
        {
            let mut c = programming(member);
            c.suspend.program.data = data;
            let label = format!("{member}, {data:?}, a read at {x}");
            let mut stage = Stage::new(c);
            stage.program(T).read(T + x);
            let played = stage.play(T - COMMAND - PAGE - 1);
            let (program, read) = (played.only(Occupant::UserProgram), played.only(Occupant::UserRead));
            let write = played.done.iter().find(|d| d.command.op == tailcut_units::HostOp::Write).unwrap();
            let c = &played.flash.program_suspension;
            let Some((stops, free, keep)) = expected(member, x) else {
                assert_eq!(program.array, [(T, T + PROGRAM)], "{label}");
                assert_eq!(read.granted, T + x.max(PROGRAM), "{label}");
                assert_eq!((c.suspends, write.ledger.get(Cause::SUSPENDED)), (0, 0), "{label}");
                continue;
            };
            let (resume, transfers) = match data {
                SuspendedData::Shadow => (RELOAD, 1),
                SuspendedData::Controller => (COMMAND + PAGE, 2),
            };
            let on = T + free + READ + resume;
            let slices: Vec<_> =
                [(T, T + stops), (on, on + PROGRAM - keep)].into_iter().filter(|s| s.0 < s.1).collect();
            assert_eq!((read.granted, &program.array), (T + free, &slices), "{label}");
            assert_eq!(program.inward.len(), transfers, "{label}");
            if transfers == 2 {
                assert_eq!(program.inward[1], (on - resume, on), "{label}: its data are transferred again");
            } else {
                assert_eq!(program.resuming, [(on - resume, on)], "{label}");
            }
            assert_eq!((c.suspends, c.resumes_cancelled), (1, 0), "{label}");
            assert_eq!((c.overhead_ns, c.repeated_ns), (free - stops + resume, stops - keep), "{label}");
            let reader = &played.reads()[0].ledger;
            let waits = (reader.get(Cause::SUSPEND_POINT), reader.get(Cause::SUSPEND_OVERHEAD));
            assert_eq!(waits, (stops - x, free - stops), "{label}");
            // The program took longer by this time, and the write's ledger shows it.
            let longer = program.released() - T - PROGRAM;
            assert_eq!(write.ledger.get(Cause::SUSPENDED), longer, "{label}: {:?}", write.ledger);
            assert_eq!(write.latency, COMMAND + PAGE + PROGRAM + longer, "{label}");
        }
    }
}

#[test]
fn a_read_during_the_data_in_is_served_before_the_first_pulse() {
    for member in ["inter-phase", "intra-phase"] {
        for before in [1, COMMAND + PAGE] {
            let mut stage = Stage::new(programming(member));
            stage.program(T).read(T - before);
            let played = stage.play(T - COMMAND - PAGE - 1);
            assert_eq!(played.only(Occupant::UserRead).granted, T, "{member}");
            let on = T + READ + RELOAD;
            assert_eq!(played.only(Occupant::UserProgram).array, [(on, on + PROGRAM)], "{member}");
        }
    }
}

#[test]
fn a_read_during_the_reload_cancels_it_at_no_cost() {
    let x = 30_000;
    for member in ["inter-phase", "intra-phase"] {
        let (_, free, keep) = expected(member, x).unwrap();
        for elapsed in [0, 1, RELOAD - 1] {
            let begins = T + free + READ;
            let mut stage = Stage::new(programming(member));
            stage.program(T).read(T + x).read(begins + elapsed);
            let played = stage.play(T - COMMAND - PAGE - 1);
            let second = played.of(Occupant::UserRead)[1];
            assert_eq!(second.granted, begins + elapsed, "{member}, {elapsed}");
            let end = begins + elapsed + READ + RELOAD + PROGRAM - keep;
            assert_eq!(played.only(Occupant::UserProgram).released(), end, "{member}, {elapsed}");
            let c = &played.flash.program_suspension;
            assert_eq!((c.suspends, c.resumes_cancelled), (2, 1), "{member}, {elapsed}");
        }
    }
}

#[test]
fn data_on_their_way_again_are_not_interrupted() {
    let x = 30_000;
    let mut c = programming("intra-phase");
    c.suspend.program.data = SuspendedData::Controller;
    let begins = T + x + CUT + READ;
    for elapsed in [1, COMMAND + PAGE - 1, COMMAND + PAGE] {
        let mut stage = Stage::new(c.clone());
        stage.program(T).read(T + x).read(begins + elapsed);
        let played = stage.play(T - COMMAND - PAGE - 1);
        let second = played.of(Occupant::UserRead)[1];
        // The first pulse has not started again, so nothing is cut.
        assert_eq!(second.granted, begins + COMMAND + PAGE, "{elapsed}");
        assert_eq!(played.flash.program_suspension.resumes_cancelled, 0, "{elapsed}");
        assert_eq!(played.only(Occupant::UserProgram).inward.len(), 3, "{elapsed}");
    }
}

#[test]
fn what_the_flash_bears_is_not_exceeded() {
    let x = 30_000;
    let run = |set: &dyn Fn(&mut tailcut_core::nand::config::SuspendLimits), at: &[u64]| {
        let mut c = programming("intra-phase");
        set(&mut c.suspend.program.limits);
        let mut stage = Stage::new(c);
        stage.program(T);
        for x in at {
            stage.read(T + x);
        }
        let played = stage.play(T - COMMAND - PAGE - 1);
        let granted: Vec<u64> = played.of(Occupant::UserRead).iter().map(|o| o.granted - T).collect();
        (granted, played.only(Occupant::UserProgram).released() - T)
    };
    let on = x + CUT + READ + RELOAD;
    let end = on + PROGRAM;
    assert_eq!(run(&|l| l.most = Some(0), &[x]), (vec![PROGRAM], PROGRAM));
    assert_eq!(run(&|l| l.most = Some(1), &[x, on + 10]), (vec![x + CUT, end], end));
    let spaced = run(&|l| l.spacing = Some(Span(20_000)), &[x, on + 10]).0;
    assert_eq!(spaced, [x + CUT, on + 20_000 + CUT]);
    let least = |l: &mut tailcut_core::nand::config::SuspendLimits| l.least_left = Some(Span(100_000));
    assert_eq!(run(&least, &[PROGRAM - 100_000]).0, [PROGRAM - 100_000 + CUT]);
    assert_eq!(run(&least, &[PROGRAM - 99_999]).0, [PROGRAM]);
}

#[test]
fn what_is_left_counts_where_the_program_would_stop() {
    // In the last pulse but one. It ends one verify and one step before the end of the program.
    let x = 2 * STEP + 1;
    let left = PROGRAM - (2 * STEP + PULSE);
    for (least, granted) in [(left, 2 * STEP + PULSE), (left + 1, PROGRAM)] {
        let mut c = programming("inter-phase");
        c.suspend.program.limits.least_left = Some(Span(least));
        let mut stage = Stage::new(c);
        stage.program(T).read(T + x);
        let played = stage.play(T - COMMAND - PAGE - 1);
        assert_eq!(played.only(Occupant::UserRead).granted, T + granted, "{least}");
    }
}
