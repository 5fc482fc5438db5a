//! Do the real traces replay on real drives with their known counts?

mod common;

use common::{summary, tailcut};
use tailcut_testkit::traces;

/// File, requests, percent of reads, mean KiB, footprint MiB, span s.
const TABLE: [(&str, u64, f64, f64, f64, f64); 14] = [
    ("dtrs.ssdsim.gz", 127_043, 89.0, 55.3, 4_970.0, 300.0),
    ("cloudphysics-vm.vscsi.gz", 113_872, 41.0, 36.1, 1_052.0, 7_200.0),
    ("tpcc-small.mqsim.gz", 6_999, 63.0, 8.3, 80.0, 0.14),
    ("websearch-small.mqsim.gz", 24_783, 100.0, 15.1, 363.0, 60.0),
    ("financial1-head.ssdsim.gz", 10_000, 41.0, 5.4, 29.0, 260.0),
    ("llm-offload.mqsim.gz", 36_873, 86.0, 148.0, 5_320.0, 34.0),
    ("postmark.disksim.gz", 62_257, 83.0, 222.0, 5_990.0, 490.0),
    ("msr-prxy_0-head.msr.csv.gz", 20_000, 1.7, 2.6, 12.0, 939.0),
    ("msr-hm_0-snia.msr.csv.gz", 1_000, 51.0, 9.5, 7.0, 127.0),
    ("msr-busiest.heimdall.gz", 10_000, 83.0, 12.7, 113.0, 1.0),
    ("msr-write-heavy.heimdall.gz", 10_000, 20.0, 5.4, 29.0, 243.0),
    ("fiu-mail.fiu.gz", 9_997, 89.0, 4.0, 36.0, 24.0),
    ("systor17-vdi.csv.gz", 999, 83.0, 38.2, 38.0, 2.5),
    ("ycsb-rocksdb.blkparse.gz", 1_694, 100.0, 114.0, 189.0, 0.7),
];

/// Replay all traces on one drive; sequential preconditioning limits this to some
/// seconds.
fn replay(device: &str) {
    let Some(folder) = traces() else { return };
    for (file, requests, reads, mean, footprint, span) in TABLE {
        let path = folder.join(file);
        if !path.exists() {
            println!("skipped: {file} is not there");
            continue;
        }
        let path = path.to_str().unwrap();
        let s = summary(
            &tailcut(&["run", device, "--workload", path, "--precondition", "sequential", "--json"]).ok(),
        );
        let w = &s["workload"];
        let (side, get) = (&s["schemes"][0], |name: &str| w[name].as_f64().unwrap());
        let ios = |side: &serde_json::Value| side["total_ios"].as_u64().unwrap();
        assert_eq!(
            (w["requests"].as_u64(), ios(&side["read"]) + ios(&side["write"])),
            (Some(requests), requests),
            "{file}"
        );
        assert!(side.get("errors").is_none(), "{file}: some requests failed");
        assert!((get("read_fraction") * 100.0 - reads).abs() <= 0.5, "{file}: reads");
        let rounding = if mean >= 100.0 { 0.5 } else { 0.051 };
        assert!((get("mean_bytes") / 1024.0 - mean).abs() <= rounding, "{file}: mean size");
        assert!((get("footprint_bytes") / 1_048_576.0 - footprint).abs() <= 0.51, "{file}: footprint");
        assert!((get("span_ns") / 1e9 / span - 1.0).abs() <= 0.036, "{file}: span");
        // An open loop ends at its last arrival or a little later.
        let runtime = side["runtime_ns"].as_f64().unwrap();
        assert!(runtime >= get("span_ns"), "{file}: ended before its last arrival");
    }
}

#[test]
fn every_real_trace_replays_on_z_ssd() {
    replay("z-ssd");
}

#[test]
fn every_real_trace_replays_on_ttflash() {
    replay("ttflash-256g");
}
