//! Tests the sequence of operations in small scenarios: which operation holds which die and
//! channel at what time.
//!
//! Each scenario is a short script on an idle drive. Its waveform, the exact times and the
//! causes of every command's latency are stored in a text file in `tests/golden`; `UPDATE=1`
//! rewrites the files.

use std::fmt::Write;
use std::path::Path;
use tailcut_core::device::StepEvent;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::ftl::config::{BadBlocks, CopyMode, ExtentKind};
use tailcut_core::nand::config::{BusyKind, ServedAfterLoop};
use tailcut_core::nand::errors::config::{CODEWORD, ErrorsConfig};
use tailcut_core::policy::*;
use tailcut_testkit::swarm::member;
use tailcut_testkit::{Host, errors_table, operations, parity_drive, small_drive, waveform};
use tailcut_units::quantity::Level;
use tailcut_units::{HostOp, Span, Status};

/// Start time of the script, ns; everything before is preparation.
const START: u64 = 1_000_000_000;
/// Mapping units of 8 KiB are whole pages.
const UNIT: u64 = 8192;
const DIES: u64 = 4;

/// Two channels of two dies of two planes, without a write buffer, behind a host interface that
/// takes no time. Units are striped over the dies: 0 and 2 are on the dies of channel 0, 1 and
/// 3 on those of channel 1. A row is two units of a die, `DIES` apart. A block has four pages
/// of two alternating types.
fn drive() -> DeviceConfig {
    let mut c = small_drive();
    (c.geometry.blocks, c.geometry.pages) = (12, 4);
    (c.host.submit_latency, c.host.complete_latency, c.host.link_rate) = (Span(0), Span(0), u64::MAX);
    c.controller.command = Span(0);
    (c.ftl.mapping_unit, c.ftl.over_provisioning) = (UNIT, Some(0.5));
    c.policy.buffer = buffer::BufferConfig::None(Default::default());
    c.policy.flush = flush::FlushConfig::Immediate(Default::default());
    c
}

/// The same drive with a collection threshold that is reached as soon as a die opens a block
/// beyond the two full ones.
fn hungry() -> DeviceConfig {
    let limits = gc_schedule::threshold::Config {
        start: Level::Count(10),
        hard: Level::Count(1),
        ..Default::default()
    };
    let mut c = drive();
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Threshold(limits);
    c
}

/// A command of a script: time (from `START`), operation, first unit, bytes.
type Line = (u64, HostOp, u64, u64);

/// Play a script and compare its waveform with the golden file of that name.
fn check(name: &str, question: &str, c: &DeviceConfig, before: &[Line], script: &[Line], column: u64) {
    let mut host = Host::observed(c, Vec::<StepEvent>::new());
    // Fill two blocks of every plane of the usual four dies.
    let stripes = host.device.shape().stripes.as_ref();
    let (data, all) = stripes.map_or((1, 1), |s| (u64::from(s.width - 1), u64::from(s.width)));
    host.device.fill(2 * 4 * 2 * DIES * UNIT * data / all);
    for &(at, op, unit, bytes) in before {
        host.submit(at, op, unit * UNIT, bytes as u32);
    }
    // Not until idle: a fault of the script may come later.
    host.advance(START - 1);
    assert_eq!(host.device.outstanding(), 0, "the preparation has ended");
    let prepared = host.done.len();
    host.device.observer_mut().clear();
    for &(at, op, unit, bytes) in script {
        host.submit(START + at, op, unit * UNIT, bytes as u32);
    }
    host.drain();
    let ops = operations(host.device.observer());
    let end = ops.iter().map(|o| o.released()).max().expect("an operation ran");
    let shape = host.device.shape();
    let mut text = format!("{question}\n\n");
    for &(at, op, unit, bytes) in script {
        writeln!(text, "at {at:>7}  {op:?} unit {unit}, {bytes} bytes").unwrap();
    }
    writeln!(text).unwrap();
    let unit = if shape.busy == BusyKind::Plane { "plane" } else { "die" };
    text += &waveform(&ops, (unit, shape.units), shape.channels, (START, end), column);
    writeln!(text, "\n  command        ends   took  of which").unwrap();
    for d in &host.done[prepared..] {
        let causes: Vec<String> = d.ledger.iter().map(|(c, ns)| format!("{} {ns}", c.name())).collect();
        let (op, at) = (format!("{:?}", d.command.op), d.at.0 - START);
        let ended = if d.status == Status::Ok { String::new() } else { format!("{:?}: ", d.status) };
        let line = format!("  {op:<9} {at:>9} {:>6}  {ended}{}", d.latency, causes.join(", "));
        writeln!(text, "{}", line.trim_end()).unwrap();
    }
    if let Some(since) = host.device.read_only_since() {
        writeln!(text, "  read-only since {}", since.0 - START).unwrap();
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    if std::env::var_os("UPDATE").is_some_and(|v| v == "1") {
        std::fs::write(&file, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(text == golden, "{name} differs from {}; UPDATE=1 rewrites it. Now:\n{text}", file.display());
}

use HostOp::{Read, Trim, Write as Put};

#[test]
fn one_read() {
    check("one_read", "Command, sense, data out: nothing else.", &drive(), &[], &[(0, Read, 0, UNIT)], 1_000);
}

#[test]
fn two_reads_of_one_die() {
    let script = [(0, Read, 0, UNIT), (10_000, Read, 8, UNIT)];
    check(
        "two_reads_of_one_die",
        "The second waits until the first's data are out.",
        &drive(),
        &[],
        &script,
        1_500,
    );
}

#[test]
fn two_reads_of_one_channel() {
    let script = [(0, Read, 0, UNIT), (5_000, Read, 2, UNIT), (5_000, Read, 1, UNIT)];
    let question = "Senses overlap; data of one channel go out one after the other.";
    check("two_reads_of_one_channel", question, &drive(), &[], &script, 1_000);
}

#[test]
fn a_read_behind_a_program() {
    let script = [(0, Put, 64, UNIT), (50_000, Read, 0, UNIT), (50_000, Read, 2, UNIT)];
    let question = "First come, first served: the read of the same die waits for the program, not the other.";
    check("a_read_behind_a_program", question, &drive(), &[], &script, 5_000);
}

#[test]
fn a_read_overtakes_a_queued_program() {
    let mut c = drive();
    c.policy.schedule = schedule::ScheduleConfig::ReadPriority(Default::default());
    let script = [(0, Put, 64, UNIT), (10_000, Put, 72, UNIT), (50_000, Read, 0, UNIT)];
    let question = "Read priority: the read passes the queued program, not the running one.";
    check("a_read_overtakes_a_queued_program", question, &c, &[], &script, 10_000);
}

#[test]
fn a_read_goes_first_on_the_channel() {
    // While die 0's data are transferred in, die 2's program and then a read of die 2's channel
    // request the channel.
    let mut c = drive();
    c.geometry.dies_per_chip = 3;
    c.policy.schedule = schedule::ScheduleConfig::ReadPriority(Default::default());
    let script = [(0, Put, 96, UNIT), (1_000, Put, 98, UNIT), (2_000, Read, 4, UNIT)];
    let question =
        "Read priority on the channel too: the read's command passes the data of the second program.";
    check("a_read_goes_first_on_the_channel", question, &c, &[], &script, 5_000);
}

#[test]
fn a_multi_plane_write() {
    let mut c = drive();
    c.policy.placement = placement::PlacementConfig::Dynamic(Default::default());
    let script = [(0, Put, 64, 2 * UNIT), (0, Put, 66, UNIT)];
    let question = "Two pages are one program on two planes; a lone page is padded to the same.";
    check("a_multi_plane_write", question, &c, &[], &script, 5_000);
}

#[test]
fn a_read_modify_write() {
    let question = "A write of a sector reads its unit, decodes it, and programs a new row.";
    check("a_read_modify_write", question, &drive(), &[], &[(0, Put, 0, 512)], 5_000);
}

/// Trim most of the first extent of die 0 (rows 0 and 3, and half of row 1).
fn stale() -> Vec<Line> {
    [0u64, 1, 3, 6, 7].map(|k| (1_000, Trim, k * DIES, UNIT)).to_vec()
}

#[test]
fn a_collection_through_the_controller() {
    let script = [(0, Put, 64, UNIT), (600_000, Read, 32, UNIT), (600_000, Read, 34, UNIT)];
    let question = "A write opens a block and so starts a collection: a block with three valid pages is read,\n\
        programmed elsewhere (one row padded) and erased; a read is served in order of its arrival.";
    check("a_collection_through_the_controller", question, &hungry(), &stale(), &script, 50_000);
}

/// Make planes lanes, and join operations on both planes of a die where possible.
#[test]
fn writes_that_pay_for_a_collection() {
    let question = "The first write pays the token with which the collection begins. The second has begun by then, and\n\
        the others wait: a copied row of two units earns 5/3 tokens, for three valid units of eight. The first\n\
        makes up for the second write. After the last copy nothing waits for tokens.";
    let mut c = hungry();
    let limits = gc_schedule::tokens::Config { start: Level::Count(10), hard: Level::Count(1), most: 1 };
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Tokens(limits);
    c.ftl.gc.in_flight = 1;
    let script = [0, 100_000, 200_000, 300_000].map(|at| (at, Put, 64, UNIT));
    check("writes_that_pay_for_a_collection", question, &c, &stale(), &script, 100_000);
}

fn joining(mut c: DeviceConfig) -> DeviceConfig {
    (c.ftl.extent, c.ftl.write_planes) = (ExtentKind::Block, 1);
    (c.ftl.gc.copy_planes, c.ftl.gc.program_planes, c.ftl.gc.erase_planes) = (1, 1, 2);
    (c.ftl.join_programs, c.ftl.gc.join_reads) = (true, true);
    c
}

#[test]
fn programs_of_one_page_index_join() {
    // A write to all lanes, then one to a plane of die 0, then another one to all lanes.
    let script = [(0, Put, 64, 8 * UNIT), (800_000, Put, 128, UNIT), (1_600_000, Put, 160, 8 * UNIT)];
    let question = "Programs of one command on two planes of a die join where their blocks are filled up to the\n\
        same page; once plane 0 of die 0 is a page ahead, its two planes are written one after the other.";
    check("programs_of_one_page_index_join", question, &joining(drive()), &[], &script, 50_000);
}

#[test]
fn collections_of_two_planes_join() {
    // The units of plane 0 of die 0 are 0, 8, 16, ... and those of plane 1 are 4, 12, 20, ...
    // Pages 1 and 2 stay valid on plane 0, pages 1 and 3 on plane 1.
    let before = [0u64, 24, 4, 20].map(|unit| (1_000, Trim, unit, UNIT));
    let script = [(0, Put, 64, 5 * UNIT)];
    let question = "Two planes of a die collect: their reads join at one page index of the victims, their programs\n\
        at one page index of the blocks copied to, and one erase covers both.";
    check("collections_of_two_planes_join", question, &joining(hungry()), &before, &script, 50_000);
}

#[test]
fn a_collection_by_copyback() {
    let mut c = hungry();
    (c.ftl.extent, c.ftl.write_planes) = (ExtentKind::Block, 1);
    (c.ftl.gc.copy, c.ftl.gc.copy_planes, c.ftl.gc.program_planes) = (CopyMode::Copyback, 1, 1);
    c.ftl.gc.erase_planes = 1;
    // Units are striped over dies, then planes: those of plane 0 of die 0 are 8 apart.
    let before = [0u64, 3].map(|k| (1_000, Trim, k * 2 * DIES, UNIT));
    let script = [(0, Put, 64, UNIT), (500_000, Read, 4, UNIT)];
    let question =
        "Two valid pages move inside the plane: sense, second command, program; no data on the channel.";
    check("a_collection_by_copyback", question, &c, &before, &script, 50_000);
}

#[test]
fn a_collection_that_blocks_its_channel() {
    let mut c = hungry();
    c.policy.gc_scope = gc_scope::GcScopeConfig::Channel(Default::default());
    let script = [(0, Put, 64, UNIT), (400_000, Read, 2, UNIT), (400_000, Read, 1, UNIT)];
    let question =
        "While die 0 collects, a read of the channel's other die is held; one of the other channel is not.";
    check("a_collection_that_blocks_its_channel", question, &c, &stale(), &script, 50_000);
}

#[test]
fn a_full_decoder_stalls_the_channel() {
    let mut c = drive();
    (c.ecc.decode, c.ecc.queue) = (Span(6_000), 2);
    let script = [(0, Read, 0, UNIT), (0, Read, 2, UNIT)];
    let question =
        "Four codewords a page, 6 us to decode one, room for two: the channel waits for the decoder.";
    check("a_full_decoder_stalls_the_channel", question, &c, &[], &script, 1_500);
}

/// Trim the whole first extent of die 0, so that its collection is only an erase.
fn emptied() -> Vec<Line> {
    (0..8).map(|k| (1_000, Trim, k * DIES, UNIT)).collect()
}

/// A write starts the erase of a block; the reads arrive at these times after the start of the
/// erase.
fn erased(reads: &[u64]) -> Vec<Line> {
    let begin = 341_680;
    let mut script = vec![(0, Put, 64, UNIT)];
    script.extend(reads.iter().map(|&x| (begin + x, Read, 32, UNIT)));
    script
}

fn suspending(erase: &str, program: &str) -> DeviceConfig {
    let mut c = hungry();
    c.policy.schedule = schedule::ScheduleConfig::ReadPriority(Default::default());
    c.policy.suspend_erase = tailcut_testkit::swarm::member(erase);
    c.policy.suspend_program = tailcut_testkit::swarm::member(program);
    c
}

#[test]
fn an_erase_suspended_anywhere() {
    let question = "ES: the pulse stops in its middle and later continues there; a read also interrupts a resume, and\n\
        a read that arrives during the recovery waits for its end.";
    let (c, script) = (suspending("arbitrary", "never"), erased(&[300_000, 385_000, 1_130_000]));
    check("an_erase_suspended_anywhere", question, &c, &emptied(), &script, 30_000);
}

#[test]
fn an_erase_suspended_immediately() {
    let question = "I-ES: the loop under way is cancelled; resuming is a verify, then the whole loop.";
    let (c, script) = (suspending("immediate", "never"), erased(&[800_000, 1_750_000]));
    check("an_erase_suspended_immediately", question, &c, &emptied(), &script, 25_000);
}

#[test]
fn an_erase_suspended_between_loops() {
    let question = "D-ES: a loop that has begun completes; a read that arrives while the first is served waits\n\
        for the end of the next loop.";
    let (c, script) = (suspending("deferred", "never"), erased(&[300_000, 1_020_000]));
    check("an_erase_suspended_between_loops", question, &c, &emptied(), &script, 50_000);
}

#[test]
fn an_erase_that_serves_all_reads_between_loops() {
    let question = "D-ES that serves until no read waits: a read that arrives while the first is served is\n\
        served before the next loop begins.";
    let (mut c, script) = (suspending("deferred", "never"), erased(&[300_000, 1_020_000]));
    c.suspend.erase.serve = ServedAfterLoop::All;
    check("an_erase_that_serves_all_reads_between_loops", question, &c, &emptied(), &script, 50_000);
}

/// Six blocks a plane, of which two are filled; each needs two loops. The first extent of die 0 is trimmed
/// and the other four are written, so that the first one is next.
fn reopened() -> (DeviceConfig, Vec<Line>) {
    let mut c = hungry();
    (c.geometry.blocks, c.ftl.over_provisioning) = (6, Some(0.6));
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Threshold(gc_schedule::threshold::Config {
        start: Level::Count(4),
        hard: Level::Count(1),
        ..Default::default()
    });
    c.policy.erase_scheme = tailcut_testkit::swarm::member("ispe");
    let erase = c.erase.as_mut().expect("it has the table");
    erase.rows = vec!["ispe 0: 7ms 100".parse().expect("a row")];
    erase.defer_last_loop = true;
    let mut before = emptied();
    before.extend((0..16).map(|k| (30_000_000 * (k + 1), Put, 0, UNIT)));
    (c, before)
}

#[test]
fn an_erase_without_its_last_loop() {
    let question = "The write opens an extent, and a collection erases an empty one. Its blocks need two loops: the\n\
        collection makes the first.";
    let (c, _) = reopened();
    let script = [(0, Put, 0, UNIT), (500_000, Read, 32, UNIT)];
    check("an_erase_without_its_last_loop", question, &c, &emptied(), &script, 150_000);
}

#[test]
fn a_last_loop_that_was_deferred() {
    let question = "The extent that the first write opens lacks the last loop of its erase. Both writes are held until\n\
        its end; the read of the die waits for it too.";
    let (c, before) = reopened();
    let script = [(0, Put, 0, UNIT), (100_000, Put, 4, UNIT), (300_000, Read, 32, UNIT)];
    check("a_last_loop_that_was_deferred", question, &c, &before, &script, 150_000);
}

#[test]
fn an_erase_across_its_timeout() {
    let mut c = suspending("timeout", "never");
    let after = suspend_erase::timeout::Config { after: Span(1_250_000), ..Default::default() };
    c.policy.suspend_erase = suspend_erase::SuspendEraseConfig::Timeout(after);
    let question = "T-ES, 1.25 ms, of which the erase waits 341 us for the program: the first read cancels a loop,\n\
        the second the verify before it is repeated; by the third the timeout is reached, and the loop ends first.";
    let script = erased(&[800_000, 880_000, 1_300_000]);
    check("an_erase_across_its_timeout", question, &c, &emptied(), &script, 25_000);
}

#[test]
fn a_program_suspended_between_phases() {
    let question = "IPS: the pulse ends, then the read; the page register is filled again.";
    let script = [(0, Put, 64, UNIT), (60_000, Read, 0, UNIT)];
    let c = suspending("never", "inter-phase");
    check("a_program_suspended_between_phases", question, &c, &[], &script, 5_000);
}

#[test]
fn a_program_cancelled_in_a_phase() {
    let mut c = suspending("never", "intra-phase");
    c.suspend.program.data = tailcut_core::nand::config::SuspendedData::Controller;
    let question = "IPC: the pulse is cut and begins again; its data come from the controller again.";
    let script = [(0, Put, 64, UNIT), (60_000, Read, 0, UNIT)];
    check("a_program_cancelled_in_a_phase", question, &c, &[], &script, 4_000);
}

#[test]
fn a_read_in_a_program_in_an_erase() {
    let mut c = suspending("arbitrary", "inter-phase");
    c.policy.schedule = schedule::ScheduleConfig::ReadWriteErase(Default::default());
    let question =
        "Nested: a write stops the erase, and a read the write's program; they resume in reverse order.";
    let mut script = erased(&[]);
    script.extend([(641_680, Put, 72, UNIT), (750_000, Read, 32, UNIT)]);
    check("a_read_in_a_program_in_an_erase", question, &c, &emptied(), &script, 30_000);
}

/// Four channels of two planes with stripes of three pages and their parity. Even stripes are
/// on planes 0, 2, 4, 6 (units 0 and 24 on plane 0, the parity of their stripes on plane 6),
/// odd stripes on the others. Written data stay in the buffer until a FLUSH. Their program
/// opens a block and leaves the plane nine free blocks, so that the plane collects.
fn striped() -> DeviceConfig {
    let (mut c, still) = (parity_drive(), drive());
    (c.geometry.blocks, c.geometry.pages, c.geometry.page) = (12, 4, UNIT);
    (c.host, c.controller, c.ecc) = (still.host, still.controller, still.ecc);
    (c.ftl.mapping_unit, c.ftl.over_provisioning) = (UNIT, Some(0.5));
    if let buffer::BufferConfig::Lru(m) = &mut c.policy.buffer {
        (m.capacity, m.power_loss) = (32 * UNIT, buffer::lru::PowerLoss::Volatile);
    }
    let limits =
        gc_schedule::rotating::Config { start: Level::Count(9), hard: Level::Count(2), ..Default::default() };
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Rotating(limits);
    c
}

/// Trim the first `count` even stripes; four of them fill a block of each of their planes.
fn stripes_trimmed(count: u64) -> Vec<Line> {
    (0..count).map(|k| (1_000, Trim, k * 6, 3 * UNIT)).collect()
}

/// Write a unit of a stripe that was trimmed and flush it: computing the parity needs no read.
fn stripe_written() -> Vec<Line> {
    vec![(0, Put, 0, UNIT), (0, HostOp::Flush, 0, 0)]
}

#[test]
fn reads_between_copybacks() {
    let mut script = stripe_written();
    script.extend([(470_000, Read, 3, UNIT), (1_000_000, Read, 9, UNIT), (1_020_000, Read, 27, UNIT)]);
    let question = "Plane 0 copies two pages back and erases; between its short commands the channel is free for\n\
        reads of plane 1.";
    check("reads_between_copybacks", question, &striped(), &stripes_trimmed(2), &script, 50_000);
}

#[test]
fn a_rebuilt_read() {
    let mut script = stripe_written();
    script.extend([(700_000, Read, 24, UNIT), (1_500_000, Read, 24, 3 * UNIT)]);
    let question = "Plane 0 collects: its page is computed from the other two and the parity. A read of the whole\n\
        stripe needs only the parity in addition.";
    check("a_rebuilt_read", question, &striped(), &stripes_trimmed(3), &script, 50_000);
}

#[test]
fn a_collection_handed_over() {
    let question = "Planes 0 and 6 of one group must both collect; plane 6 starts when plane 0 has ended.";
    let script = stripe_written();
    check("a_collection_handed_over", question, &striped(), &stripes_trimmed(3), &script, 100_000);
}

#[test]
fn a_flush_past_a_collection() {
    let mut script = stripe_written();
    script.extend([(700_000, Put, 24, 512), (700_000, HostOp::Flush, 0, 0)]);
    let question = "A sector of a page on a collecting plane is flushed: the rest of the page is computed from its\n\
        stripe; parity is programmed at once, the page when its plane is free.";
    check("a_flush_past_a_collection", question, &striped(), &stripes_trimmed(3), &script, 100_000);
}

/// A drive with this fault beside those that it has.
fn faulty(mut c: DeviceConfig, fault: &str) -> DeviceConfig {
    c.fault.push(fault.parse().unwrap_or_else(|e| panic!("{e}")));
    c
}

/// `striped()` without collections.
fn calm() -> DeviceConfig {
    let mut c = striped();
    let limits =
        gc_schedule::rotating::Config { start: Level::Count(3), hard: Level::Count(2), ..Default::default() };
    c.policy.gc_schedule = gc_schedule::GcScheduleConfig::Rotating(limits);
    c
}

#[test]
fn a_program_that_fails() {
    // Blocks 0 and 1 of every plane are filled: the write takes page 0 of block 2 on die 0.
    let script = [(0, Put, 64, UNIT)];
    let question = "The row fails on one of its planes: both pages are programmed again in another block, without a\n\
        read, and the write ends with the second program. The block, which is empty, is erased and retired.";
    check("a_program_that_fails", question, &faulty(drive(), "program=0.1.2.0"), &[], &script, 50_000);
}

#[test]
fn an_erase_that_fails() {
    let script = [(0, Put, 64, UNIT), (600_000, Read, 32, UNIT)];
    let question = "The erase of block 0 fails on one plane after its whole time, and the extent is retired. No other\n\
        extent has stale data: nothing else is collected. The read waits as for an erase that succeeds.";
    check("an_erase_that_fails", question, &faulty(hungry(), "erase=0.0.0"), &emptied(), &script, 100_000);
}

#[test]
fn a_page_that_is_unreadable() {
    let script = [(0, Read, 0, UNIT), (0, Read, 4, UNIT), (100_000, Read, 0, UNIT)];
    let question = "A page cannot be decoded: the read takes as long as one that can, and nothing is sent to the host.\n\
        The next read tries again. Unit 4 is on the other plane of the same row.";
    check("a_page_that_is_unreadable", question, &faulty(drive(), "page=0.0.0.0"), &[], &script, 2_000);
}

#[test]
fn a_page_that_parity_gives() {
    let script = [(0, Read, 0, UNIT), (800_000, Read, 0, UNIT)];
    let question = "A page cannot be decoded: it is computed from the rest of its stripe, and the stripe is flushed\n\
        such that the page is written elsewhere. The next read is direct.";
    check("a_page_that_parity_gives", question, &faulty(calm(), "page=0.0.0.0"), &[], &script, 10_000);
}

#[test]
fn a_dead_plane_with_parity() {
    let mut c = faulty(calm(), "plane=0.0@1000020us");
    // One stripe after the other.
    c.faults.rebuild_rate = Some(10_000_000);
    let script = [(0, Read, 0, UNIT), (30_000, Read, 24, UNIT)];
    let question = "Plane 0 dies at 20 us, while it senses: the read fails when it ends, and its unit is computed. The\n\
        second read is computed at once. The units of the plane are written to others.";
    check("a_dead_plane_with_parity", question, &c, &[], &script, 50_000);
}

#[test]
fn a_dead_die_without_parity() {
    let script =
        [(0, Put, 64, UNIT), (10_000, Read, 0, UNIT), (50_000, Read, 8, UNIT), (60_000, Put, 72, UNIT)];
    let question = "Die 0 dies at 20 us: the program under way and the read behind it fail. A later read ends at once,\n\
        without data. The first write goes to another die, and the second as well.";
    check("a_dead_die_without_parity", question, &faulty(drive(), "die=0@1000020us"), &[], &script, 10_000);
}

/// Pages of which none can be decoded with V_REF at its default, and all at their optimum.
fn old(retry: &str) -> DeviceConfig {
    let mut c = drive();
    let table = errors_table();
    let spreads = ErrorsConfig {
        block_spread: 0.0,
        layer_spread: 0.0,
        page_spread: 0.0,
        codeword_spread: 0.0,
        ..table
    };
    (c.errors, c.ecc.codeword) = (Some(spreads), CODEWORD);
    c.age.retention = Some(Span(90 * 86_400_000_000_000));
    c.policy.read_retry = member(retry);
    c
}

#[test]
fn a_page_that_fails_under_each_retry_scheme() {
    for name in read_retry::ReadRetryConfig::MEMBERS {
        // The second read shows what the first has left behind.
        let script = [(0, Read, 0, UNIT), (400_000, Read, 0, UNIT)];
        let question = format!("Two reads of a page that cannot be decoded at the default, under {name}.");
        let file = format!("an_old_page_under_{}", name.replace('-', "_"));
        check(&file, &question, &old(name), &[], &script, 8_000);
    }
}

#[test]
fn a_page_that_is_unreadable_once() {
    let script = [(0, Read, 0, UNIT), (100_000, Read, 0, UNIT)];
    let question = "A page cannot be decoded for once: its data are kept, and the next read has them.";
    let c = faulty(drive(), "page=0.0.0.0,once");
    check("a_page_that_is_unreadable_once", question, &c, &[], &script, 2_000);
}

#[test]
fn a_page_that_is_unreadable_after_reads() {
    let script = [(0, Read, 0, UNIT), (100_000, Read, 0, UNIT), (200_000, Read, 0, UNIT)];
    let question = "A page cannot be read any more after two reads of its block.";
    let c = faulty(drive(), "page=0.0.0.0,reads=2");
    check("a_page_that_is_unreadable_after_reads", question, &c, &[], &script, 4_000);
}

#[test]
fn an_erase_that_fails_from_a_cycle_on() {
    let script = [(0, Put, 64, UNIT), (4_000_000, Put, 64, UNIT), (8_000_000, Put, 64, UNIT)];
    let question =
        "The erase of block 0 fails from its second program/erase cycle on: the first one succeeds.";
    let c = faulty(hungry(), "erase=0.0.0,cycle=1");
    check("an_erase_that_fails_from_a_cycle_on", question, &c, &emptied(), &script, 100_000);
}

#[test]
fn a_dead_die_with_parity() {
    let script = [(0, Read, 0, UNIT), (60_000, Read, 0, UNIT), (120_000, Put, 0, UNIT)];
    let question = "Die 0 dies at 20 us, while a read senses there: its unit is computed from the stripe, as that of\n\
        the next read. A write of the unit goes to another die.";
    check("a_dead_die_with_parity", question, &faulty(striped(), "die=0@1000020us"), &[], &script, 10_000);
}

#[test]
fn an_erase_that_fails_with_a_spare() {
    let script = [(0, Put, 64, UNIT), (4_000_000, Put, 64, UNIT), (8_000_000, Put, 64, UNIT)];
    let question = "The erase of block 0 fails on plane 0, which has a block more than plane 1: it takes the place of\n\
        the bad one. The extent is free again, and the lane has as many as before.";
    let c = faulty(faulty(hungry(), "bad=0.1.11"), "erase=0.0.0");
    check("an_erase_that_fails_with_a_spare", question, &c, &emptied(), &script, 100_000);
}

#[test]
fn a_bad_block_that_another_stands_for() {
    // Blocks 0 and 1 of every plane are filled: the write takes block 2 on die 0.
    let script = [(0, Put, 64, 2 * UNIT), (500_000, Read, 64, 2 * UNIT)];
    let question = "Block 2 of a plane is bad from the factory: the next good one of its plane stands for it, and rows are\n\
        as wide as without.";
    let c = faulty(drive(), "bad=0.1.2");
    check("a_bad_block_that_another_stands_for", question, &c, &[], &script, 50_000);
}

#[test]
fn a_bad_block_that_is_a_hole() {
    let mut c = faulty(drive(), "bad=0.1.2");
    c.ftl.bad_blocks = BadBlocks::Hole;
    let script = [(0, Put, 64, 2 * UNIT), (10_000, Put, 68, UNIT), (1_500_000, Read, 64, 2 * UNIT)];
    let question = "Block 2 of a plane is bad from the factory: its extent goes on without it. The first row there is\n\
        one page instead of two.";
    check("a_bad_block_that_is_a_hole", question, &c, &[], &script, 50_000);
}

#[test]
fn a_dead_channel_without_parity() {
    let script = [
        (0, Put, 64, UNIT),
        (10_000, Read, 2, UNIT),
        (50_000, Read, 10, UNIT),
        (60_000, Put, 66, UNIT),
        (60_000, Read, 1, UNIT),
    ];
    let question = "Channel 0 dies at 20 us: the program on die 0 and the read on die 1 fail. A later read of its dies ends\n\
        at once, without data. Both writes go to the dies of channel 1, whose units can be read.";
    let mut c = faulty(drive(), "channel=0@1000020us");
    c.ftl.over_provisioning = Some(0.7);
    check("a_dead_channel_without_parity", question, &c, &[], &script, 10_000);
}

#[test]
fn a_dead_channel_with_parity() {
    let mut c = faulty(calm(), "channel=0@1000020us");
    c.ftl.over_provisioning = Some(0.7);
    // One stripe after the other.
    c.faults.rebuild_rate = Some(10_000_000);
    let script = [(0, Read, 0, UNIT), (0, Read, 3, UNIT), (30_000, Read, 24, UNIT)];
    let question = "Channel 0 dies at 20 us, while both of its planes sense. Each plane is in another group: every unit is\n\
        computed, and both planes are rewritten at the rate of the drive.";
    check("a_dead_channel_with_parity", question, &c, &[], &script, 50_000);
}
