//! Are the properties that an opened set reports correct?

use super::{GIB, open, take};
use crate::job::{JobSet, Overwrites};
use std::collections::HashMap;
use tailcut_units::{Command, HostOp};

#[test]
fn uniform_overwrites_are_recognised_exactly() {
    let whole = |bytes| Overwrites::Uniform { region: 0..GIB, bytes };
    let cases = [
        ("randread", Overwrites::None),
        ("randrw,rwmixread=100", Overwrites::None),
        ("randwrite,bs=4k", whole(4096)),
        ("randwrite,bs=4k,norandommap", whole(4096)),
        ("randrw,bs=4k,16k", whole(16_384)),
        ("randwrite;randwrite,numjobs=3;read", whole(4096)),
        ("act:5", whole(131_072)),
        ("randwrite,size=50%", Overwrites::Uniform { region: 0..GIB / 2, bytes: 4096 }),
        ("randwrite;randwrite,bs=8k", Overwrites::Replay),
        ("randwrite;randwrite,offset=1m", Overwrites::Replay),
        ("randwrite;randtrim", whole(4096)),
        ("randtrim", Overwrites::None),
        ("write", Overwrites::Replay),
        ("randwrite,ba=512", Overwrites::Replay),
        ("randwrite,bsrange=4k-8k", Overwrites::Replay),
        ("randwrite,percentage_random=99", Overwrites::Replay),
        ("randwrite,random_distribution=zipf:0.9", Overwrites::Replay),
        ("randwrite,random_distribution=zipf:0", whole(4096)),
        ("randwrite,numjobs=2,offset_increment=1m,size=1m", Overwrites::Replay),
    ];
    for (text, expected) in cases {
        assert_eq!(open(text, GIB).overwrites(), expected, "{text}");
    }
    // A tail shorter than a block is not part of the region.
    let odd = open("randrw,bs=4k,16k", GIB + 4096).overwrites();
    assert_eq!(odd, whole(16_384));
}

#[test]
fn expected_requests_are_those_made() {
    for text in [
        "randrw,bs=4k,size=30%",
        "randread,bs=4k,number_ios=500;write,bs=128k",
        "read,bs=4k,rate_iops=1000,time_based,runtime=3s",
        "read,bs=100k,numjobs=3",
    ] {
        let mut jobs = open(text, 64 << 20);
        let expected = jobs.expected_requests().unwrap();
        let mut made = 0;
        for job in 0..jobs.jobs().len() {
            while jobs.next(job).is_some() {
                made += 1;
            }
        }
        assert_eq!(made, expected, "{text}");
    }
    // With drawn sizes the count is the mean, here within a few percent.
    let mut jobs = open("randwrite,bssplit=4k/50:12k/50", 64 << 20);
    let expected = jobs.expected_requests().unwrap() as f64;
    let made = std::iter::from_fn(|| jobs.next(0)).count() as f64;
    assert!((made / expected - 1.0).abs() < 0.03, "{made} instead of {expected}");
}

#[test]
fn read_fractions_weigh_jobs() {
    let fraction = |text: &str| open(text, GIB).read_fraction();
    assert_eq!(fraction("read,number_ios=300;write,number_ios=100"), 0.75);
    assert_eq!(fraction("randtrim"), 0.0);
    let act = fraction("act:1");
    assert!((act - 2024.0 / 2048.0).abs() < 1e-4, "{act}");
    assert_eq!(fraction("read,time_based,runtime=1,iodepth=3;write,time_based,runtime=1"), 0.75);
}

fn overwrites(text: &str, capacity: u64, most: usize) -> Vec<Command> {
    let set = JobSet::from_inline(text).unwrap();
    let stream = set.overwrite_stream(capacity, 1).unwrap();
    stream.into_iter().flatten().take(most).collect()
}

#[test]
fn ageing_takes_only_writes_in_the_shares_of_the_run() {
    assert!(overwrites("randread;read", GIB, 10).is_empty());
    // Jobs with writes in the ratio 3:1, plus reads and limits that must have no effect.
    let text = "randrw,rwmixread=70,bs=4k,number_ios=1000;write,bs=128k,number_ios=100;read,number_ios=9";
    let commands = overwrites(text, GIB, 40_000);
    assert_eq!(commands.len(), 40_000);
    assert!(commands.iter().all(|c| c.op == HostOp::Write));
    let small = commands.iter().filter(|c| c.bytes == 4096).count() as f64 / 40_000.0;
    assert!((small - 0.75).abs() < 0.011, "{small}");
    // The number of trims must have no effect.
    let mixed = overwrites("randwrite,number_ios=10;randtrim,number_ios=1000000000000", GIB, 10_000);
    assert!(mixed.len() == 10_000 && mixed.iter().all(|c| c.op == HostOp::Write));
    assert!(overwrites("randtrim;read", GIB, 10).is_empty());
}

#[test]
fn ageing_shares_the_hot_blocks_but_not_the_draws() {
    let hottest = |commands: &mut dyn Iterator<Item = Command>| {
        let mut counts: HashMap<u64, u64> = HashMap::new();
        for command in commands {
            *counts.entry(command.offset).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, n)| *n).map(|(offset, _)| offset)
    };
    let zipf = "randwrite,random_distribution=zipf:1.3,number_ios=20000";
    let aged = overwrites(zipf, GIB, 20_000);
    let run: Vec<Command> = take(zipf, GIB, 20_000).iter().map(|i| i.command).collect();
    assert_eq!(hottest(&mut aged.iter().copied()), hottest(&mut run.iter().copied()));
    assert_ne!(aged, run);
    let run: Vec<Command> = take("randwrite", GIB, 100).iter().map(|i| i.command).collect();
    assert_ne!(overwrites("randwrite", GIB, 100), run);
}
