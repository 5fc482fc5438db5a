//! The times and the order of operations, computed by hand from the rules.

use crate::stage::{SECTOR, Stage, config};
use tailcut_core::device::OpKind;
use tailcut_core::figures::Until;
use tailcut_units::{Cause, Command, HostOp, Occupant, Status};

const US: u64 = 1_000;

/// A read that waits for nothing: the flash, the controller for a sector, and the host on both ways.
#[test]
fn an_unloaded_read() {
    let mut stage = Stage::new(&config("cnex-westlake", &["geometry.blocks=200"]));
    stage.drive.fill(stage.drive.host_bytes());
    let read = stage.one(HostOp::Read, 5, 1);
    assert_eq!(read.status, Status::Ok);
    let of = |cause| read.ledger.get(cause);
    // 65 us in the array, and 4 KiB at 280 MB/s.
    let transfer = 4096 * 1_000_000_000 / 280_000_000u64;
    assert_eq!(of(Cause::ARRAY), 65 * US);
    assert!(of(Cause::TRANSFER).abs_diff(transfer) <= 1, "{}", of(Cause::TRANSFER));
    assert_eq!((of(Cause::COMMAND), of(Cause::CONTROLLER)), (300, 2600));
    assert_eq!(of(Cause::HOST_LATENCY), 10 * US);
    let flash = of(Cause::ARRAY) + of(Cause::TRANSFER);
    assert_eq!(flash.div_ceil(100) * 100, 79_700, "79.6 us of flash: {flash}");
    let link = SECTOR * 1_000_000_000 / 6_400_000_000;
    assert_eq!(read.at - read.arrived, flash + 300 + 2600 + 10 * US + link);
}

/// What is not in a whole write unit is programmed by a flush alone.
#[test]
fn a_flush_pads_a_write_unit() {
    let mut stage = Stage::new(&config("cnex-westlake", &["geometry.blocks=200"]));
    for sector in 0..3 {
        let write = stage.one(HostOp::Write, sector, 1);
        assert_eq!(write.at - write.arrived, 10 * US, "the host alone");
    }
    stage.until(1_000_000_000);
    assert!(stage.changes().is_empty(), "less than a write unit is never programmed");
    let flush = stage.one(HostOp::Flush, 0, 0);
    let program = &stage.changes()[0];
    assert_eq!((program.kind, program.position, program.page), (OpKind::Program, 1, 0));
    let c = stage.drive.counters();
    assert_eq!((c.programs_user, c.programs_pad), (3, 5));
    // Host, link, command, transfer, array, host; the controller delays no command that comes alone.
    let link = 32_768 * 1_000_000_000 / 6_400_000_000u64;
    let transfer = 32_768 * 1_000_000_000 / 280_000_000u64;
    let expected = 5 * US + 5 * US + link + 300 + transfer + 1_700 * US + 5 * US + 5 * US;
    let took = flush.at - flush.arrived;
    assert!(took.abs_diff(expected) < 1000, "{took}, not {expected}");
    assert_eq!(stage.one(HostOp::Flush, 0, 0).ledger.sum(), 10 * US, "nothing to wait for");
}

/// A write with forced unit access takes the time of a write and of the flush that Linux sends after it.
#[test]
fn forced_unit_access_is_a_flush_after_the_write() {
    let mut stage = Stage::new(&config("cnex-westlake", &["geometry.blocks=200"]));
    let write = stage.one(HostOp::Write, 0, 3);
    let flush = stage.one(HostOp::Flush, 0, 0);
    let mut stage = Stage::new(&config("cnex-westlake", &["geometry.blocks=200"]));
    let forced = Command { fua: true, ..Command::new(HostOp::Write, 0, 3 * SECTOR as u32) };
    stage.submit_command(0, forced);
    let forced = stage.finish();
    let [write, flush, took] = [write, flush, forced].map(|done| {
        assert_eq!(done.ledger.sum(), done.at - done.arrived);
        done.ledger.sum()
    });
    // The host's own 10 us are spent once.
    assert!((write + flush - 10 * US).abs_diff(took) < 3_000, "{write} + {flush}, not {took}");
    let c = stage.drive.counters();
    assert_eq!((c.programs_user, c.programs_pad), (3, 5));
}

/// Seven sectors of eight stay in the ring.
#[test]
fn less_than_a_write_unit_stays() {
    let mut stage = Stage::new(&config("cnex-westlake", &["geometry.blocks=200"]));
    stage.one(HostOp::Write, 0, 7);
    stage.until(60_000_000_000);
    assert!(stage.changes().is_empty());
    stage.one(HostOp::Write, 7, 1);
    stage.until(61_000_000_000);
    assert_eq!(stage.changes().len(), 1);
}

/// A sector written once is read from the ring until its slot is used again: until 8,191 others have entered.
#[test]
fn the_ring_is_a_read_cache() {
    let mut stage = Stage::new(&config("cnex-westlake", &["geometry.blocks=200"]));
    stage.one(HostOp::Write, 0, 1);
    let reads = |stage: &mut Stage| stage.one(HostOp::Read, 0, 1).ledger.get(Cause::ARRAY) > 0;
    // 8,190 others, the last of them alone.
    for i in 0..8190 / 45 {
        stage.one(HostOp::Write, 64 * (i + 1), 45);
    }
    let now = stage.drive.now().0;
    stage.until(now + 100_000_000);
    assert!(!reads(&mut stage), "its slot is not used again");
    stage.one(HostOp::Write, 20_000, 1);
    assert!(reads(&mut stage), "its slot is used by the 8,191st after it");
}

/// Collection is held to its limit for five seconds after the last write; then it takes more of the ring, and the next
/// writes wait for nothing of it but room.
#[test]
fn collection_is_not_limited_while_users_are_silent() {
    let mut stage = Stage::new(&config("tiny-pblk", &[]));
    let bytes = stage.drive.host_bytes();
    stage.drive.fill(bytes);
    stage.drive.overwrite_uniform(Until::Steady, &(0..bytes), 4096, &mut |_| true);
    for i in 0..600u64 {
        stage.submit(i * 50_000, HostOp::Write, i * 37 % (bytes / SECTOR), 1);
    }
    stage.finish();
    let (at, over) = (stage.drive.now().0, |stage: &Stage| {
        let l = stage.drive.limiter();
        l.counted().1.saturating_sub(l.limits().1)
    });
    stage.until(at + 4_900_000_000);
    let limited = over(&stage);
    stage.until(at + 5_300_000_000);
    // A line that is freed lowers the limit by a step of 64.
    assert!(limited < 128, "{limited} sectors beyond the limit: less than a request and a step");
    assert!(
        over(&stage) > limited && stage.drive.limiter().counted().0 == 0,
        "{:?} of {:?}",
        stage.drive.limiter().counted(),
        stage.drive.limiter().limits()
    );
    stage.drive.audit().unwrap_or_else(|e| panic!("{e}"));
}

/// Line start, erases ahead and metadata half the array away, on the LUNs and in the order that the rules give.
#[test]
fn the_order_of_a_line() {
    // Three lines would be enough; their number fixes the size of the metadata: 129 units with 1,067 lines.
    let mut stage = Stage::new(&config("cnex-westlake", &[]));
    let shape = stage.drive.shape();
    let (units, data) = (shape.line_units, shape.line_size(0).expect("a good line").capacity);
    assert_eq!((units, data), (65_536, 524_288 - 8 - 1032));
    // The first line holds all but its last units, without the timing model, and the next line must be erased.
    stage.drive.fill(u64::from(data - 16) * SECTOR);
    stage.drive.wear_in();
    let mut sector = u64::from(data);
    // The rest of the first line, and two stripes and a bit of the second.
    for _ in 0..2 + 2 * 128 + 8 {
        stage.submit(0, HostOp::Write, sector, 8);
        sector += 8;
    }
    stage.finish();
    let now = stage.drive.now().0;
    stage.until(now + 100_000_000);
    let ops = stage.changes();
    let programs: Vec<_> = ops.iter().filter(|op| op.kind == OpKind::Program).collect();
    // The rest of the first line.
    assert_eq!(programs[0].occupant, Occupant::UserProgram);
    let begin = ops.iter().position(|op| op.occupant == Occupant::MetaProgram).expect("smeta");
    let smeta = &ops[begin];
    assert_eq!((smeta.line, smeta.position, smeta.page), (1, 0, 0), "the metadata at the start");
    let after = &ops[begin + 1..];
    assert!(after.iter().all(|op| op.came >= smeta.ended), "nothing is sent before they are on the device");
    // Data and erases alternate along the first stripe.
    let erases: Vec<u32> = after.iter().filter(|op| op.kind == OpKind::Erase).map(|op| op.position).collect();
    let expected: Vec<u32> = (1..128).chain([0]).collect();
    assert_eq!(erases, expected, "one erase with each unit, on its LUN");
    assert!(after.iter().filter(|op| op.kind == OpKind::Erase).all(|op| op.line == 2));
    let order: Vec<(OpKind, Occupant, u32)> =
        after.iter().take(4).map(|op| (op.kind, op.occupant, op.position)).collect();
    let data = |position| (OpKind::Program, Occupant::UserProgram, position);
    let erase = |position| (OpKind::Erase, Occupant::Erase, position);
    assert_eq!(order, [data(1), erase(1), data(2), erase(2)]);
    // An erase takes no semaphore: it comes to its LUN behind the program there, which is under way. So all erases of the
    // line come in the time of a stripe.
    for pair in
        after.iter().filter(|op| op.occupant != Occupant::MetaProgram).take(254).collect::<Vec<_>>().chunks(2)
    {
        let [program, erase] = pair else { panic!("an odd number") };
        assert!(
            program.position == erase.position && erase.came < program.ended && erase.array >= program.ended
        );
    }
    let of_erases =
        |at: usize| after.iter().filter(|op| op.kind == OpKind::Erase).nth(at).expect("an erase").came;
    assert!(of_erases(126) - of_erases(0) < 5_000 * US, "{} us", (of_erases(126) - of_erases(0)) / US);
    // Metadata of the first line: unit k on LUN 127 + k, behind the data on LUN 63 + k.
    let metadata: Vec<usize> =
        (0..after.len()).filter(|&i| after[i].occupant == Occupant::MetaProgram).collect();
    assert_eq!(metadata.len(), 129);
    for (k, &i) in (0..).zip(&metadata) {
        assert_eq!((after[i].line, after[i].position), (0, (127 + k) % 128));
        let before = after[..i].iter().rev().find(|op| op.occupant == Occupant::UserProgram).expect("data");
        assert_eq!((before.line, before.position), (1, (63 + k) % 128), "unit {k}");
    }
    let data_at = |page, position| {
        let is = |op: &&_| {
            let op: &crate::stage::Done = op;
            op.occupant == Occupant::UserProgram && (op.line, op.page, op.position) == (1, page, position)
        };
        after.iter().find(is).expect("such a unit").came
    };
    assert!(after[metadata[0]].came >= data_at(0, 63), "the first with unit 63 of stripe 0");
    assert!(after[metadata[128]].came >= data_at(1, 63), "the last with unit 63 of stripe 1");
}
