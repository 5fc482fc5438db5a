//! Stripes with parity, and reads that are rebuilt.

use super::*;

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
