//! Tests that `summary.json` keeps its contract.

mod common;

use serde_json::Value;
use tailcut_report::Summary;
use tailcut_report::difference::{Difference, Pairing, Verdict};
use tailcut_report::summary::{BlameSummary, OpSummary, Scheme};
use tailcut_stats::Measured;

fn errors(summary: &Value) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/summary.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(summary).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

fn value(summary: &Summary) -> Value {
    serde_json::from_str(&summary.to_json()).unwrap()
}

#[test]
fn generated_summaries_fit_the_schema() {
    let (long, first) = common::scheme("t-es", 40_000, 1);
    let (short, _) = common::scheme("baseline", 20, 2);
    let (second, other) = common::scheme("t-es", 40_000, 3);
    let (nothing, _) = common::scheme("es", 0, 1);
    let mean = Scheme::over_runs(&[long.clone(), second], &[&first, &other]);
    for schemes in [vec![long, short, nothing], vec![mean]] {
        assert_eq!(errors(&value(&common::summary(schemes))), [""; 0]);
    }
}

#[test]
fn the_schema_refuses_what_is_not_in_the_contract() {
    let good = value(&common::summary(vec![common::scheme("t-es", 2_000, 1).0]));
    let spoil = |pointer: &str, name: &str, with: Value| {
        let mut bad = good.clone();
        bad.pointer_mut(pointer).unwrap()[name] = with;
        assert!(!errors(&bad).is_empty(), "{pointer}/{name} was accepted");
    };
    spoil("", "extra", Value::from(1));
    spoil("/schemes/0", "digest", Value::from("short"));
    spoil("/schemes/0/read/lat_ns/percentile", "99.9", Value::from(1));
    spoil("/schemes/0/gc", "blocked_reads_fraction", Value::from(1.5));
    spoil("/schemes/0/gc", "queued_behind_fraction", Value::from(-0.5));
    spoil("/schemes/0/gc", "kept_out_fraction", Value::from(1.5));
    spoil("/schemes/0/channel", "uncorrectable", Value::from(2));
    spoil("/schemes/0/channel", "ecc_wait", Value::Null);
    spoil("/schemes/0/utilisation/dies", "busiest", Value::from(1.01));
    spoil("/schemes/0/utilisation", "host_link", Value::from(0.5));
    spoil("/schemes/0", "config", serde_json::json!({"geometry.blocks": {"value": 3}}));
    spoil("/schemes/0/series/0", "read_p99", Value::from(1));
    spoil("/schemes/0/series/0", "planes_collecting", Value::from(1));
    spoil("/schemes/0/gc/groups/0", "mean", Value::from(-1));
    spoil("/schemes/0/faults", "lost", serde_json::json!([[4096]]));
    spoil("/schemes/0/faults", "read_only_since_ns", Value::Null);
    spoil("/schemes/0/faults", "read_only_reason", Value::from("full"));
    spoil("", "warnings", Value::from("one"));
    spoil("/workload", "records", serde_json::json!({"folded": 0}));
    spoil("/schemes/0/gc", "for_refresh", Value::from(-1));
    spoil("/schemes/0/faults/blocks", "spare", Value::from(-1));
    spoil("/schemes/0/failed/read", "busy", Value::from(1));
    spoil("/schemes/0/failed/read", "out_of_range", Value::from(0));
}

#[test]
fn a_summary_reads_back_as_written() {
    let summary = common::summary(vec![common::scheme("t-es", 5_000, 1).0]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("summary.json");
    std::fs::write(&path, summary.to_json()).unwrap();
    assert_eq!(Summary::read(&path).unwrap(), summary);

    std::fs::write(&path, summary.to_json().replace("\"schema\": 1", "\"schema\": 9")).unwrap();
    assert!(Summary::read(&path).unwrap_err().to_string().contains("schema 9"));
    std::fs::write(&path, "{\n  \"tailcut\": 3\n}").unwrap();
    assert!(Summary::read(&path).unwrap_err().to_string().contains("line 2"));
}

#[test]
fn figures_agree_with_one_another() {
    let (scheme, measured) = common::scheme("t-es", 40_000, 1);
    let lat = &scheme.read.lat_ns;
    for blame in &scheme.read.blame {
        let sum: f64 = blame.causes.iter().map(|(_, ns)| ns).sum();
        assert_eq!(sum, blame.mean_ns, "above {}", blame.above);
    }
    assert!((scheme.read.blame[0].mean_ns - lat.mean).abs() < 0.001);
    let percentiles: Vec<u64> = lat.percentile.iter().map(|p| p.1).collect();
    assert!(percentiles.is_sorted() && percentiles.len() == 22);
    for (key, [low, high]) in lat.ci95.iter() {
        let at = lat.percentile.get(key).unwrap();
        assert!(low <= at && at <= high, "{key}: {low} {at} {high}");
    }
    let failed: u64 = scheme.failed.iter().flat_map(|(_, by)| by.iter()).map(|(_, n)| n).sum();
    assert!(failed > 20 && failed == scheme.errors, "{failed} of {}", scheme.errors);
    let jobs: u64 = scheme.jobs.iter().map(|j| j.read.total_ios).sum();
    assert_eq!(jobs, scheme.read.total_ios);
    assert_eq!(scheme.waf, Some(1.51));
    let seconds = measured.runtime.0 as f64 / 1e9;
    assert!((scheme.read.iops * seconds - scheme.read.total_ios as f64).abs() < 1e-6);
    // For each program of host data the gauges count two programs in total.
    assert!(scheme.series.iter().filter_map(|p| p.waf).all(|waf| waf == 2.0));
}

#[test]
fn intervals_across_runs_hold_the_mean_of_the_runs() {
    let (runs, measured): (Vec<Scheme>, Vec<Measured>) =
        (0..5).map(|seed| common::scheme("t-es", 20_000, seed)).unzip();
    let measured: Vec<&Measured> = measured.iter().collect();
    let all = Scheme::over_runs(&runs, &measured);
    let key = "99.900000";
    let check = |side: &dyn Fn(&Scheme) -> &OpSummary| {
        let of = |s: &Scheme| *side(s).lat_ns.percentile.get(key).unwrap();
        let mean = runs.iter().map(of).sum::<u64>() as f64 / 5.0;
        assert_eq!(of(&all), mean.round() as u64);
        let [low, high] = *side(&all).lat_ns.ci95.get(key).unwrap();
        assert!(low < of(&all) && of(&all) < high);
        assert_eq!(side(&all).lat_ns.max, runs.iter().map(|s| side(s).lat_ns.max).max().unwrap());
    };
    check(&|s| &s.read);
    for job in 0..runs[0].jobs.len() {
        check(&|s| &s.jobs[job].read);
    }
    assert_eq!((all.runs, all.digest.as_str()), (Some(5), runs[0].digest.as_str()));
    assert_eq!(Scheme::over_runs(&runs[..1], &measured[..1]), runs[0]);
}

#[test]
fn the_blame_of_several_runs_is_that_of_all_their_requests() {
    let (runs, measured): (Vec<Scheme>, Vec<Measured>) =
        [(9_000, 1), (1_000, 2)].map(|(n, seed)| common::scheme("t-es", n, seed)).into_iter().unzip();
    let all = Scheme::over_runs(&runs, &measured.iter().collect::<Vec<_>>()).read.blame;
    // At level 0 every request counts exactly once.
    let whole = |s: &Scheme| s.read.blame[0].clone();
    let (a, b) = (whole(&runs[0]), whole(&runs[1]));
    assert_eq!((all[0].above, all[0].requests), (0.0, a.requests + b.requests));
    let mean = |f: &dyn Fn(&BlameSummary) -> f64| {
        (f(&a) * a.requests as f64 + f(&b) * b.requests as f64) / all[0].requests as f64
    };
    assert!((all[0].mean_ns - mean(&|s| s.mean_ns)).abs() < 0.01);
    for (cause, ns) in all[0].causes.iter() {
        let want = mean(&|s| s.causes.get(cause).copied().unwrap_or(0.0));
        assert!((ns - want).abs() < 0.01, "{cause}: {ns}, {want}");
    }
    for blame in &all {
        assert_eq!(blame.causes.iter().map(|(_, ns)| ns).sum::<f64>(), blame.mean_ns);
    }
}

#[test]
fn a_difference_that_is_printed_as_zero_is_not_seen() {
    let (a, _) = common::scheme("a", 20_000, 1);
    let at = |rate: f64| {
        let mut b = a.clone();
        b.read.iops *= rate;
        Difference::new("read.iops".parse().unwrap(), &a, &b, Pairing::Batches).unwrap()
    };
    // All batches have the same difference, so that the interval has no width.
    let (hardly, more) = (at(1.0002), at(1.001));
    assert!(hardly.ci95.is_some_and(|[low, _]| low > 0.0), "{hardly:?}");
    assert_eq!((hardly.verdict, more.verdict), (Verdict::NoDifferenceSeen, Verdict::Faster));
}
