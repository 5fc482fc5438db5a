//! Collections, through the controller and by copyback, joined and alone.

use super::*;

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

/// A region of one block in each plane, with two pages, of which the fill took nothing.
fn slc(idle: u64, below: f64) -> DeviceConfig {
    let mut c = drive();
    c.slc = Some(SlcConfig {
        blocks: 1,
        read: Span(25_000),
        program: Span(100_000),
        erase: Span(1_500_000),
        fold_idle: Span(idle),
        fold_below: below,
    });
    c
}

#[test]
fn a_fold_of_the_region() {
    let question = "The region of die 0 takes two rows, at a third of the time of a program. The third write finds it\n\
        full and goes to a normal block. When the host has been idle for a millisecond, the region is folded: what is\n\
        valid, one row, is read, programmed and the block erased. A read waits for the fold; its data lie in the\n\
        region. The last write finds room there again.";
    let script = [
        (0, Put, 64, UNIT),
        (100_000, Put, 64, UNIT),
        (200_000, Put, 72, UNIT),
        (1_700_000, Read, 64, UNIT),
        (5_500_000, Put, 76, UNIT),
    ];
    check("a_fold_of_the_region", question, &slc(1_000_000, 0.0), &[], &script, 50_000);
}

#[test]
fn a_fold_at_once() {
    let question = "The region of die 0 is full after two writes, and so below the share that is to be free: its fold\n\
        begins before the host is idle. The unit that was written twice moves once. The third write goes to a\n\
        normal block.";
    let script = [(0, Put, 64, UNIT), (100_000, Put, 64, UNIT), (300_000, Put, 72, UNIT)];
    check("a_fold_at_once", question, &slc(1_000_000_000, 0.5), &[], &script, 50_000);
}
