//! Does a job give the same issues on every machine and at every time, and how fast is
//! it?

use super::{GIB, open, take};
use crate::job::JobSet;
use std::time::Instant;

#[test]
fn a_seed_fixes_a_job_and_another_changes_it() {
    let text = "randrw,bs=4k,number_ios=1000;randrw,bs=4k,number_ios=1000";
    let pull = |seed: u64, job: usize| {
        let mut open = JobSet::from_inline(text).unwrap().open(GIB, seed).unwrap();
        std::iter::from_fn(|| open.next(job)).collect::<Vec<_>>()
    };
    assert_eq!(pull(1, 0), pull(1, 0));
    assert_ne!(pull(1, 0), pull(2, 0));
    assert_ne!(pull(1, 0), pull(1, 1));
    // The job's own seed overrides the seed of the run.
    let own = |seed: u64| {
        let mut open = JobSet::from_inline("randread,randseed=7").unwrap().open(GIB, seed).unwrap();
        open.next(0)
    };
    assert_eq!(own(1), own(2));
}

/// `direction offset/512+bytes/512 @ earliest` of the first issues.
fn line(text: &str) -> String {
    let issues = take(text, GIB, 6);
    let words = issues.iter().map(|i| {
        let op = format!("{:?}", i.command.op).to_lowercase();
        format!("{}{}+{}@{}", &op[..1], i.command.offset / 512, i.command.bytes / 512, i.earliest.0)
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A change here changes the results of every run of such a job.
#[test]
fn the_first_issues_of_jobs() {
    let cases = [
        (
            "randrw,bs=4k,rwmixread=70",
            "r282960+8@0 r2083176+8@0 r1095072+8@0 r631432+8@0 r104552+8@0 w1601080+8@0",
        ),
        (
            "randread,norandommap,rate_iops=1000,rate_process=poisson",
            "r580912+8@223601 r823872+8@1108937 r380232+8@2326332 r1149080+8@4572804 r375008+8@4584023 r1524184+8@5142237",
        ),
        (
            "randwrite,random_distribution=zipf:1.1,bssplit=4k/50:16k/50",
            "w1582192+8@0 w1672184+8@0 w177360+8@0 w1529672+32@0 w1348192+32@0 w1078656+8@0",
        ),
        (
            "randread,random_distribution=pareto:0.2",
            "r277192+8@0 r705336+8@0 r464096+8@0 r716296+8@0 r464096+8@0 r1865840+8@0",
        ),
        (
            "randread,random_distribution=normal:10",
            "r731456+8@0 r896208+8@0 r773696+8@0 r1089912+8@0 r880600+8@0 r1167176+8@0",
        ),
        (
            "act:3",
            "r580915+3@33394 r823877+3@200060 r380238+3@366727 r1149082+3@533394 r375011+3@700060 r1524182+3@866727",
        ),
    ];
    let found: Vec<String> = cases.iter().map(|(text, _)| line(text)).collect();
    for ((text, expected), one) in cases.iter().zip(&found) {
        assert_eq!(one, expected, "{text}; all: {found:#?}");
    }
}

/// Prints ns per request: `cargo test --release -- --ignored --nocapture speed`.
#[test]
#[ignore = "a measurement, not a check"]
fn speed() {
    let cases = [
        "randread,bs=4k,norandommap",
        "randread,bs=4k",
        "randrw,bs=4k,rwmixread=70",
        "randrw,bs=4k,rwmixread=70,norandommap",
        "read,bs=4k",
        "randread,norandommap,rate_iops=1000000",
        "randread,norandommap,rate_iops=1000000,rate_process=poisson",
        "randrw,bssplit=4k/50:16k/50",
        "randread,random_distribution=zipf:1.1",
        "randread,random_distribution=pareto:0.2",
        "randread,random_distribution=normal:10",
        "randread,random_distribution=zoned:60/10:30/20:10/70",
    ];
    const COUNT: u32 = 1_000_000;
    for text in cases {
        let mut jobs = open(&format!("{text},time_based,runtime=100d"), 700 * GIB);
        let mut sum = 0u64;
        // The minimum of several runs: other load on the machine only adds time.
        let best = (0..15).map(|_| {
            let start = Instant::now();
            for _ in 0..COUNT {
                sum = sum.wrapping_add(jobs.next(0).map_or(0, |i| i.command.offset));
            }
            start.elapsed().as_nanos()
        });
        let ns = best.min().unwrap_or(0) as f64 / f64::from(COUNT);
        println!("{ns:6.1} ns  {text}  ({sum:x})");
    }
}
