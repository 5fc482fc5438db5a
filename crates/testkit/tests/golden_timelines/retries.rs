//! Pages that cannot be decoded with V_REF at its default.

use super::*;

/// Pages of which none can be decoded with V_REF at its default, and all at their optimum.
fn old(retry: &str) -> DeviceConfig {
    let mut c = drive();
    (c.errors, c.ecc.codeword) = (Some(ErrorsConfig::alike()), CODEWORD);
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
fn a_pipelined_walk_with_shorter_senses() {
    let mut c = old("walk");
    c.errors.as_mut().expect("it has raw bit errors").iteration = Span(100);
    c.policy.read_retry = read_retry::ReadRetryConfig::Walk(read_retry::walk::Config {
        pipelined: true,
        shorter: 0.25,
        ..Default::default()
    });
    let script = [(0, Read, 0, UNIT), (150_000, Read, 8, UNIT)];
    let question = "A page needs several senses. From the second on each begins when the one before it has ended, and is\n\
        shorter; the last is dropped. The second read waits for the die until then.";
    check("a_pipelined_walk_with_shorter_senses", question, &c, &[], &script, 8_000);
}

/// RiF's example (HPCA 2024): a read of 256 KiB from four dies of four planes at one channel, whose pages all fail at the
/// default. A sense takes 40 us, a page 13 us on the channel and up to 20 in the decoder. Published: 252 us without
/// a retry, 418 with one, 292 with RiF. The decoder takes the rest of the first; of the second see `hpca24/timeline`.
#[test]
fn a_large_read_from_one_channel() {
    for name in ["retry-ideal", "retry-one", "rif"] {
        let mut c = old(name);
        let g = &mut c.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes, g.page) = (1, 4, 1, 4, 16_384);
        (c.ftl.mapping_unit, c.ftl.extent, c.ftl.write_planes) = (16_384, ExtentKind::Superblock, 4);
        (c.ftl.gc.program_planes, c.ftl.gc.erase_planes) = (4, 4);
        (c.timing.read, c.timing.program.pulses) = (vec![Span(40_000)], vec![4]);
        // A page in 13 us.
        (c.channel.rate, c.channel.command) = (1_260_307_693, Span(0));
        (c.ecc.decode, c.ecc.queue, c.host.max_transfer) = (Span(0), 8, 1 << 18);
        c.errors.as_mut().expect("it has raw bit errors").iteration = Span(250);
        let month = Some(Span(28 * 86_400_000_000_000));
        (c.age.pe_cycles, c.age.retention, c.age.retention_from) = (Some(2_000), month, month);
        let script = [(0, Read, 0, 16 * c.ftl.mapping_unit)];
        let question = format!("A read of 256 KiB from the four dies of one channel, under {name}.");
        check(&format!("a_large_read_under_{}", name.replace('-', "_")), &question, &c, &[], &script, 8_000);
    }
}
