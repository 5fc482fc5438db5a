//! The digests of a few runs. They change with the model alone: raise `MODEL_VERSION` with them, and say in
//! CHANGELOG.md what has changed.

mod common;

use common::{experiment, job};
use tailcut_config::resolve;
use tailcut_sim::SchemeSpec;

/// Device, scheme, keys, requests, and the digest.
const RUNS: [(&str, &str, &[&str], &str, &str); 7] = [
    (
        "tiny",
        "baseline",
        &[],
        "randrw,bs=4k,rwmixread=70,iodepth=16,size=70%,number_ios=5000",
        "06f95d8847e413ab",
    ),
    ("tiny", "rps", &[], "randrw,bs=4k,rwmixread=70,iodepth=16,size=70%,number_ios=5000", "7864f3c518231f96"),
    (
        "ttflash-256g",
        "ttflash",
        &["geometry.blocks=64", "geometry.pages=16"],
        "randrw,bs=4k,rwmixread=70,iodepth=16,size=70%,number_ios=5000",
        "2c99272b38a63ff0",
    ),
    (
        "z-ssd",
        "t-es",
        &["geometry.blocks=128", "geometry.pages=32", "ftl.user_capacity=1500MB"],
        "randwrite,bs=4k,size=50%,number_ios=5000",
        "5caf25a058d13cc4",
    ),
    (
        "z-ssd-artifact",
        "es",
        &[
            "geometry.blocks=64",
            "geometry.pages=32",
            "ftl.user_capacity=850MB",
            "policy.buffer.lru.capacity=2MiB",
            "policy.buffer.lru.queue_limit.bytes=64KiB",
            "policy.gc_schedule.threshold.start=6",
            "policy.gc_schedule.threshold.hard=3",
        ],
        "randrw,bs=4k,rwmixread=70,iodepth=16,size=70%,number_ios=20000",
        "de15db18829fee27",
    ),
    (
        "tlc-3d",
        "aero",
        &["geometry.blocks=48", "geometry.pages=32", "age.pe_cycles=2500"],
        "randrw,bs=16k,rwmixread=70,iodepth=16,size=70%,number_ios=5000",
        "68f26a48361cb095",
    ),
    (
        "rif-2t",
        "rif",
        &["geometry.blocks=128", "geometry.pages=16"],
        "randread,bs=64k,iodepth=8,number_ios=2000",
        "39f442b2f552960c",
    ),
];

fn digest(device: &str, scheme: &str, sets: &[&str], load: &str) -> String {
    let none: [&str; 0] = [];
    let config = resolve(device, &[scheme], &none, sets).unwrap_or_else(|e| panic!("{e}")).config;
    let workload = job(load);
    let spec = SchemeSpec { name: scheme.to_string(), config };
    let e = experiment(&workload, vec![spec]);
    let mut results = e.run(&e.plan().unwrap(), &(), &|_, _| Ok(None)).unwrap_or_else(|e| panic!("{e}"));
    results.remove(0).remove(0).expect("it ran").outcome.digest.to_string()
}

#[test]
fn digests_are_those_of_this_version_of_the_model() {
    let mut other = Vec::new();
    for (device, scheme, sets, load, pinned) in RUNS {
        let digest = digest(device, scheme, sets, load);
        if digest != pinned {
            other.push(format!("{device}, {scheme}: {digest}, not {pinned}"));
        }
    }
    assert!(other.is_empty(), "{}", other.join("\n"));
}

/// Nothing else waits for a channel of one die, and nothing for a bus that takes no time.
#[test]
fn the_order_of_a_channel_matters_only_where_dies_share_one_that_takes_time() {
    let load = "randrw,bs=16k,rwmixread=70,iodepth=32,number_ios=5000";
    for (device, matters) in [("mqsim-e", false), ("tlc-3d-artifact", false), ("tlc-3d", true)] {
        let under = |order: &str| {
            digest(device, "baseline", &["geometry.blocks=48", "geometry.pages=32", order], load)
        };
        let [arrival, commands, data] =
            ["arrival", "commands-first", "data-first"].map(|order| under(&format!("channel.order={order}")));
        assert_eq!((arrival != commands, arrival != data), (matters, matters), "{device}");
    }
}
