//! Pages that cannot be decoded with V_REF at its default.

use super::*;

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
