//! Programs, erases, pages and parts that fail.

use super::*;

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
