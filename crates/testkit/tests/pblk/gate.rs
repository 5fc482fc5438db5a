//! The gate of strides in single steps: what waits at it, and what does not.

use crate::rail::{behind_writes, overlap, same_stride, sector_on, westlake};
use crate::stage::{Done, SECTOR, Stage, config_of};
use tailcut_core::device::OpKind;
use tailcut_core::figures::Until;
use tailcut_units::{HostOp, Occupant, Stream};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;

/// A half-filled drive of the preset and the first program that it does, which has ended. The next is on the next LUN.
fn half_filled(sets: &[&str]) -> (Stage, Done) {
    let mut stage =
        Stage::new(&westlake("rail", &[&["policy.write_gate.stride.off_below=0"], sets].concat()));
    stage.drive.fill(stage.drive.host_bytes() / 2);
    let at = stage.drive.now().0;
    stage.submit(at, HostOp::Write, 0, 8);
    stage.until(at + 3 * MS);
    let first = stage.changes()[0].clone();
    (stage, first)
}

/// A read counts at the gate from its look-up on: while it is in the controller no program overtakes it.
#[test]
fn a_read_counts_from_its_look_up_on() {
    let (mut stage, first) = half_filled(&["pblk.read_sector=100us"]);
    let at = stage.drive.now().0;
    let sector = sector_on(&stage, first.position + 1, 1_000_000);
    stage.submit(at, HostOp::Read, sector, 1);
    // The look-up was at 5 us, and the read comes to its LUN at 105 us.
    stage.submit(at + 10 * US, HostOp::Write, 8, 8);
    stage.until(at + 5 * MS);
    let read = stage.drive.observer().ops.iter().find(|op| op.kind == OpKind::Read).expect("a read");
    let program = &stage.changes()[1];
    assert_eq!((program.position, read.position), (first.position + 1, first.position + 1));
    assert_eq!(read.came, at + 105 * US);
    assert!(program.came >= read.ended, "{program:?}, {read:?}");
    assert!(stage.ended.iter().all(|e| behind_writes(&e.ledger) == 0));
}

/// A read that is under way to a LUN holds up the program for it, and with it the programs behind it: they are for LUNs
/// of other strides on which nothing is under way (golden timeline 10).
#[test]
fn nothing_overtakes_what_waits_at_the_gate() {
    let (mut stage, first) = half_filled(&["pblk.read_sector=2ms"]);
    let at = stage.drive.now().0;
    let waiting = first.position + 2;
    let sector = sector_on(&stage, waiting, 1_000_000);
    stage.submit(at, HostOp::Read, sector, 1);
    for unit in 1..=6 {
        stage.submit(at + 10 * US, HostOp::Write, 8 * unit, 8);
    }
    stage.until(at + 20 * MS);
    let read = stage.drive.observer().ops.iter().find(|op| op.kind == OpKind::Read).expect("a read");
    let programs = &stage.changes()[1..];
    let positions: Vec<u32> = programs.iter().map(|op| op.position).collect();
    assert_eq!(positions, (first.position + 1..=first.position + 6).collect::<Vec<_>>());
    let [before, behind @ ..] = programs else { panic!("no program") };
    assert!(before.ended < read.ended, "what comes before it goes on: {before:?}, {read:?}");
    for program in behind {
        assert!(program.came >= read.ended, "{program:?} has overtaken the one for LUN {waiting}");
    }
    // Then all of them are under way at once: each is of another stride.
    assert!(
        behind
            .iter()
            .all(|op| overlap(op, &behind[0]) && (op == &behind[0] || !same_stride(&stage, op, &behind[0])))
    );
}

/// When the gate closes, programs that have passed it while it was open are still under way: the others of their strides
/// wait for them.
#[test]
fn what_has_passed_the_open_gate_counts_when_it_closes() {
    let mut stage = Stage::new(&westlake("rail", &["policy.write_gate.stride.off_below=1000"]));
    stage.drive.fill(stage.drive.host_bytes() / 2);
    let second = 1_000 * MS;
    // No read comes in the first second, so that the gate is open in the next. Enough come then.
    for i in 0..1_200 {
        stage.submit(second + i * 500 * US, HostOp::Read, 1_000_000 + i * 97, 1);
    }
    // Programs on 64 LUNs or more: the gate is open, and those of one stride pass it at once.
    let open = 2 * second - 2 * MS;
    (0..64).for_each(|unit| _ = stage.submit(open, HostOp::Write, 8 * unit, 8));
    let closed = 2 * second + 100 * US;
    stage.until(closed);
    let before = stage.changes().len();
    // The gate is closed now.
    (64..128).for_each(|unit| _ = stage.submit(closed, HostOp::Write, 8 * unit, 8));
    stage.finish();
    stage.until(closed + 500 * MS);
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
    let ops = stage.changes();
    let (before, after) = ops.split_at(before);
    let met =
        |of: &[Done], op: &Done| of.iter().filter(|a| overlap(a, op) && same_stride(&stage, a, op)).count();
    let at_once = before.iter().filter(|op| met(before, op) > 1).count();
    let under_way = before.iter().filter(|op| op.ended > closed).count();
    assert!(
        before.len() >= 64 && at_once > 32 && under_way > 32,
        "{at_once} and {under_way} of {}",
        before.len()
    );
    assert!(after.len() >= 64);
    for (i, op) in after.iter().enumerate() {
        assert_eq!(
            met(&ops[..before.len() + i], op),
            0,
            "{op:?} came while others of its stride were under way"
        );
    }
}

/// The metadata at the end of a line are sent with data of the next half the array away, less three LUNs: that is another
/// stride, so that they do not wait at the gate for the data before them.
#[test]
fn metadata_at_the_end_and_data_are_of_two_strides() {
    for (scheme, parity) in [("rail", true), ("pblk", false)] {
        let mut stage = Stage::new(&westlake(scheme, &["geometry.pages=64"]));
        let capacity = stage.drive.shape().line_size(0).expect("a good line").capacity;
        stage.drive.fill(u64::from(capacity - 16) * SECTOR);
        for unit in 0..400 {
            stage.submit(0, HostOp::Write, u64::from(capacity) + 8 * unit, 8);
        }
        stage.finish();
        stage.until(stage.drive.now().0 + 1_000 * MS);
        let ops = stage.changes();
        let at_end = |op: &Done| op.occupant == Occupant::MetaProgram && op.line == 0;
        let units = stage.drive.shape().line_size(0).expect("a good line").metadata as usize;
        let metadata: Vec<usize> = (0..ops.len()).filter(|&i| at_end(&ops[i])).collect();
        assert_eq!(metadata.len(), units, "{scheme}");
        for at in metadata {
            let before =
                ops[..at].iter().rev().find(|op| !at_end(op) && op.line == 1 && op.kind == OpKind::Program);
            let before = before.expect("data of the next line");
            let distance = (ops[at].position + 128 - before.position) % 128;
            assert_eq!(
                distance,
                if parity { 128 - 61 } else { 64 },
                "{scheme}: {:?} behind {before:?}",
                ops[at]
            );
            assert!(!parity || !same_stride(&stage, &ops[at], before));
        }
    }
}

/// LinuxTinyTail: parity is no collection, so that it passes while programs of its stride are under way, and reads do not
/// avoid it. What collection programs waits for all programs of its stride, those of users and of parity too (golden
/// timeline 12).
#[test]
fn parity_is_no_collection() {
    let sets = ["geometry.channels=8", "geometry.dies_per_chip=2", "pblk.ring=2048"];
    let mut stage = Stage::new(&config_of("tiny-pblk", "linux-tinytail", &sets));
    let bytes = stage.drive.host_bytes();
    stage.drive.fill(bytes);
    stage.drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
    let mut s = Stream::new(3, "tinytail", 0);
    for _ in 0..20_000 {
        stage.submit(0, HostOp::Write, s.below(bytes / SECTOR), 1);
    }
    stage.finish();
    // After five seconds without writes of users collection is not limited. All data are those of collection then.
    let silent = stage.drive.now().0 + 1_000 * MS;
    stage.until(silent + 9_000 * MS);
    let ops = stage.changes();
    let begin = ops.iter().position(|op| op.came > silent).expect("collection goes on");
    let (mut parities, mut collected) = (0, 0);
    for (i, b) in ops.iter().enumerate().skip(begin) {
        let under_way = |a: &&Done| overlap(a, b) && same_stride(&stage, a, b);
        let others = ops[i.saturating_sub(64)..i].iter().filter(under_way).count();
        match b.occupant {
            Occupant::GcProgram => {
                assert_eq!(others, 0, "{b:?} came while others of its stride were under way");
                collected += 1;
            }
            Occupant::ParityProgram => parities += others,
            _ => {}
        }
    }
    assert!(collected > 100, "{collected}");
    assert!(parities > 20, "parity waits for nobody: {parities} of {collected}");
}
